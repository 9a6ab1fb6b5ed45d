// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// txDisk calls a function before each write to a file.
type txDisk struct {
	*sharedDisk
	hook func()
}

func (d *txDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.sharedDisk.OpenDirect(name, create)
	if err != nil {
		return nil, false, err
	}
	return &txFile{f.(*sharedFile), d}, direct, nil
}

type txFile struct {
	*sharedFile
	disk *txDisk
}

func (f *txFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.hook != nil {
		f.disk.hook()
	}
	return f.sharedFile.WriteAt(b, off)
}

// TestAChangeWhileACommitWrites: Commit compares what was read with recent changes,
// then writes large values, and then finds the changes made meanwhile, even by an
// ingest and by so many that memtables are flushed.
func TestAChangeWhileACommitWrites(t *testing.T) {
	key := []byte("key")
	for _, c := range []struct {
		name   string
		change func(db *store.DB) error
		want   error
	}{
		{"the key that was read", func(db *store.DB) error { return db.Put(key, nil) }, store.ErrConflict},
		{"another key", func(db *store.DB) error { return db.Put([]byte("other"), nil) }, nil},
		{"the key that was read, flushed", func(db *store.DB) error { return errors.Join(db.Put(key, nil), db.Flush()) }, store.ErrConflict},
		{"another key, flushed", func(db *store.DB) error { return errors.Join(db.Put([]byte("other"), nil), db.Flush()) }, nil},
		{"many keys", func(db *store.DB) error { return fill(db, "other", 300, 500) }, nil},
		{"many keys, and the one that was read", func(db *store.DB) error {
			return errors.Join(db.Put(key, nil), fill(db, "other", 300, 500))
		}, store.ErrConflict},
		{"by an ingest", func(db *store.DB) error {
			i, err := db.Ingest()
			if err != nil {
				return err
			}
			return errors.Join(i.Put(key, nil), i.Commit())
		}, store.ErrConflict},
	} {
		disk := &txDisk{sharedDisk: &sharedDisk{disk: sim.NewDisk()}}
		o := tiny()
		o.Tuning.MemtableBytes = 256 << 10
		db := open(t, disk, o)
		must(t, db.Put(key, []byte("as read")))
		tx := db.Begin()
		must(t, reading("key")(tx))
		must(t, tx.Put([]byte("large"), make([]byte, 5000)))
		hooked := false
		disk.hook = func() {
			if !hooked {
				hooked = true
				must(t, c.change(db))
			}
		}
		err := tx.Commit(store.NoSync)
		if _, found := db.Get([]byte("large"), nil); !errors.Is(err, c.want) || errors.Is(found, store.ErrNotFound) != (c.want != nil) || !hooked {
			t.Errorf("%s: commit %v, want %v; its change: %v", c.name, err, c.want, found)
		}
		must(t, db.Close())
	}
}

// fill puts n keys with values of that size.
func fill(db *store.DB, prefix string, n, size int) (err error) {
	for i := range n {
		err = errors.Join(err, db.Put(fmt.Appendf(nil, "%s%05d", prefix, i), make([]byte, size)))
	}
	return err
}

// TestConflictsInSeveralMemtables: changes are found in the memtable of the snapshot
// and in the newer ones, while the disk is blocked.
func TestConflictsInSeveralMemtables(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, c := range []struct {
		name       string
		old, fresh string // changed in the old memtable and in the new one
		want       error
	}{
		{"none", "other", "another", nil},
		{"in the old one", "key", "another", store.ErrConflict},
		{"in the new one", "other", "key", store.ErrConflict},
	} {
		disk := &txDisk{sharedDisk: &sharedDisk{disk: sim.NewDisk()}}
		gate := make(chan struct{})
		o := tiny()
		o.Tuning.Inline = false
		db := open(t, disk, o)
		disk.hook = func() { <-gate }
		must(t, fill(db, "before", 27, 900))
		tx := db.Begin()
		must(t, reading("key")(tx))
		must(t, tx.Put([]byte("mine"), nil))
		must(t, db.Put([]byte(c.old), nil))
		must(t, fill(db, "between", 8, 900))
		must(t, db.Put([]byte(c.fresh), nil))
		if err := tx.Commit(store.NoSync); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if m := db.Metrics(); m.Memtables != 0 {
			t.Errorf("%s: a memtable was flushed", c.name)
		}
		close(gate)
		must(t, db.Close())
	}
}

// TestReadersHaveNoConflicts: a transaction without changes, and one without reads,
// commits whatever other changes are made meanwhile.
func TestReadersHaveNoConflicts(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	for _, w := range []store.Write{store.NoSync, store.Sync} {
		reader, writer := db.Begin(), db.Begin()
		must(t, reading("k")(reader))
		must(t, writer.Put([]byte("k"), []byte("mine")))
		must(t, db.Put([]byte("k"), []byte("theirs")))
		must(t, reader.Commit(w))
		must(t, writer.Commit(w))
		check(t, db, map[string]string{"k": "mine"})
	}
	must(t, db.Close())
}

// TestChangesDuringEachWrite: the large values of a transaction are written once.
// Meanwhile others change so many other keys that the transaction cannot be validated
// under the lock, which is not a conflict.
func TestChangesDuringEachWrite(t *testing.T) {
	disk := &txDisk{sharedDisk: &sharedDisk{disk: sim.NewDisk()}}
	o := tiny()
	o.Tuning.MemtableBytes = 2 << 20 // no flush
	db := open(t, disk, o)
	tx := db.Begin()
	must(t, reading("key")(tx))
	must(t, tx.Put([]byte("large"), make([]byte, 5000)))
	writes, busy := 0, false
	disk.hook = func() {
		if busy {
			return
		}
		busy = true
		defer func() { busy = false }()
		writes++
		must(t, fill(db, "other", 150, 500))
	}
	must(t, tx.Commit(store.NoSync))
	disk.hook = nil
	if writes != 1 {
		t.Errorf("a large value was written in %d writes, want 1", writes)
	}
	must(t, db.Close())
}
