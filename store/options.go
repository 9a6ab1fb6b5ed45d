package store

import (
	"fmt"
	"log/slog"

	"github.com/ashlar-dev/ashlar/store/block"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/table"
	"github.com/ashlar-dev/ashlar/store/trunk"
)

// Durability says what has happened to a change when the call that made it
// returns. A Sync makes durable what was changed before, at every level.
type Durability uint8

const (
	// SyncOnDemand keeps changes in memory until Sync, or until the tree has
	// taken them. What is in the tree before anybody asks is never written
	// to the journal.
	SyncOnDemand Durability = iota
	// ProcessCrash hands changes to the machine soon, in pieces of
	// FrameBytes: the end of the process loses the last piece and what came
	// while one was being written, the end of the machine what was not synced.
	ProcessCrash
	// EveryCommit syncs before it returns. Those who commit at the same time
	// share one sync.
	EveryCommit
)

// Compression says how blocks are kept.
type Compression uint8

const (
	// Auto tries on samples whether compression pays.
	Auto Compression = iota
	// None keeps blocks as they are.
	None
)

// Options of a store. The zero Options is a store of 512 MiB of memory.
type Options struct {
	// Memory bounds all memory of the store, in bytes: memtables, cache,
	// filters, buffers and the Go heap's share. Default 512 MiB, least
	// MemoryMin.
	//
	// When memory is short, the cache shrinks, iterators are parked, and
	// changes wait for a memtable to be written; no call fails for it. Three
	// things must be in memory whatever the bound is, and exceed it where they
	// do not fit: the fences of all branches, which are about 1/200 of the
	// data (filters are left out when indexes take half of Memory); the
	// journal of a store that was written with more Memory, until the tree has
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
	Merger      message.Merger
	Compression Compression
	// ReadOnly writes nothing, and works on a file system that is mounted for
	// reading only. It shares the store's lock with others that only read;
	// while a writer has the store open, and on a Disk that locks, it is
	// refused (env.ErrLocked), as a writer is while somebody reads: pages that
	// a writer uses again would look like damage to a reader. Where the
	// directory has no file LOCK, the caller must keep writers away.
	ReadOnly bool
	locked   bool // the caller has the lock
	// Log is told what an operator should know. Default: nothing is.
	Log *slog.Logger
	// Tuning is for tests and experiments; the zero Tuning follows from Memory.
	Tuning Tuning
}

// Tuning are the sizes that follow from Options.Memory.
type Tuning struct {
	MemtableBytes int   // the arena of a memtable, a multiple of 4096, at least MemtableMin
	LeafBytes     int64 // of a partition at the bottom
	Fanout        int   // of the trunk
	Runs          int   // that a pivot may collect
	BlobBytes     int   // values longer than this are kept apart
	CacheBytes    int64
	// Workers is how many compactions may run at one time. Default 1.
	Workers int
	// Inline has the callers do all the work: there are no goroutines, and the
	// same calls do the same.
	Inline bool
}

// Limits and sizes.
const (
	// MemoryMin is the least Options.Memory, in bytes, without a Tuning.
	MemoryMin = 24 << 20
	// MemtableMin is the smallest arena: room for a few frames.
	MemtableMin = 32 << 10
	// FrameBytes is how large a frame of the journal grows before it is
	// written, at ProcessCrash.
	FrameBytes = 256 << 10
	// blobMin is the least Tuning.BlobBytes.
	blobMin = 512

	memoryDefault   = 512 << 20
	memtableMax     = 64 << 20
	blobDefault     = 16 << 10
	heapShareMin    = 6 << 20 // the collector does not begin before 4 MiB
	heapShareMax    = 48 << 20
	fanoutDefault   = 24
	runsDefault     = 12
	buffersShareMax = 24 << 20
)

// complete fills in what is missing, and says what is impossible.
func (o Options) complete() (Options, error) {
	if o.Memory == 0 {
		o.Memory = memoryDefault
	}
	t := &o.Tuning
	tuned := t.MemtableBytes != 0
	if o.Memory < MemoryMin && !tuned {
		return o, fmt.Errorf("%w: Options.Memory is %d, the least is %d", ErrMemory, o.Memory, MemoryMin)
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
		return o, fmt.Errorf("%w: a name of %d bytes, at most %d", ErrMerger, len(o.Merger.Name()), table.MergerMax)
	}
	if t.LeafBytes < 4096 || t.Fanout < 4 || t.Runs < 2 || t.BlobBytes < blobMin || t.BlobBytes > min(t.MemtableBytes/4, block.ValueMax) || t.Workers < 0 {
		return o, fmt.Errorf("impossible tuning %+v", *t)
	}
	if o.Durability > EveryCommit || o.Compression > None {
		return o, fmt.Errorf("unknown durability %d or compression %d", o.Durability, o.Compression)
	}
	return o, nil
}

// poolBytes is the part of Memory that lies outside of the Go heap.
func (o Options) poolBytes() int64 {
	share := min(o.Memory/8, heapShareMax)
	if o.Memory >= MemoryMin {
		share = max(share, heapShareMin)
	}
	return max(o.Memory-share, 4*int64(o.Tuning.MemtableBytes))
}

func (t Tuning) shape() trunk.Shape {
	return trunk.Shape{Fanout: t.Fanout, LeafBytes: t.LeafBytes, Runs: t.Runs}
}
