package group

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Which value of a register goes on into the next epoch: the one that may have
// been decided, if there is such a one. At most one may have been, as each rule
// shows. Let s of the n members be sealed, a majority, and let the states be
// theirs. What a sealed server has not accepted it never will.
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

// Seals is how many of n members must be sealed before their states are merged.
func Seals(n int) int { return wor.Majority(n) }

// Choose is the value of a register that goes on; ok is false if there is none.
// The states are of those servers, among the sealed ones, that have the register
// written. Conflict says that a client has broken the rules.
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

// Merger makes of the states of sealed servers the state of the next epoch. It
// holds one piece of each server at a time. The order of calls: Put what Wants
// asks for, then Next until it answers false, and again, until the last piece.
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

// side is what came from one server.
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

// Nothing is the resolution for a segment of which no data registers belong here.
const Nothing = wor.Protocol(0xff)

// NewMerger returns a Merger for so many sealed servers, numbered from 0, of an
// epoch with so many members. Resolved says of segments that are written by two
// protocols which one is the segment's, or Nothing: what is written by another one
// was written against the rules, and does not go on.
func NewMerger(members, sealed int, resolved map[wor.Segment]wor.Protocol) *Merger {
	m := &Merger{members: members, hash: xxhash.New(), resolved: resolved}
	for range sealed {
		m.sides = append(m.sides, side{hash: xxhash.New()})
	}
	return m
}

// Wants is the Cursor of the KindFetch that a server is to be sent, if any.
func (m *Merger) Wants(server int) (cursor uint64, ok bool) {
	s := &m.sides[server]
	return s.cursor, !s.ready && !s.ended
}

// Put takes the reply to what Wants asked for, which is the Merger's from then
// on. A reply to something else is ignored. An error says that the server's state
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
		return fmt.Errorf("%w: pieces up to %d have another digest", errPiece, cursor)
	}
	s.cursor, s.ended, s.rest = r.Cursor, r.Cursor == 0, r.Value
	return s.step()
}

// step goes to the next state of the piece.
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
		return fmt.Errorf("%w: %v is not behind %v", errPiece, k.addr, s.last.addr)
	}
	s.begun, s.last = true, k
	return nil
}

// MixedError: the data registers of a segment are written by two protocols. Its
// metadata say which one counts.
type MixedError struct{ Segment wor.Segment }

func (e *MixedError) Error() string {
	return fmt.Sprintf("segment %d is written by two protocols", e.Segment)
}

// foreign says that a state is one of those that do not go on.
func (m *Merger) foreign(s *State) bool {
	p, ok := m.resolved[s.Addr.Segment]
	return ok && !s.Trimmed && data(wor.One(s.Addr)) && s.Protocol != p
}

// Next is the next piece for the members to be, which is the caller's, and
// whether it is the last one. Ok is false while something is wanted.
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

// emit hands out what is ready; next begins what follows.
func (m *Merger) emit(next *State) []byte {
	piece := m.out
	m.out = nil
	if next != nil {
		m.out = AppendState(nil, next)
	}
	_, _ = m.hash.Write(piece) // never fails
	return piece
}

// merge takes the states of a key from all servers and answers what becomes of
// them, if anything.
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

// buried says that a tombstone has been put out for what the key is about.
func (m *Merger) buried(k key) bool {
	if !m.order.begun || m.order.last.addr.Segment != k.addr.Segment {
		return false
	}
	if k.chain {
		return m.order.buried[1]
	}
	return m.order.buried[0]
}

// Digest is of all pieces that Next has answered: that of the stage, when it has
// answered the last one.
func (m *Merger) Digest() uint64 { return m.hash.Sum64() }

// Conflicts is of how many registers clients have broken the rules, so that what
// was decided is not certain.
func (m *Merger) Conflicts() int { return m.conflicts }

// Stages is on how many of n members to be the stage must be complete before the
// configuration is written, so that what goes on is as safe as it was: all, if
// there are values of protocol Chain among it, otherwise a majority. It counts
// when Next has answered the last piece.
func (m *Merger) Stages(n int) int {
	if m.chains {
		return n
	}
	return wor.Majority(n)
}
