// SPDX-License-Identifier: Apache-2.0

package group

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Which value of a register continues into the next epoch: the one that may
// have been decided, if there is one. Each rule shows that at most one may have
// been decided. Let s of the n members be sealed, a majority, and let the
// states be theirs. What a sealed server has not accepted it never will.
//
//	Paxos  The highest accepted ballot. A value that was decided at ballot b was
//	       accepted at b by one of the sealed, as two majorities meet; and what
//	       was proposed above b is the same value.
//	Chain  Any. A value that was decided is on all servers; and all values are
//	       the head's (C0). One sealed server would be enough.
//	Fast   As Paxos if anything was accepted above ballot 0. At ballot 0, v was
//	       decided by a fast quorum of F servers, if at all. Of these at least
//	       F+s-n are sealed, and have it. So v goes on if as many have it: since
//	       2(F+s-n) > s for every majority s, no other has as many. Otherwise
//	       nothing was decided, and the register goes on unwritten.
//
// A client that breaks the rules (two values at one ballot) must not stop the
// partition. Then the value that most have goes on, of several the least.

// Seals is the number of members, of n, that must be sealed before their states
// are merged.
func Seals(n int) int { return wor.Majority(n) }

// Choose returns the value of a register that survives; ok is false if there is
// none. The states are of those sealed servers that have the register written.
// Conflict reports that a client has broken the rules.
func Choose(p wor.Protocol, members, sealed int, states []wor.State) (value []byte, ok, conflict bool) {
	var high wor.Ballot
	for i := range states {
		if high.Less(states[i].Accepted) {
			high = states[i].Accepted
		}
	}
	most := 0
	for i := range states {
		if p != wor.Chain && states[i].Accepted != high {
			continue
		}
		votes := 0
		for j := range states {
			if p != wor.Chain && states[j].Accepted != high {
				continue
			}
			if bytes.Equal(states[i].Value, states[j].Value) {
				votes++
			} else {
				conflict = true
			}
		}
		if votes > most || votes == most && bytes.Compare(states[i].Value, value) < 0 {
			value, most = states[i].Value, votes
		}
	}
	if p == wor.Fast && high.IsZero() {
		return value, most > 0 && most >= wor.FastQuorum(members)+sealed-members, false
	}
	return value, most > 0, conflict
}

// Merger merges the states of sealed servers into the state of the next epoch.
// It holds one piece of each server at a time. The order of calls: Put what
// Wants requests, then Next until it returns false, and repeat until the last
// piece.
type Merger struct {
	members   int
	sides     []side
	out       []byte
	hash      *xxhash.Digest
	order     sequence
	states    []wor.State // memory
	conflicts int
	chains    bool
	over      bool
	resolved  map[wor.Segment]wor.Protocol
}

// side is the input from one server.
type side struct {
	cursor uint64 // of the piece that is wanted next
	ended  bool
	rest   []byte // of the piece, behind now
	now    State
	ready  bool // now is a state
	last   key
	begun  bool
	hash   *xxhash.Digest
}

// Nothing is the resolution for a segment without data registers here.
const Nothing = wor.Protocol(0xff)

// NewMerger returns a Merger for that many sealed servers, numbered from 0, of
// an epoch with that many members. For segments written by two protocols,
// resolved names the segment's protocol, or Nothing: values written by another
// one violate the rules, and are dropped.
func NewMerger(members, sealed int, resolved map[wor.Segment]wor.Protocol) *Merger {
	m := &Merger{members: members, hash: xxhash.New(), resolved: resolved}
	for range sealed {
		m.sides = append(m.sides, side{hash: xxhash.New()})
	}
	return m
}

// Wants returns the Cursor of the next KindFetch for a server, if there is one.
func (m *Merger) Wants(server int) (cursor uint64, ok bool) {
	s := &m.sides[server]
	return s.cursor, !s.ready && !s.ended
}

// Put takes the reply to the request of Wants; the Merger owns it from then on.
// Replies to other requests are ignored. An error means that the server's state
// is damaged.
func (m *Merger) Put(server int, cursor uint64, r *wor.Reply) error {
	s := &m.sides[server]
	if s.cursor != cursor || s.ready || s.ended || r.Status != wor.StatusOK {
		return nil
	}
	if r.Cursor != 0 && (r.Cursor != cursor+1 || len(r.Value) == 0) {
		return fmt.Errorf("%w: piece %d is followed by %d", errPiece, cursor, r.Cursor)
	}
	_, _ = s.hash.Write(r.Value) // never fails
	if r.Cursor == 0 && s.hash.Sum64() != r.Digest {
		return fmt.Errorf("%w: pieces up to %d have a different digest", errPiece, cursor)
	}
	s.cursor, s.ended, s.rest = r.Cursor, r.Cursor == 0, r.Value
	return s.step()
}

// step moves to the next state of the piece.
func (s *side) step() error {
	if s.ready = len(s.rest) > 0; !s.ready {
		return nil
	}
	var err error
	if s.now, s.rest, err = NextState(s.rest); err != nil {
		return err
	}
	k := s.now.key()
	if s.begun && k.compare(s.last) <= 0 {
		return fmt.Errorf("%w: %v does not come after %v", errPiece, k.addr, s.last.addr)
	}
	s.begun, s.last = true, k
	return nil
}

// MixedError: the data registers of a segment are written by two protocols. Its
// metadata decide which one counts.
type MixedError struct{ Segment wor.Segment }

func (e *MixedError) Error() string {
	return fmt.Sprintf("segment %d is written by two protocols", e.Segment)
}

// foreign reports whether a state must be dropped.
func (m *Merger) foreign(s *State) bool {
	p, ok := m.resolved[s.Addr.Segment]
	return ok && !s.Trimmed && data(wor.One(s.Addr)) && s.Protocol != p
}

// Next returns the next piece for the future members, which the caller owns,
// and whether it is the last one. Ok is false while input is missing.
func (m *Merger) Next() (piece []byte, last, ok bool, err error) {
	for !m.over {
		first := -1
		for i := range m.sides {
			s := &m.sides[i]
			if !s.ready && !s.ended {
				return nil, false, false, nil
			}
			if s.ready && (first < 0 || s.now.key().compare(m.sides[first].now.key()) < 0) {
				first = i
			}
		}
		if first < 0 {
			m.over = true
			return m.emit(nil), true, true, nil
		}
		next, found, err := m.merge(m.sides[first].now.key())
		if err != nil {
			return nil, false, false, err
		}
		if !found {
			continue
		}
		if len(m.out)+next.size() > PieceMax {
			return m.emit(&next), false, true, nil
		}
		m.out = AppendState(m.out, &next)
	}
	return nil, false, false, nil
}

// emit returns the finished piece; next begins the following one.
func (m *Merger) emit(next *State) []byte {
	piece := m.out
	m.out = nil
	if next != nil {
		m.out = AppendState(nil, next)
	}
	_, _ = m.hash.Write(piece) // never fails
	return piece
}

// merge merges the states of a key from all servers and returns the result, if
// any.
func (m *Merger) merge(k key) (State, bool, error) {
	x := State{State: wor.State{Addr: k.addr}}
	states, first := m.states[:0], true
	for i := range m.sides {
		s := &m.sides[i]
		if !s.ready || s.now.key() != k {
			continue
		}
		switch {
		case m.foreign(&s.now):
			if err := s.step(); err != nil {
				return x, false, err
			}
			continue
		case s.now.Trimmed:
			// Counts more than values, whatever the protocol in which they are.
			x.Trimmed = true
			x.Protocol = s.now.Protocol
		case !first && !x.Trimmed && x.Protocol != s.now.Protocol:
			return x, false, &MixedError{k.addr.Segment}
		case !x.Trimmed:
			x.Protocol = s.now.Protocol
		}
		first = false
		if s.now.Written {
			states = append(states, s.now.State)
		}
		if err := s.step(); err != nil {
			return x, false, err
		}
	}
	m.states = slices.Grow(states[:0], len(m.sides))
	if !x.Trimmed {
		var conflict bool
		x.Value, x.Written, conflict = Choose(x.Protocol, m.members, len(m.sides), states)
		if conflict {
			m.conflicts++
		}
		if !x.Written || m.buried(k) {
			return x, false, nil
		}
	}
	m.chains = m.chains || x.Protocol == wor.Chain
	if !m.order.next(&x) {
		return x, false, &MixedError{k.addr.Segment}
	}
	return x, true, nil
}

// buried reports whether a tombstone covering the key was emitted.
func (m *Merger) buried(k key) bool {
	if !m.order.begun || m.order.last.addr.Segment != k.addr.Segment {
		return false
	}
	if k.chain {
		return m.order.buried[1]
	}
	return m.order.buried[0]
}

// Digest is the digest of all pieces that Next has returned: that of the stage,
// after the last one.
func (m *Merger) Digest() uint64 { return m.hash.Sum64() }

// Conflicts is the number of registers for which clients have broken the rules,
// so that the decided value is not certain.
func (m *Merger) Conflicts() int { return m.conflicts }

// Stages is the number of future members, of n, on which the stage must be
// complete before the configuration is written, so that surviving values are as
// safe as before: all, if any are of protocol Chain, otherwise a majority. It
// is valid after Next has returned the last piece.
func (m *Merger) Stages(n int) int {
	if m.chains {
		return n
	}
	return wor.Majority(n)
}
