// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"errors"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// restore continues from the last valid snapshot, if that snapshot is newer
// than the replica's state.
func (r *Replica) restore() {
	if r.closed {
		return
	}
	r.last(r.opt.ID.Snapshot, r.saver.last, func(index int64, _ *wor.Meta, err error) {
		switch {
		case r.closed:
		case err != nil:
			r.later(&r.learner.wait, r.restore)
		default:
			(&restoring{r: r}).try(index)
		}
	})
}

// restoring is the reading of one snapshot.
type restoring struct {
	r      *Replica
	number int64
	commit commit
	next   uint32 // offset of the next piece
	sum    uint32
	ours   []byte
	feed   func([]byte) error
}

// try reads a snapshot, or the one before it if it is not valid.
func (x *restoring) try(number int64) {
	r := x.r
	if number < 0 {
		r.learner.resume(r.learner.next)
		return
	}
	x.number = number
	r.space.Read(wor.Addr{Segment: r.opt.ID.Snapshot(uint32(number))}, r.timeout, func(value []byte, err error) {
		c, ok := decodeCommit(value)
		switch {
		case r.closed:
		case errors.Is(err, wor.ErrUnwritten) || err == nil && !ok:
			x.try(number - 1)
		case err != nil:
			x.again()
		case c.slot <= r.learner.next:
			r.learner.resume(r.learner.next)
		default:
			x.commit, x.next, x.feed = c, 1, r.opt.Machine.Restore()
			x.read()
		}
	})
}

// again starts over: if the snapshot was trimmed, a newer one exists.
func (x *restoring) again() { x.r.later(&x.r.learner.wait, x.r.restore) }

// read reads pieces.
func (x *restoring) read() {
	r := x.r
	if x.next > x.commit.pieces {
		x.finish()
		return
	}
	rng := wor.Range{
		Segment: r.opt.ID.Snapshot(uint32(x.number)), Lo: x.next,
		Hi: min(x.next+piecesFlying, x.commit.pieces+1),
	}
	r.space.ReadRange(rng, r.timeout, func(cells []wor.Cell, err error) {
		if r.closed {
			return
		}
		for _, c := range cells {
			if err == nil {
				err = c.Err
			}
			if err == nil {
				err = x.take(c.Value)
			}
		}
		if err != nil {
			x.again()
			return
		}
		x.read()
	})
}

func (x *restoring) take(piece []byte) error {
	x.sum = crc32.Update(x.sum, crc32.IEEETable, piece)
	x.next++
	if x.next-1 <= x.commit.ours {
		x.ours = append(x.ours, piece...)
		return nil
	}
	return x.feed(piece)
}

// finish continues from the snapshot.
func (x *restoring) finish() {
	r := x.r
	shared, next, err := decodeShared(x.ours)
	if err == nil && (next != x.commit.slot || x.sum != x.commit.sum) {
		err = errSnapshot
	}
	if err == nil {
		err = x.feed(nil)
	}
	if err != nil {
		x.again()
		return
	}
	r.shared, r.learner.next = shared, next
	r.saver.last, r.saver.covered = x.number, next
	for _, k := range sortedKeys(r.pending) {
		p := r.pending[k]
		if s := shared.sessions[k.session]; p == nil || p.verb != verbApply || s == nil {
			continue
		} else if value, ok := s.results[k.number]; ok {
			r.finish(p, Result{Value: value, Slot: next}, nil)
		}
	}
	r.learner.resume(next)
}
