// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Durability states what has happened to a change when the call that made it
// returns. A Sync makes all earlier changes durable, at every level.
type Durability uint8

const (
	// SyncOnDemand keeps changes in memory until a Sync, or until they are in
	// the tree. Changes that reach the tree before a Sync are never written to
	// the journal.
	SyncOnDemand Durability = iota
	// ProcessCrash passes changes to the operating system soon, in pieces of
	// FrameBytes: a crash of the process loses the last piece and changes that
	// arrived while one was being written; a crash of the machine loses everything
	// not synced.
	ProcessCrash
	// EveryCommit syncs before the call returns. Concurrent commits share one
	// sync.
	EveryCommit
)

// Compression states how blocks are stored.
type Compression uint8

const (
	// Auto tests on samples whether compression pays.
	Auto Compression = iota
	// None stores blocks uncompressed.
	None
)

// Merger gives Merge its meaning: a name, and two functions that combine operands and
// apply them to values. Its doc comment has the laws that they must obey.
type Merger = message.Merger

// Options are the options of a store. The zero Options is a store of 512 MiB of
// memory.
type Options struct {
	// Memory bounds all memory of the store, in bytes: memtables, cache,
	// filters, buffers and the Go heap's share. Default 512 MiB, least
	// MemoryMin.
	//
	// When memory is short, the cache shrinks, iterators are parked, and
	// changes wait for a memtable to be written; no call fails for it. Fences
	// and filters of branches stay in the file where they would take more than
	// a third of Memory, and are read through the cache. Three
	// things must be in memory whatever the bound is, and exceed it where they
	// do not fit: checksums and some separators of those that stay in the file,
	// about a part in ten thousand of the data; the journal of a store that was written with more Memory, until the tree has
	// its changes, soon after Open; and some blocks for each call that reads
	// at this moment. Metrics.MemoryPeak says whether that has happened.
	//
	// It decides as well how much of the disk is kept: puts are refused with an
	// env.ErrNoSpace while there is room for deletes, flushes, merges and
	// checkpoints, at most about a fifth of Memory when the store is merged
	// (docs/store.md, Metrics.ReserveBytes).
	Memory     int64
	Durability Durability
	// Merger gives Merge its meaning. Its name is kept in the store.
	Merger      Merger
	Compression Compression
	// ReadOnly writes nothing, and works on a file system that is mounted
	// read-only. It shares the store's lock with other readers. On a Disk with
	// locks, it is refused (env.ErrLocked) while a writer has the store open,
	// as a writer is while there are readers: pages that a writer reuses would
	// look like damage to a reader. If the directory has no file LOCK, the
	// caller must keep writers away.
	ReadOnly bool
	// History keeps changes for DB.Changes.
	History History
	// Notify receives the events of the store's operation: FlushEnded,
	// CompactionBegan, CompactionEnded, CheckpointEnded, WritesStalled, WritesPaced,
	// DiskFull, DiskHasRoom, Stopped, ScrubEnded and EventsLost; a later version may
	// have others. The store holds no lock while Notify runs and never waits for it,
	// so that Notify may call the DB, and may block: one goroutine calls it with one
	// event after the other, NotifyQueueMax events wait, more are counted and
	// dropped (EventsLost). If Notify panics, that is logged, and if it ends its goroutine,
	// another one goes on. Close passes on what
	// waits, and returns after half a second if Notify has not returned by then. With
	// Tuning.Inline, Flush, Compact, Sync, Wait, Scrub and Close call Notify before they return.
	Notify func(env.Event)
	// Log receives what an operator should know. Default: no log.
	Log *slog.Logger
	// Tuning is for tests and experiments; the zero Tuning follows from Memory.
	Tuning Tuning
}

// Tuning has the sizes that otherwise follow from Options.Memory.
type Tuning struct {
	MemtableBytes int   // the arena of a memtable, a multiple of 4096, at least MemtableMin
	LeafBytes     int64 // of a partition at the bottom
	Fanout        int   // of the trunk
	Runs          int   // that a pivot may collect
	BlobBytes     int   // longer values are stored separately
	CacheBytes    int64
	// Workers is the number of concurrent compactions. Default 1.
	Workers int
	// Inline makes the callers do all the work: the store starts no goroutines, and
	// the same calls have the same effects.
	Inline bool
}

// Limits and sizes.
const (
	// MemoryMin is the smallest Options.Memory, in bytes, without a Tuning.
	MemoryMin = 24 << 20
	// MemtableMin is the smallest arena: room for a few frames.
	MemtableMin = 32 << 10
	// FrameBytes is the size to which a frame of the journal grows before it is
	// written, at ProcessCrash.
	FrameBytes = 256 << 10
	// blobMin is the smallest Tuning.BlobBytes.
	blobMin = 512

	memoryDefault   = 512 << 20
	memtableMax     = 64 << 20
	blobDefault     = 16 << 10
	fanoutDefault   = 24
	runsDefault     = 12
	buffersShareMax = 24 << 20
	// partitionMemory is how much of Memory a partition must have for it: from then on they
	// become larger and not more. With the branches beside its base, the
	// partition itself takes about 6 KiB, half of them on the Go heap, where as much again
	// is waiting for the collector.
	partitionMemory = 48 << 10
	partitionsMin   = 16
)

// Complete returns the options with defaults instead of zeros. It returns an
// error if they are invalid or the world lacks what a store needs.
func (o Options) Complete(world env.Env) (Options, error) {
	o, err := o.complete()
	if err == nil {
		err = checkWorld(world, o)
	}
	return o, err
}

// complete fills in missing values, and returns an error for invalid ones.
func (o Options) complete() (Options, error) {
	if o.Memory == 0 {
		o.Memory = memoryDefault
	}
	t := &o.Tuning
	tuned := t.MemtableBytes != 0
	if o.Memory < MemoryMin && !tuned {
		return o, fmt.Errorf("%w: Options.Memory is %d, want at least %d", ErrMemory, o.Memory, MemoryMin)
	}
	if t.MemtableBytes == 0 {
		t.MemtableBytes = int(min(o.Memory/8, memtableMax)) &^ 4095
	}
	if t.MemtableBytes < MemtableMin || t.MemtableBytes%4096 != 0 || t.MemtableBytes > 1<<30 {
		return o, fmt.Errorf("Tuning.MemtableBytes is %d, want a multiple of 4096 from %d to %d", t.MemtableBytes, MemtableMin, 1<<30)
	}
	if t.LeafBytes == 0 {
		t.LeafBytes = int64(t.MemtableBytes) / 2
	}
	if t.Fanout == 0 {
		t.Fanout = fanoutDefault
	}
	if t.Runs == 0 {
		t.Runs = runsDefault
	}
	if t.BlobBytes == 0 {
		t.BlobBytes = min(blobDefault, t.MemtableBytes/8)
	}
	if t.Workers == 0 {
		t.Workers = 1
	}
	if o.Merger != nil && len(o.Merger.Name()) > table.MergerMax {
		return o, fmt.Errorf("%w: name of %d bytes, at most %d", ErrMerger, len(o.Merger.Name()), table.MergerMax)
	}
	if t.LeafBytes < 4096 || t.Fanout < 4 || t.Runs < 2 || t.BlobBytes < blobMin || t.BlobBytes > min(t.MemtableBytes/4, block.ValueMax) || t.Workers < 0 {
		return o, fmt.Errorf("invalid Options.Tuning %+v: see the limits of its fields", *t)
	}
	if o.History.Bytes < 0 {
		return o, fmt.Errorf("History.Bytes is %d, want at least 0", o.History.Bytes)
	}
	if o.Durability > EveryCommit || o.Compression > None {
		return o, fmt.Errorf("unknown durability %d or compression %d", o.Durability, o.Compression)
	}
	return o, nil
}

// poolBytes is the part of Memory that is outside of the Go heap.
func (o Options) poolBytes() int64 {
	return max(slab.Share(o.Memory, o.Memory >= MemoryMin), 4*int64(o.Tuning.MemtableBytes))
}

func (o Options) shape() trunk.Shape {
	t := o.Tuning
	return trunk.Shape{Fanout: t.Fanout, LeafBytes: t.LeafBytes, Runs: t.Runs, Partitions: int(max(o.Memory/partitionMemory, partitionsMin))}
}

// checkWorld returns an error if the world lacks what a store needs.
func checkWorld(world env.Env, o Options) error {
	if err := datafile.CheckDisk(world.Disk); err != nil {
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
