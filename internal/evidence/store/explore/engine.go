// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
)

// Engine is the store of this project as a Subject: with all its work done in
// the caller, and so small that a few writes fill a memtable.
type Engine struct {
	Label   string
	Options store.Options
	// Transactions turns batches into transactions, which read the keys that they
	// change.
	Transactions bool
}

// Engines are the variants of the suite: each durability, values within
// branches and apart from them, with and without compression, one memtable or
// partition filled by few values or by many.
func Engines() []Subject {
	tune := func(memtable int, leaf int64, runs, blob int, cache int64) store.Tuning {
		return store.Tuning{MemtableBytes: memtable, LeafBytes: leaf, Fanout: 4, Runs: runs, BlobBytes: blob, CacheBytes: cache, Inline: true}
	}
	return []Subject{
		Engine{Label: "lazy", Options: store.Options{Tuning: tune(32<<10, 4<<10, 2, 8<<10, 64<<10)}},
		Engine{Label: "process", Options: store.Options{Durability: store.ProcessCrash, Compression: store.None, Tuning: tune(32<<10, 32<<10, 3, 512, 32<<10)}},
		Engine{Label: "commit", Options: store.Options{Durability: store.EveryCommit, Tuning: tune(32<<10, 4<<10, 3, 4<<10, 128<<10)}, Transactions: true},
		Engine{Label: "blobs", Options: store.Options{Compression: store.None, Tuning: tune(48<<10, 16<<10, 4, 600, 64<<10)}, Transactions: true},
		// Its segments are long enough for the things that the journal does only for
		// small frames.
		Engine{Label: "long", Options: store.Options{Tuning: tune(1<<20, 16<<10, 2, 4<<10, 64<<10)}},
	}
}

// engineMemory is the memory that an engine needs besides its memtables, in bytes.
const engineMemory = 4 << 20

// Name implements Subject.
func (e Engine) Name() string { return e.Label }

// Durable implements Subject.
func (e Engine) Durable(k OpKind) bool {
	return k == Sync || k == Flush || k == Reopen || k.Changes() && e.Options.Durability == store.EveryCommit
}

// Doubled implements Doubled: with the journal and the older superblock nothing is lost,
// if everything promised went through the journal.
func (e Engine) Doubled() (file string, pages []int64) {
	if e.Options.Durability != store.EveryCommit {
		return "", nil
	}
	return "DATA", []int64{0, 256}
}

// Witnesses implements Witnessing.
func (e Engine) Witnesses() bool { return true }

// Explains implements Subject.
func (e Engine) Explains(err error) bool {
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrStopped)
}

// Open implements Subject.
func (e Engine) Open(disk env.Disk, dir string, tracer env.Tracer) (Store, error) {
	o := e.Options
	o.Memory, o.Merger = engineMemory+4*int64(o.Tuning.MemtableBytes), Concat{}
	db, err := store.Open(env.Env{Clock: still{}, Random: env.Seeded(disk.(*Disk).number()), Disk: disk, Tracer: tracer}, dir, o)
	if err != nil {
		return nil, err
	}
	return &engine{db: db, batch: db.NewBatch(), transactions: e.Transactions}, nil
}

// number differs for every state of the disk, so that a number that a store draws never
// equals one of an earlier life.
func (d *Disk) number() uint64 {
	n := mix(uint64(d.changes), uint64(d.epoch))
	for _, i := range d.names {
		n += mix(i.now.sum, uint64(i.now.size))
	}
	return n
}

// still is a Clock that does not advance.
type still struct{}

func (still) Now() env.Instant { return 0 }
func (still) Wall() time.Time  { return time.Unix(0, 0) }
func (still) After(time.Duration, env.Waker) env.Timer {
	return still{}
}
func (still) Stop() bool { return true }

// engine is an open store.
type engine struct {
	db    *store.DB
	batch *store.Batch
	value []byte
	// transactions reports whether batches are transactions.
	transactions bool
}

func (e *engine) Commit(changes []Change, alone, durable bool) error {
	if alone && !durable {
		c := changes[0]
		switch c.Kind {
		case Put:
			return e.db.Put(c.Key, c.Value)
		case Delete:
			return e.db.Delete(c.Key)
		case Merge:
			return e.db.Merge(c.Key, c.Value)
		default:
			return e.db.DeleteRange(c.Key, c.Value)
		}
	}
	w := store.NoSync
	if durable {
		w = store.Sync
	}
	if e.transactions {
		return e.transact(changes, w)
	}
	e.batch.Reset()
	for _, c := range changes {
		switch c.Kind {
		case Put:
			e.batch.Put(c.Key, c.Value)
		case Delete:
			e.batch.Delete(c.Key)
		case Merge:
			e.batch.Merge(c.Key, c.Value)
		default:
			e.batch.DeleteRange(c.Key, c.Value)
		}
	}
	return e.db.Commit(e.batch, w)
}

// transact makes the changes in a transaction that reads each key before.
func (e *engine) transact(changes []Change, w store.Write) error {
	tx := e.db.Begin()
	defer tx.Discard()
	for _, c := range changes {
		var err error
		if e.value, err = tx.Get(c.Key, e.value[:0]); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		switch c.Kind {
		case Put:
			err = tx.Put(c.Key, c.Value)
		case Delete:
			err = tx.Delete(c.Key)
		case Merge:
			err = tx.Merge(c.Key, c.Value)
		default:
			err = tx.DeleteRange(c.Key, c.Value)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit(w)
}

func (e *engine) Wait() error                 { return e.db.Wait() }
func (e *engine) Sync() error                 { return e.db.Sync() }
func (e *engine) Flush() error                { return e.db.Flush() }
func (e *engine) Compact(lo, hi []byte) error { return e.db.Compact(lo, hi) }
func (e *engine) Checkpoint(dir string) error { return e.db.Checkpoint(dir) }
func (e *engine) Close() error                { return e.db.Close() }

func (e *engine) Verify() error {
	report, err := e.db.Verify(context.Background())
	return errors.Join(err, report.Err())
}

func (e *engine) Get(key []byte) ([]byte, bool, error) {
	var err error
	e.value, err = e.db.Get(key, e.value[:0])
	return found(e.value, err)
}

func (e *engine) Iter() (Cursor, error) { return e.db.Iter(nil, nil) }

func (e *engine) Snapshot() (View, error) { return &engineView{s: e.db.Snapshot()}, nil }

type engineView struct {
	s     *store.Snapshot
	value []byte
}

func (v *engineView) Get(key []byte) ([]byte, bool, error) {
	var err error
	v.value, err = v.s.Get(key, v.value[:0])
	return found(v.value, err)
}

func (v *engineView) Iter() (Cursor, error) { return v.s.Iter(nil, nil) }

func (v *engineView) Close() error {
	v.s.Close()
	return nil
}

func found(value []byte, err error) ([]byte, bool, error) {
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	return value, err == nil, err
}
