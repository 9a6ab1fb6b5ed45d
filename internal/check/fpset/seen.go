// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// Seen is the set of fingerprints of a search: eight bytes a slot, looked up
// without a lock. Use NewSeen.
//
// A fingerprint has a mark, one byte, in place of its eight upper bits, which
// choose the shard and need not be stored. While workers explore a part of the
// search, a new fingerprint is marked with the number of the piece of work that
// found it, the lowest number if several did. Since a piece belongs to one worker,
// this is enough to determine afterwards what a single worker would have found.
// Between parts every fingerprint is settled: it is Old or Cached.
//
// Home slots grow with the fingerprint, so that a growing table is copied from
// front to end, and a table grows by a quarter only: from 10 to 12.5 bytes a
// state, whatever their number.
type Seen struct {
	// The tables. A slot holds fp<<8 | mark; 0 is an empty slot. Every lookup
	// reads the pointer to its table, so the pointers must not share a cache
	// line with anything that adders write.
	tables [shards]atomic.Pointer[[]uint64]
	shard  [shards]seenShard
	adders []*Adder
	mu     sync.Mutex // of own
	own    *Adder     // of callers that have none
}

// Mark is the state of a fingerprint in a Seen.
type Mark uint8

// The marks. Pieces of work have the marks from FirstPiece on. An Adder that
// adds with Old must find Cached fingerprints, so Cached is lower.
const (
	Cached     Mark = 1 // settled, and in a run on disk
	Old        Mark = 2 // settled, and in no run on disk
	FirstPiece Mark = 3
)

// PiecesMax is the number of pieces of work that have their own marks.
const PiecesMax = 256 - int(FirstPiece)

type seenShard struct {
	mu   sync.Mutex   // of room; held while the table grows
	room int          // slots that may be taken until the table grows, beyond what adders may
	old  atomic.Int64 // marked Old when they were settled
	_    [40]byte     // a cache line of its own
}

const (
	markBits = 8
	markMask = 1<<markBits - 1
	// A table grows by a quarter when more than four fifths of it are taken.
	seenLoadNum, seenLoadDen = 4, 5
)

// NewSeen returns an empty set.
func NewSeen() *Seen {
	s := &Seen{}
	for n := range uint64(shards) {
		s.publish(n, make([]uint64, slotsMin), 0)
	}
	s.own = s.Adder()
	return s
}

// publish installs slots as the table of a shard; taken of them are occupied.
func (s *Seen) publish(n uint64, slots []uint64, taken int) {
	s.tables[n].Store(&slots)
	s.shard[n].room = roomOf(slots) - taken
}

// roomOf is how many slots of a table may be taken.
func roomOf(slots []uint64) int { return len(slots) * seenLoadNum / seenLoadDen }

func (s *Seen) of(fp uint64) (slots []uint64, key uint64) {
	return *s.tables[fp>>(64-shardBits)].Load(), fp << markBits
}

// seek returns the slot of key and its content, or the empty slot where it
// belongs and 0.
func seek(slots []uint64, key uint64) (i int, found uint64) {
	home, _ := bits.Mul64(key, uint64(len(slots)))
	for i = int(home); ; {
		x := atomic.LoadUint64(&slots[i])
		if x == 0 || x&^markMask == key {
			return i, x
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// Touch reads the slot where a fingerprint would be, so that it is in the cache
// when Add needs it. For several calls in a row the processor waits only once.
func (s *Seen) Touch(fp uint64) {
	slots, key := s.of(fp)
	home, _ := bits.Mul64(key, uint64(len(slots)))
	atomic.LoadUint64(&slots[home]) // an atomic read, which the compiler keeps although its result is unused
}

// Add is Adder.Add for callers without an Adder. It is safe for concurrent use: calls
// wait for one another.
func (s *Seen) Add(fp uint64, m Mark) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, _ := s.own.Add(fp, m)
	return o
}

// rebuild copies the occupied slots of a shard's table, each as keep changes it,
// to a table of n slots; 0 leaves one out. Others may read the old table
// meanwhile.
func (s *Seen) rebuild(shard uint64, n int, keep func(uint64) uint64) {
	slots, old, taken := make([]uint64, n), *s.tables[shard].Load(), 0
	for i := 0; i < n; i += pageSlots {
		slots[i] = 0
	}
	for _, x := range old {
		if x == 0 {
			continue
		}
		if x = keep(x); x != 0 {
			i, _ := seek(slots, x&^markMask)
			slots[i] = x
			taken++
		}
	}
	s.publish(shard, slots, taken)
}

// pageSlots is the number of slots in a page of memory. A page that is read before
// it is written costs two page faults, and the second interrupts all processors that
// run the process, so that they update their tables.
const pageSlots = 512

// Settle gives a fingerprint that has the mark m, of a piece, the mark Old, and
// reports whether it had m. Several goroutines may settle, but none may add
// meanwhile.
func (s *Seen) Settle(fp uint64, m Mark) bool {
	slots, key := s.of(fp)
	i, x := seek(slots, key)
	if x != key|uint64(m) {
		return false
	}
	atomic.StoreUint64(&slots[i], key|uint64(Old))
	s.shard[fp>>(64-shardBits)].old.Add(1)
	return true
}

// SettleAll gives every fingerprint that has the mark of a piece the mark Old,
// in part number part of parts of the set. Several goroutines may settle
// different parts; no other call may use the set meanwhile.
func (s *Seen) SettleAll(part, parts int) {
	for n := shards * part / parts; n < shards*(part+1)/parts; n++ {
		settled := int64(0)
		slots := *s.tables[n].Load()
		for i, x := range slots {
			if Mark(x) >= FirstPiece {
				slots[i] = x&^markMask | uint64(Old)
				settled++
			}
		}
		s.shard[n].old.Add(settled)
	}
}

// Recall marks a fingerprint of the set as one that is on disk. No other call
// may use the set meanwhile, except Recall of other fingerprints.
func (s *Seen) Recall(fp uint64) {
	slots, key := s.of(fp)
	if i, x := seek(slots, key); x != 0 {
		atomic.StoreUint64(&slots[i], key|uint64(Cached))
	}
}

// Restore puts a fingerprint that is on disk into the set. No other call may
// use the set meanwhile.
func (s *Seen) Restore(fp uint64) { s.Add(fp, Cached) }

// Write passes every fingerprint that is Old to emit, in ascending order, and
// marks it as Cached; if drop is set, it first drops those that are Cached
// already. No other call may use the set meanwhile, and all fingerprints must
// be settled. After an error of emit the set is unusable.
func (s *Seen) Write(drop bool, emit func(fp uint64) error) error {
	var fps []uint64
	for i := range uint64(shards) {
		h := &s.shard[i]
		fps = fps[:0]
		slots := *s.tables[i].Load()
		for k, x := range slots {
			if Mark(x) == Old {
				fps = append(fps, i<<(64-shardBits)|x>>markBits)
				if !drop {
					slots[k] = x&^markMask | uint64(Cached)
				}
			}
		}
		slices.Sort(fps)
		for _, fp := range fps {
			if err := emit(fp); err != nil {
				return err
			}
		}
		if drop {
			s.reclaim(i)
			s.rebuild(i, max(slotsMin, (int(h.old.Load())+1)*seenLoadDen/seenLoadNum), func(x uint64) uint64 {
				if Mark(x) != Old {
					return 0
				}
				return x&^markMask | uint64(Cached)
			})
		}
		h.old.Store(0)
	}
	return nil
}

// Drop drops the fingerprints that are Cached. No other call may use the set
// meanwhile.
func (s *Seen) Drop() {
	for i := range uint64(shards) {
		s.reclaim(i)
		s.rebuild(i, max(slotsMin, (int(s.shard[i].old.Load())+1)*seenLoadDen/seenLoadNum), func(x uint64) uint64 {
			if Mark(x) == Cached {
				return 0
			}
			return x
		})
	}
}

// Len is the number of fingerprints. No call may add meanwhile.
func (s *Seen) Len() int64 {
	n := int64(0)
	for i := range uint64(shards) {
		s.reclaim(i)
		n += int64(roomOf(*s.tables[i].Load()) - s.shard[i].room)
	}
	return n
}

// Fresh is the number of fingerprints that are Old: in no run on disk.
func (s *Seen) Fresh() int64 {
	n := int64(0)
	for i := range s.shard {
		n += s.shard[i].old.Load()
	}
	return n
}

// Bytes is the size of the tables in memory.
func (s *Seen) Bytes() int64 {
	n := int64(0)
	for i := range s.tables {
		n += int64(len(*s.tables[i].Load())) * 8
	}
	return n
}
