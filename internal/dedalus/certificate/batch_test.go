// SPDX-License-Identifier: Apache-2.0

package certificate_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// machine has rules that are a state machine: they read inputs, relations of the other rules
// and a timer.
const machine = `program machine
component a {
  input  in(x: u64)
  timer  alarm every 1s
  output seen(x: u64)
  output told(x: u64, y: u64)
  output rung(x: u64)
  static peer(p: node) = nodes a
  var    best(x: max<u64>)
  var    big(x: max<u64>)
  table  last(x: u64) delete when top(_)
  sync   cmd(x, y) <- in(x), y := x * 2
  async  seen@node "c"(x) <- cmd(x, _)
  async  heard@p(x) <- in(x), peer(p), p != self
  sync   best(x) <- cmd(x, _)
  sync   top(x) <- best(x)
  next   last(x) <- top(x)
  async  told@node "c"(x, y) <- in(x), last(y)
  async  told@node "c"(x, 0) <- heard(x), not last(_)
  async  rung@node "c"(x) <- alarm(), last(x)
  async  rung@node "c"(x) <- big(x), last(_)
  sync   big(x) <- cmd(x, _)
}
deploy { a: 2 }
`

// upstream has rules that receive messages first and send results to the rest, which reads the
// same inputs.
const upstream = `program upstream
component a {
  input  in(x: u64)
  input  probe(x: u64)
  timer  alarm every 1s
  output told(x: u64, y: u64)
  output noted(x: u64)
  static peer(p: node) = nodes a
  table  sum(x: u64)
  table  known(x: u64)
  sync   sum(x) <- in(x)
  async  heard@p(x) <- in(x), peer(p)
  sync   found(x, count<y>) <- heard(x), sum(y)
  async  noted@node "c"(x) <- found(x, k), k > 1
  sync   known(x) <- found(x, _)
  async  told@node "c"(x, y) <- probe(x), known(y), not in(y)
  async  told@node "c"(x, 0) <- alarm(), known(x)
}
deploy { a: 2 }
`

// batched returns rewrites that use batches.
func batched(t *testing.T) []rewritten {
	return []rewritten{
		one(t, machine, "statemachine a rules 4 5 6 7 8 9 10 12 as b"),
		one(t, upstream, "asymmetric a rules 1 2 3 4 8 as b"),
	}
}

// one rewrites a program by one step.
func one(t *testing.T, text, step string) rewritten {
	t.Helper()
	p := given.Program(t, text)
	s, err := rewrite.ParseStep(step)
	if err != nil {
		t.Fatal(err)
	}
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	return rewritten{step, p, q, cert.Claim(p)}
}

func TestBatchesAreRight(t *testing.T) {
	for _, r := range batched(t) {
		if err := certificate.Check(r.before, r.after, r.claim); err != nil {
			t.Errorf("%s: %v\n%v", r.step, err, r.after)
		}
	}
}

// TestBatchRelationsStayPlain makes each new relation merge, or durable.
func TestBatchRelationsStayPlain(t *testing.T) {
	for _, r := range batched(t) {
		tried := 0
		for i, rel := range r.after.Relations {
			if r.before.Find(rel.Name) != nil || rel.Kind != logic.Derived {
				continue
			}
			for col := range rel.Columns {
				for _, l := range []logic.Lattice{logic.MaxLattice, logic.MinLattice} {
					q := r.after.Clone()
					if q.Relations[i].Columns[col].Lattice = l; rel.Columns[col].Lattice == l || q.Validate() != nil {
						continue
					}
					if tried++; certificate.Check(r.before, q, r.claim) == nil {
						t.Errorf("%s: %s merges", r.step, rel.Name)
					}
				}
			}
			q := r.after.Clone()
			if q.Relations[i].Durable = true; q.Validate() != nil {
				continue
			}
			if tried++; certificate.Check(r.before, q, r.claim) == nil {
				t.Errorf("%s: %s survives", r.step, rel.Name)
			}
		}
		if tried < 10 {
			t.Errorf("%s: only %d changes were tried", r.step, tried)
		}
	}
}

// TestEarlyWaitsForItsBatch makes early messages wait for a batch other than that of their
// tick.
func TestEarlyWaitsForItsBatch(t *testing.T) {
	r := batched(t)[1]
	text := r.after.String()
	for _, old := range []string{"found(x, k), k > 1, b_batch(b)", "peer(p), to_b(p, to), b_batch(b)"} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q is not there once in\n%s", old, text)
		}
		after := given.Program(t, strings.Replace(text, old, strings.Replace(old, "b_batch", "b_next", 1), 1))
		if err := certificate.Check(r.before, after, r.claim); err == nil || !strings.Contains(err.Error(), "does not hold back what") {
			t.Errorf("%s: got %v", old, err)
		}
	}
}

// TestWhatBatchesNeed makes the same change before and after the step, with which the claimed
// rewrite would change the program's behaviour. The rewriter must refuse too.
func TestWhatBatchesNeed(t *testing.T) {
	for name, m := range map[string]struct {
		at       int
		old, new string
		want     []string // errors of the certificate checker and of the rewriter
	}{
		"state for one tick":          {0, "next last(x) <- last(x), not top(_)", "next other(x) <- last(x), not top(_)", []string{"is not kept while", "holds for the next tick"}},
		"kept only when more comes":   {0, "next last(x) <- last(x), not top(_)", "next last(x) <- last(x), in(_)", []string{"is not kept while", "holds for the next tick"}},
		"forgotten by itself":         {0, "next last(x) <- last(x), not top(_)", "next last(x) <- last(x), x > 3", []string{"is not kept while", "deletes facts"}},
		"state that moves by itself":  {0, "next last(x) <- top(x)", "next last(x) <- last(y), x := y + 1", []string{"changes state in ticks", "changes state in ticks"}},
		"sends by itself":             {0, "rung@node \"c\"(x) <- alarm(), last(x)", "rung@node \"c\"(x) <- last(x)", []string{"sends in ticks", "sends in ticks"}},
		"sent for ever":               {0, "sync cmd(x, y) <- in(x), y := x * 2", "next cmd(x, y) <- cmd(x, y)", []string{"would be sent at every tick", "would be sent at every tick"}},
		"what others send is derived": {0, "async seen@node \"c\"(x) <- cmd(x, _)", "async top@p(x) <- cmd(x, _), peer(p)", []string{"sends it to them as well", "messages bring it as well"}},
		"durable":                     {0, "next last(x) <- top(x)", "log last(x) <- top(x)", []string{"derives a durable relation", "which is durable, and would move away"}},
		"derived for the moved part":  {1, "sync known(x) <- found(x, _)", "next sum(x) <- found(x, _)", []string{"the rules that move read or derive it", "read by this rule, which moves"}},
		"told at every tick":          {1, "sync found(x, count<y>) <- heard(x), sum(y)", "sync found(x, count<y>) <- sum(x), sum(y)", []string{"sends in ticks", "sends in ticks"}},
		"kept for the rest":           {1, "sync known(x) <- found(x, _)", "sync known(x) <- sum(x)", []string{"holds even when nothing is received", "holds even when nothing is received"}},
		"a timer of both":             {1, "sync sum(x) <- in(x)", "sync sum(x) <- in(x), alarm()", []string{"both wait for timer", "both wait for timer"}},
	} {
		t.Run(name, func(t *testing.T) {
			honest := batched(t)[m.at]
			text := honest.before.String()
			if strings.Count(text, m.old) != 1 {
				t.Fatalf("%q is not there once in\n%s", m.old, text)
			}
			before := given.Program(t, strings.Replace(text, m.old, m.new, 1))
			s, err := rewrite.ParseStep(honest.step)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := rewrite.Apply(before, s); err == nil || !strings.Contains(err.Error(), m.want[1]) {
				t.Errorf("the rewrite: got %v, want %q", err, m.want[1])
			}
			// The program after does not matter: conditions are checked first.
			after := before.Clone()
			if err := certificate.Check(before, after, honest.claim); err == nil || !strings.Contains(err.Error(), m.want[0]) {
				t.Errorf("the certificate: got %v, want %q", err, m.want[0])
			}
		})
	}
}

// TestMonotonicKeepsWhatStays moves growing rules that read a relation which the original does
// not keep.
func TestMonotonicKeepsWhatStays(t *testing.T) {
	const text = `program p
component a {
  input  in(x: u64)
  output both(x: u64)
  table  seen(x: u64)
  sync   first(x) <- in(x), not seen(x)
  sync   again(x) <- in(x), seen(x)
  next   seen(x) <- in(x)
  async  both@node "c"(x) <- first(x), again(x)
}
`
	before := given.Program(t, text)
	s, err := rewrite.ParseStep("monotonic a rules 4 as b")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := rewrite.Apply(before, s); err == nil || !strings.Contains(err.Error(), "is not kept by the rules that stay") {
		t.Errorf("the rewrite: got %v", err)
	}
	claim := certificate.Claim{Kind: "monotonic", Component: "a", Moved: []int{3}, Name: "b"}
	if err := certificate.Check(before, before.Clone(), claim); err == nil || !strings.Contains(err.Error(), "do not keep again forever") {
		t.Errorf("the certificate: got %v", err)
	}
}
