// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/journal"
	"github.com/ashlar-dev/ashlar/internal/store/memtable"
	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/store"
)

// chainOf is where the journal continues after a superblock.
func chainOf(s table.Superblock) journal.ChainState {
	return journal.ChainState{
		Segment: s.Segment, Prev: s.Chain.Prev, Session: s.Chain.Session, Next: message.Seq(s.Cut) + 1,
	}
}

// salvaged is a segment of the journal as a repair reads it.
type salvaged struct {
	number uint64
	arena  []byte
	frames []journal.Header // as far as they make a chain
}

// errFrame reports that a frame is whole, and what is in it makes no sense.
var errFrame = errors.New("invalid messages in a frame")

// replay makes a branch of each segment that continues the chain, and adds
// them to r.newer. That the journal is damaged, or lacks what w says was durable, is
// noted, and no error.
func (r *repairer) replay(id uint64, chain journal.ChainState, w journal.Testimony) (journal.ChainState, error) {
	buffer, ok := r.pool.Alloc(pieceBytes)
	if !ok {
		return chain, fmt.Errorf("%w: no buffer of %d bytes to read the journal", store.ErrMemory, pieceBytes)
	}
	defer r.pool.Free(buffer)
	log, err := journal.Open(r.disk, r.dir, journal.Options{Store: id, Witness: w, Direct: true, Buffer: buffer})
	if err != nil {
		r.report.damage(err)
		r.loseJournal(chain.Next, err)
		return chain, nil
	}
	var now *salvaged
	take := func() error {
		g := now
		now = nil
		if g == nil {
			return nil
		}
		defer r.pool.Free(g.arena)
		return r.takeSegment(g)
	}
	end, err := log.Replay(chain, func(info journal.SegmentInfo, size int) ([]byte, func(journal.Header, int, int) error, error) {
		if err := take(); err != nil {
			return nil, nil, err
		}
		arena, ok := r.pool.Alloc(size)
		if !ok {
			return nil, nil, fmt.Errorf("%w: the journal has a segment of %d bytes: repair with more memory", store.ErrMemory, size)
		}
		g := &salvaged{number: info.Number, arena: arena}
		now = g
		return arena, func(h journal.Header, _, _ int) error {
			g.frames = append(g.frames, h)
			return nil
		}, nil
	})
	for _, f := range log.Files() {
		if f.Flaw.OK() {
			end.Segment = max(end.Segment, f.Info.Number+1)
		}
	}
	rest := take()
	_ = log.Close() // it was only read
	if err == nil || rest != nil {
		err = rest
	}
	switch {
	case err == nil:
	case errors.Is(err, store.ErrMemory), errors.Is(err, branch.ErrMemory), errors.Is(err, errWriting):
		return end, err
	default:
		r.report.damage(err)
		r.loseJournal(max(r.last+1, chain.Next), err)
	}
	return end, nil
}

func (r *repairer) loseJournal(from message.Seq, err error) {
	if !r.searched {
		r.report.lose(Loss{Older: true, Reason: fmt.Sprintf("changes from number %d on that only the journal had: %v", from, err)})
	}
}

// errWriting reports that the new file could not be written.
var errWriting = errors.New("write the new data file")

// takeSegment makes a branch of the frames of a segment.
func (r *repairer) takeSegment(g *salvaged) error {
	for good := len(g.frames); good > 0; {
		t, ok := memtable.New(g.arena, r.pool, journal.SegmentHeader+journal.HeaderSize)
		if !ok {
			return fmt.Errorf("%w: no room for a memtable", store.ErrMemory)
		}
		n, err := loadFrames(t, g.frames[:good])
		if err == nil {
			err = r.takeMemtable(t)
			t.Close()
			if err != nil {
				return err
			}
			if good < len(g.frames) {
				return fmt.Errorf("%w in segment %d at byte %d", errFrame, g.number, g.frames[good].Offset)
			}
			return nil
		}
		t.Close()
		if errors.Is(err, memtable.ErrMemory) {
			return fmt.Errorf("%w: no room for a memtable", store.ErrMemory)
		}
		// A memtable that refused a frame is good for nothing: once more,
		// without it.
		if good = n; n == 0 {
			return fmt.Errorf("%w in segment %d: %w", errFrame, g.number, err)
		}
	}
	return nil
}

// loadFrames returns how many frames make sense, and what is wrong with the
// next.
func loadFrames(t *memtable.Table, frames []journal.Header) (int, error) {
	for i, h := range frames {
		if !t.Skip(int(h.Offset) + journal.HeaderSize) {
			return i, fmt.Errorf("the frame at %d is outside the segment", h.Offset)
		}
		next, bad := h.First, error(nil)
		err := t.Load(int(h.Offset)+journal.HeaderSize, int(h.Offset)+int(h.Len), func(m message.Message) {
			if m.Seq != next && bad == nil {
				bad = fmt.Errorf("change %d instead of %d", m.Seq, next)
			}
			next++
		})
		if err = cmp.Or(err, bad); err != nil {
			return i, err
		}
	}
	return len(frames), nil
}

// takeMemtable makes a branch of a memtable.
func (r *repairer) takeMemtable(t *memtable.Table) error {
	view, ok := t.View()
	if !ok {
		return fmt.Errorf("%w: no room to sort a memtable", store.ErrMemory)
	}
	defer view.Release()
	it := merge.Points{Iter: view.Iter()}
	defer it.Close()
	r.begin(nil, t.Tombstones(message.MaxSeq))
	for ok := it.First(); ok; ok = it.Next() {
		if _, err := r.add(it.Message(), false); err != nil {
			return fmt.Errorf("%w: %w", errWriting, err)
		}
	}
	b, err := r.endBranch(nil, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errWriting, err)
	}
	if b != nil {
		r.newer = append(r.newer, b)
		r.report.JournalMessages += int64(t.Len())
	}
	return nil
}
