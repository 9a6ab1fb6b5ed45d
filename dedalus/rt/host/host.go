package host

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wal"
)

// Host is one running instance. It is safe for concurrent use.
//
// Three kinds of locks guard it, to be taken in this order: those of the clients,
// of one link (or, by the step alone, of several), of the Host. Nothing that blocks is
// done under any of them. The component belongs to the step.
type Host struct {
	opt      Options
	typ      *rt.ComponentType
	comp     rt.Component
	life     uint64
	listener env.Listener
	waker    env.Waker
	disk     *wal.Log // nil: nothing is kept

	// peers are the other instances; order has them by name. Neither changes.
	peers map[string]*peer
	order []*peer

	clientsMu sync.RWMutex
	clients   map[string]*client
	strangers int // of clients: those that have never come

	// outputs is how many bytes wait for clients, partials how many of frames that
	// are not whole came from them.
	outputs, partials atomic.Int64

	// heavy is how many peers have so much to take that inputs wait.
	heavy atomic.Int32

	busy sync.Mutex // held while a step is running
	step step

	mu      sync.Mutex
	inbox   [2]inbox // from instances, from clients
	sources map[string]*source
	conns   []*inconn
	unknown *list.List // of conns, as they came: those of which it is not known who they are
	inputs  int        // bytes from clients that no tick has taken
	random  env.Random
	// Timers that have run out, and the ones that are to.
	fired  []bool
	timers []env.Timer
	// resend are the nodes that all that holds is sent to again, everybody those that
	// are connected; armed, when a clock says so, due, now.
	resend          map[string]bool
	everybody       bool
	armed, due      bool
	resendRest      env.Instant // nothing is looked through again before it
	acking          []*source   // with batches that are done and not acknowledged
	ackArmed        bool
	closed, drained bool
	draining        func()
	drainUntil      env.Instant
	failed          error
	incarnation     uint64
	lost            bool // a message to another piece
	trouble         string
	counts          Counts
}

// Open starts an instance. It listens when it returns. An error says what is wrong
// with the options, the directory or the address.
func Open(o Options) (*Host, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	typ := &o.Program.Components[o.Component]
	h := &Host{opt: o, typ: typ, peers: map[string]*peer{}, clients: map[string]*client{}, sources: map[string]*source{},
		resend: map[string]bool{}, fired: make([]bool, len(typ.Timers)), timers: make([]env.Timer, len(typ.Timers)),
		random: o.Env.Random.Split("host"), incarnation: o.Incarnation, unknown: list.New()}
	h.life = h.random.Uint64() | 1
	if h.comp, err = typ.New(o.Who, o.Static); err != nil {
		return nil, fmt.Errorf("make %s: %w", o.Who.Node, err)
	}
	if o.Dir != "" && !o.Memory && typ.Durable {
		if err := h.openLog(); err != nil {
			return nil, err
		}
	}
	for node, addr := range o.Peers {
		if node != o.Who.Node {
			h.peers[node] = newPeer(h, node, addr)
			h.order = append(h.order, h.peers[node])
		}
	}
	slices.SortFunc(h.order, func(a, b *peer) int { return cmp.Compare(a.node, b.node) })
	for _, p := range h.order {
		p.random = h.random.Split(p.node)
	}
	h.waker = o.Tasks.Task(h.turn)
	listener, err := o.Env.Network.Listen(o.Listen, h.accept)
	if err != nil {
		h.closed = true
		if h.disk != nil {
			err = errors.Join(err, h.disk.Close())
		}
		return nil, err
	}
	h.mu.Lock()
	h.listener = listener
	for i := range typ.Timers {
		// The first time is any: instances that start together do not run together.
		h.startTimer(i, typ.Timers[i].Every, 0)
	}
	h.mu.Unlock()
	for _, node := range o.Pieces {
		// Pieces that have nothing to say to each other still have to meet.
		if p := h.peers[node]; p != nil {
			p.mu.Lock()
			p.dial()
			p.mu.Unlock()
		}
	}
	h.beatLater()
	h.resendLater()
	h.waker.Wake()
	return h, nil
}

// Addr is where it listens.
func (h *Host) Addr() env.Addr { return h.listener.Addr() }

// Close ends the instance at once, in whatever it is doing, and waits for a tick that
// is running. What it has acknowledged is durable. It must be called once.
func (h *Host) Close() error {
	h.shut(nil)
	err := h.listener.Close()
	h.busy.Lock()
	defer h.busy.Unlock()
	if h.disk != nil {
		err = errors.Join(err, h.disk.Close())
	}
	return err
}

// shut ends all connections and timers, because of an error or not.
func (h *Host) shut(err error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed, h.failed = true, err
	for _, t := range h.timers {
		if t != nil {
			t.Stop()
		}
	}
	for _, c := range h.conns {
		c.conn.Close()
	}
	done := h.draining
	h.draining = nil
	h.mu.Unlock()
	for _, p := range h.order {
		p.mu.Lock()
		p.stop()
		p.mu.Unlock()
	}
	if done != nil {
		done()
	}
	if err != nil && h.opt.Fatal != nil {
		h.opt.Fatal(err)
	}
}

// Drain ends the instance in order: it takes no more clients and no more of their
// inputs, goes on until nothing is left to do and everybody who is connected has
// acknowledged everything, or for DrainWithin. Then it calls done, from anywhere;
// Close remains to be called.
func (h *Host) Drain(done func()) {
	h.mu.Lock()
	if h.closed || h.drained {
		h.mu.Unlock()
		done()
		return
	}
	h.drained, h.draining = true, done
	h.drainUntil = h.opt.Env.Clock.Now().Add(h.opt.DrainWithin)
	h.mu.Unlock()
	h.waker.Wake()
	h.drainLook()
}

// drainLook looks whether a drain is over.
func (h *Host) drainLook() {
	rest := 0
	for _, p := range h.order {
		rest += p.waiting()
	}
	h.clientsMu.RLock()
	for _, c := range h.clients {
		rest += c.waiting()
	}
	h.clientsMu.RUnlock()
	h.mu.Lock()
	done := h.draining
	rest += len(h.inbox[0].list)
	over := done != nil && (rest == 0 || h.opt.Env.Clock.Now() >= h.drainUntil)
	if over {
		h.draining = nil
	}
	h.mu.Unlock()
	switch {
	case over:
		done()
	case done != nil:
		h.opt.Env.Clock.After(h.opt.AckAfter/2, env.WakeFunc(h.drainLook))
	}
}

// source is what is known of a node that sends: it belongs to the Host's lock. The
// numbers are of its batches: the last that came, the last that is done with, the
// last of which that is acknowledged.
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

// inbox gathers what arrives.
type inbox struct {
	buf  []byte
	list []arrival
}

// arrival is a batch: bytes of an inbox, from a source. What the instance sends to
// itself has none.
type arrival struct {
	src       *source
	life, seq uint64
	from, to  int
	frame     int // how many bytes it was as a frame
}

func (b *inbox) add(a arrival, messages []byte) {
	a.from = len(b.buf)
	b.buf = append(b.buf, messages...)
	a.to = len(b.buf)
	b.list = append(b.list, a)
}

// inboxKeep is how much memory an inbox keeps between ticks.
const inboxKeep = 4 << 20

func (b *inbox) reset() {
	if cap(b.buf) > inboxKeep {
		b.buf = nil
	}
	clear(b.list)
	b.buf, b.list = b.buf[:0], b.list[:0]
}

// begin takes a source that has said who it is over a connection, and answers how far
// its batches have come, and the connection that it had before. It is called under
// the lock.
func (s *source) begin(life uint64, in *inconn) (before *inconn) {
	before, s.in = s.in, in
	if s.life != life {
		s.life, s.last, s.done = life, 0, 0
	}
	s.acked = 0 // what was acknowledged may have been lost with the connection
	return before
}

// wantResend has all that holds sent again to a node. The Host's lock is held.
func (h *Host) wantResend(node string) {
	if h.resend[node] = true; len(h.resend) > h.opt.ClientsMax+len(h.order) {
		clear(h.resend) // clients that come and go under ever new names
		h.everybody = true
	}
	h.armResend()
}

// resendShare is which part of its time a Host looks through all that holds, at most:
// clients can ask for it, by beginning new lives.
const resendShare = 10

// armResend gathers what there is to be sent again: looking for it costs the whole
// state.
func (h *Host) armResend() {
	if h.armed || h.closed {
		return
	}
	h.armed = true
	after := max(h.opt.AckAfter, h.resendRest.Sub(h.opt.Env.Clock.Now()))
	h.opt.Env.Clock.After(after, env.WakeFunc(func() {
		h.mu.Lock()
		h.armed, h.due = false, true
		h.mu.Unlock()
		h.waker.Wake()
	}))
}

// resendLater sends everybody, now and then, all that holds.
func (h *Host) resendLater() {
	if h.opt.ResendEvery < 0 {
		return
	}
	h.opt.Env.Clock.After(h.opt.ResendEvery, env.WakeFunc(func() {
		h.mu.Lock()
		closed := h.closed
		h.everybody = true
		h.armResend()
		h.mu.Unlock()
		if !closed {
			h.resendLater()
		}
	}))
}

func (h *Host) mark(m string) { h.opt.Env.Tracer.Trace(env.Mark(m)) }

func (h *Host) hello(role wire.Role, to string) wire.Hello {
	hello := wire.Hello{Version: wire.Version, Role: role, Program: h.opt.Program.Hash, Life: h.life, From: h.opt.Who.Node, To: to}
	h.mu.Lock()
	hello.Nonce = nonce(h.random)
	if slices.Contains(h.opt.Pieces, to) {
		hello.Incarnation = h.incarnation
	}
	h.mu.Unlock()
	return hello
}

func nonce(r env.Random) (n wire.Nonce) {
	a, b := r.Uint64(), r.Uint64()
	for i := range 8 {
		n[i], n[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return n
}
