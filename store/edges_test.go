// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// within fails the test when f does not return.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("no answer after %v", d)
	}
}

// list is a Merger that appends.
type list struct{}

func (list) Name() string { return "list" }

func (list) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}

func (list) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	return append(append(dst, value...), operand...)
}

// A change that no memtable can hold is refused at once.
func TestWhatFitsNoMemtableIsRefused(t *testing.T) {
	o := tiny()
	o.Merger = list{}
	db := open(t, sim.NewDisk(), o)
	long := bytes.Repeat([]byte{'k'}, message.KeyMax)
	for name, do := range map[string]func() error{
		"put":         func() error { return db.Put(long, []byte("v")) },
		"delete":      func() error { return db.Delete(long) },
		"deleteRange": func() error { return db.DeleteRange([]byte("a"), long) },
		"merge":       func() error { return db.Merge([]byte("k"), make([]byte, 40<<10)) },
	} {
		within(t, 5*time.Second, func() {
			if err := do(); !errors.Is(err, store.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	check(t, db, nil)
	must(t, db.Close())
}

// A branch must accept everything that a memtable accepts: otherwise the store
// would stop at every flush.
func TestWhatIsTakenCanBeFlushed(t *testing.T) {
	o := tiny()
	o.Merger, o.Memory = list{}, 256<<20
	o.Tuning.MemtableBytes, o.Tuning.BlobBytes = 16<<20, 1<<20
	for name, do := range map[string]func(db *store.DB) error{
		"operand": func(db *store.DB) error { return db.Merge([]byte("k"), make([]byte, 1<<20+1)) },
		"value":   func(db *store.DB) error { return db.Put([]byte("k"), make([]byte, 3<<20)) },
		"combined": func(db *store.DB) error {
			for range 5 {
				if err := db.Merge([]byte("k"), make([]byte, 300<<10)); err != nil {
					return err
				}
			}
			return nil
		},
		"applied": func(db *store.DB) error {
			for range 5 {
				if err := errors.Join(db.Merge([]byte("k"), make([]byte, 300<<10)), db.Flush()); err != nil {
					return err
				}
			}
			return db.Compact(nil, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := sim.NewDisk()
			db := open(t, disk, o)
			if err := do(db); err != nil && !errors.Is(err, store.ErrTooLarge) {
				t.Error(err)
			}
			must(t, db.Flush())
			must(t, db.Put([]byte("other"), []byte("v")))
			must(t, db.Close())
		})
	}
}

func TestAMergerHasAShortName(t *testing.T) {
	o := tiny()
	o.Merger = named(fmt.Sprintf("%065d", 0))
	if _, err := store.Open(world(sim.NewDisk(), 1), "db", o); !errors.Is(err, store.ErrMerger) {
		t.Error(err)
	}
}

type named string

func (n named) Name() string                                          { return string(n) }
func (n named) Combine(dst, _, _, newer []byte) []byte                { return append(dst, newer...) }
func (n named) Apply(dst, _, _ []byte, _ bool, operand []byte) []byte { return append(dst, operand...) }

func TestAClosedSnapshotAnswersNothing(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	must(t, db.Put([]byte("k"), []byte("old")))
	s := db.Snapshot()
	must(t, db.Put([]byte("k"), []byte("new")))
	s.Close()
	must(t, db.Compact(nil, nil))
	if v, err := s.Get([]byte("k"), nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("get: %q, %v", v, err)
	}
	if _, err := s.Iter(nil, nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("iter: %v", err)
	}
	s.Close()
	must(t, db.Close())
}

// fullDisk is a disk on which no file grows, while it is full.
type fullDisk struct {
	*sim.Disk
	full bool
}

func (d *fullDisk) OpenDirect(name string, create bool) (env.File, bool, error) {
	f, direct, err := d.Disk.OpenDirect(name, create)
	if err != nil {
		return nil, false, err
	}
	if path.Base(name) != "DATA" {
		return f, direct, nil
	}
	return &fullFile{SpaceFile: f.(env.SpaceFile), disk: d}, direct, nil
}

// fullFile is a file that needs room even for pages that it has, as in a file
// system that never writes in place: free pages of the store are useless while the
// disk is full.
type fullFile struct {
	env.SpaceFile
	disk *fullDisk
}

func (f *fullFile) Allocate(off, n int64) error {
	if f.disk.full {
		return env.ErrNoSpace
	}
	return f.SpaceFile.Allocate(off, n)
}

// A flush whose checkpoint found the disk full is not finished: the next one makes
// the checkpoint.
func TestFlushAfterAFullDisk(t *testing.T) {
	disk := &fullDisk{Disk: sim.NewDisk()}
	o := tiny()
	o.Compression = store.None
	db := open(t, disk, o)
	want := map[string]string{}
	found := 0
	for round := 0; round < 2000 && found < 2; round++ {
		for range round % 5 {
			k, v := fmt.Sprintf("k%d", len(want)), fmt.Sprintf("%0900d", len(want))
			must(t, db.Put([]byte(k), []byte(v)))
			want[k] = v
		}
		must(t, db.Put([]byte("round"), fmt.Append(nil, round)))
		want["round"] = fmt.Sprint(round)
		disk.full = true
		err := db.Flush()
		disk.full = false
		if err == nil {
			continue
		}
		if !errors.Is(err, env.ErrNoSpace) {
			t.Fatal(err)
		}
		if strings.Contains(err.Error(), "checkpoint") {
			found++
		}
		must(t, db.Flush())
		crashed := disk.Clone()
		crashed.Crash(sim.KeepUpTo(0))
		other := open(t, crashed, o)
		check(t, other, want)
		must(t, other.Close())
	}
	if found == 0 {
		t.Error("no checkpoint found the disk full")
	}
	must(t, db.Close())
}

// A store that is closed on a full disk has its changes in the journal, if that
// has room.
func TestCloseOnAFullDisk(t *testing.T) {
	disk := &fullDisk{Disk: sim.NewDisk()}
	o := tiny()
	o.Compression, o.Tuning.BlobBytes = store.None, 8<<10
	db := open(t, disk, o)
	want := map[string]string{}
	put := func(n, size int) {
		for range n {
			k, v := fmt.Sprintf("k%d", len(want)), fmt.Sprintf("%0*d", size, len(want))
			must(t, db.Put([]byte(k), []byte(v)))
			want[k] = v
		}
	}
	put(5, 100)
	must(t, db.Sync()) // there is a file for the journal
	must(t, db.Close())
	full := 0
	for range 30 {
		db = open(t, disk, o)
		put(3, 7000)
		disk.full = true
		err := db.Flush()
		if err != nil {
			full++
		}
		must(t, db.Close())
		disk.full = false
		crashed := disk.Clone()
		crashed.Crash(sim.KeepUpTo(0))
		db = open(t, crashed, o)
		check(t, db, want)
		must(t, db.Close())
	}
	if full == 0 {
		t.Error("the disk was never full")
	}
}

// The shortest and the longest keys, values and batches, through the tree and
// through the journal.
func TestLeastAndLongest(t *testing.T) {
	o := tiny()
	o.Tuning.MemtableBytes = 256 << 10
	disk := sim.NewDisk()
	db := open(t, disk, o)
	want := map[string]string{}
	longest := string(bytes.Repeat([]byte{0xff}, message.KeyMax))
	for _, k := range []string{"", "\x00", "k", longest, longest[1:]} {
		for _, n := range []int{0, 1, o.Tuning.BlobBytes - 1, o.Tuning.BlobBytes, o.Tuning.BlobBytes + 1, 4096, 4097, 1<<20 - 1, 1<<20 + 1} {
			v := string(bytes.Repeat([]byte{byte(n)}, n))
			must(t, db.Put([]byte(k), []byte(v)))
			if got, err := db.Get([]byte(k), nil); err != nil || string(got) != v {
				t.Fatalf("get a key of %d bytes: %d bytes, %v; want %d", len(k), len(got), err, n)
			}
			want[k] = v
			if n%3 == 0 {
				must(t, db.Flush())
			}
		}
	}
	check(t, db, want)
	const room = 256<<10 - 4096 - 64 // of a batch, in bytes
	for _, c := range []struct {
		size int
		err  error
	}{{room, nil}, {room + 8, store.ErrTooLarge}} {
		b := db.NewBatch()
		for left := c.size; left > 0; left -= min(left, 1000) {
			k := fmt.Sprintf("batch%07d", left)
			v := string(bytes.Repeat([]byte{'v'}, min(left, 1000)-24-len(k)))
			b.Put([]byte(k), []byte(v))
			if c.err == nil {
				want[k] = v
			}
		}
		if err := db.Commit(b, store.NoSync); !errors.Is(err, c.err) {
			t.Fatalf("a batch of %d bytes: %v", c.size, err)
		}
	}
	must(t, db.Sync())
	disk.Crash(sim.KeepUpTo(0))
	db = open(t, disk, o)
	check(t, db, want)
	must(t, db.DeleteRange([]byte(""), []byte(longest)))
	for k := range want {
		if k != longest {
			delete(want, k)
		}
	}
	check(t, db, want)
	must(t, db.Compact(nil, nil))
	check(t, db, want)
	for _, hi := range []string{"", "a"} {
		if err := db.DeleteRange([]byte("b"), []byte(hi)); !errors.Is(err, store.ErrBounds) {
			t.Errorf("delete up to %q: %v", hi, err)
		}
	}
	must(t, db.Close())
}

// A journal that does not fit into the memory is read nevertheless, and the bound
// holds again when the tree has it.
func TestOpenWithLessMemory(t *testing.T) {
	disk := sim.NewDisk()
	o := tiny()
	o.Tuning.MemtableBytes = 2 << 20
	db := open(t, disk, o)
	want := map[string]string{}
	for i := range 1000 {
		k, v := fmt.Sprintf("k%d", i), fmt.Sprintf("%0900d", i)
		must(t, db.Put([]byte(k), []byte(v)))
		want[k] = v
	}
	must(t, db.Sync())
	disk.Crash(sim.KeepUpTo(0))
	less := tiny()
	less.Memory, less.Tuning.CacheBytes = 512<<10, 0
	less.ReadOnly = true
	db = open(t, disk, less)
	check(t, db, want)
	if err := db.Put([]byte("k"), nil); !errors.Is(err, store.ErrReadOnly) {
		t.Error(err)
	}
	must(t, db.Close())
	less.ReadOnly = false
	db = open(t, disk, less)
	check(t, db, want)
	must(t, db.Put([]byte("k"), nil))
	want["k"] = ""
	if m := db.Metrics(); m.MemoryPeak <= m.MemoryLimit {
		t.Errorf("the journal fitted: %d of %d bytes", m.MemoryPeak, m.MemoryLimit)
	}
	must(t, db.Flush())
	check(t, db, want)
	if m := db.Metrics(); m.MemoryBytes > m.MemoryLimit {
		t.Errorf("%d bytes in use after a flush, the bound is %d", m.MemoryBytes, m.MemoryLimit)
	}
	must(t, db.Close())
}
