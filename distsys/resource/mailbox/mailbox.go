// SPDX-License-Identifier: Apache-2.0

// Package mailbox provides reliable first-in first-out messaging between the
// nodes of a compiled system: the network[_] of a specification. Writing
// network[i] sends to mailbox i; reading it removes and returns the next
// message. A node reads only its own mailboxes.
//
// In: an env, the address at which to listen, the indices of the local
// mailboxes, and the addresses of the others. Out: resources for the mailboxes
// and for their lengths.
//
// Strict mailboxes commit in two phases. At pre-commit the sender offers the
// messages to the receiver, which assigns them places in the mailbox or replies
// that it is full. At commit the places become readable; on abort the receiver
// removes them. Readers take messages in the order of the places, and an
// undecided place holds back all places behind it, so the messages of different
// senders arrive in an order that is consistent with an order of the sections as
// a whole. One section may send any number of messages to any mailboxes. A
// section that sends to several mailboxes is refused, and tried again, while one
// of them holds an undecided message of another section. The protocol costs one
// round trip. A write is blocked while the receiver cannot be reached or is
// full.
//
// Relaxed mailboxes send at commit and do not wait. The sender keeps messages
// that the receiver has not acknowledged, up to a window; a write is blocked
// only while the window is full. A section that sends to two relaxed mailboxes
// is not atomic to other sections; the compiler refuses such sections. Messages
// of different senders may overtake each other even if one message caused the
// other (a sends to b, then to c; b receives, sends to c, and is faster). A
// specification in which that matters needs strict mailboxes. Checking traces of
// the running system reveals such cases.
//
// Lossy mailboxes are for specifications in which the network may lose, repeat
// and reorder messages. They send at commit and never block or refuse a section:
// a message for a node that is not connected, or whose window is full, is
// dropped, and so are the messages on their way when a connection breaks. One
// section may send to any mailboxes. Nothing below is promised of them, except
// that a message that arrives is one that a committed section has sent.
//
// While both ends live, each message of a committed section arrives exactly
// once, in the order of the sender's sections, however often connections break.
// A receiver remembers 1024 senders, where each life of a node is a sender of
// its own. If it has forgotten a sender that then repeats a message because the
// reply was lost, the message arrives twice. To make room for a new sender, a
// receiver forgets one that is disconnected and has nothing pending: in the
// network with most senders, of the host with most there, the one that has been
// disconnected longest. It refuses a new sender of a larger network, or of a
// larger host in that network. When a receiver ends, the messages that it had
// acknowledged are lost with it; those that it had not acknowledged go to the
// next process that listens at that address. When a sender ends after the commit
// of a section, messages that the receiver had not acknowledged may be lost;
// Linger waits until there are none. If a crash of the receiver clears its
// mailbox (Remote.Forgets), its next life receives no message that the sender
// already offered to the life before. A place that a strict sender left
// undecided holds its mailbox back for at most HoldTime, or until the sender's
// node starts again; the receiver still honours a later decision, by adding the
// messages at the end of the mailbox.
//
// docs/format/mailbox.md describes the bytes. Source: PGo (ASPLOS 2023), section
// 4.2.1.
package mailbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Limits and defaults of Options.
const (
	WindowDefault      = 512
	WindowBytesDefault = 1 << 20
	HoldTimeDefault    = 5 * time.Second
	// transfersMax bounds the strict transfers between two nodes that are
	// undecided or unacknowledged.
	transfersMax = 1024
	// windowMax bounds the Window, so that a receiver knows how many messages a
	// sender may ask it to keep.
	windowMax = 1 << 16
	// pendingBytesMax bounds the relaxed messages of one sender to one mailbox
	// that wait for room in it, clocks included.
	pendingBytesMax = 64 << 20
	// frameMax bounds Link.FrameMax, so that the receiver can accept any
	// message: a clock may take more memory than bytes in a frame.
	frameMax = pendingBytesMax / 2
	// sessionsMax bounds the senders that a node remembers.
	sessionsMax = 1024
	// clockMax bounds the entries of a vector clock in a message.
	clockMax = 1 << 16
	// batchMax bounds the messages that one section sends to one mailbox.
	batchMax = 1 << 16
	keyMax   = 1 << 12
	// msgsKept is the largest number of messages of one offer for which the memory
	// is kept for the next.
	msgsKept = 64
	// listKept is the capacity up to which an empty list keeps its memory.
	listKept = 16
	// overheadMax is the space in a frame that is not available for the value.
	overheadMax = 1 << 10
)

// Options of Mailboxes. Link is required; a node that receives also requires
// Listen.
type Options struct {
	// Link configures the links. Open sets its Lock and Service and ignores its
	// Life: it draws a new Life for each address of Remote.
	Link link.Options
	// Listen is the address at which the node receives; it is empty if Local is
	// empty.
	Listen env.Addr
	// Local are the indices of the mailboxes on this node.
	Local []value.Value
	// Remote are the mailboxes on other nodes.
	Remote []Remote
	// Relaxed selects the relaxed protocol for sending. A node receives both
	// kinds.
	Relaxed bool
	// Lossy selects the lossy protocol for sending: messages as those of the
	// relaxed one, each of which may be lost. A write never waits. Relaxed must
	// be false then.
	Lossy bool
	// Queue bounds each local mailbox.
	Queue queue.Limits
	// Window and WindowBytes bound the unacknowledged messages that a relaxed
	// sender keeps for one mailbox: at most 65,536 messages and 64 MiB, clocks
	// included. While the sender keeps nothing, one section may exceed
	// WindowBytes. A section that sends more than Window messages to one
	// mailbox fails.
	Window, WindowBytes int
	// HoldTime is how long the receiver keeps the places of a strict sender
	// that has disconnected.
	HoldTime time.Duration
}

// Remote gives the address of a mailbox.
type Remote struct {
	Index value.Value
	Addr  env.Addr
	// Forgets reports that a crash of the process at Addr clears the mailbox, as
	// it does in the specification. Messages that were sent to a life that has
	// ended are then not sent to the next one.
	Forgets bool
}

func (o Options) complete() (Options, error) {
	if o.Window == 0 {
		o.Window = WindowDefault
	}
	if o.WindowBytes == 0 {
		o.WindowBytes = WindowBytesDefault
	}
	if o.HoldTime == 0 {
		o.HoldTime = HoldTimeDefault
	}
	switch {
	case o.Window < 1 || o.Window > windowMax || o.WindowBytes < 1 || o.WindowBytes > pendingBytesMax || o.HoldTime < 0:
		return o, fmt.Errorf("mailbox options: Window %d (want 1 to %d), WindowBytes %d (want 1 to %d), HoldTime %v (want at least 0)", o.Window, windowMax, o.WindowBytes, pendingBytesMax, o.HoldTime)
	case o.Relaxed && o.Lossy:
		return o, fmt.Errorf("mailbox options: Relaxed and Lossy exclude each other")
	case o.Link.FrameMax > frameMax:
		return o, fmt.Errorf("mailbox options: Link.FrameMax %d (want at most %d)", o.Link.FrameMax, frameMax)
	case len(o.Local) > 0 && o.Listen == "":
		return o, fmt.Errorf("mailbox options: a node with mailboxes needs an address to listen at")
	}
	return o, nil
}

// Mailboxes are the mailboxes of a system as one node sees them. All methods
// are safe for concurrent use.
type Mailboxes struct {
	opt    Options
	life   []byte // of these mailboxes, in the hello of all outlets
	server *link.Server

	mu      sync.Mutex
	closed  bool
	boxes   map[string]*box // by key; immutable after Open
	here    []*box          // those on this node, in the order of Options
	outlets map[env.Addr]*outlet
	inlets  map[uint64]*inlet // by the sender's session
	changes uint64            // how often a connection of an inlet began or ended
	room    *env.Signal
	settled []chan struct{} // of Linger
	counts  Metrics
	reply   []byte          // for the next reply
	msgs    []queue.Message // for the next offer
	wire    sync.Pool       // of *[]byte: for encodings
	network network
	lengths lengths
}

// box is a mailbox, either local or reached through a lane.
type box struct {
	key   string
	index value.Value
	queue *queue.Queue // nil where it is elsewhere
	lane  *lane

	wants   []want    // senders that were told it is full
	stalled []*inLane // with relaxed messages that wait for room
	watched bool      // its room is watched, as one of these has something
}

// Metrics counts the activity of the mailboxes.
type Metrics struct {
	Sent, Received           uint64 // messages of committed sections; Sent counts acknowledged ones
	BytesSent, BytesReceived uint64 // of frames of this package, repeated ones included
	Resent                   uint64 // messages sent again after a connection broke
	Forgotten                uint64 // messages that a crash of the receiver has cleared
	Duplicates               uint64 // messages that came again and were dropped
	Full                     uint64 // offers refused because a mailbox was full
	Busy                     uint64 // offers of sections with several mailboxes, refused behind an undecided one
	Lost                     uint64 // messages that a lossy sender has dropped
	Connects                 uint64 // connections that came up
	Drops                    uint64 // connections that broke or could not be made
	LastError                string // why the last one did
}

// Open starts listening and connecting.
func Open(o Options) (*Mailboxes, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	m := &Mailboxes{
		boxes: map[string]*box{}, outlets: map[env.Addr]*outlet{}, inlets: map[uint64]*inlet{},
	}
	m.network.m, m.lengths.m = m, m
	o.Link.Lock, o.Link.Service = &m.mu, service
	o.Link.Env.Random = o.Link.Env.Random.Split("mailbox")
	if o.Link, err = o.Link.Complete(); err != nil {
		return nil, err
	}
	m.opt = o
	m.life = binary.LittleEndian.AppendUint64(nil, o.Link.Env.Random.Split("life").Uint64())
	// roomTick takes the lock, so it runs from a timer and not inside the calls
	// that make room.
	m.room = env.NewSignal(func() { o.Link.Env.Clock.After(0, env.WakeFunc(m.roomTick)) })
	// Computing the key of an index that has no encoding panics with a
	// *value.Error.
	var wrong error
	if err := value.Catch(func() { wrong = m.addBoxes() }); err != nil || wrong != nil {
		return nil, errors.Join(err, wrong)
	}
	if o.Listen != "" {
		if m.server, err = link.NewServer(&m.opt.Link, o.Listen, (*receiver)(m)); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range o.Remote {
		m.connect(r)
	}
	return m, nil
}

// service names the purpose of the links in the hello.
const service = "mailbox"

func (m *Mailboxes) addBoxes() error {
	add := func(b *box) error {
		if len(b.key) > keyMax {
			return fmt.Errorf("mailbox index %s is too long", value.Brief(b.index))
		}
		if m.boxes[b.key] != nil {
			return fmt.Errorf("there are two mailboxes %s", b.index)
		}
		m.boxes[b.key] = b
		if b.queue != nil {
			m.here = append(m.here, b)
		}
		return nil
	}
	for _, i := range m.opt.Local {
		if err := add(&box{key: key(i), index: i, queue: queue.New(m.opt.Queue)}); err != nil {
			return err
		}
	}
	for _, r := range m.opt.Remote {
		if err := add(&box{key: key(r.Index), index: r.Index}); err != nil {
			return err
		}
	}
	return nil
}

func key(v value.Value) string { return string(value.AppendWire(nil, v)) }

func (m *Mailboxes) connect(r Remote) {
	out := m.outlets[r.Addr]
	if out == nil {
		out = &outlet{m: m, addr: r.Addr, link: m.opt.Link, next: 1}
		// The receiver identifies the outlet by its life. Each outlet draws its own,
		// for two reasons: two addresses may belong to one receiver, and a life
		// chosen by the user may be that of another node or of an earlier run of
		// this one.
		out.link.Life = m.opt.Link.Env.Random.Uint64() | 1
		m.outlets[r.Addr] = out
		out.client = link.NewClient(&out.link, link.Target{Addr: r.Addr, Body: func() []byte { return m.life }}, out)
	}
	b := m.boxes[key(r.Index)]
	b.lane = &lane{out: out, box: b, next: 1, forgets: r.Forgets}
	out.lanes = append(out.lanes, b.lane)
}

// Addr is the address at which the node listens, or empty if it does not
// listen.
func (m *Mailboxes) Addr() env.Addr {
	if m.server == nil {
		return ""
	}
	return m.server.Addr()
}

// Network is the resource whose index i selects mailbox i.
func (m *Mailboxes) Network() distsys.Selector { return &m.network }

// Lengths is the resource whose index i reads as the length of mailbox i, which
// must be on this node.
func (m *Mailboxes) Lengths() distsys.Selector { return &m.lengths }

// Queue returns the queue inside a mailbox of this node, or nil if there is no
// such mailbox.
func (m *Mailboxes) Queue(index value.Value) *queue.Queue {
	if b := m.boxes[key(index)]; b != nil {
		return b.queue
	}
	return nil
}

// Metrics returns the counts so far.
func (m *Mailboxes) Metrics() Metrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// Linger waits until the receivers have acknowledged every message sent.
func (m *Mailboxes) Linger(ctx context.Context) error {
	for {
		m.mu.Lock()
		if m.closed || m.outstanding() == 0 {
			m.mu.Unlock()
			return nil
		}
		again := make(chan struct{})
		m.settled = append(m.settled, again)
		n := m.outstanding()
		m.mu.Unlock()
		select {
		case <-again:
		case <-ctx.Done():
			return fmt.Errorf("%d messages not acknowledged: %w", n, ctx.Err())
		}
	}
}

func (m *Mailboxes) outstanding() int {
	n := 0
	for _, out := range m.outlets {
		n += len(out.transfers)
		for _, l := range out.lanes {
			n += len(l.kept)
		}
	}
	return n
}

// settle makes Linger check again.
func (m *Mailboxes) settle() {
	for _, c := range m.settled {
		close(c)
	}
	m.settled = nil
}

// Close ends all links and stops listening. Unacknowledged messages are lost.
func (m *Mailboxes) Close() error {
	m.mu.Lock()
	m.closed = true
	for _, r := range m.opt.Remote { // in their order; closing again does nothing
		m.outlets[r.Addr].client.Close()
	}
	if m.server != nil {
		m.server.Shut()
	}
	for _, in := range m.inlets {
		if in.hold != nil {
			in.hold.Stop()
		}
	}
	m.settle()
	m.mu.Unlock()
	if m.server == nil {
		return nil
	}
	return m.server.Close()
}

// network is the Selector of the mailboxes.
type network struct{ m *Mailboxes }

func (n *network) Select(idx []value.Value) (distsys.Resource, []value.Value, error) {
	b, err := n.m.find(idx)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case b.queue != nil:
		return b.queue.Both(), idx[1:], nil
	case n.m.opt.Relaxed:
		return (*relaxed)(b.lane), idx[1:], nil
	case n.m.opt.Lossy:
		return (*lossy)(b.lane), idx[1:], nil
	}
	return (*strict)(b.lane), idx[1:], nil
}

// buffer is for an encoding; the caller gives it back to m.wire.
func (m *Mailboxes) buffer() *[]byte {
	if b, ok := m.wire.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

func (m *Mailboxes) find(idx []value.Value) (*box, error) {
	if len(idx) == 0 {
		return nil, errNoIndex
	}
	buf := m.buffer()
	*buf = value.AppendWire((*buf)[:0], idx[0])
	b := m.boxes[string(*buf)]
	m.wire.Put(buf)
	if b != nil {
		return b, nil
	}
	var known []string
	for _, b := range m.boxes {
		known = append(known, b.index.String())
	}
	sort.Strings(known)
	return nil, fmt.Errorf("there is no mailbox %s; there are %s", value.Brief(idx[0]), strings.Join(known, ", "))
}

var (
	errNoIndex   = errors.New("mailboxes need an index")
	errSelector  = errors.New("mailboxes have no value of their own")
	errNotHere   = errors.New("the mailbox is on another node and cannot be read here")
	errWriteOnce = errors.New("a mailbox takes one index")
)

func (n *network) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errSelector
}
func (n *network) Write(*distsys.Tx, []value.Value, value.Value) error { return errSelector }
func (n *network) PreCommit(*distsys.Tx) error                         { return errSelector }
func (n *network) Commit(*distsys.Tx)                                  {}
func (n *network) Abort(*distsys.Tx)                                   {}

// lengths is the Selector of the lengths.
type lengths struct{ m *Mailboxes }

func (n *lengths) Select(idx []value.Value) (distsys.Resource, []value.Value, error) {
	b, err := n.m.find(idx)
	if err != nil {
		return nil, nil, err
	}
	if b.queue == nil {
		return nil, nil, errNotHere
	}
	return b.queue.Length(), idx[1:], nil
}

func (n *lengths) Read(*distsys.Tx, []value.Value) (value.Value, error) {
	return value.Value{}, errSelector
}
func (n *lengths) Write(*distsys.Tx, []value.Value, value.Value) error { return errSelector }
func (n *lengths) PreCommit(*distsys.Tx) error                         { return errSelector }
func (n *lengths) Commit(*distsys.Tx)                                  {}
func (n *lengths) Abort(*distsys.Tx)                                   {}
