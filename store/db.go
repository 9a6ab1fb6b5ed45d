package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/block"
	"github.com/ashlar-dev/ashlar/store/branch"
	"github.com/ashlar-dev/ashlar/store/cache"
	"github.com/ashlar-dev/ashlar/store/journal"
	"github.com/ashlar-dev/ashlar/store/message"
	"github.com/ashlar-dev/ashlar/store/slab"
	"github.com/ashlar-dev/ashlar/store/table"
	"github.com/ashlar-dev/ashlar/store/trunk"
)

// The names in the directory of a store.
const (
	dataFile = "DATA"
	dataNew  = "DATA.new" // until it is complete
	lockFile = "LOCK"
)

// DB is an open store.
//
// Locks, in the order in which they may be taken: cmu, jmu, mu; smu, space.mu
// and those of the parts are taken last and alone.
type DB struct {
	opt        Options
	dir        string
	disk       env.Disk
	clock      env.Clock
	tracer     env.Tracer
	traced     bool // there is a tracer
	log        *slog.Logger
	castagnoli *crc32.Table
	pool       *slab.Pool
	cache      *cache.Cache
	coder      *block.Coder
	data       env.File
	direct     bool
	lock       interface{ Close() error }
	space      *space
	journal    *journal.Log
	readBuffer []byte // the journal's
	readers    readers
	metrics    counters

	current   atomic.Pointer[state]
	visible   atomic.Uint64 // number of the newest change that readers see
	stopped   atomic.Pointer[error]
	isClosing atomic.Bool
	pacing    atomic.Int64 // bytes written since a writer last looked
	paced     atomic.Bool  // the last check made a writer wait for compactions
	// The number of messages in the memtable being written, and how many of
	// them the flush has processed.
	flushTotal, flushDone atomic.Int64
	indexBytes            atomic.Int64
	views                 views
	epoch                 uint64
	name                  uint64 // the store's, in its journal
	mergerIsNew           bool   // no superblock has its name yet

	// mu guards the way of changes and the tree.
	mu            sync.Mutex
	work          *sync.Cond // there is work
	flushed       *sync.Cond // a memtable was flushed, or could not be
	idle          *sync.Cond // a worker has no work
	seq           message.Seq
	queue         []frame
	journalMems   []*mem // those that the journal holds, oldest first
	trunk         *trunk.Trunk
	branches      map[uint64]*trunk.Branch
	tombstoned    int // branches with range deletes
	changes       changes
	nextID        uint64
	copies        uint64 // made by Checkpoint
	kept          upkeep // of the tree
	jobs          []*trunk.Job
	spoiled       []*trunk.Job // merges that could not read an input
	failed        error        // the last background failure
	flushErr      error
	flushing      bool
	closing       bool
	journalWanted bool
	waiting       int // calls of Wait
	working       int // compactors that are not idle
	quiet         bool
	trimmed       bool // since something was last done
	lastSeq       message.Seq
	lastReads     int64

	// cmu is held by a flush or a checkpoint.
	cmu   sync.Mutex
	table *table.Table
	super table.Superblock // changed under cmu and mu

	// jmu is held by a writer of the journal or of a superblock.
	jmu          sync.Mutex
	slot         int // of the newest superblock
	chain        uint32
	chainSession uint64
	session      uint64
	started      bool // the session has written a frame
	journaled    message.Seq

	durable durability

	// roomMu is held by a call that makes room on a full disk, and tight by one
	// that merges there. Both are taken before all other locks, roomMu first.
	roomMu, tight sync.Mutex

	workers  sync.WaitGroup
	timerMu  sync.Mutex
	timer    env.Timer
	timerOff bool
}

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
		db.log.Error("the store takes no more changes", "error", cause)
		db.tracer.Trace(env.Mark("store.stopped"))
		if !db.opt.Tuning.Inline {
			// Waiting callers hold no lock, but the caller of stop may.
			go func() {
				db.mu.Lock()
				defer db.mu.Unlock()
				db.work.Broadcast()
				db.flushed.Broadcast()
				db.idle.Broadcast()
			}()
		}
	}
	return *db.stopped.Load()
}

// newID returns a number that no branch or node of this store has had.
func (db *DB) newID() uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.nextIDLocked()
}

func (db *DB) nextIDLocked() uint64 {
	db.nextID++
	return db.nextID
}

func (db *DB) branchOptions(p purpose, last bool) branch.Options {
	o := branch.Options{File: db.data, Alloc: pagesFor{db.space, p}, Pool: db.pool, Coder: db.coder, Last: last}
	if db.opt.Compression == None {
		o.Compression = branch.None
	}
	// Without a cache filters save nothing, and most of an index is filter.
	o.Unfiltered = db.indexBytes.Load() > db.pool.Limit()/2
	if size := db.opt.Tuning.MemtableBytes; size < 1<<20 {
		o.WriteBytes = 32 << 10
	}
	return o
}

// relieve frees memory of the pool for a piece of n bytes: from the cache
// first, then from the buffers of point reads, then from iterators, which are
// parked. When all of them have given everything, the limit is exceeded: the
// memory requested then is what a call needs to finish, and finishing it frees
// memory. The caller may hold any lock of the store but those of the cache.
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

// regrowCache returns to the cache the memory that a shortage took from it, as
// far as it is unused now.
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

// Close ends the store: it makes all changes durable, unless an error has
// stopped the store. Iterators that are still open end with ErrClosed.
func (db *DB) Close() error {
	err := db.open()
	if err != nil {
		return err
	}
	if !db.opt.ReadOnly && db.err() == nil {
		err = db.flushAll(true)
		if errors.Is(err, env.ErrNoSpace) || errors.Is(err, ErrMemory) {
			err = db.syncTo(db.askSync()) // the journal may have room where the tree has none
		}
	} else if !db.opt.ReadOnly {
		err = db.err()
	}
	return db.shut(err)
}

// enter prevents the shutdown of the store until db.workers.Done is called: it
// is for calls that use memory of the pool, or branches, without holding a lock
// or an acquired state.
func (db *DB) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closing {
		return ErrClosed
	}
	db.workers.Add(1)
	return nil
}

// awaitReaders returns when no reader has a state. By then the store returns
// ErrClosed to new calls.
func (db *DB) awaitReaders() {
	for {
		s := db.current.Load()
		if s == nil || s.pins.Load() == 1 && s.holds.Load() == 1 { // no older state is left
			return
		}
		runtime.Gosched()
	}
}

// shut ends the workers and frees everything.
func (db *DB) shut(err error) error {
	db.mu.Lock()
	if db.closing {
		db.mu.Unlock()
		return ErrClosed
	}
	db.closing = true
	db.isClosing.Store(true)
	db.work.Broadcast()
	db.flushed.Broadcast()
	db.idle.Broadcast()
	db.mu.Unlock()
	db.timerMu.Lock()
	db.timerOff = true
	if db.timer != nil {
		db.timer.Stop()
	}
	db.timerMu.Unlock()
	db.workers.Wait()
	closed := error(ErrClosed)
	db.stopped.CompareAndSwap(nil, &closed)
	db.views.close()
	// Calls that are running end; no new one begins. Readers may need the
	// locks, and holders of the locks may make new states.
	db.awaitReaders()
	db.cmu.Lock()
	defer db.cmu.Unlock()
	db.jmu.Lock()
	defer db.jmu.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	db.awaitReaders()
	db.free()
	if db.journal != nil {
		err = first(err, db.journal.Close())
	}
	if db.data != nil {
		err = first(err, db.data.Close())
	}
	if db.lock != nil {
		err = first(err, db.lock.Close())
	}
	db.pool.Close()
	return err
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// free frees memory. There are no more readers.
func (db *DB) free() {
	for _, m := range db.journalMems {
		db.unrefMem(m)
	}
	if s := db.current.Load(); s != nil {
		for _, m := range s.mems {
			db.unrefMem(m)
		}
	}
	for _, b := range db.branches {
		b.Index.Close()
	}
	db.readers.shrink()
	if db.cache != nil {
		db.cache.Close()
	}
	if db.readBuffer != nil {
		db.pool.Free(db.readBuffer)
	}
}
