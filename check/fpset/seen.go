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
// A fingerprint has a mark, one byte, in the place of the eight upper bits that
// the choice of the shard has used up. While workers explore a part of the
// search, a fingerprint that is new has the number of the piece of work that
// found it, and of several the lowest: that is enough to tell afterwards what
// one worker would have found, since a piece belongs to one worker. Between
// parts every fingerprint is settled: it is Old or Cached.
//
// Home slots grow with the fingerprint, so that a growing table is copied from
// front to end, and a table grows by a quarter only: from 10 to 12.5 bytes a
// state, whatever their number.
type Seen struct {
	shard [shards]seenShard
}

// Mark is what a fingerprint is known by.
type Mark uint8

// The marks. Pieces of work have the marks from FirstPiece on. Who adds with
// Old finds what is Cached, so Cached is the lower one.
const (
	Cached     Mark = 1 // settled, and in a run on disk
	Old        Mark = 2 // settled, and in no run on disk
	FirstPiece Mark = 3
)

// PiecesMax is how many pieces of work have marks of their own.
const PiecesMax = 256 - int(FirstPiece)

type seenShard struct {
	slots atomic.Pointer[[]uint64] // fp<<8 | mark; 0 is an empty slot
	mu    sync.Mutex               // of those who change more than the mark of a settled one
	taken int
	old   atomic.Int64 // marked Old when they were settled
	_     [24]byte     // a cache line of its own
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
	for i := range s.shard {
		s.shard[i].publish(make([]uint64, slotsMin))
	}
	return s
}

func (h *seenShard) publish(slots []uint64) { h.slots.Store(&slots) }

func (s *Seen) of(fp uint64) (h *seenShard, key uint64) {
	return &s.shard[fp>>(64-shardBits)], fp << markBits
}

// seek returns the slot of key and what is in it, or the empty slot where it
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

// Touch reads the place where a fingerprint would lie, so that it is near when
// Add comes for it. Of several calls in a row the processor waits for all at
// once.
func (s *Seen) Touch(fp uint64) {
	h, key := s.of(fp)
	slots := *h.slots.Load()
	home, _ := bits.Mul64(key, uint64(len(slots)))
	atomic.LoadUint64(&slots[home]) // the compiler keeps it, though nobody wants to know
}

// Add puts the fingerprint into the set with the mark, or lowers the mark of
// the one that is there. It is safe for concurrent use.
func (s *Seen) Add(fp uint64, m Mark) Outcome {
	h, key := s.of(fp)
	if _, x := seek(*h.slots.Load(), key); x != 0 && Mark(x) <= m {
		return Present
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	slots := *h.slots.Load()
	i, x := seek(slots, key)
	switch {
	case x == 0:
		if (h.taken+1)*seenLoadDen > len(slots)*seenLoadNum {
			h.rebuild(len(slots)+max(len(slots)/4, 4), func(x uint64) uint64 { return x })
			slots = *h.slots.Load()
			i, _ = seek(slots, key)
		}
		h.taken++
		if m == Old {
			h.old.Add(1)
		}
		atomic.StoreUint64(&slots[i], key|uint64(m))
		return Added
	case Mark(x) <= m:
		return Present
	}
	atomic.StoreUint64(&slots[i], key|uint64(m))
	return Lowered
}

// rebuild copies to a table of n slots what keep makes of the occupied ones; 0
// leaves one out. Others may read the old table meanwhile.
func (h *seenShard) rebuild(n int, keep func(uint64) uint64) {
	slots, old := make([]uint64, n), *h.slots.Load()
	h.taken = 0
	for _, x := range old {
		if x == 0 {
			continue
		}
		if x = keep(x); x != 0 {
			i, _ := seek(slots, x&^markMask)
			slots[i] = x
			h.taken++
		}
	}
	h.publish(slots)
}

// Settle gives a fingerprint that has the mark m, of a piece, the mark Old, and
// says whether it had m. Several goroutines may settle, while nobody adds.
func (s *Seen) Settle(fp uint64, m Mark) bool {
	h, key := s.of(fp)
	slots := *h.slots.Load()
	i, x := seek(slots, key)
	if x != key|uint64(m) {
		return false
	}
	atomic.StoreUint64(&slots[i], key|uint64(Old))
	h.old.Add(1)
	return true
}

// Recall marks a fingerprint of the set as one that is on disk. Nobody else may
// use the set meanwhile, but for other fingerprints to Recall.
func (s *Seen) Recall(fp uint64) {
	h, key := s.of(fp)
	slots := *h.slots.Load()
	if i, x := seek(slots, key); x != 0 {
		atomic.StoreUint64(&slots[i], key|uint64(Cached))
	}
}

// Restore puts a fingerprint that is on disk into the set. Nobody else may use
// the set meanwhile.
func (s *Seen) Restore(fp uint64) { s.Add(fp, Cached) }

// Write hands every fingerprint that is Old to emit, in ascending order, and
// marks it as Cached; with drop, it first forgets those that are Cached
// already. Nobody else may use the set meanwhile, and all must be settled.
// After an error of emit the set is of no use.
func (s *Seen) Write(drop bool, emit func(fp uint64) error) error {
	var fps []uint64
	for i := range s.shard {
		h := &s.shard[i]
		fps = fps[:0]
		slots := *h.slots.Load()
		for k, x := range slots {
			if Mark(x) == Old {
				fps = append(fps, uint64(i)<<(64-shardBits)|x>>markBits)
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
			h.rebuild(max(slotsMin, (int(h.old.Load())+1)*seenLoadDen/seenLoadNum), func(x uint64) uint64 {
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

// Drop forgets the fingerprints that are Cached. Nobody else may use the set
// meanwhile.
func (s *Seen) Drop() {
	for i := range s.shard {
		h := &s.shard[i]
		h.rebuild(max(slotsMin, (int(h.old.Load())+1)*seenLoadDen/seenLoadNum), func(x uint64) uint64 {
			if Mark(x) == Cached {
				return 0
			}
			return x
		})
	}
}

// Len is the number of fingerprints.
func (s *Seen) Len() int64 { return s.sum(func(h *seenShard) int { return h.taken }) }

// Fresh is the number of fingerprints that are Old: in no run on disk.
func (s *Seen) Fresh() int64 { return s.sum(func(h *seenShard) int { return int(h.old.Load()) }) }

// Bytes is the size of the tables in memory.
func (s *Seen) Bytes() int64 {
	return s.sum(func(h *seenShard) int { return len(*h.slots.Load()) * 8 })
}

func (s *Seen) sum(of func(*seenShard) int) int64 {
	var n int64
	for i := range s.shard {
		h := &s.shard[i]
		h.mu.Lock()
		n += int64(of(h))
		h.mu.Unlock()
	}
	return n
}
