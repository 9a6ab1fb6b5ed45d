// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/sim"
)

// Of large values of a page each, every second one is deleted, so that the free pages
// are separate. Then the disk is filled with values of three pages. Everything in
// memory can still be written, and the disk can be emptied from inside.
func TestTheReserveIsNotInFragments(t *testing.T) {
	for _, memtable := range []int{32 << 10, 256 << 10} {
		disk := &fullDisk{Disk: sim.NewDisk()}
		o := Options{Memory: 64 << 20, Compression: None, Tuning: Tuning{MemtableBytes: memtable, BlobBytes: 1 << 10, Inline: true}}
		db, err := Open(env.Env{Disk: disk, Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db", o)
		must := func(what string, err error) {
			t.Helper()
			if err != nil {
				end, free, retired := db.space.pages()
				t.Fatalf("memtables of %d bytes: %s: %v (%d pages, %d free, %d retired)", memtable, what, err, end, free, retired)
			}
		}
		must("open", err)
		r := rand.New(rand.NewSource(1))
		value := func(n int) []byte {
			b := make([]byte, n)
			r.Read(b)
			return b
		}
		const pages = 6000
		for i := range pages {
			must("put", db.Put(fmt.Appendf(nil, "page%05d", i), value(4000)))
		}
		for i := range pages / 2 {
			must("put", db.Put(fmt.Appendf(nil, "small%05d", i), value(200)))
			must("delete", db.Delete(fmt.Appendf(nil, "page%05d", 2*i)))
		}
		must("compact", db.Compact(nil, nil))
		disk.full.Store(true)
		count := 0
		for ; err == nil; count++ {
			if err = db.Put(fmt.Appendf(nil, "three%05d", count), value(12000)); err == nil {
				err = db.Put(fmt.Appendf(nil, "more%05d", count), value(300))
			}
		}
		for i := 0; errors.Is(err, env.ErrNoSpace); i++ { // small ones may have room
			if err := db.Put(fmt.Appendf(nil, "least%06d", i), value(60)); err != nil {
				if !errors.Is(err, env.ErrNoSpace) {
					t.Fatal(err)
				}
				break
			}
		}
		if !errors.Is(err, env.ErrNoSpace) {
			t.Fatal(err)
		}
		must("flush", db.Flush())
		for i := range pages / 2 {
			must("delete", db.Delete(fmt.Appendf(nil, "page%05d", 2*i+1)))
		}
		must("flush", db.Flush())
		must("compact", db.Compact(nil, nil))
		must("close", db.Close())
	}
}

// Half of the pages are separate from each other. Neither changes nor large values take
// the last contiguous pages.
func TestTheReserveHasLongRuns(t *testing.T) {
	disk := &fullDisk{Disk: sim.NewDisk()}
	if err := disk.MakeDir("db"); err != nil {
		t.Fatal(err)
	}
	file, err := disk.Open("db/DATA", true)
	if err != nil {
		t.Fatal(err)
	}
	disk.full.Store(true)
	const fragments, together = 2000, 400
	s := newSpace(file, table.FirstPage+2*fragments+together, 1)
	s.setFloor(4 * extent.PageSize)
	for page := range uint32(fragments) {
		if err := s.reserve(extent.Run{Page: table.FirstPage + 2*page + 1, Pages: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := s.admit(1000, forPuts); !ok {
		t.Error("a change is refused although fragments have room for its blocks, and there are long runs")
	}
	if _, ok := s.admit(3000, forPuts); ok {
		t.Error("3000 pages are kept of 2400")
	}
	least := s.floor + 1000/8 + deletesMin
	for err = nil; err == nil; {
		_, err = s.take(3, forPuts)
	}
	if long := s.alloc.LongPages(); long < least || long > least+20 {
		t.Errorf("large values leave %d pages that lie together, want %d or some more", long, least)
	}
	if _, err := s.take(1, forPuts); err != nil {
		t.Errorf("a large value gets no fragment: %v", err)
	}
	for err = nil; err == nil; {
		_, err = s.take(3, forWork)
	}
	if long := s.alloc.LongPages(); long < s.floor || long > s.floor+5 {
		t.Errorf("merges leave %d pages that lie together, want %d for checkpoints", long, s.floor)
	}
	if _, ok := s.admit(1000, forPuts); ok {
		t.Error("a change is taken although its index would find no room")
	}
	if _, err := s.take(8, forTable); err != nil {
		t.Errorf("a checkpoint finds no room: %v", err)
	}
}
