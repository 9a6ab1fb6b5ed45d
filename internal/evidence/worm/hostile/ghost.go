// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// ghost sees what no client can see at once. What it checks, of each register:
//
//	I1  at one ballot one value is proposed (at ballot zero of protocol fast many)
//	I2  what a server accepted was proposed
//	I3  what a server holds is not above what it promised, and no less than what
//	    it ever said in a reply that left, through all crashes
//	I4  between the ballot that a server promised and the one it then showed as
//	    its highest it accepts nothing
//	I5  when (b, v) is proposed, no value but v can be chosen below b any more
//	Agreement: at most one value is ever chosen; what a client was told to be
//	decided is chosen; a client that is told "trimmed" can rely on a majority of tombstones
//
// "Accepted" and "promised" mean on the disk: what a crash takes away never was.
type ghost struct {
	fast            bool
	n, quorum, zero int
	registers       [registers]view
	tombs           []bool // by server: it reported the tombstone, or the tombstone is on its disk
}

// view is what the ghost knows of one register.
type view struct {
	proposals []proposal
	accepts   []accepted
	promises  []promised
	chosen    bool
	value     string
}

type proposal struct {
	ballot wor.Ballot
	value  string
}

type accepted struct {
	proposal
	by []bool
}

type promised struct {
	server        int
	ballot, below wor.Ballot
	shown         bool // an accepted value was shown, at below
}

func (g *ghost) init(o Options) {
	g.fast, g.n, g.quorum, g.zero = o.Fast, o.Servers, wor.Majority(o.Servers), wor.Majority(o.Servers)
	if o.Fast {
		g.zero = wor.FastQuorum(o.Servers)
	}
	g.tombs = make([]bool, o.Servers)
}

func (g *ghost) needs(b wor.Ballot) int {
	if b.IsZero() {
		return g.zero
	}
	return g.quorum
}

// look is what a server holds of each register; nil if the segment is trimmed.
func look(s wor.Server) []wor.Run {
	var r wor.Reply
	var log wor.Log
	s.Handle(&wor.Request{
		Kind: wor.KindRead, Range: wor.Range{Segment: segment, Lo: base, Hi: base + registers},
	}, &r, &log)
	var all []wor.Run
	for _, run := range r.Runs {
		if run.Status == wor.StatusTrimmed {
			return nil
		}
		for range run.Count {
			all = append(all, run)
		}
	}
	return all
}

// sent: a client sends a request. A write is a proposal, checked when it is new.
func (g *ghost) sent(w *world, q *wor.Request) {
	if q.Kind != wor.KindWrite {
		return
	}
	p := proposal{q.Ballot, string(q.Value)}
	for i := q.Range.Lo; i < q.Range.Hi; i++ {
		v := &g.registers[i-base]
		known := false
		for _, o := range v.proposals {
			known = known || o == p
			if o != p && o.ballot == p.ballot && (!g.fast || !p.ballot.IsZero()) {
				w.fail("I1: register %d: %q and %q are proposed at %v", i, o.value, p.value, p.ballot)
			}
		}
		if !known {
			v.proposals = append(v.proposals, p)
			g.safe(w, i, p)
		}
	}
}

// safe checks I5 for a new proposal: at each lower ballot, no other value has or can get
// as many servers as it needs to be chosen.
func (g *ghost) safe(w *world, register uint32, p proposal) {
	v := &g.registers[register-base]
	for _, o := range v.proposals {
		if o.value == p.value || !o.ballot.Less(p.ballot) {
			continue
		}
		can := 0
		for s := range g.n {
			if v.has(s, o) || !v.acceptedAt(s, o.ballot) && g.mayAccept(w, s, register, o.ballot) {
				can++
			}
		}
		if can >= g.needs(o.ballot) {
			w.fail("I5: register %d: %q is proposed at %v, and %q can be chosen at %v",
				register, p.value, p.ballot, o.value, o.ballot)
		}
	}
}

// mayAccept reports whether the server's disk permits it to accept at the ballot.
func (g *ghost) mayAccept(w *world, s int, register uint32, b wor.Ballot) bool {
	runs := look(w.servers[s].durable)
	return runs != nil && !b.Less(runs[register-base].Promised)
}

func (v *view) has(s int, p proposal) bool {
	for i := range v.accepts {
		if v.accepts[i].proposal == p {
			return v.accepts[i].by[s]
		}
	}
	return false
}

func (v *view) acceptedAt(s int, b wor.Ballot) bool {
	for i := range v.accepts {
		if v.accepts[i].ballot == b && v.accepts[i].by[s] {
			return true
		}
	}
	return false
}

// durable: records of the server have become durable.
func (g *ghost) durable(w *world, s *server) {
	runs := look(s.durable)
	if runs == nil {
		g.tombs[s.at] = true
		return
	}
	for i, run := range runs {
		if run.Written {
			g.accept(w, s.at, base+uint32(i), proposal{run.Accepted, string(run.Value)})
		}
		if run.Promised.Less(run.Accepted) {
			w.fail("I3: server %d has accepted %v above its promise %v", s.at, run.Accepted, run.Promised)
		}
	}
}

// released: a reply leaves the server.
func (g *ghost) released(w *world, s *server, q *wor.Request, r *wor.Reply) {
	if q.Kind == wor.KindTrim {
		g.tombs[s.at] = true
		return
	}
	i := q.Range.Lo
	for _, run := range r.Runs {
		for range run.Count {
			switch {
			case run.Status == wor.StatusTrimmed:
				g.tombs[s.at] = true
			case q.Kind == wor.KindWrite && run.Status == wor.StatusOK:
				g.accept(w, s.at, i, proposal{q.Ballot, string(q.Value)})
			case q.Kind == wor.KindCapture && run.Status == wor.StatusOK:
				g.promise(w, i, promised{s.at, q.Ballot, run.Accepted, run.Written})
			}
			if run.Written && q.Kind != wor.KindWrite {
				g.accept(w, s.at, i, proposal{run.Accepted, string(run.Value)})
			}
			i++
		}
	}
}

// accept records that a server has accepted, and whether that chooses a value.
func (g *ghost) accept(w *world, s int, register uint32, p proposal) {
	v := &g.registers[register-base]
	if v.has(s, p) {
		return
	}
	known := false
	for _, o := range v.proposals {
		known = known || o == p
	}
	if !known {
		w.fail("I2: server %d accepted %v %q of register %d, which nobody proposed", s, p.ballot, p.value, register)
	}
	at := -1
	for i := range v.accepts {
		if v.accepts[i].proposal == p {
			at = i
		}
	}
	if at < 0 {
		at = len(v.accepts)
		v.accepts = append(v.accepts, accepted{p, make([]bool, g.n)})
	}
	v.accepts[at].by[s] = true
	for _, o := range v.promises {
		v.between(w, register, o)
	}
	count := 0
	for _, is := range v.accepts[at].by {
		if is {
			count++
		}
	}
	if count < g.needs(p.ballot) {
		return
	}
	if v.chosen && v.value != p.value {
		w.fail("agreement: register %d: %q and %q are chosen", register, v.value, p.value)
	}
	v.chosen, v.value = true, p.value
}

func (g *ghost) promise(w *world, register uint32, p promised) {
	v := &g.registers[register-base]
	v.promises = append(v.promises, p)
	v.between(w, register, p)
}

// between checks I4 for a promise.
func (v *view) between(w *world, register uint32, p promised) {
	for _, a := range v.accepts {
		if a.by[p.server] && a.ballot.Less(p.ballot) && (!p.shown || p.below.Less(a.ballot)) {
			w.fail("I4: server %d promised %v of register %d showing %v, and accepted %v",
				p.server, p.ballot, register, p.below, a.ballot)
		}
	}
}

// check compares the servers with their earlier replies, after each event.
func (g *ghost) check(w *world) {
	touched := w.touched
	w.touched = 0
	for _, s := range w.servers {
		if touched>>s.at&1 == 0 {
			continue
		}
		runs := look(s.live)
		if runs == nil {
			if !w.trimmed {
				w.fail("server %d has a tombstone that nobody decided", s.at)
			}
			continue
		}
		if g.tombs[s.at] {
			w.fail("server %d has forgotten its tombstone", s.at)
		}
		for i := range g.registers {
			v, run := &g.registers[i], &runs[i]
			for _, p := range v.promises {
				if p.server == s.at && run.Promised.Less(p.ballot) {
					w.fail("I3: server %d has forgotten its promise %v of register %d", s.at, p.ballot, base+i)
				}
			}
			for _, a := range v.accepts {
				if a.by[s.at] && (!run.Written || run.Accepted.Less(a.ballot) ||
					run.Accepted == a.ballot && string(run.Value) != a.value) {
					w.fail("I3: server %d has forgotten %v %q of register %d", s.at, a.ballot, a.value, base+i)
				}
			}
		}
	}
}

// told: a client received the answer that the value is decided.
func (g *ghost) told(w *world, register uint32, value []byte) {
	if v := &g.registers[register-base]; !v.chosen || v.value != string(value) {
		w.fail("a client was told that register %d holds %q; chosen: %v %q", register, value, v.chosen, v.value)
	}
}

// toldTrimmed: a client received the answer that the segment is trimmed.
func (g *ghost) toldTrimmed(w *world) {
	n := 0
	for _, is := range g.tombs {
		if is {
			n++
		}
	}
	if n < g.quorum || !w.trimmed {
		w.fail("a client was told that the segment is trimmed; %d tombstones, decided %v", n, w.trimmed)
	}
}
