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
	// memoryRoom is how much memory a search may hold in addition to the process's
	// memory before the search, even if --memory is less: evaluation and the
	// collector need some.
	memoryRoom = 128 << 20
)

// bounds are the memory limits of a search, in bytes; 0 means no limit.
type bounds struct {
	// states bounds the memory for the search's knowledge of states; the rest
	// goes to disk.
	states int64
	// process bounds the memory of the process: beyond it the search ends.
	process int64
	// reached is the reason that the search reports when it exceeds process.
	reached string
}

// memoryBounds returns the bounds of a search. wanted is the value of --memory, or 0
// without the flag; held is the memory that the process holds; available is how much
// more it may use, negative if unknown. All are in bytes.
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
		why = fmt.Sprintf(": --memory %s, raised to %s more than the program used at the start", inUnits(wanted), inUnits(memoryRoom))
	}
	b.reached = fmt.Sprintf("the memory limit of %s was reached%s", inUnits(b.process>>20<<20), why)
	return b
}

// rest returns how much memory a second process may hold under the limit while this one
// holds held bytes. The second process always gets some room to evaluate, but at most
// half of the limit if this process holds nearly all of it.
func rest(limit, held int64) int64 { return max(limit-held, min(limit/2, memoryRoom)) }

// inUnits formats bytes in the form that --memory accepts.
func inUnits(bytes int64) string { return (&size.Value{Bytes: bytes}).String() }

// guard returns a context that ends with a check.Limit when the process exceeds its
// memory bound. The caller must release the guard.
func (b bounds) guard(ctx context.Context) (guarded context.Context, release func()) {
	return program.Guard(ctx, b.process, b.states, b.reached)
}

// availableBytes returns how much memory a search may use beyond what the process
// holds. It is negative if the system does not report the available memory.
func availableBytes() int64 {
	all := memory.Available()
	if all < 0 {
		return all
	}
	return all / 100 * memoryShare
}
