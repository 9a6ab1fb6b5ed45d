// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
)

const testStore = 0xfeed_f00d_1234_5678

// sealed is a frame as its life has sealed it.
type sealed struct {
	session uint64
	first   message.Seq
	count   uint32
}

func (s sealed) String() string {
	return fmt.Sprintf("%d..%d of life %d", s.first, uint64(s.first)+uint64(s.count)-1, s.session)
}

// world is a store that only has a journal: a disk, a durable superblock, and the
// knowledge of the test. A copy of it, with a clone of the disk, is another world.
type world struct {
	disk  *sim.Disk
	over  func(env.Disk) env.Disk // around the disk, for faults
	super ChainState              // the superblock
	life  uint64
	// history is the messages that were sealed and not abandoned, after the
	// superblock's cut; the first floor frames are safe.
	history []sealed
	floor   int
	// witnessed is the last message that was ever safe. When testifies is set, each
	// life reads a witness for it: none could be stronger.
	witnessed message.Seq
	testifies bool

	// of a life
	log     *Log
	seg     *Segment
	chain   ChainState
	pos     int // where the next frame begins
	written int // what of the image was written
	safe    message.Seq
	frames  map[uint64]int // by number of segment, how many in history
	image   []byte
	size    int
}

func newWorld(size int) *world {
	d := sim.NewDisk()
	if err := d.MakeDir("j"); err != nil {
		panic(err)
	}
	if err := d.SyncDir("."); err != nil {
		panic(err)
	}
	return &world{disk: d, super: ChainState{Segment: 1, Next: 1}, size: size}
}

// on is the world with another disk, before a life.
func (w *world) on(d *sim.Disk) *world {
	return &world{disk: d, over: w.over, super: w.super, life: w.life, size: w.size,
		history: append([]sealed(nil), w.history...), floor: w.floor, witnessed: w.witnessed, testifies: w.testifies}
}

// payload fills the messages of a frame: of every life the same.
func payload(b []byte, first message.Seq) {
	for i := range b {
		b[i] = byte(uint64(first)*7 + uint64(i)*3 + uint64(i>>8))
	}
}

func (w *world) options() Options {
	o := Options{Store: testStore, Spare: 1, Buffer: make([]byte, 2*PageSize)}
	if w.testifies {
		o.Witness = Testimony{File: "WITNESS", Offset: 7, Durable: w.witnessed}
	}
	return o
}

// recovered is the result of a replay.
type recovered struct {
	frames   []sealed
	segments []uint64
	end      ChainState
}

// open begins a life: it recovers.
func (w *world) open() (recovered, error) {
	var r recovered
	var d env.Disk = w.disk
	if w.over != nil {
		d = w.over(d)
	}
	log, err := Open(d, "j", w.options())
	if err != nil {
		return r, err
	}
	var images [][]byte
	var ends []int
	r.end, err = log.Replay(w.super, func(info SegmentInfo, size int) ([]byte, func(Header, int, int) error, error) {
		image := make([]byte, size)
		images, ends = append(images, image), append(ends, 0)
		return image, func(h Header, off, end int) error {
			ends[len(ends)-1] = end
			want := make([]byte, h.Len-HeaderSize)
			payload(want, h.First)
			if !bytes.Equal(image[off+HeaderSize:off+int(h.Len)], want) {
				return fmt.Errorf("the frame of message %d has other messages", h.First)
			}
			r.frames = append(r.frames, sealed{h.Session, h.First, h.Count})
			r.segments = append(r.segments, info.Number)
			return nil
		}, nil
	})
	for i, image := range images {
		if len(bytes.Trim(image[ends[i]:], "\x00")) > 0 {
			err = errors.Join(err, fmt.Errorf("there is something behind the last frame of image %d", i))
		}
	}
	if err != nil {
		return r, errors.Join(err, log.Close())
	}
	w.life++
	w.log, w.chain, w.seg = log, r.end, nil
	w.safe = w.super.Next - 1
	w.history = r.frames
	w.frames = map[uint64]int{}
	for _, n := range r.segments {
		w.frames[n]++
	}
	return r, nil
}

// check reports whether the recovered messages are permitted.
func (w *world) check(history []sealed, floor int, r recovered) error {
	if len(r.frames) < floor {
		return fmt.Errorf("got %v, want the first %d of %v at least", r.frames, floor, history)
	}
	for i, f := range r.frames {
		if i >= len(history) || f != history[i] {
			return fmt.Errorf("got %v, want a part of %v from its beginning", r.frames, history)
		}
	}
	return nil
}

// seal adds a frame of that many messages and bytes to the image.
func (w *world) seal(count uint32, length int) error {
	if w.seg == nil || w.pos+padded(length) > w.size {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	h := Header{Store: testStore, Segment: w.seg.info.Number, Offset: uint32(w.pos), First: w.chain.Next, Count: count,
		Len: uint32(length), Session: w.life, Prev: w.chain.Prev, Durable: w.safe, Start: w.chain.Session != w.life}
	frame := w.image[w.pos : w.pos+padded(length)]
	clear(frame)
	payload(frame[HeaderSize:length], h.First)
	w.chain.Advance(h, Seal(frame, h))
	w.pos += len(frame)
	w.history = append(w.history, sealed{h.Session, h.First, h.Count})
	w.frames[h.Segment]++
	return nil
}

// rotate writes what is sealed, and begins another segment.
func (w *world) rotate() error {
	if err := w.write(); err != nil {
		return err
	}
	w.image = make([]byte, w.size)
	seg, err := w.log.Begin(SegmentInfo{Number: w.chain.Segment, Size: uint32(w.size), First: w.chain.Next, Prev: w.chain.Prev, Session: w.life}, w.image)
	if err != nil {
		return err
	}
	w.chain.Segment++
	w.seg, w.pos, w.written = seg, SegmentHeader, SegmentHeader
	return nil
}

func (w *world) write() error {
	if w.seg == nil || w.written == w.pos {
		return nil
	}
	err := w.seg.Write(w.written, w.pos)
	w.written = w.pos
	return err
}

func (w *world) sync() error {
	if err := w.write(); err != nil || w.seg == nil {
		return err
	}
	if err := w.seg.Sync(); err != nil {
		return err
	}
	w.floor, w.safe = len(w.history), w.chain.Next-1
	w.witnessed = max(w.witnessed, w.safe)
	return nil
}

// checkpoint makes a superblock durable whose tree has all, and retires.
func (w *world) checkpoint() error {
	w.super = w.chain
	w.safe, w.history, w.floor, w.frames = w.chain.Next-1, nil, 0, map[uint64]int{}
	w.witnessed = max(w.witnessed, w.safe)
	w.seg = nil
	return w.log.Retire(w.chain.Segment - 1)
}

// play does the steps of a script, a letter each: f a frame, w a write, s a
// sync, r a new segment, c and C a checkpoint. After each it calls after.
func (w *world) play(script string, after func(step int)) error {
	for i, op := range script {
		var err error
		switch op {
		case 'f':
			err = w.seal(10, 1000)
		case 'o': // one message
			err = w.seal(1, 1000)
		case 'g': // the same length, another number
			err = w.seal(9, 1000)
		case 'F':
			err = w.seal(10, PageSize+1000)
		case 'w':
			err = w.write()
		case 's':
			err = w.sync()
		case 'r':
			err = w.rotate()
		case 'c':
			if err = w.write(); err == nil {
				err = w.checkpoint()
			}
		case 'C': // what is sealed and not written never is
			err = w.checkpoint()
		default:
			panic("no such step: " + string(op))
		}
		if err != nil {
			return fmt.Errorf("step %d of %s: %w", i, script, err)
		}
		if after != nil {
			after(i)
		}
	}
	return nil
}

// atom is what a crash in a test keeps or loses as a whole: of a page, the
// sector of the header and the others.
type atom struct {
	what sim.PieceKind
	file uint64
	part int64
	name string
}

func atomOf(p sim.Piece) atom {
	a := atom{what: p.What, file: p.File, name: p.Name}
	if p.What == sim.ContentPiece {
		a.part = p.Sector / 8 * 2
		if p.Sector%8 != 0 {
			a.part++
		}
		if a.part == 1 { // zeros, in every first page
			a.part = 0
		}
	}
	return a
}

// crashes calls f with each disk that a crash may leave of d, at most about most:
// beyond that, a sample. It returns their number.
func crashes(d *sim.Disk, most int, r env.Random, f func(*sim.Disk)) int {
	var atoms []atom
	depth := map[atom]int{}
	d.Clone().Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int {
		a := atomOf(p)
		if _, seen := depth[a]; !seen {
			atoms = append(atoms, a)
		}
		depth[a] = max(depth[a], len(ops))
		return 0
	}))
	sort.Slice(atoms, func(i, j int) bool {
		a, b := atoms[i], atoms[j]
		if a.what != b.what {
			return a.what < b.what
		}
		if a.file != b.file {
			return a.file < b.file
		}
		if a.part != b.part {
			return a.part < b.part
		}
		return a.name < b.name
	})
	total := 1
	for _, a := range atoms {
		total = min(total*(depth[a]+1), 1<<30)
	}
	run := func(keep map[atom]int) {
		c := d.Clone()
		c.Crash(sim.KeepFunc(func(p sim.Piece, ops []uint64) int { return min(keep[atomOf(p)], len(ops)) }))
		f(c)
	}
	keep := map[atom]int{}
	if total <= most {
		for n := range total {
			for _, a := range atoms {
				keep[a] = n % (depth[a] + 1)
				n /= depth[a] + 1
			}
			run(keep)
		}
		return total
	}
	for n := range most {
		for _, a := range atoms {
			switch {
			case n == 0:
				keep[a] = 0
			case n == 1:
				keep[a] = depth[a]
			default:
				keep[a] = env.IntN(r, depth[a]+1)
			}
		}
		run(keep)
	}
	return most
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// segmentImage is a segment with frames of these lengths, sealed.
func segmentImage(size int, info SegmentInfo, lengths ...int) ([]byte, ChainState) {
	image := make([]byte, size)
	info.Size = uint32(size)
	PutSegmentHeader(image[:SegmentHeader], info)
	chain := ChainState{Segment: info.Number, Prev: info.Prev, Session: info.Session, Next: info.First}
	off := SegmentHeader
	for i, n := range lengths {
		h := Header{Store: info.Store, Segment: info.Number, Offset: uint32(off), First: chain.Next, Count: 3, Len: uint32(n),
			Session: info.Session, Prev: chain.Prev, Durable: chain.Next - 1, Start: i == 0}
		frame := image[off : off+padded(n)]
		payload(frame[HeaderSize:n], h.First)
		chain.Advance(h, Seal(frame, h))
		off += len(frame)
	}
	return image, chain
}
