// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"io"
	"path"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
)

// placed is a frame on the disk.
type placed struct {
	h        Header
	file     string
	off, end int64
}

// place finds the frames of the chain.
func place(t *testing.T, w *world) []placed {
	t.Helper()
	log, err := Open(w.disk, "j", w.options())
	must(t, err)
	files := map[uint64]string{}
	for _, s := range log.slots {
		if s.flaw.OK() {
			files[s.info.Number] = s.name
		}
	}
	var frames []placed
	_, err = log.Replay(w.super, func(info SegmentInfo, size int) ([]byte, func(Header, int, int) error, error) {
		return make([]byte, size), func(h Header, off, end int) error {
			frames = append(frames, placed{h, files[info.Number], int64(off), int64(end)})
			return nil
		}, nil
	})
	must(t, err)
	must(t, log.Close())
	return frames
}

// damage is a kind of damage to a page.
type damage struct {
	name string
	do   func(page []byte)
	head bool // it hits what counts in a first page
}

var damages = []damage{
	{"a bit of the header", func(p []byte) { p[20] ^= 4 }, true},
	{"a bit of the messages", func(p []byte) { p[600] ^= 1 }, false},
	{"a bit of the last byte", func(p []byte) { p[PageSize-1] ^= 0x80 }, false},
	{"zeros", func(p []byte) { clear(p) }, true},
	{"ones", func(p []byte) {
		for i := range p {
			p[i] = 0xff
		}
	}, true},
}

func inflict(t *testing.T, d *sim.Disk, file string, off int64, do func([]byte)) {
	t.Helper()
	f, err := d.Open(path.Join("j", file), false)
	must(t, err)
	page := make([]byte, PageSize)
	if _, err := f.ReadAt(page, off); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	do(page)
	_, err = f.WriteAt(page, off)
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
}

// TestRotIsToldFromATornTail damages each page of every file of a synced log, one
// at a time. If some remaining frame calls the damaged frame durable, its loss is
// reported, and the error shows the place; if none does, the log ends there, unless
// a witness beside the log calls it durable.
func TestRotIsToldFromATornTail(t *testing.T) {
	t.Run("without a witness", func(t *testing.T) { rotEverywhere(t, false) })
	t.Run("with a witness", func(t *testing.T) { rotEverywhere(t, true) })
}

func rotEverywhere(t *testing.T, testifies bool) {
	for _, script := range [][]string{
		{"fsFsfsfs"},
		{"fsfsrfsfsrfs"},
		{"fsrfsrfs", "fsfs", "fsrffs"},
		{"ffsrffsrfscfsFs", "fwfsrfsfw", "ffs"},
		{"ffwsfw", "fs"},
		{"osososrosos"},
	} {
		w := newWorld(6 * PageSize)
		w.testifies = testifies
		for _, s := range script {
			_, err := w.open()
			must(t, err)
			must(t, w.play(s, nil))
			w = w.on(w.disk)
		}
		frames := place(t, w)
		if len(frames) != len(w.history) {
			t.Fatalf("%v: %d frames, want %d", script, len(frames), len(w.history))
		}
		reported, ended := 0, 0
		names, err := w.disk.List("j")
		must(t, err)
		for _, name := range names {
			for off := int64(0); off < int64(w.size); off += PageSize {
				for _, d := range damages {
					hit, at := struck(frames, name, off, d)
					broken := w.on(w.disk.Clone())
					inflict(t, broken.disk, name, off, d.do)
					r, err := broken.open()
					where := func() []any { return []any{script, name, off, d.name} }
					if hit == len(frames) {
						if err != nil || len(r.frames) != len(frames) {
							t.Errorf("%v, %s at %d, %s: %v, %d frames; want no harm", append(where(), err, len(r.frames))...)
						}
						continue
					}
					witnessed := testifies && w.witnessed >= frames[hit].h.First
					for _, f := range frames[hit:] {
						onPage := f.file == name && f.off <= off && off < f.end
						witnessed = witnessed || !(onPage && off == f.off && d.head) && f.h.Durable >= frames[hit].h.First
					}
					if len(r.frames) != hit {
						t.Errorf("%v, %s at %d, %s: %d frames, want %d", append(where(), len(r.frames), hit)...)
					}
					var c *Corrupt
					switch {
					case !witnessed && err != nil:
						t.Errorf("%v, %s at %d, %s: %v; want the end of the log", append(where(), err)...)
					case !witnessed:
						ended++
					case !errors.As(err, &c):
						t.Errorf("%v, %s at %d, %s: %v; want that it is corrupt", append(where(), err)...)
					case c.File != name || c.Offset != at || c.Missing != frames[hit].h.First || c.Segment != frames[hit].h.Segment || c.Witness.Durable < c.Missing:
						t.Errorf("%v, %s at %d, %s: %v; want it at %d of segment %d", append(where(), err, at, frames[hit].h.Segment)...)
					default:
						reported++
					}
				}
			}
		}
		unsynced := frames[len(frames)-1].h.Last() > w.witnessed
		if reported < 5 || !testifies && ended < 4 || testifies && unsynced != (ended > 0) {
			t.Errorf("%v: %d reported, %d took for the end", script, reported, ended)
		}
	}
}

// struck is the first frame that a damage takes away, and where it is said to
// be.
func struck(frames []placed, name string, off int64, d damage) (hit int, at int64) {
	for i, f := range frames {
		switch {
		case f.file != name:
		case off == 0 && d.head:
			return i, 0
		case f.off <= off && off < f.end:
			return i, f.off
		}
	}
	return len(frames), 0
}

// TestALostSegmentIsMissed: a file that was synced is gone.
func TestALostSegmentIsMissed(t *testing.T) {
	for _, c := range []struct {
		lost    string
		segment uint64
		file    string
		missing message.Seq
	}{
		{"JOURNAL-00", 1, "", 1},
		{"JOURNAL-01", 1, "JOURNAL-00", 11},
	} {
		w := newWorld(3 * PageSize)
		_, err := w.open()
		must(t, err)
		must(t, w.play("fsrfsrfs", nil))
		must(t, w.disk.Remove("j/"+c.lost))
		var got *Corrupt
		if _, err := w.on(w.disk).open(); !errors.As(err, &got) {
			t.Errorf("without %s: %v, want that it is corrupt", c.lost, err)
		} else if got.Segment != c.segment || got.File != c.file || got.Missing != c.missing {
			t.Errorf("without %s: %v; want segment %d, file %q, message %d", c.lost, got, c.segment, c.file, c.missing)
		}
	}
}

// TestARepairBeginsAnew: after Corrupt, the messages that were read are in another
// superblock, and the log can be begun without the files.
func TestARepairBeginsAnew(t *testing.T) {
	w := newWorld(4 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsfsrfs", nil))
	inflict(t, w.disk, "JOURNAL-00", 2*PageSize, func(p []byte) { p[100]++ })
	w = w.on(w.disk)
	r, err := w.open()
	var c *Corrupt
	if !errors.As(err, &c) || len(r.frames) != 1 || r.end.Next != 11 || r.end.Segment != 3 {
		t.Fatalf("%v, %+v; want one frame, and segment 3 to be the next", err, r)
	}
	w.super, w.history, w.floor = r.end, nil, 0
	must(t, Remove(w.disk, "j"))
	w.disk.Crash(sim.KeepUpTo(0))
	w = w.on(w.disk)
	_, err = w.open()
	must(t, err)
	must(t, w.play("fs", nil))
	r, err = w.on(w.disk).open()
	if err != nil || len(r.frames) != 1 || r.frames[0].first != 11 {
		t.Errorf("%v, %v; want the frame of message 11", err, r.frames)
	}
}

// TestValuesDoNotTestify: a client has stored frames of a journal as values, of
// another store, or of this one for another place. They are at the beginning of a
// page, in a torn frame.
func TestValuesDoNotTestify(t *testing.T) {
	for _, c := range []struct {
		name   string
		store  uint64
		offset uint32
		want   bool
	}{
		{"another store's", testStore + 1, 2 * PageSize, false},
		{"another place's", testStore, 3 * PageSize, false},
		{"the same", testStore, 2 * PageSize, true}, // nobody could tell, and it is true
	} {
		w := newWorld(5 * PageSize)
		_, err := w.open()
		must(t, err)
		must(t, w.play("F", nil))
		forged := w.image[2*PageSize : 3*PageSize]
		Seal(forged, Header{Store: c.store, Segment: 1, Offset: c.offset, First: 500, Count: 1, Len: 1000, Session: 1, Durable: 400})
		must(t, w.play("w", nil))
		inflict(t, w.disk, "JOURNAL-00", PageSize, func(p []byte) { p[70]++ })
		_, err = w.on(w.disk).open()
		var corrupt *Corrupt
		if got := errors.As(err, &corrupt); got != c.want || !got && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestReadErrorsAreNoEnd: a frame that cannot be read is not missing.
func TestReadErrorsAreNoEnd(t *testing.T) {
	w := newWorld(4 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsfsrfsrfsfw", nil))
	w = w.on(w.disk)
	all, err := w.on(w.disk).open()
	must(t, err)
	for n := 1; ; n++ {
		d := &deafDisk{Disk: w.disk, at: n}
		next := w.on(w.disk)
		next.over = func(env.Disk) env.Disk { return d }
		r, err := next.open()
		if err == nil {
			if n < 6 || d.reads >= n || len(r.frames) != len(all.frames) {
				t.Errorf("%d reads, and %d frames of %d", n, len(r.frames), len(all.frames))
			}
			break
		}
		if !errors.Is(err, errFault) {
			t.Errorf("read %d fails: %v", n, err)
		}
	}
}

// deafDisk fails one read.
type deafDisk struct {
	*sim.Disk
	at, reads int
}

func (d *deafDisk) Open(name string, create bool) (env.File, error) {
	f, err := d.Disk.Open(name, create)
	return &deafFile{f, d}, err
}

type deafFile struct {
	env.File
	d *deafDisk
}

func (f *deafFile) ReadAt(b []byte, off int64) (int, error) {
	f.d.reads++
	if f.d.reads == f.d.at {
		return 0, errFault
	}
	return f.File.ReadAt(b, off)
}

// TestAStaleFirstPageIsMissed: the disk has lost the write of a first page, and
// shows that of the file's earlier use.
func TestAStaleFirstPageIsMissed(t *testing.T) {
	w := newWorld(5 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsc", nil))
	stale := make([]byte, PageSize)
	inflict(t, w.disk, "JOURNAL-00", 0, func(p []byte) { copy(stale, p) })
	must(t, w.play("fsfs", nil))
	inflict(t, w.disk, "JOURNAL-00", 0, func(p []byte) { copy(p, stale) })
	var c *Corrupt
	if _, err := w.on(w.disk).open(); !errors.As(err, &c) || c.Missing != 11 || c.Witness.File != "JOURNAL-00" || c.Witness.Durable != 20 {
		t.Errorf("%v; want that message 11 is missing", err)
	}
}
