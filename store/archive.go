// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// An archive is a directory with segments of the history of one store, in files of
// the same form and names. It is filled from a feed, so it has only durable changes:
// a crash of the store undoes none of them, and a slow or failing archive is an
// error of Archive and not of the store.

// archiveBytes is the size at which a file of an archive ends, with the batch.
const archiveBytes = 64 << 20

// Archive adds the changes that are durable now to the archive in a directory,
// which it creates if necessary: those after the last one that the archive has, or
// after the change number after if that is larger, as in a new archive that
// continues a copy (Mark.Number). It returns the number of the last change of the
// archive.
//
// The store must have a history (Options.History), which bounds how much may change
// between two calls. Beyond that the error is an ErrTooOld, and the caller must make a
// new copy and start a new archive, in another directory if the files of this one have
// another format version. The archive is durable when Archive returns, and after an
// error or a crash it has some of the new changes, in whole files. While another call
// adds to the directory, the error is env.ErrLocked; on a disk without locks callers
// must take turns.
func (db *DB) Archive(ctx context.Context, disk env.Disk, dir string, after uint64) (uint64, error) {
	fail := func(err error) (uint64, error) {
		return after, fmt.Errorf("archive to %s: %w", dir, err)
	}
	if err := disk.MakeDir(dir); err != nil {
		return fail(err)
	}
	if err := disk.SyncDir(path.Dir(dir)); err != nil {
		return fail(err)
	}
	unlock, err := lockArchive(disk, dir)
	if err != nil {
		return fail(err)
	}
	defer unlock()
	segments, _, err := archived(disk, dir, db.life.store)
	if err != nil {
		return fail(err)
	}
	if n := len(segments); n > 0 {
		// Changes after a file that Restore cannot read would be archived without any
		// use.
		f, _, err := openSegment(disk, dir, segments[n-1].name)
		if errors.Is(err, errVersion) {
			err = fmt.Errorf("%w: make a new copy, and start a new archive in another directory", err)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return fail(err)
		}
		after = max(after, uint64(segments[n-1].last))
	}
	limit, wall := uint64(db.durable.upTo()), db.clock.Wall()
	feed, err := db.Changes(after)
	if err != nil {
		return fail(err)
	}
	for after < limit {
		last, err := db.archiveFile(ctx, disk, dir, feed, message.Seq(after+1), limit, wall)
		if err != nil {
			return fail(errors.Join(err, feed.Close()))
		}
		after = last
	}
	return after, feed.Close()
}

// lockArchive keeps other calls of Archive out of a directory, with env.ErrLocked: all
// of them first write their files under one name. On a disk without locks, the caller
// must do that.
func lockArchive(disk env.Disk, dir string) (unlock func(), err error) {
	d, ok := disk.(env.LockDisk)
	if !ok {
		return func() {}, nil
	}
	lock, err := d.Lock(path.Join(dir, datafile.Lock))
	if err != nil {
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // nothing was written to it
}

// errVersion reports a segment that another version of this program has written.
var errVersion = errors.New("has format version")

// openSegment opens a segment, and reads its beginning.
func openSegment(disk env.Disk, dir, name string) (env.File, *segmentReader, error) {
	f, err := disk.Open(path.Join(dir, name), false)
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Size()
	if err == nil {
		var in *segmentReader
		if in, err = readSegment(name, bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 64<<10)); err == nil {
			return f, in, nil
		}
	}
	return nil, nil, errors.Join(err, f.Close())
}

// archived returns the files of an archive for a store, by their first numbers, and the
// names of the files for other stores.
func archived(disk env.Disk, dir string, store uint64) (segments []segment, others []string, err error) {
	names, err := disk.List(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		switch of, s, ok := parseSegment(name); {
		case ok && of == store:
			segments = append(segments, s)
		case ok:
			others = append(others, name)
		}
	}
	slices.SortFunc(segments, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return segments, others, nil
}

// archiveFile writes one file, of changes up to limit at most.
func (db *DB) archiveFile(ctx context.Context, disk env.Disk, dir string, feed *Feed, first message.Seq, limit uint64, wall time.Time) (last uint64, err error) {
	name := path.Join(dir, historyNew)
	f, err := disk.Open(name, true)
	if err != nil {
		return 0, err
	}
	if err = f.Truncate(0); err == nil {
		last, err = fillArchive(ctx, f, feed, first, limit, wall)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if err := disk.Rename(name, path.Join(dir, datafile.HistoryName(db.life.store, first, message.Seq(last)))); err != nil {
		return 0, err
	}
	return last, disk.SyncDir(dir)
}

func fillArchive(ctx context.Context, f env.File, feed *Feed, first message.Seq, limit uint64, wall time.Time) (uint64, error) {
	w, err := newChangeWriter(&sequential{file: f, max: 1<<63 - 1}, feed.db.life.store, first, wall, feed.db.spaces.on.Load())
	if err != nil {
		return 0, err
	}
	for size := 0; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c, err := feed.Next(ctx)
		if err == nil {
			err = w.change(c)
		}
		if err != nil {
			return 0, err
		}
		size += len(c.Key) + len(c.Value)
		if !c.More && (c.Number >= limit || size >= archiveBytes) {
			_, err := w.end()
			return c.Number, err
		}
	}
}

// replaying applies an archive to a store that was restored from copies.
type replaying struct {
	ctx    context.Context
	db     *DB
	o      RestoreOptions
	source uint64 // the store that was copied
	batch  *Batch
	others []string // files of the archive that are of other stores
}

// run applies the changes after the copy, as far as the options request.
func (r *replaying) run() error {
	segments, others, err := archived(r.o.Archive, r.o.ArchiveDir, r.source)
	if err != nil {
		return err
	}
	if r.others = others; len(segments) == 0 {
		return fmt.Errorf("%w: the archive has no files of the copied store %016x; it has %d files of other stores %q",
			ErrTooOld, r.source, len(others), others[:min(len(others), 4)])
	}
	at := r.db.LastChange()
	if r.o.Until > 0 && at > r.o.Until {
		return fmt.Errorf("the copy has changes up to %d, so it cannot restore the state after change %d: use an older copy", at, r.o.Until)
	}
	for _, s := range segments {
		if uint64(s.last) <= r.db.LastChange() || r.o.Until > 0 && r.db.LastChange() >= r.o.Until {
			continue
		}
		if next := r.db.LastChange() + 1; uint64(s.first) > next {
			return fmt.Errorf("%w: the archive lacks changes %d to %d", ErrTooOld, next, s.first-1)
		}
		later, err := r.segment(s)
		if err != nil || later {
			return err
		}
	}
	if r.o.Until > 0 && r.db.LastChange() < r.o.Until && len(r.pastUntil(segments)) == 0 {
		return fmt.Errorf("%w: change %d; the archive ends at %d", ErrTooOld, r.o.Until, r.db.LastChange())
	}
	return nil
}

// pastUntil are the segments that have the change at which to end, which is within
// a batch: the batch is left out.
func (r *replaying) pastUntil(segments []segment) (past []segment) {
	for _, s := range segments {
		if uint64(s.last) >= r.o.Until {
			past = append(past, s)
		}
	}
	return past
}

// segment applies a file. It returns true if the file has changes that are left out,
// because they are later than the options request.
func (r *replaying) segment(s segment) (later bool, err error) {
	f, in, err := openSegment(r.o.Archive, r.o.ArchiveDir, s.name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if in.store != r.source || in.first != s.first {
		return false, in.bad("the store and change in the file's name", fmt.Sprintf("store %016x from change %d on", in.store, in.first))
	}
	if !r.o.UntilTime.IsZero() && in.wall.After(r.o.UntilTime) {
		return true, nil
	}
	for {
		c, err := in.change()
		if err == io.EOF {
			if r.batch.Len() > 0 || in.last != s.last {
				return false, in.bad(fmt.Sprintf("a batch that ends at change %d", s.last), "the end")
			}
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if c.Number <= r.db.LastChange() {
			continue
		}
		if r.o.Until > 0 && c.Number > r.o.Until {
			r.batch.Reset()
			return true, nil
		}
		if in.spaces && isFirstKeyspace(c) {
			if err := r.keepKeyspaces(); err != nil {
				return false, fmt.Errorf("change %d: %w", c.Number, err)
			}
		}
		if err := r.apply(c); err != nil {
			return false, err
		}
	}
}

// isFirstKeyspace reports whether a change of a store with keyspaces is the first one of
// a keyspace. A store without keyspaces may have such a key as well, and range deletes
// that end above it.
func isFirstKeyspace(c Change) bool {
	return c.Kind == ChangePut && c.More && string(c.Key) == string(entry("")) && string(c.Value) == "\x00\x00\x00\x01"
}

// keepKeyspaces makes the store one with keyspaces, because the copied store became one
// after it was copied.
func (r *replaying) keepKeyspaces() error {
	s := &r.db.spaces
	s.making.Lock()
	defer s.making.Unlock()
	return r.db.reserveKeys()
}

// apply makes a change, when its batch is complete.
func (r *replaying) apply(c Change) error {
	// Keys are as the tree stores them, also those of keyspaces.
	kind := message.Kind(c.Kind)
	if err := checkSize(kind, c.Key, c.Value); err != nil {
		return fmt.Errorf("change %d: %w", c.Number, err)
	}
	r.batch.append(kind, c.Key, c.Value)
	if c.More {
		return nil
	}
	err := cmp.Or(r.ctx.Err(), r.db.Commit(r.batch, NoSync))
	r.batch.Reset()
	if err != nil {
		return fmt.Errorf("change %d: %w", c.Number, err)
	}
	if last := r.db.LastChange(); last != c.Number {
		return fmt.Errorf("change %d was applied as change %d", c.Number, last)
	}
	return nil
}

// restoreUntil restores copies and an archive in a separate directory, and then
// renames the data file: before that there is no store.
func restoreUntil(ctx context.Context, world env.Env, dir string, o RestoreOptions, copies []io.Reader) (done Restored, err error) {
	work := path.Join(dir, restoreWork)
	plain := o
	plain.Archive = nil
	mark, err := restoreAt(ctx, world, work, plain, copies)
	if err != nil {
		return done, err
	}
	if wall := time.Unix(0, mark.wall); !o.UntilTime.IsZero() && wall.After(o.UntilTime) {
		return done, fmt.Errorf("the copy was made at %v, so it cannot restore the state at %v: use an older copy", wall, o.UntilTime)
	}
	// No other caller uses the store, so that one goroutine does all the work.
	db, err := Open(world, work, Options{Memory: o.Memory, Merger: o.Merger, Tuning: Tuning{Inline: true}})
	if err != nil {
		return done, err
	}
	r := replaying{ctx: ctx, db: db, o: o, source: binary.LittleEndian.Uint64(mark.store[:]), batch: db.NewBatch()}
	if err = r.run(); err == nil {
		// Close alone may leave changes in the journal, which is not kept.
		err = db.Flush()
	}
	done = Restored{LastChange: db.LastChange(), Others: r.others}
	if err = errors.Join(err, db.Close()); err != nil {
		return done, err
	}
	if err := treeHas(world.Disk, work, done.LastChange); err != nil {
		return done, err
	}
	if err := examineFile(ctx, world, path.Join(work, datafile.Name), Options{Memory: o.Memory, Merger: o.Merger, ReadOnly: true}); err != nil {
		return done, err
	}
	return done, cmp.Or(
		world.Disk.Rename(path.Join(work, datafile.Name), path.Join(dir, datafile.New)),
		world.Disk.SyncDir(dir), world.Disk.SyncDir(work),
		removeWork(world.Disk, dir))
}

// treeHas returns an error unless the data file of a store, without its journal, has
// the changes up to last.
func treeHas(disk env.Disk, dir string, last uint64) error {
	slots, err := datafile.Slots(disk, dir)
	if err != nil {
		return err
	}
	var cut uint64
	for _, s := range slots {
		if s.Err == nil {
			cut = max(cut, s.Super.Cut)
		}
	}
	if cut != last {
		return fmt.Errorf("the data file has changes up to %d, want %d", cut, last)
	}
	return nil
}

// restoreWork is the directory of the store while an archive is applied.
const restoreWork = "RESTORE"

// removeWork removes the files that a restore leaves.
func removeWork(disk env.Disk, dir string) error {
	work := path.Join(dir, restoreWork)
	names, err := disk.List(work)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := disk.Remove(path.Join(work, name)); err != nil {
			return err
		}
	}
	return disk.Remove(work)
}
