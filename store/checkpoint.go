package store

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/extent"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/table"
	"github.com/ashlar-dev/ashlar/store/trunk"
)

// A checkpoint makes the present tree durable. Freezing records the root of the
// trunk and the list of changes, and is all that happens under db.mu: branches
// are immutable, and nodes are copied when they change, so nothing must be
// written back before it is modified. Then the changes are written as a chunk
// of the table, synced with all branches before them, and after that the
// superblock, to the slot of the older one.

// changes are those of the tree since the last checkpoint, beside the nodes,
// which are found by comparing the trees. Under db.mu.
type changes struct {
	put  map[uint64]*trunk.Branch
	drop map[uint64]bool
	root *trunk.Node // at the last checkpoint
}

func (c *changes) putBranch(b *trunk.Branch) {
	if c.put == nil {
		c.put = map[uint64]*trunk.Branch{}
	}
	c.put[b.Meta.ID] = b
}

func (c *changes) dropBranch(id uint64) {
	if c.drop == nil {
		c.drop = map[uint64]bool{}
	}
	c.drop[id] = true
}

// frozen is what a superblock will lead to.
type frozen struct {
	changes
	now    *trunk.Node
	seq    uint64
	cut    message.Seq
	oldest *mem
	nextID uint64
}

// The space that a table's chunks may take beside the whole table before it is
// written anew: a quarter of it, but at least deltaMin bytes; and how many
// there may be.
const (
	deltaMin  = 64 << 10
	deltasMax = table.ChunkCount / 2
)

// freeze determines what the next superblock leads to.
func (db *DB) freeze() frozen {
	db.mu.Lock()
	defer db.mu.Unlock()
	mems := db.current.Load().mems
	oldest := mems[len(mems)-1]
	f := frozen{
		changes: db.changes, now: db.trunk.Root(), seq: db.super.Seq + 1,
		cut: oldest.first - 1, oldest: oldest, nextID: db.nextID,
	}
	db.changes = changes{root: f.now}
	db.space.freeze(f.seq)
	db.trace(func() env.Event { return Frozen{Superblock: f.seq, Version: uint64(f.cut)} })
	return f
}

// record updates the table to the frozen state.
func (db *DB) record(f *frozen) {
	for id := range f.put {
		if !f.drop[id] {
			db.table.Put(table.Object{ID: id, Kind: table.Branch, Epoch: db.epoch, Body: f.put[id].Meta.Append(nil)})
		}
	}
	for id := range f.drop {
		if _, in := db.table.Get(id); in {
			db.table.Drop(id)
		}
	}
	if f.root == f.now {
		return
	}
	before := map[uint64]*trunk.Node{}
	nodes(f.root, func(n *trunk.Node) { before[n.ID] = n })
	nodes(f.now, func(n *trunk.Node) {
		old := before[n.ID]
		delete(before, n.ID)
		if old == n && (n == f.now) == (n == f.root) {
			return
		}
		kind := table.Node
		if n == f.now {
			kind = table.Root
		}
		db.table.Put(table.Object{ID: n.ID, Kind: kind, Epoch: db.epoch, Body: n.Append(nil)})
	})
	for id := range before {
		db.table.Drop(id)
	}
}

// nodes calls visit with the nodes of a tree.
func nodes(n *trunk.Node, visit func(*trunk.Node)) {
	if n == nil {
		return
	}
	visit(n)
	for i := range n.Pivots {
		nodes(n.Pivots[i].Child, visit)
	}
}

// checkpoint makes the tree durable, and with it all changes of the memtables
// that it includes. The caller holds db.cmu.
func (db *DB) checkpoint(clean bool) error {
	if err := db.err(); err != nil {
		return err
	}
	start := db.clock.Now()
	f := db.freeze()
	db.record(&f)
	super := db.super
	super.Seq, super.Cut, super.Segment = f.seq, uint64(f.cut), f.oldest.number
	super.NextID, super.Clean, super.Epoch = f.nextID, clean, db.epoch
	old, err := db.writeChunk(&super)
	if err != nil {
		return db.backgroundError("checkpoint", err)
	}
	super.Pages, _, _ = db.space.pages()
	if err := db.data.Sync(); err != nil {
		return db.stop(fmt.Errorf("checkpoint: sync %s: %w", dataFile, err))
	}
	if err := db.writeSuper(&super, f); err != nil {
		return db.stop(fmt.Errorf("checkpoint: superblock %d: %w", super.Seq, err))
	}
	db.settle(super, f, old)
	db.space.setFloor(db.table.Size())
	db.metrics.checkpoints.Add(1)
	db.metrics.checkpointTime.Add(int64(db.clock.Now().Sub(start)))
	return nil
}

// writeChunk writes the changes of the table, or all of it, and lists the chunk
// in the superblock. It returns the runs of chunks that are no longer listed.
func (db *DB) writeChunk(super *table.Superblock) (old []extent.Run, err error) {
	var deltas int64
	for _, c := range super.Chunks {
		if !c.Full {
			deltas += int64(c.Len)
		}
	}
	full := len(super.Chunks) == 0 || len(super.Chunks) >= deltasMax ||
		deltas+int64(db.table.DeltaSize()) > max(int64(db.table.Size())/4, deltaMin)
	if !full && !db.table.Changed() {
		return nil, nil
	}
	size := db.table.DeltaSize()
	if full {
		size = db.table.Size()
	}
	run, err := db.space.Alloc(uint32(size / extent.PageSize))
	if errors.Is(err, env.ErrNoSpace) && full && len(super.Chunks) > 0 && len(super.Chunks) < table.ChunkCount {
		full, size = false, db.table.DeltaSize()
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
	buf, ok := db.pool.Alloc(size)
	if !ok {
		db.space.Free(run)
		return nil, fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, size)
	}
	defer db.pool.Free(buf)
	var chunk []byte
	if full {
		chunk = db.table.Full(buf[:0], super.Seq)
		for _, c := range super.Chunks {
			old = append(old, runOf(c.Addr, int64(c.Len)))
		}
		super.Chunks = nil
	} else {
		chunk = db.table.Delta(buf[:0], super.Seq)
	}
	if len(chunk) != size {
		return nil, db.stop(fmt.Errorf("table chunk of %d bytes, expected %d", len(chunk), size))
	}
	if _, err := db.data.WriteAt(chunk, run.Addr()); err != nil {
		return nil, db.stop(err)
	}
	db.metrics.tableBytes.Add(int64(size))
	super.Chunks = append(super.Chunks[:len(super.Chunks):len(super.Chunks)], table.Chunk{
		Loc: table.Loc{Addr: run.Addr(), Len: uint32(size), CRC: table.Checksum(chunk)}, Full: full, Seq: super.Seq,
	})
	return old, nil
}

// writeSuper writes the superblock. No frame is written to the journal
// meanwhile, because the superblock records where the journal continues.
func (db *DB) writeSuper(super *table.Superblock, f frozen) error {
	buf, ok := db.pool.Alloc(table.SuperSize)
	if !ok {
		return fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, table.SuperSize)
	}
	defer db.pool.Free(buf)
	db.jmu.Lock()
	defer db.jmu.Unlock()
	super.Chain, super.Life = db.chainAt(f.oldest), db.life()
	table.EncodeSuper(buf, *super)
	if _, err := db.data.WriteAt(buf, superAddr(1-db.slot)); err != nil {
		return err
	}
	if err := db.data.Sync(); err != nil {
		return err
	}
	db.slot = 1 - db.slot
	db.trace(func() env.Event { return Checkpointed{Superblock: f.seq, Slot: db.slot, Version: uint64(f.cut)} })
	// What is in the tree needs no journal any more.
	db.cancelFrames(f.oldest.number - 1)
	db.journaled = max(db.journaled, f.cut)
	return nil
}

// chainAt is the state of the journal at the segment of m. The caller holds
// db.jmu.
func (db *DB) chainAt(m *mem) table.Chain {
	if m.segment != nil || m.recovered {
		return m.chain
	}
	return table.Chain{Prev: db.chain, Session: db.chainSession}
}

// superAddr is where a slot's superblock is in the data file.
func superAddr(slot int) int64 { return int64(slot) << 20 }

// settle runs after a superblock has become durable.
func (db *DB) settle(super table.Superblock, f frozen, old []extent.Run) {
	before := db.super
	db.mu.Lock()
	db.super = super
	var done []*mem
	for len(db.journalMems) > 0 && db.journalMems[0].number < super.Segment {
		done = append(done, db.journalMems[0])
		db.journalMems = db.journalMems[1:]
	}
	db.flushed.Broadcast() // callers that wait for memory
	db.mu.Unlock()
	db.space.durable(super.Seq)
	db.space.retire(old...)
	for _, m := range done {
		db.unrefMem(m)
	}
	db.durable.reach(f.cut)
	// A segment is released when neither superblock needs it.
	if before.Segment > 0 {
		if err := db.journal.Retire(before.Segment - 1); err != nil {
			_ = db.stop(fmt.Errorf("retire segments of the journal up to %d: %w", before.Segment-1, err))
		}
	}
}

// reclaim makes a checkpoint when only superblocks hold much space.
func (db *DB) reclaim() error {
	end, _, retired := db.space.pages()
	if retired < uint64(end)/8 || retired < reclaimMin {
		return nil
	}
	db.cmu.Lock()
	defer db.cmu.Unlock()
	return db.checkpoint(false)
}

// reclaimMin is the smallest number of pages that justifies a checkpoint of its
// own.
const reclaimMin = 8 << 20 / extent.PageSize
