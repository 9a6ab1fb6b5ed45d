// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

func checkValue(v []byte) error {
	if len(v) > wor.ValueMax {
		return &wor.LimitError{Name: "wor.ValueMax", Limit: wor.ValueMax, Got: int64(len(v))}
	}
	return nil
}

func checkRange(r wor.Range) error {
	switch {
	case r.Lo >= r.Hi:
		return &wor.LimitError{Name: "wor.Range.Hi", Limit: int64(r.Hi) - 1, Got: int64(r.Lo)}
	case r.Hi-r.Lo > wor.RangeMax:
		return &wor.LimitError{Name: "wor.RangeMax", Limit: wor.RangeMax, Got: int64(r.Hi - r.Lo)}
	}
	return checkSegment(r.Segment)
}

// within returns an error if a range exceeds the segment's registers.
func (s *segment) within(r wor.Range) error {
	if r.Hi > s.size {
		return &wor.LimitError{Name: "wor.Meta.Size", Limit: int64(s.size), Got: int64(r.Hi)}
	}
	return nil
}

// token returns an error for a token that cannot be of this segment.
func (s *segment) token(t *wor.Token) error {
	if t.Protocol != s.protocol || t.Ballot.IsZero() {
		return wor.ErrToken
	}
	return s.within(t.Range)
}

// Write implements wor.Space. It takes one round trip.
func (s *Space) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	a := wor.Addr{Segment: t.Range.Segment, Offset: offset}
	err := checkValue(value)
	if err == nil && !t.Covers(a) {
		err = wor.ErrToken
	}
	if err == nil {
		err = s.admit(int64(len(value)))
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	w := &write{token: t, a: a, value: value, done: done}
	w.seg = a.Segment
	w.begin(s, int64(len(value)), within, w)
	w.find(w)
}

// WriteUnsafe implements wor.Space.
func (s *Space) WriteUnsafe(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	err := checkValue(value)
	if err == nil {
		err = s.admit(int64(len(value)))
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	w := &write{a: a, value: value, done: done}
	w.seg = a.Segment
	w.begin(s, int64(len(value)), within, w)
	w.find(w)
}

// write is a running Write, or with a nil token a WriteUnsafe.
type write struct {
	target
	call    call
	r       *reader // for a segment that has moved; otherwise nil: it is rare, and a reader is large
	token   *wor.Token
	a       wor.Addr
	value   []byte // the caller's value
	writing []byte // the value being written: one that must be adopted takes precedence
	sent    bool
	done    func(error)
}

func (w *write) ready() {
	if w.at.moves() > 0 {
		// All registers were decided before the segment moved. The token is of
		// the old place; at the new one its ballot may be higher than that of
		// the value.
		if err := w.at.within(wor.One(w.a)); err != nil {
			w.failLater(err)
			return
		}
		w.r = &reader{}
		w.r.run(w.s, w, w.at.place, w.a, w.until)
		return
	}
	t := task{
		kind: wor.KindWrite, partition: w.at.partition, protocol: w.at.protocol,
		r: wor.One(w.a), value: w.value, until: w.until,
	}
	if w.token == nil {
		if err := w.at.within(t.r); err != nil {
			w.failLater(err)
			return
		}
	} else {
		if err := w.at.token(w.token); err != nil {
			w.failLater(err)
			return
		}
		if adopted, free := w.token.Find(w.a.Offset); !free {
			t.value = adopted
		}
		if err := w.s.used.claim(w.a, w.token.Ballot, t.value); err != nil {
			w.failLater(err)
			return
		}
		t.ballot, t.pinned, t.epoch = w.token.Ballot, true, w.token.Epoch
	}
	w.writing, w.sent = t.value, true
	w.call.run(w.s, w, t)
}

// read handles the content of the register of a segment that has moved.
func (w *write) read(_ *reader, value []byte, err error) {
	switch {
	case errors.Is(err, errTombstone):
		w.buried(w)
	case errors.Is(err, wor.ErrUnwritten):
		w.fail(fmt.Errorf("register %v: %w", w.a, errContradiction))
	case err != nil:
		w.fail(err)
	default:
		w.s.known.add(w.a, value)
		w.answer(other(w.a, value, w.value))
	}
}

func (w *write) answered(c *call, err error) {
	if err != nil {
		if errors.Is(err, errMoved) {
			err = errEnded
		}
		if refused := (*refusedError)(nil); errors.As(err, &refused) {
			w.sent = !refused.whole
		}
		w.fail(err)
		return
	}
	run := &c.m.Result()[0]
	switch run.Status {
	case wor.StatusOK:
		w.s.known.add(w.a, w.writing)
		w.answer(other(w.a, w.writing, w.value))
	case wor.StatusTrimmed:
		w.buried(w)
	default:
		w.s.above(run.Promised)
		if w.at.protocol == wor.Chain && run.Written {
			w.s.known.add(w.a, run.Value)
			w.answer(other(w.a, run.Value, w.value))
			return
		}
		w.fail(lost(run, w.token != nil))
	}
}

// errEnded: the epoch of a token is over, so the token is invalid.
var errEnded = fmt.Errorf("%w: %w", wor.ErrSealed, wor.ErrOutbid)

// other returns the outcome of a write if the register finally holds that
// value: a chain reports it, because what its head holds cannot be outbid.
func other(a wor.Addr, holds, value []byte) error {
	if string(holds) == string(value) {
		return nil
	}
	return &wor.WrittenError{Addr: a, Value: holds}
}

// lost returns why a write failed. Another value at the ballot of a token means
// that two holders used the token.
func lost(run *wor.Run, token bool) error {
	if run.Status == wor.StatusConflict && token {
		return wor.ErrToken
	}
	return wor.ErrOutbid
}

func (w *write) fail(err error) { w.answer(unknown(w.a, w.sent, err)) }

func (w *write) answer(err error) {
	if w.end() {
		w.call.stop()
		if w.r != nil {
			w.r.stop()
		}
		w.done(err)
	}
}

// WriteRange implements wor.Space. Free neighbours are written together.
func (s *Space) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	err := checkValue(value)
	if err == nil {
		err = checkRange(r)
	}
	if err == nil && (r.Segment != t.Range.Segment || r.Lo < t.Range.Lo || r.Hi > t.Range.Hi) {
		err = wor.ErrToken
	}
	if err == nil {
		err = s.admit(int64(len(value)))
	}
	w := &writeRange{token: t, r: r, value: value, done: done}
	if r.Lo < r.Hi && r.Hi-r.Lo <= wor.RangeMax {
		w.errs = make([]error, r.Len())
	} else {
		w.errs = make([]error, 1)
	}
	if err != nil {
		s.later(func() {
			for i := range w.errs {
				w.errs[i] = err
			}
			done(w.errs)
		})
		return
	}
	w.seg = r.Segment
	w.begin(s, int64(len(value)), within, w)
	w.find(w)
}

// writeRange is a running WriteRange. It is done in parts: runs of free
// registers, and registers with a value to adopt.
type writeRange struct {
	target
	token *wor.Token
	r     wor.Range
	value []byte
	errs  []error
	seen  []bool // registers with a result
	next  uint32
	parts map[*part]bool
	trims bool
	done  func([]error)
}

// part is one call of a writeRange.
type part struct {
	w       *writeRange
	call    call
	r       wor.Range
	writing []byte
}

// partsMax is the number of concurrent calls of one WriteRange.
const partsMax = 16

func (w *writeRange) ready() {
	if err := w.at.token(w.token); err != nil {
		w.failLater(err)
		return
	}
	if w.seen == nil {
		w.seen = make([]bool, len(w.errs))
		w.parts = make(map[*part]bool)
	}
	if w.at.moves() > 0 {
		w.readInstead()
		return
	}
	w.next = w.r.Lo
	w.more()
}

// readInstead answers for a segment that has moved, as write.ready does.
func (w *writeRange) readInstead() {
	o := &readRange{r: w.r}
	o.seg = w.seg
	o.done = func(cells []wor.Cell, err error) {
		if !w.live {
			return
		}
		if err != nil {
			w.fail(err)
			return
		}
		for i := range cells {
			switch cell := &cells[i]; {
			case cell.Err == nil:
				w.settle(cell.Addr.Offset, other(cell.Addr, cell.Value, w.value))
			case errors.Is(cell.Err, wor.ErrUnwritten):
				w.settle(cell.Addr.Offset, fmt.Errorf("register %v: %w", cell.Addr, errContradiction))
			default:
				w.settle(cell.Addr.Offset, cell.Err)
			}
		}
		w.answer()
	}
	var within time.Duration
	if w.until != 0 {
		within = max(w.until.Sub(w.s.clock.Now()), 1)
	}
	o.begin(w.s, 0, within, o)
	o.find(o)
}

// more starts parts, as many as allowed.
func (w *writeRange) more() {
	for len(w.parts) < partsMax && w.next < w.r.Hi {
		if w.seen[w.next-w.r.Lo] {
			w.next++
			continue
		}
		p := &part{w: w, r: wor.Range{Segment: w.r.Segment, Lo: w.next}}
		adopted, free := w.token.Find(w.next)
		if p.writing = w.value; !free {
			p.writing = adopted
		}
		for p.r.Hi = w.next; p.r.Hi < w.r.Hi && !w.seen[p.r.Hi-w.r.Lo]; p.r.Hi++ {
			if _, also := w.token.Find(p.r.Hi); p.r.Hi > w.next && !(free && also) {
				break
			}
			a := wor.Addr{Segment: w.r.Segment, Offset: p.r.Hi}
			if err := w.s.used.claim(a, w.token.Ballot, p.writing); err != nil {
				w.settle(p.r.Hi, err)
				break
			}
		}
		w.next = p.r.Hi
		if p.r.Lo == p.r.Hi {
			continue
		}
		w.parts[p] = true
		p.call.run(w.s, p, task{
			kind: wor.KindWrite, partition: w.at.partition, protocol: w.at.protocol, r: p.r,
			ballot: w.token.Ballot, value: p.writing, pinned: true, epoch: w.token.Epoch, until: w.until,
		})
	}
	if len(w.parts) == 0 && !w.trims {
		s := w.s
		s.later(func() { w.answer() })
	}
}

func (w *writeRange) settle(offset uint32, err error) {
	w.errs[offset-w.r.Lo], w.seen[offset-w.r.Lo] = err, true
}

// answered is that of a part.
func (p *part) answered(c *call, err error) {
	w := p.w
	delete(w.parts, p)
	if err != nil {
		if errors.Is(err, errMoved) {
			err = errEnded
		}
		for off := p.r.Lo; off < p.r.Hi; off++ {
			w.settle(off, unknown(wor.Addr{Segment: w.seg, Offset: off}, true, err))
		}
		w.more()
		return
	}
	off := p.r.Lo
	for i := range c.m.Result() {
		run := &c.m.Result()[i]
		for range run.Count {
			p.outcome(wor.Addr{Segment: w.seg, Offset: off}, run)
			off++
		}
	}
	if w.trims {
		if len(w.parts) == 0 {
			w.trims = false
			w.buried(w)
		}
		return
	}
	w.more()
}

func (p *part) outcome(a wor.Addr, run *wor.Run) {
	w := p.w
	switch run.Status {
	case wor.StatusOK:
		w.s.known.add(a, p.writing)
		w.settle(a.Offset, other(a, p.writing, w.value))
	case wor.StatusTrimmed:
		w.trims = true
	default:
		w.s.above(run.Promised)
		if w.at.protocol == wor.Chain && run.Written {
			w.s.known.add(a, run.Value)
			w.settle(a.Offset, other(a, run.Value, w.value))
			return
		}
		w.settle(a.Offset, &wor.UnknownError{Addr: a, Cause: lost(run, true)})
	}
}

// fail reports this error for all registers without a result.
func (w *writeRange) fail(err error) {
	for i := range w.errs {
		if w.seen == nil || !w.seen[i] {
			a := wor.Addr{Segment: w.seg, Offset: w.r.Lo + uint32(i)}
			w.errs[i] = unknown(a, w.seen != nil, err)
		}
	}
	w.answer()
}

func (w *writeRange) answer() {
	if w.end() {
		for p := range w.parts {
			p.call.stop() // in any order: it sends no request
		}
		w.done(w.errs)
	}
}

// Propose implements wor.Space.
func (s *Space) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	err := checkValue(value)
	if err == nil {
		err = checkRange(wor.One(a))
	}
	if err == nil {
		err = s.admit(int64(len(value)))
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	o := &propose{a: a, value: value, done: done}
	o.seg = a.Segment
	o.begin(s, int64(len(value)), within, o)
	o.find(o)
}

// propose is a running Propose.
type propose struct {
	target
	p     proposer
	a     wor.Addr
	value []byte
	done  func(error)
}

func (o *propose) ready() {
	if err := o.at.within(wor.One(o.a)); err != nil {
		o.failLater(err)
		return
	}
	o.p.run(o.s, o, o.at.place, o.a, o.value, o.until)
}

func (o *propose) proposed(_ *proposer, value []byte, err error) {
	switch {
	case errors.Is(err, errTombstone):
		o.buried(o)
		return
	case err != nil:
		o.fail(err)
		return
	}
	o.s.known.add(o.a, value)
	o.answer(other(o.a, value, o.value))
}

func (o *propose) fail(err error) { o.answer(unknown(o.a, o.p.sent, err)) }

func (o *propose) answer(err error) {
	if o.end() {
		o.p.stop()
		o.done(err)
	}
}
