// SPDX-License-Identifier: Apache-2.0

package memtable

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// A run is a sorted sequence of messages: two words for each, the prefix of its
// key behind the depth bytes that all keys of the run have in common, and its
// place with the prefix's class above it. Most comparisons need nothing else.

// pairWords is the length of a pair in words.
const pairWords = 2

func pair(key []byte, depth int, p Pos) (prefix, rest uint64) {
	prefix, class := prefixOf(key, depth)
	return prefix, uint64(class)<<32 | uint64(p)
}

func pairPos(rest uint64) Pos   { return Pos(rest) }
func pairClass(rest uint64) int { return int(rest >> 32) }

// A run is never empty.
type run struct {
	arena arena
	pool  *slab.Pool
	refs  counter
	mem   []byte
	pairs []uint64
	depth int
}

// newRun returns a run of n messages that are yet to be filled in, with one
// reference.
func newRun(a arena, pool *slab.Pool, n, depth int) (*run, bool) {
	mem, ok := pool.Alloc(n * pairWords * 8)
	if !ok {
		return nil, false
	}
	r := &run{arena: a, pool: pool, mem: mem, pairs: slab.Uint64s(mem), depth: depth}
	r.refs.retain()
	return r, true
}

func (r *run) release() {
	if r.refs.release() {
		r.pool.Free(r.mem)
	}
}

func (r *run) len() int { return len(r.pairs) / pairWords }

func (r *run) pos(i int) Pos { return pairPos(r.pairs[i*pairWords+1]) }

// seek returns the number of messages with keys below key.
func (r *run) seek(key []byte) int {
	n := r.len()
	common := r.arena.key(r.pos(0))[:r.depth]
	if c := bytes.Compare(key[:min(len(key), r.depth)], common); c != 0 {
		if c < 0 {
			return 0
		}
		return n
	}
	prefix, class := prefixOf(key, r.depth)
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if r.below(mid, prefix, class, key) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// below reports whether the key of message i is below key, which has the common
// bytes, the prefix and the class.
func (r *run) below(i int, prefix uint64, class int, key []byte) bool {
	p, rest := r.pairs[i*pairWords], r.pairs[i*pairWords+1]
	if p != prefix {
		return p < prefix
	}
	if c := pairClass(rest); c != class || c < classLonger {
		return c < class
	}
	return bytes.Compare(r.arena.key(pairPos(rest)), key) < 0
}

// at returns the pair of message i for a depth that may not be the run's.
func (r *run) at(i, depth int) (prefix, rest uint64) {
	if depth == r.depth {
		return r.pairs[i*pairWords], r.pairs[i*pairWords+1]
	}
	p := r.pos(i)
	return pair(r.arena.key(p), depth, p)
}

// mergeRuns returns a new run of the messages of both; those of newer have the
// higher numbers.
func mergeRuns(older, newer *run, depth int) (*run, bool) {
	out, ok := newRun(older.arena, older.pool, older.len()+newer.len(), depth)
	if !ok {
		return nil, false
	}
	a, b := 0, 0
	na, nb := older.len(), newer.len()
	ap, ar := older.at(0, depth)
	bp, br := newer.at(0, depth)
	for o := 0; o < len(out.pairs); o += pairWords {
		if a < na && (b == nb || out.arena.before(ap, ar, bp, br, depth)) {
			out.pairs[o], out.pairs[o+1] = ap, ar
			if a++; a < na {
				ap, ar = older.at(a, depth)
			}
			continue
		}
		out.pairs[o], out.pairs[o+1] = bp, br
		if b++; b < nb {
			bp, br = newer.at(b, depth)
		}
	}
	return out, true
}

// before reports whether the first pair has the smaller key.
func (a arena) before(ap, ar, bp, br uint64, depth int) bool {
	if ap != bp {
		return ap < bp
	}
	if ac, bc := pairClass(ar), pairClass(br); ac != bc || ac < classLonger {
		return ac < bc
	}
	return bytes.Compare(a.key(pairPos(ar))[depth+8:], a.key(pairPos(br))[depth+8:]) < 0
}
