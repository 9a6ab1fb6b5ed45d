// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// A search that outgrows the memory is ended, so that it can report its results so
// far; otherwise the system would kill the process.

const (
	guardEvery = 100 * time.Millisecond
	// collectorMin is the lowest memory limit that is set for the garbage
	// collector.
	collectorMin = 64 << 20
)

// Guard ends the context that it returns with a check.Limit for the reason when
// the process holds more than limit bytes; 0 means no limit. The garbage
// collector works harder as the process approaches wanted bytes. The caller
// releases the guard.
func Guard(ctx context.Context, limit, wanted int64, reason string) (guarded context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if limit <= 0 {
		return ctx, func() { cancel(nil) }
	}
	before := debug.SetMemoryLimit(min(limit, max(wanted, collectorMin)) / 100 * 97)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(guardEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if HeldBytes() > limit {
					cancel(check.Limit(reason))
					return
				}
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
		debug.SetMemoryLimit(before)
	}
}

// HeldBytes is the memory that the process has from the system.
func HeldBytes() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}
