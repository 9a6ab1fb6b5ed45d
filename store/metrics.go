// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/internal/store/cache"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// counters are the counts of a store. Those that are not atomic are under db.mu.
type counters struct {
	changes   [message.RangeDelete + 1]int64
	userBytes int64

	gets, seeks, iterators, recordHits, probes, misled atomic.Int64
	memtables, flushes, compactions, checkpoints       atomic.Int64
	journalBytes, branchBytes, tableBytes, blobBytes   atomic.Int64
	compactRead, checkpointTime, syncs                 atomic.Int64
	historyMissing                                     atomic.Int64
	stalls, stalled, paced, trimmed                    atomic.Int64
}

// CacheMetrics counts what records and blocks in the cache were used for.
type CacheMetrics = cache.Metrics

// Metrics are counters since the store was opened, and its present sizes. Byte
// fields are in bytes.
type Metrics struct {
	Puts, Deletes, Merges, RangeDeletes int64
	Gets, Iterators                     int64
	// Transactions were begun, of which Conflicts ended with an ErrConflict.
	Transactions, Conflicts int64
	// UserBytes are the bytes of written keys and values.
	UserBytes int64
	// The bytes written to the disk, by cause.
	JournalBytes, BranchBytes, TableBytes, BlobBytes int64
	// CompactionBytes were read for merges.
	CompactionBytes int64
	// RecordHits counts reads that the record cache answered, Probes blocks that
	// reads searched, and Misled those of them that did not have the key.
	RecordHits, Probes, Misled int64
	// Memtables became branches; Flushes moved references down the trunk.
	Memtables, Flushes, Compactions, Checkpoints, Syncs int64
	CheckpointTime                                      time.Duration
	// Stalls are writes that waited for a memtable, for Stalled in total; Paced
	// is how long writes were slowed down.
	Stalls         int64
	Stalled, Paced time.Duration
	// FileBytes is the length of the data file: FreeBytes of it are free, and
	// RetiredBytes become free when the next superblocks are written. TrimmedBytes
	// were returned to the file system.
	FileBytes, FreeBytes, RetiredBytes, TrimmedBytes int64
	// ReserveBytes are the free bytes that puts leave to deletes, flushes,
	// merges and checkpoints, so that a full disk can be emptied.
	ReserveBytes int64
	// MemoryBytes are in use outside the Go heap, of MemoryLimit; IndexBytes of them are for the fences and filters of
	// branches, as far as they do not stay in the file. MemoryPeak is the maximum that was in use or kept for the next
	// use; above MemoryLimit, Memory was too small for the store (Options.Memory).
	MemoryBytes, MemoryPeak, MemoryLimit, IndexBytes int64
	// TombstoneBytes is roughly the memory of the range deletes of branches, and of a
	// merge of all of them. Above 1/32 of Options.Memory, changes after range deletes
	// wait for merges to apply them.
	TombstoneBytes int64
	// Debt is how many bytes compactions must read until all partitions are
	// within their limits; Runs is the number of branches that a read may have
	// to search.
	Debt     int64
	Runs     int
	Branches int
	Height   int
	Cache    CacheMetrics
}

// WriteAmplification is the number of bytes written to the disk per byte that a
// user wrote.
func (m *Metrics) WriteAmplification() float64 {
	if m.UserBytes == 0 {
		return 0
	}
	return float64(m.JournalBytes+m.BranchBytes+m.TableBytes+m.BlobBytes) / float64(m.UserBytes)
}

// Metrics returns the metrics of the store.
func (db *DB) Metrics() Metrics {
	c := &db.metrics
	m := Metrics{
		Gets: c.gets.Load(), Iterators: c.iterators.Load(),
		Transactions: db.txs.begun.Load(), Conflicts: db.txs.conflicts.Load(),
		JournalBytes: c.journalBytes.Load(), BranchBytes: c.branchBytes.Load(), TableBytes: c.tableBytes.Load(), BlobBytes: c.blobBytes.Load(),
		CompactionBytes: c.compactRead.Load(), RecordHits: c.recordHits.Load(), Probes: c.probes.Load(), Misled: c.misled.Load(),
		Memtables: c.memtables.Load(), Flushes: c.flushes.Load(), Compactions: c.compactions.Load(),
		Checkpoints: c.checkpoints.Load(), Syncs: c.syncs.Load(), CheckpointTime: time.Duration(c.checkpointTime.Load()),
		Stalls: c.stalls.Load(), Stalled: time.Duration(c.stalled.Load()), Paced: time.Duration(c.paced.Load()), TrimmedBytes: c.trimmed.Load(),
		MemoryBytes: db.pool.Used(), MemoryPeak: db.pool.Peak(), MemoryLimit: db.pool.Limit(), IndexBytes: db.indexBytes.Load(), Cache: db.cache.Metrics(),
	}
	end, free, retired := db.space.pages()
	m.FileBytes, m.FreeBytes, m.RetiredBytes = int64(end)*4096, int64(free)*4096, int64(retired)*4096
	m.ReserveBytes = db.space.reserved()
	db.mu.Lock()
	defer db.mu.Unlock()
	m.Puts = c.changes[message.Put] + c.changes[message.Blob]
	m.Deletes, m.Merges, m.RangeDeletes = c.changes[message.Delete], c.changes[message.Merge], c.changes[message.RangeDelete]
	m.UserBytes = c.userBytes
	m.Debt, m.Runs, m.Branches = db.tree.debt(db.policy(changing)), db.current.Load().runs, len(db.tree.all())
	m.Height, m.TombstoneBytes = db.tree.height(), db.tree.tombstoneBytes()
	return m
}
