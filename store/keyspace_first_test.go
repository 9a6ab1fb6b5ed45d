// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// onceDisk refuses room for the data file once, even room that the file has, like a
// disk that never writes in place.
type onceDisk struct {
	*sim.Disk
	asked, refuse int // the call with number refuse is refused
}

func (d *onceDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	if err != nil || path.Base(name) != "DATA" {
		return f, direct, err
	}
	return &onceFile{f.(env.SpaceFile), d}, direct, nil
}

type onceFile struct {
	env.SpaceFile
	disk *onceDisk
}

func (f *onceFile) Allocate(off, n int64) error {
	if f.disk.asked++; f.disk.asked == f.disk.refuse {
		return env.ErrNoSpace
	}
	return f.SpaceFile.Allocate(off, n)
}

// The disk refuses room once, anywhere while the first keyspace is made: if Keyspace
// returns an error, the default keyspace either refuses the reserved keys, or still has
// the ones that it accepts in the next life.
func TestTheFirstKeyspaceWithoutRoom(t *testing.T) {
	reserved := bytes.Repeat([]byte{0xff}, 12)
	failed := 0
	for nth := 1; ; nth++ {
		disk := &onceDisk{Disk: sim.NewDisk()}
		o := everyCommit()
		db := open(t, disk, o)
		must(t, db.Put([]byte("k"), []byte("v")))
		before := disk.asked
		disk.refuse = before + nth
		_, err := db.Keyspace("a")
		if disk.asked < before+nth {
			must(t, err)
			must(t, db.Close())
			break
		}
		if err != nil {
			if !errors.Is(err, env.ErrNoSpace) {
				t.Fatal(err)
			}
			failed++
			put := db.Put(reserved, []byte("mine"))
			if put != nil && !errors.Is(put, store.ErrReserved) {
				t.Fatal(put)
			}
			disk.Crash(sim.KeepUpTo(0))
			db = open(t, disk, o)
			v, err := db.Get(reserved, nil)
			if put == nil && (err != nil || string(v) != "mine") {
				t.Fatalf("after refusal %d a key that was durable is %q, %v", nth, v, err)
			}
			must(t, db.DeleteRange(nil, reserved))
			if put == nil {
				must(t, db.Delete(reserved))
			}
		}
		k, err := db.Keyspace("a")
		must(t, err)
		must(t, k.Put([]byte("k"), []byte("v")))
		reads(t, k, map[string]string{"k": "v"})
		must(t, db.Close())
	}
	if failed == 0 {
		t.Fatal("no refusal made Keyspace fail")
	}
}

// Power is lost at any operation while the first keyspace is made. The next life makes
// it, and loses its power and its newest superblock: the older one and the journal
// have the keyspace, and the default one is empty.
func TestTheFirstKeyspaceAndTheOlderSuperblock(t *testing.T) {
	tried := 0
	disk := sim.NewDisk()
	crashes(disk, func(d env.Disk) {
		db := open(t, d, tiny())
		_, err := db.Keyspace("a")
		must(t, err)
		must(t, db.Sync())
	}, func(crashed *sim.Disk, moment int) {
		db, err := store.Open(world(crashed, uint64(1000+moment)), "db", tiny())
		must(t, err)
		k, err := db.Keyspace("a")
		must(t, err)
		must(t, k.Put([]byte("k"), []byte("v")))
		must(t, db.Sync())
		crashed.Crash(sim.KeepUpTo(0))
		if !loseSuperblock(t, crashed) {
			return
		}
		tried++
		db, err = store.Open(world(crashed, uint64(2000+moment)), "db", tiny())
		must(t, err)
		reads(t, db, nil)
		k, err = db.Keyspace("a")
		must(t, err)
		reads(t, k, map[string]string{"k": "v"})
		must(t, db.Close())
	})
	if tried < 20 {
		t.Fatalf("%d losses of a superblock: the test is empty", tried)
	}
}

// After a repair without the block that has the list of keyspaces: a new keyspace is
// empty, and no keyspace shows the keys of another one.
func TestRepairWithoutTheListOfKeyspaces(t *testing.T) {
	o := tiny()
	o.Compression = store.None
	disk := sim.NewDisk()
	db := open(t, disk, o)
	for _, name := range []string{"a", "b", "c"} {
		k, err := db.Keyspace(name)
		must(t, err)
		for i := range 200 {
			must(t, k.Put(fmt.Appendf(nil, "key%03d", i), fmt.Appendf(nil, "%s%0200d", name, i)))
		}
	}
	must(t, db.Compact(nil, nil))
	must(t, db.Close())
	db = open(t, disk, o) // two superblocks
	must(t, db.Close())
	p, lists := dissect(t, disk), 0
	for _, m := range p.metas {
		for _, at := range p.blocks[m.ID] {
			c := disk.Clone()
			edit(t, c, "DATA", at, 4096, zero)
			report, err := repair.Store(world(c, 3), "db", o)
			must(t, err)
			if !report.Repaired {
				t.Fatalf("block at %d: %v", at, &report)
			}
			db := open(t, c, o)
			names, err := db.Keyspaces()
			must(t, err)
			if len(names) < 3 {
				lists++
			}
			for _, name := range []string{"fresh", "a", "b", "c"} {
				is := false
				for _, n := range names {
					is = is || n == name
				}
				if !is {
					k, err := db.Keyspace(name)
					must(t, err)
					reads(t, k, nil)
					must(t, k.Put([]byte("only"), []byte(name)))
					reads(t, k, map[string]string{"only": name})
				}
			}
			for _, name := range names {
				k, err := db.Keyspace(name)
				must(t, err)
				if v, err := k.Get([]byte("only"), nil); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("%q shows what another keyspace took: %q, %v", name, v, err)
				}
			}
			must(t, db.Close())
		}
	}
	if lists == 0 {
		t.Fatalf("no block of %d branches has the list", len(p.metas))
	}
}
