// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/stream"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// RestoreOptions are the options of Restore. The zero RestoreOptions are valid.
type RestoreOptions struct {
	// Memory bounds the memory of Restore, as Options.Memory. With an archive it
	// must be as much as the store had, so that each batch fits.
	Memory int64

	// Archive is the disk of an archive, and ArchiveDir its directory there. Restore
	// applies the archived changes that are later than the copies. It stops after
	// the last batch that ends at or before change Until, or that was archived at
	// or before UntilTime; zero values do not stop it. An archive without any file of
	// the copied store is an ErrTooOld.
	Archive    env.Disk
	ArchiveDir string
	Until      uint64
	UntilTime  time.Time
	// Merger is the merger of the store; Restore needs it for an archive with merges.
	Merger Merger
}

// Restored describes the store that Restore has made.
type Restored struct {
	// LastChange is the number of the last change that the store has.
	LastChange uint64
	// Others are the files of the archive that were left out because they are of other
	// stores: for example of this store after a repair, which gives it a new identity.
	Others []string
}

// Restore makes a store of copies: a whole one, and then any number of
// increments, each since the one before it. The directory must be absent, or empty
// but for a lock file. The store is complete and durable when Restore returns nil,
// and has then been read and checked as Verify does; otherwise the directory has
// none. Restore locks the directory meanwhile, as Open does. Each restored store
// has an identity of its own, for which the world must have a Random.
//
// A copy that is cut or damaged is an ErrCorrupt, whose CorruptError says which
// copy, counted from 1, and where in it. An increment that does not follow the
// copy before it is an ErrBase.
func Restore(ctx context.Context, world env.Env, dir string, o RestoreOptions, copies ...io.Reader) (Restored, error) {
	done, err := restoreLocked(ctx, world, dir, o, copies)
	if err != nil {
		return Restored{}, fmt.Errorf("restore %s: %w", dir, err)
	}
	return done, nil
}

// restoreLocked keeps other programs, and other calls, from the directory.
func restoreLocked(ctx context.Context, world env.Env, dir string, o RestoreOptions, copies []io.Reader) (done Restored, err error) {
	if _, err := (Options{Memory: o.Memory}).Complete(world); err != nil {
		return done, err
	}
	if err := world.Disk.MakeDir(dir); err != nil {
		return done, err
	}
	lock, err := lockDir(world.Disk, dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if o.Archive == nil {
		mark, err := restoreAt(ctx, world, dir, o, copies)
		return Restored{LastChange: mark.number}, err
	}
	if err := onlyNew(world.Disk, dir); err != nil {
		return done, err
	}
	if done, err = restoreUntil(ctx, world, dir, o, copies); err != nil {
		return done, errors.Join(err, onlyNew(world.Disk, dir))
	}
	return done, nameData(world.Disk, dir)
}

// lockDir locks a directory in which a store is made, as Open locks that of a
// store. The lock file stays: if it were removed, a program that has opened it
// would lock a file that others no longer see.
func lockDir(disk env.Disk, dir string) (io.Closer, error) {
	if d, ok := disk.(env.LockDisk); ok {
		return d.Lock(path.Join(dir, datafile.Lock))
	}
	return io.NopCloser(nil), nil
}

// restoreAt makes a store of copies, and returns the Mark of the last one, without
// its units.
func restoreAt(ctx context.Context, world env.Env, dir string, o RestoreOptions, copies []io.Reader) (Mark, error) {
	if err := world.Disk.MakeDir(dir); err != nil {
		return Mark{}, err
	}
	if err := onlyNew(world.Disk, dir); err != nil {
		return Mark{}, err
	}
	fresh := path.Join(dir, datafile.New)
	mark, err := restoreFile(ctx, world, fresh, o.Memory, copies)
	if err != nil {
		if gone := world.Disk.Remove(fresh); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return Mark{}, err
	}
	return mark, nameData(world.Disk, dir)
}

// nameData gives a data file that is complete its name.
func nameData(disk env.Disk, dir string) error {
	return cmp.Or(
		disk.Rename(path.Join(dir, datafile.New), path.Join(dir, datafile.Name)),
		disk.SyncDir(dir), disk.SyncDir(path.Dir(dir)))
}

// onlyNew returns an error if a locked directory has more than a lock file and the
// remains of an interrupted restore, which it removes.
func onlyNew(disk env.Disk, dir string) error {
	names, err := disk.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == restoreWork {
			if err := removeWork(disk, dir); err != nil {
				return err
			}
			continue
		}
		if name == datafile.Lock {
			continue
		}
		if name != datafile.New {
			return fmt.Errorf("the directory has a file %q: give an empty directory", name)
		}
		if err := disk.Remove(path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// restoreFile makes and checks a data file.
func restoreFile(ctx context.Context, world env.Env, name string, memory int64, copies []io.Reader) (Mark, error) {
	if len(copies) == 0 {
		return Mark{}, errors.New("no copy to restore from")
	}
	o, err := Options{Memory: memory, ReadOnly: true}.Complete(world)
	if err != nil {
		return Mark{}, err
	}
	f, err := world.Disk.Open(name, true)
	if err != nil {
		return Mark{}, err
	}
	r := restoring{ctx: ctx, file: f}
	for i, c := range copies {
		r.which = i + 1
		if err := r.copy(c); err != nil {
			return Mark{}, errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(r.finish(world.Random, o.poolBytes()), f.Close()); err != nil {
		return Mark{}, err
	}
	o.Merger = nameOnly(r.super.Merger)
	if r.super.Merger == "" {
		o.Merger = nil
	}
	return r.mark, examineFile(ctx, world, name, o)
}

// restoring applies copies to a file.
type restoring struct {
	ctx   context.Context
	file  env.File
	which int // copy, from 1 on
	in    *stream.Reader
	at    int64 // of the section

	mark  Mark // of the copy before, without units
	super table.Superblock
	block []byte // the superblock
	end   uint64 // page behind the last one that this copy has
}

// bad is the error of a section that a copy cannot have here.
func (r *restoring) bad(want, found string) error {
	return &CorruptError{File: fmt.Sprintf("copy %d", r.which), Offset: r.at, Want: want, Found: found}
}

// next reads a section.
func (r *restoring) next() (kind byte, payload []byte, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, nil, err
	}
	r.at = r.in.Offset()
	kind, payload, err = r.in.Next()
	var bad *stream.Corrupt
	if errors.As(err, &bad) {
		err = r.bad(bad.Want, bad.Found)
	} else if err == io.EOF {
		err = r.bad("the end of the copy", "the end of the stream")
	}
	return kind, payload, err
}

// copy applies one copy.
func (r *restoring) copy(in io.Reader) error {
	r.in, r.end = stream.NewReader(in), 0
	mark, err := r.begin()
	if err != nil {
		return err
	}
	if r.which == 1 && mark.base != (sum{}) {
		return fmt.Errorf("copy 1: %w: it is an increment; the whole copy must come first", ErrBase)
	}
	if r.which > 1 && (mark.store != r.mark.store || mark.base != r.mark.id) {
		return fmt.Errorf("copy %d: %w: it is not an increment since copy %d", r.which, ErrBase, r.which-1)
	}
	id, super, err := r.body(&mark, r.write)
	if err != nil {
		return err
	}
	if len(super) == 0 {
		return fmt.Errorf("copy %d is only a mark and has no pages", r.which)
	}
	mark.id = id
	r.mark = mark
	r.block = bytes.Clone(super)
	if r.super, err = table.DecodeSuper(super); err != nil {
		return r.bad("a superblock", err.Error())
	}
	if r.end > uint64(r.super.Pages) {
		return r.bad(fmt.Sprintf("pages below %d, the end of the file", r.super.Pages), fmt.Sprint(r.end-1))
	}
	return nil
}

// begin reads the first section.
func (r *restoring) begin() (m Mark, err error) {
	kind, b, err := r.next()
	if err != nil {
		return m, err
	}
	if kind != copyBegin || len(b) != copyBeginSize {
		return m, r.bad("the beginning of a copy", fmt.Sprintf("section %d of %d bytes", kind, len(b)))
	}
	if v := binary.LittleEndian.Uint32(b); v != copyVersion {
		return m, fmt.Errorf("copy %d has format version %d; this program reads version %d", r.which, v, copyVersion)
	}
	copy(m.store[:], b[8:])
	copy(m.base[:], b[24:])
	m.number = binary.LittleEndian.Uint64(b[40:])
	m.wall = int64(binary.LittleEndian.Uint64(b[48:]))
	return m, nil
}

// body reads the sections after the first. It calls pages with pages, and collects
// units if collect is set; it compares the id with the content.
func (r *restoring) body(m *Mark, pages func(page uint32, b []byte) error) (id sum, super []byte, err error) {
	h := sha256.New()
	h.Write(m.begin())
	last := byte(copyBegin)
	for {
		kind, b, err := r.next()
		if err != nil {
			return id, nil, err
		}
		if kind < last || kind > copyEnd {
			return id, nil, r.bad(fmt.Sprintf("section %d to %d", last, copyEnd), fmt.Sprint(kind))
		}
		last = kind
		switch kind {
		case copyBegin:
			return id, nil, r.bad("the sections of a copy", "the beginning of another copy")
		case copyPages:
			n := len(b) - 4
			if n <= 0 || n%extent.PageSize != 0 {
				return id, nil, r.bad("whole pages", fmt.Sprintf("%d bytes", n))
			}
			if err := pages(binary.LittleEndian.Uint32(b), b[4:]); err != nil {
				return id, nil, err
			}
		case copyUnits:
			if err := r.units(m, h, b); err != nil {
				return id, nil, err
			}
		case copyEnd:
			if n := len(b); n != len(id) && n != len(id)+table.SuperSize {
				return id, nil, r.bad("the end of a copy", fmt.Sprintf("%d bytes", n))
			}
			copy(id[:], b)
			if made := sum(h.Sum(nil)[:len(sum{})]); made != id {
				return id, nil, r.bad(fmt.Sprintf("copy %x", id), fmt.Sprintf("units with id %x", made))
			}
			return id, b[len(id):], r.over()
		}
	}
}

// over checks that the stream ends.
func (r *restoring) over() error {
	r.at = r.in.Offset()
	if _, _, err := r.in.Next(); err != io.EOF {
		return r.bad("the end of the stream", "more bytes after the copy")
	}
	return nil
}

// units reads a section of units. They are kept only when a Mark is read by itself.
func (r *restoring) units(m *Mark, h hash.Hash, b []byte) error {
	if len(b)%copyUnitSize != 0 {
		return r.bad("whole units", fmt.Sprintf("%d bytes", len(b)))
	}
	h.Write(b)
	if r.file != nil {
		return nil
	}
	for u := range slices.Chunk(b, copyUnitSize) {
		m.units = append(m.units, unit{binary.LittleEndian.Uint32(u), sum(u[4:])})
	}
	return nil
}

// write writes pages where they belong.
func (r *restoring) write(page uint32, b []byte) error {
	run := extent.Run{Page: page, Pages: uint32(len(b) / extent.PageSize)}
	if page < table.FirstPage || run.End() >= 1<<32-1 {
		return r.bad(fmt.Sprintf("pages from %d on", table.FirstPage), run.String())
	}
	r.end = max(r.end, run.End())
	if err := backGranules(r.file, run, uint32(min(run.End()+granule, 1<<32-2))); err != nil {
		return err
	}
	_, err := r.file.WriteAt(b, run.Addr())
	return err
}

// finish makes the file durable, and then the superblock.
func (r *restoring) finish(random env.Random, memory int64) error {
	size := int64(r.super.Pages) * extent.PageSize
	if have, err := r.file.Size(); err != nil {
		return err
	} else if have != size {
		if err := r.file.Truncate(size); err != nil {
			return err
		}
	}
	if err := datafile.AllocateHead(r.file); err != nil {
		return err
	}
	if err := r.rename(random, memory); err != nil {
		return err
	}
	if err := r.file.Sync(); err != nil {
		return err
	}
	if _, err := r.file.WriteAt(r.block, table.SuperAddr(0)); err != nil {
		return err
	}
	return r.file.Sync()
}

// rename gives the store a name of its own, which the table has as well. Two
// restores of one copy are two stores: the increments and the archive of one must
// not be taken for those of the other.
func (r *restoring) rename(random env.Random, memory int64) error {
	pool := slab.New(memory)
	defer pool.Close()
	old, err := datafile.LoadTable(r.file, r.super, pool)
	if err != nil {
		var bad *table.Corrupt
		if errors.As(err, &bad) {
			err = r.bad("the table of the store", err.Error())
		}
		return err
	}
	for i := range 2 {
		binary.LittleEndian.PutUint64(r.super.UUID[8*i:], random.Uint64())
	}
	t := table.New(r.super.UUID)
	for _, o := range old.Objects() {
		t.Put(o)
	}
	if n := len(r.super.Chunks); n != 1 || int(r.super.Chunks[0].Len) != t.Size() {
		return r.bad(fmt.Sprintf("a table in one chunk of %d bytes", t.Size()), fmt.Sprintf("%d chunks", n))
	}
	c := &r.super.Chunks[0]
	chunk := t.Full(nil, c.Seq)
	c.CRC = table.Checksum(chunk)
	table.EncodeSuper(r.block, r.super)
	_, err = r.file.WriteAt(chunk, c.Addr)
	return err
}

// ReadMark reads the Mark of a copy: from the copy itself, which it checks
// completely, or from the output of Mark.Write.
func ReadMark(in io.Reader) (*Mark, error) {
	r := restoring{ctx: context.Background(), which: 1, in: stream.NewReader(in)}
	m, err := r.begin()
	if err != nil {
		return nil, fmt.Errorf("read a copy: %w", err)
	}
	if m.id, _, err = r.body(&m, func(uint32, []byte) error { return nil }); err != nil {
		return nil, fmt.Errorf("read a copy: %w", err)
	}
	return &m, nil
}

// nameOnly replaces the merger of a store when no values are merged: only the store's
// program has the merger itself.
type nameOnly string

// Name implements Merger.
func (n nameOnly) Name() string { return string(n) }

// Combine implements Merger.
func (nameOnly) Combine(dst, _, _, newer []byte) []byte { return append(dst, newer...) }

// Apply implements Merger.
func (nameOnly) Apply(dst, _, _ []byte, _ bool, operand []byte) []byte {
	return append(dst, operand...)
}

// examineFile reads a data file that has one superblock, and checks everything to
// which that leads.
func examineFile(ctx context.Context, world env.Env, name string, o Options) error {
	o, err := o.Complete(world)
	if err != nil {
		return err
	}
	db := newDB(world, path.Dir(name), o)
	defer func() { _ = db.shut(nil) }() // nothing was written
	r := &recovery{db: db}
	if db.files.data, db.files.direct, err = db.files.open(name, false); err != nil {
		return err
	}
	if _, err := r.readSupers(); err != nil {
		return explain(err)
	}
	if err := r.loadTree(); err != nil {
		return explain(err)
	}
	var report Report
	db.tree.root().Branches(func(b *trunk.Branch) {
		if err == nil {
			err = db.examineBranch(ctx, b, db.files.data, &report, func(int64) error { return nil })
		}
	})
	return cmp.Or(err, report.Err())
}
