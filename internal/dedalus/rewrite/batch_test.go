// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// batching is a program whose pieces send each other batches. It is small enough to explore.
type batching struct {
	text, step string
	inputs     uint64
	timers     map[string]int
	bounds     explore.Bounds
}

// ordered puts its inputs in order and applies them. All readers must see the same facts
// together and in the same order.
const ordered = `program ordered
component a {
  input  in(x: u64)
  output seen(k: u64)
  static client(c: node) = nodes client
  var    turn(n: u64)
  table  last(x: u64) delete when top(_)
  sync   many(count<x>) <- in(x)
  next   turn(k) <- in(_), turn(n), k := n + 1
  next   turn(1) <- in(_), not turn(_)
  next   turn(n) <- turn(n), not in(_)
  sync   cmd(x, n) <- in(x), turn(n)
  sync   cmd(x, 0) <- in(x), not turn(_)
  async  seen@node "c"(k) <- many(k)
  sync   top(max<x>) <- cmd(x, _)
  next   last(x) <- top(x)
  sync   group(n, count<x>) <- cmd(x, n)
  async  reply@c(n, k, old) <- group(n, k), last(old), client(c)
  async  reply@c(n, k, 99) <- group(n, k), not last(_), client(c)
}
component client {
  output told(n: u64, k: u64, old: u64)
  async  told@node "c"(n, k, old) <- reply(n, k, old)
}
`

// ticking makes both sides read the inputs. One side also reads a timer, and relations that
// are empty in most ticks.
const ticking = `program ticking
component a {
  input  in(x: u64)
  input  other(x: u64)
  timer  alarm every 1s
  output seen(x: u64, k: u64)
  static client(c: node) = nodes client
  table  sum(x: u64)
  sync   sum(x) <- in(x)
  sync   much(count<x>) <- sum(x)
  async  seen@node "c"(x, k) <- in(x), much(k)
  sync   ins(count<x>) <- in(x)
  sync   ins(0) <- other(_), not in(_)
  sync   others(count<x>) <- other(x)
  sync   others(0) <- in(_), not other(_)
  async  reply@c(k, j, false) <- ins(k), others(j), not alarm(), client(c)
  async  reply@c(k, j, true) <- ins(k), others(j), alarm(), client(c)
  table  rings(k: u64)
  next   rings(k) <- alarm(), in(k)
  async  ring@c(k) <- alarm(), rings(k), client(c)
}
component client {
  output told(k: u64, j: u64, rung: bool)
  output rung(k: u64)
  async  told@node "c"(k, j, r) <- reply(k, j, r)
  async  rung@node "c"(k) <- ring(k)
}
`

// answering has a part that receives messages first and sends results to the rest. A friend
// that receives an answer sends a message to the rest, which must not process it before the
// cause of the answer.
const answering = `program answering
component a {
  static friend(f: node) = nodes friend
  output told(x: u64, known: bool)
  output ticked(n: u64)
  table  known(x: u64)
  table  votes(p: u64, x: u64)
  sync   votes(p, x) <- vote(p, x)
  sync   count(x, count<p>) <- votes(p, x)
  sync   won(x) <- vote(_, x), count(x, k), k == 2
  async  answer@f(x) <- vote(_, x), count(x, k), k >= 2, friend(f)
  async  noted@f(p) <- vote(p, _), friend(f)
  next   known(x) <- won(x)
  async  told@node "c"(x, true) <- ask(x), known(x)
  async  told@node "c"(x, false) <- ask(x), not known(x)
}
component friend {
  input  start(p: u64)
  output votes_noted(p: u64)
  static a(n: node) = nodes a
  async  vote@n(p, 7) <- start(p), a(n)
  async  ask@n(x) <- answer(x), a(n)
  async  votes_noted@node "c"(p) <- noted(p)
}
`

// counting has a rest that knows whether it had a tick before. A decoupling must not reveal
// more ticks: a client that is answered asks in a later tick.
const counting = `program counting
component a {
  static friend(f: node) = nodes friend
  output out(x: u64)
  async  pong@f(x) <- ping(x), friend(f)
  sync   heard(x) <- ping(x), x > 0
  next   past() <- not past()
  next   past() <- past()
  async  out@node "c"(x) <- heard(x)
  async  phase@f(true) <- more(), past(), friend(f)
  async  phase@f(false) <- more(), not past(), friend(f)
}
component friend {
  input  start(p: u64)
  output late(x: u64, past: bool)
  static a(n: node) = nodes a
  table  had(x: u64)
  async  ping@n(x) <- start(x), a(n)
  sync   had(x) <- pong(x)
  async  more@n() <- pong(_), a(n)
  async  late@node "c"(x, e) <- phase(e), had(x)
}
`

func batchings() map[string]batching {
	return map[string]batching{
		"ordered":   {ordered, "statemachine a rules 8 9 10 11 12 13 as b", 2, nil, explore.Bounds{Duplicates: 1}},
		"ticking":   {ticking, "statemachine a rules 4 5 6 7 8 9 10 11 13 as b", 1, map[string]int{"alarm": 1}, explore.Bounds{}},
		"answering": {answering, "asymmetric a rules 1 2 3 4 5 10 as b", 2, nil, explore.Bounds{}},
		"counting":  {counting, "asymmetric a rules 1 2 as b", 1, nil, explore.Bounds{}},
	}
}

// pair returns a program and the result of its step.
func (b batching) pair(t *testing.T) (p, q *logic.Program) {
	t.Helper()
	p = given.Program(t, b.text)
	s, err := rewrite.ParseStep(b.step)
	if err != nil {
		t.Fatal(err)
	}
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	if again := given.Program(t, q.String()); again.String() != q.String() {
		t.Fatalf("read again:\n%v\nwas\n%v", again, q)
	}
	if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
		t.Fatalf("the certificate: %v\n%v", err, q)
	}
	return p, q
}

func (b batching) compare(t *testing.T, p, q *logic.Program) *explore.Comparison {
	t.Helper()
	inputs := func(p *logic.Program) []interp.Message { return given.Inputs(p, b.inputs) }
	limit := func(m *explore.Model) {
		for timer, n := range b.timers {
			m.Limit(timer, n)
		}
	}
	c, err := explore.Compare(t.Context(), p, q, inputs, nil, b.bounds, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBatches compares programs with batches with the originals, in every order of messages.
func TestBatches(t *testing.T) {
	for name, b := range batchings() {
		t.Run(name, func(t *testing.T) {
			p, q := b.pair(t)
			c := b.compare(t, p, q)
			t.Logf("%d and %d states", c.First.States, c.Second.States)
			if c.Different != nil || !c.Complete() {
				t.Errorf("complete %v: %v", c.Complete(), c.Different)
			}
			if len(c.Second.Final) == 0 {
				t.Error("it never comes to rest")
			}
		})
	}
}

// TestBatchMistakes changes the rules for batches, to the published ones or to plausible
// mistakes, and requires that each is found.
func TestBatchMistakes(t *testing.T) {
	for name, m := range map[string]struct {
		program string
		oldNew  []string
		kind    string
	}{
		"B1: sealed again at every tick": {"ordered", []string{
			"next cmd_b_held(b, x0, x1) <- cmd_b_held(b, x0, x1), not b_sealed(b)", "next cmd_b_held(b, x0, x1) <- cmd_b_held(b, x0, x1)",
			"  sync cmd_b_sealed(x0, x1) <-", "  sync cmd_b_sealed(x0, x1) <- cmd_b_held(b, x0, x1), b_upto(u), b < u\n  sync cmd_b_sealed(x0, x1) <-"}, "safety"},
		"B2: the first is taken for none":      {"ordered", []string{"sync b_due(0) <- not b_upto(_)", "sync b_due(0) <- not b_upto(_)\n  sync b_due(1) <- not b_upto(_)"}, "safety"},
		"B3: empty relations are waited for":   {"ticking", []string{"b_full(sum<n>) <- b_got(i, n)", "b_full(sum<n>) <- b_got(i, n), b_got(0, _), b_got(1, _)"}, "liveness"},
		"sealed before it is complete":         {"ordered", []string{"b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)", "b_sealed(b) <- b_due(b), b_full(_)"}, "safety"},
		"two batches in a tick":                {"ordered", []string{"b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)", "b_sealed(b) <- b_open(b, n), b_due(b), b_full(n)\n  sync b_sealed(c) <- b_sealed(b), c := b + 1, b_open(c, _)"}, "safety"},
		"no batch is numbered":                 {"ordered", []string{"next b_next(c) <- b_batch(b), c := b + 1", "next b_next(b) <- b_batch(b)"}, "safety"},
		"B4: batches of facts only":            {"answering", []string{"b_batch(0) <- b_tick(), not", "b_batch(0) <- b_tick(), b_count(_, _), not", "b_batch(b) <- b_tick(), b_next", "b_batch(b) <- b_tick(), b_count(_, _), b_next"}, "liveness"},
		"no acknowledgement":                   {"answering", []string{", b_acked(a), b <= a\n  async answer@", "\n  async answer@"}, "safety"},
		"acknowledged before it is sealed":     {"answering", []string{"async b_acked@to(b) <- b_sealed(b),", "async b_acked@to(b) <- b_announced(b, _),"}, "safety"},
		"B4: released before there is a batch": {"counting", []string{"next pong_b_waiting(b, f, x) <- ping(x), friend(f), b_batch(b)", "async pong@f(x) <- ping(x), friend(f)"}, "safety"},
	} {
		t.Run(name, func(t *testing.T) {
			b := batchings()[m.program]
			p, q := b.pair(t)
			text := q.String()
			for i := 0; i < len(m.oldNew); i += 2 {
				if strings.Count(text, m.oldNew[i]) != 1 {
					t.Fatalf("%q is not there once:\n%s", m.oldNew[i], text)
				}
				text = strings.Replace(text, m.oldNew[i], m.oldNew[i+1], 1)
			}
			c := b.compare(t, p, given.Program(t, text))
			if c.Different == nil || c.Different.Kind != m.kind {
				t.Errorf("want a difference of %s, got %v", m.kind, c.Different)
			}
		})
	}
}
