// SPDX-License-Identifier: Apache-2.0

package check

import "math/bits"

// depths is a table of fixed size that remembers, for states by their
// fingerprints, the least depth at which they were met, and in which round that
// was last so. A fingerprint has its place among depthsWays neighbours. Where
// these are all taken, the deepest of them is forgotten, or what is to be
// remembered if that is deeper: the fewer states lie before a state, the more
// may follow it.
type depths struct {
	slots     []depthSlot
	forgotten int64
}

// depthSlot is a state; its depth is 0 where there is none.
type depthSlot struct {
	fp           uint64
	depth, round uint32
}

const (
	depthsWays      = 8
	depthsSlotBytes = 16
)

// newDepths makes a table for at least so many states.
func newDepths(states int) *depths {
	return &depths{slots: make([]depthSlot, max(depthsWays, 1<<bits.Len(uint(states-1))))}
}

// meet remembers a state and says whether it is to be visited at this depth:
// whether it was not visited so in this round, and was never met at a lesser one.
func (t *depths) meet(fp uint64, depth, round int) bool {
	first := int(fp) & (len(t.slots) - 1) &^ (depthsWays - 1)
	now := depthSlot{fp, uint32(depth), uint32(round)}
	worst := &t.slots[first]
	for i := first; i < first+depthsWays; i++ {
		s := &t.slots[i]
		if s.depth == 0 {
			*s = now
			return true
		}
		if s.fp == fp {
			if s.depth < now.depth || *s == now {
				return false
			}
			*s = now
			return true
		}
		if s.depth > worst.depth {
			worst = s
		}
	}
	t.forgotten++
	if worst.depth > now.depth {
		*worst = now
	}
	return true
}

// bytes is what the table takes.
func (t *depths) bytes() int64 { return int64(len(t.slots)) * depthsSlotBytes }
