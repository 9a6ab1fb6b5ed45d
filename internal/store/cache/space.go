// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"math"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// How a shard comes by memory, and what it forgets to do so.

// tables is the memory of indexes and ghosts, in bytes.
func (s *shard) tables() int64 {
	n := 0
	for k := range s.tenants {
		n += len(s.tenants[k].index.mem) + len(s.tenants[k].ghost.mem)
	}
	return int64(n)
}

func (s *shard) taken() int64 { return s.tables() + int64(s.held*s.piece) }

// resize changes the budget; 0 gives everything back.
func (s *shard) resize(budget int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = budget
	s.bound(0)
	if s.limit == 0 {
		for k := range s.tenants {
			s.clear(kind(k))
			s.freeTables(&s.tenants[k])
		}
	}
	s.trim()
}

// bound sets the limit from the budget, of which some bytes are for others.
func (s *shard) bound(others int64) {
	n := max(s.budget-s.tables()-others, 0) / int64(s.piece)
	s.limit = int(min(n, math.MaxUint32/int64(s.units())))
	s.retry = 0
}

// reserve is how many pieces are left free, for what is moved in an eviction.
// Where there are few pieces nothing is moved.
func (s *shard) reserve() int {
	if s.limit < 4 {
		return 0
	}
	return 1
}

// trim frees what is above the limit.
func (s *shard) trim() {
	for fruitless := 0; s.held > s.limit; {
		n := len(s.free)
		if n > s.reserve() || n == s.held {
			s.unmap(s.free[n-1])
			s.free = s.free[:n-1]
			fruitless = 0
			continue
		}
		s.evict(s.over(records), fruitless >= roundsFair)
		fruitless++
	}
}

func (s *shard) freeTables(t *tenant) {
	if t.index.mem != nil {
		s.pool.Free(t.index.mem)
		t.index = index{}
	}
	if t.ghost.mem != nil {
		s.pool.Free(t.ghost.mem)
		t.ghost = ghost{}
	}
}

// ready makes the tables of a tenant, and makes them larger when they are
// crowded. Without memory they stay as they are; false: there are none.
func (s *shard) ready(k kind) bool {
	t := &s.tenants[k]
	if t.index.mem != nil && !t.index.crowded() {
		return true
	}
	buckets := bucketsMin
	if t.index.mem != nil {
		buckets = 2 * int(t.index.mask+1)
	}
	bytes := int64(buckets*bucketSize) * (ghostPart + 1) / ghostPart
	if bytes > s.budget/4 || buckets > 1<<24 {
		return t.index.mem != nil
	}
	s.bound(bytes)
	s.trim()
	mem, ok := s.pool.Try(buckets * bucketSize)
	if !ok {
		s.bound(0)
		return t.index.mem != nil
	}
	s.freeTables(t)
	t.index = index{mem: mem, mask: uint32(buckets - 1)}
	s.each(k, func(place uint32, e entry) bool {
		if _, ok := t.index.insert(e.hash(), place); !ok {
			t.count.Evictions++
			s.gone(k, e)
			e[deadAt] = 1
		}
		return true
	}, true)
	t.ghost = newGhost(s.pool, buckets/ghostPart)
	s.bound(0)
	return true
}

// pop takes the oldest piece off a queue.
func (s *shard) pop(q *queue) int32 {
	n := q.first
	q.first, q.n = s.pieces[n].next, q.n-1
	if q.first < 0 {
		q.last = -1
	}
	return n
}

func (s *shard) push(q *queue, n int32) {
	s.pieces[n].next, s.pieces[n].used = -1, 0
	if q.last >= 0 {
		s.pieces[q.last].next = n
	} else {
		q.first = n
	}
	q.last, q.n = n, q.n+1
}

func (s *shard) unmap(n int32) {
	s.pool.Free(s.pieces[n].mem)
	s.pieces[n].mem = nil
	s.vacant = append(s.vacant, n)
	s.held--
}

// spare is how many pieces can be taken, if the pool does not refuse.
func (s *shard) spare() int { return len(s.free) + max(s.limit-s.held, 0) }

// take takes a piece. When the pool refuses, the limit is what there is, until
// some evictions later.
func (s *shard) take() (int32, bool) {
	if n := len(s.free); n > 0 {
		p := s.free[n-1]
		s.free = s.free[:n-1]
		return p, true
	}
	if s.held >= s.limit {
		return 0, false
	}
	mem, ok := s.pool.Try(s.piece)
	if !ok {
		s.limit, s.retry = s.held, retryAfter
		return 0, false
	}
	s.held++
	if n := len(s.vacant); n > 0 {
		p := s.vacant[n-1]
		s.vacant = s.vacant[:n-1]
		s.pieces[p].mem = mem
		return p, true
	}
	s.pieces = append(s.pieces, piece{mem: mem})
	return int32(len(s.pieces) - 1), true
}

// append takes room at the end of a queue; with a piece that is spare.
func (s *shard) append(q *queue, size int) (place uint32, ok bool) {
	if q.last < 0 || s.pieces[q.last].used+size > s.piece {
		n, ok := s.take()
		if !ok {
			return 0, false
		}
		s.push(q, n)
	}
	p := &s.pieces[q.last]
	place = uint32(q.last)*s.units() + uint32(p.used/8)
	p.used += size
	return place, true
}

// room takes room for a new entry, but not the reserve.
func (s *shard) room(k kind, q stage, size int) (place uint32, ok bool) {
	to := &s.tenants[k].queues[q]
	if to.last >= 0 && s.pieces[to.last].used+size <= s.piece {
		return s.append(to, size)
	}
	for round := range roundsMax {
		if s.spare() > s.reserve() {
			if place, ok := s.append(to, size); ok {
				return place, true
			}
			continue // the pool has refused; now the limit says so
		}
		from := s.over(k)
		if s.tenants[from].pieces() == 0 {
			return 0, false
		}
		s.evict(from, round >= roundsFair)
		if to.last >= 0 && s.pieces[to.last].used+size <= s.piece {
			return s.append(to, size) // what was moved has left room
		}
	}
	return 0, false
}

// over is the tenant that gives way to one that needs a piece: itself, unless
// it has less than its part.
func (s *shard) over(k kind) kind {
	other := 1 - k
	part := s.border
	if k == blocks {
		part = 1 - part
	}
	have := s.tenants[k].pieces()
	if s.tenants[other].pieces() > 0 && (have == 0 || float64(have) < part*float64(s.limit)) {
		return other
	}
	return k
}

// evict empties the oldest piece of a tenant: of the small queue, if that has
// more than its part, else of the main one. What was used moves to the end of
// the main queue, unless it is by force.
func (s *shard) evict(k kind, force bool) {
	t := &s.tenants[k]
	from := main
	if t.queues[main].n == 0 || t.queues[small].n > max(1, t.pieces()/smallPart) {
		from = small
	}
	n := s.pop(&t.queues[from])
	for off := 0; off < s.pieces[n].used; {
		e := entry(s.pieces[n].mem[off:])
		size := e.size()
		if e[deadAt] == 0 {
			s.leave(k, from, uint32(n)*s.units()+uint32(off/8), e[:size], force)
		}
		off += size
	}
	s.free = append(s.free, n)
	if s.retry > 0 {
		if s.retry--; s.retry == 0 {
			s.bound(0)
		}
	}
}

// leave moves or forgets an entry whose piece goes.
func (s *shard) leave(k kind, from stage, place uint32, e entry, force bool) {
	t := &s.tenants[k]
	h := e.hash()
	slot := t.index.find(h, place)
	invariant.Check(slot != none, "cache: an entry that is not in the index")
	used := e[usesAt] > 0
	if from == small {
		used = e[usesAt] >= usesToMain
	}
	if used && !force {
		if to, ok := s.append(&t.queues[main], len(e)); ok {
			moved := s.at(to)
			copy(moved, e)
			if moved[usesAt]--; from == small {
				moved[usesAt] = 0
			}
			t.index.setPlace(slot, to)
			return
		}
	}
	t.index.remove(h, slot)
	s.gone(k, e)
	t.count.Evictions++
	t.ghost.add(h)
}
