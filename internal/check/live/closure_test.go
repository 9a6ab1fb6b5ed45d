// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// from is the graph of the states reachable from s, which is the only initial
// one.
func (g *small) from(s int) *small {
	out := &small{edges: map[[2]int]uint64{}, fail: -1, initial: 1}
	numbers, order := map[int]int{s: 0}, []int{s}
	for i := 0; i < len(order); i++ {
		out.states = append(out.states, g.states[order[i]])
		for to := range g.states {
			bits, ok := g.edges[[2]int{order[i], to}]
			if !ok {
				continue
			}
			if _, known := numbers[to]; !known {
				numbers[to] = len(order)
				order = append(order, to)
			}
			out.edges[[2]int{i, numbers[to]}] = bits
		}
	}
	return out
}

// TestStuck compares Stuck with a search for a fair behaviour from each state.
func TestStuck(t *testing.T) {
	stuck, closed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 7)
		var fair []*Formula
		for range rapid.IntRange(1, 4).Draw(t, "conditions") {
			enabled := AtomOf(rapid.IntRange(0, 1).Draw(t, "enabled"))
			if rapid.Bool().Draw(t, "negated") {
				enabled = Negate(enabled)
			}
			form := Weak
			if rapid.Bool().Draw(t, "strong") {
				form = Strong
			}
			fair = append(fair, form(enabled, AtomOf(2)))
		}
		p := Problem{Atoms: kinds, Assume: All(fair...), Property: falsity}
		state, ok, err := Stuck(context.Background(), g, p)
		if err != nil {
			t.Fatal(err)
		}
		for s := range g.states {
			lasso, err := Find(context.Background(), g.from(s), p)
			if err != nil {
				t.Fatal(err)
			}
			if lasso == nil {
				if !ok || int(state) != s {
					t.Fatalf("%d, %t; no fair behaviour begins in %d", state, ok, s)
				}
				stuck++
				return
			}
		}
		if ok {
			t.Fatalf("a fair behaviour begins in %d", state)
		}
		closed++
	})
	if stuck == 0 || closed == 0 {
		t.Errorf("fairness was %d times not closed, and %d times", stuck, closed)
	}
}

// TestStuckOfOtherForms: a formula that is not fairness is not judged, and the
// absence of fairness is closed.
func TestStuckOfOtherForms(t *testing.T) {
	g := &small{states: []uint64{0}, initial: 1, edges: map[[2]int]uint64{{0, 0}: 2}, fail: -1}
	p := Problem{Atoms: kinds, Assume: LeadsTo(AtomOf(0), AtomOf(1))}
	if _, _, err := Stuck(context.Background(), g, p); !errors.Is(err, ErrForm) {
		t.Errorf("%v", err)
	}
	p.Assume = All()
	if _, ok, err := Stuck(context.Background(), g, p); ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}
