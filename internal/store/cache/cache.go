// SPDX-License-Identifier: Apache-2.0

// Package cache keeps records and blocks of a store in one budget of memory.
//
// In: a pool and a number of bytes; records by their keys, and blocks by their
// branch and their number in it. Out: copies of what was put, or nothing.
// Promised: it never holds more than its budget, including the index; it takes
// less if the pool has less; and it never returns a record that was removed or
// replaced. Refused: items that do not fit, and pins: readers copy.
//
// Records and blocks are two tenants. A record is worth a read at the price of
// its own bytes, a block is worth one at the price of 4 KiB but serves its
// neighbours too; which is better depends on what is read. So the border
// moves: what comes back soon after it was evicted would have been a hit had
// the tenant been larger, and the border goes to where that happens more often
// per byte that the tenant would have needed.
//
// Each tenant is an S3-FIFO (Yang et al., "FIFO queues are all you need for
// cache eviction", SOSP 2023): what is new goes through a small queue, and
// only what is used there, or comes back after it left, gets to the main one;
// a scan passes through the small queue and harms nothing. The queues are logs
// of pieces of memory that are filled and evicted as a whole, so there are no
// holes, and no lists: an entry is where it was written, and what is evicted
// and used is written again at the other end.
package cache

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Cache is safe for concurrent use.
//
// Versions. A cached record is the tree's result for a key. When a memtable
// becomes part of the tree, results change, in this order: Advance; Remove for
// every key of the memtable (or Clear); then, in one moment, the new root and
// the end of the memtable. A reader takes Version, then the root, and puts the
// result that it found there with that version; it puts nothing for a key that
// it found in a memtable.
//
// Why no stale record is ever returned: suppose that a reader puts the result
// of an old root for a key that the memtable changes. It has not met the
// memtable's change, so it took its state before the change was made, and its
// version before that, hence before Advance. PutRecord compares versions while
// it holds the lock of the key's shard, and Remove takes the same lock. If the
// comparison comes before Advance, so it does before Remove, and as the lock is
// held from the comparison to the insertion, Remove finds the record and takes
// it out; until then the memtable hides it. If it comes after, the put is
// ignored. One thing is looked at without the lock, by Remove and Empty: that
// there are no records at all. PutRecord counts its record before it compares:
// who sees none after Advance knows that the count comes later, hence the
// comparison too.
type Cache struct {
	pool    *slab.Pool
	version atomic.Uint64
	records atomic.Int64 // at least as many as there are
	layout  atomic.Pointer[layout]

	resize sync.Mutex // one at a time
	budget atomic.Int64
}

// layout is how a budget is cut up. What a budget many times as large needs is
// another layout, which starts empty.
type layout struct {
	basis  int64 // the budget it was made for
	piece  int
	shift  int // a hash shifted by this is the number of a shard
	shards []shard
}

const (
	shardsMax   = 16
	shardMin    = 4 << 20 // bytes, unless there is one shard only
	pieceMin    = 8 << 10
	pieceMax    = 1 << 20
	piecesAim   = 128      // in a shard
	pieceGood   = 64 << 10 // loses little at its end; smaller ones only where there would be less than piecesMin
	piecesMin   = 8
	relayout    = 8
	recordParts = 4 // a record is at most such a part of a piece
)

// New returns a cache that uses at most that many bytes of the pool. It
// allocates nothing yet.
func New(pool *slab.Pool, bytes int64) *Cache {
	c := &Cache{pool: pool}
	c.layout.Store(c.newLayout(0))
	c.Resize(bytes)
	return c
}

func (c *Cache) newLayout(bytes int64) *layout {
	shards := int64(1)
	for shards < shardsMax && bytes/(2*shards) >= shardMin {
		shards *= 2
	}
	l := &layout{basis: bytes, piece: pieceMin, shards: make([]shard, shards)}
	l.shift = 64 - bits.Len64(uint64(shards-1))
	for l.piece < pieceMax {
		aim := int64(piecesAim)
		if l.piece < pieceGood {
			aim = piecesMin
		}
		if bytes/shards/int64(2*l.piece) < aim {
			break
		}
		l.piece *= 2
	}
	for i := range l.shards {
		l.shards[i].start(c.pool, &c.records, l.piece)
	}
	return l
}

// Budget returns the bytes that the cache may take.
func (c *Cache) Budget() int64 { return c.budget.Load() }

// Resize changes how much memory the cache may use. When it returns, memory
// beyond that is back in the pool.
func (c *Cache) Resize(bytes int64) {
	c.resize.Lock()
	defer c.resize.Unlock()
	bytes = max(bytes, 0)
	if bytes == c.budget.Load() {
		return
	}
	c.budget.Store(bytes)
	l := c.layout.Load()
	if bytes/relayout >= max(l.basis, pieceMin) || bytes > 0 && bytes < l.basis/relayout {
		// Before the old one is empty the new one takes nothing, so that both
		// together never exceed the budget. A call that still holds the old
		// layout finds nothing in it, and puts nothing into it.
		next := c.newLayout(bytes)
		for i := range l.shards {
			l.shards[i].resize(0)
		}
		c.layout.Store(next)
		l = next
	}
	for i := range l.shards {
		l.shards[i].resize(bytes / int64(len(l.shards)))
	}
}

// Close gives all memory back. Calls that follow find and keep nothing.
func (c *Cache) Close() { c.Resize(0) }

// shard is where what has that hash belongs.
func (c *Cache) shard(hash uint64) *shard {
	l := c.layout.Load()
	return &l.shards[hash>>l.shift]
}

// blockKey is the key of a block.
type blockKey [12]byte

func keyOfBlock(branch uint64, block uint32) (k blockKey, hash uint64) {
	binary.LittleEndian.PutUint64(k[:], branch)
	binary.LittleEndian.PutUint32(k[8:], block)
	// Two rounds of multiply and fold spread both numbers over all bits.
	hi, lo := bits.Mul64(branch^0x9e3779b97f4a7c15, uint64(block)^0xd1b54a32d192ed03)
	hi, lo = bits.Mul64(hi^lo^branch, 0xff51afd7ed558ccd)
	return k, hi ^ lo
}

// GetBlock copies a block to dst and returns its length; ok is false when it is
// not there, or dst is too short for it.
func (c *Cache) GetBlock(branch uint64, block uint32, dst []byte) (n int, ok bool) {
	key, hash := keyOfBlock(branch, block)
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	value := s.get(blocks, uint32(hash), key[:])
	if value == nil {
		return 0, false
	}
	return copy(dst, value), len(value) <= len(dst)
}

// GetPart copies len(dst) bytes of a block, starting at from, to dst; ok is false
// if the block is not cached or has fewer.
func (c *Cache) GetPart(branch uint64, block uint32, from int, dst []byte) (ok bool) {
	key, hash := keyOfBlock(branch, block)
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	value := s.get(blocks, uint32(hash), key[:])
	if from > len(value) {
		return false
	}
	return copy(dst, value[from:]) == len(dst) && value != nil
}

// PutBlock keeps a copy of a block, which never changes as long as its branch
// is there.
func (c *Cache) PutBlock(branch uint64, block uint32, b []byte) {
	key, hash := keyOfBlock(branch, block)
	s := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(blocks, uint32(hash), key[:], b)
}

// DropBranch forgets the blocks of a branch, of which none is put any more. It
// costs a walk over the blocks when there are any.
func (c *Cache) DropBranch(branch uint64) {
	l := c.layout.Load()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		s.dropBranch(branch)
		s.mu.Unlock()
	}
}

// GetRecord appends the value of a record to dst; ok is false when it is not
// there, and dst is as it was.
func (c *Cache) GetRecord(key, dst []byte) (out []byte, ok bool) {
	hash := xxhash.Sum64(key)
	s := c.shard(hash)
	s.mu.Lock()
	value := s.get(records, uint32(hash), key)
	if value != nil {
		dst = append(dst, value...)
	}
	s.mu.Unlock()
	return dst, value != nil
}

// PutRecord keeps a copy of a record, unless the version is an old one. Of one
// that is too long it keeps nothing.
func (c *Cache) PutRecord(key, value []byte, version uint64) {
	hash := xxhash.Sum64(key)
	s := c.shard(hash)
	s.mu.Lock()
	c.records.Add(1) // before the comparison: see Cache
	if version != c.version.Load() || !s.put(records, uint32(hash), key, value) {
		c.records.Add(-1)
	}
	s.mu.Unlock()
}

// Version returns the version, which a reader must take before the root that it
// reads.
func (c *Cache) Version() uint64 { return c.version.Load() }

// Advance is called when there is a new root, which readers that take the new
// version will read, and before the keys that it changes are removed.
func (c *Cache) Advance() uint64 { return c.version.Add(1) }

// Remove forgets a record.
func (c *Cache) Remove(key []byte) {
	if c.records.Load() == 0 {
		return
	}
	hash := xxhash.Sum64(key)
	s := c.shard(hash)
	s.mu.Lock()
	s.remove(records, uint32(hash), key)
	s.mu.Unlock()
}

// Clear forgets all records. Blocks stay.
func (c *Cache) Clear() {
	l := c.layout.Load()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		s.clear(records)
		s.mu.Unlock()
	}
}

// Taken is how many bytes of the pool the cache has.
func (c *Cache) Taken() (bytes int64) {
	l := c.layout.Load()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		bytes += s.taken()
		s.mu.Unlock()
	}
	return bytes
}

// Empty reports whether there are no records.
func (c *Cache) Empty() bool { return c.records.Load() == 0 }

// Metrics counts what the cache has done and what it holds.
type Metrics struct {
	Records, Blocks Tenant
	Budget          int64   // bytes that it may take
	Taken           int64   // bytes that it has taken from the pool
	Border          float64 // the part of the budget that records should have
}

// Tenant is Metrics of records or of blocks. Counts are since the budget was
// last changed by a large factor.
type Tenant struct {
	Hits, Misses uint64
	Puts         uint64
	Evictions    uint64 // of entries, to make room
	Returns      uint64 // puts of what had been evicted shortly before
	Entries      int64
	Bytes        int64 // of entries, with their keys and headers
	Pieces       int64 // bytes of memory that they lie in
}

func (t *Tenant) add(u Tenant) {
	t.Hits, t.Misses, t.Puts = t.Hits+u.Hits, t.Misses+u.Misses, t.Puts+u.Puts
	t.Evictions, t.Returns = t.Evictions+u.Evictions, t.Returns+u.Returns
	t.Entries, t.Bytes, t.Pieces = t.Entries+u.Entries, t.Bytes+u.Bytes, t.Pieces+u.Pieces
}

// Metrics returns a sum over shards that are looked at one after the other.
func (c *Cache) Metrics() Metrics {
	m := Metrics{Budget: c.Budget()}
	l := c.layout.Load()
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for k := range s.tenants {
			t := s.tenants[k].count
			t.Entries, t.Bytes = int64(s.tenants[k].live), s.tenants[k].bytes
			t.Pieces = int64(s.tenants[k].pieces() * s.piece)
			if kind(k) == records {
				m.Records.add(t)
			} else {
				m.Blocks.add(t)
			}
		}
		m.Taken += s.taken()
		m.Border += s.border / float64(len(l.shards))
		s.mu.Unlock()
	}
	return m
}
