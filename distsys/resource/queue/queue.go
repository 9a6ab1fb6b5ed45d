// SPDX-License-Identifier: Apache-2.0

// Package queue is a bounded first-in first-out queue of values whose readers
// and writers are critical sections: the inside of a mailbox, a channel
// between instances, and the way in and out for the program around them.
//
// In and out: values. A writer's message takes its place in the queue when the
// section pre-commits and can be read once it has committed; what stands behind
// waits for it. So the order in the queue is an order in which the sections
// could have happened one after the other, also with respect to the other
// resources that they touched. A section that takes places in several queues
// is refused behind a message that is not decided: see distsys.Queued. A reader
// takes from the front and gives back when it aborts; one section reads at a
// time.
//
// Promised: no message is lost, duplicated or reordered within the process;
// there are never more than the limits say. Nothing survives the process.
//
// Source: PGo (ASPLOS 2023), section 4.2.1.
package queue

import (
	"slices"
	"sync"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// CapacityDefault is the number of messages of a queue with zero Limits.
const CapacityDefault = 1024

// BytesDefault bounds the bytes of messages whose size is known.
const BytesDefault = 64 << 20

// Limits bound what a queue holds. Zero means the default.
type Limits struct {
	Messages int
	Bytes    int // of messages that came with a size; others count nothing
	// Distinct makes the queue a set: a message that is in it is not put into it
	// again. It is in it until the section that reads it has committed, so a
	// message like it that comes meanwhile is one with it.
	Distinct bool
}

// Queue is the queue. It is safe for concurrent use.
type Queue struct {
	limits Limits

	mu      sync.Mutex
	places  []*Place // in order; the first taken are being read
	taken   int
	reader  *distsys.Tx
	writers []writer // what sections have written and not yet pre-committed
	bytes   int
	there   map[string]*Place // by key, what is readable or being read, where messages are distinct
	casts   map[string]int    // by key, how many undecided ones are not alone, likewise
	held    bool              // the reader of distinct messages has pre-committed
	putOff  bool              // a Stage was refused for that reason
	changes uint64            // grows with every change that Length can see

	readable wakers // woken when the front may have become readable
	writable wakers // woken when there may be room
	refused  wakers // readers that found another one reading
	// wanted is set where the queue could not do what was asked of it, until
	// the next wake. While it is not set, giving up a place wakes nothing:
	// sections that take places and then abort for another reason would
	// otherwise wake themselves and each other for ever.
	wanted bool

	looks  []look // sections that have read the length
	in     reading
	out    writing
	both   both
	length length
}

// Message is a value on its way, with the clock of the section that sent it.
type Message struct {
	Value value.Value
	Clock tracelog.Clock
	// Size counts for Limits.Bytes: the bytes of the value's encoding and those
	// that the clock takes in memory; 0 where the value was never encoded.
	Size int

	key string // where messages are distinct: what two like each other have in common
}

// Place is a message's place in the queue. It is the queue's until Ready or
// Drop, and of no use after.
type Place struct {
	msg   Message
	ready bool
	cast  bool // its section takes places in other queues too
	own   bool // its section has read one like it here, and this one comes after
	past  bool // one like it was there until after this one was placed: it is nothing
}

type writer struct {
	tx     *distsys.Tx
	msgs   []Message // without their clocks
	places []*Place  // since pre-commit
}

type wakers []env.Waker

func (ws *wakers) add(w env.Waker) {
	if !slices.Contains(*ws, w) {
		*ws = append(*ws, w)
	}
}

func (ws *wakers) remove(w env.Waker) {
	if i := slices.Index(*ws, w); i >= 0 {
		*ws = slices.Delete(*ws, i, i+1)
	}
}

func (ws wakers) wake() {
	for _, w := range ws {
		w.Wake()
	}
}

// New returns an empty queue.
func New(l Limits) *Queue {
	if l.Messages <= 0 {
		l.Messages = CapacityDefault
	}
	if l.Bytes <= 0 {
		l.Bytes = BytesDefault
	}
	q := &Queue{limits: l}
	if l.Distinct {
		q.there, q.casts = map[string]*Place{}, map[string]int{}
	}
	q.in.q, q.out.q, q.both.q, q.length.q = q, q, q, q
	return q
}

// room reports whether n more messages of that many bytes fit. A message larger
// than the limit of bytes fits into an empty queue.
func (q *Queue) room(n, bytes int) bool {
	return len(q.places)+n <= q.limits.Messages && (bytes == 0 || len(q.places) == 0 || q.bytes+bytes <= q.limits.Bytes)
}

// Outcome reports whether messages got places.
type Outcome uint8

// The outcomes of a Stage.
const (
	Staged Outcome = iota
	// Full: there is no room, or a section that has read the length is about
	// to commit. WatchRoom tells when it is worth trying again.
	Full
	// Busy: there are undecided messages, and the section takes places in
	// other queues too; or a section has read a message like one of these, and it
	// is about to commit, or the section takes places in other queues too.
	Busy
)

// message is a message of this process, the clock of which is not known yet. A
// value that has no encoding cannot be one of distinct messages.
func (q *Queue) message(v value.Value) (m Message, err error) {
	m.Value = v
	if q.limits.Distinct {
		err = value.Catch(func() { m.key = string(value.AppendWire(nil, v)) })
	}
	return m, err
}

// keyed gives their keys to messages from outside, which were decoded and
// therefore have an encoding.
func (q *Queue) keyed(msgs []Message) {
	for i := range msgs {
		if m := &msgs[i]; q.limits.Distinct && m.key == "" {
			m.key = string(value.AppendWire(nil, m.Value))
		}
	}
}

// Stage takes places at the end for all messages. Alone says that the section
// that sends them takes places in no other queue. Where messages are distinct,
// their values were decoded.
func (q *Queue) Stage(alone bool, msgs ...Message) ([]*Place, Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stage(nil, alone, msgs)
}

// stage is Stage for a section of this process, or nil.
func (q *Queue) stage(tx *distsys.Tx, alone bool, msgs []Message) ([]*Place, Outcome) {
	q.keyed(msgs)
	bytes := 0
	for _, m := range msgs {
		bytes += m.Size
	}
	if !q.room(len(msgs), bytes) || q.heldFrom(tx) {
		q.wanted = true
		return nil, Full
	}
	if !alone && !q.decided() {
		q.wanted = true
		return nil, Busy
	}
	own := tx != nil && q.reader == tx
	if (q.held || q.casts != nil && !alone) && !own && slices.ContainsFunc(msgs, func(m Message) bool { return q.hasTaken(m.key) }) {
		q.wanted, q.putOff = true, true
		return nil, Busy
	}
	places := q.place(msgs, bytes)
	for _, p := range places {
		if p.cast, p.own = !alone, own && q.hasTaken(p.msg.key); p.cast && q.casts != nil {
			q.casts[p.msg.key]++
		}
	}
	return places, Staged
}

// heldFrom reports whether a section other than tx has read the length and is
// about to commit.
func (q *Queue) heldFrom(tx *distsys.Tx) bool {
	for _, l := range q.looks {
		if l.held && l.tx != tx {
			return true
		}
	}
	return false
}

// decided reports whether every message can be read. Undecided ones may stand
// anywhere.
func (q *Queue) decided() bool {
	for _, p := range q.places {
		if !p.ready {
			return false
		}
	}
	return true
}

// Force puts messages at the end, readable, whether there is room or not: for
// what was promised room before. Who calls it bounds how much that can be.
func (q *Queue) Force(msgs ...Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keyed(msgs)
	bytes := 0
	for _, m := range msgs {
		bytes += m.Size
	}
	q.makeReady(q.place(msgs, bytes))
}

func (q *Queue) place(msgs []Message, bytes int) []*Place {
	places := make([]*Place, len(msgs))
	for i, m := range msgs {
		places[i] = &Place{msg: m}
	}
	q.places = append(q.places, places...)
	q.bytes += bytes
	q.changes++
	return places
}

// Ready makes staged messages readable.
func (q *Queue) Ready(places []*Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.makeReady(places)
}

func (q *Queue) makeReady(places []*Place) {
	for _, p := range places {
		q.decide(p)
		p.ready = true
		if q.there != nil {
			q.unite(p)
		}
	}
	q.changes++
	q.readable.wake()
}

// decide takes an undecided place off the count.
func (q *Queue) decide(p *Place) {
	if q.casts == nil || p.ready || !p.cast {
		return
	}
	if q.casts[p.msg.key]--; q.casts[p.msg.key] == 0 {
		delete(q.casts, p.msg.key)
	}
}

// unite drops a message like one that is there. Whoever reads that one has then
// heard of the sender of this one, too, also a section that is reading it.
func (q *Queue) unite(p *Place) {
	first := q.there[p.msg.key]
	switch {
	case p.past:
	case first == nil:
		q.there[p.msg.key] = p
		return
	default:
		first.msg.Clock = first.msg.Clock.Merge(p.msg.Clock)
	}
	q.drop([]*Place{p})
}

// hasTaken reports whether the section that reads has read such a message.
func (q *Queue) hasTaken(key string) bool {
	return slices.ContainsFunc(q.places[:q.taken], func(p *Place) bool { return p.msg.key == key })
}

// pass makes nothing of the undecided messages like one that is being taken out.
// They were placed while it was there, so their sections can have been before this
// one, and perhaps this one has read what they did after. Nothing can have been
// between: they had all their locks when they were placed, and hold them.
func (q *Queue) pass(taken *Place) {
	for _, p := range q.places {
		if !p.ready && !p.own && p.msg.key == taken.msg.key {
			p.past = true
		}
	}
}

// Drop gives up staged places.
func (q *Queue) Drop(places []*Place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(places)
}

func (q *Queue) drop(places []*Place) {
	for _, p := range places {
		if i := slices.Index(q.places, p); i >= 0 {
			q.places = slices.Delete(q.places, i, i+1)
			q.decide(p)
			q.bytes -= p.msg.Size
		}
	}
	q.changes++
	if q.wanted {
		q.wanted = false
		q.readable.wake() // a message behind may be at the front now
		q.writable.wake()
	}
}

// WatchRoom wakes w whenever there may be room for a Stage that met none.
func (q *Queue) WatchRoom(w env.Waker) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = true
	q.writable.add(w)
}

// UnwatchRoom ends WatchRoom.
func (q *Queue) UnwatchRoom(w env.Waker) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writable.remove(w)
}

// Room reports whether a Stage of so many messages and bytes would succeed now.
func (q *Queue) Room(messages, bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	room := q.room(messages, bytes) && !q.heldFrom(nil)
	q.wanted = q.wanted || !room
	return room
}

// Limits are those of the queue, completed.
func (q *Queue) Limits() Limits { return q.limits }

// Len is the number of messages, staged ones included.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.places)
}

// Bytes is the sum of the messages' sizes, those of staged ones included.
func (q *Queue) Bytes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// remove takes the first n messages out.
func (q *Queue) remove(n int) {
	for _, p := range q.places[:n] {
		q.bytes -= p.msg.Size
		if q.there == nil {
			continue
		}
		q.pass(p)
		if q.there[p.msg.key] == p {
			delete(q.there, p.msg.key)
		}
	}
	// The slice moves along its array; append makes a new one now and then.
	clear(q.places[:n])
	q.places = q.places[n:]
	if len(q.places) == 0 {
		q.places = nil
	}
	q.changes++
	q.writable.wake()
}
