// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"strings"
)

// Failure is a run in which a store violates its promises.
type Failure struct {
	Subject, Profile string
	Seed             uint64
	Path             []Step // the crashes that lead there; none: in operation
	Fault            string // in place of crashes: KIND:NUMBER, KIND:NUMBER:IMAGE in recovery
	Class            string // of the last crash
	During           string // what the disk was doing
	Kept             string // what the crash kept and lost, by lines
	Ops              []Op   // the workload up to there
	Trail            string // the operations with their moments, by lines
	Acked            int
	Err              error
}

// failure describes the session as it is now.
func (e *explored) failure(c *choice, err error) *Failure {
	f := &Failure{
		Subject: e.subject.Name(), Profile: e.x.o.Profile.Name, Seed: e.x.o.Seed, Path: e.path,
		During: e.during, Acked: e.acked, Trail: e.story(), Err: err, Ops: e.x.o.Ops,
	}
	if c != nil {
		f.Class, f.Kept = c.class.String(), c.describe(e.disk.units)
	}
	if e.depth == 1 {
		f.Ops = e.x.o.Ops[:min(len(e.trail), len(e.x.o.Ops))]
	}
	return f
}

// story lists the operations and their moments.
func (s *session) story() string {
	var b strings.Builder
	for i, o := range s.trail {
		if o.Kind.Changes() {
			fmt.Fprintf(&b, "    %4d %s\n", s.marks[i], o)
		} else {
			fmt.Fprintf(&b, "         %s\n", o)
		}
	}
	return b.String()
}

// Replay returns the text that replays the failure.
func (f *Failure) Replay() string {
	out := fmt.Sprintf("subject=%s,profile=%s,seed=%d", f.Subject, f.Profile, f.Seed)
	switch {
	case len(f.Path) > 0:
		steps := make([]string, len(f.Path))
		for i, s := range f.Path {
			steps[i] = s.String()
		}
		out += ",at=" + strings.Join(steps, "/")
	case f.Fault != "":
		out += ",fault=" + f.Fault
	default:
		out += ",at=" + live
	}
	return out
}

// Error describes the whole failure.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v\n", f.Replay(), f.Err)
	fmt.Fprintf(&b, "  moments up to %d are promised to be durable; operations and their moments:\n%s", f.Acked, f.Trail)
	if f.Class != "" {
		fmt.Fprintf(&b, "  crash (%s) at: %s; of what was not durable\n%s", f.Class, f.During, f.Kept)
	} else {
		fmt.Fprintf(&b, "  at: %s\n", f.During)
	}
	return b.String()
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Shrink removes operations while the remaining workload still fails, in at
// most that many attempts, and returns the last failure: f, if nothing can be
// removed.
func (f *Failure) Shrink(o Options, attempts int) *Failure {
	o.Only, o.Fault = nil, ""
	if name, _, _ := strings.Cut(f.Fault, ":"); name != "" {
		o.kind, _ = faultOf(name)
		o.FaultRuns = 200 // of the one kind
	} else {
		o.FaultRuns = -1
	}
	if len(f.Path) < 2 {
		o.Depth = 1
	}
	best := f
	for size := max(len(best.Ops)/2, 1); attempts > 0; size = max(size/2, 1) {
		shorter := false
		for from := 0; from < len(best.Ops) && attempts > 0; attempts-- {
			to := min(from+size, len(best.Ops))
			o.Ops = append(append(make([]Op, 0, len(best.Ops)), best.Ops[:from]...), best.Ops[to:]...)
			if r := Run(o); r.Failure != nil && len(r.Failure.Ops) <= len(o.Ops) {
				best, shorter = r.Failure, true
			} else {
				from = to
			}
		}
		if size == 1 && !shorter {
			break
		}
	}
	return best
}
