// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"io"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// sharedDisk is a simulated disk for a store with goroutines: it does one operation
// at a time.
type sharedDisk struct {
	mu   sync.Mutex
	disk *sim.Disk
}

var (
	_ env.DirectDisk = (*sharedDisk)(nil)
	_ env.LockDisk   = (*sharedDisk)(nil)
)

func (d *sharedDisk) alone(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

// killed returns the disk as a process that ends now leaves it.
func (d *sharedDisk) killed() (c *sim.Disk) {
	d.alone(func() { c = d.disk.Clone() })
	return c
}

func (d *sharedDisk) Open(name string, create bool) (f env.File, err error) {
	d.alone(func() { f, err = d.disk.Open(name, create) })
	if err != nil {
		return nil, err
	}
	return &sharedFile{d, f.(env.SpaceFile)}, nil
}

func (d *sharedDisk) OpenDirect(name string, create bool) (f env.File, direct bool, err error) {
	d.alone(func() { f, direct, err = d.disk.OpenDirect(name, create) })
	if err != nil {
		return nil, false, err
	}
	return &sharedFile{d, f.(env.SpaceFile)}, direct, nil
}

func (d *sharedDisk) Rename(old, to string) (err error) {
	d.alone(func() { err = d.disk.Rename(old, to) })
	return err
}

func (d *sharedDisk) Remove(name string) (err error) {
	d.alone(func() { err = d.disk.Remove(name) })
	return err
}

func (d *sharedDisk) MakeDir(name string) (err error) {
	d.alone(func() { err = d.disk.MakeDir(name) })
	return err
}

func (d *sharedDisk) List(dir string) (names []string, err error) {
	d.alone(func() { names, err = d.disk.List(dir) })
	return names, err
}

func (d *sharedDisk) SyncDir(dir string) (err error) {
	d.alone(func() { err = d.disk.SyncDir(dir) })
	return err
}

func (d *sharedDisk) Lock(name string) (c io.Closer, err error) {
	d.alone(func() { c, err = d.disk.Lock(name) })
	return c, err
}

type sharedFile struct {
	d *sharedDisk
	f env.SpaceFile
}

func (f *sharedFile) ReadAt(b []byte, off int64) (n int, err error) {
	f.d.alone(func() { n, err = f.f.ReadAt(b, off) })
	return n, err
}

func (f *sharedFile) WriteAt(b []byte, off int64) (n int, err error) {
	f.d.alone(func() { n, err = f.f.WriteAt(b, off) })
	return n, err
}

func (f *sharedFile) Append(b []byte) (err error) {
	f.d.alone(func() { err = f.f.Append(b) })
	return err
}

func (f *sharedFile) Size() (n int64, err error) {
	f.d.alone(func() { n, err = f.f.Size() })
	return n, err
}

func (f *sharedFile) Truncate(size int64) (err error) {
	f.d.alone(func() { err = f.f.Truncate(size) })
	return err
}

func (f *sharedFile) Sync() (err error) {
	f.d.alone(func() { err = f.f.Sync() })
	return err
}

func (f *sharedFile) Allocate(off, n int64) (err error) {
	f.d.alone(func() { err = f.f.Allocate(off, n) })
	return err
}

func (f *sharedFile) Discard(off, n int64) (err error) {
	f.d.alone(func() { err = f.f.Discard(off, n) })
	return err
}

func (f *sharedFile) Close() (err error) {
	f.d.alone(func() { err = f.f.Close() })
	return err
}

// TestSyncBesideFlushes syncs while memtables are being written as branches:
// changes that Sync has acknowledged are there after a power failure.
func TestSyncBesideFlushes(t *testing.T) {
	defer goleak.VerifyNone(t)
	o := small(store.SyncOnDemand)
	o.Tuning.MemtableBytes, o.Tuning.LeafBytes = 32<<10, 64<<10
	shared := &sharedDisk{disk: sim.NewDisk()}
	db := open(t, shared, o)
	r := rand.New(rand.NewSource(2))
	want := map[string]string{}
	for round := range 60 {
		for range 40 + r.Intn(160) {
			k := fmt.Sprintf("key%03d", r.Intn(100))
			v := strings.Repeat(string(rune('a'+r.Intn(26))), 100+r.Intn(1000))
			must(t, db.Put([]byte(k), []byte(v)))
			want[k] = v
		}
		must(t, db.Sync())
		c := shared.killed()
		c.Crash(sim.KeepUpTo(0))
		found, err := store.Open(world(c, uint64(round)), "db", tiny())
		must(t, err)
		check(t, found, want)
		must(t, found.Close())
	}
	if db.Metrics().Memtables < 60 {
		t.Errorf("%d memtables were made branches of", db.Metrics().Memtables)
	}
	must(t, db.Close())
}

// TestTailsOfManyFrames: a power failure keeps any sectors of several frames that
// were written and not synced. Recovery finds the state of some moment, and never
// an error.
func TestTailsOfManyFrames(t *testing.T) {
	const synced, all = 300, 2400
	o := tiny()
	o.Durability, o.Tuning.MemtableBytes, o.Tuning.BlobBytes = store.ProcessCrash, 4<<20, 8<<10
	disk := sim.NewDisk()
	db := open(t, disk, o)
	key := func(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }
	for i := range all {
		must(t, db.Put(key(i), []byte(strings.Repeat("v", 700))))
		if i == synced-1 {
			must(t, db.Sync())
		}
	}
	if n := db.Metrics().JournalBytes; n < 4*store.FrameBytes {
		t.Fatalf("%d bytes were written to the journal", n)
	}
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		// Most sectors are kept, or most are lost, or about a half.
		most := r.Intn(1000)
		c := disk.Clone()
		c.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int {
			if r.Intn(1000) < most {
				return len(ops)
			}
			return 0
		}))
		found, err := store.Open(world(c, uint64(seed)), "db", o)
		must(t, err)
		n := 0
		for ; n < all; n++ {
			if _, err := found.Get(key(n), nil); err != nil {
				break
			}
		}
		it, err := found.Iter(key(n), nil)
		must(t, err)
		if n < synced || it.First() {
			t.Errorf("seed %d: %d changes of %d synced ones are there, and then %q", seed, n, synced, it.Key())
		}
		must(t, it.Close())
		must(t, found.Close())
	}
	must(t, db.Close())
}

// TestSyncOfAnEarlierLife ends a process that has written and not synced. The next
// one reads the journal, and its Sync returns before the background has written it
// as a branch. Then the power fails.
func TestSyncOfAnEarlierLife(t *testing.T) {
	o := tiny()
	o.Durability, o.Tuning.MemtableBytes = store.ProcessCrash, 2<<20
	disk := sim.NewDisk()
	db := open(t, disk, o)
	for i := range 8000 {
		must(t, db.Put(fmt.Appendf(nil, "key%06d", i), fmt.Appendf(nil, "%0150d", i)))
	}
	for round := range uint64(10) {
		shared := &sharedDisk{disk: disk.Clone()}
		o.Tuning.Inline = false
		next, err := store.Open(world(shared, round), "db", o)
		must(t, err)
		s := next.Snapshot()
		n := s.Seq()
		s.Close()
		must(t, next.Sync())
		c := shared.killed()
		c.Crash(sim.KeepUpTo(0))
		must(t, next.Close())
		o.Tuning.Inline = true
		found := open(t, c, o)
		s = found.Snapshot()
		if n == 0 || s.Seq() < n {
			t.Fatalf("%d changes are there, synced were %d", s.Seq(), n)
		}
		s.Close()
		must(t, found.Close())
	}
	must(t, db.Close())
}
