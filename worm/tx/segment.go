// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The segments of an RM's votes are numbered from 0. The process that allocated
// the one with the highest number owns the RM. Segments of the RM's state (a
// KV's snapshots) have numbers of their own.

const numberBits = 31

func (e *Engine) voteSegment(rm RM, n uint64) wor.Segment {
	return wor.Segment(uint64(e.opt.Instance)<<48 | uint64(rm)<<32 | n)
}

// StateSegment returns segment number n, below 1<<31, for the RM's state; the
// RM's owner may use it freely.
func (e *Engine) StateSegment(rm RM, n uint64) wor.Segment {
	return e.voteSegment(rm, n) | 1<<numberBits
}

func segmentNumber(s wor.Segment) uint64 { return uint64(s) & (1<<numberBits - 1) }

// meta is the payload of a vote segment's Meta.
type meta struct {
	owner wor.Member
	// base is the first segment that a takeover needs besides state, which the
	// Resource defines. All segments before trimmed are trimmed.
	base, trimmed uint64
	state         []byte
	// room is the number of usable registers of each half; 0 means all of them.
	room uint32
}

func (m *meta) encode() []byte {
	var e encoder
	e.member(m.owner)
	e.uint(m.base)
	e.uint(m.trimmed)
	e.bytes(m.state)
	e.uint(uint64(m.room))
	return e.b
}

func (m *meta) decode(b []byte) bool {
	d := decoder{b: b}
	m.owner = d.member()
	m.base = d.uint()
	m.trimmed = d.uint()
	m.state = d.bytes()
	if m.room = 0; len(d.b) > 0 { // there were segments without
		m.room = d.u32()
	}
	return d.done()
}

// meta returns the Meta of segment n.
func (e *Engine) meta(rm RM, n, nonce uint64, m *meta, size uint32) wor.Meta {
	return wor.Meta{
		Owner: nonce, Partition: wor.Partition((uint64(rm) + n) % uint64(e.opt.Partitions)),
		Protocol: e.opt.Protocol, Size: size, Payload: m.encode(),
	}
}

// A takeover decides all usable registers of some segments, so its duration
// grows with their room. Therefore an owner begins with a small room. It
// doubles the room of the next segment if the last one lasted for less than
// roomLasts, and halves it if the last one lasted for roomIdles.
const (
	roomMin   = 1 << 10
	roomLasts = 4 * time.Second
	roomIdles = 32 * time.Second
)

// segment is a segment in which an RM here votes. The lower half is for
// transactions of several RMs; other processes listen to the votes there. The
// upper half is for transactions of this RM alone. Only the first room
// registers of each half are used.
type segment struct {
	n     uint64
	id    wor.Segment
	token *wor.Token
	size  uint32
	room  uint32
	began env.Instant // when the first vote could be given there
	// shared is the next unused register of the lower half, own that of the
	// upper half.
	shared, own uint32
	// taken marks the registers in which the RM has voted.
	taken  []uint64
	orders uint64
	bytes  int64
	// pending is the number of YES votes without an outcome.
	pending int
	// closed: the segment takes no more votes.
	closed bool
	// needs has, for each other RM, the last of its segments with votes in
	// transactions that were committed here. It is nil if unknown.
	needs    map[RM]uint64
	trimming bool
}

// newSegment returns segment n of an RM, with the room in its Meta.
func (e *Engine) newSegment(rm RM, n uint64, room uint32) *segment {
	size := e.opt.SegmentSize
	if room == 0 || room > size/2 {
		room = size / 2
	}
	return &segment{n: n, id: e.voteSegment(rm, n), size: size, room: room, own: size / 2,
		taken: make([]uint64, (size+63)/64), needs: map[RM]uint64{}}
}

// piece returns the next registers, from lo on, in which the RM may have voted.
func (s *segment) piece(lo uint32) (r wor.Range, ok bool) {
	halves := []wor.Range{{Lo: 0, Hi: s.room}, {Lo: s.size / 2, Hi: s.size/2 + s.room}}
	if s.room == s.size/2 {
		halves = []wor.Range{{Lo: 0, Hi: s.size}}
	}
	for _, h := range halves {
		if lo < h.Hi {
			lo = max(lo, h.Lo)
			return wor.Range{Segment: s.id, Lo: lo, Hi: min(lo+pieceSize, h.Hi)}, true
		}
	}
	return r, false
}

func (s *segment) sharedLeft() uint32 { return s.room - s.shared }

func (s *segment) ownLeft() uint32 { return s.size/2 + s.room - s.own }

// tight reports whether half of the segment's registers are used.
func (s *segment) tight() bool { return s.sharedLeft() < s.room/2 || s.ownLeft() < s.room/2 }

// half reports whether half of the segment is used, so that the next one should
// be prepared.
func (s *segment) half(bytesMax int64) bool { return s.tight() || s.bytes > bytesMax/2 }

// firstRoom is the room of an owner's first segment.
func (e *Engine) firstRoom() uint32 { return min(roomMin, e.opt.SegmentSize/2) }

// roomAfter returns the room of the segment after s. It is called when that
// segment is prepared.
func (e *Engine) roomAfter(s *segment) uint32 {
	lasted := 2 * e.opt.Env.Clock.Now().Sub(s.began) // half of it is used
	switch {
	case s.tight() && lasted < roomLasts:
		return min(2*s.room, e.opt.SegmentSize/2)
	case lasted > roomIdles:
		return max(s.room/2, e.firstRoom())
	}
	return s.room
}

// take marks a register as voted in. It returns false if the register was
// marked before, or was granted to no process.
func (s *segment) take(offset uint32) bool {
	given := offset < s.shared || offset >= s.size/2 && offset < s.own
	if !given || s.taken[offset/64]>>(offset%64)&1 == 1 {
		return false
	}
	s.taken[offset/64] |= 1 << (offset % 64)
	return true
}

// order numbers a vote; the votes of later segments have higher numbers.
func (s *segment) order() uint64 {
	s.orders++
	return s.n<<24 | s.orders
}

// done reports whether all votes here have an outcome.
func (s *segment) done() bool { return s.closed && s.pending == 0 }
