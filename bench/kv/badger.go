// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// badgerEngine is Badger, an LSM tree of memory-mapped tables in Go.
func badgerEngine() engine {
	return engine{
		Name: "badger",
		Setup: func(s settings) []string {
			cached := "no block cache therefore, as its documentation says: tables are mapped"
			if s.Compress {
				cached = "block cache " + mib(s.cache())
			}
			return []string{
				fmt.Sprintf("%d memtables of %s, half of the others': it keeps each in memory and in a mapped file", memtables, mib(s.memtable()/2)),
				s.compression("Snappy") + "; " + cached,
				"values in the tree: they are below its threshold",
				"no conflict detection, one version, no metrics",
				"write-only phases through WriteBatch, others a transaction for each write: its best case",
			}
		},
		Open: openBadger,
	}
}

type badgerStore struct {
	db    *badger.DB
	blind bool
	mu    sync.Mutex // guards batch
	batch *badger.WriteBatch
}

func openBadger(dir string, s settings) (store, error) {
	o := badger.DefaultOptions(dir).
		WithLogger(quiet{}).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithMemTableSize(max(1<<20, s.memtable()/2)).
		WithNumMemtables(memtables).
		WithValueLogFileSize(max(16<<20, s.Memory/4)).
		WithNumCompactors(max(2, s.CPUs)).
		WithDetectConflicts(false).
		WithSyncWrites(s.SyncEach)
	if s.Compress {
		o = o.WithCompression(options.Snappy).WithBlockCacheSize(s.cache())
	}
	o.ValueThreshold = min(1<<20, o.MemTableSize/8)
	db, err := badger.Open(o)
	if err != nil {
		return nil, err
	}
	return &badgerStore{db: db, blind: s.Blind && !s.SyncEach}, nil
}

func (b *badgerStore) put(key, value []byte) error {
	// Badger keeps the slices until the write is done, a batch beyond that.
	if !b.blind {
		return b.db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
	}
	kv := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batch == nil {
		b.batch = b.db.NewWriteBatch()
	}
	return b.batch.Set(kv[:len(key):len(key)], kv[len(key):])
}

func (b *badgerStore) get(key, dst []byte) ([]byte, error) {
	err := b.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get(key)
		if err != nil {
			return err
		}
		dst, err = item.ValueCopy(dst[:0])
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return dst[:0], errAbsent
	}
	return dst, err
}

func (b *badgerStore) scan(from []byte, want int, visit func(key, value []byte) bool) error {
	return b.db.View(func(tx *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		if want > 0 {
			o.PrefetchSize = min(o.PrefetchSize, want)
		}
		it := tx.NewIterator(o)
		defer it.Close()
		more := true
		for it.Seek(from); more && it.Valid(); it.Next() {
			item := it.Item()
			err := item.Value(func(v []byte) error {
				more = visit(item.Key(), v)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *badgerStore) sync() error {
	b.mu.Lock()
	batch := b.batch
	b.batch = nil
	b.mu.Unlock()
	if batch != nil {
		if err := batch.Flush(); err != nil {
			return err
		}
	}
	return b.db.Sync()
}

func (b *badgerStore) settle(stop func() bool) error {
	last := ""
	return untilQuiet(stop, func() bool {
		now := fmt.Sprint(b.db.Levels())
		for _, l := range b.db.Levels() {
			if l.Adjusted >= 1 {
				now = ""
			}
		}
		same := now != "" && now == last
		last = now
		return same
	})
}

func (b *badgerStore) close() error { return errors.Join(b.sync(), b.db.Close()) }
