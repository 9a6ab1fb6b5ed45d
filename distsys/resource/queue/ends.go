// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// In is the resource that reads from the queue. Each read takes the next
// message and is blocked while there is none.
func (q *Queue) In() distsys.Watched { return &q.in }

// Out is the resource that writes to the queue. A write is blocked while there
// is no room.
func (q *Queue) Out() distsys.Watched { return &q.out }

// Both is the resource that reads as In and writes as Out.
func (q *Queue) Both() distsys.Watched { return &q.both }

// Length is the resource that reads as the number of messages that In could
// take.
func (q *Queue) Length() distsys.Watched { return &q.length }

var (
	errReadOnly  = fmt.Errorf("the resource can only be read")
	errWriteOnly = fmt.Errorf("the resource can only be written")
	errIndexed   = fmt.Errorf("the resource has no index")
)

type reading struct{ q *Queue }

func (r *reading) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	if len(idx) > 0 {
		return value.Value{}, errIndexed
	}
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.reader != nil && q.reader != tx || q.heldFrom(tx) {
		q.refused.add(tx.Waker())
		return value.Value{}, distsys.ErrContended
	}
	if q.taken >= len(q.places) || !q.places[q.taken].ready {
		q.wanted = true
		return value.Value{}, distsys.ErrBlocked
	}
	m := q.places[q.taken].msg
	if q.casts[m.key] > 0 {
		// An equal message is undecided, and its sender also takes places
		// elsewhere, perhaps later ones. Whether it was sent before this section
		// is not known yet.
		q.wanted = true
		return value.Value{}, distsys.ErrBlocked
	}
	q.taken++
	q.reader = tx
	tx.Observe(m.Clock)
	return m.Value, nil
}

func (r *reading) Write(*distsys.Tx, []value.Value, value.Value) error { return errReadOnly }

// PreCommit keeps out messages equal to one that the section has read, until
// the section ends. It observes the clocks of equal messages that arrived since
// the read: they were merged into the message, and their sections precede this
// one.
func (r *reading) PreCommit(tx *distsys.Tx) error {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.there == nil || q.reader != tx || q.held {
		return nil
	}
	for _, p := range q.places[:q.taken] {
		tx.Observe(p.msg.Clock)
	}
	q.held = true
	return nil
}

func (r *reading) Commit(tx *distsys.Tx) { r.end(tx, true) }
func (r *reading) Abort(tx *distsys.Tx)  { r.end(tx, false) }

func (r *reading) end(tx *distsys.Tx, take bool) {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.reader != tx {
		return
	}
	if take {
		q.remove(q.taken)
	}
	if q.putOff {
		q.writable.wake()
	}
	q.taken, q.reader, q.held, q.putOff = 0, nil, false, false
	q.refused.wake()
	q.refused = q.refused[:0]
}

func (r *reading) Watch(w env.Waker) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.q.readable.add(w)
}

func (r *reading) Unwatch(w env.Waker) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.q.readable.remove(w)
}

type writing struct{ q *Queue }

func (o *writing) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errWriteOnly
}

func (o *writing) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	if len(idx) > 0 {
		return errIndexed
	}
	q := o.q
	m, err := q.message(v)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.writer(tx, true)
	if !q.room(len(w.msgs)+1, 0) {
		q.wanted = true
		return distsys.ErrBlocked
	}
	m.again = q.there != nil && q.reader == tx && q.hasTaken(m.key)
	w.msgs = append(w.msgs, m)
	return nil
}

// writer returns the messages that a section has written.
func (q *Queue) writer(tx *distsys.Tx, add bool) *writer {
	for i := range q.writers {
		if q.writers[i].tx == tx {
			return &q.writers[i]
		}
	}
	if !add {
		return nil
	}
	q.writers = append(q.writers, writer{tx: tx})
	return &q.writers[len(q.writers)-1]
}

func (q *Queue) endWriter(tx *distsys.Tx) {
	q.writers = slices.DeleteFunc(q.writers, func(w writer) bool { return w.tx == tx })
}

// errBusy makes the engine try the section again.
var errBusy = fmt.Errorf("%w: a queue has undecided messages", distsys.ErrAbort)

// Queues implements Queued.
func (o *writing) Queues(tx *distsys.Tx) bool {
	o.q.mu.Lock()
	defer o.q.mu.Unlock()
	return o.q.writer(tx, false) != nil
}

func (o *writing) PreCommit(tx *distsys.Tx) error { return o.q.preCommit(tx, tx.Alone(o)) }

func (q *Queue) preCommit(tx *distsys.Tx, alone bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.writer(tx, false)
	if w == nil || w.places != nil {
		return nil
	}
	for i := range w.msgs {
		w.msgs[i].Clock = tx.Stamp()
	}
	before := q.changes
	var outcome Outcome
	switch w.places, outcome = q.stage(tx, alone, w.msgs); outcome {
	case Full:
		return distsys.ErrBlocked
	case Busy:
		return errBusy
	}
	q.own(tx, before)
	return nil
}

func (o *writing) Commit(tx *distsys.Tx) {
	q := o.q
	q.in.Commit(tx) // what the section has read leaves before what it wrote comes
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.writer(tx, false); w != nil {
		q.makeReady(w.places)
		q.endWriter(tx)
	}
}

func (o *writing) Abort(tx *distsys.Tx) {
	q := o.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.writer(tx, false); w != nil {
		if w.places != nil {
			q.drop(w.places)
		}
		q.endWriter(tx)
	}
}

func (o *writing) Watch(w env.Waker)   { o.q.WatchRoom(w) }
func (o *writing) Unwatch(w env.Waker) { o.q.UnwatchRoom(w) }

// both combines In and Out.
type both struct{ q *Queue }

func (b *both) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	return b.q.in.Read(tx, idx)
}

func (b *both) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	return b.q.out.Write(tx, idx, v)
}

func (b *both) Queues(tx *distsys.Tx) bool { return b.q.out.Queues(tx) }

func (b *both) PreCommit(tx *distsys.Tx) error {
	if err := b.q.in.PreCommit(tx); err != nil {
		return err
	}
	return b.q.preCommit(tx, tx.Alone(b))
}

func (b *both) Commit(tx *distsys.Tx) { b.q.out.Commit(tx) } // and in.Commit

func (b *both) Abort(tx *distsys.Tx) {
	b.q.in.Abort(tx)
	b.q.out.Abort(tx)
}

func (b *both) Watch(w env.Waker)   { b.q.length.Watch(w) }
func (b *both) Unwatch(w env.Waker) { b.q.length.Unwatch(w) }

// length checks at pre-commit that only the section itself has changed the
// queue since reading the length, and prevents changes by others until the
// section ends.
type length struct{ q *Queue }

// look records that a section has read the length.
type look struct {
	tx   *distsys.Tx
	seen uint64 // changes
	held bool   // pre-committed
}

func (q *Queue) look(tx *distsys.Tx) *look {
	for i := range q.looks {
		if q.looks[i].tx == tx {
			return &q.looks[i]
		}
	}
	return nil
}

// own records that tx itself made the one change that follows the number
// before.
func (q *Queue) own(tx *distsys.Tx, before uint64) {
	if l := q.look(tx); l != nil && l.seen == before {
		l.seen = q.changes
	}
}

func (l *length) Read(tx *distsys.Tx, idx []value.Value) (value.Value, error) {
	if len(idx) > 0 {
		return value.Value{}, errIndexed
	}
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.reader != nil && q.reader != tx {
		q.refused.add(tx.Waker())
		return value.Value{}, distsys.ErrContended
	}
	for _, p := range q.places {
		if !p.ready {
			q.wanted = true
			return value.Value{}, distsys.ErrBlocked
		}
	}
	switch was := q.look(tx); {
	case was == nil:
		q.looks = append(q.looks, look{tx: tx, seen: q.changes})
	case was.seen != q.changes:
		return value.Value{}, errChanged
	}
	// The section that sent a counted message precedes this one.
	for _, p := range q.places[q.taken:] {
		tx.Observe(p.msg.Clock)
	}
	return value.Int(int32(len(q.places) - q.taken)), nil
}

// errChanged makes the engine try the section again.
var errChanged = fmt.Errorf("%w: the length of a queue changed", distsys.ErrAbort)

func (l *length) Write(*distsys.Tx, []value.Value, value.Value) error { return errReadOnly }

func (l *length) PreCommit(tx *distsys.Tx) error {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.look(tx)
	if was == nil {
		return nil
	}
	if was.seen != q.changes || q.reader != nil && q.reader != tx {
		return errChanged
	}
	was.held = true
	return nil
}

func (l *length) Commit(tx *distsys.Tx) { l.Abort(tx) }

func (l *length) Abort(tx *distsys.Tx) {
	q := l.q
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.look(tx)
	if was == nil {
		return
	}
	held := was.held
	q.looks = slices.DeleteFunc(q.looks, func(k look) bool { return k.tx == tx })
	if held {
		q.writable.wake()
		q.refused.wake()
		q.refused = q.refused[:0]
	}
}

func (l *length) Watch(w env.Waker) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	l.q.readable.add(w)
	l.q.writable.add(w)
}

func (l *length) Unwatch(w env.Waker) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	l.q.readable.remove(w)
	l.q.writable.remove(w)
}

// Send puts a message into the queue from outside of any section. It waits for
// room.
func (q *Queue) Send(ctx context.Context, v value.Value) error {
	m, err := q.message(v)
	if err != nil {
		return err
	}
	return q.await(ctx, &q.writable, func() bool {
		places, outcome := q.stage(nil, true, []Message{m})
		if outcome != Staged {
			return false
		}
		q.makeReady(places)
		return true
	})
}

// Receive takes a message from the queue outside of any section. It waits for
// one.
func (q *Queue) Receive(ctx context.Context) (value.Value, error) {
	var v value.Value
	err := q.await(ctx, &q.readable, func() bool {
		if q.reader != nil || q.heldFrom(nil) || len(q.places) == 0 || !q.places[0].ready || q.casts[q.places[0].msg.key] > 0 {
			return false
		}
		v = q.places[0].msg.Value
		q.remove(1)
		return true
	})
	return v, err
}

// await calls try, with the lock held, at once and after every wake of ws,
// until it succeeds.
func (q *Queue) await(ctx context.Context, ws *wakers, try func() bool) error {
	woken := make(chan struct{}, 1)
	w := env.NewSignal(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	q.mu.Lock()
	ws.add(w)
	q.refused.add(w)
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		ws.remove(w)
		q.refused.remove(w)
		q.mu.Unlock()
	}()
	for {
		w.Take()
		q.mu.Lock()
		ok := try()
		if !ok {
			q.wanted = true
			q.refused.add(w)
		}
		q.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Pump sends the messages of a Go channel until the channel is closed or ctx
// ends. It runs in the caller's goroutine.
func (q *Queue) Pump(ctx context.Context, from <-chan value.Value) error {
	for {
		select {
		case v, ok := <-from:
			if !ok {
				return nil
			}
			if err := q.Send(ctx, v); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Drain receives into a Go channel until ctx ends. It runs in the caller's
// goroutine.
func (q *Queue) Drain(ctx context.Context, to chan<- value.Value) error {
	for {
		v, err := q.Receive(ctx)
		if err != nil {
			return err
		}
		select {
		case to <- v:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
