// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"
	"math/bits"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// index finds the places of entries by 32 bits of their hash. It is a table of
// buckets of one cache line:
//
//	0  12 tags of 8 bits, 0 for a free slot
//	12 how many entries of this bucket are in its neighbours (number ^ 1, 2, 3)
//	13 zero
//	16 12 places of 32 bits
//
// An entry is in the bucket of its hash, or in the first of its neighbours that
// was not full. That all four are is rare, and then an entry is lost. Nothing
// ever moves to another slot, except when the table grows.
type index struct {
	mem  []byte
	mask uint32
	used int
}

const (
	bucketSize  = 64
	bucketSlots = 12
	spillAt     = 12
	placesAt    = 16
	bucketsMin  = 16
	group       = 4 // a bucket and its neighbours
	none        = ^uint32(0)
)

func tagOf(h uint32) byte { return byte(max(h>>24, 1)) }

// slots of an index: number of the bucket * 16 + number in it.

func (x *index) place(slot uint32) uint32 {
	return binary.LittleEndian.Uint32(x.mem[slot>>4*bucketSize+placesAt+slot&15*4:])
}

func (x *index) setPlace(slot, place uint32) {
	binary.LittleEndian.PutUint32(x.mem[slot>>4*bucketSize+placesAt+slot&15*4:], place)
}

// home is the number of the bucket of a hash. The low bits serve, as the high
// ones are the tag.
func (x *index) home(h uint32) uint32 { return h & x.mask }

// tags is what a bucket has of a tag: bit 8*i+7 of the first number for slot i
// up to 7, of the second for those from 8 on. There may be more bits than
// there are such tags, never less.
func tags(b []byte, tag byte) (uint64, uint64) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	t := uint64(tag) * ones
	lo := binary.LittleEndian.Uint64(b) ^ t
	hi := binary.LittleEndian.Uint64(b[8:]) ^ t
	return (lo - ones) &^ lo & highs, (hi - ones) &^ hi & highs & 0xffffffff
}

// first is the slot of the lowest bit, next is without it.
func first(lo, hi uint64) uint32 {
	if lo != 0 {
		return uint32(bits.TrailingZeros64(lo)) >> 3
	}
	return 8 + uint32(bits.TrailingZeros64(hi))>>3
}

func next(lo, hi uint64) (uint64, uint64) {
	if lo != 0 {
		return lo & (lo - 1), hi
	}
	return 0, hi & (hi - 1)
}

// free is a free slot of a bucket, or bucketSlots. The lowest bit of tags is
// never a wrong one.
func free(b []byte) uint32 {
	lo, hi := tags(b, 0)
	if lo|hi == 0 {
		return bucketSlots
	}
	return first(lo, hi)
}

// insert gives a place a slot. When there is none it is that of victim, whose
// owner has to be removed first: then ok is false and nothing has changed.
func (x *index) insert(h, place uint32) (victim uint32, ok bool) {
	home := x.home(h)
	for d := range uint32(group) {
		b := x.mem[(home^d)*bucketSize:][:bucketSize]
		k := free(b)
		if k == bucketSlots {
			continue
		}
		if d > 0 {
			x.mem[home*bucketSize+spillAt]++
		}
		b[k] = tagOf(h)
		binary.LittleEndian.PutUint32(b[placesAt+4*k:], place)
		x.used++
		return 0, true
	}
	return home<<4 | h>>16%bucketSlots, false
}

// remove makes the slot free that an entry with that hash has.
func (x *index) remove(h, slot uint32) {
	x.mem[slot>>4*bucketSize+slot&15] = 0
	if home := x.home(h); slot>>4 != home {
		x.mem[home*bucketSize+spillAt]--
	}
	x.used--
}

// find is the slot of a place.
func (x *index) find(h, place uint32) uint32 {
	home := x.home(h)
	for d := range uint32(group) {
		b := x.mem[(home^d)*bucketSize:][:bucketSize]
		lo, hi := tags(b, tagOf(h))
		for ; lo|hi != 0; lo, hi = next(lo, hi) {
			i := first(lo, hi)
			if binary.LittleEndian.Uint32(b[placesAt+4*i:]) == place && b[i] != 0 {
				return (home^d)<<4 | i
			}
		}
	}
	return none
}

// crowded reports whether the table should grow.
func (x *index) crowded() bool { return x.used*3 >= int(x.mask+1)*bucketSlots*2 }

// ghost remembers hashes of what was evicted lately: a table of buckets of one
// cache line, each a ring of 15 hashes with the position of the oldest.
type ghost struct {
	mem  []byte
	mask uint32
	adds uint64
}

// ghostPart of the buckets of an index has its ghost: it remembers about half
// as many entries as there are. The more it remembers, the more gets to the
// main queue that is not worth it, when what is read is drawn anew each time.
const (
	ghostSlots = 15
	ghostPart  = 4
)

func (g *ghost) bucket(h uint32) []byte {
	return g.mem[(h*0x9e3779b1>>7&g.mask)*bucketSize:][:bucketSize]
}

func (g *ghost) add(h uint32) {
	if g.mem == nil {
		return
	}
	b := g.bucket(h)
	at := b[4*ghostSlots]
	binary.LittleEndian.PutUint32(b[4*at:], max(h, 1))
	b[4*ghostSlots] = (at + 1) % ghostSlots
	g.adds++
}

// take reports whether the hash is remembered, and forgets it.
func (g *ghost) take(h uint32) bool {
	if g.mem == nil {
		return false
	}
	b := g.bucket(h)
	h = max(h, 1)
	for i := 0; i < ghostSlots; i++ {
		if binary.LittleEndian.Uint32(b[4*i:]) == h {
			binary.LittleEndian.PutUint32(b[4*i:], 0)
			return true
		}
	}
	return false
}

// window is about how many evictions it remembers.
func (g *ghost) window() int {
	return int(min(g.adds, uint64(g.mask+1)*ghostSlots))
}

func newGhost(pool *slab.Pool, buckets int) ghost {
	mem, ok := pool.Try(buckets * bucketSize)
	if !ok {
		return ghost{}
	}
	return ghost{mem: mem, mask: uint32(buckets - 1)}
}
