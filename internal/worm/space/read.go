// SPDX-License-Identifier: Apache-2.0

package space

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Capture implements wor.Space.
func (s *Space) Capture(r wor.Range, within time.Duration, done func(*wor.Token, error)) {
	err := checkRange(r)
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(nil, err) })
		return
	}
	c := &capture{r: r, done: done}
	c.seg = r.Segment
	c.begin(s, 0, within, c)
	c.find(c)
}

// capture is a running Capture. All registers end with one ballot: when one of
// them is outbid, all are captured anew.
type capture struct {
	target
	call    call
	r       wor.Range
	ballot  wor.Ballot
	outbids int
	alarm   alarm
	done    func(*wor.Token, error)
}

func (c *capture) ready() {
	if err := c.at.within(c.r); err != nil {
		c.failLater(err)
		return
	}
	t := c.at.task(wor.KindCapture, c.r, c.until)
	c.ballot = c.s.ballot()
	t.ballot = c.ballot
	c.call.run(c.s, c, t)
}

func (c *capture) ring(*alarm) { c.ready() }

func (c *capture) answered(_ *call, err error) {
	if err != nil {
		c.fail(err)
		return
	}
	token := &wor.Token{Range: c.r, Protocol: c.at.protocol, Epoch: c.call.cfg.Epoch, Ballot: c.ballot}
	offset, outbid := c.r.Lo, false
	runs := c.call.m.Result()
	for i := range runs {
		run := &runs[i]
		switch {
		case run.Status == wor.StatusTrimmed:
			c.buried(c)
			return
		case run.Status != wor.StatusOK:
			c.s.above(run.Promised)
			outbid = true
		case run.Written:
			for n := range run.Count {
				token.Adopted = append(token.Adopted, wor.Adopted{Offset: offset + n, Value: run.Value})
			}
		}
		offset += run.Count
	}
	if !outbid {
		c.answer(token, nil)
		return
	}
	if c.outbids++; c.outbids == 1 {
		c.ready()
		return
	}
	d := c.s.pause(&c.s.views[c.at.partition].latencies, c.outbids-2)
	c.s.agenda.set(&c.alarm, c.s.clock.Now().Add(d), c)
}

func (c *capture) fail(err error) {
	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		err = &refused.limit
	}
	c.answer(nil, err)
}

func (c *capture) answer(t *wor.Token, err error) {
	if c.end() {
		c.call.stop()
		c.s.agenda.drop(&c.alarm)
		c.done(t, err)
	}
}

// Read implements wor.Space. It asks the servers even for a Known value,
// because the segment may have been trimmed.
func (s *Space) Read(a wor.Addr, within time.Duration, done func([]byte, error)) {
	err := checkSegment(a.Segment)
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(nil, err) })
		return
	}
	o := &read{a: a, done: done}
	o.seg = a.Segment
	o.begin(s, 0, within, o)
	o.find(o)
}

// read is a running Read.
type read struct {
	target
	r    reader
	a    wor.Addr
	done func([]byte, error)
}

func (o *read) ready() {
	if err := o.at.within(wor.One(o.a)); err != nil {
		o.failLater(err)
		return
	}
	o.r.run(o.s, o, o.at.place, o.a, o.until)
}

func (o *read) read(_ *reader, value []byte, err error) {
	if errors.Is(err, errTombstone) {
		o.buried(o)
		return
	}
	if err == nil {
		o.s.known.add(o.a, value)
	}
	o.answer(value, err)
}

func (o *read) fail(err error) { o.answer(nil, err) }

func (o *read) answer(value []byte, err error) {
	if o.end() {
		o.r.stop()
		o.done(value, err)
	}
}

// outbid is a register that a read of a range found halfway, and did not
// complete.
type outbid struct {
	addr wor.Addr
	by   wor.Ballot
}

// unfold turns the result of a read into cells, and returns the outbid
// registers.
func unfold(r wor.Range, runs []wor.Run) ([]wor.Cell, []outbid) {
	cells := make([]wor.Cell, 0, r.Len())
	var out []outbid
	for i := range runs {
		run := &runs[i]
		for range run.Count {
			a := wor.Addr{Segment: r.Segment, Offset: r.Lo + uint32(len(cells))}
			cell := wor.Cell{Addr: a, Err: wor.ErrUnwritten}
			switch {
			case run.Status == wor.StatusTrimmed:
				cell.Err = wor.ErrTrimmed
			case run.Status != wor.StatusOK:
				out = append(out, outbid{a, run.Promised})
			case run.Written:
				cell.Value, cell.Err = run.Value, nil
			}
			cells = append(cells, cell)
		}
	}
	return cells, out
}

// ReadRange implements wor.Space.
func (s *Space) ReadRange(r wor.Range, within time.Duration, done func([]wor.Cell, error)) {
	err := checkRange(r)
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(nil, err) })
		return
	}
	o := &readRange{r: r, done: done}
	o.seg = r.Segment
	o.begin(s, 0, within, o)
	o.find(o)
}

// readRange is a running ReadRange: one call for all, then a reader for each
// register that was outbid.
type readRange struct {
	target
	call    call
	r       wor.Range
	cells   []wor.Cell
	outbid  []outbid
	readers map[*reader]bool
	trims   bool
	done    func([]wor.Cell, error)
}

func (o *readRange) ready() {
	if err := o.at.within(o.r); err != nil {
		o.failLater(err)
		return
	}
	o.call.run(o.s, o, o.at.task(wor.KindRead, o.r, o.until))
}

func (o *readRange) answered(c *call, err error) {
	if err != nil {
		o.fail(err)
		return
	}
	o.cells, o.outbid = unfold(o.r, c.m.Result())
	for i := range o.cells {
		cell := &o.cells[i]
		if errors.Is(cell.Err, wor.ErrTrimmed) {
			o.buried(o)
			return
		}
		if cell.Err == nil {
			// A cached value must not keep the whole answer alive.
			o.s.known.add(cell.Addr, bytes.Clone(cell.Value))
		}
	}
	o.readers = make(map[*reader]bool)
	o.more()
}

func (o *readRange) more() {
	for len(o.readers) < partsMax && len(o.outbid) > 0 && !o.trims {
		r, x := &reader{}, o.outbid[0]
		o.outbid = o.outbid[1:]
		o.readers[r] = true
		r.resume(o.s, o, o.at.place, x.addr, o.until, x.by)
	}
	switch {
	case len(o.readers) > 0:
	case o.trims:
		o.trims = false
		o.buried(o)
	default:
		o.answer(nil)
	}
}

// read is that of a reader.
func (o *readRange) read(r *reader, value []byte, err error) {
	delete(o.readers, r)
	r.stop()
	cell := &o.cells[r.a.Offset-o.r.Lo]
	switch {
	case err == nil:
		o.s.known.add(r.a, value)
		cell.Value, cell.Err = value, nil
	case errors.Is(err, errTombstone):
		o.trims = true
	case !errors.Is(err, wor.ErrUnwritten):
		o.fail(err)
		return
	}
	o.more()
}

// fail reports an error, or that all registers are trimmed.
func (o *readRange) fail(err error) {
	if errors.Is(err, wor.ErrTrimmed) {
		o.cells = make([]wor.Cell, o.r.Len())
		for i := range o.cells {
			o.cells[i] = wor.Cell{Addr: wor.Addr{Segment: o.seg, Offset: o.r.Lo + uint32(i)}, Err: err}
		}
		err = nil
	}
	o.answer(err)
}

func (o *readRange) answer(err error) {
	if !o.end() {
		return
	}
	o.call.stop()
	for r := range o.readers {
		r.stop() // in any order: it sends no request
	}
	if err != nil {
		o.done(nil, fmt.Errorf("read %v: %w", o.r, err))
		return
	}
	o.done(o.cells, nil)
}
