// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// kind is a tenant.
type kind int

const (
	records kind = iota
	blocks
)

// stage is a queue of a tenant.
type stage int

const (
	small stage = iota
	main
)

const (
	smallPart   = 10 // the small queue has this part of a tenant's pieces
	usesMax     = 3  // that are counted
	usesToMain  = 1  // in the small queue, for the main one
	roundsMax   = 48 // evictions for one put, which bound its time: about a millisecond
	roundsFair  = 32 // of which so many leave what was used
	retryAfter  = 64 // evictions, after which a pool that had no more is asked again
	borderMin   = 0.05
	borderMax   = 1 - borderMin
	borderStart = 0.5
	// borderStep is how far the border moves when something returns, as a part
	// of the budget, when its tenant remembers evictions worth the budget; at
	// most borderLeap.
	borderStep = 1.0 / 4096
	borderLeap = 1.0 / 256
)

// An entry in a piece, padded to 8 bytes:
//
//	0  hash, 4 length of the value, 8 length of the key (2 bytes)
//	10 uses since it was written, 11 whether it is dead
//	12 key, value
const (
	headerSize = 12
	valueLenAt = 4
	keyLenAt   = 8
	usesAt     = 10
	deadAt     = 11
	keyMax     = 1<<16 - 1
)

func entrySize(key, value int) int { return (headerSize + key + value + 7) &^ 7 }

type entry []byte

func (e entry) hash() uint32  { return binary.LittleEndian.Uint32(e) }
func (e entry) valueLen() int { return int(binary.LittleEndian.Uint32(e[valueLenAt:])) }
func (e entry) keyLen() int   { return int(binary.LittleEndian.Uint16(e[keyLenAt:])) }
func (e entry) size() int     { return entrySize(e.keyLen(), e.valueLen()) }
func (e entry) key() []byte   { return e[headerSize:][:e.keyLen()] }
func (e entry) value() []byte {
	k, v := e.keyLen(), e.valueLen()
	return e[headerSize+k : headerSize+k+v : headerSize+k+v]
}

// piece is memory that is filled from the front.
type piece struct {
	mem  []byte
	used int
	next int32 // in a queue, towards the newer; -1: none
}

// queue is a log: pieces from the oldest to the one that is being filled.
type queue struct {
	first, last int32 // -1: none
	n           int
}

// tenant is what a shard has of records, or of blocks.
type tenant struct {
	index  index
	ghost  ghost
	queues [2]queue
	live   int
	bytes  int64 // of live entries
	count  Tenant
}

func (t *tenant) pieces() int { return t.queues[small].n + t.queues[main].n }

// shard is a part of the cache with a lock of its own.
type shard struct {
	mu    sync.Mutex
	pool  *slab.Pool
	all   *atomic.Int64 // records of all shards, see Cache
	piece int           // bytes, a power of two

	pieces   []piece
	free     []int32 // pieces with memory, in no queue
	vacant   []int32 // pieces without
	held     int     // pieces with memory
	limit    int     // of held
	retry    int     // evictions until the pool is asked again; 0: it has not refused
	budget   int64
	border   float64 // the part of the budget that records should have
	tenants  [2]tenant
	branches map[uint64]int // how many blocks of a branch there are
	_        [64]byte       // keeps neighbours' locks apart
}

func (s *shard) start(pool *slab.Pool, all *atomic.Int64, piece int) {
	s.pool, s.all, s.piece, s.border = pool, all, piece, borderStart
	for k := range s.tenants {
		s.tenants[k].queues = [2]queue{{first: -1, last: -1}, {first: -1, last: -1}}
	}
}

// units is the number of places in a piece.
func (s *shard) units() uint32 { return uint32(s.piece / 8) }

// at is the entry at a place.
func (s *shard) at(place uint32) entry {
	u := s.units()
	return entry(s.pieces[place/u].mem[place%u*8:])
}

// lookup finds the slot and the entry of a key.
func (s *shard) lookup(k kind, h uint32, key []byte) (uint32, entry) {
	x := &s.tenants[k].index
	if x.mem == nil {
		return none, nil
	}
	home, tag := x.home(h), tagOf(h)
	for d := range uint32(group) {
		at := home ^ d
		b := x.mem[at*bucketSize:][:bucketSize]
		lo, hi := tags(b, tag)
		for ; lo|hi != 0; lo, hi = next(lo, hi) {
			i := first(lo, hi)
			if b[i] != tag {
				continue // the place may be in no piece any more
			}
			e := s.at(binary.LittleEndian.Uint32(b[placesAt+4*i:]))
			if e.hash() == h && string(e.key()) == string(key) {
				return at<<4 | i, e
			}
		}
		if d == 0 && b[spillAt] == 0 {
			break
		}
	}
	return none, nil
}

// get is the value of a key, nil when there is none. It is the shard's.
func (s *shard) get(k kind, h uint32, key []byte) []byte {
	t := &s.tenants[k]
	slot, e := s.lookup(k, h, key)
	if slot == none {
		t.count.Misses++
		return nil
	}
	t.count.Hits++
	if e[usesAt] < usesMax {
		e[usesAt]++
	}
	return e.value()
}

// put keeps a copy, and says whether there is one entry more.
func (s *shard) put(k kind, h uint32, key, value []byte) bool {
	t := &s.tenants[k]
	size := entrySize(len(key), len(value))
	if size > s.piece || k == records && size > s.piece/recordParts || len(key) > keyMax {
		s.remove(k, h, key)
		return false
	}
	if slot, e := s.lookup(k, h, key); slot != none {
		if e.valueLen() == len(value) {
			copy(e.value(), value)
			return false
		}
		s.kill(k, slot, e)
	}
	if !s.ready(k) {
		return false
	}
	q := small
	if t.ghost.take(h) {
		q = main
		t.count.Returns++
		s.shift(k)
	}
	place, ok := s.room(k, q, size)
	if !ok {
		return false
	}
	e := s.at(place)
	binary.LittleEndian.PutUint32(e, h)
	binary.LittleEndian.PutUint32(e[valueLenAt:], uint32(len(value)))
	binary.LittleEndian.PutUint16(e[keyLenAt:], uint16(len(key)))
	e[usesAt], e[deadAt] = 0, 0
	copy(e[headerSize:], key)
	copy(e[headerSize+len(key):], value)
	s.enlist(k, h, place)
	t.count.Puts++
	t.live++
	t.bytes += int64(size)
	if k == blocks {
		if s.branches == nil {
			s.branches = map[uint64]int{}
		}
		s.branches[branchOf(e)]++
	}
	return true
}

func branchOf(e entry) uint64 { return binary.LittleEndian.Uint64(e[headerSize:]) }

// enlist has the index lead to a place. What has to give way is lost.
func (s *shard) enlist(k kind, h, place uint32) {
	x := &s.tenants[k].index
	victim, ok := x.insert(h, place)
	if ok {
		return
	}
	s.tenants[k].count.Evictions++
	s.kill(k, victim, s.at(x.place(victim)))
	_, ok = x.insert(h, place)
	invariant.Check(ok, "cache: no free slot in a bucket that counts one")
}

// remove forgets a key.
func (s *shard) remove(k kind, h uint32, key []byte) {
	if slot, e := s.lookup(k, h, key); slot != none {
		s.kill(k, slot, e)
	}
}

// kill takes an entry out of the index; its bytes stay until its piece goes.
func (s *shard) kill(k kind, slot uint32, e entry) {
	s.tenants[k].index.remove(e.hash(), slot)
	s.gone(k, e)
	e[deadAt] = 1
}

// gone counts an entry that is not in the index any more.
func (s *shard) gone(k kind, e entry) {
	t := &s.tenants[k]
	t.live--
	t.bytes -= int64(e.size())
	if k == records {
		s.all.Add(-1)
		return
	}
	b := branchOf(e)
	if s.branches[b]--; s.branches[b] == 0 {
		delete(s.branches, b)
	}
}

// shift moves the border in favour of a tenant of which something came back.
// It rests where the returns per byte that is remembered are the same for both.
func (s *shard) shift(k kind) {
	t := &s.tenants[k]
	remembered := float64(t.ghost.window()) * float64(t.bytes) / float64(max(t.live, 1))
	d := borderLeap
	if remembered > 0 {
		d = min(d, borderStep*float64(s.budget)/remembered)
	}
	if k == blocks {
		d = -d
	}
	s.border = min(max(s.border+d, borderMin), borderMax)
}

// dropBranch forgets the blocks of a branch.
func (s *shard) dropBranch(branch uint64) {
	s.each(blocks, func(place uint32, e entry) (more bool) {
		if branchOf(e) == branch {
			s.kill(blocks, s.tenants[blocks].index.find(e.hash(), place), e)
		}
		return s.branches[branch] > 0
	}, s.branches[branch] > 0)
}

// each calls f for the entries of a tenant that are not dead, until it has
// enough.
func (s *shard) each(k kind, f func(place uint32, e entry) (more bool), more bool) {
	for _, q := range s.tenants[k].queues {
		for n := q.first; n >= 0 && more; n = s.pieces[n].next {
			p := &s.pieces[n]
			for off := 0; off < p.used && more; {
				e := entry(p.mem[off:])
				if e[deadAt] == 0 {
					more = f(uint32(n)*s.units()+uint32(off/8), e)
				}
				off += e.size()
			}
		}
	}
}

// clear forgets all of a tenant.
func (s *shard) clear(k kind) {
	t := &s.tenants[k]
	for i := range t.queues {
		for t.queues[i].n > 0 {
			s.free = append(s.free, s.pop(&t.queues[i]))
		}
	}
	clear(t.index.mem)
	if k == records {
		s.all.Add(-int64(t.live))
	} else {
		clear(s.branches)
	}
	t.index.used, t.live, t.bytes = 0, 0, 0
}
