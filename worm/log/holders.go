// SPDX-License-Identifier: Apache-2.0

package log

import (
	"cmp"
	"maps"
	"slices"
)

// span is the positions lo to hi-1 of one segment.
type span struct{ lo, hi Position }

// holders records the positions that each client was given and has not reported
// as settled.
type holders struct {
	spans map[uint64][]span // by client, ascending
}

const (
	// holdersMax bounds the clients that are distinguished. The positions of
	// further clients stay recorded until their segment is closed.
	holdersMax = 4096
	// spansMax bounds the spans of one client. Beyond it, two spans are merged
	// into one that also covers the gap. The extra positions matter only for
	// writes in flight when the segment is closed.
	spansMax = 64
)

// give records that a client was given positions.
func (h *holders) give(client uint64, s span) {
	if h.spans == nil {
		h.spans = map[uint64][]span{}
	}
	if _, ok := h.spans[client]; !ok && len(h.spans) >= holdersMax {
		client = 0 // no client has this nonce, so nothing settles it
	}
	l := h.spans[client]
	if n := len(l); n > 0 && l[n-1].hi == s.lo {
		l[n-1].hi = s.hi
	} else {
		l = append(l, s)
	}
	for i := 0; len(l) > spansMax && i+1 < len(l); i++ {
		if l[i].lo.Index() == l[i+1].lo.Index() {
			l[i].hi = l[i+1].hi
			l = slices.Delete(l, i+1, i+2)
		}
	}
	h.spans[client] = l
}

// settle records that a client will write nothing more below a position.
func (h *holders) settle(client uint64, below Position) {
	l := h.spans[client]
	if client == 0 || len(l) == 0 {
		return
	}
	l = slices.DeleteFunc(l, func(s span) bool { return s.hi <= below })
	if len(l) == 0 {
		delete(h.spans, client)
		return
	}
	if l[0].lo < below {
		l[0].lo = below
	}
	h.spans[client] = l
}

// below removes and returns all spans below a position, in order. A span is
// within one segment, and the position is the beginning of one.
func (h *holders) below(p Position) []span {
	var out []span
	for _, client := range slices.Sorted(maps.Keys(h.spans)) {
		l := h.spans[client]
		keep := slices.IndexFunc(l, func(s span) bool { return s.lo >= p })
		if keep < 0 {
			keep = len(l)
		}
		out = append(out, l[:keep]...)
		if l = l[keep:]; len(l) == 0 {
			delete(h.spans, client)
		} else {
			h.spans[client] = slices.Clone(l)
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	return out
}
