// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The frames. A transfer is the batch of messages that one section sends to one
// mailbox by the strict protocol. Transfers between two nodes are numbered from
// 1; low is the lowest number for which the sender still needs a reply.
//
//	sender                                   receiver
//	offer   low seq key clock alone count value...
//	                                         granted seq | full seq | busy seq | noBox key
//	commit  low seq                          done seq
//	abort   low seq                          done seq
//	deliver like offer                       done seq        offer and commit in one
//	                                         room key        after full
//	send    key low seq clock value          ack key seq | noBox key
//
// Send and ack form the relaxed protocol. Its messages are numbered from 1 for
// each mailbox; an ack covers all messages up to its number.
const (
	frameOffer = link.Service + iota
	frameCommit
	frameAbort
	frameDeliver
	frameSend
	frameGranted
	frameFull
	frameDone
	frameRoom
	frameAck
	frameNoBox
	frameBusy
)

// appendClock appends a vector clock.
func appendClock(buf []byte, c tracelog.Clock) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(c)))
	for _, t := range c {
		buf = link.AppendString(buf, t.Actor)
		buf = binary.AppendUvarint(buf, t.N)
	}
	return buf
}

func readClock(r *link.Reader) tracelog.Clock {
	n := r.Count("clock", clockMax)
	// The sender must send at least two bytes per entry, so a large count alone
	// cannot make the receiver allocate memory.
	c := make(tracelog.Clock, 0, min(n, len(r.Rest())/2))
	for i := 0; i < n && r.Err == nil; i++ {
		t := tracelog.Tick{Actor: r.String("actor", keyMax), N: r.Uvarint("count")}
		if r.Err == nil && (t.N == 0 || i > 0 && c[i-1].Actor >= t.Actor) {
			r.Fail("clock out of order")
		}
		c = append(c, t)
	}
	return c
}

// tickBytes is the memory that an entry of a clock takes, without its name.
const tickBytes = 40

// clockSize returns the number of bytes that a clock takes in memory. The
// sender counts clocks in the same way, so that it never sends more than the
// receiver accepts.
func clockSize(c tracelog.Clock) (n int) {
	for _, t := range c {
		n += tickBytes + len(t.Actor)
	}
	return n
}

// readValue reads a value. The size of the message is the length of the value's
// encoding; the caller adds that of the clock.
func readValue(r *link.Reader, c tracelog.Clock) queue.Message {
	if r.Err != nil {
		return queue.Message{}
	}
	before := r.Rest()
	v, rest, err := value.ParseWire(before)
	if err != nil {
		r.Fail("value: %v", err)
		return queue.Message{}
	}
	r.Skip(rest)
	return queue.Message{Value: v, Clock: c, Size: len(before) - len(rest)}
}

// offer is the content of a frameOffer or frameDeliver.
type offer struct {
	low, seq uint64
	key      []byte // in the payload
	alone    bool   // the section sends to no other mailbox
	msgs     []queue.Message
}

// readOffer appends the messages of an offer to msgs.
func readOffer(payload []byte, msgs []queue.Message) (offer, error) {
	r := link.NewReader("mailbox", payload)
	o := offer{low: r.Uvarint("low"), seq: r.Uvarint("seq"), key: r.Bytes("mailbox", r.Count("mailbox", keyMax)), msgs: msgs}
	c := readClock(r)
	o.alone = r.Count("alone", 1) == 1
	n := r.Count("number of messages", batchMax)
	for i := 0; i < n && r.Err == nil; i++ {
		o.msgs = append(o.msgs, readValue(r, c))
	}
	if len(o.msgs) > 0 {
		o.msgs[0].Size += clockSize(c) // all share one
	}
	return o, r.End()
}
