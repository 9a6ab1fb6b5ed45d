// SPDX-License-Identifier: Apache-2.0

package rt

import (
	"hash/maphash"
	"math/bits"
)

// Slots is a hash table from hashes to row numbers, with open addressing and
// linear probing. It does not know the rows: to find one, its owner calls
// At(hash), At(hash+1) and so on until an empty slot, and compares each row whose
// hash is equal.
type Slots struct {
	// entries have the hash in the upper half and the row number plus 1 in the
	// lower half; 0 is an empty slot.
	entries []uint64
	mask    uint32
	used    int
}

// slotsMin is the initial number of slots.
const slotsMin = 8

// NewSlots returns an empty table.
func NewSlots() Slots { return Slots{entries: make([]uint64, slotsMin), mask: slotsMin - 1} }

// At returns the slot at a place, modulo the number of slots: the row number plus
// 1 and its hash, or zeros for an empty slot.
func (s *Slots) At(place uint32) (row, hash uint32) {
	e := s.entries[place&s.mask]
	return uint32(e), uint32(e >> 32)
}

// Touch prefetches the first slot for a hash. It returns the entry so that the
// compiler does not remove the load. When the caller touches several slots before it
// looks them up, the processor loads them from memory in parallel.
func (s *Slots) Touch(hash uint32) uint64 { return s.entries[hash&s.mask] }

// Add adds a row, which must not be in the table.
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

// place returns the slot of a row, which must be in the table.
func (s *Slots) place(hash uint32, row int32) uint32 {
	e := uint64(hash)<<32 | uint64(row+1)
	at := hash & s.mask
	for s.entries[at] != e {
		at = (at + 1) & s.mask
	}
	return at
}

// Replace replaces a row, which must be in the table, by another with the same
// hash.
func (s *Slots) Replace(hash uint32, row, by int32) {
	s.entries[s.place(hash, row)] = uint64(hash)<<32 | uint64(by+1)
}

// Remove removes a row, which must be in the table.
func (s *Slots) Remove(hash uint32, row int32) {
	at := s.place(hash, row)
	s.used--
	// Later entries whose probe sequence includes the empty slot move up.
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

// Clear removes all rows. It halves a large table of which few slots were used.
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

// Clear halves a table with more than slotsKept slots if fewer than one slot in
// slotsRare was used.
const (
	slotsKept = 256
	slotsRare = 32
)

// The keys are random for each process, so that an attacker cannot choose rows
// whose hashes collide. No result depends on the order of hashes.
var key, key2 = func() (uint64, uint64) {
	seed := maphash.MakeSeed()
	return maphash.String(seed, "a"), maphash.String(seed, "b")
}()

// Hash is the hash of the columns of a row that have been added so far.
type Hash uint64

// mix multiplies and folds, as in wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// U64 adds a number.
func (h Hash) U64(n uint64) Hash { return Hash(mix(uint64(h)^n^key, 0x9e3779b97f4a7c15)) }

// Bool adds a truth value.
func (h Hash) Bool(b bool) Hash { return h.U64(1 + Truth(b)) }

// load returns the eight bytes of s at i, as a little-endian number.
func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Text adds text, bytes or a node.
func (h Hash) Text(s string) Hash {
	n := len(s)
	// The length is multiplied so that no byte of the text can cancel it out.
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
	// Add the last eight bytes, and the eight before them if that many are
	// left.
	return Hash(mix(a^load(s, min(seen, n-8)), key2^load(s, n-8)))
}

// Sum returns the hash.
func (h Hash) Sum() uint32 { return uint32(h>>32) ^ uint32(h) }

// Link holds the neighbours of a row in a list of the rows that have equal
// values in the columns of an index: row numbers, or None.
type Link struct{ Next, Prev int32 }

// None stands for no row.
const None = -1
