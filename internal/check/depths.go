// SPDX-License-Identifier: Apache-2.0

package check

import "math/bits"

// depths is a table of fixed size. For each state, by its fingerprint, it
// remembers the smallest depth at which the state was met and the last round
// that met it there. A fingerprint may be in any of depthsWays neighbouring
// slots. If all of them are taken, the deepest entry is forgotten, or the new
// one if it is deeper: a state near the initial states usually has more states
// behind it.
type depths struct {
	slots     []depthSlot
	forgotten int64
}

// depthSlot holds one state; depth is 0 in an empty slot.
type depthSlot struct {
	fp           uint64
	depth, round uint32
}

const (
	depthsWays      = 8
	depthsSlotBytes = 16
)

// newDepths returns a table for at least n states.
func newDepths(states int) *depths {
	return &depths{slots: make([]depthSlot, max(depthsWays, 1<<bits.Len(uint(states-1))))}
}

// meet remembers a state and reports whether to visit it at this depth: the state
// was never met at a smaller depth, and this round has not visited it at this
// one.
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

// bytes is the size of the table.
func (t *depths) bytes() int64 { return int64(len(t.slots)) * depthsSlotBytes }
