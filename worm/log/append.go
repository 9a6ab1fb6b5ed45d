// SPDX-License-Identifier: Apache-2.0

package log

import (
	"container/heap"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ErrID is returned for an append whose id is in use for other data or by a
// pending append.
var ErrID = errors.New("id is in use")

// Append appends an entry and ignores its Position and Kind. Done receives the
// permanent position of the entry.
//
// ErrUnknown means that the entry is in the log or may still get there; the
// position in question is the address in *wor.UnknownError. The caller may then
// append the entry again with the same ID: the Log finds out whether the entry
// is there, and appends it only if it is not. The entry is appended exactly
// once as long as this Log remembers the ID (it remembers doubtsMax of them).
// Otherwise it is appended at least once, and followers deliver only the first
// copy. This Log never gives an entry of unknown outcome a second position
// before the first is decided.
//
// Any other error means that the entry is not in the log and never will be:
// ErrDeadline, ErrBusy, ErrLimit (EntryMax), ErrClosed, ErrID.
func (l *Log) Append(e Entry, within time.Duration, done func(Position, error)) {
	l.appender.start(e, within, done)
}

// appender carries out the appends of a Log. Each goes through
//
//	waiting -> asking -> writing -> done
//	   ^                    |
//	   '---- resolving <----' outcome unknown, or the register was taken
//
// One request to the sequencer covers all appends that wait when it is sent. A
// token serves only appends that waited before it was requested, so that
// positions respect real time; the rest of the token is junked.
type appender struct {
	l       *Log
	waiting []*appending
	count   int // unanswered appends
	bytes   int64
	// byID has the appends whose caller gave an id, including those answered
	// with ErrUnknown. doubts has the latter in the order in which to forget
	// them.
	byID    map[EntryID]*appending
	doubts  []*appending
	asks    []*asking
	delayed bool
	expired bool // some of the waiting appends were answered
	// full is the error of a server that refused an append for lack of room.
	// Until fullUntil, further appends get the same error without an attempt:
	// each attempt uses up an address, and each unused address reduces the room
	// that is left for trimming.
	full      error
	fullUntil env.Instant
	// unreported is the number of bytes written at prefetched addresses and not
	// yet reported to the sequencer.
	unreported int64
	wait       env.Backoff
	open       openPositions
	stock      []stocked
	// voids counts the consecutive void tokens.
	voids int
}

const (
	// asksMax bounds the pending requests to the sequencer.
	asksMax = 4
	// doubtsMax bounds the remembered appends of unknown outcome.
	doubtsMax = 1024
	// voidsMax is the number of consecutive void tokens after which another
	// sequencer is elected. A reader that did not wait makes one token void; a
	// new epoch, of which sequencers are not notified, makes all of them void.
	voidsMax = 8
)

// appending is one append.
type appending struct {
	refused error // by servers for lack of room; some may have accepted it
	id      EntryID
	named   bool // the caller gave the id
	value   []byte
	done    func(Position, error)
	timer   env.Timer
	// over: the append was answered.
	over bool
	// doubtful: the entry may be at position doubt, or may still get there.
	// placed: it is there.
	doubtful, placed bool
	doubt            Position
}

// asking is a request for addresses.
type asking struct {
	batch []*appending
	extra uint32
	// floor is a lower bound of the addresses in the answer.
	floor Position
}

// stocked is a prefetched token.
type stocked struct {
	token *wor.Token
	next  uint32
}

func (p *appender) start(e Entry, within time.Duration, done func(Position, error)) {
	l := p.l
	refuse := func(err error) { l.serial.Do(func() { done(0, err) }) }
	switch {
	case l.closed:
		refuse(wor.ErrClosed)
		return
	case len(e.Data) > EntryMax:
		refuse(&wor.LimitError{Name: "log.EntryMax", Limit: EntryMax, Got: int64(len(e.Data))})
		return
	case p.count >= l.opt.AppendsMax || p.bytes >= l.opt.BytesMax:
		refuse(wor.ErrBusy)
		return
	}
	named := e.ID != EntryID{}
	if !named {
		l.drawn++
		e.ID = EntryID{l.nonce, l.drawn}
	}
	if old := p.byID[e.ID]; old == nil && p.l.clock.Now() < p.fullUntil {
		refuse(p.full)
		return
	}
	a := &appending{id: e.ID, named: named, value: e.encode(), done: done}
	if old := p.byID[e.ID]; old != nil {
		if !old.over || string(old.value) != string(a.value) {
			refuse(ErrID)
			return
		}
		p.revive(old, within, done)
		return
	}
	if named {
		p.byID[a.id] = a
	}
	p.admit(a, within)
	p.waiting = append(p.waiting, a)
	p.pump()
}

// admit counts an append and sets its time limit.
func (p *appender) admit(a *appending, within time.Duration) {
	p.count++
	p.bytes += int64(len(a.value))
	if within > 0 {
		a.timer = p.l.after(within, func() { p.expire(a, wor.ErrDeadline) })
	}
}

// revive continues an append that was answered with ErrUnknown.
func (p *appender) revive(a *appending, within time.Duration, done func(Position, error)) {
	p.doubts = slices.DeleteFunc(p.doubts, func(d *appending) bool { return d == a })
	a.over, a.done = false, done
	p.admit(a, within)
	if a.placed {
		at := a.doubt
		p.l.serial.Do(func() { p.finish(a, at, nil) })
	}
	// If the append is not placed, resolve is still running for its position.
}

// fullWait is how long the Log refuses appends after a server refused one for
// lack of room.
const fullWait = 500 * time.Millisecond

// expire answers an append that is not finished in time.
func (p *appender) expire(a *appending, cause error) {
	if a.over {
		return
	}
	if !a.doubtful {
		p.expired = true
		p.finish(a, 0, cause)
		return
	}
	if a.named {
		p.remember(a)
	}
	p.finish(a, a.doubt, &wor.UnknownError{Addr: a.doubt.Addr(p.l.opt.ID), Cause: cause})
}

// remember stores an append of unknown outcome, and drops the oldest.
func (p *appender) remember(a *appending) {
	p.doubts = append(p.doubts, a)
	if len(p.doubts) > doubtsMax {
		if old := p.doubts[0]; p.byID[old.id] == old {
			delete(p.byID, old.id)
		}
		p.doubts = slices.Delete(p.doubts, 0, 1)
	}
}

// finish answers an append.
func (p *appender) finish(a *appending, at Position, err error) {
	if a.over {
		return
	}
	a.over = true
	p.count--
	p.bytes -= int64(len(a.value))
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if p.byID[a.id] == a && !slices.Contains(p.doubts, a) {
		delete(p.byID, a.id)
	}
	done := a.done
	a.done = nil
	done(at, err)
}

func (p *appender) close() {
	all := slices.Clone(p.waiting)
	for _, q := range p.asks {
		all = append(all, q.batch...)
	}
	all = append(all, p.open.owners()...)
	for _, a := range all {
		done, over := a.done, a.over
		if over {
			continue
		}
		a.over = true
		if a.timer != nil {
			a.timer.Stop()
		}
		at, err := Position(0), error(wor.ErrClosed)
		if a.doubtful {
			at, err = a.doubt, &wor.UnknownError{Addr: a.doubt.Addr(p.l.opt.ID), Cause: wor.ErrClosed}
		}
		p.l.serial.Do(func() { done(at, err) })
	}
}

// pump gives waiting appends addresses from the stock, and requests more.
func (p *appender) pump() {
	if p.delayed || p.l.closed {
		return
	}
	if p.expired {
		p.expired = false
		p.waiting = slices.DeleteFunc(p.waiting, func(a *appending) bool { return a.over })
	}
	for len(p.waiting) > 0 && len(p.stock) > 0 {
		c := &p.stock[0]
		t, off := c.token, c.next
		a := p.waiting[0]
		p.waiting = slices.Delete(p.waiting, 0, 1)
		if c.next++; c.next == t.Range.Hi {
			p.stock = slices.Delete(p.stock, 0, 1)
		}
		p.unreported += int64(len(a.value))
		p.write(a, t, off)
	}
	extra := p.shortage()
	if len(p.asks) >= asksMax || len(p.waiting) == 0 && extra == 0 {
		return
	}
	q := &asking{extra: extra}
	n := min(len(p.waiting), CountMax)
	q.batch = slices.Clone(p.waiting[:n])
	p.waiting = slices.Delete(p.waiting, 0, n)
	p.asks = append(p.asks, q)
	p.l.seat.need(func() { p.ask(q) })
}

// shortage is the number of addresses to prefetch.
func (p *appender) shortage() uint32 {
	have := uint32(0)
	for _, s := range p.stock {
		have += s.token.Range.Hi - s.next
	}
	for _, q := range p.asks {
		have += q.extra
	}
	if have > p.l.opt.Prefetch/2 {
		return 0
	}
	return p.l.opt.Prefetch - have
}

// ask requests addresses from the sequencer.
func (p *appender) ask(q *asking) {
	l := p.l
	q.batch = slices.DeleteFunc(q.batch, func(a *appending) bool { return a.over })
	q.floor = p.open.seen
	a := ask{
		verb: verbToken, log: l.opt.ID, index: l.seat.top, client: l.nonce,
		count: min(uint32(len(q.batch))+q.extra, CountMax), settled: p.settled(),
	}
	reported := p.unreported
	bytes := reported
	for _, b := range q.batch {
		bytes += int64(len(b.value))
	}
	a.bytes = uint32(min(bytes, math.MaxUint32))
	if a.count == 0 {
		p.asks = slices.DeleteFunc(p.asks, func(x *asking) bool { return x == q })
		p.pump()
		return
	}
	l.seat.invoke(l.seat.member, a, func(b []byte, err error) {
		if l.closed {
			return
		}
		p.asks = slices.DeleteFunc(p.asks, func(x *asking) bool { return x == q })
		s, ok := decodeSaid(l.opt.ID, b)
		if err != nil || !ok || s.status != statusOK || s.token == nil {
			p.unserved(q, s.status)
			return
		}
		p.unreported -= reported
		p.serve(q, s)
	})
}

// settled returns a position below which this Log will write nothing more.
func (p *appender) settled() Position {
	low := p.open.lowest()
	for _, q := range p.asks {
		low = min(low, q.floor)
	}
	return low
}

// unserved puts back the appends that could not be served.
func (p *appender) unserved(q *asking, s status) {
	p.waiting = append(q.batch, p.waiting...)
	switch s {
	case statusBusy:
		p.l.seat.suspect(1)
	case statusStranger:
		p.l.seat.suspect(p.l.seat.limit())
	default:
		p.l.seat.suspect(strikesSilent)
	}
	p.delay()
}

// delay pumps again later.
func (p *appender) delay() {
	if !p.delayed {
		p.delayed = true
		p.l.later(&p.wait, func() {
			p.delayed = false
			p.pump()
		})
	}
}

// serve writes the appends of a request at the addresses of its token.
func (p *appender) serve(q *asking, s said) {
	p.l.seat.praise(s.top)
	p.wait.Reset()
	t, off := s.token, s.token.Range.Lo
	for o := off; o < t.Range.Hi; o++ {
		p.open.add(At(uint32(t.Range.Segment), o))
	}
	p.open.seen = max(p.open.seen, s.tail)
	for len(q.batch) > 0 && off < t.Range.Hi {
		a := q.batch[0]
		if q.batch = q.batch[1:]; !a.over {
			p.write(a, t, off)
			off++
		}
	}
	p.waiting = append(q.batch, p.waiting...)
	if rest := t.Part(wor.Range{Segment: t.Range.Segment, Lo: off, Hi: t.Range.Hi}); rest.Range.Lo < rest.Range.Hi {
		if q.extra > 0 {
			p.stock = append(p.stock, stocked{rest, off})
		} else {
			p.discard(rest)
		}
	}
	p.pump()
}

// discard writes junk to addresses that are no longer needed.
func (p *appender) discard(t *wor.Token) {
	p.l.junkRange(t.Range, func(f func()) { p.l.later(&p.wait, f) }, func() {
		for o := t.Range.Lo; o < t.Range.Hi; o++ {
			p.open.remove(At(uint32(t.Range.Segment), o))
		}
	})
}

// write writes an append at an address.
func (p *appender) write(a *appending, t *wor.Token, offset uint32) {
	at := At(uint32(t.Range.Segment), offset)
	a.doubtful, a.doubt = true, at
	p.open.own(at, a)
	p.l.space.Write(t, offset, a.value, p.l.timeout, func(err error) {
		if p.l.closed {
			return
		}
		var limit *wor.LimitError
		if errors.As(err, &limit) {
			p.full, p.fullUntil = limit, p.l.clock.Now().Add(fullWait)
			a.refused = limit
		}
		switch {
		case row.Decided(err):
			p.voids = 0
			p.decided(a, at, a.value, err)
		case errors.Is(err, wor.ErrLimit) && !errors.Is(err, wor.ErrUnknown):
			a.doubtful = false
			p.discard(t.Part(wor.Range{Segment: t.Range.Segment, Lo: offset, Hi: offset + 1}))
			p.finish(a, 0, err)
		default:
			p.void(at, err)
			p.l.seat.suspect(0)
			p.resolve(a, at)
		}
	})
}

// void counts a void token. After voidsMax of them, all tokens of this
// sequencer are taken to be void, so void also discards the prefetched ones.
func (p *appender) void(at Position, err error) {
	outbid := errors.Is(err, wor.ErrOutbid) || errors.Is(err, wor.ErrSealed) || errors.Is(err, wor.ErrToken)
	if !outbid || int64(at.Index()) < p.l.seat.top {
		return
	}
	if p.voids++; p.voids < voidsMax {
		return
	}
	p.voids, p.l.seat.void = 0, true
	stock := p.stock
	p.stock = nil
	for _, s := range stock {
		p.discard(s.token.Part(wor.Range{Segment: s.token.Range.Segment, Lo: s.next, Hi: s.token.Range.Hi}))
	}
}

// resolve decides the content of an append's address: the entry if the write
// reached the register, otherwise junk.
func (p *appender) resolve(a *appending, at Position) {
	p.l.space.Propose(at.Addr(p.l.opt.ID), junk(), p.l.timeout, func(err error) {
		switch {
		case p.l.closed:
		case row.Decided(err):
			p.decided(a, at, junk(), err)
		default:
			if errors.Is(err, wor.ErrLimit) {
				p.expire(a, err) // that may take long, and the caller should know
			}
			p.l.later(&p.wait, func() { p.resolve(a, at) })
		}
	})
}

// decided continues with an append whose address is decided; err is the error
// of the write of value.
func (p *appender) decided(a *appending, at Position, value []byte, err error) {
	p.open.remove(at)
	switch {
	case errors.Is(err, wor.ErrTrimmed):
		// The entry may have been there before the trim.
		p.finish(a, at, &wor.UnknownError{Addr: at.Addr(p.l.opt.ID), Cause: wor.ErrTrimmed})
	case string(row.Held(value, err)) == string(a.value):
		a.placed = true
		p.finish(a, at, nil)
	case a.over:
		a.doubtful = false
		if p.byID[a.id] == a {
			delete(p.byID, a.id)
		}
		p.doubts = slices.DeleteFunc(p.doubts, func(d *appending) bool { return d == a })
	case a.refused != nil:
		// The entry is not there, and another address would be refused for lack
		// of room too.
		a.doubtful = false
		p.finish(a, 0, a.refused)
	default:
		a.doubtful = false
		p.waiting = slices.Insert(p.waiting, 0, a)
		p.pump()
	}
}

// openPositions has the undecided positions that sequencers have given to this
// Log.
type openPositions struct {
	heap positionHeap
	open map[Position]*appending
	// seen is the highest position that a sequencer reported as not handed out
	// yet.
	seen Position
}

func (o *openPositions) add(p Position) {
	if o.open == nil {
		o.open = map[Position]*appending{}
	}
	if _, ok := o.open[p]; !ok {
		o.open[p] = nil
		heap.Push(&o.heap, p)
	}
}

// own records which append owns a position.
func (o *openPositions) own(p Position, a *appending) { o.open[p] = a }

func (o *openPositions) remove(p Position) { delete(o.open, p) }

// lowest returns the lowest position that is open or that a sequencer may still
// give to this Log.
func (o *openPositions) lowest() Position {
	for len(o.heap) > 0 {
		if _, ok := o.open[o.heap[0]]; ok {
			return min(o.heap[0], o.seen)
		}
		heap.Pop(&o.heap)
	}
	return o.seen
}

// owners returns the appends that are being written, in the order of their
// positions.
func (o *openPositions) owners() []*appending {
	var out []*appending
	sorted := slices.Clone(o.heap)
	slices.Sort(sorted)
	for _, p := range sorted {
		if a := o.open[p]; a != nil {
			out = append(out, a)
		}
	}
	return out
}

type positionHeap []Position

func (h positionHeap) Len() int           { return len(h) }
func (h positionHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h positionHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *positionHeap) Push(x any)        { *h = append(*h, x.(Position)) }
func (h *positionHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h = old[:len(old)-1]
	return p
}
