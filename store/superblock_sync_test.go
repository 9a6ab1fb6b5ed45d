// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// forgetful is a disk with a page cache. After a failed sync, reads return the data
// written before it, but the disk does not have them, and no later sync writes them.
type forgetful struct {
	hidden  // so that it cannot be read past the cache
	fail    func() bool
	full    bool             // no write has room
	pending map[int64][]byte // what the disk has where something was written since the last sync
	lost    map[int64][]byte // the same, of syncs that have failed
}

type forgetfulFile struct {
	env.File
	disk *forgetful
}

func (d *forgetful) Open(name string, create bool) (env.File, error) {
	f, err := d.hidden.Open(name, create)
	if err != nil || name != "db/DATA" {
		return f, err
	}
	return forgetfulFile{f, d}, nil
}

func (f forgetfulFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.full && off != datafile.WitnessAddr { // which was allocated when the file was made
		return 0, env.ErrNoSpace
	}
	old := make([]byte, len(b))
	_, _ = f.ReadAt(old, off) // zeros beyond the end
	if was, ok := f.disk.lost[off]; ok {
		old = was
		delete(f.disk.lost, off) // it is dirty again
	}
	if _, ok := f.disk.pending[off]; !ok {
		f.disk.pending[off] = old
	}
	return f.File.WriteAt(b, off)
}

func (f forgetfulFile) Sync() error {
	if f.disk.fail() {
		for off, old := range f.disk.pending {
			f.disk.lost[off] = old
		}
		clear(f.disk.pending)
		return errIO
	}
	clear(f.disk.pending)
	return f.File.Sync()
}

// A life fails to sync a superblock, and ends without a crash of the machine. The next
// one finds the superblock in the page cache. Changes that it acknowledges survive a loss
// of power.
func TestALifeDoesNotRelyOnAnEarlierSuperblock(t *testing.T) {
	failed := 0
	for nth := 1; nth <= 3; nth++ { // the sync of the data file that fails
		disk := sim.NewDisk()
		syncs := -1
		lossy := &forgetful{
			hidden: hidden{disk}, pending: map[int64][]byte{}, lost: map[int64][]byte{},
			fail: func() bool {
				if syncs >= 0 {
					syncs++
				}
				return syncs == nth
			},
		}
		db, err := store.Open(world(lossy, 1), "db", tiny())
		must(t, err)
		must(t, db.Put([]byte("first"), []byte("1")))
		must(t, db.Flush())
		must(t, db.Put([]byte("second"), []byte("2")))
		syncs = 0
		if err := db.Flush(); errors.Is(err, errIO) {
			failed++
		}
		syncs = -1
		disk.Crash(sim.KeepAll()) // the process ends
		db, err = store.Open(world(lossy, 2), "db", tiny())
		must(t, err)
		shown := map[string]string{}
		for _, k := range []string{"first", "second"} {
			if v, err := db.Get([]byte(k), nil); err == nil {
				shown[k] = string(v)
			}
		}
		b := db.NewBatch()
		b.Put([]byte("third"), []byte("3"))
		must(t, db.Commit(b, store.Sync))
		shown["third"] = "3"
		disk.Crash(sim.KeepUpTo(0)) // the power fails
		for off, old := range lossy.lost {
			edit(t, disk, "DATA", off, len(old), func(b []byte) { copy(b, old) })
		}
		db, err = store.Open(world(disk, 3), "db", tiny())
		if err != nil {
			t.Errorf("sync %d: %v", nth, err)
			continue
		}
		if err := readsAll(db, shown); err != nil {
			t.Errorf("sync %d: %v", nth, err)
		}
		must(t, db.Close())
	}
	if failed < 2 {
		t.Errorf("%d syncs have failed, want those of a tree and of its superblock", failed)
	}
}

// The disk of a store is full, and never overwrites in place: nothing can be written, not even the superblock that was
// found and that an earlier life has failed to sync. The store opens, can be read, and refuses to make anything
// durable. When there is room, it continues, and its acknowledged changes then survive a loss of power.
func TestOpenOnAFullDiskThatCopiesOnWrite(t *testing.T) {
	for nth := 1; nth <= 3; nth++ { // the sync of the data file that fails
		disk := sim.NewDisk()
		syncs := -1
		lossy := &forgetful{
			hidden: hidden{disk}, pending: map[int64][]byte{}, lost: map[int64][]byte{},
			fail: func() bool {
				if syncs >= 0 {
					syncs++
				}
				return syncs == nth
			},
		}
		db, err := store.Open(world(lossy, 1), "db", tiny())
		must(t, err)
		must(t, db.Put([]byte("first"), []byte("1")))
		must(t, db.Flush())
		must(t, db.Put([]byte("second"), []byte("2")))
		syncs = 0
		_ = db.Flush()
		syncs = -1
		disk.Crash(sim.KeepAll()) // the process ends
		lossy.full = true
		db, err = store.Open(world(lossy, 2), "db", tiny())
		if err != nil {
			t.Fatalf("sync %d, on a full disk: %v", nth, err)
		}
		shown := map[string]string{}
		for _, k := range []string{"first", "second"} {
			if v, err := db.Get([]byte(k), nil); err == nil {
				shown[k] = string(v)
			}
		}
		if len(shown) == 0 {
			t.Errorf("sync %d: a store on a full disk shows nothing", nth)
		}
		for _, durable := range []func() error{db.Sync, db.Flush} {
			if err := durable(); !errors.Is(err, env.ErrNoSpace) {
				t.Errorf("sync %d: nothing is new, and a full disk makes it durable: %v", nth, err)
			}
		}
		must(t, db.Put([]byte("third"), []byte("3")))
		for range 2 {
			if err := db.Sync(); !errors.Is(err, env.ErrNoSpace) {
				t.Errorf("sync %d: Sync on a full disk: %v", nth, err)
			}
		}
		lossy.full = false
		must(t, db.Sync())
		shown["third"] = "3"
		disk.Crash(sim.KeepUpTo(0)) // the power fails
		for off, old := range lossy.lost {
			edit(t, disk, "DATA", off, len(old), func(b []byte) { copy(b, old) })
		}
		db, err = store.Open(world(disk, 3), "db", tiny())
		must(t, err)
		if err := readsAll(db, shown); err != nil {
			t.Errorf("sync %d: %v", nth, err)
		}
		must(t, db.Close())
	}
}

// A superblock that was found, and is not durable yet, is not included in what a store reports as
// durable: not in the result of Close, not in the witness, and not in feeds and archives.
func TestOpenOnAFullDiskPromisesNothing(t *testing.T) {
	disk := sim.NewDisk()
	syncs := -1
	lossy := &forgetful{
		hidden: hidden{disk}, pending: map[int64][]byte{}, lost: map[int64][]byte{},
		fail: func() bool {
			if syncs >= 0 {
				syncs++
			}
			return syncs == 2 // that of the superblock
		},
	}
	o := tiny()
	o.History.Bytes = 1 << 20
	db, err := store.Open(world(lossy, 1), "db", o)
	must(t, err)
	must(t, db.Put([]byte("first"), []byte("1")))
	must(t, db.Flush())
	must(t, db.Put([]byte("second"), []byte("2")))
	syncs = 0
	if err := db.Flush(); !errors.Is(err, errIO) {
		t.Fatalf("Flush on a disk that fails: %v", err)
	}
	syncs = -1
	disk.Crash(sim.KeepAll()) // the process ends
	lossy.full = true
	db, err = store.Open(world(lossy, 2), "db", o)
	must(t, err)
	if last, err := db.Archive(t.Context(), sim.NewDisk(), "archive", 0); last != 0 || err != nil {
		t.Errorf("an archive has the changes up to %d, %v", last, err)
	}
	if err := db.Close(); !errors.Is(err, env.ErrNoSpace) {
		t.Errorf("Close on a full disk: %v", err)
	}
	disk.Crash(sim.KeepAll())
	for off, old := range lossy.lost { // the power fails
		edit(t, disk, "DATA", off, len(old), func(b []byte) { copy(b, old) })
	}
	db, err = store.Open(world(disk, 3), "db", o)
	must(t, err)
	must(t, readsAll(db, map[string]string{"first": "1"}))
	must(t, db.Close())
}
