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

// A long search continues in a separate process. That process runs code
// generated for the model, which the Go toolchain compiles while the search runs
// here. At the end of a segment this process writes a checkpoint to a directory
// and stops, and the new program resumes from the checkpoint. So the results and
// all figures are the same, and this process frees the memory of its search
// before the program allocates its own. If the program meets a state that it was
// not made for, it ends, and the search continues here from the checkpoint.

// The values of --native: when to use compiled code.
const (
	nativeAuto   = "auto"
	nativeAlways = "always"
	nativeNever  = "never"
)

const (
	// nativeLookAfter is the time after which an automatic search looks for a
	// program compiled earlier. nativeCompileAfter is the time after which it
	// starts to compile one.
	nativeLookAfter    = 400 * time.Millisecond
	nativeCompileAfter = 6 * time.Second
	// nativeCompileMax bounds the compile time, and nativeSourceMax the length of
	// the program: the compiler takes some minutes for a program of that length.
	nativeCompileMax = 4 * time.Minute
	nativeSourceMax  = 12 << 20
	// nativeCompileBytes is the memory that must be available for the compiler.
	nativeCompileBytes = 1 << 30
	// nativeKeepAfter is the time after which a program writes its first checkpoint,
	// in case it gives up later. Writing one takes about a second for each ten
	// million states.
	nativeKeepAfter = 20 * time.Second
)

// checksShare is the divisor of the memory for states that gives the part that
// checks of properties of behaviours may use in this process.
const checksShare = 4

// notMadeFor is the reason why a program gives up or is not used.
const notMadeFor = "the compiled code met a state that it cannot represent"

// nativeUse describes what compiled code did in a search.
type nativeUse struct {
	// Used reports whether compiled code produced the result.
	Used bool `json:"used"`
	// Since is the number of states generated before compiled code took over.
	Since int64 `json:"since,omitempty"`
	// Until is the number of states generated up to its last checkpoint, if the
	// search continued from there without compiled code.
	Until int64 `json:"until,omitempty"`
	// Compiled is the compile time in seconds, 0 if the program had been compiled
	// earlier.
	Compiled float64 `json:"compileSeconds,omitempty"`
	// Reason is why compiled code was not used although it was requested, or
	// why it gave up.
	Reason string `json:"reason,omitempty"`
}

// validNative validates --native.
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

// nativeSearch is a search that compiled code may take over.
type nativeSearch struct {
	s     *searcher
	model *model.Model
	o     check.Options
	after nativeTimes

	made    *model.Native
	program string
	took    time.Duration // by the compiler
}

// nativeTimes holds the times at which an automatic search looks for a program
// and compiles one, and at which a program writes a checkpoint. Tests set shorter
// ones.
type nativeTimes struct{ look, compile, keep time.Duration }

// wide runs the search breadth first.
func (s *searcher) wide(ctx context.Context, m check.Model) (*check.Result, error) {
	packModel(ctx, s.tla, s.o)
	if s.disk.keep != nil && ctx.Err() != nil {
		// The model may be unpacked only because its sample was cut short. A search of
		// such a model can neither resume a checkpoint with packed states nor leave one
		// that the next search can resume.
		return check.NotBegun(ctx, m), nil
	}
	o := s.options()
	x, why := s.nativeSearch(o)
	if x == nil {
		return s.without(ctx, m, o, why)
	}
	x.o.Checker = check.NewPeriodicChecker(ctx, m, o)
	r, err := x.run(ctx, o)
	return r, errors.Join(err, x.o.Checker.Close())
}

// run runs the search, first without compiled code and then with it once it is
// ready.
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
		// The disk was full: only the time until now is lost.
		if err := errors.Join(x.o.Checker.Close(), s.disk.empty()); err != nil {
			return nil, err
		}
		return s.without(ctx, m, o, err.Error())
	}
	return r, err
}

// options returns the options of a search without compiled code.
func (s *searcher) options() check.Options {
	var deciding func(int64)
	if t := s.o.tlc; t != nil {
		deciding = func(states int64) { t.Deciding(&s.breadth, states) }
	}
	return check.Options{Deciding: deciding, Workers: s.o.workers, SafetyOnly: s.o.safetyOnly, IgnoreDeadlock: !s.o.deadlock, StatesMax: s.o.statesMax,
		Continue: s.o.goOn, Periodic: s.o.liveness == livenessPeriodic, Monitor: &s.breadth, Disk: s.disk, MemoryBytes: s.o.memoryBytes / statesShare, Checkpoint: s.disk.keep}
}

// without runs the search in this process. If compiled code was requested, it
// reports why it was not used.
func (s *searcher) without(ctx context.Context, m check.Model, o check.Options, why string) (*check.Result, error) {
	s.native.Reason = why
	r, err := check.Run(ctx, m, o)
	if r != nil && s.o.native == nativeAlways {
		r.Warnings = append(r.Warnings, "the search ran without compiled code: "+why)
	}
	return r, err
}

// nativeSearch returns nil if compiled code is not wanted or not possible.
func (s *searcher) nativeSearch(o check.Options) (x *nativeSearch, why string) {
	switch {
	case s.o.native != nativeAuto && s.o.native != nativeAlways:
		return nil, ""
	case s.tla == nil:
		return nil, "the model is not a TLA+ model"
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

// options returns the options of the search in this process, from its beginning
// or from the last checkpoint.
func (x *nativeSearch) options(again bool, leave func() bool) check.Options {
	o, c := x.o, check.Checkpoint{}
	if o.Checkpoint != nil {
		c = *o.Checkpoint
	}
	c.Leave, c.Resume = leave, c.Resume || again
	o.Checkpoint = &c
	return o
}

// offer prepares the program while the search runs. When ready reports true,
// the search must stop and hand over; end abandons an unfinished preparation.
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

// prepare compiles the program or finds one compiled earlier, but not before
// the set times. why is the reason for failing.
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

// sleep waits and reports whether it waited for the whole time.
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

// goOn lets the program continue the search from its checkpoint. If that fails,
// the search continues in this process.
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
	// The checkpoint does not contain what the model learned from periodic
	// checks.
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
			r.Warnings = append(r.Warnings, "the search ran without compiled code: "+use.Reason)
		}
	}
	return r, err
}

// patience is how long the program may take to end. Writing a checkpoint takes
// longer.
func (x *nativeSearch) patience() time.Duration {
	if x.s.disk.keep != nil {
		return search.WaitMax + program.SegmentWaitMax + search.KeepMax
	}
	return search.WaitMax
}

// job is the input of the program. The program may use the memory that this
// process does not hold.
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

// complete converts the program's answer to the result that a search in this
// process returns.
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
