// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Index is an open branch. It does not change, and is safe for concurrent use
// until Close.
type Index struct {
	file  env.File
	pool  *slab.Pool
	coder *block.Coder

	id, epoch uint64
	loc       Loc // of the image in the file
	addr      int64
	image     []byte // or what is kept of it, when the index is paged
	stats     Stats

	n, all, tombCount int
	// The parts of image. Fences and bits are empty when the index is paged.
	fences
	tombAt, tombFar, lo, hi, tombs, bits []byte
	ranges                               *message.Tombstones
	paged                                *paged // nil: all of the image is in memory
	// count is how many pages all blocks of messages have.
	count int64
}

// fences lead to blocks: to those of a branch, or of a part of it. Block b is
// entry b-base.
type fences struct {
	base, end int // the blocks: end is not one of them
	entries   int // those, and in a part the one behind
	seps      int // entries with a separator, which are the first
	restBase  uint32
	// The columns.
	heads, pages, sums, restAt, spans, prefix, rests []byte
}

// indexBytesMax is the longest index, in bytes.
const indexBytesMax = 1 << 30

// OpenIndex reads the index of a branch and checks it against the Meta. The
// error is a *Corrupt, ErrMemory, or of the file.
func OpenIndex(o Options, meta *Meta) (*Index, error) {
	corrupt := func(found string) error {
		return &Corrupt{
			Branch: meta.ID, Block: -1, Addr: meta.Index.Addr, Lo: meta.Lo, Hi: meta.Hi,
			Want: fmt.Sprintf("the index in %d bytes, checksum %08x", meta.Index.Len, meta.Index.CRC), Found: found,
		}
	}
	if n := meta.Index.Len; n == 0 || n%extent.PageSize != 0 || n > indexBytesMax ||
		meta.Index.Addr < 0 || meta.Index.Addr%extent.PageSize != 0 {
		return nil, corrupt("an address or length that is not a multiple of the page size")
	}
	image, ok := o.Pool.Alloc(int(meta.Index.Len))
	if !ok {
		return nil, ErrMemory
	}
	found, err := readFull(o.File, image, meta.Index.Addr)
	if err == nil && found == "" {
		if sum := block.Checksum(image); sum != meta.Index.CRC || sum != binary.LittleEndian.Uint32(image) {
			found = fmt.Sprintf("bytes with checksum %08x", sum)
		}
	}
	if err == nil && found != "" {
		err = corrupt(found)
	}
	var x *Index
	if err == nil {
		x, err = newIndex(o, meta, image)
	}
	if err != nil {
		o.Pool.Free(image)
		return nil, err
	}
	return x, nil
}

// readFull fills b; found says how much there was when that was not all.
func readFull(f env.File, b []byte, addr int64) (found string, err error) {
	n, err := f.ReadAt(b, addr)
	switch {
	case n == len(b):
		return "", nil
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("the end of the file after %d of %d bytes", n, len(b)), nil
	}
	return "", fmt.Errorf("read %d bytes at byte %d: %w", len(b), addr, err)
}

// newIndex makes an index of an image, which it keeps.
func newIndex(o Options, meta *Meta, image []byte) (*Index, error) {
	p, found := readParts(image)
	x := &Index{
		file: o.File, pool: o.Pool, coder: o.coder(), id: meta.ID, epoch: meta.Epoch, loc: meta.Index, addr: meta.Index.Addr, image: image,
	}
	if found == "" {
		le := binary.LittleEndian
		if id, epoch := le.Uint64(image[16:]), le.Uint64(image[24:]); id != x.id || epoch != x.epoch {
			found = fmt.Sprintf("the index of branch %d, epoch %d", id, epoch)
		}
	}
	if found == "" {
		x.lay(p)
		found = x.sound()
	}
	if found != "" {
		return nil, &Corrupt{
			Branch: meta.ID, Block: -1, Addr: meta.Index.Addr, Lo: meta.Lo, Hi: meta.Hi,
			Want: fmt.Sprintf("the index of branch %d, epoch %d, in %d bytes", x.id, x.epoch, len(image)), Found: found,
		}
	}
	for i, f := range x.stats.fields() {
		*f = binary.LittleEndian.Uint64(image[64+8*i:])
	}
	x.ranges = message.NewTombstones(x.tombCount, x.tombstone)
	for b := range x.n {
		x.count += int64(x.span(b) & spanPages)
	}
	if o.Resident > 0 && int64(len(image)) > o.Resident {
		x.page(cmp.Or(o.partBlocks, partBlocks))
	}
	return x, nil
}

// Close frees the memory. The index, and anything that aliases it, must not be
// used afterwards.
func (x *Index) Close() {
	x.pool.Free(x.image)
	x.image = nil
}

// ID is the branch's id.
func (x *Index) ID() uint64 { return x.id }

// Stats are the branch's.
func (x *Index) Stats() Stats { return x.stats }

// Memory is how much memory the index takes, in bytes.
func (x *Index) Memory() int { return slab.Size(len(x.image)) }

// Paged reports whether the index stays in the file.
func (x *Index) Paged() bool { return x.paged != nil }

// Bounds are the least and the greatest key, as in Meta. They alias the index.
func (x *Index) Bounds() (lo, hi []byte) { return x.lo, x.hi }

func (f *fences) span(b int) uint16 { return binary.LittleEndian.Uint16(f.spans[2*(b-f.base):]) }

// continues reports whether block b begins with the key the one before ends with.
func (f *fences) continues(b int) bool { return f.span(b)&spanContinues != 0 }

// run is where block b is.
func (f *fences) run(b int) extent.Run {
	return extent.Run{Page: binary.LittleEndian.Uint32(f.pages[4*(b-f.base):]), Pages: uint32(f.span(b) & spanPages)}
}

// sum is the checksum of block b.
func (f *fences) sum(b int) uint32 { return binary.LittleEndian.Uint32(f.sums[4*(b-f.base):]) }

// has reports whether there is an entry for block b.
func (f *fences) has(b int) bool { return f.base <= b && b < f.base+f.entries }

// rest is separator b behind the prefix.
func (f *fences) rest(b int) []byte { return f.restOf(b - f.base) }

// restOf is rest for the entry i.
func (f *fences) restOf(i int) []byte {
	at := f.restAt[4*i:]
	return f.rests[binary.LittleEndian.Uint32(at)-f.restBase : binary.LittleEndian.Uint32(at[4:])-f.restBase]
}

// separates reports whether key is separator b.
func (f *fences) separates(b int, key []byte) bool {
	p := len(f.prefix)
	return len(key) >= p && bytes.Equal(f.rest(b), key[p:]) && bytes.Equal(f.prefix, key[:p])
}

// fence is the first block whose separator is at or above key; the one behind
// those with a separator when there is none.
func (f *fences) fence(key []byte) int {
	switch bytes.Compare(key[:min(len(key), len(f.prefix))], f.prefix) {
	case -1:
		return f.base
	case 1:
		return f.base + f.seps
	}
	rest := key[len(f.prefix):]
	want := head(rest)
	lo, hi := 0, f.seps
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if binary.LittleEndian.Uint64(f.heads[8*mid:]) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	// Of those with the same head the whole separators decide.
	hi = f.seps
	if lo == hi || binary.LittleEndian.Uint64(f.heads[8*lo:]) != want {
		return f.base + lo
	}
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if bytes.Compare(f.restOf(mid), rest) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return f.base + lo
}

// at is the first block that may hold key: keys in blocks before it are smaller, in
// blocks behind it they are not. -1: all keys are greater.
func (f *fences) at(key []byte) int {
	b := f.fence(key)
	if b < f.base+f.seps && !f.continues(b) && f.separates(b, key) {
		return b
	}
	return b - 1
}

// below is the last block that may hold messages with keys below key; -1: none
// does.
func (f *fences) below(key []byte) int { return f.fence(key) - 1 }

// May reports whether the branch may have messages of the key with that
// filter.Hash; false is sure. Tombstones are not asked. The error, and c and s,
// are as in Get: only a paged index needs them.
func (x *Index) May(hash uint64, c Cache, s *Scratch) (bool, error) {
	if x.paged != nil {
		return x.mayPaged(hash, c, s)
	}
	return len(x.bits) == 0 && x.n > 0 || len(x.bits) > 0 && filter.Has(x.bits, hash), nil
}

// Overlaps reports whether the branch may have something for keys in [lo, hi),
// tombstones included. A nil bound is open.
func (x *Index) Overlaps(lo, hi []byte) bool {
	if x.n == 0 && x.tombCount == 0 {
		return false
	}
	return (hi == nil || bytes.Compare(x.lo, hi) < 0) && (lo == nil || bytes.Compare(lo, x.hi) <= 0)
}

// between is the blocks that may hold keys in [lo, hi): from up to, without, to.
// Of a paged index it is an estimate: the blocks of neighbouring ranges are
// those of both together.
func (x *Index) between(lo, hi []byte) (from, to int) {
	from, to = 0, x.n
	switch {
	case x.paged != nil:
		if lo != nil {
			from = x.paged.position(lo, x.n)
		}
		if to = x.paged.position(hi, x.n); to <= from && x.n > 0 {
			from = min(from, x.n-1)
			to = from + 1
		}
	default:
		if lo != nil {
			from = max(x.at(lo), 0)
		}
		if hi != nil {
			to = x.below(hi) + 1
		}
	}
	return from, max(from, to)
}

// Span estimates how much is in [lo, hi), from the number of blocks that may
// have keys in it. A nil bound is open.
func (x *Index) Span(lo, hi []byte) (bytes int64, blocks int) {
	from, to := x.between(lo, hi)
	if blocks = to - from; blocks == 0 {
		return 0, 0
	}
	return x.count * int64(blocks) / int64(x.n) * extent.PageSize, blocks
}

// corrupt is the error of block b.
func (x *Index) corrupt(f *fences, b int, want, found string) error {
	c := &Corrupt{Branch: x.id, Block: b, Addr: f.run(b).Addr(), Want: want, Found: found}
	c.Lo, c.Hi = bytes.Clone(x.lo), bytes.Clone(x.hi)
	if b < x.n {
		c.Lo = append(bytes.Clone(f.prefix), f.rest(b)...)
	}
	if b+1 < x.n {
		c.Hi = append(bytes.Clone(f.prefix), f.rest(b+1)...)
	}
	return c
}

// mismatch is the error of block b which package block found.
func (x *Index) mismatch(f *fences, b int, err error) error {
	var m *block.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	return x.corrupt(f, b, m.Want, m.Found)
}
