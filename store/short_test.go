// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// TestShortSegment opens a store whose journal file did not reach its intended
// length: the first page of the file is there, but not all of its space.
func TestShortSegment(t *testing.T) {
	disk := sim.NewDisk()
	db, err := store.Open(world(disk, 1), "db", tiny())
	must(t, err)
	must(t, db.Put([]byte("key"), []byte("value")))
	must(t, db.Sync())
	defer db.Close()
	names, err := disk.List("db")
	must(t, err)
	journal := ""
	for _, name := range names {
		if len(name) > 7 && name[:7] == "JOURNAL" {
			journal = "db/" + name
		}
	}
	f, err := disk.Open(journal, false)
	must(t, err)
	whole, err := f.Size()
	must(t, err)
	for size := int64(0); size <= whole; size += 512 {
		after := disk.Clone()
		after.Crash(sim.KeepAll())
		f, err := after.Open(journal, false)
		must(t, err)
		must(t, f.Truncate(size))
		must(t, f.Close())
		db, err := store.Open(world(after, 2), "db", tiny())
		if err != nil {
			t.Fatalf("%d bytes of the journal: %v", size, err)
		}
		_, err = db.Get([]byte("key"), nil)
		if there := size >= 8192; there != (err == nil) || !there && !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%d bytes of the journal: get is %v", size, err)
		}
		must(t, db.Put([]byte("key"), []byte("another")))
		must(t, db.Sync())
		must(t, db.Close())
	}
}
