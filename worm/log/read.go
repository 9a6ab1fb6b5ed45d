// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// operation is a call with a time limit that is repeated until it is answered.
type operation struct {
	l     *Log
	over  bool
	timer env.Timer
	late  func()
	wait  env.Backoff
}

// operate begins an operation; late answers it at its time limit.
func (l *Log) operate(within time.Duration, late func()) *operation {
	o := &operation{l: l, late: late, wait: backoff()}
	if within > 0 {
		o.timer = l.after(within, func() { o.end(late) })
	}
	return o
}

// end answers the operation, the first time it is called.
func (o *operation) end(answer func()) {
	if o.over || o.l.closed {
		return
	}
	o.over = true
	if o.timer != nil {
		o.timer.Stop()
	}
	answer()
}

// again tries again later.
func (o *operation) again(try func()) {
	if o.over {
		return
	}
	o.l.later(&o.wait, func() {
		if !o.over {
			try()
		}
	})
}

// final reports whether retrying after err is useless.
func final(err error) bool {
	return errors.Is(err, wor.ErrTrimmed) || errors.Is(err, wor.ErrLimit) || errors.Is(err, wor.ErrClosed) ||
		errors.Is(err, wor.ErrTainted)
}

// Read returns the content of a position: an entry, junk, or a mark;
// ErrUnwritten if it was unwritten at some moment during the read; or
// ErrTrimmed. It returns duplicates like other entries.
func (l *Log) Read(at Position, within time.Duration, done func(Entry, error)) {
	o := l.operate(within, func() { done(Entry{}, wor.ErrDeadline) })
	var try func()
	try = func() {
		l.space.Read(at.Addr(l.opt.ID), l.timeout, func(value []byte, err error) {
			switch {
			case err == nil:
				o.end(func() { done(decode(at, value), nil) })
			case errors.Is(err, wor.ErrUnwritten), errors.Is(err, wor.ErrUnallocated):
				o.end(func() { done(Entry{Position: at}, wor.ErrUnwritten) })
			case final(err):
				o.end(func() { done(Entry{Position: at}, err) })
			default:
				o.again(try)
			}
		})
	}
	try()
}

// Fill decides a position that was handed out, and returns its content. If the
// position is unwritten, Fill gives its holder Holes.Wait to write it and then
// writes junk. ErrUnwritten means that the position has not been handed out.
func (l *Log) Fill(at Position, within time.Duration, done func(Entry, error)) {
	o := l.operate(within, func() { done(Entry{}, wor.ErrDeadline) })
	end := func(e Entry, err error) { o.end(func() { done(e, err) }) }
	var propose func()
	propose = func() {
		l.space.Propose(at.Addr(l.opt.ID), junk(), l.timeout, func(err error) {
			switch {
			case err == nil || errors.Is(err, wor.ErrWritten):
				end(decode(at, row.Held(junk(), err)), nil)
			case final(err):
				end(Entry{Position: at}, err)
			default:
				o.again(propose)
			}
		})
	}
	check := func() {
		l.Tail(within, func(tail Position, err error) {
			switch {
			case err != nil:
				end(Entry{Position: at}, err)
			case at >= tail:
				end(Entry{Position: at}, wor.ErrUnwritten)
			default:
				propose()
			}
		})
	}
	l.Read(at, within, func(e Entry, err error) {
		if errors.Is(err, wor.ErrUnwritten) {
			l.after(l.opt.Holes.Wait, check)
			return
		}
		end(e, err)
	})
}

// Resolve decides whether the append of an id, whose outcome was unknown, is at
// a position. The answer is final: if the append is not there, it never will
// be. Resolve is for clients that no longer have the Log that appended.
func (l *Log) Resolve(id EntryID, at Position, within time.Duration, done func(there bool, err error)) {
	o := l.operate(within, func() { done(false, wor.ErrDeadline) })
	var try func()
	try = func() {
		l.space.Propose(at.Addr(l.opt.ID), junk(), l.timeout, func(err error) {
			switch {
			case err == nil || errors.Is(err, wor.ErrWritten):
				e := decode(at, row.Held(junk(), err))
				o.end(func() { done(e.Kind == Data && e.ID == id, nil) })
			case final(err):
				o.end(func() { done(false, err) })
			default:
				o.again(try)
			}
		})
	}
	try()
}

// Tail returns the next position. Tail is linearizable: the position is above
// all appends that ended before the call, and not above those that begin after
// it. Positions below it may be unwritten for a while.
//
// Tail asks the sequencer and, in parallel, checks whether the segment after
// the last is allocated. If it is, the sequencer may have been deposed without
// knowing.
func (l *Log) Tail(within time.Duration, done func(Position, error)) {
	o := l.operate(within, func() { done(0, wor.ErrDeadline) })
	if l.seat.top >= 0 {
		l.tail(o, done)
		return
	}
	var try func()
	try = func() {
		l.last(l.opt.ID, l.seat.top, func(index int64, m *wor.Meta, err error) {
			switch {
			case err != nil:
				o.again(try)
			case index < 0:
				o.end(func() { done(0, nil) })
			default:
				l.tail(o, done)
			}
		})
	}
	try()
}

func (l *Log) tail(o *operation, done func(Position, error)) {
	l.seat.need(func() {
		if o.over {
			return
		}
		t := &tailing{l: l, o: o, done: done, top: l.seat.top, left: 2}
		t.start()
	})
}

// tailing is one attempt at Tail.
type tailing struct {
	l    *Log
	o    *operation
	done func(Position, error)
	top  int64
	left int
	said said
	// answered is set when the sequencer has answered, last when the segment
	// after top was found not to be allocated.
	answered, last bool
	strikes        int
}

func (t *tailing) start() {
	l := t.l
	a := ask{verb: verbTail, log: l.opt.ID, index: t.top, client: l.nonce}
	l.seat.invoke(l.seat.member, a, func(b []byte, err error) {
		s, ok := decodeSaid(l.opt.ID, b)
		t.answered = err == nil && ok && s.status == statusOK
		t.said = s
		switch {
		case t.answered:
		case err != nil || !ok:
			t.strikes = strikesSilent
		case s.status == statusBusy:
			t.strikes = 1
		default:
			t.strikes = l.seat.limit()
		}
		t.next()
	})
	l.space.Stat(l.opt.ID.Segment(uint32(t.top+1)), l.timeout, func(_ wor.Meta, err error) {
		t.last = errors.Is(err, wor.ErrUnallocated)
		t.next()
	})
}

func (t *tailing) next() {
	if t.left--; t.left > 0 || t.o.over || t.l.closed {
		return
	}
	l := t.l
	if t.answered {
		l.seat.praise(t.said.top)
	}
	if t.answered && t.last && int64(t.said.top) == t.top {
		t.o.end(func() { t.done(t.said.tail, nil) })
		return
	}
	if t.answered && int64(t.said.top) > t.top {
		l.tail(t.o, t.done) // it has the next segment ready
		return
	}
	l.seat.suspect(t.strikes)
	t.o.again(func() { l.tail(t.o, t.done) })
}

// Head returns the first position that is not trimmed, or 0 if the log is
// empty.
func (l *Log) Head(within time.Duration, done func(Position, error)) {
	o := l.operate(within, func() { done(0, wor.ErrDeadline) })
	var try func()
	try = func() {
		l.last(l.opt.ID, l.seat.top, func(index int64, _ *wor.Meta, err error) {
			if err != nil {
				o.again(try)
				return
			}
			l.head(o, int64(l.trimmed), index+1, func() { done(At(l.trimmed, 0), nil) })
		})
	}
	try()
}

// head finds the first segment from lo to hi-1 that is not trimmed.
func (l *Log) head(o *operation, lo, hi int64, done func()) {
	if lo >= hi {
		l.trimmed = max(l.trimmed, uint32(lo))
		o.end(done)
		return
	}
	i := lo + (hi-lo)/2
	l.space.Stat(l.opt.ID.Segment(uint32(i)), l.timeout, func(_ wor.Meta, err error) {
		switch {
		case o.over || l.closed:
		case err == nil:
			l.head(o, lo, i, done)
		case errors.Is(err, wor.ErrTrimmed):
			l.head(o, i+1, hi, done)
		default:
			o.again(func() { l.head(o, lo, hi, done) })
		}
	})
}

// Trim discards the log below a position, rounded down to whole segments: their
// space is freed, and reads there return ErrTrimmed. The segment in use stays.
// Trimming again succeeds.
func (l *Log) Trim(below Position, within time.Duration, done func(error)) {
	o := l.operate(within, func() { done(wor.ErrDeadline) })
	if err := below.check(); err != nil {
		l.serial.Do(func() { o.end(func() { done(err) }) })
		return
	}
	l.Head(within, func(head Position, err error) {
		if err != nil {
			o.end(func() { done(err) })
			return
		}
		var try func()
		try = func() {
			l.last(l.opt.ID, max(int64(head.Index())-1, l.seat.top), func(index int64, _ *wor.Meta, err error) {
				if err != nil {
					o.again(try)
					return
				}
				l.trimUp(o, int64(head.Index()), min(int64(below.Index()), index), done)
			})
		}
		try()
	})
}

// trimUp trims the segments from i to end-1 in order, because other code relies
// on everything below a trimmed segment being trimmed too.
func (l *Log) trimUp(o *operation, i, end int64, done func(error)) {
	if o.over {
		return
	}
	if i >= end {
		o.end(func() { done(nil) })
		return
	}
	l.space.Trim(l.opt.ID.Segment(uint32(i)), l.timeout, func(err error) {
		if err == nil || errors.Is(err, wor.ErrTrimmed) {
			l.trimmed = max(l.trimmed, uint32(i)+1)
			l.trimUp(o, i+1, end, done)
			return
		}
		o.again(func() { l.trimUp(o, i, end, done) })
	})
}
