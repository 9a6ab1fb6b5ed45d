package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/check/fpset"
	"github.com/ashlar-dev/ashlar/check/live"
)

// Properties of whole behaviours are decided on the graph of all states, which
// is built after the search has found nothing wrong: the successors of every
// state are computed once more, now with the values of the atoms of which the
// properties are made. That costs a second evaluation and keeps the search,
// which most runs consist of, free of everything that only liveness needs.

// LiveModel is a Model that asks for properties of whole behaviours. Its
// workers are LiveWorkers.
type LiveModel interface {
	Model
	// Live is what is asked for, or nil.
	Live() *Live
}

// Live are properties of behaviours.
type Live struct {
	// Atoms are what the formulas are made of.
	Atoms []live.AtomKind
	// Assume is what the behaviours that count satisfy: fairness.
	Assume     *live.Formula
	Properties []LiveProperty
	// Skip are atoms that need not be evaluated.
	Skip []int
}

// LiveProperty is a formula that every behaviour should satisfy. A property that
// the model names once may be here in several parts.
type LiveProperty struct {
	Name    string
	Formula *live.Formula
}

// AtomError says that an atom has no value in some state or step. The
// properties that are made of it are then left undecided.
type AtomError struct {
	Atom int // its index in Live.Atoms
	Err  *EvalError
}

func (e *AtomError) Error() string { return e.Err.Error() }

// LiveWorker is a Worker that evaluates atoms. Both methods set bits of words
// that are zero, in the order of live.Layout. Where an atom has no value, the
// error is an *AtomError.
type LiveWorker interface {
	Worker
	// StateAtoms evaluates the predicates of states in s.
	StateAtoms(s State, words []uint64) error
	// StepAtoms evaluates the others on the step to the candidate that is being
	// visited, and may be called only within a visit of Next.
	StepAtoms(words []uint64) error
	// SkipAtoms names atoms that are not to be evaluated from now on.
	SkipAtoms(atoms []int)
}

// GraphStepsMax is how many steps a graph may have for its behaviours to be
// looked at; each takes four bytes and eight for every 64 atoms of steps.
const GraphStepsMax = 1 << 31

// graphBuilder makes the graph of a model.
type graphBuilder struct {
	m       Model
	problem *Live
	ctx     context.Context
	workers []*stepWorker
	set     *fpset.Set // claims are numbers of states

	states arena
	at     []ref
	graph  live.Graph
	seen   map[uint32]int // of one state: where the steps to a successor begin
}

// stepWorker evaluates the successors of a range of states.
type stepWorker struct {
	b     *graphBuilder
	ev    LiveWorker
	fresh arena // states that were new when they were met
	edges []graphEdge
	ends  []int // of edges, by state of the range
	atoms []uint64
	steps []uint64
	words []uint64
	err   error
	on    uint32 // the state that is being expanded
}

type graphEdge struct {
	fp    uint64
	state ref
	known bool
}

// graphRange is how many states a worker expands between two joins.
const graphRange = 512

// buildGraph explores the model again. The error is an *EvalError, that of the
// context, or what stands in the way.
func buildGraph(ctx context.Context, m LiveModel, workers int) (*graphBuilder, error) {
	b := &graphBuilder{m: m, problem: m.Live(), ctx: ctx, set: fpset.New(), seen: map[uint32]int{}}
	state, step := live.Layout(b.problem.Atoms)
	b.graph.StateWords, b.graph.StepWords = live.Words(len(state)), live.Words(len(step))
	b.graph.Start = []uint64{0}
	for range max(1, workers) {
		ev, ok := m.NewWorker().(LiveWorker)
		if !ok {
			return nil, errors.New("check: the workers of the model cannot evaluate properties of behaviours")
		}
		if e, ok := Worker(ev).(Endable); ok {
			e.EndWhen(func() bool { return ctx.Err() != nil })
		}
		b.workers = append(b.workers, &stepWorker{b: b, ev: ev, words: make([]uint64, b.graph.StepWords)})
	}
	if err := b.initial(); err != nil {
		return nil, err
	}
	for from := 0; from < len(b.at); {
		to := min(len(b.at), from+graphRange*len(b.workers))
		if err := b.expand(from, to); err != nil {
			return nil, err
		}
		from = to
	}
	return b, nil
}

func (b *graphBuilder) initial() error {
	ev := b.workers[0].ev
	err := ev.Init(func(_ int, s State) error {
		inside, err := ev.InModel()
		if err == nil && inside {
			b.add(fpset.Hash(s), s)
		}
		return err
	})
	b.graph.Initial = len(b.at)
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
	for _, w := range b.workers {
		if w.err != nil {
			return w.err
		}
		b.graph.StateAtoms = append(b.graph.StateAtoms, w.atoms...)
		edge := 0
		for _, end := range w.ends {
			clear(b.seen)
			for ; edge < end; edge++ {
				b.join(w, edge)
			}
			b.graph.Start = append(b.graph.Start, uint64(len(b.graph.To)))
		}
	}
	if len(b.graph.To) > GraphStepsMax {
		return &live.LimitError{What: "steps in its graph", Max: GraphStepsMax}
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
	w.edges, w.ends, w.atoms, w.steps = w.edges[:0], w.ends[:0], w.atoms[:0], w.steps[:0]
	w.err = nil
	for n := from; n < to && w.err == nil && w.b.ctx.Err() == nil; n++ {
		w.on = uint32(n)
		s := w.b.state(w.on)
		at := len(w.atoms)
		w.atoms = append(w.atoms, make([]uint64, w.b.graph.StateWords)...)
		if w.err = w.ev.StateAtoms(s, w.atoms[at:]); w.err == nil {
			w.err = w.ev.Next(s, w.visit)
		}
		w.ends = append(w.ends, len(w.edges))
	}
}

func (w *stepWorker) visit(_ int, s State) error {
	inside, err := w.ev.InModel()
	if err != nil || !inside {
		return err
	}
	clear(w.words)
	if err := w.ev.StepAtoms(w.words); err != nil {
		return err
	}
	e := graphEdge{fp: fpset.Hash(s)}
	if _, e.known = w.b.set.Claim(e.fp); !e.known {
		e.state = w.fresh.put(s)
	}
	w.edges = append(w.edges, e)
	w.steps = append(w.steps, w.words...)
	return nil
}

// liveness decides the properties of behaviours and notes in r what it finds.
func liveness(ctx context.Context, m LiveModel, o Options, r *Result) error {
	problem := *m.Live()
	b, err := buildGraph(ctx, m, o.Workers)
	for {
		var failed *AtomError
		if !errors.As(err, &failed) {
			break
		}
		// What is made of this atom cannot be decided; the rest can.
		if problem.leaveOut(failed, r) == 0 {
			o.incomplete(r)
			return nil
		}
		b, err = buildGraph(ctx, without{m, &problem}, o.Workers)
	}
	var wrong *EvalError
	switch {
	case errors.As(err, &wrong):
		r.Verdict, r.Err, r.Complete = EvalFailed, wrong, false
		r.Reason = "the successors of a state cannot be computed a second time"
		return nil
	case err != nil:
		return undecided(ctx, r, err)
	}
	r.Live = LiveStats{States: int64(len(b.at)), Steps: int64(len(b.graph.To))}
	for _, p := range problem.Properties {
		lasso, err := live.Find(ctx, &b.graph, live.Problem{Atoms: problem.Atoms, Assume: problem.Assume, Property: p.Formula})
		if err != nil {
			return undecided(ctx, r, fmt.Errorf("the property %s: %w", p.Name, err))
		}
		if lasso != nil {
			r.Verdict, r.Complete, r.Property = LivenessViolated, false, p.Name
			r.Reason = "the search ends at the first violation"
			return b.show(lasso, r)
		}
	}
	o.incomplete(r)
	return nil
}

// leaveOut drops the properties that are made of an atom without a value, and
// returns how many are left. Where fairness is made of it, none is.
func (l *Live) leaveOut(failed *AtomError, r *Result) int {
	fair := l.Assume.Mentions(failed.Atom)
	var left []LiveProperty
	for _, p := range l.Properties {
		if !fair && !p.Formula.Mentions(failed.Atom) {
			left = append(left, p)
			continue
		}
		reason := failed.Err.Error()
		if fair {
			reason = "the fairness of the specification: " + reason
		}
		unchecked := Unchecked{Property: p.Name, Reason: reason}
		if !slices.Contains(r.Info.Unchecked, unchecked) {
			r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
		}
	}
	l.Properties = left
	// An atom that nobody asks for is not evaluated.
	l.Skip = append(slices.Clone(l.Skip), failed.Atom)
	return len(left)
}

// Unasked notes in r that the properties were not to be checked.
func (l *Live) Unasked(r *Result) {
	for _, p := range l.Properties {
		unchecked := Unchecked{Property: p.Name, Reason: "only safety was to be checked"}
		if !slices.Contains(r.Info.Unchecked, unchecked) {
			r.Info.Unchecked = append(slices.Clone(r.Info.Unchecked), unchecked)
		}
	}
	Options{SafetyOnly: true}.incomplete(r)
}

// incomplete makes of r the result of a search that has left properties out, if
// it has.
func (o Options) incomplete(r *Result) {
	if len(r.Info.Unchecked) == 0 {
		return
	}
	r.Complete = false
	r.Reason = fmt.Sprintf("%d of the properties asked for cannot be checked", len(r.Info.Unchecked))
	if !o.SafetyOnly {
		r.Verdict = Incomplete
	}
}

// without is a model with fewer properties of behaviours.
type without struct {
	LiveModel
	live *Live
}

func (w without) Live() *Live { return w.live }

// NewWorker passes on what is to be skipped.
func (w without) NewWorker() Worker {
	ev := w.LiveModel.NewWorker()
	if l, ok := ev.(LiveWorker); ok {
		l.SkipAtoms(w.live.Skip)
	}
	return ev
}

// undecided notes that properties of behaviours have not been decided.
func undecided(ctx context.Context, r *Result, err error) error {
	var limit *live.LimitError
	switch {
	case ctx.Err() != nil:
		r.Complete, r.Verdict, r.Reason = false, Interrupted, "properties of behaviours were being checked when the search was interrupted"
		var l Limit
		if errors.As(context.Cause(ctx), &l) {
			r.Verdict, r.Reason = Incomplete, string(l)
		}
	case errors.As(err, &limit), errors.Is(err, live.ErrTooLarge):
		r.Complete, r.Verdict, r.Reason = false, Incomplete, "properties of behaviours were not checked: "+err.Error()
	default:
		return err
	}
	return nil
}

// show makes the trace of a lasso: its path, then its loop.
func (b *graphBuilder) show(l *live.Lasso, r *Result) error {
	states := append(slices.Clone(l.Path), l.Loop...)
	r.Loop = len(l.Path)
	for i, n := range states {
		action := rootAction
		if i > 0 {
			var err error
			if action, err = b.action(states[i-1], n); err != nil {
				return err
			}
		}
		r.Trace = append(r.Trace, Step{Action: action, State: slices.Clone(b.state(n))})
	}
	r.LoopAction = rootAction
	if len(l.Loop) > 1 {
		var err error
		if r.LoopAction, err = b.action(states[len(states)-1], l.Loop[0]); err != nil {
			return err
		}
	}
	showSteps(b.m, r.Trace)
	return nil
}

// action is the first action that leads from one state to another.
func (b *graphBuilder) action(from, to uint32) (int, error) {
	found, w, target := rootAction, b.workers[0], b.state(to)
	err := w.ev.Next(b.state(from), func(a int, s State) error {
		if slices.Equal(s, target) {
			found = a
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return found, err
	}
	return found, nil
}
