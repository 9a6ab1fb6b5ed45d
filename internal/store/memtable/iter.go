// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// cursor is a place in a run: before it (-1), on a message, or behind it.
type cursor struct {
	run *run
	i   int
	key []byte // of the message at i
	seq message.Seq
}

// iter merges the runs of a view. Going forward every cursor is on the
// first message of its run that is not before the current one; going back, on
// the last that is not behind it. The order of the cursors that have not run
// out is kept, so a step mostly compares with one other: runs are of very
// different length.
type iter struct {
	view    *View
	arena   arena
	cursors []cursor
	few     [4]cursor
	order   [runsMax]uint8 // the live cursors, the current one first
	live    int
	back    bool
}

var _ message.Iter = (*iter)(nil)

// load reads the message of a cursor; false when it has run out.
func (it *iter) load(c *cursor) bool {
	if c.i < 0 || c.i >= c.run.len() {
		return false
	}
	p := c.run.pos(c.i)
	c.key, c.seq = it.arena.key(p), it.arena.seq(p)
	return true
}

// first reports whether cursor a comes before b in the direction of travel.
func (it *iter) first(a, b *cursor) bool {
	c := bytes.Compare(a.key, b.key)
	if c == 0 {
		return (a.seq > b.seq) != it.back
	}
	return c < 0 != it.back
}

// settle loads and orders all cursors, after each was given its place.
func (it *iter) settle(back bool) bool {
	it.back, it.live = back, 0
	for i := range it.cursors {
		if !it.load(&it.cursors[i]) {
			continue
		}
		it.live++
		at := it.live - 1
		for at > 0 && it.first(&it.cursors[i], &it.cursors[it.order[at-1]]) {
			it.order[at] = it.order[at-1]
			at--
		}
		it.order[at] = uint8(i)
	}
	return it.live > 0
}

// step moves the current cursor by one and lets it sink to its place.
func (it *iter) step(by int) bool {
	current := it.order[0]
	c := &it.cursors[current]
	c.i += by
	if !it.load(c) {
		it.live--
		copy(it.order[:it.live], it.order[1:it.live+1])
		return it.live > 0
	}
	at := 0
	for at+1 < it.live && it.first(&it.cursors[it.order[at+1]], c) {
		it.order[at] = it.order[at+1]
		at++
	}
	it.order[at] = current
	return true
}

func (it *iter) First() bool {
	for i := range it.cursors {
		it.cursors[i].i = 0
	}
	return it.settle(false)
}

func (it *iter) Last() bool {
	for i := range it.cursors {
		it.cursors[i].i = it.cursors[i].run.len() - 1
	}
	return it.settle(true)
}

func (it *iter) SeekGE(key []byte) bool {
	for i := range it.cursors {
		it.cursors[i].i = it.cursors[i].run.seek(key)
	}
	return it.settle(false)
}

func (it *iter) SeekLT(key []byte) bool {
	for i := range it.cursors {
		it.cursors[i].i = it.cursors[i].run.seek(key) - 1
	}
	return it.settle(true)
}

func (it *iter) Next() bool {
	invariant.Check(it.live > 0, "memtable: Next on an iterator that is not at a message")
	if !it.back {
		return it.step(1)
	}
	// All cursors stand at or before the current message: what follows each
	// is behind it.
	for i := range it.cursors {
		it.cursors[i].i++
	}
	return it.settle(false)
}

func (it *iter) Prev() bool {
	invariant.Check(it.live > 0, "memtable: Prev on an iterator that is not at a message")
	if it.back {
		return it.step(-1)
	}
	for i := range it.cursors {
		it.cursors[i].i--
	}
	return it.settle(true)
}

func (it *iter) Message() message.Message {
	invariant.Check(it.live > 0, "memtable: Message on an iterator that is not at a message")
	c := &it.cursors[it.order[0]]
	return it.arena.message(c.run.pos(c.i))
}

func (it *iter) Err() error { return nil }

func (it *iter) Close() {
	invariant.Check(it.view != nil, "memtable: iterator closed twice")
	it.view.Release()
	it.view, it.cursors, it.live = nil, nil, 0
}
