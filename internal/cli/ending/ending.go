// SPDX-License-Identifier: Apache-2.0

// Package ending ends commands when a signal asks for it.
//
// In: the signals that end a process. Out: a context that is over with the first of
// them. A command that heeds it ends as it documents. One that cannot, as it computes
// something without end, waits for a file that no process writes or for a reader of
// its output, is ended within Within, with the exit code for that. Between
// Ending.InOrder and Ending.Over it is not: it then cleans up.
//
// A second signal ends the process at once.
package ending

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// Within is how long after a signal, or after Over, a command ends at the latest.
const Within = 900 * time.Millisecond

// apart is how soon after a signal another one counts as the same: it comes on two
// ways, from the terminal and from a parent process.
const apart = 500 * time.Millisecond

// Ending is the end of a process. The nil Ending never comes.
type Ending struct {
	inOrder   atomic.Bool
	grace     atomic.Int64 // time.Duration; 0 where InOrder has no bound
	interrupt atomic.Pointer[func() bool]
}

type key struct{}

// From returns the Ending of a context that Begin has made, and nil for others.
func From(ctx context.Context) *Ending {
	e, _ := ctx.Value(key{}).(*Ending)
	return e
}

// closing is how long a server may take to close its files beyond its grace.
const closing = 3 * time.Second

// Serve says that the command is a server now: after a signal it may take the grace
// that its operator gives it, and the time to close its files. Then it is ended like
// any other command.
func (e *Ending) Serve(grace time.Duration) {
	if e != nil {
		e.grace.Store(int64(grace + closing))
		e.inOrder.Store(true)
	}
}

// InOrder says that the command has something to put in order that takes its time, as
// files or processes of its own: it is not ended before Over.
func (e *Ending) InOrder() {
	if e != nil {
		e.inOrder.Store(true)
	}
}

// Over says that nothing is left to be put in order.
func (e *Ending) Over() {
	if e != nil {
		e.inOrder.Store(false)
	}
}

// Interrupts has an interrupt, as Ctrl-C at a terminal, call f and end the process only
// if f answers false. It is for commands with which a person speaks: there an interrupt
// is about the present answer. The other signals end the process as ever. Restore makes
// interrupts end it again.
func (e *Ending) Interrupts(f func() bool) (restore func()) {
	if e == nil {
		return func() {}
	}
	e.interrupt.Store(&f)
	return func() { e.interrupt.Store(nil) }
}

// Begin returns the context of a process that ends with the exit code when it must be
// ended. Stop is for when the command is over.
func Begin(code int) (ctx context.Context, e *Ending, stop func()) {
	e = &Ending{}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// A terminal that is closed is a reason to clean up, but not for nohup.
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, e))
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-received:
				if f := e.interrupt.Load(); s == os.Interrupt && f != nil && (*f)() {
					continue
				}
				cancel()
			}
		}
	}()
	stop = func() {
		signal.Stop(received)
		cancel()
	}
	context.AfterFunc(ctx, func() {
		time.Sleep(apart)
		stop()
		time.Sleep(Within - apart)
		for e.inOrder.Load() {
			if grace := time.Duration(e.grace.Load()); grace > 0 {
				time.Sleep(grace)
				break
			}
			time.Sleep(Within)
		}
		os.Exit(code)
	})
	return ctx, e, stop
}
