// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"math/rand"
	"path"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// holeDisk is a disk whose data file has holes, for which there is no room
// while it is full.
type holeDisk struct {
	*sim.Disk
	full  bool
	grows bool           // there is room behind the end all the same
	holes map[int64]bool // pages
}

func (d *holeDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	if err != nil || path.Base(name) != "DATA" {
		return f, direct, err
	}
	return &holeFile{SpaceFile: f.(env.SpaceFile), disk: d}, direct, nil
}

type holeFile struct {
	env.SpaceFile
	disk *holeDisk
}

func (f *holeFile) each(off, n int64, do func(page int64)) {
	for p := off / 4096; p*4096 < off+n; p++ {
		do(p)
	}
}

// room takes room for pages, if there is any.
func (f *holeFile) room(off, n int64) error {
	missing := false
	f.each(off, n, func(p int64) { missing = missing || f.disk.holes[p] })
	size, err := f.Size()
	if err != nil {
		return err
	}
	if f.disk.full && (missing || off+n > size && !f.disk.grows) {
		return env.ErrNoSpace
	}
	f.each(off, n, func(p int64) { delete(f.disk.holes, p) })
	return nil
}

func (f *holeFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.room(off, int64(len(b))); err != nil {
		return 0, err
	}
	return f.SpaceFile.WriteAt(b, off)
}

func (f *holeFile) Allocate(off, n int64) error {
	if err := f.room(off, n); err != nil {
		return err
	}
	return f.SpaceFile.Allocate(off, n)
}

func (f *holeFile) Discard(off, n int64) error {
	f.each(off, n, func(p int64) { f.disk.holes[p] = true })
	return f.SpaceFile.Discard(off, n)
}

// If a disk has no room to fill a hole, the store treats it as a full disk, and nothing
// worse happens.
func TestHolesOnAFullDisk(t *testing.T) {
	disk := &holeDisk{Disk: sim.NewDisk(), holes: map[int64]bool{}}
	o := tiny()
	o.Compression = store.None
	db := open(t, disk, o)
	r := rand.New(rand.NewSource(1))
	want := map[string]string{}
	full := 0
	for round := range 6 {
		for i := range 6000 {
			must(t, db.Put(fmt.Appendf(nil, "bulk%04d", i), make([]byte, 400)))
		}
		must(t, db.DeleteRange([]byte("bulk"), []byte("bulk9999")))
		must(t, db.Compact(nil, nil))
		must(t, db.Flush())
		must(t, db.Wait())
		if len(disk.holes) == 0 {
			t.Fatal("there are no holes")
		}
		if round%2 == 1 {
			must(t, db.Close())
			db = open(t, disk, o)
		}
		disk.full = true
		for i := range 3000 {
			k, v := fmt.Sprintf("k%d-%d", round, r.Intn(3000)), fmt.Sprintf("%0*d", r.Intn(500), round*100+i)
			err := db.Put([]byte(k), []byte(v))
			if errors.Is(err, env.ErrNoSpace) {
				full++
				break
			}
			must(t, err)
			want[k] = v
			if i%100 == 99 {
				must(t, db.Flush())
			}
		}
		must(t, db.Flush())
		disk.full = false
		check(t, db, want)
	}
	if full == 0 {
		t.Error("the disk was never full")
	}
	must(t, db.Close())
	db = open(t, disk, o)
	check(t, db, want)
	must(t, db.Close())
}

// Pages that were a hole, were used, and are free again become a hole again, except
// for the reserve.
func TestHolesAreMadeAgain(t *testing.T) {
	disk := &holeDisk{Disk: sim.NewDisk(), holes: map[int64]bool{}}
	o := tiny()
	o.Compression = store.None
	db := open(t, disk, o)
	least, most := 1<<30, 0
	for range 6 {
		for i := range 6000 {
			must(t, db.Put(fmt.Appendf(nil, "bulk%04d", i), make([]byte, 400)))
		}
		must(t, db.DeleteRange([]byte("bulk"), []byte("bulk9999")))
		must(t, db.Compact(nil, nil))
		for range 3 {
			must(t, db.Put([]byte("k"), nil))
			must(t, db.Flush())
		}
		must(t, db.Wait())
		m := db.Metrics()
		rest := int((m.FreeBytes-m.ReserveBytes)/4096) - len(disk.holes)
		least, most = min(least, rest), max(most, rest)
	}
	if most > 400 {
		t.Errorf("up to %d free pages are no holes", most)
	}
	must(t, db.Close())
}
