// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

func (c *content) bytes() []byte {
	b := make([]byte, c.size)
	c.readAt(b, 0)
	return b
}

// describe lists a tree: names, and what is in files, runs of a byte as a
// number and the byte.
func (i *node) describe(prefix string) string {
	var out strings.Builder
	for _, e := range (&disk{}).list(i) {
		fmt.Fprintf(&out, "%s%s", prefix, e.name)
		if e.node.dir {
			fmt.Fprintf(&out, "/\n%s", e.node.describe(prefix+e.name+"/"))
			continue
		}
		b := e.node.live.bytes()
		for len(b) > 0 {
			n := len(b) - len(bytes.TrimLeft(b, string(b[:1])))
			fmt.Fprintf(&out, " %d%c", n, max(b[0], '.'))
			b = b[n:]
		}
		out.WriteString("\n")
	}
	return out.String()
}

// TestContent compares a content with a slice.
func TestContent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	c, want := newContent(), []byte{}
	for step := range 4000 {
		off := r.Int64N(5 * pageSize)
		n := 1 + r.Int64N(2*pageSize)
		old := c.clone()
		before := old.bytes()
		switch r.IntN(3) {
		case 0:
			b := bytes.Repeat([]byte{byte(step)}, int(n))
			c.writeAt(b, off)
			if int64(len(want)) < off+n {
				want = append(want, make([]byte, off+n-int64(len(want)))...)
			}
			copy(want[off:], b)
		case 1:
			c.zero(off, off+n)
			if off < int64(len(want)) {
				clear(want[off:min(off+n, int64(len(want)))])
			}
		case 2:
			c.truncate(off)
			want = append(want, make([]byte, max(0, off-int64(len(want))))...)[:off]
		}
		if !bytes.Equal(c.bytes(), want) {
			t.Fatalf("step %d: the content differs", step)
		}
		if !bytes.Equal(old.bytes(), before) {
			t.Fatalf("step %d: a clone has changed", step)
		}
	}
}

// script does operations: mk F, mkdir D, w F BYTE OFF N, cut F SIZE, zero F OFF
// END, alloc F END, sync F, mv OLD NEW, rm F. Names are in the root, or D/F.
func script(t *testing.T, d *disk, lines ...string) {
	t.Helper()
	find := func(name string) (*node, string, *node) {
		dir := d.root
		if a, b, in := strings.Cut(name, "/"); in {
			dir, name = dir.names[a], b
		}
		return dir, name, dir.names[name]
	}
	for _, line := range lines {
		var e syscall.Errno
		var op, a, b string
		var x, y int64
		op, rest, _ := strings.Cut(line, " ")
		a, rest, _ = strings.Cut(rest, " ")
		dir, name, i := find(a)
		if a == "." {
			i = d.root
		}
		switch op {
		case "mk", "mkdir":
			_, e = d.create(dir, name, op == "mkdir")
		case "w":
			fmt.Sscan(rest, &b, &x, &y)
			e = d.write(i, bytes.Repeat([]byte(b), int(y)), x)
		case "cut":
			fmt.Sscan(rest, &x)
			e = d.truncate(i, x)
		case "zero":
			fmt.Sscan(rest, &x, &y)
			e = d.zero(i, x, y, false)
		case "alloc":
			fmt.Sscan(rest, &x)
			e = d.allocate(i, x, true)
		case "sync":
			e = d.sync(i)
		case "mv":
			to, last, _ := find(rest)
			e = d.move(dir, name, to, last, false)
		case "rm":
			e = d.remove(dir, name, false)
		default:
			t.Fatalf("no operation %q", op)
		}
		if e != 0 {
			t.Fatalf("%s: %v", line, e)
		}
	}
}

func TestWhatIsDurable(t *testing.T) {
	for _, c := range []struct {
		name               string
		script             []string
		strict, journalled string // what is left of what was synced
	}{
		{"nothing", []string{"mk a", "w a x 0 9"}, "", ""},
		{"bytes without a name", []string{"mk a", "w a x 0 9", "sync a"}, "", "a 9x\n"},
		{"a name without bytes", []string{"mk a", "w a x 0 9", "sync ."}, "a\n", "a\n"},
		{"both", []string{"mk a", "w a x 0 9", "sync a", "sync ."}, "a 9x\n", "a 9x\n"},
		{"bytes after the sync", []string{"mk a", "w a x 0 9", "sync a", "sync .", "w a y 0 5"}, "a 9x\n", "a 9x\n"},
		{"a sync is for one file", []string{"mk a", "mk b", "sync .", "w a x 0 9", "w b y 0 9", "sync b"}, "a\nb 9y\n", "a\nb 9y\n"},
		{"shorter", []string{"mk a", "sync .", "w a x 0 9", "sync a", "cut a 3"}, "a 9x\n", "a 9x\n"},
		{"shorter and synced", []string{"mk a", "sync .", "w a x 0 9", "cut a 3", "sync a"}, "a 3x\n", "a 3x\n"},
		{"a hole", []string{"mk a", "sync .", "w a x 0 9", "zero a 2 4", "sync a"}, "a 2x 2. 5x\n", "a 2x 2. 5x\n"},
		{"space", []string{"mk a", "sync .", "alloc a 7", "sync a"}, "a 7.\n", "a 7.\n"},
		{"renamed", []string{"mk a", "w a x 0 2", "sync a", "sync .", "mv a b"}, "a 2x\n", "a 2x\n"},
		{"renamed, and another file synced", []string{"mk a", "mk c", "w a x 0 2", "sync a", "sync .", "mv a b", "sync c"}, "a 2x\nc\n", "b 2x\nc\n"},
		{"renamed and synced", []string{"mk a", "w a x 0 2", "sync a", "sync .", "mv a b", "sync ."}, "b 2x\n", "b 2x\n"},
		{"removed", []string{"mk a", "sync .", "rm a"}, "a\n", "a\n"},
		{"removed and synced", []string{"mk a", "sync .", "rm a", "sync ."}, "", ""},
		{"another directory", []string{"mkdir d", "sync .", "mk d/a", "mk b", "sync d"}, "d/\nd/a\n", "b\nd/\nd/a\n"},
		{"a directory without a name", []string{"mkdir d", "mk d/a", "sync d"}, "", "d/\nd/a\n"},
		{"moved between directories", []string{"mkdir d", "mk a", "sync .", "mv a d/b", "sync d"}, "d/\nd/b\n", "d/\nd/b\n"},
	} {
		for _, journalled := range []bool{false, true} {
			d := newDisk(journalled)
			script(t, d, c.script...)
			want := c.strict
			if journalled {
				want = c.journalled
			}
			r := rand.New(rand.NewPCG(1, 2))
			if got := d.resolve(fateNone, r).root.describe(""); got != want {
				t.Errorf("%s, %s disk: left is\n%swant\n%s", c.name, diskWord(journalled), got, want)
			}
			if got, want := d.resolve(fateAll, r).root.describe(""), d.root.describe(""); got != want {
				t.Errorf("%s, %s disk: all kept is\n%swant\n%s", c.name, diskWord(journalled), got, want)
			}
		}
	}
}

// TestSyncedOutlivesEveryFate asks all fates, many times.
func TestSyncedOutlivesEveryFate(t *testing.T) {
	d := newDisk(false)
	script(t, d, "mk a", "w a x 0 3000", "sync a", "sync .", "w a y 4096 5000", "mk b", "mv b c", "w a z 20000 1")
	r := rand.New(rand.NewPCG(1, 3))
	seen := map[string]bool{}
	for range 200 {
		for f := range fates {
			after := d.resolve(f, r)
			b := after.root.names["a"].live.bytes()
			if len(b) < 3000 || !bytes.Equal(b[:3000], bytes.Repeat([]byte("x"), 3000)) {
				t.Fatalf("%s: what was synced is gone: %s", f, after.root.describe(""))
			}
			if after.root.names["b"] != nil && after.root.names["c"] != nil {
				t.Fatalf("%s: a rename was done by half", f)
			}
			if data, names := after.waiting(); data+names > 0 {
				t.Fatalf("%s: something is not durable after a power failure", f)
			}
			seen[after.root.describe("")] = true
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d different states, want more", len(seen))
	}
}

// TestSectors writes a file again and again: each sector is found as it was at
// one moment, and all combinations come.
func TestSectors(t *testing.T) {
	for _, c := range []struct {
		fate fate
		unit int
	}{{fatePages, pageSize}, {fateSectors, sectorSize}} {
		d := newDisk(false)
		script(t, d, "mk a", "sync .", "w a 0 0 8192", "sync a", "w a 1 0 8192", "w a 2 0 8192")
		r := rand.New(rand.NewPCG(1, 4))
		seen := map[[2]byte]bool{}
		for range 400 {
			b := d.resolve(c.fate, r).root.names["a"].live.bytes()
			if len(b) != 8192 {
				t.Fatalf("%s: %d bytes", c.fate, len(b))
			}
			for at := 0; at < len(b); at += c.unit {
				if !bytes.Equal(b[at:at+c.unit], bytes.Repeat(b[at:at+1], c.unit)) {
					t.Fatalf("%s: a unit is torn", c.fate)
				}
			}
			seen[[2]byte{b[0], b[len(b)-1]}] = true
		}
		if len(seen) != 9 {
			t.Errorf("%s: of 9 combinations of the first and last unit came %d", c.fate, len(seen))
		}
	}
}

// TestTorn tears the last write only.
func TestTorn(t *testing.T) {
	d := newDisk(false)
	script(t, d, "mk a", "sync .", "w a 1 0 4096", "w a 2 4096 4096", "w a 3 8192 4096")
	r := rand.New(rand.NewPCG(1, 5))
	torn := 0
	for range 200 {
		b := d.resolve(fateTorn, r).root.names["a"].live.bytes()
		last := byte(0)
		for at := 0; at < len(b); at += sectorSize {
			if v := b[at]; v != 0 && v != byte('1'+at/4096) {
				t.Fatalf("a byte is %c", v)
			} else if v == 0 {
				torn++
				last = byte(at/4096) + 1
			} else if last != 0 && byte(at/4096)+1 > last {
				t.Fatal("a write is there behind one that was torn")
			}
		}
	}
	if torn == 0 {
		t.Error("nothing was torn")
	}
}

// TestSameChance gives the same state for the same seed.
func TestSameChance(t *testing.T) {
	d := newDisk(false)
	r := rand.New(rand.NewPCG(1, 6))
	for k := range 30 {
		script(t, d, fmt.Sprintf("mk f%d", k), fmt.Sprintf("w f%d x %d 3000", k, r.IntN(9000)))
	}
	for f := range fates {
		a := d.resolve(f, rand.New(rand.NewPCG(7, 7))).root.describe("")
		b := d.resolve(f, rand.New(rand.NewPCG(7, 7))).root.describe("")
		if a != b {
			t.Errorf("%s: the same chance gives\n%sand\n%s", f, a, b)
		}
	}
}

// TestPowerFailure ends everything at the operation that was asked for.
func TestPowerFailure(t *testing.T) {
	for _, at := range []uint64{1, 2, 3, 4} {
		d := newDisk(false)
		d.failAt = at
		calls := 0
		d.onFail = func() { calls++ }
		var errs []syscall.Errno
		i, e := d.create(d.root, "a", false)
		errs = append(errs, e, d.write(i, []byte("x"), 0), d.sync(i), d.sync(d.root), d.truncate(i, 0))
		for k, e := range errs {
			want := syscall.Errno(0)
			if uint64(k+1) >= at {
				want = syscall.EIO
			}
			if e != want {
				t.Errorf("failure at %d: operation %d: %v, want %v", at, k+1, e, want)
			}
		}
		if _, e := d.read(i, make([]byte, 1), 0); e != syscall.EIO {
			t.Errorf("failure at %d: a read is %v", at, e)
		}
		if calls != 1 {
			t.Errorf("failure at %d: told %d times", at, calls)
		}
		none := d.resolve(fateNone, rand.New(rand.NewPCG(1, 8))).root.describe("")
		if (none != "") != (at > 4) {
			t.Errorf("failure at %d: %q is durable", at, none)
		}
		d.drain()
		if e := d.write(i, []byte("late"), 0); e != 0 {
			t.Errorf("failure at %d: what the machine writes back: %v", at, e)
		}
		if e := d.sync(i); e != syscall.EIO {
			t.Errorf("failure at %d: a late sync is %v", at, e)
		}
	}
}

func TestErrorsOfNames(t *testing.T) {
	d := newDisk(false)
	script(t, d, "mk a", "mkdir d", "mk d/x", "mkdir e")
	for _, c := range []struct {
		what      string
		got, want syscall.Errno
	}{
		{"remove nothing", d.remove(d.root, "none", false), syscall.ENOENT},
		{"remove a directory as a file", d.remove(d.root, "e", false), syscall.EISDIR},
		{"remove a file as a directory", d.remove(d.root, "a", true), syscall.ENOTDIR},
		{"remove what is not empty", d.remove(d.root, "d", true), syscall.ENOTEMPTY},
		{"move nothing", d.move(d.root, "none", d.root, "b", false), syscall.ENOENT},
		{"move over a directory", d.move(d.root, "a", d.root, "e", false), syscall.EISDIR},
		{"move a directory over a file", d.move(d.root, "e", d.root, "a", false), syscall.ENOTDIR},
		{"move over what is not empty", d.move(d.root, "e", d.root, "d", false), syscall.ENOTEMPTY},
		{"move over what is to stay", d.move(d.root, "e", d.root, "d", true), syscall.EEXIST},
		{"move to itself", d.move(d.root, "a", d.root, "a", false), 0},
		{"remove an empty directory", d.remove(d.root, "e", true), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if _, e := d.create(d.root, "a", false); e != syscall.EEXIST {
		t.Errorf("create what is there: %v", e)
	}
}

// TestGrowth appends: on a journalled disk there is never a gap.
func TestGrowth(t *testing.T) {
	for _, journalled := range []bool{false, true} {
		d := newDisk(journalled)
		script(t, d, "mk a", "sync .", "w a x 0 100", "sync a")
		for k := range 40 {
			script(t, d, fmt.Sprintf("w a x %d 300", 100+300*k))
		}
		r := rand.New(rand.NewPCG(1, 9))
		gaps, short, long := 0, 0, 0
		for range 300 {
			for f := fatePrefix; f < fates; f++ {
				b := d.resolve(f, r).root.names["a"].live.bytes()
				if bytes.IndexByte(b, 0) >= 0 {
					gaps++
				}
				if len(b) == 100 {
					short++
				} else if len(b) < 12100 {
					long++
				}
			}
		}
		if journalled != (gaps == 0) || short == 0 || long == 0 {
			t.Errorf("%s disk: %d gaps, %d with nothing new, %d with a part", diskWord(journalled), gaps, short, long)
		}
	}
}
