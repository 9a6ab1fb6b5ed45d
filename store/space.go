package store

import (
	"errors"
	"fmt"
	"sort"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/extent"
	"github.com/ashlar-dev/ashlar/store/table"
)

// space hands out the pages of the data file. Pages that a superblock may refer
// to are retired first: they are free again when two superblocks that do not
// refer to them are durable, so that both slots could be lost to nothing worse
// than one of them being torn.
type space struct {
	mu    sync.Mutex
	file  env.File
	alloc *extent.Allocator
	likes extent.Likes
	// frozen is the number of the newest superblock whose content is decided:
	// what is dropped from now on, the next one does not have.
	frozen uint64
	holes  []extent.Run // free runs that are holes already, by address
}

// growPages is by how much the file grows at least, and growMax at most: a
// sixteenth of what it is, between the two.
const (
	growMin = 16
	growMax = 64 << 20 / extent.PageSize
)

// Alloc is branch.Alloc's: it returns so many pages in one piece, and makes the
// file longer where there are none.
func (s *space) Alloc(pages uint32) (extent.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if r, ok := s.alloc.Alloc(pages); ok {
			s.fill(r)
			return r, nil
		}
		end := s.alloc.End()
		more := max(pages, min(max(end/16, growMin), growMax))
		if uint64(end)+uint64(more) > 1<<32-1 {
			return extent.Run{}, fmt.Errorf("data file has %d pages, the most there can be: %w", end, env.ErrNoSpace)
		}
		if err := s.lengthen(end + more); err != nil {
			if more == pages || !errors.Is(err, env.ErrNoSpace) {
				return extent.Run{}, fmt.Errorf("make %s longer: %w", dataFile, err)
			}
			if err := s.lengthen(end + pages); err != nil {
				return extent.Run{}, fmt.Errorf("make %s longer: %w", dataFile, err)
			}
		}
	}
}

// fill notes that what lies in r is no hole for long.
func (s *space) fill(r extent.Run) {
	i := sort.Search(len(s.holes), func(i int) bool { return s.holes[i].End() > uint64(r.Page) })
	for ; i < len(s.holes) && uint64(s.holes[i].Page) < r.End(); i++ {
		s.holes[i].Pages = 0
	}
}

// isHole says whether the run was made a hole as it is.
func (s *space) isHole(r extent.Run) bool {
	i := sort.Search(len(s.holes), func(i int) bool { return s.holes[i].End() > uint64(r.Page) })
	return i < len(s.holes) && s.holes[i] == r
}

// back sees to it that a write to r finds room on the disk, although it may be
// a hole.
func (s *space) back(r extent.Run) error {
	if f, ok := s.file.(env.SpaceFile); ok {
		return f.Allocate(r.Addr(), r.Bytes())
	}
	return nil
}

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
	s.alloc.Grow(end)
	return nil
}

// Free is branch.Alloc's: it takes back pages that nothing refers to.
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

// durable is called when the superblock of that number is durable: what the one
// before it did not refer to any more is free.
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

// reserve marks pages as used, at recovery.
func (s *space) reserve(r extent.Run) error {
	if r.Page < table.FirstPage {
		return fmt.Errorf("%v lie within the superblocks", r)
	}
	return s.alloc.Reserve(r)
}

func (s *space) pages() (end uint32, free, retired uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alloc.End(), s.alloc.FreePages(), s.alloc.RetiredPages()
}

// end is the length of the data file in bytes.
func (s *space) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.alloc.End()) * extent.PageSize
}

// trimPages is the shortest run that is worth making a hole of.
const trimPages = 256 << 10 / extent.PageSize

// trim makes holes of long free runs and answers how many bytes that gave back.
// Nothing refers to free pages, so that a crash may keep any part of it.
func (s *space) trim() (bytes int64, err error) {
	f, ok := s.file.(env.SpaceFile)
	if !ok {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var holes []extent.Run
	for _, span := range s.alloc.All() {
		if span.Retired || span.Pages < trimPages {
			continue
		}
		if !s.isHole(span.Run) {
			if err := f.Discard(span.Addr(), span.Bytes()); err != nil {
				return bytes, fmt.Errorf("give back %v of %s: %w", span.Run, dataFile, err)
			}
			bytes += span.Bytes()
		}
		holes = append(holes, span.Run)
	}
	s.holes = holes
	return bytes, nil
}
