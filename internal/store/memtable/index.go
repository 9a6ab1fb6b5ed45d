// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// The index finds the newest entry of a key: open addressing with linear
// probing over slots of 32 bits. A slot holds the place of an entry in units of
// 8 bytes, and in the bits above some bits of the key's hash, so that a probe
// hardly ever reads an entry of another key. 0 is an empty slot: no entry
// is at 0.
//
// Readers take the table by one atomic load and its slots by another each. The
// writer stores a slot after the entry is complete, and a grown table after it
// is filled; a reader that still holds the old one finds there all that was
// published when it began. There is no count of those readers: old tables are
// kept until Close, and since each is half of the next they sum up to less than
// the newest.

const (
	slotsMin = 16
	// bytesPerSlot sizes the first table by the arena. With entries of half a
	// KiB it never grows.
	bytesPerSlot = 256
)

type slotTable struct{ slots []uint32 }

type keyIndex struct {
	arena   arena
	pool    *slab.Pool
	now     atomic.Pointer[slotTable]
	posBits uint // of a slot; the others are of the hash
	keys    int
	mem     [][]byte // of all tables, the newest last
}

func (x *keyIndex) init(a arena, pool *slab.Pool) bool {
	x.arena, x.pool = a, pool
	x.posBits = uint(bits.Len(uint(len(a) / entryAlign)))
	slots := slotsMin
	for slots < len(a)/bytesPerSlot {
		slots *= 2
	}
	return x.grow(slots)
}

func (x *keyIndex) close(pool *slab.Pool) {
	x.now.Store(nil)
	for _, m := range x.mem {
		pool.Free(m)
	}
	x.mem = nil
}

// room reports whether n more keys can be added, and grows the table when it
// becomes crowded.
func (x *keyIndex) room(n int) bool {
	slots := len(x.now.Load().slots)
	if x.keys+n <= slots/4*3 {
		return true
	}
	want := slots
	for x.keys+n > want/4*3 {
		want *= 2
	}
	// Without memory the crowded table serves until it is all but full: at
	// least one slot must stay empty, where a probe ends.
	return x.grow(want) || x.keys+n <= slots/16*15
}

// grow publishes a table with that many slots.
func (x *keyIndex) grow(slots int) bool {
	mem, ok := x.pool.Alloc(slots * 4)
	if !ok {
		return false
	}
	next := &slotTable{slots: slab.Uint32s(mem)}
	if old := x.now.Load(); old != nil {
		for _, w := range old.slots {
			if w == 0 {
				continue
			}
			i := home(hash(x.arena.key(x.pos(w))), slots)
			for next.slots[i] != 0 {
				i = (i + 1) & (slots - 1)
			}
			next.slots[i] = w
		}
	}
	x.mem = append(x.mem, mem)
	x.now.Store(next)
	return true
}

// pos returns the place of the entry in a slot.
func (x *keyIndex) pos(w uint32) Pos {
	return Pos(w&(1<<(x.posBits&31)-1)) * entryAlign
}

// find returns the newest entry of the key.
func (x *keyIndex) find(key []byte) Pos {
	_, p := x.probe(x.now.Load().slots, hash(key), key)
	return p
}

// probe returns the slot of the key and what it holds, or the empty slot where
// it belongs and None.
func (x *keyIndex) probe(slots []uint32, h uint64, key []byte) (int, Pos) {
	tag := x.tag(h)
	mask := len(slots) - 1
	for i := home(h, len(slots)); ; i++ {
		i &= mask
		w := atomic.LoadUint32(&slots[i])
		if w == 0 {
			return i, None
		}
		if (w^tag)>>(x.posBits&31) != 0 {
			continue
		}
		if p := x.pos(w); string(x.arena.key(p)) == string(key) {
			return i, p
		}
	}
}

// place is where the next entry of a key goes: the slot, and what it holds.
type place struct {
	slot int
	tag  uint32
	head Pos
}

// locate returns the place of the key. room said yes before.
func (x *keyIndex) locate(key []byte) place {
	h := hash(key)
	i, head := x.probe(x.now.Load().slots, h, key)
	return place{slot: i, tag: x.tag(h), head: head}
}

// publish makes the entry at p the newest of its key.
func (x *keyIndex) publish(at place, p Pos) {
	if at.head == None {
		x.keys++
	}
	atomic.StoreUint32(&x.now.Load().slots[at.slot], at.tag|uint32(p/entryAlign))
}

// tag returns the bits of the hash that a slot keeps, at their place.
func (x *keyIndex) tag(h uint64) uint32 { return uint32(h) << (x.posBits & 31) }

// home returns the slot where the search for a hash begins: by other bits than
// those of the tag.
func home(h uint64, slots int) int {
	hi, _ := bits.Mul64(h, uint64(slots))
	return int(hi)
}

// hash mixes 8 bytes at a time by a multiplication to 128 bits. It is in
// memory only.
func hash(key []byte) uint64 {
	const (
		k0 = 0x9E3779B97F4A7C15
		k1 = 0xD6E8FEB86659FD93
	)
	h := uint64(len(key)) * k0
	for len(key) >= 8 {
		h = fold(h^binary.LittleEndian.Uint64(key), k1)
		key = key[8:]
	}
	var tail uint64
	switch n := len(key); {
	case n >= 4:
		tail = uint64(binary.LittleEndian.Uint32(key)) | uint64(binary.LittleEndian.Uint32(key[n-4:]))<<32
	case n > 0:
		tail = uint64(key[0]) | uint64(key[n/2])<<8 | uint64(key[n-1])<<16
	}
	return fold(h^tail^k0, k1)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
