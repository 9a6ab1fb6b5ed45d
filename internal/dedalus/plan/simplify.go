// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// planner plans a component.
type planner struct {
	program   *logic.Program
	component *Component
	relations map[*logic.Relation]*Relation
	// rules has all rules, in the order of the program.
	rules []*Rule
	// arrives has the relations whose facts arrive at this component.
	arrives map[*logic.Relation]bool
	names   map[string]bool
}

func component(p *logic.Program, c *logic.Component) (*Component, error) {
	n := &planner{program: p, component: &Component{Logic: c}, relations: map[*logic.Relation]*Relation{},
		arrives: map[*logic.Relation]bool{}, names: map[string]bool{}}
	for _, d := range p.Components {
		for _, r := range p.Out(d) {
			n.arrives[r] = true
		}
	}
	for _, r := range p.Relations {
		n.names[r.Name] = true
	}
	for _, r := range c.Rules {
		if err := n.rule(r); err != nil {
			return nil, err
		}
	}
	n.classify()
	n.project()
	n.classify()
	n.send()
	n.classify()
	n.merge()
	n.classify()
	n.group()
	for _, r := range n.rules {
		n.variants(r)
	}
	for _, r := range n.component.Relations {
		r.Bag = n.bag(r)
		r.Inline = n.inline(r)
	}
	return n.component, nil
}

// relation returns the plan's relation for a relation of the program.
func (n *planner) relation(r *logic.Relation) *Relation {
	if p := n.relations[r]; p != nil {
		return p
	}
	p := &Relation{Name: r.Name, Columns: slices.Clone(r.Columns), Logic: r, Durable: r.Durable, Merges: r.Merges()}
	p.Arrives = r.Kind == logic.Input || r.Kind == logic.Timer || n.arrives[r]
	n.relations[r] = p
	n.component.Relations = append(n.component.Relations, p)
	return p
}

// add adds a relation to the plan.
func (n *planner) add(name, made string, columns []logic.Column) *Relation {
	for i := 0; n.names[name]; i++ {
		name = fmt.Sprintf("%s%d", name, i)
	}
	n.names[name] = true
	r := &Relation{Name: name, Made: made, Columns: slices.Clone(columns)}
	for i := range r.Columns {
		r.Columns[i].Lattice = logic.NoLattice
	}
	n.component.Relations = append(n.component.Relations, r)
	return r
}

func (n *planner) rule(r *logic.Rule) error {
	out := &Rule{Kind: r.Kind, Dest: r.Dest, Source: r}
	index := 0
	for _, a := range r.Head.Args {
		out.Args = append(out.Args, Arg{a.Aggregate, a.Term})
		if a.Aggregate == logic.Index {
			index++
		}
	}
	if index > 1 {
		return &Refused{Rule: r, Why: "a head can have only one index"}
	}
	for i := range r.Body {
		l := &r.Body[i]
		q := Literal{Negated: l.Negated, Compare: l.Compare, Assign: l.Assign}
		if l.Atom != nil {
			q.Relation, q.Args = n.relation(l.Atom.Relation), l.Atom.Args
		}
		out.Body = append(out.Body, q)
	}
	if r.Kind == logic.Async {
		out.Sent = r.Head.Relation
	} else {
		out.Head = n.relation(r.Head.Relation)
	}
	n.rules = append(n.rules, out)
	return nil
}

// positive reports whether a literal is an atom that holds and may change.
func (l *Literal) positive() bool { return l.Relation != nil && !l.Negated && !l.static() }

func (l *Literal) static() bool {
	return l.Relation != nil && l.Relation.Logic != nil && l.Relation.Logic.Kind == logic.Static
}

// changing reports whether the literal is an atom that may change.
func (l *Literal) changing() bool { return l.Relation != nil && !l.static() }

// classify determines which relations and rules are pulses: as many as possible. A next rule
// must not become a pulse through a relation with which it forms a cycle, because its facts
// would be carried forever.
func (n *planner) classify() {
	number := map[*Relation]int{}
	for i, r := range n.component.Relations {
		number[r] = i
		r.Pulse = true
		r.Carried = false
	}
	edges := make([][]int, len(n.component.Relations))
	for _, r := range n.rules {
		if r.Kind == logic.Async {
			continue
		}
		for _, l := range r.Body {
			if l.changing() {
				edges[number[r.Head]] = append(edges[number[r.Head]], number[l.Relation])
			}
		}
		r.Head.Carried = r.Head.Carried || r.Kind == logic.Next
	}
	cycle, _ := components(edges)
	pulse := func(r *Rule) bool {
		return slices.ContainsFunc(r.Body, func(l Literal) bool {
			return l.positive() && l.Relation.Pulse &&
				(r.Kind != logic.Next || cycle[number[l.Relation]] != cycle[number[r.Head]])
		})
	}
	for changed := true; changed; {
		changed = false
		for _, r := range n.rules {
			if r.Kind != logic.Async && r.Head.Pulse && !pulse(r) {
				r.Head.Pulse, changed = false, true
			}
		}
	}
	for _, r := range n.rules {
		r.Pulse = pulse(r)
	}
	for _, r := range n.component.Relations {
		r.Class = Passing
		if r.Logic != nil && r.Logic.Kind == logic.Static {
			r.Class, r.Pulse = Static, false
		} else if !r.Pulse || r.Durable {
			r.Class = Tracked
		}
	}
	for _, r := range n.rules {
		for _, l := range r.Body {
			if !r.Pulse && l.changing() {
				l.Relation.Class = Tracked
			}
		}
	}
}

// project replaces negated literals with wildcards, in standing rules, by literals of a
// relation that has only the other columns.
func (n *planner) project() {
	type columnsOf struct {
		of   *Relation
		name string
	}
	made := map[columnsOf]*Relation{}
	for _, r := range slices.Clone(n.rules) {
		for i := range r.Body {
			l := &r.Body[i]
			if r.Pulse || !l.Negated || !l.changing() || !slices.ContainsFunc(l.Args, wildcard) {
				continue
			}
			of, name := l.Relation, l.Relation.Name+"_any"
			var columns []logic.Column
			var args []*logic.Term
			from := Literal{Relation: of}
			vars := variables(of.Columns)
			var head []Arg
			for j, t := range l.Args {
				if t.Kind == logic.Wildcard {
					from.Args = append(from.Args, t)
					continue
				}
				name += fmt.Sprint("_", j)
				columns, args, head = append(columns, of.Columns[j]), append(args, t), append(head, Arg{Term: vars[j]})
				from.Args = append(from.Args, vars[j])
			}
			to := made[columnsOf{of, name}]
			if to == nil {
				to = n.add(name, "whether there is a "+of.Name, columns)
				made[columnsOf{of, name}] = to
				n.rules = append(n.rules, &Rule{Kind: logic.Sync, Head: to, Args: head, Body: []Literal{from}, Made: to.Made})
			}
			l.Relation, l.Args = to, args
		}
	}
}

// variables returns one for each column, with the column's name if that is unique.
func variables(columns []logic.Column) []*logic.Term {
	var out []*logic.Term
	for i, c := range columns {
		name := c.Name
		if slices.ContainsFunc(out, func(t *logic.Term) bool { return t.Name == name }) {
			name = fmt.Sprintf("%s_%d", name, i)
		}
		out = append(out, &logic.Term{Kind: logic.Var, Name: name, Type: c.Type})
	}
	return out
}

func wildcard(t *logic.Term) bool { return t.Kind == logic.Wildcard }

// send adds a relation for messages that could be derived in two ways, so that each is sent
// once.
func (n *planner) send() {
	standing := map[*logic.Relation]int{}
	for _, r := range n.rules {
		if r.Kind == logic.Async && !r.Pulse {
			standing[r.Sent]++
		}
	}
	made := map[string]*Relation{}
	for _, r := range slices.Clone(n.rules) {
		if r.Kind != logic.Async || (r.injective() && (r.Pulse || standing[r.Sent] == 1 && r.single())) {
			continue
		}
		name, why := "sent_"+r.Sent.Name, "what is sent while it holds"
		if r.Pulse {
			name, why = "sending_"+r.Sent.Name, "what is sent"
		}
		to := made[name]
		if to == nil {
			columns := append([]logic.Column{{Name: "to", Type: logic.Type{Kind: logic.Node}}}, r.Sent.Columns...)
			to = n.add(name, why, columns)
			made[name] = to
			after := &Rule{Kind: logic.Async, Sent: r.Sent, Made: why}
			from := Literal{Relation: to, Args: variables(to.Columns)}
			for i, v := range from.Args {
				if i == 0 {
					after.Dest = v
				} else {
					after.Args = append(after.Args, Arg{Term: v})
				}
			}
			after.Body = []Literal{from}
			n.rules = append(n.rules, after)
		}
		r.Kind, r.Head, r.Args = logic.Sync, to, append([]Arg{{Term: r.Dest}}, r.Args...)
		r.Dest, r.Sent = nil, nil
	}
}

// single reports whether exactly one literal of the rule may change, and it is not negated.
func (r *Rule) single() bool {
	count, positive := 0, 0
	for _, l := range r.Body {
		if l.changing() {
			count++
		}
		if l.positive() {
			positive++
		}
	}
	return count == 1 && positive == 1
}

// injective reports whether different facts of the body derive different heads: the head has
// all variables of the atoms as arguments.
func (r *Rule) injective() bool {
	in := map[string]bool{}
	note := func(t *logic.Term) {
		if t != nil && t.Kind == logic.Var {
			in[t.Name] = true
		}
	}
	note(r.Dest)
	for _, a := range r.Args {
		note(a.Term)
	}
	for _, l := range r.Body {
		if l.Relation == nil || l.Negated {
			continue
		}
		for _, t := range l.Args {
			if t.Kind == logic.Wildcard || t.Kind == logic.Var && !in[t.Name] {
				return false
			}
		}
	}
	return true
}

// merge replaces each tracked relation whose facts merge by an aggregate of a relation whose
// facts do not. In a recursive group it separates the facts that do not come from the group.
func (n *planner) merge() {
	n.group()
	inGroup := map[*Relation]*Group{}
	for _, g := range n.component.Groups {
		for _, r := range g.Relations {
			inGroup[r] = g
		}
	}
	for _, r := range slices.Clone(n.component.Relations) {
		if !r.Merges || r.Class != Tracked {
			continue
		}
		raw := n.add(r.Name+"_unmerged", "the facts of "+r.Name+" before they merge", r.Columns)
		raw.Logic, raw.Arrives, raw.Durable = r.Logic, r.Arrives, r.Durable
		r.Logic, r.Arrives, r.Durable = nil, false, false
		recursive := inGroup[r].Recursive
		for _, rule := range n.rules {
			if rule.Head == r && !(recursive && rule.Recursive) {
				rule.Head = raw
			}
		}
		up := &Rule{Kind: logic.Sync, Head: r, Made: r.Name + " merges"}
		from := Literal{Relation: raw, Args: variables(r.Columns)}
		for i, c := range r.Columns {
			a := Arg{Term: from.Args[i]}
			if !recursive {
				a.Aggregate = merging(c.Lattice)
			}
			up.Args = append(up.Args, a)
		}
		up.Body = []Literal{from}
		r.Merges = recursive
		n.rules = append(n.rules, up)
	}
	n.component.Groups, n.component.Later = nil, nil
}

func merging(l logic.Lattice) Aggregate {
	switch l {
	case logic.MaxLattice, logic.OrLattice:
		return logic.Max
	case logic.MinLattice:
		return logic.Min
	case logic.SetLattice:
		return Union
	}
	return logic.NoAggregate
}
