// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// ghost is what a test knows of a file: its content after its last sync, and
// after each operation since, with the number of the operation.
type ghost struct {
	versions [][]byte
	ops      []uint64
	file     env.File
}

func (g *ghost) last() []byte { return g.versions[len(g.versions)-1] }

// change notes an operation that makes the content b.
func (g *ghost) change(d *sim.Disk, b []byte) {
	g.versions = append(g.versions, b)
	g.ops = append(g.ops, d.Ops())
}

func write(b []byte, p []byte, off int) []byte {
	out := make([]byte, max(len(b), off+len(p)))
	copy(out, b)
	copy(out[off:], p)
	return out
}

func resize(b []byte, size int) []byte {
	out := make([]byte, size)
	copy(out, b)
	return out
}

// sector is a sector of a content, zeros beyond its end.
func sector(b []byte, s int) []byte {
	out := make([]byte, sim.Sector)
	if s*sim.Sector < len(b) {
		copy(out, b[s*sim.Sector:])
	}
	return out
}

// allowed checks what a crash has made of a file against the contract: its
// size is that of some version, and so is each of its sectors.
func (g *ghost) allowed(got []byte) error {
	size := false
	for _, v := range g.versions {
		size = size || len(v) == len(got)
	}
	if !size {
		return fmt.Errorf("%d bytes, which it never had", len(got))
	}
	for s := 0; s*sim.Sector < len(got); s++ {
		found := false
		for _, v := range g.versions {
			found = found || bytes.Equal(resize(sector(v, s), min(sim.Sector, len(got)-s*sim.Sector)), got[s*sim.Sector:min((s+1)*sim.Sector, len(got))])
		}
		if !found {
			return fmt.Errorf("sector %d is what it never was", s)
		}
	}
	return nil
}

func content(t *testing.T, d env.Disk, name string) []byte {
	t.Helper()
	f, err := d.Open(name, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n != len(b) {
		t.Fatalf("read %d of %d bytes of %s: %v", n, size, name, err)
	}
	return b
}

// play does random operations on a file.
func (g *ghost) play(t *testing.T, d *sim.Disk, r env.Random, steps int) {
	t.Helper()
	for range steps {
		switch k := env.IntN(r, 10); {
		case k < 6:
			p := make([]byte, 1+env.IntN(r, 1500))
			for i := range p {
				p[i] = byte(r.Uint64())
			}
			off := env.IntN(r, len(g.last())+600)
			if n, err := g.file.WriteAt(p, int64(off)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			g.change(d, write(g.last(), p, off))
		case k == 6:
			p := bytes.Repeat([]byte{byte(r.Uint64()) | 1}, 1+env.IntN(r, 100))
			if err := g.file.Append(p); err != nil {
				t.Fatal(err)
			}
			g.change(d, write(g.last(), p, len(g.last())))
		case k == 7:
			size := env.IntN(r, len(g.last())+1000)
			if err := g.file.Truncate(int64(size)); err != nil {
				t.Fatal(err)
			}
			g.change(d, resize(g.last(), size))
		case k == 8:
			if err := g.file.Sync(); err != nil {
				t.Fatal(err)
			}
			g.versions, g.ops = [][]byte{g.last()}, nil
		default:
			b := make([]byte, len(g.last())+10)
			n, err := g.file.ReadAt(b, 0)
			if err != io.EOF || !bytes.Equal(b[:n], g.last()) {
				t.Fatalf("read %d bytes, %v; want the %d that were written", n, err, len(g.last()))
			}
		}
	}
}

func newGhost(t *testing.T, d *sim.Disk, name string) *ghost {
	t.Helper()
	f, err := d.Open(name, true)
	if err != nil {
		t.Fatal(err)
	}
	return &ghost{versions: [][]byte{{}}, file: f}
}

// TestACrashLeavesWhatTheContractSays: what is synced is there, of the rest
// each sector is some version of itself; and each kind of damage comes about.
func TestACrashLeavesWhatTheContractSays(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		r := env.Seeded(seed)
		d := sim.NewDisk()
		gs := []*ghost{newGhost(t, d, "a"), newGhost(t, d, "b")}
		if err := d.SyncDir("."); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			for _, g := range gs {
				g.play(t, d, r, env.IntN(r, 6))
			}
		}
		mode := env.IntN(r, 4)
		at := d.Ops() - uint64(env.IntN(r, 8))
		fate := sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) })
		twin := d.Clone()
		switch mode {
		case 0:
			d.Crash(sim.KeepAll())
		case 1:
			d.Crash(sim.KeepUpTo(at))
		default:
			d.Crash(fate)
		}
		for i, name := range []string{"a", "b"} {
			g := gs[i]
			if got := content(t, twin, name); !bytes.Equal(got, g.last()) {
				t.Fatalf("seed %d: the clone of %s has changed with the disk", seed, name)
			}
			got := content(t, d, name)
			if _, err := g.file.ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
				t.Fatalf("seed %d: a file is open after a crash: %v", seed, err)
			}
			want := sort.Search(len(g.ops), func(i int) bool { return g.ops[i] > at })
			switch {
			case mode == 0 && !bytes.Equal(got, g.last()):
				t.Fatalf("seed %d: %s has lost something, though all was kept", seed, name)
			case mode == 1 && !bytes.Equal(got, g.versions[want]):
				t.Fatalf("seed %d: %s is not what it was after operation %d", seed, name, at)
			}
			if err := g.allowed(got); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, name, err)
			}
			switch {
			case len(g.versions) == 1:
				seen["synced"]++
			case bytes.Equal(got, g.versions[0]):
				seen["none"]++
			case bytes.Equal(got, g.last()):
				seen["all"]++
			default:
				torn := true
				for _, v := range g.versions {
					torn = torn && !bytes.Equal(v, got)
				}
				if torn {
					seen["torn"]++
				} else {
					seen["prefix"]++
				}
			}
		}
		if d.Unsynced() != 0 {
			t.Fatalf("seed %d: %d operations are left after a crash", seed, d.Unsynced())
		}
		// What a crash has left is durable.
		left := content(t, d, "a")
		d.Crash(sim.KeepUpTo(0))
		if !bytes.Equal(left, content(t, d, "a")) {
			t.Fatalf("seed %d: a second crash changes what the first has left", seed)
		}
	}
	for _, what := range []string{"synced", "none", "all", "torn", "prefix"} {
		if seen[what] < 5 {
			t.Errorf("%q came about %d times: %v", what, seen[what], seen)
		}
	}
}

// TestClonesGoTheirOwnWays: neither sees what the other writes, now or after a
// crash.
func TestClonesGoTheirOwnWays(t *testing.T) {
	put := func(d *sim.Disk, text string, sync bool) {
		t.Helper()
		f, err := d.Open("f", true)
		if err == nil {
			_, err = f.WriteAt([]byte(text), 0)
		}
		if err == nil && sync {
			err = f.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d := sim.NewDisk()
	put(d, "1", true)
	if err := d.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	put(d, "2", false)
	c := d.Clone()
	put(d, "3", false)
	if got := string(content(t, c, "f")); got != "2" {
		t.Errorf("the clone reads %s, want 2", got)
	}
	put(d, "4", true)
	put(c, "5", false)
	if got := string(content(t, d, "f")); got != "4" {
		t.Errorf("the original reads %s, want 4", got)
	}
	c.Crash(sim.KeepUpTo(0))
	d.Crash(sim.KeepUpTo(0))
	if a, b := string(content(t, c, "f")), string(content(t, d, "f")); a != "1" || b != "4" {
		t.Errorf("after a crash the clone has %s and the original %s, want 1 and 4", a, b)
	}
}

// TestClonesHaveTheirOwnPending: what one writes after several unsynced writes
// that both have is not what the other has written.
func TestClonesHaveTheirOwnPending(t *testing.T) {
	for shared := range 9 {
		d := sim.NewDisk()
		add := func(d *sim.Disk, text string) {
			t.Helper()
			f, err := d.Open("f", true)
			if err == nil {
				err = f.Append([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		want := ""
		for i := range shared {
			add(d, fmt.Sprint(i))
			want += fmt.Sprint(i)
		}
		c := d.Clone()
		add(d, "d")
		add(c, "c")
		for _, x := range []struct {
			d    *sim.Disk
			want string
		}{{d, want + "d"}, {c, want + "c"}} {
			x.d.Crash(sim.KeepAll())
			if got := string(content(t, x.d, "f")); got != x.want {
				t.Errorf("after a crash that keeps all: %s, want %s", got, x.want)
			}
		}
	}
}

// TestNamesAreDurableAfterSyncDir: and before, a rename leaves the new name
// with one of both and the file with one of the names.
func TestNamesAreDurableAfterSyncDir(t *testing.T) {
	put := func(d *sim.Disk, name, text string) {
		t.Helper()
		f, err := d.Open(name, true)
		if err == nil {
			_, err = f.WriteAt([]byte(text), 0)
		}
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(d *sim.Disk, dir string) string {
		names, err := d.List(dir)
		if err != nil {
			return "-"
		}
		out := ""
		for _, n := range names {
			out += n
			if f, err := d.Open(dir+"/"+n, false); err == nil {
				b := make([]byte, 9)
				k, _ := f.ReadAt(b, 0)
				out += "=" + string(b[:k])
			}
			out += " "
		}
		return out
	}
	for _, c := range []struct {
		name string
		do   func(d *sim.Disk)
		want []string // of directory d, after a crash; all must come about
	}{
		{"created", func(d *sim.Disk) { put(d, "d/new", "1") }, []string{"old=0 ", "new=1 old=0 "}},
		{"created and synced", func(d *sim.Disk) { put(d, "d/new", "1"); try(d.SyncDir("d")) }, []string{"new=1 old=0 "}},
		{"removed", func(d *sim.Disk) { try(d.Remove("d/old")) }, []string{"", "old=0 "}},
		{"removed and synced", func(d *sim.Disk) { try(d.Remove("d/old")); try(d.SyncDir("d")) }, []string{""}},
		{"replaced", func(d *sim.Disk) {
			put(d, "d/new", "1")
			try(d.SyncDir("d"))
			try(d.Rename("d/new", "d/old"))
		}, []string{"old=1 ", "new=1 old=0 "}},
		{"replaced at once", func(d *sim.Disk) { put(d, "d/new", "1"); try(d.Rename("d/new", "d/old")) },
			[]string{"old=0 ", "new=1 old=0 ", "old=1 "}},
		{"replaced and synced", func(d *sim.Disk) {
			put(d, "d/new", "1")
			try(d.Rename("d/new", "d/old"))
			try(d.SyncDir("d"))
		}, []string{"old=1 "}},
		{"moved in", func(d *sim.Disk) { put(d, "x", "1"); try(d.Rename("x", "d/x")); try(d.SyncDir("d")) }, []string{"old=0 x=1 "}},
		{"the directory not synced", func(d *sim.Disk) { try(d.Rename("d/old", "old")); try(d.Remove("d")) }, []string{"old=0 ", "", "-"}},
		{"another directory synced", func(d *sim.Disk) { put(d, "d/new", "1"); try(d.SyncDir(".")) }, []string{"old=0 ", "new=1 old=0 "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for seed := range uint64(200) {
				d := sim.NewDisk()
				try(d.MakeDir("d"))
				try(d.SyncDir("."))
				put(d, "d/old", "0")
				try(d.SyncDir("d"))
				c.do(d)
				before := list(d, "d")
				r := env.Seeded(seed)
				d.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) }))
				got := list(d, "d")
				seen[got] = true
				if seed == 0 && before != c.want[len(c.want)-1] && before != c.want[0] {
					t.Errorf("before the crash: %q", before)
				}
			}
			for _, w := range c.want {
				if !seen[w] {
					t.Errorf("never %q", w)
				}
				delete(seen, w)
			}
			for s := range seen {
				t.Errorf("after a crash: %q", s)
			}
		})
	}
}

// TestDiskErrors: the errors are those of the system's own disk.
func TestDiskErrors(t *testing.T) {
	d := sim.NewDisk()
	if err := d.MakeDir("a/b"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open("a/f", true); err != nil {
		t.Fatal(err)
	}
	_, missing := d.Open("a/none", false)
	_, dir := d.Open("a/b", true)
	_, under := d.Open("a/f/x", true)
	_, out := d.Open("../x", true)
	_, rooted := d.Open("/x", true)
	_, nolist := d.List("none")
	for _, c := range []struct {
		name string
		got  error
		want error
	}{
		{"absent", missing, fs.ErrNotExist},
		{"directory as file", dir, syscall.EISDIR},
		{"file as directory", under, syscall.ENOTDIR},
		{"outside", out, fs.ErrInvalid},
		{"absolute", rooted, fs.ErrInvalid},
		{"list of nothing", nolist, fs.ErrNotExist},
		{"rename of nothing", d.Rename("a/none", "a/g"), fs.ErrNotExist},
		{"rename over a directory", d.Rename("a/f", "a/b"), fs.ErrExist},
		{"rename into itself", d.Rename("a", "a/b/c"), fs.ErrInvalid},
		{"remove of nothing", d.Remove("a/none"), fs.ErrNotExist},
		{"remove of a full directory", d.Remove("a"), syscall.ENOTEMPTY},
		{"directory over a file", d.MakeDir("a/f"), syscall.ENOTDIR},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if err := d.MakeDir("a/b"); err != nil {
		t.Errorf("an existing directory: %v", err)
	}
}
