// SPDX-License-Identifier: Apache-2.0

package ideal

import (
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestHalves: half-written values are kept, at any ballot. A capture may find any of
// them, and adopts the found value with the highest ballot, until one is decided.
func TestHalves(t *testing.T) {
	a := wor.Addr{Segment: 1, Offset: 1}
	round := func(n uint64) wor.Ballot { return wor.Ballot{Round: n, Nonce: 1} }
	s := newRegisters()
	for _, n := range []uint64{2, 1, 3, 2} { // the second of round 2 is the same write again
		s.halve(a, round(n), []byte{byte(n)})
	}
	for misses := range 4 {
		left := misses
		v, found, err := s.capture(a, round(4), func() bool { left--; return left < 0 })
		if err != nil || found != (misses < 3) || found && int(v[0]) != 3-misses {
			t.Errorf("a capture that misses %d finds %v, %v, %v", misses, v, found, err)
		}
	}
	if err := s.write(a, round(4), []byte{4}, nil); err != nil {
		t.Fatal(err)
	}
	s.halve(a, round(5), []byte{5})
	if v, found, err := s.capture(a, round(6), func() bool { return true }); !found || v[0] != 4 || err != nil {
		t.Errorf("a decided register holds %v, %v, %v", v, found, err)
	}
}
