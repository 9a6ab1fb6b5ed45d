// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// outlet is the sending side towards one address. Its methods expect the lock
// to be held.
type outlet struct {
	m      *Mailboxes
	addr   env.Addr
	link   link.Options
	client *link.Client
	up     bool
	life   int    // grows with every connection
	peer   uint64 // the life of the receiver, 0 before the first connection
	lanes  []*lane

	// The strict protocol.
	next      uint64      // the number of the next transfer
	transfers []*transfer // not yet done, by number
	owing     []*transfer // of these, with a frame to be sent, in order
	buf       []byte
}

// lane is the route to one mailbox.
type lane struct {
	out      *outlet
	box      *box
	forgets  bool  // a crash of the receiver clears the mailbox
	broken   error // the receiver has no such mailbox
	watchers []env.Waker

	// The strict protocol.
	full bool        // the receiver said so, and has not said room since
	open []*transfer // of sections in progress

	// The relaxed protocol.
	next      uint64
	kept      []kept // sent or to be sent, not acknowledged
	keptBytes int    // the sum of their sizes
	sent      int    // of kept, on this connection
	tried     uint64 // the last message ever sent to this life of the receiver
	drafts    []*draft
	spare     *draft // for the next section
	reserved  int    // messages in drafts
	reservedB int    // bytes in drafts
	starved   bool
}

type kept struct {
	seq  uint64
	body []byte // clock and value
	size int    // as the receiver counts it
}

// state is the progress of a transfer.
type state uint8

const (
	writing   state = iota // the section is in progress
	asking                 // offered; waiting for the answer
	granted                // it has places
	full                   // refused; the receiver knows nothing of it
	busy                   // likewise, for the time being
	lost                   // the connection broke before the answer
	broken                 // the receiver has no such mailbox
	committed              // to be made readable; waiting for done
	aborted                // to be forgotten; waiting for done
)

// transfer is the batch of messages that one section sends to one mailbox.
type transfer struct {
	lane   *lane
	tx     *distsys.Tx // until it is decided
	seq    uint64
	state  state
	life   int // of the outlet, when it was granted
	owes   bool
	alone  bool // the section sends to no other mailbox
	count  int
	values []byte
	clock  []byte
	room   [40]byte // for both while they are short
}

// clockRoom is the part of a transfer's room that is for the clock.
const clockRoom = 8

// low is the lowest transfer number that is not done.
func (o *outlet) low() uint64 {
	if len(o.transfers) > 0 {
		return o.transfers[0].seq
	}
	return o.next
}

// crowded reports whether a new transfer must wait until an earlier one is
// done.
func (o *outlet) crowded() bool { return o.next-o.low() >= transfersMax }

func (o *outlet) owe(t *transfer) {
	if !t.owes {
		t.owes = true
		o.owing = append(o.owing, t)
	}
	o.pump()
}

// pump sends what is due until the connection is full.
func (o *outlet) pump() {
	sent := 0
	for o.up && sent < len(o.owing) && o.send(o.transferFrame(o.owing[sent])) {
		o.owing[sent].owes = false
		sent++
	}
	o.owing = slices.Delete(o.owing, 0, sent)
	if len(o.owing) > 0 {
		return
	}
	for _, l := range o.lanes {
		for o.up && l.sent < len(l.kept) {
			if !o.send(l.sendFrame(l.kept[l.sent])) {
				return
			}
			l.tried = max(l.tried, l.kept[l.sent].seq)
			l.sent++
		}
	}
}

func (o *outlet) send(frame []byte) bool {
	o.buf = frame[:0]
	if err := o.client.Send(frame); err != nil {
		return false
	}
	o.m.counts.BytesSent += uint64(len(frame))
	return true
}

func (o *outlet) transferFrame(t *transfer) []byte {
	kind := frameOffer
	switch {
	case t.state == aborted:
		kind = frameAbort
	case t.state == committed && t.life == o.life:
		kind = frameCommit
	case t.state == committed:
		kind = frameDeliver
	}
	b := link.Begin(o.buf[:0], kind)
	b = binary.AppendUvarint(b, o.low())
	b = binary.AppendUvarint(b, t.seq)
	if kind == frameOffer || kind == frameDeliver {
		b = link.AppendString(b, t.lane.box.key)
		b = append(b, t.clock...)
		if t.alone {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(t.count))
		b = append(b, t.values...)
	}
	return link.Seal(b, 0)
}

func (l *lane) sendFrame(k kept) []byte {
	b := link.Begin(l.out.buf[:0], frameSend)
	b = link.AppendString(b, l.box.key)
	b = binary.AppendUvarint(b, l.kept[0].seq)
	b = binary.AppendUvarint(b, k.seq)
	return link.Seal(append(b, k.body...), 0)
}

func (l *lane) wake() { l.wakeOthers(nil) }

// wakeOthers wakes the sections that wait for the lane, except own: a section
// that releases something has no reason to try again because of that.
func (l *lane) wakeOthers(own env.Waker) {
	for _, w := range l.watchers {
		if w != own {
			w.Wake()
		}
	}
}

// crashed handles a reconnection to a new life of the receiver. For the mailboxes
// that a crash clears, it discards all messages already sent to the old life:
// whether or not that life had read them, the new one must not receive them.
func (o *outlet) crashed() {
	for _, t := range slices.Clone(o.transfers) {
		if t.lane.forgets && t.state == committed {
			o.m.counts.Forgotten += uint64(t.count)
			o.finish(t)
		}
	}
	for _, l := range o.lanes {
		if !l.forgets {
			continue
		}
		n := 0
		for n < len(l.kept) && l.kept[n].seq <= l.tried {
			l.keptBytes -= l.kept[n].size
			n++
		}
		clear(l.kept[:n])
		l.kept = l.kept[n:]
		o.m.counts.Forgotten += uint64(n)
		o.m.settle()
	}
}

// Up implements ClientOwner. It sends again everything that the receiver may
// not have.
func (o *outlet) Up(peer *link.Hello) error {
	if o.peer != 0 && o.peer != peer.Life {
		o.crashed()
	}
	o.peer = peer.Life
	o.up = true
	o.life++
	o.m.counts.Connects++
	o.owing = o.owing[:0]
	for _, t := range o.transfers {
		t.owes = t.state == committed || t.state == aborted
		if t.owes {
			o.owing = append(o.owing, t)
		}
		if t.state == committed {
			o.m.counts.Resent += uint64(t.count)
		}
	}
	for _, l := range o.lanes {
		o.m.counts.Resent += uint64(l.sent)
		l.sent, l.full = 0, false
		l.wake()
	}
	o.pump()
	return nil
}

// Down implements ClientOwner.
func (o *outlet) Down(err error) {
	o.up = false
	o.m.counts.Drops++
	o.m.counts.LastError = fmt.Sprintf("%s: %v", o.addr, err)
	for _, t := range o.transfers {
		if t.state == asking {
			t.state = lost
			t.tx.Answered().Wake()
		}
	}
	if o.m.opt.Lossy {
		for _, l := range o.lanes {
			l.lose()
		}
	}
}

// Room implements ClientOwner.
func (o *outlet) Room() { o.pump() }

// Frame implements ClientOwner.
func (o *outlet) Frame(kind link.Type, payload []byte) error {
	o.m.counts.BytesReceived += uint64(len(payload))
	r := link.NewReader("mailbox", payload)
	switch kind {
	case frameGranted, frameFull, frameBusy, frameDone:
		seq := r.Uvarint("seq")
		if err := r.End(); err != nil {
			return err
		}
		return o.answer(kind, seq)
	case frameRoom, frameAck, frameNoBox:
		l, err := o.laneOf(r.String("mailbox", keyMax))
		if r.Err != nil || err != nil {
			return errors.Join(r.Err, err)
		}
		if kind == frameAck {
			seq := r.Uvarint("seq")
			if err := r.End(); err != nil {
				return err
			}
			return l.acknowledge(seq)
		}
		if err := r.End(); err != nil {
			return err
		}
		if kind == frameNoBox {
			l.breakOff()
		} else {
			l.full = false
			l.wake()
		}
		return nil
	}
	return link.Malformed("mailbox", "type %d is not expected by a sender", kind)
}

func (o *outlet) laneOf(key string) (*lane, error) {
	for _, l := range o.lanes {
		if l.box.key == key {
			return l, nil
		}
	}
	return nil, link.Malformed("mailbox", "an answer for a mailbox that does not exist")
}

// answer handles the receiver's reply to a transfer.
func (o *outlet) answer(kind link.Type, seq uint64) error {
	i := sort.Search(len(o.transfers), func(i int) bool { return o.transfers[i].seq >= seq })
	if i == len(o.transfers) || o.transfers[i].seq != seq {
		if seq >= o.next {
			return link.Malformed("mailbox", "an answer to transfer %d, which was not sent", seq)
		}
		return nil // to one that is over
	}
	t := o.transfers[i]
	switch kind {
	case frameGranted:
		if t.state == asking {
			t.state, t.life = granted, o.life
			t.tx.Answered().Wake()
		}
	case frameFull:
		if t.state == asking {
			t.state, t.lane.full = full, true
			t.tx.Answered().Wake()
		}
	case frameBusy:
		if t.state == asking {
			t.state = busy
			t.tx.Answered().Wake()
		}
	case frameDone:
		switch t.state {
		case committed:
			o.m.counts.Sent += uint64(t.count)
		case aborted:
		default:
			return link.Malformed("mailbox", "transfer %d is done before it was decided", seq)
		}
		o.finish(t)
	}
	return nil
}

// finish forgets a transfer for which no more frames are due.
func (o *outlet) finish(t *transfer) {
	was := o.crowded()
	if i := slices.Index(o.transfers, t); i >= 0 {
		o.transfers = slices.Delete(o.transfers, i, i+1)
	}
	if t.owes {
		o.owing = slices.DeleteFunc(o.owing, func(x *transfer) bool { return x == t })
	}
	if was && !o.crowded() {
		for _, l := range o.lanes {
			l.wake()
		}
	}
	o.m.settle()
}

// acknowledge forgets the relaxed messages with numbers up to seq.
func (l *lane) acknowledge(seq uint64) error {
	if seq >= l.next {
		return link.Malformed("mailbox", "an acknowledgement of message %d, which was not sent", seq)
	}
	n := 0
	for n < len(l.kept) && l.kept[n].seq <= seq {
		n++
	}
	if n > l.sent {
		return link.Malformed("mailbox", "an acknowledgement of message %d, which was not sent", seq)
	}
	for _, k := range l.kept[:n] {
		l.keptBytes -= k.size
	}
	l.kept = behind(l.kept, n)
	l.sent -= n
	l.out.m.counts.Sent += uint64(n)
	if n > 0 {
		// Whether or not l.starved is set, wake the waiting sections: a section
		// that aborted because its messages did not all fit has reset it.
		l.starved = false
		l.wake()
	}
	if len(l.kept) == 0 {
		l.out.m.settle()
	}
	return nil
}

// breakOff marks a mailbox that the receiver does not have: sections that send
// to it fail.
func (l *lane) breakOff() {
	l.broken = fmt.Errorf("the node at %s has no mailbox %s", l.out.addr, l.box.index)
	l.kept, l.keptBytes, l.sent = nil, 0, 0
	for _, t := range slices.Clone(l.out.transfers) {
		if t.lane != l {
			continue
		}
		if t.tx != nil {
			t.state = broken
			t.tx.Answered().Wake()
		} else {
			l.out.finish(t)
		}
	}
	l.wake()
	l.out.m.settle()
}
