// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"fmt"
	"strings"
)

// String returns the program in the language. Parsing it yields the same
// program, except for comments, syntactic sugar and positions.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program %s\n", p.Name)
	for _, f := range p.Functions {
		fmt.Fprintf(&b, "\n%s\n", f)
	}
	declared := map[*Relation]bool{}
	for _, c := range p.Components {
		fmt.Fprintf(&b, "\ncomponent %s", c.Name)
		if c.Of != c.Name {
			fmt.Fprintf(&b, " of %s", c.Of)
		}
		if c.Partitions != 1 {
			fmt.Fprintf(&b, " times %d", c.Partitions)
		}
		b.WriteString(" {\n")
		for _, r := range p.Relations {
			if !declared[r] && p.at(r, c) {
				declared[r] = true
				fmt.Fprintf(&b, "  %s\n", r)
			}
		}
		for _, r := range c.Rules {
			fmt.Fprintf(&b, "  %s\n", r)
		}
		b.WriteString("}\n")
	}
	b.WriteString("\ndeploy { ")
	for i, c := range p.Components {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %d", c.Name, c.Instances)
	}
	b.WriteString(" }\n")
	for _, a := range p.Assumptions {
		fmt.Fprintf(&b, "assume %v\n", a)
	}
	return b.String()
}

// at reports whether a declaration of the relation can stand in the component: it
// reads or derives it.
func (p *Program) at(r *Relation, c *Component) bool {
	for _, rule := range c.Rules {
		if rule.Head.Relation == r {
			return true
		}
		for i := range rule.Body {
			if a := rule.Body[i].Atom; a != nil && a.Relation == r {
				return true
			}
		}
	}
	return false
}

var assumptionNames = [...]string{"collected", "growing", "timely"}

func (k AssumptionKind) String() string { return assumptionNames[k] }

func (a Assumption) String() string { return a.Kind.String() + " " + a.Relation }

func (f *Function) String() string {
	params := make([]string, len(f.Params))
	for i, t := range f.Params {
		params[i] = fmt.Sprintf("p%d: %v", i, t)
	}
	s := fmt.Sprintf("fn %s(%s) -> %v", f.Name, strings.Join(params, ", "), f.Result)
	if f.Body != nil {
		return s + " = " + f.Body.String()
	}
	return fmt.Sprintf("%s from %q", s, f.Import+"."+f.Symbol)
}

func (r *Relation) String() string {
	if r.Kind == Timer {
		return fmt.Sprintf("timer %s every %s", r.Name, r.Every)
	}
	word := [...]string{Derived: "var", Input: "input", Output: "output", Static: "static"}[r.Kind]
	if r.Durable {
		word = "durable"
	}
	cols := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		cols[i] = c.Name + ": " + c.typeString()
	}
	s := fmt.Sprintf("%s %s(%s)", word, r.Name, strings.Join(cols, ", "))
	switch {
	case r.Nodes != "":
		s += " = nodes " + r.Nodes
	case r.Size != "":
		s += " = size " + r.Size
	case r.Facts != nil:
		s += " = " + facts(r.Facts)
	}
	for _, d := range r.Dependencies {
		from := make([]string, len(d.From))
		for i, c := range d.From {
			from[i] = r.Columns[c].Name
		}
		s += fmt.Sprintf(" fd %s -> %s", strings.Join(from, " "), r.Columns[d.To].Name)
	}
	return s
}

func (c Column) typeString() string {
	switch c.Lattice {
	case MaxLattice:
		return "max<" + c.Type.String() + ">"
	case MinLattice:
		return "min<" + c.Type.String() + ">"
	case OrLattice:
		return "or"
	case SetLattice:
		return c.Type.String() + " lattice"
	}
	return c.Type.String()
}

func facts(rows [][]Value) string {
	all := make([]string, len(rows))
	for i, row := range rows {
		vals := make([]string, len(row))
		for j, v := range row {
			vals[j] = v.String()
		}
		all[i] = "(" + strings.Join(vals, ", ") + ")"
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

func (r *Rule) String() string {
	var b strings.Builder
	word := [...]string{Sync: "sync", Next: "next", Async: "async"}[r.Kind]
	b.WriteString(word + " " + r.Head.Relation.Name)
	if r.Dest != nil {
		b.WriteString("@" + r.Dest.destination())
	}
	b.WriteByte('(')
	for i, a := range r.Head.Args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a.Aggregate != NoAggregate {
			fmt.Fprintf(&b, "%s<%s>", aggregateNames[a.Aggregate], a.Term)
		} else {
			b.WriteString(a.Term.String())
		}
	}
	b.WriteString(") <- ")
	for i := range r.Body {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(r.Body[i].String())
	}
	return b.String()
}

var aggregateNames = [...]string{"", "count", "sum", "min", "max", "choose", "index", "collect"}

func (a Aggregate) String() string { return aggregateNames[a] }

var compareNames = [...]string{"==", "!=", "<", "<=", ">", ">="}

func (op CompareOp) String() string { return compareNames[op] }

func (l *Literal) String() string {
	switch {
	case l.Atom != nil:
		args := make([]string, len(l.Atom.Args))
		for i, t := range l.Atom.Args {
			args[i] = t.String()
		}
		s := l.Atom.Relation.Name + "(" + strings.Join(args, ", ") + ")"
		if l.Negated {
			return "not " + s
		}
		return s
	case l.Compare != nil:
		return fmt.Sprintf("%s %v %s", l.Compare.Left, l.Compare.Op, l.Compare.Right)
	}
	return l.Assign.Var + " := " + l.Assign.Term.String()
}

// operand returns the term, in parentheses if it needs them as an operand.
func (t *Term) operand() string {
	if t.Kind == Call && IsOperator(t.Name) {
		return "(" + t.String() + ")"
	}
	return t.String()
}

// destination returns the term, in parentheses unless it is a name or a node.
func (t *Term) destination() string {
	if t.Kind == Var || t.Kind == Self || t.Kind == Const {
		return t.String()
	}
	return "(" + t.String() + ")"
}

func (t *Term) String() string {
	switch t.Kind {
	case Var:
		return t.Name
	case Wildcard:
		return "_"
	case Self:
		return "self"
	case Const:
		return t.Value.String()
	}
	if IsOperator(t.Name) && len(t.Args) == 2 {
		return t.Args[0].operand() + " " + t.Name + " " + t.Args[1].operand()
	}
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		args[i] = a.String()
	}
	return t.Name + "(" + strings.Join(args, ", ") + ")"
}
