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

// inbox holds the input that no tick has taken, the nodes that sent it, and the
// acknowledgements owed to them. Its lock is taken after a lane's lock and
// before the door's.
type inbox struct {
	h       *Host
	mu      sync.Mutex
	boxes   [2]box // from instances, from clients
	sources map[string]*source
	inputs  int       // bytes from clients that no tick has taken
	owed    []*source // with batches that are done and not acknowledged
	armed   bool      // a clock says when to acknowledge them
}

// source is a node that sends to this instance; the inbox's lock guards it.
// last, done and acked are batch numbers: the last batch that arrived, that a
// tick has processed, and that was acknowledged.
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

// box holds batches that have arrived.
type box struct {
	buf  []byte
	list []arrival
}

// arrival is a batch: a range of bytes of a box, and its source. The source is
// nil for messages that the instance sends to itself.
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

// boxKeep is how many bytes of buffer a box keeps between ticks.
const boxKeep = 4 << 20

func (b *box) reset() {
	if cap(b.buf) > boxKeep {
		b.buf = nil
	}
	clear(b.list)
	b.buf, b.list = b.buf[:0], b.list[:0]
}

// last returns the number of the last batch that arrived from this life of an
// instance, 0 if there was none.
func (b *inbox) last(node string, life uint64) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if src := b.sources[node]; src != nil && src.life == life {
		return src.last
	}
	return 0
}

// meet binds the connection of an instance that has proved its name to the
// instance's source. The welcome named the last batch that had arrived then; if
// more have arrived since, over another connection, meet returns an error.
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
		return errors.New("another connection of this instance received later batches") // it dials again
	}
	return nil
}

// meetClient binds the connection of a client to the client's source, and
// reports whether the client has begun a new life.
func (b *inbox) meetClient(c *inconn, src *source) (anew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	anew = src.life != c.session.Peer().Life
	b.begin(c, src)
	c.last = src.last
	return anew
}

// begin binds a connection to a source and ends the source's previous
// connection. The lock is held.
func (b *inbox) begin(c *inconn, src *source) {
	if before := src.in; before != nil && before != c {
		before.session.End(&link.Refusal{Code: link.RefusalTaken, Text: "a newer connection has the same name"})
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

// leave unbinds a connection that has ended.
func (b *inbox) leave(c *inconn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.src != nil && c.src.in == c {
		c.src.in = nil
	}
}

// refuse ends the current connection of a source, if any.
func (b *inbox) refuse(src *source, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if src.in != nil {
		src.in.session.End(err)
	}
}

// put stores a batch; payload is the payload of its frame, and messages its
// part without the number.
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
		return fmt.Errorf("received batch %d after batch %d", seq, src.last)
	case src.waiting > 0 && src.waiting+frame > window:
		return fmt.Errorf("%d bytes are waiting; the window is %d", src.waiting+frame, window)
	case src.client && b.inputs > 0 && b.inputs+frame > opt.InputsMax:
		return &link.Refusal{Code: link.RefusalFull, Text: "too many inputs are waiting"}
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

// putSelf stores messages that the instance sends to itself.
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

// batches returns the number of batches in box i.
func (b *inbox) batches(i int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.boxes[i].list)
}

// bytes returns the number of bytes of messages that no tick has taken, and the
// number of bytes, as frames, of client inputs that no tick has finished.
func (b *inbox) bytes() (all, inputs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.boxes[0].buf) + len(b.boxes[1].buf), b.inputs
}

// finish records that a tick has processed the batches it took.
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

// owe acknowledges the processed batches of a source: at once if they are a
// quarter of the window, otherwise within AckAfter. The lock is held.
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

// ack acknowledges the processed batches. It returns false if the connection
// cannot take the frame now. The inbox's lock is held.
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

// ackAll sends all acknowledgements that are owed. The clock calls it.
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
