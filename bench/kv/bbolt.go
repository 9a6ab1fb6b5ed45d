// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"
)

// boltBatch is how many writes bbolt commits at once if each need not be
// durable: its best case.
const boltBatch = 5000

// bboltEngine is bbolt, a copy-on-write B+tree in a memory map.
func bboltEngine() engine {
	return engine{
		Name: "bbolt",
		Setup: func(s settings) []string {
			lines := []string{
				"memory map: it has no cache of its own, the page cache within the limit is its cache",
				"free list as a map, and written with each commit: without that an open reads the whole file",
			}
			switch {
			case s.SyncEach && s.Clients > 1:
				return append(lines, fmt.Sprintf("commits through Batch, up to %d clients in one", s.Clients))
			case s.SyncEach:
				return append(lines, "a transaction for each write")
			}
			return append(lines, fmt.Sprintf("a commit, with its sync, for every %d writes: its best case", boltBatch))
		},
		Open: openBbolt,
	}
}

type bboltStore struct {
	db      *bbolt.DB
	each    bool
	clients int
	mu      sync.Mutex // guards what follows
	tx      *bbolt.Tx  // nil: nothing is uncommitted
	writes  int
}

func boltBucket() []byte { return []byte("records") }

func openBbolt(dir string, s settings) (store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "data"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	db.MaxBatchSize = max(1, s.Clients)
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(boltBucket())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &bboltStore{db: db, each: s.SyncEach, clients: s.Clients}, nil
}

func (b *bboltStore) put(key, value []byte) error {
	if b.each {
		update := b.db.Update
		if b.clients > 1 {
			update = b.db.Batch
		}
		return update(func(tx *bbolt.Tx) error { return tx.Bucket(boltBucket()).Put(key, value) })
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tx == nil {
		tx, err := b.db.Begin(true)
		if err != nil {
			return err
		}
		b.tx = tx
	}
	// The value has to stay as it is until the commit; the caller's does not.
	if err := b.tx.Bucket(boltBucket()).Put(key, append([]byte(nil), value...)); err != nil {
		return err
	}
	b.writes++
	if b.writes >= boltBatch {
		return b.commit()
	}
	return nil
}

// commit ends the open transaction; b.mu is held.
func (b *bboltStore) commit() error {
	tx := b.tx
	b.tx, b.writes = nil, 0
	if tx == nil {
		return nil
	}
	return tx.Commit()
}

func (b *bboltStore) get(key, dst []byte) ([]byte, error) {
	found := false
	read := func(tx *bbolt.Tx) error {
		v := tx.Bucket(boltBucket()).Get(key)
		found = v != nil
		dst = append(dst[:0], v...)
		return nil
	}
	if err := b.view(read); err != nil {
		return dst[:0], err
	}
	if !found {
		return dst[:0], errAbsent
	}
	return dst, nil
}

// view reads in the open transaction, which alone sees what was put last.
func (b *bboltStore) view(read func(*bbolt.Tx) error) error {
	b.mu.Lock()
	if b.tx != nil {
		defer b.mu.Unlock()
		return read(b.tx)
	}
	b.mu.Unlock()
	return b.db.View(read)
}

func (b *bboltStore) scan(from []byte, _ int, visit func(key, value []byte) bool) error {
	return b.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(boltBucket()).Cursor()
		for k, v := c.Seek(from); k != nil && visit(k, v); k, v = c.Next() {
		}
		return nil
	})
}

func (b *bboltStore) sync() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.commit()
}

func (b *bboltStore) settle(func() bool) error { return nil }

func (b *bboltStore) close() error { return errors.Join(b.sync(), b.db.Close()) }
