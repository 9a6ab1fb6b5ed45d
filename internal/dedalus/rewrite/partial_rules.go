// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// ordering writes the component that orders replicated inputs.
func (t *template) ordering() {
	earlier := ""
	for i, r := range t.replicated {
		text := `
			sync $C_came() <- $r($_)
			sync $r_queue($X, n) <- $r($X), $C_tick(n)
			next $r_queue($X, n) <- $r_queue($X, n), not $r_start($X)
			sync $C_waiting(n) <- $r_queue($_, n)
			sync $r_start($?) <- $r_queue($X, n), $C_first(n)` + earlier + `
			sync $C_begin(m) <- $r_start($_), $C_number(u), m := u + 1
			next $r_now(m, $X) <- $r_start($X), $C_begin(m)
			next $r_now(u, $X) <- $r_now(u, $X), not $C_finished(u)
			sync $C_now(u) <- $r_now(u, $_)
			async $r_do@to(u, part, $X) <- $C_telling(u), $r_now(u, $X), $C_parts(self, part, to)`
		if i < len(t.replicated)-1 {
			text += `
			sync $r_head() <- $r_queue($_, n), $C_first(n)`
			earlier += ", not " + r.Name + "_head()"
		}
		t.rules(t.order, t.fill(text, of(r)...))
	}
	t.rules(t.order, t.fill(`
		sync $C_tick(n) <- $C_clock(n)
		sync $C_tick(0) <- not $C_clock(_)
		next $C_clock(m) <- $C_came(), $C_tick(n), m := n + 1
		next $C_clock(n) <- $C_clock(n)
		sync $C_first(min<n>) <- $C_waiting(n), not $C_now(_)
		sync $C_number(u) <- $C_last(u)
		sync $C_number(0) <- not $C_last(_)
		next $C_last(u) <- $C_begin(u)
		next $C_last(u) <- $C_last(u)
		next $C_asked(u) <- $C_now(u)
		sync $C_asking(u) <- $C_now(u), not $C_asked(u)
		sync $C_asking(u) <- $C_came(), $C_now(u), not $C_agreed(u)
		async $C_freeze@to(u, part) <- $C_asking(u), $C_parts(self, part, to)
		sync $C_at(part, v, d) <- $C_is(part, v, d)
		next $C_at(part, v, d) <- $C_at(part, v, d)
		sync $C_votes(u, count<part>) <- $C_now(u), $C_at(part, v, _), v >= u
		sync $C_agreed(u) <- $C_votes(u, k), k >= $N
		sync $C_acks(u, count<part>) <- $C_now(u), $C_at(part, _, d), d >= u
		sync $C_finished(u) <- $C_acks(u, k), k >= $N
		next $C_told(u) <- $C_agreed(u)
		sync $C_telling(u) <- $C_agreed(u), not $C_told(u)
		sync $C_telling(u) <- $C_came(), $C_agreed(u)`))
}

// pieces writes the rules that a piece has besides its own.
func (t *template) pieces() {
	settled := ""
	if t.depth > 0 {
		settled = ", not $C_turn(_, _)"
	}
	if t.settling {
		settled += ", not $C_busy()"
	}
	own := slices.Clone(t.c.Rules)
	t.rules(t.c, t.fill(`
		next $C_voted(u) <- $C_freeze(u, _)
		next $C_voted(u) <- $C_voted(u)
		next $C_begun(u) <- $C_turn(i, _), u := i / $S
		next $C_begun(u) <- $C_begun(u)
		sync $C_done(u) <- $C_begun(u)
		sync $C_done(0) <- not $C_begun(_)
		sync $C_frozen() <- $C_voted(v), $C_done(d), v > d
		next $C_report(part) <- $C_freeze(_, part)
		async $C_is@to(part, v, d) <- $C_report(part), $C_voted(v), $C_done(d)`+settled+`, $C_of(self, to)`))
	if t.depth > 0 {
		t.rules(t.c, t.fill(`
			sync $C_frozen() <- $C_turn(_, _)
			next $C_turn(j, part) <- $C_turn(i, part), s := i % $S, s < $D, j := i + 1
			next $C_report(part) <- $C_turn(_, part)`))
	}
	for _, r := range t.replicated {
		t.rules(t.c, t.fill(`
			sync $r_$C($X) <- $r_do(u, _, $X), $C_voted(u), $C_done(d), d < u
			sync $C_turn(i, part) <- $r_do(u, part, $_), $C_voted(u), $C_done(d), d < u, i := u * $S
			next $C_report(part) <- $r_do(_, part, $_)`, of(r)...))
	}
	for _, r := range t.divided {
		t.rules(t.c, t.fill(`
			sync $r_kept($X) <- $r($X)
			next $r_kept($X) <- $r_kept($X), $C_frozen()
			sync $r_$C($X) <- $r_kept($X), not $C_frozen()`, of(r)...))
	}
	if t.settling {
		t.settle(own)
	}
}

// send makes the pieces send sealed relations in parts: each rule fills an outbox instead, and
// another rule derives the possible destinations.
func (t *template) send() {
	name := t.c.Name
	for _, d := range []struct{ name, columns string }{
		{"dest", "to node"}, {"rows", "to node, r u64, n u64"}, {"total", "to node, n u64"}, {"prev", "to node, i u64"}, {"sent", "to node, i max"},
		{"count", "src node, i u64, part u64, prev u64, n u64"},
	} {
		t.relation(name+"_"+d.name, d.columns)
	}
	t.names[name+"_sent"].Durable = t.names[name+"_begun"].Durable
	for n, s := range t.sealed {
		out := t.relation(s.rel.Name+"_out", "to node", plain(s.rel.Columns)...)
		t.relation(s.rel.Name+"_sent", "to node, n u64")
		t.relation(s.rel.Name+"_part", "src node, i u64, part u64", plain(s.rel.Columns)...)
		for _, r := range s.rules {
			to := logic.HeadArg{Term: r.Dest}
			known, _ := t.destinations(r)
			// If one piece sends for all, the other pieces still announce a count: zero.
			known = slices.DeleteFunc(known, func(l logic.Literal) bool { return literalRelation(l) == t.names[name+"_turn"] })
			t.c.Rules = append(t.c.Rules, &logic.Rule{Kind: logic.Sync, Head: logic.Head{Relation: t.names[name+"_dest"], Args: []logic.HeadArg{to}},
				Body: known, Origin: t.origin, Span: r.Span})
			r.Kind, r.Dest = logic.Sync, nil
			r.Head = logic.Head{Relation: out, Args: append([]logic.HeadArg{to}, r.Head.Args...)}
		}
		t.rules(t.c, t.fill(`
			sync $r_sent(to, sum<1>) <- $r_out(to, $X)
			sync $C_rows(to, $n, n) <- $r_sent(to, n)
			async $r_part@to(self, i, part, $X) <- $r_out(to, $X), $C_turn(i, part)`, append(of(s.rel), "$n", fmt.Sprint(n))...))
	}
	t.rules(t.c, t.fill(`
		sync $C_rows(to, $n, 0) <- $C_dest(to)
		sync $C_total(to, sum<n>) <- $C_rows(to, r, n)
		sync $C_prev(to, i) <- $C_dest(to), $C_sent(to, i)
		sync $C_prev(to, 0) <- $C_dest(to), not $C_sent(to, _)
		next $C_sent(to, i) <- $C_dest(to), $C_turn(i, _)
		next $C_sent(to, i) <- $C_sent(to, i)
		async $C_count@to(self, i, part, p, n) <- $C_total(to, n), $C_prev(to, p), $C_turn(i, part)`, "$n", fmt.Sprint(len(t.sealed))))
}

// receive makes a component assemble sealed relations.
func (t *template) receive(o *logic.Component) {
	name := t.c.Name
	for _, d := range []struct{ name, columns string }{
		{"past", "src node, i u64"}, {"due", "src node, i max"}, {"base", "src node, i u64"}, {"opened", "src node, i u64, prev u64"},
		{"passed", "src node, i u64"}, {"expect", "src node, i u64, part u64, prev u64, n u64"}, {"gotten", "src node, i u64, r u64, n u64"},
		{"got", "src node, i u64, n u64"}, {"want", "src node, i u64, k u64, prev u64, n u64"}, {"open", "src node, i u64, prev u64"},
	} {
		t.relation(name+"_"+d.name, d.columns)
	}
	for n, s := range t.sealed {
		t.relation(s.rel.Name+"_wait", "src node, i u64, part u64", plain(s.rel.Columns)...)
		t.relation(s.rel.Name+"_got", "src node, i u64, n u64")
		t.rules(o, t.fill(`
			sync $C_past(f, i) <- $r_part(f, i, _, $_), $C_due(f, d), i <= d
			sync $r_wait(f, i, part, $X) <- $r_part(f, i, part, $X), not $C_past(f, i)
			next $r_wait(f, i, part, $X) <- $r_wait(f, i, part, $X), not $C_open(f, i, _)
			sync $r_got(f, i, sum<1>) <- $r_wait(f, i, part, $X)
			sync $C_gotten(f, i, $n, n) <- $r_got(f, i, n)`, append(of(s.rel), "$n", fmt.Sprint(n))...))
		if s.sum < 0 {
			t.rules(o, t.fill(`
				sync $r($X) <- $r_wait(f, i, _, $X), $C_open(f, i, _)`, of(s.rel)...))
			continue
		}
		x := fmt.Sprintf("x%d", s.sum)
		t.relation(s.rel.Name+"_sum", "src node, i u64", plain(s.rel.Columns)...)
		vars := of(s.rel)[3]
		parts := strings.Split(vars, ", ")
		parts[s.sum] = "sum<" + x + ">"
		t.rules(o, t.fill(`
			sync $r_sum(f, i, $+) <- $r_wait(f, i, part, $X), $C_open(f, i, p)
			sync $r($X) <- $r_sum(_, _, $X)`, append(of(s.rel), "$+", strings.Join(parts, ", "))...))
	}
	t.rules(o, t.fill(`
		sync $C_past(f, i) <- $C_count(f, i, _, _, _), $C_due(f, d), i <= d
		sync $C_past(f, i) <- $C_opened(f, i, _)
		sync $C_expect(f, i, part, p, n) <- $C_count(f, i, part, p, n), not $C_past(f, i)
		next $C_expect(f, i, part, p, n) <- $C_expect(f, i, part, p, n), not $C_open(f, i, _)
		sync $C_gotten(f, i, $n, 0) <- $C_expect(f, i, _, _, _)
		sync $C_got(f, i, sum<n>) <- $C_gotten(f, i, r, n)
		sync $C_want(f, i, count<part>, max<p>, sum<n>) <- $C_expect(f, i, part, p, n)
		sync $C_open(f, i, p) <- $C_want(f, i, $N, p, n), $C_got(f, i, n)
		next $C_opened(f, i, p) <- $C_open(f, i, p)
		next $C_opened(f, i, p) <- $C_opened(f, i, p), not $C_passed(f, i)
		sync $C_base(f, d) <- $C_due(f, d)
		sync $C_base(f, 0) <- $C_opened(f, _, _), not $C_due(f, _)
		sync $C_passed(f, i) <- $C_opened(f, i, d), $C_base(f, d)
		next $C_due(f, i) <- $C_passed(f, i)
		next $C_due(f, d) <- $C_due(f, d)`, "$n", fmt.Sprint(len(t.sealed))))
}
