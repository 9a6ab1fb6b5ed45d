// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/link"
)

// batchTarget is the length in bytes at which a batch is sealed: long enough that
// the header is negligible, short enough for caches and windows.
const batchTarget = 64 << 10

// keepMax is the largest buffer that an Outbox keeps for reuse, in bytes.
const keepMax = 256 << 10

// sparesMax is the maximum number of buffers that an Outbox keeps for reuse.
const sparesMax = 4

// Outbox holds the messages from one node to one other. It gathers them into
// numbered batches, and keeps each batch until the other side has acknowledged it.
//
// With a connection, call Resume first, then Add, Seal, Next and Ack as needed.
// Without one, Add and Seal still work, up to the limit.
//
// The zero Outbox is empty and accepts one message at a time; set Max. Only one
// goroutine may use an Outbox at a time.
type Outbox struct {
	// Max is the maximum number of bytes in the Outbox. An empty Outbox accepts
	// any message.
	Max int

	frames []batch // sealed and not acknowledged, in order
	next   int     // of frames: the first that was not written on this connection
	open   []byte  // the batch that is gathered; empty when there is none
	bytes  int     // of all of them
	flying int     // of frames[:next]
	seq    uint64  // of the last sealed one
	spares [][]byte
}

type batch struct {
	seq   uint64
	bytes []byte
}

// Add copies the row, of at most RowMax bytes, and adds the message. It returns
// false and adds nothing if there is no room.
func (o *Outbox) Add(relation int, row []byte) bool {
	n := len(row) + 2*binary.MaxVarintLen32
	if o.bytes > 0 && o.bytes+n > o.Max {
		return false
	}
	if len(o.open) > 0 && len(o.open)+n > batchTarget {
		o.Seal()
	}
	if len(o.open) == 0 {
		if last := len(o.spares) - 1; last >= 0 {
			o.open, o.spares = o.spares[last], o.spares[:last]
		}
		o.open = link.Begin(o.open[:0], TypeBatch)
		o.open = binary.LittleEndian.AppendUint64(o.open, o.seq+1)
		o.bytes += len(o.open)
	}
	before := len(o.open)
	o.open = AppendMessage(o.open, relation, row)
	o.bytes += len(o.open) - before
	return true
}

// Seal ends the open batch, so that Next can return it.
func (o *Outbox) Seal() {
	if len(o.open) == 0 {
		return
	}
	o.seq++
	before := len(o.open)
	f := link.Seal(o.open, 0)
	o.open = nil
	o.bytes += len(f) - before
	o.frames = append(o.frames, batch{o.seq, f})
}

// Next returns the next batch to write. It returns nil if there is none, or if the
// batch would exceed the window of the other side and other batches are
// unacknowledged. The caller must call Sent once the connection has accepted the
// batch. The Outbox owns the bytes.
func (o *Outbox) Next(window int) []byte {
	if o.next == len(o.frames) {
		return nil
	}
	b := o.frames[o.next].bytes
	if o.flying > 0 && o.flying+len(b) > window {
		return nil
	}
	return b
}

// Sent records that the batch that Next returned has been written.
func (o *Outbox) Sent() {
	o.flying += len(o.frames[o.next].bytes)
	o.next++
}

// Ack removes the batches up to number seq. It returns an error if they were not
// all sent.
func (o *Outbox) Ack(seq uint64) error {
	sent := o.seq
	if o.next < len(o.frames) {
		sent = o.frames[o.next].seq - 1
	}
	if seq > sent {
		return link.Malformed("ack", "it acknowledges batch %d; the last one sent is %d", seq, sent)
	}
	n := 0
	for n < o.next && o.frames[n].seq <= seq {
		f := o.frames[n].bytes
		o.bytes -= len(f)
		o.flying -= len(f)
		if len(o.spares) < sparesMax && cap(f) <= keepMax {
			o.spares = append(o.spares, f)
		}
		n++
	}
	rest := copy(o.frames, o.frames[n:])
	clear(o.frames[rest:])
	o.frames, o.next = o.frames[:rest], o.next-n
	return nil
}

// Resume prepares for a new connection to a peer that has received the batches
// up to number last, even if it has not acknowledged all of them. Next returns
// the later ones again. Resume returns an error if there is no batch with this
// number.
func (o *Outbox) Resume(last uint64) error {
	if last > o.seq {
		return link.Malformed("welcome", "it reports batch %d; the last one is %d", last, o.seq)
	}
	o.next, o.flying = 0, 0
	for o.next < len(o.frames) && o.frames[o.next].seq <= last {
		o.Sent()
	}
	return nil
}

// Bytes returns the number of bytes in the Outbox.
func (o *Outbox) Bytes() int { return o.bytes }

// Flying returns how many of these bytes are written and not acknowledged.
func (o *Outbox) Flying() int { return o.flying }
