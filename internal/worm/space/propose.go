// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// place states where and by which protocol a register is stored.
type place struct {
	partition wor.Partition
	protocol  wor.Protocol
	// fixed is a configuration to ask regardless of newer ones, or nil.
	fixed *wor.Config
}

func (p place) task(kind wor.Kind, r wor.Range, until env.Instant) task {
	return task{kind: kind, partition: p.partition, protocol: p.protocol, r: r, fixed: p.fixed, until: until}
}

// Errors between the parts of this package.
var (
	// errTombstone: a server reports that the segment is trimmed.
	errTombstone = errors.New("tombstone")
	// errFree: there is no value to adopt.
	errFree = errors.New("register is free")
)

// proposer captures a register and writes it, repeatedly, until a value is
// decided: its own, or one that it must adopt. In each epoch it captures anew.
// Its final result is certain, so that it resolves a write of unknown outcome.
type proposer struct {
	s     *Space
	owner proposerOwner
	place
	a     wor.Addr
	value []byte
	// repair writes only a value that must be adopted, and ends with errFree if
	// there is none.
	repair bool
	// sole: no client ever proposes another value, so no capture is needed as
	// long as no client captures.
	sole  bool
	until env.Instant

	call    call
	phase   phase
	ballot  wor.Ballot
	writing []byte
	// the own value was sent and may be decided some day
	sent    bool
	outbids int
	alarm   alarm
}

type phase uint8

const (
	idle     phase = iota
	first          // written at ballot 0
	captured       // the capture is running
	written        // the write is running
	paused
)

// proposerOwner receives the decided value, or errTombstone, errFree, errMoved
// (for a fixed place), or a *wor.LimitError or *refusedError.
type proposerOwner interface {
	proposed(p *proposer, value []byte, err error)
}

func (p *proposer) run(s *Space, owner proposerOwner, at place, a wor.Addr, value []byte, until env.Instant) {
	p.s, p.owner, p.place, p.a, p.value, p.until = s, owner, at, a, value, until
	if p.sole || at.protocol == wor.Fast && !p.repair {
		p.phase, p.writing, p.sent = first, value, true
		t := p.task(wor.KindWrite, wor.One(a), until)
		t.value = value
		p.call.run(s, p, t)
		return
	}
	p.capture()
}

func (p *proposer) stop() {
	if p.phase != idle {
		p.phase = idle
		p.call.stop()
		p.s.agenda.drop(&p.alarm)
	}
}

func (p *proposer) over(value []byte, err error) {
	p.stop()
	p.owner.proposed(p, value, err)
}

func (p *proposer) capture() {
	p.phase = captured
	t := p.task(wor.KindCapture, wor.One(p.a), p.until)
	p.ballot = p.s.ballot()
	t.ballot = p.ballot
	p.call.run(p.s, p, t)
}

func (p *proposer) write(value []byte, own bool) {
	p.phase, p.writing = written, value
	p.sent = p.sent || own
	t := p.task(wor.KindWrite, wor.One(p.a), p.until)
	t.ballot, t.value = p.ballot, value
	t.pinned, t.epoch = true, p.call.cfg.Epoch
	p.call.run(p.s, p, t)
}

// answered is that of the call.
func (p *proposer) answered(c *call, err error) {
	if err != nil {
		if errors.Is(err, errMoved) && p.fixed == nil {
			if p.s.views[p.partition].cfg.Epoch == c.cfg.Epoch {
				p.sleep(max(p.outbids, 2)) // it has no next one yet
				return
			}
			p.capture()
			return
		}
		p.over(nil, err)
		return
	}
	run := &c.m.Result()[0]
	switch {
	case run.Status == wor.StatusTrimmed:
		p.over(nil, errTombstone)
	case run.Status != wor.StatusOK:
		p.outbid(run.Promised)
	case p.phase != captured:
		p.over(p.writing, nil)
	case run.Written:
		p.write(run.Value, false)
	case p.repair:
		p.over(nil, errFree)
	default:
		p.write(p.value, true)
	}
}

// outbid tries again: at once the first time, when possibly only the round was too low,
// and then with growing waits.
func (p *proposer) outbid(b wor.Ballot) {
	p.s.above(b)
	if p.outbids++; p.outbids == 1 {
		p.capture()
		return
	}
	p.sleep(p.outbids)
}

func (p *proposer) sleep(n int) {
	p.phase = paused
	d := p.s.pause(&p.s.views[p.partition].latencies, n-2)
	p.s.agenda.set(&p.alarm, p.s.clock.Now().Add(d), p)
}

func (p *proposer) ring(*alarm) { p.capture() }

// reader reads one register, and completes a value written halfway. The machine
// does so at the writer's own ballot, which steals nothing. If that is outbid,
// another client is active: the reader gives it time, and captures in the end.
// A capture that finds nothing proves that the register was unwritten, except
// on a chain, where it is only the head's report.
type reader struct {
	s     *Space
	owner readerOwner
	place
	a       wor.Addr
	until   env.Instant
	call    call
	repair  *proposer // nil until needed: few reads need it
	outbids int
	alarm   alarm
}

// readerPatience is how often a reader leaves the repair to other clients.
const readerPatience = 2

// readerOwner receives the decided value, or wor.ErrUnwritten, errTombstone,
// errMoved (for a fixed place), or a limit.
type readerOwner interface {
	read(r *reader, value []byte, err error)
}

func (r *reader) run(s *Space, owner readerOwner, at place, a wor.Addr, until env.Instant) {
	r.s, r.owner, r.place, r.a, r.until, r.outbids = s, owner, at, a, until, 0
	r.start()
}

func (r *reader) start() { r.call.run(r.s, r, r.task(wor.KindRead, wor.One(r.a), r.until)) }

// resume continues after a read of several registers found this one halfway.
func (r *reader) resume(s *Space, owner readerOwner, at place, a wor.Addr, until env.Instant, outbid wor.Ballot) {
	r.s, r.owner, r.place, r.a, r.until, r.outbids = s, owner, at, a, until, 0
	r.outbid(outbid)
}

func (r *reader) stop() {
	if r.s != nil {
		r.call.stop()
		if r.repair != nil {
			r.repair.stop()
		}
		r.s.agenda.drop(&r.alarm)
	}
}

func (r *reader) answered(c *call, err error) {
	if err != nil {
		r.owner.read(r, nil, err)
		return
	}
	run := &c.m.Result()[0]
	switch {
	case run.Status == wor.StatusTrimmed:
		r.owner.read(r, nil, errTombstone)
	case run.Status != wor.StatusOK:
		r.outbid(run.Promised)
	case run.Written:
		r.owner.read(r, run.Value, nil)
	default:
		r.owner.read(r, nil, wor.ErrUnwritten)
	}
}

func (r *reader) outbid(b wor.Ballot) {
	r.s.above(b)
	r.outbids++
	d := r.s.pause(&r.s.views[r.partition].latencies, r.outbids)
	r.s.agenda.set(&r.alarm, r.s.clock.Now().Add(d), r)
}

func (r *reader) ring(*alarm) {
	if r.outbids <= readerPatience {
		r.start()
		return
	}
	r.repair = &proposer{repair: true}
	r.repair.run(r.s, r, r.place, r.a, nil, r.until)
}

// proposed handles the result of the repair.
func (r *reader) proposed(_ *proposer, value []byte, err error) {
	if errors.Is(err, errFree) {
		if r.protocol == wor.Chain {
			r.start()
			return
		}
		// A majority has promised and accepted nothing: so the register was
		// unwritten when the capture began, which is after the read began.
		err = wor.ErrUnwritten
	}
	r.owner.read(r, value, err)
}
