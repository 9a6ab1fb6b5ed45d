// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/histogram"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Histogram counts values in buckets whose width is at most an eighth of the
// value, as of one moment. Histograms of several stores or moments can be added.
type Histogram = histogram.Snapshot

// Operation has the histograms of one kind of operation since the store was
// opened: Latency in nanoseconds, and Size, whose meaning Histograms defines.
type Operation struct{ Latency, Size Histogram }

// Histograms have the durations and sizes of operations. They count about one in
// SampleEvery of Get, Change and Seek, because reading the clock would cost up to a tenth
// of such an operation, and every one of the others.
type Histograms struct {
	// Get is DB.Get and Snapshot.Get; the size is that of the value in bytes.
	Get Operation
	// Change is Put, Delete, DeleteRange, Merge and Commit, including all waits; the
	// size is that of keys and values in bytes.
	Change Operation
	// Sync is DB.Sync and the syncs for which changes with Sync or EveryCommit wait;
	// the size is the number of bytes written to the journal for the sync.
	Sync Operation
	// Seek is First, Last, SeekGE and SeekLT of iterators; the size is how many keys an
	// iterator was at before it was closed.
	Seek Operation
	// Flush is the writing of a memtable; the size is that of its branch in bytes.
	Flush Operation
	// Compaction is a merge; the size is the number of bytes that it read.
	Compaction Operation
	// Checkpoint is the writing of a superblock; the size is that of the table written for it,
	// in bytes.
	Checkpoint Operation
}

// SampleEvery is n if the Histograms count one in n frequent operations on average.
const SampleEvery = 16

// Histograms returns the histograms since the store was opened.
func (db *DB) Histograms() Histograms {
	o := &db.operations
	return Histograms{
		Get: o.get.snapshot(), Change: o.change.snapshot(), Sync: o.sync.snapshot(), Seek: o.seek.snapshot(),
		Flush: o.flush.snapshot(), Compaction: o.compaction.snapshot(), Checkpoint: o.checkpoint.snapshot(),
	}
}

// operations has a histogram for each kind of operation.
type operations struct{ get, change, sync, seek, flush, compaction, checkpoint operation }

type operation struct{ latency, size histogram.Histogram }

func (o *operation) snapshot() Operation { return Operation{o.latency.Snapshot(), o.size.Snapshot()} }

// sampled chooses one in SampleEvery of the numbers, in no regular order: a program may
// change sixteen keys at a time.
func sampled(n uint64) bool { return n*0x9e3779b97f4a7c15>>60 == 0 }

// timed counts an operation that began at start and has ended.
func (db *DB) timed(o *operation, start env.Instant, size int) {
	o.latency.Add(int64(db.clock.Now().Sub(start)))
	o.size.Add(int64(size))
}

// flushed records that the flush of a memtable has ended, and returns err.
func (db *DB) flushed(m *mem, out []*trunk.Branch, start env.Instant, err error) error {
	e := FlushEnded{Changes: m.table.Len(), Took: db.clock.Now().Sub(start), Err: err}
	for _, b := range out {
		e.Bytes += int64(b.Meta.Bytes)
	}
	if err == nil {
		db.operations.flush.latency.Add(int64(e.Took))
		db.operations.flush.size.Add(e.Bytes)
	}
	db.notices.add(e)
	return err
}

// merged records that a compaction has ended, with err.
func (db *DB) merged(e CompactionEnded, out []*trunk.Branch, start env.Instant, err error) {
	e.Took, e.Err = db.clock.Now().Sub(start), err
	for _, b := range out {
		e.Written += int64(b.Meta.Bytes)
	}
	if err == nil {
		db.operations.compaction.latency.Add(int64(e.Took))
		db.operations.compaction.size.Add(e.Bytes)
	}
	db.notices.add(e)
}

// EstimateSize estimates how many bytes the keys in [lo, hi) take on the disk: about what
// deleting them would free, or a copy of them would take. A nil bound is open. It reads
// nothing from the disk. The estimate for each branch may be off by two blocks, or a few
// more if the branch's fences stay in the file; large values count in proportion to the
// other bytes, and changes in memtables do not count.
func (db *DB) EstimateSize(lo, hi []byte) (int64, error) {
	if hi != nil && bytes.Compare(lo, hi) > 0 {
		return 0, checkRange(lo, hi)
	}
	lo, hi = db.spaces.bounds(nil, lo, hi)
	return db.estimate(lo, hi)
}

// EstimateSize is DB.EstimateSize in the keyspace.
func (k *Keyspace) EstimateSize(lo, hi []byte) (int64, error) {
	if hi != nil && bytes.Compare(lo, hi) > 0 {
		return 0, checkRange(lo, hi)
	}
	lo, hi = k.db.spaces.bounds(k, lo, hi)
	return k.db.estimate(lo, hi)
}

// estimate is EstimateSize for keys as they are stored.
func (db *DB) estimate(lo, hi []byte) (size int64, err error) {
	if err := db.enter(); err != nil {
		return 0, err
	}
	defer db.work.leave()
	s := db.acquire()
	defer db.release(s)
	s.root.Walk(func(n *trunk.Node, i int, from, to []byte) {
		from, to = later(lo, from), sooner(hi, to)
		if to != nil && bytes.Compare(from, to) >= 0 {
			return
		}
		for _, r := range n.Pivots[i].Refs {
			size += spanOf(r.Branch, from, to)
		}
	})
	return size, nil
}

// spanOf is how many bytes of a branch are in [lo, hi), with their part of its large values.
func spanOf(b *trunk.Branch, lo, hi []byte) int64 {
	n, _ := b.Index.Span(lo, hi)
	var blobs int64
	for _, r := range b.Meta.Blobs {
		blobs += r.Bytes()
	}
	if all := int64(b.Meta.Bytes); blobs > 0 && all > 0 {
		n += int64(float64(blobs) * min(float64(n)/float64(all), 1))
	}
	return n
}

// later is the greater of two lower bounds.
func later(a, b []byte) []byte {
	if bytes.Compare(a, b) < 0 {
		return b
	}
	return a
}

// sooner is the smaller of two upper bounds, nil being open.
func sooner(a, b []byte) []byte {
	if a == nil || b != nil && bytes.Compare(b, a) < 0 {
		return b
	}
	return a
}
