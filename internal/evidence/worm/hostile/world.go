// SPDX-License-Identifier: Apache-2.0

// Package hostile tries to break a protocol of registers: clients and servers on
// a network that loses, duplicates and reorders messages, where servers crash
// and keep only durable data. It is for tests.
//
// In: the protocol's client and server, and a seed. Out: nil, or the violation
// with the last events before it. The same seed gives the same run.
//
// Promised: a ghost that sees all servers checks the protocol's invariants after
// every event (ghost.go), and the results of clients are checked for
// linearizability against wor.Register. In the end the network is healed, and
// every operation must finish.
//
// Refused: epochs, time, disks; package simulation has them.
package hostile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Options determine the parameters of a run.
type Options struct {
	Client wor.Client
	// Server makes an empty server.
	Server func() wor.Server
	// Fast reports that any client may write at ballot zero, and that a fast quorum is
	// required there. Otherwise only one client per register may, with one value.
	Fast    bool
	Servers int
	// Steps is the number of events before the network is healed.
	Steps int
}

// The registers: some on both sides of a multiple of 256, where pages of a server
// may end.
const (
	segment wor.Segment = 7

	base          = 254
	registers     = 3
	clientCount   = 3
	messagesMax   = 60
	healStepsMax  = 4000
	proposeTrials = 3
)

type world struct {
	o        Options
	rng      *dice
	servers  []*server
	clients  []*client
	messages []message
	ghost    ghost
	history  history
	touched  uint16 // servers that changed in this event
	now      int64
	values   int
	trimmed  bool // the trim is decided
	healed   bool
	rate     rates
	lines    []string
	seen     Seen
	err      error
}

// rates are drawn for each run, so that some runs have many events of one kind and none
// of another.
type rates struct{ drop, double, crash, die, trim, expire, sync int }

// server is a server with its disk.
type server struct {
	at      int
	live    wor.Server
	durable wor.Server // the state that the durable records make
	records [][]byte   // durable
	pending [][]byte   // written, but not durable
	held    []held
}

// held is a reply that waits until so many records are durable.
type held struct {
	until int
	m     message
}

// message is a request on its way to a server, or its answer on its way back.
type message struct {
	to      int
	request wor.Request
	client  *client
	machine wor.Machine
	step    uint32
	reply   *wor.Reply
}

// Seen counts events, so that a test can require that they happened.
type Seen map[string]int

// Run runs one seed. It adds to the counts of Seen.
func Run(o Options, seed uint64, seen Seen) error {
	w := &world{o: o, rng: &dice{seed}, seen: seen}
	w.ghost.init(o)
	for i := range o.Servers {
		w.servers = append(w.servers, &server{at: i, live: o.Server(), durable: o.Server()})
	}
	for i := range clientCount {
		w.clients = append(w.clients, &client{w: w, id: i})
	}
	w.rate = rates{
		drop: w.pick(0, 10, 30), double: w.pick(0, 15, 40), crash: w.pick(0, 2, 8),
		die: w.pick(0, 1, 3), trim: w.pick(0, 0, 2), expire: w.pick(2, 5, 10), sync: w.pick(5, 20, 40),
	}
	for range o.Steps {
		w.event()
		if w.err != nil {
			return w.failure(seed)
		}
	}
	w.heal()
	if w.err == nil {
		w.err = w.history.check()
	}
	w.history.count(seen)
	return w.failure(seed)
}

// dice are splitmix64.
type dice struct{ state uint64 }

// IntN returns a number from 0 to n-1.
func (d *dice) IntN(n int) int {
	d.state += 0x9e3779b97f4a7c15
	x := d.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}

func (w *world) pick(of ...int) int { return of[w.rng.IntN(len(of))] }

func (w *world) failure(seed uint64) error {
	if w.err == nil {
		return nil
	}
	lines := w.lines
	if len(lines) > 80 {
		lines = lines[len(lines)-80:]
	}
	return fmt.Errorf("seed %d, %d servers: %w\n%s", seed, w.o.Servers, w.err, strings.Join(lines, "\n"))
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *world) log(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("%5d ", w.now)+fmt.Sprintf(format, args...))
	if len(w.lines) > 400 {
		w.lines = slices.Delete(w.lines, 0, 200)
	}
}

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

// event makes one event happen.
func (w *world) event() {
	w.now++
	switch {
	case w.chance(w.rate.crash):
		w.crash(w.servers[w.rng.IntN(len(w.servers))])
	case w.chance(w.rate.sync):
		w.sync(w.servers[w.rng.IntN(len(w.servers))], w.rng.IntN(3) > 0)
	case w.chance(w.rate.expire):
		w.clients[w.rng.IntN(clientCount)].expire()
	case w.chance(w.rate.die):
		w.clients[w.rng.IntN(clientCount)].die()
	default:
		if c := w.clients[w.rng.IntN(clientCount)]; c.machine == nil && w.chance(40) {
			c.begin()
		} else if len(w.messages) > 0 {
			w.pass()
		}
	}
	w.ghost.check(w)
}

// pass delivers a message, or loses it, or delivers it and keeps it.
func (w *world) pass() {
	i := w.rng.IntN(len(w.messages))
	m := w.messages[i]
	if w.healed || len(w.messages) > messagesMax || !w.chance(w.rate.double) {
		w.messages[i] = w.messages[len(w.messages)-1]
		w.messages = w.messages[:len(w.messages)-1]
	}
	switch {
	case !w.healed && w.chance(w.rate.drop):
	case m.reply != nil:
		m.client.deliver(m)
	default:
		w.serve(w.servers[m.to], m)
	}
}

func (w *world) serve(s *server, m message) {
	w.touched |= 1 << s.at
	var log wor.Log
	q, r := m.request, &wor.Reply{}
	s.live.Handle(&q, r, &log)
	for i := range log.Len() {
		s.pending = append(s.pending, slices.Clone(log.Record(i)))
	}
	for _, run := range r.Runs {
		w.seen[q.Kind.String()+" request: "+run.Status.String()]++
	}
	if w.err == nil {
		w.log("server %d: %v %v at %v %q: %v %s", s.at, q.Kind, q.Range, q.Ballot, q.Value, r.Status, show(r.Runs))
	}
	if covered := r.Covered(); r.Status != wor.StatusOK || covered > max(q.Range.Len(), 1) || covered < 1 {
		w.fail("server %d answers %v to %d registers", s.at, r.Status, r.Covered())
	}
	m.reply = r
	s.held = append(s.held, held{len(s.records) + len(s.pending), m})
	if w.healed {
		w.sync(s, true)
	}
}

// sync makes pending records durable, all or some, and releases the replies that waited
// for them.
func (w *world) sync(s *server, all bool) {
	w.touched |= 1 << s.at
	n := len(s.pending)
	if !all && n > 0 {
		n = w.rng.IntN(n)
	}
	for _, record := range s.pending[:n] {
		if err := s.durable.Redo(record); err != nil {
			w.fail("server %d: redo: %v", s.at, err)
		}
		w.ghost.durable(w, s)
	}
	s.records = append(s.records, s.pending[:n]...)
	s.pending = slices.Clone(s.pending[n:])
	for len(s.held) > 0 && s.held[0].until <= len(s.records) {
		m := s.held[0].m
		s.held = s.held[1:]
		w.ghost.released(w, s, &m.request, m.reply)
		w.messages = append(w.messages, m)
	}
}

// crash loses everything that is not durable and restarts the server, from its records or
// from a checkpoint and the records written since some time before it.
func (w *world) crash(s *server) {
	w.touched |= 1 << s.at
	w.log("server %d crashes", s.at)
	w.seen["crash"]++
	if n := len(s.pending); n > 0 {
		kept := w.rng.IntN(n + 1) // written records may be durable all the same
		for _, record := range s.pending[:kept] {
			if err := s.durable.Redo(record); err != nil {
				w.fail("server %d: redo: %v", s.at, err)
			}
			w.ghost.durable(w, s)
		}
		s.records = append(s.records, s.pending[:kept]...)
	}
	s.pending, s.held, s.live = nil, nil, w.o.Server()
	replay := s.records
	if w.chance(50) {
		var saved [][]byte
		s.durable.Save(func(record []byte) bool {
			saved = append(saved, slices.Clone(record))
			return true
		})
		replay = append(saved, s.records[w.rng.IntN(len(s.records)+1):]...)
	}
	for _, record := range replay {
		if err := s.live.Redo(record); err != nil {
			w.fail("server %d: redo: %v", s.at, err)
		}
	}
}

// heal ends all faults and waits until all clients have finished.
func (w *world) heal() {
	w.healed = true
	for _, s := range w.servers {
		w.sync(s, true)
	}
	for range healStepsMax {
		w.now++
		if w.err != nil {
			return
		}
		busy := false
		for _, c := range w.clients {
			busy = busy || c.machine != nil
		}
		switch {
		case !busy:
			w.touched = 1<<w.o.Servers - 1
			w.ghost.check(w)
			return
		case len(w.messages) > 0:
			w.pass()
		default:
			for _, c := range w.clients {
				c.expire()
			}
		}
	}
	w.fail("clients did not finish in a healed network")
}

func show(runs []wor.Run) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, " %dx %v promised %v", r.Count, r.Status, r.Promised)
		if r.Written {
			fmt.Fprintf(&b, " accepted %v %q", r.Accepted, r.Value)
		}
	}
	return b.String()
}
