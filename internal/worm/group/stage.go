// SPDX-License-Identifier: Apache-2.0

package group

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// StagesMax is the number of stages that a Group keeps. Equal complete ones
// count once for MaxBytes, and there cannot be many different ones of one
// epoch: a sealed state does not change, so a stage depends only on which
// servers were asked.
const StagesMax = 64

// StageAges is the number of calls of Age that a complete stage certainly
// survives. An older stage is dropped when there is no room for another one. By
// then, the client that staged it should have got its configuration decided,
// and a client that fills all room with undecided stages must not block changes
// of the members permanently.
const StageAges = 2

// Age makes the stages older. The server must call it every few minutes.
func (g *Group) Age() { g.age++ }

// stage is the state that a reconfiguration hands over for a future epoch.
type stage struct {
	epoch    wor.Epoch
	tag      uint64
	pieces   [][]byte
	bytes    int64 // 0 when another stage has the same pieces
	hash     *xxhash.Digest
	complete bool
	born     uint64 // Group.age when it was complete
	check    sequence
}

func newStage(e wor.Epoch, tag uint64) *stage {
	return &stage{epoch: e, tag: tag, hash: xxhash.New()}
}

func (s *stage) sum() uint64 { return s.hash.Sum64() }

// take adds the next piece. A stage that becomes complete shares its memory
// with an equal one, and becomes the state if the Group was waiting for it.
func (g *Group) take(s *stage, piece []byte, last bool, check sequence) {
	s.pieces = append(s.pieces, piece)
	s.bytes += int64(len(piece)) + pieceBytes
	_, _ = s.hash.Write(piece) // never fails
	if s.check, s.complete, s.born = check, last, g.age; !last {
		return
	}
	for _, t := range g.stages {
		if t != s && t.complete && t.sum() == s.sum() && slices.EqualFunc(t.pieces, s.pieces, bytes.Equal) {
			s.pieces, s.bytes = t.pieces, 0
			break
		}
	}
	if s.epoch == g.known.Epoch {
		g.begin()
	}
}

// pieceBytes is the overhead that is counted for a piece, besides its length.
const pieceBytes = 64

// sequence checks that states come in order and are consistent with each other.
type sequence struct {
	begun bool
	last  key
	// About the segment of last: the servers that have a tombstone, and the
	// protocol of its data registers, if there were any.
	buried [2]bool
	data   bool
	pin    wor.Protocol
}

// next reports whether a state may follow.
func (c *sequence) next(s *State) bool {
	k := s.key()
	if c.begun && k.compare(c.last) <= 0 {
		return false
	}
	if !c.begun || k.addr.Segment != c.last.addr.Segment {
		*c = sequence{}
	}
	c.begun, c.last = true, k
	server := 0
	if k.chain {
		server = 1
	}
	if c.buried[server] {
		return false
	}
	if s.Trimmed {
		c.buried[server] = true
		return s.Protocol != wor.Fast
	}
	if !data(wor.One(s.Addr)) {
		return s.Protocol == wor.Paxos
	}
	if c.data && c.pin != s.Protocol {
		return false
	}
	c.data, c.pin = true, s.Protocol
	return true
}

// stageable checks a piece that is to follow others.
func (g *Group) stageable(e wor.Epoch, piece []byte, c sequence) (sequence, bool) {
	for len(piece) > 0 {
		s, rest, err := NextState(piece)
		if err != nil || !s.Accepted.IsZero() || !c.next(&s) {
			return c, false
		}
		if s.Trimmed {
			if s.Addr.Segment&wor.ReservedSegment != 0 {
				return c, false
			}
		} else if !wellPlaced(s.Addr) || !g.keeps(wor.One(s.Addr), s.Protocol) || s.Addr.Segment == wor.ConfigSegment(0) {
			return c, false
		}
		piece = rest
	}
	return c, true
}

// wellPlaced reports whether a range can include the address.
func wellPlaced(a wor.Addr) bool { return a.Offset <= wor.TrimOffset }

// stage takes a piece of a stage. The reply's Cursor is the number of pieces
// that the server has: the request was done if that exceeds the request's.
func (g *Group) stage(q *wor.Request, r *wor.Reply, log *wor.Log) {
	if q.Tag == 0 || len(q.Value) > PieceMax {
		g.limit(r, "a stage needs a tag, and pieces of at most PieceMax")
		return
	}
	switch status := g.standing(q.Epoch); {
	case status == wor.StatusAhead:
	case status == wor.StatusStale || status == wor.StatusForeign:
		g.refuse(r, status)
		return
	case q.Tag != g.known.Tag:
		g.refuse(r, wor.StatusStale)
		return
	case status != wor.StatusMute:
		// The stage has become the state.
		r.Cursor = q.Cursor + 1
		return
	}
	s := g.find(q.Epoch, q.Tag)
	have := uint64(0)
	if s != nil {
		have = uint64(len(s.pieces))
	}
	r.Cursor = have
	switch {
	case q.Cursor > have:
		r.Status = wor.StatusBusy
		return
	case q.Cursor < have:
		if !bytes.Equal(s.pieces[q.Cursor], q.Value) {
			r.Status = wor.StatusConflict
		}
		return
	case s != nil && s.complete:
		r.Status = wor.StatusConflict
		return
	}
	g.extend(s, q, r, log)
}

// extend adds the next piece to a stage, or begins one.
func (g *Group) extend(s *stage, q *wor.Request, r *wor.Reply, log *wor.Log) {
	var c sequence
	if s != nil {
		c = s.check
	}
	c, ok := g.stageable(q.Epoch, q.Value, c)
	if !ok {
		g.limit(r, "piece of a stage")
		return
	}
	if !g.makeRoom(s, int64(len(q.Value)), log) {
		r.Status = wor.StatusBusy
		return
	}
	last := q.Flags&wor.FlagLast != 0
	if s == nil {
		s = newStage(q.Epoch, q.Tag)
		g.stages = append(g.stages, s)
	}
	if last {
		h := *s.hash
		if _, _ = h.Write(q.Value); h.Sum64() != q.Digest {
			g.drop(s, log)
			r.Cursor = 0
			g.limit(r, "digest of a stage")
			return
		}
	}
	g.scratch = appendStage(g.scratch[:0], s, last, q.Value)
	log.Append(g.scratch)
	g.take(s, q.Value, last, c)
	r.Cursor = uint64(len(s.pieces))
	if last && s.epoch == g.known.Epoch && g.Status() == wor.StatusMute {
		r.Cursor = 0
		g.limit(r, "digest of a stage")
	}
}

// makeRoom makes room for another piece, of a new stage if s is nil: it drops
// incomplete stages, the oldest first, and then complete ones older than
// StageAges. A younger complete one may be about to be decided.
func (g *Group) makeRoom(s *stage, bytes int64, log *wor.Log) bool {
	for {
		full := g.staged()+bytes+pieceBytes > g.maxBytes || s == nil && len(g.stages) >= StagesMax
		if !full {
			return true
		}
		i := slices.IndexFunc(g.stages, func(t *stage) bool { return t != s && !t.complete })
		if i < 0 {
			i = slices.IndexFunc(g.stages, func(t *stage) bool { return g.age-t.born > StageAges })
		}
		if i < 0 {
			return false
		}
		g.drop(g.stages[i], log)
	}
}

func (g *Group) drop(s *stage, log *wor.Log) {
	g.scratch = appendDrop(g.scratch[:0], s)
	log.Append(g.scratch)
	g.dropStages(func(t *stage) bool { return t == s })
}

// dropStages drops stages. The memory shared with a dropped stage is then
// counted for a remaining one.
func (g *Group) dropStages(which func(*stage) bool) {
	g.stages = slices.DeleteFunc(g.stages, which)
	for _, s := range g.stages {
		counted := func(t *stage) bool { return t.bytes > 0 && &t.pieces[0] == &s.pieces[0] }
		if s.bytes > 0 || slices.ContainsFunc(g.stages, counted) {
			continue
		}
		for _, piece := range s.pieces {
			s.bytes += int64(len(piece)) + pieceBytes
		}
	}
}

func (g *Group) find(e wor.Epoch, tag uint64) *stage {
	for _, s := range g.stages {
		if s.epoch == e && s.tag == tag {
			return s
		}
	}
	return nil
}

// staged is the number of bytes of the stages.
func (g *Group) staged() int64 {
	n := int64(0)
	for _, s := range g.stages {
		n += s.bytes
	}
	return n
}
