// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// A tombstone in an index: its number, the lengths of both bounds, the bounds.
const tombstoneHeader = 12

func tombstoneSize(t message.RangeTombstone) int { return tombstoneHeader + len(t.Lo) + len(t.Hi) }

func putTombstone(b []byte, t message.RangeTombstone) {
	binary.LittleEndian.PutUint64(b, uint64(t.Seq))
	binary.LittleEndian.PutUint16(b[8:], uint16(len(t.Lo)))
	binary.LittleEndian.PutUint16(b[10:], uint16(len(t.Hi)))
	copy(b[tombstoneHeader+copy(b[tombstoneHeader:], t.Lo):], t.Hi)
}

// readTombstone reads the tombstone at the start of b, which it aliases; ok is
// false when it does not fit.
func readTombstone(b []byte) (t message.RangeTombstone, ok bool) {
	if len(b) < tombstoneHeader {
		return t, false
	}
	lo, hi := int(binary.LittleEndian.Uint16(b[8:])), int(binary.LittleEndian.Uint16(b[10:]))
	if len(b) < tombstoneHeader+lo+hi {
		return t, false
	}
	lo += tombstoneHeader
	return message.RangeTombstone{
		Seq: message.Seq(binary.LittleEndian.Uint64(b)),
		Lo:  b[tombstoneHeader:lo:lo], Hi: b[lo : lo+hi : lo+hi],
	}, true
}

// compareTombstones orders by the lower bound, then the newest first, then the
// longest first.
func compareTombstones(a, b message.RangeTombstone) int {
	if c := bytes.Compare(a.Lo, b.Lo); c != 0 {
		return c
	}
	if c := cmp.Compare(b.Seq, a.Seq); c != 0 {
		return c
	}
	return bytes.Compare(b.Hi, a.Hi)
}

// covered reports whether b adds nothing to a, which comes before it: both are of
// the same change.
func covered(a, b message.RangeTombstone) bool {
	return a.Seq == b.Seq && bytes.Equal(a.Lo, b.Lo)
}

// tombstone is the i-th in order.
func (x *Index) tombstone(i int) message.RangeTombstone {
	t, _ := readTombstone(x.tombs[binary.LittleEndian.Uint32(x.tombAt[4*i:]):])
	return t
}

// Ranges goes through the branch's range tombstones, by their lower bounds and of
// one bound the newest first. They alias the index.
func (x *Index) Ranges() iter.Seq[message.RangeTombstone] {
	return func(yield func(message.RangeTombstone) bool) {
		for i := range x.tombCount {
			if !yield(x.tombstone(i)) {
				return
			}
		}
	}
}

// Tombstones are those of Ranges, in memory of the Go heap.
func (x *Index) Tombstones() []message.RangeTombstone { return slices.Collect(x.Ranges()) }

// Cover is how the branch's range tombstones up to at cover keys around a place. It aliases the
// index.
func (x *Index) Cover(p message.Place, at message.Seq) message.Cover { return x.ranges.Around(p, at) }

// Newest is the largest number of a range tombstone.
func (x *Index) Newest() message.Seq { return x.ranges.Newest() }

// Covering returns the number of the newest tombstone up to at that covers key,
// or 0 if there is none.
func (x *Index) Covering(key []byte, at message.Seq) message.Seq {
	if x.tombCount == 0 {
		return 0
	}
	return x.Cover(message.Place{At: key}, at).Seq
}

// Over is the number of the newest tombstone that covers all of [lo, hi); 0 when there
// is none.
func (x *Index) Over(lo, hi []byte) message.Seq {
	// Those that begin at or below lo are a prefix of all.
	n := sort.Search(x.tombCount, func(i int) bool { return bytes.Compare(lo, x.tombstone(i).Lo) < 0 })
	newest := message.Seq(0)
	for i := n - 1; i >= 0; i-- {
		// Nothing up to i reaches further than the one that reaches furthest.
		furthest := int(binary.LittleEndian.Uint32(x.tombFar[4*i:]))
		if bytes.Compare(x.tombstone(furthest).Hi, hi) < 0 {
			break
		}
		if t := x.tombstone(i); t.Seq > newest && bytes.Compare(hi, t.Hi) <= 0 {
			newest = t.Seq
		}
	}
	return newest
}
