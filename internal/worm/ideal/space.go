// SPDX-License-Identifier: Apache-2.0

package ideal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Count is how many operations a process has begun; an operation on a range counts once.
type Count struct {
	Allocs, Stats, Trims, Captures, Writes, Proposes, Reads, Listens, Invokes int
}

// Space is a process's view of the registers.
type Space struct {
	// Count is for tests that count round trips.
	Count Count

	p     *Process
	nonce uint64
	round uint64
	known map[wor.Addr][]byte
}

var _ wor.Space = (*Space)(nil)

// call is a running operation: it settles once.
type call struct {
	s       *Space
	settled bool
}

// begin starts a call. When its bound is over, settle gets a late answer.
func (s *Space) begin(within time.Duration, late func()) *call {
	c := &call{s: s}
	if within > 0 {
		s.p.w.at(within, s.p, func() { c.settle(late) })
	}
	return c
}

// settle runs answer on the process's Serial, the first time.
func (c *call) settle(answer func()) {
	if c.settled {
		return
	}
	c.settled = true
	c.s.p.Serial.Do(answer)
}

// ask calls effect at the registers, after the delay of one message, and calls answered
// here after the delay of another. A call with a bound may lose either message.
func (s *Space) ask(bounded bool, effect, answered func()) {
	w := s.p.w
	if bounded && w.chance(w.opt.Lose) {
		return
	}
	w.at(w.delay(), nil, func() {
		effect()
		if bounded && w.chance(w.opt.Lose) {
			return
		}
		w.at(w.delay(), s.p, answered)
	})
}

func (s *Space) coin() bool { return s.p.w.opt.Fixed != 0 || s.p.w.random.Uint64()&1 == 0 }

func (s *Space) keep() bool { return s.p.w.chance(s.p.w.opt.Half) }

func (s *Space) learn(a wor.Addr, v []byte) {
	if s.known == nil {
		s.known = map[wor.Addr][]byte{}
	}
	s.known[a] = v
}

// Nonce implements wor.Space.
func (s *Space) Nonce() uint64 { return s.nonce }

// Known implements wor.Space.
func (s *Space) Known(a wor.Addr) ([]byte, bool) {
	v, ok := s.known[a]
	return v, ok
}

// ballot returns a ballot that no capture ever had.
func (s *Space) ballot() wor.Ballot {
	s.round++
	return wor.Ballot{Round: s.round, Nonce: s.nonce}
}

// above makes the next ballot higher than b.
func (s *Space) above(b wor.Ballot) { s.round = max(s.round, b.Round) }

// check returns the reason why a range of a segment cannot be used. It runs at the
// registers.
func (s *Space) check(r wor.Range) error {
	regs := s.p.w.space
	if regs.trimmed[r.Segment] {
		return wor.ErrTrimmed
	}
	m, err := s.meta(r.Segment)
	if err != nil {
		return err
	}
	if r.Hi > m.Size || r.Lo > r.Hi {
		return &wor.LimitError{Name: "Meta.Size", Limit: int64(m.Size), Got: int64(r.Hi)}
	}
	return nil
}

func (s *Space) meta(seg wor.Segment) (wor.Meta, error) {
	regs := s.p.w.space
	if regs.trimmed[seg] {
		return wor.Meta{}, wor.ErrTrimmed
	}
	c := regs.cells[wor.Addr{Segment: seg, Offset: wor.MetaOffset}]
	if c == nil || !c.written {
		return wor.Meta{}, wor.ErrUnallocated
	}
	return regs.metas[seg], nil
}

// pieces cuts a range into up to three pieces, which are processed at different times.
func (s *Space) pieces(r wor.Range) []wor.Range {
	if s.p.w.opt.Fixed != 0 || r.Len() < 2 {
		return []wor.Range{r}
	}
	var out []wor.Range
	for i := 0; i < 2 && r.Len() > 1; i++ {
		cut := r.Lo + 1 + uint32(s.p.w.random.Uint64()%uint64(r.Len()-1))
		out = append(out, wor.Range{Segment: r.Segment, Lo: r.Lo, Hi: cut})
		r.Lo = cut
	}
	return append(out, r)
}

// Alloc implements wor.Space. It takes the four messages of a capture and a write.
func (s *Space) Alloc(seg wor.Segment, m wor.Meta, within time.Duration, done func(wor.Meta, error)) {
	s.Count.Allocs++
	a := wor.Addr{Segment: seg, Offset: wor.MetaOffset}
	c := s.begin(within, func() { done(wor.Meta{}, &wor.UnknownError{Addr: a, Cause: wor.ErrDeadline}) })
	if m.Size == 0 || m.Size > wor.SegmentMax || int(m.Partition) >= s.p.w.opt.Partitions || len(m.Payload) > wor.PayloadMax {
		err := &wor.LimitError{Name: "wor.Meta", Limit: wor.SegmentMax, Got: int64(m.Size)}
		c.settle(func() { done(wor.Meta{}, err) })
		return
	}
	regs := s.p.w.space
	s.ask(within > 0, func() {}, func() {
		var won wor.Meta
		var err error
		s.ask(within > 0, func() {
			won, err = s.meta(seg)
			switch {
			case err == nil && won.Owner != m.Owner:
				err = &wor.WrittenError{Addr: a}
			case errors.Is(err, wor.ErrUnallocated):
				regs.metas[seg] = m
				regs.decide(a, regs.at(a), nil)
				won, err = m, nil
			}
		}, func() { c.settle(func() { done(won, err) }) })
	})
}

// Stat implements wor.Space.
func (s *Space) Stat(seg wor.Segment, within time.Duration, done func(wor.Meta, error)) {
	s.Count.Stats++
	c := s.begin(within, func() { done(wor.Meta{}, wor.ErrDeadline) })
	var m wor.Meta
	var err error
	s.ask(within > 0, func() { m, err = s.meta(seg) }, func() { c.settle(func() { done(m, err) }) })
}

// Trim implements wor.Space.
func (s *Space) Trim(seg wor.Segment, within time.Duration, done func(error)) {
	s.Count.Trims++
	a := wor.Addr{Segment: seg, Offset: wor.TrimOffset}
	c := s.begin(within, func() { done(&wor.UnknownError{Addr: a, Cause: wor.ErrDeadline}) })
	var err error
	s.ask(within > 0, func() {
		if _, err = s.meta(seg); errors.Is(err, wor.ErrTrimmed) {
			err = nil
		} else if err == nil {
			s.p.w.space.trim(seg)
		}
	}, func() { c.settle(func() { done(err) }) })
}

// Capture implements wor.Space.
func (s *Space) Capture(r wor.Range, within time.Duration, done func(*wor.Token, error)) {
	s.Count.Captures++
	c := s.begin(within, func() { done(nil, wor.ErrDeadline) })
	s.capture(r, within > 0, func(t *wor.Token, err error) { c.settle(func() { done(t, err) }) })
}

// capture captures with a new ballot, higher than all that the process has met.
func (s *Space) capture(r wor.Range, bounded bool, done func(*wor.Token, error)) {
	regs, t := s.p.w.space, &wor.Token{Range: r, Ballot: s.ballot(), Epoch: s.p.w.space.epoch}
	var failed error
	var seen wor.Ballot
	pieces := s.pieces(r)
	left := len(pieces)
	for _, piece := range pieces {
		s.ask(bounded, func() {
			if err := s.check(r); err != nil {
				failed = err
			}
			for off := piece.Lo; off < piece.Hi && failed == nil; off++ {
				a := wor.Addr{Segment: r.Segment, Offset: off}
				v, adopted, err := regs.capture(a, t.Ballot, s.coin)
				if err != nil {
					failed, seen = err, regs.at(a).promised
				} else if adopted {
					t.Adopted = append(t.Adopted, wor.Adopted{Offset: off, Value: v})
				}
			}
		}, func() {
			if left--; left > 0 {
				return
			}
			s.above(seen)
			if failed != nil {
				done(nil, failed)
				return
			}
			slices.SortFunc(t.Adopted, func(x, y wor.Adopted) int { return cmp.Compare(x.Offset, y.Offset) })
			done(t, nil)
		})
	}
}

// Write implements wor.Space.
func (s *Space) Write(t *wor.Token, offset uint32, value []byte, within time.Duration, done func(error)) {
	a := wor.Addr{Segment: t.Range.Segment, Offset: offset}
	s.WriteRange(t, wor.One(a), value, within, func(errs []error) { done(errs[0]) })
}

// WriteRange implements wor.Space.
func (s *Space) WriteRange(t *wor.Token, r wor.Range, value []byte, within time.Duration, done func([]error)) {
	s.Count.Writes++
	errs := make([]error, r.Len())
	fill := func(err func(a wor.Addr) error) func() {
		return func() {
			for i := range errs {
				errs[i] = err(wor.Addr{Segment: r.Segment, Offset: r.Lo + uint32(i)})
			}
			done(errs)
		}
	}
	c := s.begin(within, fill(func(a wor.Addr) error { return &wor.UnknownError{Addr: a, Cause: wor.ErrDeadline} }))
	switch {
	case len(value) > wor.ValueMax:
		c.settle(fill(func(wor.Addr) error {
			return &wor.LimitError{Name: "wor.ValueMax", Limit: wor.ValueMax, Got: int64(len(value))}
		}))
		return
	case r.Segment != t.Range.Segment || r.Lo < t.Range.Lo || r.Hi > t.Range.Hi || r.Lo >= r.Hi:
		c.settle(fill(func(wor.Addr) error { return wor.ErrToken }))
		return
	}
	left := len(errs)
	for i := range errs {
		a := wor.Addr{Segment: r.Segment, Offset: r.Lo + uint32(i)}
		s.put(t, a, value, within > 0, func(err error) {
			errs[i] = err
			if left--; left == 0 {
				c.settle(func() { done(errs) })
			}
		})
	}
}

// put writes one register with a token.
func (s *Space) put(t *wor.Token, a wor.Addr, value []byte, bounded bool, done func(error)) {
	regs, v := s.p.w.space, value
	adopted, free := t.Find(a.Offset)
	if !free {
		v = adopted
	}
	if bounded && s.p.w.chance(s.p.w.opt.Half) {
		// It reaches too few servers, and no answer arrives.
		s.p.w.at(s.p.w.delay(), nil, func() { regs.halve(a, t.Ballot, v) })
		return
	}
	var err error
	s.ask(bounded, func() {
		if t.Epoch != regs.epoch {
			err = &wor.UnknownError{Addr: a, Cause: errEnded}
			return
		}
		if err = regs.write(a, t.Ballot, v, s.keep); err == nil && string(v) != string(value) {
			err = &wor.WrittenError{Addr: a, Value: v}
		}
	}, func() {
		s.note(a, v, err)
		done(err)
	})
}

// note records what an answer shows of a register.
func (s *Space) note(a wor.Addr, v []byte, err error) {
	if w := (*wor.WrittenError)(nil); errors.As(err, &w) {
		s.learn(a, w.Value)
	} else if err == nil {
		s.learn(a, v)
	}
}

// Propose implements wor.Space.
func (s *Space) Propose(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	s.Count.Proposes++
	c := s.begin(within, func() { done(&wor.UnknownError{Addr: a, Cause: wor.ErrDeadline}) })
	if len(value) > wor.ValueMax {
		err := &wor.LimitError{Name: "wor.ValueMax", Limit: wor.ValueMax, Got: int64(len(value))}
		c.settle(func() { done(err) })
		return
	}
	var try func()
	try = func() {
		s.capture(wor.One(a), false, func(t *wor.Token, err error) {
			if errors.Is(err, wor.ErrOutbid) {
				s.p.w.at(s.p.w.delay(), s.p, try)
				return
			}
			if err != nil {
				c.settle(func() { done(err) })
				return
			}
			s.put(t, a, value, false, func(err error) {
				if errors.Is(err, wor.ErrUnknown) {
					s.p.w.at(s.p.w.delay(), s.p, try)
					return
				}
				c.settle(func() { done(err) })
			})
		})
	}
	try()
}

// WriteUnsafe implements wor.Space.
func (s *Space) WriteUnsafe(a wor.Addr, value []byte, within time.Duration, done func(error)) {
	s.Count.Writes++
	c := s.begin(within, func() { done(&wor.UnknownError{Addr: a, Cause: wor.ErrDeadline}) })
	var err error
	s.ask(within > 0, func() {
		if err = s.check(wor.One(a)); err == nil {
			err = s.p.w.space.write(a, wor.Ballot{}, value, s.keep)
		}
	}, func() {
		s.note(a, value, err)
		c.settle(func() { done(err) })
	})
}

// Read implements wor.Space.
func (s *Space) Read(a wor.Addr, within time.Duration, done func([]byte, error)) {
	s.ReadRange(wor.One(a), within, func(cells []wor.Cell, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done(cells[0].Value, cells[0].Err)
	})
}

// ReadRange implements wor.Space.
func (s *Space) ReadRange(r wor.Range, within time.Duration, done func([]wor.Cell, error)) {
	s.Count.Reads++
	c := s.begin(within, func() { done(nil, wor.ErrDeadline) })
	cells := make([]wor.Cell, r.Len())
	var failed error
	pieces := s.pieces(r)
	left := len(pieces)
	for _, piece := range pieces {
		s.ask(within > 0, func() {
			if err := s.check(r); err != nil && !errors.Is(err, wor.ErrTrimmed) {
				failed = err
			}
			for off := piece.Lo; off < piece.Hi && failed == nil; off++ {
				a := wor.Addr{Segment: r.Segment, Offset: off}
				v, err := s.p.w.space.read(a, s.coin)
				cells[off-r.Lo] = wor.Cell{Addr: a, Value: v, Err: err}
			}
		}, func() {
			if left--; left > 0 {
				return
			}
			for _, cell := range cells {
				s.note(cell.Addr, cell.Value, cmp.Or(failed, cell.Err))
			}
			c.settle(func() {
				if failed != nil {
					done(nil, failed)
					return
				}
				done(cells, nil)
			})
		})
	}
}

// Listen implements wor.Space.
func (s *Space) Listen(r wor.Range, note func(wor.Cell)) (stop func()) {
	s.Count.Listens++
	w, l := s.p.w, &listener{r: r}
	tell := func(cell wor.Cell) {
		w.at(w.delay(), s.p, func() {
			if l.stopped {
				return
			}
			if cell.Err == nil {
				s.learn(cell.Addr, cell.Value)
			}
			s.p.Serial.Do(func() {
				if !l.stopped {
					note(cell)
				}
			})
		})
	}
	l.tell = func(cell wor.Cell) {
		tell(cell)
		if cell.Err == nil && w.chance(w.opt.Double) {
			tell(cell)
		}
	}
	w.at(w.delay(), nil, func() { w.space.listen(l) })
	return func() { l.stopped, l.over = true, true }
}

// errEnded is the cause if the epoch of a token is over.
var errEnded = fmt.Errorf("%w: %w", wor.ErrSealed, wor.ErrOutbid)
