// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Report is the result of a check of the whole store.
type Report struct {
	Branches, Blocks, Messages, Blobs int64
	// Changes is the number of changes that the history has kept in files.
	Changes int64
	// Gaps are changes between the oldest that the history has and the newest of the
	// tree that it does not have, at most ProblemsMax: they came by an ingest, could not be written,
	// or their file is lost. A Feed that comes to one ends with ErrTooOld. They are not
	// damage of the store.
	Gaps []Gap
	// Bytes is the number of bytes read from the disk.
	Bytes int64
	// Problems are the damaged places, at most ProblemsMax; More is the number
	// of further ones.
	Problems []error
	More     int64
}

// Gap is the changes with the numbers First to Last.
type Gap struct{ First, Last uint64 }

// ProblemsMax is how many problems a Report lists.
const ProblemsMax = 1000

// Err returns nil if no problem was found.
func (r *Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	return fmt.Errorf("%d problems, the first: %w", int64(len(r.Problems))+r.More, r.Problems[0])
}

func (r *Report) add(err error) {
	if len(r.Problems) < ProblemsMax {
		r.Problems = append(r.Problems, err)
		return
	}
	r.More++
}

// Verify reads the whole store and checks it: each block against its parent's
// checksum and its own identity, the order of all messages, that filters and
// fences lead to each of them, large values, the shape of the trunk, that
// every page of the data file has at most one owner, and the files of the history. The store may be used
// meanwhile. The error is external, or the context's; damage is in the Report.
func (db *DB) Verify(ctx context.Context) (Report, error) {
	var report Report
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return report, err
	}
	if err := s.root.Validate(); err != nil {
		report.add(err)
	}
	if err := db.checkPages(); err != nil {
		report.add(err)
	}
	rest := func(int64) error { return db.open() }
	failed := db.examineMemtables(ctx, s, &report, rest)
	s.root.Branches(func(b *trunk.Branch) {
		if failed == nil {
			failed = db.examineBranch(ctx, b, db.files.data, &report, rest)
		}
	})
	if failed == nil {
		failed = db.examineHistory(ctx, s, &report, rest)
	}
	return report, failed
}

// examineMemtables reads the large values to which the memtables of a state
// refer: after a crash no branch refers to those that only the journal has.
func (db *DB) examineMemtables(ctx context.Context, s *state, report *Report, rest func(int64) error) error {
	for _, m := range s.mems {
		view, ok := db.viewOf(m)
		if !ok {
			return fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
		}
		err := db.examineView(ctx, view, report, rest)
		view.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// viewOf is a view of a memtable, to which a writer may be appending.
func (db *DB) viewOf(m *mem) (*memtable.View, bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return m.table.View()
}

func (db *DB) examineView(ctx context.Context, view *memtable.View, report *Report, rest func(int64) error) error {
	it := view.Iter()
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		m := it.Message()
		if m.Kind != message.Blob { // recovery has read every byte of the others
			continue
		}
		before := report.Bytes
		if err := db.examineBlob(m, db.files.data, report); err != nil {
			return err
		}
		if err := cmp.Or(ctx.Err(), rest(report.Bytes-before)); err != nil {
			return err
		}
	}
	return nil
}

// examineBranch checks a branch of the file; now and then it calls rest with the
// number of bytes read since the last call.
func (db *DB) examineBranch(ctx context.Context, b *trunk.Branch, file env.File, report *Report, rest func(int64) error) error {
	var scratch branch.Scratch
	defer scratch.Close()
	report.Branches++
	good := true
	for i := -1; i < b.Index.Blocks(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var n int64
		var err error
		if i < 0 {
			n, err = b.Index.CheckIndex()
		} else {
			n, err = b.Index.Check(i, db.cache, &scratch)
			report.Blocks++
		}
		report.Bytes += n
		var bad *branch.Corrupt
		switch {
		case errors.As(err, &bad):
			report.add(explain(err))
			good = false
		case err != nil:
			return explain(err)
		}
		if err := rest(n); err != nil {
			return err
		}
	}
	if good {
		return db.examineMessages(ctx, b, file, report, rest)
	}
	return nil
}

// examineMessages walks over the messages of a branch whose blocks are sound:
// their order across blocks, their number, and the values stored separately.
func (db *DB) examineMessages(ctx context.Context, b *trunk.Branch, file env.File, report *Report, rest func(int64) error) error {
	it := b.Index.Iter(branch.IterOptions{Prefetch: mergePrefetch})
	defer it.Close()
	var last message.Message
	var count uint64
	var read int64 // since the last rest
	for ok := it.First(); ok; ok = it.Next() {
		m := it.Message()
		read += int64(len(m.Key) + len(m.Value))
		if count > 0 && message.Compare(last, m) >= 0 {
			report.add(&CorruptError{File: datafile.Name, Branch: b.Meta.ID, Lo: append([]byte(nil), last.Key...), Hi: append([]byte(nil), m.Key...), Want: "messages in order", Found: fmt.Sprintf("%s after %s", block.Masked(m.Key), block.Masked(last.Key))})
		}
		last.Key, last.Seq = append(last.Key[:0], m.Key...), m.Seq
		count++
		report.Messages++
		if m.Kind == message.Blob {
			before := report.Bytes
			if err := db.examineBlob(m, file, report); err != nil {
				return err
			}
			read += report.Bytes - before
		}
		if read >= restBytes || count%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := rest(read); err != nil {
				return err
			}
			read = 0
		}
	}
	if err := explain(it.Err()); errors.Is(err, ErrCorrupt) {
		report.add(err)
		return nil
	} else if err != nil {
		return err
	}
	if count != b.Meta.Records {
		report.add(&CorruptError{File: datafile.Name, Branch: b.Meta.ID, Lo: b.Meta.Lo, Hi: b.Meta.Hi, Want: fmt.Sprintf("%d messages", b.Meta.Records), Found: fmt.Sprint(count)})
	}
	return rest(read)
}

// restBytes is how much of the messages is read between rests.
const restBytes = 256 << 10

func (db *DB) examineBlob(m message.Message, file env.File, report *Report) error {
	ref, ok := message.DecodeBlobRef(m.Value)
	if !ok {
		report.add(badRef(m))
		return nil
	}
	report.Blobs++
	value, err := db.readBlobOf(file, ref, m.Key, nil)
	report.Bytes += int64(len(value))
	if errors.Is(err, ErrCorrupt) {
		report.add(err)
		return nil
	}
	return err
}

// checkPages compares the pages of the tree with those that the allocator has allocated.
func (db *DB) checkPages() error {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	unused, err := db.space.unused()
	if err != nil {
		return &CorruptError{File: datafile.Name, Want: "a consistent allocator", Found: err.Error()}
	}
	owner := map[uint32]uint64{}
	own := func(r extent.Run, id uint64) error {
		for p := r.Page; uint64(p) < r.End(); p++ {
			if other, taken := owner[p]; taken {
				return &CorruptError{File: datafile.Name, Offset: int64(p) * extent.PageSize, Branch: id, Want: "a page that only this branch uses", Found: fmt.Sprintf("one that branch %d uses too", other)}
			}
			owner[p] = id
		}
		return nil
	}
	blobs := map[uint32]bool{}
	for id, b := range db.tree.all() {
		for _, r := range append([]extent.Run{b.Meta.IndexRun()}, b.Meta.Runs...) {
			if err := own(r, id); err != nil {
				return err
			}
		}
		for _, r := range b.Meta.Blobs {
			if blobs[r.Page] {
				continue
			}
			blobs[r.Page] = true
			if err := own(r, id); err != nil {
				return err
			}
		}
	}
	for _, c := range db.checkpoints.chunks() {
		if err := own(extent.RunOf(c.Addr, int64(c.Len)), 0); err != nil {
			return err
		}
	}
	for _, r := range unused {
		for p := r.Page; uint64(p) < r.End(); p++ {
			if id, taken := owner[p]; taken {
				return &CorruptError{File: datafile.Name, Offset: int64(p) * extent.PageSize, Branch: id, Want: "a page in use", Found: "one that is free"}
			}
		}
	}
	return nil
}
