// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/search"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

// A search that takes long goes on in a process of its own, with code that is
// made for the model and compiled by the Go toolchain meanwhile. It is left here
// at the end of a segment, with a checkpoint in a directory, and gone on with
// there; so what is found, and every figure, is the same, and the memory of the
// search is given back before the program has its own. A program that meets a
// state that it was not made for ends, and the search goes on here, from the
// checkpoint.

// When compiled code is used.
const (
	nativeAuto   = "auto"
	nativeAlways = "always"
	nativeNever  = "never"
)

const (
	// nativeLookAfter is when an automatic search looks for a program that was
	// compiled before, and nativeCompileAfter when it begins to compile one.
	nativeLookAfter    = 400 * time.Millisecond
	nativeCompileAfter = 6 * time.Second
	// nativeCompileMax bounds how long that may take, and nativeSourceMax how long
	// the program may be: the compiler takes some minutes for so much.
	nativeCompileMax = 4 * time.Minute
	nativeSourceMax  = 12 << 20
	// nativeCompileBytes is the memory that must be available for the compiler.
	nativeCompileBytes = 1 << 30
	// nativeKeepAfter is when a program keeps its first checkpoint, for the case
	// that it gives up: writing one takes about a second for each ten million states.
	nativeKeepAfter = 20 * time.Second
)

// checksShare is the part of the memory for states, one in so many, that checks of
// properties of behaviours may take in this process.
const checksShare = 4

// notMadeFor is why a program gives up, or is not used.
const notMadeFor = "the compiled code met a state that it was not made for"

// nativeUse is what compiled code did in a search.
type nativeUse struct {
	// Used reports whether the result is that of compiled code.
	Used bool `json:"used"`
	// Since is how many states were generated before it took over.
	Since int64 `json:"since,omitempty"`
	// Until is how many it had generated in its last checkpoint, where the search
	// went on from there without it.
	Until int64 `json:"until,omitempty"`
	// Compiled is how many seconds the compiler took, 0 where the program was there.
	Compiled float64 `json:"compileSeconds,omitempty"`
	// Reason states why there was none, where it was asked for or given up.
	Reason string `json:"reason,omitempty"`
}

// validNative says what is wrong with --native.
func (o *checkOptions) validNative() error {
	switch o.native {
	case "":
		o.native = nativeNever
		return nil
	case nativeAuto, nativeAlways, nativeNever:
		return nil
	}
	return exit.With(exit.Usage, fmt.Errorf("--native=%s: want %s, %s or %s", o.native, nativeAuto, nativeAlways, nativeNever))
}

// nativeSearch is a search that compiled code may go on with.
type nativeSearch struct {
	s     *searcher
	model *model.Model
	o     check.Options
	after nativeTimes

	made    *model.Native
	program string
	took    time.Duration // by the compiler
}

// nativeTimes are when an automatic search looks and compiles, and when a program
// keeps a checkpoint; tests want it earlier.
type nativeTimes struct{ look, compile, keep time.Duration }

// wide runs the search breadth first.
func (s *searcher) wide(ctx context.Context, m check.Model) (*check.Result, error) {
	packModel(ctx, s.tla, s.o)
	o := s.options()
	x, why := s.nativeSearch(o)
	if x == nil {
		return s.without(ctx, m, o, why)
	}
	x.o.Checker = check.NewPeriodicChecker(ctx, m, o)
	r, err := x.run(ctx, o)
	return r, errors.Join(err, x.o.Checker.Close())
}

// run makes the search, without compiled code until that is there.
func (x *nativeSearch) run(ctx context.Context, o check.Options) (*check.Result, error) {
	s, m := x.s, x.model
	ready := func() bool { return true }
	if s.o.native == nativeAlways {
		if why := x.prepare(ctx, nativeTimes{}, 0); why != "" {
			return s.without(ctx, m, o, why)
		}
	} else {
		var end func()
		ready, end = x.offer(ctx)
		defer end()
	}
	r, err := check.Run(ctx, m, x.options(false, ready))
	var leave *check.LeaveError
	switch {
	case errors.Is(err, check.ErrLeft):
		return x.goOn(ctx)
	case errors.As(err, &leave) && s.disk.keep == nil:
		// There was no room on the disk: nothing is lost but the time until now.
		if err := errors.Join(x.o.Checker.Close(), s.disk.empty()); err != nil {
			return nil, err
		}
		return s.without(ctx, m, o, err.Error())
	}
	return r, err
}

// options are those of a search that compiled code has no part in.
func (s *searcher) options() check.Options {
	var deciding func(int64)
	if t := s.o.tlc; t != nil {
		deciding = func(states int64) { t.Deciding(&s.breadth, states) }
	}
	return check.Options{Deciding: deciding, Workers: s.o.workers, SafetyOnly: s.o.safetyOnly, IgnoreDeadlock: !s.o.deadlock, StatesMax: s.o.statesMax,
		Continue: s.o.goOn, Periodic: s.o.liveness == livenessPeriodic, Monitor: &s.breadth, Disk: s.disk, MemoryBytes: s.o.memoryBytes / statesShare, Checkpoint: s.disk.keep}
}

// without makes the search in this process, and says why where compiled code was
// asked for.
func (s *searcher) without(ctx context.Context, m check.Model, o check.Options, why string) (*check.Result, error) {
	s.native.Reason = why
	r, err := check.Run(ctx, m, o)
	if r != nil && s.o.native == nativeAlways {
		r.Warnings = append(r.Warnings, "the search was made without compiled code: "+why)
	}
	return r, err
}

// nativeSearch is nil where compiled code is not wanted or cannot be.
func (s *searcher) nativeSearch(o check.Options) (x *nativeSearch, why string) {
	switch {
	case s.o.native != nativeAuto && s.o.native != nativeAlways:
		return nil, ""
	case s.tla == nil:
		return nil, "the model is none of TLA+"
	case s.o.por || s.o.profile || s.o.reference:
		return nil, "--por, --profile and --reference search in this process"
	}
	if err := s.tla.Durable(); err != nil {
		return nil, err.Error()
	}
	x = &nativeSearch{s: s, model: s.tla, o: o, after: nativeTimes{nativeLookAfter, nativeCompileAfter, nativeKeepAfter}}
	if s.nativeTimes != nil {
		x.after = *s.nativeTimes
	}
	return x, ""
}

// options are those of the search in this process, from its beginning or from
// the checkpoint where it was left.
func (x *nativeSearch) options(again bool, leave func() bool) check.Options {
	o, c := x.o, check.Checkpoint{}
	if o.Checkpoint != nil {
		c = *o.Checkpoint
	}
	c.Leave, c.Resume = leave, c.Resume || again
	o.Checkpoint = &c
	return o
}

// offer prepares the program beside a search that goes on. The search is to be
// left when ready says so; end gives up what has not come to its end.
func (x *nativeSearch) offer(ctx context.Context) (ready func() bool, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var there atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if x.prepare(ctx, x.after, 1) == "" {
			there.Store(true)
		}
	}()
	return func() bool { return there.Load() && x.model.NativeFits() }, func() { cancel(); <-done }
}

// prepare makes the program, or finds it, not before it is time; why says what
// is in the way.
func (x *nativeSearch) prepare(ctx context.Context, after nativeTimes, processors int) (why string) {
	start := time.Now()
	if !sleep(ctx, after.look) {
		return "the search is over"
	}
	n, why := x.model.Native()
	if n == nil {
		return why
	}
	b, err := search.New(n.Source)
	if err != nil {
		return err.Error()
	}
	x.made, x.program = n, b.Path()
	if b.Cached() {
		return ""
	}
	if len(n.Source) > nativeSourceMax {
		return fmt.Sprintf("the program would be %d MB long", len(n.Source)/1e6)
	}
	if after.compile > 0 {
		if !sleep(ctx, after.compile-time.Since(start)) {
			return "the search is over"
		}
		if !x.model.NativeFits() {
			return notMadeFor
		}
		if free := availableBytes(); free >= 0 && free < nativeCompileBytes {
			return "there is not enough memory for the compiler"
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, nativeCompileMax)
		defer cancel()
	}
	start = time.Now()
	if err := b.Compile(ctx, processors); err != nil {
		return err.Error()
	}
	x.took = time.Since(start)
	return ""
}

// sleep waits, and says whether that came to its end.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// goOn has the program go on with the search that was left. Where that fails, it
// is gone on with here.
func (x *nativeSearch) goOn(ctx context.Context) (*check.Result, error) {
	debug.FreeOSMemory() // what the search held is the program's now
	use, was := &x.s.native, x.s.breadth.Figures()
	use.Since, use.Compiled = was.Generated, x.took.Round(time.Microsecond).Seconds()
	was.Queue = max(was.Queue, 1)
	x.s.breadth.Report(was)
	x.s.compiled.Store(true)
	var checkErr error
	answer, err := search.Run(ctx, x.program, x.job(), x.patience(), func(f check.Figures) {
		f.Before = was.Before
		x.s.breadth.Report(f)
	}, func(at check.PeriodicQuery) (answer check.PeriodicAnswer, err error) {
		answer, err = x.o.Checker.Check(at)
		checkErr = err
		return answer, err
	})
	switch {
	case checkErr != nil:
		return nil, checkErr
	case err != nil:
		use.Reason = err.Error()
	case answer.Stopped || answer.Result == nil:
		use.Reason = notMadeFor
	default:
		use.Used = true
		return x.complete(ctx, answer, was.Before)
	}
	x.s.compiled.Store(false)
	// What the model has learned by periodic checks is not in the checkpoint.
	if err := x.o.Checker.Forget(); err != nil {
		return nil, err
	}
	r, err := check.Run(ctx, x.model, x.options(true, nil))
	if r != nil {
		if r.Before > was.Generated {
			use.Until = r.Before
		}
		r.Before = was.Before
		if x.s.o.native == nativeAlways {
			r.Warnings = append(r.Warnings, "the search was made without compiled code: "+use.Reason)
		}
	}
	return r, err
}

// patience is how long the program may take to end: to keep the search takes longer.
func (x *nativeSearch) patience() time.Duration {
	if x.s.disk.keep != nil {
		return search.WaitMax + program.SegmentWaitMax + search.KeepMax
	}
	return search.WaitMax
}

// job is the input of the program. It may use the memory that this process does
// not hold.
func (x *nativeSearch) job() program.Job {
	n, o := x.made, x.o
	j := program.Job{Info: n.Info, Workers: o.Workers, IgnoreDeadlock: o.IgnoreDeadlock, SafetyOnly: o.SafetyOnly, Continue: o.Continue,
		Periodic: o.Checker != nil, StatesMax: o.StatesMax, Constraints: n.Constraints, ActionConstraints: n.ActionConstraints, Invariants: n.Invariants,
		Antecedents: n.Antecedents, StepNexts: n.StepNexts, Dir: x.s.disk.place(), First: x.after.keep}
	if keep := x.s.disk.keep; keep != nil {
		j.Identity, j.Durable, j.Every = keep.Identity, true, x.s.o.every
	}
	held := program.HeldBytes()
	if wanted := x.s.o.memoryBytes; wanted > 0 {
		j.StatesBytes = rest(wanted, held) / statesShare
	}
	if limit := x.s.memory.process; limit > 0 {
		if o.Checker != nil {
			held += o.MemoryBytes / checksShare
		}
		j.LimitBytes, j.Limit = rest(limit, held), x.s.memory.reached
	}
	return j
}

// complete makes of an answer what a search in this process returns.
func (x *nativeSearch) complete(ctx context.Context, answer *program.Answer, before int64) (*check.Result, error) {
	r := answer.Result
	r.Info, r.Before = x.model.Info(), before
	figures := x.s.breadth.Figures()
	figures.Stats, figures.DiskBytes = r.Stats, r.DiskBytes
	x.s.breadth.Report(figures)
	if answer.Remarked {
		// The remarks of periodic checks come last.
		notes := x.o.Checker.Notes()
		r.Warnings = append(r.Warnings[:len(r.Warnings)-len(notes)], x.model.NativeRemarks(answer.Unmet, answer.Ors, answer.Ands)...)
		r.Warnings = append(r.Warnings, notes...)
	}
	var limit check.Limit
	if r.Verdict == check.Interrupted && errors.As(context.Cause(ctx), &limit) {
		r.Verdict, r.Reason = check.Incomplete, string(limit)
	}
	if err := check.Behaviours(ctx, x.model, x.o, r); err != nil {
		return nil, err
	}
	if x.s.disk.keep != nil && !r.Unfinished && r.Verdict != check.Interrupted && r.Verdict != check.Incomplete {
		return r, check.RemoveCheckpoint(x.s.disk)
	}
	return r, nil
}

// nativeDocument describes the work of compiled code, or is nil if it was not
// requested and did nothing.
func (s *searcher) nativeDocument() *nativeUse {
	if s.o.native == nativeAlways && !s.o.deepen || s.native.Used || s.native.Since > 0 {
		return &s.native
	}
	return nil
}
