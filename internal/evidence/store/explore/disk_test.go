// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"fmt"
	"io/fs"
	"sort"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// twins does the same operations on a Disk and on the simulator's, and fails if their
// results differ.
type twins struct {
	t *testing.T
	d *Disk
	s *sim.Disk
}

func (w *twins) same(what string, a, b error) {
	w.t.Helper()
	if (a == nil) != (b == nil) {
		w.t.Fatalf("%s: %v here, %v in the simulator", what, a, b)
	}
}

func (w *twins) write(name string, b []byte, off int64) {
	w.t.Helper()
	f, err1 := w.d.Open(name, true)
	g, err2 := w.s.Open(name, true)
	w.same("open "+name, err1, err2)
	if err1 != nil {
		return
	}
	_, err1 = f.WriteAt(b, off)
	_, err2 = g.WriteAt(b, off)
	w.same("write", err1, err2)
	f.Close()
	g.Close()
}

func (w *twins) each(name string, do func(f env.File) error) {
	w.t.Helper()
	f, err1 := w.d.Open(name, false)
	g, err2 := w.s.Open(name, false)
	w.same("open "+name, err1, err2)
	if err1 != nil {
		return
	}
	w.same("file operation", do(f), do(g))
	f.Close()
	g.Close()
}

func (w *twins) random(r env.Random, steps int) {
	names := []string{"a", "b", "db/a", "db/b", "db/x/c"}
	for range steps {
		n, m := names[env.IntN(r, len(names))], names[env.IntN(r, len(names))]
		switch env.IntN(r, 12) {
		case 0, 1, 2, 3:
			b := make([]byte, 1+env.IntN(r, 9000))
			for i := range b {
				b[i] = byte(r.Uint64()) & byte(len(b)) // zeros now and then
			}
			w.write(n, b, int64(env.IntN(r, 12000)))
		case 4:
			size := int64(env.IntN(r, 12000))
			w.each(n, func(f env.File) error { return f.Truncate(size) })
		case 5, 6:
			w.each(n, env.File.Sync)
		case 7:
			w.same("rename", w.d.Rename(n, m), w.s.Rename(n, m))
		case 8:
			w.same("remove", w.d.Remove(n), w.s.Remove(n))
		case 9:
			w.same("mkdir", w.d.MakeDir("db"), w.s.MakeDir("db"))
			if r.Uint64()&1 == 0 {
				w.same("mkdir", w.d.MakeDir("db/x"), w.s.MakeDir("db/x"))
			}
		default:
			dir := []string{".", "db", "db/x"}[env.IntN(r, 3)]
			w.same("sync "+dir, w.d.SyncDir(dir), w.s.SyncDir(dir))
		}
	}
}

// tree lists everything that a disk holds.
func tree(t *testing.T, d env.Disk, dir string) (out []string) {
	t.Helper()
	names, err := d.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		p := n
		if dir != "." {
			p = dir + "/" + n
		}
		f, err := d.Open(p, false)
		if err != nil {
			out = append(append(out, p+"/"), tree(t, d, p)...)
			continue
		}
		size, _ := f.Size()
		b := make([]byte, size)
		f.ReadAt(b, 0)
		out = append(out, fmt.Sprintf("%s %x", p, b))
		f.Close()
	}
	sort.Strings(out)
	return out
}

// TestTheDiskIsTheSimulators: both disks show the same content after the same operations,
// and after crashes that keep everything, nothing, or a prefix.
func TestTheDiskIsTheSimulators(t *testing.T) {
	for seed := range uint64(300) {
		r := env.Seeded(seed)
		w := &twins{t: t, d: NewDisk(), s: sim.NewDisk()}
		for round := range 3 {
			w.random(r, 4+env.IntN(r, 20))
			if a, b := tree(t, w.d, "."), tree(t, w.s, "."); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("seed %d round %d: here\n%.300q\nin the simulator\n%.300q", seed, round, a, b)
			}
			keep := make([]bool, len(w.d.units))
			fate := sim.KeepUpTo(0)
			if env.IntN(r, 2) == 0 {
				fate = sim.KeepAll()
				for i := range keep {
					keep[i] = true
				}
			}
			c := w.d.crashed(choice{keep: keep, torn: -1}, r)
			w.d = c.disk(0)
			w.s.Crash(fate)
			if a, b := tree(t, w.d, "."), tree(t, w.s, "."); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("seed %d round %d: after a crash here\n%.300q\nin the simulator\n%.300q", seed, round, a, b)
			}
		}
	}
}

// TestEqualSumsAreEqualDisks: the numbers of two crash states are equal if and only if
// their bytes and names are.
func TestEqualSumsAreEqualDisks(t *testing.T) {
	bySum, byTree := map[uint64]string{}, map[string]uint64{}
	states := 0
	for seed := range uint64(60) {
		r := env.Seeded(seed % 20) // some seeds twice
		w := &twins{t: t, d: NewDisk(), s: sim.NewDisk()}
		w.random(r, 6+env.IntN(r, 8))
		choices(w.d.units, 0, limits{5, 8, 9}, r, func(c choice) bool {
			states++
			s := w.d.crashed(c, r)
			text := fmt.Sprint(tree(t, s.disk(0), "."))
			if old, ok := bySum[s.sum]; ok && old != text {
				t.Fatalf("one sum for\n%.300q\nand\n%.300q", old, text)
			}
			if old, ok := byTree[text]; ok && old != s.sum {
				t.Fatalf("two sums for\n%.300q", text)
			}
			bySum[s.sum], byTree[text] = text, s.sum
			return true
		})
	}
	if len(bySum) < 200 || states < 2*len(bySum) {
		t.Errorf("%d states, %d of them different", states, len(bySum))
	}
}

// TestTearsAreTears: each class has the effect on a write that its name says.
func TestTearsAreTears(t *testing.T) {
	d := NewDisk()
	f, _ := d.Open("f", true)
	old, new := bytes.Repeat([]byte{1}, 3*pageSize), bytes.Repeat([]byte{2}, 2*pageSize)
	f.WriteAt(old, 0)
	f.Sync()
	d.SyncDir(".")
	f.WriteAt(new, pageSize/2)
	want := map[Class]string{
		None:            "111111111111111111111111",
		All:             "111122222222222222221111",
		TornHead:        "111122222222111111111111",
		TornTail:        "111111111111222222221111",
		TornEverySecond: "111112121212121212121111",
	}
	spoiled := map[Class]byte{TornZero: '0', TornRandom: '?', TornForeign: '1'}
	seen := map[Class]bool{}
	choices(d.units, 0, limits{10, 0, 9}, env.Seeded(1), func(c choice) bool {
		s := d.crashed(c, env.Seeded(uint64(c.class)))
		got := ""
		for b := s.disk(0).bytesOf("f"); len(b) > 0; b = b[Sector:] {
			switch {
			case bytes.Count(b[:Sector], b[:1]) != Sector:
				got += "?"
			default:
				got += string('0' + b[0])
			}
		}
		seen[c.class] = true
		if w, ok := want[c.class]; ok && got != w {
			t.Errorf("%s: %s, want %s", c.class, got, w)
		}
		if w, ok := spoiled[c.class]; ok {
			n := 0
			for i := range got {
				if got[i] != want[All][i] {
					n++
					if got[i] != w {
						t.Errorf("%s: %s", c.class, got)
					}
				}
			}
			if n > 1 || n == 0 && w != '1' {
				t.Errorf("%s: %s", c.class, got)
			}
		}
		return true
	})
	for c := None; c < classes; c++ {
		if single := c == Prefix || c == Subset || c == AllButOne || c == OnlyOne; !seen[c] && !single {
			t.Errorf("no %s", c)
		}
	}
}

// TestChoicesAreTheTable: with k changes there are as many states as the table
// says, and later moments repeat none.
func TestChoicesAreTheTable(t *testing.T) {
	units := make([]*unit, 5)
	for i := range units {
		units[i] = &unit{patches: make([]patch, 1)}
	}
	count := func(k, fresh int, l limits) map[Class]int {
		n := map[Class]int{}
		choices(units[:k], fresh, l, env.Seeded(0), func(c choice) bool { n[c.class]++; return true })
		return n
	}
	got := count(5, 0, limits{10, 64, 9})
	want := map[Class]int{None: 1, All: 1, Prefix: 4, AllButOne: 5, OnlyOne: 5, Subset: 30}
	for c := TornHead; c < classes; c++ {
		want[c] = 5 + 4 + 5
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("5 changes: %v, want %v", got, want)
	}
	if got := count(5, 0, limits{4, 64, 0})[Subset]; got != 64 {
		t.Errorf("%d samples, want 64", got)
	}
	if got := count(0, 0, limits{10, 64, 9}); len(got) != 1 || got[None] != 1 {
		t.Errorf("no change: %v", got)
	}
	n := 0
	choices(units, 4, limits{10, 64, 9}, env.Seeded(0), func(c choice) bool {
		n++
		if !c.keep[4] {
			t.Errorf("%s without the change that is new", c.class)
		}
		return true
	})
	// Of the tears with any part of the others, some have the new one.
	if least := 1 + 4 + 1 + 15 + 5*6; n < least+6 || n > least+5*6 {
		t.Errorf("%d states with a fifth change", n)
	}
}

// TestFilesCheckTheirUse: calls that a real file refuses are refused here.
func TestFilesCheckTheirUse(t *testing.T) {
	d := NewDisk()
	f, direct, err := d.OpenDirect("f", true)
	if err != nil || !direct {
		t.Fatal(direct, err)
	}
	if _, err := f.WriteAt(make([]byte, 100), 0); err == nil {
		t.Error("a direct file takes 100 bytes")
	}
	if _, err := f.ReadAt(make([]byte, 4096), 512); err == nil {
		t.Error("a direct file is read at 512")
	}
	f.Close()
	if _, err := f.ReadAt(make([]byte, 4096), 0); err == nil {
		t.Error("a closed file is read")
	}
	if f.Close() == nil || d.handles != 0 {
		t.Error("a file is closed twice")
	}
	l, err := d.Lock("LOCK")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("LOCK"); err == nil {
		t.Error("a lock is held twice")
	}
	l.Close()
	if _, err := d.Lock("LOCK"); err != nil {
		t.Error(err)
	}
	if _, err := d.Open("none", false); !isNotExist(err) {
		t.Errorf("an absent file: %v", err)
	}
}

func isNotExist(err error) bool { e, ok := err.(*fs.PathError); return ok && e.Err == fs.ErrNotExist }

// bytesOf returns the content of a file.
func (d *Disk) bytesOf(name string) []byte {
	i := d.names[name]
	b := make([]byte, i.now.size)
	i.now.read(b, 0)
	return b
}
