// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ghost sees the answers to all clients. From that it knows which values are chosen, and
// what each server must never take back.
//
// Questions and answers are numbered in the order in which they happened. If a question
// was asked after an answer of the same server had arrived, its answer must not show an
// older state than that one, whatever crashed in between.
type ghost struct {
	c    *cluster
	now  uint64
	fail error

	configs map[place]wor.Config
	floors  map[spot]*floor
	values  map[ballotKey]string // one value per ballot
	votes   map[vote]map[wor.ServerID]bool
	chosen  map[wor.Addr]*choice
	listed  []*choice // the chosen ones, in order
	seals   map[server]uint64
	epochs  map[standing]stand
	graves  map[grave]uint64
	stages  map[tag]*stage
	rivals  map[place]uint64        // the tag that was staged first
	absent  map[wor.ServerID]uint64 // since when its disk is gone
	served  map[wor.ServerID]uint64 // the time of the last question about registers that it has answered
	logs    bool                    // segments are those of a log
	// machines: segments are those of a state machine.
	machines bool
}

// question is a request and the time when it was asked; again, if it may have been
// repeated later.
type question struct {
	server wor.ServerID
	at     uint64
	q      wor.Request
	nonce  uint64 // of the client that asks
	again  bool
}

type place struct {
	p wor.Partition
	e wor.Epoch
}

// server is a server in an epoch.
type server struct {
	id wor.ServerID
	place
}

// spot is a register on a server in an epoch.
type spot struct {
	server
	a     wor.Addr
	chain bool
}

type ballotKey struct {
	place
	a     wor.Addr
	b     wor.Ballot
	who   wor.ServerID // at ballot 0 values may differ between servers
	chain bool
}

type vote struct {
	place
	a     wor.Addr
	b     wor.Ballot
	p     wor.Protocol
	value string
}

type choice struct {
	a     wor.Addr
	value string
	in    []place // where it is known to be chosen
}

type standing struct {
	id wor.ServerID
	p  wor.Partition
}

type stand struct {
	e  wor.Epoch
	at uint64
}

type grave struct {
	id wor.ServerID
	place
	seg   wor.Segment
	chain bool
}

type tag struct {
	place // the epoch that is to begin
	tag   uint64
}

// stage is the state that a reconfiguration hands over.
type stage struct {
	pieces map[uint64]bool
	values map[wor.Addr]string
	graves map[buried]bool
	bad    error
}

// buried is a tombstone: a server has one for its chain, and one for the rest.
type buried struct {
	seg   wor.Segment
	chain bool
}

// floor is what a server has shown of a register, and when.
type floor struct{ promised, accepted []mark }

type mark struct {
	at uint64
	b  wor.Ballot
	// For a promise: what was accepted when it was shown, if that was reported.
	unsaid, written bool
	accepted        wor.Ballot
}

func raise(list []mark, m mark) []mark {
	if n := len(list); n > 0 && !list[n-1].b.Less(m.b) && (list[n-1].b != m.b || !list[n-1].unsaid || m.unsaid) {
		return list
	}
	return append(list, m)
}

// before returns the highest that was shown before an instant.
func before(list []mark, at uint64) (m mark, any bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].at < at {
			return list[i], true
		}
	}
	return m, false
}

func newGhost(c *cluster) *ghost {
	return &ghost{
		c: c, configs: map[place]wor.Config{}, floors: map[spot]*floor{}, values: map[ballotKey]string{},
		votes: map[vote]map[wor.ServerID]bool{}, chosen: map[wor.Addr]*choice{}, seals: map[server]uint64{},
		epochs: map[standing]stand{}, graves: map[grave]uint64{}, stages: map[tag]*stage{}, rivals: map[place]uint64{},
		absent: map[wor.ServerID]uint64{}, served: map[wor.ServerID]uint64{},
	}
}

func (g *ghost) begin() {
	for _, cfg := range g.c.genesis.Partitions {
		g.configs[place{cfg.Partition, 0}] = cfg
	}
	g.c.w.Invariant("ghost", func() error { return g.fail })
}

func (g *ghost) tick() uint64 {
	g.now++
	return g.now
}

func (g *ghost) wrong(rule, format string, args ...any) {
	if g.fail == nil && !g.c.over {
		g.fail = fmt.Errorf("%s: %s", rule, fmt.Sprintf(format, args...))
	}
}

// asks records the state that a reconfiguration hands over.
func (g *ghost) asks(x *question) {
	q := &x.q
	switch q.Kind {
	case wor.KindStage:
		k := tag{place{q.Partition, q.Epoch}, q.Tag}
		s := g.stages[k]
		if s == nil {
			s = &stage{pieces: map[uint64]bool{}, values: map[wor.Addr]string{}, graves: map[buried]bool{}}
			g.stages[k] = s
			if first, any := g.rivals[k.place]; any && first != q.Tag {
				g.c.w.Mark("reconfigurers duel")
			} else {
				g.rivals[k.place] = q.Tag
			}
		}
		s.take(q.Cursor, q.Value)
	case wor.KindActivate:
		var cfg wor.Config
		if err := cfg.UnmarshalBinary(q.Value); err != nil {
			g.wrong("activate", "%v", err)
			return
		}
		g.configured(cfg)
	}
}

func (s *stage) take(number uint64, piece []byte) {
	if s.pieces[number] {
		return
	}
	s.pieces[number] = true
	for len(piece) > 0 {
		x, rest, err := group.NextState(piece)
		if err != nil {
			s.bad = err
			return
		}
		if x.Trimmed {
			s.graves[buried{x.Addr.Segment, x.Protocol == wor.Chain}] = true
		} else {
			s.values[x.Addr] = string(x.Value)
		}
		piece = rest
	}
}

// configured: a process takes a configuration for decided (rule i, R1, R2).
func (g *ghost) configured(cfg wor.Config) {
	at := place{cfg.Partition, cfg.Epoch}
	text, _ := cfg.MarshalBinary()
	if was, known := g.configs[at]; known {
		if old, _ := was.MarshalBinary(); string(old) != string(text) {
			g.wrong("one winner", "two configurations of partition %d, epoch %d", at.p, at.e)
		}
		return
	}
	g.configs[at] = cfg
	g.c.w.Mark("members changed")
	last := place{at.p, at.e - 1}
	old, known := g.configs[last]
	if !known {
		g.wrong("R2", "partition %d, epoch %d is not known, and the next is decided", at.p, last.e)
		return
	}
	sealed := 0
	for _, m := range old.Members {
		if _, is := g.seals[server{m.ID, last}]; is {
			sealed++
		}
	}
	if sealed < wor.Majority(len(old.Members)) {
		g.wrong("R2", "partition %d: epoch %d is decided, and %d servers of the one before are sealed", at.p, at.e, sealed)
	}
	for _, c := range g.listed {
		for _, in := range c.in {
			if in == last {
				g.handed(c, at)
			}
		}
	}
}

// handed: the next epoch must begin with the values that were chosen in an epoch.
func (g *ghost) handed(c *choice, next place) {
	if c.a.Segment == wor.ConfigSegment(0) {
		return // each epoch's members keep one, and do not hand it over
	}
	cfg := g.configs[next]
	s := g.stages[tag{next, cfg.Tag}]
	switch {
	case s == nil:
		g.wrong("R1", "partition %d, epoch %d was decided, and nothing was staged for it", next.p, next.e)
	case s.bad != nil:
		g.wrong("R1", "a stage: %v", s.bad)
	case s.graves[buried{c.a.Segment, false}], s.graves[buried{c.a.Segment, true}]:
	case s.values[c.a] != c.value:
		g.wrong("R1", "%v is %.60q in partition %d before epoch %d, which began with %.60q", c.a, c.value, next.p, next.e, s.values[c.a])
	}
}

// answered checks an answer, and learns from it.
func (g *ghost) answered(x *question, r *wor.Reply) {
	q, now := &x.q, g.tick()
	asked := x.at
	if x.again {
		asked = 0
	}
	who := server{x.server, place{q.Partition, q.Epoch}}
	if at, is := g.absent[x.server]; is && at < asked {
		g.wrong("identity", "server %v answers a %v with %v, and its disk is not there", x.server, q.Kind, r.Status)
	}
	switch {
	case r.Status != wor.StatusOK:
		return
	case q.Kind == wor.KindSeal:
		if _, known := g.seals[who]; !known {
			g.seals[who] = now
		}
		return
	case q.Kind != wor.KindCapture && q.Kind != wor.KindWrite && q.Kind != wor.KindRead && q.Kind != wor.KindTrim && q.Kind != wor.KindListen:
		return
	}
	g.served[x.server] = max(g.served[x.server], asked)
	witness := q.Partition == 0 && q.Range == wor.One(wor.Addr{Segment: wor.ConfigSegment(0), Offset: uint32(q.Epoch) + 1})
	if at, sealed := g.seals[who]; sealed && at < asked && !witness {
		g.wrong("sealed", "server %v answers a %v of %v in partition %d, epoch %d, which it has sealed", x.server, q.Kind, q.Range, q.Partition, q.Epoch)
	}
	serves := standing{x.server, q.Partition}
	if s := g.epochs[serves]; s.e > q.Epoch && s.at < asked && !witness {
		g.wrong("epochs", "server %v answers in partition %d, epoch %d, and has answered in %d", x.server, q.Partition, q.Epoch, s.e)
	} else if s.e < q.Epoch {
		g.epochs[serves] = stand{q.Epoch, now}
	}
	if cfg, known := g.configs[who.place]; !known || cfg.Index(x.server) < 0 {
		g.wrong("members", "server %v answers in partition %d, epoch %d: %v", x.server, q.Partition, q.Epoch, cfg.Members)
		return
	}
	if q.Kind == wor.KindTrim {
		g.bury(grave{x.server, who.place, q.Range.Segment, q.Protocol == wor.Chain}, now)
		return
	}
	off := q.Range.Lo
	for i := range r.Runs {
		run := &r.Runs[i]
		if g.logs && run.Status == wor.StatusOutbid && q.Kind == wor.KindWrite && q.Ballot.Nonce != x.nonce {
			g.c.w.Mark("old token in flight")
		}
		for range run.Count {
			g.shown(x, run, wor.Addr{Segment: q.Range.Segment, Offset: off}, asked, now)
			off++
		}
	}
}

func (g *ghost) bury(k grave, now uint64) {
	if _, known := g.graves[k]; !known {
		g.graves[k] = now
	}
}

// shown: a server has answered about one register.
func (g *ghost) shown(x *question, run *wor.Run, a wor.Addr, asked, now uint64) {
	q := &x.q
	in := server{x.server, place{q.Partition, q.Epoch}}
	chain := q.Protocol == wor.Chain
	grave := grave{x.server, in.place, a.Segment, chain}
	if run.Status == wor.StatusTrimmed {
		g.bury(grave, now)
		return
	}
	if at, is := g.graves[grave]; is && at < asked {
		g.wrong("tombstones", "server %v has forgotten that %v is trimmed: %v", x.server, a, run.Status)
	}
	s := spot{in, a, chain}
	f := g.floors[s]
	if f == nil {
		f = &floor{}
		g.floors[s] = f
	}
	promised, accepted := run.Promised, run.Accepted
	written, value := run.Written, string(run.Value)
	if run.Status == wor.StatusOK {
		switch q.Kind {
		case wor.KindCapture:
			promised = q.Ballot
		case wor.KindWrite:
			promised, accepted, written, value = q.Ballot, q.Ballot, true, string(q.Value)
		}
	}
	if !chain {
		low, any := before(f.promised, asked)
		// A write that was accepted before the promise may be requested again.
		repeated := q.Kind == wor.KindWrite && (low.unsaid || low.written && low.accepted == q.Ballot)
		if any && promised.Less(low.b) && !repeated && (run.Status == wor.StatusOK || run.Status == wor.StatusOutbid) {
			g.wrong("promises", "server %v answers a %v of %v with %v at %v, and had promised %v", x.server, q.Kind, a, run.Status, promised, low.b)
		}
		if run.Status == wor.StatusOK || run.Status == wor.StatusOutbid {
			f.promised = raise(f.promised, mark{now, promised, run.Status != wor.StatusOK, written, accepted})
		}
	}
	low, any := before(f.accepted, asked)
	if any && run.Status == wor.StatusOK && q.Kind != wor.KindWrite && (!written || !chain && accepted.Less(low.b)) {
		g.wrong("acceptances", "server %v shows %v to a %v as written %v at %v, and had accepted at %v", x.server, a, q.Kind, written, accepted, low.b)
	}
	g.began(x, run, a, written, value)
	if written {
		f.accepted = raise(f.accepted, mark{at: now, b: accepted})
		g.voted(x.server, vote{in.place, a, accepted, q.Protocol, value})
	}
}

// began: a server that answers in an epoch has the state with which the epoch began (R3).
func (g *ghost) began(x *question, run *wor.Run, a wor.Addr, written bool, value string) {
	at := place{x.q.Partition, x.q.Epoch}
	if at.e == 0 || run.Status != wor.StatusOK || x.q.Kind != wor.KindRead || a.Segment == wor.ConfigSegment(0) {
		return
	}
	s := g.stages[tag{at, g.configs[at].Tag}]
	if s == nil {
		return
	}
	if want, is := s.values[a]; is && (!written || value != want) {
		g.wrong("R3", "server %v shows %v as %v %.60q in partition %d, epoch %d, which began with %.60q", x.server, a, written, value, at.p, at.e, want)
	}
	if s.graves[buried{a.Segment, x.q.Protocol == wor.Chain}] && a.Offset < wor.PlacementOffset {
		g.wrong("R3", "server %v has lost the tombstone of %v in partition %d, epoch %d", x.server, a, at.p, at.e)
	}
}

// noted: a listener has received a server's note.
func (g *ghost) noted(x *question, n *wor.Note) {
	g.tick()
	g.voted(x.server, vote{place{n.Partition, n.Epoch}, n.Addr, n.Ballot, x.q.Protocol, string(n.Value)})
}

// voted: a server has accepted a value.
func (g *ghost) voted(id wor.ServerID, v vote) {
	k := ballotKey{place: v.place, a: v.a, b: v.b, chain: v.p == wor.Chain}
	if v.b.IsZero() {
		k.who = id
	}
	if k.chain {
		k.b, k.who = wor.Ballot{}, 0 // a chain has one value in an epoch
	}
	if was, known := g.values[k]; known && was != v.value {
		g.wrong("one value per ballot", "%v at %v in partition %d, epoch %d: %.60q and %.60q", v.a, v.b, v.place.p, v.e, was, v.value)
	}
	g.values[k] = v.value
	by := g.votes[v]
	if by == nil {
		by = map[wor.ServerID]bool{}
		g.votes[v] = by
	}
	if by[id] {
		return
	}
	by[id] = true
	cfg := g.configs[v.place]
	n := len(cfg.Members)
	switch {
	case v.p == wor.Chain:
		if n == 0 || cfg.Members[n-1].ID != id {
			return
		}
	case v.p == wor.Fast && v.b.IsZero():
		if len(by) < wor.FastQuorum(n) {
			return
		}
	case len(by) < wor.Majority(n):
		return
	}
	g.choose(v)
}

func (g *ghost) choose(v vote) {
	c := g.chosen[v.a]
	if c == nil {
		c = &choice{a: v.a, value: v.value}
		g.chosen[v.a] = c
		g.listed = append(g.listed, c)
		if g.machines && v.a.Offset == wor.MetaOffset {
			g.holes(v.a.Segment - 1)
		}
	}
	if c.value != v.value {
		g.wrong("agreement", "%v is %.60q, and %.60q was chosen in partition %d, epoch %d", v.a, v.value, c.value, c.in[0].p, c.in[0].e)
	}
	for _, in := range c.in {
		if in == v.place {
			return
		}
	}
	c.in = append(c.in, v.place)
	next := place{v.place.p, v.place.e + 1}
	if _, known := g.configs[next]; known {
		g.handed(c, next)
	}
	if v.a.Segment&wor.ReservedSegment != 0 {
		var cfg wor.Config
		if err := cfg.UnmarshalBinary([]byte(v.value)); err != nil || wor.ConfigSegment(cfg.Partition) != v.a.Segment || uint32(cfg.Epoch) != v.a.Offset {
			g.wrong("configurations", "%v holds %.60q: %v", v.a, v.value, err)
			return
		}
		g.configured(cfg)
	}
}

// told: a client received the answer that a value is decided.
func (g *ghost) told(what string, a wor.Addr, value string) {
	c := g.chosen[a]
	if c == nil {
		g.wrong("acknowledged is chosen", "%s: %v is said to be %.60q, and nothing was chosen", what, a, value)
	} else if c.value != value {
		g.wrong("acknowledged is chosen", "%s: %v is said to be %.60q, and %.60q was chosen", what, a, value, c.value)
	}
}

// newest is the newest configuration of a partition that was decided.
func (g *ghost) newest(p wor.Partition) wor.Config {
	at := place{p: p}
	for {
		if _, more := g.configs[place{p, at.e + 1}]; !more {
			return g.configs[at]
		}
		at.e++
	}
}

// holes checks, when a segment was allocated, whether the previous one has registers that
// are not chosen below one that is.
func (g *ghost) holes(s wor.Segment) {
	last, n := uint32(0), uint32(0)
	for _, c := range g.listed {
		if c.a.Segment == s && c.a.Offset < wor.PlacementOffset {
			last, n = max(last, c.a.Offset+1), n+1
		}
	}
	if n < last {
		g.c.w.Mark("leader takeover with holes")
	}
}
