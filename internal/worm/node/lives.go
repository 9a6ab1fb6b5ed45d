// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"slices"
)

// lives are the lives of this server that its disk knows, oldest first, the present one
// last. The position of each is where it began, so it ended where the next one begins.
// Generations increase from one to the next; a missing generation belongs to a start that
// ended before it was written down, and so before it reported anything.
type lives []sighting

// livesMax bounds the lives that a server remembers, in memory and in its log; beyond it,
// the oldest is forgotten. A sighting of a forgotten life counts as one that the disk
// never knew, and mutes the server. That happens only if a member was away during so many
// starts, and it is the safe side: a disk that was restored to an earlier state would
// look the same.
const livesMax = 1 << 16

// add adds a life that begins. Replaying a log may meet a life again.
func (l lives) add(s sighting) lives {
	if n := len(l); n > 0 && s.generation <= l[n-1].generation {
		return l
	}
	if len(l) >= livesMax {
		l = slices.Delete(l, 0, 1+len(l)-livesMax)
	}
	return append(l, s)
}

// past reports whether a sighting of this server is in the past of its disk:
// the disk knows that life, and has everything that the life had when it was
// seen. If there is no sighting, the answer is yes.
func (l lives) past(seen sighting) bool {
	if seen == (sighting{}) {
		return true
	}
	i, found := slices.BinarySearchFunc(l, seen.generation, func(s sighting, g uint64) int { return cmp.Compare(s.generation, g) })
	return found && l[i].life == seen.life && (i == len(l)-1 || seen.position <= l[i+1].position)
}
