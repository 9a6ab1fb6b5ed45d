// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// PartsMax is the maximum number of parts of a step. LeadsMax is the maximum number of facts
// of a forwarding relation: one for each part and node of the program.
const (
	PartsMax = 1 << 12
	LeadsMax = 1 << 20
)

// bounded checks the size of a step that divides, before the step is applied.
func bounded(p *logic.Program, s Step) error {
	if s.Partitions > PartsMax {
		return fmt.Errorf("%v: too many parts; want at most %d", s, PartsMax)
	}
	nodes := 0
	for _, c := range p.Components {
		nodes += c.Instances * c.Partitions
	}
	if nodes > LeadsMax/s.Partitions {
		return fmt.Errorf("%v: %d nodes times %d parts exceeds the limit of %d forwarding facts; use fewer parts or fewer instances", s, nodes, s.Partitions, LeadsMax)
	}
	return nil
}

// named checks the name of a new component: the language can write it, and no rule or fact
// mentions a node that the step would create.
func named(p *logic.Program, s Step) error {
	for i, c := range s.Name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("%v: '%s' is not a valid name; use letters, digits and '_', and do not begin with a digit", s, s.Name)
		}
	}
	if s.Name == "" || s.Name == "_" {
		return fmt.Errorf("%v: the new component needs a name", s)
	}
	for _, c := range p.Components {
		if c.Of == s.Name {
			return fmt.Errorf("%v: %s is a piece of %s, whose nodes have that name; choose another name", s, c.Name, s.Name)
		}
	}
	if found := speaksOf(p, func(component string, _ int) bool { return component == s.Name }); found != "" {
		return fmt.Errorf("%v: the program mentions node \"%s\", which would be a node of %s; choose another name", s, found, s.Name)
	}
	return nil
}

// unspoken checks that the program mentions no node that a step that divides creates: a new
// part, or a node of the component besides (none if the name is empty).
func unspoken(p *logic.Program, c *logic.Component, s Step, besides string) error {
	found := speaksOf(p, func(component string, i int) bool {
		return component == c.Name && i >= c.Instances*c.Partitions && i < c.Instances*s.Partitions || besides != "" && component == besides
	})
	if found == "" {
		return nil
	}
	return fmt.Errorf("%v: the program mentions node \"%s\", which is a name that the step would give to a new node; rename that node, or component %s", s, found, c.Name)
}

// speaksOf returns a node that facts, functions or rules of the program mention and whose
// component and number satisfy such, or "".
func speaksOf(p *logic.Program, such func(component string, i int) bool) (found string) {
	var see func(v logic.Value)
	see = func(v logic.Value) {
		for _, e := range v.Set {
			see(e)
		}
		component, number, ok := strings.Cut(v.Str, "/")
		if v.Kind != logic.Node || !ok {
			return
		}
		if i, err := strconv.Atoi(number); err == nil && strconv.Itoa(i) == number && such(component, i) {
			found = v.Str
		}
	}
	for _, r := range p.Relations {
		for _, row := range r.Facts {
			for _, v := range row {
				see(v)
			}
		}
	}
	for _, f := range p.Functions {
		constants(f.Body, see)
	}
	for _, c := range p.Components {
		for _, r := range c.Rules {
			for _, a := range r.Head.Args {
				constants(a.Term, see)
			}
			constants(r.Dest, see)
			for i := range r.Body {
				switch l := &r.Body[i]; {
				case l.Atom != nil:
					for _, t := range l.Atom.Args {
						constants(t, see)
					}
				case l.Compare != nil:
					constants(l.Compare.Left, see)
					constants(l.Compare.Right, see)
				default:
					constants(l.Assign.Term, see)
				}
			}
		}
	}
	return found
}

// constants visits the constants of a term.
func constants(t *logic.Term, visit func(logic.Value)) {
	if t == nil {
		return
	}
	if t.Kind == logic.Const {
		visit(t.Value)
	}
	for _, a := range t.Args {
		constants(a, visit)
	}
}
