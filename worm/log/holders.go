package log

import (
	"cmp"
	"maps"
	"slices"
)

// span is the positions lo to hi-1 of one segment.
type span struct{ lo, hi Position }

// holders is who was given which positions and has not reported them settled.
type holders struct {
	spans map[uint64][]span // by client, ascending
}

const (
	// holdersMax bounds the clients that are told apart; the others' positions
	// stay until their segment is closed.
	holdersMax = 4096
	// spansMax bounds the spans of one client; beyond, two become one that
	// covers what is between. Too much in a span does no harm but to what is
	// still being written when the segment is closed.
	spansMax = 64
)

// give notes that a client was given positions.
func (h *holders) give(client uint64, s span) {
	if h.spans == nil {
		h.spans = map[uint64][]span{}
	}
	if _, ok := h.spans[client]; !ok && len(h.spans) >= holdersMax {
		client = 0 // which no client is, so that nothing settles it
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

// settle notes that a client writes nothing any more below a position.
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

// below takes out all spans below a position, in order. A span is of one segment,
// and the position is a segment's beginning.
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
