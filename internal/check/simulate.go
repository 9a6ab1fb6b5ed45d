// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// SimulateOptions are the options of Simulate.
type SimulateOptions struct {
	// Workers is the number of goroutines; 0 means 1. The result is the same
	// for any number.
	Workers int
	// Depth is the largest number of states of a walk; 0 means DepthDefault.
	Depth int
	// Walks is the number of walks after which the simulation ends; 0 means no
	// end.
	Walks int64
	// Seed chooses the walks: walk i of a seed is always the same.
	Seed uint64
	// IgnoreDeadlock overrides Info.Deadlock.
	IgnoreDeadlock bool
	// Monitor, if not nil, reports the progress to other goroutines.
	Monitor *WalkMonitor
}

// DepthDefault is the default of SimulateOptions.Depth.
const DepthDefault = 100

// InitialMax is the number of initial states that a simulation keeps to choose
// from; if there are more, it takes the first ones and reports that.
const InitialMax = 1 << 20

// WalkStats is the progress of a simulation.
type WalkStats struct {
	Walks     int64
	Generated int64 // states computed, those that were not chosen included
	Steps     int64 // states in the walks
	Longest   int   // of the walks, in states
	Deadlocks int64 // walks that ended in a state without successor
}

// WalkMonitor watches one simulation.
type WalkMonitor struct{ walks, generated, steps atomic.Int64 }

// Stats returns a momentary view; Longest and Deadlocks are known at the end.
func (m *WalkMonitor) Stats() WalkStats {
	return WalkStats{Walks: m.walks.Load(), Generated: m.generated.Load(), Steps: m.steps.Load()}
}

// Simulation is the result of random walks.
type Simulation struct {
	Info    Info
	Verdict Verdict // OK: the walks found no violation
	WalkStats
	// Taken counts the steps that each action of Info made in the walks, and
	// Enabled the states in which it could have made one.
	Taken, Enabled []int64
	// Walk is the number of the walk that found the violation; Length is its
	// number of states before the trace was shortened.
	Walk     int64
	Length   int
	Property string
	Broken   []string
	Err      *EvalError
	Trace    []Step
	Warnings []string
}

// Simulate walks at random from initial states, each time to one of all
// successors with equal probability, and evaluates invariants and action
// properties of everything that it computes on the way. A violation is that of
// the walk with the lowest number, with its trace shortened if one of its
// states leads directly to a later one. Finding nothing proves nothing. When
// ctx ends, Simulate returns soon, with the results so far.
func Simulate(ctx context.Context, m Model, o SimulateOptions) (*Simulation, error) {
	if o.Depth == 0 {
		o.Depth = DepthDefault
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Depth < 0 || o.Workers < 0 || o.Workers > WorkersMax || o.Walks < 0 {
		return nil, fmt.Errorf("check: depth %d, %d workers, %d walks", o.Depth, o.Workers, o.Walks)
	}
	if o.Monitor == nil {
		o.Monitor = &WalkMonitor{}
	}
	s := &simulation{m: m, info: m.Info(), o: o, ctx: ctx}
	r := &Simulation{Info: s.info, Taken: make([]int64, len(s.info.Actions)), Enabled: make([]int64, len(s.info.Actions))}
	r.Warnings = slices.Clone(s.info.Warnings)
	first := s.newWalker()
	broken, err := first.ev.Assumptions()
	if err == nil && len(broken) > 0 {
		r.Verdict, r.Broken = AssumptionFalse, broken
		return r, nil
	}
	if err == nil {
		err = first.start()
	}
	if err != nil {
		return r, first.end(r, err)
	}
	if s.dropped {
		r.Warnings = append(r.Warnings, fmt.Sprintf("there are more than %d initial states; walks begin in the first so many", InitialMax))
	}
	walkers := []*walker{first}
	var wg sync.WaitGroup
	for range o.Workers - 1 {
		walkers = append(walkers, s.newWalker())
	}
	s.best.Store(-1)
	for _, w := range walkers {
		wg.Go(w.walkAll)
	}
	wg.Wait()
	return r, s.finish(r, walkers)
}

// simulation is the state that the walkers share.
type simulation struct {
	m       Model
	info    Info
	o       SimulateOptions
	ctx     context.Context
	roots   []State
	dropped bool
	next    atomic.Int64 // the next walk
	best    atomic.Int64 // the lowest walk that found something, or -1
}

// walker walks by itself.
type walker struct {
	s       *simulation
	ev      Worker
	atLevel func(states int) // of ev, or nil
	rng     splitmix

	path    []Step
	chosen  State
	action  int
	seen    int // successors so far
	able    []bool
	problem *violation
	err     error

	found          *walkEnd
	taken, enabled []int64
	stats          WalkStats
}

// walkEnd is a violation and the walk that led to it.
type walkEnd struct {
	walk int64
	path []Step
	v    *violation
}

func (s *simulation) newWalker() *walker {
	n := len(s.info.Actions)
	w := &walker{s: s, ev: s.m.NewWorker(), taken: make([]int64, n), enabled: make([]int64, n), able: make([]bool, n)}
	can := w.ev.Capabilities()
	if can.AskPath != nil {
		can.AskPath(w.states)
	}
	w.atLevel = can.AtLevel
	if can.EndWhen != nil {
		can.EndWhen(func() bool { return s.ctx.Err() != nil })
	}
	return w
}

// start computes the initial states.
func (w *walker) start() error {
	err := w.ev.Init(func(a int, st State) error {
		if inside, err := w.look(a, st); err != nil || !inside {
			return err
		}
		if len(w.s.roots) == InitialMax {
			w.s.dropped = true
			return ErrStopped
		}
		w.s.roots = append(w.s.roots, slices.Clone(st))
		return nil
	})
	if w.s.dropped && errors.Is(err, ErrStopped) {
		return nil
	}
	return err
}

// look evaluates the properties of a state and of the step to it.
func (w *walker) look(action int, st State) (inside bool, err error) {
	wrong := func(asked Verdict, i int, err error) error {
		w.problem = &violation{verdict: asked, asked: asked, index: i, action: action, last: slices.Clone(st)}
		if err != nil {
			var e *EvalError
			if !errors.As(err, &e) {
				return err
			}
			w.problem.verdict, w.problem.err = EvalFailed, e
		}
		return errFound
	}
	if inside, err = w.ev.InModel(); err != nil {
		return false, wrong(EvalFailed, -1, err)
	}
	if len(w.s.info.Invariants) > 0 {
		if i, err := w.ev.BrokenInvariant(); err != nil || i >= 0 {
			return false, wrong(InvariantViolated, i, err)
		}
	}
	if len(w.s.info.Steps) > 0 {
		if i, err := w.ev.BrokenStep(); err != nil || i >= 0 {
			return false, wrong(StepViolated, i, err)
		}
	}
	return inside, nil
}

// walkAll takes walks until none are left.
func (w *walker) walkAll() {
	s := w.s
	for s.ctx.Err() == nil && w.err == nil {
		n := s.next.Add(1) - 1
		if best := s.best.Load(); s.o.Walks > 0 && n >= s.o.Walks || best >= 0 && n > best {
			return
		}
		if len(s.roots) > 0 {
			w.walk(n)
		}
		w.stats.Walks++
		s.o.Monitor.walks.Add(1)
		if len(s.roots) == 0 {
			return
		}
	}
}

// states are those of the walk so far.
func (w *walker) states() ([]State, error) {
	states := make([]State, len(w.path))
	for i, s := range w.path {
		states[i] = s.State
	}
	return states, nil
}

// walk makes walk n.
func (w *walker) walk(n int64) {
	s := w.s
	w.rng = splitmix(s.o.Seed*0x9e3779b97f4a7c15 + uint64(n))
	w.rng.next()
	w.problem = nil
	w.path = append(w.path[:0], Step{Action: rootAction, State: s.roots[w.rng.below(len(s.roots))]})
	for len(w.path) < s.o.Depth && s.ctx.Err() == nil {
		generated := int64(0)
		w.seen = 0
		clear(w.able)
		if w.atLevel != nil {
			w.atLevel(len(w.path))
		}
		err := w.ev.Next(w.path[len(w.path)-1].State, func(a int, st State) error {
			generated++
			if a >= 0 && !w.able[a] {
				w.able[a] = true
				w.enabled[a]++
			}
			inside, err := w.look(a, st)
			if err != nil || !inside {
				return err
			}
			w.seen++
			if w.rng.below(w.seen) == 0 {
				w.chosen, w.action = append(w.chosen[:0], st...), a
			}
			return nil
		})
		w.stats.Generated += generated
		s.o.Monitor.generated.Add(generated)
		if w.stop(n, generated, err) || w.seen == 0 {
			break
		}
		w.path = append(w.path, Step{Action: w.action, State: slices.Clone(w.chosen)})
		if w.action >= 0 {
			w.taken[w.action]++
		}
	}
	w.stats.Steps += int64(len(w.path))
	s.o.Monitor.steps.Add(int64(len(w.path)))
	w.stats.Longest = max(w.stats.Longest, len(w.path))
}

// stop reports whether a walk ends because of the result of its last step.
func (w *walker) stop(n, generated int64, err error) bool {
	var e *EvalError
	switch {
	case errors.Is(err, errFound):
	case errors.Is(err, ErrStopped):
		return true
	case errors.As(err, &e):
		w.problem = &violation{verdict: EvalFailed, index: -1, err: e}
	case err != nil:
		w.err = err
		return true
	case generated == 0:
		w.stats.Deadlocks++
		if !w.s.info.Deadlock || w.s.o.IgnoreDeadlock {
			return true
		}
		w.problem = &violation{verdict: Deadlock, index: -1}
	default:
		return false
	}
	w.found = &walkEnd{n, slices.Clone(w.path), w.problem}
	for {
		best := w.s.best.Load()
		if best >= 0 && best <= n || w.s.best.CompareAndSwap(best, n) {
			return true
		}
	}
}

// finish joins the results of the walkers.
func (s *simulation) finish(r *Simulation, walkers []*walker) error {
	var best *walkEnd
	for _, w := range walkers {
		if w.err != nil {
			return w.err
		}
		for i := range r.Taken {
			r.Taken[i] += w.taken[i]
			r.Enabled[i] += w.enabled[i]
		}
		r.Walks += w.stats.Walks
		r.Generated += w.stats.Generated
		r.Steps += w.stats.Steps
		r.Deadlocks += w.stats.Deadlocks
		r.Longest = max(r.Longest, w.stats.Longest)
		if w.found != nil && (best == nil || w.found.walk < best.walk) {
			best = w.found
		}
	}
	switch {
	case best != nil:
		r.Walk = best.walk
		return walkers[0].tell(r, best)
	case s.ctx.Err() != nil:
		var limit Limit
		if !errors.As(context.Cause(s.ctx), &limit) {
			r.Verdict = Interrupted
		}
	}
	return nil
}

// end turns an error at the start into the result of the simulation.
func (w *walker) end(r *Simulation, err error) error {
	var e *EvalError
	switch {
	case errors.Is(err, errFound):
		return w.tell(r, &walkEnd{0, nil, w.problem})
	case errors.As(err, &e):
		r.Verdict, r.Err = EvalFailed, e
	case errors.Is(err, ErrStopped):
		if w.s.ctx.Err() != nil {
			r.Verdict = Interrupted
		}
	default:
		return err
	}
	return nil
}

// tell adds a violation and its trace to the result.
func (w *walker) tell(r *Simulation, end *walkEnd) error {
	v := end.v
	r.Verdict, r.Err, r.Property = v.verdict, v.err, v.property(w.s.info)
	path := end.path
	if v.last != nil {
		path = append(path, Step{Action: v.action, State: v.last})
	}
	r.Length = len(path)
	var err error
	// The last step breaks a property of steps, so it must stay.
	fixed := 0
	if v.asked == StepViolated && len(path) > 1 {
		fixed = 1
	}
	if r.Trace, err = w.shorten(path, fixed); err != nil {
		return err
	}
	showSteps(w.s.m, r.Trace)
	return nil
}

// shorten removes detours from a trace: each state is followed at once by the
// latest state of the trace that is one of its successors. The last fixed steps
// stay.
func (w *walker) shorten(path []Step, fixed int) ([]Step, error) {
	if len(path) == 0 {
		return nil, nil
	}
	end := len(path) - 1 - fixed
	// A repetition of the same state is no step, also at the beginning.
	at := 0
	for i := 0; i <= end; i++ {
		if slices.Equal(path[i].State, path[0].State) {
			at = i
		}
	}
	out := []Step{{Action: path[0].Action, State: path[0].State}}
	for at < end {
		last := map[string]int{}
		for i := at + 1; i <= end; i++ {
			last[string(path[i].State)] = i
		}
		far, action := at+1, path[at+1].Action
		err := w.ev.Next(path[at].State, func(a int, st State) error {
			if i, ok := last[string(st)]; ok && i > far {
				if inside, err := w.ev.InModel(); err == nil && inside {
					far, action = i, a
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrStopped) {
			return nil, err
		}
		at = far
		out = append(out, Step{Action: action, State: path[at].State})
	}
	return append(out, path[end+1:]...), nil
}

// splitmix is the generator SplitMix64 (Steele, Lea and Flood, 2014).
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1; for n far below 2^64 all are equally likely.
func (s *splitmix) below(n int) int { return int(s.next() % uint64(n)) }
