// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Status is the result of Step.
type Status uint8

// The statuses.
const (
	// Running: call Step again.
	Running Status = iota
	// Waiting: call Step again once the engine has called the function given to
	// Notify. Calling Step earlier does no harm.
	Waiting
	// Finished: the instance is done, has failed, or was stopped; Err returns
	// the reason.
	Finished
)

// code is the part of an Instance that knows the type of its variables.
type code interface {
	attempt(tx *Tx, pc Label) (Label, error)
	accept()
	vars() []Var
	// changes returns the durable variables that the attempt assigned, and
	// whether the journal must record the section.
	changes(k *Kept) bool
	labelName(pc Label) string
	place(pc Label) string
}

type phase uint8

const (
	ready      phase = iota
	committing       // asking resources to pre-commit
	syncing          // waiting for the journal
	waiting          // blocked, or pausing after an abort
	finished
)

// engine executes sections. Its states:
//
//	ready       attempt: to committing, to ready (another combination), to
//	            waiting (every combination is blocked, or a resource refused)
//	committing  all resources pre-committed: commit, to ready, or to syncing
//	            if the section must wait for the journal; one refused: to
//	            waiting
//	syncing     everything that the section depends on is durable: commit, to
//	            ready
//	waiting     woken: to ready
//	finished    final, until restart
//
// A section that is blocked in every combination is explored twice: first
// without watching, then watching every resource before it is read. The second
// read sees every earlier change; a later change wakes the signal, which was
// cleared before. So no wake-up is lost, and a section that does not block does
// not pay for watching. Pre-commit results have a signal of their own, because
// clearing it must not clear a change as well.
type engine struct {
	code    code
	kind    string // the archetype
	name    string
	self    value.Value
	opt     Options
	tx      Tx
	explore explorer
	backoff env.Backoff

	pc, next Label
	phase    phase
	armed    bool // the exploration that is going on watches
	conflict bool // some combination of the exploration met ErrContended
	err      error
	signal   *env.Signal // something changed that a section waits for
	answered *env.Signal // a pending pre-commit is worth another question
	timer    env.Timer

	// For an archetype that survives crashes: the number of the last journal
	// record, how many records may not be durable yet, and what earlier lives
	// stored.
	ticket uint64
	lag    int
	kept   *Kept

	n     uint64 // committed sections
	began env.Instant
	clock tracelog.Clock
	actor string // in clocks: the name and the life
	// tracer is nil if there is none.
	tracer env.Tracer
	shown  map[string]string // the variables as the trace last had them

	stop    atomic.Bool
	closed  atomic.Bool
	counts  counters
	wake    chan struct{} // from signal to Run
	running sync.Mutex    // held by Run
	notify  atomic.Pointer[func()]
}

func (e *engine) setUp(c code, archetype string, self value.Value, o Options) {
	e.code, e.kind, e.self, e.opt = c, archetype, self, o
	e.name = archetype + "(" + self.String() + ")"
	e.actor = e.name
	if o.Journal != nil {
		e.actor = tracelog.Actor(archetype, self.String(), o.Journal.Life())
		e.kept = o.Journal.Recall(e.name)
	}
	e.tx = Tx{run: e, traced: o.Recorder != nil}
	e.explore.rng = o.Env.Random.Split(e.name)
	e.backoff = env.Backoff{Min: o.RetryMin, Max: o.RetryMax}
	e.wake = make(chan struct{}, 1)
	if _, deaf := o.Env.Tracer.(env.NoTrace); !deaf {
		e.tracer = o.Env.Tracer
	}
	e.signal = env.NewSignal(e.woken)
	e.answered = env.NewSignal(e.woken)
	e.pc = starting
}

// woken passes a wake-up on to Run and to a caller that drives Step itself.
func (e *engine) woken() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
	if f := e.notify.Load(); f != nil {
		(*f)()
	}
}

// Name is the name of the archetype with its self, as in "AServer(1)".
func (e *engine) Name() string { return e.name }

// Notify sets a function that the engine calls when it is worth calling Step
// again after Step returned Waiting. F must meet the requirements on Wake.
// Notify is for callers that drive Step themselves.
func (e *engine) Notify(f func()) { e.notify.Store(&f) }

// Err returns the error with which the instance ended: nil for the label Done.
func (e *engine) Err() error { return e.err }

// Metrics returns the counts so far.
func (e *engine) Metrics() Metrics { return e.counts.read() }

// Stop makes the instance stop at the next label. It does not wait.
func (e *engine) Stop() {
	e.stop.Store(true)
	e.woken()
}

// Close stops the instance and waits until Run has returned. A closed instance
// cannot run again.
func (e *engine) Close() error {
	e.closed.Store(true)
	e.Stop()
	e.running.Lock()
	defer e.running.Unlock()
	e.leave()
	return nil
}

// leave is like interrupt, for an instance that will not continue: it aborts a
// section that waits for the journal, as a crash would, before any other instance
// has seen the section.
func (e *engine) leave() {
	if e.phase == syncing {
		e.tx.abort()
		e.phase = ready
	}
	e.interrupt()
}

func (e *engine) restart() {
	e.leave()
	e.pc, e.phase, e.err = starting, ready, nil
	e.n, e.clock, e.shown = 0, nil, nil
	e.explore.reset()
	e.backoff.Reset()
}

// interrupt leaves the current section and returns the instance to its label. A
// section that waits for the journal stays, because it may already be durable.
func (e *engine) interrupt() {
	switch e.phase {
	case syncing:
		return // the section may be durable: it is at no label
	case committing:
		e.tx.abort()
	}
	if e.phase != finished {
		e.rest()
	}
}

// rest returns the engine to the phase ready, without watches or timers.
func (e *engine) rest() {
	e.phase, e.armed, e.conflict = ready, false, false
	e.explore.reset()
	if len(e.tx.watched) > 0 || e.tx.arming {
		e.tx.unwatch()
	}
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
}

// Run executes sections until the instance is done (nil), fails, is stopped
// (ErrStopped) or ctx ends (its error). In the last two cases the instance is
// at a label, and the next Run continues from there. During and after Close,
// Run returns ErrClosed. It uses the calling goroutine and starts no other.
func (e *engine) Run(ctx context.Context) error {
	if !e.running.TryLock() {
		// Close holds running while it ends the instance, so no section runs
		// then.
		if e.closed.Load() {
			return ErrClosed
		}
		return fmt.Errorf("instance %s is running already", e.name)
	}
	defer e.running.Unlock()
	done := ctx.Done()
	for i := 0; ; i++ {
		if i&63 == 0 && done != nil {
			if err := ctx.Err(); err != nil {
				e.interrupt()
				return err
			}
		}
		switch e.Step() {
		case Running:
		case Finished:
			return e.outcome()
		case Waiting:
			i = -1
			select {
			case <-e.wake:
			case <-done:
			}
		}
	}
}

func (e *engine) outcome() error {
	if e.phase == finished {
		return e.err
	}
	if e.closed.Load() {
		return ErrClosed
	}
	e.stop.Store(false)
	return ErrStopped
}

// Step performs one attempt of a section, or one round of its commit, and never
// blocks.
func (e *engine) Step() Status {
	if e.phase == finished {
		return Finished
	}
	if e.phase == syncing {
		if !e.answered.Take() {
			return e.await()
		}
		return e.settle()
	}
	if e.stop.Load() || e.closed.Load() {
		e.interrupt()
		return Finished
	}
	switch e.phase {
	case committing:
		if !e.answered.Take() {
			return Waiting
		}
		return e.advanceCommit()
	case waiting:
		if !e.signal.Take() {
			return Waiting
		}
		e.phase = ready
		e.counts.add(&e.counts.wakeups)
	}
	return e.attempt()
}

// await waits for the journal. If the caller stops the instance, await returns at
// once, and the next Run continues the section.
func (e *engine) await() Status {
	if e.stop.Load() || e.closed.Load() {
		return Finished
	}
	return Waiting
}

func (e *engine) attempt() Status {
	if e.pc == starting && e.kept != nil && e.kept.Done {
		e.pc, e.phase = Done, finished
		return Finished
	}
	if e.tx.traced {
		e.began = e.opt.Env.Clock.Now()
	}
	e.explore.begin()
	next, err := e.code.attempt(&e.tx, e.pc)
	if err != nil {
		return e.giveUp(err)
	}
	e.next = next
	if e.tx.traced {
		e.tx.stamp = e.clock.Merge(e.tx.seen).With(e.actor, e.n+1)
	}
	if len(e.tx.joined) == 0 {
		return e.commit()
	}
	e.tx.order()
	e.answered.Take()
	return e.advanceCommit()
}

func (e *engine) advanceCommit() Status {
	switch err := e.tx.preCommit(); err {
	case nil:
		return e.commit()
	case ErrPending:
		e.phase = committing
		return Waiting
	default:
		return e.giveUp(err)
	}
}

// commit writes the section to the trace and then to the journal. This order
// ensures that the trace contains every section that other instances can have
// seen.
func (e *engine) commit() Status {
	k, keep, err := e.changed()
	if err != nil {
		return e.giveUp(fmt.Errorf("write the journal: %w", err))
	}
	if e.tx.traced {
		if err := e.record("", keep); err != nil {
			return e.giveUp(fmt.Errorf("write trace: %w", err))
		}
		e.clock = e.tx.stamp
	}
	if e.opt.Journal == nil {
		return e.effect()
	}
	if keep {
		if err := e.keep(k); err != nil {
			e.tx.abort()
			return e.fail(fmt.Errorf("write the journal: %w", err))
		}
	}
	return e.settle()
}

// settle makes the section take effect as soon as the journal permits it.
func (e *engine) settle() Status {
	switch settled, err := e.settled(); {
	case err != nil:
		e.tx.abort()
		return e.fail(err)
	case !settled:
		e.phase = syncing
		return e.await()
	}
	return e.effect()
}

// effect makes the section take effect. It prints before it commits, so that the
// output precedes any output caused by it.
func (e *engine) effect() Status {
	if e.opt.Print != nil {
		for _, line := range e.tx.printed {
			fmt.Fprintln(e.opt.Print, line)
		}
	}
	e.tx.commit()
	e.code.accept()
	e.explore.commit(e.pc)
	e.n++
	if e.tracer != nil {
		e.tracer.Trace(Committed{e.name, e.n, e.code.labelName(e.pc), e.code.labelName(e.next)})
	}
	e.pc = e.next
	e.tx.forget()
	e.rest()
	e.backoff.Reset()
	e.counts.add(&e.counts.commits)
	switch e.pc {
	case Done:
		e.phase = finished
		return Finished
	case Error:
		return e.fail(ErrProcedureFallthrough)
	}
	return Running
}

// giveUp ends an attempt that has no result.
func (e *engine) giveUp(err error) Status {
	if e.tx.traced && e.opt.TraceAborted {
		if werr := e.record(err.Error(), false); werr != nil {
			e.tx.abort()
			return e.fail(fmt.Errorf("write trace: %w", werr))
		}
	}
	e.tx.abort()
	switch {
	case blocked(err):
		e.counts.add(&e.counts.blocked)
		return e.tryNext(err)
	case retryable(err):
		e.counts.add(&e.counts.aborts)
		// The next attempt tries another combination, so that one resource
		// that refuses does not keep the others waiting.
		if !e.explore.advance() {
			e.explore.reset()
		}
		e.pause()
		return e.sleep()
	}
	return e.fail(err)
}

// fail ends the instance.
func (e *engine) fail(err error) Status {
	e.rest()
	e.phase = finished
	e.err = &SectionError{
		Archetype: e.kind,
		Self:      e.self.String(),
		Label:     e.code.labelName(e.pc),
		Place:     e.code.place(e.pc),
		Err:       err,
	}
	return Finished
}

// tryNext continues after a blocked attempt.
func (e *engine) tryNext(err error) Status {
	e.phase = ready
	e.conflict = e.conflict || errors.Is(err, ErrContended)
	if e.explore.advance() {
		if e.explore.tried < exploreMax {
			return Running
		}
		e.explore.reset()
		e.pause()
		return e.sleep()
	}
	e.explore.reset()
	if !e.armed {
		e.armed, e.tx.arming, e.conflict = true, true, false
		e.signal.Take()
		return Running
	}
	if e.conflict {
		e.conflict = false
		e.pause()
	}
	if e.tracer != nil {
		e.tracer.Trace(Waits{e.name, e.code.labelName(e.pc)})
	}
	return e.sleep()
}

// sleep waits for the signal. A signal set while the section was committing has
// already been announced and is not announced again.
func (e *engine) sleep() Status {
	e.phase = waiting
	if e.signal.Woken() {
		return Running
	}
	return Waiting
}

// pause makes the next sleep end after the backoff time, or when a watched
// resource changes.
func (e *engine) pause() {
	if e.timer != nil {
		e.timer.Stop()
	}
	if !e.armed {
		e.signal.Take()
	}
	e.timer = e.opt.Env.Clock.After(e.backoff.Next(e.explore.rng), e.signal)
	e.counts.add(&e.counts.pauses)
}

// record writes the section to the trace. Aborted is empty for a section that is
// about to commit; kept says whether the journal will record it. A variable that
// cannot be written as text is an error.
func (e *engine) record(aborted string, kept bool) (err error) {
	if cerr := value.Catch(func() { err = e.recordEvent(aborted, kept) }); cerr != nil {
		return cerr
	}
	return err
}

func (e *engine) recordEvent(aborted string, kept bool) error {
	ev := &tracelog.Event{
		N:        e.n + 1,
		Label:    e.code.labelName(e.pc),
		Elements: e.tx.elements,
		Clock:    e.tx.stamp,
		Start:    int64(e.began),
		End:      int64(e.opt.Env.Clock.Now()),
		Aborted:  aborted,
		Kept:     kept,
	}
	if aborted != "" {
		ev.Clock = e.clock.Merge(e.tx.seen)
		return e.opt.Recorder.Record(ev)
	}
	ev.Next = e.code.labelName(e.next)
	if e.shown == nil {
		e.shown = map[string]string{}
	}
	for _, v := range e.code.vars() {
		text := v.Value.String()
		if was, known := e.shown[v.Name]; !known || was != text {
			e.shown[v.Name] = text
			ev.Vars = append(ev.Vars, tracelog.Var{Name: v.Name, Value: text})
		}
	}
	return e.opt.Recorder.Record(ev)
}
