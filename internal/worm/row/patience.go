// SPDX-License-Identifier: Apache-2.0

package row

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Patience is how long to wait for an answer before asking again. A client that
// waits for less time than an answer takes would ask forever, and make answers
// take longer. So two late answers in a row double the patience. An answer
// within an eighth of it halves the patience, but never below its initial
// value: where much is lost but nothing is slow, it stays short. The zero
// Patience is not usable.
type Patience struct {
	clock env.Clock
	least time.Duration
	level int
	late  int // in a row
}

const (
	// levelsMax bounds the number of times that the patience doubles.
	levelsMax = 6
	// lateMax late answers in a row double the patience; an answer within
	// 1/early of it halves the patience.
	lateMax, early = 2, 8
)

// NewPatience returns a Patience that begins with least, which is also its
// minimum.
func NewPatience(c env.Clock, least time.Duration) *Patience {
	return &Patience{clock: c, least: least}
}

// Begin returns how long to wait for the answer to a question asked now, and a
// function that the caller must call at the end; late reports whether the
// answer came too late.
func (p *Patience) Begin() (within time.Duration, ended func(late bool)) {
	level, began := p.level, p.clock.Now()
	within = p.least << level
	return within, func(late bool) {
		switch {
		case level != p.level: // the result says nothing about the present level
		case late:
			if p.late++; p.late >= lateMax {
				p.late, p.level = 0, min(p.level+1, levelsMax)
			}
		default:
			if p.late = 0; p.clock.Now().Sub(began) < within/early {
				p.level = max(p.level-1, 0)
			}
		}
	}
}

// Patient is a Space that gives bounded operations more time when they need it:
// a bound of least becomes that of a Patience, and other bounds grow in
// proportion.
type Patient struct {
	wor.Space
	p *Patience
}

// NewPatient wraps a Space.
func NewPatient(s wor.Space, c env.Clock, least time.Duration) *Patient {
	return &Patient{s, NewPatience(c, least)}
}

// begin returns the bound of an operation, and a function that takes its error.
func (s *Patient) begin(within time.Duration) (time.Duration, func(error)) {
	if within <= 0 {
		return within, func(error) {}
	}
	bound, ended := s.p.Begin()
	within = time.Duration(float64(within) * float64(bound) / float64(s.p.least))
	return within, func(err error) { ended(errors.Is(err, wor.ErrDeadline)) }
}

// Alloc implements wor.Space.
func (s *Patient) Alloc(seg wor.Segment, m wor.Meta, within time.Duration, done func(wor.Meta, error)) {
	within, ended := s.begin(within)
	s.Space.Alloc(seg, m, within, func(m wor.Meta, err error) { ended(err); done(m, err) })
}

// Stat implements wor.Space.
func (s *Patient) Stat(seg wor.Segment, within time.Duration, done func(wor.Meta, error)) {
	within, ended := s.begin(within)
	s.Space.Stat(seg, within, func(m wor.Meta, err error) { ended(err); done(m, err) })
}

// Trim implements wor.Space.
func (s *Patient) Trim(seg wor.Segment, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Trim(seg, within, func(err error) { ended(err); done(err) })
}

// Capture implements wor.Space.
func (s *Patient) Capture(r wor.Range, within time.Duration, done func(*wor.Token, error)) {
	within, ended := s.begin(within)
	s.Space.Capture(r, within, func(t *wor.Token, err error) { ended(err); done(t, err) })
}

// Write implements wor.Space.
func (s *Patient) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Write(t, offset, value, within, func(err error) { ended(err); done(err) })
}

// WriteRange implements wor.Space.
func (s *Patient) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	within, ended := s.begin(within)
	s.Space.WriteRange(t, r, value, within, func(errs []error) { ended(errors.Join(errs...)); done(errs) })
}

// Propose implements wor.Space.
func (s *Patient) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Propose(a, value, within, func(err error) { ended(err); done(err) })
}

// WriteUnsafe implements wor.Space.
func (s *Patient) WriteUnsafe(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.WriteUnsafe(a, value, within, func(err error) { ended(err); done(err) })
}

// Read implements wor.Space.
func (s *Patient) Read(a wor.Addr, within time.Duration, done func([]byte, error)) {
	within, ended := s.begin(within)
	s.Space.Read(a, within, func(v []byte, err error) { ended(err); done(v, err) })
}

// ReadRange implements wor.Space.
func (s *Patient) ReadRange(r wor.Range, within time.Duration, done func([]wor.Cell, error)) {
	within, ended := s.begin(within)
	s.Space.ReadRange(r, within, func(cells []wor.Cell, err error) { ended(err); done(cells, err) })
}
