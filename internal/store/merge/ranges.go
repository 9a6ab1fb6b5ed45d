// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// ranges is a set of tombstones cut into spans: sorted, disjoint, and each with
// the number of the newest tombstone over it. At one moment no older tombstone
// matters, since the newest hides whatever they hide. It holds a place among
// the spans, which follows the keys that are asked for.
type ranges struct {
	spans  []message.RangeTombstone
	at     int // the first span that ends above the last key asked for
	byLo   []message.RangeTombstone
	active []message.RangeTombstone // a heap, the newest at the top
}

// reset cuts the tombstones with numbers above after and up to at, in what is
// in [lo, hi), where nil is no bound. It keeps slices of the keys.
func (r *ranges) reset(tombstones []message.RangeTombstone, after, at message.Seq, lo, hi []byte) {
	r.spans, r.byLo, r.active, r.at = r.spans[:0], r.byLo[:0], r.active[:0], 0
	for _, t := range tombstones {
		if t.Seq > after && t.Seq <= at {
			r.byLo = AppendClipped(r.byLo, t, lo, hi)
		}
	}
	r.cut()
}

// workMax is how many tombstones the memory for cutting is kept for.
const workMax = 64

// cut makes the spans.
//
// A line sweeps over the tombstones in the order of their lower ends. At each
// place the newest of those that are open there is the top of a heap; one that
// has ended is taken out when it comes to the top.
func (r *ranges) cut() {
	defer func() {
		if cap(r.byLo) > workMax {
			r.byLo, r.active = nil, nil
		}
	}()
	if len(r.byLo) == 0 {
		return
	}
	slices.SortFunc(r.byLo, func(a, b message.RangeTombstone) int { return bytes.Compare(a.Lo, b.Lo) })
	place, next := r.byLo[0].Lo, 0
	for {
		for next < len(r.byLo) && bytes.Compare(r.byLo[next].Lo, place) <= 0 {
			r.push(r.byLo[next])
			next++
		}
		for len(r.active) > 0 && bytes.Compare(r.active[0].Hi, place) <= 0 {
			r.pop()
		}
		if len(r.active) == 0 {
			if next == len(r.byLo) {
				return
			}
			place = r.byLo[next].Lo
			continue
		}
		end := r.active[0].Hi
		if next < len(r.byLo) && bytes.Compare(r.byLo[next].Lo, end) < 0 {
			end = r.byLo[next].Lo
		}
		r.span(place, end, r.active[0].Seq)
		place = end
	}
}

// span appends a span, or makes the last one longer.
func (r *ranges) span(lo, hi []byte, seq message.Seq) {
	if n := len(r.spans); n > 0 && r.spans[n-1].Seq == seq && bytes.Equal(r.spans[n-1].Hi, lo) {
		r.spans[n-1].Hi = hi
		return
	}
	r.spans = append(r.spans, message.RangeTombstone{Lo: lo, Hi: hi, Seq: seq})
}

func (r *ranges) push(t message.RangeTombstone) {
	r.active = append(r.active, t)
	for i := len(r.active) - 1; i > 0; {
		up := (i - 1) / 2
		if r.active[up].Seq >= r.active[i].Seq {
			return
		}
		r.active[up], r.active[i] = r.active[i], r.active[up]
		i = up
	}
}

func (r *ranges) pop() {
	last := len(r.active) - 1
	r.active[0] = r.active[last]
	r.active = r.active[:last]
	for i := 0; ; {
		big := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if r.active[c].Seq > r.active[big].Seq {
				big = c
			}
		}
		if big == i {
			return
		}
		r.active[big], r.active[i] = r.active[i], r.active[big]
		i = big
	}
}

// over is the number of the newest tombstone over the key, or zero. It looks
// near the last key asked for.
func (r *ranges) over(key []byte) message.Seq {
	for r.at < len(r.spans) && bytes.Compare(r.spans[r.at].Hi, key) <= 0 {
		r.at++
	}
	for r.at > 0 && bytes.Compare(key, r.spans[r.at-1].Hi) < 0 {
		r.at--
	}
	if r.at < len(r.spans) && bytes.Compare(r.spans[r.at].Lo, key) <= 0 {
		return r.spans[r.at].Seq
	}
	return 0
}

// AppendClipped appends the part of the tombstone in [lo, hi), if there is any;
// nil means no bound. It retains slices of the keys.
func AppendClipped(dst []message.RangeTombstone, t message.RangeTombstone, lo, hi []byte) []message.RangeTombstone {
	if lo != nil && bytes.Compare(t.Lo, lo) < 0 {
		t.Lo = lo
	}
	if hi != nil && bytes.Compare(t.Hi, hi) > 0 {
		t.Hi = hi
	}
	if bytes.Compare(t.Lo, t.Hi) >= 0 {
		return dst
	}
	return append(dst, t)
}
