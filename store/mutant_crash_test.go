// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"math/rand"
	"path"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// superblocks are where the superblocks are, in bytes.
var superblocks = [2]int64{0, 1 << 20}

// loseSuperblock overwrites the newest superblock of a store with zeros. It returns
// false if there is no other.
func loseSuperblock(t *testing.T, disk *sim.Disk) bool {
	t.Helper()
	f, err := disk.Open("db/DATA", false)
	must(t, err)
	newest, valid := 0, 0
	var seq uint64
	for i, at := range superblocks {
		b := make([]byte, table.SuperSize)
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
		if s, err := table.DecodeSuper(b); err == nil {
			valid++
			if s.Seq > seq {
				newest, seq = i, s.Seq
			}
		}
	}
	_, err = f.WriteAt(make([]byte, table.SuperSize), superblocks[newest])
	must(t, err)
	must(t, f.Close())
	return valid == 2
}

// history is an open store, and its expected content.
type history struct {
	db   *store.DB
	r    *rand.Rand
	want map[string]string
}

// change makes a change that is durable when it returns, often of a large value,
// which takes pages and frees others.
func (h *history) change(t *testing.T) {
	t.Helper()
	key := fmt.Sprintf("key%02d", h.r.Intn(24))
	if h.r.Intn(8) == 0 {
		must(t, h.db.Delete([]byte(key)))
		delete(h.want, key)
		return
	}
	value := strings.Repeat(string(rune('a'+h.r.Intn(26))), 1+h.r.Intn(600))
	if h.r.Intn(3) == 0 {
		value = strings.Repeat(value, 1+h.r.Intn(20))
	}
	must(t, h.db.Put([]byte(key), []byte(value)))
	h.want[key] = value
}

// opened checks that a store opens, and has the expected content.
func (h *history) opened(t *testing.T, disk *sim.Disk, seed uint64) {
	t.Helper()
	db, err := store.Open(world(disk, seed), "db", everyCommit())
	must(t, err)
	check(t, db, h.want)
	must(t, db.Close())
}

func everyCommit() store.Options {
	o := tiny()
	o.Durability = store.EveryCommit
	return o
}

// TestTheOlderSuperblock loses the newest superblock at any moment of two
// lives: the older one and the journal still have everything.
func TestTheOlderSuperblock(t *testing.T) {
	disk := sim.NewDisk()
	h := history{db: open(t, disk, everyCommit()), r: rand.New(rand.NewSource(5)), want: map[string]string{}}
	tried := 0
	attempt := func(disk *sim.Disk, seed uint64) {
		t.Helper()
		c := disk.Clone()
		if loseSuperblock(t, c) {
			h.opened(t, c, seed)
			tried++
		}
	}
	for life := range uint64(40) {
		for i := range 40 {
			h.change(t)
			if h.r.Intn(12) == 0 {
				must(t, h.db.Flush())
			}
			if i%3 == 0 {
				attempt(disk, life)
			}
		}
		// The next life begins where this one was killed.
		next := disk.Clone()
		must(t, h.db.Close())
		disk = next
		var err error
		h.db, err = store.Open(world(disk, 100+life), "db", everyCommit())
		must(t, err)
	}
	must(t, h.db.Close())
	if tried < 300 {
		t.Errorf("tried %d times only", tried)
	}
}

// noticed is a disk that calls a function before every sync of a data file, and
// fails the sync if the function says so.
type noticed struct {
	*sim.Disk
	before func() error
}

func (n noticed) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := n.Disk.OpenDirect(name, create)
	if err == nil && path.Base(name) == "DATA" {
		f = noticedFile{f.(env.SpaceFile), n.before}
	}
	return f, direct, err
}

type noticedFile struct {
	env.SpaceFile
	before func() error
}

func (f noticedFile) Sync() error {
	if err := f.before(); err != nil {
		return err
	}
	return f.SpaceFile.Sync()
}

// TestAFailedSyncIsTheEnd: after a sync of the data file that failed, earlier
// writes may be lost even if a later sync returns nil. So the store accepts no more
// changes.
func TestAFailedSyncIsTheEnd(t *testing.T) {
	broken := errors.New("broken")
	var fault error
	o := tiny()
	db := open(t, noticed{sim.NewDisk(), func() error { return fault }}, o)
	must(t, db.Put([]byte("key"), []byte("value")))
	fault = broken
	if err := db.Flush(); !errors.Is(err, broken) {
		t.Fatalf("Flush: %v", err)
	}
	fault = nil
	for what, err := range map[string]error{"Put": db.Put([]byte("key"), []byte("new")), "Flush": db.Flush(), "Sync": db.Sync()} {
		if !errors.Is(err, store.ErrStopped) || !errors.Is(err, broken) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if v, err := db.Get([]byte("key"), nil); err != nil || string(v) != "value" {
		t.Errorf("the key is %q, %v", v, err)
	}
	if err := db.Close(); !errors.Is(err, broken) {
		t.Errorf("Close: %v", err)
	}
}

// TestAnUnsyncedSuperblockIsFound kills the process when a superblock is written
// and not synced. The next life finds it, and relies on it; then the machine fails,
// and unsynced superblocks are lost.
func TestAnUnsyncedSuperblockIsFound(t *testing.T) {
	disk := sim.NewDisk()
	h := history{r: rand.New(rand.NewSource(9)), want: map[string]string{}}
	var killed []*sim.Disk
	h.db = open(t, noticed{disk, func() error {
		killed = append(killed, disk.Clone())
		return nil
	}}, everyCommit())
	lost := sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		for _, at := range superblocks {
			if s := at / 512; p.What == sim.ContentPiece && s <= p.Sector && p.Sector < s+table.SuperSize/512 {
				return 0
			}
		}
		return len(ops)
	})
	tried := 0
	for range 60 {
		killed = nil
		for range 6 {
			h.change(t)
		}
		must(t, h.db.Flush())
		for i, c := range killed {
			db, err := store.Open(world(c, uint64(i)+50), "db", everyCommit())
			must(t, err)
			// Which of the changes the store has does not matter here: those after
			// the kill are durable in any case.
			next := history{db: db, r: h.r, want: map[string]string{}}
			it, err := db.Iter(nil, nil)
			must(t, err)
			for ok := it.First(); ok; ok = it.Next() {
				next.want[string(it.Key())] = string(it.Value())
			}
			must(t, it.Close())
			for range 5 {
				next.change(t)
			}
			after := c.Clone()
			after.Crash(lost)
			next.opened(t, after, uint64(i)+70)
			must(t, db.Close())
			tried++
		}
	}
	must(t, h.db.Close())
	if tried < 100 {
		t.Errorf("tried %d times only", tried)
	}
}

// TestLivesHaveSessions: the segments of two lives are distinguished.
func TestLivesHaveSessions(t *testing.T) {
	disk := sim.NewDisk()
	sessions := map[string]bool{}
	for seed := range uint64(2) {
		db, err := store.Open(world(disk, seed), "db", everyCommit())
		must(t, err)
		must(t, db.Put([]byte("key"), []byte("value")))
		next := disk.Clone()
		must(t, db.Close())
		disk = next
		names, err := disk.List("db")
		must(t, err)
		for _, name := range names {
			if !strings.HasPrefix(name, "JOURNAL-") {
				continue
			}
			f, err := disk.Open("db/"+name, false)
			must(t, err)
			page := make([]byte, 64)
			_, err = f.ReadAt(page, 0)
			must(t, err)
			sessions[string(page[24:32])] = true
			must(t, f.Close())
		}
	}
	if len(sessions) != 2 {
		t.Errorf("two lives had %d sessions", len(sessions))
	}
}

// TestATreeOfSeveralLevels kills and reopens a store while its trunk grows and its
// keys change.
func TestATreeOfSeveralLevels(t *testing.T) {
	o := tiny()
	o.Tuning.LeafBytes, o.Tuning.BlobBytes = 4<<10, 4<<10
	disk := sim.NewDisk()
	db := open(t, disk, o)
	r := rand.New(rand.NewSource(3))
	want := map[string]string{}
	for round := range uint64(60) {
		for range 12 {
			k := fmt.Sprintf("key%04d", r.Intn(300))
			v := strings.Repeat(string(rune('a'+r.Intn(26))), 500+r.Intn(1500))
			must(t, db.Put([]byte(k), []byte(v)))
			want[k] = v
		}
		must(t, db.Flush())
		if round%4 > 0 {
			continue
		}
		found, err := store.Open(world(disk.Clone(), round), "db", o)
		must(t, err)
		check(t, found, want)
		report, err := found.Verify(t.Context())
		must(t, err)
		must(t, report.Err())
		must(t, found.Close())
	}
	if n := db.Metrics().Height; n < 3 {
		t.Errorf("the trunk has %d levels only", n)
	}
	must(t, db.Close())
}
