// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/check"
)

// CheckOptions are options of Check. The zero value visits every state and checks all
// that the configuration asks for.
type CheckOptions struct {
	// Workers is how many goroutines search; 0 is one for each processor. Every figure
	// of the result is the same for any number.
	Workers int
	// SafetyOnly leaves properties of behaviours (liveness) out.
	SafetyOnly bool
	// IgnoreDeadlock accepts states without a successor.
	IgnoreDeadlock bool
	// StatesMax ends the search soon after so many distinct states; 0 is no bound.
	StatesMax int64
	// MemoryBytes bounds what the search holds of states in memory, and Dir is the
	// empty directory for what has no room there, which is removed from it again. Both
	// or neither.
	MemoryBytes int64
	Dir         string
	// Continue goes on after violations, to find the first of every property.
	Continue bool
	// Periodic also looks at properties of behaviours while the search goes on.
	Periodic bool
}

// Verdict is the outcome of a search.
type Verdict string

// The verdicts. They are those of the command's JSON (docs/lang/check-json.md).
const (
	// OK: all that was asked for holds, in every reachable state or in every walk.
	OK Verdict = "ok"
	// AssumptionFalse: Violation.Assumptions has the places of the assumptions.
	AssumptionFalse Verdict = "assumption"
	// Deadlock: the last state of the trace has no successor.
	Deadlock Verdict = "deadlock"
	// InvariantViolated: the invariant is false in the last state of the trace.
	InvariantViolated Verdict = "invariant"
	// StepViolated: the last step of the trace breaks an action property.
	StepViolated Verdict = "step"
	// LivenessViolated: the behaviour of the trace breaks a property of behaviours.
	LivenessViolated Verdict = "liveness"
	// PostconditionFalse: what was to hold after the search does not.
	PostconditionFalse Verdict = "postcondition"
	// NoValue: an expression has no value; Violation.Message and Places say which.
	NoValue Verdict = "evaluation"
	// Incomplete: what was searched is fine, and Result.Reason says what was not.
	Incomplete Verdict = "incomplete"
	// Interrupted: the context ended before the search did.
	Interrupted Verdict = "interrupted"
)

var verdicts = map[check.Verdict]Verdict{check.OK: OK, check.AssumptionFalse: AssumptionFalse, check.Deadlock: Deadlock,
	check.InvariantViolated: InvariantViolated, check.StepViolated: StepViolated, check.EvalFailed: NoValue,
	check.Incomplete: Incomplete, check.Interrupted: Interrupted, check.LivenessViolated: LivenessViolated}

// Result is what a search found.
type Result struct {
	// Verdict is that of the first violation, where there is one.
	Verdict Verdict
	// Complete says that every reachable state was visited, and that everything that
	// the configuration asks for was checked; Reason says what was left out.
	Complete bool
	Reason   string
	// Generated counts the states that were computed, Distinct those that are not
	// equal, Depth the states of the longest shortest path to one.
	Generated, Distinct int64
	Depth               int
	// Collision bounds the probability that two states were taken for one.
	Collision float64
	// Actions are the initial predicate, whose name is "", and then those of Next.
	Actions []Action
	// Violations are what is wrong: at most one, unless CheckOptions.Continue is set.
	Violations []Violation
	// Warnings are about what is checked in vain: an action that is never enabled, a
	// property whose premise is true in no state.
	Warnings []string
}

// Action is what a part of the specification contributed.
type Action struct {
	Name, Place         string // Place is FILE:LINE:COLUMN
	Generated, Distinct int64
}

// Violation is something that is wrong.
type Violation struct {
	Verdict Verdict
	// Property is the name of the invariant or property, "" for none.
	Property string
	// Message says, after NoValue, why there is no value, and Places where: the
	// innermost place first.
	Message string
	Places  []string
	// Assumptions are the places of the false ones, after AssumptionFalse.
	Assumptions []string
	// Trace is a shortest one to what is wrong, but after LivenessViolated.
	Trace []State
	// Loop is, after LivenessViolated, the index in Trace of the state that follows
	// the last one, for ever; it is the last one where nothing happens any more. It is
	// -1 after any other verdict.
	Loop int
}

// State is a state of a trace.
type State struct {
	Action string // what made it, "" for an initial state
	Place  string // of the action, FILE:LINE:COLUMN
	Values []Binding
}

// Binding is a variable with its value, in TLA+.
type Binding struct{ Name, Value string }

// Check visits the reachable states of the specification, breadth first. When ctx
// ends, Check returns soon with the verdict Interrupted and what it knows. An error
// is one of the options or of the disk; what is wrong with the specification is in
// the result.
func (s *Specification) Check(ctx context.Context, o CheckOptions) (*Result, error) {
	c := check.Options{Workers: workers(o.Workers), SafetyOnly: o.SafetyOnly, IgnoreDeadlock: o.IgnoreDeadlock,
		StatesMax: o.StatesMax, MemoryBytes: o.MemoryBytes, Continue: o.Continue, Periodic: o.Periodic}
	if (o.MemoryBytes > 0) != (o.Dir != "") {
		return nil, fmt.Errorf("MemoryBytes is %d and Dir is %q: want both or neither", o.MemoryBytes, o.Dir)
	}
	if o.Dir != "" {
		disk, err := osenv.OpenDisk(o.Dir)
		if err != nil {
			return nil, err
		}
		defer disk.Close()
		c.Disk = disk
	}
	r, err := check.Run(ctx, s.model, c)
	if err != nil {
		return nil, err
	}
	out := &Result{Verdict: verdicts[r.Verdict], Complete: r.Complete, Reason: r.Reason, Generated: r.Generated, Distinct: r.Distinct, Depth: r.Depth,
		Collision: r.Collision, Warnings: r.Warnings, Actions: []Action{{Generated: r.Init.Generated, Distinct: r.Init.Distinct}}}
	for i, a := range r.Info.Actions {
		x := Action{Name: a.Name, Place: a.Place}
		if i < len(r.Actions) {
			x.Generated, x.Distinct = r.Actions[i].Generated, r.Actions[i].Distinct
		}
		out.Actions = append(out.Actions, x)
	}
	violations := r.Violations
	if len(violations) == 0 && found(r.Verdict) {
		violations = []check.Violation{r.Violation}
	}
	for _, v := range violations {
		out.Violations = append(out.Violations, violation(r.Info, v, r.Broken))
	}
	if (r.Verdict == check.OK || r.Verdict == check.Incomplete) && r.Queue == 0 {
		return out, s.conclude(out)
	}
	return out, nil
}

// conclude evaluates the postcondition after a search that found nothing wrong.
func (s *Specification) conclude(r *Result) error {
	name, holds, asked, err := s.model.Postcondition()
	v := Violation{Verdict: PostconditionFalse, Property: name, Loop: -1}
	var none *check.EvalError
	switch {
	case !asked || err == nil && holds:
		return nil
	case errors.As(err, &none):
		v.Verdict, v.Message, v.Places = NoValue, none.Message, none.Places
	case err != nil:
		return err
	}
	r.Verdict, r.Complete, r.Reason, r.Violations = v.Verdict, false, "", append(r.Violations, v)
	return nil
}

// workers are as many as asked for, or one for each processor.
func workers(n int) int {
	if n == 0 {
		return min(runtime.GOMAXPROCS(0), check.WorkersMax)
	}
	return n
}

// found says whether a verdict accuses the specification.
func found(v check.Verdict) bool {
	return !slices.Contains([]check.Verdict{check.OK, check.Incomplete, check.Interrupted}, v)
}

func violation(info check.Info, v check.Violation, broken []string) Violation {
	out := Violation{Verdict: verdicts[v.Verdict], Property: v.Property, Trace: states(info, v.Trace), Loop: -1}
	if v.Verdict == check.LivenessViolated {
		out.Loop = v.Loop
	}
	if v.Verdict == check.AssumptionFalse {
		out.Assumptions = broken
	}
	if v.Err != nil {
		out.Message, out.Places = v.Err.Message, v.Err.Places
	}
	return out
}

func states(info check.Info, trace []check.Step) []State {
	var out []State
	for _, step := range trace {
		var x State
		if step.Action >= 0 {
			a := info.Actions[step.Action]
			x.Action, x.Place = a.Name, a.Place
		}
		for _, b := range step.Values {
			x.Values = append(x.Values, Binding{b.Name, b.Value})
		}
		out = append(out, x)
	}
	return out
}
