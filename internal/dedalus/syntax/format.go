// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// Format writes a program in the only layout: one item or statement a line, columns of adjacent
// declarations aligned, comments in their places. Formatting the result changes nothing.
func Format(f *File) string {
	w := &writer{}
	w.lead(f.Lead, "")
	w.line("program "+f.Name.Text, "")
	for _, i := range f.Items {
		w.b.WriteByte('\n')
		w.lead(i.Lead, "")
		w.item(i)
	}
	if len(f.Last) > 0 {
		w.b.WriteByte('\n')
		w.lead(f.Last, "")
	}
	return w.b.String()
}

type writer struct{ b strings.Builder }

func (w *writer) lead(comments []string, indent string) {
	for _, c := range comments {
		w.b.WriteString(strings.TrimRight(indent+"#"+spaced(c), " ") + "\n")
	}
}

// spaced puts a space before a comment's text.
func spaced(c string) string {
	if c == "" || c[0] == ' ' || c[0] == '\t' || c[0] == '#' || c[0] == '/' {
		return c
	}
	return " " + c
}

func (w *writer) line(text, trail string) {
	w.b.WriteString(text)
	if trail != "" {
		w.b.WriteString("  #" + spaced(trail))
	}
	w.b.WriteByte('\n')
}

func (w *writer) item(i Item) {
	switch {
	case i.Function != nil:
		f := i.Function
		s := "fn " + f.Name.Text + "(" + columns(f.Params) + ") -> " + f.Result.String()
		if f.Body != nil {
			s += " = " + f.Body.String()
		} else {
			s += " from " + f.From.String()
		}
		w.line(s, i.Trail)
	case i.Component != nil:
		w.component(i.Component, i.Trail)
	case i.Deploy != nil:
		var sizes []string
		for _, s := range i.Deploy.Sizes {
			sizes = append(sizes, fmt.Sprintf("%s: %d", s.Component.Text, s.Count))
		}
		w.line("deploy { "+strings.Join(sizes, ", ")+" }", i.Trail)
	default:
		w.line("assume "+i.Assume.What.Text+" "+i.Assume.Relation.Text, i.Trail)
	}
}

func (w *writer) component(c *Component, trail string) {
	head := "component " + c.Name.Text
	if c.Of.Text != "" {
		head += " of " + c.Of.Text
	}
	if c.Times != 1 {
		head += fmt.Sprintf(" times %d", c.Times)
	}
	w.line(head+" {", "")
	for n := 0; n < len(c.Statements); {
		// Statements without an empty line between them are aligned together.
		end := n + 1
		for end < len(c.Statements) && !c.Statements[end].Blank {
			end++
		}
		group := c.Statements[n:end]
		if n > 0 {
			w.b.WriteByte('\n')
		}
		pad := 0
		for _, s := range group {
			pad = max(pad, len(s.word()))
		}
		for _, s := range group {
			w.lead(s.Lead, "  ")
			w.line("  "+s.layout(pad), s.Trail)
		}
		n = end
	}
	w.lead(c.Last, "  ")
	w.line("}", trail)
}

// word returns the first word of a statement.
func (s *Statement) word() string {
	switch {
	case s.Relation != nil:
		return s.Relation.Word
	case s.Rule.Arrow:
		return ""
	}
	return s.Rule.Word
}

func (s *Statement) layout(pad int) string {
	if s.Rule != nil && s.Rule.Arrow {
		return s.Rule.String()
	}
	rest := ""
	if s.Relation != nil {
		rest = s.Relation.String()
	} else {
		rest = s.Rule.String()
	}
	return fmt.Sprintf("%-*s %s", pad, s.word(), rest)
}

// String returns the declaration without its first word.
func (r *Relation) String() string {
	if r.Word == "timer" {
		return r.Name.Text + " every " + r.Every.Text
	}
	s := r.Name.Text + "(" + columns(r.Columns) + ")"
	if r.Delete != nil {
		s += " delete when " + body(r.Delete)
	}
	switch {
	case r.Nodes.Text != "":
		s += " = nodes " + r.Nodes.Text
	case r.Size.Text != "":
		s += " = size " + r.Size.Text
	case r.HasFacts:
		rows := make([]string, len(r.Facts))
		for i, row := range r.Facts {
			rows[i] = "(" + terms(row) + ")"
		}
		s += " = { " + strings.Join(rows, ", ") + " }"
	}
	for _, d := range r.Deps {
		s += " fd"
		for _, n := range d.From {
			s += " " + n.Text
		}
		s += " -> " + d.To.Text
	}
	return s
}

func columns(cols []Column) string {
	all := make([]string, len(cols))
	for i, c := range cols {
		t := c.Type.String()
		switch c.Lattice {
		case "max", "min":
			t = c.Lattice + "<" + t + ">"
		case "or":
			t = "or"
		case "set":
			t += " lattice"
		}
		all[i] = c.Name.Text + ": " + t
	}
	return strings.Join(all, ", ")
}

func (t *Type) String() string {
	if t.Elem != nil {
		return t.Name + "<" + t.Elem.String() + ">"
	}
	return t.Name
}

// String returns the rule: with its arrow if it was written with one, otherwise without its
// first word.
func (r *Rule) String() string {
	s := r.Head.Text
	if r.Dest != nil {
		s += "@" + r.Dest.destination()
	}
	args := make([]string, len(r.Args))
	for i, a := range r.Args {
		args[i] = terms(a.Terms)
		if a.Aggregate.Text != "" {
			args[i] = a.Aggregate.Text + "<" + args[i] + ">"
		}
	}
	arrow := "<-"
	if r.Arrow {
		arrow = map[string]string{"sync": ":-", "next": ":+", "async": ":~"}[r.Word]
	}
	return s + "(" + strings.Join(args, ", ") + ") " + arrow + " " + body(r.Body)
}

func body(ls []Literal) string {
	all := make([]string, len(ls))
	for i := range ls {
		all[i] = ls[i].String()
	}
	return strings.Join(all, ", ")
}

func (l *Literal) String() string {
	switch {
	case l.IsAtom && l.Not:
		return "not " + l.Relation.Text + "(" + terms(l.Args) + ")"
	case l.IsAtom:
		return l.Relation.Text + "(" + terms(l.Args) + ")"
	case l.Op == ":=":
		return l.Var.Text + " := " + l.Right.String()
	}
	return l.Left.String() + " " + l.Op + " " + l.Right.String()
}

func terms(ts []*Term) string {
	all := make([]string, len(ts))
	for i, t := range ts {
		all[i] = t.String()
	}
	return strings.Join(all, ", ")
}

// operand returns the term, in brackets if it needs them.
func (t *Term) operand() string {
	if t.Kind == CallTerm && isOperator(t.Text) {
		return "(" + t.String() + ")"
	}
	return t.String()
}

// destination returns the term, in brackets unless it is a name or a node.
func (t *Term) destination() string {
	if t.Kind == NameTerm || t.Kind == NodeTerm {
		return t.String()
	}
	return "(" + t.String() + ")"
}

func (t *Term) String() string {
	switch t.Kind {
	case WildcardTerm:
		return "_"
	case StringTerm:
		return strconv.Quote(t.Text)
	case BytesTerm:
		return "b" + strconv.Quote(t.Text)
	case NodeTerm:
		return "node " + strconv.Quote(t.Text)
	case CallTerm:
		if isOperator(t.Text) {
			return t.Args[0].operand() + " " + t.Text + " " + t.Args[1].operand()
		}
		return t.Text + "(" + terms(t.Args) + ")"
	}
	return t.Text
}
