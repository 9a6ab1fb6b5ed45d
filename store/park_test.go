// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// An iterator that is parked before every move finds the same as one that is not,
// even if all keys were overwritten, deleted, or covered by range deletes, and the
// tree was merged, after it was opened.
func TestParkedIteratorsGoOn(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	o := Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 128 << 10, LeafBytes: 64 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	const keys = 500
	value := func(i, change int) []byte {
		v := fmt.Appendf(nil, "%d of %d", change, i)
		if i%50 == 0 {
			v = append(v, make([]byte, 3000)...) // a large value
		}
		return v
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "k%04d", i) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(change int) {
		for i := range keys {
			must(db.Put(key(i), value(i, change)))
		}
	}
	put(1)
	it, err := db.Iter(nil, nil)
	must(err)
	at := 0
	for _, name := range []string{"overwritten", "deleted", "written again"} {
		switch name {
		case "deleted":
			must(db.DeleteRange(key(0), key(keys)))
		default:
			put(2)
		}
		must(db.Compact(nil, nil))
		stands := func(ok bool, want int) {
			t.Helper()
			at = want
			if want < 0 || want >= keys {
				if ok || it.Err() != nil {
					t.Fatalf("%s: stands on %q, %v, want an end", name, it.Key(), it.Err())
				}
				return
			}
			if !ok || string(it.Key()) != string(key(want)) || string(it.Value()) != string(value(want, 1)) {
				t.Fatalf("%s: stands on %q: %.20q, %v, want %d", name, it.Key(), it.Value(), it.Err(), want)
			}
			for db.views.park() { // until all are parked
			}
			if it.state != nil {
				t.Fatal("the iterator is not parked")
			}
			if string(it.Key()) != string(key(want)) || string(it.Value()) != string(value(want, 1)) {
				t.Fatalf("%s: a parked iterator stands on %q: %.20q", name, it.Key(), it.Value())
			}
		}
		stands(it.First(), 0)
		stands(it.Prev(), -1)
		stands(it.Prev(), -1)
		stands(it.Next(), 0)
		for at < keys-1 {
			stands(it.Next(), at+1)
			if at%7 == 0 {
				stands(it.Prev(), at-1)
				stands(it.Next(), at+1)
			}
		}
		stands(it.Next(), keys)
		stands(it.Prev(), keys-1)
		stands(it.SeekLT(key(100)), 99)
		stands(it.SeekGE(key(100)), 100)
		stands(it.Last(), keys-1)
	}
	must(it.Close())
	must(db.Close())
}

// When memory is short, the cache shrinks before an iterator is parked: the content
// of the cache can be read again, but a parked iterator must find its place again
// for every move.
func TestTheCacheGivesWayFirst(t *testing.T) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	o := Options{Memory: 32 << 20, Tuning: Tuning{MemtableBytes: 1 << 20, Inline: true}}
	db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Put([]byte("key"), []byte("value")); err != nil {
		t.Fatal(err)
	}
	it, err := db.Iter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if !it.First() {
		t.Fatal(it.Err())
	}
	const piece = 256 << 10
	var pieces [][]byte
	gaveWay := false
	for it.state != nil {
		before := db.cache.Budget()
		p, ok := db.pool.Alloc(piece)
		if !ok || len(pieces) > int(o.Memory/piece) {
			t.Fatalf("%d pieces, and the iterator is not parked", len(pieces))
		}
		pieces = append(pieces, p)
		after := db.cache.Budget()
		gaveWay = gaveWay || after < before
		if it.state == nil && after > 0 {
			t.Errorf("the iterator is parked while the cache has %d bytes", after)
		}
	}
	if !gaveWay {
		t.Error("the cache never gave way")
	}
	for _, p := range pieces {
		db.pool.Free(p)
	}
	if it.Next() || it.Err() != nil {
		t.Errorf("behind the last key: %q, %v", it.Key(), it.Err())
	}
}
