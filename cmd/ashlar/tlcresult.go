package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// finish says what a run has found. After errors in the input there is no more
// to say than that.
func (t *tlcOutput) finish(d *document) {
	if d.Verdict != "error" {
		if len(d.Statistics.Levels) > 0 {
			t.initial(d.Statistics.Levels[0])
		}
		for _, w := range d.Warnings {
			t.say(tlcGeneral, tlcWarning, "Warning: %s.", w)
		}
		for _, u := range d.Unchecked {
			t.say(tlcGeneral, tlcWarning, "NOT CHECKED: %s (%s)", u.Property, u.Reason)
		}
		t.verdict(d)
		t.coverage(d)
		s := d.Statistics
		t.progress(check.Stats{Generated: s.Generated, Distinct: s.Distinct, Queue: s.Queue, Depth: s.Depth},
			time.Duration(s.Seconds*float64(time.Second)))
		t.say(tlcStatistics, tlcInfo, "%d states generated, %d distinct states found, %d states left on queue.", s.Generated, s.Distinct, s.Queue)
		if d.Complete {
			t.say(tlcDepth, tlcInfo, "The depth of the complete state graph search is %d.", s.Depth)
		}
	}
	t.say(tlcFinished, tlcInfo, "Finished in %dms at (%s)", time.Since(t.began).Milliseconds(), tlcNow())
}

// verdict says that nothing is wrong, or what is, with the trace to it.
func (t *tlcOutput) verdict(d *document) {
	switch {
	case len(d.Violations) > 1:
		for i := range d.Violations {
			v := &d.Violations[i]
			t.violation(&v.violation, v.Trace, v.Loop)
		}
	case d.Violation != nil:
		t.violation(d.Violation, d.Trace, d.Loop)
	case d.Verdict == "ok":
		t.say(tlcSuccess, tlcInfo, "Model checking completed. No error has been found.\n"+
			"  Two different states may have been taken for one, so that\n"+
			"  one of them was not looked at. How likely that is:\n"+
			"  calculated (optimistic):  val = %.1E", d.Statistics.Collision)
	default:
		t.say(tlcGeneral, tlcWarning, "%s", d.Headline)
	}
}

// violation says what is wrong and how it comes about.
func (t *tlcOutput) violation(v *violation, trace []traceStep, l *loop) {
	initial := len(trace) == 1
	switch v.Kind {
	case "assumption":
		for _, a := range v.Assumptions {
			if s := t.span(a); s.IsValid() {
				a = tlcRange(s)
			}
			t.say(tlcAssumption, tlcError, "Assumption %s is false.", a)
		}
	case "deadlock":
		t.say(tlcDeadlock, tlcError, "Deadlock reached.")
	case "invariant":
		if initial {
			t.say(tlcInvariantInitial, tlcError, "Invariant %s is violated by the initial state:\n%s", v.Property, tlcValues(trace[0]))
		} else {
			t.say(tlcInvariant, tlcError, "Invariant %s is violated.", v.Property)
		}
	case "step":
		if initial {
			t.say(tlcPropertyInitial, tlcError, "Property %s is violated by the initial state:\n%s", v.Property, tlcValues(trace[0]))
		} else {
			t.say(tlcStep, tlcError, "Action property %s is violated.", v.Property)
		}
	case "liveness":
		t.say(tlcTemporal, tlcError, "Temporal properties were violated.\nProperty %s does not hold.", v.Property)
	case "evaluation":
		t.noValue(v)
	default:
		t.say(tlcGeneral, tlcError, "%s %s is false.", strings.ToUpper(v.Kind[:1])+v.Kind[1:], v.Property)
	}
	switch {
	case len(trace) == 0:
	case v.Kind == "liveness":
		t.say(tlcCounterexample, tlcError, "The following behavior constitutes a counter-example:\n")
	default:
		t.say(tlcBehaviour, tlcError, "The behavior up to this point is:")
	}
	t.trace(trace, l)
	if v.Kind == "evaluation" && len(v.Places) > 0 {
		t.say(tlcNested, tlcError, "The error occurred when TLC was evaluating the nested\nexpressions at the following positions:\n%s", tlcNesting(v))
	}
}

// noValue says which expression has no value, as far as messages tell that.
func (t *tlcOutput) noValue(v *violation) {
	failed, asserted := strings.CutPrefix(v.Message, tlcAssertionMessage)
	switch {
	case asserted:
		t.say(tlcAssert, tlcError, "The first argument of Assert evaluated to FALSE; the second argument was:\n%s", failed)
	case v.Property != "" && v.ofStep:
		t.say(tlcStepNoValue, tlcError, "Evaluating action property %s failed.\n%s", v.Property, v.Message)
	case v.Property != "":
		t.say(tlcInvariantNoValue, tlcError, "Evaluating invariant %s failed.\n%s", v.Property, v.Message)
	default:
		t.say(tlcGeneral, tlcError, "%s", v.Message)
	}
}

// tlcNesting lists the places of an evaluation, from without to within. Of an
// expression only its beginning is known.
func tlcNesting(v *violation) string {
	var b strings.Builder
	for i := range v.Places {
		place, _, _ := strings.Cut(v.Places[len(v.Places)-1-i], " ")
		rest, column, _ := cutLast(place, ":")
		file, line, ok := cutLast(rest, ":")
		if !ok {
			fmt.Fprintf(&b, "%d. %s\n", i, v.Places[len(v.Places)-1-i])
			continue
		}
		fmt.Fprintf(&b, "%d. Line %s, column %s to line %s, column %s in %s\n", i, line, column, line, column, moduleOf(file))
	}
	return b.String()
}

// trace prints the states, and how they go on for ever.
func (t *tlcOutput) trace(trace []traceStep, l *loop) {
	for i, s := range trace {
		t.say(tlcState, tlcTrace, "%d: %s\n%s", i+1, t.action(s.Action, s.Place, i == 0), tlcValues(s))
	}
	switch {
	case l == nil:
	case l.Stutters:
		t.say(tlcStuttering, tlcTrace, "%d: Stuttering", len(trace)+1)
	default:
		t.say(tlcBackTo, tlcTrace, "%d: Back to state: %s\n", l.To, t.action(l.Action, l.Place, false))
	}
}

// action is an action with the part of the text that it is.
func (t *tlcOutput) action(name, place string, initial bool) string {
	s := t.span(place)
	switch {
	case initial:
		return tlcInitialPredicate
	case s.IsValid():
		return fmt.Sprintf("<%s %s>", name, tlcRange(s))
	}
	return fmt.Sprintf("<%s>", name)
}

// tlcValues are the variables of a state, a conjunct each.
func tlcValues(s traceStep) string {
	var b strings.Builder
	for _, v := range s.Variables {
		fmt.Fprintf(&b, "/\\ %s = %s\n", v.Name, v.Value)
	}
	return b.String()
}

// coverage says what each action contributed.
func (t *tlcOutput) coverage(d *document) {
	if d.Statistics.Generated == 0 {
		return
	}
	t.say(tlcCoverageStart, tlcInfo, "The coverage statistics at %s", tlcNow())
	t.say(tlcCoverageInit, tlcInfo, "%s: %d:%d", tlcInitialPredicate, d.Init.Distinct, d.Init.Generated)
	for _, a := range d.Actions {
		t.say(tlcCoverageNext, tlcInfo, "%s: %d:%d", t.action(a.Name, a.Place, false), a.Distinct, a.Generated)
	}
	t.say(tlcCoverageEnd, tlcInfo, "End of statistics.")
}

// moduleFiles are the files of the modules that are not standard ones, the root
// module's first.
func moduleFiles(l *load.Loaded) []string {
	var out []string
	for _, m := range l.Modules {
		if f := m.Syntax.Span().File; f != nil && !m.Standard {
			out = append(out, f.Name)
		}
	}
	return out
}

// spansOf finds, for the place where an action begins, all of it. Actions are
// what disjunctions are made of, so those themselves do not count.
func spansOf(l *load.Loaded) func(place string) source.Span {
	var at map[string]source.Span
	note := func(s source.Span) {
		if old, ok := at[s.String()]; s.IsValid() && (!ok || old.End < s.End) {
			at[s.String()] = s
		}
	}
	return func(place string) source.Span {
		if at == nil {
			at = map[string]source.Span{}
			for _, d := range l.Spec.Defs {
				if d.Body == nil {
					continue
				}
				core.Walk(d.Body, func(e core.Expr) bool {
					if _, or := e.(*core.Or); !or {
						note(e.Span())
					}
					return true
				})
			}
			for _, a := range l.Spec.Assumes {
				note(a.Body.Span())
			}
		}
		return at[place]
	}
}
