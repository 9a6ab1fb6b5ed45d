// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// Snapshot is the store as of the moment when the snapshot was taken. It keeps
// the older values of keys that change meanwhile, and must be closed. It is
// safe for concurrent use.
type Snapshot struct {
	db     *DB
	seq    message.Seq
	closed atomic.Bool
}

// Snapshot takes a snapshot of the visible state.
func (db *DB) Snapshot() *Snapshot {
	db.mu.Lock()
	defer db.mu.Unlock()
	s := &Snapshot{db: db, seq: db.writer.last()}
	db.views.add(s.seq)
	return s
}

// Seq is the number of the last change in the snapshot.
func (s *Snapshot) Seq() uint64 { return uint64(s.seq) }

// Get is DB.Get in the snapshot.
func (s *Snapshot) Get(key, dst []byte) ([]byte, error) {
	if s.db.spaces.hides(key) {
		return dst, ErrNotFound
	}
	return s.get(key, dst)
}

// get is Get for a key as it is stored.
func (s *Snapshot) get(key, dst []byte) ([]byte, error) {
	st := s.db.acquire()
	defer s.db.release(st)
	if s.closed.Load() { // a later state may lack what it needs
		return dst, ErrClosed
	}
	return s.db.get(st, key, s.seq, dst, false, 0)
}

// Iter is DB.Iter in the snapshot. The iterator remains valid after the
// snapshot is closed.
func (s *Snapshot) Iter(lo, hi []byte) (*Iterator, error) {
	return s.Iterate(IterOptions{Lo: lo, Hi: hi})
}

// Close releases the snapshot. Closing again does nothing.
func (s *Snapshot) Close() {
	if !s.closed.Swap(true) {
		s.db.views.remove(s.seq)
	}
}

// Iterator iterates over the keys with a value in its bounds, as of the moment
// when it was made, in both directions. A new Iterator is at no key. The moves
// report whether the iterator is at a key; when one returns false, Err
// distinguishes the end from a failure. An Iterator is for one goroutine. The
// caller must close it; until then it costs what a Snapshot does. If the store
// is closed first, the moves return false, and Err is ErrClosed.
//
// An Iterator holds memtables, branches and buffers only while memory is
// plentiful. When memory is short it is parked between two moves: it releases
// everything but a copy of its position, and the next move finds the position
// again in the newest tree, by the number of the change at which the Iterator
// was made. Compactions keep what that number sees, as they do for a Snapshot.
type Iterator struct {
	db       *DB
	at       message.Seq
	space    *Keyspace // nil: the default one
	lo, hi   []byte    // as they are stored
	keysOnly bool
	reverse  bool

	// mu is held by a move, and while the iterator is being parked.
	mu      invariant.Mutex
	moved   bool   // since the iterator was last considered for parking
	state   *state // nil: it is parked
	mems    []*memtable.View
	visible merge.Visible
	place   position
	keys    int64 // at which it was

	key, value []byte // the position; the value is a copy
	ref        message.BlobRef
	apart      bool // the value is a large one, at ref
	fetched    bool // and has been read
	err        error
	closed     bool
}

// position is the place of an Iterator, as far as a new Visible needs it.
type position uint8

const (
	nowhere position = iota
	beforeFirst
	standing
	afterLast
)

// Iter returns an iterator over the keys in [lo, hi); nil bounds are open. It
// copies the bounds.
func (db *DB) Iter(lo, hi []byte) (*Iterator, error) {
	return db.Iterate(IterOptions{Lo: lo, Hi: hi})
}

func (db *DB) iter(k *Keyspace, o IterOptions, at message.Seq) (*Iterator, error) {
	lo, hi, err := o.bounds()
	if err != nil {
		return nil, err
	}
	lo, hi = db.spaces.bounds(k, lo, hi)
	return db.openIter(&Iterator{db: db, space: k, lo: lo, hi: hi, keysOnly: o.KeysOnly, reverse: o.Reverse}, at)
}

// openIter makes an iterator one of that moment.
func (db *DB) openIter(it *Iterator, at message.Seq) (*Iterator, error) {
	it.mu.SetRank(rankIterator, "iterator")
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := db.open(); err != nil {
		return nil, err
	}
	it.at = min(at, db.writer.last())
	db.views.addIterator(it)
	db.metrics.iterators.Add(1)
	return it, nil
}

// unpark acquires what the moves need. The caller holds it.mu.
func (it *Iterator) unpark() error {
	db := it.db
	db.mu.Lock()
	if err := db.open(); err != nil {
		db.mu.Unlock()
		return err
	}
	it.state = db.acquire()
	db.views.unparked()
	for _, m := range it.state.mems {
		v, ok := m.table.View()
		if !ok {
			db.mu.Unlock()
			it.park()
			return fmt.Errorf("%w: no room to sort a memtable", ErrMemory)
		}
		it.mems = append(it.mems, v)
	}
	db.mu.Unlock()
	it.merge()
	return nil
}

// merge makes the moves' view of the state, within the bounds.
func (it *Iterator) merge() {
	db := it.db
	var sources []merge.Source
	for _, v := range it.mems {
		if v.Len() == 0 {
			continue
		}
		source := merge.Source{Iter: merge.Points{Iter: v.Iter()}}
		if v.Tombstones().Len() > 0 {
			source.Tombstones = v.Tombstones()
		}
		sources = append(sources, source)
	}
	tree := &treeIter{db: db, root: it.state.root, lo: it.lo, hi: it.hi}
	source := merge.Source{Iter: tree, MaxSeq: it.state.newest()}
	if it.state.tombstones {
		source.Tombstones = &treeTombstones{state: it.state}
	}
	sources = append(sources, source)
	it.visible.Reset(sources, merge.View{At: it.at, Lo: it.lo, Hi: it.hi, KeysOnly: it.keysOnly, Merger: db.opt.Merger})
}

// park releases what the moves need. The caller holds it.mu.
func (it *Iterator) park() {
	if it.state == nil {
		return
	}
	it.visible.Close()
	for _, v := range it.mems {
		v.Release()
	}
	it.mems = it.mems[:0]
	it.db.release(it.state)
	it.db.views.parked()
	it.state = nil
}

// treeTombstones are the range tombstones of the tree: in each partition, those of the
// branches to which it refers.
type treeTombstones struct {
	state *state
	part  trunk.Partition // the last one
}

// Newest implements merge.Tombstones.
func (t *treeTombstones) Newest() message.Seq { return t.state.newest() }

// Around implements merge.Tombstones.
func (t *treeTombstones) Around(p message.Place, at message.Seq) message.Cover {
	all := message.Cover{Lo: t.part.Lo, Hi: t.part.Hi}
	if t.part.Refs == nil || !all.Has(p) {
		if t.part = t.state.root.At(p.At); p.Below {
			t.part = t.state.root.Before(p.At)
		}
		all = message.Cover{Lo: t.part.Lo, Hi: t.part.Hi}
	}
	for _, r := range t.part.Refs { // newest first
		if r.Branch.HasTombstones() && r.Branch.Index.Newest() > all.Seq {
			all.Meet(r.Branch.Index.Cover(p, at))
		}
	}
	return all
}

// First moves to the first key.
func (it *Iterator) First() bool { return it.toEnd(it.reverse) }

// Last moves to the last key.
func (it *Iterator) Last() bool { return it.toEnd(!it.reverse) }

// SeekGE moves to the least key at or above key, also with IterOptions.Reverse.
func (it *Iterator) SeekGE(key []byte) bool {
	key = it.space.stored(key)
	return it.seek(func(v *merge.Visible) bool { return v.SeekGE(key) }, afterLast)
}

// SeekLT moves to the greatest key below key, also with IterOptions.Reverse.
func (it *Iterator) SeekLT(key []byte) bool {
	key = it.space.stored(key)
	return it.seek(func(v *merge.Visible) bool { return v.SeekLT(key) }, beforeFirst)
}

// Next moves to the next key: a larger one, or with IterOptions.Reverse a smaller
// one.
func (it *Iterator) Next() bool { return it.step(it.reverse) }

// Prev moves to the key before, as Next would in the other direction.
func (it *Iterator) Prev() bool { return it.step(!it.reverse) }

// toEnd moves to the least key, or to the greatest.
func (it *Iterator) toEnd(greatest bool) bool {
	if greatest {
		return it.seek((*merge.Visible).Last, beforeFirst)
	}
	return it.seek((*merge.Visible).First, afterLast)
}

// seek is move, which it measures now and then.
func (it *Iterator) seek(how func(*merge.Visible) bool, end position) bool {
	db := it.db
	if !sampled(uint64(db.metrics.seeks.Add(1))) {
		return it.move(how, end)
	}
	start := db.clock.Now()
	ok := it.move(how, end)
	db.operations.seek.latency.Add(int64(db.clock.Now().Sub(start)))
	return ok
}

// step moves to the next larger key, or to the next smaller one.
func (it *Iterator) step(smaller bool) bool {
	if smaller {
		return it.move(it.prev, beforeFirst)
	}
	return it.move(it.next, afterLast)
}

// next is Visible.Next, also when v was made since the last move.
func (it *Iterator) next(v *merge.Visible) bool {
	switch {
	case v.Moved():
		return v.Next()
	case it.place == standing:
		return v.SeekGE(append(bytes.Clone(it.key), 0))
	}
	return it.place != afterLast && v.First()
}

// prev is Visible.Prev, also when v was made since the last move.
func (it *Iterator) prev(v *merge.Visible) bool {
	switch {
	case v.Moved():
		return v.Prev()
	case it.place == standing:
		return v.SeekLT(bytes.Clone(it.key))
	}
	return it.place != beforeFirst && v.Last()
}

// move makes a move; end is where the iterator is when there is no key.
func (it *Iterator) move(how func(*merge.Visible) bool, end position) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.closed || it.err != nil {
		return false
	}
	if it.state == nil {
		if it.err = it.unpark(); it.err != nil {
			return false
		}
	}
	it.moved, it.apart, it.fetched = true, false, false
	if !how(&it.visible) {
		it.place = end
		return false
	}
	it.place, it.key = standing, it.visible.Key()
	it.keys++
	if it.keysOnly {
		return true
	}
	if it.ref, it.apart = it.visible.Blob(); !it.apart {
		it.value = append(it.value[:0], it.visible.Value()...)
	}
	return true
}

// Key returns the key. It is valid until the next move.
func (it *Iterator) Key() []byte {
	invariant.Check(it.place == standing, "Key of an iterator that is not at a key")
	return it.key[len(it.space.start()):]
}

// Value returns the key's value. It is valid until the next move. An unreadable
// value is nil, and Err returns the reason; with IterOptions.KeysOnly all values are
// nil.
func (it *Iterator) Value() []byte {
	invariant.Check(it.place == standing, "Value of an iterator that is not at a key")
	if it.apart && !it.fetched {
		it.mu.Lock()
		defer it.mu.Unlock()
		blob, err := []byte(nil), it.db.open()
		if err == nil {
			blob, err = it.db.readBlob(it.ref, it.key, nil)
		}
		if err != nil {
			it.err = err
			return nil
		}
		it.value, it.fetched = it.visible.Over(it.value[:0], blob), true
	}
	return it.value
}

// Err returns the reason why the iterator stopped, or nil at an end.
func (it *Iterator) Err() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.failure()
}

// failure is Err for a caller that holds it.mu.
func (it *Iterator) failure() error {
	if it.err != nil {
		return it.err
	}
	return explain(it.visible.Err())
}

// Close releases what the iterator holds, and returns Err. Closing again does
// nothing.
func (it *Iterator) Close() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.closed {
		return nil
	}
	err := it.failure()
	it.closed = true
	it.db.operations.seek.size.Add(it.keys)
	it.park()
	it.db.views.removeIterator(it)
	return err
}

// treeIter walks over all messages of the tree in [lo, hi): over one partition
// after the other, in each of which it merges the branches.
type treeIter struct {
	db     *DB
	root   *trunk.Node
	lo, hi []byte
	part   trunk.Partition
	in     message.Iter // nil: nowhere
	err    error
}

var _ message.Iter = (*treeIter)(nil)

// enter goes to a partition.
func (t *treeIter) enter(p trunk.Partition) {
	t.Close()
	t.part = p
	lo, hi := t.bounds()
	sources := make([]message.Iter, 0, len(p.Refs))
	ahead := t.db.prefetch(len(p.Refs))
	for _, r := range p.Refs {
		if r.Branch.Meta.Records == 0 || !r.Branch.Index.Overlaps(lo, hi) {
			continue
		}
		sources = append(sources, r.Branch.Index.Iter(branch.IterOptions{
			Cache: t.db.cache, Prefetch: ahead, Lo: lo, Hi: hi, Eager: r.Base, Go: t.db.beside(),
		}))
	}
	if len(sources) == 1 {
		t.in = sources[0]
		return
	}
	if n := len(p.Refs); n > 1 && p.Refs[n-1].Base {
		p.Refs[n-1].Branch.Heat(len(sources) - 1)
	}
	t.in = merge.New(sources)
}

// scanPrefetch is how far a scan reads ahead in each branch at most, in bytes.
const scanPrefetch = 1 << 20

// prefetchUsers is for how many iterators memory to read ahead is kept at least:
// what one has taken it keeps until it is closed.
const prefetchUsers = 4

// prefetch is how far an iterator may read ahead in each of so many branches,
// in bytes: all iterators together use the memory for buffers, and leave that of
// memtables alone.
func (db *DB) prefetch(branches int) int {
	users := max(db.views.active(), prefetchUsers) * int64(max(branches, 1))
	if !db.opt.Tuning.Inline {
		users *= 2 // one window is walked over while the next is read
	}
	return int(min(db.buffersShare()/users, scanPrefetch))
}

// beside runs a task concurrently with the caller, or is nil.
func (db *DB) beside() func(task func()) {
	if db.opt.Tuning.Inline {
		return nil
	}
	return func(task func()) {
		go task()
		// On one processor the task would not begin before the caller waits
		// for it.
		runtime.Gosched()
	}
}

// bounds are those of the partition and of the iterator together.
func (t *treeIter) bounds() (lo, hi []byte) {
	lo, hi = t.part.Lo, t.part.Hi
	if bytes.Compare(lo, t.lo) < 0 {
		lo = t.lo
	}
	if t.hi != nil && (hi == nil || bytes.Compare(t.hi, hi) < 0) {
		hi = t.hi
	}
	return lo, hi
}

// forward continues to later partitions until one has something.
func (t *treeIter) forward(ok bool) bool {
	for !ok {
		if t.err = t.in.Err(); t.err != nil {
			return false
		}
		if t.part.Hi == nil || (t.hi != nil && bytes.Compare(t.part.Hi, t.hi) >= 0) {
			return false
		}
		t.enter(t.root.At(t.part.Hi))
		ok = t.in.First()
	}
	return true
}

// backward continues to earlier partitions until one has something.
func (t *treeIter) backward(ok bool) bool {
	for !ok {
		if t.err = t.in.Err(); t.err != nil {
			return false
		}
		if len(t.part.Lo) == 0 || bytes.Compare(t.part.Lo, t.lo) <= 0 {
			return false
		}
		t.enter(t.root.Before(t.part.Lo))
		ok = t.in.Last()
	}
	return true
}

func (t *treeIter) First() bool {
	t.enter(t.root.At(t.lo))
	return t.forward(t.in.First())
}

func (t *treeIter) Last() bool {
	t.enter(t.root.Before(t.hi))
	return t.backward(t.in.Last())
}

func (t *treeIter) SeekGE(key []byte) bool {
	if bytes.Compare(key, t.lo) < 0 {
		key = t.lo
	}
	t.enter(t.root.At(key))
	return t.forward(t.in.SeekGE(key))
}

func (t *treeIter) SeekLT(key []byte) bool {
	if t.hi != nil && bytes.Compare(key, t.hi) > 0 {
		key = t.hi
	}
	if key == nil {
		key = []byte{}
	}
	t.enter(t.root.Before(key))
	return t.backward(t.in.SeekLT(key))
}

func (t *treeIter) Next() bool { return t.forward(t.in.Next()) }
func (t *treeIter) Prev() bool { return t.backward(t.in.Prev()) }

func (t *treeIter) Message() message.Message { return t.in.Message() }

func (t *treeIter) Err() error { return t.err }

func (t *treeIter) Close() {
	if t.in != nil {
		t.in.Close()
		t.in = nil
	}
}
