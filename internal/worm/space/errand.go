// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Errands: work for which several operations wait is done once. A thousand
// readers of a segment that was just trimmed finish the trim together.

// errandKind is the kind of an errand.
type errandKind uint8

const (
	lookErrand errandKind = iota // find a segment's metadata
	trimErrand                   // finish a trim that another client began
)

type errandKey struct {
	kind    errandKind
	segment wor.Segment
}

// errand is a running errand. It continues as long as an operation may wait for it: until
// the latest time limit of its waiters.
type errand struct {
	s       *Space
	key     errandKey
	waiters []waiter
	alarm   alarm
	until   env.Instant // 0: no bound
	ended   bool

	call   call
	step   func(err error) // runs after the call
	repair reader
	end    proposer // proposes the end of the placements
	places []place  // still to be trimmed
}

// waiter waits for an errand: an operation, or another errand (o is nil).
type waiter struct {
	o    *op
	wait func(error)
}

// join calls wait when the errand is over, with nil or the error that ended it,
// unless the operation is over before.
func (s *Space) join(key errandKey, until env.Instant, o *op, wait func(error)) {
	e := s.errands[key]
	if e == nil {
		e = &errand{s: s, key: key, until: until, waiters: []waiter{{o, wait}}}
		s.errands[key] = e
		if until != 0 {
			s.agenda.set(&e.alarm, until, e)
		}
		switch key.kind {
		case lookErrand:
			e.look()
		case trimErrand:
			e.trim()
		}
		return
	}
	if len(e.waiters) > 2*s.o.OpsMax {
		e.prune()
	}
	e.waiters = append(e.waiters, waiter{o, wait})
	if e.until != 0 && (until == 0 || until > e.until) {
		e.until = until
		s.agenda.drop(&e.alarm)
		if until != 0 {
			s.agenda.set(&e.alarm, until, e)
		}
	}
}

// prune drops the waiters that are over.
func (e *errand) prune() {
	live := e.waiters[:0]
	for _, w := range e.waiters {
		if w.o == nil || w.o.live {
			live = append(live, w)
		}
	}
	clear(e.waiters[len(live):])
	e.waiters = live
}

// ask runs a call, then step.
func (e *errand) ask(t task, step func(err error)) {
	e.step = step
	e.call.run(e.s, e, t)
}

func (e *errand) answered(_ *call, err error) { e.step(err) }

func (e *errand) ring(*alarm) { e.over(wor.ErrDeadline) }

// over notifies the waiters.
func (e *errand) over(err error) {
	if e.ended {
		return
	}
	e.ended = true
	e.call.stop()
	e.repair.stop()
	e.end.stop()
	e.s.agenda.drop(&e.alarm)
	delete(e.s.errands, e.key)
	for _, w := range e.waiters {
		if w.o == nil || w.o.live {
			w.wait(err)
		}
	}
}

// look is the errand that finds a segment's metadata and placement. It ends
// with nil, wor.ErrUnallocated, wor.ErrTrimmed, or another error.
func (e *errand) look() {
	s, seg := e.s, e.key.segment
	e.ask(s.home(seg).task(wor.KindRead, placements(seg), 0), func(err error) {
		if err != nil {
			e.over(err)
			return
		}
		cells, outbid := unfold(placements(seg), e.call.m.Result())
		if len(outbid) > 0 {
			e.repair.resume(s, e, s.home(seg), outbid[0].addr, 0, outbid[0].by)
			return
		}
		e.looked(cells)
	})
}

func (e *errand) looked(cells []wor.Cell) {
	s, seg := e.s, e.key.segment
	meta := cells[PlacementsMax]
	switch {
	case errors.Is(meta.Err, wor.ErrTrimmed):
		// The data's tombstones came before. Here a majority must have them, so
		// that no client finds the metadata after another did not.
		e.ask(s.home(seg).task(wor.KindTrim, wor.One(meta.Addr), 0), func(err error) {
			if err == nil {
				s.markTrimmed(seg)
				err = wor.ErrTrimmed
			}
			e.over(err)
		})
	case meta.Err != nil:
		e.over(wor.ErrUnallocated)
	default:
		var moves [][]byte
		for i := PlacementsMax - 1; i >= 0 && cells[i].Err == nil; i-- {
			moves = append(moves, cells[i].Value)
		}
		_, err := s.learnSegment(seg, meta.Value, moves)
		e.over(err)
	}
}

// read handles the reader's result: for a register of the home that was halfway
// or, in a trim, for the trim register.
func (e *errand) read(_ *reader, _ []byte, err error) {
	switch {
	case e.key.kind == trimErrand && (err == nil || errors.Is(err, errTombstone)):
		e.decided()
	case e.key.kind == trimErrand && errors.Is(err, wor.ErrUnwritten):
		e.over(errElsewhere)
	case err == nil || errors.Is(err, wor.ErrUnwritten) || errors.Is(err, errTombstone):
		e.look()
	default:
		e.over(err)
	}
}

// errElsewhere: there is a tombstone where the segment was before.
var errElsewhere = errors.New("segment has moved")

// trim is the errand of an operation that met a tombstone: if the trim register
// is decided, it puts tombstones on enough servers and ends with nil. If not,
// the segment has moved, and the tombstone is at its old place.
func (e *errand) trim() {
	e.find(func() {
		e.repair.run(e.s, e, e.s.home(e.key.segment), wor.Addr{Segment: e.key.segment, Offset: wor.TrimOffset}, 0)
	})
}

// find looks the segment up anew, and continues if it is not trimmed yet.
func (e *errand) find(found func()) {
	s, seg := e.s, e.key.segment
	s.segments.forget(seg)
	s.join(errandKey{lookErrand, seg}, e.until, nil, func(err error) {
		switch {
		case e.ended:
		case errors.Is(err, wor.ErrDeadline):
			e.find(found) // of other operations, which had less time
		case errors.Is(err, wor.ErrTrimmed):
			e.over(nil)
		case err != nil:
			e.over(err)
		default:
			found()
		}
	})
}

// decided continues when the trim is decided: the segment must not move any
// more.
func (e *errand) decided() {
	s, seg := e.s, e.key.segment
	known := s.segments.get(seg)
	switch {
	case known == nil:
		e.find(e.decided) // the cache is small
	case known.value.trimmed:
		e.over(nil)
	case known.value.ended || known.value.moves() == PlacementsMax:
		e.places = append(e.places[:0], known.value.before...)
		e.places = append(e.places, known.value.place)
		e.bury()
	default:
		a := wor.Addr{Segment: seg, Offset: wor.MetaOffset - 1 - uint32(known.value.moves())}
		e.end = proposer{}
		e.end.run(s, e, s.home(seg), a, []byte{placementEnd}, 0)
	}
}

// proposed handles the decision about the end of the placements. Whether the
// end or another placement was decided there is looked up.
func (e *errand) proposed(_ *proposer, _ []byte, err error) {
	if err != nil && !errors.Is(err, errTombstone) {
		e.over(err)
		return
	}
	e.find(e.decided)
}

// bury trims wherever the data are or were, and the home last.
func (e *errand) bury() {
	s, seg := e.s, e.key.segment
	home := s.home(seg)
	at := home
	for at.with(home) && len(e.places) > 0 {
		at, e.places = e.places[0], e.places[1:]
	}
	last := at.with(home)
	if last {
		at = home
	}
	e.ask(at.task(wor.KindTrim, wor.One(wor.Addr{Segment: seg}), 0), func(err error) {
		switch {
		case err != nil:
			e.over(err)
		case last:
			s.markTrimmed(seg)
			e.over(nil)
		default:
			e.bury()
		}
	})
}

// target is an operation on a segment that must be found first.
type target struct {
	op
	seg   wor.Segment
	at    segment
	owner targeted
	turn  int // how often the segment had moved
}

// targeted is the operation itself. Ready is called when the segment is found.
type targeted interface {
	failer
	ready()
}

// turnsMax bounds how often an operation follows a segment that has moved.
const turnsMax = 2 * PlacementsMax

// find looks the segment up, and then calls ready or fails.
func (t *target) find(owner targeted) {
	t.owner = owner
	e := t.s.segments.get(t.seg)
	switch {
	case e == nil:
		t.s.join(errandKey{lookErrand, t.seg}, t.until, &t.op, t.found)
	case e.value.trimmed:
		t.failLater(wor.ErrTrimmed)
	default:
		t.at = e.value
		owner.ready()
	}
}

// findAnew ignores what is known.
func (t *target) findAnew(owner targeted) {
	t.s.segments.forget(t.seg)
	t.find(owner)
}

func (t *target) found(err error) {
	if err != nil {
		t.owner.fail(err)
		return
	}
	t.find(t.owner)
}

// buried continues after a tombstone was met.
func (t *target) buried(owner targeted) {
	t.owner = owner
	t.s.join(errandKey{trimErrand, t.seg}, t.until, &t.op, func(err error) {
		if errors.Is(err, errElsewhere) {
			if t.turn++; t.turn > turnsMax {
				err = fmt.Errorf("segment %d: %w", t.seg, errContradiction)
			} else {
				t.find(owner)
				return
			}
		}
		if err == nil {
			err = wor.ErrTrimmed
		}
		owner.fail(err)
	})
}

// errContradiction: the servers' answers contradict each other, so some servers
// must have lost what they had acknowledged.
var errContradiction = errors.New("servers contradict what was decided")

// failLater fails after the call that began the operation has returned.
func (t *target) failLater(err error) {
	t.s.later(func() {
		if t.live {
			t.owner.fail(err)
		}
	})
}
