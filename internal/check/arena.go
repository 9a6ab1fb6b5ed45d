// SPDX-License-Identifier: Apache-2.0

package check

import "encoding/binary"

// arenaBlockBytes is the size of an arena's blocks. A larger item gets a block
// of its own.
const arenaBlockBytes = 1 << 20

// arena holds byte strings in a few large blocks that hold no pointers, so that
// the garbage collector has nothing to scan, however many states wait.
type arena struct {
	blocks [][]byte
	in     int   // the block that is being filled
	used   int64 // bytes in use
}

// ref names a string in an arena: the block, and the offset in it.
type ref uint64

const refOffsetBits = 32

// put copies the parts one after another, each preceded by its length.
func (a *arena) put(parts ...[]byte) ref {
	need := 0
	for _, p := range parts {
		need += binary.MaxVarintLen64 + len(p)
	}
	b := a.room(need)
	r := ref(a.in)<<refOffsetBits | ref(len(b))
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	a.blocks[a.in] = b
	a.used += int64(need)
	return r
}

// room makes the current block one with need free bytes.
func (a *arena) room(need int) []byte {
	for a.in < len(a.blocks) {
		if b := a.blocks[a.in]; cap(b)-len(b) >= need {
			return b
		}
		a.in++
	}
	a.blocks = append(a.blocks, make([]byte, 0, max(need, arenaBlockBytes)))
	return a.blocks[a.in]
}

// get returns the string at r and the rest of the block after it.
func (a *arena) get(r ref) (part, rest []byte) {
	b := a.blocks[r>>refOffsetBits]
	return cut(b[r&(1<<refOffsetBits-1):])
}

// cut takes a string off the front of b.
func cut(b []byte) (part, rest []byte) {
	n, w := binary.Uvarint(b)
	end := w + int(n)
	return b[w:end:end], b[end:]
}

// reset empties the arena and keeps its blocks for reuse.
func (a *arena) reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.in, a.used = 0, 0
}

// size is the number of bytes that the arena holds.
func (a *arena) size() int64 {
	var n int64
	for _, b := range a.blocks {
		n += int64(cap(b))
	}
	return n
}
