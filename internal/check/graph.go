// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// A search forgets its states and never stores its steps. If they are needed,
// for properties of behaviours or for display, the successors of every state
// are computed a second time. States are numbered in the order in which one
// worker would find them: workers expand a range of states together, and their
// results are joined in the order of the states.

// GraphStepsMax bounds the steps of a graph whose behaviours are checked.
const GraphStepsMax = 1 << 36

// Limits of a graph that Explore makes.
const (
	ExploreStatesMax = 100_000
	ExploreStepsMax  = 20_000_000
	ExploreBytesMax  = 1 << 30 // of the states' encodings
)

// graphBuilder makes the graph of a model.
type graphBuilder struct {
	m       Model
	ctx     context.Context
	workers []*stepWorker
	set     *fpset.Set // the claims are the numbers of states

	states   *rows
	number   int   // of states
	initial  int   // of them
	levels   []int // the first state of each level
	begun    bool  // the initial states are known
	expanded int   // states of which the steps are known
	// expandedTo, if not nil, is called from time to time with the number of
	// expanded states.
	expandedTo func(n int)
	steps      int64
	failed     []uint32 // states of which not every successor can be computed

	row   []graphStep // from the state that is being joined, without repetitions
	index map[graphStep]bool
	// keep takes over the row of the next state.
	keep func(row []graphStep)
	// balance is called between two ranges.
	balance func() error

	// The limits that end the exploration; 0 means no limit.
	statesMax, levelsMax int
	stepsMax             int64
}

// graphStep is a step of the state being joined. If the caller does not need
// the actions of steps, all steps have the same one.
type graphStep struct{ to, action uint32 }

// stepWorker evaluates the successors of a range of states.
type stepWorker struct {
	b      *graphBuilder
	ev     Worker
	can    Capabilities // of ev
	states *rowReader
	fresh  arena // states that were new when they were met
	edges  []graphEdge
	ends   []int // of edges, by state of the range
	failed []uint32
	err    error
	on     uint32 // the state that is being expanded
}

type graphEdge struct {
	fp     uint64
	state  ref
	action int32
	known  bool
}

// graphRange is how many states a worker expands between two joins.
const graphRange = 512

func newGraphBuilder(ctx context.Context, m Model, workers int, states *rows) *graphBuilder {
	b := &graphBuilder{m: m, ctx: ctx, set: fpset.New(), states: states, index: map[graphStep]bool{},
		stepsMax: GraphStepsMax, balance: func() error { return nil }}
	for range max(1, workers) {
		w := &stepWorker{b: b, ev: m.NewWorker(), states: states.newReader(0)}
		if w.can = w.ev.Capabilities(); w.can.EndWhen != nil {
			w.can.EndWhen(func() bool { return ctx.Err() != nil })
		}
		b.workers = append(b.workers, w)
	}
	return b
}

// build explores the model up to levelsMax. A later call with a larger levelsMax
// continues from there.
func (b *graphBuilder) build() error {
	if !b.begun {
		if err := b.roots(); err != nil {
			return err
		}
		b.begun = true
	}
	for b.expanded < b.end() {
		to := min(b.end(), b.expanded+graphRange*len(b.workers))
		if err := b.expand(b.expanded, to); err != nil {
			return err
		}
		b.expanded = to
		if b.expandedTo != nil {
			b.expandedTo(to)
		}
		if err := b.checkLimits(); err != nil {
			return err
		}
		if err := b.balance(); err != nil {
			return err
		}
	}
	return nil
}

// end is the first state that must not be expanded.
func (b *graphBuilder) end() int {
	if b.levelsMax > 0 && len(b.levels) >= b.levelsMax {
		return b.levels[b.levelsMax-1]
	}
	return b.number
}

func (b *graphBuilder) checkLimits() error {
	switch {
	case b.number > StatesMax:
		return &live.LimitError{What: "states in its graph", Max: StatesMax}
	case b.statesMax == 0:
		if b.steps > b.stepsMax {
			return &live.LimitError{What: "steps in its graph", Max: int(b.stepsMax)}
		}
	case b.number > b.statesMax:
		return &GraphLimitError{"states", b.statesMax}
	case b.steps > b.stepsMax:
		return &GraphLimitError{"steps", int(b.stepsMax)}
	case b.states.held() > ExploreBytesMax:
		return &GraphLimitError{"bytes of states", ExploreBytesMax}
	}
	return nil
}

func (b *graphBuilder) roots() error {
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
		if b.statesMax > 0 && b.number > b.statesMax {
			return &GraphLimitError{"states", b.statesMax}
		}
		if err == nil && b.number%graphRange == 0 {
			err = b.balance()
		}
		return err
	})
	b.initial = b.number
	b.levels = []int{0}
	return err
}

// add numbers a state, unless it has a number, and returns it.
func (b *graphBuilder) add(fp uint64, s State) uint32 {
	if n, ok := b.set.Claim(fp); ok {
		return n
	}
	n := uint32(b.number)
	b.number++
	b.set.Add(fp, n)
	b.states.add(s)
	return n
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
		b.failed = append(b.failed, w.failed...)
		edge := 0
		for _, end := range w.ends {
			b.row = b.row[:0]
			clear(b.index)
			known := b.number
			for ; edge < end; edge++ {
				b.join(w, edge)
			}
			if b.number > known && parent >= b.levels[len(b.levels)-1] {
				b.levels = append(b.levels, known)
			}
			parent++
			b.steps += int64(len(b.row))
			b.keep(b.row)
		}
	}
	return nil
}

// shortRow is the number of steps up to which a row is searched linearly.
const shortRow = 24

// join adds a step, unless the state has the same one already.
func (b *graphBuilder) join(w *stepWorker, edge int) {
	e := w.edges[edge]
	step := graphStep{action: uint32(e.action)}
	if e.known {
		step.to, _ = b.set.Claim(e.fp)
	} else {
		s, _ := w.fresh.get(e.state)
		step.to = b.add(e.fp, s)
	}
	if len(b.row) < shortRow {
		if slices.Contains(b.row, step) {
			return
		}
	} else {
		if len(b.index) == 0 {
			for _, s := range b.row {
				b.index[s] = true
			}
		}
		if b.index[step] {
			return
		}
		b.index[step] = true
	}
	b.row = append(b.row, step)
}

func (w *stepWorker) expand(from, to int) {
	w.fresh.reset()
	w.edges, w.ends, w.failed = w.edges[:0], w.ends[:0], w.failed[:0]
	w.err = nil
	level := 0
	for n := from; n < to && w.err == nil && w.b.ctx.Err() == nil; n++ {
		w.on = uint32(n)
		var s State
		if s, w.err = w.states.get(n); w.err != nil {
			return
		}
		if l := w.b.levelOf(n); w.can.AtLevel != nil && l != level {
			level = l
			w.can.AtLevel(l)
		}
		w.err = w.expandState(s)
		w.ends = append(w.ends, len(w.edges))
	}
}

func (w *stepWorker) expandState(s State) error {
	err := w.ev.Next(s, w.visit)
	// A drawing shows as much of the graph as is known, including states whose
	// successors cannot be computed.
	var wrong *EvalError
	if w.b.statesMax > 0 && errors.As(err, &wrong) {
		w.failed = append(w.failed, w.on)
		return nil
	}
	return err
}

func (w *stepWorker) fingerprint(s State) (uint64, error) {
	if w.can.Key == nil {
		return fpset.Hash(s), nil
	}
	k, err := w.can.Key()
	return fpset.Hash(k), err
}

func (w *stepWorker) visit(action int, s State) error {
	inside, err := w.ev.InModel()
	if err != nil || !inside {
		return err
	}
	var e graphEdge
	if w.b.statesMax > 0 {
		e.action = int32(action)
	}
	if e.fp, err = w.fingerprint(s); err != nil {
		return err
	}
	if _, e.known = w.b.set.Claim(e.fp); !e.known {
		e.state = w.fresh.put(s)
	}
	w.edges = append(w.edges, e)
	if w.b.statesMax > 0 && (int64(len(w.edges)) > w.b.stepsMax || w.fresh.size() > ExploreBytesMax) {
		return &GraphLimitError{"steps", int(w.b.stepsMax)}
	}
	return nil
}

// GraphLimitError reports that a graph is larger than Explore may make.
type GraphLimitError struct {
	What string // "states", "steps", "bytes of states"
	Max  int
}

func (e *GraphLimitError) Error() string {
	return fmt.Sprintf("the graph has more than %d %s", e.Max, e.What)
}

// ExploreOptions are the options of Explore.
type ExploreOptions struct {
	// Workers is the number of goroutines; 0 means 1. The graph is the same for
	// any number.
	Workers int
	// StatesMax is the largest number of states of the graph; 0 means
	// ExploreStatesMax, which is also the maximum.
	StatesMax int
	// LevelsMax, if not 0, excludes states whose shortest path has more states.
	LevelsMax int
}

// StateGraph has the states of a model that a search visits, and the steps
// between them: states outside the constraints are excluded, and states with
// one key are one. States are numbered from 0 in the order in which one worker
// finds them, and thus by level.
type StateGraph struct {
	b      *graphBuilder
	states *rowReader
	start  []int // of the steps of each state
	steps  []graphStep
}

// Explore makes the graph of all states. The error is a *GraphLimitError if it
// is too large, an *EvalError if the initial states cannot be computed, or that
// of the context.
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
	states := &rows{tape: spill.NewTape(nil, "")}
	g := &StateGraph{b: newGraphBuilder(ctx, m, o.Workers, states), states: states.newReader(0), start: []int{0}}
	g.b.statesMax, g.b.stepsMax, g.b.levelsMax = o.StatesMax, ExploreStepsMax, o.LevelsMax
	g.b.keep = func(row []graphStep) {
		g.steps = append(g.steps, row...)
		g.start = append(g.start, len(g.steps))
	}
	if err := g.b.build(); err != nil {
		return nil, err
	}
	// A state that is too deep has no steps.
	for range g.States() - g.b.expanded {
		g.b.keep(nil)
	}
	return g, nil
}

// States is the number of states.
func (g *StateGraph) States() int { return g.b.number }

// Steps is the number of steps; two of different actions between the same
// states count as two.
func (g *StateGraph) Steps() int { return len(g.steps) }

// Initial is the number of initial states: those with the lowest numbers.
func (g *StateGraph) Initial() int { return g.b.initial }

// State returns the encoding of a state; it must not be changed.
func (g *StateGraph) State(n int) State {
	s, err := g.states.get(n)
	invariant.Check(err == nil, "a state in memory: %v", err)
	return s
}

// Level is the number of states on the shortest path to a state.
func (g *StateGraph) Level(n int) int { return g.b.levelOf(n) }

// Next calls visit for every step from a state, in the order in which the
// model enumerates them.
func (g *StateGraph) Next(n int, visit func(action, to int)) {
	for _, s := range g.steps[g.start[n]:g.start[n+1]] {
		visit(int(s.action), int(s.to))
	}
}

// Expanded reports whether the graph has every step from a state: the state is
// within LevelsMax, and its successors have values.
func (g *StateGraph) Expanded(n int) bool {
	_, failed := slices.BinarySearch(g.b.failed, uint32(n))
	return n < g.b.end() && !failed
}

// Path returns the states of a trace, -1 for those that are not in the graph.
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
