// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// idled is a store whose process has ended some time after a Sync, or after a Flush
// of changes that were never in the journal, and its content.
func idled(t *testing.T, flushed bool) (*sim.Disk, map[string]string) {
	t.Helper()
	disk, want := sim.NewDisk(), map[string]string{}
	db := open(t, disk, tiny())
	put := func(i, size int) {
		k, v := fmt.Sprintf("key%03d", i), fmt.Sprintf("%0*d", size, i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	for i := range 40 {
		put(i, 100+i%10*300)
	}
	must(t, db.Flush())
	for i := range 4 {
		put(100+i, 700)
		must(t, db.Sync())
	}
	if flushed {
		must(t, db.Flush())
		put(200, 50)
		must(t, db.Flush())
		must(t, db.Wait())
		return disk, want
	}
	for i := range 3 {
		put(200+i, 3000) // several pages, all in the last frame
	}
	must(t, db.Sync())
	must(t, db.Wait())
	return disk, want
}

// Whatever sector of whatever file is lost after the last Sync, or after the Flush:
// the store has everything, or returns an error. It never opens in an older state.
// After a repair it opens, and the report shows that something is missing.
func TestTheLossOfWhatWasSyncedLastIsReported(t *testing.T) {
	for _, flushed := range []bool{false, true} {
		t.Run(fmt.Sprintf("flushed=%v", flushed), func(t *testing.T) {
			disk, want := idled(t, flushed)
			names, err := disk.List("db")
			must(t, err)
			lost := 0
			try := func(where string, hurt *sim.Disk) {
				db, err := store.Open(world(hurt.Clone(), 1), "db", tiny())
				if err == nil {
					if err := readsAll(db, want); err != nil && !errors.Is(err, store.ErrCorrupt) {
						t.Errorf("%s: the store opens, and has lost something: %v", where, err)
					}
					must(t, db.Close())
					return
				}
				if !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("%s: %v, want ErrCorrupt", where, err)
				}
				if !strings.Contains(err.Error(), "were synced") {
					return // damage of another kind
				}
				lost++
				report, err := repair.Store(world(hurt, 2), "db", tiny())
				if err != nil || !report.Repaired || len(report.Damage) == 0 || len(report.Lost) == 0 {
					t.Errorf("%s: repair: %v, %v", where, &report, err)
					return
				}
				must(t, open(t, hurt, tiny()).Close())
			}
			for _, name := range names {
				bytes := content(t, disk, name)
				for at := 0; at < len(bytes); at += 512 {
					if !strings.ContainsFunc(string(bytes[at:at+512]), func(r rune) bool { return r != 0 }) {
						continue
					}
					for _, do := range []func([]byte){flip, zero} {
						hurt := disk.Clone()
						edit(t, hurt, name, int64(at), 512, do)
						try(fmt.Sprintf("%s at %d", name, at), hurt)
					}
				}
				if strings.HasPrefix(name, "JOURNAL-") {
					hurt := disk.Clone()
					must(t, hurt.Remove(path.Join("db", name)))
					try("without "+name, hurt)
				}
			}
			if want := map[bool]int{false: 20, true: 2}[flushed]; lost < want {
				t.Errorf("%d losses were reported, want %d at least", lost, want)
			}
			t.Logf("%d losses were reported", lost)
		})
	}
}

// A witness of another store, or a damaged one, records nothing.
func TestOnlyTheStoresOwnWitnessCounts(t *testing.T) {
	const at = 512 << 10
	disk, want := idled(t, false)
	high := sim.NewDisk()
	db, err := store.Open(world(high, 8), "db", tiny())
	must(t, err)
	for i := range 1000 {
		must(t, db.Put(fmt.Appendf(nil, "key%d", i), nil))
	}
	must(t, db.Close())
	other := content(t, high, "DATA")[at : at+4096]
	for name, change := range map[string]func([]byte){
		"of another store":      func(b []byte) { copy(b, other) },
		"with a higher number":  func(b []byte) { b[34]++ },
		"of zeros":              zero,
		"of an unknown version": func(b []byte) { b[12]++ },
	} {
		hurt := disk.Clone()
		edit(t, hurt, "DATA", at, 4096, change)
		db, err := store.Open(world(hurt, 1), "db", tiny())
		if err != nil {
			t.Errorf("a witness %s: %v", name, err)
			continue
		}
		check(t, db, want)
		must(t, db.Close())
	}
}

// opsDisk counts the syncs of files and the writes of the witness, and reports them.
type opsDisk struct {
	env.Disk
	syncs, witnesses atomic.Int64
	written          chan struct{}
	fail             error // of writes of the witness
}

func (d *opsDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return &opsFile{f, d, path.Base(name)}, err
}

type opsFile struct {
	env.File
	d    *opsDisk
	name string
}

func (f *opsFile) Sync() error {
	f.d.syncs.Add(1)
	return f.File.Sync()
}

func (f *opsFile) WriteAt(b []byte, off int64) (int, error) {
	if f.name != "DATA" || off != 512<<10 {
		return f.File.WriteAt(b, off)
	}
	f.d.witnesses.Add(1)
	if f.d.written != nil {
		defer func() { f.d.written <- struct{}{} }()
	}
	if f.d.fail != nil {
		return 0, f.d.fail
	}
	return f.File.WriteAt(b, off)
}

// The background writes the witness by itself, and once for the same changes.
func TestTheWitnessComesByItself(t *testing.T) {
	real, err := osenv.OpenDisk(t.TempDir())
	must(t, err)
	disk := &opsDisk{Disk: real, written: make(chan struct{}, 100)}
	o := tiny()
	o.Tuning.Inline = false
	db := open(t, disk, o)
	for range 2 {
		must(t, db.Put([]byte("k"), []byte("v")))
		must(t, db.Sync())
		select {
		case <-disk.written:
		case <-time.After(20 * time.Second):
			t.Fatal("the witness does not come")
		}
	}
	must(t, db.Wait()) // which has nothing new to say
	must(t, db.Wait())
	if n := disk.witnesses.Load(); n != 2 {
		t.Errorf("the witness was written %d times for two syncs", n)
	}
	must(t, db.Close())
}

// The witness costs no sync, and Sync does not write it.
func TestTheWitnessCostsNoSync(t *testing.T) {
	disk := &opsDisk{Disk: sim.NewDisk()}
	db := open(t, disk, tiny())
	before := disk.syncs.Load()
	const rounds = 5 // which leave room in the memtable
	for i := range rounds {
		must(t, db.Put(fmt.Appendf(nil, "%d", i), nil))
		must(t, db.Sync())
		if n := disk.witnesses.Load(); n != int64(i) {
			t.Errorf("%d witnesses after %d calls of Wait and one of Sync", n, i)
		}
		must(t, db.Wait())
	}
	if n := disk.syncs.Load() - before; n != rounds || disk.witnesses.Load() != rounds {
		t.Errorf("%d times Sync and Wait made %d syncs and wrote %d witnesses", rounds, n, disk.witnesses.Load())
	}
	must(t, db.Close())
}

// A store whose witness cannot be written continues.
func TestAWitnessThatCannotBeWritten(t *testing.T) {
	disk := &opsDisk{Disk: sim.NewDisk(), fail: errIO}
	db := open(t, disk, tiny())
	want := map[string]string{"k": "v", "l": "w"}
	must(t, db.Put([]byte("k"), []byte("v")))
	must(t, db.Sync())
	must(t, db.Wait())
	must(t, db.Put([]byte("l"), []byte("w")))
	must(t, db.Sync())
	must(t, db.Wait())
	check(t, db, want)
	must(t, db.Close())
	if disk.witnesses.Load() < 2 {
		t.Error("no write of the witness has failed")
	}
	db = open(t, disk, tiny())
	check(t, db, want)
	must(t, db.Close())
}
