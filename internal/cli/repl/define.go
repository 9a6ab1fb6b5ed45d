// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// def is a definition that was typed: the name that it defines, and its text.
type def struct{ name, text string }

// defsMax is how many definitions a session may have.
const defsMax = 1000

// firstName finds the name that a definition defines: behind what declares it, and
// of an operator written between its operands the operator.
var firstName = regexp.MustCompile(`^(?:LOCAL\s+)?(?:RECURSIVE\s+)?([A-Za-z0-9_]+)\s*(?:\(|\[|==|$|,)`)

// definedBy says whether a line is a definition, and of which name: it has an == that
// belongs to no LET, or begins as no expression does.
func definedBy(text string) (name string, ok bool) {
	head := text
	if at := equals(text); at >= 0 {
		head = text[:at]
		ok = !slices.Contains(strings.Fields(head), "LET")
	}
	for _, word := range []string{"RECURSIVE", "INSTANCE", "LOCAL"} {
		ok = ok || strings.HasPrefix(text, word+" ")
	}
	if m := firstName.FindStringSubmatch(text); m != nil {
		return m[1], ok
	}
	return strings.Join(strings.Fields(head), " "), ok
}

// equals is where the first == stands that is in no string, or -1.
func equals(text string) int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "=="):
			return i
		}
	}
	return -1
}

// define keeps a definition, in the place of one with its name, if what is defined
// is fine with it.
func (r *repl) define(d def) error {
	before := r.defs
	if len(before) == defsMax {
		return exit.With(exit.Usage, fmt.Errorf("a session has at most %d definitions", defsMax))
	}
	at := slices.IndexFunc(before, func(old def) bool { return old.name == d.name })
	r.defs = slices.Clone(before)
	if at >= 0 {
		r.defs[at] = d
	} else {
		r.defs = append(r.defs, d)
	}
	_, _, err := r.model("TRUE")
	if err != nil && at >= 0 {
		// It may use what was defined after the old one.
		r.defs = append(slices.Delete(slices.Clone(before), at, at+1), d)
		if _, _, late := r.model("TRUE"); late == nil {
			return nil
		}
	}
	if err != nil {
		r.defs = before
	}
	return err
}

// definitions are those that were typed, as the text of a module.
func (r *repl) definitions() string {
	var b strings.Builder
	for _, d := range r.defs {
		b.WriteString(d.text + "\n")
	}
	return b.String()
}
