// SPDX-License-Identifier: Apache-2.0

package ideal

import (
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// registers is the state of the space. Only three functions change it: capture, write and
// trim.
type registers struct {
	epoch     wor.Epoch
	cells     map[wor.Addr]*cell
	metas     map[wor.Segment]wor.Meta
	trimmed   map[wor.Segment]bool
	listeners []*listener
}

// cell is one register.
type cell struct {
	promised wor.Ballot
	written  bool
	value    []byte
	// halves are the values that were proposed and not decided, in descending order of
	// ballots. Each is at too few servers, so an operation may find it or not; of the
	// values that it finds, it must adopt the first.
	halves []half
}

// half is a value that is written halfway.
type half struct {
	ballot wor.Ballot
	value  []byte
}

// find returns the half-written value that is found; see reports for each whether it is
// found.
func (c *cell) find(see func() bool) (half, bool) {
	for _, h := range c.halves {
		if see() {
			return h, true
		}
	}
	return half{}, false
}

type listener struct {
	r    wor.Range
	tell func(wor.Cell)
	// over: the registers need it no longer. Stopped: its owner needs it no longer.
	over, stopped bool
}

func newRegisters() *registers {
	return &registers{cells: map[wor.Addr]*cell{}, metas: map[wor.Segment]wor.Meta{}, trimmed: map[wor.Segment]bool{}}
}

func (s *registers) at(a wor.Addr) *cell {
	c := s.cells[a]
	if c == nil {
		c = &cell{}
		s.cells[a] = c
	}
	return c
}

func (s *registers) look(a wor.Addr) wor.Register {
	if s.trimmed[a.Segment] {
		return wor.Register{Phase: wor.Trimmed}
	}
	if c := s.cells[a]; c != nil && c.written {
		return wor.Register{Phase: wor.Written, Value: string(c.value)}
	}
	return wor.Register{}
}

// capture promises the ballot. See reports whether a half-written value is found. The
// register is outbid if a higher ballot was promised before.
func (s *registers) capture(a wor.Addr, b wor.Ballot, see func() bool) (adopt []byte, adopted bool, err error) {
	if s.trimmed[a.Segment] {
		return nil, false, wor.ErrTrimmed
	}
	c := s.at(a)
	if b.Less(c.promised) {
		return nil, false, wor.ErrOutbid
	}
	c.promised = b
	if c.written {
		return c.value, true, nil
	}
	if h, found := c.find(see); found {
		return h.value, true, nil
	}
	return nil, false, nil
}

// write writes at a ballot. Keep reports whether a write that fails leaves its value
// halfway.
func (s *registers) write(a wor.Addr, b wor.Ballot, value []byte, keep func() bool) error {
	if s.trimmed[a.Segment] {
		return wor.ErrTrimmed
	}
	c := s.at(a)
	if c.written {
		if string(c.value) == string(value) {
			return nil
		}
		if b.Less(c.promised) {
			return &wor.UnknownError{Addr: a, Cause: wor.ErrOutbid}
		}
		return &wor.WrittenError{Addr: a, Value: c.value}
	}
	if b.Less(c.promised) {
		if keep() {
			s.halve(a, b, value)
		}
		return &wor.UnknownError{Addr: a, Cause: wor.ErrOutbid}
	}
	c.promised = b
	s.decide(a, c, value)
	return nil
}

// decide makes the value that of the register, permanently.
func (s *registers) decide(a wor.Addr, c *cell, value []byte) {
	c.written, c.value, c.halves = true, value, nil
	for _, l := range s.listeners {
		if !l.over && covers(l.r, a) {
			l.tell(wor.Cell{Addr: a, Value: value})
		}
	}
	s.listeners = slices.DeleteFunc(s.listeners, func(l *listener) bool { return l.over })
}

// read reads, and completes a half-written value that it sees.
func (s *registers) read(a wor.Addr, see func() bool) ([]byte, error) {
	if s.trimmed[a.Segment] {
		return nil, wor.ErrTrimmed
	}
	c := s.cells[a]
	if c == nil {
		return nil, wor.ErrUnwritten
	}
	if c.written {
		return c.value, nil
	}
	if h, found := c.find(see); found {
		// A client that captured it meanwhile is outbid.
		if h.ballot.Less(c.promised) {
			c.promised.Round++
		}
		s.decide(a, c, h.value)
		return c.value, nil
	}
	return nil, wor.ErrUnwritten
}

// halve leaves a value halfway: at too few servers to be decided.
func (s *registers) halve(a wor.Addr, b wor.Ballot, value []byte) {
	c := s.at(a)
	if c.written {
		return
	}
	i, found := slices.BinarySearchFunc(c.halves, b, func(h half, b wor.Ballot) int {
		switch {
		case b.Less(h.ballot):
			return -1
		case h.ballot.Less(b):
			return 1
		}
		return 0
	})
	if !found {
		c.halves = slices.Insert(c.halves, i, half{b, value})
	}
}

// listen notifies a new listener of the values that are decided already.
func (s *registers) listen(l *listener) {
	if l.over {
		return
	}
	if s.trimmed[l.r.Segment] {
		l.over = true
		l.tell(wor.Cell{Addr: wor.Addr{Segment: l.r.Segment, Offset: l.r.Lo}, Err: wor.ErrTrimmed})
		return
	}
	for off := l.r.Lo; off < l.r.Hi; off++ {
		a := wor.Addr{Segment: l.r.Segment, Offset: off}
		if c := s.cells[a]; c != nil && c.written {
			l.tell(wor.Cell{Addr: a, Value: c.value})
		}
	}
	s.listeners = append(s.listeners, l)
}

func (s *registers) trim(seg wor.Segment) {
	if s.trimmed[seg] {
		return
	}
	s.trimmed[seg] = true
	for _, l := range s.listeners {
		if !l.over && l.r.Segment == seg {
			l.tell(wor.Cell{Addr: wor.Addr{Segment: seg, Offset: l.r.Lo}, Err: wor.ErrTrimmed})
			l.over = true
		}
	}
}

func covers(r wor.Range, a wor.Addr) bool {
	return r.Segment == a.Segment && a.Offset >= r.Lo && a.Offset < r.Hi
}
