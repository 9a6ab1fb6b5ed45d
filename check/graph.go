package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ashlar-dev/ashlar/check/fpset"
	"github.com/ashlar-dev/ashlar/check/live"
)

// A search forgets its states and never knows its steps. Where they are wanted,
// for properties of behaviours or for a person to look at, the successors of
// every state are computed a second time. States are numbered in the order in
// which one worker would find them: workers expand a range of states together,
// and what they found is joined in the order of the states.

// GraphStepsMax is how many steps a graph may have for its behaviours to be
// looked at; each takes four bytes and eight for every 64 atoms of steps.
const GraphStepsMax = 1 << 31

// Limits of a graph that Explore makes.
const (
	ExploreStatesMax = 100_000
	ExploreStepsMax  = 20_000_000
	ExploreBytesMax  = 1 << 30 // of the states' encodings
)

// graphBuilder makes the graph of a model. Every step has words: the atoms of
// the properties of behaviours, or, where there are none, its action.
type graphBuilder struct {
	m       Model
	ctx     context.Context
	workers []*stepWorker
	set     *fpset.Set // claims are numbers of states

	states arena
	at     []ref
	levels []int // the first state of each level
	graph  live.Graph
	seen   map[uint32]int // of one state: where the steps to a successor begin
	failed []uint32       // states of which not every successor can be computed

	// What ends the exploration; 0 is no limit.
	statesMax, levelsMax int
	stepsMax             int
}

// stepWorker evaluates the successors of a range of states.
type stepWorker struct {
	b      *graphBuilder
	ev     Worker
	live   LiveWorker  // ev, where there are atoms
	key    KeyWorker   // ev, where states are told apart by less than their bytes
	level  LevelWorker // ev, where it may ask how deep a state is
	fresh  arena       // states that were new when they were met
	edges  []graphEdge
	ends   []int // of edges, by state of the range
	atoms  []uint64
	steps  []uint64
	words  []uint64
	failed []uint32
	err    error
	on     uint32 // the state that is being expanded
}

type graphEdge struct {
	fp    uint64
	state ref
	known bool
}

// graphRange is how many states a worker expands between two joins.
const graphRange = 512

// newGraphBuilder makes what the words' sizes are to be set of.
func newGraphBuilder(ctx context.Context, m Model, workers int) *graphBuilder {
	b := &graphBuilder{m: m, ctx: ctx, set: fpset.New(), seen: map[uint32]int{}, stepsMax: GraphStepsMax}
	b.graph.Start = []uint64{0}
	for range max(1, workers) {
		w := &stepWorker{b: b, ev: m.NewWorker()}
		w.key, _ = w.ev.(KeyWorker)
		w.level, _ = w.ev.(LevelWorker)
		if e, ok := w.ev.(Endable); ok {
			e.EndWhen(func() bool { return ctx.Err() != nil })
		}
		b.workers = append(b.workers, w)
	}
	return b
}

// liveGraph is the graph with the atoms of the properties of behaviours. The
// error is an *EvalError, that of the context, or what stands in the way.
func liveGraph(ctx context.Context, m LiveModel, workers int) (*graphBuilder, error) {
	b := newGraphBuilder(ctx, m, workers)
	state, step := live.Layout(m.Live().Atoms)
	b.graph.StateWords, b.graph.StepWords = live.Words(len(state)), live.Words(len(step))
	for _, w := range b.workers {
		var ok bool
		if w.live, ok = w.ev.(LiveWorker); !ok {
			return nil, errors.New("check: the workers of the model cannot evaluate properties of behaviours")
		}
	}
	return b, b.build()
}

// build explores the model.
func (b *graphBuilder) build() error {
	for _, w := range b.workers {
		w.words = make([]uint64, b.graph.StepWords)
	}
	if err := b.initial(); err != nil {
		return err
	}
	for from := 0; from < b.end(); {
		to := min(b.end(), from+graphRange*len(b.workers))
		if err := b.expand(from, to); err != nil {
			return err
		}
		if err := b.checkLimits(); err != nil {
			return err
		}
		from = to
	}
	// What is too deep has no steps.
	for len(b.graph.Start) <= len(b.at) {
		b.graph.Start = append(b.graph.Start, uint64(len(b.graph.To)))
	}
	return nil
}

// end is the first state that is not to be expanded.
func (b *graphBuilder) end() int {
	if b.levelsMax > 0 && len(b.levels) >= b.levelsMax {
		return b.levels[b.levelsMax-1]
	}
	return len(b.at)
}

func (b *graphBuilder) checkLimits() error {
	switch {
	case b.statesMax == 0:
		if len(b.graph.To) > b.stepsMax {
			return &live.LimitError{What: "steps in its graph", Max: b.stepsMax}
		}
	case len(b.at) > b.statesMax:
		return &GraphLimitError{"states", b.statesMax}
	case len(b.graph.To) > b.stepsMax:
		return &GraphLimitError{"steps", b.stepsMax}
	case b.states.size() > ExploreBytesMax:
		return &GraphLimitError{"bytes of states", ExploreBytesMax}
	}
	return nil
}

func (b *graphBuilder) initial() error {
	w := b.workers[0]
	err := w.ev.Init(func(_ int, s State) error {
		inside, err := w.ev.InModel()
		if err != nil || !inside {
			return err
		}
		fp, err := w.fingerprint(s)
		if err == nil {
			b.add(fp, s)
		}
		if b.statesMax > 0 && len(b.at) > b.statesMax {
			return &GraphLimitError{"states", b.statesMax}
		}
		return err
	})
	b.graph.Initial = len(b.at)
	b.levels = []int{0}
	return err
}

// add numbers a state, unless it has a number, and returns it.
func (b *graphBuilder) add(fp uint64, s State) uint32 {
	if n, ok := b.set.Claim(fp); ok {
		return n
	}
	n := uint32(len(b.at))
	b.set.Add(fp, n)
	b.at = append(b.at, b.states.put(s))
	return n
}

func (b *graphBuilder) state(n uint32) State {
	s, _ := b.states.get(b.at[n])
	return s
}

// levelOf is how many states the shortest path to a state has.
func (b *graphBuilder) levelOf(n int) int {
	return sort.Search(len(b.levels), func(i int) bool { return b.levels[i] > n })
}

// expand computes the steps from the states of a range, in parallel, and joins
// them in order, so that the numbers do not depend on the workers.
func (b *graphBuilder) expand(from, to int) error {
	share := (to - from + len(b.workers) - 1) / len(b.workers)
	var wg sync.WaitGroup
	for i, w := range b.workers {
		low := min(to, from+i*share)
		wg.Go(func() { w.expand(low, min(to, low+share)) })
	}
	wg.Wait()
	if err := b.ctx.Err(); err != nil {
		return err
	}
	parent := from
	for _, w := range b.workers {
		if w.err != nil {
			return w.err
		}
		b.graph.StateAtoms = append(b.graph.StateAtoms, w.atoms...)
		b.failed = append(b.failed, w.failed...)
		edge := 0
		for _, end := range w.ends {
			clear(b.seen)
			known := len(b.at)
			for ; edge < end; edge++ {
				b.join(w, edge)
			}
			if len(b.at) > known && parent >= b.levels[len(b.levels)-1] {
				b.levels = append(b.levels, known)
			}
			parent++
			b.graph.Start = append(b.graph.Start, uint64(len(b.graph.To)))
		}
	}
	return nil
}

// join adds a step, unless the state has the same one already.
func (b *graphBuilder) join(w *stepWorker, edge int) {
	e := w.edges[edge]
	var n uint32
	if e.known {
		n, _ = b.set.Claim(e.fp)
	} else {
		s, _ := w.fresh.get(e.state)
		n = b.add(e.fp, s)
	}
	k := b.graph.StepWords
	atoms := w.steps[edge*k : (edge+1)*k]
	if at, ok := b.seen[n]; ok {
		for ; at < len(b.graph.To); at++ {
			if b.graph.To[at] == n && slices.Equal(b.graph.StepAtoms[at*k:(at+1)*k], atoms) {
				return
			}
		}
	} else {
		b.seen[n] = len(b.graph.To)
	}
	b.graph.To = append(b.graph.To, n)
	b.graph.StepAtoms = append(b.graph.StepAtoms, atoms...)
}

func (w *stepWorker) expand(from, to int) {
	w.fresh.reset()
	w.edges, w.ends, w.atoms, w.steps, w.failed = w.edges[:0], w.ends[:0], w.atoms[:0], w.steps[:0], w.failed[:0]
	w.err = nil
	level := 0
	for n := from; n < to && w.err == nil && w.b.ctx.Err() == nil; n++ {
		w.on = uint32(n)
		s := w.b.state(w.on)
		if l := w.b.levelOf(n); w.level != nil && l != level {
			level = l
			w.level.AtLevel(l)
		}
		w.err = w.expandState(s)
		w.ends = append(w.ends, len(w.edges))
	}
}

func (w *stepWorker) expandState(s State) error {
	if w.live != nil {
		at := len(w.atoms)
		w.atoms = append(w.atoms, make([]uint64, w.b.graph.StateWords)...)
		if err := w.live.StateAtoms(s, w.atoms[at:]); err != nil {
			return err
		}
		return w.ev.Next(s, w.visit)
	}
	// Who only looks at the graph wants what there is of it.
	err := w.ev.Next(s, w.visit)
	var wrong *EvalError
	if errors.As(err, &wrong) {
		w.failed = append(w.failed, w.on)
		return nil
	}
	return err
}

func (w *stepWorker) fingerprint(s State) (uint64, error) {
	if w.key == nil {
		return fpset.Hash(s), nil
	}
	k, err := w.key.Key()
	return fpset.Hash(k), err
}

func (w *stepWorker) visit(action int, s State) error {
	inside, err := w.ev.InModel()
	if err != nil || !inside {
		return err
	}
	clear(w.words)
	if w.live == nil {
		w.words[0] = uint64(action)
	} else if err := w.live.StepAtoms(w.words); err != nil {
		return err
	}
	var e graphEdge
	if e.fp, err = w.fingerprint(s); err != nil {
		return err
	}
	if _, e.known = w.b.set.Claim(e.fp); !e.known {
		e.state = w.fresh.put(s)
	}
	w.edges = append(w.edges, e)
	w.steps = append(w.steps, w.words...)
	if w.b.statesMax > 0 && (len(w.edges) > w.b.stepsMax || w.fresh.size() > ExploreBytesMax) {
		return &GraphLimitError{"steps", w.b.stepsMax}
	}
	return nil
}

// GraphLimitError says that a graph is larger than what Explore may make.
type GraphLimitError struct {
	What string // "states", "steps", "bytes of states"
	Max  int
}

func (e *GraphLimitError) Error() string {
	return fmt.Sprintf("the graph has more than %d %s", e.Max, e.What)
}

// ExploreOptions say how much of a graph is wanted.
type ExploreOptions struct {
	// Workers is how many goroutines evaluate; 0 means 1. The graph is the same
	// for any number.
	Workers int
	// StatesMax is how many states the graph may have; 0 means
	// ExploreStatesMax, which is also the most.
	StatesMax int
	// LevelsMax, where it is not 0, leaves out states whose shortest path has
	// more states.
	LevelsMax int
}

// StateGraph is the states of a model that a search visits, and the steps
// between them: states outside the constraints are not in it, and states with
// one key are one. States are numbered from 0 in the order in which one worker
// finds them, so by their level.
type StateGraph struct{ b *graphBuilder }

// Explore makes the graph of all states. The error is a *GraphLimitError where
// it is too large, an *EvalError where the initial states cannot be computed,
// or that of the context.
func Explore(ctx context.Context, m Model, o ExploreOptions) (*StateGraph, error) {
	if o.Workers < 0 || o.Workers > WorkersMax {
		return nil, fmt.Errorf("check: %d workers, want 1 to %d", o.Workers, WorkersMax)
	}
	if o.StatesMax < 0 || o.LevelsMax < 0 {
		return nil, fmt.Errorf("check: a limit of %d states and %d levels", o.StatesMax, o.LevelsMax)
	}
	if o.StatesMax == 0 || o.StatesMax > ExploreStatesMax {
		o.StatesMax = ExploreStatesMax
	}
	b := newGraphBuilder(ctx, m, o.Workers)
	b.graph.StepWords = 1
	b.statesMax, b.stepsMax, b.levelsMax = o.StatesMax, ExploreStepsMax, o.LevelsMax
	if err := b.build(); err != nil {
		return nil, err
	}
	return &StateGraph{b}, nil
}

// States is how many states there are.
func (g *StateGraph) States() int { return len(g.b.at) }

// Steps is how many steps there are; two of different actions between the same
// states are two.
func (g *StateGraph) Steps() int { return len(g.b.graph.To) }

// Initial is how many of the states are initial: those with the lowest numbers.
func (g *StateGraph) Initial() int { return g.b.graph.Initial }

// State is the encoding of a state; it must not be changed.
func (g *StateGraph) State(n int) State { return g.b.state(uint32(n)) }

// Level is how many states the shortest path to a state has.
func (g *StateGraph) Level(n int) int { return g.b.levelOf(n) }

// Next calls visit for every step from a state, in the order in which the
// model enumerates them.
func (g *StateGraph) Next(n int, visit func(action, to int)) {
	for i := g.b.graph.Start[n]; i < g.b.graph.Start[n+1]; i++ {
		visit(int(g.b.graph.StepAtoms[i]), int(g.b.graph.To[i]))
	}
}

// Expanded says whether the graph has every step from a state: it is no deeper
// than asked for, and its successors have values.
func (g *StateGraph) Expanded(n int) bool {
	_, failed := slices.BinarySearch(g.b.failed, uint32(n))
	return n < g.b.end() && !failed
}

// Path finds the states of a trace, and gives -1 for those that are not in the
// graph.
func (g *StateGraph) Path(trace []Step) []int {
	at := map[string]int{}
	for _, s := range trace {
		at[string(s.State)] = -1
	}
	for n := range g.States() {
		s := g.State(n)
		if _, ok := at[string(s)]; ok {
			at[string(s)] = n
		}
	}
	path := make([]int, len(trace))
	for i, s := range trace {
		path[i] = at[string(s.State)]
	}
	return path
}
