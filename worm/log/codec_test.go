// SPDX-License-Identifier: Apache-2.0

package log

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// FuzzDecode: no content of a register or a message panics a decoder, and what decodes is
// encoded again as the same bytes.
func FuzzDecode(f *testing.F) {
	token := &wor.Token{
		Range: wor.Range{Segment: ID(5).Segment(2), Lo: 1, Hi: 9}, Epoch: 3, Protocol: wor.Chain,
		Ballot: wor.Ballot{Round: 4, Nonce: 5},
	}
	for _, seed := range [][]byte{
		Entry{ID: EntryID{1, 2}, Data: []byte("data")}.encode(), junk(), mark{1, 2}.encode(),
		endpoint{wor.Member{ID: 1, Name: "name", Addr: "addr"}, 2}.encode(),
		ask{verbToken, 5, -1, 2, 3, At(4, 5), 6}.encode(),
		said{status: statusOK, top: 2, tail: At(2, 9), token: token}.encode(), said{status: statusBusy}.encode(),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if e := decode(At(1, 1), value); e.Kind == Data && !bytes.Equal(e.encode(), value) {
			t.Errorf("entry %x encodes to %x", value, e.encode())
		}
		decode(At(1, 0), value)
		if m, ok := decodeMark(value); ok && !bytes.Equal(m.encode(), value) {
			t.Errorf("mark %x encodes to %x", value, m.encode())
		}
		if e, ok := decodeEndpoint(value); ok && !bytes.Equal(e.encode(), value) {
			t.Errorf("endpoint %x encodes to %x", value, e.encode())
		}
		if a, ok := decodeAsk(value); ok && !bytes.Equal(a.encode(), value) {
			t.Errorf("ask %x encodes to %x", value, a.encode())
		}
		if s, ok := decodeSaid(5, value); ok && !bytes.Equal(s.encode(), value) {
			t.Errorf("answer %x encodes to %x", value, s.encode())
		}
	})
}

// TestHolders shows which positions are left open.
func TestHolders(t *testing.T) {
	var h holders
	h.give(1, span{At(0, 1), At(0, 5)})
	h.give(2, span{At(0, 5), At(0, 9)})
	h.give(1, span{At(0, 9), At(0, 12)})
	h.give(1, span{At(0, 12), At(0, 13)}) // extends the previous one
	h.give(1, span{At(1, 1), At(1, 4)})
	h.settle(1, At(0, 10))
	h.settle(2, At(0, 3))
	h.settle(3, At(9, 0))
	got := h.below(At(1, 0))
	want := []span{{At(0, 5), At(0, 9)}, {At(0, 10), At(0, 13)}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("open are %v, want %v", got, want)
	}
	if got := h.below(At(2, 0)); !reflect.DeepEqual(got, []span{{At(1, 1), At(1, 4)}}) {
		t.Errorf("open are %v in the second segment", got)
	}
	// Many spans of one client are merged, and cover no less.
	for i := range uint32(3 * spansMax) {
		h.give(4, span{At(2, 2*i+1), At(2, 2*i+2)})
	}
	l := h.below(At(3, 0))
	if len(l) > spansMax || l[0].lo != At(2, 1) || l[len(l)-1].hi != At(2, 6*spansMax) {
		t.Errorf("%d spans from %v to %v", len(l), l[0].lo, l[len(l)-1].hi)
	}
	// Clients beyond holdersMax are not settled one by one.
	for i := range uint64(holdersMax + 10) {
		h.give(i+10, span{At(3, uint32(2*i+1)), At(3, uint32(2*i+2))})
	}
	if len(h.spans) > holdersMax+1 {
		t.Errorf("%d clients are told apart", len(h.spans))
	}
}
