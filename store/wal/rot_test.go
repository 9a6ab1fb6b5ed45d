// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
)

// change changes bytes of a file, durably.
func change(t *testing.T, d *sim.Disk, name string, off int64, edit func(b []byte)) {
	t.Helper()
	f, err := d.Open(path.Join(dir, name), false)
	must(t, err)
	b := make([]byte, sim.Sector)
	n, err := f.ReadAt(b, off)
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	edit(b[:n])
	_, err = f.WriteAt(b[:n], off)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

func size(t *testing.T, d *sim.Disk, name string) int64 {
	t.Helper()
	f, err := d.Open(path.Join(dir, name), false)
	must(t, err)
	n, err := f.Size()
	must(t, err)
	must(t, f.Close())
	return n
}

// TestRot: a sector that is damaged is found out, or does no harm. After Close
// nothing at all is missing; without it, what the last Commit has written may
// be, as package journal explains.
func TestRot(t *testing.T) {
	const script = "aAcckaesacaAwackew"
	for _, closed := range []bool{true, false} {
		d, m := newDisk(t), &model{}
		w, err := begin(d, m, 1)
		must(t, err)
		must(t, w.play(script+"aAc"))
		old := m.floor
		must(t, w.play("ac"))
		if closed {
			must(t, w.play("x"))
		} else {
			m.floor = old
		}
		names, err := d.List(dir)
		must(t, err)
		found, harmless := 0, 0
		for _, name := range names {
			for off := int64(0); off < size(t, d, name); off += sim.Sector {
				for how, edit := range map[string]func(b []byte){
					"a bit":      func(b []byte) { b[(off/sim.Sector*37)%int64(len(b))] ^= 4 },
					"first byte": func(b []byte) { b[0] ^= 0x80 },
					"zeros":      func(b []byte) { clear(b) },
				} {
					c := d.Clone()
					c.Crash(sim.KeepAll())
					change(t, c, name, off, edit)
					_, err := begin(c, m.clone(), 2)
					switch {
					case err == nil:
						harmless++
					case errors.Is(err, ErrCorrupt):
						found++
						if text := err.Error(); !strings.Contains(text, "JOURNAL-") && !strings.Contains(text, "SUPER") {
							t.Errorf("%s at %d of %s: the place is not named: %v", how, off, name, err)
						}
					default:
						t.Errorf("closed %v, %s at %d of %s: %v", closed, how, off, name, err)
					}
				}
			}
		}
		if found < 20 || harmless < 20 {
			t.Errorf("%d found, %d harmless", found, harmless)
		}
		t.Logf("%d damages found, %d harmless", found, harmless)
	}
}

// TestASuperblockIsLeft: one copy of SUPER may be lost altogether, and is made
// whole again; without both there is no log, which is not an empty one.
func TestASuperblockIsLeft(t *testing.T) {
	d, m := newDisk(t), &model{}
	w, err := begin(d, m, 1)
	must(t, err)
	must(t, w.play("aackewx"))
	wipe := func(d *sim.Disk, from, to int64) {
		for off := from; off < to; off += sim.Sector {
			change(t, d, superName, off, func(b []byte) { clear(b) })
		}
	}
	for _, c := range [][2]int64{{0, copyOffset}, {copyOffset, superFileSize}} {
		d := d.Clone()
		m := m.clone()
		wipe(d, c[0], c[1])
		w, err := begin(d, m, 2)
		must(t, err)
		must(t, w.play("acx"))
		wipe(d, copyOffset-c[0], superFileSize-c[0])
		if w, err = begin(d, m, 3); err != nil {
			t.Fatalf("the damaged copy was not mended: %v", err)
		}
		must(t, w.play("x"))
		wipe(d, 0, superFileSize)
		if _, err := begin(d, m, 4); !errors.Is(err, ErrCorrupt) {
			t.Errorf("without superblock: %v", err)
		}
		if err := Format(worldOn(d, 5), dir, nil); !errors.Is(err, ErrExists) {
			t.Errorf("without superblock it is made anew: %v", err)
		}
		must(t, d.Remove(path.Join(dir, superName)))
		if _, err := begin(d, m, 4); !errors.Is(err, ErrNone) {
			t.Errorf("without SUPER: %v", err)
		}
		if err := Format(worldOn(d, 5), dir, nil); !errors.Is(err, ErrExists) {
			t.Errorf("over a journal it is made anew: %v", err)
		}
	}
}

// TestEveryByteOfASuperblock: wherever one copy is damaged, the other one is
// taken; and so it is where one copy is older, since a write of it was lost.
func TestEveryByteOfASuperblock(t *testing.T) {
	d, m := newDisk(t), &model{}
	w, err := begin(d, m, 1)
	must(t, err)
	must(t, w.play("aAAc"))
	before := content(t, d, func(name string) bool { return name == superName })[superName]
	must(t, w.play("kewAcackewx"))
	for c := range 2 {
		for _, part := range [][2]int{{identityOffset, identityHead + 3}, {superOffset, 96}} {
			for at := part[0]; at < part[0]+part[1]; at++ {
				if at >= part[0]+12 && at < part[0]+16 {
					continue // the version: see TestLaterVersions
				}
				d := d.Clone()
				off := int64(c*copyOffset + at)
				change(t, d, superName, off&^(sim.Sector-1), func(b []byte) { b[off%sim.Sector] ^= 1 })
				if _, err := begin(d, m.clone(), 2); err != nil {
					t.Errorf("byte %d: %v", off, err)
				}
			}
		}
		d := d.Clone()
		off := int64(c*copyOffset + superOffset)
		change(t, d, superName, off, func(b []byte) { copy(b, before[off:]) })
		if _, err := begin(d, m.clone(), 2); err != nil {
			t.Errorf("copy %d is older: %v", c, err)
		}
	}
}

// content is a copy of files.
func content(t *testing.T, d *sim.Disk, want func(name string) bool) map[string][]byte {
	t.Helper()
	names, err := d.List(dir)
	must(t, err)
	files := map[string][]byte{}
	for _, name := range names {
		if want(name) {
			b := make([]byte, size(t, d, name))
			f, err := d.Open(path.Join(dir, name), false)
			must(t, err)
			if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			must(t, f.Close())
			files[name] = b
		}
	}
	return files
}

// TestOlderFiles: a SUPER, or a journal, that was put back from an earlier time
// is found out.
func TestOlderFiles(t *testing.T) {
	isSuper := func(name string) bool { return name == superName }
	isJournal := func(name string) bool { return strings.HasPrefix(name, "JOURNAL-") }
	for _, c := range []struct {
		name, before, after string
		lives               bool // each script is a life of its own
		which               func(string) bool
	}{
		{"superblock of an earlier life", "acx", "aacx", true, isSuper},
		{"superblock before a checkpoint", "aAAAc", "kewAcackewaAcx", false, isSuper},
		{"journal of an earlier life", "acx", "aacx", true, isJournal},
		{"journal before a checkpoint", "aAAAc", "kewAcackewx", false, isJournal},
		{"journal of the same life", "aac", "Acx", false, isJournal},
	} {
		d, m := newDisk(t), &model{}
		w, err := begin(d, m, 1)
		must(t, err)
		must(t, w.play(c.before))
		old := content(t, d, c.which)
		if c.lives {
			w, err = begin(d, m, 2)
			must(t, err)
		}
		must(t, w.play(c.after))
		for name := range content(t, d, c.which) {
			must(t, d.Remove(path.Join(dir, name)))
		}
		for name, b := range old {
			f, err := d.Open(path.Join(dir, name), true)
			must(t, err)
			_, err = f.WriteAt(b, 0)
			must(t, err)
			must(t, f.Sync())
			must(t, f.Close())
		}
		for again := range 5 { // opening it does not make it pass
			if _, err := begin(d, m, uint64(again)+3); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: opened %d times: %v", c.name, again+1, err)
			}
		}
	}
}

// TestLaterVersions: what a later version has written is refused, and is not
// damage.
func TestLaterVersions(t *testing.T) {
	for _, at := range []int{identityOffset, superOffset} {
		for copies := range 2 {
			d := newDisk(t)
			f, err := d.Open(path.Join(dir, superName), false)
			must(t, err)
			b := make([]byte, superFileSize)
			_, err = f.ReadAt(b, 0)
			must(t, err)
			for c := 0; c <= copies; c++ {
				part := b[c*copyOffset+at:][:superSize]
				if at == identityOffset {
					part = b[c*copyOffset+at:][:identitySize]
				}
				part[12] = version + 1
				putChecksum(part)
			}
			_, err = f.WriteAt(b, 0)
			must(t, err)
			_, err = Open(worldOn(d, 1), dir, small)
			var later *VersionError
			if !errors.As(err, &later) || later.Found != version+1 || errors.Is(err, ErrCorrupt) {
				t.Errorf("part at %d, %d copies: %v", at, copies+1, err)
			}
		}
	}
}

// TestForeignContent: entries that nobody has written are told by their form,
// though the journal vouches for the bytes.
func TestForeignContent(t *testing.T) {
	mark := func(kind entryKind, number, count uint64) []byte { return appendMark(nil, kind, number, count) }
	for name, c := range map[string]struct {
		pending, saved []byte
		want           string
	}{
		"no kind":       {[]byte{9, 0}, nil, "has no entry"},
		"too long":      {[]byte{1, 5, 'x'}, nil, "has no entry"},
		"short mark":    {[]byte{byte(endEntry), 1, 'x'}, nil, "has no entry"},
		"wrong number":  {mark(beginEntry, 2, 0), mark(endEntry, 1, 0), "want checkpoint 1"},
		"wrong records": {mark(beginEntry, 1, 3), mark(endEntry, 1, 0), "want checkpoint 1"},
		"no beginning":  {appendEntry(nil, recordEntry, nil), mark(endEntry, 1, 0), "does not begin where the superblock says"},
		"other end":     {mark(beginEntry, 1, 0), mark(endEntry, 2, 0), "want the end of checkpoint 1"},
		"other count":   {mark(beginEntry, 1, 0), mark(endEntry, 1, 1), "want the end of checkpoint 1"},
		"another begin": {mark(beginEntry, 1, 0), mark(beginEntry, 1, 0), "has no end"},
		"no end":        {mark(beginEntry, 1, 0), nil, "has no end"},
	} {
		d := newDisk(t)
		l, err := Open(worldOn(d, 1), dir, small)
		must(t, err)
		must(t, l.Replay(func([]byte) error { return nil }))
		// As put does it, without its assertions.
		must(t, l.rotate(100))
		place := l.chain
		place.Segment = l.number
		for _, b := range [][]byte{c.pending, c.saved} {
			if len(b) > 0 {
				if l.count == 0 {
					l.used = l.pos + 64
				}
				l.used += copy(l.writer.image[l.used:], b)
				l.count++
			}
		}
		must(t, l.flush())
		must(t, l.seg.Sync())
		if !strings.HasPrefix(c.want, "has no entry") {
			next := l.top.super
			next.checkpoint, next.chain = 1, place
			must(t, l.top.put(next))
		}
		must(t, l.release())
		_, _, err = open(d, 2)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
