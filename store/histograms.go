// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/histogram"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Histogram counts values in buckets that are at most an eighth wide, of a moment.
// Histograms of several stores, or times, can be added.
type Histogram = histogram.Snapshot

// Operation is what one kind of operation has taken since the store was opened:
// Latency in nanoseconds, and Size, of which Histograms says what it is.
type Operation struct{ Latency, Size Histogram }

// Histograms say how long operations take, and how large they are. Of Get, Change and Seek
// about one in SampleEvery is in them, since looking at the clock would cost
// as much as a tenth of the operation; of the others each one is.
type Histograms struct {
	// Get is DB.Get and Snapshot.Get, the size the bytes of the value.
	Get Operation
	// Change is Put, Delete, DeleteRange, Merge and Commit, with all waits, the size the
	// bytes of keys and values.
	Change Operation
	// Sync is Sync, and what changes with Sync or EveryCommit wait for; the size is the
	// bytes that were written to the journal for a sync of it.
	Sync Operation
	// Seek is First, Last, SeekGE and SeekLT of iterators; the size is how many keys an
	// iterator was at before it was closed.
	Seek Operation
	// Flush is the writing of a memtable, the size the bytes of its branch.
	Flush Operation
	// Compaction is a merge, the size the bytes that it read.
	Compaction Operation
	// Checkpoint is the writing of a superblock, the size the bytes of the table written for it.
	Checkpoint Operation
}

// SampleEvery is one in how many frequent operations is in the Histograms, on average.
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

// EstimateSize estimates how many bytes of the disk the keys in [lo, hi) take, nil
// bounds being open: what a drop or a copy of them would be about. It reads
// nothing of the disk. Each branch may be off by two blocks, or by some more if its
// fences stay in the file; large values count in proportion to the other bytes, and changes
// in memtables do not count.
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
