package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/check/fpset"
	"github.com/ashlar-dev/ashlar/env"
)

// Limits. States are numbered with 32 bits, and workers notice a little late
// that a search goes beyond StatesMax. A state is at most StateBytesMax long.
const (
	StatesMax     = 4_000_000_000
	StateBytesMax = 64 << 20
	WorkersMax    = 1024
)

// Options say how to search. The zero Options search everything with one
// worker in silence.
type Options struct {
	// Workers is how many goroutines evaluate; 0 means 1. Every figure of the
	// result is the same for any number.
	Workers int
	// SafetyOnly leaves properties of behaviours out, and accepts that they and
	// Info.Unchecked are not checked: without it a model that asks for what
	// cannot be checked is never OK.
	SafetyOnly bool
	// IgnoreDeadlock overrules Info.Deadlock.
	IgnoreDeadlock bool
	// StatesMax, where it is not 0, ends the search soon after so many
	// distinct states.
	StatesMax int64
	// Continue has the search go on after violations, as if what is violated had
	// not been asked for: every figure is what it is without violations, and
	// Result.Violations has the first violation of every property. An expression
	// without a value ends it all the same. The workers of the model must be
	// AllWorkers.
	Continue bool
	// Periodic has properties of behaviours be looked at during the search too,
	// whenever the number of states has doubled: see PeriodicStatesMin. A violation may
	// so be found long before the search would come to its end; what is violated is the
	// same, and where nothing is, so is every figure. Where a look has too little memory,
	// which it has a fourth of, a violation is found later, and a warning says so.
	Periodic bool
	// Looks, where it is not nil, are those of a search that is gone on with, which
	// was made with Periodic and these options; they stay the caller's. Ask, where it
	// is not nil, makes the looks of a model that has no properties itself: see Looks.
	Looks *Looks
	Ask   func(Look) (Looked, error)
	// Disk, where it is not nil, is an empty directory, or one with a checkpoint,
	// of which the search is the only user. It removes what it writes, but for
	// checkpoints. An error of the disk ends the search.
	Disk env.Disk
	// MemoryBytes, where it is not 0, bounds what the search holds in memory of
	// states: what goes beyond it is moved to Disk. It is not a bound for the
	// memory of the model, and less than a few hundred kB count as that much.
	// Properties of behaviours are not decided where they take more, but for a few
	// MB that they may always take. No figure
	// of the result depends on it but Bytes and DiskBytes.
	MemoryBytes int64
	// Checkpoint, where it is not nil, has the search be kept on Disk, so that it
	// can be resumed with the same result and the same figures. The model must
	// be a DurableModel.
	Checkpoint *Checkpoint
	// Monitor, where it is not nil, tells other goroutines how far this search
	// is.
	Monitor *Monitor
	// Deciding, where it is not nil, is called when the search has come to its end,
	// and properties of behaviours are about to be decided on so many states.
	Deciding func(states int64)
}

// Limit is a cause with which a context can end: the search is then Incomplete
// for this reason, and not Interrupted.
type Limit string

func (l Limit) Error() string { return string(l) }

func (o Options) complete() (Options, error) {
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Workers < 0 || o.Workers > WorkersMax {
		return o, fmt.Errorf("check: %d workers, want 1 to %d", o.Workers, WorkersMax)
	}
	if o.StatesMax < 0 {
		return o, fmt.Errorf("check: a limit of %d states", o.StatesMax)
	}
	if o.MemoryBytes < 0 {
		return o, fmt.Errorf("check: a bound of %d bytes", o.MemoryBytes)
	}
	if o.Disk == nil && (o.MemoryBytes > 0 || o.Checkpoint != nil) {
		return o, errors.New("check: a bound for the memory, and checkpoints, want a disk")
	}
	if o.StatesMax == 0 || o.StatesMax > StatesMax {
		o.StatesMax = StatesMax
	}
	return o, nil
}

// Stats is how far a search has come. The figures of a running search are a
// moment's view.
type Stats struct {
	Generated int64 // every state computed, initial ones included
	Distinct  int64
	Queue     int64 // distinct states whose successors are not computed
	Depth     int   // of the deepest state, counted in states
}

// Verdict is the outcome of a search.
type Verdict uint8

// The verdicts.
const (
	// OK: every reachable state was visited and nothing is wrong.
	OK Verdict = iota
	// AssumptionFalse: Result.Broken names the assumptions.
	AssumptionFalse
	// Deadlock: the last state of the trace has no successor.
	Deadlock
	// InvariantViolated: it is false in the last state of the trace.
	InvariantViolated
	// StepViolated: the last step of the trace breaks an action property, or
	// the trace is one initial state that breaks its initial part.
	StepViolated
	// EvalFailed: an expression has no value; Result.Err says which, and the
	// trace, where there is one, leads to where it was evaluated.
	EvalFailed
	// Incomplete: what was searched is fine and something was not searched;
	// Result.Reason says what.
	Incomplete
	// Interrupted: the context ended before the search.
	Interrupted
	// LivenessViolated: the behaviour that the trace is breaks a property of
	// behaviours; after its last state it goes on with the state Result.Loop.
	LivenessViolated
)

func (v Verdict) String() string {
	return [...]string{"ok", "assumption false", "deadlock", "invariant violated", "step violated",
		"evaluation error", "incomplete", "interrupted", "liveness violated"}[v]
}

// Step is a state of a trace.
type Step struct {
	Action int // index in Info.Actions, -1 for an initial state
	State  State
	Values []Binding
}

// Coverage is what an action, or the initial predicate, contributed.
type Coverage struct {
	Generated int64 // states computed by it
	Distinct  int64 // states that it reached first
}

// Result is what a search found.
type Result struct {
	Info Info
	// Complete says that every reachable state was visited and that nothing
	// that the model asks for was left out.
	Complete bool
	// Reason says in words what was left out, where Complete is false.
	Reason string
	// Searched says that every reachable state was visited.
	Searched bool
	// Unfinished says that the search, or what is decided after it, was ended before
	// it was done, whatever is violated: it can be gone on with, and a checkpoint stays.
	Unfinished bool

	// Stats are exact for the search that one worker makes: after a
	// violation they count up to and including its last state. A violation that
	// was found while the search was being interrupted is as near to the initial
	// states as any, but need not be the one that one worker finds first.
	Stats
	// Before is how many of the generated states were computed before the search
	// was resumed.
	Before  int64
	Init    Coverage
	Actions []Coverage // as Info.Actions
	Levels  []int64    // distinct states by their distance from the initial ones
	Bytes   int64      // memory held at the end: the seen set, the queue, the lineage
	// DiskBytes is what was on disk at the end.
	DiskBytes int64
	// StateBytes is what the seen set and the lineage held in memory and on disk,
	// for each distinct state.
	StateBytes float64

	Broken []string // false assumptions
	// Violation is the first thing that is wrong, if anything is: its verdict is
	// that of the search.
	Violation
	// Violations are all that were found, in the order in which they were: not
	// more than one, unless Options.Continue says to go on.
	Violations []Violation
	// Live says on what properties of behaviours were decided.
	Live LiveStats
	// Collision bounds the probability that two states were taken for one.
	Collision float64
	Warnings  []string
}

// Violation is something that is wrong.
type Violation struct {
	Verdict Verdict
	// Property is the name of the invariant or action property that is
	// broken, and Index its place in Info; after EvalFailed it is the one that
	// was being evaluated, if any.
	Property string
	Index    int
	Err      *EvalError
	Trace    []Step
	// Loop is, after LivenessViolated, the place in Trace of the state that
	// follows its last one, and LoopAction the action of that step; where Loop
	// is the last place, nothing happens any more, and there is no action.
	Loop, LoopAction int
}

// LiveStats is the size of the graph on which properties of behaviours were
// decided; it is zero where there were none.
type LiveStats struct {
	States, Steps int64
	// Bytes and DiskBytes are what its states and steps took in memory and on
	// disk.
	Bytes, DiskBytes int64
	// Looks is how often they were looked at during the search.
	Looks int
}

// Run searches the states of the model breadth first, so the trace to a
// violation is a shortest one; of several it is the first in the order in
// which the model enumerates. It returns an error only for bad options, for a
// worker's error that is no *EvalError, for errors of the disk, and where there
// is nothing to resume: a *MismatchError or ErrNoCheckpoint; and ErrLeft, or a
// *LeaveError, where Checkpoint.Leave has ended it. All goroutines have ended
// when it returns. When ctx ends, Run returns soon, with what is known.
func Run(ctx context.Context, m Model, o Options) (*Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	looks := newEarly(ctx, m, o)
	s := newSearch(m, looks.searchOptions(o))
	s.early = looks
	if err := s.store.open(m); err != nil {
		return nil, errors.Join(err, s.store.close())
	}
	if o.Continue {
		if _, ok := m.NewWorker().(AllWorker); !ok {
			return nil, errors.New("check: the workers of the model name only the first property that is broken")
		}
	}
	s.workers[0].start()
	if o.Monitor != nil {
		o.Monitor.search.Store(s)
		o.Monitor.told.Store(nil)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		var limit Limit
		if errors.As(context.Cause(ctx), &limit) {
			s.interrupt(Incomplete, string(limit))
		} else {
			s.endSoon(Interrupted, interrupted)
			select {
			case <-done:
			case <-s.late():
				s.interrupt(Interrupted, interrupted)
			}
		}
		<-done
	}
	if s.err != nil {
		err := errors.Join(s.err, o.close(looks), s.store.close())
		s.drop()
		return nil, err
	}
	r, err := s.result()
	if err := errors.Join(err, s.store.close()); err != nil {
		return nil, errors.Join(err, o.close(looks))
	}
	s.remark(r)
	s.drop()
	looks.report(r)
	if err := errors.Join(behaviours(ctx, m, o, looks, r), o.close(looks)); err != nil {
		return nil, err
	}
	if o.Checkpoint != nil && o.Checkpoint.Stay {
		return r, nil
	}
	return r, s.store.end(r)
}

// close ends looks that are the search's own.
func (o Options) close(looks *early) error {
	if o.Looks != nil {
		return nil
	}
	return looks.close()
}

// Behaviours decides the properties of behaviours of a model, and adds what it
// finds to the result of a search of its states that did not ask for them. It
// fills in the values of the states of traces that have none. It is what Run ends
// with; the options are those of Run, and matter only as far as they speak of
// such properties. Errors are those of Run.
func Behaviours(ctx context.Context, m Model, o Options, r *Result) error {
	var looks *early
	if o.Looks != nil {
		looks = &o.Looks.early
	}
	return behaviours(ctx, m, o, looks, r)
}

// behaviours goes on with the graph of the looks that were made, if there were any.
func behaviours(ctx context.Context, m Model, o Options, looks *early, r *Result) error {
	for _, v := range r.Violations {
		if len(v.Trace) > 0 && v.Trace[0].Values == nil {
			showSteps(m, v.Trace)
		}
	}
	l, ok := m.(LiveModel)
	last := len(r.Violations) - 1
	ended := last >= 0 && (!o.Continue || r.Violations[last].Verdict == EvalFailed)
	switch {
	case !ok || l.Live() == nil || ended || r.Verdict == AssumptionFalse:
	case o.SafetyOnly:
		l.Live().Unasked(r)
	case r.Searched:
		if err := liveness(ctx, l, o, looks.graph(), r); err != nil {
			return err
		}
	}
	if len(r.Violations) > 0 {
		r.Violation = r.Violations[0]
	}
	return nil
}

// drop lets go of what only the search needs.
func (s *search) drop() {
	s.set, s.lineage, s.current, s.next = nil, lineage{}, nil, nil
	for _, w := range s.workers {
		w.arena, w.candidates, w.records, w.states = arena{}, nil, nil, nil
	}
}

// remark takes over what the model has to say of its states. Of a single state
// there is nothing to say.
func (s *search) remark(r *Result) {
	m, ok := s.m.(Remarker)
	if !ok || s.violation != nil || len(s.broken) > 0 || s.stopped.Load() != nil || s.stats.Distinct < 2 {
		return
	}
	var workers []Worker
	for _, w := range s.workers {
		if w.ev != nil {
			workers = append(workers, w.ev)
		}
	}
	r.Warnings = append(r.Warnings, m.Remarks(workers)...)
}

// result turns what the finished search knows into a Result.
func (s *search) result() (*Result, error) {
	r := &Result{Info: s.info, Stats: s.stats, Before: s.before.Load(), Init: s.coverage[0], Actions: s.coverage[1:], Levels: s.levels,
		Violation: Violation{Index: -1}, Broken: s.broken, Collision: fpset.Collision(s.stats.Distinct)}
	r.Bytes, r.DiskBytes = s.memory(), s.store.bytes()
	if s.stats.Distinct > 0 {
		r.StateBytes = float64(s.set.Bytes()+s.lineage.size()+s.lineage.tape.Stored()+s.store.runBytes()) / float64(s.stats.Distinct)
	}
	r.Warnings = append(r.Warnings, s.info.Warnings...)
	for _, v := range s.violations {
		found, err := s.describe(v)
		if err != nil {
			return nil, err
		}
		r.Violations = append(r.Violations, found)
	}
	switch {
	case len(s.broken) > 0:
		r.Verdict, r.Reason = AssumptionFalse, "an assumption is false, so nothing was explored"
		return r, nil
	case s.violation != nil:
		found, err := s.describe(s.violation)
		if err != nil {
			return nil, err
		}
		r.Violations = append(r.Violations, found)
		r.Reason = endsAtFirst
		if s.o.Continue {
			r.Reason = "the search ends where an expression has no value"
		}
		return r, nil
	case s.stopped.Load() != nil:
		why := s.stopped.Load()
		r.Verdict, r.Reason = why.verdict, why.reason
		r.Unfinished = why.verdict != LivenessViolated
		return r, nil
	}
	r.Searched = true
	if len(s.info.Unchecked) > 0 {
		r.Reason = fmt.Sprintf("%d of the properties asked for cannot be checked", len(s.info.Unchecked))
		if !s.o.SafetyOnly {
			r.Verdict = Incomplete
		}
		return r, nil
	}
	r.Complete = true
	r.Warnings = append(r.Warnings, nothing(s.info, s.stats)...)
	return r, nil
}

// nothing warns of a search to the end that has visited no state.
func nothing(info Info, s Stats) []string {
	switch {
	case len(info.Actions) == 0 || s.Distinct > 0:
		return nil
	case s.Generated == 0:
		return []string{"there is no initial state, so there was nothing to check"}
	}
	return []string{"every initial state is outside the constraints, so no step was looked at"}
}

const endsAtFirst = "the search ends at the first violation"

// describe turns a violation into what is known of it outside.
func (s *search) describe(v *violation) (Violation, error) {
	out := Violation{Verdict: v.verdict, Index: v.index, Err: v.err}
	var err error
	out.Trace, err = s.trace(v)
	switch {
	case v.index < 0:
	case v.asked == InvariantViolated:
		out.Property = s.info.Invariants[v.index]
	case v.asked == StepViolated:
		out.Property = s.info.Steps[v.index]
	}
	return out, err
}

// trace is the path to the violation with its values.
func (s *search) trace(v *violation) ([]Step, error) {
	var steps []Step
	if v.fromState {
		var err error
		if steps, err = s.lineage.path(v.parent); err != nil {
			return nil, err
		}
	}
	if v.last != nil {
		steps = append(steps, Step{Action: v.action, State: v.last})
	}
	showSteps(s.m, steps)
	return steps, nil
}

// showSteps fills in the values of a trace's states.
func showSteps(m Model, steps []Step) {
	pairs, _ := m.(StepShower)
	places, _ := m.(PlaceShower)
	path := make([]State, len(steps))
	for i, s := range steps {
		path[i] = s.State
		next := steps[min(i+1, len(steps)-1)].State
		switch {
		case places != nil:
			steps[i].Values = places.ShowAt(Shown{State: s.State, Next: next, Number: i + 1, Action: s.Action, Path: path[: i+1 : i+1]})
		case pairs != nil:
			steps[i].Values = pairs.ShowStep(s.State, next)
		default:
			steps[i].Values = m.Show(s.State)
		}
	}
}
