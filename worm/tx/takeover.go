package tx

import (
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A takeover of an RM goes like this:
//
//  1. Find the last segment of its chain, and allocate the next one. That decides
//     who takes over, and from then on no look at the chain confirms the old
//     owner any more.
//  2. Decide every register from the base on: what was captured with a value
//     keeps it, the rest becomes NO. The old owner's tokens are of no use then,
//     and no vote of its can come to stand later.
//  3. Find out the outcome of all YES votes, where others take part by deciding
//     what these have not voted.
//  4. Redo the commits, in order, on top of the state that the Meta names.
//
// Nothing is voted in the new segment before that is done.

const (
	// pieceSize is how many registers are read at a time, resolvesMax how many
	// outcomes are looked for at a time.
	pieceSize   = 1024
	resolvesMax = 64
)

// Recovered is what a takeover finds.
type Recovered struct {
	// State is what the last Checkpointed named, nil without one.
	State []byte
	// Votes are the RM's YES votes on what was committed since, in order; those
	// that State has already may be among them. Briefs are those of all seats.
	Votes  []*Vote
	Briefs [][][]byte
}

// takeover is one under way.
type takeover struct {
	e    *Engine
	rm   RM
	done func(*Recovered, error)
	c    *chain
	// from is the Meta of the last segment of the one before.
	from    meta
	votes   []*Vote
	commits []*Outcome
}

// ErrTaken says that another process has taken the RM over.
var ErrTaken = errors.New("another process owns the resource manager")

// Acquire takes an RM over, from whoever owns it, also from an earlier life of
// this process, or begins its chain. Done is told what there is to redo; when the
// Resource has done that, it calls Open. ErrTaken says who was faster; other
// errors are passing. It is asked for one RM once at a time.
func (e *Engine) Acquire(rm RM, done func(*Recovered, error)) {
	t := &takeover{e: e, rm: rm, done: done}
	e.findLast(rm, func(last uint64, m *meta, err error) {
		switch {
		case errors.Is(err, wor.ErrUnallocated):
			t.allocate(0, e.random.Uint64())
		case err != nil:
			done(nil, err)
		default:
			t.from = *m
			t.allocate(last+1, e.random.Uint64())
		}
	})
}

// Find asks the registers who owns an RM. ErrUnallocated: nobody ever did.
func (e *Engine) Find(rm RM, done func(wor.Member, error)) {
	e.findLast(rm, func(_ uint64, m *meta, err error) {
		if err != nil {
			done(wor.Member{}, err)
			return
		}
		done(m.owner, nil)
	})
}

// findLast finds the last segment of an RM's chain, in steps that double, and
// then between the last two.
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

var errGarbled = errors.New("metadata of a segment of votes makes no sense")

// allocate is step 1.
func (t *takeover) allocate(n, nonce uint64) {
	e := t.e
	m := &meta{e.opt.Self, t.from.base, t.from.trimmed, t.from.state}
	e.opt.Space.Alloc(e.voteSegment(t.rm, n), e.meta(t.rm, n, nonce, m, e.opt.SegmentSize), 0, func(won wor.Meta, err error) {
		switch {
		case err == nil:
			t.c = &chain{e: e, rm: t.rm, last: n, base: m.base, published: m.base, trimmed: m.trimmed, state: m.state}
			e.discover(t.rm, route{true, n, m.base, e.opt.Self})
			t.decide(m.base)
		case errors.Is(err, wor.ErrWritten):
			var other meta
			if other.decode(won.Payload) {
				e.discover(t.rm, route{true, n, other.base, other.owner})
			}
			t.done(nil, ErrTaken)
		case errors.Is(err, wor.ErrTrimmed):
			t.done(nil, ErrTaken)
		default:
			e.after(e.jitter(e.opt.ResolveAfter/4), func() { t.allocate(n, nonce) })
		}
	})
}

// decide is step 2, for segment n and those after it.
func (t *takeover) decide(n uint64) {
	if n == t.c.last {
		t.resolve()
		return
	}
	e := t.e
	s := newSegment(n, e.voteSegment(t.rm, n), e.opt.SegmentSize)
	s.closed = true
	t.c.old = append(t.c.old, s)
	t.decidePiece(s, 0)
}

// decidePiece decides the registers of a segment from lo on, a piece at a time.
func (t *takeover) decidePiece(s *segment, lo uint32) {
	if lo >= s.size {
		t.decide(s.n + 1)
		return
	}
	e := t.e
	r := wor.Range{Segment: s.id, Lo: lo, Hi: min(lo+pieceSize, s.size)}
	e.opt.Space.ReadRange(r, 0, func(cells []wor.Cell, err error) {
		if errors.Is(err, wor.ErrTrimmed) || err == nil && errors.Is(cells[0].Err, wor.ErrTrimmed) {
			// Somebody has gone on from here, and trimmed.
			t.done(nil, ErrTaken)
			return
		}
		again := func(error) { e.after(e.jitter(e.opt.ResolveAfter/16), func() { t.decidePiece(s, lo) }) }
		if err != nil {
			again(err)
			return
		}
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
				s.need(v.Seats, t.rm)
			}
		}
		t.decidePiece(s, r.Hi)
	})
}

// fill captures a range and writes what must be adopted, and NO elsewhere. What
// it does not achieve is left to the next try.
func (t *takeover) fill(r wor.Range, done func(error)) {
	e := t.e
	no := (&Vote{Brief: []byte(ReasonClosed)}).encode()
	e.opt.Space.Capture(r, 0, func(token *wor.Token, err error) {
		if err != nil {
			done(err)
			return
		}
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
			if left--; left == 0 {
				t.finish()
				return
			}
			t.e.after(0, start)
		}
		if len(v.Seats) == 1 {
			answered(&Outcome{Commit: true, Briefs: [][]byte{v.Brief}})
			return
		}
		t.e.resolve(Tx{v.ID, v.Seats}, t.c, answered)
	}
	for range min(resolvesMax, len(t.votes)) {
		start()
	}
}

// finish hands over what was committed, if this is still who takes over.
func (t *takeover) finish() {
	t.c.confirm(func(err error) {
		switch {
		case err == nil:
			t.handOver()
		case t.c.dead:
			t.done(nil, ErrTaken)
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
		// What was committed there is not known here.
		s := newSegment(n, t.e.voteSegment(t.rm, n), t.e.opt.SegmentSize)
		s.closed, s.needs = true, nil
		t.c.old = append(t.c.old, s)
	}
	slices.SortFunc(t.c.old, func(a, b *segment) int { return int(int64(a.n) - int64(b.n)) })
	if old := t.e.chains[t.rm]; old != nil {
		old.lose(t.c.last, wor.Meta{}) // an earlier one, that did not get to open
	}
	t.e.chains[t.rm] = t.c // not open yet
	t.done(r, nil)
}

// Open begins to vote for an RM that was acquired, and tells when.
func (e *Engine) Open(rm RM, done func()) {
	c := e.chains[rm]
	if c == nil || c.dead || c.cur != nil {
		return
	}
	c.cur = newSegment(c.last, e.voteSegment(rm, c.last), e.opt.SegmentSize)
	ready := func(t *wor.Token) {
		if c.dead {
			return
		}
		c.cur.token, c.open = t, true
		done()
		c.collect()
	}
	if !e.policy.ahead {
		ready(nil)
		return
	}
	c.captureFirst(ready)
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

// readNeeds finds out what a segment from before a takeover needs of others. All
// YES votes count, whatever became of them.
func (c *chain) readNeeds(s *segment) {
	needs := map[RM]uint64{}
	var read func(lo uint32)
	end := func() {
		s.trimming = false
		c.collect()
	}
	read = func(lo uint32) {
		if lo >= s.size {
			s.needs = needs
			end()
			return
		}
		r := wor.Range{Segment: s.id, Lo: lo, Hi: min(lo+pieceSize, s.size)}
		c.e.opt.Space.ReadRange(r, 0, func(cells []wor.Cell, err error) {
			if errors.Is(err, wor.ErrTrimmed) || err == nil && errors.Is(cells[0].Err, wor.ErrTrimmed) {
				s.needs = map[RM]uint64{}
				end()
				return
			}
			if err != nil {
				s.trimming = false
				return
			}
			probe := &segment{needs: needs}
			for _, cell := range cells {
				if v := decodeVote(cell.Value); cell.Err == nil && v.Yes {
					probe.need(v.Seats, c.rm)
				}
			}
			read(r.Hi)
		})
	}
	read(0)
}
