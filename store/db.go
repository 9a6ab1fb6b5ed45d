// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/cache"
	"github.com/ashlar-dev/ashlar/internal/store/slab"
	"github.com/ashlar-dev/ashlar/internal/store/table"
)

// DB is an open store. Its parts have locks of their own or are guarded by mu,
// and are used by their methods only; ranks.go has the order of the locks.
type DB struct {
	opt        Options
	files      files
	life       life
	clock      env.Clock
	tracer     env.Tracer
	traced     bool // there is a tracer
	log        *slog.Logger
	pool       *slab.Pool
	coder      *block.Coder
	crc        *crc32.Table // of large values
	cache      *cache.Cache
	metrics    counters
	operations operations

	// current is the state that readers use.
	current    atomic.Pointer[state]
	readers    readers
	views      views
	indexBytes atomic.Int64

	// mu guards the path of changes, the tree, and the schedule.
	mu     invariant.Mutex
	writer writer
	tree   tree
	work   schedule

	spaces keyspaces
	// ingest is the one that is open, under mu. While uncached is set, readers leave
	// the record cache alone.
	ingest   *Ingest
	uncached atomic.Bool

	checkpoints checkpointer
	journal     journaler
	durable     durability
	history     history
	space       *space
	room        room
	full        atomic.Bool // the last put that asked for room was refused
	pacing      pacing
	rate        rate
	notices     notices
	txs         transactions
	copies      atomic.Uint64 // made by Checkpoint
	kept        keeper
	gone        gone

	stopped atomic.Pointer[error]
	closing atomic.Bool // set under mu
}

// files are those of the store. They stay the same from recovery to Close.
type files struct {
	disk   env.Disk
	dir    string
	data   env.File
	direct bool // data is not read through the page cache
	lock   io.Closer
}

// open opens a file past the page cache, if the disk can.
func (f *files) open(name string, create bool) (file env.File, direct bool, err error) {
	if d, ok := f.disk.(env.DirectDisk); ok {
		return d.OpenDirect(name, create)
	}
	file, err = f.disk.Open(name, create)
	return file, false, err
}

func (f *files) close() (err error) {
	if f.data != nil {
		err = f.data.Close()
	}
	if f.lock != nil {
		err = cmp.Or(err, f.lock.Close())
	}
	return err
}

// life has the identity of this store, and of its present life. It does not change.
type life struct {
	uuid    [16]byte // of the store
	store   uint64   // the store's name, in its journal
	session uint64   // drawn at random
	epoch   uint64   // counted by superblocks
}

// number returns a number that no other life of the store has.
func (l life) number() uint64 { return l.session & table.LifeMax }

// err is the reason why the store accepts no changes, or nil.
func (db *DB) err() error {
	if err := db.stopped.Load(); err != nil {
		return *err
	}
	return nil
}

// stop ends all changes because of an external error, and returns the error
// that every later change gets.
func (db *DB) stop(cause error) error {
	err := fmt.Errorf("%w: %w", ErrStopped, cause)
	if db.stopped.CompareAndSwap(nil, &err) {
		db.log.Error("the store accepts no more changes", "error", cause)
		db.tracer.Trace(env.Mark("store.stopped"))
		db.notices.add(Stopped{err})
		if !db.opt.Tuning.Inline {
			// Waiting callers hold no lock, but the caller of stop may.
			go func() {
				db.durable.wake()
				db.mu.Lock()
				defer db.mu.Unlock()
				db.work.wakeAll()
			}()
		}
	}
	return *db.stopped.Load()
}

// newID returns a number that no branch or node of this store has had.
func (db *DB) newID() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.tree.newID()
}

func (db *DB) branchOptions(p purpose, last bool) branch.Options {
	o := branch.Options{File: db.files.data, Alloc: pagesFor{db.space, p}, Pool: db.pool, Coder: db.coder, Last: last}
	if db.opt.Compression == None {
		o.Compression = branch.None
	}
	o.Resident = db.residentBytes(last)
	if size := db.opt.Tuning.MemtableBytes; size < 1<<20 {
		o.WriteBytes = 32 << 10
	}
	return o
}

// indexPart is the part of the pool's memory that indexes may use before they stay
// in the file. Bases may use all but a quarter of it: newer branches are smaller
// and are read more often.
const indexPart = 3

// residentBytes is the longest index that would be kept in memory now.
func (db *DB) residentBytes(base bool) int64 {
	most := db.pool.Limit() / indexPart
	if base {
		most -= most / 4
	}
	return max(most-db.indexBytes.Load(), 1)
}

// relieve frees memory of the pool for a piece of n bytes: from the cache first,
// then from the buffers of point reads, then from iterators, which are parked. When
// all of them are exhausted, the limit is exceeded: the requested memory is what a
// call needs to finish, and finishing it frees memory. The caller may hold any lock
// of the store except those of the cache.
func (db *DB) relieve(n int) slab.Answer {
	if db.cache == nil {
		return slab.Exceed // recovery: what it reads must fit
	}
	if have := db.cache.Budget(); have > 0 {
		db.cache.Resize(max(have-max(2*int64(n), have/8), 0))
		return slab.Retry
	}
	if db.readers.shrink() || db.views.park() {
		return slab.Retry
	}
	return slab.Exceed
}

// memFreed is called when a memtable's memory was freed.
func (db *DB) memFreed() {
	if db.cache != nil {
		db.cache.Resize(db.cacheBytes())
	}
}

// regrowCache returns to the cache the unused part of the memory that a shortage
// took from it.
func (db *DB) regrowCache() {
	free := db.pool.Limit() - db.pool.Used() - db.buffersShare()
	if have := db.cache.Budget(); have < db.cacheBytes() && free > 0 {
		db.cache.Resize(min(db.cacheBytes(), have+free))
	}
}

// cacheBytes is the memory available to the cache: what two memtables, the
// indexes and buffers do not need.
func (db *DB) cacheBytes() int64 {
	if db.opt.Tuning.CacheBytes > 0 {
		return db.opt.Tuning.CacheBytes
	}
	limit := db.pool.Limit()
	memtable := int64(db.opt.Tuning.MemtableBytes)
	return max(limit-2*(memtable+memtable/8)-db.indexBytes.Load()-db.buffersShare(), 0)
}

// crowded reports whether one more memtable would leave the background too
// little memory to write one: to sort it, and for the fences, the filter and
// the buffers of its branch. The cache's memory does not count: it is given up
// on demand.
func (db *DB) crowded() bool {
	memtable := int64(db.opt.Tuning.MemtableBytes)
	held := db.pool.Used() - db.cache.Taken()
	return held+memtable+memtable/4 > db.pool.Limit()-memtable-memtable/2
}

// buffersShare is the memory for reading and writing, in bytes.
func (db *DB) buffersShare() int64 { return min(db.pool.Limit()/8, buffersShareMax) }

// Close ends the store: it makes all changes durable, unless an error has stopped the store. Open iterators end with
// ErrClosed. So does a running Copy that has not read all pages, as soon as its current Write returns, for which
// Close does not wait.
func (db *DB) Close() error {
	err := db.open()
	if err != nil {
		return err
	}
	if !db.opt.ReadOnly && db.err() == nil {
		err = db.flushAll(true)
		if mayPass(err) || errors.Is(err, ErrMemory) {
			err = db.syncTo(db.askSync()) // the journal may have room where the tree has none
		}
	} else if !db.opt.ReadOnly {
		err = db.err()
	}
	db.journal.testify()
	err = db.shut(err)
	db.notices.close()
	return err
}

// enter prevents the shutdown of the store until db.work.leave is called: it is
// for calls that use memory of the pool, or branches, without holding a lock or
// an acquired state.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closing.Load() {
		return ErrClosed
	}
	db.work.enter()
	return nil
}

// awaitReaders returns when no reader has a state. By then the store returns
// ErrClosed to new calls.
func (db *DB) awaitReaders() {
	db.gone.await(func() bool {
		s := db.current.Load()
		return s == nil || s.pins.Load() == 1 && s.holds.Load() == 1 // no older state is left
	})
}

// shut ends the workers and frees everything.
func (db *DB) shut(err error) error {
	db.mu.Lock()
	if db.closing.Swap(true) {
		db.mu.Unlock()
		return ErrClosed
	}
	db.work.wakeAll()
	db.mu.Unlock()
	db.work.end()
	db.endIngest()
	closed := error(ErrClosed)
	db.stopped.CompareAndSwap(nil, &closed)
	db.durable.wake()
	db.views.close()
	// Calls that are running end; no new one begins. Readers may need the
	// locks, and holders of the locks may make new states.
	db.awaitReaders()
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	db.journal.lock()
	defer db.journal.unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.awaitReaders()
	db.free()
	err = cmp.Or(err, db.journal.close(), db.files.close())
	db.pool.Close()
	return err
}

// free frees memory. There are no more readers.
func (db *DB) free() {
	db.writer.free()
	if s := db.current.Load(); s != nil {
		for _, m := range s.mems {
			db.unrefMem(m)
		}
	}
	db.tree.free()
	db.readers.shrink()
	if db.cache != nil {
		db.cache.Close()
	}
}
