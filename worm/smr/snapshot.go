// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/row"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// saver writes snapshots and trims what they make superfluous. Snapshots are a
// row of segments of their own; the Meta of each has the slot from which to
// continue, and these slots ascend. Registers 1 and up hold the pieces; then
// register 0 is written, which makes the snapshot valid. The last valid one is
// never trimmed.
//
// A snapshot is written at the end of a segment, by the replica that wrote the
// last command before.
type saver struct {
	r *Replica
	// last is the last snapshot known to be allocated, -1 for none, and covered
	// its slot.
	last    int64
	covered Slot
	mine    bool // the last command came from here
	saving  bool
	// Command segments below keep and snapshots below kept are to be trimmed.
	// trimmed and dropped are the first ones that are not trimmed yet.
	keep, kept       int64
	trimmed, dropped int64
	trimming         bool
	wait             env.Backoff
}

// PiecesMax bounds the pieces of a snapshot. A larger state is not saved, and
// nothing is trimmed.
const PiecesMax = 1 << 16

// piecesFlying is the number of pieces written, or read, at a time.
const piecesFlying = 4

func (s *saver) applied(origin uint64) { s.mine = origin == s.r.nonce }

// turned runs when the learner reaches the beginning of a segment.
func (s *saver) turned() {
	r, next := s.r, s.r.learner.next
	if r.opt.Snapshots.Every == 0 || r.closed {
		return
	}
	if r.opt.Snapshots.Seen > 0 {
		r.enqueue(&proposal{command: command{verb: verbReport, key: key{r.nonce, uint64(next)}}})
	}
	s.trim()
	if s.saving || !s.mine || next.Index()-s.covered.Index() < r.opt.Snapshots.Every {
		return
	}
	s.saving = true
	w := &saving{s: s, slot: next, shared: r.shared.encode(next), machine: r.opt.Machine.Snapshot()}
	w.begin()
}

// saving is the writing of one snapshot.
type saving struct {
	s       *saver
	slot    Slot
	number  uint32
	shared  []byte
	machine func() []byte
	offset  uint32 // of the next piece
	ours    uint32 // pieces of shared
	sum     uint32
	flying  int
	drained bool // there are no more pieces
	failed  bool
}

// begin allocates the snapshot after the last one, unless the last one is as
// new as the state.
func (w *saving) begin() {
	s, r := w.s, w.s.r
	r.last(r.opt.ID.Snapshot, s.last, func(index int64, m *wor.Meta, err error) {
		if r.closed {
			return
		}
		if m != nil && len(m.Payload) == 8 {
			s.covered = max(s.covered, Slot(binary.LittleEndian.Uint64(m.Payload)))
		}
		if err != nil || s.covered >= w.slot || index >= IndexMax {
			s.saving = false
			return
		}
		s.last, w.number = index, uint32(index+1)
		segment := r.opt.ID.Snapshot(w.number)
		partition, protocol := r.opt.Place(segment)
		meta := wor.Meta{
			Owner: r.random.Uint64(), Partition: partition, Protocol: protocol, Size: PiecesMax + 1,
			Payload: binary.LittleEndian.AppendUint64(nil, uint64(w.slot)),
		}
		r.alloc(segment, meta, &s.wait, func(mine bool, err error) {
			if !mine {
				s.saving = false // another replica is saving
				return
			}
			s.last, s.covered, w.offset = int64(w.number), w.slot, 1
			w.write()
		})
	})
}

// piece returns the next piece, nil at the end.
func (w *saving) piece() []byte {
	if n := min(len(w.shared), PieceMax); n > 0 {
		p := w.shared[:n]
		w.shared = w.shared[n:]
		w.ours++
		return p
	}
	return w.machine()
}

// write writes pieces. Only this run writes this segment, and it writes each
// register with one value, so it needs no capture.
func (w *saving) write() {
	r := w.s.r
	for !w.drained && !w.failed && w.flying < piecesFlying {
		p := w.piece()
		if p == nil {
			w.drained = true
			break
		}
		if w.offset > PiecesMax || len(p) > PieceMax {
			w.failed = true
			break
		}
		w.sum = crc32.Update(w.sum, crc32.IEEETable, p)
		a := wor.Addr{Segment: r.opt.ID.Snapshot(w.number), Offset: w.offset}
		w.offset++
		w.flying++
		r.space.WriteUnsafe(a, p, r.timeout, func(err error) { w.wrote(a, p, err) })
	}
	if w.flying > 0 {
		return
	}
	if w.failed {
		w.s.saving = false
		return
	}
	w.commit()
}

func (w *saving) wrote(a wor.Addr, p []byte, err error) {
	r := w.s.r
	switch {
	case r.closed:
		return
	case !row.Decided(err):
		r.later(&w.s.wait, func() {
			r.space.Propose(a, p, r.timeout, func(err error) { w.wrote(a, p, err) })
		})
		return
	case err != nil:
		w.failed = true // trimmed: there is a newer one
	}
	w.flying--
	w.write()
}

// commit makes the snapshot valid.
func (w *saving) commit() {
	s, r := w.s, w.s.r
	value := commit{w.slot, w.offset - 1, w.ours, w.sum}.encode()
	a := wor.Addr{Segment: r.opt.ID.Snapshot(w.number)}
	r.space.Propose(a, value, r.timeout, func(err error) {
		switch {
		case r.closed:
		case !row.Decided(err):
			r.later(&s.wait, w.commit)
		default:
			s.saving = false
			if err == nil {
				s.wait.Reset()
				s.keep = max(s.keep, int64(w.slot.Index()))
				s.kept = max(s.kept, int64(w.number))
				s.trim()
			}
		}
	})
}

// commit is the value of register 0 of a snapshot.
type commit struct {
	slot   Slot
	pieces uint32 // all, of which the first
	ours   uint32 // are of shared
	sum    uint32 // CRC of the pieces, one after the other
}

const commitVersion = 1

func (c commit) encode() []byte {
	b := binary.LittleEndian.AppendUint64([]byte{commitVersion}, uint64(c.slot))
	b = binary.LittleEndian.AppendUint32(b, c.pieces)
	b = binary.LittleEndian.AppendUint32(b, c.ours)
	return binary.LittleEndian.AppendUint32(b, c.sum)
}

func decodeCommit(b []byte) (commit, bool) {
	if len(b) != 21 || b[0] != commitVersion {
		return commit{}, false
	}
	c := commit{
		Slot(binary.LittleEndian.Uint64(b[1:])), binary.LittleEndian.Uint32(b[9:]),
		binary.LittleEndian.Uint32(b[13:]), binary.LittleEndian.Uint32(b[17:]),
	}
	return c, c.pieces <= PiecesMax && c.ours <= c.pieces
}

// trim trims the segments that are due, if enough replicas have applied them.
func (s *saver) trim() {
	r := s.r
	below := s.keep
	if n := r.opt.Snapshots.Seen; n > 0 {
		below = min(below, int64(r.shared.appliedBy(n).Index()))
	}
	if s.trimming || below <= s.trimmed && s.kept <= s.dropped {
		return
	}
	s.trimming = true
	s.trimRow(r.opt.ID.Segment, s.trimmed, below, func() {
		s.trimmed = max(s.trimmed, below)
		kept := s.kept
		s.trimRow(r.opt.ID.Snapshot, s.dropped, kept, func() {
			s.dropped, s.trimming = kept, false
		})
	})
}

// trimRow trims the segments lo to hi-1 of a row in order, starting with the
// first that is not trimmed. The order matters: other code relies on everything
// below a trimmed segment being trimmed.
func (s *saver) trimRow(row func(uint32) wor.Segment, lo, hi int64, done func()) {
	r := s.r
	var find func(lo, up int64)
	var step func(i int64)
	find = func(lo, up int64) {
		if lo >= up {
			step(lo)
			return
		}
		i := lo + (up-lo)/2
		r.space.Stat(row(uint32(i)), r.timeout, func(_ wor.Meta, err error) {
			switch {
			case r.closed:
			case err == nil:
				find(lo, i)
			case errors.Is(err, wor.ErrTrimmed):
				find(i+1, up)
			default:
				r.later(&s.wait, func() { find(lo, up) })
			}
		})
	}
	step = func(i int64) {
		if i >= hi {
			done()
			return
		}
		r.space.Trim(row(uint32(i)), r.timeout, func(err error) {
			switch {
			case r.closed:
			case err == nil || errors.Is(err, wor.ErrTrimmed):
				step(i + 1)
			default:
				r.later(&s.wait, func() { step(i) })
			}
		})
	}
	find(lo, hi)
}
