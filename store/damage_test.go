// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// One damaged block: reads of its keys return an error with the place, all others
// succeed.
func TestADamagedBlockHurtsItsKeysOnly(t *testing.T) {
	disk := sim.NewDisk()
	o := tiny()
	o.Compression = store.None
	db := open(t, disk, o)
	want := map[string]string{}
	for i := range 1500 {
		k, v := fmt.Sprintf("key%04d", i), fmt.Sprintf("the value of %d", i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	must(t, db.Flush())
	must(t, db.Flush())
	must(t, db.Compact(nil, nil))
	must(t, db.Close())
	p := dissect(t, disk)
	m := p.metas[len(p.metas)/2]
	const number = 1
	at := p.blocks[m.ID][number]
	edit(t, disk, "DATA", at, 4096, flip)

	db = open(t, disk, o)
	var bad *store.CorruptError
	hurt := 0
	for k, v := range want {
		got, err := db.Get([]byte(k), nil)
		if err == nil {
			if string(got) != v {
				t.Fatalf("get %s: %q", k, got)
			}
			continue
		}
		hurt++
		if !errors.As(err, &bad) || !errors.Is(err, store.ErrCorrupt) {
			t.Fatalf("get %s: %v", k, err)
		}
		if k < string(bad.Lo) || k > string(bad.Hi) {
			t.Errorf("get %s: the error is of keys %q to %q", k, bad.Lo, bad.Hi)
		}
	}
	if hurt == 0 || hurt > 200 {
		t.Fatalf("%d keys cannot be read", hurt)
	}
	if bad.File != "DATA" || bad.Offset != at || bad.Branch != m.ID || bad.Block != number ||
		!strings.HasPrefix(bad.Want, fmt.Sprintf("block %d of branch %d, epoch 1, checksum ", number, m.ID)) ||
		!strings.HasPrefix(bad.Found, "bytes with checksum ") {
		t.Errorf("the error is %+v", bad)
	}
	// Iterators reach the block from both sides, and do not pass over it.
	it, err := db.Iter(nil, nil)
	must(t, err)
	seen := map[string]bool{}
	for ok := it.First(); ok; ok = it.Next() {
		seen[string(it.Key())] = true
	}
	if err := it.Err(); !errors.As(err, &bad) || bad.Offset != at {
		t.Errorf("forward: %v", err)
	}
	if err := it.Close(); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("close: %v", err)
	}
	it, err = db.Iter(nil, nil)
	must(t, err)
	for ok := it.Last(); ok; ok = it.Prev() {
		seen[string(it.Key())] = true
	}
	if err := it.Close(); !errors.As(err, &bad) || bad.Offset != at {
		t.Errorf("backward: %v", err)
	}
	// Backwards, the key next to the block is not shown: the block may have
	// something newer for it.
	if len(seen)+hurt < len(want)-1 {
		t.Errorf("%d keys were seen by iterators, %d are hurt, of %d", len(seen), hurt, len(want))
	}
	// Outside the block, everything works.
	it, err = db.Iter(append(bad.Hi, 0), nil)
	must(t, err)
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	must(t, it.Close())
	if n == 0 {
		t.Error("no keys behind the block")
	}
	must(t, db.Put([]byte("key0000"), []byte("written")))
	must(t, db.Sync())
	report, err := db.Verify(t.Context())
	must(t, err)
	if len(report.Problems) != 1 || !errors.As(report.Problems[0], &bad) || bad.Offset != at {
		t.Errorf("verify: %v", report.Problems)
	}
	report, err = db.Scrub(t.Context(), 1<<40)
	must(t, err)
	if len(report.Problems) != 1 {
		t.Errorf("scrub: %v", report.Problems)
	}
	must(t, db.Close())
}

// syncDisk is a disk on which, once armed, one sync of the named files fails; the
// data of that sync are lost, as on Linux.
type syncDisk struct {
	*sim.Disk
	name  string
	armed bool
}

var errIO = errors.New("input/output error")

func (d *syncDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	if err != nil {
		return nil, false, err
	}
	return &syncFile{File: f, disk: d, name: path.Base(name)}, direct, nil
}

type syncFile struct {
	env.File
	disk *syncDisk
	name string
}

func (f *syncFile) Sync() error {
	if f.disk.armed && strings.HasPrefix(f.name, f.disk.name) {
		f.disk.armed = false
		return errIO
	}
	return f.File.Sync()
}

func TestNothingIsWrittenAfterAFailedSync(t *testing.T) {
	for _, c := range []struct {
		file string
		what func(db *store.DB) error
	}{
		{"JOURNAL-", (*store.DB).Sync},
		{"DATA", (*store.DB).Flush},
	} {
		t.Run(c.file, func(t *testing.T) {
			disk := &syncDisk{Disk: sim.NewDisk(), name: c.file}
			db := open(t, disk, tiny())
			want := map[string]string{}
			for i := range 500 {
				k, v := fmt.Sprintf("k%03d", i), fmt.Sprintf("%0150d", i)
				must(t, db.Put([]byte(k), []byte(v)))
				want[k] = v
			}
			must(t, db.Sync())
			must(t, db.Put([]byte("later"), []byte("not durable")))
			disk.armed = true
			if err := c.what(db); !errors.Is(err, store.ErrStopped) || !errors.Is(err, errIO) {
				t.Fatalf("with a sync that fails: %v", err)
			}
			if disk.armed {
				t.Fatal("no sync has failed")
			}
			ops := disk.Ops()
			b := db.NewBatch()
			b.Put([]byte("batch"), nil)
			for name, do := range map[string]func() error{
				"put":         func() error { return db.Put([]byte("k"), nil) },
				"delete":      func() error { return db.Delete([]byte("k000")) },
				"deleteRange": func() error { return db.DeleteRange([]byte("a"), []byte("z")) },
				"large":       func() error { return db.Put([]byte("k"), make([]byte, 20_000)) },
				"commit":      func() error { return db.Commit(b, store.NoSync) },
				"commit sync": func() error { return db.Commit(b, store.Sync) },
				"sync":        db.Sync,
				"flush":       db.Flush,
				"compact":     func() error { return db.Compact(nil, nil) },
				"checkpoint":  func() error { return db.Checkpoint("copy") },
			} {
				for range 2 {
					if err := do(); !errors.Is(err, store.ErrStopped) || !errors.Is(err, errIO) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			// All reads still work.
			want["later"] = "not durable"
			check(t, db, want)
			if err := db.Close(); !errors.Is(err, store.ErrStopped) {
				t.Errorf("close: %v", err)
			}
			if disk.Ops() != ops {
				t.Errorf("%d changes of the disk after the failed sync", disk.Ops()-ops)
			}
			disk.Crash(sim.KeepUpTo(0))
			db = open(t, disk, tiny())
			delete(want, "later")
			check(t, db, want)
			must(t, db.Put([]byte("k"), []byte("goes on")))
			must(t, db.Sync())
			must(t, db.Close())
		})
	}
}
