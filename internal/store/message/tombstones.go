// SPDX-License-Identifier: Apache-2.0

package message

import (
	"bytes"
	"sort"
)

// Cover is how range tombstones cover the keys in [Lo, Hi): Seq is the number of the newest
// over all of them, 0: there is none. A nil bound is open.
type Cover struct {
	Lo, Hi []byte
	Seq    Seq
}

// Place is a place among keys: that of the key At, or with Below the one that comes just before
// At, above all smaller keys.
type Place struct {
	At    []byte
	Below bool
}

// after reports whether the place is at or above the bound: in a range that begins there,
// and not in one that ends there.
func (p Place) after(bound []byte) bool {
	c := bytes.Compare(bound, p.At)
	return c < 0 || c == 0 && !p.Below
}

// Has reports whether the place is in the range.
func (c *Cover) Has(p Place) bool {
	return (c.Lo == nil || p.after(c.Lo)) && (c.Hi == nil || !p.after(c.Hi))
}

// Meet makes c the cover by the tombstones of both, where the ranges of both are.
func (c *Cover) Meet(d Cover) {
	c.Seq = max(c.Seq, d.Seq)
	c.Within(d.Lo, d.Hi)
}

// Within cuts the range to what is in [lo, hi).
func (c *Cover) Within(lo, hi []byte) {
	if lo != nil && (c.Lo == nil || bytes.Compare(c.Lo, lo) < 0) {
		c.Lo = lo
	}
	if hi != nil && (c.Hi == nil || bytes.Compare(hi, c.Hi) < 0) {
		c.Hi = hi
	}
}

// Tombstones are range tombstones in the order of their lower bounds, wherever they are
// stored. They do not change, and are safe for concurrent use. They take a byte of the Go heap
// for each 8 of them.
//
// To find the tombstones over a place, those that begin before it are passed over
// backwards. Two lists of groupSize tombstones each keep that short: the one of a group that
// reaches furthest, and the one of this group and all before it.
type Tombstones struct {
	n      int
	at     func(i int) RangeTombstone
	newest Seq
	// By the number of the group.
	furthest, before []int32
}

// groupSize is how many tombstones a group has.
const groupSize = 64

// NewTombstones returns the set of n tombstones, which at returns, at any time, in order.
func NewTombstones(n int, at func(i int) RangeTombstone) *Tombstones {
	s := &Tombstones{n: n, at: at}
	for i := range n {
		t := at(i)
		s.newest = max(s.newest, t.Seq)
		if i%groupSize == 0 {
			s.furthest = append(s.furthest, int32(i))
			s.before = append(s.before, int32(i))
		}
		g := i / groupSize
		if bytes.Compare(t.Hi, at(int(s.furthest[g])).Hi) > 0 {
			s.furthest[g] = int32(i)
		}
		if i%groupSize == groupSize-1 || i == n-1 {
			s.before[g] = s.furthest[g]
			if g > 0 {
				before := at(int(s.before[g-1]))
				furthest := at(int(s.furthest[g]))
				if bytes.Compare(before.Hi, furthest.Hi) > 0 {
					s.before[g] = s.before[g-1]
				}
			}
		}
	}
	return s
}

// Len is how many there are, of the nil set none.
func (s *Tombstones) Len() int {
	if s == nil {
		return 0
	}
	return s.n
}

// Newest is the largest of their numbers.
func (s *Tombstones) Newest() Seq { return s.newest }

// Around returns how those up to the number at cover the place, and a range around it
// that they cover in the same way. It aliases their bounds.
func (s *Tombstones) Around(p Place, at Seq) Cover {
	var c Cover
	i := sort.Search(s.n, func(i int) bool { return !p.after(s.at(i).Lo) })
	if i < s.n {
		c.Hi = s.at(i).Lo
	}
	if i > 0 {
		c.Lo = s.at(i - 1).Lo
	}
	var end []byte // of the newest
	for i--; i >= 0; i-- {
		g := i / groupSize
		if i%groupSize == groupSize-1 {
			// What ends before the place covers none from there on.
			if far := s.at(int(s.before[g])).Hi; p.after(far) {
				c.Within(far, nil)
				break
			}
			if far := s.at(int(s.furthest[g])).Hi; p.after(far) {
				c.Within(far, nil)
				i -= groupSize - 1
				continue
			}
		}
		t := s.at(i)
		switch {
		case p.after(t.Hi):
			c.Within(t.Hi, nil)
		case t.Seq <= at && t.Seq > c.Seq:
			c.Seq, end = t.Seq, t.Hi
		}
	}
	c.Within(nil, end)
	return c
}
