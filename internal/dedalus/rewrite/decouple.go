// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// split finds the rules that a decoupling moves.
func split(w *site) error {
	s, c := w.step, w.c
	if w.p.Component(s.Name) != nil {
		return fmt.Errorf("%v: the component exists already; choose a new name", s)
	}
	if err := named(w.p, s); err != nil {
		return err
	}
	if c.Partitions != 1 {
		return fmt.Errorf("%v: %s is partitioned; decouple it before partitioning it", s, c.Name)
	}
	w.moved = analyze.Part{Program: w.p, Component: c}
	for _, n := range s.Rules {
		if n < 1 || n > len(c.Rules) || slices.Contains(w.moved.Rules, c.Rules[n-1]) {
			return fmt.Errorf("%v: %s has rules 1 to %d", s, c.Name, len(c.Rules))
		}
		w.moved.Rules = append(w.moved.Rules, c.Rules[n-1])
	}
	if len(w.moved.Rules) == 0 || len(w.moved.Rules) == len(c.Rules) {
		return fmt.Errorf("%v: name some of the rules, but not all", s)
	}
	w.kept = w.moved.Rest()
	for _, r := range w.moved.Rules {
		w.cert.Moved = append(w.cert.Moved, r.String())
	}
	return nil
}

// decoupling is a decoupling in progress.
type decoupling struct {
	*site
	to      *logic.Component
	forward *logic.Relation
}

// apart makes the moved rules a component, to which no message is sent yet.
func apart(w *site) *decoupling {
	c := w.c
	to := &logic.Component{Name: w.step.Name, Of: c.Of, Instances: c.Instances, Partitions: 1, Rules: w.moved.Rules, Span: c.Span}
	c.Rules = w.kept.Rules
	w.p.Components = slices.Insert(w.p.Components, slices.Index(w.p.Components, c)+1, to)
	return &decoupling{w, to, forwarder(w.p, []string{c.Of, c.Name}, to, 1)}
}

// lead separates the parts, and sends to the moved part what it reads.
func lead(w *site) { apart(w).inputs(false) }

// leadAndKeep does the same, and makes the moved part keep all of it.
func leadAndKeep(w *site) { apart(w).inputs(true) }

// and adds verdict w to v: v holds only if both do.
func and(v *analyze.Verdict, w analyze.Verdict) {
	v.Holds = v.Holds && w.Holds
	v.Because = append(v.Because, w.Because...)
	v.Assuming = append(v.Assuming, w.Assuming...)
}

// onward reports whether the rest is independent of the moved part: it reads nothing that the
// moved part derives, and no relation is derived on both sides.
func onward(w *site) analyze.Verdict {
	v := unsent(w.moved)
	for _, r := range w.moved.Rules {
		for _, o := range w.kept.Rules {
			switch {
			case r.Kind != logic.Async && reads(o, r.Head.Relation):
				and(&v, no(o, r.Head.Relation.Name+" is derived by the rules that move, and read by this rule, which stays"))
			case r.Kind != logic.Async && o.Kind != logic.Async && r.Head.Relation == o.Head.Relation:
				and(&v, no(o, r.Head.Relation.Name+" is derived by rules that move and by rules that stay"))
			}
		}
	}
	return v
}

// mutual: neither part depends on the other.
func mutual(w *site) analyze.Verdict {
	v := onward(w)
	and(&v, analyze.Independent(w.moved, w.kept))
	and(&v, analyze.Independent(w.kept, w.moved))
	for _, rel := range w.moved.Inputs() {
		if derived(w.kept, rel) {
			and(&v, no(nil, rel.Name+" is derived by the rules that stay, and the rules that move read it"))
		}
	}
	and(&v, timerless(w))
	and(&v, timely(w.moved, w.kept))
	return v
}

// functional: the rest does not depend on the moved part, which has no state.
func functional(w *site) analyze.Verdict {
	return copying(w, analyze.Functional(w.moved))
}

// monotonic: the rest does not depend on the moved part, which only grows.
func monotonic(w *site) analyze.Verdict {
	v := analyze.Monotonic(w.moved)
	and(&v, volatile(w))
	and(&v, unhurried(w))
	and(&v, growing(w))
	and(&v, prompt(w))
	return copying(w, v)
}

// volatile reports whether nothing that the moved part derives is durable. The rest could
// otherwise answer that a fact is durable before the moved part has it, and if both crash, a
// fact on its way between them is lost.
func volatile(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	seen := map[*logic.Relation]bool{}
	for _, r := range w.moved.Rules {
		if rel := r.Head.Relation; rel.Durable && !seen[rel] {
			seen[rel] = true
			and(&v, no(r, "the rule derives "+rel.Name+", which is durable, and would move away from the rules that answer once it is"))
		}
	}
	return v
}

// unhurried reports whether no moved rule waits for the next tick, if the rest makes a
// relation durable: a message of the next tick says that the fact is durable. The moved part
// would learn of the fact by a message of the tick itself, which leaves before the disk has
// the fact, and its own next tick does not wait for a disk.
func unhurried(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	i := slices.IndexFunc(w.kept.Rules, func(r *logic.Rule) bool { return r.Head.Relation.Durable })
	if i < 0 {
		return v
	}
	for _, r := range w.moved.Rules {
		if _, ok := r.Persistence(); r.Kind == logic.Next && !ok {
			b := no(r, "the rule waits for the next tick, which begins once "+w.kept.Rules[i].Head.Relation.Name+" is durable; that relation stays, and after the move the rule would not wait for its disk")
			b.Because[0].Help = "move the rules that read " + r.Head.Relation.Name + " without this rule"
			and(&v, b)
		}
	}
	return v
}

// growing reports whether the rest keeps forever the facts that a growing moved part reads of
// it. A message may arrive again together with any other, but not at the moved part alone: if
// the rest reads or derives the relation too, the original program must keep it.
func growing(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	stays, assuming := analyze.Persisted(w.kept, func(*logic.Relation) bool { return false })
	kept, _ := analyze.Persisted(w.moved, func(*logic.Relation) bool { return false })
	both := shared(w)
	for _, rel := range w.moved.Inputs() {
		if (derived(w.kept, rel) || slices.Contains(both, rel)) && !stays[rel] && !lasts(w.moved, rel, kept, map[*logic.Relation]bool{}) {
			and(&v, no(nil, rel.Name+" is not kept by the rules that stay, but the rules that move would keep it and join it with later facts"))
		}
	}
	for _, a := range assuming {
		for _, rel := range w.moved.Inputs() {
			if a.Relation == rel.Name {
				v.Assuming = append(v.Assuming, a)
			}
		}
	}
	return v
}

// lasts reports whether all that follows from a fact follows from it alone, and is kept or
// sent. Then it makes no difference whether the fact itself is kept.
func lasts(p analyze.Part, rel *logic.Relation, stays, seen map[*logic.Relation]bool) bool {
	if seen[rel] {
		return true
	}
	seen[rel] = true
	for _, r := range p.Rules {
		if !reads(r, rel) {
			continue
		}
		others := 0
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
				others++
			}
		}
		if others > 1 || r.Head.Aggregates() || r.Kind != logic.Async && !stays[r.Head.Relation] && !lasts(p, r.Head.Relation, stays, seen) {
			return false
		}
	}
	return true
}

// copying is the condition for parts that may read copies of relations that the rest reads too.
func copying(w *site, of analyze.Verdict) analyze.Verdict {
	v := onward(w)
	and(&v, of)
	and(&v, timerless(w))
	for _, rel := range shared(w) {
		w.cert.Copied = append(w.cert.Copied, rel.Name)
	}
	return v
}

// timerless reports whether no moved rule waits for a timer: timers are not forwarded.
func timerless(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	for _, rel := range w.moved.Inputs() {
		if rel.Kind == logic.Timer {
			and(&v, no(nil, "the rules that move wait for timer "+rel.Name))
		}
	}
	return v
}

func no(r *logic.Rule, why string) analyze.Verdict {
	return analyze.Verdict{Because: []analyze.Blocker{{Rule: r, Why: why}}}
}

func reads(r *logic.Rule, rel *logic.Relation) bool {
	return slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == rel })
}

// shared returns the relations that both sides read.
func shared(w *site) []*logic.Relation {
	var out []*logic.Relation
	for _, rel := range w.moved.Inputs() {
		if slices.ContainsFunc(w.kept.Rules, func(r *logic.Rule) bool { return reads(r, rel) }) {
			out = append(out, rel)
		}
	}
	return out
}

// derived reports whether rules of a part derive a relation on their own node.
func derived(p analyze.Part, rel *logic.Relation) bool {
	return slices.ContainsFunc(p.Rules, func(r *logic.Rule) bool { return r.Kind != logic.Async && r.Head.Relation == rel })
}

// inputs gives the new component all that its rules read. If other components send a relation
// and only the moved rules read it, they now send it to the new component. If the old
// component derives or reads the relation too, it forwards it; it forwards everything if it
// could observe that an answer took no tick of its own. With persist, the new component keeps
// the facts.
func (d *decoupling) inputs(persist bool) {
	shared := shared(d.site)
	all := d.step.Kind != Mutual && through(d.site)
	var keeping []*logic.Rule
	for _, rel := range d.moved.Inputs() {
		own := rel
		if all || derived(d.kept, rel) || rel.Kind == logic.Input || d.step.Kind == Relay && rel.Kind == logic.Timer || slices.Contains(shared, rel) {
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

// like adds a relation with the columns of another.
func (d *decoupling) like(rel *logic.Relation, name string) *logic.Relation {
	own := &logic.Relation{Name: newName(d.p, name), Columns: slices.Clone(rel.Columns), Span: rel.Span}
	d.p.Relations = append(d.p.Relations, own)
	return own
}

// atom returns a relation with a variable for each column, as a head and as an atom.
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

// pass makes the old component send each fact of a relation to the new one.
func (d *decoupling) pass(rel, own *logic.Relation) {
	head, a := atom(rel)
	self := &logic.Term{Kind: logic.Self, Type: logic.Type{Kind: logic.Node}}
	to := variable("to", logic.Node)
	d.c.Rules = append(d.c.Rules, &logic.Rule{
		Kind: logic.Async, Head: logic.Head{Relation: own, Args: head}, Dest: to, Origin: d.cert.Step.String(), Span: rel.Span,
		Body: []logic.Literal{{Atom: a}, {Atom: &logic.Atom{Relation: d.forward, Args: []*logic.Term{self, to}}}},
	})
}

// keep returns the rules by which the new component keeps forever what it receives.
func (d *decoupling) keep(given, kept *logic.Relation) []*logic.Rule {
	head, in := atom(given)
	_, again := atom(kept)
	rule := func(kind logic.RuleKind, from *logic.Atom) *logic.Rule {
		return &logic.Rule{Kind: kind, Head: logic.Head{Relation: kept, Args: head},
			Body: []logic.Literal{{Atom: from}}, Origin: d.cert.Step.String(), Span: given.Span}
	}
	return []*logic.Rule{rule(logic.Sync, in), rule(logic.Next, again)}
}

// read makes rules read another relation with the same columns.
func read(rules []*logic.Rule, from, to *logic.Relation) {
	for _, r := range rules {
		for i, l := range r.Body {
			if l.Atom != nil && l.Atom.Relation == from {
				r.Body[i].Atom = &logic.Atom{Relation: to, Args: l.Atom.Args}
			}
		}
	}
}

// redirect makes every sender of a relation to the old component send it to the
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

// reroute sends a rule's head to the node to which a forwarding relation leads from the old
// destination and, if given, the part.
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

// forwarder adds the static relation that leads from the nodes by which a component is known
// to its instances (one for each part, if there are several). From every other node it leads
// to that node itself.
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
