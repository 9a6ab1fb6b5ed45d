// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// buffer is bytes in the memory of a pool, which grow at their end. The zero
// buffer with a pool is empty.
type buffer struct {
	pool *slab.Pool
	b    []byte // as it was allocated
	n    int    // bytes in use
	// optional reports that the owner can do without it.
	optional bool
}

const bufferLeast = 4096

// bytes are those in use.
func (g *buffer) bytes() []byte { return g.b[:g.n] }

// grow makes room for n bytes more.
func (g *buffer) grow(n int) bool {
	size := max(bufferLeast, 2*len(g.b))
	for size < g.n+n {
		size *= 2
	}
	get := g.pool.Alloc
	if g.optional {
		get = g.pool.Ask
	}
	b, ok := get(size)
	if !ok {
		return false
	}
	copy(b, g.b[:g.n])
	if g.b != nil {
		g.pool.Free(g.b)
	}
	g.b = b
	return true
}

// take returns n more bytes, to be filled at once; nil when there is no
// memory.
func (g *buffer) take(n int) []byte {
	if len(g.b)-g.n < n && !g.grow(n) {
		return nil
	}
	g.n += n
	return g.b[g.n-n : g.n]
}

func (g *buffer) uint64(v uint64) bool {
	b := g.take(8)
	if b == nil {
		return false
	}
	binary.LittleEndian.PutUint64(b, v)
	return true
}

// free gives the memory back; the buffer is empty then.
func (g *buffer) free() {
	if g.b != nil {
		g.pool.Free(g.b)
	}
	g.b, g.n = nil, 0
}

// resize makes *b at least n bytes long, without keeping what is there. When
// the pool has no memory for the usual size it takes just what is needed.
func resize(pool *slab.Pool, b *[]byte, n int) bool {
	if len(*b) >= n {
		return true
	}
	if *b != nil {
		pool.Free(*b)
		*b = nil
	}
	size := bufferLeast
	for size < n {
		size *= 2
	}
	fresh, ok := pool.Ask(size)
	if !ok {
		fresh, ok = pool.Alloc(n)
	}
	if ok {
		*b = fresh
	}
	return ok
}
