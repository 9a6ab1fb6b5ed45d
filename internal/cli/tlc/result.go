// SPDX-License-Identifier: Apache-2.0

package tlc

import (
	"fmt"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
)

// Finish reports the result of a run. After errors in the input there is
// nothing more to report.
func (t *Output) Finish(d *report.Document) {
	if d.Verdict != "error" {
		if len(d.Statistics.Levels) > 0 {
			t.initial(d.Statistics.Levels[0])
		}
		for _, w := range d.Warnings {
			t.say(codeGeneral, severityWarning, "Warning: %s.", w)
		}
		for _, u := range d.Unchecked {
			t.say(codeGeneral, severityWarning, "NOT CHECKED: %s (%s)", u.Property, u.Reason)
		}
		t.verdict(d)
		t.coverage(d)
		s := d.Statistics
		t.progress(check.Stats{Generated: s.Generated, Distinct: s.Distinct, Queue: s.Queue, Depth: s.Depth},
			time.Duration(s.Seconds*float64(time.Second)))
		t.say(codeStatistics, severityInfo, "%d states generated, %d distinct states found, %d states left on queue.", s.Generated, s.Distinct, s.Queue)
		if d.Complete {
			t.say(codeDepth, severityInfo, "The depth of the complete state graph search is %d.", s.Depth)
		}
	}
	t.say(codeFinished, severityInfo, "Finished in %dms at (%s)", time.Since(t.began).Milliseconds(), now())
}

// verdict reports success, or the violation with its trace.
func (t *Output) verdict(d *report.Document) {
	switch {
	case len(d.Violations) > 1:
		for i := range d.Violations {
			v := &d.Violations[i]
			t.violation(&v.Violation, v.Trace, v.Loop)
		}
	case d.Violation != nil:
		t.violation(d.Violation, d.Trace, d.Loop)
	case d.Verdict == "ok":
		t.say(codeSuccess, severityInfo, "Model checking completed. No error has been found.\n"+
			"  Two different states may have been taken for one, so that\n"+
			"  one of them was not explored. How likely that is:\n"+
			"  calculated (optimistic):  val = %.1E", d.Statistics.Collision)
	default:
		t.say(codeGeneral, severityWarning, "%s", d.Headline)
	}
}

// violation reports a violation and its cause.
func (t *Output) violation(v *report.Violation, trace []report.Step, l *report.Loop) {
	initial := len(trace) == 1
	switch v.Kind {
	case "assumption":
		for _, a := range v.Assumptions {
			if s := t.Span(a); s.IsValid() {
				a = rangeOf(s)
			}
			t.say(codeAssumption, severityError, "Assumption %s is false.", a)
		}
	case "deadlock":
		t.say(codeDeadlock, severityError, "Deadlock reached.")
	case "invariant":
		if initial {
			t.say(codeInvariantInitial, severityError, "Invariant %s is violated by the initial state:\n%s", v.Property, values(trace[0]))
		} else {
			t.say(codeInvariant, severityError, "Invariant %s is violated.", v.Property)
		}
	case "step":
		if initial {
			t.say(codePropertyInitial, severityError, "Property %s is violated by the initial state:\n%s", v.Property, values(trace[0]))
		} else {
			t.say(codeStep, severityError, "Action property %s is violated.", v.Property)
		}
	case "liveness":
		t.say(codeTemporal, severityError, "Temporal properties were violated.\nProperty %s does not hold.", v.Property)
	case "evaluation":
		t.noValue(v)
	default:
		t.say(codeGeneral, severityError, "%s %s is false.", strings.ToUpper(v.Kind[:1])+v.Kind[1:], v.Property)
	}
	switch {
	case len(trace) == 0:
	case v.Kind == "liveness":
		t.say(codeCounterexample, severityError, "The following behavior constitutes a counter-example:\n")
	default:
		t.say(codeBehaviour, severityError, "The behavior up to this point is:")
	}
	t.trace(trace, l)
	if v.Kind == "evaluation" && len(v.Places) > 0 {
		t.say(codeNested, severityError, "The error occurred when TLC was evaluating the nested\nexpressions at the following positions:\n%s", nesting(v))
	}
}

// noValue reports which expression has no value, as far as messages can show
// that.
func (t *Output) noValue(v *report.Violation) {
	failed, asserted := strings.CutPrefix(v.Message, assertionMessage)
	switch {
	case asserted:
		t.say(codeAssert, severityError, "The first argument of Assert evaluated to FALSE; the second argument was:\n%s", failed)
	case v.Property != "" && v.OfStep:
		t.say(codeStepNoValue, severityError, "Evaluating action property %s failed.\n%s", v.Property, v.Message)
	case v.Property != "":
		t.say(codeInvariantNoValue, severityError, "Evaluating invariant %s failed.\n%s", v.Property, v.Message)
	default:
		t.say(codeGeneral, severityError, "%s", v.Message)
	}
}

// nesting lists the places of an evaluation, outermost first. Only the
// beginning of each expression is known.
func nesting(v *report.Violation) string {
	var b strings.Builder
	for i := range v.Places {
		place, _, _ := strings.Cut(v.Places[len(v.Places)-1-i], " ")
		file, line, column := report.SplitPlace(place)
		if file == "" {
			fmt.Fprintf(&b, "%d. %s\n", i, v.Places[len(v.Places)-1-i])
			continue
		}
		fmt.Fprintf(&b, "%d. Line %s, column %s to line %s, column %s in %s\n", i, line, column, line, column, moduleOf(file))
	}
	return b.String()
}

// trace prints the states, and how the trace continues forever.
func (t *Output) trace(trace []report.Step, l *report.Loop) {
	for i, s := range trace {
		t.say(codeState, severityTrace, "%d: %s\n%s", i+1, t.action(s.Action, s.Place, i == 0), values(s))
	}
	switch {
	case l == nil:
	case l.Stutters:
		t.say(codeStuttering, severityTrace, "%d: Stuttering", len(trace)+1)
	default:
		t.say(codeBackTo, severityTrace, "%d: Back to state: %s\n", l.To, t.action(l.Action, l.Place, false))
	}
}

// action formats an action with its text range.
func (t *Output) action(name, place string, initial bool) string {
	s := t.Span(place)
	switch {
	case initial:
		return initialPredicate
	case s.IsValid():
		return fmt.Sprintf("<%s %s>", name, rangeOf(s))
	}
	return fmt.Sprintf("<%s>", name)
}

// values formats the variables of a state, one conjunct each.
func values(s report.Step) string {
	var b strings.Builder
	for _, v := range s.Variables {
		fmt.Fprintf(&b, "/\\ %s = %s\n", v.Name, v.Value)
	}
	return b.String()
}

// coverage reports the contribution of each action.
func (t *Output) coverage(d *report.Document) {
	if d.Statistics.Generated == 0 {
		return
	}
	t.say(codeCoverageStart, severityInfo, "The coverage statistics at %s", now())
	t.say(codeCoverageInit, severityInfo, "%s: %d:%d", initialPredicate, d.Init.Distinct, d.Init.Generated)
	for _, a := range d.Actions {
		t.say(codeCoverageNext, severityInfo, "%s: %d:%d", t.action(a.Name, a.Place, false), a.Distinct, a.Generated)
	}
	t.say(codeCoverageEnd, severityInfo, "End of statistics.")
}
