// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// inbox has the input that no tick has taken, its senders, and the
// acknowledgements owed to them. Its lock is taken after that of a link and
// before that of the door.
type inbox struct {
	h       *Host
	mu      sync.Mutex
	boxes   [2]box // from instances, from clients
	sources map[string]*source
	inputs  int       // bytes from clients that no tick has taken
	owed    []*source // with batches that are done and not acknowledged
	armed   bool      // a clock says when to acknowledge them
}

// source is a node that sends: it belongs to the inbox's lock. The numbers are
// of its batches: the last that arrived, the last that was processed, the last
// that was acknowledged.
type source struct {
	node              string
	life              uint64
	last, done, acked uint64
	waiting           int // bytes in the inbox, as frames
	unacked           int // bytes that are done with
	queued            bool
	in                *inconn // what it is connected by, or nil
	client            bool
}

// box gathers what arrives.
type box struct {
	buf  []byte
	list []arrival
}

// arrival is a batch: bytes of a box, from a source. What the instance sends to
// itself has none.
type arrival struct {
	src       *source
	life, seq uint64
	from, to  int
	frame     int // how many bytes it was as a frame
}

func (b *box) add(a arrival, messages []byte) {
	a.from = len(b.buf)
	b.buf = append(b.buf, messages...)
	a.to = len(b.buf)
	b.list = append(b.list, a)
}

// boxKeep is how much memory a box keeps between ticks.
const boxKeep = 4 << 20

func (b *box) reset() {
	if cap(b.buf) > boxKeep {
		b.buf = nil
	}
	clear(b.list)
	b.buf, b.list = b.buf[:0], b.list[:0]
}

// last returns the last batch that came from a life of an instance, 0 if there
// was none.
func (b *inbox) last(node string, life uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if src := b.sources[node]; src != nil && src.life == life {
		return src.last
	}
	return 0
}

// meet makes the connection of an instance, which has proved its name, the
// connection of its source. The instance was notified after which batch to
// continue; that must still be the last.
func (b *inbox) meet(c *inconn) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	src := b.sources[c.session.Peer().Node]
	if src == nil {
		src = &source{node: c.session.Peer().Node}
		b.sources[src.node] = src
	}
	last := c.last
	b.begin(c, src)
	if src.last != last {
		return errors.New("another connection was faster") // it dials again
	}
	return nil
}

// meetClient makes the connection of a client the connection of its source, and
// reports whether the client has begun a new life.
func (b *inbox) meetClient(c *inconn, src *source) (anew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	anew = src.life != c.session.Peer().Life
	b.begin(c, src)
	c.last = src.last
	return anew
}

// begin makes a connection the one of a source. The lock is held.
func (b *inbox) begin(c *inconn, src *source) {
	if before := src.in; before != nil && before != c {
		before.session.End(&link.Refusal{Code: link.RefusalTaken, Text: "there is a newer connection of the same name"})
	}
	src.in = c
	if life := c.session.Peer().Life; src.life != life {
		src.life, src.last, src.done = life, 0, 0
	}
	src.acked = 0 // what was acknowledged may have been lost with the connection
	c.src = src
	b.h.door.Known(c.session)
	if src.done > 0 {
		b.owe(src)
	}
}

// leave notes that a connection has ended.
func (b *inbox) leave(c *inconn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.src != nil && c.src.in == c {
		c.src.in = nil
	}
}

// refuse ends the connection that a source has, if it has one.
func (b *inbox) refuse(src *source, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if src.in != nil {
		src.in.session.End(err)
	}
}

// put stores a batch, which is the payload of a frame.
func (b *inbox) put(c *inconn, seq uint64, payload, messages []byte) error {
	opt, src := &b.h.opt, c.src
	frame := wire.BatchBytes(len(payload))
	b.mu.Lock()
	defer b.mu.Unlock()
	window, box := opt.Window, &b.boxes[0]
	if src.client {
		window, box = opt.ClientWindow, &b.boxes[1]
	}
	switch {
	case src.in != c:
		return nil // a newer connection has the name
	case seq <= src.last:
		b.h.count(&Counts{Doubled: 1})
		return nil
	case src.last > 0 && seq != src.last+1:
		return fmt.Errorf("batch %d after %d", seq, src.last)
	case src.waiting > 0 && src.waiting+frame > window:
		return fmt.Errorf("%d bytes wait, and the window is %d", src.waiting+frame, window)
	case src.client && b.inputs > 0 && b.inputs+frame > opt.InputsMax:
		return &link.Refusal{Code: link.RefusalFull, Text: "too many inputs wait"}
	}
	src.last = seq
	src.waiting += frame
	if src.client {
		b.inputs += frame
	}
	b.h.count(&Counts{BytesReceived: uint64(len(payload))})
	box.add(arrival{src: src, life: src.life, seq: seq, frame: frame}, messages)
	return nil
}

// putSelf takes messages of the instance to itself.
func (b *inbox) putSelf(messages []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.boxes[0].add(arrival{}, messages)
}

// swap exchanges box i for an empty one.
func (b *inbox) swap(i int, empty *box) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*empty, b.boxes[i] = b.boxes[i], *empty
}

// batches is how many batches are in box i.
func (b *inbox) batches(i int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.boxes[i].list)
}

// bytes is how many bytes no tick has taken, and how many bytes of clients no tick is
// over with, as frames.
func (b *inbox) bytes() (all, inputs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.boxes[0].buf) + len(b.boxes[1].buf), b.inputs
}

// finish records that a tick has processed what it took.
func (b *inbox) finish(taken []arrival) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range taken {
		if a.src == nil {
			continue
		}
		n := a.frame
		a.src.waiting -= n
		if a.src.client {
			b.inputs -= n
		}
		if a.src.life != a.life {
			continue // it has started anew since
		}
		a.src.done = max(a.src.done, a.seq)
		a.src.unacked += n
		b.owe(a.src)
	}
}

// owe schedules the acknowledgement of what a source has sent: at once if much
// has come, otherwise soon. The lock is held.
func (b *inbox) owe(src *source) {
	opt := &b.h.opt
	window := opt.Window
	if src.client {
		window = opt.ClientWindow
	}
	if src.unacked >= window/4 && src.ack() {
		return
	}
	if !src.queued {
		src.queued = true
		b.owed = append(b.owed, src)
	}
	if !b.armed && !b.h.ending.closed() {
		b.armed = true
		opt.Env.Clock.After(opt.AckAfter, env.WakeFunc(b.ackAll))
	}
}

// ack acknowledges what was processed. It returns false if the connection
// accepts nothing now. The inbox's lock is held.
func (src *source) ack() bool {
	if src.in == nil || src.done == src.acked {
		return true // the next connection gets the acknowledgement
	}
	if src.in.session.Send(wire.AppendAck(nil, src.done)) != nil {
		return false
	}
	src.acked, src.unacked = src.done, 0
	return true
}

// ackAll is called by the clock: it acknowledges everything that is not
// acknowledged yet.
func (b *inbox) ackAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
	list := b.owed
	b.owed = nil
	for _, src := range list {
		src.queued = false
		if !src.ack() {
			b.owe(src)
		}
	}
}
