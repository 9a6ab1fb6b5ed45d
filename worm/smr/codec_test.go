// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// FuzzDecode: no content of a register or a message panics a decoder, and what decodes is
// encoded again as the same bytes.
func FuzzDecode(f *testing.F) {
	b := batch{origin: 1, applied: At(2, 3), commands: []command{
		{verb: verbApply, key: key{4, 5}, low: 6, body: []byte("text")}, {verb: verbOpen, key: key{0, 7}},
	}}
	s := newShared()
	s.opened, s.used = 3, 9
	s.note(report{1, At(0, 1)})
	s.sessions[3] = &session{low: 2, used: 9, results: map[uint64][]byte{2: []byte("result")}}
	for _, seed := range [][]byte{
		b.encode(), junk(), end(), s.encode(At(4, 5)), commit{At(1, 0), 7, 2, 9}.encode(),
		encodeSeats([]seat{{1, wor.Member{ID: 2, Name: "a", Addr: "b"}}, {}}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if b, ok := decodeBatch(value); ok && !bytes.Equal(b.encode(), value) {
			t.Errorf("batch %x encodes to %x", value, b.encode())
		}
		if c, ok := decodeCommit(value); ok && !bytes.Equal(c.encode(), value) {
			t.Errorf("commit %x encodes to %x", value, c.encode())
		}
		if seats := decodeSeats(value); seats != nil && !bytes.HasPrefix(value, encodeSeats(seats)) {
			t.Errorf("seats %x encode to %x", value, encodeSeats(seats))
		}
		if s, next, err := decodeShared(value); err == nil {
			again, nextAgain, err := decodeShared(s.encode(next))
			if err != nil || nextAgain != next || !reflect.DeepEqual(again, s) {
				t.Errorf("shared state %x does not come back", value)
			}
		}
		isEnd(value)
		PayloadID(value)
	})
}

// TestSessions shows which commands are applied.
func TestSessions(t *testing.T) {
	s, m := newShared(), &counter{}
	apply := func(v verb, session, number, low uint64) string {
		value, err := s.apply(command{verb: v, key: key{session, number}, low: low}, m)
		if err != nil {
			return err.Error()
		}
		return string(value)
	}
	s.apply(command{verb: verbOpen}, m)
	for i, step := range []struct {
		session, number, low uint64
		want                 string
	}{
		{1, 1, 1, "1"},
		{1, 1, 1, "1"}, // repeated: the first result
		{1, 3, 1, "2"}, // out of order
		{1, 2, 1, "3"},
		{1, 4, 4, "4"},                  // the owner has 1 to 3
		{1, 2, 1, ErrSession.Error()},   // late, and not applied
		{1, 3, 1, ErrSession.Error()},   // the same
		{1, 4, 1, "4"},                  // not forgotten
		{2, 1, 1, ErrSession.Error()},   // was never opened
		{1, 100, 99, "5"},               // numbers may have gaps
		{1, 50, 99, ErrSession.Error()}, // below low
	} {
		if got := apply(verbApply, step.session, step.number, step.low); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
	// Beyond SessionsMax, the least recently used session is dropped.
	for range SessionsMax - 1 {
		s.apply(command{verb: verbOpen}, m)
	}
	apply(verbApply, 1, 101, 101)
	s.apply(command{verb: verbOpen}, m)
	if s.sessions[1] == nil || s.sessions[2] != nil || len(s.sessions) != SessionsMax {
		t.Errorf("%d sessions, the first: %v, the second: %v", len(s.sessions), s.sessions[1], s.sessions[2])
	}
	// Beyond ResultsMax, the lowest result of a session is dropped.
	for i := range uint64(ResultsMax + 5) {
		apply(verbApply, 3, i+1, 1)
	}
	if x := s.sessions[3]; len(x.results) != ResultsMax || x.low != 6 {
		t.Errorf("%d results from %d on", len(x.results), x.low)
	}
}

type counter struct{ n byte }

func (c *counter) Apply([]byte) []byte         { c.n++; return []byte{'0' + c.n} }
func (c *counter) Snapshot() func() []byte     { return func() []byte { return nil } }
func (c *counter) Restore() func([]byte) error { return func([]byte) error { return nil } }
