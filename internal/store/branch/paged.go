// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
)

// An index that is not worth its memory stays in the file. What is kept of it is
// a checksum of each of its pages, its range tombstones, and the separator of
// each part: some hundred fences that are adjacent. A part, or a page of the
// filter, is read when it is asked for, compared with the checksums, and given
// to the cache, where it competes with the blocks. The checksums were taken from
// the image after it had been compared with the Meta, so that the file needs
// nothing for it that an index in memory does not need.

const (
	// partBlocks and partBytes bound a part, but for the length of two
	// separators. A part of that length fits into the smallest piece of a cache.
	partBlocks = 256
	partBytes  = 7 << 10
	partHeader = 16
	// entryBytes is what an entry has beside its separator.
	entryBytes = 8 + 4 + 4 + 4 + 2
	// samplesMax is how many samples an index has at most.
	samplesMax = 64
	// gatherBytes is how long the fences of an index may be to be read in one
	// piece. Of longer ones a part is six reads, since the file has the fences
	// by columns.
	gatherBytes = 64 << 10
	// Numbers by which a Cache knows parts and pages of a filter. Those of
	// blocks are smaller.
	partNumber   = 1 << 30
	filterNumber = 2 << 30
)

// paged is what is kept of an index that stays in the file.
type paged struct {
	// top has a separator for each part that has some: the one of its first block.
	top fences
	// starts has the first block of each part, and the end; blocks of
	// tombstones have parts of their own, behind the others.
	starts []byte
	sums   []byte // of each page of the image
	// samples are the heads of every step-th separator, for estimates.
	samples []byte
	step    int
	partMax int // the longest part
	// Where in the image the columns begin, and the filter.
	heads, pages, fenceSums, restAt, spans, rests, filter int64
	bits                                                  int
}

func (g *paged) start(part int) int { return int(binary.LittleEndian.Uint32(g.starts[4*part:])) }

// find is the part that leads to block b.
func (g *paged) find(b int) int {
	lo, hi := 1, len(g.starts)/4-1
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if g.start(mid) <= b {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// cutParts returns the starts of the parts, the end behind them, how many have
// separators, and the length of the longest.
func (x *Index) cutParts(most int) (starts []uint32, separated, longest int) {
	for from := 0; from < x.all; {
		end, size := x.all, partHeader+4
		if from < x.n {
			end, separated = x.n, separated+1
		}
		to := from
		for to < end && to-from < most && (size < partBytes || to == from) {
			size += entryBytes
			if to < x.n {
				size += len(x.rest(to))
			}
			to++
		}
		if to < x.n {
			size += entryBytes + len(x.rest(to)) // the first of the next part
		}
		starts = append(starts, uint32(from))
		longest = max(longest, size)
		from = to
	}
	return append(starts, uint32(x.all)), separated, longest
}

// page frees the memory of the image, except for the parts that stay resident.
// It leaves the index unchanged if paging would save nothing or there is no
// memory.
func (x *Index) page(blocks int) {
	le := binary.LittleEndian
	p, _ := readLengths(x.image)
	starts, separated, longest := x.cutParts(blocks)
	rests := 0
	for _, b := range starts[:separated] {
		rests += len(x.rest(int(b)))
	}
	images := len(x.image) / extent.PageSize
	step := max((p.n+samplesMax-1)/samplesMax, 1)
	samples := (p.n + step - 1) / step
	size := 8*samples + 8*separated + 4*images + 4*len(starts) + 4*(separated+1) + len(x.tombAt) + len(x.tombFar) + rests +
		len(x.prefix) + len(x.lo) + len(x.hi) + len(x.tombs)
	if size > len(x.image)/2 {
		return
	}
	mem, ok := x.pool.Alloc(size)
	if !ok {
		return
	}
	c := cutter{mem}
	keep := func(part []byte) []byte {
		kept := c.cut(len(part))
		copy(kept, part)
		return kept
	}
	g := &paged{partMax: longest, step: step, bits: p.bits, filter: p.filterAt()}
	g.heads = imageHeader
	g.pages = g.heads + 8*int64(p.n)
	g.fenceSums = g.pages + 4*int64(p.all)
	g.restAt = g.fenceSums + 4*int64(p.all)
	g.spans = g.restAt + 4*int64(p.n+1) + 8*int64(p.tombCount)
	g.rests = g.spans + 2*int64(p.all) + int64(p.prefix)
	g.top.seps = separated
	g.samples = c.cut(8 * samples)
	for i := range samples {
		copy(g.samples[8*i:], x.heads[8*i*step:][:8])
	}
	g.top.heads = c.cut(8 * separated)
	g.sums, g.starts = c.cut(4*images), c.cut(4*len(starts))
	g.top.restAt = c.cut(4 * (separated + 1))
	x.tombAt, x.tombFar = keep(x.tombAt), keep(x.tombFar)
	g.top.rests = c.cut(rests)
	at := 0
	for i, b := range starts {
		le.PutUint32(g.starts[4*i:], b)
		if i < separated {
			le.PutUint64(g.top.heads[8*i:], head(x.rest(int(b))))
			at += copy(g.top.rests[at:], x.rest(int(b)))
			le.PutUint32(g.top.restAt[4*i+4:], uint32(at))
		}
	}
	for i := range images {
		le.PutUint32(g.sums[4*i:], pageSum(x.image[i*extent.PageSize:][:extent.PageSize]))
	}
	g.top.prefix = keep(x.prefix)
	x.lo, x.hi, x.tombs = keep(x.lo), keep(x.hi), keep(x.tombs)
	x.pool.Free(x.image)
	x.image, x.bits, x.fences, x.paged = mem, nil, fences{}, g
}

func pageSum(page []byte) uint32 { return crc32.Checksum(page, crc32.MakeTable(crc32.Castagnoli)) }

// window is pages of an image that were read from the file.
type window struct {
	x   *Index
	mem []byte
	at  int64 // where in the image mem begins
}

func (w *window) close() {
	if w.mem != nil {
		w.x.pool.Free(w.mem)
		w.mem = nil
	}
}

// get returns n bytes of the image, which are valid until the next call. It
// reads them unless the window has them.
func (w *window) get(at int64, n int) ([]byte, error) {
	if w.mem == nil || at < w.at || at+int64(n) > w.at+int64(len(w.mem)) {
		if err := w.read(at, at+int64(n)); err != nil {
			return nil, err
		}
	}
	return w.mem[at-w.at:][:n], nil
}

// read makes the pages that have the bytes of the image from from up to to the
// window.
func (w *window) read(from, to int64) error {
	w.close()
	x := w.x
	if end := x.paged.filter; to <= end && end <= gatherBytes {
		from, to = 0, end
	}
	w.at = from / extent.PageSize * extent.PageSize
	n := (to - w.at + extent.PageSize - 1) / extent.PageSize * extent.PageSize
	mem, ok := x.pool.Alloc(int(n))
	if !ok {
		return ErrMemory
	}
	w.mem = mem
	found, err := readFull(x.file, mem, x.addr+w.at)
	if err != nil {
		return fmt.Errorf("branch %d, index: %w", x.id, err)
	}
	if found != "" {
		return x.corruptPage(w.at, "a part of the index", found)
	}
	for i := int64(0); i < n; i += extent.PageSize {
		want := binary.LittleEndian.Uint32(x.paged.sums[4*((w.at+i)/extent.PageSize):])
		if sum := pageSum(mem[i:][:extent.PageSize]); sum != want {
			return x.corruptPage(w.at+i, fmt.Sprintf("a page of the index with checksum %08x", want), fmt.Sprintf("%08x", sum))
		}
	}
	return nil
}

// corruptPage is the error of the page at that offset of the image.
func (x *Index) corruptPage(at int64, want, found string) error {
	return &Corrupt{
		Branch: x.id, Block: -1, Addr: x.addr + at, Lo: bytes.Clone(x.lo), Hi: bytes.Clone(x.hi), Want: want, Found: found,
	}
}

// leading returns the fences among which a search for key ends. Those of a paged
// index lie in s, until s is used for another part.
func (x *Index) leading(key []byte, c Cache, s *Scratch) (*fences, error) {
	if x.paged == nil || x.n == 0 {
		return &x.fences, nil
	}
	return x.part(max(x.paged.top.fence(key)-1, 0), c, s)
}

// holding returns the fences that lead to block b, and to the one behind it if
// that has a separator.
func (x *Index) holding(b int, c Cache, s *Scratch) (*fences, error) {
	if x.paged == nil {
		return &x.fences, nil
	}
	if s.partOf == x && s.part.base <= b && b < s.part.end {
		return &s.part, nil
	}
	return x.part(x.paged.find(b), c, s)
}

// seek is the first block that may hold key, as fences.at.
func (x *Index) seek(key []byte, c Cache, s *Scratch) (int, error) {
	f, err := x.leading(key, c, s)
	if err != nil {
		return 0, err
	}
	return f.at(key), nil
}

// seekBelow is the last block that may hold messages with keys below key; -1: none
// does.
func (x *Index) seekBelow(key []byte, c Cache, s *Scratch) (int, error) {
	f, err := x.leading(key, c, s)
	if err != nil {
		return 0, err
	}
	return f.fence(key) - 1, nil
}

// part returns the fences of a part of a paged index.
func (x *Index) part(part int, c Cache, s *Scratch) (*fences, error) {
	base := x.paged.start(part)
	if s.partOf == x && s.part.base == base {
		return &s.part, nil
	}
	s.partOf, s.pool = nil, x.pool
	if !resize(x.pool, &s.partMem, x.paged.partMax) {
		return nil, ErrMemory
	}
	n, ok := 0, false
	if c != nil {
		n, ok = c.GetBlock(x.id, partNumber|uint32(part), s.partMem)
	}
	if !ok {
		var err error
		if n, err = x.readPart(part, s.partMem); err != nil {
			return nil, err
		}
		if c != nil {
			c.PutBlock(x.id, partNumber|uint32(part), s.partMem[:n])
		}
	}
	s.part.lay(s.partMem[:n], x.paged.top.prefix)
	s.partOf = x
	return &s.part, nil
}

// readPart copies a part from the file to dst, as lay takes it, and returns its
// length.
func (x *Index) readPart(part int, dst []byte) (n int, err error) {
	le, g := binary.LittleEndian, x.paged
	base, end := g.start(part), g.start(part+1)
	entries, seps := end-base, 0
	if base < x.n {
		seps = min(end+1, x.n) - base
		entries = seps
	}
	for i, v := range [4]int{base, end, entries, seps} {
		le.PutUint32(dst[4*i:], uint32(v))
	}
	n = partHeader
	w := window{x: x}
	defer w.close()
	take := func(at int64, size int) {
		var b []byte
		if err == nil && size > 0 {
			if b, err = w.get(at, size); err == nil {
				n += copy(dst[n:], b)
			}
		}
	}
	take(g.heads+8*int64(base), 8*seps)
	take(g.pages+4*int64(base), 4*entries)
	take(g.fenceSums+4*int64(base), 4*entries)
	at := n
	if seps > 0 {
		take(g.restAt+4*int64(base), 4*(seps+1))
	}
	take(g.spans+2*int64(base), 2*entries)
	if err == nil && seps > 0 {
		from, to := le.Uint32(dst[at:]), le.Uint32(dst[at+4*seps:])
		take(g.rests+int64(from), int(to-from))
	}
	return n, err
}

// lay makes f the fences of a part, which alias it.
func (f *fences) lay(part, prefix []byte) {
	le := binary.LittleEndian
	*f = fences{
		base: int(le.Uint32(part)), end: int(le.Uint32(part[4:])), entries: int(le.Uint32(part[8:])), seps: int(le.Uint32(part[12:])),
		prefix: prefix,
	}
	c := cutter{part[partHeader:]}
	f.heads, f.pages, f.sums = c.cut(8*f.seps), c.cut(4*f.entries), c.cut(4*f.entries)
	if f.seps > 0 {
		f.restAt = c.cut(4 * (f.seps + 1))
		f.restBase = le.Uint32(f.restAt)
	}
	f.spans = c.cut(2 * f.entries)
	f.rests = c.b
}

// mayPaged is May for a paged index: of the filter it looks at one line.
func (x *Index) mayPaged(hash uint64, c Cache, s *Scratch) (bool, error) {
	g := x.paged
	if g.bits == 0 {
		return x.n > 0, nil
	}
	at := g.filter + int64(filter.At(g.bits, hash))
	page, in := uint32(at/extent.PageSize), int(at%extent.PageSize)
	if c != nil && c.GetPart(x.id, filterNumber|page, in, s.line[:]) {
		return filter.Has(s.line[:], hash), nil
	}
	w := window{x: x}
	defer w.close()
	b, err := w.get(int64(page)*extent.PageSize, extent.PageSize)
	if err != nil {
		return false, err
	}
	if c != nil {
		c.PutBlock(x.id, filterNumber|page, b)
	}
	return filter.Has(b[in:in+filter.LineBytes], hash), nil
}

// position is about how many blocks are below key; nil is above all. It never
// falls as the key grows.
func (g *paged) position(key []byte, n int) int {
	if key == nil {
		return n
	}
	prefix, want := g.top.prefix, uint64(0)
	switch bytes.Compare(key[:min(len(key), len(prefix))], prefix) {
	case -1:
		return 0
	case 1:
		return n
	default:
		want = head(key[len(prefix):])
	}
	lo, hi := 0, len(g.samples)/8
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if binary.LittleEndian.Uint64(g.samples[8*mid:]) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	return min((lo-1)*g.step+g.step/2, n)
}

// CheckIndex reads the index from the file, wherever it is used from, and
// compares it with the checksum of the Meta. It returns its length in bytes. The
// error is a *Corrupt, ErrMemory, or of the file.
func (x *Index) CheckIndex() (int64, error) {
	const piece = 64 << 10
	buf, ok := x.pool.Alloc(piece)
	if !ok {
		return 0, ErrMemory
	}
	defer x.pool.Free(buf)
	sum, table := uint32(0), crc32.MakeTable(crc32.Castagnoli)
	for at := int64(0); at < int64(x.loc.Len); at += piece {
		b := buf[:min(piece, int64(x.loc.Len)-at)]
		found, err := readFull(x.file, b, x.addr+at)
		if err != nil {
			return at, fmt.Errorf("branch %d, index: %w", x.id, err)
		}
		if found != "" {
			return at, x.corruptPage(at, "a part of the index", found)
		}
		if at == 0 {
			b = b[4:] // the checksum itself
		}
		sum = crc32.Update(sum, table, b)
	}
	if sum != x.loc.CRC {
		return int64(x.loc.Len), x.corruptPage(0, fmt.Sprintf("the index in %d bytes, checksum %08x", x.loc.Len, x.loc.CRC), fmt.Sprintf("%08x", sum))
	}
	return int64(x.loc.Len), nil
}
