// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// graph is an explicit model: its states are the numbers of nodes.
type graph struct {
	inits    []int
	edges    [][]edge // by node
	outside  []bool   // by node: not in the model
	bad      []bool   // by node: breaks the invariant
	undef    []bool   // by node: the invariant has no value
	actions  int
	deadlock bool
	key      int // if not 0, nodes are distinguished modulo key
	assume   []string
	err      error // of every Next
	onNext   func()
	volatile error // why it cannot be checkpointed
	onLevel  func(node, level int)
}

type edge struct {
	action, to int
	bad        bool // breaks the step property
	cut        bool // excluded by an action constraint
}

func (g *graph) Info() Info {
	info := Info{Name: "graph", Invariants: []string{"Good"}, Steps: []string{"GoodStep"}, Deadlock: g.deadlock}
	for i := range g.actions {
		info.Actions = append(info.Actions, Action{Name: fmt.Sprint("A", i)})
	}
	return info
}

func (g *graph) NewWorker() Worker {
	w := &graphWorker{g: g}
	if g.key > 0 {
		return &keyedGraphWorker{graphWorker: w}
	}
	return w
}

func (g *graph) Capabilities() ModelCapabilities { return ModelCapabilities{Durable: g} }

func (g *graph) Show(s State) []Binding {
	return []Binding{{Name: "node", Value: fmt.Sprint(decodeNode(s))}}
}

// encodeNode encodes numbers as states of different lengths.
func encodeNode(n int) State {
	s := binary.AppendUvarint(nil, uint64(n)*77)
	for range n % 5 {
		s = append(s, byte(n))
	}
	return s
}

func decodeNode(s State) int {
	n, _ := binary.Uvarint(s)
	return int(n) / 77
}

type graphWorker struct {
	g     *graph
	node  int
	edge  *edge
	level int
}

func (w *graphWorker) AtLevel(states int) { w.level = states }

func (w *graphWorker) Capabilities() Capabilities { return Capabilities{AtLevel: w.AtLevel} }

type keyedGraphWorker struct{ *graphWorker }

func (w *keyedGraphWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, Key: w.Key}
}

func (w *keyedGraphWorker) Key() (State, error) { return encodeNode(w.node % w.g.key), nil }

func (w *graphWorker) Assumptions() ([]string, error) { return w.g.assume, nil }

func (w *graphWorker) Init(visit Visit) error {
	for _, n := range w.g.inits {
		w.node, w.edge = n, nil
		if err := visit(-1, encodeNode(n)); err != nil {
			return err
		}
	}
	return nil
}

func (w *graphWorker) Next(s State, visit Visit) error {
	if w.g.onNext != nil {
		w.g.onNext()
	}
	if w.g.err != nil {
		return w.g.err
	}
	if w.g.onLevel != nil {
		w.g.onLevel(decodeNode(s), w.level)
	}
	edges := w.g.edges[decodeNode(s)]
	for i := range edges {
		w.node, w.edge = edges[i].to, &edges[i]
		if err := visit(edges[i].action, encodeNode(edges[i].to)); err != nil {
			return err
		}
	}
	return nil
}

func (w *graphWorker) InModel() (bool, error) {
	return !w.g.outside[w.node] && (w.edge == nil || !w.edge.cut), nil
}

func (w *graphWorker) BrokenInvariant() (int, error) {
	if w.g.undef[w.node] {
		return -1, &EvalError{Message: fmt.Sprint("no value in ", w.node)}
	}
	if w.g.bad[w.node] {
		return 0, nil
	}
	return -1, nil
}

func (w *graphWorker) BrokenStep() (int, error) {
	if w.edge != nil && w.edge.bad {
		return 0, nil
	}
	return -1, nil
}

// outcome is the part of a result by which two searches are compared.
type outcome struct {
	Verdict                    Verdict
	Generated, Distinct, Queue int64
	Depth                      int
	Init                       Coverage
	Actions                    []Coverage
	Levels                     []int64
	Trace                      []string
	Property, Err              string
}

func outcomeOf(r *Result) outcome {
	o := outcome{Verdict: r.Verdict, Generated: r.Generated, Distinct: r.Distinct, Queue: r.Queue, Depth: r.Depth,
		Init: r.Init, Actions: r.Actions, Levels: r.Levels, Property: r.Property}
	for _, s := range r.Trace {
		o.Trace = append(o.Trace, fmt.Sprintf("%d:%s", s.Action, s.Values[0].Value))
	}
	if r.Err != nil {
		o.Err = r.Err.Message
	}
	return o
}

// reference is the naive model of the checker: a queue, a map and one loop,
// written from the counting rules only.
type reference struct {
	g     *graph
	o     outcome
	queue []int       // nodes that are not expanded
	level map[int]int // by node, from 1
	trace map[int][]string
	seen  map[int]bool // by key
}

func (g *graph) reference() outcome {
	r := &reference{g: g, level: map[int]int{}, trace: map[int][]string{}, seen: map[int]bool{}}
	r.o.Actions = make([]Coverage, g.actions)
	r.run()
	r.o.Queue = int64(len(r.queue))
	return r.o
}

func (r *reference) run() {
	for _, n := range r.g.inits {
		if !r.visit(nil, 0, &edge{action: -1, to: n}) {
			return
		}
	}
	for len(r.queue) > 0 {
		n := r.queue[0]
		r.queue = r.queue[1:]
		for i := range r.g.edges[n] {
			if !r.visit(r.trace[n], r.level[n], &r.g.edges[n][i]) {
				return
			}
		}
		if r.g.deadlock && len(r.g.edges[n]) == 0 {
			r.o.Verdict, r.o.Trace = Deadlock, r.trace[n]
			return
		}
	}
}

// visit follows an edge and reports whether to continue.
func (r *reference) visit(path []string, level int, e *edge) bool {
	count := &r.o.Init
	if e.action >= 0 {
		count = &r.o.Actions[e.action]
	}
	r.o.Generated++
	count.Generated++
	path = append(append([]string(nil), path...), fmt.Sprintf("%d:%d", e.action, e.to))
	key := e.to
	if r.g.key > 0 {
		key %= r.g.key
	}
	inside := !r.g.outside[e.to] && !e.cut
	fresh := !inside || !r.seen[key]
	if inside && fresh {
		r.seen[key] = true
		r.o.Distinct++
		count.Distinct++
		r.queue = append(r.queue, e.to)
		r.level[e.to], r.trace[e.to] = level+1, path
		r.o.Depth = max(r.o.Depth, level+1)
		if len(r.o.Levels) < level+1 {
			r.o.Levels = append(r.o.Levels, 0)
		}
		r.o.Levels[level]++
	}
	switch {
	case fresh && r.g.undef[e.to]:
		r.o.Verdict, r.o.Err = EvalFailed, fmt.Sprint("no value in ", e.to)
	case fresh && r.g.bad[e.to]:
		r.o.Verdict, r.o.Property = InvariantViolated, "Good"
	case e.bad:
		r.o.Verdict, r.o.Property = StepViolated, "GoodStep"
	default:
		return true
	}
	r.o.Trace = path
	return false
}

// randomGraph draws a graph; mishaps are rare, so that searches go deep.
func randomGraph(t *rapid.T) *graph {
	n := rapid.IntRange(1, 120).Draw(t, "nodes")
	g := &graph{actions: rapid.IntRange(1, 4).Draw(t, "actions"), deadlock: rapid.Bool().Draw(t, "deadlock")}
	node := rapid.IntRange(0, n-1)
	rare := func(name string, per int) bool { return per > 0 && rapid.IntRange(1, per).Draw(t, name) == 1 }
	rarity := func(name string) int { return rapid.SampledFrom([]int{0, 0, 20, 200}).Draw(t, name) }
	outside, bad, undef, badStep, cut := rarity("outside"), rarity("bad"), rarity("undef"), rarity("badStep"), rarity("cut")
	fan := rapid.IntRange(0, 6).Draw(t, "fan")
	for range n {
		g.outside = append(g.outside, rare("o", outside))
		g.bad = append(g.bad, rare("b", bad))
		g.undef = append(g.undef, rare("u", undef))
		var edges []edge
		for range rapid.IntRange(0, fan).Draw(t, "degree") {
			edges = append(edges, edge{action: rapid.IntRange(0, g.actions-1).Draw(t, "a"), to: node.Draw(t, "to"),
				bad: rare("bs", badStep), cut: rare("c", cut)})
		}
		g.edges = append(g.edges, edges)
	}
	g.inits = rapid.SliceOfN(node, 0, 50).Draw(t, "inits")
	return g
}

// TestCountsAgainstReference compares every figure, verdict and trace with the
// naive search, for one and for several workers.
func TestCountsAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		want := g.reference()
		for _, workers := range []int{1, 2, 5} {
			r, err := Run(context.Background(), g, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("%d workers (-reference +checker):\n%s", workers, diff)
			}
		}
	})
}

// TestKeys distinguishes nodes modulo a number. There are no violations,
// because those may depend on which of two nodes with one key is met.
func TestKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		g.key = rapid.IntRange(1, 30).Draw(t, "key")
		clear(g.bad)
		clear(g.undef)
		for _, edges := range g.edges {
			for i := range edges {
				edges[i].bad = false
			}
		}
		g.deadlock = false
		want := g.reference()
		for _, workers := range []int{1, 3} {
			r, err := Run(context.Background(), g, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("%d workers (-reference +checker):\n%s", workers, diff)
			}
		}
	})
}

// TestWorkersAgreeOnLargeGraphs searches graphs whose levels are wide enough
// for several goroutines, with one violation far from the start.
func TestWorkersAgreeOnLargeGraphs(t *testing.T) {
	for seed := range seeds(12, 3) {
		g := largeGraph(seed, 30000)
		want := g.reference()
		for _, workers := range []int{1, 4, 9} {
			r, err := Run(context.Background(), g, Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, outcomeOf(r)); diff != "" {
				t.Fatalf("seed %d, %d workers (-reference +checker):\n%s", seed, workers, diff)
			}
		}
	}
}

// seeds returns the number of seeds that a test runs. Under the race detector it is
// smaller: each seed is several times slower, and a few show as much as many.
func seeds(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

// largeGraph is a graph of n nodes with wide levels; its violations depend on
// the seed.
func largeGraph(seed, n int) *graph {
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	next := func(m int) int {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return int(x % uint64(m))
	}
	g := &graph{actions: 5, inits: []int{0, 1, 0}, deadlock: true,
		outside: make([]bool, n), bad: make([]bool, n), undef: make([]bool, n)}
	for i := range n {
		edges := make([]edge, 1+next(5))
		for k := range edges {
			edges[k] = edge{action: next(5), to: next(n)}
		}
		g.edges = append(g.edges, edges)
		g.outside[i] = next(50) == 0
	}
	switch seed % 4 {
	case 1:
		for range 5 {
			g.bad[next(n)] = true
		}
	case 2:
		for range 3 {
			g.edges[next(n)] = nil
		}
	case 3:
		for range 3 {
			g.edges[next(n)][0].bad = true
			g.undef[next(n)] = true
		}
	}
	return g
}
