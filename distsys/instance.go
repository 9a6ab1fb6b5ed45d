// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"fmt"
	"io"
	"time"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Options are the options of an Instance. Env's Clock and Random are required;
// a Tracer, if given, receives Committed and Waits. The zero value of the rest
// is the default.
type Options struct {
	Env env.Env
	// RetryMin and RetryMax bound the wait before the instance tries an aborted
	// section again. Default: 1 ms and 250 ms.
	RetryMin, RetryMax time.Duration
	// Print receives the values that the specification prints, one per line,
	// when the section commits and before other instances can see the commit.
	// Instances that share Print may write to it concurrently. If Print is nil,
	// the output is discarded.
	Print io.Writer
	// Recorder receives the sections. Nil: no trace is kept.
	Recorder Recorder
	// Journal stores the durable variables of an archetype that survives
	// crashes. Such an archetype requires one; for other archetypes it must be
	// nil. New reads from it.
	Journal Journal
	// TraceAborted records aborted sections as well.
	TraceAborted bool
}

// Recorder stores a trace. Record is called before the section takes effect; an
// error ends the run. The Recorder owns the event's memory.
type Recorder interface {
	Record(e *tracelog.Event) error
}

// Defaults of Options.
const (
	retryMinDefault = time.Millisecond
	retryMaxDefault = 250 * time.Millisecond
)

func (o Options) complete() (Options, error) {
	if o.Env.Clock == nil || o.Env.Random == nil {
		return o, fmt.Errorf("instance options: Env.Clock and Env.Random are needed")
	}
	if o.RetryMin == 0 {
		o.RetryMin = retryMinDefault
	}
	if o.RetryMax == 0 {
		o.RetryMax = max(retryMaxDefault, o.RetryMin)
	}
	if o.RetryMin < 0 || o.RetryMax < o.RetryMin {
		return o, fmt.Errorf("instance options: RetryMin %v, RetryMax %v: want 0 < RetryMin <= RetryMax", o.RetryMin, o.RetryMax)
	}
	return o, nil
}

// Instance is an archetype in execution. Only one goroutine at a time may call
// Step, Run or State; any goroutine may call Stop, Close and Metrics.
type Instance[S any] struct {
	engine
	arch      *Archetype[S]
	first     S // as given to New
	cur, work S
}

var _ Process = (*Instance[struct{}])(nil)

// New makes an instance of an archetype. S holds self and the parameters; the
// archetype's Init does the rest when the instance starts.
func New[S any](a *Archetype[S], self value.Value, s S, o Options) (*Instance[S], error) {
	if len(a.Sections) == 0 {
		return nil, fmt.Errorf("archetype %s has no sections", a.Name)
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	switch {
	case a.Crash != nil && o.Journal == nil:
		return nil, fmt.Errorf("archetype %s survives crashes: Options.Journal is needed", a.Name)
	case a.Crash == nil:
		o.Journal = nil
	}
	in := &Instance[S]{arch: a, first: s, cur: s}
	in.engine.setUp(in, a.Name, self, o)
	return in, nil
}

// State returns the variables as the last commit left them.
func (in *Instance[S]) State() S { return in.cur }

// At is the current label of the instance: empty before it has started.
func (in *Instance[S]) At() string { return in.labelName(in.pc) }

// Reset returns the instance to the state in which New left it, so that Run
// starts from the beginning. The instance must not be running. Its archetype
// must not be one that survives crashes: only a new life of the node starts such
// an instance again.
func (in *Instance[S]) Reset() {
	if in.arch.Crash != nil {
		panic("distsys: Reset of " + in.name + ", which survives crashes")
	}
	in.cur = in.first
	in.engine.restart()
}

// attempt executes the section at pc on a copy of the state.
func (in *Instance[S]) attempt(tx *Tx, pc Label) (next Label, err error) {
	defer func() {
		if r := recover(); r != nil {
			if u, ok := r.(unwind); ok {
				err = u.err
				return
			}
			e, ok := r.(*value.Error)
			if !ok {
				panic(r)
			}
			err = e
			if in.arch.Where != nil {
				if places := in.arch.Where(); len(places) > 0 {
					err = &EvalError{Places: places, Err: e}
				}
			}
		}
	}()
	in.work = in.cur
	if pc == starting {
		if next, err = in.start(tx); err != nil {
			return 0, err
		}
	} else if next, err = in.arch.Sections[pc].Run(&in.work, tx); err != nil {
		return 0, err
	}
	if int(next) >= len(in.arch.Sections) || next < Error {
		panic(fmt.Sprintf("distsys: section %s of %s goes to label %d", in.labelName(pc), in.arch.Name, next))
	}
	if len(in.arch.Invariants) > 0 {
		err = in.checkInvariants(tx)
	}
	return next, err
}

// start gives the variables their first values and returns the label at which
// the instance starts. The durable variables get the values that earlier lives
// stored, if any.
func (in *Instance[S]) start(tx *Tx) (Label, error) {
	c, init, at := in.arch.Crash, in.arch.Init, Label(0)
	if in.kept != nil {
		if err := c.recall(&in.work, in.kept); err != nil {
			return 0, err
		}
		init, at = c.Restart, c.Recover
	}
	if init == nil {
		return at, nil
	}
	return at, init(&in.work, tx)
}

// changes implements code. The first section of the first life is always
// recorded, so that the journal knows of the instance even if the section
// assigns nothing.
func (in *Instance[S]) changes(k *Kept) bool {
	c, was := in.arch.Crash, &in.cur
	changed := c.Changed(&in.work)
	if in.pc == starting {
		if in.kept != nil {
			return false
		}
		changed, was = allChanged, nil
	}
	c.changes(k, was, &in.work, changed)
	return changed != 0
}

func (in *Instance[S]) checkInvariants(tx *Tx) error {
	for i := range in.arch.Invariants {
		inv := &in.arch.Invariants[i]
		ok, err := inv.Holds(&in.work, tx)
		if err != nil {
			return err
		}
		if !ok {
			return &InvariantError{Name: inv.Name, Place: inv.Place, Vars: in.vars()}
		}
	}
	return nil
}

// accept makes the attempt's copy the current state.
func (in *Instance[S]) accept() { in.cur = in.work }

// vars returns the variables as the attempt left them.
func (in *Instance[S]) vars() []Var {
	if in.arch.Vars == nil {
		return nil
	}
	return in.arch.Vars(&in.work)
}

func (in *Instance[S]) labelName(pc Label) string {
	switch pc {
	case starting:
		return ""
	case Done:
		return "Done"
	case Error:
		return "Error"
	}
	return in.arch.Sections[pc].Name
}

func (in *Instance[S]) place(pc Label) string {
	if pc < 0 {
		return ""
	}
	return in.arch.Sections[pc].Place
}
