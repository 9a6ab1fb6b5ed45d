// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Asymmetric decoupling: the rest reads what the moved part derives, but not the
// reverse. The moved part receives its inputs first. It does nothing in ticks without
// inputs; each of its other ticks is a batch for the rest, even if the batch is empty.
// The rest acknowledges each batch that it seals, and until then the moved part holds
// back the messages of that tick: in the program before, that tick is the one in which
// the rest seals the batch, and no component could have heard of it earlier.
//
// The published rules send a batch only if there are facts for the rest, and hold
// messages of other ticks until the last batch before is acknowledged. Then the moved
// part has ticks that the rest does not have, which other components can observe. The
// published rules therefore need a monotonic or functional moved part, which these do
// not; and they block forever an output that is derived later than its batch.

// asymmetric reports whether the program allows an asymmetric decoupling.
func asymmetric(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	for _, o := range w.kept.Rules {
		for _, r := range w.moved.Rules {
			switch {
			case o.Kind != logic.Async && reads(r, o.Head.Relation):
				and(&v, no(r, o.Head.Relation.Name+" is derived by a rule that stays, and read by this rule, which moves"))
			case o.Kind != logic.Async && r.Kind != logic.Async && r.Head.Relation == o.Head.Relation:
				and(&v, no(o, r.Head.Relation.Name+" is derived by rules that move and by rules that stay"))
			}
		}
	}
	and(&v, unsent(w.moved))
	and(&v, analyze.StateMachine(w.moved))
	and(&v, volatile(w))
	some := analyze.Existence(w.moved)
	for _, rel := range downstream(w) {
		if rel.Kind == logic.Timer {
			and(&v, no(nil, "rules that move and rules that stay both wait for timer "+rel.Name))
		}
		if derived(w.moved, rel) && !some[rel] {
			and(&v, no(nil, rel.Name+" holds even when nothing is received, so it would be sent at every tick"))
		}
	}
	if len(downstream(w)) == 0 {
		and(&v, no(nil, "the rules that stay read nothing that the rules that move derive; use 'mutual'"))
	}
	for _, rel := range shared(w) {
		w.cert.Copied = append(w.cert.Copied, rel.Name)
	}
	return v
}

// downstream returns the relations that the rest reads and the moved part has first: those
// that the moved part derives, and those that both parts read.
func downstream(w *site) []*logic.Relation {
	in := w.moved.Inputs()
	var out []*logic.Relation
	for _, rel := range w.p.Relations {
		if (derived(w.moved, rel) || slices.Contains(in, rel)) && slices.ContainsFunc(w.kept.Rules, func(r *logic.Rule) bool { return reads(r, rel) }) {
			out = append(out, rel)
		}
	}
	return out
}

// exchange separates the parts, sends to the moved part what it reads, and sends to the rest
// in batches what the rest reads of the moved part.
func exchange(w *site) {
	down, in := downstream(w), w.moved.Inputs()
	d := apart(w)
	own := map[*logic.Relation]*logic.Relation{}
	for _, rel := range in {
		switch rel.Kind {
		case logic.Timer:
		case logic.Input:
			own[rel] = d.like(rel, rel.Name+"_"+d.to.Name)
			d.pass(rel, own[rel])
			read(d.to.Rules, rel, own[rel])
		default:
			d.redirect(rel)
		}
	}
	at := slices.Clone(down)
	for i, rel := range at {
		if o := own[rel]; o != nil {
			at[i] = o
		}
	}
	some := slices.Clone(in)
	for i, rel := range some {
		if o := own[rel]; o != nil {
			some[i] = o
		}
	}
	name := d.to.Name
	back := forwarder(w.p, []string{w.c.Of}, w.c, 1)
	b := newBatches(w.p, w.step.String(), name, back, at, down)
	for i, c := range b.carried {
		read(w.kept.Rules, down[i], c.sealed)
	}
	acked := b.relation(name+"_acked", numbers("b"))
	held := b.hold(name, d.to.Rules, acked)
	d.to.Rules = slices.Concat(d.to.Rules, b.sender(name, some), held)
	w.c.Rules = append(w.c.Rules, b.receiver(name, true)...)
	ack := *b
	ack.to = d.forward
	w.c.Rules = append(w.c.Rules, ack.send(acked, []*logic.Term{counter("b")}, has(b.sealed, counter("b"))))
}

// hold changes rules that send into rules that store the message, with the number of the
// batch of their tick and the destination. It returns the rules that send the message when
// the batch is acknowledged. Batches are sealed in order, so one acknowledgement covers all
// earlier batches.
func (b *batches) hold(name string, rules []*logic.Rule, acked *logic.Relation) []*logic.Rule {
	released := b.relation(name+"_released", numbers("b"))
	waiting := map[*logic.Relation]*logic.Relation{}
	var out []*logic.Rule
	for _, r := range rules {
		if r.Kind != logic.Async {
			continue
		}
		rel := r.Head.Relation
		if waiting[rel] == nil {
			to := logic.Column{Name: "to", Type: logic.Type{Kind: logic.Node}}
			waiting[rel] = b.numbered(rel.Name+"_"+name+"_waiting", append([]logic.Column{to}, rel.Columns...))
			row := slices.Concat([]*logic.Term{counter("b"), variable("to", logic.Node)}, columns(rel))
			again := b.rule(logic.Async, rel, row[2:], has(waiting[rel], row...), has(released, counter("b")))
			again.Dest = row[1]
			out = append(out,
				b.rule(logic.Next, waiting[rel], row, has(waiting[rel], row...), hasNot(released, counter("b"))),
				b.rule(logic.Sync, released, row[:1], append([]logic.Literal{has(waiting[rel], append(row[:1:1], anything(waiting[rel])[1:]...)...)},
					has(acked, counter("a")), compare("b", logic.LessEqual, "a"))...),
				again)
		}
		n := counter(fresh(r, "b"))
		to := logic.HeadArg{Term: r.Dest}
		r.Kind, r.Dest = logic.Next, nil
		r.Head = logic.Head{Relation: waiting[rel], Args: slices.Concat([]logic.HeadArg{{Term: n}, to}, r.Head.Args)}
		r.Body = append(r.Body, has(b.batch, n))
	}
	return out
}

// unsent reports whether no rule sends a relation that the part derives: the message would
// arrive at the other part of the component.
func unsent(p analyze.Part) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	for _, c := range p.Program.Components {
		for _, r := range c.Rules {
			if r.Kind == logic.Async && derived(p, r.Head.Relation) {
				b := no(r, r.Head.Relation.Name+" is derived by the rules that move, and messages bring it as well")
				b.Because[0].Help = sendAnother
				and(&v, b)
			}
		}
	}
	return v
}
