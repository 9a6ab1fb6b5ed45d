// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"slices"
)

// lives are the lives of this server that its disk knows of, oldest first, the
// present one last: the position of each is where it began, so that it ended
// where the next one begins. Generations grow from one to the next; a generation
// that is missing was that of a start which ended before it wrote itself down,
// and so before it reported anything.
type lives []sighting

// livesMax bounds the lives that a server remembers, in memory and in its log;
// beyond it, the oldest is forgotten. A sighting of a life that was forgotten
// counts as one that the disk never knew, and mutes the server. That takes a
// member that has been away during so many starts, and is on the safe side: a
// disk that has forgotten may as well have been put back.
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
