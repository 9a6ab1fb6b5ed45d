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

// CheckOptions are options of Check. The zero value visits every state and checks
// everything that the configuration asks for.
type CheckOptions struct {
	// Workers is the number of goroutines that search; 0 means one per processor. The
	// result does not depend on it.
	Workers int
	// SafetyOnly skips liveness checking (properties of whole behaviours).
	SafetyOnly bool
	// IgnoreDeadlock accepts states without a successor.
	IgnoreDeadlock bool
	// StatesMax stops the search soon after it has found this many distinct
	// states; 0 means no limit.
	StatesMax int64
	// MemoryBytes limits the memory for states. States beyond the limit are stored in
	// files in Dir, which must be an empty directory; Check removes the files at the
	// end. Set both fields or neither.
	MemoryBytes int64
	Dir         string
	// Continue makes Check go on after a violation, to find the first violation
	// of every property.
	Continue bool
	// Periodic makes Check also check liveness at intervals during the search.
	Periodic bool
}

// Verdict is the outcome of a search.
type Verdict string

// The verdicts, with the values that the command's JSON output uses
// (docs/lang/check-json.md).
const (
	// OK: everything checked holds, in every reachable state or in every walk.
	OK Verdict = "ok"
	// AssumptionFalse: Violation.Assumptions has the positions of the false
	// assumptions.
	AssumptionFalse Verdict = "assumption"
	// Deadlock: the last state of the trace has no successor.
	Deadlock Verdict = "deadlock"
	// InvariantViolated: the invariant is false in the last state of the trace.
	InvariantViolated Verdict = "invariant"
	// StepViolated: the last step of the trace breaks an action property.
	StepViolated Verdict = "step"
	// LivenessViolated: the behaviour of the trace breaks a property of behaviours.
	LivenessViolated Verdict = "liveness"
	// PostconditionFalse: the postcondition is false after the search.
	PostconditionFalse Verdict = "postcondition"
	// NoValue: an expression has no value; see Violation.Message and Places.
	NoValue Verdict = "evaluation"
	// Incomplete: no violation was found, but something was not checked; see
	// Result.Reason.
	Incomplete Verdict = "incomplete"
	// Interrupted: the context was cancelled before the search ended.
	Interrupted Verdict = "interrupted"
)

var verdicts = map[check.Verdict]Verdict{check.OK: OK, check.AssumptionFalse: AssumptionFalse, check.Deadlock: Deadlock,
	check.InvariantViolated: InvariantViolated, check.StepViolated: StepViolated, check.EvalFailed: NoValue,
	check.Incomplete: Incomplete, check.Interrupted: Interrupted, check.LivenessViolated: LivenessViolated}

// Result is what a search found.
type Result struct {
	// Verdict is the verdict of the first violation, if there is one.
	Verdict Verdict
	// Complete reports that every reachable state was visited and that everything
	// that the configuration asks for was checked. Otherwise Reason says what was
	// left out.
	Complete bool
	Reason   string
	// Generated counts the states computed, Distinct the different states among
	// them. Depth is the number of states on the longest of the shortest paths to
	// a state.
	Generated, Distinct int64
	Depth               int
	// Collision is an upper bound on the probability that two different states
	// were taken for the same state.
	Collision float64
	// Actions holds the initial predicate, named "", and then the actions of Next.
	Actions []Action
	// Violations are the violations found: at most one, unless CheckOptions.Continue
	// is set.
	Violations []Violation
	// Warnings report checks that cannot fail: an action that is never enabled, or a
	// property whose premise is true in no state.
	Warnings []string
}

// Action is an action of the specification with its share of the search.
type Action struct {
	Name, Place         string // Place is FILE:LINE:COLUMN
	Generated, Distinct int64
}

// Violation is one violation of the specification.
type Violation struct {
	Verdict Verdict
	// Property is the name of the violated invariant or property, or "".
	Property string
	// Message says, for NoValue, why the expression has no value. Places are
	// the positions of the expressions being evaluated, innermost first.
	Message string
	Places  []string
	// Assumptions are the positions of the false assumptions, for
	// AssumptionFalse.
	Assumptions []string
	// Trace leads to the violation. It is a shortest such trace, except for
	// LivenessViolated.
	Trace []State
	// Loop is, for LivenessViolated, the index in Trace of the state that follows the
	// last one, so that the behaviour repeats from there forever. If the behaviour
	// stutters at the end, Loop is the index of the last state. For any other verdict
	// Loop is -1.
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

// Check visits the reachable states of the specification, breadth first. If ctx is
// cancelled, Check returns soon with the verdict Interrupted and the results so
// far. The error reports invalid options or a disk failure; violations of the
// specification are in the result.
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

// workers returns the number asked for, or the number of processors for 0.
func workers(n int) int {
	if n == 0 {
		return min(runtime.GOMAXPROCS(0), check.WorkersMax)
	}
	return n
}

// found reports whether the verdict means that the specification is violated.
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
