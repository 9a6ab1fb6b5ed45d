// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// Counts are statistics of an instance since Open.
type Counts struct {
	Ticks uint64
	// Delivered counts the messages that ticks took, DeliveredBytes their bytes, and
	// Rejected the invalid ones among them.
	Delivered, DeliveredBytes, Rejected uint64
	// Sent counts messages queued for a node. Dropped counts messages for which the queue
	// had no room. Unclaimed counts messages for a node that does not exist, or too many
	// for a client that has never connected. TooLong counts rows longer than wire.RowMax.
	Sent, Dropped, Unclaimed, TooLong uint64
	// Batches and BytesSent count what was written to connections. BytesReceived
	// counts the bytes of batches received, and Doubled the duplicate batches.
	Batches, BytesSent, BytesReceived, Doubled uint64
	// Connected counts completed connections to other instances. TurnedAway counts
	// connections rejected for lack of room, and Refused those ended with an error
	// that states the reason.
	Connected, TurnedAway, Refused uint64
	// Resends counts how often the instance sent everything that holds again.
	Resends uint64
	// Changes counts changes of durable rows, Commits disk syncs, and Checkpoints
	// checkpoints started.
	Changes, Commits, Checkpoints uint64
}

// each calls f with each count and its name.
func (c *Counts) each(f func(name string, n *uint64)) {
	f("ticks", &c.Ticks)
	f("delivered", &c.Delivered)
	f("delivered_bytes", &c.DeliveredBytes)
	f("rejected", &c.Rejected)
	f("sent", &c.Sent)
	f("dropped", &c.Dropped)
	f("unclaimed", &c.Unclaimed)
	f("too_long", &c.TooLong)
	f("batches", &c.Batches)
	f("bytes_sent", &c.BytesSent)
	f("bytes_received", &c.BytesReceived)
	f("doubled", &c.Doubled)
	f("connected", &c.Connected)
	f("turned_away", &c.TurnedAway)
	f("refused", &c.Refused)
	f("resends", &c.Resends)
	f("changes", &c.Changes)
	f("commits", &c.Commits)
	f("checkpoints", &c.Checkpoints)
}

// Each calls f with each count and its name, in snake case and in a fixed order.
func (c Counts) Each(f func(name string, n uint64)) {
	c.each(func(name string, n *uint64) { f(name, *n) })
}

func (c *Counts) add(d *Counts) {
	c.Ticks += d.Ticks
	c.Delivered += d.Delivered
	c.DeliveredBytes += d.DeliveredBytes
	c.Rejected += d.Rejected
	c.Sent += d.Sent
	c.Dropped += d.Dropped
	c.Unclaimed += d.Unclaimed
	c.TooLong += d.TooLong
	c.Batches += d.Batches
	c.BytesSent += d.BytesSent
	c.BytesReceived += d.BytesReceived
	c.Doubled += d.Doubled
	c.Connected += d.Connected
	c.TurnedAway += d.TurnedAway
	c.Refused += d.Refused
	c.Resends += d.Resends
	c.Changes += d.Changes
	c.Commits += d.Commits
	c.Checkpoints += d.Checkpoints
}

// tally holds the counts of an instance and the last trouble. No other lock is
// taken while its lock is held.
type tally struct {
	mu      sync.Mutex
	counts  Counts
	trouble string
}

// note records why a connection to another node ended; refused also counts a
// refused connection.
func (t *tally) note(trouble string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = trouble
}

func (t *tally) refused(trouble string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = trouble
	t.counts.Refused++
}

// figures returns the counts and the last trouble.
func (t *tally) figures() (Counts, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts, t.trouble
}

func (h *Host) count(c *Counts) {
	h.tally.mu.Lock()
	defer h.tally.mu.Unlock()
	h.tally.counts.add(c)
}

// PeerStatus is the status of the connection to another instance.
type PeerStatus struct {
	Node      string
	Addr      env.Addr
	Connected bool
	// Queued is the number of bytes queued for the peer, and Flying how many of them
	// are written but not acknowledged.
	Queued, Flying int
	// Trouble is why the last connection failed, "" if none did.
	Trouble string
}

// Status is the status of an instance.
type Status struct {
	Program, Component string
	Node               string
	Hash               uint64
	Addr               env.Addr
	// Generation counts how often the log was opened. It is 0 without a log.
	Generation uint64
	// Inbox is the number of bytes that no tick has taken yet.
	Inbox int
	// Inputs is the number of bytes, as frames, of client inputs that no tick
	// has finished.
	Inputs int
	// InputsWait is true while the queue for some peer is so long that inputs
	// must wait.
	InputsWait bool
	Draining   bool
	Failed     error
	// Trouble is why an accepted connection ended last.
	Trouble string
	Conns   int
	Clients int
	// ClientsQueued is the number of bytes queued for clients.
	ClientsQueued int
	Peers         []PeerStatus
	Counts        Counts
}

// Status returns the status of the instance. It is not one consistent snapshot:
// its parts may be from different moments.
func (h *Host) Status() Status {
	s := Status{Program: h.opt.Program.Name, Component: h.typ.Name, Node: h.opt.Who.Node, Hash: h.opt.Program.Hash,
		Addr: h.Addr(), InputsWait: h.peers.crowded()}
	if h.disk != nil {
		s.Generation = h.disk.Position().Generation
	}
	for _, p := range h.peers.all() {
		p.mu.Lock()
		s.Peers = append(s.Peers, PeerStatus{Node: p.node, Addr: p.addr, Connected: p.conn != nil,
			Queued: p.out.Bytes(), Flying: p.out.Flying(), Trouble: p.trouble})
		p.mu.Unlock()
	}
	s.Clients, s.ClientsQueued = h.clients.figures()
	s.Inbox, s.Inputs = h.inbox.bytes()
	s.Draining, s.Failed = h.ending.drains(), h.ending.failure()
	s.Counts, s.Trouble = h.tally.figures()
	conns, away := h.door.Count()
	s.Conns, s.Counts.TurnedAway = conns, s.Counts.TurnedAway+away
	return s
}
