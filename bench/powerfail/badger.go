// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// badgerEngines is Badger, an LSM tree in Go with large values in a log, with
// each write synced and without.
func badgerEngines() []engine {
	const sizes = "memtables of 512 KiB, tables of 64 KiB, values of 2 KiB and more in the log; a transaction for each batch"
	kind := func(name, setup, promise string, each bool) engine {
		return engine{
			Name: name, Module: "github.com/dgraph-io/badger/v4", Setup: sizes + setup, Promise: promise, Each: each,
			Open: func(dir string) (store, error) { return openBadger(dir, each) },
		}
	}
	return []engine{
		kind("badger", "; SyncWrites off, its default, and Sync where it is asked for",
			"Sync writes to disk what was written before; without SyncWrites a crash of the machine may lose data", false),
		kind("badger-each", "; SyncWrites on", "with SyncWrites, writes are synced when they return; a transaction is whole", true),
	}
}

type badgerStore struct {
	db   *badger.DB
	each bool
}

func openBadger(dir string, each bool) (store, error) {
	o := badger.DefaultOptions(dir).
		WithLogger(quiet{}).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithMemTableSize(4 * memtableBytes). // a transaction's bound is a part of it
		WithNumMemtables(2).
		WithBaseTableSize(tableBytes).
		WithBaseLevelSize(4 * tableBytes).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(4).
		WithValueThreshold(valueApart).
		WithValueLogFileSize(1 << 20).
		WithNumCompactors(2).
		WithDetectConflicts(false).
		WithSyncWrites(each)
	db, err := badger.Open(o)
	if err != nil {
		return nil, err
	}
	return &badgerStore{db, each}, nil
}

func (b *badgerStore) apply(changes []change, sync bool) error {
	err := b.db.Update(func(tx *badger.Txn) error {
		for _, c := range changes {
			var err error
			if c.value == nil {
				err = tx.Delete(c.key)
			} else {
				err = tx.Set(c.key, c.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !sync || b.each {
		return err
	}
	return b.db.Sync()
}

func (b *badgerStore) get(key []byte) (value []byte, err error) {
	err = b.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get(key)
		if err != nil {
			return err
		}
		value, err = item.ValueCopy([]byte{})
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err == nil && value == nil {
		value = []byte{}
	}
	return value, err
}

func (b *badgerStore) scan(visit func(key, value []byte)) error {
	return b.db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			err := item.Value(func(v []byte) error {
				visit(item.Key(), v)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *badgerStore) verify() error { return b.db.VerifyChecksum() }

func (b *badgerStore) close() error { return b.db.Close() }
