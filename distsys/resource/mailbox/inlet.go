// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// The reasons for which a receiver ends a connection.
var (
	errSuperseded = &link.Refusal{Code: link.RefusalTaken, Text: "the sender has connected again"}
	errTooMany    = &link.Refusal{Code: link.RefusalFull, Text: fmt.Sprintf("%d senders are remembered, and none can be forgotten", sessionsMax)}
	errOverrun    = errors.New("the sender exceeds its window")
)

// inlet is the receiving side of one sender's session, which outlives its
// connections. The callers of its methods hold the lock.
type inlet struct {
	m       *Mailboxes
	session uint64 // the life that the sender has drawn for it
	host    string // of its last connection
	network string
	node    string     // the sender's, by its last connection
	life    string     // of the sender's node: what its mailboxes have drawn
	ended   bool       // a later life of the node is here
	changed uint64     // orders inlets by when their connections last began or ended
	peer    *link.Conn // nil between connections
	hold    env.Timer  // runs while peer is nil and something is staged

	// The strict protocol: the keys of staged and done are transfer numbers.
	// None is below low, so each map has at most transfersMax entries.
	low    uint64
	staged map[uint64]staged
	done   map[uint64]bool

	lanes map[string]*inLane // the relaxed protocol, by mailbox
}

type staged struct {
	box    *box
	places []*queue.Place
}

// inLane holds the relaxed messages of one sender to one mailbox.
type inLane struct {
	in      *inlet
	box     *box
	last    uint64 // the number of the last message that came
	pending []queue.Message
	bytes   int // in pending
	stalled bool
}

// want is a request of a sender to be notified of room: the receiver told it
// that the mailbox is full.
type want struct {
	in       *inlet
	messages int
	bytes    int
}

// receiver is the Mailboxes in the role of its server's owner.
type receiver Mailboxes

// Up implements ServerOwner.
func (r *receiver) Up(p *link.Conn) {
	m := (*Mailboxes)(r)
	m.counts.Connects++
	host, network := link.Host(p.Remote())
	in := m.inlets[p.Peer.Life]
	if in == nil {
		if len(m.inlets) >= sessionsMax && !m.evict(host, network) {
			p.End(errTooMany)
			return
		}
		in = &inlet{m: m, session: p.Peer.Life, low: 1,
			staged: map[uint64]staged{}, done: map[uint64]bool{}, lanes: map[string]*inLane{}}
		m.inlets[in.session] = in
	}
	if in.peer != nil {
		in.peer.End(errSuperseded)
	}
	if in.hold != nil {
		in.hold.Stop()
		in.hold = nil
	}
	in.host, in.network, in.node, in.life = host, network, p.Peer.Node, string(p.Peer.Body)
	in.mark()
	in.peer = p
	m.succeeds(in)
}

// succeeds ends the inlets of earlier lives of a sender's node. Those lives
// decide no more transfers, so the receiver drops the places that it holds for
// them.
func (m *Mailboxes) succeeds(now *inlet) {
	for _, in := range m.inlets {
		if in.node != now.node || in.life == now.life || in.ended {
			continue
		}
		in.ended = true
		if in.peer == nil {
			in.giveUp()
		}
	}
}

// giveUp drops the places on which the sender has not decided.
func (in *inlet) giveUp() {
	for _, s := range in.staged {
		s.box.queue.Drop(s.places)
	}
	clear(in.staged)
}

// mark records that a connection begins or ends now.
func (in *inlet) mark() {
	in.m.changes++
	in.changed = in.m.changes
}

// idle reports whether the sender is disconnected and has nothing pending.
func (in *inlet) idle() bool {
	for _, l := range in.lanes {
		if len(l.pending) > 0 {
			return false
		}
	}
	return len(in.staged) == 0 && (in.peer == nil || in.peer.Over())
}

// evict forgets one idle sender to make room for a new sender from a host. It
// picks the network with most senders, in it the host with most, and of that
// host the sender that has been disconnected longest. So a host that keeps
// connecting with new lives evicts only its own senders, and is refused if all
// of them are connected.
func (m *Mailboxes) evict(host, network string) bool {
	networks, hosts := map[string]int{network: 1}, map[string]int{host: 1}
	for _, in := range m.inlets {
		networks[in.network]++
		hosts[in.host]++
	}
	// going is 1 while the end of a connection has not been reported yet.
	going := func(in *inlet) int {
		if in.peer != nil {
			return 1
		}
		return 0
	}
	var first *inlet
	for _, in := range m.inlets {
		if in.idle() && (first == nil || cmp.Or(
			cmp.Compare(networks[first.network], networks[in.network]),
			cmp.Compare(hosts[first.host], hosts[in.host]),
			cmp.Compare(going(in), going(first)),
			cmp.Compare(in.changed, first.changed)) < 0) {
			first = in
		}
	}
	if first == nil || cmp.Or(
		cmp.Compare(networks[network], networks[first.network]),
		cmp.Compare(hosts[host], hosts[first.host])) > 0 {
		return false
	}
	m.unwant(first)
	delete(m.inlets, first.session)
	return true
}

// Down implements ServerOwner.
func (r *receiver) Down(p *link.Conn, err error) {
	m := (*Mailboxes)(r)
	m.counts.Drops++
	m.counts.LastError = fmt.Sprintf("%q: %v", p.Peer.Node, err)
	in := m.inlets[p.Peer.Life]
	if in == nil || in.peer != p {
		return
	}
	in.peer = nil
	in.mark()
	// The sender forgets that a mailbox is full when it connects again.
	m.unwant(in)
	switch {
	case in.ended:
		in.giveUp()
	case len(in.staged) > 0:
		in.hold = m.opt.Link.Env.Clock.After(m.opt.HoldTime, env.WakeFunc(in.holdOver))
	}
}

// holdOver drops the places of a sender that has not reconnected in time.
func (in *inlet) holdOver() {
	in.m.mu.Lock()
	defer in.m.mu.Unlock()
	if in.m.closed || in.peer != nil {
		return
	}
	in.giveUp()
}

// Frame implements ServerOwner.
func (r *receiver) Frame(p *link.Conn, kind link.Type, payload []byte) error {
	m := (*Mailboxes)(r)
	m.counts.BytesReceived += uint64(len(payload))
	in := m.inlets[p.Peer.Life]
	if in == nil || in.peer != p {
		return errSuperseded
	}
	switch kind {
	case frameOffer, frameDeliver:
		o, err := readOffer(payload, m.msgs[:0])
		defer clear(o.msgs)
		if m.msgs = o.msgs[:0]; cap(m.msgs) > msgsKept {
			m.msgs = nil
		}
		if err != nil {
			return err
		}
		if err := in.advance(o.low, o.seq); err != nil {
			return err
		}
		b := m.boxes[string(o.key)]
		if b == nil || b.queue == nil {
			in.say(frameNoBox, o.key, 0)
			return nil
		}
		if kind == frameDeliver {
			return in.deliver(b, o)
		}
		in.offered(b, o)
		return nil
	case frameCommit, frameAbort:
		fr := link.NewReader("mailbox", payload)
		low, seq := fr.Uvarint("low"), fr.Uvarint("seq")
		if err := fr.End(); err != nil {
			return err
		}
		if err := in.advance(low, seq); err != nil {
			return err
		}
		return in.decide(seq, kind == frameCommit)
	case frameSend:
		return in.receive(payload)
	}
	return link.Malformed("mailbox", "type %d is not expected by a receiver", kind)
}

// say sends a reply to the sender: a number, or a mailbox with or without a
// number.
func (in *inlet) say(kind link.Type, key []byte, seq uint64) {
	b := link.Begin(in.m.reply[:0], kind)
	if key != nil {
		b = link.AppendString(b, string(key))
	}
	if key == nil || kind == frameAck {
		b = binary.AppendUvarint(b, seq)
	}
	b = link.Seal(b, 0)
	in.m.reply = b
	in.m.counts.BytesSent += uint64(len(b))
	in.peer.Send(b)
}

// advance discards the state of transfers that the sender has finished with.
func (in *inlet) advance(low, seq uint64) error {
	if seq == 0 || low == 0 || seq < low || seq-low >= transfersMax {
		return link.Malformed("mailbox", "transfer %d with low %d", seq, low)
	}
	switch {
	case low < in.low:
		// The receiver has forgotten which transfers below in.low were done, so
		// it could do one twice.
		return link.Malformed("mailbox", "transfer %d with low %d after low %d", seq, low, in.low)
	case low == in.low:
		return nil
	}
	in.low = low
	for n := range in.done {
		if n < low {
			delete(in.done, n)
		}
	}
	for n, s := range in.staged {
		if n < low { // the sender has given it up without a word
			s.box.queue.Drop(s.places)
			delete(in.staged, n)
		}
	}
	return nil
}

// offered stages a transfer, or replies that the mailbox is busy or full.
func (in *inlet) offered(b *box, o offer) {
	if in.done[o.seq] {
		in.say(frameDone, nil, o.seq)
		return
	}
	if _, again := in.staged[o.seq]; !again {
		places, outcome := b.queue.Stage(o.alone, o.msgs...)
		switch outcome {
		case queue.Busy:
			in.m.counts.Busy++
			in.say(frameBusy, nil, o.seq)
			return
		case queue.Full:
			in.m.counts.Full++
			bytes := 0
			for _, msg := range o.msgs {
				bytes += msg.Size
			}
			in.m.want(b, want{in, len(o.msgs), bytes})
			in.say(frameFull, nil, o.seq)
			return
		}
		in.staged[o.seq] = staged{b, places}
	}
	in.say(frameGranted, nil, o.seq)
}

// decide commits or aborts a staged transfer.
func (in *inlet) decide(seq uint64, commit bool) error {
	s, here := in.staged[seq]
	switch {
	case in.done[seq]:
		in.m.counts.Duplicates++
	case here && commit:
		s.box.queue.Ready(s.places)
		in.m.counts.Received += uint64(len(s.places))
	case here:
		s.box.queue.Drop(s.places)
	case commit:
		return link.Malformed("mailbox", "commit of transfer %d, which was not offered", seq)
	}
	delete(in.staged, seq)
	in.done[seq] = true
	in.say(frameDone, nil, seq)
	return nil
}

// deliver handles a frame that combines an offer with its commit. The receiver
// may have staged or completed the transfer already, or may never have seen it.
func (in *inlet) deliver(b *box, o offer) error {
	if _, here := in.staged[o.seq]; here || in.done[o.seq] {
		return in.decide(o.seq, true)
	}
	// The receiver granted this transfer once, so it must not refuse it for
	// lack of room now. The check below keeps a peer from filling the memory in
	// this way.
	limits := b.queue.Limits()
	if (b.queue.Len()-transfersMax)/2 > limits.Messages || (b.queue.Bytes()-in.m.opt.Link.FrameMax)/2 > limits.Bytes {
		return errOverrun
	}
	b.queue.Force(o.msgs...)
	in.m.counts.Received += uint64(len(o.msgs))
	in.done[o.seq] = true
	in.say(frameDone, nil, o.seq)
	return nil
}

// receive takes a relaxed message.
func (in *inlet) receive(payload []byte) error {
	r := link.NewReader("mailbox", payload)
	key := r.Bytes("mailbox", r.Count("mailbox", keyMax))
	low, seq := r.Uvarint("low"), r.Uvarint("seq")
	clock := readClock(r)
	msg := readValue(r, clock)
	msg.Size += clockSize(clock)
	if err := r.End(); err != nil {
		return err
	}
	if low == 0 || seq < low || seq-low > windowMax {
		return link.Malformed("mailbox", "message %d with low %d", seq, low)
	}
	l := in.lanes[string(key)]
	if l == nil {
		b := in.m.boxes[string(key)]
		if b == nil || b.queue == nil {
			in.say(frameNoBox, key, 0)
			return nil
		}
		l = &inLane{in: in, box: b, last: low - 1}
		in.lanes[string(key)] = l
	}
	// A lossy sender has given up the messages below low.
	l.last = max(l.last, low-1)
	switch {
	case seq <= l.last:
		in.m.counts.Duplicates++
	case seq > l.last+1:
		return link.Malformed("mailbox", "message %d after %d", seq, l.last)
	case len(l.pending) >= windowMax || l.bytes+msg.Size > pendingBytesMax:
		return errOverrun
	default:
		l.last = seq
		l.pending = append(l.pending, msg)
		l.bytes += msg.Size
		in.m.counts.Received++
	}
	l.move()
	in.say(frameAck, key, l.last-uint64(len(l.pending)))
	return nil
}

// behind is s without its first n elements. A short list keeps its memory, a long
// one moves along its array until it is empty.
func behind[T any](s []T, n int) []T {
	if cap(s) <= listKept {
		return slices.Delete(s, 0, n)
	}
	if n == len(s) {
		return nil
	}
	clear(s[:n])
	return s[n:]
}

// move moves pending messages into the mailbox while there is room.
func (l *inLane) move() (moved int) {
	if l.stalled {
		return 0 // its turn comes with room
	}
	for moved < len(l.pending) {
		places, outcome := l.box.queue.Stage(true, l.pending[moved:moved+1]...)
		if outcome != queue.Staged {
			l.stalled = true
			l.box.stalled = append(l.box.stalled, l)
			l.in.m.watchRoom(l.box)
			break
		}
		l.box.queue.Ready(places)
		l.bytes -= l.pending[moved].Size
		moved++
	}
	l.pending = behind(l.pending, moved)
	return moved
}

// want records that a sender wants to be notified of room; unwant removes its
// requests.
func (m *Mailboxes) want(b *box, w want) {
	for i := range b.wants {
		if have := &b.wants[i]; have.in == w.in {
			have.messages = min(have.messages, w.messages)
			have.bytes = min(have.bytes, w.bytes)
			return
		}
	}
	b.wants = append(b.wants, w)
	m.watchRoom(b)
}

func (m *Mailboxes) unwant(in *inlet) {
	for _, b := range m.here {
		b.wants = slices.DeleteFunc(b.wants, func(w want) bool { return w.in == in })
	}
}

func (m *Mailboxes) watchRoom(b *box) {
	if !b.watched {
		b.watched = true
		b.queue.WatchRoom(m.room)
		m.room.Wake() // there may have become room before it was watched
	}
}

// roomTick uses freed room: first for relaxed messages that have arrived, then
// by notifying strict senders.
func (m *Mailboxes) roomTick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.room.Take()
	if m.closed {
		return
	}
	for _, b := range m.here {
		if !b.watched {
			continue
		}
		stalled := b.stalled
		b.stalled = nil
		for _, l := range stalled {
			l.stalled = false
			if l.move() > 0 && l.in.peer != nil {
				l.in.say(frameAck, []byte(b.key), l.last-uint64(len(l.pending)))
			}
		}
		b.wants = slices.DeleteFunc(b.wants, func(w want) bool {
			if !b.queue.Room(w.messages, w.bytes) {
				return false
			}
			w.in.say(frameRoom, []byte(b.key), 0)
			return true
		})
		if len(b.wants) == 0 && len(b.stalled) == 0 {
			b.watched = false
			b.queue.UnwatchRoom(m.room)
		}
	}
}
