// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/check/fpset"
)

// report has the counts and findings of a search. It belongs to the goroutine of
// run; workers only read which properties are known to be violated, which changes
// only between segments.
type report struct {
	info     Info
	stats    Stats
	coverage []Coverage // [0] is the initial predicate's
	levels   []int64    // distinct states by their distance from the initial ones
	broken   []string   // assumptions
	last     *violation // ends the search
	// If the search continues after violations: the first violation of each
	// property, and which properties have one.
	violations []*violation
	known      []bool
	err        error
}

// violation is a violation and its position. Within a run the one with the
// lowest chunk is kept.
type violation struct {
	verdict   Verdict
	asked     Verdict // InvariantViolated or StepViolated if a property was evaluated, or Deadlock
	index     int     // of the invariant or action property, or -1
	err       *EvalError
	fromState bool   // parent is set
	parent    uint32 // the state that was being expanded
	action    int
	last      State // the candidate, or nil if the parent itself is at fault
}

// property is the name of the property that is violated or could not be evaluated; it
// is empty for a deadlock and for an error outside any property.
func (v *violation) property(info Info) string {
	switch {
	case v.index < 0:
	case v.asked == InvariantViolated:
		return info.Invariants[v.index]
	case v.asked == StepViolated:
		return info.Steps[v.index]
	}
	return ""
}

func newReport(info Info) report {
	r := report{info: info, coverage: make([]Coverage, len(info.Actions)+1)}
	r.known = make([]bool, r.properties())
	return r
}

// properties is the number of properties that a search can find violated, and
// property the index of a violation's property.
func (r *report) properties() int { return len(r.info.Invariants) + len(r.info.Steps) + 1 }

func (r *report) property(v *violation) int {
	switch v.asked {
	case InvariantViolated:
		return v.index
	case StepViolated:
		return len(r.info.Invariants) + v.index
	}
	return r.properties() - 1
}

// knows reports whether property n is known to be violated.
func (r *report) knows(n int) bool { return r.known[n] }

// accuse records a violation that ends the search; v may be nil.
func (r *report) accuse(v *violation) { r.last = v }

// assume records which assumptions are false.
func (r *report) assume(broken []string) { r.broken = broken }

// fail records an error of the world or of a worker and reports whether it is the
// first.
func (r *report) fail(err error) bool {
	if err == nil || r.err != nil {
		return false
	}
	r.err = err
	return true
}

// failure is the error that ended the search, or nil.
func (r *report) failure() error { return r.err }

// over reports whether the search is finished.
func (r *report) over() bool { return r.last != nil || r.err != nil }

// count adds the counts of a chunk. opens reports that the states that it found
// are the first of their level.
func (r *report) count(c *chunk, opens bool) {
	for a, n := range c.counts {
		r.coverage[a].Generated += n
		r.stats.Generated += n
	}
	for a, n := range c.kept {
		r.coverage[a].Distinct += n
	}
	if c.found > 0 {
		if opens {
			r.levels = append(r.levels, 0)
			r.stats.Depth++
		}
		r.levels[len(r.levels)-1] += int64(c.found)
		r.stats.Distinct += int64(c.found)
	}
}

// judge records the violations in a chunk and reports whether they end the
// search.
func (r *report) judge(c *chunk) bool {
	for _, v := range c.notes {
		r.note(v)
	}
	r.last = c.violation
	return r.last != nil
}

// note records a violation after which the search continues, if it is the first of
// its property.
func (r *report) note(v *violation) {
	if n := r.property(v); !r.known[n] {
		r.known[n] = true
		r.violations = append(r.violations, v)
	}
}

// figures are the counts, with the given number of waiting states.
func (r *report) figures(waiting int64) Stats {
	r.stats.Queue = waiting
	return r.stats
}

// roots is the number of distinct initial states.
func (r *report) roots() int64 {
	if len(r.levels) == 0 {
		return 0
	}
	return r.levels[0]
}

// distinct and generated are the counts of states, and noted is the number of
// violations after which the search continued.
func (r *report) distinct() int64  { return r.stats.Distinct }
func (r *report) generated() int64 { return r.stats.Generated }
func (r *report) noted() int       { return len(r.violations) }

// save fills in the fields of a checkpoint.
func (r *report) save(m *manifest) {
	m.Stats, m.Coverage, m.Levels, m.Depth = r.stats, r.coverage, r.levels, len(r.levels)
	for _, v := range r.violations {
		m.Found = append(m.Found, foundViolation{v.asked, v.index, v.fromState, v.parent, v.action, v.last})
	}
}

// restore takes over the fields of a checkpoint.
func (r *report) restore(m *manifest) {
	r.stats, r.coverage, r.levels = m.Stats, m.Coverage, m.Levels
	r.stats.Depth = m.Depth
	for _, v := range m.Found {
		r.note(&violation{verdict: v.Verdict, asked: v.Verdict, index: v.Index, fromState: v.FromState, parent: v.Parent, action: v.Action, last: v.Last})
	}
}

// remarkable reports whether the search ended without a violation and has states on
// which the model may remark; there is nothing to remark about a single state.
func (r *report) remarkable() bool {
	return r.last == nil && len(r.broken) == 0 && r.stats.Distinct > 1
}

// result is the Result of a search; why is the reason for which it was ended, or nil
// if it ran to its end. describe describes a violation.
func (r *report) result(o Options, why *stop, describe func(*violation) (Violation, error)) (*Result, error) {
	out := &Result{Info: r.info, Stats: r.stats, Init: r.coverage[0], Actions: r.coverage[1:], Levels: r.levels,
		Violation: Violation{Index: -1}, Broken: r.broken, Collision: fpset.Collision(r.stats.Distinct)}
	out.Warnings = append(out.Warnings, r.info.Warnings...)
	found := slices.Clip(r.violations)
	if r.last != nil {
		found = append(found, r.last)
	}
	for _, v := range found {
		d, err := describe(v)
		if err != nil {
			return nil, err
		}
		out.Violations = append(out.Violations, d)
	}
	switch {
	case len(r.broken) > 0:
		out.Verdict, out.Reason = AssumptionFalse, "an assumption is false, so nothing was explored"
		return out, nil
	case r.last != nil:
		out.Reason = endsAtFirst
		if o.Continue {
			out.Reason = "the search ends where an expression has no value"
		}
		return out, nil
	case why != nil:
		out.Verdict, out.Reason = why.verdict, why.reason
		out.Unfinished = why.verdict != LivenessViolated
		return out, nil
	}
	out.Searched = true
	if len(r.info.Unchecked) > 0 {
		out.Reason = fmt.Sprintf("%d of the requested properties cannot be checked", len(r.info.Unchecked))
		if !o.SafetyOnly {
			out.Verdict = Incomplete
		}
		return out, nil
	}
	out.Complete = true
	out.Warnings = append(out.Warnings, nothing(r.info, r.stats)...)
	return out, nil
}

// nothing warns that a complete search has visited no state.
func nothing(info Info, s Stats) []string {
	switch {
	case len(info.Actions) == 0 || s.Distinct > 0:
		return nil
	case s.Generated == 0:
		return []string{"there is no initial state, so there was nothing to check"}
	}
	return []string{"every initial state is outside the constraints, so no step was explored"}
}

const endsAtFirst = "the search ends at the first violation"
