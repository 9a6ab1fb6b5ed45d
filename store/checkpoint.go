// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A checkpoint makes the present tree durable. Freezing records the root of the
// trunk and the list of changes, and is the only part under db.mu: branches are
// immutable, and nodes are copied when they change, so nothing must be written back
// before it is modified. Then the changes are written as a chunk of the table and
// synced together with all earlier branches, and after that the superblock, to the
// slot of the older one.

// checkpointer makes checkpoints. Its lock is held by a checkpoint and by a
// flush, so that one at a time removes memtables and writes superblocks.
type checkpointer struct {
	db *DB
	// mu is taken before journaler.mu and DB.mu.
	mu    invariant.Mutex
	table *table.Table
	super table.Superblock // the newest
	slot  int              // of the newest superblock
	// unnamed reports that no superblock has the name of the merger yet.
	unnamed bool
	spare   []byte // for the buffers of a checkpoint, between reserve and release
}

func (c *checkpointer) init(db *DB) {
	c.db = db
	c.mu.SetRank(rankCheckpoints, "checkpoints")
}

func (c *checkpointer) lock()   { c.mu.Lock() }
func (c *checkpointer) unlock() { c.mu.Unlock() }

// frozen is the state to which a superblock will lead.
type frozen struct {
	changes
	now    *trunk.Node
	seq    uint64
	cut    message.Seq
	oldest *mem
	lastID uint64
}

// The space that a table's chunks may take in addition to the whole table before it
// is written anew: a quarter of it, but at least deltaMin bytes; and the maximum
// number of chunks.
const (
	deltaMin  = 64 << 10
	deltasMax = table.ChunkCount / 2
)

// freeze determines what the next superblock leads to.
func (c *checkpointer) freeze() frozen {
	db := c.db
	db.mu.Lock()
	defer db.mu.Unlock()
	mems := db.current.Load().mems
	oldest := mems[len(mems)-1]
	f := frozen{
		changes: db.tree.freeze(), now: db.tree.root(), seq: c.super.Seq + 1,
		cut: oldest.first - 1, oldest: oldest, lastID: db.tree.lastID(),
	}
	db.space.freeze(f.seq)
	db.trace(func() env.Event { return Frozen{Superblock: f.seq, Version: uint64(f.cut)} })
	return f
}

// record updates the table to the frozen state.
func (c *checkpointer) record(f *frozen) {
	for id := range f.put {
		if !f.drop[id] {
			c.table.Put(table.Object{ID: id, Kind: table.Branch, Epoch: c.db.life.epoch, Body: f.put[id].Meta.Append(nil)})
		}
	}
	for id := range f.drop {
		if _, in := c.table.Get(id); in {
			c.table.Drop(id)
		}
	}
	if f.root == f.now {
		return
	}
	before := map[uint64]*trunk.Node{}
	f.root.Nodes(func(n *trunk.Node) { before[n.ID] = n })
	f.now.Nodes(func(n *trunk.Node) {
		old := before[n.ID]
		delete(before, n.ID)
		if old == n && (n == f.now) == (n == f.root) {
			return
		}
		kind := table.Node
		if n == f.now {
			kind = table.Root
		}
		c.table.Put(table.Object{ID: n.ID, Kind: kind, Epoch: c.db.life.epoch, Body: n.Append(nil)})
	})
	for id := range before {
		c.table.Drop(id)
	}
}

// write makes the tree durable, and with it all changes of the memtables that it
// includes. The caller holds c.mu.
func (c *checkpointer) write(clean bool) error {
	db := c.db
	if err := db.err(); err != nil {
		return err
	}
	start, number, before := db.clock.Now(), c.super.Seq+1, db.metrics.tableBytes.Load()
	err := c.writeNow(clean)
	took := db.clock.Now().Sub(start)
	if err == nil {
		db.metrics.checkpoints.Add(1)
		db.metrics.checkpointTime.Add(int64(took))
		db.timed(&db.operations.checkpoint, start, int(db.metrics.tableBytes.Load()-before))
	}
	db.notices.add(CheckpointEnded{number, took, err})
	return err
}

// writeNow is write without the measuring.
func (c *checkpointer) writeNow(clean bool) error {
	db := c.db
	if err := db.settleFound(); err != nil {
		return db.backgroundError("checkpoint", err)
	}
	f := c.freeze()
	c.record(&f)
	super := c.super
	super.Seq, super.Cut, super.Segment = f.seq, uint64(f.cut), f.oldest.number
	super.Features = db.spaces.features()
	super.NextID, super.Clean, super.Epoch = f.lastID, clean, c.db.life.epoch
	old, err := c.writeChunk(&super)
	if err != nil {
		return db.backgroundError("checkpoint", err)
	}
	super.Pages, _, _ = db.space.pages()
	if err := db.files.data.Sync(); err != nil {
		return db.stop(fmt.Errorf("checkpoint: sync %s: %w", datafile.Name, err))
	}
	if err := c.writeSuper(&super, f); err != nil {
		return db.stop(fmt.Errorf("checkpoint: superblock %d: %w", super.Seq, err))
	}
	c.settle(super, f, old)
	db.space.setFloor(c.table.Size())
	return nil
}

// reserve takes memory for a table with that many more bytes of objects, so that the
// next checkpoint does not fail for lack of it. Merges since the last checkpoint may
// have made the table longer; it may double. The caller holds c.mu until release.
func (c *checkpointer) reserve(more int) error {
	n := 2*c.table.Size() + int(pagesOf(int64(more)))*extent.PageSize + table.SuperSize
	spare, ok := c.db.pool.Alloc(n)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, n)
	}
	c.spare = spare
	return nil
}

func (c *checkpointer) release() {
	c.db.pool.Free(c.spare)
	c.spare = nil
}

// buffer returns n zeroed bytes until free; one buffer is used at a time.
func (c *checkpointer) buffer(n int) ([]byte, error) {
	if n <= len(c.spare) {
		clear(c.spare[:n])
		return c.spare[:n:n], nil
	}
	buf, ok := c.db.pool.Alloc(n)
	if !ok {
		return nil, fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, n)
	}
	return buf, nil
}

func (c *checkpointer) free(buf []byte) {
	if len(c.spare) == 0 || &buf[0] != &c.spare[0] {
		c.db.pool.Free(buf)
	}
}

// writeChunk writes the changes of the table, or all of it, and lists the chunk
// in the superblock. It returns the runs of chunks that are no longer listed.
func (c *checkpointer) writeChunk(super *table.Superblock) (old []extent.Run, err error) {
	db := c.db
	var deltas int64
	for _, chunk := range super.Chunks {
		if !chunk.Full {
			deltas += int64(chunk.Len)
		}
	}
	full := len(super.Chunks) == 0 || len(super.Chunks) >= deltasMax ||
		deltas+int64(c.table.DeltaSize()) > max(int64(c.table.Size())/4, deltaMin)
	if !full && !c.table.Changed() {
		return nil, nil
	}
	size := c.table.DeltaSize()
	if full {
		size = c.table.Size()
	}
	run, err := db.space.Alloc(uint32(size / extent.PageSize))
	if errors.Is(err, env.ErrNoSpace) && full && len(super.Chunks) > 0 && len(super.Chunks) < table.ChunkCount {
		full, size = false, c.table.DeltaSize()
		run, err = db.space.Alloc(uint32(size / extent.PageSize))
	}
	if err != nil {
		return nil, err
	}
	// A failed write stops the store, so it must not fail for lack of room.
	if err := db.space.back(run); err != nil {
		db.space.Free(run)
		return nil, err
	}
	buf, err := c.buffer(size)
	if err != nil {
		db.space.Free(run)
		return nil, err
	}
	defer c.free(buf)
	var chunk []byte
	if full {
		chunk = c.table.Full(buf[:0], super.Seq)
		for _, chunk := range super.Chunks {
			old = append(old, extent.RunOf(chunk.Addr, int64(chunk.Len)))
		}
		super.Chunks = nil
	} else {
		chunk = c.table.Delta(buf[:0], super.Seq)
	}
	if len(chunk) != size {
		return nil, db.stop(fmt.Errorf("table chunk of %d bytes, expected %d", len(chunk), size))
	}
	if _, err := db.files.data.WriteAt(chunk, run.Addr()); err != nil {
		return nil, db.stop(err)
	}
	db.metrics.tableBytes.Add(int64(size))
	super.Chunks = append(super.Chunks[:len(super.Chunks):len(super.Chunks)], table.Chunk{
		Loc: table.Loc{Addr: run.Addr(), Len: uint32(size), CRC: table.Checksum(chunk)}, Full: full, Seq: super.Seq,
	})
	return old, nil
}

// writeSuper writes the superblock, while the journal waits.
func (c *checkpointer) writeSuper(super *table.Superblock, f frozen) error {
	db := c.db
	buf, err := c.buffer(table.SuperSize)
	if err != nil {
		return err
	}
	defer c.free(buf)
	return db.journal.stand(f.oldest, f.cut, func(chain table.Chain) error {
		super.Chain, super.Life = chain, db.life.number()
		table.EncodeSuper(buf, *super)
		if _, err := db.files.data.WriteAt(buf, table.SuperAddr(1-c.slot)); err != nil {
			return err
		}
		if err := db.files.data.Sync(); err != nil {
			return err
		}
		c.slot = 1 - c.slot
		db.trace(func() env.Event { return Checkpointed{Superblock: f.seq, Slot: c.slot, Version: uint64(f.cut)} })
		return nil
	})
}

// settle runs after a superblock has become durable.
func (c *checkpointer) settle(super table.Superblock, f frozen, old []extent.Run) {
	db, before := c.db, c.super
	c.super = super
	db.mu.Lock()
	done := db.writer.saved(super.Segment)
	db.work.memtableDone() // callers may wait for its memory
	db.mu.Unlock()
	db.space.durable(super.Seq)
	db.space.retire(old...)
	for _, m := range done {
		db.unrefMem(m)
	}
	db.durable.reach(f.cut)
	// A segment is released when neither superblock needs it.
	if before.Segment > 0 {
		db.journal.retire(before.Segment - 1)
	}
}

// isNamed reports whether a superblock has the name of the store's merger.
func (c *checkpointer) isNamed() bool { return !c.unnamed }

// chunks are those of the table, to which the newest superblock leads. The
// caller holds c.mu.
func (c *checkpointer) chunks() []table.Chunk { return c.super.Chunks }

// features are those that the newest superblock has. The caller holds c.mu.
func (c *checkpointer) features() table.Features { return c.super.Features }

// identity is the store's, as superblocks have it. The caller holds c.mu.
func (c *checkpointer) identity() (uuid [16]byte, merger string) { return c.super.UUID, c.super.Merger }

// resume, called by recovery, receives the newest superblock, its slot, and the table to
// which it leads.
func (c *checkpointer) resume(super table.Superblock, slot int, t *table.Table, unnamed bool) {
	c.super, c.slot, c.table, c.unnamed = super, slot, t, unnamed
}

// checkpoint makes the tree durable.
func (db *DB) checkpoint() error {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	return db.checkpoints.write(false)
}

// reclaim makes a checkpoint when much space is held only by superblocks: a fraction
// of the space in use, because the store takes this space in addition to its data.
func (db *DB) reclaim() error {
	end, free, retired := db.space.pages()
	if retired < (uint64(end)-free)/reclaimPart || retired < uint64(db.opt.Tuning.MemtableBytes)/4/extent.PageSize {
		return nil
	}
	return db.checkpoint()
}

// reclaimPart is the fraction of the pages in use that justifies a checkpoint, if it is
// at least a quarter of a memtable.
const reclaimPart = 12
