// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/cli/memory"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
	"github.com/ashlar-dev/ashlar/internal/search/program"
)

const (
	// memoryShare is the part of the available memory that a search may use, in percent.
	memoryShare = 85
	// memoryRoom is how much a search may hold beyond what the process held before it
	// began, even if --memory is less: evaluation and the collector need some.
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

// memoryBounds are the bounds of a search for which --memory asks for wanted bytes, 0 if
// there is no such flag, when the process holds held bytes and may use available bytes
// more, which is negative where it is not known.
func memoryBounds(wanted, available, held int64) bounds {
	raised := held + memoryRoom
	b := bounds{states: wanted, process: max(wanted, raised)}
	limit := held + available
	known, why := available >= 0, ""
	switch {
	case wanted == 0 && !known:
		return bounds{}
	case wanted == 0:
		b.states, b.process = limit, limit
		why = ": no more was available at the start"
	case known && limit < b.process:
		b.states, b.process = min(wanted, limit), limit
		why = fmt.Sprintf(": --memory %s, but no more was available at the start", inUnits(wanted))
		if limit > wanted {
			why = fmt.Sprintf(": --memory %s, raised to what was available at the start", inUnits(wanted))
		}
	case raised > wanted:
		why = fmt.Sprintf(": --memory %s, raised to %s beyond what the program held at the start", inUnits(wanted), inUnits(memoryRoom))
	}
	b.reached = fmt.Sprintf("the memory limit of %s was reached%s", inUnits(b.process>>20<<20), why)
	return b
}

// rest is how much of a limit a second process may hold while this one holds held bytes.
// It has room to evaluate in any case, but no more than half of the limit where this
// process has nearly all: the memory that this one holds is not there for the other.
func rest(limit, held int64) int64 { return max(limit-held, min(limit/2, memoryRoom)) }

// inUnits writes bytes as --memory reads them.
func inUnits(bytes int64) string { return (&size.Value{Bytes: bytes}).String() }

// guard ends the context that it returns with a check.Limit when the process holds more
// than it may. The caller releases the guard.
func (b bounds) guard(ctx context.Context) (guarded context.Context, release func()) {
	return program.Guard(ctx, b.process, b.states, b.reached)
}

// availableBytes is how much memory a search may use beyond what the process holds;
// negative where the system does not say how much is available.
func availableBytes() int64 {
	all := memory.Available()
	if all < 0 {
		return all
	}
	return all / 100 * memoryShare
}
