// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Scratch is what reading needs beside the index: memory for a block, and for a
// part of an index, from the pool of the first index that it is used with. The zero Scratch is ready. It
// is for one goroutine; all indexes that it is used with have the same pool.
type Scratch struct {
	pool *slab.Pool
	// image takes a block as it is in the file or in the cache, or what was
	// compressed; packed takes what is compressed.
	image, packed []byte
	// part is of the index partOf, unless that is nil.
	part    fences
	partOf  *Index
	partMem []byte
	line    [filter.LineBytes]byte // of a filter
}

// Close gives the memory back; the Scratch is as new then.
func (s *Scratch) Close() {
	for _, b := range [][]byte{s.image, s.packed, s.partMem} {
		if b != nil {
			s.pool.Free(b)
		}
	}
	*s = Scratch{}
}

// Get emits the messages of key up to the number at, newest first, until there
// are no more or emit returns that it needs no more. A message is valid until
// emit returns; its key is the given slice. Get reads one block, and more only
// if the key's messages continue in the next; c may be nil. The error is a
// *Corrupt, ErrMemory, or of the file.
func (x *Index) Get(key []byte, at message.Seq, c Cache, s *Scratch, emit func(m message.Message) (more bool)) error {
	b, err := 0, error(nil)
	if x.paged == nil {
		b = x.at(key)
	} else {
		b, err = x.seek(key, c, s)
	}
	if err != nil || b < 0 {
		return err
	}
	for first := true; ; first = false {
		f := &x.fences
		if x.paged != nil {
			if f, err = x.holding(b, c, s); err != nil {
				return err
			}
		}
		blk, err := x.load(f, b, c, s)
		if err != nil {
			return err
		}
		i := 0
		if first {
			i = blk.Seek(key)
		}
		for ; i < blk.Len(); i++ {
			if !blk.HasKey(i, key) {
				return nil
			}
			if seq, kind := blk.Tag(i); seq <= at &&
				!emit(message.Message{Key: key, Value: blk.Value(i), Seq: seq, Kind: kind}) {
				return nil
			}
		}
		// The block was read to its end: what goes on in the next is this key.
		if b++; b >= x.n || !f.continues(b) {
			return nil
		}
	}
}

// load opens block b from the cache or from the file, and gives it to the cache
// in the second case. The block is in s.
func (x *Index) load(f *fences, b int, c Cache, s *Scratch) (block.Block, error) {
	if c != nil {
		if blk, ok, err := x.fromCache(f, b, c, s); ok || err != nil {
			return blk, err
		}
	}
	return x.fetch(f, b, c, s)
}

// fetch opens block b from the file, and gives it to the cache.
func (x *Index) fetch(f *fences, b int, c Cache, s *Scratch) (block.Block, error) {
	blk, err := x.read(f, b, s)
	if err == nil && c != nil && len(blk.Image()) <= block.MaxBytes {
		c.PutBlock(x.id, uint32(b), blk.Image())
	}
	return blk, err
}

// fromCache opens block b from the cache; ok is false when it is not there.
func (x *Index) fromCache(f *fences, b int, c Cache, s *Scratch) (blk block.Block, ok bool, err error) {
	size := f.imageBytes(b)
	if size > block.MaxBytes {
		return blk, false, nil
	}
	if !s.resize(x.pool, size, 0) {
		return blk, false, ErrMemory
	}
	n, ok := c.GetBlock(x.id, uint32(b), s.image)
	if ok {
		blk, ok = block.Reopen(s.image[:n])
		invariant.Check(ok, "branch: the cache gives back what was put")
	}
	return blk, ok, nil
}

// imageBytes is the length of block b's image at most.
func (f *fences) imageBytes(b int) int {
	if f.span(b)&spanPacked != 0 {
		return block.MaxBytes
	}
	return int(f.span(b)&spanPages) * block.PageSize
}

func (s *Scratch) resize(pool *slab.Pool, image, packed int) bool {
	s.pool = pool
	return resize(pool, &s.image, image) && resize(pool, &s.packed, packed)
}

// read reads block b from the file, in one piece, and opens it.
func (x *Index) read(f *fences, b int, s *Scratch) (block.Block, error) {
	r := f.run(b)
	n, packed := int(r.Bytes()), 0
	if f.span(b)&spanPacked != 0 {
		packed = n
	}
	if !s.resize(x.pool, f.imageBytes(b), packed) {
		return block.Block{}, ErrMemory
	}
	stored := s.image
	if packed > 0 {
		stored = s.packed
	}
	found, err := readFull(x.file, stored[:n], r.Addr())
	if err != nil {
		return block.Block{}, fmt.Errorf("branch %d, block %d: %w", x.id, b, err)
	}
	if found != "" {
		return block.Block{}, x.corrupt(f, b, x.want(f, b).String(), found)
	}
	return x.open(f, b, stored[:n], s)
}

// want is what block b must be.
func (x *Index) want(f *fences, b int) block.Want {
	id := block.ID{Branch: x.id, Epoch: x.epoch, Block: uint32(b)}
	if b >= x.n {
		id.Block, id.Content = uint32(b-x.n), block.Tombstones
	}
	return block.Want{ID: id, CRC: f.sum(b)}
}

// open checks the bytes of block b; s.image takes what is compressed.
func (x *Index) open(f *fences, b int, stored []byte, s *Scratch) (block.Block, error) {
	blk, err := block.Open(stored, x.want(f, b), s.image, x.coder)
	if err != nil {
		return block.Block{}, x.mismatch(f, b, err)
	}
	return blk, nil
}

// Blocks is the number of blocks to Check, including those of tombstones.
func (x *Index) Blocks() int { return x.all }

// Check reads block b from the file, bypassing any cache, and checks everything
// about it: checksum, identity, the order of its messages, that its keys are
// between its fences, and that the filter has them. The parts that it needs of
// a paged index, which CheckIndex checks, come from c. It returns the length of
// the block in bytes. The error is a *Corrupt, ErrMemory, or of the file.
func (x *Index) Check(b int, c Cache, s *Scratch) (bytes int64, err error) {
	f, err := x.holding(b, c, s)
	if err != nil {
		return 0, err
	}
	blk, err := x.read(f, b, s)
	if err != nil {
		return 0, err
	}
	if err := blk.Validate(); err != nil {
		return 0, x.mismatch(f, b, err)
	}
	bytes = f.run(b).Bytes()
	if b < x.n {
		found, err := x.misplaced(b, &blk, c, s)
		if err != nil {
			return 0, err
		}
		if found != "" {
			if f, err = x.holding(b, c, s); err != nil {
				return 0, err
			}
			return 0, x.corrupt(f, b, "keys that the index finds in this block", found)
		}
	}
	return bytes, nil
}
