// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"fmt"
	"io"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// Verdict is the outcome of a validation.
type Verdict uint8

// The verdicts.
const (
	// Accepted: some behaviour of the specification explains every log.
	Accepted Verdict = iota
	// Rejected: no behaviour does.
	Rejected
	// Undecided: the search exhausted its budget or was interrupted.
	Undecided
	// Violated: a behaviour of the specification explains every log, and breaks an
	// invariant.
	Violated
)

func (v Verdict) String() string {
	return [...]string{"accepted", "rejected", "undecided", "violated"}[v]
}

// Blocked is a section, and why it could not come next.
type Blocked struct {
	Process  string
	Step     int // the number of the section among those of the process, from 1
	File     string
	Line     int
	Section  Section
	Obstacle Obstacle
}

// Report is the result of Check.
type Report struct {
	Verdict   Verdict
	AllOrders bool // whether the verdict is about all orders, or about one
	Processes int  // with a log
	// Sections is the number of logged sections to explain.
	Sections int
	// Trimmed is the number of sections omitted at the ends of logs because
	// they observed sections that are in no log, namely those of a process
	// whose log was cut off.
	Trimmed int
	// Undone is the number of sections that crashes have undone.
	Undone int
	// Explained is how many sections the furthest attempt explained: all, when
	// accepted.
	Explained int
	// Entered is the number of search steps.
	Entered int
	// GaveUp is, for the verdict Undecided, at which limit the search stopped.
	GaveUp string
	// Untraced are the instances, and the lives of instances, without a log.
	Untraced []string
	// State is, for rejected logs, the specification's state at the furthest
	// point. Blocked lists the sections that could not come next there.
	State   []check.Binding
	Blocked []Blocked
	// Violation is, for the verdict Violated, the first state in which an invariant
	// is false.
	Violation *Violation

	again bool // logs that grew mention a life without a log
}

// Violation is a state in which an invariant is false.
type Violation struct {
	Invariant Invariant
	// By is the section after which it is; nil: the initial state, or after a step
	// of a process without a log.
	By    *Blocked
	State []check.Binding
}

// StepError reports that a logged section has no meaning in the specification:
// the evaluation of a statement failed.
type StepError struct {
	Log     string
	Line    int
	Section Section
	Err     error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("%s:%d: section %s: %v", e.Log, e.Line, e.Section.Label, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }

// Print writes the report for people.
func (r *Report) Print(w io.Writer) {
	switch {
	case r.AllOrders && r.Verdict == Accepted:
		fmt.Fprintf(w, "accepted: every order of the %d sections of %d processes that the clocks allow is a behaviour of the specification\n", r.Sections, r.Processes)
	case r.AllOrders && r.Verdict == Rejected:
		fmt.Fprintf(w, "rejected: the clocks allow an order that is not a behaviour of the specification; it fails after %d of %d sections\n", r.Explained, r.Sections)
	case r.AllOrders && r.Verdict == Undecided:
		fmt.Fprintf(w, "undecided beyond %d of %d sections: gave up after %d search steps; every order of those is a behaviour of the specification\n", r.Explained, r.Sections, r.Entered)
	case r.Verdict == Accepted:
		fmt.Fprintf(w, "accepted: %d sections of %d processes are a behaviour of the specification\n", r.Sections, r.Processes)
	case r.Verdict == Violated:
		fmt.Fprintf(w, "violated: %d sections of %d processes are a behaviour of the specification, and it breaks the invariant %s\n", r.Sections, r.Processes, r.Violation.Invariant.Name)
	case r.Verdict == Undecided:
		fmt.Fprintf(w, "undecided: gave up after %d search steps; %d of %d sections are explained\n", r.Entered, r.Explained, r.Sections)
	case r.Verdict == Rejected:
		fmt.Fprintf(w, "rejected: no behaviour of the specification explains these logs; %d of %d sections are explained\n", r.Explained, r.Sections)
	}
	if r.Trimmed > 0 {
		fmt.Fprintf(w, "not checked: %d sections that depend on sections that no log contains\n", r.Trimmed)
	}
	if len(r.Untraced) > 0 {
		fmt.Fprintf(w, "without a trace: %s\n", strings.Join(r.Untraced, ", "))
	}
	if r.GaveUp != "" {
		fmt.Fprintf(w, "the search stopped because %s\n", r.GaveUp)
	}
	if r.Verdict == Accepted {
		return
	}
	r.Violation.print(w)
	for _, b := range r.Blocked {
		fmt.Fprintf(w, "\n%s cannot take its step %d (%s:%d): %s\n", b.Process, b.Step, b.File, b.Line, b.Section)
		o := b.Obstacle
		if o.Place != "" {
			fmt.Fprintf(w, "  %s: %s\n", o.Place, o.Text)
		} else if o.Text != "" {
			fmt.Fprintf(w, "  %s\n", o.Text)
		}
		fmt.Fprintf(w, "  %s\n", o.Reason)
		if n := len(b.Section.Accesses); n > 0 {
			fmt.Fprintf(w, "  %d of its %d accesses agree; the log has:\n", o.Matched, n)
			for k, a := range b.Section.Accesses {
				mark := "   "
				if k == o.Matched {
					mark = "-> "
				}
				fmt.Fprintf(w, "    %s%s\n", mark, a)
			}
		}
	}
	printState(w, "before it", r.State)
}

func (v *Violation) print(w io.Writer) {
	if v == nil {
		return
	}
	fmt.Fprintf(w, "\nInvariant %s is violated.\n  %s: %s\n", v.Invariant.Name, v.Invariant.Place, v.Invariant.Text)
	if b := v.By; b != nil {
		fmt.Fprintf(w, "  after step %d of %s (%s:%d): %s\n", b.Step, b.Process, b.File, b.Line, b.Section)
	} else {
		fmt.Fprintln(w, "  in the initial state, or after a step that is in no log")
	}
	printState(w, "after it", v.State)
}

func printState(w io.Writer, when string, state []check.Binding) {
	if len(state) == 0 {
		return
	}
	fmt.Fprintf(w, "\nthe specification's state %s:\n", when)
	for _, b := range state {
		fmt.Fprintf(w, "  %s = %s\n", b.Name, b.Value)
	}
}

func (s Section) String() string {
	if s.Crash {
		return "start after a crash, to " + s.Next
	}
	if s.Label == "" {
		return "start, to " + s.Next
	}
	return s.Label + ", to " + s.Next
}

func (a Access) String() string {
	op := "reads"
	if a.Write {
		op = "writes"
	}
	name := a.Param
	for _, i := range a.Indices {
		name += "[" + i.String() + "]"
	}
	return fmt.Sprintf("%s %s: %s", op, name, a.Value)
}
