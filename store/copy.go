// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Checkpoint copies the store to another directory of the same disk, in the state
// when all changes before the call are in the tree; the store may be used
// meanwhile. The copy is an independent store. When Checkpoint returns nil, the
// copy is complete and durable, and Checkpoint has read all its blocks and large
// values again and checked them as Verify does. After an error the copy is
// useless. Damage of the store is an ErrCorrupt, and no copy is made. Pages keep
// their places, so that the copy has holes where the store has free pages. The
// directory must be absent, or empty except for a lock file; Checkpoint holds its
// lock.
func (db *DB) Checkpoint(dir string) error {
	if err := db.Flush(); err != nil {
		return err
	}
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return err
	}
	if err := db.checkpointTo(s, dir); err != nil {
		return fmt.Errorf("checkpoint to %s: %w", dir, err)
	}
	return nil
}

// checkpointTo keeps other programs, and other calls, from the directory.
func (db *DB) checkpointTo(s *state, dir string) (err error) {
	if err := db.files.disk.MakeDir(dir); err != nil {
		return err
	}
	lock, err := lockDir(db.files.disk, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	names, err := db.files.disk.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != datafile.New && name != datafile.Lock {
			return fmt.Errorf("the directory has a file %q: give an empty directory", name)
		}
	}
	return db.copyTo(s, dir)
}

func (db *DB) copyTo(s *state, dir string) error {
	fresh := path.Join(dir, datafile.New)
	f, _, err := db.files.open(fresh, true)
	if err != nil {
		return err
	}
	if err = db.copyData(s, f); err == nil {
		err = db.verifyCopy(s, f)
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		return cmp.Or(err, db.files.disk.Remove(fresh))
	}
	if err := db.files.disk.Rename(fresh, path.Join(dir, datafile.Name)); err != nil {
		return err
	}
	return cmp.Or(db.files.disk.SyncDir(dir), db.files.disk.SyncDir(path.Dir(dir)))
}

// verifyCopy reads the branches of a copy from the file of the copy.
func (db *DB) verifyCopy(s *state, f env.File) error {
	var report Report
	var failed error
	s.root.Branches(func(b *trunk.Branch) {
		if failed != nil {
			return
		}
		o := db.branchOptions(forTable, false)
		o.File, o.Resident = f, 0 // the cache is for the store's own file
		index, err := branch.OpenIndex(o, &b.Meta)
		if err != nil {
			failed = explain(err)
			return
		}
		defer index.Close()
		failed = db.examineBranch(context.Background(), trunk.NewBranch(b.Meta, index), f, &report, func(int64) error { return db.open() })
	})
	return cmp.Or(failed, report.Err())
}

func (db *DB) copyData(s *state, f env.File) error {
	super := db.copySuper(s)
	var failed error
	buf, ok := db.pool.Alloc(blobPiece)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, blobPiece)
	}
	defer db.pool.Free(buf)
	if err := f.Truncate(int64(super.Pages) * extent.PageSize); err != nil {
		return err
	}
	if err := datafile.AllocateHead(f); err != nil {
		return err
	}
	s.root.Branches(func(b *trunk.Branch) {
		for _, r := range append(append([]extent.Run{b.Meta.IndexRun()}, b.Meta.Runs...), b.Meta.Blobs...) {
			if failed == nil {
				failed = cmp.Or(backGranules(f, r, super.Pages), db.copyRun(f, r, buf))
			}
		}
	})
	if failed != nil {
		return failed
	}
	t := db.copyTable(s, super)
	image, ok := db.pool.Alloc(t.Size() + table.SuperSize)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, t.Size())
	}
	defer db.pool.Free(image)
	return writeCopy(f, image, t, super)
}

// copyTable is the table of a copy.
func (db *DB) copyTable(s *state, super table.Superblock) *table.Table {
	t := table.New(super.UUID)
	s.root.Branches(func(b *trunk.Branch) {
		t.Put(table.Object{ID: b.Meta.ID, Kind: table.Branch, Epoch: b.Meta.Epoch, Body: b.Meta.Append(nil)})
	})
	s.root.Nodes(func(n *trunk.Node) {
		kind := table.Node
		if n == s.root {
			kind = table.Root
		}
		t.Put(table.Object{ID: n.ID, Kind: kind, Epoch: super.Epoch, Body: n.Append(nil)})
	})
	return t
}

// copySuper is the superblock of a copy, except for the table.
func (db *DB) copySuper(s *state) table.Superblock {
	pages, _, _ := db.space.pages()
	uuid, merger := db.identity()
	db.mu.Lock()
	last := db.tree.lastID()
	db.mu.Unlock()
	super := table.Superblock{
		UUID: uuid, Seq: 1, Cut: uint64(s.newest()), Segment: 1, NextID: last, Pages: pages,
		Merger: merger, Clean: true, Epoch: db.life.epoch, Life: db.life.number(), Features: db.spaces.features(),
	}
	// A name of its own, which includes the number of the copy: the journals of
	// the two stores must never be confused.
	mix := db.life.session ^ (db.copies.Add(1) * 0x9e3779b97f4a7c15)
	for i := range 2 {
		binary.LittleEndian.PutUint64(super.UUID[8*i:], binary.LittleEndian.Uint64(super.UUID[8*i:])^mix)
	}
	return super
}

// identity is the store's, as superblocks have it.
func (db *DB) identity() (uuid [16]byte, merger string) {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	return db.checkpoints.identity()
}

func (db *DB) copyRun(f env.File, r extent.Run, buf []byte) error {
	for at := int64(0); at < r.Bytes(); at += int64(len(buf)) {
		piece := buf[:min(int64(len(buf)), r.Bytes()-at)]
		if err := datafile.ReadFull(db.files.data, piece, r.Addr()+at); err != nil {
			return err
		}
		if _, err := f.WriteAt(piece, r.Addr()+at); err != nil {
			return err
		}
	}
	return nil
}

// copyTarget is the destination of a copy: a data file, or a stream.
type copyTarget interface {
	io.WriterAt
	Sync() error
}

// writeCopy writes the table after everything else, and then the superblock. The buffer
// has room for both.
func writeCopy(f copyTarget, buf []byte, t *table.Table, super table.Superblock) error {
	size := t.Size()
	chunk := t.Full(buf[:0:size], super.Seq)
	at := int64(super.Pages) * extent.PageSize
	run := extent.Run{Page: super.Pages, Pages: uint32(size / extent.PageSize)}
	if err := backGranules(f, run, uint32(run.End())); err != nil {
		return err
	}
	if _, err := f.WriteAt(chunk, at); err != nil {
		return err
	}
	super.Pages += uint32(size / extent.PageSize)
	super.Chunks = []table.Chunk{{Loc: table.Loc{Addr: at, Len: uint32(size), CRC: table.Checksum(chunk)}, Full: true, Seq: super.Seq}}
	block := buf[size:]
	table.EncodeSuper(block, super)
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.WriteAt(block, table.SuperAddr(0)); err != nil {
		return err
	}
	return f.Sync()
}

// backGranules allocates the granules of a run, in a file of that many pages:
// recovery assumes that the free pages of a partly used granule have room on the
// disk.
func backGranules(f copyTarget, r extent.Run, pages uint32) error {
	s, ok := f.(env.SpaceFile)
	if !ok {
		return nil
	}
	from := int64(r.Page) / granule * granule
	to := min((int64(r.End())+granule-1)/granule*granule, int64(pages))
	return s.Allocate(from*extent.PageSize, (to-from)*extent.PageSize)
}
