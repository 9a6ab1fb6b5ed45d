// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"runtime"
	"sync/atomic"
)

// A lock that several processors take in turn costs each of them a read from
// another processor's cache, as much as reading the slot of the fingerprint. So each
// goroutine adds through its own Adder, which marks in its own word that it is
// working in a shard, and changes the table with compare-and-swap. Only a goroutine
// that grows a table waits for the others. A table must grow at a fixed number of
// taken slots, no matter which Adders took them. So an Adder takes slots only from a
// grant, and before a table grows, the rest of all grants is reclaimed.

// Adder adds fingerprints to a Seen for one goroutine.
type Adder struct {
	set *Seen
	_   [64]byte // keeps other writers out of the cache lines of words
	// words are, for each shard, twice the number of slots that the adder may
	// take, and one more while it is changing the table, or closed.
	words [shards]atomic.Int32
	_     [64]byte
}

const (
	// closed is the word of a shard whose table grows.
	closed = -2
	// grantMax bounds the slots that an adder is granted at once.
	grantMax = 64
)

// Adder returns a new adder. No other call may use the set meanwhile.
func (s *Seen) Adder() *Adder {
	a := &Adder{set: s}
	s.adders = append(s.adders, a)
	return a
}

// Add puts the fingerprint into the set with the mark, or lowers the mark of
// the one that is there, and returns the mark that it had then. Other adders may
// add meanwhile.
func (a *Adder) Add(fp uint64, m Mark) (o Outcome, was Mark) {
	n, key := fp>>(64-shardBits), fp<<markBits
	table := &a.set.tables[n]
	if _, x := seek(*table.Load(), key); x != 0 && Mark(x) <= m {
		return Present, 0
	}
	for word := &a.words[n]; ; {
		v := word.Load()
		if v >= 0 && word.CompareAndSwap(v, v+1) {
			var done bool
			o, was, done = change(*table.Load(), key, m, v > 0)
			if o == Added && done {
				v -= 2
			}
			word.Store(v)
			if done {
				break
			}
		}
		a.grant(n, key)
	}
	if o == Added && m == Old {
		a.set.shard[n].old.Add(1)
	}
	return o, was
}

// change does the work of Add in a table. It returns false if it needs a slot
// and none is granted.
func change(slots []uint64, key uint64, m Mark, room bool) (o Outcome, was Mark, done bool) {
	for {
		i, x := seek(slots, key)
		o, was = Lowered, Mark(x)
		switch {
		case x == 0 && !room:
			return Added, 0, false
		case x == 0:
			o = Added
		case was <= m:
			return Present, 0, true
		}
		if atomic.CompareAndSwapUint64(&slots[i], x, key|uint64(m)) {
			return o, was, true
		}
	}
}

// grant gives the adder slots, so that it can add key. If no slots are left, the
// table grows first. grant waits while another goroutine grows the table.
func (a *Adder) grant(n, key uint64) {
	s, h := a.set, &a.set.shard[n]
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.words[n].Load() > 0 {
		return
	}
	if h.room == 0 {
		s.close(n)
		if slots := *s.tables[n].Load(); h.room == 0 {
			if _, x := seek(slots, key); x == 0 {
				s.rebuild(n, len(slots)+max(len(slots)/4, 4), func(x uint64) uint64 { return x })
			}
		}
		for _, b := range s.adders {
			b.words[n].Store(0)
		}
	}
	if h.room > 0 {
		part := min(grantMax, max(1, h.room/(4*len(s.adders))))
		h.room -= part
		a.words[n].Store(int32(2 * part))
	}
}

// close revokes the slots granted to the adders of a shard. When it returns, no
// adder is changing the shard's table or will change it.
func (s *Seen) close(n uint64) {
	for _, a := range s.adders {
		for word := &a.words[n]; ; runtime.Gosched() {
			v := word.Load()
			if v&1 == 0 && word.CompareAndSwap(v, closed) {
				s.shard[n].room += int(v / 2)
				break
			}
		}
	}
}

// reclaim takes back the slots granted to the adders of a shard. No adder may
// be adding meanwhile.
func (s *Seen) reclaim(n uint64) {
	for _, a := range s.adders {
		s.shard[n].room += int(a.words[n].Swap(0) / 2)
	}
}
