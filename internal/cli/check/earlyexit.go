// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// errAsked ends a search in the same way as a limit: there is no error, but the
// search is incomplete.
const errAsked = check.Limit(`the specification asked for the end of the run: TLCSet("exit", TRUE)`)

// earlyExit ends a search when the specification requests it. A nil earlyExit never
// does.
type earlyExit struct {
	mu     sync.Mutex
	asked  bool
	cancel context.CancelCauseFunc
}

// end is called when the specification requests the end. Several workers may
// call it.
func (e *earlyExit) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = true
	if e.cancel != nil {
		e.cancel(errAsked)
	}
}

// watch returns a context that ends when the specification requests it.
func (e *earlyExit) watch(ctx context.Context) (context.Context, func()) {
	if e == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel = cancel
	if e.asked {
		cancel(errAsked)
	}
	return ctx, func() { cancel(nil) }
}

// wasAsked reports whether the specification has requested the end.
func (e *earlyExit) wasAsked() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}
