package row

import (
	"errors"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Patience is how long something is waited for before it is asked for again. Who
// waits for less than it takes asks for ever, and makes it take longer: so two in a
// row that came too late double it, and one that came in an eighth of it halves it, not
// below what it began with: where much is lost, and nothing is slow, it stays short.
// The zero Patience is of no use.
type Patience struct {
	clock env.Clock
	least time.Duration
	level int
	late  int // in a row
}

const (
	// levelsMax bounds how often the patience doubles.
	levelsMax = 6
	// lateMax is how many too late in a row double it, and early what part of it is
	// so little that half of it will do.
	lateMax, early = 2, 8
)

// NewPatience begins with that much.
func NewPatience(c env.Clock, least time.Duration) *Patience {
	return &Patience{clock: c, least: least}
}

// Begin is how long to wait for what is asked for now, and what is to be told then:
// whether it came too late.
func (p *Patience) Begin() (within time.Duration, ended func(late bool)) {
	level, began := p.level, p.clock.Now()
	within = p.least << level
	return within, func(late bool) {
		switch {
		case level != p.level: // it says nothing about this one
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

// Patient is a space of which operations with a bound are given more time where
// they need it: a bound of least is that of a Patience, and others grow as much.
type Patient struct {
	wor.Space
	p *Patience
}

// NewPatient makes one of a space.
func NewPatient(s wor.Space, c env.Clock, least time.Duration) *Patient {
	return &Patient{s, NewPatience(c, least)}
}

// begin is the bound of an operation, and what is told its error.
func (s *Patient) begin(within time.Duration) (time.Duration, func(error)) {
	if within <= 0 {
		return within, func(error) {}
	}
	bound, ended := s.p.Begin()
	within = time.Duration(float64(within) * float64(bound) / float64(s.p.least))
	return within, func(err error) { ended(errors.Is(err, wor.ErrDeadline)) }
}

// Alloc is wor.Space's.
func (s *Patient) Alloc(seg wor.Segment, m wor.Meta, within time.Duration, done func(wor.Meta, error)) {
	within, ended := s.begin(within)
	s.Space.Alloc(seg, m, within, func(m wor.Meta, err error) { ended(err); done(m, err) })
}

// Stat is wor.Space's.
func (s *Patient) Stat(seg wor.Segment, within time.Duration, done func(wor.Meta, error)) {
	within, ended := s.begin(within)
	s.Space.Stat(seg, within, func(m wor.Meta, err error) { ended(err); done(m, err) })
}

// Trim is wor.Space's.
func (s *Patient) Trim(seg wor.Segment, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Trim(seg, within, func(err error) { ended(err); done(err) })
}

// Capture is wor.Space's.
func (s *Patient) Capture(r wor.Range, within time.Duration, done func(*wor.Token, error)) {
	within, ended := s.begin(within)
	s.Space.Capture(r, within, func(t *wor.Token, err error) { ended(err); done(t, err) })
}

// Write is wor.Space's.
func (s *Patient) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Write(t, offset, value, within, func(err error) { ended(err); done(err) })
}

// WriteRange is wor.Space's.
func (s *Patient) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	within, ended := s.begin(within)
	s.Space.WriteRange(t, r, value, within, func(errs []error) { ended(errors.Join(errs...)); done(errs) })
}

// Propose is wor.Space's.
func (s *Patient) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.Propose(a, value, within, func(err error) { ended(err); done(err) })
}

// WriteUnsafe is wor.Space's.
func (s *Patient) WriteUnsafe(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	within, ended := s.begin(within)
	s.Space.WriteUnsafe(a, value, within, func(err error) { ended(err); done(err) })
}

// Read is wor.Space's.
func (s *Patient) Read(a wor.Addr, within time.Duration, done func([]byte, error)) {
	within, ended := s.begin(within)
	s.Space.Read(a, within, func(v []byte, err error) { ended(err); done(v, err) })
}

// ReadRange is wor.Space's.
func (s *Patient) ReadRange(r wor.Range, within time.Duration, done func([]wor.Cell, error)) {
	within, ended := s.begin(within)
	s.Space.ReadRange(r, within, func(cells []wor.Cell, err error) { ended(err); done(cells, err) })
}
