// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
)

// Atom returns the value of an atom in a state or on a step. It uses packed code
// where it can.
func (w *packedWorker) Atom(i int, s, t check.State) (bool, error) {
	a, q := w.m.live.atoms[i], &w.asking
	if q.words == nil {
		n := w.p.layout.Words()
		q.words, q.next = make([]uint64, n), make([]uint64, n)
	}
	packed := w.p.layout.LoadBytes(q.words, s)
	nextPacked := t != nil && w.p.layout.LoadBytes(q.next, t)
	if n := w.p.preds[a.f.id]; n >= 0 && packed && (t == nil || nextPacked) {
		next := q.next
		if t == nil {
			next = nil
		}
		if holds, ok := w.machine.Holds(n, q.words, next); ok {
			return holds, nil
		}
	}
	q.prepare(w.m)
	w.unpack(q.words, packed, s, q.cur)
	if t == nil {
		return w.atom(a, q.cur, vector.Vector{})
	}
	w.unpack(q.next, nextPacked, t, q.nxt)
	return w.atom(a, q.cur, q.nxt)
}

// unpack fills a vector with the values of a state.
func (w *packedWorker) unpack(words []uint64, packed bool, s check.State, to vector.Vector) {
	if packed {
		w.load(words, to)
	} else {
		w.m.codec.Decode(s[1:], to, w.asking.ends)
	}
}
