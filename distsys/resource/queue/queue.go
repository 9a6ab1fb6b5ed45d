// SPDX-License-Identifier: Apache-2.0

// Package queue is a bounded first-in first-out queue of values whose readers
// and writers are critical sections: the inside of a mailbox, a channel between
// instances, and the interface to the program around them.
//
// In and out: values. A message takes its place in the queue when its writer's
// section pre-commits, and becomes readable once the section has committed;
// messages behind it wait for that. So the order in the queue is an order in
// which the sections could have run one after the other, also with respect to
// the other resources that they touched. A section that takes places in several
// queues is refused behind an undecided message: see distsys.Queued. A reader
// takes from the front and returns the messages if it aborts. One section reads
// at a time.
//
// Promised: the queue loses, duplicates or reorders no message within the
// process, and it never exceeds its limits, except by Force. Nothing survives
// the process.
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
	// Distinct makes the queue a set: a message that the queue already contains
	// is not added again. The queue contains a message until the section that
	// reads it has committed; an equal message that arrives meanwhile is merged
	// with it.
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
	// wanted is set when the queue had to refuse or block an operation, until
	// the next wake. While it is not set, dropping a place wakes nothing:
	// otherwise sections that take places and then abort for another reason
	// would wake themselves and each other forever.
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
	// Size counts towards Limits.Bytes: the length of the value's encoding plus
	// the memory of the clock. It is 0 if the value was never encoded.
	Size int

	key   string // where messages are distinct: what two like each other have in common
	again bool   // likewise: its section had read an equal one here before it wrote this one
}

// Place is a message's place in the queue. It is valid until Ready or Drop.
type Place struct {
	msg   Message
	ready bool
	cast  bool // its section takes places in other queues too
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

// Outcome is the result of a Stage.
type Outcome uint8

// The outcomes of a Stage.
const (
	Staged Outcome = iota
	// Full: there is no room, or a section that has read the length is about to
	// commit. WatchRoom notifies the caller when to try again.
	Full
	// Busy: either there are undecided messages and the section also takes places
	// in other queues; or another section has read a message equal to one of
	// these, and that section is about to commit or this one takes places in
	// other queues.
	Busy
)

// message returns a message of this process; its clock is not known yet. If
// messages are distinct, a value that has no encoding is an error.
func (q *Queue) message(v value.Value) (m Message, err error) {
	m.Value = v
	if q.limits.Distinct {
		err = value.Catch(func() { m.key = string(value.AppendWire(nil, v)) })
	}
	return m, err
}

// keyed sets the keys of messages from outside. These were decoded and
// therefore have an encoding.
func (q *Queue) keyed(msgs []Message) {
	for i := range msgs {
		if m := &msgs[i]; q.limits.Distinct && m.key == "" {
			m.key = string(value.AppendWire(nil, m.Value))
		}
	}
}

// Stage takes places at the end for all messages. Alone says that the sending
// section takes places in no other queue. If messages are distinct, their
// values must have been decoded.
func (q *Queue) Stage(alone bool, msgs ...Message) ([]*Place, Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stage(nil, alone, msgs)
}

// stage is Stage; tx is the section if it runs in this process, and nil
// otherwise.
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
		if p.cast = !alone; p.cast && q.casts != nil {
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

// decided reports whether every message can be read. Undecided ones may be
// anywhere in the queue.
func (q *Queue) decided() bool {
	for _, p := range q.places {
		if !p.ready {
			return false
		}
	}
	return true
}

// Force adds readable messages at the end even if there is no room: the queue
// promised room for them earlier. The caller must bound their number.
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

// placesKept is the capacity up to which an empty queue keeps its list of places.
const placesKept = 16

func (q *Queue) place(msgs []Message, bytes int) []*Place {
	var places []*Place
	if len(msgs) == 1 { // in one piece of memory
		one := &struct {
			Place
			list [1]*Place
		}{Place: Place{msg: msgs[0]}}
		one.list[0] = &one.Place
		places = one.list[:]
	} else {
		places = make([]*Place, len(msgs))
		for i, m := range msgs {
			places[i] = &Place{msg: m}
		}
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

// decide removes an undecided place from the count.
func (q *Queue) decide(p *Place) {
	if q.casts == nil || p.ready || !p.cast {
		return
	}
	if q.casts[p.msg.key]--; q.casts[p.msg.key] == 0 {
		delete(q.casts, p.msg.key)
	}
}

// unite drops a message that equals one in the queue and merges its clock into
// that one. So the section that reads the remaining message, even one that is
// reading it now, also observes the sender of the dropped one.
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

// hasTaken reports whether the current reader has taken a message with that
// key.
func (q *Queue) hasTaken(key string) bool {
	return slices.ContainsFunc(q.places[:q.taken], func(p *Place) bool { return p.msg.key == key })
}

// pass marks the undecided messages equal to one that is being removed as past, so
// that they are dropped once decided. They were placed while that message was in
// the queue, so their sections can be ordered before this one; this section may
// even have read some of their effects. No other section can be in between:
// theirs had all their locks when the messages were placed, and still hold them.
// The reader's own messages are past too, except those that it wrote after it had
// read their equal.
func (q *Queue) pass(taken *Place) {
	for _, p := range q.places {
		if !p.ready && !p.msg.again && p.msg.key == taken.msg.key {
			p.past = true
		}
	}
}

// Drop removes staged places from the queue.
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

// WatchRoom wakes w whenever a Stage that found no room may succeed.
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

// Room reports whether a Stage of that many messages and bytes would succeed
// now.
func (q *Queue) Room(messages, bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	room := q.room(messages, bytes) && !q.heldFrom(nil)
	q.wanted = q.wanted || !room
	return room
}

// Limits returns the limits of the queue, with the defaults filled in.
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

// remove removes the first n messages.
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
	switch left := len(q.places) - n; {
	case cap(q.places) <= placesKept:
		q.places = slices.Delete(q.places, 0, n)
	case left == 0:
		q.places = nil
	default:
		// The slice moves along its array; append allocates a new array now and
		// then.
		clear(q.places[:n])
		q.places = q.places[n:]
	}
	q.changes++
	q.writable.wake()
}
