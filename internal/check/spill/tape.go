// SPDX-License-Identifier: Apache-2.0

// Package spill keeps on disk the parts of a search for which it has no memory:
// tapes, on which items are appended and read in order, and sorted runs of
// fingerprints.
//
// In: an env.Disk whose only user is the search, and bytes to keep. Out: the
// same bytes again, or an error. Every block that is read back is compared with
// its checksum. Nothing is durable before Sync. After an error the caller must
// discard the tape or run that failed.
package spill

import (
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// BlockBytes is the size of a tape's blocks; a larger item gets a block of its
// own.
const BlockBytes = 256 << 10

// Tape is a row of blocks. It is kept in memory until Store is called. A Tape
// is used by one goroutine; blocks that are in memory may be read by others.
type Tape struct {
	disk   env.Disk // nil if there is none
	name   string
	file   env.File
	end    int64 // of the file
	blocks []Block
	from   int // blocks before are released
	spare  [][]byte
	held   int64 // bytes in memory
}

// Block is a part of a tape.
type Block struct {
	Items int    `json:"items"`
	Bytes int    `json:"bytes"`
	At    int64  `json:"at"` // in the file
	Sum   uint32 `json:"sum"`

	data   []byte // nil if it is only on disk
	stored bool
}

// NewTape returns an empty tape; if it is stored, its file has the given name.
func NewTape(disk env.Disk, name string) *Tape { return &Tape{disk: disk, name: name} }

// Append writes the parts one after another into one block, as the given number
// of items. It returns the number of the block and the offset at which they
// begin.
func (t *Tape) Append(items int, parts ...[]byte) (block, offset int) {
	need := 0
	for _, p := range parts {
		need += len(p)
	}
	last := len(t.blocks) - 1
	if last < t.from || t.blocks[last].stored || cap(t.blocks[last].data)-len(t.blocks[last].data) < need {
		t.blocks = append(t.blocks, Block{data: t.buffer(need)})
		last++
	}
	b := &t.blocks[last]
	offset = len(b.data)
	for _, p := range parts {
		b.data = append(b.data, p...)
	}
	b.Items += items
	b.Bytes = len(b.data)
	return last, offset
}

// buffer is memory for a block that needs need bytes.
func (t *Tape) buffer(need int) []byte {
	if n := len(t.spare); need <= BlockBytes && n > 0 {
		b := t.spare[n-1]
		t.spare = t.spare[:n-1]
		return b[:0]
	}
	b := make([]byte, 0, max(need, BlockBytes))
	t.held += int64(cap(b))
	return b
}

// sparesMax is the largest number of unused blocks that are kept for later.
const sparesMax = 64

// free takes the memory of a block back.
func (t *Tape) free(b *Block) {
	if b.data == nil {
		return
	}
	if cap(b.data) == BlockBytes && len(t.spare) < sparesMax {
		t.spare = append(t.spare, b.data[:0])
	} else {
		t.held -= int64(cap(b.data))
	}
	b.data = nil
}

// Blocks is the number of blocks.
func (t *Tape) Blocks() int { return len(t.blocks) }

// Block describes a block, without its bytes.
func (t *Tape) Block(i int) Block {
	b := t.blocks[i]
	b.data = nil
	return b
}

// Read returns the bytes of a block, from memory or from disk. They must not be
// changed, and are valid until the block is released or stored.
func (t *Tape) Read(i int) ([]byte, error) {
	invariant.Check(i >= t.from, "block %d of %s is released", i, t.name)
	if i >= len(t.blocks) {
		return nil, fmt.Errorf("%s: %d blocks, and number %d is wanted: %w", t.name, len(t.blocks), i, ErrCorrupt)
	}
	b := &t.blocks[i]
	if b.data != nil {
		return b.data, nil
	}
	data := make([]byte, b.Bytes)
	if _, err := t.file.ReadAt(data, b.At); err != nil {
		return nil, fmt.Errorf("read %s: %w", t.name, err)
	}
	if sum := checksum(data); sum != b.Sum {
		return nil, fmt.Errorf("%s: %d bytes at %d have the checksum %08x, want %08x: %w", t.name, b.Bytes, b.At, sum, b.Sum, ErrCorrupt)
	}
	return data, nil
}

// Keep reads a block and keeps it in memory until it is released.
func (t *Tape) Keep(i int) ([]byte, error) {
	data, err := t.Read(i)
	if err == nil && t.blocks[i].data == nil {
		t.blocks[i].data = data
		t.held += int64(cap(data))
	}
	return data, err
}

// Release frees the blocks before block i.
func (t *Tape) Release(i int) {
	for ; t.from < i; t.from++ {
		t.free(&t.blocks[t.from])
	}
}

// Store writes every block that is not on disk yet; if the memory is needed, it
// frees the blocks from block keep on.
func (t *Tape) Store(release bool, keep int) error {
	for i := t.from; i < len(t.blocks); i++ {
		b := &t.blocks[i]
		if !b.stored {
			if err := t.store(b); err != nil {
				return err
			}
		}
		if release && i >= keep {
			t.free(b)
		}
	}
	return nil
}

func (t *Tape) store(b *Block) error {
	if t.file == nil {
		f, err := t.disk.Open(t.name, true)
		if err != nil {
			return fmt.Errorf("write %s: %w", t.name, err)
		}
		t.file = f
	}
	if err := writeAll(t.file, b.data, t.end); err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	b.At, b.Sum, b.stored = t.end, checksum(b.data), true
	t.end += int64(len(b.data))
	return nil
}

// Sync makes the stored blocks durable.
func (t *Tape) Sync() error {
	if t.file == nil {
		return nil
	}
	if err := t.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", t.name, err)
	}
	return nil
}

// Name is the name of the file, and stored reports whether there is one.
func (t *Tape) Name() (name string, stored bool) { return t.name, t.file != nil }

// Table describes the blocks from block i on, all of which are stored.
func (t *Tape) Table(i int) []Block { return append([]Block{}, t.blocks[i:]...) }

// OpenTape returns the tape that a table describes. Anything in the file beyond
// it is overwritten.
func OpenTape(disk env.Disk, name string, table []Block) (*Tape, error) {
	t := NewTape(disk, name)
	if len(table) == 0 {
		return t, nil
	}
	f, err := disk.Open(name, false)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	t.file = f
	size, err := f.Size()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	for _, b := range table {
		if b.At < 0 || b.Bytes < 0 || b.Items < 0 || b.At > size-int64(b.Bytes) {
			f.Close()
			return nil, fmt.Errorf("%s: %d bytes, and a block of %d at %d: %w", name, size, b.Bytes, b.At, ErrCorrupt)
		}
		b.stored, b.data = true, nil
		t.blocks = append(t.blocks, b)
		t.end = max(t.end, b.At+int64(b.Bytes))
	}
	return t, nil
}

// Reset empties the tape; name is that of its next file. The current file is
// closed and stays.
func (t *Tape) Reset(name string) error {
	t.Release(len(t.blocks))
	t.blocks, t.from, t.end, t.name = t.blocks[:0], 0, 0, name
	return t.Close()
}

// Close closes the file.
func (t *Tape) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}

// Held is the number of bytes that the tape takes in memory, and Stored the
// number on disk.
func (t *Tape) Held() int64 { return t.held + int64(cap(t.blocks))*blockOverhead }

// blockOverhead is the size of a Block.
const blockOverhead = 64

// Stored is the size of the file.
func (t *Tape) Stored() int64 { return t.end }

// checksum is CRC-32C.
func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeAll writes b at off, even if single writes are short.
func writeAll(f env.File, b []byte, off int64) error {
	for len(b) > 0 {
		n, err := f.WriteAt(b, off)
		if err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}
