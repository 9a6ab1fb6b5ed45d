// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// leafMax is the maximum number of values in a leaf.
const leafMax = 128

// The sizes, in bytes, at which the parts of the state are counted, besides
// values.
const (
	segmentBytes = 192
	cellBytes    = 56
	spanBytes    = 24
)

// cell is a written register.
type cell struct {
	offset   uint32
	accepted wor.Ballot
	value    []byte
}

// span is the run of registers lo to hi-1, which were captured at the same
// ballot.
type span struct {
	lo, hi uint32
	ballot wor.Ballot
}

// segment holds the registers of a segment. Its leaves are not empty, and the
// offsets of their cells ascend across all leaves. Its spans ascend and do not
// overlap. A trimmed segment has neither.
type segment struct {
	trimmed bool
	leaves  [][]cell
	spans   []span
}

// place is the position of the first cell at or after an offset.
type place struct{ leaf, index int }

func (s *segment) place(offset uint32) place {
	leaf := sort.Search(len(s.leaves), func(i int) bool {
		l := s.leaves[i]
		return l[len(l)-1].offset >= offset
	})
	if leaf == len(s.leaves) {
		return place{leaf, 0}
	}
	l := s.leaves[leaf]
	return place{leaf, sort.Search(len(l), func(i int) bool { return l[i].offset >= offset })}
}

// at returns the cell at a place, or nil at the end, and the next place.
func (s *segment) at(p place) (*cell, place) {
	if p.leaf == len(s.leaves) {
		return nil, p
	}
	c := &s.leaves[p.leaf][p.index]
	if p.index++; p.index == len(s.leaves[p.leaf]) {
		p = place{p.leaf + 1, 0}
	}
	return c, p
}

// put adds a cell unless there is one at its offset, and reports whether it
// did.
func (s *segment) put(c cell) bool {
	p := s.place(c.offset)
	if p.leaf == len(s.leaves) {
		// The cell comes after all others. Registers are mostly written in
		// order, so a full leaf is not split here: it stays full.
		if n := len(s.leaves); n > 0 && len(s.leaves[n-1]) < leafMax {
			last := append(s.leaves[n-1], c)
			s.leaves[n-1] = last
		} else {
			s.leaves = append(s.leaves, []cell{c})
		}
		return true
	}
	l := s.leaves[p.leaf]
	if l[p.index].offset == c.offset {
		return false
	}
	if len(l) < leafMax {
		l = slices.Insert(l, p.index, c)
		s.leaves[p.leaf] = l
		return true
	}
	half := len(l) / 2
	right := slices.Clone(l[half:])
	s.leaves[p.leaf] = slices.Clip(l[:half])
	s.leaves = slices.Insert(s.leaves, p.leaf+1, right)
	if p.index > half {
		p = place{p.leaf + 1, p.index - half}
	}
	l = slices.Insert(s.leaves[p.leaf], p.index, c)
	s.leaves[p.leaf] = l
	return true
}

// promise captures [lo, hi) at a ballot. Where a higher ballot was promised, that one
// remains.
func (s *segment) promise(lo, hi uint32, b wor.Ballot) {
	from := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].hi > lo })
	to := from
	var next []span
	add := func(n span) {
		if n.lo >= n.hi {
			return
		}
		if k := len(next); k > 0 && next[k-1].hi == n.lo && next[k-1].ballot == n.ballot {
			next[k-1].hi = n.hi
			return
		}
		next = append(next, n)
	}
	if from > 0 {
		// The neighbouring spans are included, so that adjacent spans with the
		// same ballot are merged.
		from--
		add(s.spans[from])
		to = from + 1
	}
	at := lo
	for ; to < len(s.spans) && s.spans[to].lo < hi; to++ {
		old := s.spans[to]
		add(span{old.lo, min(old.hi, lo), old.ballot})
		add(span{at, max(at, old.lo), b})
		high := old.ballot
		if high.Less(b) {
			high = b
		}
		add(span{max(old.lo, lo), min(old.hi, hi), high})
		add(span{max(old.lo, hi), old.hi, old.ballot})
		at = min(old.hi, hi)
	}
	add(span{at, hi, b})
	if to < len(s.spans) {
		add(s.spans[to])
		to++
	}
	s.spans = slices.Replace(s.spans, from, to, next...)
}

// walk visits [lo, hi) in pieces: a written register (c), or a run of unwritten
// registers with the same promise. It ends when yield returns false. yield must
// not change the segment.
func (s *segment) walk(lo, hi uint32, yield func(lo, hi uint32, promised wor.Ballot, c *cell) bool) {
	p := s.place(lo)
	k := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].hi > lo })
	for lo < hi {
		c, after := s.at(p)
		end := hi
		if c != nil {
			end = min(end, c.offset)
		}
		for k < len(s.spans) && s.spans[k].hi <= lo {
			k++
		}
		var promised wor.Ballot
		inside := k < len(s.spans) && s.spans[k].lo <= lo
		if inside {
			promised = s.spans[k].ballot
		}
		if c != nil && c.offset == lo {
			if !yield(lo, lo+1, promised, c) {
				return
			}
			lo, p = lo+1, after
			continue
		}
		if inside {
			end = min(end, s.spans[k].hi)
		} else if k < len(s.spans) {
			end = min(end, s.spans[k].lo)
		}
		if !yield(lo, end, promised, nil) {
			return
		}
		lo = end
	}
}
