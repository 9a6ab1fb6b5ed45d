// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Engine is a process's part in atomic commit: the RMs that it owns, its TM
// role, and the transactions begun here.
type Engine struct {
	opt    Options
	port   *port // Options.Space and Messenger
	policy policy
	random env.Random
	nonce  uint64 // of the transactions begun here
	// patience is ResolveAfter, or longer if answers take longer.
	patience *row.Patience
	seq      uint64
	chains   map[RM]*chain
	routes   []route
	pools    []pool
	taking   []*takeover // takeovers by RM, nil if there is none
	// txns has the transactions in which this process takes part. slots maps
	// each register to the transaction that expects a vote in it.
	txns          map[ID]*txn
	slots         map[wor.Addr]*txn
	subscriptions subscriptions
}

// New returns an Engine that owns no RM yet. The caller must register Handle
// for wor.ServiceTx.
func New(o Options) (*Engine, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	out := &port{space: o.Space, messenger: o.Messenger, stops: map[int]func(){}}
	o.Space, o.Messenger = out, out
	e := &Engine{
		opt: o, port: out, policy: policies[o.Variant], random: o.Env.Random.Split("tx"),
		patience: row.NewPatience(o.Env.Clock, o.ResolveAfter),
		chains:   map[RM]*chain{}, routes: make([]route, o.RMs), pools: make([]pool, o.RMs), taking: make([]*takeover, o.RMs),
		txns: map[ID]*txn{}, slots: map[wor.Addr]*txn{},
	}
	e.nonce = e.random.Uint64()
	e.subscriptions.init(e)
	return e, nil
}

// Halt ends the Engine: it sends no more requests and calls no more functions.
// Writes already begun may still take effect, as with a process that died;
// other processes finish its transactions, and the caller may make another
// Engine on the same Space.
func (e *Engine) Halt() { e.port.close() }

// after calls f on the Serial after the time d. All calls of the Engine must
// come from the Serial.
func (e *Engine) after(d time.Duration, f func()) env.Timer {
	return e.opt.Env.Clock.After(d, e.opt.Serial.Waker(func() {
		if !e.port.shut {
			f()
		}
	}))
}

// jitter returns a time between d and 2d.
func (e *Engine) jitter(d time.Duration) time.Duration {
	return d + time.Duration(env.IntN(e.random, int(d)+1))
}

func (e *Engine) trace(ev env.Event) {
	if e.opt.Env.Tracer != nil {
		e.opt.Env.Tracer.Trace(ev)
	}
}

// txn is this process's view of a transaction, until its outcome is known.
type txn struct {
	tx    Tx
	votes []*Vote
	left  int // votes not known yet
	// mine has the progress of the votes of RMs here, by slot. by has the chain
	// that gave the vote.
	mine []stage
	by   []*chain
	// claim is a chain that is being taken over and has a YES vote in this
	// transaction.
	claim *chain
	// waiting has the functions to call with the outcome.
	waiting []func(*Outcome)
	// manager: this process is the TM. tell has the other processes to notify.
	manager bool
	tell    []wor.Member
	// report is the TM to which RMs here report their votes.
	report  wor.Member
	timer   env.Timer
	tries   int
	within  time.Duration // how long to wait for votes at first
	took    func(late bool)
	done    bool
	ended   *Outcome
	hurried bool
}

// stage is the progress of a vote of an RM here.
type stage uint8

const (
	notAsked stage = iota
	votedNo
	votedYes
)

// txn finds or makes the record of a transaction.
func (e *Engine) txn(t Tx) *txn {
	x := e.txns[t.ID]
	if x != nil {
		return x
	}
	x = &txn{tx: t, votes: make([]*Vote, len(t.Slots)), left: len(t.Slots), mine: make([]stage, len(t.Slots)), by: make([]*chain, len(t.Slots))}
	e.txns[t.ID] = x
	for _, s := range t.Slots {
		e.slots[s.Addr] = x
	}
	x.within, x.took = e.patience.Begin()
	e.arm(x)
	return x
}

// follow subscribes to the votes of other RMs as soon as they are decided.
func (e *Engine) follow(x *txn) {
	for i, s := range x.tx.Slots {
		if x.votes[i] == nil && x.mine[i] == notAsked && !x.done {
			e.subscriptions.listen(s)
			if b, ok := e.opt.Space.Known(s.Addr); ok {
				e.learn(x, i, decodeVote(b))
			}
		}
	}
}

// heard handles a notification of what a register holds.
func (e *Engine) heard(a wor.Addr, value []byte) {
	x := e.slots[a]
	if x == nil {
		return
	}
	for i, s := range x.tx.Slots {
		if s.Addr == a {
			e.learn(x, i, decodeVote(value))
			return
		}
	}
}

// learn records the decided vote of a slot.
func (e *Engine) learn(x *txn, slot int, v *Vote) {
	if x.done || x.votes[slot] != nil {
		return
	}
	v = x.tx.count(v)
	x.votes[slot] = v
	x.left--
	if e.policy.learn == byReport && x.mine[slot] != notAsked && x.report.ID != 0 && x.report.ID != e.opt.Self.ID {
		m := votedMessage{x.tx, slot, v.Yes, v.Brief}
		e.send(x.report, m.encode(), nil)
	}
	switch {
	case !v.Yes:
		if string(v.Brief) == ReasonTimeout {
			x.took(true)
		}
		e.end(x, false)
	case x.left == 0:
		x.took(false)
		e.end(x, true)
	}
}

// end computes the outcome: a function of decided votes.
func (e *Engine) end(x *txn, commit bool) {
	o := &Outcome{Commit: commit, Briefs: make([][]byte, len(x.votes))}
	for i, v := range x.votes {
		if v != nil && v.Yes == commit {
			o.Briefs[i] = v.Brief
		}
	}
	e.finish(x, o)
}

// finish applies an outcome here and notifies the waiting functions and
// processes.
func (e *Engine) finish(x *txn, o *Outcome) {
	if x.done {
		return
	}
	x.done, x.ended = true, o
	if x.timer != nil {
		x.timer.Stop()
	}
	delete(e.txns, x.tx.ID)
	for _, s := range x.tx.Slots {
		if e.slots[s.Addr] == x {
			delete(e.slots, s.Addr)
		}
	}
	for i, s := range x.tx.Slots {
		if x.mine[i] != votedYes {
			continue
		}
		if c := x.by[i]; c == e.chains[s.RM] && !o.Unknown {
			e.opt.Resource.Finish(s.RM, x.tx.ID, o)
			c.finished(&x.tx, s, o.Commit)
		}
	}
	for i, s := range x.tx.Slots {
		if x.mine[i] != notAsked && !o.Unknown {
			e.trace(Learned{s.RM, x.tx.ID, o.Commit})
		}
	}
	if x.manager && e.policy.learn != byEveryone && !o.Unknown {
		m := outcomeMessage{x.tx, *o}
		for _, to := range x.tell {
			e.send(to, m.encode(), nil)
		}
	}
	for _, f := range x.waiting {
		f(o)
	}
}

// arm sets the time at which to look for missing votes.
func (e *Engine) arm(x *txn) {
	shift := min(x.tries, 4)
	x.timer = e.after(e.jitter(x.within<<shift), func() {
		if !x.done {
			e.look(x)
		}
	})
}

// look reads the registers of missing votes. The second time, it decides those
// votes as NO.
func (e *Engine) look(x *txn) {
	x.tries++
	for i := range x.tx.Slots {
		if x.done {
			return
		}
		if x.votes[i] != nil || x.mine[i] != notAsked {
			continue // known, or being written here
		}
		if x.tries == 1 && !x.hurried {
			e.opt.Space.Read(x.tx.Slots[i].Addr, x.within, func(b []byte, err error) { e.settled(x, i, b, err) })
		} else {
			e.decideNo(x, i)
		}
	}
	if !x.done {
		e.arm(x)
	}
}

// decideNo votes NO for an RM that does not vote, unless its own vote came
// first.
func (e *Engine) decideNo(x *txn, slot int) {
	no := &Vote{ID: x.tx.ID, Brief: []byte(ReasonTimeout)}
	e.opt.Space.Propose(x.tx.Slots[slot].Addr, no.encode(), 0, func(err error) {
		if err == nil {
			e.learn(x, slot, no)
			return
		}
		e.settled(x, slot, nil, err)
	})
}

// settled handles the result of deciding a register. If the result is
// inconclusive, the next attempt continues.
func (e *Engine) settled(x *txn, slot int, value []byte, err error) {
	written := (*wor.WrittenError)(nil)
	switch {
	case err == nil:
		e.learn(x, slot, decodeVote(value))
	case errors.As(err, &written):
		e.learn(x, slot, decodeVote(written.Value))
	case errors.Is(err, wor.ErrTrimmed):
		e.trimmed(x, slot)
	}
}

// trimmed handles a vote whose segment was trimmed. A segment is trimmed only
// after all RMs have applied the transactions committed there. So if an RM
// voted YES and has not applied the transaction, the transaction was not
// committed, provided that no other process owns that RM by now. Other
// processes learn nothing from the trim.
func (e *Engine) trimmed(x *txn, slot int) {
	var claim *chain
	for _, c := range append(slices.Clone(x.by), x.claim) {
		if c != nil && !c.dead {
			claim = c
		}
	}
	if claim == nil {
		e.finish(x, &Outcome{Unknown: true, Briefs: make([][]byte, len(x.votes))})
		return
	}
	claim.confirm(func(err error) {
		if err == nil {
			e.learn(x, slot, &Vote{ID: x.tx.ID, Brief: []byte(ReasonTrimmed)})
		}
	})
}

// Resolve finds the outcome of a transaction at once: it decides missing votes
// as NO.
func (e *Engine) Resolve(t Tx, done func(*Outcome)) { e.resolve(t, nil, done) }

func (e *Engine) resolve(t Tx, claim *chain, done func(*Outcome)) {
	x := e.txn(t)
	if claim != nil {
		x.claim = claim
	}
	x.waiting = append(x.waiting, done)
	x.hurried = true
	e.look(x)
}

// Part is an RM's part of a transaction, in the encoding of its Resource.
type Part struct {
	RM   RM
	Part []byte
}

// startsMax bounds how often Start begins a transaction again after an RM
// closed the registers chosen for it; each attempt uses newer ones.
const startsMax = 8

// Start runs a transaction. Parts must be sorted by RM, with one part per RM.
// An error means that the transaction was not begun: an RM's owner is not
// known, does not answer or has no room. Otherwise Start calls done with the
// outcome, and with the Tx that identifies the transaction to others.
//
// From time to time an RM moves on to its next segment and closes the registers
// that it has granted in the previous one. A transaction that meets a closed
// register aborts although no RM refused it, so Start begins it again in newer
// registers.
func (e *Engine) Start(parts []Part, done func(Tx, *Outcome, error)) { e.start(parts, startsMax, done) }

func (e *Engine) start(parts []Part, starts int, done func(Tx, *Outcome, error)) {
	e.Reserve(parts, func(t Tx, err error) {
		if err != nil {
			done(t, nil, err)
			return
		}
		bodies := make([][]byte, len(parts))
		for i := range parts {
			bodies[i] = parts[i].Part
		}
		e.begin(t, bodies, func(o *Outcome) {
			if e.metClosed(t, o) && starts > 1 {
				e.after(0, func() { e.start(parts, starts-1, done) })
				return
			}
			done(t, o, nil)
		})
	})
}

// metClosed reports whether a transaction was aborted because an RM had closed
// the register in which it was to vote. If so, it also drops the registers that
// were granted together with that one.
func (e *Engine) metClosed(t Tx, o *Outcome) (closed bool) {
	for i, b := range o.Briefs {
		if !o.Commit && string(b) == ReasonRolled {
			closed = true
			e.pools[t.Slots[i].RM].drop()
		}
	}
	return closed
}

// begin sends the first messages of the variant.
func (e *Engine) begin(t Tx, parts [][]byte, done func(*Outcome)) {
	e.trace(Began{t.ID})
	x := e.txn(t)
	x.waiting = append(x.waiting, done)
	if e.policy.manager && len(t.Slots) > 1 {
		tm := e.opt.Managers[int(t.ID.Seq%uint64(len(e.opt.Managers)))]
		m := beginMessage{t, e.opt.Self, make([]wor.Member, len(t.Slots)), parts}
		for i, s := range t.Slots {
			m.owners[i] = e.owner(s.RM)
		}
		e.send(tm, m.encode(), nil)
		if e.policy.learn == byEveryone {
			e.follow(x)
		}
		return
	}
	// If an RM here cannot vote, this process knows that at once and need not
	// ask the others.
	for _, here := range []bool{true, false} {
		for i, s := range t.Slots {
			if e.Owns(s.RM) == here && x.mine[i] == notAsked {
				e.ask(x, i, parts[i])
			}
		}
		if here && slices.Contains(x.mine, votedNo) {
			break
		}
	}
	e.follow(x)
}

// ask asks an RM for its vote.
func (e *Engine) ask(x *txn, slot int, part []byte) {
	if x.done {
		return
	}
	e.askAt(x, slot, e.owner(x.tx.Slots[slot].RM), part)
}

func (e *Engine) askAt(x *txn, slot int, to wor.Member, part []byte) {
	rm := x.tx.Slots[slot].RM
	if c := e.chains[rm]; c != nil && c.open {
		if e.prepare(x.tx, slot, part, e.opt.Self) == answerClosed {
			e.decideNo(x, slot)
		}
		return
	}
	m := prepareMessage{x.tx, slot, e.opt.Self, part}
	e.send(to, m.encode(), func(d *decoder, err error) {
		if err != nil || x.done || x.votes[slot] != nil {
			return
		}
		switch d.u8() {
		case answerNotOwner:
			e.redirected(rm, d)
			e.decideNo(x, slot)
		case answerClosed:
			e.pools[rm].drop()
			e.decideNo(x, slot)
		}
	})
}

// Join votes for an RM that this process owns, without being asked: variant F2
// begins this way.
func (e *Engine) Join(t Tx, slot int, part []byte) { e.prepare(t, slot, part, wor.Member{}) }

// Watch calls done with the outcome of a transaction.
func (e *Engine) Watch(t Tx, done func(*Outcome)) {
	x := e.txn(t)
	x.waiting = append(x.waiting, done)
	e.follow(x)
}

// prepare makes an RM vote, once, and returns the answer for the process that
// asked. In a closed segment it votes NO without asking the Resource, so that
// other processes do not wait for its vote.
func (e *Engine) prepare(t Tx, slot int, part []byte, from wor.Member) uint8 {
	s := t.Slots[slot]
	c := e.chains[s.RM]
	if c == nil || !c.open {
		return answerNotOwner
	}
	seg, code := c.take(s.Addr)
	if seg == nil {
		return code
	}
	x := e.txn(t)
	if x.votes[slot] != nil {
		return answerOK // another process did not wait for this vote
	}
	x.report = from
	v := &Vote{ID: t.ID, Slots: t.Slots, Brief: []byte(ReasonRolled)}
	if !seg.closed {
		v.Order = seg.order()
		v.Brief, v.Redo, v.Yes = e.opt.Resource.Prepare(s.RM, t.ID, v.Order, part)
	}
	invariant.Check(!v.Yes || len(v.Brief) <= BriefMax && len(v.Brief)+len(v.Redo) <= VoteMax,
		"vote of %d and %d bytes", len(v.Brief), len(v.Redo))
	x.mine[slot], x.by[slot] = votedNo, c
	if v.Yes {
		x.mine[slot] = votedYes
		seg.pending++
	}
	e.vote(c, seg, x, slot, v)
	if e.policy.learn == byEveryone {
		e.follow(x)
	}
	return answerOK
}

// vote writes a vote. The register decides whether another process was faster.
func (e *Engine) vote(c *chain, seg *segment, x *txn, slot int, v *Vote) {
	a, value := x.tx.Slots[slot].Addr, v.encode()
	seg.bytes += int64(len(value))
	answered := func(err error) {
		if err == nil {
			e.learn(x, slot, v)
			return
		}
		e.voteAgain(c, x, slot, v, err)
	}
	if !e.policy.ahead {
		e.opt.Space.Capture(wor.One(a), 0, func(t *wor.Token, err error) {
			if err != nil {
				answered(err)
				return
			}
			e.opt.Space.Write(t, a.Offset, value, 0, answered)
		})
		return
	}
	e.opt.Space.Write(seg.token, a.Offset, value, 0, answered)
}

// voteAgain finds the outcome of a vote whose write failed: it proposes the
// same vote again, which still succeeds if no other vote has been decided.
func (e *Engine) voteAgain(c *chain, x *txn, slot int, v *Vote, err error) {
	if x.done {
		c.suspect()
		return
	}
	if errors.Is(err, wor.ErrWritten) || errors.Is(err, wor.ErrTrimmed) {
		c.suspect()
		e.settled(x, slot, nil, err)
		return
	}
	again := func() {
		e.opt.Space.Propose(x.tx.Slots[slot].Addr, v.encode(), 0, func(err error) {
			if err == nil {
				e.learn(x, slot, v)
				return
			}
			e.voteAgain(c, x, slot, v, err)
		})
	}
	c.renew(err)
	if errors.Is(err, wor.ErrUnknown) || errors.Is(err, wor.ErrToken) || errors.Is(err, wor.ErrOutbid) || errors.Is(err, wor.ErrSealed) {
		again()
		return
	}
	e.after(e.jitter(e.opt.ResolveAfter/4), again)
}
