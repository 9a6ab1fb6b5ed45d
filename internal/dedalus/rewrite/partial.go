// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Partial partitioning divides a component in which some relations have no key. Every
// piece has a copy of those, equal to the copies of the others. The inputs that change
// them are replicated. They go to a new component, C_order, one for each divided node,
// which numbers them and gives each to all pieces while no piece does anything else:
//
//	C_order                                      piece
//	number the oldest input that waits: u
//	freeze(u)                           -->      from the next tick on, process
//	                                    <--      nothing divided: voted u
//	all have voted: do(u, input)        -->      process the input, and its further
//	                                             effects in depth ticks
//	                                    <--      done u: process what waited
//	all are done: the next one
//
// The undivided node could have processed the input when do(u) was sent: at all pieces,
// the divided inputs processed before come before that moment, and later ones after it.
// No piece processes another input in the tick of a replicated one, which is one of the
// orders in which they may arrive.
//
// Facts that arrive while a piece is frozen wait in a relation, and none is lost. A
// repeated message finds the greatest number voted or done, and changes nothing; an input
// that arrives again after it was processed gets a new number. Before the first input
// nothing has been voted, and no instance is frozen. The order sends each message once in
// each of its lives, and again when an input arrives, so a message lost in a crash does
// not block it.
//
// Facts that are sent because of a replicated input, and depend on divided facts, are sent
// in parts, with the number of parts from each piece; the receiver keeps them until it has
// all, and then has them in one tick. If the fact is a count, the receiver gets the sum.
// Parts have the number of the input and the tick after it. Each piece also sends the
// number that it sent to this receiver before, so the receiver remembers only the last
// number up to which it has everything, and the numbers after it.
//
// If a piece fails, the node fails for replicated inputs and for the keys of that piece:
// the deployment tolerates fewer failures, by the number of pieces of a node.

// partiallyDivisible reports whether a component can be divided by keys, except for some
// relations that all parts receive in the same order.
func partiallyDivisible(w *site) analyze.Verdict {
	rep, v := replicate(w.p, w.c, w.step)
	if !v.Holds {
		return v
	}
	for _, rel := range w.p.In(w.c) {
		for _, o := range w.p.Components {
			if o != w.c && o.Partitions > 1 && slices.Contains(w.p.In(o), rel) {
				return no(nil, fmt.Sprintf("%s is also received by %s, which is partitioned", rel.Name, o.Name))
			}
		}
	}
	w.keys, w.partial = rep.keys, rep
	w.cert.Keys = map[string]analyze.Key{}
	for r, k := range rep.keys {
		w.cert.Keys[r.Name] = k
	}
	w.cert.Partial = &certificate.Partial{Depth: rep.depth, Settling: rep.settling}
	for _, r := range rep.replicated {
		w.cert.Partial.Replicated = append(w.cert.Partial.Replicated, r.Name)
	}
	for _, s := range rep.sealed {
		w.cert.Partial.Sealed = append(w.cert.Partial.Sealed, s.rel.Name)
	}
	v.Assuming = rep.assuming
	return v
}

// claimPartial adds the keys, and what is replicated, to a claim.
func claimPartial(c *Certificate, before *logic.Program, out *certificate.Claim) {
	claimKeys(c, before, out)
	out.Partial = c.Partial
}

// dividePartially divides a component.
func dividePartially(w *site) {
	rep, p, c := w.partial, w.p, w.c
	order := &logic.Component{Name: orderOf(c), Of: c.Of, Instances: c.Instances, Partitions: 1, Span: c.Span}
	p.Components = slices.Insert(p.Components, slices.Index(p.Components, c)+1, order)
	t := &template{replication: rep, order: order, parts: w.step.Partitions,
		author: &author{p: p, origin: w.step.String(), span: c.Span, names: map[string]*logic.Relation{}}}
	t.declare()
	var receivers []*logic.Component
	for _, o := range p.Components {
		if slices.ContainsFunc(rep.sealed, func(s *seal) bool {
			return slices.ContainsFunc(o.Rules, func(r *logic.Rule) bool { return reads(r, s.rel) })
		}) {
			receivers = append(receivers, o)
		}
	}
	t.own()
	t.pieces()
	t.ordering()
	if len(rep.sealed) > 0 {
		t.send()
		for _, o := range receivers {
			t.receive(o)
		}
	}
	c.Partitions = w.step.Partitions
	toPiece := forwarder(p, []string{c.Name}, c, c.Partitions)
	toOrder := forwarder(p, []string{c.Name}, order, 1)
	for _, from := range p.Components {
		for _, r := range from.Rules {
			switch {
			case r.Kind != logic.Async:
			case slices.Contains(rep.divided, r.Head.Relation):
				divide(p, r, toPiece, w.keys[r.Head.Relation], c.Partitions)
			case slices.Contains(rep.replicated, r.Head.Relation):
				reroute(r, toOrder, nil)
			}
		}
	}
}

// template writes the rules of a partial partitioning.
type template struct {
	*replication
	*author
	order *logic.Component
	parts int
}

// fill replaces the placeholders of a text by names and numbers.
func (t *template) fill(text string, more ...string) string {
	list := append([]string{"$C", t.c.Name, "$N", fmt.Sprint(t.parts), "$S", fmt.Sprint(t.depth + 1), "$D", fmt.Sprint(t.depth)}, more...)
	return strings.NewReplacer(list...).Replace(text)
}

// of returns the replacements for a text about a relation: its name, and for its columns
// variables, wildcards and choices.
func of(rel *logic.Relation) []string {
	var vars, choices []string
	for i := range rel.Columns {
		vars = append(vars, fmt.Sprintf("x%d", i))
		choices = append(choices, fmt.Sprintf("choose<x%d>", i))
	}
	anything := slices.Repeat([]string{"_"}, len(vars))
	return []string{"$r", rel.Name, "$X", strings.Join(vars, ", "), "$_", strings.Join(anything, ", "), "$?", strings.Join(choices, ", ")}
}

// declare adds the relations.
func (t *template) declare() {
	for _, d := range []struct{ name, columns string }{
		{"clock", "n max"}, {"tick", "n u64"}, {"came", ""}, {"waiting", "n u64"}, {"first", "n u64"}, {"number", "u u64"}, {"last", "u max"},
		{"begin", "u u64"}, {"now", "u u64"}, {"asked", "u u64"}, {"asking", "u u64"}, {"at", "part u64, voted max, done max"},
		{"votes", "u u64, k u64"}, {"agreed", "u u64"}, {"acks", "u u64, k u64"}, {"finished", "u u64"}, {"told", "u u64"}, {"telling", "u u64"},
		{"freeze", "u u64, part u64"}, {"is", "part u64, voted u64, done u64"},
		{"voted", "u max"}, {"begun", "u max"}, {"done", "u u64"}, {"frozen", ""}, {"turn", "i u64, part u64"}, {"report", "part u64"},
	} {
		t.relation(t.c.Name+"_"+d.name, d.columns)
	}
	for _, r := range t.replicated {
		t.relation(r.Name+"_queue", "", plain(r.Columns)...)
		q := t.names[r.Name+"_queue"]
		q.Columns = append(q.Columns, column("n", "min"))
		t.relation(r.Name+"_head", "")
		t.relation(r.Name+"_start", "", plain(r.Columns)...)
		t.relation(r.Name+"_now", "u u64", plain(r.Columns)...)
		t.relation(r.Name+"_do", "u u64, part u64", plain(r.Columns)...)
	}
	for _, r := range t.divided {
		t.relation(r.Name+"_kept", "", plain(r.Columns)...)
	}
	for _, r := range append(slices.Clone(t.replicated), t.divided...) {
		own := t.relation(r.Name+"_"+t.c.Name, "", r.Columns...)
		for i, c := range r.Columns {
			own.Columns[i].Name = c.Name
		}
	}
	if t.settling {
		t.relation(t.c.Name+"_busy", "")
		t.relation(t.c.Name+"_settling", "")
	}
	t.durable()
	t.routes()
}

// durable makes the state that a node must not forget durable, if the component logs anything.
func (t *template) durable() {
	if !slices.ContainsFunc(t.c.Rules, func(r *logic.Rule) bool { return r.Head.Relation.Durable }) {
		return
	}
	names := []string{t.c.Name + "_last", t.c.Name + "_voted", t.c.Name + "_begun"}
	for _, r := range t.replicated {
		names = append(names, r.Name+"_now")
	}
	for _, n := range names {
		t.names[n].Durable = true
	}
}

// routes adds the relations that lead from a node to its pieces and to its ordering component.
func (t *template) routes() {
	node := func(of string, i int) logic.Value { return logic.Value{Kind: logic.Node, Str: logic.NodeName(of, i)} }
	parts := t.relation(t.c.Name+"_parts", "l node, part u64, to node")
	order := t.relation(t.c.Name+"_of", "l node, to node")
	parts.Kind, order.Kind = logic.Static, logic.Static
	for i := range t.c.Instances {
		for part := range t.parts {
			parts.Facts = append(parts.Facts, []logic.Value{node(t.c.Of, i), {Kind: logic.U64, Num: uint64(part)}, node(t.c.Name, i*t.parts+part)})
		}
		order.Facts = append(order.Facts, []logic.Value{node(t.c.Of, i), node(t.order.Name, i)})
	}
}

// own makes the rules of the component read its inputs when it is their turn. Only one piece
// sends the messages that depend on nothing divided.
func (t *template) own() {
	for _, r := range t.c.Rules {
		if r.Kind == logic.Async && !slices.ContainsFunc(r.Body, t.divides) {
			turn := &logic.Atom{Relation: t.names[t.c.Name+"_turn"], Args: []*logic.Term{{Kind: logic.Wildcard}, number(0)}}
			r.Body = append(r.Body, logic.Literal{Atom: turn, Span: t.span})
		}
	}
	for _, r := range append(slices.Clone(t.replicated), t.divided...) {
		own := t.names[r.Name+"_"+t.c.Name]
		read(t.c.Rules, r, own)
		t.keyed[own] = t.keyed[r]
	}
}
