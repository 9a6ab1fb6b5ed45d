// SPDX-License-Identifier: Apache-2.0

package lower

import "github.com/ashlar-dev/ashlar/internal/tla/syntax"

// A macro is checked where it is expanded, because its names are resolved
// there. For a macro that is never expanded, this file checks what does not
// depend on names: labels, loops, and the macros and procedures that it uses.

// unusedMacros checks the macros that were never expanded.
func (r *algorithm) unusedMacros() {
	for _, m := range r.a.Macros {
		if r.expanded[m] || m.Body == nil {
			continue
		}
		b := &body{algorithm: r, what: "macro " + m.Name.Text}
		syntax.Inspect(m.Body, func(n syntax.Node) bool {
			if s, ok := n.(syntax.Stmt); ok {
				b.unusedStmt(m, s)
			}
			return true
		})
	}
}

func (b *body) unusedStmt(in *syntax.Macro, s syntax.Stmt) {
	if l := s.Label(); l != nil {
		b.fail(l.Name.Span(), LabelForbidden, "use a procedure, or put the label where the macro is used", "a label in a macro")
	}
	args := func(what, name string, takes, given int) {
		if takes != given {
			b.fail(s.Span(), ArgumentCountMismatch, "", "%s %s takes %s, but is given %s", what, name, plural(takes, "argument"), plural(given, "argument"))
		}
	}
	switch s := s.(type) {
	case *syntax.While:
		if s.Label() == nil {
			b.fail(s.Span(), LabelForbidden, "use a procedure, or an operator", "a while needs a label, and a macro can have none")
		}
	case *syntax.Call:
		if p := b.procedures[s.Procedure.Text]; p == nil {
			b.fail(s.Procedure.Span(), ProcedureLookup, "", "there is no procedure %s", s.Procedure.Text)
		} else {
			args("procedure", p.out.Name, len(p.out.Params), len(s.Args))
		}
	case *syntax.MacroCall:
		switch m := b.macros[s.Macro.Text]; {
		case m == nil:
			b.fail(s.Macro.Span(), MacroLookup, "", "there is no macro %s", s.Macro.Text)
		case b.leadsTo(m, in, map[*syntax.Macro]bool{}):
			b.fail(s.Span(), RecursiveMacro, "use a procedure", "macro %s expands to itself", in.Name.Text)
		default:
			args("macro", m.Name.Text, len(m.Params), len(s.Args))
		}
	}
}

// leadsTo reports whether the two macros are the same or whether expanding from
// also expands to.
func (r *algorithm) leadsTo(from, to *syntax.Macro, seen map[*syntax.Macro]bool) bool {
	if from == to || seen[from] || from.Body == nil {
		return from == to
	}
	seen[from] = true
	found := false
	syntax.Inspect(from.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.MacroCall); ok && !found {
			if m := r.macros[c.Macro.Text]; m != nil {
				found = r.leadsTo(m, to, seen)
			}
		}
		return !found
	})
	return found
}
