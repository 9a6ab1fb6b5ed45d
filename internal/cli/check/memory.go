// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

const (
	// memoryShare is the part of the available memory that a search may use,
	// in percent, where the user does not say.
	memoryShare = 85
	// memoryRoom is how much a search may hold, whatever the user says, beyond what the
	// process held before: evaluation and the collector need some.
	memoryRoom = 128 << 20
)

// memoryLimit is when a search ends because of the memory that the process holds, where
// it may hold so many bytes; 0 means no limit.
func memoryLimit(wanted int64) int64 {
	if wanted == 0 {
		return availableBytes()
	}
	return max(wanted, program.HeldBytes()+memoryRoom)
}

// guardMemory ends the context that it returns with a check.Limit when the
// process holds more than limit bytes; 0 means no limit. The caller releases the
// guard.
func guardMemory(ctx context.Context, limit, wanted int64) (guarded context.Context, release func()) {
	return program.Guard(ctx, limit, wanted, memoryReached(limit))
}

// memoryReached is why a search has ended that outgrew the memory.
func memoryReached(limit int64) string {
	return fmt.Sprintf("the memory limit of %s MB was reached", console.Count(limit/1e6))
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
