// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/link"
)

// batchTarget is how long a batch becomes before the next one begins, in bytes: long
// enough that its head is nothing, short enough for caches and windows.
const batchTarget = 64 << 10

// keepMax is how much memory an Outbox keeps of each batch for reuse.
const keepMax = 256 << 10

// sparesMax is how many buffers of frames an Outbox keeps for the next ones.
const sparesMax = 4

// Outbox is what one node sends to one other: messages are gathered into batches,
// which are numbered, written, and kept until the other side has acknowledged them.
//
// Over a connection: Resume, then Add, Seal, Next and Ack as it comes. Without one,
// Add and Seal go on, up to the limit.
//
// The zero Outbox is empty and takes nothing; set Max. It is for one goroutine at a
// time.
type Outbox struct {
	// Max is how many bytes it holds at most; but a message finds room where there
	// is no other.
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

// Add adds a message, whose row is at most RowMax bytes long and is copied. It
// answers false, and adds nothing, when there is no room.
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

// Seal ends the batch that is gathered, so that Next gives it.
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

// Next returns the next batch that is to be written, nil when there is none or when
// it would exceed the window of the other side, unless that has nothing. Sent says
// that it was taken by the connection. The bytes are the Outbox's.
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

// Sent says that what Next has answered is on its way.
func (o *Outbox) Sent() {
	o.flying += len(o.frames[o.next].bytes)
	o.next++
}

// Ack says that the batches up to a number are done with. An error says that they
// were not sent.
func (o *Outbox) Ack(seq uint64) error {
	sent := o.seq
	if o.next < len(o.frames) {
		sent = o.frames[o.next].seq - 1
	}
	if seq > sent {
		return link.Malformed("ack", "of batch %d, and %d was sent", seq, sent)
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

// Resume begins a connection to a peer that has the batches up to number last,
// and has not acknowledged all of them: the others are written again. It
// returns an error if there is no such batch.
func (o *Outbox) Resume(last uint64) error {
	if last > o.seq {
		return link.Malformed("welcome", "it has batch %d, and the last one is %d", last, o.seq)
	}
	o.next, o.flying = 0, 0
	for o.next < len(o.frames) && o.frames[o.next].seq <= last {
		o.Sent()
	}
	return nil
}

// Bytes is how many bytes it holds.
func (o *Outbox) Bytes() int { return o.bytes }

// Flying is how many bytes of them were written and are not acknowledged.
func (o *Outbox) Flying() int { return o.flying }
