// SPDX-License-Identifier: Apache-2.0

package group

import (
	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seal ends the epoch here. The reply's digest is that of the whole state.
func (g *Group) seal(q *wor.Request, r *wor.Reply, log *wor.Log) {
	status := g.standing(q.Epoch)
	if status != wor.StatusOK && status != wor.StatusSealed {
		g.refuse(r, status)
		return
	}
	g.close(log)
	r.Digest = g.Digest()
}

// close seals the held epoch, unless it is sealed.
func (g *Group) close(log *wor.Log) {
	if !g.held.sealed {
		g.scratch = appendEpoch(g.scratch[:0], recordSeal, g.held.number)
		log.Append(g.scratch)
		g.held.sealed = true
	}
}

// Digest covers the server's state: XXH64 of all its pieces, one after the
// other. So it depends on the ballots of values that are not certainly decided;
// two servers have the same digest if they have accepted the same values at the
// same ballots, as they have after an activation. Without a state it is that of
// empty input. It visits all registers, only once if they are sealed.
func (g *Group) Digest() uint64 {
	e := g.held
	if e != nil && e.sealed && e.digested {
		return e.digest
	}
	d := xxhash.New()
	var b []byte
	if e != nil {
		g.states(key{}, func(s *State) bool {
			b = AppendState(b[:0], s)
			_, _ = d.Write(b) // never fails
			return true
		})
		e.digest, e.digested = d.Sum64(), e.sealed
	}
	return d.Sum64()
}

// states visits the states that are handed over, from a key on.
func (g *Group) states(from key, yield func(*State) bool) {
	e := g.held
	next, more := g.chained(from.addr)
	going := true
	emit := func(s State) {
		if s.key().compare(from) >= 0 {
			going = yield(&s)
		}
	}
	// The replica's states come between those of the acceptor.
	between := func(until *key) {
		for going && more && (until == nil || next.key().compare(*until) < 0) {
			emit(next)
			next, more = g.chained(after(next.Addr, next.Trimmed))
		}
	}
	e.acceptor.States(from.addr, func(s wor.State) bool {
		if !s.Written && !s.Trimmed || g.partition == 0 && s.Addr == witness(e.number) {
			return true
		}
		x := State{wor.Paxos, s}
		if !s.Trimmed && data(wor.One(s.Addr)) {
			x.Protocol = e.pins[s.Addr.Segment]
		}
		k := x.key()
		if between(&k); going {
			emit(x)
		}
		return going
	})
	between(nil)
}

// after returns the first address after a state.
func after(a wor.Addr, trimmed bool) wor.Addr {
	if trimmed {
		return wor.Addr{Segment: a.Segment + 1}
	}
	return wor.Addr{Segment: a.Segment, Offset: a.Offset + 1}
}

// chained returns the first state of the replica from an address on that is
// handed over.
func (g *Group) chained(from wor.Addr) (State, bool) {
	var found wor.State
	ok := false
	g.held.replica.Values(from, func(s wor.State) bool {
		found, ok = s, true
		return false
	})
	return State{wor.Chain, found}, ok
}

// fetch answers with a piece of the sealed state. The cursor is the number of
// the piece.
func (g *Group) fetch(q *wor.Request, r *wor.Reply) {
	e := g.held
	if e == nil || e.number != q.Epoch {
		g.refuse(r, g.standing(q.Epoch))
		return
	}
	if !e.sealed {
		g.limit(r, "epoch is not sealed")
		return
	}
	if len(e.cuts) == 0 {
		e.cuts = append(e.cuts, key{})
	}
	// A piece begins where the previous one ends, so the pieces before it are
	// cut first.
	for uint64(len(e.cuts)) <= q.Cursor {
		next, ok := g.cut(e.cuts[len(e.cuts)-1], nil)
		if !ok {
			g.limit(r, "cursor")
			return
		}
		e.cuts = append(e.cuts, next)
	}
	next, ok := g.cut(e.cuts[q.Cursor], func(s *State) { r.Value = AppendState(r.Value, s) })
	if ok {
		r.Cursor = q.Cursor + 1
		if uint64(len(e.cuts)) == r.Cursor {
			e.cuts = append(e.cuts, next)
		}
	}
	r.Digest = g.Digest()
}

// cut visits a piece and returns where the next one begins, if there is one.
func (g *Group) cut(from key, each func(*State)) (next key, ok bool) {
	size := 0
	g.states(from, func(s *State) bool {
		if size += s.size(); size > PieceMax {
			next, ok = s.key(), true
			return false
		}
		if each != nil {
			each(s)
		}
		return true
	})
	return next, ok
}

// activate handles a decided configuration.
func (g *Group) activate(q *wor.Request, r *wor.Reply, log *wor.Log) {
	var c wor.Config
	if err := c.UnmarshalBinary(q.Value); err != nil {
		g.limit(r, "configuration: "+err.Error())
		return
	}
	switch {
	case c.Partition != g.partition || c.Epoch != q.Epoch:
		g.limit(r, "configuration of another partition or epoch")
		return
	case c.Epoch < g.known.Epoch:
		g.refuse(r, wor.StatusStale)
		return
	case c.Epoch == g.known.Epoch:
		if string(q.Value) != string(g.hint) {
			// Of two configurations of one epoch, one was not decided.
			r.Status, r.Value = wor.StatusConflict, g.hint
			return
		}
	default:
		g.scratch = append(append(g.scratch[:0], recordConfig), q.Value...)
		log.Append(g.scratch)
		g.succeed(c)
	}
	r.Epoch = g.known.Epoch
	if status := g.Status(); status != wor.StatusSealed {
		r.Status = status
	}
}

// succeed makes a configuration the known one and begins its epoch if its stage
// is here.
func (g *Group) succeed(c wor.Config) {
	if g.learn(c); g.known.Index(g.self) < 0 {
		g.retain()
		g.held = nil
	}
	g.begin()
}

// begin begins the known epoch if its stage is complete, and drops the stages
// that can no longer become a state. A stage with the right tag and the wrong
// digest was not the decided one, and makes room to be staged again.
func (g *Group) begin() {
	for _, s := range g.stages {
		if g.Status() == wor.StatusMute && s.complete && s.decided(&g.known) {
			g.install(s)
		}
	}
	waits := g.Status() == wor.StatusMute
	g.dropStages(func(s *stage) bool {
		return s.epoch < g.known.Epoch || s.epoch == g.known.Epoch && (!waits || s.complete || s.tag != g.known.Tag)
	})
}

// decided reports whether the configuration was decided with this stage.
func (s *stage) decided(c *wor.Config) bool {
	return s.epoch == c.Epoch && s.tag == c.Tag && s.sum() == c.Digest
}

// install makes a stage the state of its epoch.
func (g *Group) install(s *stage) {
	e := newEpoch(s.epoch, g.known.Index(g.self) == 0)
	var unlogged wor.Log
	for _, piece := range s.pieces {
		for len(piece) > 0 {
			state, rest, err := NextState(piece)
			invariant.Check(err == nil, "stage %d: %v", s.tag, err)
			if !state.Trimmed && data(wor.One(state.Addr)) {
				e.pins[state.Addr.Segment] = state.Protocol
			}
			err = e.server(state.Protocol).Adopt(state.State, &unlogged)
			invariant.Check(err == nil, "stage %d: %v", s.tag, err)
			// The record of the activation covers all of these.
			unlogged.Reset()
			piece = rest
		}
	}
	g.retain()
	g.held = e
}
