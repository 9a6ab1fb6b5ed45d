// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

const (
	// memoryShare is the part of the available memory that a search may use, in percent.
	memoryShare = 85
	// memoryRoom is how much a search may hold beyond what the process held before it
	// began, whatever --memory says: evaluation and the collector need some.
	memoryRoom = 128 << 20
)

// bounds are how much memory a search may hold, in bytes; 0 means no bound.
type bounds struct {
	// states bounds what the search knows of states: the rest goes to disk.
	states int64
	// process bounds the process: the search ends when it holds more.
	process int64
	// reached states why a search has ended that exceeded process.
	reached string
}

// memoryBounds are the bounds of a search for which --memory asks for wanted bytes, where
// so many are available and the process holds so many; each is 0 where it is not known.
func memoryBounds(wanted, available, held int64) bounds {
	b := bounds{states: wanted, process: max(wanted, held+memoryRoom)}
	flag, why := (&size.Value{Bytes: wanted}).String(), ""
	if b.process > wanted {
		why = fmt.Sprintf(": --memory %s, raised to %d MiB more than the program held before", flag, memoryRoom>>20)
	}
	switch {
	case wanted == 0:
		b.states, b.process, why = available, available, ""
	case available > 0 && available < b.process:
		b.states, b.process = min(wanted, available), available
		why = fmt.Sprintf(": --memory %s, but only that much was available", flag)
	}
	b.reached = fmt.Sprintf("the memory limit of %s MB was reached%s", console.Count(b.process/1e6), why)
	return b
}

// guard ends the context that it returns with a check.Limit when the process holds more
// than it may. The caller releases the guard.
func (b bounds) guard(ctx context.Context) (guarded context.Context, release func()) {
	return program.Guard(ctx, b.process, b.states, b.reached)
}

// availableBytes is the share of the machine's, or the container's, memory
// that a search may use; 0 where the system does not say.
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
