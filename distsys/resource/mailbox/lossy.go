// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// lossy is a lane in the role of a lossy sender's resource. A message takes the
// way of a relaxed one if, at the commit, the receiver is connected and the
// window has room; otherwise it is lost.
type lossy lane

var _ distsys.Watched = (*lossy)(nil)

func (x *lossy) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errNotHere
}

func (x *lossy) Write(tx *distsys.Tx, idx []value.Value, v value.Value) error {
	m := x.out.m
	b, err := m.encode(nil, idx, v)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if x.broken != nil {
		return x.broken
	}
	d := (*relaxed)(x).of(tx)
	if d == nil {
		d = (*relaxed)(x).draft(tx)
	}
	if len(d.values) >= m.opt.Window || d.bytes+len(b) > pendingBytesMax {
		return fmt.Errorf("one section sends more than the window of %d messages or %d bytes to one mailbox", m.opt.Window, pendingBytesMax)
	}
	d.values = append(d.values, b)
	d.bytes += len(b)
	x.reserved++
	x.reservedB += len(b)
	return nil
}

// PreCommit refuses only what could never be sent.
func (x *lossy) PreCommit(tx *distsys.Tx) error {
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d := (*relaxed)(x).of(tx)
	if d == nil {
		return nil
	}
	clock := len(appendClock(nil, tx.Stamp()))
	for _, v := range d.values {
		if err := m.fits(clock, len(v)); err != nil {
			return err
		}
	}
	return nil
}

func (x *lossy) Commit(tx *distsys.Tx) {
	m := x.out.m
	m.mu.Lock()
	defer m.mu.Unlock()
	d := (*relaxed)(x).leave(tx)
	if d == nil {
		return
	}
	clock := tx.Stamp()
	for _, b := range d.values {
		size := len(b) + clockSize(clock)
		if !x.out.up || x.broken != nil || len(x.kept) >= m.opt.Window || len(x.kept) > 0 && x.keptBytes+size > m.opt.WindowBytes {
			m.counts.Lost++
			continue
		}
		body := appendClock(make([]byte, 0, len(b)+binary.MaxVarintLen64), clock)
		x.kept = append(x.kept, kept{seq: x.next, body: append(body, b...), size: size})
		x.keptBytes += size
		x.next++
	}
	x.out.pump()
}

func (x *lossy) Abort(tx *distsys.Tx) {
	x.out.m.mu.Lock()
	defer x.out.m.mu.Unlock()
	(*relaxed)(x).leave(tx)
}

func (x *lossy) Watch(w env.Waker)   { (*lane)(x).watch(w) }
func (x *lossy) Unwatch(w env.Waker) { (*lane)(x).unwatch(w) }

// lose drops what the receiver has not acknowledged when the connection has
// broken. Some of it may have arrived.
func (l *lane) lose() {
	l.out.m.counts.Lost += uint64(len(l.kept))
	l.kept, l.keptBytes, l.sent = nil, 0, 0
	l.out.m.settle()
}
