// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// bboltEngine is bbolt, a copy-on-write B+tree in a memory map.
func bboltEngine() engine {
	return engine{
		Name: "bbolt", Module: "go.etcd.io/bbolt", Open: openBbolt,
		Setup:   "a transaction for all batches up to a sync: it has no commit that is not synced",
		Promise: "a committed transaction is durable; a transaction is whole",
	}
}

// boltStore keeps batches until one is to be synced.
type boltStore struct {
	db      *bbolt.DB
	waiting []change
}

func boltBucket() []byte { return []byte("records") }

func openBbolt(dir string) (store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "data"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(boltBucket())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &boltStore{db: db}, nil
}

func (b *boltStore) apply(changes []change, sync bool) error {
	b.waiting = append(b.waiting, changes...)
	if !sync {
		return nil
	}
	err := b.db.Update(func(tx *bbolt.Tx) error {
		records := tx.Bucket(boltBucket())
		for _, c := range b.waiting {
			var err error
			if c.value == nil {
				err = records.Delete(c.key)
			} else {
				err = records.Put(c.key, c.value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	b.waiting = nil
	return err
}

func (b *boltStore) get(key []byte) (value []byte, err error) {
	err = b.db.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(boltBucket()).Get(key); v != nil {
			value = append([]byte{}, v...)
		}
		return nil
	})
	return value, err
}

func (b *boltStore) scan(visit func(key, value []byte)) error {
	return b.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(boltBucket()).ForEach(func(k, v []byte) error {
			visit(k, v)
			return nil
		})
	})
}

func (b *boltStore) verify() error {
	return b.db.View(func(tx *bbolt.Tx) error {
		var all error
		for e := range tx.Check() {
			all = errors.Join(all, e)
		}
		return all
	})
}

func (b *boltStore) close() error { return b.db.Close() }
