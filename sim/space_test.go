// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

func spaceFile(t testing.TB, d env.Disk, name string) env.SpaceFile {
	t.Helper()
	f, err := d.Open(name, true)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := f.(env.SpaceFile)
	if !ok {
		t.Fatal("the file cannot take space")
	}
	return s
}

// TestOthersAreKeptOut: the holder of a lock is alone until it is closed, or there is a
// crash; a clone is another machine.
func TestOthersAreKeptOut(t *testing.T) {
	d := sim.NewDisk()
	lock := func(d *sim.Disk, name string) io.Closer {
		t.Helper()
		l, err := d.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	held := func(d *sim.Disk, name string) {
		t.Helper()
		if _, err := d.Lock(name); !errors.Is(err, env.ErrLocked) {
			t.Errorf("a second lock of %s: %v, want %v", name, err, env.ErrLocked)
		}
	}
	first := lock(d, "LOCK")
	held(d, "./LOCK")
	lock(d, "other")
	lock(d.Clone(), "LOCK")
	held(d, "LOCK")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := lock(d, "LOCK")
	if err := first.Close(); err == nil {
		t.Error("closed twice without an error")
	}
	held(d, "LOCK") // the first has nothing to give back any more
	if err := d.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	d.Crash(sim.KeepAll())
	third := lock(d, "LOCK")
	if err := second.Close(); err != nil {
		t.Errorf("a lock that a crash has ended: %v", err)
	}
	held(d, "LOCK")
	if err := third.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Lock("none/LOCK"); err == nil {
		t.Error("locked in a directory that is absent")
	}
}

// TestOthersAreKeptOutForALife: a lock ends with the life that took it, however it ends.
func TestOthersAreKeptOutForALife(t *testing.T) {
	for _, power := range []bool{false, true} {
		w, err := sim.New(sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var locked []error
		var old io.Closer
		n := w.Node("a", func(l *sim.Life) error {
			disk := l.Env.Disk.(env.LockDisk)
			for range 2 {
				held, err := disk.Lock("LOCK")
				locked = append(locked, err)
				if err == nil {
					if old != nil && old.Close() == nil {
						t.Error("a life that is over closed its lock")
					}
					old = held
				}
			}
			return disk.SyncDir(".")
		})
		w.After(time.Second, func() { n.Crash(power); n.Start(time.Second) })
		if err := w.Run(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(len(locked))
		for _, err := range locked {
			got += fmt.Sprint(" ", err == nil, errors.Is(err, env.ErrLocked))
		}
		if want := "4 true false false true true false false true"; got != want {
			t.Errorf("power %v: %s, want %s", power, got, want)
		}
	}
}

// TestSpaceIsKeptLikeASize: what is allocated reads as zero; a crash keeps it or
// not.
func TestSpaceIsKeptLikeASize(t *testing.T) {
	const size = 3000
	for _, c := range []struct {
		name string
		sync bool
		fate sim.Fate
		want int
	}{
		{"lost", false, sim.KeepUpTo(0), 1000},
		{"kept", false, sim.KeepAll(), size},
		{"synced", true, sim.KeepUpTo(0), size},
	} {
		d := sim.NewDisk()
		f := spaceFile(t, d, "f")
		text := bytes.Repeat([]byte{7}, 1000)
		for _, err := range []error{f.Append(text), f.Sync(), d.SyncDir("."), f.Allocate(0, 500), f.Allocate(900, 0), f.Allocate(2000, 1000)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := content(t, d, "f"); !bytes.Equal(got, resize(text, size)) {
			t.Errorf("%s: other bytes after taking space", c.name)
		}
		if c.sync {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		d.Crash(c.fate)
		if got := content(t, d, "f"); !bytes.Equal(got, resize(text, c.want)) {
			t.Errorf("%s: %d bytes after the crash, want %d", c.name, len(got), c.want)
		}
		for _, err := range []error{f.Allocate(0, -1), f.Discard(0, -1), f.Allocate(0, 1), f.Discard(0, 1)} {
			if err == nil {
				t.Errorf("%s: space of a closed file, or before it", c.name)
			}
		}
	}
}

// TestDiscardedReadsAsZero: at once, and durably after a sync; before, a crash
// leaves of each sector what was there or zeros, and of the size what it was.
func TestDiscardedReadsAsZero(t *testing.T) {
	const size, from, to = 6000, 700, 5000
	text := bytes.Repeat([]byte{9}, size)
	hole := append([]byte(nil), text...)
	clear(hole[from:to])
	seen := map[string]bool{}
	for seed := range uint64(40) {
		d := sim.NewDisk()
		f := spaceFile(t, d, "f")
		for _, err := range []error{f.Append(text), f.Sync(), d.SyncDir("."), f.Discard(size, 9), f.Discard(from, to-from)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := content(t, d, "f"); !bytes.Equal(got, hole) {
			t.Fatal("discarded bytes are there, or others are gone")
		}
		if seed == 0 {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		r := env.Seeded(seed)
		d.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return int(seed+r.Uint64()%2) / 2 % (len(ops) + 1) }))
		got := content(t, d, "f")
		g := ghost{versions: [][]byte{text, hole}}
		if err := g.allowed(got); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		switch {
		case seed == 0 && !bytes.Equal(got, hole):
			t.Error("a synced discard is lost")
		case bytes.Equal(got, hole):
			seen["gone"] = true
		case bytes.Equal(got, text):
			seen["there"] = true
		default:
			seen["torn"] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("after crashes only %v", seen)
	}
	d := sim.NewDisk()
	f := spaceFile(t, d, "f")
	if err := f.Append(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(5500, 9000); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); n != size || err != nil {
		t.Errorf("%d bytes after a discard beyond the end, %v", n, err)
	}
}

// page is memory whose address is odd bytes from a multiple of the unit.
func page(n, odd int) []byte {
	b := make([]byte, n+2*env.DirectUnit)
	var at int
	if _, err := fmt.Sscanf(fmt.Sprintf("%p", b), "0x%x", &at); err != nil {
		panic(err)
	}
	skip := (env.DirectUnit-at%env.DirectUnit)%env.DirectUnit + odd
	return b[skip:][:n]
}

// TestDirectFilesAreExact: a direct file is an ordinary one for a caller that keeps to the
// unit; for any other an assertion fails.
func TestDirectFilesAreExact(t *testing.T) {
	const unit = env.DirectUnit
	disks := map[string]func() env.DirectDisk{
		"disk": func() env.DirectDisk { return sim.NewDisk() },
		"node": func() (d env.DirectDisk) {
			w, err := sim.New(sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w.Node("a", func(l *sim.Life) error { d = l.Env.Disk.(env.DirectDisk); return nil })
			if err := w.Run(time.Second); err != nil {
				t.Fatal(err)
			}
			return d
		},
	}
	for name, disk := range disks {
		t.Run(name, func(t *testing.T) {
			d := disk()
			f, direct, err := d.OpenDirect("f", true)
			if err != nil || !direct {
				t.Fatal(direct, err)
			}
			b := page(2*unit, 0)
			b[0], b[unit] = 1, 2
			for _, err := range []error{f.Append(b), f.Append(nil), f.Sync()} {
				if err != nil {
					t.Fatal(err)
				}
			}
			got := page(2*unit, 0)
			if n, err := f.ReadAt(got, unit); n != unit || err != io.EOF || got[0] != 2 {
				t.Errorf("read %d bytes, %v", n, err)
			}
			for _, c := range []struct {
				name string
				do   func()
			}{
				{"length of a read", func() { f.ReadAt(b[:512], 0) }},
				{"place of a read", func() { f.ReadAt(b[:unit], 512) }},
				{"memory of a read", func() { f.ReadAt(page(unit, 8), 0) }},
				{"length of a write", func() { f.WriteAt(b[:unit+512], 0) }},
				{"place of a write", func() { f.WriteAt(b[:unit], 512) }},
				{"memory of a write", func() { f.WriteAt(page(unit, 512), 0) }},
				{"length of an append", func() { f.Append(b[:1]) }},
			} {
				func() {
					defer func() {
						if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "must be multiples of 4096") {
							t.Errorf("%s: %v", c.name, r)
						}
					}()
					c.do()
				}()
			}
			plain, err := d.Open("f", false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := plain.ReadAt(got[:5], 3); err != nil {
				t.Errorf("an ordinary file with the same name: %v", err)
			}
			if _, _, err := d.OpenDirect("none", false); err == nil {
				t.Error("an absent file was opened")
			}
		})
	}
}

// TestNoSpace: a disk that is full says so to callers of env and to callers of the
// system, and takes what fits.
func TestNoSpace(t *testing.T) {
	w, err := sim.New(sim.Options{DiskCapacity: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	w.Node("a", func(l *sim.Life) error {
		f := spaceFile(t, l.Env.Disk, "f")
		if err := f.Allocate(0, 9_000); err != nil {
			return err
		}
		n, err := f.WriteAt(make([]byte, 2_000), 9_000)
		if n != 1_000 {
			t.Errorf("wrote %d bytes, want 1000", n)
		}
		for _, err := range []error{err, f.Allocate(0, 10_001), f.Truncate(10_001), f.Append([]byte{1})} {
			if !errors.Is(err, env.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v, want %v", err, env.ErrNoSpace)
			}
		}
		return f.Truncate(100)
	})
	if err := w.Run(time.Second); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkStoreCrashStates is what a state after a crash costs for the files of
// a small store: a data file that is empty up to 2 MiB, and two journals.
func BenchmarkStoreCrashStates(b *testing.B) {
	d := sim.NewDisk()
	if err := d.MakeDir("db"); err != nil {
		b.Fatal(err)
	}
	put := func(f env.File, off int64, n int) {
		if _, err := f.WriteAt(bytes.Repeat([]byte{byte(off)}, n), off); err != nil {
			b.Fatal(err)
		}
	}
	data, journal, spare := spaceFile(b, d, "db/DATA"), spaceFile(b, d, "db/JOURNAL-00"), spaceFile(b, d, "db/JOURNAL-01")
	put(data, 0, 4096)
	put(data, 1<<20, 4096)
	for i := range 10 {
		put(data, int64(2<<20+i*8192), 8192)
	}
	for _, err := range []error{data.Sync(), journal.Allocate(0, 16<<10), journal.Sync(), spare.Allocate(0, 16<<10), spare.Sync(), d.SyncDir("."), d.SyncDir("db")} {
		if err != nil {
			b.Fatal(err)
		}
	}
	first := d.Ops()
	put(journal, 0, 4096)
	put(journal, 4096, 8192)
	put(data, 3<<20, 16<<10)
	put(data, 1<<20, 4096)
	r := env.Seeded(1)
	for name, fate := range map[string]func(i uint64) sim.Fate{
		"prefix": func(i uint64) sim.Fate { return sim.KeepUpTo(first + i%(d.Ops()-first+1)) },
		"sectors": func(uint64) sim.Fate {
			return sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) })
		},
	} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 64<<10)
			b.ReportAllocs()
			for i := uint64(0); b.Loop(); i++ {
				c := d.Clone()
				c.Crash(fate(i))
				f, err := c.Open("db/DATA", false)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.ReadAt(buf[:4096], 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
