// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// templates matches rules against texts in which $name stands for a relation that the
// rewrite chose: the same relation wherever the name occurs, a different one for each name,
// and none that the program before has.
type templates struct {
	before, after *logic.Program
	chosen        map[string]string // the relation that a name stands for
	taken         map[string]bool
}

func newTemplates(before, after *logic.Program) *templates {
	return &templates{before, after, map[string]string{}, map[string]bool{}}
}

// tokens are names, strings, and single characters; $ belongs to a name.
var tokens = regexp.MustCompile(`\$?[A-Za-z_][A-Za-z0-9_]*|"(\\.|[^"\\])*"|\S`)

// match checks that there is one rule for each template, in order, and no other rule.
func (t *templates) match(rules []*logic.Rule, want []string) error {
	for i, w := range want {
		if i == len(rules) {
			return fmt.Errorf("the rule '%s' is missing", t.spell(w))
		}
		if err := t.rule(rules[i], w); err != nil {
			return err
		}
	}
	if len(rules) > len(want) {
		return fmt.Errorf("'%v' is an extra rule", rules[len(want)])
	}
	return nil
}

// rule matches one rule, and records the relation for each name that occurs first here.
func (t *templates) rule(r *logic.Rule, want string) error {
	is, should := tokens.FindAllString(r.String(), -1), tokens.FindAllString(want, -1)
	same := len(is) == len(should)
	for i := 0; same && i < len(is); i++ {
		switch {
		case should[i][0] != '$':
			same = is[i] == should[i]
		case t.chosen[should[i]] != "":
			same = is[i] == t.chosen[should[i]]
		default:
			if same = t.before.Find(is[i]) == nil && t.after.Find(is[i]) != nil && !t.taken[is[i]]; same {
				t.chosen[should[i]] = is[i]
				t.taken[is[i]] = true
			}
		}
	}
	if !same {
		return fmt.Errorf("found '%v', want '%s'", r, t.spell(want))
	}
	return nil
}

// spell writes a template with the chosen names.
func (t *templates) spell(want string) string {
	return regexp.MustCompile(`\$\w+`).ReplaceAllStringFunc(want, func(n string) string {
		if c := t.chosen[n]; c != "" {
			return c
		}
		return n
	})
}

// relation returns the relation chosen for a name.
func (t *templates) relation(name string) *logic.Relation { return t.after.Find(t.chosen[name]) }

// ordinary checks that the chosen relations, except those of except, are derived, not
// durable and do not merge.
func (t *templates) ordinary(except map[string]bool) error {
	for n := range t.chosen {
		if r := t.relation(n); !except[n] && (r.Kind != logic.Derived || r.Durable || r.Merges()) {
			return fmt.Errorf("%s must be derived, not durable and not merging", r.Name)
		}
	}
	return nil
}

// copies checks that a chosen relation has the same columns as another.
func (t *templates) copies(name string, of *logic.Relation) error {
	r := t.relation(name)
	is, want := *r, *of
	is.Name, want.Name = "", ""
	want.Kind, want.Facts, want.Every = logic.Derived, nil, 0
	if is.Kind != logic.Derived || is.Durable || columnsOf(&is) != columnsOf(&want) {
		return fmt.Errorf("%s must have the columns of %s", r.Name, of.Name)
	}
	return nil
}

func columnsOf(r *logic.Relation) string {
	var b strings.Builder
	for _, c := range r.Columns {
		fmt.Fprintf(&b, "%v %d,", c.Type, c.Lattice)
	}
	return b.String()
}

// row writes an atom: the arguments before, then a variable for each column.
func row(name string, of *logic.Relation, before ...string) string {
	args := before
	for i := range of.Columns {
		args = append(args, fmt.Sprintf("x%d", i))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// blanks writes an atom: the arguments before, then a wildcard for each column.
func blanks(name string, of *logic.Relation, before ...string) string {
	args := before
	for range of.Columns {
		args = append(args, "_")
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}
