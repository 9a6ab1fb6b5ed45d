// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A full disk must be emptied from inside: deletes are changes, which need a
// memtable's branch, merges, and checkpoints before they free anything. So
// some free pages of the data file, which have room on the disk, are kept:
//
//	the floor    for checkpoints alone: without them no page is ever free again
//	the keep     for the branches of all memtables, for their present contents,
//	             and for merging the whole tree, one partition after the other
//	for deletes  for memtables of deletes beyond those
//
// A part of them is in long runs: the index of a branch and a chunk of the table need
// contiguous pages. The blocks of a branch can use fragments, which are taken first,
// because each piece comes from the smallest run that has room for it.
//
// A change is accepted only if there are pages for the keep that it makes necessary.
// A flush uses a part of the keep for a branch; another part stays for merging that
// branch. The merge of a partition at the bottom writes at most as much as it reads,
// and frees its base after two checkpoints; its newer messages then need no keep, so
// the pages that one partition has used are free again for the next. So everything
// in memory when the disk is full can be merged down to the bottom, where deletes
// disappear and free the space of the deleted data. Merges that only make reads
// shorter do not use the keep. Only one merge that relies on it runs at a time.

// purpose is the use of pages, which determines how many must stay free.
type purpose uint8

const (
	forPuts    purpose = iota // changes that may need more space permanently
	forDeletes                // changes that give back space in the end
	forSpeed                  // merges that can wait
	forWork                   // flushes, and merges that give back space
	forTable                  // checkpoints
)

func purposeOf(k message.Kind) purpose {
	if k == message.Delete || k == message.RangeDelete {
		return forDeletes
	}
	return forPuts
}

// deletesMin is the minimum that is kept for deletes, in pages: enough for some
// memtables of few deletes. Up to a sixteenth of the file is added to it, as far as
// setDeletes requests.
const deletesMin = 48

// setDeletes sets what a memtable of deletes may take beyond deletesMin: a quarter of
// its size, and the two pages that merges may take in each partition.
func (s *space) setDeletes(memtable, partitions int) {
	s.mu.Lock()
	s.deletes = pagesOf(int64(memtable))/4 + 2*uint64(partitions)
	s.mu.Unlock()
}

// kept is the number of free pages that must be left for other purposes. The
// caller holds s.mu.
func (s *space) kept(p purpose) uint64 {
	switch p {
	case forPuts:
		return s.floor + s.keep + s.deletesShare()
	case forDeletes, forSpeed:
		return s.floor + s.keep
	case forWork:
		return s.floor
	default:
		return 0
	}
}

// deletesShare is kept for deletes alone. The caller holds s.mu.
func (s *space) deletesShare() uint64 { return deletesMin + min(s.deletes, uint64(s.alloc.End())/16) }

// keptLong is the number of kept pages that must be in long runs: those for deletes and
// for checkpoints, room for two indexes, and, because an index is about a 25th of its
// branch, an eighth of the keep. The caller holds s.mu.
func (s *space) keptLong(p purpose) uint64 {
	switch p {
	case forPuts:
		return s.floor + 2*uint64(s.unit) + s.keep/8 + s.deletesShare()
	case forDeletes, forSpeed:
		return s.floor + 2*uint64(s.unit) + s.keep/8
	case forWork:
		return s.floor
	default:
		return 0
	}
}

// unitMin is the minimum length of a long run, in pages.
const unitMin = 4

// setUnit ensures that a long run has room for an index of that many bytes, and for
// the changes of the table.
func (s *space) setUnit(index int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	need, unit := max(pagesOf(index), s.floor/8), uint32(unitMin)
	for uint64(unit) < need && unit < 1<<30 {
		unit *= 2
	}
	if unit != s.unit {
		s.unit = unit
		s.alloc.SetUnit(unit)
	}
}

// setFloor sets the size of the table.
func (s *space) setFloor(table int) {
	s.mu.Lock()
	s.floor = 2*pagesOf(int64(table)) + 8
	s.mu.Unlock()
}

// shortfall reports that there are too few pages.
type shortfall struct {
	pages uint64 // how many are missing
	seen  uint64 // how often the file had grown
	least bool   // fewer do not help
}

// admit keeps that many pages from now on, if that many are available for the
// purpose; it returns false if there are too few. Pages that wait for checkpoints
// count: the floor is for these checkpoints.
func (s *space) admit(keep uint64, p purpose) (shortfall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.keep
	s.keep = keep
	have, want := s.alloc.FreePages()+s.alloc.RetiredPages(), s.kept(p)
	long, wantLong := s.alloc.LongPages()+s.alloc.RetiredLongPages(), s.keptLong(p)
	if have < want || long < wantLong {
		s.keep = before
		return shortfall{pages: max(want-min(have, want), wantLong-min(long, wantLong)), seen: s.grown}, false
	}
	return shortfall{}, true
}

// cover makes the file longer by the missing pages, or by a part of them.
func (s *space) cover(f shortfall) error { return s.grow(f.seen, 1, uint32(min(f.pages, growMax))) }

// isFull reports that the last attempt to make the file longer failed.
func (s *space) isFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// keepOnly keeps that many pages from now on, and returns whether that is less
// than before.
func (s *space) keepOnly(keep uint64) (less bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	less = keep < s.keep
	s.keep = keep
	return less
}

// spare reports whether there are that many pages besides all that are kept, or
// makes the file longer for them.
func (s *space) spare(pages uint64) bool {
	for {
		f, ok := s.beside(pages)
		if ok {
			return true
		}
		if s.cover(f) != nil {
			return false
		}
	}
}

// beside is spare without asking the disk.
func (s *space) beside(pages uint64) (shortfall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have, want := s.alloc.FreePages(), s.kept(forSpeed)+pages
	return shortfall{pages: want - min(have, want), seen: s.grown}, have >= want
}

// room is the number of pages that the purpose may use once checkpoints have freed
// the retired ones.
func (s *space) room(p purpose) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roomFor(p)
}

// roomFor is room for a caller that holds s.mu.
func (s *space) roomFor(p purpose) uint64 {
	have, kept := s.alloc.FreePages()+s.alloc.RetiredPages(), s.kept(p)
	return have - min(have, kept)
}

// ask makes the file longer until there is that much room for the purpose, and by no
// more than that, or by as many pages as the disk has room for again.
func (s *space) ask(p purpose, room uint64) {
	for {
		s.mu.Lock()
		have, seen := s.roomFor(p), s.grown
		s.mu.Unlock()
		if have >= room || s.growBy(seen, 1, uint32(min(room-have, growMax))) != nil {
			return // there is enough, or the disk has none
		}
	}
}

// checkpoints is the number of pages that checkpoints take and free.
func (s *space) checkpoints() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.floor
}

// has reports whether that many free pages are available for the purpose.
func (s *space) has(pages uint64, p purpose) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alloc.FreePages() >= s.kept(p)+pages
}

// reserved is the space that puts must leave free, in bytes.
func (s *space) reserved() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.kept(forPuts)) * extent.PageSize
}

func pagesOf(n int64) uint64 { return uint64((n + extent.PageSize - 1) / extent.PageSize) }

// mergedPages is the number of pages that blocks of that many bytes take after
// merges into some partitions: blocks may become longer through padding and weaker
// compression; in each partition the last block and the index may take another
// page.
func mergedPages(bytes int64, partitions int) uint64 {
	return pagesOf(bytes+bytes/4) + 2*uint64(partitions)
}

// upkeep is the number of pages that merging the tree with that root takes.
type upkeep struct {
	root   *trunk.Node
	pages  uint64
	weight trunk.Weight
}

// keepWith is the number of pages to keep if one of the memtables keeps that many.
// The caller holds db.mu.
func (db *DB) keepWith(m *mem, keep uint64) uint64 {
	sum := db.tree.upkeep().pages
	for _, other := range db.current.Load().mems {
		if other != m {
			sum += other.keep
		}
	}
	return sum + keep
}

// memKeep is the number of pages for a memtable with that many bytes and records:
// once as a branch with its index, and once for the merges of it.
func (db *DB) memKeep(bytes, records int) uint64 {
	n := int64(bytes)
	return branchPages(bytes) + mergedPages(n, min(db.tree.upkeep().weight.Partitions, records))
}

// branchPages is the number of pages of a memtable with that many bytes as a branch
// with its index.
func branchPages(bytes int) uint64 { return pagesOf(int64(bytes)+int64(bytes)/2) + 8 }

// keepNow updates the number of kept pages, and reports whether it is less than before.
func (db *DB) keepNow() (less bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.space.keepOnly(db.keepWith(nil, 0))
}

// grant lets a memtable take that many messages of n bytes, if the store could still
// be merged then; it returns false if there are too few pages for that. The caller
// holds db.mu.
func (db *DB) grant(m *mem, messages, n int, p purpose) (shortfall, bool) {
	pos, have := m.table.Pos(), m.table.Len()
	// Request some more, so that not every message makes a request.
	step := max(n, min(max(pos/4, 64<<10), len(m.arena)/16))
	keep := db.memKeep(pos+step, have+messages+step/recordMin)
	short, ok := db.space.admit(db.keepWith(m, keep), forPuts)
	if ok && p == forPuts {
		db.hasRoom()
	}
	if !ok && db.space.isFull() {
		// A put may use what is granted to a delete: so grant no byte more. And
		// request nothing that is not needed.
		step, keep = n, db.memKeep(pos+n, have+messages)
		short, ok = db.space.admit(db.keepWith(m, keep), p)
		short.least = true
	}
	if ok {
		m.granted, m.keep = pos+step, keep
	}
	return short, ok
}

// recordMin is the minimum size of a message in a memtable, in bytes.
const recordMin = 24

// room has the locks of calls that make room on a full disk, and of merges there.
// Both are taken before all other locks, mu first.
type room struct {
	mu, tight invariant.Mutex
	calls     atomic.Int32 // that make room, or wait to
}

// wanted reports whether some call makes room.
func (r *room) wanted() bool { return r.calls.Load() > 0 }

func (r *room) init() {
	r.mu.SetRank(rankRoom, "room")
	r.tight.SetRank(rankTight, "tight")
}

// alone makes room with f; one call at a time does.
func (r *room) alone(f func() (bool, error)) (bool, error) {
	r.calls.Add(1)
	defer r.calls.Add(-1)
	r.mu.Lock()
	defer r.mu.Unlock()
	return f()
}

// withReserve merges with f, which uses the reserve; one merge at a time does.
func (r *room) withReserve(f func() ([]*trunk.Branch, error)) ([]*trunk.Branch, error) {
	r.tight.Lock()
	defer r.tight.Unlock()
	return f()
}

// makeRoom does the next work that may free space: checkpoints, a flush, or a
// merge. It returns false when none is left, so that the refusal is final. For
// deletes everything is merged; for puts only partitions with enough newer messages
// to be worth it.
func (db *DB) makeRoom(p purpose) (did bool, err error) {
	if err := db.enter(); err != nil {
		return false, err
	}
	defer db.work.leave()
	return db.room.alone(func() (bool, error) { return db.nextRoom(p) })
}

// nextRoom is makeRoom for the one call that makes room.
func (db *DB) nextRoom(p purpose) (did bool, err error) {
	db.mu.Lock()
	from := db.tree.merges()
	db.mu.Unlock()
	if db.freeRetired() {
		return true, nil
	}
	db.mu.Lock()
	waiting, refused := len(db.current.Load().mems) > 1, db.tree.flushRefused()
	db.mu.Unlock()
	if waiting && refused == nil { // a full memtable waits; as a branch it takes fewer pages
		if err := db.flushOldest(); !errors.Is(err, env.ErrNoSpace) {
			return true, err
		}
	}
	worth := trunk.Worth{Any: p == forDeletes, BytesPerDelete: 64 << 10}
	db.mu.Lock()
	var newer, deletes, ranges int
	for _, m := range db.current.Load().mems {
		newer += m.table.Len()
		deletes += m.deletes
		ranges += m.table.RangeDeletes()
	}
	w := db.tree.upkeep().weight
	db.mu.Unlock()
	if refused == nil && (ranges > 0 || worth.Merge(float64(newer), float64(deletes), w.Records, w.Newer+w.Base)) {
		if err := db.flushAll(false); !errors.Is(err, env.ErrNoSpace) { // else merges come first
			return true, err
		}
	}
	for r := (refusals{}); ; {
		r.ask(db)
		db.mu.Lock()
		if db.tree.merges() != from { // a worker's may have given back space
			db.mu.Unlock()
			return true, nil
		}
		j := db.tree.shrink(worth, r.policy(db, asked))
		switch {
		case j == nil && db.tree.merging() && !db.opt.Tuning.Inline && !db.closing.Load():
			db.work.awaitJob() // a worker may give back space
			db.mu.Unlock()
			continue
		case j == nil:
			// The next merge of the background frees space as well.
			j = db.nextJobLocked(asked, &r)
		}
		switch {
		case j == nil:
			db.mu.Unlock()
			return db.keepNow(), nil // merges may have made it less
		case j.Flush:
			db.tree.flush(j)
			db.publish(db.current.Load().mems)
			db.mu.Unlock()
			continue
		}
		db.mu.Unlock()
		err := db.run(j)
		var unreadable readError
		switch {
		case r.add(db, j, err):
			continue
		case errors.As(err, &unreadable):
			db.tracer.Trace(env.Mark("store.room.unreadable"))
			return true, nil // not retried: the next call makes another merge
		case errors.Is(err, errAborted):
			return true, nil
		}
		return true, err
	}
}

// freeRetired makes the checkpoints that free pages which only superblocks hold,
// and reports whether there are more free pages now.
func (db *DB) freeRetired() bool {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	return db.freeRetiredLocked()
}

// freeRetiredLocked is freeRetired for callers that hold db.checkpoints.
func (db *DB) freeRetiredLocked() (freed bool) {
	for range 2 {
		_, before, retired := db.space.pages()
		if retired == 0 || db.checkpoints.write(false) != nil {
			break
		}
		_, after, _ := db.space.pages()
		freed = freed || after > before
	}
	return freed
}

// noRoom is the error of a change for which there is no room.
func (db *DB) noRoom(err error) error {
	err = fmt.Errorf("the disk is full except for the %d bytes reserved for deletes and merges: delete data or add space: %w", db.space.reserved(), err)
	if !db.full.Swap(true) {
		db.notices.add(DiskFull{err})
	}
	return err
}

// hasRoom is called when a put has found room.
func (db *DB) hasRoom() {
	if db.full.Load() && db.full.Swap(false) {
		db.notices.add(DiskHasRoom{})
	}
}
