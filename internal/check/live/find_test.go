// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The atoms of the random graphs: two predicates of states, an angle and a box.
var kinds = []AtomKind{StateAtom, StateAtom, AngleAtom, BoxAtom}

// small is a random graph.
type small struct {
	initial int
	states  []uint64          // atoms, by state
	edges   map[[2]int]uint64 // atoms of steps; a stuttering step of every state too
	asked   int
	fail    int // the atom that has no value in the last state, if it is not negative
}

var errAtom = errors.New("no value")

func (g *small) States() int  { return len(g.states) }
func (g *small) Initial() int { return g.initial }

func (g *small) Steps(s uint32) ([]byte, error) {
	var row []byte
	prev := s
	for to := range uint32(len(g.states)) {
		if _, ok := g.edges[[2]int{int(s), int(to)}]; ok && to != s {
			row = AppendStep(row, prev, to)
			prev = to
		}
	}
	return row, nil
}

func (g *small) Atom(i int, from, to uint32) (bool, error) {
	g.asked++
	if i == g.fail && int(from) == len(g.states)-1 {
		return true, errAtom
	}
	if kinds[i] == StateAtom {
		return g.states[from]>>i&1 == 1, nil
	}
	bits, ok := g.edges[[2]int{int(from), int(to)}]
	if !ok || from == to {
		panic("asked for no step of the graph")
	}
	return bits>>(i-2)&1 == 1, nil
}

// drawGraph draws a graph in which every state is reachable.
func drawGraph(t *rapid.T, most int) *small {
	n := rapid.IntRange(1, most).Draw(t, "states")
	g := &small{edges: map[[2]int]uint64{}, fail: -1}
	g.initial = rapid.IntRange(1, n).Draw(t, "initial")
	step := func(from, to int) { g.edges[[2]int{from, to}] = rapid.Uint64Range(0, 3).Draw(t, "step") }
	for s := range n {
		g.states = append(g.states, rapid.Uint64Range(0, 3).Draw(t, "state"))
		for to := range n {
			if to != s && rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				step(s, to)
			}
		}
		if s >= g.initial {
			step(rapid.IntRange(0, s-1).Draw(t, "parent"), s)
		}
	}
	for s := range n {
		g.edges[[2]int{s, s}] = 2 // the box
	}
	return g
}

// drawFormula draws a formula that is insensitive to stuttering: it mentions
// steps only in []box and <>angle.
func drawFormula(t *rapid.T, depth int) *Formula {
	if depth == 0 {
		return AtomOf(rapid.IntRange(0, 1).Draw(t, "atom"))
	}
	sub := func() *Formula { return drawFormula(t, depth-1) }
	switch rapid.IntRange(0, 11).Draw(t, "op") {
	case 0:
		return Negate(sub())
	case 1:
		return All(sub(), sub())
	case 2:
		return Any(sub(), sub())
	case 3, 4:
		return AlwaysOf(sub())
	case 5, 6:
		return EventuallyOf(sub())
	case 7:
		return LeadsTo(sub(), sub())
	case 8:
		return AlwaysOf(AtomOf(3))
	case 9:
		return EventuallyOf(AtomOf(2))
	case 10:
		return Weak(AtomOf(0), AtomOf(2))
	default:
		return Strong(AtomOf(1), AtomOf(2))
	}
}

// behaviour is a lasso with the letters of its steps.
type behaviour struct {
	letters [][]uint64
	loop    int // where the loop begins
}

// letters reads a lasso; it returns false if the lasso is not a behaviour of the
// graph.
func (g *small) letters(path, loop []uint32) (behaviour, bool) {
	b := behaviour{loop: len(path)}
	states := append(append([]uint32(nil), path...), loop...)
	for i, s := range states {
		next := loop[0]
		if i+1 < len(states) {
			next = states[i+1]
		}
		bits, ok := g.edges[[2]int{int(s), int(next)}]
		if !ok || i == 0 && int(s) >= g.initial {
			return b, false
		}
		b.letters = append(b.letters, []uint64{g.states[s], bits})
	}
	return b, true
}

// holds returns the positions of the behaviour at which a formula holds, by
// definition.
func (b behaviour) holds(f *Formula) []bool {
	n := len(b.letters)
	out := make([]bool, n)
	switch f.Op {
	case And, Or:
		for i := range out {
			out[i] = f.Op == And
		}
		for _, a := range f.Args {
			for i, x := range b.holds(a) {
				if f.Op == And {
					out[i] = out[i] && x
				} else {
					out[i] = out[i] || x
				}
			}
		}
		return out
	case Not:
		for i, x := range b.holds(f.Args[0]) {
			out[i] = !x
		}
		return out
	case Always, Eventually:
		in := b.holds(f.Args[0])
		for i := range out {
			out[i] = f.Op == Always
			for j := min(i, b.loop); j < n; j++ {
				if j < i && j < b.loop {
					continue
				}
				if f.Op == Always {
					out[i] = out[i] && in[j]
				} else {
					out[i] = out[i] || in[j]
				}
			}
		}
		return out
	}
	for i, letter := range b.letters {
		out[i] = f.holds(func(atom int) bool {
			if kinds[atom] == StateAtom {
				return letter[0]>>atom&1 == 1
			}
			return letter[1]>>(atom-2)&1 == 1
		})
	}
	return out
}

// violates reports whether the behaviour satisfies the assumption and not the
// property.
func (b behaviour) violates(p Problem) bool {
	return b.holds(p.Assume)[0] && !b.holds(p.Property)[0]
}

// search tries every behaviour of up to the given number of states.
func (g *small) search(p Problem, most int) ([]uint32, int) {
	var try func(states []uint32) ([]uint32, int)
	try = func(states []uint32) ([]uint32, int) {
		for loop := range states {
			if b, ok := g.letters(states[:loop], states[loop:]); ok && b.violates(p) {
				return states, loop
			}
		}
		if len(states) == most {
			return nil, 0
		}
		for s := range uint32(g.States()) {
			if len(states) > 0 {
				if _, ok := g.edges[[2]int{int(states[len(states)-1]), int(s)}]; !ok {
					continue
				}
			} else if int(s) >= g.initial {
				continue
			}
			if found, loop := try(append(states[:len(states):len(states)], s)); found != nil {
				return found, loop
			}
		}
		return nil, 0
	}
	return try(nil)
}

// TestAgainstEveryBehaviour compares Find with a search of all short lassos on
// tiny graphs: what it finds is a violation, and if it finds nothing there is
// none.
func TestAgainstEveryBehaviour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 4)
		p := Problem{Atoms: kinds, Assume: All(), Property: drawFormula(t, 3)}
		if rapid.Bool().Draw(t, "assume") {
			p.Assume = drawFormula(t, 2)
		}
		lasso := findDrawn(t, g, p)
		if lasso != nil {
			b, ok := g.letters(lasso.Path, lasso.Loop)
			if !ok || !b.violates(p) {
				t.Fatalf("%v: a lasso that is no violation (a behaviour: %t) of %s under %s", lasso, ok, p.Property, p.Assume)
			}
			return
		}
		if states, loop := g.search(p, 6); states != nil {
			t.Fatalf("%v, back to %d, satisfies %s and not %s", states, loop, p.Assume, p.Property)
		}
	})
}

// findDrawn is Find for a random formula. A few random formulas exceed the limits
// of automata; the tests skip them.
func findDrawn(t *rapid.T, g *small, p Problem) *Lasso {
	lasso, err := Find(context.Background(), g, p)
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return lasso
}

// TestNegation: of a formula and its negation every behaviour violates one.
func TestNegation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 4)
		f := drawFormula(t, 3)
		a := findDrawn(t, g, Problem{Atoms: kinds, Assume: All(), Property: f})
		b := findDrawn(t, g, Problem{Atoms: kinds, Assume: All(), Property: Negate(f)})
		if a == nil && b == nil {
			t.Fatalf("%s and its negation both hold", f)
		}
	})
}

// TestLargerLassos: a lasso found in a larger graph is a violation.
func TestLargerLassos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 12)
		p := Problem{Atoms: kinds, Assume: drawFormula(t, 2), Property: drawFormula(t, 3)}
		lasso := findDrawn(t, g, p)
		if lasso == nil {
			return
		}
		if b, ok := g.letters(lasso.Path, lasso.Loop); !ok || !b.violates(p) {
			t.Fatalf("%v: a lasso that is no violation (a behaviour: %t) of %s under %s", lasso, ok, p.Property, p.Assume)
		}
	})
}

// TestMistakes: an atom without a value ends the search, or does not matter: then
// the answer is the same for any value. Too little memory also ends the search.
func TestMistakes(t *testing.T) {
	failed, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 6)
		p := Problem{Atoms: kinds, Assume: drawFormula(t, 2), Property: drawFormula(t, 3)}
		want := findDrawn(t, g, p)
		same := func(got *Lasso) bool { return (got == nil) == (want == nil) }
		g.fail = rapid.IntRange(0, 3).Draw(t, "fail")
		switch got, err := Find(context.Background(), g, p); {
		case errors.Is(err, errAtom):
			failed++
		case err != nil:
			t.Fatal(err)
		case got == nil && want != nil:
			t.Fatalf("nothing is found where %v is", want)
		}
		g.fail = -1
		p.MemoryBytes = int64(rapid.IntRange(1, 2000).Draw(t, "memory"))
		got, err := Find(context.Background(), g, p)
		var short *MemoryError
		if errors.As(err, &short) {
			refused++
		} else if err != nil || !same(got) {
			t.Fatalf("%v and error %v within %d bytes, want %v", got, err, p.MemoryBytes, want)
		}
	})
	if failed == 0 || refused == 0 {
		t.Errorf("%d atoms failed, and %d times the memory was too small: the test tries nothing", failed, refused)
	}
}

// TestLazy: Find does not evaluate atoms that the answer does not need.
func TestLazy(t *testing.T) {
	g := &small{initial: 1, states: make([]uint64, 40), edges: map[[2]int]uint64{}, fail: -1}
	for s := range g.states {
		g.edges[[2]int{s, s}] = 2
		g.edges[[2]int{s, (s + 1) % len(g.states)}] = 3
	}
	// The first condition that no step satisfies is enough.
	p := Problem{Atoms: kinds, Assume: All(Weak(Negate(AtomOf(0)), Negate(AtomOf(3))), Weak(AtomOf(1), AtomOf(2))), Property: All()}
	if l, err := Find(context.Background(), g, p); l != nil || err != nil || g.asked != 0 {
		t.Fatalf("%v, error %v, and %d atoms were asked for, want none for a property that is TRUE", l, err, g.asked)
	}
	p.Property = EventuallyOf(AtomOf(1))
	if l, err := Find(context.Background(), g, p); l != nil || err != nil {
		t.Fatalf("%v, error %v", l, err)
	}
	if most := 10 * len(g.states); g.asked > most {
		t.Errorf("%d atoms were asked for, want at most %d", g.asked, most)
	}
}

// TestShortLassos: of several loops that accept, a short one is shown, even if
// the first one reached is long.
func TestShortLassos(t *testing.T) {
	// 0 is on a loop over 1 ... 9; 0 also leads to 10, and 10 stutters.
	g := &small{initial: 1, states: make([]uint64, 11), edges: map[[2]int]uint64{}, fail: -1}
	for s := range 10 {
		g.edges[[2]int{s, (s + 1) % 10}] = 3
	}
	g.edges[[2]int{0, 10}] = 3
	for s := range g.states {
		g.states[s] = 1 // enabled
		g.edges[[2]int{s, s}] = 2
	}
	g.states[10] = 0
	l, err := Find(context.Background(), g, Problem{Atoms: kinds, Assume: Weak(AtomOf(0), AtomOf(2)), Property: EventuallyOf(AtomOf(1))})
	if err != nil || l == nil || len(l.Path) != 1 || len(l.Loop) != 1 {
		t.Errorf("%+v, error %v, want a path of one state and a loop of one", l, err)
	}
}

func TestLimits(t *testing.T) {
	g := &small{initial: 1, states: make([]uint64, 1), edges: map[[2]int]uint64{{0, 0}: 2}, fail: -1}
	atoms := make([]AtomKind, 70)
	// Each of n promises is kept now or postponed, so there are 2^n states and
	// 3^n transitions.
	for _, c := range []struct {
		promises int
		beyond   string
	}{
		{65, "temporal subformulas"},
		{15, "states in its automaton"},
		{13, "transitions in its automaton"},
	} {
		f := All()
		for i := range c.promises {
			f = All(f, EventuallyOf(AtomOf(i)))
		}
		_, err := Find(context.Background(), g, Problem{Atoms: atoms, Assume: f, Property: Negate(All())})
		var limit *LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), c.beyond) {
			t.Errorf("%d promises: error %v, want a limit of %s", c.promises, err, c.beyond)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, g, Problem{Atoms: atoms, Assume: All(), Property: AtomOf(0)}); err != context.Canceled {
		t.Errorf("error %v after the end of the context", err)
	}
}

// TestStrongFairnessNarrows: a component in which an action is enabled and never
// taken has a part in which it is not enabled.
func TestStrongFairnessNarrows(t *testing.T) {
	g := &small{initial: 1, states: []uint64{0, 2, 0}, edges: map[[2]int]uint64{}, fail: -1}
	for s := range g.states {
		g.edges[[2]int{s, s}], g.edges[[2]int{0, s}], g.edges[[2]int{s, 0}] = 2, 2, 2
	}
	l, err := Find(context.Background(), g, Problem{Atoms: kinds, Assume: Strong(AtomOf(1), AtomOf(2)), Property: Any()})
	if err != nil || l == nil || slices.Contains(l.Loop, 1) {
		t.Errorf("%+v, error %v, want a loop without state 1", l, err)
	}
}
