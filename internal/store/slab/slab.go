// SPDX-License-Identifier: Apache-2.0

// Package slab allocates memory outside of the Go heap, under one hard bound:
// memory that grows with the data or with the cache of a store is allocated
// here, so that the collector need not scan it and no part of the store exceeds
// its share.
//
// In: a number of bytes. Out: zeroed pieces, until the bound is reached; then
// allocation fails, and the caller evicts or waits. Promised: the pages of all
// pieces, in use or kept for reuse, do not exceed the limit, unless the owner
// of the pool allows it (OnShortage); freed memory serves every other size.
// Refused: growing, moving and finalizing; Close asserts that every piece was
// freed.
//
// Address space is plentiful and pages are not: each size takes its pieces from
// address space of its own, which is never given to another size; only pages
// move between sizes. A freed piece keeps its pages for the next one of its
// size; when the limit is reached they go back to the system, so fragmentation
// does not count against the limit.
package slab

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

const (
	pageShift = 12
	pageBytes = 1 << pageShift
	// Pieces come in powers of two from 1<<pieceShift to 1<<pieceShiftMax
	// bytes; longer ones have mappings of their own. Those below a page share
	// pages.
	pieceShift    = 6
	pieceShiftMax = 20
	pieceBytesMax = 1 << pieceShiftMax
	smallSizes    = pageShift - pieceShift
	sizes         = pieceShiftMax - pageShift + 1
	// spanBytes of address space go to a size at once, or one piece.
	spanBytes = 64 << 10
	// spanPiecesShift is the logarithm of the pieces in a span at most.
	spanPiecesShift = 4
	// releaseBytesMin are released together at least, to spread the cost of
	// the system call.
	releaseBytesMin = 64 << 10
)

// A name is the number of a span and the number of a piece in it.
type name uint32

// span is address space that was given to one size.
type span struct {
	base uintptr
	mem  []byte
	size uint8                       // index in Pool.sizes
	used uint16                      // bit i: piece i is in use
	page *[1 << spanPiecesShift]page // of spans of pages: those that small pieces share
}

// page is a page that is cut into small pieces of one size.
type page struct {
	free       uint64 // bit i: piece i is free
	prev, next name   // among the pages of this size with free pieces; ends in none
	size       uint8  // index in Pool.partial
}

const none name = 1<<32 - 1

// region is address space that spans are cut from.
type region struct {
	base  uintptr
	mem   []byte
	spans []uint32 // number of the span at each multiple of spanBytes that was cut
}

// size is what there is of one size of whole pages.
type size struct {
	idle  []name // freed, with their pages
	gone  []name // freed, pages released
	fresh name   // the next piece of a span that was never used
	left  int    // how many there are from fresh on
}

// Pool is memory under one limit. It is safe for concurrent use.
type Pool struct {
	limit    int64
	shortage func(bytes int) Answer // set before the pool is shared; may be nil

	mu      sync.Mutex
	used    int64 // bytes in use, in whole pages
	peak    int64 // the most that used and idle were
	idle    int64 // bytes of freed pieces that keep their pages
	pieces  int   // in use
	closed  bool
	regions []region
	spans   []span
	sizes   [sizes]size
	partial [smallSizes]name
	large   map[uintptr]int // mappings of their own in use: their bytes by address
	kept    [][]byte        // and those that were freed, the newest last
}

// New returns a pool of at most limit bytes. It allocates nothing yet.
func New(limit int64) *Pool {
	p := &Pool{limit: limit, regions: make([]region, 0, 1), spans: make([]span, 0, 8)}
	for i := range p.partial {
		p.partial[i] = none
	}
	return p
}

// Answer is the reply of a pool's owner to a shortage.
type Answer uint8

const (
	// Retry reports that memory was freed.
	Retry Answer = iota
	// Exceed reports that nothing can be freed, and that the piece may exceed the
	// limit.
	Exceed
	// Refuse reports that nothing can be freed, and that the limit holds.
	Refuse
)

// OnShortage sets the function that Ask and Alloc call when the limit does not
// allow a piece of that many bytes. It must free memory of the pool, or return
// that there is none to free. It is called without the pool's lock, but with
// whatever locks the caller of Ask or Alloc holds. OnShortage must be called
// before the pool is shared; without it the limit holds for everything.
func (p *Pool) OnShortage(f func(bytes int) Answer) { p.shortage = f }

// Limit returns the bound in bytes.
func (p *Pool) Limit() int64 { return p.limit }

// Used returns the bytes that pieces in use occupy: their size rounded up to
// a power of two, or to whole pages when it is above 1 MiB; a page that small
// pieces share counts as a whole.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Peak returns the most bytes that pieces have occupied at one time, including
// those kept for reuse.
func (p *Pool) Peak() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}

// Try returns n zeroed bytes: aligned to a page when n is at least a page, else
// to n rounded up to a power of two, and to 64 at least. It returns false when
// that would exceed the limit, or the system has no memory. The caller owns the
// piece until Free. Try is for memory that the caller can do without: caches,
// and buffers that may be smaller.
func (p *Pool) Try(n int) ([]byte, bool) { return p.alloc(n, false) }

// Ask is Try for memory that is worth more than what the pool's owner can free
// for it.
func (p *Pool) Ask(n int) ([]byte, bool) {
	b, ok, _ := p.ask(n)
	return b, ok
}

// Alloc is Ask for memory without which the caller can only fail: when nothing
// can be freed, the owner of the pool decides whether the limit is exceeded.
func (p *Pool) Alloc(n int) ([]byte, bool) {
	b, ok, answer := p.ask(n)
	if !ok && answer == Exceed {
		return p.alloc(n, true)
	}
	return b, ok
}

// ask tries until there is nothing more to free.
func (p *Pool) ask(n int) (b []byte, ok bool, answer Answer) {
	for {
		if b, ok = p.alloc(n, false); ok || p.shortage == nil {
			return b, ok, Refuse
		}
		if answer = p.shortage(n); answer != Retry {
			b, ok = p.alloc(n, false) // it may have been freed meanwhile
			return b, ok, answer
		}
	}
}

// Charge counts bytes of the Go heap against the limit, and frees others as Ask
// does. It returns false, and counts nothing, when they do not fit. The caller gives
// them back by Discharge.
func (p *Pool) Charge(bytes int64) bool {
	for !p.charge(bytes) {
		if p.shortage == nil || p.shortage(int(bytes)) != Retry {
			return p.charge(bytes)
		}
	}
	return true
}

func (p *Pool) charge(bytes int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ok := p.reclaim(bytes, false)
	if ok {
		p.use(bytes)
	}
	return ok
}

// Discharge ends a Charge of that many bytes.
func (p *Pool) Discharge(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= bytes
	invariant.Check(p.used >= 0, "slab: discharged %d bytes more than were charged", -p.used)
}

// alloc takes a piece; exceed says that the limit does not matter.
func (p *Pool) alloc(n int, exceed bool) ([]byte, bool) {
	if n <= 0 {
		invariant.Check(n == 0, "slab: alloc of %d bytes", n)
		return []byte{}, true
	}
	if n > pieceBytesMax {
		return p.allocLarge(n, exceed)
	}
	shift := max(bits.Len(uint(n-1)), pieceShift)
	p.mu.Lock()
	invariant.Check(!p.closed, "slab: alloc after close")
	var b []byte
	dirty, ok := true, false
	if shift < pageShift {
		b, ok = p.takeSmall(shift-pieceShift, exceed)
	} else {
		var at name
		if at, dirty, ok = p.take(shift-pageShift, exceed); ok {
			b = p.piece(at)
		}
	}
	if ok {
		p.pieces++
	}
	p.mu.Unlock()
	if !ok {
		return nil, false
	}
	b = b[:n:n]
	if dirty {
		clear(b)
	}
	return b, true
}

// Free frees a piece exactly as Alloc returned it: same start and length.
func (p *Pool) Free(b []byte) {
	if len(b) == 0 {
		return
	}
	addr := address(b)
	if len(b) > pieceBytesMax {
		p.freeLarge(b, addr)
		return
	}
	shift := max(bits.Len(uint(len(b)-1)), pieceShift)
	p.mu.Lock()
	defer p.mu.Unlock()
	at, off := p.find(addr)
	if shift < pageShift {
		p.giveSmall(at, off, shift-pieceShift)
	} else {
		if off != 0 || int(p.spans[at>>spanPiecesShift].size) != shift-pageShift {
			invariant.Check(false, "slab: free of %d bytes that were not allocated with that size", len(b))
		}
		p.give(at)
	}
	p.pieces--
}

// Close gives everything back to the system. All pieces have been freed
// before: one that was not is a leak of ours.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	invariant.Check(!p.closed, "slab: closed twice")
	invariant.Check(p.pieces == 0, "slab: closed with %d pieces in use, %d bytes", p.pieces, p.used)
	p.closed = true
	for _, r := range p.regions {
		unmap(r.mem)
	}
	for _, b := range p.kept {
		unmap(b)
	}
	p.regions, p.spans, p.sizes, p.kept = nil, nil, [sizes]size{}, nil
}

// take takes a piece of whole pages; dirty says that it is not zero.
func (p *Pool) take(k int, exceed bool) (at name, dirty, ok bool) {
	s := &p.sizes[k]
	bytes := int64(pageBytes) << k
	switch {
	case len(s.idle) > 0:
		at, s.idle = s.idle[len(s.idle)-1], s.idle[:len(s.idle)-1]
		p.idle -= bytes
		dirty = true
	case !p.reclaim(bytes, exceed):
		return 0, false, false
	case len(s.gone) > 0:
		at, s.gone = s.gone[len(s.gone)-1], s.gone[:len(s.gone)-1]
	case s.left > 0 || p.cut(k):
		at = s.fresh
		s.fresh++
		s.left--
	default:
		return 0, false, false
	}
	p.use(bytes)
	sp := &p.spans[at>>spanPiecesShift]
	bit := uint16(1) << (at & (1<<spanPiecesShift - 1))
	invariant.Check(sp.used&bit == 0, "slab: allocated a piece that is in use")
	sp.used |= bit
	return at, dirty, true
}

// give frees a piece of whole pages.
func (p *Pool) give(at name) {
	sp := &p.spans[at>>spanPiecesShift]
	bit := uint16(1) << (at & (1<<spanPiecesShift - 1))
	invariant.Check(sp.used&bit != 0, "slab: piece freed twice")
	sp.used &^= bit
	bytes := int64(pageBytes) << sp.size
	p.used -= bytes
	p.idle += bytes
	s := &p.sizes[sp.size]
	s.idle = append(s.idle, at)
}

// takeSmall takes a piece of a shared page.
func (p *Pool) takeSmall(k int, exceed bool) ([]byte, bool) {
	shift := k + pieceShift
	at := p.partial[k]
	if at == none {
		var ok bool
		if at, _, ok = p.take(0, exceed); !ok {
			return nil, false
		}
		pg := p.page(at)
		*pg = page{free: 1<<(pageBytes>>shift) - 1, prev: none, next: none, size: uint8(k)}
		p.partial[k] = at
	}
	pg := p.page(at)
	i := bits.TrailingZeros64(pg.free)
	pg.free &^= 1 << i
	if pg.free == 0 {
		p.unlink(at)
	}
	return p.piece(at)[i<<shift : (i+1)<<shift], true
}

// giveSmall frees the piece at the offset off of a shared page, and the page if
// it was the last one.
func (p *Pool) giveSmall(at name, off, k int) {
	sp := &p.spans[at>>spanPiecesShift]
	bit := uint16(1) << (at & (1<<spanPiecesShift - 1))
	shift := k + pieceShift
	if sp.page == nil || sp.used&bit == 0 || int(p.page(at).size) != k || off&(1<<shift-1) != 0 {
		invariant.Check(false, "slab: free of a piece of %d bytes that was not allocated", 1<<shift)
	}
	pg := p.page(at)
	i := off >> shift
	invariant.Check(pg.free>>i&1 == 0, "slab: piece freed twice")
	full := pg.free == 0
	pg.free |= 1 << i
	switch {
	case pg.free == 1<<(pageBytes>>shift)-1:
		if !full {
			p.unlink(at)
		}
		p.give(at)
	case full:
		pg.prev, pg.next = none, p.partial[k]
		if pg.next != none {
			p.page(pg.next).prev = at
		}
		p.partial[k] = at
	}
}

// unlink takes a page out of the list of pages with free pieces.
func (p *Pool) unlink(at name) {
	pg := p.page(at)
	if pg.prev == none {
		p.partial[pg.size] = pg.next
	} else {
		p.page(pg.prev).next = pg.next
	}
	if pg.next != none {
		p.page(pg.next).prev = pg.prev
	}
}

func (p *Pool) page(at name) *page {
	sp := &p.spans[at>>spanPiecesShift]
	if sp.page == nil {
		sp.page = new([1 << spanPiecesShift]page)
	}
	return &sp.page[at&(1<<spanPiecesShift-1)]
}

// piece returns the memory of a piece of whole pages.
func (p *Pool) piece(at name) []byte {
	sp := &p.spans[at>>spanPiecesShift]
	i, shift := int(at&(1<<spanPiecesShift-1)), int(sp.size)+pageShift
	return sp.mem[i<<shift : (i+1)<<shift]
}

// find returns the piece of whole pages that holds the address, and the offset
// in it.
func (p *Pool) find(addr uintptr) (at name, off int) {
	for i := range p.regions {
		r := &p.regions[i]
		if addr < r.base || addr-r.base >= uintptr(len(r.spans))*spanBytes {
			continue
		}
		n := r.spans[(addr-r.base)/spanBytes]
		sp := &p.spans[n]
		in := int(addr - sp.base)
		shift := int(sp.size) + pageShift
		return name(n)<<spanPiecesShift | name(in>>shift), in & (1<<shift - 1)
	}
	invariant.Check(false, "slab: free of memory from outside the pool")
	return 0, 0
}

// cut gives a new span to the size k.
func (p *Pool) cut(k int) bool {
	bytes := max(pageBytes<<k, spanBytes)
	if len(p.spans) >= 1<<(32-spanPiecesShift)-1 {
		return false
	}
	n := len(p.regions)
	if n == 0 || len(p.regions[n-1].mem)-len(p.regions[n-1].spans)*spanBytes < bytes {
		mem, ok := reserve(regionBytes(n))
		if !ok {
			return false
		}
		p.regions = append(p.regions, region{base: address(mem), mem: mem, spans: make([]uint32, 0, 16)})
		n++
	}
	r := &p.regions[n-1]
	lo := len(r.spans) * spanBytes
	for range bytes / spanBytes {
		r.spans = append(r.spans, uint32(len(p.spans)))
	}
	s := &p.sizes[k]
	s.fresh, s.left = name(len(p.spans))<<spanPiecesShift, bytes/(pageBytes<<k)
	p.spans = append(p.spans, span{base: r.base + uintptr(lo), mem: r.mem[lo : lo+bytes : lo+bytes], size: uint8(k)})
	return true
}

// use counts bytes that are in use from now on.
func (p *Pool) use(bytes int64) {
	p.used += bytes
	p.peak = max(p.peak, p.used+p.idle)
}

// reclaim makes room for that many bytes below the limit, releasing pages of
// freed pieces where it must: those of the size that keeps most. To exceed the
// limit all of them are released.
func (p *Pool) reclaim(bytes int64, exceed bool) bool {
	if p.used+bytes > p.limit && !exceed {
		return false
	}
	for p.used+p.idle+bytes > p.limit && p.idle > 0 {
		most, mostBytes := 0, 0
		for k := range p.sizes {
			if n := len(p.sizes[k].idle) * pageBytes << k; n > mostBytes {
				most, mostBytes = k, n
			}
		}
		kept := 0
		for _, b := range p.kept {
			kept += len(b)
		}
		if kept >= mostBytes {
			p.idle -= int64(len(p.kept[0]))
			unmap(p.kept[0])
			p.kept = slices.Delete(p.kept, 0, 1)
		} else if !p.release(most, max(p.used+p.idle+bytes-p.limit, releaseBytesMin)) {
			return false
		}
	}
	return true
}

// release gives the pages of freed pieces of one size back to the system, until
// they are that many bytes or there is none.
func (p *Pool) release(k int, bytes int64) bool {
	s := &p.sizes[k]
	if bytes>>(k+pageShift) > 1 {
		slices.Sort(s.idle) // neighbours go in one call
	}
	for bytes > 0 && len(s.idle) > 0 {
		hi := len(s.idle)
		lo := hi - 1
		for lo > 0 && s.idle[lo-1]+1 == s.idle[lo] && s.idle[lo-1]>>spanPiecesShift == s.idle[lo]>>spanPiecesShift {
			lo--
		}
		first := p.piece(s.idle[lo])
		n := len(first) * (hi - lo)
		if !discard(first[:n:cap(first)]) {
			return false
		}
		s.gone = append(s.gone, s.idle[lo:hi]...)
		s.idle = s.idle[:lo]
		p.idle -= int64(n)
		bytes -= int64(n)
	}
	return true
}

// allocLarge takes a mapping of its own: one that was freed and is as long, or
// a new one.
func (p *Pool) allocLarge(n int, exceed bool) ([]byte, bool) {
	bytes := (n + pageBytes - 1) &^ (pageBytes - 1)
	p.mu.Lock()
	invariant.Check(!p.closed, "slab: alloc after close")
	mem := p.takeKept(bytes)
	if mem == nil && !p.reclaim(int64(bytes), exceed) {
		p.mu.Unlock()
		return nil, false
	}
	p.use(int64(bytes))
	p.pieces++
	p.mu.Unlock()
	ok := true
	if mem != nil {
		clear(mem[:n])
	} else {
		mem, ok = mapLarge(bytes)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok {
		p.used -= int64(bytes)
		p.pieces--
		return nil, false
	}
	if p.large == nil {
		p.large = map[uintptr]int{}
	}
	p.large[address(mem)] = bytes
	return mem[:n:n], true
}

// takeKept returns a freed mapping of that many bytes, nil when there is none.
func (p *Pool) takeKept(bytes int) []byte {
	for i := len(p.kept) - 1; i >= 0; i-- {
		if b := p.kept[i]; len(b) == bytes {
			p.kept = slices.Delete(p.kept, i, i+1)
			p.idle -= int64(bytes)
			return b
		}
	}
	return nil
}

func (p *Pool) freeLarge(b []byte, addr uintptr) {
	bytes := (len(b) + pageBytes - 1) &^ (pageBytes - 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if have, ok := p.large[addr]; !ok || have != bytes {
		invariant.Check(false, "slab: free of %d bytes that were not allocated with that size", len(b))
	}
	delete(p.large, addr)
	p.kept = append(p.kept, unsafe.Slice(unsafe.SliceData(b), bytes))
	p.pieces--
	p.used -= int64(bytes)
	p.idle += int64(bytes)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Uint32s returns the same memory as numbers of the machine's byte order, for
// atomic access; b is a piece, or starts at a multiple of 4 in one.
func Uint32s(b []byte) []uint32 {
	p := unsafe.Pointer(unsafe.SliceData(b))
	invariant.Check(uintptr(p)%4 == 0, "slab: unaligned numbers")
	return unsafe.Slice((*uint32)(p), len(b)/4)
}

// Uint64s is Uint32s for numbers of 8 bytes.
func Uint64s(b []byte) []uint64 {
	p := unsafe.Pointer(unsafe.SliceData(b))
	invariant.Check(uintptr(p)%8 == 0, "slab: unaligned numbers")
	return unsafe.Slice((*uint64)(p), len(b)/8)
}
