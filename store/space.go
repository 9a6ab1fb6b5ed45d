// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/table"
)

// space allocates the pages of the data file. Pages that a superblock may refer to are
// retired first: they become free when two superblocks that do not refer to them are
// durable. So if one slot is torn, the other still leads to intact pages.
//
// The allocator's free pages have room on the disk. Free pages that may have none,
// because they were returned to the file system or because recovery cannot know whether
// they have, are holes: the allocator counts them as in use, and the store asks for room
// for them before it makes the file longer.
//
// Asking the file system for room, or returning some, may take long. A caller that does
// so holds growing, but neither mu nor, as its rank shows, DB.mu.
type space struct {
	// growing guards, together with mu, the end of the file, holes, dry and full: code that
	// changes these holds both.
	growing invariant.Mutex
	grown   uint64 // how often the file got room, or holes were made

	mu    invariant.Mutex // a leaf
	file  env.File
	alloc *extent.Allocator
	likes extent.Likes
	// frozen is the number of the newest superblock whose content is decided: the
	// next one does not have anything that is dropped from now on.
	frozen uint64
	holes  []extent.Run // by address
	// dry is the minimum number of pages for which the last attempt to fill a hole
	// failed; 0: it is worth trying.
	dry uint32
	// full reports that the last attempt to make the file longer failed.
	full bool
	// unsettled is a superblock that this life relies on and has not made durable yet.
	unsettled atomic.Pointer[foundSuper]
	// The reserve, in pages (reserve.go), and how many a long run has at least.
	floor, keep, deletes uint64
	unit                 uint32
}

// newSpace is the space of a file of end pages, whose newest superblock has that
// number. All pages except those of superblocks are free.
func newSpace(file env.File, end uint32, super uint64) *space {
	s := &space{file: file, alloc: extent.New(table.FirstPage, end), frozen: super}
	s.alloc.SetUnit(unitMin)
	s.unit = unitMin
	s.growing.SetRank(rankGrowing, "growing")
	s.mu.SetRank(rankLeaf, "space")
	return s
}

// growPages and growMax are the minimum and maximum growth of the file; between
// them it is a sixteenth of the length.
const (
	growMin = 16
	growMax = 64 << 20 / extent.PageSize
)

// Alloc returns a run of that many pages, and extends the file if there is
// none. It leaves no reserve: table chunks and repairs call it.
func (s *space) Alloc(pages uint32) (extent.Run, error) { return s.take(pages, forTable) }

// pagesFor is the space for a purpose: a branch.Alloc.
type pagesFor struct {
	*space
	purpose purpose
}

func (p pagesFor) Alloc(pages uint32) (extent.Run, error) { return p.take(pages, p.purpose) }

// take is Alloc for a purpose: pages that are kept from it stay free.
func (s *space) take(pages uint32, p purpose) (extent.Run, error) {
	if err := s.settle(); err != nil {
		return extent.Run{}, err
	}
	for {
		r, seen, ok := s.tryTake(pages, p)
		if ok {
			return r, nil
		}
		if err := s.grow(seen, pages, 0); err != nil {
			return extent.Run{}, err
		}
	}
}

// tryTake is take without asking the disk. It also returns the arguments of grow.
func (s *space) tryTake(pages uint32, p purpose) (r extent.Run, seen uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.alloc.LongPages()
	if s.alloc.FreePages() >= uint64(pages)+s.kept(p) {
		r, ok = s.alloc.Alloc(pages)
	}
	if long := s.alloc.LongPages(); ok && long < before && long < s.keptLong(p) {
		s.alloc.Free(r)
		return extent.Run{}, s.grown, false
	}
	return r, s.grown, ok
}

// grow makes at least that many contiguous pages free, and about as many as more requests,
// but at least a fraction of the file's length. Seen is how often the file had grown when
// the caller found too few pages: if it has grown since, there may be enough.
func (s *space) grow(seen uint64, pages, more uint32) error {
	s.mu.Lock()
	end := s.alloc.End()
	s.mu.Unlock()
	return s.growBy(seen, pages, max(more, min(max(end/16, growMin), growMax)))
}

// growBy is grow by as many pages as more says.
func (s *space) growBy(seen uint64, pages, more uint32) error {
	s.growing.Lock()
	defer s.growing.Unlock()
	if s.grown != seen {
		return nil
	}
	end := s.alloc.End()
	more = max(pages, more)
	if s.full {
		more = pages // as long as there is hardly any room, it is not asked for often
	}
	if s.dry == 0 || pages < s.dry {
		if filled, err := s.fillHole(pages, more); filled || err != nil {
			return err
		}
	}
	for ; ; more = max(pages, more/2) {
		var err error
		if uint64(end)+uint64(more) >= 1<<32-1 {
			err = fmt.Errorf("the data file has %d pages and cannot have more: %w", end, env.ErrNoSpace)
		} else {
			err = s.lengthen(end + more)
		}
		if err == nil {
			return nil
		}
		if more == pages || !errors.Is(err, env.ErrNoSpace) {
			s.mu.Lock()
			s.full = errors.Is(err, env.ErrNoSpace)
			s.mu.Unlock()
			return fmt.Errorf("make %s longer: %w", datafile.Name, err)
		}
	}
}

// granule is the unit of holes, in pages: each granule of the file, counted from
// its beginning, is one as a whole or not at all. So the free pages of a granule
// that is used in part have room on the disk.
const granule = 256 << 10 / extent.PageSize

// within is the part of a run that is whole granules.
func within(r extent.Run) extent.Run {
	from := (r.Page + granule - 1) / granule * granule
	to := uint32(r.End() / granule * granule)
	if from >= to {
		return extent.Run{}
	}
	return extent.Run{Page: from, Pages: to - from}
}

// fillHole makes granules of a hole free, if the disk has room for them. On a full
// disk it tries each granule of each hole. The caller holds s.growing.
func (s *space) fillHole(pages, more uint32) (filled bool, err error) {
	least := (pages + granule - 1) / granule * granule
	for i, hole := range s.holes {
		n := min(hole.Pages, more/granule*granule)
		for at := hole.Page; uint64(at)+uint64(least) <= hole.End(); {
			n = max(n, least)
			r := extent.Run{Page: at, Pages: n}
			err := s.back(r)
			if err == nil {
				s.fill(i, r)
				return true, nil
			}
			if !errors.Is(err, env.ErrNoSpace) {
				return false, fmt.Errorf("fill a hole of %s: %w", datafile.Name, err)
			}
			if n > least {
				n = n / 2 / granule * granule
			} else {
				at += granule // the pages after it may have room
			}
		}
	}
	s.mu.Lock()
	s.dry = pages
	s.mu.Unlock()
	return false, nil
}

// fill makes a part of a hole free pages, which have room on the disk now. The caller
// holds s.growing.
func (s *space) fill(i int, r extent.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hole := s.holes[i]
	var rest []extent.Run
	for _, part := range []extent.Run{{Page: hole.Page, Pages: r.Page - hole.Page}, {Page: uint32(r.End()), Pages: uint32(hole.End() - r.End())}} {
		if part.Pages > 0 {
			rest = append(rest, part)
		}
	}
	s.holes = slices.Replace(s.holes, i, i+1, rest...)
	s.alloc.Free(r)
	s.hasGrown()
}

// hasGrown records that there is more to take, or to fill. The caller holds s.growing
// and s.mu.
func (s *space) hasGrown() {
	s.grown++
	s.dry, s.full = 0, false
}

// unknown is called when recovery is done: it is unknown whether the granules that
// recovery has found free have room on the disk.
func (s *space) unknown() {
	if _, ok := s.file.(env.SpaceFile); !ok {
		return // holes cannot be filled before they are written
	}
	for _, span := range s.alloc.All() {
		if r := within(span.Run); !span.Retired && r.Pages > 0 {
			dug := s.dig(r)
			invariant.Check(dug, "a hole in pages that are in use: %v", r)
		}
	}
}

// dig makes a hole of free pages; false: some of them are in use.
func (s *space) dig(r extent.Run) bool {
	if s.alloc.Reserve(r) != nil {
		return false
	}
	i, _ := slices.BinarySearchFunc(s.holes, r, func(a, b extent.Run) int { return cmp.Compare(a.Page, b.Page) })
	s.holes = slices.Insert(s.holes, i, r)
	return true
}

// back ensures that a write to r finds room on the disk, even if it may be a hole.
func (s *space) back(r extent.Run) error {
	if f, ok := s.file.(env.SpaceFile); ok {
		return f.Allocate(r.Addr(), r.Bytes())
	}
	return nil
}

// lengthen makes the file longer. The caller holds s.growing.
func (s *space) lengthen(end uint32) error {
	size := int64(end) * extent.PageSize
	if f, ok := s.file.(env.SpaceFile); ok {
		from := int64(s.alloc.End()) * extent.PageSize
		if err := f.Allocate(from, size-from); err != nil {
			return err
		}
	} else if err := s.file.Truncate(size); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alloc.Grow(end)
	s.hasGrown()
	return nil
}

// Free implements branch.Alloc: it frees pages to which nothing refers.
func (s *space) Free(r extent.Run) {
	s.mu.Lock()
	s.alloc.Free(r)
	s.mu.Unlock()
}

func (s *space) retire(runs ...extent.Run) {
	s.mu.Lock()
	for _, r := range runs {
		s.alloc.Retire(r, s.frozen+1)
	}
	s.mu.Unlock()
}

// freeze is called when the content of the superblock with that number is
// decided.
func (s *space) freeze(seq uint64) {
	s.mu.Lock()
	s.frozen = seq
	s.mu.Unlock()
}

// durable is called when the superblock of that number is durable: pages that its
// predecessor did not refer to become free.
func (s *space) durable(seq uint64) {
	s.mu.Lock()
	s.alloc.Release(seq - 1)
	s.mu.Unlock()
}

func (s *space) like(r extent.Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.likes.Like(r)
	return err
}

func (s *space) unlike(r extent.Run) {
	s.mu.Lock()
	if s.likes.Unlike(r) {
		s.alloc.Retire(r, s.frozen+1)
	}
	s.mu.Unlock()
}

// found counts a use of a blob, at recovery.
func (s *space) found(r extent.Run) error {
	first, err := s.likes.Like(r)
	if err == nil && first {
		err = s.reserve(r)
	}
	return err
}

// foundOlder retires pages that the older superblock refers to, at recovery. Pages
// that the newer one refers to are in use already.
func (s *space) foundOlder(r extent.Run) {
	if s.likes.Count(r.Page) == 0 && s.reserve(r) == nil {
		s.alloc.Retire(r, s.frozen)
	}
}

// reserve marks pages as used, at recovery.
func (s *space) reserve(r extent.Run) error {
	if r.Page < table.FirstPage {
		return fmt.Errorf("%v are within the superblocks", r)
	}
	return s.alloc.Reserve(r)
}

func (s *space) pages() (end uint32, free, retired uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free = s.alloc.FreePages()
	for _, r := range s.holes {
		free += uint64(r.Pages)
	}
	return s.alloc.End(), free, s.alloc.RetiredPages()
}

// unused returns the runs that the allocator has not allocated, and the holes. It
// returns an error if the allocator contradicts itself.
func (s *space) unused() ([]extent.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	runs := slices.Clone(s.holes)
	for _, span := range s.alloc.All() {
		runs = append(runs, span.Run)
	}
	return runs, s.alloc.Validate()
}

// end is the length of the data file in bytes.
func (s *space) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.alloc.End()) * extent.PageSize
}

// trim makes holes of free granules, beyond the reserve, and returns how many bytes
// that freed. Nothing refers to free pages, so a crash may keep any part of it.
func (s *space) trim() (bytes int64, err error) {
	f, ok := s.file.(env.SpaceFile)
	if !ok {
		return 0, nil
	}
	s.growing.Lock()
	defer s.growing.Unlock()
	s.mu.Lock()
	spans := s.alloc.All()
	s.mu.Unlock()
	for _, span := range slices.Backward(spans) {
		if r := s.digIn(span); r.Pages > 0 {
			if err := f.Discard(r.Addr(), r.Bytes()); err != nil {
				return bytes, fmt.Errorf("punch a hole of %v into %s: %w", r, datafile.Name, err)
			}
			bytes += r.Bytes()
		}
	}
	s.mu.Lock()
	s.hasGrown()
	s.mu.Unlock()
	return bytes, nil
}

// digIn makes a hole of what is free in a span, as far as the reserve allows. It
// returns no pages if another caller has taken some of them meanwhile.
func (s *space) digIn(span extent.Span) extent.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, free := s.kept(forPuts), s.alloc.FreePages()
	if span.Retired || free <= kept {
		return extent.Run{}
	}
	r := within(span.Run)
	if over := uint64(r.Pages) + kept; over > free {
		cut := min(uint32(over-free+granule-1)/granule*granule, r.Pages)
		r = extent.Run{Page: r.Page + cut, Pages: r.Pages - cut}
	}
	if r.Pages == 0 || !s.dig(r) {
		return extent.Run{}
	}
	return r
}
