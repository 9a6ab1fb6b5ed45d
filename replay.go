// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/conform"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// ReplayOptions are options of Replay.
type ReplayOptions struct {
	Options
	// StepsMax limits the search for an order that explains the traces; 0 means
	// conform.StepsMax.
	StepsMax int
	// AllOrders demands that every order of the sections that the clocks of the traces
	// allow is a behaviour of the specification, and not only one order.
	AllOrders bool
	// Follow is set to check the traces of processes that still run.
	Follow *Follow
}

// Follow is how Replay checks traces that grow. It begins when each process of the
// specification has a trace, or when the processes have ended, and returns when
// they have ended, when the traces are rejected, or when ctx is cancelled. A directory
// that does not exist is an error at once.
type Follow struct {
	// Ended reports whether the processes have ended, so that their traces are
	// complete. It must not block.
	Ended func() bool
	// Progress, if set, is called several times a second, by one goroutine.
	Progress func(Progress)
}

// Progress is how far Replay has followed processes that run.
type Progress struct {
	Sections  int // explained
	Processes []ProcessProgress
	State     []Binding // of the specification
	// Blocked are sections that nothing explains yet.
	Blocked []Blocked
	// Missing are the processes without a trace, for which Replay waits before it
	// begins. Nothing else is set then.
	Missing []string
}

// ProcessProgress is where a process is in the state of the specification.
type ProcessProgress struct {
	Name     string
	Sections int    // explained
	Label    string // at which the process is
	// Waits is the statement that keeps it from going on, and Place where that is; ""
	// if nothing does.
	Waits, Place, Reason string
}

// The verdicts of Replay.
const (
	// Accepted: some behaviour of the specification explains all traces.
	Accepted Verdict = "accepted"
	// Rejected: no behaviour of the specification explains all traces.
	Rejected Verdict = "rejected"
	// Undecided: the search reached its limit or was interrupted.
	Undecided Verdict = "undecided"
	// Violated: a behaviour of the specification explains all traces, and breaks an
	// invariant of the configuration.
	Violated Verdict = "violated"
)

// Replayed is the result of Replay.
type Replayed struct {
	Verdict Verdict // Accepted, Rejected, Undecided or Violated
	// Processes is the number of traces. Sections is the number of critical sections
	// in them to explain, and Explained the number that the furthest attempt
	// explained. Trimmed is the number left out because they depend on sections of a
	// trace that was cut off. Steps counts the steps of the search.
	Processes, Sections, Explained, Trimmed, Steps int
	// Blocked are the sections at which every order fails, and State is the state of
	// the specification before them.
	Blocked []Blocked
	State   []Binding
	// Broken is, for Violated, the first invariant that is broken, By the critical
	// section that broke it, nil for the initial state or a step of a process without
	// a trace. State is then the state after it.
	Broken string
	By     *Blocked
	// GaveUp is, for Undecided, at which limit the search stopped.
	GaveUp string
	// Untraced are the processes, and the lives of processes that survive crashes,
	// that have no trace.
	Untraced []string
	Warnings Diagnostics

	report *conform.Report
}

// Blocked is a critical section that the specification does not allow next.
type Blocked struct {
	Process string
	File    string // in the directory of traces
	Line    int    // in it, from 1
	Label   string
	Place   string // of the statement that blocks, FILE:LINE:COLUMN, "" for none
	Text    string // the statement
	Reason  string
}

// Print writes the outcome as text for people.
func (r *Replayed) Print(w io.Writer) { r.report.Print(w) }

// NoValueError reports that an expression of the specification has no value.
type NoValueError struct{ Err error }

func (e *NoValueError) Error() string { return e.Err.Error() }
func (e *NoValueError) Unwrap() error { return e.Err }

// Replay checks the traces in a directory against the Modular PlusCal algorithm of
// the module at path, or at path.tla, and the invariants of the configuration in the
// states on the way. A compiled system writes the traces, one file
// per process. If ctx is cancelled, Replay returns soon with the verdict Undecided.
// Malformed traces are an error.
func Replay(ctx context.Context, module string, traces fs.FS, o ReplayOptions) (*Replayed, error) {
	s, err := specification.Load(o.files(), module, specification.Options{Config: o.Config, Libraries: o.Libraries, Retranslate: true})
	if err != nil {
		return nil, inputError(err)
	}
	if s.Loaded.Plain == nil {
		s.Diagnostics.Add(source.Diagnostic{Code: trans.NoAlgorithm, Span: s.Loaded.Root.Name.Span(),
			Message: "the module has no algorithm: traces are those of Modular PlusCal archetypes"})
		return nil, inputError(&specification.Error{Diagnostics: s.Diagnostics})
	}
	crashes := int32(1 << 20) // of processes that run
	var logs []*conform.Log
	if o.Follow == nil {
		if logs, err = conform.OpenDir(traces, s.Loaded.Spec.Name); err != nil {
			return nil, err
		}
		crashes = int32(conform.Crashes(logs))
	}
	if s.Loaded.Plain.Crashes != nil {
		// The traces determine how often processes crash, so the configured bound does
		// not apply.
		if err := s.Crash(crashes); err != nil {
			return nil, inputError(err)
		}
	}
	evaluation := o.evaluation()
	evaluation.Traces = true
	m, err := s.Model(evaluation)
	if err != nil {
		return nil, inputError(err)
	}
	algorithm, err := m.Algorithm()
	if err != nil {
		return nil, &NoValueError{err}
	}
	spec, processes := conform.NewAlgorithm(m, algorithm), len(algorithm.Processes())
	co := conform.Options{StepsMax: o.StepsMax, AllOrders: o.AllOrders}
	var r *conform.Report
	if o.Follow == nil {
		co.Hidden = conform.Processes(logs) < processes
		r, err = conform.Check(ctx, spec, logs, co)
	} else {
		co.Hidden, co.Live = len(spec.Instances()) < processes, o.Follow.live()
		r, err = conform.Follow(ctx, spec, traces, s.Loaded.Spec.Name, co)
	}
	var step *conform.StepError
	switch {
	case errors.As(err, &step):
		return nil, &NoValueError{err}
	case err != nil:
		return nil, err
	}
	out := &Replayed{Verdict: Verdict(r.Verdict.String()), Processes: r.Processes, Sections: r.Sections, Explained: r.Explained, Trimmed: r.Trimmed, Steps: r.Entered,
		GaveUp: r.GaveUp, Untraced: r.Untraced, Warnings: diagnostics(s.Diagnostics), report: r}
	for _, b := range r.Blocked {
		out.Blocked = append(out.Blocked, blocked(&b))
	}
	state := r.State
	if v := r.Violation; v != nil {
		out.Broken, state = v.Invariant.Name, v.State
		if v.By != nil {
			by := blocked(v.By)
			by.Place, by.Text, by.Reason = v.Invariant.Place, v.Invariant.Text, "the invariant "+v.Invariant.Name+" is false after it"
			out.By = &by
		}
	}
	for _, b := range state {
		out.State = append(out.State, Binding{b.Name, b.Value})
	}
	return out, nil
}

func blocked(b *conform.Blocked) Blocked {
	return Blocked{Process: b.Process, File: path.Clean(b.File), Line: b.Line, Label: b.Section.Label,
		Place: b.Obstacle.Place, Text: b.Obstacle.Text, Reason: b.Obstacle.Reason}
}

// followEvery is how often traces that grow are looked at.
const followEvery = 20 * time.Millisecond

func (f *Follow) live() *conform.Live {
	clock := osenv.New().Clock
	live := &conform.Live{
		Now:   func() int64 { return clock.Wall().UnixNano() },
		Ended: f.Ended,
		Wait: func(ctx context.Context) {
			moment, cancel := context.WithTimeout(ctx, followEvery)
			defer cancel()
			<-moment.Done()
		},
	}
	if f.Progress != nil {
		live.Progress = func(p conform.Progress) { f.Progress(progress(p)) }
	}
	return live
}

func progress(p conform.Progress) Progress {
	out := Progress{Sections: p.Sections, Missing: p.Missing}
	for _, x := range p.Processes {
		y := ProcessProgress{Name: x.Name, Sections: x.Sections, Label: x.Label}
		if x.Waits != nil {
			y.Waits, y.Place, y.Reason = x.Waits.Text, x.Waits.Place, x.Waits.Reason
		}
		out.Processes = append(out.Processes, y)
	}
	for _, b := range p.State {
		out.State = append(out.State, Binding{b.Name, b.Value})
	}
	for _, b := range p.Blocked {
		out.Blocked = append(out.Blocked, blocked(&b))
	}
	return out
}
