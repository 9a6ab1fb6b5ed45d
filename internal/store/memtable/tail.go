// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Tail is the messages that a table took between two moments, in the order of
// their numbers. It may be read beside the writer, as long as the arena stays.
type Tail struct {
	arena   arena
	at, end int
	gaps    []gap // that end after at
}

// Tail returns the messages from that place on, which is what Pos was at an
// earlier moment, or the base of the table. It belongs to the writer, as View does.
func (t *Table) Tail(from int) Tail {
	first := sort.Search(len(t.gaps), func(i int) bool { return t.gaps[i].hi > from })
	return Tail{arena: t.arena, at: from, end: t.pos, gaps: slices.Clone(t.gaps[first:])}
}

// Bytes is the number of bytes that are left.
func (x *Tail) Bytes() int { return x.end - x.at }

// Next returns the next message, whose slices alias the arena. False means that
// there is none.
func (x *Tail) Next() (m message.Message, ok bool) {
	for len(x.gaps) > 0 && x.gaps[0].lo <= x.at {
		x.at, x.gaps = x.gaps[0].hi, x.gaps[1:]
	}
	if x.at >= x.end {
		return m, false
	}
	p := Pos(x.at)
	x.at += x.arena.size(p)
	return x.arena.message(p), true
}
