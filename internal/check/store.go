// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// A search with a memory bound moves data to disk between segments: the blocks
// of both levels and of the lineage, and fingerprints, in sorted runs. The
// newest fingerprints on disk, and those that were met again, stay in memory as
// long as there is room. A candidate that is not in memory is looked up in the
// runs at the end of its segment, together with all others, in the order of the
// runs. Runs of similar size are merged, so that there are few.

// store is the part of a search on disk; nil if there is none. It belongs to
// the goroutine of run, except dropped and has.
type store struct {
	s       *search
	disk    env.Disk
	budget  int64 // for the search in memory; 0 means no bound
	runs    []*spill.Run
	seq     int  // of the next run
	partial bool // there are fingerprints on disk that are not in memory
	fps     []uint64
	keeper  *keeper // of checkpoints, or nil
}

// How the memory of a search is divided: a quarter for the finds of a segment,
// a half for fingerprints, and an eighth each for the blocks of the lineage and
// of the levels.
const (
	shareOfSegment = 4
	shareOfSet     = 2
	shareOfTape    = 8
	// segmentBytesMax and segmentBytesMin bound the bytes that a segment finds.
	segmentBytesMax = 64 << 20
	segmentBytesMin = 64 << 10
	// slotBytes is the memory that a fingerprint takes.
	slotBytes = 12
)

// newStore returns nil if nothing must go to disk.
func newStore(s *search) *store {
	if s.o.Disk == nil {
		return nil
	}
	st := &store{s: s, disk: s.o.Disk, budget: s.o.MemoryBytes}
	if s.o.Checkpoint != nil {
		st.keeper = newKeeper(st, *s.o.Checkpoint)
	}
	return st
}

// segmentBytes is how many bytes the workers may find before they are joined.
func (s *search) segmentBytes() int64 {
	if s.store == nil || s.store.budget == 0 {
		return segmentBytesMax
	}
	return min(segmentBytesMax, max(segmentBytesMin, s.store.budget/shareOfSegment))
}

// dropped reports whether a fingerprint that is not in memory may be on disk.
func (st *store) dropped() bool { return st != nil && st.partial }

// has looks a fingerprint up on disk. It is safe for concurrent use.
func (st *store) has(fp uint64) (bool, error) {
	for _, r := range st.runs {
		if ok, err := r.Has(fp); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// recall marks the candidates that are on disk as known.
func (st *store) recall() error {
	if !st.dropped() {
		return nil
	}
	st.fps = st.fps[:0]
	for _, w := range st.s.workers {
		for i := range w.candidates {
			st.fps = append(st.fps, w.candidates[i].fp)
		}
	}
	slices.Sort(st.fps)
	st.fps = slices.Compact(st.fps)
	n := len(st.s.workers)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		part := st.fps[len(st.fps)*i/n : len(st.fps)*(i+1)/n]
		wg.Go(func() {
			for _, r := range st.runs {
				if errs[i] == nil {
					errs[i] = r.Find(part, st.s.set.Recall)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// balance moves to disk what exceeds the memory bound.
func (st *store) balance() error {
	if st == nil || st.s.over() {
		return nil
	}
	st.s.quiet()
	if st.budget > 0 {
		if err := st.spill(); err != nil {
			return err
		}
	}
	st.s.progress.onDisk(st.bytes())
	return nil
}

// poll writes a checkpoint if one is due. The search must be in a consistent
// state: either all initial states are known, or all successors of the states
// expanded so far.
func (st *store) poll() error {
	if st == nil || st.keeper == nil || st.s.over() {
		return nil
	}
	defer func() { st.s.progress.onDisk(st.bytes()) }()
	return st.keeper.poll()
}

// last writes a checkpoint at the end of a search that is not complete.
func (st *store) last() error {
	defer func() { st.s.progress.onDisk(st.bytes()) }()
	return st.keeper.keep()
}

// spill reduces the memory of the search to its budget.
func (st *store) spill() error {
	s := st.s
	if err := errors.Join(s.lineage.spill(st.budget/shareOfTape), s.level.spill(st.budget/shareOfTape)); err != nil {
		return err
	}
	room, held, fresh := st.budget/shareOfSet, s.set.Bytes(), st.fresh()
	switch {
	case fresh > 0 && fresh*slotBytes > room/2:
		drop := held > room
		st.partial = st.partial || drop && s.set.Len() > fresh
		return st.writeRun(drop)
	case held > room && s.set.Len() > fresh:
		st.partial = true
		s.settleAll()
		s.set.Drop()
	}
	return nil
}

// fresh is the number of fingerprints that are in no run.
func (st *store) fresh() int64 { return st.s.set.Fresh() + st.s.marks.waiting() }

// writeRun writes the fingerprints that are in no run to a new one.
func (st *store) writeRun(drop bool) error {
	st.s.settleAll()
	w, err := spill.NewWriter(st.disk, st.runName())
	if err != nil {
		return err
	}
	if err := st.s.set.Write(drop, w.Add); err != nil {
		w.Abandon()
		return err
	}
	r, err := w.Close()
	if err != nil {
		return err
	}
	st.runs = append(st.runs, r)
	return st.merge()
}

// merge joins the last runs until each is more than twice as long as the next.
func (st *store) merge() error {
	for n := len(st.runs); n > 1 && st.runs[n-2].Len() <= 2*st.runs[n-1].Len(); n-- {
		a, b := st.runs[n-2], st.runs[n-1]
		r, err := spill.Merge(st.disk, st.runName(), a, b)
		if err != nil {
			return err
		}
		st.runs = append(st.runs[:n-2], r)
		for _, old := range []*spill.Run{a, b} {
			if err := errors.Join(old.Close(), st.remove(old.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (st *store) runName() string {
	st.seq++
	return fmt.Sprintf("run-%d", st.seq)
}

// remove removes a file, now or when no checkpoint has it any more.
func (st *store) remove(name string) error {
	if st.keeper != nil && st.keeper.holds(name) {
		return nil
	}
	if err := st.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// reset empties a tape and gives its next file a name.
func (st *store) reset(t *spill.Tape, name string) error {
	old, stored := t.Name()
	if err := t.Reset(name); err != nil {
		return fmt.Errorf("close %s: %w", old, err)
	}
	if !stored {
		return nil
	}
	return st.remove(old)
}

// held is the size of the store in memory, and bytes its size on disk.
func (st *store) held() int64 {
	if st == nil {
		return 0
	}
	n := int64(cap(st.fps)) * 8
	for _, r := range st.runs {
		n += r.Held()
	}
	return n
}

func (st *store) bytes() int64 {
	if st == nil {
		return 0
	}
	return st.s.lineage.stored() + st.s.level.stored() + st.runBytes()
}

// close closes the files, and removes those that no checkpoint has.
func (st *store) close() error {
	if st == nil {
		return nil
	}
	var errs []error
	for _, r := range st.runs {
		errs = append(errs, r.Close(), st.remove(r.Name()))
	}
	st.runs = nil
	for _, t := range st.s.tapes(&manifest{}) {
		name, stored := (*t.tape).Name()
		errs = append(errs, (*t.tape).Close())
		if stored {
			errs = append(errs, st.remove(name))
		}
	}
	return errors.Join(errs...)
}

// resumed reports whether the search continues from a checkpoint.
func (st *store) resumed() bool { return st != nil && st.keeper != nil && st.keeper.o.Resume }

// open finds the checkpoint to resume and restores the model. It must be called
// before the first worker is made.
func (st *store) open(m Model) error {
	if st == nil || st.keeper == nil {
		return nil
	}
	return st.keeper.open(m)
}

// end removes the checkpoint of a search that has ended.
func (st *store) end(r *Result) error {
	if st == nil || st.keeper == nil || r.Unfinished || r.Verdict == Interrupted || r.Verdict == Incomplete {
		return nil
	}
	return st.keeper.end()
}

// runBytes is the size of the runs.
func (st *store) runBytes() int64 {
	n := int64(0)
	if st != nil {
		for _, r := range st.runs {
			n += r.Bytes()
		}
	}
	return n
}
