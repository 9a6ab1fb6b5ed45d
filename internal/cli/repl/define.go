// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// def is a definition that the user typed: the defined name and the text.
type def struct{ name, text string }

// defsMax is how many definitions a session may have.
const defsMax = 1000

// firstName finds the name that a definition defines. It skips declaration
// keywords; for an infix definition it is the operator.
var firstName = regexp.MustCompile(`^(?:LOCAL\s+)?(?:RECURSIVE\s+)?([A-Za-z0-9_]+)\s*(?:\(|\[|==|$|,)`)

// definedBy reports whether a line is a definition, and of which name: it contains an
// == outside of any LET, or begins as no expression can.
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

// equals returns the position of the first == outside of strings, or -1.
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

// define stores a definition if it is valid, replacing one with the same name.
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
		// The new definition may refer to definitions that came after the old
		// one.
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

// definitions returns the typed definitions as the text of a module.
func (r *repl) definitions() string {
	var b strings.Builder
	for _, d := range r.defs {
		b.WriteString(d.text + "\n")
	}
	return b.String()
}
