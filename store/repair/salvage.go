// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/store"
)

// meta is what the table says of a branch, and how often a repair still has to
// look at it.
type meta struct {
	branch.Meta
	uses int
}

// oldBranch is a branch of the damaged store, whose messages are read once in
// their order. A block that cannot be read is passed over and noted.
type oldBranch struct {
	r         *repairer
	id, epoch uint64
	meta      *branch.Meta // nil when the table is lost
	index     *branch.Index
	places    places // of the blocks of messages, when the index is damaged
	tombs     []message.RangeTombstone
	tombBytes int
	// of an oldBranch that a search has found: the first key, and whether it is a
	// branch of the new file already.
	start  []byte
	copied bool

	next    int // block
	scratch branch.Scratch
	stored  []byte // memory for blocks that no index leads to
	image   []byte
	blk     block.Block
	at      int
	m       message.Message
	key     []byte // of m
	seen    bool   // m was set once
	stands  bool
	losses  []Loss // that no partition has reported yet
}

// openOld opens the branch of a meta.
func (r *repairer) openOld(m *branch.Meta) (*oldBranch, error) {
	s := &oldBranch{r: r, id: m.ID, epoch: m.Epoch, meta: m}
	index, err := branch.OpenIndex(branch.Options{File: r.in, Pool: r.pool, Coder: &r.coder}, m)
	if err == nil {
		s.index, s.tombs = index, index.Tombstones()
		return s, s.advance()
	}
	if errors.Is(err, branch.ErrMemory) {
		return nil, err
	}
	r.report.damage(explain(err))
	r.report.LostIndexes++
	if err := s.search(); err != nil {
		s.close()
		return nil, err
	}
	return s, s.advance()
}

// search finds the blocks of a branch without an index in its runs.
func (s *oldBranch) search() error {
	var tombstones uint64
	for _, run := range s.meta.Runs {
		err := s.r.scan(run, func(h block.Header, at extent.Run, b *block.Block) error {
			if h.Branch != s.id || h.Epoch != s.epoch {
				return nil
			}
			if h.Content == block.Tombstones {
				tombstones += uint64(b.Len())
				return s.takeTombstones(b)
			}
			return s.places.add(s.r.pool, h, at)
		}, nil)
		if err != nil {
			return err
		}
	}
	sort.Sort(&s.places)
	if tombstones < s.meta.RangeDeletes {
		s.lose(s.meta.Lo, s.meta.Hi, fmt.Sprintf("index of branch %d, and %d of its %d range deletes", s.id, s.meta.RangeDeletes-tombstones, s.meta.RangeDeletes))
	}
	return nil
}

// takeTombstones keeps the range deletes of a block.
func (s *oldBranch) takeTombstones(b *block.Block) error {
	for i := range b.Len() {
		m := b.Message(i, nil)
		if m.Kind != message.RangeDelete {
			continue
		}
		s.tombBytes += len(m.Key) + len(m.Value)
		s.tombs = append(s.tombs, message.RangeTombstone{Lo: m.Key, Hi: bytes.Clone(m.Value), Seq: m.Seq})
	}
	return s.r.heap(len(s.tombs)*64 + s.tombBytes)
}

// lose notes that changes of keys from lo up to hi are gone.
func (s *oldBranch) lose(lo, hi []byte, what string) {
	s.losses = append(s.losses, Loss{Lo: bytes.Clone(lo), Hi: bytes.Clone(hi), Reason: what})
}

// blocks is how many blocks of messages the source has.
func (s *oldBranch) blocks() int {
	if s.index != nil {
		return int(s.index.Stats().Blocks)
	}
	return s.places.Len()
}

// advance moves to the next message, over blocks that cannot be read.
func (s *oldBranch) advance() error {
	s.at++
	for {
		for ; s.stands && s.at < s.blk.Len(); s.at++ {
			m := s.blk.Message(s.at, s.key)
			s.key = m.Key
			if m.Kind != message.RangeDelete {
				s.m, s.seen = m, true
				return nil
			}
		}
		s.stands = false
		if s.next >= s.blocks() {
			s.end()
			return nil
		}
		if err := s.load(); err != nil {
			return err
		}
	}
}

// load opens the next block; it is on none when that cannot be read.
func (s *oldBranch) load() error {
	b := s.next
	s.next++
	if s.index == nil {
		return s.loadPlace(b)
	}
	blk, err := s.index.Read(b, &s.scratch)
	if err == nil {
		err = s.order(&blk)
	}
	var bad *branch.Corrupt
	switch {
	case errors.As(err, &bad):
		s.r.report.LostBlocks++
		s.lose(bad.Lo, bad.Hi, fmt.Sprintf("block %d of branch %d at byte %d: want %s, found %s", b, s.id, bad.Addr, bad.Want, bad.Found))
		return nil
	case errors.Is(err, errOrder):
		s.r.report.LostBlocks++
		lo, hi := s.index.Bounds()
		s.lose(lo, hi, fmt.Sprintf("block %d of branch %d: %v", b, s.id, err))
		return nil
	case err != nil:
		return err
	}
	s.blk, s.at, s.stands = blk, 0, true
	return nil
}

// errOrder reports that a block with the right checksum has its messages out of
// order.
var errOrder = errors.New("messages out of order")

// order checks that the messages of a block come after those before.
func (s *oldBranch) order(b *block.Block) error {
	if b.Validate() != nil {
		return errOrder
	}
	if first := b.Message(0, nil); s.seen && message.Compare(s.m, first) >= 0 {
		return errOrder
	}
	return nil
}

// loadPlace opens the next block that was found without an index, and notes
// which are missing before it.
func (s *oldBranch) loadPlace(i int) error {
	p := s.places.at(i)
	lost := int64(p.block)
	if i > 0 {
		lost -= int64(s.places.at(i-1).block) + 1
	}
	b, err := s.r.readPlace(s, p)
	if errors.Is(err, errOrder) {
		s.r.report.LostBlocks++
		if s.meta != nil {
			s.lose(s.meta.Lo, s.meta.Hi, fmt.Sprintf("block %d of branch %d: %v", p.block, s.id, err))
		}
		return nil
	}
	if err != nil {
		return err
	}
	if lost > 0 && s.meta != nil {
		first := b.Message(0, nil)
		s.gap(first.Key, lost)
	}
	s.blk, s.at, s.stands = b, 0, true
	return nil
}

// gap notes that so many blocks are missing between where it is and a key.
func (s *oldBranch) gap(hi []byte, blocks int64) {
	lo := s.meta.Lo
	if s.seen {
		// More of this key may have followed.
		lo = s.m.Key
	}
	s.r.report.LostBlocks += blocks
	s.lose(lo, hi, fmt.Sprintf("index of branch %d, and %d of its blocks", s.id, blocks))
}

// end notes which blocks are missing at the end.
func (s *oldBranch) end() {
	if s.index != nil || s.meta == nil || s.next > s.blocks() {
		return
	}
	s.next++ // once
	found := int64(0)
	if n := s.places.Len(); n > 0 {
		found = int64(s.places.at(n-1).block) + 1
	}
	if lost := int64(s.meta.Blocks) - found; lost > 0 {
		s.gap(s.meta.Hi, lost)
	}
}

func (s *oldBranch) close() {
	if s.index != nil && !s.copied {
		s.index.Close()
	}
	s.index = nil
	s.scratch.Close()
	s.places.close(s.r.pool)
	for _, b := range []*[]byte{&s.stored, &s.image} {
		if *b != nil {
			s.r.pool.Free(*b)
			*b = nil
		}
	}
	s.stands = false
}

// readPlace reads a block that was found to be sound.
func (r *repairer) readPlace(s *oldBranch, p place) (block.Block, error) {
	n := int(p.pages) * extent.PageSize
	if len(s.stored) < n {
		if s.stored != nil {
			r.pool.Free(s.stored)
		}
		var ok bool
		if s.stored, ok = r.pool.Alloc(max(n, block.MaxBytes)); !ok {
			s.stored = nil
			return block.Block{}, branch.ErrMemory
		}
	}
	if s.image == nil {
		var ok bool
		if s.image, ok = r.pool.Alloc(block.MaxBytes); !ok {
			return block.Block{}, branch.ErrMemory
		}
	}
	if err := datafile.ReadFull(r.in, s.stored[:n], int64(p.page)*extent.PageSize); err != nil {
		return block.Block{}, err
	}
	h, err := block.ReadHeader(s.stored)
	if err != nil {
		return block.Block{}, err
	}
	b, err := block.Open(s.stored[:n], h.Want, s.image, &r.coder)
	if err == nil {
		err = s.order(&b)
	}
	return b, err
}

// scan calls found with each sound block in a run of pages of the old file, and
// other, unless that is nil, with pages at which none begins.
func (r *repairer) scan(run extent.Run, found func(h block.Header, at extent.Run, b *block.Block) error, other func(page []byte)) error {
	image, ok := r.pool.Alloc(block.MaxBytes)
	if !ok {
		return branch.ErrMemory
	}
	defer r.pool.Free(image)
	whole, ok := r.pool.Alloc(block.LargestBytes)
	if !ok {
		return branch.ErrMemory
	}
	defer r.pool.Free(whole)
	end := min(int64(run.End())*extent.PageSize, r.size)
	have, from := 0, run.Addr()
	for at := run.Addr(); at < end; {
		if at+extent.PageSize > from+int64(have) {
			from, have = at, int(min(int64(len(r.piece)), end-at))
			r.readPages(r.in, datafile.Name, r.piece[:have], from)
		}
		page := r.piece[at-from : have]
		step := int64(extent.PageSize)
		h, err := block.ReadHeader(page)
		if err == nil && at+int64(h.Bytes()) <= end {
			b := whole[:h.Bytes()]
			if len(page) >= len(b) {
				copy(b, page)
			} else {
				r.readPages(r.in, datafile.Name, b, at)
			}
			if blk, err := block.Open(b, h.Want, image, &r.coder); err == nil && blk.Validate() == nil {
				step = int64(len(b))
				if err := found(h, extent.RunOf(at, step), &blk); err != nil {
					return err
				}
			}
		}
		if err != nil && other != nil {
			other(page[:extent.PageSize])
		}
		at += step
	}
	return nil
}

// readPages fills b from a file, page by page where not all can be read; what
// cannot is zeros.
func (r *repairer) readPages(f env.File, name string, b []byte, at int64) {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return
	}
	if err == nil || errors.Is(err, io.EOF) {
		clear(b[n:])
		return
	}
	for i := 0; i < len(b); i += extent.PageSize {
		page := b[i : i+extent.PageSize]
		if n, err := f.ReadAt(page, at+int64(i)); n < len(page) {
			clear(page[n:])
			if err != nil && !errors.Is(err, io.EOF) {
				r.report.damage(fmt.Errorf("%s at byte %d: %w", name, at+int64(i), err))
			}
		}
	}
}

// heap bounds what a repair keeps on the Go heap.
func (r *repairer) heap(bytes int) error {
	if most := int(r.o.Memory / 8); bytes > most {
		return fmt.Errorf("%w: range deletes of %d bytes, at most %d", store.ErrMemory, bytes, most)
	}
	return nil
}

// place is where a block of messages was found.
type place struct {
	branch, epoch uint64
	block         uint32
	page, pages   uint32
}

// placeWords is the length of a place in 32-bit words.
const placeWords = 7

// places is a list of places, in memory of the pool.
type places struct {
	memory []byte
	words  []uint32
	n      int
}

func (l *places) at(i int) place {
	w := l.words[i*placeWords:]
	return place{
		branch: uint64(w[1])<<32 | uint64(w[0]), epoch: uint64(w[3])<<32 | uint64(w[2]), block: w[4], page: w[5], pages: w[6],
	}
}

func (l *places) add(pool *slab.Pool, h block.Header, at extent.Run) error {
	if (l.n+1)*placeWords > len(l.words) {
		size := max(2*len(l.memory), 4096)
		memory, ok := pool.Alloc(size)
		if !ok {
			return fmt.Errorf("%w: found %d blocks, and there is no room for more", store.ErrMemory, l.n)
		}
		copy(memory, l.memory)
		if l.memory != nil {
			pool.Free(l.memory)
		}
		l.memory, l.words = memory, slab.Uint32s(memory)
	}
	copy(l.words[l.n*placeWords:], []uint32{
		uint32(h.Branch), uint32(h.Branch >> 32), uint32(h.Epoch), uint32(h.Epoch >> 32), h.Block, at.Page, at.Pages,
	})
	l.n++
	return nil
}

func (l *places) close(pool *slab.Pool) {
	if l.memory != nil {
		pool.Free(l.memory)
	}
	*l = places{}
}

// part is the places from from up to, without, to. It is valid as long as l.
func (l *places) part(from, to int) places {
	return places{words: l.words[from*placeWords : to*placeWords], n: to - from}
}

// Len, Less and Swap sort the places by branch, epoch, and number of the block.
func (l *places) Len() int { return l.n }

func (l *places) Less(i, j int) bool {
	a, b := l.at(i), l.at(j)
	return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.block, b.block), cmp.Compare(a.page, b.page)) < 0
}

func (l *places) Swap(i, j int) {
	for k := range placeWords {
		a, b := i*placeWords+k, j*placeWords+k
		l.words[a], l.words[b] = l.words[b], l.words[a]
	}
}

// clipped are the losses of a source that lie in [lo, hi), and forgets them.
func (s *oldBranch) clipped(lo, hi []byte, older bool) []Loss {
	var out, rest []Loss
	for _, l := range s.losses {
		if hi == nil || l.Hi != nil && bytes.Compare(l.Hi, hi) < 0 {
			// It ends here.
		} else {
			rest = append(rest, l)
		}
		if (hi != nil && bytes.Compare(l.Lo, hi) >= 0) || (l.Hi != nil && bytes.Compare(l.Hi, lo) < 0) {
			continue
		}
		l.Older = older
		if bytes.Compare(l.Lo, lo) < 0 {
			l.Lo = lo
		}
		if hi != nil && (l.Hi == nil || bytes.Compare(hi, l.Hi) < 0) {
			l.Hi = hi
		}
		out = append(out, l)
	}
	s.losses = rest
	return slices.Clip(out)
}
