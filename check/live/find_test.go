package live

import (
	"context"
	"testing"

	"pgregory.net/rapid"
)

// The atoms of the random graphs: two predicates of states, an angle and a box.
var kinds = []AtomKind{StateAtom, StateAtom, AngleAtom, BoxAtom}

// small is a random graph whose edges are also at hand one by one.
type small struct {
	Graph
	edges map[[2]int]uint64 // step atoms; a stuttering step of every state too
}

func drawGraph(t *rapid.T) *small {
	n := rapid.IntRange(1, 4).Draw(t, "states")
	g := &small{edges: map[[2]int]uint64{}}
	g.StateWords, g.StepWords = 1, 1
	g.Initial = rapid.IntRange(1, n).Draw(t, "initial")
	for s := range n {
		g.StateAtoms = append(g.StateAtoms, rapid.Uint64Range(0, 3).Draw(t, "state"))
		g.Start = append(g.Start, uint64(len(g.To)))
		g.edges[[2]int{s, s}] = 2 // the box
		for to := range n {
			if to != s && rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				bits := rapid.Uint64Range(0, 3).Draw(t, "step")
				g.To, g.StepAtoms = append(g.To, uint32(to)), append(g.StepAtoms, bits)
				g.edges[[2]int{s, to}] = bits
			}
		}
	}
	g.Start = append(g.Start, uint64(len(g.To)))
	return g
}

// drawFormula draws a formula that cannot tell stuttering: steps are spoken of
// in []box and <>angle only.
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

// letters reads a lasso; false where it is no behaviour of the graph.
func (g *small) letters(path, loop []uint32) (behaviour, bool) {
	b := behaviour{loop: len(path)}
	states := append(append([]uint32(nil), path...), loop...)
	for i, s := range states {
		next := loop[0]
		if i+1 < len(states) {
			next = states[i+1]
		}
		bits, ok := g.edges[[2]int{int(s), int(next)}]
		if !ok || i == 0 && int(s) >= g.Initial {
			return b, false
		}
		b.letters = append(b.letters, []uint64{g.StateAtoms[s], bits})
	}
	return b, true
}

// holds says at which places of the behaviour a formula holds, by its meaning.
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
	l := newLayout(kinds)
	for i := range out {
		out[i] = l.place(f).holds(b.letters[i])
	}
	return out
}

// violates says whether the behaviour satisfies the assumption and not the
// property.
func (b behaviour) violates(p Problem) bool {
	return b.holds(p.Assume)[0] && !b.holds(p.Property)[0]
}

// search tries every behaviour of up to so many states.
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
			} else if int(s) >= g.Initial {
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

// TestAgainstEveryBehaviour holds Find against a search of all short lassos on
// tiny graphs: what it finds is a violation, and where it finds nothing there
// is none.
func TestAgainstEveryBehaviour(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		p := Problem{Atoms: kinds, Assume: All(), Property: drawFormula(t, 3)}
		if rapid.Bool().Draw(t, "assume") {
			p.Assume = drawFormula(t, 2)
		}
		lasso, err := Find(context.Background(), &g.Graph, p)
		if err != nil {
			t.Fatal(err)
		}
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

// TestNegation: of a formula and its negation every behaviour violates one.
func TestNegation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		f := drawFormula(t, 3)
		a, err := Find(context.Background(), &g.Graph, Problem{Atoms: kinds, Assume: All(), Property: f})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Find(context.Background(), &g.Graph, Problem{Atoms: kinds, Assume: All(), Property: Negate(f)})
		if err != nil {
			t.Fatal(err)
		}
		if a == nil && b == nil {
			t.Fatalf("%s and its negation both hold", f)
		}
	})
}

func TestLimits(t *testing.T) {
	g := &Graph{Initial: 1, StateWords: 2, StateAtoms: make([]uint64, 2), Start: []uint64{0, 0}}
	atoms := make([]AtomKind, 70)
	f := All()
	for i := range atoms {
		f = All(f, EventuallyOf(AlwaysOf(AtomOf(i))), EventuallyOf(AtomOf(i)))
	}
	_, err := Find(context.Background(), g, Problem{Atoms: atoms, Assume: f, Property: Negate(All())})
	var limit *LimitError
	if err == nil || !asLimit(err, &limit) {
		t.Fatalf("error %v, want a limit", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, g, Problem{Atoms: atoms, Assume: All(), Property: AtomOf(0)}); err != context.Canceled {
		t.Errorf("error %v after the end of the context", err)
	}
}

func asLimit(err error, to **LimitError) bool {
	l, ok := err.(*LimitError)
	*to = l
	return ok
}
