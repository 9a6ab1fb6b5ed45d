// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// FollowOptions are the options of a Follower.
type FollowOptions struct {
	// From is the first position whose entry is delivered.
	From Position
	// Warm, if below From, is where reading begins: entries from there to From
	// are only remembered, so that their duplicates are recognized. Zero means
	// From.
	Warm Position
	// Remember is the number of ids that the Follower remembers. It recognizes
	// a duplicate if fewer entries than that lie between it and the first copy.
	// Default: 65536.
	Remember int
	// Trimmed is called when the Follower skips positions from lo to hi because
	// they are trimmed. It may be nil.
	Trimmed func(from, to Position)
}

const rememberDefault = 1 << 16

// window is the number of registers of one subscription; a follower has two.
const window = 512

// Follower reads a log in order, and continues as it grows. It belongs to the
// Log's Serial.
//
// It listens to the registers ahead of its position. The next register is a
// hole if it stays unwritten although a register above it is written or the
// tail is above it. The Follower fills a hole according to the Log's Holes.
type Follower struct {
	l    *Log
	opt  FollowOptions
	note func(Entry)
	next Position
	size uint32 // of next's segment; 0 while unknown
	// cells are the decided registers ahead, by offset.
	cells   map[uint32][]byte
	listens []listening
	ids     memory
	paused  bool
	stopped bool
	busy    bool // a pending request for the next segment, or a hole being filled
	gone    bool // the segment was found trimmed meanwhile
	hole    env.Timer
	above   bool // the hole is below a register that is written
	wait    env.Backoff
	marks   []milestone
}

type listening struct {
	lo, hi uint32
	stop   func()
}

type milestone struct {
	at Position
	f  func()
}

// Follow calls note for the entries of the log in order, from a position on. It
// delivers only data, and of the entries with the same id only the first. Note
// may pause or stop the Follower.
func (l *Log) Follow(o FollowOptions, note func(Entry)) *Follower {
	if o.Warm == 0 || o.Warm > o.From {
		o.Warm = o.From
	}
	setDefault(&o.Remember, rememberDefault)
	f := &Follower{
		l: l, opt: o, note: note, next: o.Warm, cells: map[uint32][]byte{},
		ids:  memory{limit: o.Remember, ids: map[EntryID]struct{}{}},
		wait: env.Backoff{Min: l.opt.Holes.Wait, Max: l.opt.Holes.Poll},
	}
	l.serial.Do(f.enter)
	return f
}

// Stop ends the Follower.
func (f *Follower) Stop() {
	f.stopped = true
	f.unlisten()
	f.still()
	f.marks = nil
}

// Pause stops delivery until Resume. Meanwhile the Follower holds at most the
// values of two windows of 512 registers.
func (f *Follower) Pause() { f.paused = true }

// Resume continues delivery after Pause.
func (f *Follower) Resume() {
	f.paused = false
	f.l.serial.Do(f.deliver)
}

// Next returns the first position that the Follower has not passed.
func (f *Follower) Next() Position { return f.next }

// Reached calls g when the Follower has passed all positions below at. If at
// came from Tail, all appends that ended before that Tail have then been
// delivered.
func (f *Follower) Reached(at Position, g func()) {
	f.marks = append(f.marks, milestone{at, g})
	f.l.serial.Do(f.reached)
	f.still()
	if !f.busy {
		f.expect()
	}
}

func (f *Follower) reached() {
	for i := 0; i < len(f.marks) && !f.stopped; {
		m := f.marks[i]
		// The registers from next on are below a position of the next segment
		// even if none of them remain.
		done := m.at <= f.next || f.size > 0 && f.next.Offset() >= f.size && m.at <= f.next.next()
		if !done {
			i++
			continue
		}
		f.marks = append(f.marks[:i:i], f.marks[i+1:]...)
		m.f()
	}
}

func (f *Follower) ended() bool { return f.stopped || f.l.closed }

func (f *Follower) unlisten() {
	for _, l := range f.listens {
		l.stop()
	}
	f.listens = nil
}

// still stops the wait for a hole.
func (f *Follower) still() {
	if f.hole != nil {
		f.hole.Stop()
		f.hole = nil
	}
}

// enter begins with the segment of next, as soon as that segment is allocated.
func (f *Follower) enter() {
	if f.ended() || f.busy {
		return
	}
	f.busy = true
	f.size = 0
	f.l.space.Stat(f.l.opt.ID.Segment(f.next.Index()), f.l.timeout, func(m wor.Meta, err error) {
		f.busy = false
		switch {
		case f.ended():
		case err == nil:
			f.size = m.Size
			f.wait.Reset()
			f.listen()
			f.deliver()
		case errors.Is(err, wor.ErrTrimmed):
			f.lost()
		default:
			f.still()
			f.hole = f.l.after(f.wait.Next(f.l.random), f.enter)
		}
	})
}

// lost continues after a part of the log that is trimmed.
func (f *Follower) lost() {
	if f.busy || f.ended() {
		f.gone = true
		return
	}
	f.busy, f.gone = true, false
	f.unlisten()
	clear(f.cells)
	f.l.Head(0, func(head Position, _ error) {
		f.busy = false
		if f.ended() {
			return
		}
		from := f.next
		f.next = max(f.next, head)
		if head > from && f.opt.Trimmed != nil && head > f.opt.From {
			f.opt.Trimmed(max(from, f.opt.From), head)
		}
		f.reached()
		f.enter()
	})
}

// listen subscribes to next's window and to the one after it.
func (f *Follower) listen() {
	low := f.next.Offset() / window * window
	for len(f.listens) > 0 && f.listens[0].hi <= low {
		f.listens[0].stop()
		f.listens = f.listens[1:]
	}
	for lo := low; lo < min(low+2*window, f.size); lo += window {
		if n := len(f.listens); n > 0 && f.listens[n-1].lo >= lo {
			continue
		}
		r := wor.Range{Segment: f.l.opt.ID.Segment(f.next.Index()), Lo: max(lo, f.next.Offset()), Hi: min(lo+window, f.size)}
		stop := f.l.space.Listen(r, func(c wor.Cell) {
			if !f.ended() {
				f.heard(c)
			}
		})
		f.listens = append(f.listens, listening{lo, r.Hi, stop})
	}
}

// heard records the value of a register of the segment.
func (f *Follower) heard(c wor.Cell) {
	switch {
	case c.Addr.Segment != f.l.opt.ID.Segment(f.next.Index()):
		// The follower has left that segment.
	case errors.Is(c.Err, wor.ErrTrimmed):
		f.lost()
	case c.Err == nil && c.Addr.Offset >= f.next.Offset():
		f.cells[c.Addr.Offset] = c.Value
		f.deliver()
	}
}

// deliver delivers the next entries.
func (f *Follower) deliver() {
	index := f.next.Index()
	for !f.paused && !f.ended() && f.size > 0 {
		off := f.next.Offset()
		if off >= f.size {
			f.leave()
			return
		}
		value, ok := f.cells[off]
		if !ok {
			break
		}
		delete(f.cells, off)
		e := decode(f.next, value)
		f.still()
		f.wait.Reset()
		if off == 0 && e.Kind != Mark {
			// The segment is void: no client was given an address in it.
			f.leave()
			return
		}
		f.next++
		if f.next.Offset()%window == 0 {
			f.listen()
		}
		if e.Kind == Data && f.ids.first(e.ID) && e.Position >= f.opt.From {
			f.note(e)
		}
	}
	if f.ended() || f.next.Index() != index {
		return
	}
	f.reached()
	if !f.paused && !f.busy {
		f.expect()
	}
}

// leave continues with the next segment.
func (f *Follower) leave() {
	f.unlisten()
	f.still()
	clear(f.cells)
	f.reached() // for positions at the segment's end
	if f.next.Index() == IndexMax {
		return
	}
	f.next, f.size = f.next.next(), 0
	f.reached()
	f.enter()
}

// expect checks the next register if no note about it arrives.
func (f *Follower) expect() {
	if f.ended() || f.size == 0 {
		return
	}
	at, above := f.next, f.lowestAbove()
	if f.hole != nil && f.above == (above > 0) {
		return
	}
	f.still()
	f.above = above > 0
	wait := f.l.opt.Holes.Wait
	if above == 0 && len(f.marks) == 0 {
		wait = f.wait.Next(f.l.random)
	}
	f.hole = f.l.after(wait, func() {
		f.hole = nil
		if f.ended() || f.busy || f.paused || f.next != at {
			return
		}
		f.busy = true
		if above > 0 {
			f.fill(at, above)
			return
		}
		f.l.Tail(f.l.opt.Holes.Poll+f.l.timeout, func(tail Position, err error) {
			switch {
			case err != nil || f.ended() || f.next != at || tail <= at:
				f.filled()
			case tail.Index() > at.Index():
				f.fill(at, min(at.Offset()+window, f.size))
			default:
				f.fill(at, at.Offset()+1)
			}
		})
	})
}

// lowestAbove is the lowest offset above next that is known to be written, or
// 0.
func (f *Follower) lowestAbove() uint32 {
	if len(f.cells) == 0 {
		return 0
	}
	for off := f.next.Offset() + 1; off < min(f.size, f.next.Offset()+2*window); off++ {
		if _, ok := f.cells[off]; ok {
			return off
		}
	}
	return 0
}

// fill decides the registers from a position up to an offset.
func (f *Follower) fill(at Position, hi uint32) {
	r := wor.Range{Segment: f.l.opt.ID.Segment(at.Index()), Lo: at.Offset(), Hi: hi}
	gate := func(again func()) {
		f.l.later(&f.wait, func() {
			if !f.ended() {
				again()
			}
		})
	}
	f.l.junkRange(r, gate, func() {
		if f.ended() {
			return
		}
		f.l.space.ReadRange(r, f.l.timeout, func(cells []wor.Cell, err error) {
			if err == nil {
				for _, c := range cells {
					if !f.ended() {
						f.heard(c)
					}
				}
			}
			f.filled()
		})
	})
}

// filled continues after an attempt to fill a hole.
func (f *Follower) filled() {
	f.busy = false
	switch {
	case f.ended():
	case f.gone:
		f.lost()
	case f.size == 0:
		f.enter()
	default:
		f.deliver()
	}
}

// memory has the ids of the last delivered entries.
type memory struct {
	limit int
	ids   map[EntryID]struct{}
	ring  []EntryID
	at    int
}

// first reports whether an id is not among those remembered, and remembers it.
func (m *memory) first(id EntryID) bool {
	if _, ok := m.ids[id]; ok {
		return false
	}
	if len(m.ring) < m.limit {
		m.ring = append(m.ring, id)
	} else {
		delete(m.ids, m.ring[m.at])
		m.ring[m.at] = id
		m.at = (m.at + 1) % m.limit
	}
	m.ids[id] = struct{}{}
	return true
}
