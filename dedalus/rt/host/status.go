// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// Counts count what an instance did since it was opened.
type Counts struct {
	Ticks uint64
	// Delivered are messages that a tick took, Rejected those of them that were none.
	Delivered, DeliveredBytes, Rejected uint64
	// Sent are messages on their way to a process; Dropped there was no room for;
	// Unclaimed are for a process that there is not, or too many for a client that has never
	// come; TooLong are longer than wire.RowMax.
	Sent, Dropped, Unclaimed, TooLong uint64
	// Batches and BytesSent were given to connections, BytesReceived came as batches,
	// Doubled are batches that had come before.
	Batches, BytesSent, BytesReceived, Doubled uint64
	// Connected counts welcomes of other instances; TurnedAway connections for which
	// there was no room, Refused those that got an error with the reason.
	Connected, TurnedAway, Refused uint64
	// Resends counts how often all that holds was looked through.
	Resends uint64
	// Changes are changes to what is durable, Commits syncs, Checkpoints states that
	// were written anew.
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

// Each calls f with each count and its name, in lower case with underscores, in one
// order.
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

// tally is what an instance has counted. No other lock is taken while its lock is
// held.
type tally struct {
	mu      sync.Mutex
	counts  Counts
	trouble string
}

// note notes why a connection of another node was ended, and refused one that was
// refused.
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

// figures is all of it.
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

// PeerStatus states how it stands with another instance.
type PeerStatus struct {
	Node      string
	Addr      env.Addr
	Connected bool
	// Queued is how many bytes are kept for it, Flying how many of them were written
	// and are not acknowledged.
	Queued, Flying int
	// Trouble is why there was no connection last, "" if nothing was.
	Trouble string
}

// Status states how it stands with an instance.
type Status struct {
	Program, Component string
	Node               string
	Hash               uint64
	Addr               env.Addr
	// Generation counts how often the log was opened; 0 without a log.
	Generation uint64
	// Inbox is how many bytes no tick has taken yet.
	Inbox int
	// Inputs is how many bytes of clients no tick is over with, as frames.
	Inputs int
	// InputsWait: some peer has too much to take.
	InputsWait bool
	Draining   bool
	Failed     error
	// Trouble is why a connection of others was ended last.
	Trouble string
	Conns   int
	Clients int
	// ClientsQueued is how many bytes are kept for clients.
	ClientsQueued int
	Peers         []PeerStatus
	Counts        Counts
}

// Status reports how it stands. Its parts are not of one moment.
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
