// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// interrupted calls during once, after some of a stream was read.
type interrupted struct {
	io.Reader
	reads  int
	during func()
}

func (r *interrupted) Read(p []byte) (int, error) {
	if r.reads++; r.reads == 8 {
		r.during()
	}
	return r.Reader.Read(p)
}

// While a store is restored, no other call makes one in its directory, and the
// other way round. Neither touches the files of the other.
func TestRestoreIsAlone(t *testing.T) {
	c := changer{t, rand.New(rand.NewSource(1)), open(t, sim.NewDisk(), tiny()), map[string]string{}}
	c.change(300)
	whole, _ := copyOf(t, c.db, nil)
	disk := sim.NewDisk()
	locked := func(who string, err error) {
		t.Helper()
		if !errors.Is(err, env.ErrLocked) {
			t.Errorf("%s: %v, want ErrLocked", who, err)
		}
	}
	var calls int
	in := &interrupted{Reader: bytes.NewReader(whole), during: func() {
		calls++
		_, err := store.Open(world(disk, 5), "new", tiny())
		locked("open", err)
		locked("restore", restore(t, disk, whole))
	}}
	_, err := store.Restore(t.Context(), world(disk, 3), "new", store.RestoreOptions{Memory: store.MemoryMin}, in)
	must(t, err)
	if calls != 1 {
		t.Fatalf("the other calls were made %d times", calls)
	}
	db, err := store.Open(world(disk, 5), "new", tiny())
	must(t, err)
	check(t, db, c.model)
	locked("restore to a store in use", restore(t, disk, whole))
	must(t, db.Close())

	source := open(t, disk, tiny())
	must(t, source.Put([]byte("k"), []byte("v")))
	must(t, disk.MakeDir("copied"))
	lock, err := disk.Lock("copied/LOCK")
	must(t, err)
	locked("checkpoint", source.Checkpoint("copied"))
	must(t, lock.Close())
	must(t, source.Checkpoint("copied"))
	must(t, source.Close())
}

// Two restores of one copy are two stores: neither continues with the increments
// or the archive of the other, even if both use the same directory.
func TestTwoStoresOfOneCopy(t *testing.T) {
	source := open(t, sim.NewDisk(), tiny())
	must(t, source.Put([]byte("both"), []byte("1")))
	whole, mark := copyOf(t, source, nil)
	archive := sim.NewDisk()
	change := func(db *store.DB, name string, n int) {
		for i := range n {
			must(t, db.Put(fmt.Appendf(nil, "%s%03d", name, i), []byte("2")))
		}
		must(t, db.Sync())
	}
	twin := func(seed uint64) *store.DB {
		disk := sim.NewDisk()
		_, err := store.Restore(t.Context(), world(disk, seed), "new", store.RestoreOptions{Memory: store.MemoryMin}, bytes.NewReader(whole))
		must(t, err)
		o := tiny()
		o.History.Bytes = 1 << 20
		db, err := store.Open(world(disk, seed), "new", o)
		must(t, err)
		return db
	}
	a, b := twin(21), twin(22)
	change(a, "a", 50)
	change(b, "b", 80)
	_, err := a.Archive(t.Context(), archive, "changes", mark.Number())
	must(t, err)
	first, ofA := copyOf(t, a, nil)
	change(a, "later", 1)
	for range 2 {
		_, err = b.Archive(t.Context(), archive, "changes", mark.Number())
		must(t, err)
		_, err = a.Archive(t.Context(), archive, "changes", mark.Number())
		must(t, err)
	}
	for name, db := range map[string]*store.DB{"the other one": b, "the store that was copied": source} {
		if _, err := db.Copy(t.Context(), io.Discard, ofA); !errors.Is(err, store.ErrBase) {
			t.Errorf("an increment of %s: %v, want ErrBase", name, err)
		}
	}
	if _, err := a.Copy(t.Context(), io.Discard, mark); !errors.Is(err, store.ErrBase) {
		t.Errorf("an increment since the copy of another store: %v, want ErrBase", err)
	}
	disk := sim.NewDisk()
	o := store.RestoreOptions{Memory: store.MemoryMin, Archive: archive, ArchiveDir: "changes"}
	_, err = store.Restore(t.Context(), world(disk, 23), "new", o, bytes.NewReader(first))
	must(t, err)
	want := map[string]string{"both": "1", "later000": "2"}
	for i := range 50 {
		want[fmt.Sprintf("a%03d", i)] = "2"
	}
	db, err := store.Open(world(disk, 24), "new", tiny())
	must(t, err)
	check(t, db, want)
	for _, db := range []*store.DB{a, b, source, db} {
		must(t, db.Close())
	}
}
