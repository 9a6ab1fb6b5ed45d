// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// reader has the buffers of a point read. Readers are reused.
type reader struct {
	fold    merge.Fold
	scratch branch.Scratch
	refs    []trunk.Ref
	base    []byte // a value from the tree, on its way to the record cache
	// emit receives the messages in a branch. Afterwards more reports whether
	// older branches matter, found that the search ended with a Put, hits the
	// number of messages, and seq the number of the last.
	emit        func(message.Message) bool
	more, found bool
	hits        int
	seq         message.Seq
}

// readers are the unused ones.
type readers struct {
	mu   invariant.Mutex // a leaf
	free []*reader
}

func (rs *readers) init() { rs.mu.SetRank(rankLeaf, "readers") }

// readersMax is the number of unused readers that are kept.
const readersMax = 64

func (rs *readers) take() *reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if n := len(rs.free); n > 0 {
		r := rs.free[n-1]
		rs.free = rs.free[:n-1]
		return r
	}
	r := &reader{}
	r.emit = func(m message.Message) bool {
		r.hits++
		r.seq = m.Seq
		if m.Kind == message.Put {
			r.base = append(r.base[:0], m.Value...)
		}
		r.more = r.fold.Add(m)
		r.found = !r.more && m.Kind == message.Put
		return r.more
	}
	return r
}

func (rs *readers) give(r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(rs.free) < readersMax {
		rs.free = append(rs.free, r)
		return
	}
	r.scratch.Close()
}

// shrink frees the unused readers, and reports whether there were any.
func (rs *readers) shrink() bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	some := len(rs.free) > 0
	for _, r := range rs.free {
		r.scratch.Close()
	}
	rs.free = nil
	return some
}

// Get appends the key's value to dst and returns the longer slice. Without a
// value the error is ErrNotFound. With any other error nothing is known about
// the key.
func (db *DB) Get(key, dst []byte) ([]byte, error) {
	if db.spaces.hides(key) {
		return dst, ErrNotFound
	}
	return db.getLatest(key, dst)
}

// getLatest is Get for a key as it is stored.
func (db *DB) getLatest(key, dst []byte) ([]byte, error) {
	// The version is taken before the state: a value read from a tree older than
	// the version must not enter the cache.
	version := db.cache.Version()
	s := db.acquire()
	defer db.release(s)
	return db.get(s, key, db.writer.seen(), dst, !db.uncached.Load(), version)
}

// get reads the key as of change number at. Latest means that a newer value
// would be acceptable, so that the record cache may be used.
func (db *DB) get(s *state, key []byte, at message.Seq, dst []byte, latest bool, version uint64) ([]byte, error) {
	if err := db.open(); err != nil {
		return dst, err
	}
	if !sampled(uint64(db.metrics.gets.Add(1))) {
		return db.search(s, key, at, dst, latest, version)
	}
	start, before := db.clock.Now(), len(dst)
	dst, err := db.search(s, key, at, dst, latest, version)
	db.timed(&db.operations.get, start, len(dst)-before)
	return dst, err
}

// search is get without the measuring.
func (db *DB) search(s *state, key []byte, at message.Seq, dst []byte, latest bool, version uint64) ([]byte, error) {
	r := db.readers.take()
	defer db.readers.give(r)
	r.fold.Reset(key, dst, db.opt.Merger)
	for _, m := range s.mems {
		more, operands := lookIn(m.table, key, at, &r.fold)
		if !more {
			return db.value(r, key)
		}
		// The record cache may be ahead of this state, by a tree that has the
		// operands.
		latest = latest && !operands
	}
	if latest && !db.cache.Empty() {
		if value, ok := db.cache.GetRecord(key, r.base[:0]); ok {
			r.base = value
			db.metrics.recordHits.Add(1)
			r.fold.Add(message.Message{Key: key, Value: value, Seq: 1, Kind: message.Put})
			return db.value(r, key)
		}
	}
	found, err := db.lookInTree(s.root, r, key, at)
	if err != nil {
		return dst, explain(err)
	}
	if latest && found && len(r.base) <= recordMax {
		db.cache.PutRecord(key, r.base, version)
	}
	return db.value(r, key)
}

// recordMax is the longest value that the record cache keeps, in bytes.
const recordMax = 4 << 10

// lookIn looks for the key in a memtable, and reports whether older messages
// matter, and whether there were operands.
func lookIn(t *memtable.Table, key []byte, at message.Seq, fold *merge.Fold) (more, operands bool) {
	cover := t.Covering(key, at)
	if cover > 0 {
		fold.Cover(cover)
	}
	for p := t.Find(key, at); p != memtable.None; p = t.Older(p) {
		if !fold.Add(t.At(p)) {
			return false, operands
		}
		operands = true
	}
	// A tombstone hides all that is older than this memtable.
	return cover == 0, operands
}

// lookInTree looks for the key in the branches, newest first. Found reports
// that the search ended with a Put, whose value is in r.base.
func (db *DB) lookInTree(root *trunk.Node, r *reader, key []byte, at message.Seq) (found bool, err error) {
	r.refs = root.Path(key, r.refs[:0])
	hash := filter.Hash(key)
	merges := 0 // that are newer than the Put: then its value alone is not the tree's
	for i := range r.refs {
		b := r.refs[i].Branch
		var cover message.Seq
		if b.HasTombstones() {
			if cover = b.Index.Covering(key, at); cover > 0 {
				r.fold.Cover(cover)
			}
		}
		may, err := b.Index.May(hash, db.cache, &r.scratch)
		if err != nil {
			return false, err
		}
		if may {
			db.metrics.probes.Add(1)
			r.base, r.hits, r.more, r.found = r.base[:0], 0, true, false
			if err := b.Index.Get(key, at, db.cache, &r.scratch, r.emit); err != nil {
				return false, err
			}
			if !r.more {
				return r.found && merges+r.hits == 1 && r.seq > cover, nil
			}
			merges += r.hits
			if r.hits == 0 {
				db.metrics.misled.Add(1)
				if base := r.refs[len(r.refs)-1]; base.Base && i+1 < len(r.refs) {
					base.Branch.Heat(1)
				}
			}
		}
		if cover > 0 {
			return false, nil
		}
	}
	return false, nil
}

// value is the end of a point read.
func (db *DB) value(r *reader, key []byte) ([]byte, error) {
	value, exists, err := r.fold.Value()
	if err != nil {
		return value, explain(err)
	}
	if ref, is := r.fold.Blob(); is {
		blob, err := db.readBlob(ref, key, nil)
		if err != nil {
			return value, err
		}
		return r.fold.Over(blob), nil
	}
	if !exists {
		return value, ErrNotFound
	}
	return value, nil
}

// readBlob appends a large value to dst.
func (db *DB) readBlob(ref message.BlobRef, key, dst []byte) ([]byte, error) {
	return db.readBlobOf(db.files.data, ref, key, dst)
}

// readBlobOf is readBlob for a file that has the same pages.
func (db *DB) readBlobOf(file env.File, ref message.BlobRef, key, dst []byte) ([]byte, error) {
	end := db.space.end()
	if ref.Addr > end-int64(ref.Len) {
		return dst, db.badBlob(ref, key, fmt.Sprintf("a large value within the file of %d bytes", end), fmt.Sprintf("%d bytes", ref.Len))
	}
	size := min((int(ref.Len)+extent.PageSize-1)/extent.PageSize*extent.PageSize, blobPiece)
	buf, ok := db.pool.Alloc(max(size, extent.PageSize))
	if !ok {
		return dst, fmt.Errorf("%w: no buffer of %d bytes", ErrMemory, size)
	}
	defer db.pool.Free(buf)
	from := len(dst)
	for left, addr := int(ref.Len), ref.Addr; left > 0; addr += int64(len(buf)) {
		n := min(left, len(buf))
		whole := (n + extent.PageSize - 1) / extent.PageSize * extent.PageSize
		if err := datafile.ReadFull(file, buf[:whole], addr); err != nil {
			return dst, err
		}
		dst = append(dst, buf[:n]...)
		left -= n
	}
	if crc := crc32.Checksum(dst[from:], db.crc); crc != ref.CRC {
		return dst[:from], db.badBlob(ref, key, fmt.Sprintf("checksum 0x%08x", ref.CRC), fmt.Sprintf("0x%08x", crc))
	}
	return dst, nil
}

func (db *DB) badBlob(ref message.BlobRef, key []byte, want, found string) error {
	return &CorruptError{File: datafile.Name, Offset: ref.Addr, Lo: append([]byte(nil), key...), Hi: append([]byte(nil), key...), Want: want, Found: found}
}

// open returns an error if the store is not open.
func (db *DB) open() error {
	if db.closing.Load() {
		return ErrClosed
	}
	return nil
}
