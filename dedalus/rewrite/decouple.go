package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
)

// decouple moves rules of a component to a new one, in place.
func decouple(p *logic.Program, c *logic.Component, s Step) (*Certificate, error) {
	if s.Name == "" || p.Component(s.Name) != nil {
		return nil, fmt.Errorf("%v: want a new name for the component", s)
	}
	if c.Partitions != 1 {
		return nil, fmt.Errorf("%v: %s is partitioned; decouple first", s, c.Name)
	}
	moved := analyze.Part{Program: p, Component: c}
	for _, n := range s.Rules {
		if n < 1 || n > len(c.Rules) || slices.Contains(moved.Rules, c.Rules[n-1]) {
			return nil, fmt.Errorf("%v: %s has rules 1 to %d", s, c.Name, len(c.Rules))
		}
		moved.Rules = append(moved.Rules, c.Rules[n-1])
	}
	if len(moved.Rules) == 0 || len(moved.Rules) == len(c.Rules) {
		return nil, fmt.Errorf("%v: want some rules, and not all", s)
	}
	cert := &Certificate{Step: s}
	for _, r := range moved.Rules {
		cert.Moved = append(cert.Moved, r.String())
	}
	d := &decoupling{p: p, from: c, cert: cert, moved: moved, kept: moved.Rest()}
	if v := d.allowed(s.Kind); !v.Holds {
		return nil, &Refusal{s, v}
	}
	d.to = &logic.Component{Name: s.Name, Of: c.Of, Instances: c.Instances, Partitions: 1, Rules: moved.Rules, Span: c.Span}
	c.Rules = d.kept.Rules
	at := slices.Index(p.Components, c)
	p.Components = slices.Insert(p.Components, at+1, d.to)
	d.forward = forwarder(p, []string{c.Of, c.Name}, d.to, 1)
	d.inputs(s.Kind == Monotonic)
	return cert, nil
}

// decoupling is one under way.
type decoupling struct {
	p           *logic.Program
	from, to    *logic.Component
	moved, kept analyze.Part
	cert        *Certificate
	forward     *logic.Relation
}

// allowed says whether the parts may be taken apart by a rewrite of that kind.
func (d *decoupling) allowed(k Kind) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	join := func(w analyze.Verdict) {
		v.Holds = v.Holds && w.Holds
		v.Because = append(v.Because, w.Because...)
		v.Assuming = append(v.Assuming, w.Assuming...)
	}
	// What the moved part derives, the rest must not read; a relation must be
	// derived on one side only.
	for _, r := range d.moved.Rules {
		for _, o := range d.kept.Rules {
			switch {
			case r.Kind != logic.Async && reads(o, r.Head.Relation):
				join(no(o, r.Head.Relation.Name+" is derived by the rules that move, and read by one that stays"))
			case r.Kind != logic.Async && o.Kind != logic.Async && r.Head.Relation == o.Head.Relation:
				join(no(o, r.Head.Relation.Name+" is derived on both sides"))
			}
		}
	}
	reading := d.shared()
	switch k {
	case Mutual:
		join(analyze.Independent(d.moved, d.kept))
		join(analyze.Independent(d.kept, d.moved))
		for _, rel := range d.moved.Inputs() {
			if d.derived(rel) {
				join(no(nil, rel.Name+" comes from the rules that stay"))
			}
		}
		return v
	case Functional:
		join(analyze.Functional(d.moved))
	case Monotonic:
		join(analyze.Monotonic(d.moved))
	}
	for _, rel := range d.moved.Inputs() {
		if rel.Kind == logic.Timer {
			join(no(nil, "the rules that move wait for timer "+rel.Name))
		}
	}
	for _, rel := range reading {
		d.cert.Copied = append(d.cert.Copied, rel.Name)
	}
	d.cert.Assuming = v.Assuming
	return v
}

func no(r *logic.Rule, why string) analyze.Verdict {
	return analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Why: why}}}
}

func reads(r *logic.Rule, rel *logic.Relation) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == rel })
}

// shared are the relations that both sides read.
func (d *decoupling) shared() []*logic.Relation {
	var out []*logic.Relation
	for _, rel := range d.moved.Inputs() {
		if slices.ContainsFunc(d.kept.Rules, func(r *logic.Rule) bool { return reads(r, rel) }) {
			out = append(out, rel)
		}
	}
	return out
}

// derived says that the rules that stay derive a relation on their own node.
func (d *decoupling) derived(rel *logic.Relation) bool {
	return slices.ContainsFunc(d.kept.Rules, func(r *logic.Rule) bool { return r.Kind != logic.Async && r.Head.Relation == rel })
}

// inputs leads to the new component all that its rules read. What others send to
// the old component alone, and only the moved rules read, they send to the new one;
// what the old component derives, or reads as well, it passes on. With persist, the
// new component keeps it.
func (d *decoupling) inputs(persist bool) {
	shared := d.shared()
	var keeping []*logic.Rule
	for _, rel := range d.moved.Inputs() {
		own := rel
		if d.derived(rel) || rel.Kind == logic.Input || slices.Contains(shared, rel) {
			own = d.like(rel, rel.Name+"_"+d.to.Name)
			d.pass(rel, own)
		} else {
			d.redirect(rel)
		}
		if persist {
			kept := d.like(rel, own.Name+"_kept")
			keeping = append(keeping, d.keep(own, kept)...)
			own = kept
		}
		if own != rel {
			read(d.moved.Rules, rel, own)
		}
	}
	d.to.Rules = append(slices.Clone(d.moved.Rules), keeping...)
}

// like is a new relation with the columns of another.
func (d *decoupling) like(rel *logic.Relation, name string) *logic.Relation {
	own := &logic.Relation{Name: newName(d.p, name), Columns: slices.Clone(rel.Columns), Span: rel.Span}
	d.p.Relations = append(d.p.Relations, own)
	return own
}

// atom is a relation with a variable for each column.
func atom(rel *logic.Relation) ([]logic.HeadArg, *logic.Atom) {
	var head []logic.HeadArg
	a := &logic.Atom{Relation: rel}
	for i, c := range rel.Columns {
		t := &logic.Term{Kind: logic.Var, Name: fmt.Sprintf("x%d", i), Type: c.Type}
		head = append(head, logic.HeadArg{Term: t})
		a.Args = append(a.Args, t)
	}
	return head, a
}

// pass has the old component send each fact of a relation to the new one.
func (d *decoupling) pass(rel, own *logic.Relation) {
	head, a := atom(rel)
	self := &logic.Term{Kind: logic.Self, Type: logic.Type{Kind: logic.Node}}
	to := variable("to", logic.Node)
	d.from.Rules = append(d.from.Rules, &logic.Rule{
		Kind: logic.Async, Head: logic.Head{Relation: own, Args: head}, Dest: to, Origin: d.cert.Step.String(), Span: rel.Span,
		Body: []logic.Literal{{Atom: a}, {Atom: &logic.Atom{Relation: d.forward, Args: []*logic.Term{self, to}}}},
	})
}

// keep are the rules by which the new component keeps for ever what it is given.
func (d *decoupling) keep(given, kept *logic.Relation) []*logic.Rule {
	head, in := atom(given)
	_, again := atom(kept)
	rule := func(kind logic.RuleKind, from *logic.Atom) *logic.Rule {
		return &logic.Rule{Kind: kind, Head: logic.Head{Relation: kept, Args: head},
			Body: []logic.Literal{{Atom: from}}, Origin: d.cert.Step.String(), Span: given.Span}
	}
	return []*logic.Rule{rule(logic.Sync, in), rule(logic.Next, again)}
}

// read has rules read another relation of the same columns.
func read(rules []*logic.Rule, from, to *logic.Relation) {
	for _, r := range rules {
		for i, l := range r.Body {
			if l.Atom != nil && l.Atom.Relation == from {
				r.Body[i].Atom = &logic.Atom{Relation: to, Args: l.Atom.Args}
			}
		}
	}
}

// redirect has everybody who sends a relation to the old component send it to the
// new one.
func (d *decoupling) redirect(rel *logic.Relation) {
	for _, c := range d.p.Components {
		for _, r := range c.Rules {
			if r.Kind == logic.Async && r.Head.Relation == rel {
				reroute(r, d.forward, nil)
			}
		}
	}
}

// reroute sends a rule's head to where a forwarding relation leads from its
// destination, by the part if there is one.
func reroute(r *logic.Rule, forward *logic.Relation, part *logic.Term) {
	to := variable(fresh(r, "to"), logic.Node)
	from := r.Dest
	if from.Kind != logic.Var && from.Kind != logic.Self && from.Kind != logic.Const {
		name := fresh(r, "dest")
		r.Body = append(r.Body, logic.Literal{Assign: &logic.Assign{Var: name, Term: from}})
		from = variable(name, logic.Node)
	}
	args := []*logic.Term{from}
	if part != nil {
		args = append(args, part)
	}
	r.Body = append(r.Body, logic.Literal{Atom: &logic.Atom{Relation: forward, Args: append(args, to)}})
	r.Dest = to
}

// forwarder is the static relation that leads to a component's own instances from
// the nodes that they are known by: by part if there are several. From every other
// node it leads to that node itself.
func forwarder(p *logic.Program, known []string, c *logic.Component, parts int) *logic.Relation {
	node := func(name string) logic.Value { return logic.Value{Kind: logic.Node, Str: name} }
	column := func(name string, k logic.TypeKind) logic.Column {
		return logic.Column{Name: name, Type: logic.Type{Kind: k}}
	}
	f := &logic.Relation{Name: newName(p, "to_"+c.Name), Kind: logic.Static, Facts: [][]logic.Value{}, Span: c.Span}
	f.Columns = []logic.Column{column("l", logic.Node)}
	if parts > 1 {
		f.Columns = append(f.Columns, column("part", logic.U64))
	}
	f.Columns = append(f.Columns, column("to", logic.Node))
	add := func(from, to string, part int) {
		row := []logic.Value{node(from)}
		if parts > 1 {
			row = append(row, logic.Value{Kind: logic.U64, Num: uint64(part)})
		}
		f.Facts = append(f.Facts, append(row, node(to)))
	}
	slices.Sort(known)
	for _, of := range slices.Compact(known) {
		for i := range c.Instances {
			for part := range parts {
				add(logic.NodeName(of, i), logic.NodeName(c.Name, i*parts+part), part)
			}
		}
	}
	for _, other := range p.Components {
		if slices.Contains(known, other.Name) || other == c {
			continue
		}
		for i := range other.Instances * other.Partitions {
			for part := range parts {
				add(logic.NodeName(other.Name, i), logic.NodeName(other.Name, i), part)
			}
		}
	}
	p.Relations = append(p.Relations, f)
	return f
}
