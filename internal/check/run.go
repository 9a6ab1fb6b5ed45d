// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
)

// Limits. States are numbered with 32 bits, and workers notice with some delay
// that a search has exceeded StatesMax. A state is at most StateBytesMax long.
const (
	StatesMax     = 4_000_000_000
	StateBytesMax = 64 << 20
	WorkersMax    = 1024
)

// Options are the options of a search. The zero Options search everything with
// one worker, without reports.
type Options struct {
	// Workers is the number of goroutines that evaluate; 0 means 1. Every
	// figure of the result is the same for any number.
	Workers int
	// SafetyOnly excludes properties of behaviours, and accepts that they and
	// Info.Unchecked are not checked: without it a model with properties that
	// cannot be checked is never OK.
	SafetyOnly bool
	// IgnoreDeadlock overrides Info.Deadlock.
	IgnoreDeadlock bool
	// StatesMax, if not 0, ends the search soon after that many distinct
	// states.
	StatesMax int64
	// Continue makes the search continue after violations, as if the violated
	// properties had not been requested: every figure is what it is without
	// violations, and Result.Violations has the first violation of every
	// property. An expression without a value still ends the search. The
	// workers of the model must have Capabilities.Further.
	Continue bool
	// Periodic also checks properties of behaviours during the search, whenever
	// the number of states has doubled: see PeriodicStatesMin. This may find a
	// violation long before the search ends; the violated properties are the
	// same and, if there are none, so is every figure. A check gets a quarter
	// of the memory; if that is too little, a violation is found later, and a
	// warning reports that.
	Periodic bool
	// Checker, if not nil, makes the periodic checks. It must have been made
	// with Periodic and these options; the caller keeps ownership. Ask, if not
	// nil, makes the periodic checks of a model that has no properties itself:
	// see PeriodicChecker.
	Checker *PeriodicChecker
	Ask     func(PeriodicQuery) (PeriodicAnswer, error)
	// Disk, if not nil, is an empty directory, or one with a checkpoint, used
	// by no other search. The search removes what it writes, except
	// checkpoints. An error of the disk ends the search.
	Disk env.Disk
	// MemoryBytes, if not 0, bounds the memory in which the search holds
	// states: the excess is moved to Disk. It does not bound the memory of the
	// model, and values below a few hundred kB count as that much. Properties
	// of behaviours are not decided if they need more, apart from a few MB that
	// they may always use. No figure of the result depends on it but Bytes and
	// DiskBytes.
	MemoryBytes int64
	// Checkpoint, if not nil, saves the search on Disk, so that it can be
	// resumed with the same result and the same figures. The model must be
	// Durable.
	Checkpoint *Checkpoint
	// Monitor, if not nil, reports the progress of this search to other
	// goroutines.
	Monitor *Monitor
	// Deciding, if not nil, is called when the search has ended, and properties
	// of behaviours are about to be decided on that many states.
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

// Stats is the progress of a search. The figures of a running search are a
// momentary view.
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
	// InvariantViolated: an invariant is false in the last state of the trace.
	InvariantViolated
	// StepViolated: the last step of the trace breaks an action property, or
	// the trace is one initial state that breaks its initial part.
	StepViolated
	// EvalFailed: an expression has no value; Result.Err has the reason, and
	// the trace, if there is one, leads to where it was evaluated.
	EvalFailed
	// Incomplete: no violation was found, and something was not searched;
	// Result.Reason names it.
	Incomplete
	// Interrupted: the context ended before the search.
	Interrupted
	// LivenessViolated: the behaviour in the trace breaks a property of
	// behaviours; after its last state it continues with the state Result.Loop.
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

// Coverage is the contribution of an action or of the initial predicate.
type Coverage struct {
	Generated int64 // states computed by it
	Distinct  int64 // states that it reached first
}

// Result is the result of a search.
type Result struct {
	Info Info
	// Complete reports that every reachable state was visited and that no check
	// that the model requests was omitted.
	Complete bool
	// Reason describes what was omitted, if Complete is false.
	Reason string
	// Searched reports that every reachable state was visited.
	Searched bool
	// Unfinished reports that the search, or the decision after it, was ended
	// early, with or without a violation: it can be continued, and a checkpoint
	// stays.
	Unfinished bool

	// Stats are exact for the search that one worker makes: after a violation
	// they count up to and including its last state. A violation found while
	// the search was being interrupted is as near to the initial states as any,
	// but need not be the one that one worker finds first.
	Stats
	// Before is the number of generated states that were computed before the
	// search was resumed.
	Before  int64
	Init    Coverage
	Actions []Coverage // as Info.Actions
	Levels  []int64    // distinct states by their distance from the initial ones
	Bytes   int64      // memory held at the end: the seen set, the queue, the lineage
	// DiskBytes is the size on disk at the end.
	DiskBytes int64
	// StateBytes is the size of the seen set and the lineage, in memory and on
	// disk, per distinct state.
	StateBytes float64

	Broken []string // false assumptions
	// Violation is the first violation, if there is one: its verdict is that of
	// the search.
	Violation
	// Violations are all violations found, in order: at most one, unless
	// Options.Continue is set.
	Violations []Violation
	// Live is the size of the graph for properties of behaviours.
	Live LiveStats
	// Collision bounds the probability that two states were taken for one.
	Collision float64
	Warnings  []string
}

// Violation is a violated property or a failed evaluation.
type Violation struct {
	Verdict Verdict
	// Property is the name of the invariant or action property that is broken,
	// and Index its place in Info; after EvalFailed it is the one being
	// evaluated, if any.
	Property string
	Index    int
	Err      *EvalError
	Trace    []Step
	// Loop is, after LivenessViolated, the index in Trace of the state that
	// follows its last one, and LoopAction the action of that step; if Loop is
	// the last index, nothing more happens, and there is no action.
	Loop, LoopAction int
}

// LiveStats is the size of the graph on which properties of behaviours were
// decided; it is zero if there were none.
type LiveStats struct {
	States, Steps int64
	// Bytes and DiskBytes are the sizes of its states and steps in memory and
	// on disk.
	Bytes, DiskBytes int64
	// Checks is the number of checks during the search.
	Checks int
}

// Run searches the states of the model breadth first, so the trace to a
// violation is a shortest one; of several it is the first in the order in which
// the model enumerates. It returns an error only for bad options, for a
// worker's error that is not an *EvalError, for errors of the disk, and if
// there is nothing to resume: a *MismatchError or ErrNoCheckpoint; and ErrLeft,
// or a *LeaveError, if Checkpoint.Leave has ended it. All goroutines have ended
// when it returns. When ctx ends, Run returns soon, with the results so far.
func Run(ctx context.Context, m Model, o Options) (*Result, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	checks := newPeriodic(ctx, m, o)
	s := newSearch(m, checks.searchOptions(o))
	s.periodic = checks
	if err := s.store.open(m); err != nil {
		return nil, errors.Join(err, s.store.close())
	}
	s.workers[0].start()
	if o.Continue && s.workers[0].all == nil {
		return nil, errors.Join(errors.New("check: the workers of the model name only the first property that is broken"), s.store.close())
	}
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
			s.ending.interrupt(Incomplete, string(limit))
		} else {
			s.ending.finish(Interrupted, interrupted)
			select {
			case <-done:
			case <-s.late():
				s.ending.interrupt(Interrupted, interrupted)
			}
		}
		<-done
	}
	if err := s.report.failure(); err != nil {
		err = errors.Join(err, o.close(checks), s.store.close())
		s.drop()
		return nil, err
	}
	r, err := s.result()
	if err := errors.Join(err, s.store.close()); err != nil {
		return nil, errors.Join(err, o.close(checks))
	}
	s.remark(r)
	s.drop()
	checks.report(r)
	if err := errors.Join(behaviours(ctx, m, o, checks, r), o.close(checks)); err != nil {
		return nil, err
	}
	if o.Checkpoint != nil && o.Checkpoint.Stay {
		return r, nil
	}
	return r, s.store.end(r)
}

// NotBegun returns the result of a search whose context has ended before it began. A
// checkpoint that it was to resume stays as it is.
func NotBegun(ctx context.Context, m Model) *Result {
	info := m.Info()
	v := Violation{Verdict: Interrupted}
	reason := interrupted
	var limit Limit
	if errors.As(context.Cause(ctx), &limit) {
		v.Verdict, reason = Incomplete, string(limit)
	}
	return &Result{Info: info, Reason: reason, Unfinished: true, Violation: v, Actions: make([]Coverage, len(info.Actions))}
}

// close ends periodic checks that are the search's own.
func (o Options) close(checks *periodic) error {
	if o.Checker != nil {
		return nil
	}
	return checks.close()
}

// Behaviours decides the properties of behaviours of a model, and adds what it
// finds to the result of a search of its states that excluded them. It fills in
// the missing values of the states of traces. Run ends with it; the options are
// those of Run, and only those about such properties matter. Errors are those
// of Run.
func Behaviours(ctx context.Context, m Model, o Options, r *Result) error {
	var checks *periodic
	if o.Checker != nil {
		checks = &o.Checker.periodic
	}
	return behaviours(ctx, m, o, checks, r)
}

// behaviours continues with the graph of the periodic checks, if there were any.
func behaviours(ctx context.Context, m Model, o Options, checks *periodic, r *Result) error {
	for _, v := range r.Violations {
		if len(v.Trace) > 0 && v.Trace[0].Values == nil {
			showSteps(m, v.Trace)
		}
	}
	asked := m.Capabilities().Live
	last := len(r.Violations) - 1
	ended := last >= 0 && (!o.Continue || r.Violations[last].Verdict == EvalFailed)
	switch {
	case asked == nil || ended || r.Verdict == AssumptionFalse:
	case o.SafetyOnly:
		asked.Unasked(r)
	case r.Searched:
		if err := liveness(ctx, m, o, checks.graph(), r); err != nil {
			return err
		}
	}
	if len(r.Violations) > 0 {
		r.Violation = r.Violations[0]
	}
	return nil
}

// showSteps fills in the values of a trace's states.
func showSteps(m Model, steps []Step) {
	showAt := m.Capabilities().ShowAt
	path := make([]State, len(steps))
	for i, s := range steps {
		path[i] = s.State
		next := steps[min(i+1, len(steps)-1)].State
		if showAt == nil {
			steps[i].Values = m.Show(s.State)
			continue
		}
		steps[i].Values = showAt(Shown{State: s.State, Next: next, Number: i + 1, Action: s.Action, Path: path[: i+1 : i+1]})
	}
}
