package space

import (
	"errors"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// place says where a register is kept, and how.
type place struct {
	partition wor.Partition
	protocol  wor.Protocol
	// fixed is a configuration to ask whichever is the newest, or nil.
	fixed *wor.Config
}

func (p place) task(kind wor.Kind, r wor.Range, until env.Instant) task {
	return task{kind: kind, partition: p.partition, protocol: p.protocol, r: r, fixed: p.fixed, until: until}
}

// Errors between the parts of this package.
var (
	// errTombstone: a server says that the segment is trimmed.
	errTombstone = errors.New("tombstone")
	// errFree: nothing must be adopted.
	errFree = errors.New("register is free")
)

// proposer captures a register and writes it, again and again, until a value is
// decided: its own, or the one that it must adopt. In each epoch it captures
// anew. What it knows in the end is certain, so that a write of unknown outcome
// becomes a known one.
type proposer struct {
	s     *Space
	owner proposerOwner
	place
	a     wor.Addr
	value []byte
	// repair writes nothing but what must be adopted, and ends with errFree
	// where there is nothing.
	repair bool
	// sole: nobody ever proposes another value, so that no capture is needed
	// where nobody captures.
	sole  bool
	until env.Instant

	call    call
	phase   phase
	ballot  wor.Ballot
	writing []byte
	// sent says that the own value was sent: it may be decided some day.
	sent    bool
	outbids int
	alarm   alarm
}

type phase uint8

const (
	idle     phase = iota
	first          // written at ballot 0
	captured       // the capture is under way
	written        // the write is
	paused
)

// proposerOwner is told what was decided, or errTombstone, errFree, errMoved (of a
// fixed place), or a *wor.LimitError or *refusedError.
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

// answered is the call's.
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

// outbid tries again: at once the first time, when it may be that only the round
// was too low, and then later and later.
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

// reader reads one register, and completes what was written halfway. The machine
// does so at the writer's own ballot, which steals nothing. Where that is outbid,
// somebody else is at work: it gives them time, and captures in the end. A capture
// that finds nothing says that the register was unwritten, but on a chain, where
// it is the head's word alone.
type reader struct {
	s     *Space
	owner readerOwner
	place
	a       wor.Addr
	until   env.Instant
	call    call
	repair  *proposer // nil until it is needed: few reads do
	outbids int
	alarm   alarm
}

// readerPatience is how often a reader leaves the repair to others.
const readerPatience = 2

// readerOwner is told the decided value, or wor.ErrUnwritten, errTombstone,
// errMoved (of a fixed place), or a limit.
type readerOwner interface {
	read(r *reader, value []byte, err error)
}

func (r *reader) run(s *Space, owner readerOwner, at place, a wor.Addr, until env.Instant) {
	r.s, r.owner, r.place, r.a, r.until, r.outbids = s, owner, at, a, until, 0
	r.start()
}

func (r *reader) start() { r.call.run(r.s, r, r.task(wor.KindRead, wor.One(r.a), r.until)) }

// resume goes on after a read that others made found the register halfway.
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

// proposed is the repair's.
func (r *reader) proposed(_ *proposer, value []byte, err error) {
	if errors.Is(err, errFree) {
		if r.protocol == wor.Chain {
			r.start()
			return
		}
		// A majority has promised and accepted nothing: so it was when the
		// capture began, which is after the read did.
		err = wor.ErrUnwritten
	}
	r.owner.read(r, value, err)
}
