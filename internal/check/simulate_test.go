// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustSimulate(t testing.TB, m Model, o SimulateOptions) *Simulation {
	t.Helper()
	r, err := Simulate(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSimulateAgainstSearch: on small graphs many walks find a violation
// exactly if the search does, and their trace is a path that ends in it.
func TestSimulateAgainstSearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := randomGraph(rt)
		g.key = 0
		full, err := Run(context.Background(), g, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		r, err := Simulate(context.Background(), g, SimulateOptions{Walks: 3000, Depth: 30, Seed: 1})
		if err != nil {
			rt.Fatal(err)
		}
		if (full.Verdict == OK) != (r.Verdict == OK) {
			rt.Fatalf("walks: %v, search: %v", r.Verdict, full.Verdict)
		}
		if r.Verdict == OK || r.Verdict == AssumptionFalse {
			return
		}
		if len(r.Trace) < len(full.Trace) && full.Verdict == r.Verdict && full.Property == r.Property {
			rt.Fatalf("a trace of %d states is shorter than the shortest, %d", len(r.Trace), len(full.Trace))
		}
		g.follow(rt, r)
	})
}

// follow walks along a trace.
func (g *graph) follow(t *rapid.T, r *Simulation) {
	for i, s := range r.Trace {
		n := decodeNode(s.State)
		if i == 0 {
			if !slices.Contains(g.inits, n) {
				t.Fatalf("the trace begins in %d", n)
			}
			continue
		}
		from := decodeNode(r.Trace[i-1].State)
		if !slices.ContainsFunc(g.edges[from], func(e edge) bool { return e.to == n && e.action == s.Action }) {
			t.Fatalf("no step %d from %d to %d", s.Action, from, n)
		}
	}
	last := decodeNode(r.Trace[len(r.Trace)-1].State)
	switch {
	case r.Verdict == InvariantViolated && !g.bad[last],
		r.Verdict == EvalFailed && !g.undef[last],
		r.Verdict == Deadlock && len(g.edges[last]) > 0:
		t.Fatalf("%v, and the trace ends in %d", r.Verdict, last)
	}
}

// TestWalksAreTheirSeeds: the same seed gives the same result, for any number
// of workers.
func TestWalksAreTheirSeeds(t *testing.T) {
	g := &graph{inits: []int{0}, actions: 2, edges: make([][]edge, 40), outside: make([]bool, 40), bad: make([]bool, 40), undef: make([]bool, 40)}
	for n := range g.edges {
		g.edges[n] = []edge{{action: 0, to: (n + 1) % 39}, {action: 1, to: 0}}
	}
	g.edges[9] = append(g.edges[9], edge{action: 1, to: 39})
	g.bad[39] = true
	one := mustSimulate(t, g, SimulateOptions{Depth: 50, Seed: 7})
	if one.Verdict != InvariantViolated || len(one.Trace) != 11 || one.Length < 11 {
		t.Fatalf("%v after %d walks, %d states of %d", one.Verdict, one.Walks, len(one.Trace), one.Length)
	}
	for _, workers := range []int{1, 4} {
		r := mustSimulate(t, g, SimulateOptions{Depth: 50, Seed: 7, Workers: workers})
		if r.Walk != one.Walk || fmt.Sprint(r.Trace) != fmt.Sprint(one.Trace) {
			t.Errorf("%d workers: walk %d, want %d", workers, r.Walk, one.Walk)
		}
	}
	if other := mustSimulate(t, g, SimulateOptions{Depth: 50, Seed: 8}); other.Walk == one.Walk && other.Length == one.Length && other.Generated == one.Generated {
		t.Error("another seed makes the same walks")
	}
}

// TestSimulateStatistics counts.
func TestSimulateStatistics(t *testing.T) {
	r := mustSimulate(t, chain(5), SimulateOptions{Walks: 10, Depth: 100, IgnoreDeadlock: true})
	if r.Walks != 10 || r.Steps != 50 || r.Longest != 5 || r.Deadlocks != 10 || r.Taken[0] != 40 || r.Enabled[0] != 40 || r.Generated != 40 {
		t.Errorf("%+v", r.WalkStats)
	}
	if r := mustSimulate(t, chain(5), SimulateOptions{Walks: 2, Depth: 3}); r.Longest != 3 || r.Verdict != OK {
		t.Errorf("%v: %+v", r.Verdict, r.WalkStats)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	r, err := Simulate(ctx, manyInits(3), SimulateOptions{IgnoreDeadlock: true})
	if err != nil || r.Verdict != Interrupted || r.Walks == 0 {
		t.Errorf("%v %v after %d walks", r.Verdict, err, r.Walks)
	}
	if _, err := Simulate(context.Background(), chain(2), SimulateOptions{Depth: -1}); err == nil {
		t.Error("a depth of -1 is taken")
	}
}
