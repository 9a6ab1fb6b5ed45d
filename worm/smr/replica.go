// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Replica is one copy of a state machine. It belongs to Options.Serial: the
// caller must make all calls from there. Calls return at once and report their
// result there, once, never from within the call. The parameter within bounds
// the time of a call; 0 means no bound.
type Replica struct {
	base
	opt Options
	// nonce identifies this run of the replica.
	nonce uint64

	learner learner
	shared  *shared
	policy  policy
	saver   saver
	barrier barrier

	// pending has the commands that were submitted here, or sent here by other
	// replicas, and are not applied yet. queue has those of them that this
	// replica must write.
	pending map[key]*proposal
	queue   []*proposal
	bytes   int64
	// flights are the writes of this replica whose slots are not applied.
	flights map[Slot]*flight
	flying  int // the undecided ones of these

	session uint64 // 0: not open
	opening bool
	early   []*proposal // waiting for the session
	number  uint64
	wait    env.Backoff
}

// policy is the implementation of a Leadership.
type policy interface {
	// pump writes as many queued commands as it may.
	pump()
	// entered is called when the learner has entered a segment, or knows that
	// it is not allocated.
	entered()
	// heard is called when a register ahead of the learner is decided.
	heard(offset uint32)
	// blocked is called when the learner does not know whether the next slot is
	// decided.
	blocked()
	// failed is called when the outcome of a flight is unknown.
	failed(f *flight)
}

// proposal is a command in progress.
type proposal struct {
	command
	done   func(Result, error)
	timer  env.Timer
	queued bool
	// sent: a replica may have written the command.
	sent bool
	over bool
}

// flight is a write of this replica.
type flight struct {
	slot      Slot
	proposals []*proposal
	value     []byte
	decided   bool
}

// Result is the result of a command.
type Result struct {
	// Value is what the StateMachine returned.
	Value []byte
	// Slot is the first slot above the command: a causal read after it sees the
	// command.
	Slot Slot
}

// Open makes a Replica and begins to learn.
func Open(o Options) (*Replica, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	random := o.Random.Split("smr")
	r := &Replica{
		base: base{space: row.NewPatient(o.Space, o.Clock, o.Timeout), clock: o.Clock, random: random, serial: o.Serial, timeout: o.Timeout},
		opt:  o, nonce: random.Uint64() | 1, shared: newShared(),
		pending: map[key]*proposal{}, flights: map[Slot]*flight{}, wait: backoff(),
	}
	r.learner = newLearner(r)
	r.saver = saver{r: r, last: -1, wait: backoff()}
	r.barrier = barrier{r: r, wait: backoff()}
	switch o.Leadership {
	case StickyLeader:
		r.policy = newSticky(r)
	case Turns:
		r.policy = newTurns(r)
	default:
		r.policy = &free{r: r, wait: backoff()}
	}
	o.Serial.Do(r.restore)
	return r, nil
}

// Close ends the Replica. Pending commands are answered with ErrUnknown, or
// with ErrClosed if they were not sent to any server or replica; other pending
// calls get no answer.
func (r *Replica) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.learner.unlisten()
	all := r.early
	for _, k := range sortedKeys(r.pending) {
		all = append(all, r.pending[k])
	}
	for _, p := range all {
		r.serial.Do(func() { r.expire(p, wor.ErrClosed) })
	}
}

func sortedKeys(m map[key]*proposal) []key {
	return slices.SortedFunc(maps.Keys(m), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.number, b.number))
	})
}

func sortedSlots(m map[Slot]*flight) []Slot { return slices.Sorted(maps.Keys(m)) }

// Applied returns the next slot to apply: all lower slots are applied.
func (r *Replica) Applied() Slot { return r.learner.next }

// Propose submits a command, and returns its result when this replica has
// applied it. ErrUnknown means that the command may have been applied, or may
// still be, once. ErrSession means the same: this replica was silent for so
// long that its session was dropped. Any other error means that the command was
// not applied and never will be: ErrDeadline, ErrBusy, ErrLimit (CommandMax),
// ErrClosed.
func (r *Replica) Propose(cmd []byte, within time.Duration, done func(Result, error)) {
	p := &proposal{command: command{verb: verbApply, body: cmd}, done: done}
	if !r.admit(p, within) {
		return
	}
	if r.session == 0 {
		r.early = append(r.early, p)
		r.open()
		return
	}
	r.submit(p)
}

// Session is a client's own numbering of its commands, which ensures that each
// is applied once, whichever replicas it is sent to, and however often.
type Session uint64

// OpenSession opens a session.
func (r *Replica) OpenSession(within time.Duration, done func(Session, error)) {
	p := &proposal{command: command{verb: verbOpen, key: key{0, r.random.Uint64()}}}
	p.done = func(res Result, err error) {
		if err != nil {
			done(0, err)
			return
		}
		done(Session(binary.LittleEndian.Uint64(res.Value)), nil)
	}
	if r.admit(p, within) {
		r.enqueue(p)
	}
}

// ProposeIn is Propose in a session: number is the command's, from 1 on, and
// low is above all numbers whose results the client has received. Proposing the
// same number again, here or elsewhere, returns the result of the first time;
// while it is pending here, it returns ErrBusy.
func (r *Replica) ProposeIn(s Session, number, low uint64, cmd []byte, within time.Duration, done func(Result, error)) {
	p := &proposal{command: command{verb: verbApply, key: key{uint64(s), number}, low: low, body: cmd}, done: done}
	if r.pending[p.key] != nil {
		r.serial.Do(func() { done(Result{}, wor.ErrBusy) })
		return
	}
	if r.admit(p, within) {
		r.enqueue(p)
	}
}

// admit checks the limits and sets the time limit.
func (r *Replica) admit(p *proposal, within time.Duration) bool {
	var err error
	room := r.opt.CommandsMax
	if r.opening {
		room++ // the opening of the replica's own session does not count as a command
	}
	switch {
	case r.closed:
		err = wor.ErrClosed
	case len(p.body) > CommandMax:
		err = &wor.LimitError{Name: "smr.CommandMax", Limit: CommandMax, Got: int64(len(p.body))}
	case len(r.pending)+len(r.early) >= room || r.bytes >= r.opt.BytesMax:
		err = wor.ErrBusy
	}
	if err != nil {
		r.serial.Do(func() { p.done(Result{}, err) })
		return false
	}
	r.bytes += int64(len(p.body))
	if within > 0 {
		p.timer = r.after(within, func() { r.expire(p, wor.ErrDeadline) })
	}
	return true
}

// open opens the replica's own session.
func (r *Replica) open() {
	if r.opening {
		return
	}
	r.opening = true
	r.OpenSession(0, func(s Session, err error) {
		r.opening = false
		if err != nil {
			r.later(&r.wait, r.open)
			return
		}
		r.session, r.number = uint64(s), 0
		waiting := r.early
		r.early = nil
		for _, p := range waiting {
			r.submit(p)
		}
	})
}

// submit numbers a command of the replica's own session.
func (r *Replica) submit(p *proposal) {
	if p.over {
		return
	}
	r.number++
	p.key = key{r.session, r.number}
	r.enqueue(p)
}

// lowest returns the lowest pending number of the replica's own session.
func (r *Replica) lowest() uint64 {
	low := r.number + 1
	for k := range r.pending {
		if k.session == r.session {
			low = min(low, k.number)
		}
	}
	return low
}

// enqueue queues a command for writing. The command may have been queued
// before: it is applied only once.
func (r *Replica) enqueue(p *proposal) {
	if p.over || p.queued || r.closed {
		return
	}
	p.queued = true
	r.pending[p.key] = p
	r.queue = append(r.queue, p)
	r.policy.pump()
}

// expire answers a command that was not applied in time. It may still be
// applied later.
func (r *Replica) expire(p *proposal, cause error) {
	err := cause
	if p.sent {
		err = &wor.UnknownError{Addr: r.opt.ID.addr(r.learner.next), Cause: cause}
	}
	r.finish(p, Result{}, err)
}

// finish answers a command.
func (r *Replica) finish(p *proposal, res Result, err error) {
	if p.over {
		return
	}
	p.over = true
	r.bytes -= int64(len(p.body))
	if p.timer != nil {
		p.timer.Stop()
	}
	if r.pending[p.key] == p {
		delete(r.pending, p.key)
	}
	if p.done != nil {
		p.done(res, err)
	}
}

// take removes the commands for one register from the queue.
func (r *Replica) take() (batch, []*proposal) {
	b := batch{origin: r.nonce, applied: r.learner.next}
	var taken []*proposal
	bytes, low := 0, uint64(0)
	n := 0
	for _, p := range r.queue {
		if p.over {
			p.queued = false
			n++
			continue
		}
		if len(taken) > 0 && bytes+p.length() > r.opt.BatchMax {
			break
		}
		n++
		bytes += p.length()
		if p.session == r.session && p.verb == verbApply {
			if low == 0 {
				low = r.lowest()
			}
			p.low = low
		}
		p.queued, p.sent = false, true
		taken = append(taken, p)
		b.commands = append(b.commands, p.command)
	}
	r.queue = slices.Delete(r.queue, 0, n)
	return b, taken
}

// waiting reports whether there is something to write.
func (r *Replica) waiting() bool {
	for len(r.queue) > 0 && r.queue[0].over {
		r.queue[0].queued = false
		r.queue = slices.Delete(r.queue, 0, 1)
	}
	return len(r.queue) > 0
}

// fly records a write of this replica.
func (r *Replica) fly(slot Slot, value []byte, taken []*proposal) *flight {
	f := &flight{slot: slot, value: value, proposals: taken}
	r.flights[slot] = f
	r.flying++
	return f
}

// landed handles the result of a flight's write of value.
func (r *Replica) landed(f *flight, value []byte, err error) {
	if r.closed {
		return
	}
	if !row.Decided(err) {
		if r.flights[f.slot] == f {
			r.policy.failed(f)
		}
		return
	}
	r.settle(f)
	r.learner.heard(wor.Cell{Addr: r.opt.ID.addr(f.slot), Value: row.Held(value, err), Err: trimmed(err)})
	if f.slot < r.learner.next {
		r.passed(r.learner.next) // it is after an end
	}
	r.policy.pump()
}

// settle records that a flight is decided.
func (r *Replica) settle(f *flight) {
	if !f.decided {
		f.decided = true
		r.flying--
	}
}

// insist repeats a flight's write until its register is decided.
func (r *Replica) insist(f *flight) {
	if r.flights[f.slot] != f || f.decided {
		return
	}
	r.space.Propose(r.opt.ID.addr(f.slot), f.value, r.timeout, func(err error) { r.landed(f, f.value, err) })
}

// passed runs after the learner has passed the slots below a slot. Commands of
// this replica's flights there that were not applied must be written again.
func (r *Replica) passed(below Slot) {
	if len(r.flights) == 0 {
		return
	}
	var again []*proposal
	for _, slot := range sortedSlots(r.flights) {
		if f := r.flights[slot]; slot < below {
			r.settle(f)
			delete(r.flights, slot)
			again = append(again, f.proposals...)
		}
	}
	for _, p := range again {
		r.enqueue(p)
	}
}

// ground gives up all flights and queues their commands again.
func (r *Replica) ground() { r.passed(At(IndexMax, 0)) }

// apply applies the batch of a slot. The learner's next is already above the
// slot.
func (r *Replica) apply(b batch) {
	for _, c := range b.commands {
		value, err := r.shared.apply(c, r.opt.Machine)
		if p := r.pending[c.key]; p != nil && p.verb == c.verb {
			r.answered(p, value, err)
		}
	}
	r.shared.note(report{b.origin, b.applied})
	r.saver.applied(b.origin)
}

// answered answers the waiting caller of a command that was applied, now or
// earlier.
func (r *Replica) answered(p *proposal, value []byte, err error) {
	if err == ErrSession && p.session == r.session {
		r.session = 0 // the next command opens another
	}
	r.finish(p, Result{Value: value, Slot: r.learner.next}, err)
}
