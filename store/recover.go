// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"path"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/cache"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Recovery reads the newer valid superblock, the table to which it leads, the index
// of each branch, and then the segments of the journal from the one that the
// superblock names, each straight into the arena of a memtable. It writes nothing
// new: a crash during recovery leaves the same state. It syncs the data file before
// anything is written, because the superblock that it has found may be from a life
// that ended before its sync, and everything from now on relies on it; the same
// holds for names of files, and for the journal, whose first sync includes the
// frames that were read.

// Open opens the store in a directory, or makes one if there is none. When it
// returns, everything that was durable is readable. An ErrCorrupt describes the
// damage; repair.Store may help. The caller must close the DB.
//
// The world must have a Disk, a Clock and, except with ReadOnly, a Random: for
// example that of osenv.New with the Disk of osenv.OpenDisk.
func Open(world env.Env, dir string, o Options) (*DB, error) {
	o, err := o.Complete(world)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	db := newDB(world, dir, o)
	if err := (&recovery{db: db}).recover(world); err != nil {
		err = fmt.Errorf("open store %s: %w", dir, explain(err))
		_ = db.shut(nil)
		return nil, err
	}
	if err := db.nameMerger(); err != nil {
		err = fmt.Errorf("open store %s: %w", dir, err)
		_ = db.shut(nil)
		return nil, err
	}
	db.notices.start()
	db.work.start()
	return db, nil
}

// nameMerger puts the name of a store's first merger into a superblock, before
// there are messages in the journal that only this merger understands.
func (db *DB) nameMerger() error {
	if db.checkpoints.isNamed() || db.opt.ReadOnly {
		return nil
	}
	return db.checkpoint()
}

func newDB(world env.Env, dir string, o Options) *DB {
	db := &DB{
		opt: o, files: files{disk: world.Disk, dir: dir}, clock: world.Clock, tracer: world.Tracer, log: o.Log,
		crc: crc32.MakeTable(crc32.Castagnoli), pool: slab.New(o.poolBytes()), coder: new(block.Coder),
	}
	db.mu.SetRank(rankDB, "DB")
	db.spaces.init(db)
	if o.Merger != nil {
		db.opt.Merger = userMerger{o.Merger, &db.spaces}
	}
	db.writer.init(db)
	db.tree.init(db)
	db.checkpoints.init(db)
	db.journal.init(db)
	db.history.init(db)
	db.kept.init()
	db.gone.init()
	db.pacing.init(db)
	db.notices.init(db)
	db.rate.init(db.clock)
	db.room.init()
	db.readers.init()
	db.views.init()
	db.durable.init()
	db.work.init(db)
	db.pool.OnShortage(db.relieve)
	if db.tracer == nil {
		db.tracer = env.NoTrace{}
	}
	_, silent := db.tracer.(env.NoTrace)
	db.traced = !silent
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	return db
}

// recovery is a running Open: what it has found on the disk.
type recovery struct {
	db    *DB
	super table.Superblock // the newer one
	slot  int              // its place
	image []byte           // as it was found, to be written again; nil: that is not necessary
	table *table.Table
	older table.Features // of the other one, if it is valid
	// unnamed reports that no superblock has the name of the merger.
	unnamed bool
}

func (r *recovery) recover(world env.Env) error {
	db := r.db
	if !db.opt.ReadOnly {
		if err := db.files.disk.MakeDir(db.files.dir); err != nil {
			return err
		}
		if d, ok := db.files.disk.(env.LockDisk); ok {
			lock, err := d.Lock(path.Join(db.files.dir, datafile.Lock))
			if err != nil {
				return err
			}
			db.files.lock = lock
		}
	} else if err := r.lockShared(); err != nil {
		return err
	}
	for db.life.session == 0 && world.Random != nil {
		db.life.session = world.Random.Uint64()
	}
	if err := r.openData(world); err != nil {
		return err
	}
	older, err := r.readSupers()
	if err != nil {
		return err
	}
	if err := r.loadTree(); err != nil {
		return err
	}
	if older != nil {
		r.keepOlder(older)
	}
	if !db.opt.ReadOnly {
		if err := r.syncFound(); err != nil {
			return err
		}
	}
	db.cache = cache.New(db.pool, db.cacheBytes())
	return r.replay()
}

// lockShared keeps writers out while the store is open for reading only. A store
// without a lock file was never opened by a writer in this place, or cannot be:
// a copy, or an image of a disk.
func (r *recovery) lockShared() error {
	db := r.db
	d, ok := db.files.disk.(env.SharedLockDisk)
	if !ok {
		return nil
	}
	lock, err := d.LockShared(path.Join(db.files.dir, datafile.Lock))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	db.files.lock = lock
	return nil
}

// openData opens the data file, and makes it if the directory has none. A new
// file gets its name when it is complete.
func (r *recovery) openData(world env.Env) error {
	db := r.db
	name := path.Join(db.files.dir, datafile.Name)
	f, direct, err := db.files.open(name, false)
	if errors.Is(err, fs.ErrNotExist) && !db.opt.ReadOnly {
		if err := datafile.CompleteRepair(db.files.disk, db.files.dir); err != nil {
			return fmt.Errorf("complete an interrupted repair: %w", err)
		}
		f, direct, err = db.files.open(name, false)
	}
	if errors.Is(err, fs.ErrNotExist) && !db.opt.ReadOnly {
		if err := r.create(world); err != nil {
			return fmt.Errorf("make %s: %w", datafile.Name, err)
		}
		f, direct, err = db.files.open(name, false)
	}
	if err != nil {
		return err
	}
	db.files.data, db.files.direct = f, direct
	return nil
}

// create makes a data file with the superblock of an empty store.
func (r *recovery) create(world env.Env) error {
	db := r.db
	names, err := db.files.disk.List(db.files.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != datafile.Lock && name != datafile.New {
			return fmt.Errorf("the directory has a file %q but no %s: it is not a store, or its data file is lost", name, datafile.Name)
		}
	}
	fresh := path.Join(db.files.dir, datafile.New)
	f, _, err := db.files.open(fresh, true)
	if err != nil {
		return err
	}
	super := table.Superblock{Seq: 1, Segment: 1, NextID: 0, Pages: table.FirstPage, Clean: true, Life: db.life.number()}
	if db.opt.Merger != nil {
		super.Merger = db.opt.Merger.Name()
	}
	binary.LittleEndian.PutUint64(super.UUID[:], world.Random.Uint64())
	binary.LittleEndian.PutUint64(super.UUID[8:], world.Random.Uint64())
	err = r.writeNew(f, super)
	err = cmp.Or(err, f.Close())
	if err != nil {
		return err
	}
	return db.files.disk.Rename(fresh, path.Join(db.files.dir, datafile.Name))
}

func (r *recovery) writeNew(f env.File, super table.Superblock) error {
	db := r.db
	buf, ok := db.pool.Alloc(table.SuperSize)
	if !ok {
		return ErrMemory
	}
	defer db.pool.Free(buf)
	if err := f.Truncate(table.FirstPage * extent.PageSize); err != nil {
		return err
	}
	if err := datafile.AllocateHead(f); err != nil {
		return err
	}
	table.EncodeSuper(buf, super)
	if _, err := f.WriteAt(buf, table.SuperAddr(0)); err != nil {
		return err
	}
	return f.Sync()
}

// readSupers chooses the superblock, and returns the other one if it is its
// predecessor.
func (r *recovery) readSupers() (*table.Superblock, error) {
	db := r.db
	buf, ok := db.pool.Alloc(2 * table.SuperSize)
	if !ok {
		return nil, ErrMemory
	}
	defer db.pool.Free(buf)
	var slots [2][]byte
	for i := range slots {
		slots[i] = buf[i*table.SuperSize : (i+1)*table.SuperSize]
		if err := datafile.ReadFull(db.files.data, slots[i], table.SuperAddr(i)); err != nil {
			// It may be the newer one, without which changes that were promised would
			// silently be missing. A torn superblock can be
			// read.
			return nil, fmt.Errorf("superblock %d: %w", i, err)
		}
	}
	super, which, err := table.Choose(slots[0], slots[1])
	if err != nil {
		var version *table.VersionError
		if errors.As(err, &version) {
			return nil, err
		}
		return nil, &CorruptError{File: datafile.Name, Want: "a superblock", Found: err.Error()}
	}
	name := ""
	if db.opt.Merger != nil {
		name = db.opt.Merger.Name()
	}
	if name != super.Merger && super.Merger != "" {
		return nil, fmt.Errorf("%w: the store was made with %q and opened with %q", ErrMerger, super.Merger, name)
	}
	r.unnamed = super.Merger != name
	super.Merger = name
	if !db.files.direct && !db.opt.ReadOnly {
		r.image = bytes.Clone(slots[which])
	}
	r.super, r.slot, db.life.epoch = super, which, super.Epoch+1
	db.tree.resume(super.NextID)
	db.life.uuid, db.life.store = super.UUID, datafile.StoreID(super.UUID)
	other, err := table.DecodeSuper(slots[1-which])
	switch {
	case err == nil && other.Seq+1 == super.Seq:
		r.older = other.Features
		return &other, nil
	case super.Seq > 1:
		db.tracer.Trace(env.Mark("store.recover.one-superblock"))
	}
	return nil, nil
}

// readChunk reads a chunk of the table.
func (r *recovery) readChunk(l table.Loc) ([]byte, error) {
	return datafile.Chunk(r.db.files.data, l, r.db.pool)
}

// loadTree reads the table, and builds the tree that it describes.
func (r *recovery) loadTree() error {
	db := r.db
	end := r.super.Pages
	if size, err := db.files.data.Size(); err != nil {
		return err
	} else if size < int64(end)*extent.PageSize {
		return &CorruptError{File: datafile.Name, Offset: size, Want: fmt.Sprintf("%d bytes", int64(end)*extent.PageSize), Found: fmt.Sprintf("%d", size)}
	} else {
		end = uint32(min(size/extent.PageSize, 1<<32-2))
	}
	db.space = newSpace(db.files.data, end, r.super.Seq)
	t, err := table.Load(r.super, r.readChunk)
	if err != nil {
		var bad *table.Corrupt
		if errors.As(err, &bad) {
			return &CorruptError{File: datafile.Name, Want: "the table of the store", Found: err.Error()}
		}
		return err
	}
	r.table = t
	for _, c := range r.super.Chunks {
		if err := db.space.reserve(extent.RunOf(c.Addr, int64(c.Len))); err != nil {
			return &CorruptError{File: datafile.Name, Offset: c.Addr, Want: "pages that only the table uses", Found: err.Error()}
		}
	}
	var root uint64
	var metas []branch.Meta
	for _, o := range t.Objects() {
		switch o.Kind {
		case table.Branch:
			meta, err := r.metaOf(o)
			if err != nil {
				return err
			}
			metas = append(metas, meta)
		case table.Root:
			root = o.ID
		}
	}
	// The shortest indexes are read most in proportion to their memory.
	slices.SortFunc(metas, func(a, b branch.Meta) int { return cmp.Compare(a.Index.Len, b.Index.Len) })
	for i := range metas {
		if err := r.loadBranch(&metas[i]); err != nil {
			return err
		}
	}
	if root == 0 {
		db.tree.load(nil)
		return nil
	}
	node, err := trunk.Decode(root, source{r})
	if err != nil {
		return &CorruptError{File: datafile.Name, Want: "a trunk", Found: err.Error()}
	}
	db.tree.load(node)
	used := map[uint64]bool{}
	node.Branches(func(b *trunk.Branch) { used[b.Meta.ID] = true })
	if len(used) != len(db.tree.all()) {
		return &CorruptError{File: datafile.Name, Want: "branches that the trunk refers to", Found: fmt.Sprintf("%d branches, of which it refers to %d", len(db.tree.all()), len(used))}
	}
	return nil
}

func (r *recovery) metaOf(o table.Object) (branch.Meta, error) {
	meta, err := branch.DecodeMeta(o.Body)
	if err == nil && meta.ID != o.ID {
		err = fmt.Errorf("branch %d instead of %d", meta.ID, o.ID)
	}
	if err != nil {
		err = &CorruptError{File: datafile.Name, Branch: o.ID, Want: "a branch", Found: err.Error()}
	}
	return meta, err
}

func (r *recovery) loadBranch(meta *branch.Meta) error {
	db := r.db
	for _, r := range append([]extent.Run{meta.IndexRun()}, meta.Runs...) {
		if err := db.space.reserve(r); err != nil {
			return &CorruptError{File: datafile.Name, Offset: r.Addr(), Branch: meta.ID, Want: "pages that only this branch uses", Found: err.Error()}
		}
	}
	index, err := branch.OpenIndex(db.branchOptions(forTable, true), meta)
	if err != nil {
		return err
	}
	b := trunk.NewBranch(*meta, index)
	db.tree.found(b)
	db.indexBytes.Add(int64(index.Memory()))
	for _, r := range meta.Blobs {
		if err := db.space.found(r); err != nil {
			return &CorruptError{File: datafile.Name, Offset: r.Addr(), Branch: meta.ID, Want: "pages of a large value", Found: err.Error()}
		}
	}
	return nil
}

// source gives the trunk the branches to which it refers.
type source struct{ *recovery }

func (s source) Node(id uint64) ([]byte, bool) {
	o, ok := s.table.Get(id)
	return o.Body, ok && (o.Kind == table.Node || o.Kind == table.Root)
}

func (s source) Branch(id uint64) (*trunk.Branch, bool) {
	return s.db.tree.branch(id)
}

// keepOlder retires what only the older superblock refers to, so that it stays
// complete until the next superblock is durable.
func (r *recovery) keepOlder(older *table.Superblock) {
	db := r.db
	old, err := table.Load(*older, r.readChunk)
	if err != nil {
		db.log.Warn("the table of the older superblock is damaged", "error", err)
		return
	}
	for _, c := range older.Chunks {
		db.space.foundOlder(extent.RunOf(c.Addr, int64(c.Len)))
	}
	for _, o := range old.Objects() {
		if _, both := db.tree.branch(o.ID); both || o.Kind != table.Branch {
			continue
		}
		meta, err := branch.DecodeMeta(o.Body)
		if err != nil {
			continue
		}
		for _, run := range append(append(meta.Blobs, meta.IndexRun()), meta.Runs...) {
			db.space.foundOlder(run)
		}
	}
}

// replay reads the journal into memtables.
func (r *recovery) replay() error {
	db := r.db
	buffer := min(1<<20, max(db.opt.Tuning.MemtableBytes/4, 4096)&^4095)
	w, err := r.readWitness()
	if err != nil {
		return err
	}
	log, err := db.journal.open(buffer, w)
	if err != nil {
		return err
	}
	var mems []*mem // oldest first
	var now *mem
	session := r.super.Chain.Session
	drop := func() {
		if now != nil && now.table.Len() == 0 {
			mems = mems[:len(mems)-1]
			db.unrefMem(now)
		}
		now = nil
	}
	chain := journal.ChainState{
		Segment: r.super.Segment, Prev: r.super.Chain.Prev, Session: session, Next: message.Seq(r.super.Cut) + 1,
	}
	end, err := log.Replay(chain, func(info journal.SegmentInfo, size int) ([]byte, func(journal.Header, int, int) error, error) {
		drop()
		m := db.newMem(info.Number, info.First, size)
		if m == nil {
			return nil, nil, fmt.Errorf("%w: the journal has a segment of %d bytes: open the store with more memory", ErrMemory, size)
		}
		m.recovered, m.full, m.chain = true, true, table.Chain{Prev: info.Prev, Session: session}
		now, mems = m, append(mems, m)
		return m.arena, func(h journal.Header, off, end int) error {
			session = info.Session
			return r.replayFrame(m, h, off, end)
		}, nil
	})
	drop()
	db.writer.add(mems...) // so that their memory is freed whatever happens
	if err != nil {
		var bad *journal.Corrupt
		if errors.As(err, &bad) {
			return &CorruptError{File: bad.File, Offset: bad.Offset, Want: bad.Want, Found: bad.Error()}
		}
		return err
	}
	if len(mems) > 0 {
		db.tracer.Trace(env.Mark("store.recover.replay"))
	}
	return r.begin(mems, end)
}

// begin begins the life of the store with the memtables that recovery has read from
// the journal, up to its end.
func (r *recovery) begin(mems []*mem, end journal.ChainState) error {
	db, cut := r.db, message.Seq(r.super.Cut)
	db.spaces.resume(r.super.Features, r.older)
	db.checkpoints.resume(r.super, r.slot, r.table, r.unnamed)
	last := end.Next - 1
	db.writer.resume(last)
	db.journal.resume(end, cut)
	if db.space.isSettled() {
		db.durable.reach(cut)
	}
	if err := db.history.find(cut); err != nil {
		return fmt.Errorf("find the history: %w", err)
	}
	size := db.opt.Tuning.MemtableBytes
	if db.opt.ReadOnly {
		size = MemtableMin
	}
	active := db.newMem(end.Segment, last+1, size)
	if active == nil {
		return fmt.Errorf("%w: no room for a memtable of %d bytes besides the %d that were recovered: open the store with more memory", ErrMemory, size, len(mems))
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.writer.add(active)
	newestFirst := []*mem{active}
	for i := len(mems) - 1; i >= 0; i-- {
		newestFirst = append(newestFirst, mems[i])
	}
	for _, m := range mems {
		m.keep = db.memKeep(m.table.Pos(), m.table.Len())
	}
	if !db.opt.ReadOnly {
		db.space.unknown()
		db.space.setFloor(r.table.Size())
	}
	db.publish(newestFirst)
	db.trace(func() env.Event {
		return Opened{Superblock: r.super.Seq, Slot: r.slot, Cut: r.super.Cut, Version: uint64(last)}
	})
	return nil
}

// replayFrame takes the messages of a frame into the memtable.
func (r *recovery) replayFrame(m *mem, h journal.Header, off, end int) error {
	if !m.table.Skip(off + journal.HeaderSize) {
		return fmt.Errorf("the frame at %d is outside the segment", off)
	}
	m.spans = append(m.spans, span{off + journal.HeaderSize, off + int(h.Len), h.First})
	next := h.First
	var bad error
	err := m.table.Load(off+journal.HeaderSize, off+int(h.Len), func(msg message.Message) {
		if msg.Seq != next && bad == nil {
			bad = fmt.Errorf("change %d instead of %d", msg.Seq, next)
		}
		next++
		if msg.Kind == message.Blob {
			ref, ok := message.DecodeBlobRef(msg.Value)
			if !ok {
				bad = fmt.Errorf("change %d does not encode a reference to a large value", msg.Seq)
				return
			}
			run := extent.RunOf(ref.Addr, int64(ref.Len))
			if err := r.db.space.found(run); err != nil {
				bad = err
				return
			}
			m.blobs = append(m.blobs, run)
		}
	})
	if err = cmp.Or(err, bad); err != nil {
		return &CorruptError{File: fmt.Sprintf("segment %d of the journal", m.number), Offset: int64(off), Want: "changes", Found: err.Error()}
	}
	return nil
}
