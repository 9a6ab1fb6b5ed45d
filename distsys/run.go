// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"context"
	"errors"
	"sync"
)

// Run runs each process in its own goroutine until all have ended. The first
// process that fails stops the others. Run returns the errors of the processes
// that failed, but not of those that were stopped because of a failure; if none
// failed, it returns the context's error.
func Run(ctx context.Context, procs ...Process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, len(procs))
	var wg sync.WaitGroup
	for i, p := range procs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := p.Run(ctx); err != nil {
				errs[i] = err
				cancel(errOther)
			}
		}()
	}
	wg.Wait()
	if context.Cause(ctx) == errOther {
		for i, err := range errs {
			if errors.Is(err, context.Canceled) {
				errs[i] = nil
			}
		}
	}
	return errors.Join(errs...)
}

// errOther is the cause of cancellation when another process has failed.
var errOther = errors.New("another process ended with an error")
