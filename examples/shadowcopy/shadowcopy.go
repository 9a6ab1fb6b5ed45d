// SPDX-License-Identifier: Apache-2.0

// Package shadowcopy keeps a pair of blocks on a disk that is written all at
// once: a crash leaves the old pair or the new one, never one block of each.
//
// Block 0 of the disk says which of two copies is current, the one in blocks 1
// and 2 or the one in blocks 3 and 4. A write fills the copy that is not
// current, and then writes block 0: that is the moment at which it happens.
// A disk of zeros holds a pair of zero blocks. The disk has at least Blocks
// blocks.
//
// The package is proved: proofs/top/shadowcopy.v has the theorem, and
// specs/shadowcopy a model of the algorithm.
package shadowcopy

import (
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// Blocks is the size of the disk that a pair needs.
const Blocks uint64 = 5

// Pair is the pair of blocks on a disk. It is safe for concurrent use; one
// process at a time may use the disk.
type Pair struct {
	disk *disk.Disk
	mu   sync.Mutex
	base uint64 // where the current copy begins: what block 0 says
}

// copyBase is where the copy begins that block 0 names.
func copyBase(selector []byte) uint64 {
	if selector[0] == 0 {
		return 1
	}
	return 3
}

// newSelector makes a block 0 that names the copy that begins at base.
func newSelector(base uint64) []byte {
	selector := make([]byte, disk.BlockSize)
	selector[0] = byte(base / 2)
	return selector
}

// Open gives the pair on the disk, after a crash as well: what a write has left
// unfinished is not in the current copy.
func Open(d *disk.Disk) *Pair {
	selector := d.Read(0)
	return &Pair{disk: d, base: copyBase(selector)}
}

// Read returns copies of both blocks.
func (p *Pair) Read() ([]byte, []byte) {
	p.mu.Lock()
	a := p.disk.Read(p.base)
	b := p.disk.Read(p.base + 1)
	p.mu.Unlock()
	return a, b
}

// Write makes a and b the pair. It is durable when Write returns. Both are of
// disk.BlockSize bytes, and must not change before that.
func (p *Pair) Write(a, b []byte) {
	p.mu.Lock()
	base := 4 - p.base
	p.disk.Write(base, a)
	p.disk.Write(base+1, b)
	p.disk.Write(0, newSelector(base))
	p.base = base
	p.mu.Unlock()
}
