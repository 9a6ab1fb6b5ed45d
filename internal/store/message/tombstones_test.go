// SPDX-License-Identifier: Apache-2.0

package message_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Each key that a Cover has is covered as it says, by all tombstones one after the other. There
// are enough of them for several groups.
func TestAroundIsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Map(rapid.Uint16Range(0, 600), func(n uint16) []byte { return []byte{byte(n >> 8), byte(n)} })
		var all []message.RangeTombstone
		for i := range rapid.IntRange(0, 200).Draw(t, "tombstones") {
			lo := key.Draw(t, "lo")
			length := rapid.SampledFrom([]uint16{1, 1, 1, 3, 50, 600}).Draw(t, "length")
			n := uint16(lo[0])<<8 + uint16(lo[1]) + length
			all = append(all, message.RangeTombstone{Lo: lo, Hi: []byte{byte(n >> 8), byte(n)}, Seq: message.Seq(1 + i/2)})
		}
		slices.SortStableFunc(all, func(a, b message.RangeTombstone) int { return bytes.Compare(a.Lo, b.Lo) })
		s := message.NewTombstones(len(all), func(i int) message.RangeTombstone { return all[i] })
		at := message.Seq(rapid.IntRange(0, 101).Draw(t, "at"))
		newest := func(key []byte) (seq message.Seq) {
			for _, x := range all {
				if x.Seq <= at && x.Covers(key) {
					seq = max(seq, x.Seq)
				}
			}
			return seq
		}
		for range 5 {
			k := key.Draw(t, "key")
			p := message.Place{At: k, Below: rapid.Bool().Draw(t, "below")}
			c := s.Around(p, at)
			if low := c.Lo == nil || bytes.Compare(c.Lo, k) < 0; !low && (p.Below || !bytes.Equal(c.Lo, k)) || !c.Has(p) {
				t.Fatalf("the range %x to %x is not around %x, %v", c.Lo, c.Hi, k, p.Below)
			}
			if high := c.Hi == nil || bytes.Compare(k, c.Hi) < 0; !high && (!p.Below || !bytes.Equal(c.Hi, k)) {
				t.Fatalf("the range %x to %x is not around %x, %v", c.Lo, c.Hi, k, p.Below)
			}
			for n := range 700 {
				near := []byte{byte(n >> 8), byte(n)}
				if want := newest(near); c.Has(message.Place{At: near}) && c.Seq != want {
					t.Fatalf("%x, around %x: %d, want %d", near, k, c.Seq, want)
				}
			}
		}
	})
}

// Ranges that do not overlap are passed over in a few steps, however many there are below
// the key and whatever lies over all of them.
func TestAroundTakesFewSteps(t *testing.T) {
	const n = 100_000
	var steps int
	s := message.NewTombstones(n, func(i int) message.RangeTombstone {
		steps++
		lo, hi := []byte{byte(i >> 16), byte(i >> 8), byte(i)}, []byte{byte(i >> 16), byte(i >> 8), byte(i), 0}
		if i == 0 {
			hi = []byte{255}
		}
		return message.RangeTombstone{Lo: lo, Hi: hi, Seq: message.Seq(n - i)}
	})
	steps = 0
	last := n - 1
	c := s.Around(message.Place{At: []byte{byte(last >> 16), byte(last >> 8), byte(last), 1}}, message.MaxSeq)
	if c.Seq != n {
		t.Errorf("the newest is %d, want %d", c.Seq, n)
	}
	if most := 2*n/64 + 200; steps > most {
		t.Errorf("%d steps, want at most %d", steps, most)
	}
}
