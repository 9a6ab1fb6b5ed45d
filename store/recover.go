package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"path"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/block"
	"github.com/ashlar-dev/ashlar/store/branch"
	"github.com/ashlar-dev/ashlar/store/cache"
	"github.com/ashlar-dev/ashlar/store/extent"
	"github.com/ashlar-dev/ashlar/store/journal"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/slab"
	"github.com/ashlar-dev/ashlar/store/table"
	"github.com/ashlar-dev/ashlar/store/trunk"
)

// Recovery reads the newer valid superblock, the table to which it leads, the
// index of each branch, and then the segments of the journal from the one that
// the superblock names, each straight into the arena of a memtable. It writes
// nothing: a crash while it works leaves what it found. It syncs the data file
// before anything is written, since the superblock that it has found may have
// been written by a life that ended before its sync, and what is done from now
// on relies on it; so may names of files. The same goes for the journal, whose
// first sync is for what was read as well.

// Open opens the store in a directory, or makes one if there is none. When it
// returns, everything that was durable is readable. An ErrCorrupt describes the
// damage; Repair may help. The caller must close the DB.
//
// The world must have a Disk, a Clock and, except with ReadOnly, a Random: for
// example that of osenv.New with the Disk of osenv.OpenDisk.
func Open(world env.Env, dir string, o Options) (*DB, error) {
	o, err := o.complete()
	if err == nil {
		err = checkWorld(world, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	db := newDB(world, dir, o)
	if err := db.recover(world); err != nil {
		err = fmt.Errorf("open store %s: %w", dir, explain(err))
		_ = db.shut(nil)
		return nil, err
	}
	if err := db.nameMerger(); err != nil {
		err = fmt.Errorf("open store %s: %w", dir, err)
		_ = db.shut(nil)
		return nil, err
	}
	db.startWorkers()
	return db, nil
}

// checkWorld returns an error if the world lacks what a store needs.
func checkWorld(world env.Env, o Options) error {
	if err := checkDisk(world.Disk); err != nil {
		return err
	}
	if world.Clock == nil {
		return errors.New("the env.Env has no Clock: take the Env of osenv.New, or set it to osenv.NewClock()")
	}
	if world.Random == nil && !o.ReadOnly {
		return errors.New("the env.Env has no Random: take the Env of osenv.New, or set it to osenv.NewRandom()")
	}
	return nil
}

func checkDisk(disk env.Disk) error {
	if disk == nil {
		return errors.New("the env.Env has no Disk: set it to the one of osenv.OpenDisk(directory)")
	}
	return nil
}

// nameMerger puts the name of a store's first merger into a superblock, before
// there are messages in the journal that only this merger understands.
func (db *DB) nameMerger() error {
	if !db.mergerIsNew || db.opt.ReadOnly {
		return nil
	}
	db.cmu.Lock()
	defer db.cmu.Unlock()
	return db.checkpoint(false)
}

func newDB(world env.Env, dir string, o Options) *DB {
	db := &DB{
		opt: o, dir: dir, disk: world.Disk, clock: world.Clock, tracer: world.Tracer, log: o.Log,
		castagnoli: crc32.MakeTable(crc32.Castagnoli), pool: slab.New(o.poolBytes()), coder: new(block.Coder),
		branches: map[uint64]*trunk.Branch{}, views: newViews(),
	}
	db.pool.OnShortage(db.relieve)
	if db.tracer == nil {
		db.tracer = env.NoTrace{}
	}
	_, silent := db.tracer.(env.NoTrace)
	db.traced = !silent
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	db.work, db.flushed, db.idle = sync.NewCond(&db.mu), sync.NewCond(&db.mu), sync.NewCond(&db.mu)
	db.durable.init()
	db.working = o.Tuning.Workers
	return db
}

func (db *DB) recover(world env.Env) error {
	if !db.opt.ReadOnly {
		if err := db.disk.MakeDir(db.dir); err != nil {
			return err
		}
		if d, ok := db.disk.(env.LockDisk); ok {
			lock, err := d.Lock(path.Join(db.dir, lockFile))
			if err != nil {
				return err
			}
			db.lock = lock
		}
	} else if err := db.lockShared(); err != nil {
		return err
	}
	for db.session == 0 && world.Random != nil {
		db.session = world.Random.Uint64()
	}
	if err := db.openData(world); err != nil {
		return err
	}
	older, err := db.readSupers()
	if err != nil {
		return err
	}
	if err := db.loadTree(); err != nil {
		return err
	}
	if older != nil {
		db.keepOlder(older)
	}
	if !db.opt.ReadOnly {
		if err := db.syncFound(); err != nil {
			return err
		}
	}
	db.cache = cache.New(db.pool, db.cacheBytes())
	return db.replay()
}

// lockShared keeps writers out while the store is open for reading only. A store
// without a lock file was never opened by a writer in this place, or cannot be:
// a copy, or an image of a disk.
func (db *DB) lockShared() error {
	d, ok := db.disk.(env.SharedLockDisk)
	if !ok || db.opt.locked {
		return nil
	}
	lock, err := d.LockShared(path.Join(db.dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	db.lock = lock
	return nil
}

// syncFound makes durable what recovery relies on, whichever life it is from:
// the data file, its name, and that of the directory.
func (db *DB) syncFound() error {
	if err := db.data.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dataFile, err)
	}
	if err := db.disk.SyncDir(db.dir); err != nil {
		return err
	}
	return db.disk.SyncDir(path.Dir(db.dir))
}

// openData opens the data file, and makes it if the directory has none. A new
// file gets its name when it is complete.
func (db *DB) openData(world env.Env) error {
	name := path.Join(db.dir, dataFile)
	f, direct, err := db.openFile(name, false)
	if errors.Is(err, fs.ErrNotExist) && !db.opt.ReadOnly {
		if err := completeRepair(db.disk, db.dir); err != nil {
			return fmt.Errorf("complete a repair: %w", err)
		}
		f, direct, err = db.openFile(name, false)
	}
	if errors.Is(err, fs.ErrNotExist) && !db.opt.ReadOnly {
		if err := db.create(world); err != nil {
			return fmt.Errorf("make %s: %w", dataFile, err)
		}
		f, direct, err = db.openFile(name, false)
	}
	if err != nil {
		return err
	}
	db.data, db.direct = f, direct
	return nil
}

func (db *DB) openFile(name string, create bool) (env.File, bool, error) {
	if d, ok := db.disk.(env.DirectDisk); ok {
		return d.OpenDirect(name, create)
	}
	f, err := db.disk.Open(name, create)
	return f, false, err
}

// create makes a data file with the superblock of an empty store.
func (db *DB) create(world env.Env) error {
	names, err := db.disk.List(db.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != lockFile && name != dataNew {
			return fmt.Errorf("directory has %q, but no %s: not a store, or one that lost it", name, dataFile)
		}
	}
	fresh := path.Join(db.dir, dataNew)
	f, _, err := db.openFile(fresh, true)
	if err != nil {
		return err
	}
	super := table.Superblock{Seq: 1, Segment: 1, NextID: 0, Pages: table.FirstPage, Clean: true, Life: db.life()}
	if db.opt.Merger != nil {
		super.Merger = db.opt.Merger.Name()
	}
	binary.LittleEndian.PutUint64(super.UUID[:], world.Random.Uint64())
	binary.LittleEndian.PutUint64(super.UUID[8:], world.Random.Uint64())
	err = db.writeNew(f, super)
	err = first(err, f.Close())
	if err != nil {
		return err
	}
	return db.disk.Rename(fresh, path.Join(db.dir, dataFile))
}

// life is a number that no other life of the store has.
func (db *DB) life() uint64 { return db.session & table.LifeMax }

func (db *DB) writeNew(f env.File, super table.Superblock) error {
	buf, ok := db.pool.Alloc(table.SuperSize)
	if !ok {
		return ErrMemory
	}
	defer db.pool.Free(buf)
	if err := f.Truncate(table.FirstPage * extent.PageSize); err != nil {
		return err
	}
	if err := allocateSecondSuper(f); err != nil {
		return err
	}
	table.EncodeSuper(buf, super)
	if _, err := f.WriteAt(buf, superAddr(0)); err != nil {
		return err
	}
	return f.Sync()
}

// readSupers chooses the superblock, and answers the other one if it is its
// predecessor.
func (db *DB) readSupers() (*table.Superblock, error) {
	buf, ok := db.pool.Alloc(2 * table.SuperSize)
	if !ok {
		return nil, ErrMemory
	}
	defer db.pool.Free(buf)
	var slots [2][]byte
	for i := range slots {
		slots[i] = buf[i*table.SuperSize : (i+1)*table.SuperSize]
		if err := readFull(db.data, slots[i], superAddr(i)); err != nil {
			// It may be the newer one, without which what was promised would be
			// missing and nobody would know. A superblock that is torn can be
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
		return nil, &CorruptError{File: dataFile, Want: "a superblock", Found: err.Error()}
	}
	name := ""
	if db.opt.Merger != nil {
		name = db.opt.Merger.Name()
	}
	if name != super.Merger && super.Merger != "" {
		return nil, fmt.Errorf("%w: the store was made with %q, opened with %q", ErrMerger, super.Merger, name)
	}
	db.mergerIsNew = super.Merger != name
	super.Merger = name
	db.super, db.slot, db.epoch, db.nextID = super, which, super.Epoch+1, super.NextID
	db.name = binary.LittleEndian.Uint64(super.UUID[:])
	other, err := table.DecodeSuper(slots[1-which])
	switch {
	case err == nil && other.Seq+1 == super.Seq:
		return &other, nil
	case super.Seq > 1:
		db.tracer.Trace(env.Mark("store.recover.one-superblock"))
	}
	return nil, nil
}

// readChunk reads a chunk of the table into memory of the heap: tables are
// small beside what they list.
func (db *DB) readChunk(l table.Loc) ([]byte, error) {
	buf, ok := db.pool.Alloc(int(l.Len))
	if !ok {
		return nil, fmt.Errorf("%w: no buffer of %d bytes for the table", ErrMemory, l.Len)
	}
	defer db.pool.Free(buf)
	if err := readFull(db.data, buf, l.Addr); err != nil {
		return nil, err
	}
	return append([]byte(nil), buf...), nil
}

// loadTree reads the table, and builds the tree that it describes.
func (db *DB) loadTree() error {
	end := db.super.Pages
	if size, err := db.data.Size(); err != nil {
		return err
	} else if size < int64(end)*extent.PageSize {
		return &CorruptError{File: dataFile, Offset: size, Want: fmt.Sprintf("%d bytes", int64(end)*extent.PageSize), Found: fmt.Sprintf("%d", size)}
	} else {
		end = uint32(min(size/extent.PageSize, 1<<32-2))
	}
	db.space = &space{
		file: db.data, alloc: extent.New(table.FirstPage, end), frozen: db.super.Seq,
	}
	t, err := table.Load(db.super, db.readChunk)
	if err != nil {
		var bad *table.Corrupt
		if errors.As(err, &bad) {
			return &CorruptError{File: dataFile, Want: "the table of the store", Found: err.Error()}
		}
		return err
	}
	db.table = t
	for _, c := range db.super.Chunks {
		if err := db.space.reserve(runOf(c.Addr, int64(c.Len))); err != nil {
			return &CorruptError{File: dataFile, Offset: c.Addr, Want: "pages of the table alone", Found: err.Error()}
		}
	}
	var root uint64
	for _, o := range t.Objects() {
		switch o.Kind {
		case table.Branch:
			if err := db.loadBranch(o); err != nil {
				return err
			}
		case table.Root:
			root = o.ID
		}
	}
	if root == 0 {
		db.trunk = trunk.New(db.opt.Tuning.shape(), db.nextIDLocked)
		db.changes = changes{root: nil}
		return nil
	}
	node, err := trunk.Decode(root, source{db})
	if err != nil {
		return &CorruptError{File: dataFile, Want: "a trunk", Found: err.Error()}
	}
	db.trunk = trunk.Load(db.opt.Tuning.shape(), db.nextIDLocked, node)
	db.changes = changes{root: node}
	used := map[uint64]bool{}
	node.Branches(func(b *trunk.Branch) { used[b.Meta.ID] = true })
	if len(used) != len(db.branches) {
		return &CorruptError{File: dataFile, Want: "branches that the trunk refers to", Found: fmt.Sprintf("%d, of which it refers to %d", len(db.branches), len(used))}
	}
	return nil
}

func (db *DB) loadBranch(o table.Object) error {
	meta, err := branch.DecodeMeta(o.Body)
	if err == nil && meta.ID != o.ID {
		err = fmt.Errorf("branch %d in the place of %d", meta.ID, o.ID)
	}
	if err != nil {
		return &CorruptError{File: dataFile, Branch: o.ID, Want: "a branch", Found: err.Error()}
	}
	for _, r := range append([]extent.Run{meta.IndexRun()}, meta.Runs...) {
		if err := db.space.reserve(r); err != nil {
			return &CorruptError{File: dataFile, Offset: r.Addr(), Branch: o.ID, Want: "pages of this branch alone", Found: err.Error()}
		}
	}
	index, err := branch.OpenIndex(db.branchOptions(forTable, false), &meta)
	if err != nil {
		return err
	}
	b := trunk.NewBranch(meta, index)
	db.branches[meta.ID] = b
	db.indexBytes.Add(int64(index.Memory()))
	if meta.RangeDeletes > 0 {
		db.tombstoned++
	}
	for _, r := range meta.Blobs {
		if err := db.likeAgain(r); err != nil {
			return &CorruptError{File: dataFile, Offset: r.Addr(), Branch: o.ID, Want: "pages of a large value", Found: err.Error()}
		}
	}
	return nil
}

// likeAgain counts a use of a blob that recovery has found.
func (db *DB) likeAgain(r extent.Run) error {
	first, err := db.space.likes.Like(r)
	if err == nil && first {
		err = db.space.reserve(r)
	}
	return err
}

// source gives the trunk what it refers to.
type source struct{ db *DB }

func (s source) Node(id uint64) ([]byte, bool) {
	o, ok := s.db.table.Get(id)
	return o.Body, ok && (o.Kind == table.Node || o.Kind == table.Root)
}

func (s source) Branch(id uint64) (*trunk.Branch, bool) {
	b, ok := s.db.branches[id]
	return b, ok
}

// keepOlder retires what only the older superblock refers to, so that it stays
// complete until the next superblock is durable.
func (db *DB) keepOlder(older *table.Superblock) {
	old, err := table.Load(*older, db.readChunk)
	if err != nil {
		db.log.Warn("the older superblock leads nowhere", "error", err)
		return
	}
	keep := func(r extent.Run) {
		// What is in use is in use by the newer one as well.
		if db.space.reserve(r) == nil {
			db.space.alloc.Retire(r, db.super.Seq)
		}
	}
	for _, c := range older.Chunks {
		keep(runOf(c.Addr, int64(c.Len)))
	}
	for _, o := range old.Objects() {
		if _, both := db.branches[o.ID]; both || o.Kind != table.Branch {
			continue
		}
		meta, err := branch.DecodeMeta(o.Body)
		if err != nil {
			continue
		}
		for _, r := range append(append(meta.Blobs, meta.IndexRun()), meta.Runs...) {
			if db.space.likes.Count(r.Page) == 0 {
				keep(r)
			}
		}
	}
}

// replay reads the journal into memtables.
func (db *DB) replay() error {
	buffer := min(1<<20, max(db.opt.Tuning.MemtableBytes/4, 4096)&^4095)
	var ok bool
	if db.readBuffer, ok = db.pool.Alloc(buffer); !ok {
		return fmt.Errorf("%w: no buffer of %d bytes to read the journal", ErrMemory, buffer)
	}
	log, err := journal.Open(db.disk, db.dir, journal.Options{Store: db.store(), Direct: true, Buffer: db.readBuffer})
	if err != nil {
		return err
	}
	db.journal = log
	var mems []*mem // oldest first
	var now *mem
	session := db.super.Chain.Session
	drop := func() {
		if now != nil && now.table.Len() == 0 {
			mems = mems[:len(mems)-1]
			db.unrefMem(now)
		}
		now = nil
	}
	chain := journal.ChainState{
		Segment: db.super.Segment, Prev: db.super.Chain.Prev, Session: session, Next: message.Seq(db.super.Cut) + 1,
	}
	end, err := log.Replay(chain, func(info journal.SegmentInfo, size int) ([]byte, func(journal.Header, int, int) error, error) {
		drop()
		m := db.newMem(info.Number, info.First, size)
		if m == nil {
			return nil, nil, fmt.Errorf("%w: the journal has a segment of %d bytes, open the store with more memory", ErrMemory, size)
		}
		m.recovered, m.full, m.chain = true, true, table.Chain{Prev: info.Prev, Session: session}
		now, mems = m, append(mems, m)
		return m.arena, func(h journal.Header, off, end int) error {
			session = info.Session
			return db.replayFrame(m, h, off, end)
		}, nil
	})
	drop()
	db.adoptRecovered(mems)
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
	db.chain, db.chainSession = end.Prev, end.Session
	db.seq = end.Next - 1
	db.visible.Store(uint64(db.seq))
	db.journaled = message.Seq(db.super.Cut)
	db.durable.reach(db.journaled)
	size := db.opt.Tuning.MemtableBytes
	if db.opt.ReadOnly {
		size = MemtableMin
	}
	active := db.newMem(end.Segment, db.seq+1, size)
	if active == nil {
		return fmt.Errorf("%w: no room for a memtable of %d bytes beside %d that were recovered", ErrMemory, size, len(mems))
	}
	db.journalMems = append(db.journalMems, active)
	newestFirst := []*mem{active}
	for i := len(mems) - 1; i >= 0; i-- {
		newestFirst = append(newestFirst, mems[i])
	}
	for _, m := range mems {
		m.keep = db.memKeep(m.table.Pos(), m.table.Len())
	}
	if !db.opt.ReadOnly {
		db.space.unknown()
		db.space.setFloor(db.table.Size())
	}
	db.publish(newestFirst)
	db.trace(func() env.Event {
		return Opened{Superblock: db.super.Seq, Slot: db.slot, Cut: db.super.Cut, Version: uint64(db.seq)}
	})
	return nil
}

// adoptRecovered notes the memtables, so that their memory is freed whatever
// happens.
func (db *DB) adoptRecovered(mems []*mem) {
	db.journalMems = append(db.journalMems, mems...)
}

// replayFrame takes the messages of a frame into the memtable.
func (db *DB) replayFrame(m *mem, h journal.Header, off, end int) error {
	if !m.table.Skip(off + journal.HeaderSize) {
		return fmt.Errorf("frame at %d lies outside of the segment", off)
	}
	next := h.First
	var bad error
	err := m.table.Load(off+journal.HeaderSize, off+int(h.Len), func(msg message.Message) {
		if msg.Seq != next && bad == nil {
			bad = fmt.Errorf("change %d in the place of %d", msg.Seq, next)
		}
		next++
		if msg.Kind == message.Blob {
			ref, ok := message.DecodeBlobRef(msg.Value)
			if !ok {
				bad = fmt.Errorf("change %d is no reference to a large value", msg.Seq)
				return
			}
			r := runOf(ref.Addr, int64(ref.Len))
			if err := db.likeAgain(r); err != nil {
				bad = err
				return
			}
			m.blobs = append(m.blobs, r)
		}
	})
	if err = first(err, bad); err != nil {
		return &CorruptError{File: fmt.Sprintf("segment %d of the journal", m.number), Offset: int64(off), Want: "changes", Found: err.Error()}
	}
	return nil
}
