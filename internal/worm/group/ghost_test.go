// SPDX-License-Identifier: Apache-2.0

package group

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ghost sees what no node in the world can see at once. What it checks:
//
//	Agreement  of each register at most one value is ever chosen, in all epochs;
//	           what a client was told to be decided is chosen
//	R1         what is chosen in an epoch is what the decided successor adopted
//	R2         when a successor is decided, a majority of the epoch is sealed
//	R3         a server that answers in an epoch has what its configuration's tag adopted
//	C0         in a chain, what a server has the ones before it have
//	C1         what a chain has decided every member has
//	C2         what is sealed does not change
//
// Accepted, sealed and so on mean: on the disk.
type ghost struct {
	w         *hostile
	configs   map[wor.Epoch]wor.Config
	adoptions map[uint64]map[wor.Addr]State
	votes     map[vote]map[wor.ServerID]bool
	chosen    map[wor.Addr]chosen
	frozen    map[frozen]uint64
}

type vote struct {
	addr   wor.Addr
	epoch  wor.Epoch
	ballot wor.Ballot
	value  string
}

type chosen struct {
	value string
	epoch wor.Epoch // the first epoch
}

type frozen struct {
	server wor.ServerID
	epoch  wor.Epoch
}

func (g *ghost) init(w *hostile) {
	*g = ghost{
		w: w, configs: map[wor.Epoch]wor.Config{0: w.genesis.Partitions[0]}, adoptions: map[uint64]map[wor.Addr]State{},
		votes: map[vote]map[wor.ServerID]bool{}, chosen: map[wor.Addr]chosen{}, frozen: map[frozen]uint64{},
	}
}

// look is the content of a register in a state.
func (e *epoch) look(p wor.Protocol, a wor.Addr) wor.Run {
	var r wor.Reply
	var log wor.Log
	e.server(p).Handle(&wor.Request{Kind: wor.KindRead, Protocol: p, Range: wor.One(a)}, &r, &log)
	return r.Runs[0]
}

func (g *ghost) each(f func(p wor.Protocol, a wor.Addr)) {
	for _, p := range g.w.protocols {
		for off := range uint32(perSegment) {
			f(p, wor.Addr{Segment: segmentOf(p), Offset: off})
		}
	}
}

// durable: a record of the server has become durable.
func (g *ghost) durable(s *machineRoom) {
	if c := s.durable.Config(); c.Epoch > 0 {
		g.decided(*c)
	}
	e := s.durable.held
	if e == nil {
		return
	}
	g.each(func(p wor.Protocol, a wor.Addr) {
		if run := e.look(p, a); run.Written {
			g.accept(s.id, p, vote{a, e.number, run.Accepted, string(run.Value)})
		}
	})
	if e.sealed {
		g.unchanged(s, s.durable)
	}
}

func (g *ghost) unchanged(s *machineRoom, of *Group) {
	k, digest := frozen{s.id, of.held.number}, of.Digest()
	of.held.digested = false
	if was, known := g.frozen[k]; known && was != digest {
		g.w.fail("C2: sealed server %d changes in epoch %d", s.id, k.epoch)
	}
	if of == s.durable {
		g.frozen[k] = digest
	}
}

// same: after a restart the server is in the state that its disk holds.
func (g *ghost) same(s *machineRoom) {
	if s.live.Status() != s.durable.Status() || s.live.Epoch() != s.durable.Epoch() || s.live.Digest() != s.durable.Digest() {
		g.w.fail("server %d comes back as another: %v epoch %d, was %v epoch %d", s.id,
			s.live.Status(), s.live.Epoch(), s.durable.Status(), s.durable.Epoch())
	}
	for _, x := range []*Group{s.live, s.durable} {
		if x.held != nil {
			x.held.digested = false
		}
	}
}

func (g *ghost) accept(s wor.ServerID, p wor.Protocol, v vote) {
	by := g.votes[v]
	if by == nil {
		by = map[wor.ServerID]bool{}
		g.votes[v] = by
	}
	if by[s] {
		return
	}
	by[s] = true
	c := g.configs[v.epoch]
	n := len(c.Members)
	switch {
	case p == wor.Chain:
		if s != c.Members[n-1].ID {
			return
		}
		for _, m := range c.Members {
			have := false
			for other, by := range g.votes {
				have = have || other.addr == v.addr && other.epoch == v.epoch && other.value == v.value && by[m.ID]
			}
			// At the beginning of an epoch all members have the adopted values, including
			// those that do not answer yet.
			if _, adopted := g.adoptions[c.Tag][v.addr]; !have && !adopted {
				g.w.fail("C1: %v is at the tail, and not at server %d", v, m.ID)
			}
		}
	case p == wor.Fast && v.ballot.IsZero():
		if len(by) < wor.FastQuorum(n) {
			return
		}
	case len(by) < wor.Majority(n):
		return
	}
	was, is := g.chosen[v.addr]
	if is && was.value != v.value {
		g.w.fail("agreement: %+v is chosen, and %q was in epoch %d", v, was.value, was.epoch)
	}
	if !is {
		g.chosen[v.addr] = chosen{v.value, v.epoch}
		g.w.log("chosen: %+v", v)
	}
	g.r1(v.addr, v.value, v.epoch)
}

// r1: the value is chosen in the epoch.
func (g *ghost) r1(a wor.Addr, value string, e wor.Epoch) {
	next, decided := g.configs[e+1]
	if !decided {
		return
	}
	s, ok := g.adoptions[next.Tag][a]
	if _, buried := g.adoptions[next.Tag][wor.Addr{Segment: a.Segment, Offset: math.MaxUint32}]; buried {
		return
	}
	if !ok || string(s.Value) != value {
		g.w.fail("R1: %v is %q in epoch %d, and epoch %d adopted %q (%v)", a, value, e, e+1, s.Value, ok)
	}
}

// adopts: a reconfiguration is about to stage these pieces. A tombstone is kept at an
// offset that no register has.
func (g *ghost) adopts(tag uint64, pieces [][]byte) {
	all := map[wor.Addr]State{}
	for _, piece := range pieces {
		for len(piece) > 0 {
			s, rest, err := NextState(piece)
			if err != nil {
				g.w.fail("stage %d: %v", tag, err)
				return
			}
			if s.Trimmed {
				s.Addr.Offset = math.MaxUint32
			}
			all[s.Addr] = s
			piece = rest
		}
	}
	g.adoptions[tag] = all
}

// decided: a configuration is known to be decided.
func (g *ghost) decided(c wor.Config) {
	text, _ := c.MarshalBinary()
	if was, known := g.configs[c.Epoch]; known {
		if old, _ := was.MarshalBinary(); string(old) != string(text) {
			g.w.fail("two configurations of epoch %d: %+v and %+v", c.Epoch, was, c)
		}
		return
	}
	g.w.log("decided: %+v", c)
	g.configs[c.Epoch] = c
	old := g.configs[c.Epoch-1]
	sealed := 0
	for _, m := range old.Members {
		if d := g.w.room(m.ID).durable; d.Epoch() > old.Epoch || d.held != nil && d.held.number == old.Epoch && d.held.sealed {
			sealed++
		}
	}
	if sealed < wor.Majority(len(old.Members)) {
		g.w.fail("R2: configuration %d is decided, and %d servers of the one before are sealed", c.Epoch, sealed)
	}
	g.each(func(p wor.Protocol, a wor.Addr) {
		for v, by := range g.votes {
			if v.addr == a && v.epoch == old.Epoch && len(by) > 0 && g.chosen[a].value == v.value && g.chosen[a].epoch <= old.Epoch {
				if _, is := g.chosen[a]; is {
					g.r1(a, v.value, old.Epoch)
				}
			}
		}
	})
}

// told: a client received the answer that the value is decided.
func (g *ghost) told(a wor.Addr, value []byte) {
	if c, is := g.chosen[a]; !is || c.value != string(value) {
		g.w.fail("a client was told that %v holds %q; chosen: %v %q", a, value, is, c.value)
	}
}

// check checks all servers, after each event.
func (g *ghost) check() {
	for _, s := range g.w.servers {
		for _, x := range []*Group{s.live, s.durable} {
			if e := x.held; e != nil {
				g.r3(s, e)
				if e.sealed && x == s.live && g.w.now%8 == 0 {
					g.unchanged(s, x)
				}
			}
		}
	}
	g.each(func(p wor.Protocol, a wor.Addr) {
		if p == wor.Chain {
			for _, e := range []wor.Epoch{wor.Epoch(len(g.configs) - 1), wor.Epoch(max(len(g.configs)-2, 0))} {
				g.c0(e, a)
			}
		}
	})
}

func (g *ghost) r3(s *machineRoom, e *epoch) {
	c, known := g.configs[e.number]
	if e.number == 0 {
		return
	}
	if !known {
		return // on the way to the disk
	}
	adopted := g.adoptions[c.Tag]
	g.each(func(p wor.Protocol, a wor.Addr) {
		run := e.look(p, a)
		_, buried := adopted[wor.Addr{Segment: a.Segment, Offset: math.MaxUint32}]
		if buried && run.Status != wor.StatusTrimmed {
			g.w.fail("R3: server %d has lost the tombstone of %v in epoch %d", s.id, a, e.number)
		}
		if want, is := adopted[a]; is && run.Status != wor.StatusTrimmed && (!run.Written || string(run.Value) != string(want.Value)) {
			g.w.fail("R3: server %d has %q for %v in epoch %d, adopted is %q", s.id, run.Value, a, e.number, want.Value)
		}
	})
}

func (g *ghost) c0(number wor.Epoch, a wor.Addr) {
	c := g.configs[number]
	var before *wor.Run
	for _, m := range c.Members {
		e := g.w.room(m.ID).durable.held
		if e == nil || e.number != number {
			return // the states after this one cannot be compared
		}
		run := e.look(wor.Chain, a)
		if run.Status == wor.StatusTrimmed {
			before = nil
			continue
		}
		if before != nil && run.Written && (!before.Written || string(before.Value) != string(run.Value)) {
			g.w.fail("C0: server %d has %q for %v in epoch %d, and the one before has %q (%v)",
				m.ID, run.Value, a, number, before.Value, before.Written)
		}
		before = &run
	}
}

// The history of the answers that clients received.

type opKind uint8

const (
	opWrite opKind = iota
	opRead
	opTrim
)

type outcome uint8

const (
	unknown outcome = iota
	ok
	written
	unwritten
	trimmed
)

var (
	opNames      = [...]string{"write", "read", "trim"}
	outcomeNames = [...]string{"unknown", "ok", "written", "unwritten", "trimmed"}
)

// op is an operation on a register as its client saw it. If it has no end, its outcome is
// unknown.
type op struct {
	p          wor.Protocol
	addr       wor.Addr
	kind       opKind
	value      string
	outcome    outcome
	got        string
	begin, end int64
}

type history struct{ ops []*op }

func (h *history) count(seen map[string]int) {
	for _, o := range h.ops {
		seen[opNames[o.kind]+": "+outcomeNames[o.outcome]]++
	}
}

// begin records an operation. A trim counts as an operation on each register of the
// segment, and all of them end with the first.
func (h *history) begin(now int64, p wor.Protocol, a wor.Addr, kind opKind, value string) *op {
	o := &op{p: p, addr: a, kind: kind, value: value, begin: now, end: math.MaxInt64}
	h.ops = append(h.ops, o)
	return o
}

// state is wor.Register, and what a chain may still show of it: an old tail that was not
// sealed may answer after the segment was trimmed.
type state struct {
	wor.Register
	before string
}

func model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(st, input, _ any) (bool, any) {
			s, o := st.(state), input.(*op)
			switch o.kind {
			case opTrim:
				if s.Phase == wor.Written {
					s.before = s.Value
				}
				s.Register = s.Trim()
				return true, s
			case opRead:
				var err error
				switch o.outcome {
				case unwritten:
					err = wor.ErrUnwritten
				case trimmed:
					err = wor.ErrTrimmed
				}
				late := o.p == wor.Chain && s.Phase == wor.Trimmed && o.outcome == ok && o.got == s.before
				return late || s.Read(o.got, err), s
			}
			var err error
			switch o.outcome {
			case unknown:
				s.Register, _ = s.Write(o.value, nil)
				return true, s
			case ok:
			default:
				_, legal := s.Write(o.value, wor.ErrWritten)
				late := o.p == wor.Chain && s.Phase == wor.Trimmed && o.got == s.before
				return late || legal && s.Value == o.got, s
			}
			after, legal := s.Write(o.value, err)
			s.Register = after
			return legal, s
		},
		Equal:             func(a, b any) bool { return a.(state) == b.(state) },
		DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", *input.(*op)) },
	}
}

// check reports whether each register's history is linearizable.
func (h *history) check() error {
	registers := map[wor.Addr][]porcupine.Operation{}
	add := func(a wor.Addr, o *op) {
		registers[a] = append(registers[a], porcupine.Operation{Input: o, Call: o.begin, Return: o.end})
	}
	for _, o := range h.ops {
		switch {
		case o.kind == opRead && o.outcome == unknown:
		case o.kind == opTrim:
			for off := range uint32(perSegment) {
				add(wor.Addr{Segment: o.addr.Segment, Offset: off}, o)
			}
		case o.kind == opWrite && o.outcome == trimmed:
			// It may have taken effect before the trim, and the client then saw that the
			// register was trimmed.
			maybe, seen := *o, *o
			maybe.outcome, maybe.end = unknown, math.MaxInt64
			seen.kind = opRead
			add(o.addr, &maybe)
			add(o.addr, &seen)
		default:
			add(o.addr, o)
		}
	}
	for a, ops := range registers {
		if !porcupine.CheckOperations(model(), ops) {
			text := ""
			for _, o := range ops {
				text += fmt.Sprintf("\n  %+v", *o.Input.(*op))
			}
			return fmt.Errorf("register %v is not linearizable:%s", a, text)
		}
	}
	return nil
}
