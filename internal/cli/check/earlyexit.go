// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// errAsked ends a search as a limit does: nothing is wrong, and not everything
// was checked.
const errAsked = check.Limit(`the specification asked for the end of the run: TLCSet("exit", TRUE)`)

// earlyExit ends a search when the specification asks for that. A nil one never does.
type earlyExit struct {
	mu     sync.Mutex
	asked  bool
	cancel context.CancelCauseFunc
}

// end is what the specification asks for; several workers may.
func (e *earlyExit) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = true
	if e.cancel != nil {
		e.cancel(errAsked)
	}
}

// watch returns a context that ends when the specification asks for the end.
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

// wasAsked reports whether the specification has asked for the end.
func (e *earlyExit) wasAsked() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}
