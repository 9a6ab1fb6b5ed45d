// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestTransactionsOverKeyspaces runs transactions over two keyspaces and the
// default one: their reads and changes are separate; a change of the same key in
// another keyspace is not a conflict, one in the same keyspace is, and so is a
// drop; with memtables in memory and flushed.
func TestTransactionsOverKeyspaces(t *testing.T) {
	key := []byte("k")
	get := func(from interface {
		Get(key, dst []byte) ([]byte, error)
	}) string {
		value, err := from.Get(key, nil)
		if errors.Is(err, store.ErrNotFound) {
			return "none"
		}
		must(t, err)
		return string(value)
	}
	walk := func(it *store.TxIterator, err error) (all string) {
		must(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			all += fmt.Sprintf("%s=%s ", it.Key(), it.Value())
		}
		for ok := it.Last(); ok; ok = it.Prev() {
			all += string(it.Key())
		}
		if it.SeekGE(append(key, 0)) {
			all += " at " + string(it.Key())
		}
		if it.SeekLT(append(key, 0)) {
			all += " at " + string(it.Key())
		}
		must(t, it.Err())
		return all
	}
	for _, c := range []struct {
		name   string
		change func(db *store.DB, a, b *store.Keyspace) error
		want   error
	}{
		{"nothing", func(*store.DB, *store.Keyspace, *store.Keyspace) error { return nil }, nil},
		{"another keyspace", func(_ *store.DB, _, b *store.Keyspace) error { return b.Put(key, nil) }, nil},
		{"the default keyspace", func(db *store.DB, _, _ *store.Keyspace) error { return db.Put(key, nil) }, nil},
		{"the key", func(_ *store.DB, a, _ *store.Keyspace) error { return a.Put(key, nil) }, store.ErrConflict},
		{"a phantom", func(_ *store.DB, a, _ *store.Keyspace) error { return a.Put([]byte("z"), nil) }, store.ErrConflict},
		{"a range", func(_ *store.DB, a, _ *store.Keyspace) error { return a.DeleteRange(nil, nil) }, store.ErrConflict},
		{"a drop", func(_ *store.DB, a, _ *store.Keyspace) error { return a.Drop() }, store.ErrConflict},
		{"the drop of another", func(_ *store.DB, _, b *store.Keyspace) error { return b.Drop() }, nil},
	} {
		for way := range 4 {
			flush, whole := way&1 > 0, way&2 > 0 // read the whole keyspace
			want := c.want
			if c.name == "a phantom" && !whole {
				want = nil
			}
			o := tiny()
			o.Merger = concat{}
			db := open(t, sim.NewDisk(), o)
			a, err := db.Keyspace("a")
			must(t, err)
			b, err := db.Keyspace("b")
			must(t, err)
			must(t, errors.Join(db.Put(key, []byte("0")), a.Put(key, []byte("1")), b.Put(key, []byte("2"))))
			tx := db.Begin()
			must(t, tx.In(a).Merge(key, []byte("+")))
			must(t, tx.In(a).Put([]byte("l"), []byte("m")))
			if whole {
				if got, want := walk(tx.In(a).Iter(nil, nil)), "k=1+ l=m lk at l at k"; got != want {
					t.Errorf("keyspace a has %q, want %q", got, want)
				}
			}
			if got := get(tx.In(a)); got != "1+" {
				t.Errorf("keyspace a has %q", got)
			}
			must(t, c.change(db, a, b))
			if flush {
				must(t, db.Flush())
			}
			err = tx.Commit(store.NoSync)
			if !errors.Is(err, want) || want == nil && get(a) != "1+" {
				t.Errorf("%s, flushed %t, read whole %t: %v, want %v", c.name, flush, whole, err, want)
			}
			must(t, db.Close())
		}
	}
	db := open(t, sim.NewDisk(), tiny())
	a, err := db.Keyspace("a")
	must(t, err)
	tx := db.Begin()
	must(t, tx.In(a).Put(key, key))
	must(t, tx.In(a).DeleteRange(nil, nil))
	must(t, tx.Put(key, []byte("default")))
	if got, all := get(tx), walk(tx.Iter(nil, nil)); got != "default" || all != "k=default k at k" || get(tx.In(a)) != "none" {
		t.Errorf("the transaction has %q, %q", got, all)
	}
	must(t, tx.Commit(store.NoSync))
	blind := db.Begin()
	must(t, blind.In(a).Put(key, key))
	must(t, a.Drop())
	if err := blind.Commit(store.NoSync); !errors.Is(err, store.ErrNoKeyspace) {
		t.Errorf("a change of a keyspace that was dropped: %v", err)
	}
	must(t, db.Close())
}
