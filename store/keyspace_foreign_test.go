// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A DB accepts no keyspace of another one, nor of an earlier life of its store: not
// in batches, snapshots or transactions. A refused call changes nothing.
func TestKeyspacesOfAnotherDB(t *testing.T) {
	first, earlier := open(t, sim.NewDisk(), tiny()), sim.NewDisk()
	foreign, err := first.Keyspace("a")
	must(t, err)
	must(t, foreign.Put([]byte("k"), []byte("first")))
	db := open(t, earlier, tiny())
	stale, err := db.Keyspace("a")
	must(t, err)
	must(t, db.Close())
	db = open(t, earlier, tiny())
	again, err := db.Keyspace("a")
	must(t, err)
	must(t, again.Drop())
	other := open(t, sim.NewDisk(), tiny()) // without keyspaces
	for _, db := range []*store.DB{db, other} {
		for _, k := range []*store.Keyspace{foreign, stale} {
			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, store.ErrNoKeyspace) {
					t.Errorf("%s in a keyspace of another DB: %v", what, err)
				}
			}
			b := db.NewBatch()
			b.Put([]byte("default"), []byte("v"))
			b.In(k).Put([]byte("k"), []byte("astray"))
			refused("batch", db.Commit(b, store.Sync))
			if _, err := db.Get([]byte("default"), nil); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a part of a batch that was refused: %v", err)
			}
			s := db.Snapshot()
			_, err := s.In(k).Get([]byte("k"), nil)
			refused("get of a snapshot", err)
			_, err = s.In(k).Iter(nil, nil)
			refused("iterator of a snapshot", err)
			s.Close()
			tx := db.Begin()
			_, err = tx.In(k).Get([]byte("k"), nil)
			refused("get of a transaction", err)
			_, err = tx.In(k).Iter(nil, nil)
			refused("iterator of a transaction", err)
			refused("put of a transaction", tx.In(k).Put([]byte("k"), []byte("astray")))
			refused("commit of a transaction", tx.Commit(store.Sync))
		}
		fresh, err := db.Keyspace("fresh")
		must(t, err)
		reads(t, fresh, nil)
		must(t, db.Close())
	}
	reads(t, foreign, map[string]string{"k": "first"})
	if err := stale.Put([]byte("k"), nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("put in a keyspace of a life that has ended: %v", err)
	}
	must(t, first.Close())
}
