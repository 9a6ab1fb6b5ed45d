// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The image of an index is in memory what it is on disk, so that opening one
// is a read and a check. Numbers are little endian. With n blocks of messages,
// N blocks in all (those of tombstones follow) and t tombstones:
//
//	 0  u32  CRC32C of everything behind it
//	 4  u32  magic
//	 8  u32  version
//	12  u32  n
//	16  u64  branch
//	24  u64  epoch
//	32  u32  N
//	36  u32  t
//	40  u32  length of the prefix that all separators share
//	44  u32  length of the rests of the separators
//	48  u32  length of the least key
//	52  u32  length of the greatest key
//	56  u32  length of the tombstones
//	60  u32  length of the filter, 0: there is none
//	64  10 × u64  Stats
//
//	n × u64      the first 8 bytes of each separator behind the prefix, as a
//	             number that compares like them
//	N × u32      first page of each block
//	N × u32      its checksum
//	(n+1) × u32  where among the rests a separator begins
//	t × u32      where a tombstone begins
//	t × u32      which tombstone up to this one reaches furthest
//	N × u16      pages of the block, and flags
//	prefix, rests, least key, greatest key, tombstones
//	zeros up to a multiple of 64
//	filter
//	zeros up to a whole number of pages
//
// The separator of a block is the shortest key above the last key of the block
// before; the first one's is its first key. Where both keys are the same, the
// separator is that key and the flag spanContinues is set.
const (
	imageMagic   = 0xB10C1DE8
	imageVersion = 1
	imageHeader  = 64 + 8*10
)

// parts are the lengths of an image's parts.
type parts struct {
	n, all, tombCount                  int
	prefix, rests, lo, hi, tombs, bits int
}

// field is where in the header a length is.
type field struct {
	at int
	n  *int
}

func (p *parts) fields() [9]field {
	return [9]field{
		{12, &p.n}, {32, &p.all}, {36, &p.tombCount}, {40, &p.prefix}, {44, &p.rests}, {48, &p.lo}, {52, &p.hi},
		{56, &p.tombs}, {60, &p.bits},
	}
}

// filterAt is where the filter begins.
func (p parts) filterAt() int64 {
	n, all, t := int64(p.n), int64(p.all), int64(p.tombCount)
	at := imageHeader + 8*n + 4*all + 4*all + 4*(n+1) + 4*t + 4*t + 2*all +
		int64(p.prefix) + int64(p.rests) + int64(p.lo) + int64(p.hi) + int64(p.tombs)
	return (at + filter.LineBytes - 1) / filter.LineBytes * filter.LineBytes
}

// size is the length of the image in whole pages.
func (p parts) size() int64 {
	return (p.filterAt() + int64(p.bits) + extent.PageSize - 1) / extent.PageSize * extent.PageSize
}

// cutter cuts an image into its parts, in order.
type cutter struct{ b []byte }

func (c *cutter) cut(n int) []byte {
	part := c.b[:n:n]
	c.b = c.b[n:]
	return part
}

// lay sets the index's parts to those of its image.
func (x *Index) lay(p parts) {
	c := cutter{x.image[imageHeader:]}
	x.n, x.all, x.tombCount = p.n, p.all, p.tombCount
	x.fences = fences{end: p.all, entries: p.all, seps: p.n}
	x.heads = c.cut(8 * p.n)
	x.pages, x.sums = c.cut(4*p.all), c.cut(4*p.all)
	x.restAt = c.cut(4 * (p.n + 1))
	x.tombAt, x.tombFar = c.cut(4*p.tombCount), c.cut(4*p.tombCount)
	x.spans = c.cut(2 * p.all)
	x.prefix, x.rests = c.cut(p.prefix), c.cut(p.rests)
	x.lo, x.hi = c.cut(p.lo), c.cut(p.hi)
	x.tombs = c.cut(p.tombs)
	x.bits = x.image[p.filterAt():][:p.bits:p.bits]
}

// head is the first 8 bytes of a key as a number that compares like them.
func head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	h := uint64(0)
	for i, c := range key {
		h |= uint64(c) << (56 - 8*i)
	}
	return h
}

// image makes the image from what was gathered; false: there is no memory.
func (w *Writer) image() ([]byte, bool) {
	le, fences, seps := binary.LittleEndian, w.fences.bytes(), w.seps.bytes()
	p := parts{
		n: int(w.meta.Blocks), all: int(w.meta.Blocks) + w.tombBlocks, tombCount: len(w.tombOffsets),
		rests: len(seps), lo: len(w.meta.Lo), hi: len(w.meta.Hi),
	}
	if p.n > 0 {
		last := 0
		if p.n > 1 {
			last = int(le.Uint32(fences[(p.n-2)*fenceSize+12:]))
		}
		p.prefix = block.Common(seps[:le.Uint32(fences[12:])], seps[last:])
		p.rests -= p.n * p.prefix
	}
	for _, at := range w.tombOffsets {
		t, _ := readTombstone(w.tombs.bytes()[at:])
		p.tombs += tombstoneSize(t)
	}
	if w.meta.Keys > 0 && !w.unfiltered {
		p.bits = filter.Size(int(w.meta.Keys))
	}
	image, ok := w.o.Pool.Alloc(int(p.size()))
	if !ok {
		return nil, false
	}
	x := Index{image: image}
	x.lay(p)
	w.putHeader(image, p)
	if p.n > 0 {
		copy(x.prefix, seps)
	}
	from, at := 0, 0
	for i := range p.all {
		f := fences[i*fenceSize:]
		le.PutUint32(x.pages[4*i:], le.Uint32(f))
		le.PutUint32(x.sums[4*i:], le.Uint32(f[4:]))
		le.PutUint16(x.spans[2*i:], uint16(le.Uint32(f[8:])))
		if i < p.n {
			to := int(le.Uint32(f[12:]))
			rest := seps[from+p.prefix : to]
			le.PutUint64(x.heads[8*i:], head(rest))
			at += copy(x.rests[at:], rest)
			le.PutUint32(x.restAt[4*i+4:], uint32(at))
			from = to
		}
	}
	copy(x.lo, w.meta.Lo)
	copy(x.hi, w.meta.Hi)
	w.putTombstones(&x)
	for hashes := w.hashes.bytes(); len(hashes) > 0 && p.bits > 0; hashes = hashes[8:] {
		filter.Add(x.bits, le.Uint64(hashes))
	}
	le.PutUint32(image, block.Checksum(image))
	return image, true
}

func (w *Writer) putHeader(image []byte, p parts) {
	le := binary.LittleEndian
	le.PutUint32(image[4:], imageMagic)
	le.PutUint32(image[8:], imageVersion)
	le.PutUint64(image[16:], w.meta.ID)
	le.PutUint64(image[24:], w.meta.Epoch)
	for _, f := range p.fields() {
		le.PutUint32(image[f.at:], uint32(*f.n))
	}
	for i, f := range w.meta.Stats.fields() {
		le.PutUint64(image[64+8*i:], *f)
	}
}

func (w *Writer) putTombstones(x *Index) {
	at, far := 0, 0
	for i, from := range w.tombOffsets {
		t, _ := readTombstone(w.tombs.bytes()[from:])
		putTombstone(x.tombs[at:], t)
		binary.LittleEndian.PutUint32(x.tombAt[4*i:], uint32(at))
		at += tombstoneSize(t)
		if bytes.Compare(t.Hi, x.tombstone(far).Hi) > 0 {
			far = i
		}
		binary.LittleEndian.PutUint32(x.tombFar[4*i:], uint32(far))
	}
}

// readLengths reads the header's lengths, and says what is wrong with them, or
// nothing.
func readLengths(b []byte) (p parts, found string) {
	le := binary.LittleEndian
	if len(b) < imageHeader {
		return p, fmt.Sprintf("%d bytes", len(b))
	}
	if m, v := le.Uint32(b[4:]), le.Uint32(b[8:]); m != imageMagic || v != imageVersion {
		return p, fmt.Sprintf("magic %#08x, version %d", m, v)
	}
	for _, f := range p.fields() {
		v := le.Uint32(b[f.at:])
		if v > indexBytesMax {
			return p, fmt.Sprintf("a part of %d bytes or more", v)
		}
		*f.n = int(v)
	}
	if p.all < p.n || p.bits > 0 && !filter.Valid(p.bits) {
		return p, fmt.Sprintf("%d blocks of %d, a filter of %d bytes", p.n, p.all, p.bits)
	}
	return p, ""
}

// readParts reads the lengths and checks that they make up the image.
func readParts(image []byte) (p parts, found string) {
	p, found = readLengths(image)
	if found == "" && p.size() != int64(len(image)) {
		found = fmt.Sprintf("parts of %d bytes", p.size())
	}
	return p, found
}

// sound checks that nothing in the image leads outside of it, and that the
// separators are in order. It says what is wrong, or nothing.
func (x *Index) sound() string {
	le := binary.LittleEndian
	for i := range x.all {
		if n := int64(x.span(i) & spanPages); n == 0 || n > block.LargestBytes/block.PageSize ||
			x.span(i)&spanPacked != 0 && n > block.MaxBytes/block.PageSize {
			return fmt.Sprintf("block %d of %d pages", i, n)
		}
	}
	if x.n > 0 && x.span(0)&spanContinues != 0 || le.Uint32(x.restAt) != 0 ||
		int(le.Uint32(x.restAt[4*x.n:])) != len(x.rests) || len(x.prefix) > message.KeyMax {
		return "separators of the wrong length"
	}
	for i := range x.n {
		from, to := le.Uint32(x.restAt[4*i:]), le.Uint32(x.restAt[4*i+4:])
		if to < from || int(to) > len(x.rests) || len(x.prefix)+int(to-from) > message.KeyMax {
			return fmt.Sprintf("separator %d outside of the index", i)
		}
		if le.Uint64(x.heads[8*i:]) != head(x.rest(i)) || i > 0 && bytes.Compare(x.rest(i-1), x.rest(i)) >= 0 &&
			!(x.continues(i) && bytes.Equal(x.rest(i-1), x.rest(i))) {
			return fmt.Sprintf("separator %d out of order", i)
		}
	}
	return x.soundTombstones()
}

func (x *Index) soundTombstones() string {
	le, end := binary.LittleEndian, 0
	for i := range x.tombCount {
		if int(le.Uint32(x.tombAt[4*i:])) != end {
			return fmt.Sprintf("tombstone %d not directly after the previous one", i)
		}
		t, ok := readTombstone(x.tombs[end:])
		if far := int(le.Uint32(x.tombFar[4*i:])); !ok || far > i {
			return fmt.Sprintf("tombstone %d outside of the index", i)
		}
		if i > 0 && (compareTombstones(x.tombstone(i-1), t) >= 0 || covered(x.tombstone(i-1), t)) {
			return fmt.Sprintf("tombstone %d out of order", i)
		}
		end += tombstoneSize(t)
	}
	if end != len(x.tombs) {
		return fmt.Sprintf("%d bytes after the tombstones", len(x.tombs)-end)
	}
	return ""
}
