// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// explorer crashes lives at every step, and lives that recover from that, and
// so on.
type explorer struct {
	t       *testing.T
	r       env.Random
	scripts [][]string // of each depth
	most    []int      // crash states of one place, by depth
	states  int
	// what came about, so that the test is known to have tested it
	lost, kept, dead int
}

func (e *explorer) run(w *world, depth int, trail string) {
	for _, script := range e.scripts[depth] {
		life := w.on(w.disk.Clone())
		if _, err := life.open(); err != nil {
			e.t.Fatalf("%s: open: %v", trail, err)
		}
		here := trail + "/" + script
		check := func(step int) { e.crash(life, depth, here[:len(here)-len(script)+step+1]) }
		if err := life.play(script, check); err != nil {
			e.t.Fatalf("%s: %v", here, err)
		}
	}
}

// crash crashes a life where it is: of the machine in all ways, and of the
// program, whose writes stay as they are, not synced.
func (e *explorer) crash(life *world, depth int, trail string) {
	after := func(d *sim.Disk) {
		e.states++
		next := life.on(d)
		r, err := next.open()
		if err != nil {
			e.t.Fatalf("%s: %v", trail, err)
		}
		if err := next.check(life.history, life.floor, r); err != nil {
			e.t.Fatalf("%s: %v", trail, err)
		}
		for _, s := range next.log.slots {
			if s.state == dead {
				e.dead++
			}
		}
		switch {
		case len(r.frames) < len(life.history):
			e.lost++
		case len(r.frames) > life.floor:
			e.kept++
		}
		if depth+1 < len(e.scripts) {
			next = life.on(d)
			next.history = r.frames
			e.run(next, depth+1, trail)
		}
	}
	after(life.disk.Clone())
	crashes(life.disk, e.most[depth], e.r, after)
}

// TestCrashes: after any crash, in any life, every synced frame is there, the
// recovered frames are a prefix of those that were sealed and not abandoned, and no
// crash is reported as damage, although each life has the strongest possible
// witness.
func TestCrashes(t *testing.T) {
	for _, c := range []struct {
		name    string
		size    int
		before  []string // lives that end well
		scripts [][]string
		most    []int
	}{
		{"one life in new files", 5 * PageSize, nil, [][]string{{"fwfws", "ffwsfw", "fsrfwrfws", "FwFs", "fwcfws", "fwfCfws"}}, []int{4096}},
		{"one life in old files", 4 * PageSize, []string{"ffsrffsrfsc"}, [][]string{{"fwfws", "fwrfwfws", "fscfwrfw"}}, []int{4096}},
		{"two lives", 4 * PageSize, nil, [][]string{{"fwfw", "fsfwrfw"}, {"fws", "gwfws", "ffws", "fwrfws"}}, []int{64, 24}},
		{"two lives in old files", 4 * PageSize, []string{"ffsrffsrfsc"}, [][]string{{"fwfw", "fsrfwfw", "frfw"}, {"fws", "ffws", "fsCfw"}}, []int{64, 24}},
		{"three lives", 3 * PageSize, []string{"fsrfsc"}, [][]string{{"fw", "fsfw"}, {"fw", "gw"}, {"fw", "fws"}}, []int{64, 32, 16}},
		{"four lives", 4 * PageSize, []string{"ffsrfsc"}, [][]string{{"ffw"}, {"fw"}, {"ffw"}, {"fws"}}, []int{16, 12, 8, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(c.size)
			w.testifies = true
			for _, script := range c.before {
				_, err := w.open()
				must(t, err)
				must(t, w.play(script, nil))
				w = w.on(w.disk)
			}
			e := &explorer{t: t, r: env.Seeded(1), scripts: c.scripts, most: c.most}
			e.run(w, 0, c.name)
			if e.lost == 0 || e.kept == 0 || e.dead == 0 {
				t.Errorf("%d states: in %d something was lost, in %d something not synced was kept, %d dead segments; want some of each",
					e.states, e.lost, e.kept, e.dead)
			}
			t.Logf("%d states", e.states)
		})
	}
}

// TestADeadFrameStaysDead: a life abandons a frame of which one sector is lost; the
// next life overwrites it with the same bytes except for the header, and only the
// lost sector reaches the disk.
func TestADeadFrameStaysDead(t *testing.T) {
	w := newWorld(3 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsrfsc", nil)) // a spare file
	w = w.on(w.disk)
	_, err = w.open()
	must(t, err)
	must(t, w.play("fw", nil))
	const lostSector = 9 // of the first frame
	w.disk.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		if p.What == sim.ContentPiece && p.Sector == lostSector {
			return 0
		}
		return len(ops)
	}))
	w = w.on(w.disk)
	r, err := w.open()
	must(t, err)
	if len(r.frames) != 0 {
		t.Fatalf("recovered %v, want nothing", r.frames)
	}
	// No file but the dead one is to be had.
	for _, s := range w.log.slots {
		if s.state == spare {
			must(t, w.log.drop(s))
		}
	}
	must(t, w.log.disk.SyncDir("j"))
	must(t, w.play("fw", nil))
	if n := len(w.log.slots); n != 1 {
		t.Fatalf("%d files, want the dead one to be used again", n)
	}
	w.disk.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		if p.What == sim.ContentPiece && p.Sector == lostSector {
			return len(ops)
		}
		return 0
	}))
	w = w.on(w.disk)
	r, err = w.open()
	must(t, err)
	if len(r.frames) != 0 {
		t.Errorf("recovered %v, which was given up", r.frames)
	}
}

// TestAFrameOfAnotherSessionIsNotOurs: a life loses its first page and keeps its
// first frame; the next life, which cannot know the segment, begins one of
// the same number in the same file, and keeps its first page only.
func TestAFrameOfAnotherSessionIsNotOurs(t *testing.T) {
	w := newWorld(3 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsc", nil))
	w = w.on(w.disk)
	crash := func(keep func(sector int64) bool) {
		w.disk.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
			if p.What == sim.ContentPiece && keep(p.Sector) {
				return len(ops)
			}
			return 0
		}))
		w = w.on(w.disk)
	}
	_, err = w.open()
	must(t, err)
	must(t, w.play("fw", nil))
	crash(func(s int64) bool { return s >= 8 })
	_, err = w.open()
	must(t, err)
	must(t, w.play("fw", nil))
	crash(func(s int64) bool { return s < 8 })
	r, err := w.open()
	must(t, err)
	if len(r.frames) != 0 {
		t.Errorf("recovered %v, which was given up", r.frames)
	}
	if n := len(w.log.slots); n != 1 || w.log.slots[0].state != dead {
		t.Errorf("%d files; want one, with a segment in which nothing is", n)
	}
}

// TestWhatRecoveryHasReadIsSynced: the program dies, not the machine; the next
// life recovers frames that only the cache has, and acknowledges one after them.
func TestWhatRecoveryHasReadIsSynced(t *testing.T) {
	w := newWorld(4 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("ffw", nil))
	w = w.on(w.disk)
	r, err := w.open()
	must(t, err)
	if len(r.frames) != 2 {
		t.Fatalf("recovered %v", r.frames)
	}
	must(t, w.play("fs", nil))
	w.disk.Crash(sim.KeepUpTo(0))
	r, err = w.on(w.disk).open()
	must(t, err)
	if len(r.frames) != 3 {
		t.Errorf("recovered %v, want all three", r.frames)
	}
}

// TestSyncCoversEarlierSegments: a Sync of a segment also covers the earlier ones.
func TestSyncCoversEarlierSegments(t *testing.T) {
	w := newWorld(3 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fwrfs", nil))
	w.disk.Crash(sim.KeepUpTo(0))
	r, err := w.on(w.disk).open()
	must(t, err)
	if len(r.frames) != 2 {
		t.Errorf("recovered %v, want both", r.frames)
	}
}

// TestFilesAreUsedAgain: a store that checkpoints has a bounded number of files,
// and so has one that only crashes.
func TestFilesAreUsedAgain(t *testing.T) {
	w := newWorld(3 * PageSize)
	_, err := w.open()
	must(t, err)
	for range 20 {
		must(t, w.play("fsrfsrfsc", nil))
	}
	names, err := w.disk.List("j")
	must(t, err)
	if len(names) != 1 {
		t.Errorf("after checkpoints: %v, want one spare", names)
	}
	for range 20 {
		w = w.on(w.disk)
		_, err := w.open()
		must(t, err)
		must(t, w.play("fw", nil))
		w.disk.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
			if p.What == sim.ContentPiece && p.Sector > 8 {
				return 0
			}
			return len(ops)
		}))
	}
	names, err = w.disk.List("j")
	must(t, err)
	if len(names) > 2 {
		t.Errorf("after crashes: %v", names)
	}
}

// TestTheLogEndsWithAFault fails each operation in turn: nothing is written after a
// write or a sync that failed, all calls return its error, and acknowledged frames
// are there.
func TestTheLogEndsWithAFault(t *testing.T) {
	const script = "fwsrffwsfscfwsrfs"
	faulty := 0
	for n := 1; ; n++ {
		w := newWorld(4 * PageSize)
		_, err := w.open()
		must(t, err)
		must(t, w.play("fsrfs", nil))
		w = w.on(w.disk)
		d := &faultDisk{Disk: w.disk, at: n}
		w.over = func(env.Disk) env.Disk { return d }
		if _, err := w.open(); err != nil {
			if !errors.Is(err, errFault) {
				t.Fatalf("fault %d: %v", n, err)
			}
			continue
		}
		err = w.play(script, nil)
		if err == nil {
			if d.ops >= n {
				t.Fatalf("fault %d has no effect", n)
			}
			break
		}
		faulty++
		if !errors.Is(err, errFault) {
			t.Fatalf("fault %d: %v", n, err)
		}
		if d.ends { // not of a file that could not be made or removed
			writes, sealed := d.ops, w.log.err
			if sealed == nil || !errors.Is(sealed, errFault) {
				t.Fatalf("fault %d: the log goes on", n)
			}
			_, begin := w.log.Begin(SegmentInfo{Number: 99, Size: uint32(w.size), First: 1}, make([]byte, w.size))
			_, replay := w.log.Replay(ChainState{}, nil)
			for what, err := range map[string]error{"begin": begin, "retire": w.log.Retire(1), "replay": replay,
				"write": w.seg.Write(SegmentHeader, 2*PageSize), "sync": w.seg.Sync()} {
				if err != sealed {
					t.Errorf("fault %d: %s answers %v, want %v", n, what, err, sealed)
				}
			}
			if d.ops != writes {
				t.Errorf("fault %d: the disk was used after it", n)
			}
		}
		must(t, w.log.Close())
		w.disk.Crash(sim.KeepUpTo(0))
		next := w.on(w.disk)
		next.over = nil
		r, err := next.open()
		if err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
		if err := next.check(w.history, w.floor, r); err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
	}
	if faulty < 10 {
		t.Errorf("%d faults only", faulty)
	}
}

var errFault = errors.New("the disk has failed")

// faultDisk fails one operation that changes something.
type faultDisk struct {
	*sim.Disk
	at, ops int
	ends    bool // it was a write or a sync
}

func (d *faultDisk) fault(ends bool) error {
	d.ops++
	if d.ops == d.at {
		d.ends = ends
		return errFault
	}
	return nil
}

func (d *faultDisk) Open(name string, create bool) (env.File, error) {
	if create {
		if err := d.fault(false); err != nil {
			return nil, err
		}
	}
	f, err := d.Disk.Open(name, create)
	return &faultFile{f, d}, err
}

func (d *faultDisk) Remove(name string) error {
	if err := d.fault(false); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

func (d *faultDisk) SyncDir(name string) error {
	if err := d.fault(true); err != nil {
		return err
	}
	return d.Disk.SyncDir(name)
}

type faultFile struct {
	env.File
	d *faultDisk
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.d.fault(true); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *faultFile) Truncate(n int64) error {
	if err := f.d.fault(false); err != nil {
		return err
	}
	return f.File.Truncate(n)
}

func (f *faultFile) Sync() error {
	if err := f.d.fault(true); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestMisuse: our own mistakes are found where they are made.
func TestMisuse(t *testing.T) {
	begun := func() *world {
		w := newWorld(4 * PageSize)
		_, err := w.open()
		must(t, err)
		must(t, w.play("ff", nil))
		return w
	}
	info := func(number uint64) SegmentInfo {
		return SegmentInfo{Number: number, Size: 4 * PageSize, First: 21}
	}
	for name, f := range map[string]func(w *world){
		"write from the middle":   func(w *world) { w.seg.Write(2*PageSize, 3*PageSize) },
		"write a first page":      func(w *world) { w.seg.Write(0, 2*PageSize) },
		"write half a page":       func(w *world) { w.seg.Write(PageSize, PageSize+512) },
		"write from half a page":  func(w *world) { must(t, w.write()); w.seg.Write(PageSize+512, 2*PageSize) },
		"write nothing":           func(w *world) { w.seg.Write(PageSize, PageSize) },
		"write what is retired":   func(w *world) { must(t, w.log.Retire(1)); w.seg.Write(PageSize, 2*PageSize) },
		"number taken":            func(w *world) { w.log.Begin(info(1), make([]byte, 4*PageSize)) },
		"image too short":         func(w *world) { w.log.Begin(info(2), make([]byte, 3*PageSize)) },
		"replay twice":            func(w *world) { w.log.Replay(ChainState{}, nil) },
		"begin before the replay": func(w *world) { w.log.replayed = false; w.log.Begin(info(2), make([]byte, 4*PageSize)) },
		"segment of one page":     func(*world) { PutSegmentHeader(make([]byte, PageSize), SegmentInfo{Size: PageSize, First: 1}) },
		"segment of half a page":  func(*world) { PutSegmentHeader(make([]byte, PageSize), SegmentInfo{Size: 3*PageSize - 512, First: 1}) },
		"segment without message": func(*world) { PutSegmentHeader(make([]byte, PageSize), SegmentInfo{Size: 3 * PageSize}) },
	} {
		w := begun()
		if !panics(func() { f(w) }) {
			t.Errorf("%s: nothing happens", name)
		}
	}
	w := begun()
	if _, err := w.log.Begin(info(2), make([]byte, 4*PageSize)); err != nil {
		t.Errorf("the number after: %v", err)
	}
	must(t, w.log.Close())
	if err := w.log.Retire(1); err != errClosed {
		t.Errorf("after Close: %v", err)
	}
}

// TestRetireKeepsWhatIsAbove: files of later segments are not used again.
func TestRetireKeepsWhatIsAbove(t *testing.T) {
	w := newWorld(3 * PageSize)
	_, err := w.open()
	must(t, err)
	must(t, w.play("fsr", nil))
	w.super, w.history, w.floor = w.chain, nil, 0
	w.super.Segment = 2
	must(t, w.play("fs", nil))
	must(t, w.log.Retire(1))
	must(t, w.play("fsfs", nil)) // two more segments
	w.disk.Crash(sim.KeepUpTo(0))
	r, err := w.on(w.disk).open()
	must(t, err)
	if len(r.frames) != 3 {
		t.Errorf("recovered %v, want three frames", r.frames)
	}
}

// TestAFaultUnderADeadSegment: the first page that Begin writes over one is
// written and synced, or the log has ended.
func TestAFaultUnderADeadSegment(t *testing.T) {
	for n := 1; n <= 2; n++ {
		w := newWorld(3 * PageSize)
		_, err := w.open()
		must(t, err)
		must(t, w.play("fw", nil))
		w.disk.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
			if p.What == sim.ContentPiece && p.Sector >= 8 {
				return 0
			}
			return len(ops)
		}))
		w = w.on(w.disk)
		w.over = func(d env.Disk) env.Disk { return &faultDisk{Disk: w.disk, at: n} }
		_, err = w.open()
		must(t, err)
		if err := w.rotate(); !errors.Is(err, errFault) || w.log.err != err {
			t.Errorf("operation %d fails: %v, and the log's end is %v", n, err, w.log.err)
		}
	}
}
