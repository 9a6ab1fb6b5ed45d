// SPDX-License-Identifier: Apache-2.0

// Package branch is the immutable sorted run of messages that the trunk of a
// Bε-tree refers to: blocks on disk, and an index in memory that leads to the
// one block which can hold a key (Conway et al., "SplinterDB: Closing the
// Bandwidth Gap for NVMe Key-Value Stores", 2020: size-tiered Bε-tree; the
// checksums in the pointers are ours).
//
// In: messages in order and range tombstones, by a Writer. Out: an Index, and
// the Meta by which OpenIndex finds it again; from an Index messages, by key
// or by iterator. Promised: a key is found with one read, of the pages of one
// block; every block is compared with the checksum that its fence holds, then
// with the identity that it claims, so that rot, lost, stale and misdirected
// writes are a *Corrupt and never a message; what grows with the data is in
// the memory of a slab.Pool. Refused: durability, since Finish writes and does
// not sync; concurrency of a Writer or an iterator; change.
package branch

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// ErrMemory reports that the pool has no memory, not even for one block.
var ErrMemory = errors.New("no memory left in the store's pool")

// ErrTooLarge reports that a message is longer than a block takes: its value must
// go to a blob.
var ErrTooLarge = errors.New("message too large for a branch")

// Loc is a place in the data file: Len bytes from the byte Addr on, with that
// CRC32C.
type Loc struct {
	Addr     int64
	Len, CRC uint32
}

// Alloc allocates and frees pages of the data file, and extends the file if
// necessary. One Writer at a time calls it; it does its own locking.
type Alloc interface {
	// Alloc returns one run of that many pages.
	Alloc(pages uint32) (extent.Run, error)
	// Free frees a run that nothing durable refers to.
	Free(extent.Run)
}

// Compression is a rule, not a method: which one a block is stored with is
// decided by samples.
type Compression uint8

const (
	// Auto tries one block in each MiB of output, and compresses the others
	// when that saves a quarter.
	Auto Compression = iota
	// None compresses nothing.
	None
)

// writeBytes is the longest write, in bytes.
const writeBytes = 1 << 20

// Options are what branches need of the world. All but File, Pool and
// Resident is for writing only.
type Options struct {
	// File is the data file; offsets, lengths and buffers are multiples of
	// env.DirectUnit.
	File  env.File
	Alloc Alloc
	Pool  *slab.Pool
	// Coder compresses; one for all branches of a store saves memory. Nil:
	// each branch has its own.
	Coder       *block.Coder
	Compression Compression
	// Last means that the output will live long, so that it is worth more effort to
	// make it small.
	Last bool
	// Resident is how many bytes of memory an index may take: a longer one is
	// paged, which means that its fences and its filter stay in the file, and reads
	// load the parts that they need into the Cache. 0 means no bound.
	Resident int64
	// partBlocks is the most blocks of a part of a paged index; 0: partBlocks.
	partBlocks int
	// WriteBytes is the length of one write, from 32 KiB up to 1 MiB; 0: that.
	WriteBytes int
}

func (o Options) coder() *block.Coder {
	if o.Coder == nil {
		return new(block.Coder)
	}
	return o.Coder
}

// Cache keeps the images of blocks, and parts of indexes. It copies in both
// directions, and is safe for concurrent use.
type Cache interface {
	// GetBlock copies an image to dst and returns its length; ok is false if there
	// is none or dst is too short.
	GetBlock(branch uint64, block uint32, dst []byte) (n int, ok bool)
	// GetPart copies len(dst) bytes of an image, starting at from, to dst; ok is
	// false if the image has fewer.
	GetPart(branch uint64, block uint32, from int, dst []byte) (ok bool)
	// PutBlock may keep a copy of b.
	PutBlock(branch uint64, block uint32, b []byte)
}

// Corrupt is the error for bytes on disk that are not those that were written.
// Messages with keys from Lo to Hi, both included, may be lost; other parts of
// the branch are unaffected.
type Corrupt struct {
	Branch uint64
	// Block is -1 for the index.
	Block int
	// Addr is the place of the bytes in the data file.
	Addr int64
	// Lo and Hi bound the keys, both of them included.
	Lo, Hi []byte
	// Want and Found describe the expected and the actual bytes.
	Want, Found string
}

func (c *Corrupt) Error() string {
	what := fmt.Sprintf("block %d", c.Block)
	if c.Block < 0 {
		what = "the index"
	}
	return fmt.Sprintf("%s of branch %d, at byte %d, keys %s to %s: want %s, found %s",
		what, c.Branch, c.Addr, block.Masked(c.Lo), block.Masked(c.Hi), c.Want, c.Found)
}
