// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// rotten is a store whose tree and whose journal have large values, after the
// power was lost, and what it must hold. The last sync was for a key of its own:
// damage of its frames looks like a power failure before it.
func rotten(t *testing.T) (*sim.Disk, store.Options, map[string]string) {
	t.Helper()
	disk, o := sim.NewDisk(), tiny()
	o.Compression = store.None
	db := open(t, disk, o)
	want := map[string]string{}
	put := func(i, size int) {
		k, v := fmt.Sprintf("key%03d", i), fmt.Sprintf("%0*d", size, i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	for i := range 60 {
		put(i, 100+i%10*300)
	}
	must(t, db.Flush())
	for i := range 8 {
		put(100+i, 6000)
		put(200+i, 40)
		must(t, db.Sync())
	}
	must(t, db.Put([]byte("last"), nil))
	must(t, db.Sync())
	disk.Crash(sim.KeepUpTo(0))
	return disk, o, want
}

// readsAll describes the result of reading everything.
func readsAll(db *store.DB, want map[string]string) error {
	for k, v := range want {
		got, err := db.Get([]byte(k), nil)
		if err != nil || string(got) != v {
			return fmt.Errorf("get %s: %d bytes, %w", k, len(got), err)
		}
	}
	it, err := db.Iter(nil, nil)
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if v, in := want[string(it.Key())]; in && string(it.Value()) == v {
			n++
		}
	}
	if err := it.Close(); err != nil {
		return err
	}
	if n != len(want) {
		return fmt.Errorf("a scan finds %d of %d", n, len(want))
	}
	return nil
}

// Whatever is damaged in any file: if a read fails or returns wrong bytes, Verify
// reports it, Repair does not call the store sound, and no copy is made.
func TestVerifySeesWhatReadsMeet(t *testing.T) {
	disk, o, want := rotten(t)
	names, err := disk.List("db")
	must(t, err)
	failures, copies := 0, 0
	for _, name := range names {
		size := len(content(t, disk, name))
		for at := 0; at < size; at += 512 {
			if testing.Short() && at/512%4 != 0 {
				continue
			}
			hurt := disk.Clone()
			edit(t, hurt, name, int64(at), 512, func(b []byte) { b[at/512%512] ^= 1 << (at / 4096 % 8) })
			where := fmt.Sprintf("%s at %d", name, at)
			repaired := hurt.Clone()
			db, err := store.Open(world(hurt, 1), "db", o)
			if err != nil {
				continue
			}
			bad := readsAll(db, want)
			report, err := db.Verify(t.Context())
			sound := err == nil && report.Err() == nil
			if bad != nil && sound {
				t.Errorf("%s: verify calls it sound, but %v", where, bad)
			}
			if bad != nil {
				failures++
				if err := db.Checkpoint("copy"); err == nil {
					t.Errorf("%s: a copy is made, but %v", where, bad)
				} else if errors.Is(err, store.ErrCorrupt) {
					copies++
				}
				report, err := repair.Store(world(repaired, 2), "db", o)
				if err == nil && len(report.Damage) == 0 {
					t.Errorf("%s: repair calls it sound, but %v", where, bad)
				}
			}
			_ = db.Close()
		}
	}
	if failures < 10 || copies == 0 {
		t.Errorf("%d failing reads, %d copies refused: the attack hits nothing", failures, copies)
	}
	t.Logf("%d damages made a read fail, %d copies were refused", failures, copies)
}

// cached hides that a disk can be read past the page cache, and keeps a copy of its
// state after the last sync of a journal file.
type cached struct {
	*hidden
	synced *sim.Disk
}

type hidden struct{ env.Disk }

type cachedFile struct {
	env.File
	after func()
}

func (c *cached) Open(name string, create bool) (env.File, error) {
	f, err := c.hidden.Open(name, create)
	if err != nil || strings.Contains(name, "DATA") {
		return f, err
	}
	return cachedFile{f, func() { c.synced = c.Disk.(*sim.Disk).Clone() }}, nil
}

func (c *cached) SyncDir(name string) error {
	err := c.hidden.SyncDir(name)
	if c.synced != nil { // the name of a new segment
		c.synced = c.Disk.(*sim.Disk).Clone()
	}
	return err
}

func (f cachedFile) Sync() error {
	err := f.File.Sync()
	f.after()
	return err
}

// An earlier life failed to sync the journal, and the page cache does not show it:
// changes that the next life makes durable do not depend on those frames. Here the
// frames turn to zeros when the power fails.
func TestASyncDoesNotRelyOnEarlierFrames(t *testing.T) {
	disk, o := sim.NewDisk(), tiny()
	w := world(&cached{hidden: &hidden{disk}}, 1)
	db, err := store.Open(w, "db", o)
	must(t, err)
	want := map[string]string{}
	put := func(k string) {
		must(t, db.Put([]byte(k), []byte("value of "+k)))
		want[k] = "value of " + k
	}
	for i := range 20 {
		put(fmt.Sprintf("first%d", i))
	}
	must(t, db.Sync())
	before := map[string][]byte{}
	names, err := disk.List("db")
	must(t, err)
	for _, name := range names {
		before[name] = content(t, disk, name)
	}
	disk.Crash(sim.KeepUpTo(0)) // the process ends
	second := &cached{hidden: &hidden{disk}}
	db, err = store.Open(world(second, 2), "db", o)
	must(t, err)
	b := db.NewBatch()
	b.Put([]byte("second"), []byte("value"))
	must(t, db.Commit(b, store.Sync))
	want["second"] = "value"
	if second.synced == nil {
		t.Fatal("the journal was not synced")
	}
	disk = second.synced
	disk.Crash(sim.KeepUpTo(0)) // the power fails
	for name, old := range before {
		if name == "DATA" || name == "LOCK" {
			continue
		}
		edit(t, disk, name, 0, len(old), func(b []byte) {
			for at := 0; at < len(b); at += 4096 {
				if end := min(at+4096, len(b)); bytes.Equal(b[at:end], old[at:end]) {
					clear(b[at:end])
				}
			}
		})
	}
	db, err = store.Open(world(disk, 3), "db", o)
	if err != nil {
		// Frames of the second life may be damaged by that, which is an error as
		// long as the tree has their changes.
		t.Fatal(err)
	}
	if err := readsAll(db, want); err != nil {
		t.Error(err)
	}
	must(t, db.Close())
}
