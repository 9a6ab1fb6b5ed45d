// SPDX-License-Identifier: Apache-2.0

package group

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The hostile world: servers with disks, clients and reconfigurers, all of which crash, on a
// network that loses, duplicates and reorders messages. The partition is number 0, so its
// members decide on their successors themselves. A ghost (ghost_test.go) sees all servers.

// seedsVariable is how many seeds each hostile world runs, instead of the few that
// a plain test does.
const seedsVariable = "ASHLAR_WORM_SEEDS"

func seeds(t *testing.T, few int) int {
	text := os.Getenv(seedsVariable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", seedsVariable, err)
	}
	return n
}

// setting has the parameters of a world.
type setting struct {
	protocols []wor.Protocol
	servers   int // all servers
	members   int // members of each epoch
	steps     int
	reconfig  bool
	trim      bool
}

const (
	hostileClients = 3
	hostileChiefs  = 2
	perSegment     = 2 // registers
	messagesMax    = 120
	healStepsMax   = 30000
	trials         = 4
)

type hostile struct {
	setting
	rng      *rand.Rand
	genesis  *wor.Genesis
	servers  []*machineRoom
	clients  []*client
	chiefs   []*chief
	messages []message
	ghost    ghost
	history  history
	now      int64
	values   int
	tags     uint64
	trimmed  map[wor.Segment]bool // decided
	healed   bool
	rate     struct{ drop, double, crash, die, sync, expire, chief int }
	lines    []string
	seen     map[string]int
	err      error
}

// machineRoom is a server with its disk.
type machineRoom struct {
	id            wor.ServerID
	live, durable *Group
	records       [][]byte // durable
	pending       [][]byte
	waiting       []waiting
}

// waiting is a reply that waits until so many records are durable.
type waiting struct {
	until int
	m     message
}

type message struct {
	to      wor.ServerID
	request wor.Request
	reply   *wor.Reply
	answer  func(*wor.Reply)
}

func segmentOf(p wor.Protocol) wor.Segment { return wor.Segment(10 + int(p)) }

func runHostile(s setting, seed uint64, seen map[string]int) error {
	w := &hostile{setting: s, rng: rand.New(rand.NewPCG(seed, 2)), trimmed: map[wor.Segment]bool{}, seen: seen}
	var first []wor.ServerID
	for i := range s.members {
		first = append(first, wor.ServerID(i+1))
	}
	w.genesis = genesis(1, first...)
	w.ghost.init(w)
	for i := range s.servers {
		id := wor.ServerID(i + 1)
		w.servers = append(w.servers, &machineRoom{id: id, live: New(id, w.genesis, 0), durable: New(id, w.genesis, 0)})
	}
	for i := range hostileClients {
		w.clients = append(w.clients, &client{actor: actor{w: w, name: fmt.Sprintf("client %d", i), known: w.genesis.Partitions[0]}, id: i})
	}
	for i := range hostileChiefs {
		w.chiefs = append(w.chiefs, &chief{actor: actor{w: w, name: fmt.Sprintf("chief %d", i), known: w.genesis.Partitions[0]}, id: i})
	}
	w.rate.drop, w.rate.double, w.rate.crash = w.pick(0, 5, 20), w.pick(0, 10, 30), w.pick(0, 1, 4)
	w.rate.die, w.rate.sync, w.rate.expire = w.pick(0, 1, 3), w.pick(10, 30, 50), w.pick(2, 5, 10)
	w.rate.chief = w.pick(0, 2, 10, 40)
	for range s.steps {
		if w.event(); w.err != nil {
			return w.failure(seed)
		}
	}
	if w.heal(); w.err == nil {
		w.err = w.history.check()
	}
	w.history.count(seen)
	seen["epochs"] += len(w.ghost.configs) - 1
	return w.failure(seed)
}

func (w *hostile) pick(of ...int) int      { return of[w.rng.IntN(len(of))] }
func (w *hostile) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *hostile) failure(seed uint64) error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("seed %d, %+v: %w\n%s", seed, w.setting, w.err, strings.Join(w.lines[max(0, len(w.lines)-120):], "\n"))
}

func (w *hostile) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *hostile) log(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("%5d ", w.now)+fmt.Sprintf(format, args...))
	if len(w.lines) > 600 {
		w.lines = slices.Delete(w.lines, 0, 300)
	}
}

func (w *hostile) room(id wor.ServerID) *machineRoom { return w.servers[id-1] }

// event makes one event happen.
func (w *hostile) event() {
	w.now++
	switch {
	case w.chance(w.rate.crash):
		w.crash(w.servers[w.rng.IntN(len(w.servers))])
	case w.chance(w.rate.sync):
		w.sync(w.servers[w.rng.IntN(len(w.servers))], w.rng.IntN(3) > 0)
	case w.chance(w.rate.expire):
		w.clients[w.rng.IntN(len(w.clients))].expire()
	case w.chance(w.rate.expire):
		w.chiefs[w.rng.IntN(len(w.chiefs))].expire()
	case w.chance(w.rate.die):
		w.clients[w.rng.IntN(len(w.clients))].die()
	case w.chance(w.rate.die):
		w.chiefs[w.rng.IntN(len(w.chiefs))].die()
	case w.reconfig && w.chance(w.rate.chief):
		if c := w.chiefs[w.rng.IntN(len(w.chiefs))]; !c.busy {
			c.begin()
		}
	default:
		if c := w.clients[w.rng.IntN(len(w.clients))]; !c.busy && w.chance(40) {
			c.begin()
		} else if len(w.messages) > 0 {
			w.pass()
		}
	}
	w.ghost.check()
}

// pass delivers a message, or loses it, or delivers it and keeps it.
func (w *hostile) pass() {
	i := w.rng.IntN(len(w.messages))
	m := w.messages[i]
	if w.healed || len(w.messages) > messagesMax || !w.chance(w.rate.double) {
		w.messages[i] = w.messages[len(w.messages)-1]
		w.messages = w.messages[:len(w.messages)-1]
	}
	switch {
	case !w.healed && w.chance(w.rate.drop):
	case m.reply != nil:
		own := *m.reply
		own.Runs = slices.Clone(own.Runs)
		m.answer(&own)
	default:
		w.serve(w.room(m.to), m)
	}
}

func (w *hostile) serve(s *machineRoom, m message) {
	var log wor.Log
	q, r := m.request, &wor.Reply{}
	s.live.Handle(&q, r, &log)
	for i := range log.Len() {
		s.pending = append(s.pending, slices.Clone(log.Record(i)))
	}
	w.seen[q.Kind.String()+" request: "+r.Status.String()]++
	w.log("server %d: %v epoch %d %v at %v %q tag %d: %v%s", s.id, q.Kind, q.Epoch, q.Range, q.Ballot,
		q.Value[:min(len(q.Value), 8)], q.Tag, r.Status, showRuns(r.Runs))
	if r.Status == wor.StatusLimit {
		w.fail("server %d: %v: %s", s.id, q.Kind, r.Value)
	}
	m.reply = r
	r.Runs, r.Value = slices.Clone(r.Runs), slices.Clone(r.Value)
	s.waiting = append(s.waiting, waiting{len(s.records) + len(s.pending), m})
	if w.healed {
		w.sync(s, true)
	}
}

func showRuns(runs []wor.Run) string {
	var b strings.Builder
	for _, r := range runs {
		fmt.Fprintf(&b, " %dx %v promised %v", r.Count, r.Status, r.Promised)
		if r.Written {
			fmt.Fprintf(&b, " accepted %v %q", r.Accepted, r.Value)
		}
	}
	return b.String()
}

// sync makes pending records durable, all or some, and releases the replies that waited for
// them.
func (w *hostile) sync(s *machineRoom, all bool) {
	n := len(s.pending)
	if !all && n > 0 {
		n = w.rng.IntN(n)
	}
	w.persist(s, n)
	for len(s.waiting) > 0 && s.waiting[0].until <= len(s.records) {
		w.messages = append(w.messages, s.waiting[0].m)
		s.waiting = s.waiting[1:]
	}
}

func (w *hostile) persist(s *machineRoom, n int) {
	for _, record := range s.pending[:n] {
		if err := s.durable.Redo(record); err != nil {
			w.fail("server %d: redo: %v", s.id, err)
		}
		w.ghost.durable(s)
	}
	s.records = append(s.records, s.pending[:n]...)
	s.pending = slices.Clone(s.pending[n:])
}

// crash loses everything that is not durable and restarts the server, from its records or
// from a checkpoint and the records written since some time before it.
func (w *hostile) crash(s *machineRoom) {
	w.log("server %d crashes", s.id)
	w.seen["crash"]++
	w.persist(s, w.rng.IntN(len(s.pending)+1))
	s.pending, s.waiting, s.live = nil, nil, New(s.id, w.genesis, 0)
	replay := s.records
	if w.chance(50) {
		var saved [][]byte
		s.durable.Save(func(record []byte) bool {
			saved = append(saved, slices.Clone(record))
			return true
		})
		replay = append(saved, s.records[w.rng.IntN(len(s.records)+1):]...)
	}
	for i, record := range replay {
		if err := s.live.Redo(record); err != nil {
			w.fail("server %d: redo %d of %d: %v", s.id, i, len(replay), err)
		}
	}
	w.ghost.same(s)
}

// heal ends all faults and waits until every client has finished. A client that makes no
// progress gets another configuration.
func (w *hostile) heal() {
	w.healed = true
	for _, s := range w.servers {
		w.sync(s, true)
	}
	idle := 0
	for range healStepsMax {
		w.now++
		if w.err != nil {
			return
		}
		busy := false
		for _, c := range w.clients {
			busy = busy || c.busy
		}
		switch {
		case !busy:
			w.ghost.check()
			return
		case len(w.messages) > 0:
			w.pass()
		default:
			idle++
			for _, c := range w.clients {
				c.expire()
			}
			for _, c := range w.chiefs {
				c.expire()
			}
			if c := w.chiefs[idle%len(w.chiefs)]; w.reconfig && !c.busy && idle%10 == 0 {
				c.begin()
			}
		}
	}
	for _, c := range w.clients {
		if c.busy {
			w.log("%s is busy since: %+v, knows epoch %d", c.name, *c.o, c.known.Epoch)
			if c.machine != nil {
				w.log("  with %T %+v of epoch %d", c.machine, c.machine, c.config.Epoch)
			}
		}
	}
	for _, c := range w.chiefs {
		w.log("%s busy %v, from epoch %d, tag %d, sealed %v, staged %d, wrote %v, knows %d, asks:", c.name, c.busy, c.old.Epoch, c.tag, c.sealed, c.staged, c.wrote, c.known.Epoch)
		for _, x := range c.open {
			w.log("    %d: %v", x.to, x.q.Kind)
		}
	}
	for _, s := range w.servers {
		w.log("server %d: epoch %d %v, %d stages", s.id, s.live.Epoch(), s.live.Status(), len(s.live.stages))
	}
	w.fail("clients did not finish in a healed network")
}

func TestHostileChain(t *testing.T) {
	seen := map[string]int{}
	for seed := range seeds(t, 700) {
		s := setting{protocols: []wor.Protocol{wor.Chain}, servers: 1 + seed%4, members: 1 + seed%4, steps: 250, trim: seed%3 == 0}
		if err := runHostile(s, uint64(seed), seen); err != nil {
			t.Fatal(err)
		}
	}
	happened(t, seen, "write: ok", "write: written", "write: trimmed", "write: unknown", "read: ok", "read: unwritten",
		"read: trimmed", "crash", "capture request: ok", "write request: ok", "trim request: ok")
}

func TestHostileSuccession(t *testing.T) {
	seen := map[string]int{}
	all := []wor.Protocol{wor.Paxos, wor.Chain, wor.Fast}
	for seed := range seeds(t, 500) {
		s := setting{protocols: all, servers: 5, members: 3, steps: 900, reconfig: true, trim: seed%4 == 0}
		if seed%2 == 0 {
			s.protocols = all[seed/2%3 : seed/2%3+1]
		}
		if seed%5 == 0 {
			s.servers, s.members = 6, 4
		}
		if err := runHostile(s, uint64(seed), seen); err != nil {
			t.Fatal(err)
		}
	}
	happened(t, seen, "write: ok", "write: written", "write: unknown", "read: ok", "read: unwritten", "read: trimmed",
		"crash", "epochs", "read request: sealed", "write request: sealed", "capture request: sealed", "read request: stale",
		"read request: mute", "stage request: stale", "seal request: stale", "fetch request: stale", "activate request: mute",
		"activate request: foreign", "lost the succession", "won the succession", "stages side by side", "moved while busy",
		"adopted")
	t.Log(seen)
}

func happened(t *testing.T, seen map[string]int, what ...string) {
	t.Helper()
	for _, w := range what {
		if seen[w] == 0 {
			t.Errorf("%s: %d times", w, seen[w])
		}
	}
}
