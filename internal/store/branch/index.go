// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// Index is an open branch. It does not change, and is safe for concurrent use
// until Close.
type Index struct {
	file  env.File
	pool  *slab.Pool
	coder *block.Coder

	id, epoch uint64
	addr      int64
	image     []byte
	stats     Stats

	n, all, tombCount int
	// The parts of image.
	heads, pages, sums, restAt, tombAt, tombFar, spans []byte
	prefix, rests, lo, hi, tombs, bits                 []byte
	// count is how many pages all blocks of messages have.
	count int64
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
		return nil, corrupt("a place that is not whole pages")
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
	if o.Unfiltered {
		x.dropFilter()
	}
	return x, nil
}

// dropFilter gives back the memory of the filter, if there is memory to copy
// the rest.
func (x *Index) dropFilter() {
	p, _ := readLengths(x.image)
	short, ok := x.pool.Alloc(int(p.filterAt()))
	if !ok {
		return
	}
	copy(short, x.image)
	x.pool.Free(x.image)
	p.bits = 0
	x.image = short
	x.lay(p)
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
		file: o.File, pool: o.Pool, coder: o.coder(), id: meta.ID, epoch: meta.Epoch, addr: meta.Index.Addr, image: image,
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
	for b := range x.n {
		x.count += int64(x.span(b) & spanPages)
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

// Memory is the length of the index, in bytes.
func (x *Index) Memory() int { return len(x.image) }

// Bounds are the least and the greatest key, as in Meta. They alias the index.
func (x *Index) Bounds() (lo, hi []byte) { return x.lo, x.hi }

func (x *Index) span(b int) uint16 { return binary.LittleEndian.Uint16(x.spans[2*b:]) }

// continues reports whether block b begins with the key the one before ends with.
func (x *Index) continues(b int) bool { return x.span(b)&spanContinues != 0 }

// run is where block b is.
func (x *Index) run(b int) extent.Run {
	return extent.Run{Page: binary.LittleEndian.Uint32(x.pages[4*b:]), Pages: uint32(x.span(b) & spanPages)}
}

// sum is the checksum of block b.
func (x *Index) sum(b int) uint32 { return binary.LittleEndian.Uint32(x.sums[4*b:]) }

// rest is separator b behind the prefix.
func (x *Index) rest(b int) []byte {
	return x.rests[binary.LittleEndian.Uint32(x.restAt[4*b:]):binary.LittleEndian.Uint32(x.restAt[4*b+4:])]
}

// separates reports whether key is separator b.
func (x *Index) separates(b int, key []byte) bool {
	p := len(x.prefix)
	return len(key) >= p && bytes.Equal(x.rest(b), key[p:]) && bytes.Equal(x.prefix, key[:p])
}

// fence is the first block whose separator is at or above key; n when there is
// none.
func (x *Index) fence(key []byte) int {
	switch bytes.Compare(key[:min(len(key), len(x.prefix))], x.prefix) {
	case -1:
		return 0
	case 1:
		return x.n
	}
	rest := key[len(x.prefix):]
	want := head(rest)
	lo, hi := 0, x.n
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if binary.LittleEndian.Uint64(x.heads[8*mid:]) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	// Of those with the same head the whole separators decide.
	hi = x.n
	if lo == hi || binary.LittleEndian.Uint64(x.heads[8*lo:]) != want {
		return lo
	}
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if bytes.Compare(x.rest(mid), rest) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// at is the first block that may hold key: keys in blocks before it are smaller, in
// blocks behind it they are not. -1: all keys are greater.
func (x *Index) at(key []byte) int {
	b := x.fence(key)
	if b < x.n && !x.continues(b) && x.separates(b, key) {
		return b
	}
	return b - 1
}

// below is the last block that may hold messages with keys below key; -1: none
// does.
func (x *Index) below(key []byte) int { return x.fence(key) - 1 }

// May reports whether the branch may have messages of the key with that
// filter.Hash; false is sure. Tombstones are not asked.
func (x *Index) May(hash uint64) bool {
	return len(x.bits) == 0 && x.n > 0 || len(x.bits) > 0 && filter.Has(x.bits, hash)
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
func (x *Index) between(lo, hi []byte) (from, to int) {
	from, to = 0, x.n
	if lo != nil {
		from = max(x.at(lo), 0)
	}
	if hi != nil {
		to = x.below(hi) + 1
	}
	return from, max(from, to)
}

// Span estimates what lies in [lo, hi), from the number of blocks that may
// have keys of it. A nil bound is open.
func (x *Index) Span(lo, hi []byte) (bytes int64, blocks int) {
	from, to := x.between(lo, hi)
	if blocks = to - from; blocks == 0 {
		return 0, 0
	}
	return x.count * int64(blocks) / int64(x.n) * extent.PageSize, blocks
}

// Runs are the pages of the blocks that hold keys in [lo, hi) only, in the
// order of the keys. A nil bound is open.
func (x *Index) Runs(lo, hi []byte) []extent.Run {
	from, to := 0, x.n
	if lo != nil {
		from = x.fence(lo)
	}
	if hi != nil && bytes.Compare(x.hi, hi) >= 0 {
		to = x.below(hi)
		if b := to + 1; b < x.n && !x.continues(b) && x.separates(b, hi) {
			to = b
		}
	}
	return x.runs(from, to)
}

// runs are the pages of the blocks from from up to, without, to.
func (x *Index) runs(from, to int) []extent.Run {
	var runs []extent.Run
	for b := from; b < to; b++ {
		r := x.run(b)
		if n := len(runs); n > 0 && runs[n-1].End() == uint64(r.Page) {
			runs[n-1].Pages += r.Pages
		} else {
			runs = append(runs, r)
		}
	}
	return runs
}

// corrupt is the error of block b.
func (x *Index) corrupt(b int, want, found string) error {
	c := &Corrupt{Branch: x.id, Block: b, Addr: x.run(b).Addr(), Want: want, Found: found}
	c.Lo, c.Hi = bytes.Clone(x.lo), bytes.Clone(x.hi)
	if b < x.n {
		c.Lo = append(bytes.Clone(x.prefix), x.rest(b)...)
	}
	if b+1 < x.n {
		c.Hi = append(bytes.Clone(x.prefix), x.rest(b+1)...)
	}
	return c
}

// mismatch is the error of block b which package block found.
func (x *Index) mismatch(b int, err error) error {
	var m *block.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	return x.corrupt(b, m.Want, m.Found)
}
