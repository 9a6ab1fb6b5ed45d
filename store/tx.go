// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/footprint"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// A transaction reads a snapshot and keeps its changes in a batch. It records the
// keys and ranges that it has read. Commit compares them with all changes since the
// snapshot, under the lock that numbers changes, and then commits the batch with the
// next numbers: so what was read is still true at the moment of the commit, and
// transactions take effect in the order of their numbers. validate.go finds those
// changes.

// ErrConflict reports that a key or range that a transaction has read was changed
// before its Commit. The transaction changed nothing; the caller may run it again
// from the beginning, as Update does.
var ErrConflict = errors.New("transaction conflict")

// Tx is a transaction: reads and changes that take effect together, at one moment, or
// not at all. Its reads see the store as of Begin, with the transaction's own
// changes. Transactions are strictly serializable: each one that has committed took
// effect at a moment between its Begin and the end of its Commit, and saw everything
// before that moment and nothing else. This includes all changes of the store, inside
// and outside of transactions. Nothing is locked: Commit returns ErrConflict if
// another change intervened.
//
// Conflicts are exact: a change of another key is not a conflict, and an Iterator has
// read only the part of a range that it has passed over. There is one exception:
// Commit compares recent changes in rounds, and returns ErrConflict if others have
// made more than 64 KiB of changes in each of eight rounds. A Tx that changes without
// reading, or only reads, has no conflicts. What a Tx reads is consistent even if it
// cannot commit.
//
// A Tx keeps the older values of keys that change meanwhile, as a Snapshot does, and
// must be ended by Commit or Discard. All open ones together may use an eighth of
// Options.Memory for what they have read and written; a call that would need more
// returns ErrMemory. A Tx is for one goroutine at a time, its iterators included.
type Tx struct {
	db       *DB
	snapshot Snapshot
	checked  mark // up to which no change touches what was read
	batch    Batch
	reads    footprint.Spans
	writes   footprint.Writes
	iters    map[*TxIterator]struct{}
	memory   int64 // that is charged
	err      error // of the first change that was refused
	ended    bool
}

// transactions is the state of the store's transactions.
type transactions struct {
	memory           atomic.Int64 // that all of them are charged
	begun, conflicts atomic.Int64
	waits            atomic.Uint64 // after conflicts
}

// txShare is the fraction of the store's memory, one in that many, that
// transactions may use; txStep is the size of the pieces in which they take it.
const (
	txShare = 8
	txStep  = 8 << 10
)

// Begin begins a transaction.
func (db *DB) Begin() *Tx {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.markNow()
	db.views.add(now.seq)
	db.txs.begun.Add(1)
	return &Tx{db: db, snapshot: Snapshot{db: db, seq: now.seq}, checked: now}
}

// Get appends the key's value to dst and returns the longer slice, as DB.Get does.
func (tx *Tx) Get(key, dst []byte) ([]byte, error) {
	if tx.db.spaces.hides(key) {
		return dst, ErrNotFound
	}
	return tx.get(key, dst)
}

// get is Get for a key as it is stored.
func (tx *Tx) get(key, dst []byte) ([]byte, error) {
	if tx.ended {
		return dst, ErrClosed
	}
	own, ok := tx.writes.Get(key)
	switch {
	case ok && own.Kind == message.Put:
		return append(dst, own.Value...), nil
	case ok && own.Kind == message.Delete:
		return dst, ErrNotFound
	}
	tx.reads.AddKey(key)
	if err := tx.charge(); err != nil {
		return dst, err
	}
	if !ok {
		return tx.snapshot.get(key, dst)
	}
	value, err := tx.snapshot.get(key, nil)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return dst, err
	}
	return tx.db.opt.Merger.Apply(dst, key, value, err == nil, own.Value), nil
}

// Put sets the value of the key. It copies both.
func (tx *Tx) Put(key, value []byte) error { return tx.change(nil, message.Put, key, value) }

// Delete removes the key, if it is present.
func (tx *Tx) Delete(key []byte) error { return tx.change(nil, message.Delete, key, nil) }

// DeleteRange removes all keys in [lo, hi).
func (tx *Tx) DeleteRange(lo, hi []byte) error {
	return tx.change(nil, message.RangeDelete, lo, hi)
}

// Merge applies the operand to the value of the key. It does not read the
// value.
func (tx *Tx) Merge(key, operand []byte) error { return tx.change(nil, message.Merge, key, operand) }

// change adds a change of a key as it is stored. An error is also that of Commit, so
// that a transaction is not committed without a part.
func (tx *Tx) change(k *Keyspace, kind message.Kind, key, value []byte) error {
	if tx.ended {
		return ErrClosed
	}
	err := tx.tryChange(k, kind, key, value)
	if tx.err == nil {
		tx.err = err
	}
	return err
}

func (tx *Tx) tryChange(k *Keyspace, kind message.Kind, key, value []byte) error {
	if k != nil && k.db != tx.db {
		return k.of(tx.db)
	}
	if err := tx.db.mayWrite(kind); err != nil {
		return err
	}
	if err := checkSize(kind, key, value); err != nil {
		return err
	}
	if kind == message.RangeDelete {
		if err := checkRange(key, value); err != nil || bytes.Equal(key, value) {
			return err
		}
	}
	if err := tx.chargeMore(opHeader + 2*len(key) + 2*len(value)); err != nil {
		return err
	}
	tx.batch.add(k, kind, key, value)
	switch kind {
	case message.Put:
		tx.writes.Put(key, value)
	case message.Delete:
		tx.writes.Delete(key)
	case message.Merge:
		tx.writes.Merge(key, value, tx.db.opt.Merger)
	default:
		tx.writes.DeleteRange(key, value)
	}
	return tx.charge()
}

// charge takes memory for what the transaction holds.
func (tx *Tx) charge() error { return tx.chargeMore(0) }

// chargeMore takes memory for what the transaction holds and n bytes more.
func (tx *Tx) chargeMore(n int) error {
	need := int64(tx.batch.Bytes() + tx.reads.Bytes() + tx.writes.Bytes() + n)
	if need <= tx.memory {
		return nil
	}
	db, more := tx.db, (need-tx.memory+txStep-1)/txStep*txStep
	all := db.txs.memory.Add(more)
	if most := db.pool.Limit() / txShare; all > most {
		db.txs.memory.Add(-more)
		return fmt.Errorf("%w: transactions use %d bytes, at most %d", ErrMemory, all-more, most)
	}
	if !db.pool.Charge(more) {
		db.txs.memory.Add(-more)
		return fmt.Errorf("%w: no room for %d bytes of a transaction", ErrMemory, more)
	}
	tx.memory += more
	return nil
}

// Commit makes the changes of the transaction visible, together, and ends it. With an
// ErrConflict, and with any error that Commit of a Batch returns for the same changes,
// it ends the transaction without them. Its durability is that of DB.Commit for a
// Batch: with Sync the changes are durable when it returns, and after a crash a
// transaction is present as a whole or not at all.
//
// For a transaction without changes Commit returns nil; with Sync, only after
// everything that the transaction may have read is durable. A read-only store makes
// nothing durable.
func (tx *Tx) Commit(w Write) error {
	if tx.ended {
		return ErrClosed
	}
	defer tx.Discard()
	if tx.err != nil {
		return tx.err
	}
	for it := range tx.iters {
		it.read()
	}
	if tx.batch.Len() == 0 && (w == NoSync || tx.db.opt.ReadOnly) {
		return tx.db.open()
	}
	if tx.batch.Len() == 0 || len(tx.reads.All()) == 0 {
		return tx.db.Commit(&tx.batch, w)
	}
	err := tx.validateAndCommit(w)
	if errors.Is(err, ErrConflict) {
		tx.db.txs.conflicts.Add(1)
	}
	return err
}

// Discard ends the transaction without its changes. After Commit or Discard it does
// nothing.
func (tx *Tx) Discard() {
	if tx.ended {
		return
	}
	tx.ended = true
	for it := range tx.iters {
		_ = it.end()
	}
	tx.snapshot.Close()
	tx.db.pool.Discharge(tx.memory)
	tx.db.txs.memory.Add(-tx.memory)
	tx.iters, tx.reads, tx.writes, tx.batch, tx.memory = nil, footprint.Spans{}, footprint.Writes{}, Batch{}, 0
}

// Update runs the function in a transaction and commits it. After a conflict it waits
// a moment and runs the function again in a new transaction. So the function must be
// safe to repeat, and must not call Commit or Discard. An error of the function ends
// Update without changes, unless it is an ErrConflict. Update returns an ErrConflict
// after UpdateTriesMax conflicts, and the context's error when that is done before a
// run.
func (db *DB) Update(ctx context.Context, w Write, change func(tx *Tx) error) error {
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.update(w, change)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		if try+1 == UpdateTriesMax {
			return fmt.Errorf("after %d tries: %w", UpdateTriesMax, err)
		}
		db.backOff(ctx, try)
	}
}

func (db *DB) update(w Write, change func(tx *Tx) error) error {
	tx := db.Begin()
	defer tx.Discard()
	if err := change(tx); err != nil {
		return err
	}
	return tx.Commit(w)
}

// UpdateTriesMax is how many conflicts make Update give up. With a wait after each,
// that takes some seconds.
const UpdateTriesMax = 200

// backOffMin and backOffMax bound the wait after a conflict: it is drawn from one to
// two times a length that doubles with each conflict.
const (
	backOffMin = 20 * time.Microsecond
	backOffMax = 10 * time.Millisecond
)

// backOff waits after conflict number try, the first being 0. Where callers do all
// the work, in one goroutine, no wait would help.
func (db *DB) backOff(ctx context.Context, try int) {
	if db.opt.Tuning.Inline {
		return
	}
	d := min(backOffMin<<min(try, 16), backOffMax)
	d += time.Duration(db.txs.draw() % uint64(d))
	done := make(chan struct{})
	timer := db.clock.After(d, env.WakeFunc(func() { close(done) }))
	select {
	case <-done:
	case <-ctx.Done():
		timer.Stop()
	}
}

// draw returns numbers that differ between callers, so that two transactions in each
// other's way do not retry at the same moment forever.
func (t *transactions) draw() uint64 {
	return t.waits.Add(1) * 0x9E3779B97F4A7C15 >> 20
}

// CompareAndSwap sets the value of the key to fresh if it equals old, and reports
// whether it did. For an absent key, which has no value, use PutIfAbsent. It is
// durable when a Put would be.
//
// CompareAndSwap, CompareAndDelete and PutIfAbsent are transactions that Update runs:
// they also return an ErrConflict after UpdateTriesMax conflicts, and an ErrMemory when
// transactions may use no more memory. Then nothing was done.
func (db *DB) CompareAndSwap(key, old, fresh []byte) (swapped bool, err error) {
	return db.putIf(key, func(value []byte, exists bool) bool { return exists && string(value) == string(old) },
		func(tx *Tx) error { return tx.Put(key, fresh) })
}

// CompareAndDelete removes the key if its value equals old, and reports whether it did.
// Its errors are those of CompareAndSwap.
func (db *DB) CompareAndDelete(key, old []byte) (deleted bool, err error) {
	return db.putIf(key, func(value []byte, exists bool) bool { return exists && string(value) == string(old) },
		func(tx *Tx) error { return tx.Delete(key) })
}

// PutIfAbsent sets the value of the key if it has none, and reports whether it had
// none. Its errors are those of CompareAndSwap.
func (db *DB) PutIfAbsent(key, value []byte) (put bool, err error) {
	return db.putIf(key, func(_ []byte, exists bool) bool { return !exists },
		func(tx *Tx) error { return tx.Put(key, value) })
}

// putIf makes the change if the key has the expected value, and reports whether it did.
func (db *DB) putIf(key []byte, is func(value []byte, exists bool) bool, change func(*Tx) error) (done bool, err error) {
	err = db.Update(context.Background(), NoSync, func(tx *Tx) error {
		value, err := tx.Get(key, nil)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if done = is(value, err == nil); !done {
			return nil
		}
		return change(tx)
	})
	return done && err == nil, err
}
