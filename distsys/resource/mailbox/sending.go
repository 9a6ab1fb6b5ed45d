// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// strict is a lane in the role of a strict sender's resource.
type strict lane

var _ distsys.Watched = (*strict)(nil)

func (s *strict) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errNotHere
}

func (s *strict) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	m := s.out.m
	buf := m.buffer()
	defer m.wire.Put(buf)
	b, err := m.encode((*buf)[:0], idx, v)
	if err != nil {
		return err
	}
	*buf = b
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	if !s.out.up || s.full || s.out.crowded() {
		return distsys.ErrBlocked
	}
	t := s.of(tx)
	if t == nil {
		t = &transfer{lane: (*lane)(s), tx: tx}
		t.clock, t.values = t.room[:0:clockRoom], t.room[clockRoom:clockRoom]
		s.open = append(s.open, t)
	}
	if t.count++; t.count > batchMax || len(t.values)+len(b) > m.valueMax() {
		return fmt.Errorf("one section sends more than fits into a frame: %d messages, %d bytes", t.count, len(t.values)+len(b))
	}
	t.values = append(t.values, b...)
	return nil
}

// encode checks an access and encodes the value to write, in buf if it fits.
func (m *Mailboxes) encode(buf []byte, idx []value.Value, v value.Value) ([]byte, error) {
	if len(idx) > 0 {
		return nil, errWriteOnce
	}
	b := value.AppendWire(buf, v)
	if len(b) > m.valueMax() {
		return nil, fmt.Errorf("a message of %d bytes exceeds the limit of %d", len(b), m.valueMax())
	}
	return b, nil
}

// valueMax returns the maximum total length of the values in one frame.
func (m *Mailboxes) valueMax() int {
	return m.opt.Link.FrameMax - overheadMax - keyMax
}

// fits checks that a clock and values fit into one frame.
func (m *Mailboxes) fits(clock, values int) error {
	if clock+values+keyMax+overheadMax/2 > m.opt.Link.FrameMax {
		return fmt.Errorf("a message of %d bytes with a clock of %d bytes exceeds the limit of a frame, %d", values, clock, m.opt.Link.FrameMax)
	}
	return nil
}

func (s *strict) of(tx *distsys.Tx) *transfer {
	for _, t := range s.open {
		if t.tx == tx {
			return t
		}
	}
	return nil
}

// These errors make the engine try the section again.
var (
	errBusy    = fmt.Errorf("%w: a mailbox has undecided messages", distsys.ErrAbort)
	errCrowded = fmt.Errorf("%w: other sections use the whole window of the receiver", distsys.ErrAbort)
)

// Queues implements Queued.
func (s *strict) Queues(tx *distsys.Tx) bool {
	s.out.m.mu.Lock()
	defer s.out.m.mu.Unlock()
	return s.of(tx) != nil
}

func (s *strict) PreCommit(tx *distsys.Tx) error {
	alone := tx.Alone(s)
	m := s.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	t := s.of(tx)
	if t == nil {
		return nil
	}
	switch t.state {
	case writing:
		if !s.out.up || s.full || s.out.crowded() {
			return distsys.ErrBlocked
		}
		t.clock = appendClock(t.clock, tx.Stamp())
		if err := m.fits(len(t.clock), len(t.values)); err != nil {
			return err
		}
		t.seq, t.state, t.alone = s.out.next, asking, alone
		s.out.next++
		s.out.transfers = append(s.out.transfers, t)
		s.out.owe(t)
		return distsys.ErrPending
	case asking:
		return distsys.ErrPending
	case granted:
		return nil
	case busy:
		return errBusy
	case broken:
		return s.broken
	}
	return distsys.ErrBlocked // full or lost: when that changes, watchers are woken
}

func (s *strict) Commit(tx *distsys.Tx) {
	m := s.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := s.leave(tx); t != nil {
		t.state = committed
		s.out.owe(t)
	}
}

func (s *strict) Abort(tx *distsys.Tx) {
	m := s.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	t := s.leave(tx)
	if t == nil {
		return
	}
	switch t.state {
	case writing:
	case full, busy, broken:
		s.out.finish(t)
	default:
		t.state, t.values, t.clock = aborted, nil, nil
		s.out.owe(t)
	}
}

// leave detaches the transfer from the section.
func (s *strict) leave(tx *distsys.Tx) *transfer {
	t := s.of(tx)
	if t != nil {
		t.tx = nil
		s.open = slices.DeleteFunc(s.open, func(x *transfer) bool { return x == t })
	}
	return t
}

func (s *strict) Watch(w env.Waker)   { (*lane)(s).watch(w) }
func (s *strict) Unwatch(w env.Waker) { (*lane)(s).unwatch(w) }

func (l *lane) watch(w env.Waker) {
	l.out.m.mu.Lock()
	defer l.out.m.mu.Unlock()
	l.watchers = append(l.watchers, w)
}

func (l *lane) unwatch(w env.Waker) {
	l.out.m.mu.Lock()
	defer l.out.m.mu.Unlock()
	if i := slices.Index(l.watchers, w); i >= 0 {
		l.watchers = slices.Delete(l.watchers, i, i+1)
	}
}

// relaxed is a lane in the role of a relaxed sender's resource.
type relaxed lane

var _ distsys.Watched = (*relaxed)(nil)

// draft holds the messages that a section in progress has written.
type draft struct {
	tx     *distsys.Tx
	values [][]byte
	bytes  int
	ready  bool // PreCommit has counted the clocks
}

func (x *relaxed) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errNotHere
}

func (x *relaxed) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	b, err := x.out.m.encode(nil, idx, v)
	if err != nil {
		return err
	}
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.broken != nil {
		return x.broken
	}
	d := x.of(tx)
	if d != nil && len(d.values) >= m.opt.Window {
		return fmt.Errorf("one section sends more than the window of %d messages to one mailbox", m.opt.Window)
	}
	n, bytes := len(x.kept)+x.reserved, x.keptBytes+x.reservedB
	// If the window holds only this section's messages, waiting would be useless: no
	// acknowledgement would make room.
	alone := d != nil && n == len(d.values)
	if n >= m.opt.Window || n > 0 && !alone && bytes+len(b) > m.opt.WindowBytes {
		x.starved = true
		return distsys.ErrBlocked
	}
	if d == nil {
		d = x.draft(tx)
	}
	d.values = append(d.values, b)
	d.bytes += len(b)
	x.reserved++
	x.reservedB += len(b)
	return nil
}

func (x *relaxed) draft(tx *distsys.Tx) *draft {
	d := x.spare
	if d == nil {
		d = &draft{}
	}
	x.spare, d.tx = nil, tx
	x.drafts = append(x.drafts, d)
	return d
}

// forget keeps the memory of a draft that is not needed any more.
func (x *relaxed) forget(d *draft) {
	clear(d.values)
	*d = draft{values: d.values[:0]}
	if cap(d.values) <= listKept {
		x.spare = d
	}
}

func (x *relaxed) of(tx *distsys.Tx) *draft {
	for _, d := range x.drafts {
		if d.tx == tx {
			return d
		}
	}
	return nil
}

func (x *relaxed) leave(tx *distsys.Tx) *draft {
	d := x.of(tx)
	if d != nil {
		x.drafts = slices.DeleteFunc(x.drafts, func(y *draft) bool { return y == d })
		x.reserved -= len(d.values)
		x.reservedB -= d.bytes
	}
	return d
}

// PreCommit checks that the window also has room for the clocks, which Write did
// not know. If nothing is unacknowledged, a section may exceed the window, but
// never the bytes that the receiver accepts.
func (x *relaxed) PreCommit(tx *distsys.Tx) error {
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d := x.of(tx)
	if d == nil || d.ready {
		return nil
	}
	clock := len(appendClock(nil, tx.Stamp()))
	for _, b := range d.values {
		if err := m.fits(clock, len(b)); err != nil {
			return err
		}
	}
	clocks := len(d.values) * clockSize(tx.Stamp())
	total := x.keptBytes + x.reservedB + clocks
	switch {
	case d.bytes+clocks > pendingBytesMax:
		return fmt.Errorf("one section sends %d bytes to one mailbox, clocks included; the limit is %d", d.bytes+clocks, pendingBytesMax)
	case len(x.kept) > 0 && total > m.opt.WindowBytes:
		return distsys.ErrBlocked // an acknowledgement wakes it
	case total > pendingBytesMax:
		return errCrowded
	}
	d.ready = true
	d.bytes += clocks
	x.reservedB += clocks
	return nil
}

func (x *relaxed) Commit(tx *distsys.Tx) {
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d := x.leave(tx)
	if d == nil || x.broken != nil {
		return
	}
	clock := tx.Stamp()
	for _, b := range d.values {
		body := appendClock(make([]byte, 0, len(b)+binary.MaxVarintLen64), clock)
		k := kept{seq: x.next, body: append(body, b...), size: len(b) + clockSize(clock)}
		x.kept = append(x.kept, k)
		x.keptBytes += k.size
		x.next++
	}
	x.forget(d)
	x.out.pump()
}

func (x *relaxed) Abort(tx *distsys.Tx) {
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d := x.leave(tx)
	if d == nil {
		return
	}
	x.forget(d)
	if x.starved {
		x.starved = false
		(*lane)(x).wakeOthers(tx.Waker())
	}
}

func (x *relaxed) Watch(w env.Waker)   { (*lane)(x).watch(w) }
func (x *relaxed) Unwatch(w env.Waker) { (*lane)(x).unwatch(w) }
