package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/check"
)

// A search that outgrows the memory is ended, so that what it knows can be
// told; otherwise the system would end the process without a word.

const (
	// memoryShare is the part of the available memory that a search may use,
	// in percent, where the user does not say.
	memoryShare = 85
	memoryEvery = 100 * time.Millisecond
	// collectorMin is what the collector lets a process have without haste.
	collectorMin = 64 << 20
)

// guardMemory ends the context that it returns with a check.Limit when the
// process holds more than limit bytes; 0 means no limit. The collector works
// harder as the process comes near to wanted bytes. The caller releases the
// guard.
func guardMemory(ctx context.Context, limit, wanted int64) (guarded context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if limit <= 0 {
		return ctx, func() { cancel(nil) }
	}
	before := debug.SetMemoryLimit(min(limit, max(wanted, collectorMin)) / 100 * 97)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if heldBytes() > limit {
					cancel(check.Limit(fmt.Sprintf("the memory limit of %s MB was reached", count(limit/1e6))))
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

// heldBytes is the memory that the process has from the system.
func heldBytes() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// availableBytes is the share of the machine's, or the container's, memory
// that a search may use; 0 where the system does not tell.
func availableBytes() int64 {
	least := int64(0)
	consider := func(n int64, err error) {
		if err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
				n, err := strconv.ParseInt(f[1], 10, 64)
				consider(n*1024, err)
			}
		}
	}
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(name); err == nil {
			consider(strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64))
		}
	}
	return least / 100 * memoryShare
}
