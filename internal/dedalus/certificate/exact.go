// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// The checker compares rules by the texts that this file writes: two texts are equal only if
// the rules are. The texts for people do not ensure that, as they omit the types of numbers.

// exact writes a rule.
func exact(r *logic.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %q %d", r.Kind, r.Head.Relation.Name, len(r.Head.Args))
	for _, a := range r.Head.Args {
		fmt.Fprintf(&b, " %d %s", a.Aggregate, exactTerm(a.Term))
	}
	b.WriteString(" @ " + exactTerm(r.Dest) + " <- " + exactBody(r.Body))
	return b.String()
}

// exactBody writes literals.
func exactBody(body []logic.Literal) string {
	var b strings.Builder
	for _, l := range body {
		switch {
		case l.Atom != nil:
			fmt.Fprintf(&b, "atom %v %q", l.Negated, l.Atom.Relation.Name)
			for _, t := range l.Atom.Args {
				b.WriteString(" " + exactTerm(t))
			}
		case l.Compare != nil:
			fmt.Fprintf(&b, "compare %d %s %s", l.Compare.Op, exactTerm(l.Compare.Left), exactTerm(l.Compare.Right))
		default:
			fmt.Fprintf(&b, "assign %q %s", l.Assign.Var, exactTerm(l.Assign.Term))
		}
		b.WriteString("; ")
	}
	return b.String()
}

// exactTerm writes a term. An absent term has a text of its own.
func exactTerm(t *logic.Term) string {
	if t == nil {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %q", t.Kind, t.Name)
	if t.Kind == logic.Const {
		fmt.Fprintf(&b, " %q", t.Value.AppendKey(nil))
	}
	for _, a := range t.Args {
		b.WriteString(" " + exactTerm(a))
	}
	b.WriteString(")")
	return b.String()
}

// exactRelation writes a relation with its facts.
func exactRelation(r *logic.Relation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d %v %v %q %q %v", r.Name, r.Kind, r.Durable, r.Every, r.Nodes, r.Size, r.Facts == nil)
	for _, c := range r.Columns {
		fmt.Fprintf(&b, " %q %v %d", c.Name, c.Type, c.Lattice)
	}
	for _, d := range r.Dependencies {
		fmt.Fprintf(&b, " %v", d)
	}
	for _, row := range r.Facts {
		b.WriteString("\n")
		for _, v := range row {
			fmt.Fprintf(&b, "%q", v.AppendKey(nil))
		}
	}
	return b.String()
}

// exactFunction writes a function.
func exactFunction(f *logic.Function) string {
	return fmt.Sprintf("%q %v %v %q %q %s", f.Name, f.Params, f.Result, f.Import, f.Symbol, exactTerm(f.Body))
}
