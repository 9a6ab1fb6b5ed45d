// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// beforeWitnesses is a store from before there were witnesses: its page is a hole.
func beforeWitnesses(t *testing.T) *holeDisk {
	t.Helper()
	disk := &holeDisk{Disk: sim.NewDisk(), grows: true, holes: map[int64]bool{}}
	db := open(t, disk, tiny())
	must(t, db.Put([]byte("key"), []byte("value")))
	must(t, db.Close())
	edit(t, disk.Disk, "DATA", witnessAt, 4096, zero)
	disk.holes[witnessAt/4096] = true
	return disk
}

const witnessAt = 512 << 10

// A store from before there were witnesses gets the page when it is opened, so that
// there is room for a witness even if the disk is full later.
func TestTheWitnessOfAnOlderStore(t *testing.T) {
	disk := beforeWitnesses(t)
	db := open(t, disk, tiny())
	disk.full = true
	for i := range 3 {
		must(t, db.Put(fmt.Appendf(nil, "later%d", i), nil))
		must(t, db.Sync())
	}
	must(t, db.Wait())
	if page := content(t, disk.Disk, "DATA")[witnessAt:][:8]; string(page) != "ASHWITNS" {
		t.Errorf("the page of the witness begins with %q", page)
	}
	must(t, db.Close())
}

// A store without room for the page when it is opened logs that once, and writes no
// witness in this life: a disk might accept the write, and fail with the next sync.
func TestAnOlderStoreWithoutRoomForTheWitness(t *testing.T) {
	disk := beforeWitnesses(t)
	disk.full = true
	lazy := &lazyDisk{holeDisk: disk}
	var log bytes.Buffer
	o := tiny()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	db := open(t, lazy, o)
	for i := range 5 {
		must(t, db.Put(fmt.Appendf(nil, "later%d", i), nil))
		must(t, db.Sync())
		must(t, db.Wait())
	}
	must(t, db.Close())
	if lazy.refused > 0 {
		t.Errorf("the witness was written %d times to a page without room", lazy.refused)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings, want 1:\n%s", n, log.String())
	}
	disk.full = false
	db = open(t, disk, tiny())
	must(t, db.Put([]byte("last"), nil))
	must(t, db.Sync())
	must(t, db.Wait())
	must(t, db.Close())
	if len(disk.holes) > 0 && disk.holes[witnessAt/4096] {
		t.Error("the next life, which has room, writes no witness either")
	}
}

// lazyDisk allocates room in syncs, not in writes.
type lazyDisk struct {
	*holeDisk
	refused int // writes to pages without room
}

func (d *lazyDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.holeDisk.OpenDirect(name, create)
	if h, ok := f.(*holeFile); ok {
		return &lazyFile{h, d}, direct, err
	}
	return f, direct, err
}

type lazyFile struct {
	*holeFile
	disk *lazyDisk
}

func (f *lazyFile) WriteAt(b []byte, off int64) (int, error) {
	if f.disk.full {
		f.each(off, int64(len(b)), func(p int64) {
			if f.disk.holes[p] {
				f.disk.refused++
			}
		})
	}
	return f.SpaceFile.WriteAt(b, off)
}

func (f *lazyFile) Sync() error {
	if f.disk.refused > 0 {
		return env.ErrNoSpace
	}
	return f.SpaceFile.Sync()
}
