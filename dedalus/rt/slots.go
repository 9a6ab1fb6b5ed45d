// SPDX-License-Identifier: Apache-2.0

package rt

import (
	"hash/maphash"
	"math/bits"
)

// Slots is a hash table from hashes to rows, open addressing with linear probing.
// Its owner knows the rows and compares them: it goes from At(hash) on until
// there is no row, and asks each row of the same hash whether it is the one.
type Slots struct {
	// entries have the hash in the upper half and the row and 1 in the lower; 0
	// is empty.
	entries []uint64
	mask    uint32
	used    int
}

// slotsMin is how many slots there are at first.
const slotsMin = 8

// NewSlots returns an empty table.
func NewSlots() Slots { return Slots{entries: make([]uint64, slotsMin), mask: slotsMin - 1} }

// At is the slot at a place, which may be more than there are: a row and 1 and its
// hash, or 0.
func (s *Slots) At(place uint32) (row, hash uint32) {
	e := s.entries[place&s.mask]
	return uint32(e), uint32(e >> 32)
}

// Touch reads the slot where a hash is looked for first, and returns what is in it so
// that no compiler leaves that out. The processor has then begun to fetch it: slots
// that are touched one after the other come from memory together, those that are
// looked for one after the other each for itself.
func (s *Slots) Touch(hash uint32) uint64 { return s.entries[hash&s.mask] }

// Add adds a row that is not there.
func (s *Slots) Add(hash uint32, row int32) {
	if s.used*4 >= len(s.entries)*3 {
		s.grow()
	}
	s.put(uint64(hash)<<32 | uint64(row+1))
	s.used++
}

func (s *Slots) put(e uint64) {
	at := uint32(e>>32) & s.mask
	for s.entries[at] != 0 {
		at = (at + 1) & s.mask
	}
	s.entries[at] = e
}

func (s *Slots) grow() {
	old := s.entries
	s.entries = make([]uint64, 2*len(old))
	s.mask = uint32(len(s.entries) - 1)
	for _, e := range old {
		if e != 0 {
			s.put(e)
		}
	}
}

// place is where the row is.
func (s *Slots) place(hash uint32, row int32) uint32 {
	e := uint64(hash)<<32 | uint64(row+1)
	at := hash & s.mask
	for s.entries[at] != e {
		at = (at + 1) & s.mask
	}
	return at
}

// Replace has another row of the same hash in the place of one that is there.
func (s *Slots) Replace(hash uint32, row, by int32) {
	s.entries[s.place(hash, row)] = uint64(hash)<<32 | uint64(by+1)
}

// Remove removes a row that is there.
func (s *Slots) Remove(hash uint32, row int32) {
	at := s.place(hash, row)
	s.used--
	// Rows behind it that would be looked for here move up.
	for next := (at + 1) & s.mask; ; next = (next + 1) & s.mask {
		e := s.entries[next]
		if e == 0 {
			break
		}
		if home := uint32(e>>32) & s.mask; (next-home)&s.mask >= (next-at)&s.mask {
			s.entries[at] = e
			at = next
		}
	}
	s.entries[at] = 0
}

// Clear removes all rows, and most of the slots if there were few.
func (s *Slots) Clear() {
	switch {
	case s.used == 0:
		return
	case len(s.entries) > slotsKept && s.used*slotsRare < len(s.entries):
		*s = Slots{entries: make([]uint64, len(s.entries)/2), mask: s.mask / 2}
	default:
		clear(s.entries)
	}
	s.used = 0
}

// A table of more than slotsKept slots is halved when it is cleared and had a row
// for fewer than one in slotsRare.
const (
	slotsKept = 256
	slotsRare = 32
)

// The keys differ between processes, so that no attacker can choose rows of the
// same hash. Nothing depends on the order of hashes.
var key, key2 = func() (uint64, uint64) {
	seed := maphash.MakeSeed()
	return maphash.String(seed, "a"), maphash.String(seed, "b")
}()

// Hash is the hash of the columns of a row, as far as they have been added.
type Hash uint64

// mix is a product folded, as in wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// U64 adds a number.
func (h Hash) U64(n uint64) Hash { return Hash(mix(uint64(h)^n^key, 0x9e3779b97f4a7c15)) }

// Bool adds a truth value.
func (h Hash) Bool(b bool) Hash { return h.U64(1 + Truth(b)) }

// load is eight bytes of s, from i on.
func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Text adds text, bytes or a node.
func (h Hash) Text(s string) Hash {
	n := len(s)
	// The length must not be what a byte could undo.
	a := uint64(h) ^ key ^ uint64(n)*0x9e3779b97f4a7c15
	if n < 8 {
		var b uint64
		for i := range n {
			b = b<<8 | uint64(s[i])
		}
		return Hash(mix(a^b, key2))
	}
	seen := 0
	for ; n-seen > 16; seen += 16 {
		a = mix(a^load(s, seen), key2^load(s, seen+8))
	}
	// The last eight bytes, and the eight before them if there are as many.
	return Hash(mix(a^load(s, min(seen, n-8)), key2^load(s, n-8)))
}

// Sum is the hash.
func (h Hash) Sum() uint32 { return uint32(h>>32) ^ uint32(h) }

// Link is a row's neighbours among those that are equal in the columns of an
// index: rows, or -1.
type Link struct{ Next, Prev int32 }

// None is no row.
const None = -1
