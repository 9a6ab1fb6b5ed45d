// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Batches. One piece of a component, the sender, has facts that another, the
// receiver, must see as if both went through their ticks together: all facts of a
// tick at once, and the ticks in their order.
//
// The sender numbers the ticks that matter from 0. It sends each fact with this number,
// and the number with the total of facts in all relations. The receiver keeps received
// facts until the batch that is due is complete. Then the batch is sealed: the receiver
// sees its facts in that tick. Afterwards it deletes the batch, and the next one is due,
// in the next tick at the earliest.
//
// Messages arrive more than once and in any order. Repeated facts are one fact of the batch;
// facts of a batch that is no longer due are dropped, so that nothing is kept
// permanently. A relation of which a batch has no fact adds nothing to the count, and
// no receiver waits for it.
//
// The published rules differ in three ways that make them wrong: they seal a batch again
// at every later tick; without an earlier batch they assume the time 0, which is a valid
// time of a batch; and they need a count of every relation, which is missing where there
// are no facts.

// batches builds the rules that carry some relations from one piece to another.
type batches struct {
	p       *logic.Program
	origin  string
	to      *logic.Relation // leads from self to the receiver
	carried []carried

	batch    *logic.Relation // the number of the batch of this tick, if it has one
	announce *logic.Relation
	sealed   *logic.Relation // the number of the batch that is sealed in this tick
}

// carried is a relation that is sent in batches.
type carried struct {
	at           *logic.Relation // at the sender
	wire, sealed *logic.Relation // in messages, and at the receiver in the tick that seals the batch
}

// newBatches prepares to send the relations at to the node to which to leads. The names of
// new relations begin with name; the copies are named after the relations of original.
func newBatches(p *logic.Program, origin, name string, to *logic.Relation, at, original []*logic.Relation) *batches {
	b := &batches{p: p, origin: origin, to: to}
	for i, r := range at {
		b.carried = append(b.carried, carried{at: r,
			wire:   b.numbered(original[i].Name+"_"+name, r.Columns),
			sealed: b.relation(original[i].Name+"_"+name+"_sealed", r.Columns),
		})
	}
	b.batch = b.relation(name+"_batch", numbers("b"))
	b.announce = b.relation(name+"_announced", numbers("b", "n"))
	b.sealed = b.relation(name+"_sealed", numbers("b"))
	return b
}

// numbers returns columns of numbers.
func numbers(names ...string) []logic.Column {
	var out []logic.Column
	for _, n := range names {
		out = append(out, logic.Column{Name: n, Type: logic.Type{Kind: logic.U64}})
	}
	return out
}

func (b *batches) relation(name string, columns []logic.Column) *logic.Relation {
	r := &logic.Relation{Name: newName(b.p, name), Columns: slices.Clone(columns)}
	b.p.Relations = append(b.p.Relations, r)
	return r
}

// numbered adds a relation of facts with the number of their batch. It does not merge facts:
// those of one batch were merged at the sender, those of different batches must not be.
func (b *batches) numbered(name string, columns []logic.Column) *logic.Relation {
	return b.relation(name, slices.Concat(numbers("b"), unmerged(columns)))
}

// unmerged returns the columns without lattices.
func unmerged(columns []logic.Column) []logic.Column {
	out := slices.Clone(columns)
	for i := range out {
		out[i].Lattice = logic.NoLattice
	}
	return out
}

// rule makes a rule of this rewrite.
func (b *batches) rule(kind logic.RuleKind, head *logic.Relation, args []*logic.Term, body ...logic.Literal) *logic.Rule {
	r := &logic.Rule{Kind: kind, Head: logic.Head{Relation: head}, Body: body, Origin: b.origin}
	for _, a := range args {
		r.Head.Args = append(r.Head.Args, logic.HeadArg{Term: a})
	}
	return r
}

// sum makes a rule whose last argument is a sum over the rows of the body.
func (b *batches) sum(head *logic.Relation, args []*logic.Term, body ...logic.Literal) *logic.Rule {
	r := b.rule(logic.Sync, head, args, body...)
	r.Head.Args[len(args)-1].Aggregate = logic.Sum
	return r
}

// send makes a rule that sends to the node to which the forwarding relation leads.
func (b *batches) send(head *logic.Relation, args []*logic.Term, body ...logic.Literal) *logic.Rule {
	self, to := &logic.Term{Kind: logic.Self, Type: logic.Type{Kind: logic.Node}}, variable("to", logic.Node)
	r := b.rule(logic.Async, head, args, append(body, has(b.to, self, to))...)
	r.Dest = to
	return r
}

func has(r *logic.Relation, args ...*logic.Term) logic.Literal {
	return logic.Literal{Atom: &logic.Atom{Relation: r, Args: args}}
}

func hasNot(r *logic.Relation, args ...*logic.Term) logic.Literal {
	return logic.Literal{Negated: true, Atom: &logic.Atom{Relation: r, Args: args}}
}

func numeral(n uint64) *logic.Term {
	return &logic.Term{Kind: logic.Const, Value: logic.Value{Kind: logic.U64, Num: n}, Type: logic.Type{Kind: logic.U64}}
}

func counter(name string) *logic.Term { return variable(name, logic.U64) }

// anything returns a wildcard for each column of a relation.
func anything(r *logic.Relation) []*logic.Term {
	var out []*logic.Term
	for _, c := range r.Columns {
		out = append(out, &logic.Term{Kind: logic.Wildcard, Type: c.Type})
	}
	return out
}

// columns returns a variable for each column of a relation.
func columns(r *logic.Relation) []*logic.Term {
	var out []*logic.Term
	for i, c := range r.Columns {
		out = append(out, &logic.Term{Kind: logic.Var, Name: fmt.Sprintf("x%d", i), Type: c.Type})
	}
	return out
}

// after returns the literal c := b + 1.
func after(c, b string) logic.Literal {
	return logic.Literal{Assign: &logic.Assign{Var: c, Term: &logic.Term{Kind: logic.Call, Name: "+", Args: []*logic.Term{counter(b), numeral(1)}, Type: logic.Type{Kind: logic.U64}}}}
}

func compare(left string, op logic.CompareOp, right string) logic.Literal {
	return logic.Literal{Compare: &logic.Compare{Op: op, Left: counter(left), Right: counter(right)}}
}

// sender returns the rules of the piece that has the facts. A tick has a batch, possibly an
// empty one, if a relation of some has a fact; if some is empty, a tick has a batch if it has
// facts to send.
func (b *batches) sender(name string, some []*logic.Relation) []*logic.Rule {
	count := b.relation(name+"_count", numbers("part", "n"))
	size := b.relation(name+"_size", numbers("n"))
	next := b.relation(name+"_next", numbers("b"))
	any := has(size, anything(size)...)
	var out []*logic.Rule
	for i, c := range b.carried {
		out = append(out, b.sum(count, []*logic.Term{numeral(uint64(i)), numeral(1)}, has(c.at, columns(c.at)...)))
	}
	out = append(out, b.sum(size, []*logic.Term{counter("n")}, has(count, counter("i"), counter("n"))))
	if len(some) > 0 {
		tick := b.relation(name+"_tick", nil)
		any = has(tick)
		for _, r := range some {
			out = append(out, b.rule(logic.Sync, tick, nil, has(r, anything(r)...)))
		}
		out = append(out, b.rule(logic.Sync, size, []*logic.Term{numeral(0)}, any, hasNot(count, anything(count)...)))
	}
	bn := []*logic.Term{counter("b"), counter("n")}
	out = append(out,
		b.rule(logic.Sync, b.batch, []*logic.Term{numeral(0)}, any, hasNot(next, anything(next)...)),
		b.rule(logic.Sync, b.batch, bn[:1], any, has(next, bn[:1]...)),
		b.rule(logic.Next, next, []*logic.Term{counter("c")}, has(b.batch, bn[:1]...), after("c", "b")),
		b.rule(logic.Next, next, bn[:1], has(next, bn[:1]...), hasNot(b.batch, anything(b.batch)...)),
		b.send(b.announce, bn, has(b.batch, bn[:1]...), has(size, bn[1:]...)))
	for _, c := range b.carried {
		out = append(out, b.send(c.wire, slices.Concat(bn[:1], columns(c.at)), has(c.at, columns(c.at)...), has(b.batch, bn[:1]...)))
	}
	return out
}

// receiver returns the rules of the piece that receives batches: it sees the facts of a batch
// in the tick in which it seals the batch. With empty, a batch may have no facts.
func (b *batches) receiver(name string, empty bool) []*logic.Rule {
	upto := b.relation(name+"_upto", numbers("b"))
	due := b.relation(name+"_due", numbers("b"))
	open := b.relation(name+"_open", numbers("b", "n"))
	got := b.relation(name+"_got", numbers("part", "n"))
	full := b.relation(name+"_full", numbers("n"))
	bn := []*logic.Term{counter("b"), counter("n")}
	early := []logic.Literal{has(due, counter("d")), compare("b", logic.GreaterEqual, "d")}
	out := []*logic.Rule{
		b.rule(logic.Sync, due, []*logic.Term{numeral(0)}, hasNot(upto, anything(upto)...)),
		b.rule(logic.Sync, due, bn[:1], has(upto, bn[:1]...)),
		b.rule(logic.Sync, open, bn, append([]logic.Literal{has(b.announce, bn...)}, early...)...),
		b.rule(logic.Next, open, bn, has(open, bn...), hasNot(b.sealed, bn[:1]...)),
	}
	var seen []*logic.Rule
	for i, c := range b.carried {
		held := b.numbered(c.wire.Name+"_held", c.at.Columns)
		row := slices.Concat(bn[:1], columns(c.at))
		out = append(out,
			b.rule(logic.Sync, held, row, append([]logic.Literal{has(c.wire, row...)}, early...)...),
			b.rule(logic.Next, held, row, has(held, row...), hasNot(b.sealed, bn[:1]...)),
			b.sum(got, []*logic.Term{numeral(uint64(i)), numeral(1)}, has(held, row...), has(due, bn[:1]...)))
		seen = append(seen, b.rule(logic.Sync, c.sealed, row[1:], has(held, row...), has(b.sealed, bn[:1]...)))
	}
	out = append(out, b.sum(full, bn[1:], has(got, counter("i"), bn[1])))
	if empty {
		out = append(out, b.rule(logic.Sync, full, []*logic.Term{numeral(0)}, hasNot(got, anything(got)...)))
	}
	out = append(out,
		b.rule(logic.Sync, b.sealed, bn[:1], has(open, bn...), has(due, bn[:1]...), has(full, bn[1:]...)),
		b.rule(logic.Next, upto, []*logic.Term{counter("c")}, has(b.sealed, bn[:1]...), after("c", "b")),
		b.rule(logic.Next, upto, bn[:1], has(upto, bn[:1]...), hasNot(b.sealed, anything(b.sealed)...)))
	return append(out, seen...)
}
