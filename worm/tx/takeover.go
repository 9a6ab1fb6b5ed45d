// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A takeover of an RM has these steps:
//
//  1. Find the last segment of its chain, and allocate the next one. That decides
//     which process takes over; from then on no check of the chain confirms the
//     old owner.
//  2. Decide every register from the base on: one that was captured with a value
//     keeps it, the others become NO. The old owner's tokens are then invalid,
//     and none of its votes can be decided later.
//  3. Find the outcome of all YES votes, deciding other RMs' missing votes.
//  4. Redo the commits, in order, on top of the state that the Meta names.
//
// The new segment has no votes before that is done.

const (
	// pieceSize is the number of registers read at a time, piecesMax the number
	// of such pieces in flight, resolvesMax the number of outcomes resolved at
	// a time.
	pieceSize   = 1024
	piecesMax   = 8
	resolvesMax = 64
)

// Recovered is what a takeover finds.
type Recovered struct {
	// State is the state passed to the last Checkpointed, nil if there was
	// none.
	State []byte
	// Votes are the RM's YES votes in transactions committed since that
	// checkpoint, in order; State may include some of them. Briefs are the
	// briefs of all slots.
	Votes  []*Vote
	Briefs [][][]byte
}

// takeover is a running takeover, from Acquire until the RM is open.
type takeover struct {
	e    *Engine
	rm   RM
	done func(*Recovered, error)
	c    *chain // nil until step 1 is done
	// progress grows with every decision. since is the time of the last
	// increase.
	progress uint64
	since    env.Instant
	// over: the takeover has failed. decided: step 2 is done.
	over, decided bool
	// from is the Meta of the previous owner's last segment.
	from meta
	// next is the first segment not entered yet. todo has the pieces of entered
	// segments that were not begun. flying counts the pieces in flight.
	next    uint64
	todo    []piece
	flying  int
	votes   []*Vote
	commits []*Outcome
}

// piece is a run of neighbouring registers of a segment.
type piece struct {
	s *segment
	r wor.Range
}

// ErrTaken reports that another process has taken the RM over.
var ErrTaken = errors.New("another process owns the resource manager")

// Acquire takes an RM over from any owner, including an earlier life of this
// process, or begins its chain. Done receives what the Resource must redo
// before it calls Open. ErrTaken means that another process was faster; other
// errors are temporary. Only one call per RM may run at a time.
func (e *Engine) Acquire(rm RM, done func(*Recovered, error)) { e.acquire(rm, false, done) }

// errStirred reports a segment that was not known when the takeover was begun:
// another process is active.
var errStirred = errors.New("the resource manager has a new segment")

// acquire is Acquire. With still, it ends with errStirred, before it has
// changed anything, if it finds a segment that was not known before.
func (e *Engine) acquire(rm RM, still bool, done func(*Recovered, error)) {
	before := e.routes[rm]
	t := &takeover{e: e, rm: rm, done: done}
	e.taking[rm] = t
	t.advanced()
	e.findLast(rm, func(last uint64, m *meta, err error) {
		switch {
		case errors.Is(err, wor.ErrUnallocated):
			t.allocate(0, e.random.Uint64())
		case err != nil:
			t.fail(err)
		case still && (!before.known || last > before.last):
			t.fail(errStirred)
		default:
			t.from = *m
			t.allocate(last+1, e.random.Uint64())
		}
	})
}

// advanced records progress of the takeover.
func (t *takeover) advanced() {
	t.progress++
	t.since = t.e.opt.Env.Clock.Now()
}

// fail ends the takeover, once.
func (t *takeover) fail(err error) {
	if t.over {
		return
	}
	t.over = true
	t.e.Forgo(t.rm)
	t.done(nil, err)
}

// Forgo records that an acquired RM will not be opened.
func (e *Engine) Forgo(rm RM) { e.taking[rm] = nil }

// Taking returns the number of takeovers here that made progress within the
// given time.
func (e *Engine) Taking(within time.Duration) int {
	n, now := 0, e.opt.Env.Clock.Now()
	for _, t := range e.taking {
		if t != nil && now.Sub(t.since) < within {
			n++
		}
	}
	return n
}

// unless continues a takeover, unless another takeover has begun after it and
// made it useless. The report of another takeover is only a hint, not a proof.
func (t *takeover) unless(next func()) {
	if t.over {
		return
	}
	if t.e.routes[t.rm].last <= t.c.last {
		next()
		return
	}
	t.c.confirm(func(error) {
		if t.c.dead {
			t.fail(ErrTaken)
			return
		}
		next()
	})
}

// Find reads the owner of an RM from the registers. ErrUnallocated: there never
// was one.
func (e *Engine) Find(rm RM, done func(wor.Member, error)) {
	e.findLast(rm, func(_ uint64, m *meta, err error) {
		if err != nil {
			done(wor.Member{}, err)
			return
		}
		done(m.owner, nil)
	})
}

// findLast finds the last segment of an RM's chain: in doubling steps, then by
// bisection.
func (e *Engine) findLast(rm RM, done func(uint64, *meta, error)) {
	var found *meta
	lo, hi := uint64(0), uint64(0) // lo-1 is allocated, hi is not once known
	n, step, known := e.routes[rm].last, uint64(1), false
	var look func()
	look = func() {
		e.opt.Space.Stat(e.voteSegment(rm, n), 0, func(won wor.Meta, err error) {
			switch {
			case err == nil || errors.Is(err, wor.ErrTrimmed):
				lo = n + 1
				found = nil
				if m := (&meta{}); err == nil && m.decode(won.Payload) {
					found = m
				}
			case errors.Is(err, wor.ErrUnallocated):
				hi, known = n, true
			default:
				done(0, nil, err)
				return
			}
			if known && lo == hi {
				switch {
				case lo == 0:
					done(0, nil, wor.ErrUnallocated)
				case found == nil:
					done(0, nil, errGarbled)
				default:
					e.discover(rm, route{true, lo - 1, found.base, found.owner})
					done(lo-1, found, nil)
				}
				return
			}
			if known {
				n = lo + (hi-lo)/2
			} else {
				n = lo - 1 + step
				step *= 2
			}
			look()
		})
	}
	look()
}

var errGarbled = errors.New("invalid metadata of a segment of votes")

// allocate is step 1.
func (t *takeover) allocate(n, nonce uint64) {
	e := t.e
	m := &meta{e.opt.Self, t.from.base, t.from.trimmed, t.from.state, e.firstRoom()}
	e.opt.Space.Alloc(e.voteSegment(t.rm, n), e.meta(t.rm, n, nonce, m, e.opt.SegmentSize), 0, func(won wor.Meta, err error) {
		switch {
		case err == nil:
			t.c = &chain{e: e, rm: t.rm, last: n, room: m.room, base: m.base, published: m.base, trimmed: m.trimmed, state: m.state}
			e.discover(t.rm, route{true, n, m.base, e.opt.Self})
			t.advanced()
			t.next = m.base
			t.decide()
		case errors.Is(err, wor.ErrWritten):
			var other meta
			if other.decode(won.Payload) {
				e.discover(t.rm, route{true, n, other.base, other.owner})
			}
			t.fail(ErrTaken)
		case errors.Is(err, wor.ErrTrimmed):
			t.fail(ErrTaken)
		default:
			e.after(e.jitter(e.opt.ResolveAfter/4), func() { t.allocate(n, nonce) })
		}
	})
}

// decide is step 2: the segments from the base on, piece by piece, in any
// order, several at a time.
func (t *takeover) decide() {
	if t.over || t.decided {
		return
	}
	for t.flying < piecesMax && len(t.todo) > 0 {
		r := t.todo[0]
		t.todo = t.todo[1:]
		t.flying++
		t.decidePiece(r.s, r.r)
	}
	for t.flying < piecesMax && t.next < t.c.last {
		t.flying++
		t.enter(t.next)
		t.next++
	}
	if t.flying == 0 {
		t.decided = true
		t.resolve()
	}
}

// enter finds out which registers of segment n to decide.
func (t *takeover) enter(n uint64) {
	t.e.roomOf(t.rm, n, func(room uint32, err error) {
		switch {
		case t.over:
		case errors.Is(err, wor.ErrTrimmed):
			t.fail(ErrTaken)
		case err != nil:
			t.e.after(t.e.jitter(t.e.opt.ResolveAfter/16), func() { t.unless(func() { t.enter(n) }) })
		default:
			s := t.e.newSegment(t.rm, n, room)
			s.closed = true
			t.advanced()
			t.c.old = append(t.c.old, s)
			for r, more := s.piece(0); more; r, more = s.piece(r.Hi) {
				t.todo = append(t.todo, piece{s, r})
			}
			t.flying--
			t.decide()
		}
	})
}

// roomOf reads the room of an allocated segment. If it cannot read it, it
// returns 0, which means all registers.
func (e *Engine) roomOf(rm RM, n uint64, done func(uint32, error)) {
	e.opt.Space.Stat(e.voteSegment(rm, n), 0, func(m wor.Meta, err error) {
		x := meta{}
		if !x.decode(m.Payload) {
			x.room = 0
		}
		done(x.room, err)
	})
}

// decidePiece decides some registers of a segment.
func (t *takeover) decidePiece(s *segment, r wor.Range) {
	e := t.e
	e.opt.Space.ReadRange(r, 0, func(cells []wor.Cell, err error) {
		if t.over {
			return
		}
		if errors.Is(err, wor.ErrTrimmed) || err == nil && errors.Is(cells[0].Err, wor.ErrTrimmed) {
			// Another process has taken over from here, and has trimmed.
			t.fail(ErrTaken)
			return
		}
		again := func(error) {
			e.after(e.jitter(e.opt.ResolveAfter/16), func() { t.unless(func() { t.decidePiece(s, r) }) })
		}
		if err != nil {
			again(err)
			return
		}
		t.advanced()
		for i, c := range cells {
			if c.Err == nil {
				continue
			}
			j := i
			for j < len(cells) && cells[j].Err != nil {
				j++
			}
			t.fill(wor.Range{Segment: s.id, Lo: r.Lo + uint32(i), Hi: r.Lo + uint32(j)}, again)
			return
		}
		for _, c := range cells {
			if v := decodeVote(c.Value); v.Yes {
				t.votes = append(t.votes, v)
				s.need(v.Slots, t.rm)
			}
		}
		t.advanced()
		t.flying--
		t.unless(t.decide)
	})
}

// fill captures a range, writes the values that must be adopted, and writes NO
// to the other registers. If something fails, the next attempt does the rest.
func (t *takeover) fill(r wor.Range, done func(error)) {
	e := t.e
	no := (&Vote{Brief: []byte(ReasonClosed)}).encode()
	e.opt.Space.Capture(r, 0, func(token *wor.Token, err error) {
		if err != nil {
			done(err)
			return
		}
		t.advanced()
		left := 1
		part := func() {
			if left--; left == 0 {
				done(nil)
			}
		}
		lo := r.Lo
		free := func(hi uint32) {
			if lo < hi {
				left++
				e.opt.Space.WriteRange(token, wor.Range{Segment: r.Segment, Lo: lo, Hi: hi}, no, 0, func([]error) { part() })
			}
		}
		for _, a := range token.Adopted {
			free(a.Offset)
			lo = a.Offset + 1
			left++
			e.opt.Space.Write(token, a.Offset, a.Value, 0, func(error) { part() })
		}
		free(r.Hi)
		part()
	})
}

// resolve is step 3.
func (t *takeover) resolve() {
	slices.SortFunc(t.votes, func(a, b *Vote) int {
		switch {
		case a.Order < b.Order:
			return -1
		case a.Order > b.Order:
			return 1
		}
		return 0
	})
	t.commits = make([]*Outcome, len(t.votes))
	next, left := 0, len(t.votes)
	if left == 0 {
		t.finish()
		return
	}
	var start func()
	start = func() {
		i := next
		if next++; i >= len(t.votes) {
			return
		}
		v := t.votes[i]
		answered := func(o *Outcome) {
			t.commits[i] = o
			t.advanced()
			if left--; left == 0 {
				t.finish()
				return
			}
			t.e.after(0, start)
		}
		if len(v.Slots) == 1 {
			answered(&Outcome{Commit: true, Briefs: [][]byte{v.Brief}})
			return
		}
		t.e.resolve(Tx{v.ID, v.Slots}, t.c, answered)
	}
	for range min(resolvesMax, len(t.votes)) {
		start()
	}
}

// finish returns the committed votes, if this process is still the owner.
func (t *takeover) finish() {
	t.c.confirm(func(err error) {
		switch {
		case err == nil:
			t.advanced()
			t.handOver()
		case t.c.dead:
			t.fail(ErrTaken)
		default:
			t.e.after(t.e.jitter(t.e.opt.ResolveAfter/4), t.finish)
		}
	})
}

func (t *takeover) handOver() {
	r := &Recovered{State: t.from.state}
	for i, v := range t.votes {
		t.e.trace(Learned{t.rm, v.ID, t.commits[i].Commit})
		if t.commits[i].Commit {
			r.Votes = append(r.Votes, v)
			r.Briefs = append(r.Briefs, t.commits[i].Briefs)
		}
	}
	for n := t.from.trimmed; n < t.from.base; n++ {
		// This process does not know what was committed there.
		s := t.e.newSegment(t.rm, n, 0)
		s.closed, s.needs = true, nil
		t.c.old = append(t.c.old, s)
	}
	slices.SortFunc(t.c.old, func(a, b *segment) int { return int(int64(a.n) - int64(b.n)) })
	if old := t.e.chains[t.rm]; old != nil {
		old.lose(t.c.last, wor.Meta{}) // an earlier one that was not opened
	}
	t.e.chains[t.rm] = t.c // not open yet
	t.done(r, nil)
}

// Open makes an acquired RM vote, and calls done when it does. It returns false
// if another process has already taken the RM. If that happens later, the
// Engine calls Lost of the Resource instead of done.
func (e *Engine) Open(rm RM, done func()) bool {
	c := e.chains[rm]
	if c == nil || c.dead || c.cur != nil {
		e.Forgo(rm)
		return false
	}
	c.cur = e.newSegment(rm, c.last, c.room)
	c.cur.began = e.opt.Env.Clock.Now()
	ready := func(t *wor.Token) {
		if c.dead {
			return
		}
		c.cur.token, c.open = t, true
		e.Forgo(rm)
		done()
		c.collect()
	}
	if !e.policy.ahead {
		ready(nil)
		return true
	}
	c.captureFirst(ready)
	return true
}

func (c *chain) captureFirst(ready func(*wor.Token)) {
	e := c.e
	e.opt.Space.Capture(wor.Range{Segment: c.cur.id, Lo: 0, Hi: c.cur.size}, 0, func(t *wor.Token, err error) {
		switch {
		case c.dead:
		case err == nil:
			ready(t)
		default:
			c.suspect()
			e.after(e.jitter(e.opt.ResolveAfter/4), func() {
				if !c.dead {
					c.captureFirst(ready)
				}
			})
		}
	})
}
