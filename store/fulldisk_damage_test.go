// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// On a full disk with a block that cannot be read, a call that makes room reads the
// block in a merge that no caller requested. That is not an error of the call: puts
// find no room, as on any full disk, and deletes of other keys succeed.
func TestFullDiskWithADamagedBlock(t *testing.T) {
	disk := newSmallDisk(1200)
	o := tiny()
	o.Compression = store.None
	var met unreadable
	openIt := func() *store.DB {
		db, err := store.Open(env.Env{Clock: osenv.NewClock(), Random: osenv.NewRandom(), Disk: disk, Tracer: &met}, "db", o)
		must(t, err)
		return db
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	const keys = 4000
	db := openIt()
	for i := range keys {
		must(t, db.Put(key(i), fmt.Appendf(nil, "%0300d", i)))
	}
	must(t, db.Compact(nil, nil))
	must(t, db.Close())
	p := dissect(t, disk.disk)
	for i := range p.metas { // in each third branch, so that a merge meets one soon
		if m := p.metas[i]; i%3 == 1 {
			edit(t, disk.disk, "DATA", p.blocks[m.ID][0], 4096, flip)
		}
	}
	db = openIt()
	defer db.Close()
	full := false
	for round := 0; round < 40 && !full; round++ {
		for i := 0; i < keys && !full; i += 3 {
			if err := db.Put(key(i), fmt.Appendf(nil, "%d %0300d", round, i)); errors.Is(err, env.ErrNoSpace) {
				full = true
			} else if err != nil {
				t.Fatalf("put %d of round %d: %v", i, round, err)
			}
		}
	}
	if !full {
		t.Fatal("the disk is not full")
	}
	for i := range keys {
		if err := db.Delete(key(i)); err != nil {
			t.Fatalf("delete %d: %v", i, err)
		}
	}
	if met == 0 {
		t.Error("no call that made room has met a damaged block")
	}
}

// unreadable counts the merges of calls that make room which met damage.
type unreadable int

func (n *unreadable) Trace(e env.Event) {
	if e.EventName() == "store.room.unreadable" {
		*n++
	}
}
