// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// tombstones is the set of trimmed segments. It only grows. It is stored as
// spans of neighbours, so that a log whose beginning is trimmed repeatedly
// costs one span; spans are in blocks, so that inserting one among many moves
// few.
type tombstones struct {
	blocks [][]stretch
	count  int // of stretches
}

// stretch is the segments from lo to hi, both included.
type stretch struct{ lo, hi wor.Segment }

const (
	blockMax     = 512
	stretchBytes = 16
)

// locate returns the first stretch that ends at or after s: its block and its
// index there, or the end of the last block.
func (t *tombstones) locate(s wor.Segment) (int, int) {
	ends := func(x stretch, s wor.Segment) int {
		if x.hi < s {
			return -1
		}
		return 1
	}
	b, _ := slices.BinarySearchFunc(t.blocks, s, func(block []stretch, s wor.Segment) int {
		return ends(block[len(block)-1], s)
	})
	if b == len(t.blocks) {
		return b, 0
	}
	i, _ := slices.BinarySearchFunc(t.blocks[b], s, ends)
	return b, i
}

func (t *tombstones) has(s wor.Segment) bool {
	if len(t.blocks) == 0 {
		return false
	}
	b, i := t.locate(s)
	return b < len(t.blocks) && t.blocks[b][i].lo <= s
}

// add adds the segments from lo to hi and says whether one of them is new.
func (t *tombstones) add(lo, hi wor.Segment) bool {
	x := stretch{lo, hi}
	if lo > 0 {
		lo-- // one that ends just before is joined
	}
	b, i := t.locate(lo)
	for b < len(t.blocks) && (t.blocks[b][i].lo <= x.hi || t.blocks[b][i].lo-1 == x.hi) {
		y := t.blocks[b][i]
		if y.lo <= x.lo && x.hi <= y.hi {
			return false
		}
		x.lo, x.hi = min(x.lo, y.lo), max(x.hi, y.hi)
		b, i = t.remove(b, i)
	}
	t.insert(b, i, x)
	return true
}

// remove removes a stretch and returns the position of the next one.
func (t *tombstones) remove(b, i int) (int, int) {
	t.count--
	block := slices.Delete(t.blocks[b], i, i+1)
	t.blocks[b] = block
	switch {
	case len(t.blocks[b]) == 0:
		t.blocks = slices.Delete(t.blocks, b, b+1)
		return b, 0
	case i == len(t.blocks[b]):
		return b + 1, 0
	}
	return b, i
}

// insert puts a stretch before the one at index i of block b.
func (t *tombstones) insert(b, i int, x stretch) {
	t.count++
	if len(t.blocks) == 0 {
		t.blocks = append(t.blocks, []stretch{x})
		return
	}
	if b == len(t.blocks) {
		b--
		i = len(t.blocks[b])
	}
	block := slices.Insert(t.blocks[b], i, x)
	t.blocks[b] = block
	if n := len(t.blocks[b]); n > blockMax {
		right := slices.Clone(t.blocks[b][n/2:])
		t.blocks[b] = slices.Clone(t.blocks[b][:n/2])
		t.blocks = slices.Insert(t.blocks, b+1, right)
	}
}

// all calls yield with the stretches from segment s on, in order, until it
// returns false; the first begins at s or later.
func (t *tombstones) all(s wor.Segment, yield func(x stretch) bool) {
	if len(t.blocks) == 0 {
		return
	}
	b, i := t.locate(s)
	for ; b < len(t.blocks); b, i = b+1, 0 {
		for _, x := range t.blocks[b][i:] {
			if !yield(stretch{max(x.lo, s), x.hi}) {
				return
			}
		}
	}
}

// bytes is the memory of the set: blocks are half full at worst.
func (t *tombstones) bytes() int64 { return int64(t.count) * 2 * stretchBytes }
