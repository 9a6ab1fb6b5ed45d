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

// Within bounds the time from a signal, or from Over, to the end of a command.
const Within = 900 * time.Millisecond

// apart is the time within which a second signal counts as the same one: a signal
// can arrive twice, from the terminal and from a parent process.
const apart = 500 * time.Millisecond

// Ending ends the process after a signal. A nil Ending never does.
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

// closing is how long a server may take, after its grace, to close its files.
const closing = 3 * time.Second

// Serve declares that the command is a server: after a signal it may take the grace
// that its operator configured, plus the time to close its files. After that it is
// ended like any other command.
func (e *Ending) Serve(grace time.Duration) {
	if e != nil {
		e.grace.Store(int64(grace + closing))
		e.inOrder.Store(true)
	}
}

// InOrder declares that the command needs time to clean up, for example its files or
// processes. The command is then not ended before it calls Over.
func (e *Ending) InOrder() {
	if e != nil {
		e.inOrder.Store(true)
	}
}

// Over declares that the cleanup is complete.
func (e *Ending) Over() {
	if e != nil {
		e.inOrder.Store(false)
	}
}

// Interrupts makes an interrupt, such as Ctrl-C at a terminal, call f, and end the
// process only if f returns false. It is for interactive commands, in which an
// interrupt concerns only the current answer. Other signals still end the process.
// restore makes interrupts end the process again.
func (e *Ending) Interrupts(f func() bool) (restore func()) {
	if e == nil {
		return func() {}
	}
	e.interrupt.Store(&f)
	return func() { e.interrupt.Store(nil) }
}

// Begin returns the context of a process. If the process must be ended, it ends with
// the given exit code. Call stop when the command is finished.
func Begin(code int) (ctx context.Context, e *Ending, stop func()) {
	e = &Ending{}
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	// A closed terminal is a reason to clean up, unless nohup makes the process
	// ignore the signal.
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
