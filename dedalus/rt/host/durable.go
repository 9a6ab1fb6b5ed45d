// SPDX-License-Identifier: Apache-2.0

package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// The log holds the changes of ticks, as groups of records, one group for each tick. A
// group is restored whole or not at all: one without its last record, after a crash, is
// ignored.
//
//	record  = flags u8, { relation<<1|gone uvarint, length uvarint, row }
const (
	groupFirst = 1 << iota
	groupLast
)

// recordTarget is the length at which a record ends and the next one begins.
const recordTarget = 1 << 20

// pendingMax sets no real limit: the step commits after at most a few ticks.
const pendingMax = math.MaxInt / 2

// Format creates the log of an instance with durable relations. When it returns
// nil, the log is durable. If the directory already has a log, Format changes
// nothing and returns an error that satisfies errors.Is(err, wal.ErrExists).
func Format(world env.Env, dir string, p *rt.Program, node string) error {
	return wal.Format(world, dir, identity(p, node))
}

// identity identifies the owner of a log. Without it, a host could misread the
// rows of another program, or take over the state of another node.
func identity(p *rt.Program, node string) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("dedalus\n"), p.Hash)
	return append(b, node...)
}

// openLog opens the log and restores the component from it.
func (h *Host) openLog() error {
	log, err := wal.Open(h.opt.Env, h.opt.Dir, wal.Options{Pending: pendingMax, CheckpointBytes: h.opt.CheckpointBytes, Segment: h.opt.LogSegment})
	if err != nil {
		return fmt.Errorf("open the log in %s: %w", h.opt.Dir, err)
	}
	if want := identity(h.opt.Program, h.opt.Who.Node); !bytes.Equal(log.Identity(), want) {
		err = errors.New("the log belongs to another instance or to another program")
	} else {
		g := group{restore: h.comp.Restore, program: h.opt.Program}
		err = log.Replay(g.redo)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("read the log in %s: %w", h.opt.Dir, err), log.Close())
	}
	h.disk = log
	return nil
}

// group reassembles the records of a tick during recovery.
type group struct {
	program *rt.Program
	restore func(rt.Change) error
	buf     []byte
	begun   bool
}

func (g *group) redo(record []byte) error {
	if len(record) == 0 {
		return errors.New("empty record")
	}
	flags := record[0]
	if flags&groupFirst != 0 {
		g.buf, g.begun = g.buf[:0], true
	}
	if flags > groupFirst|groupLast || !g.begun {
		return fmt.Errorf("a record with flags %d does not continue a group", flags)
	}
	g.buf = append(g.buf, record[1:]...)
	if flags&groupLast == 0 {
		return nil
	}
	g.begun = false
	return eachChange(g.program, g.buf, g.restore)
}

func decodeChange(p *rt.Program, b []byte) (c rt.Change, rest []byte, err error) {
	r, n := binary.Uvarint(b)
	if n <= 0 || r>>1 >= uint64(len(p.Relations)) {
		return c, nil, fmt.Errorf("a change names relation %d of %d", r>>1, len(p.Relations))
	}
	size, m := binary.Uvarint(b[n:])
	if m <= 0 || size > uint64(len(b)-n-m) {
		return c, nil, errors.New("a change is truncated")
	}
	row := b[n+m:]
	return rt.Change{Relation: int(r >> 1), Gone: r&1 != 0, Row: row[:size:size]}, row[size:], nil
}

// record encodes changes as records.
type record struct {
	buf  []byte
	ends []int
}

var _ wal.Records = (*record)(nil)

// Len implements wal.Records.
func (r *record) Len() int { return len(r.ends) }

// Record implements wal.Records.
func (r *record) Record(i int) []byte {
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.buf[from:r.ends[i]]
}

// set encodes the changes. They form one group, or, with parts, each record is a
// group of its own.
func (r *record) set(changes []rt.Change, parts bool) {
	r.buf, r.ends = r.buf[:0], r.ends[:0]
	if cap(r.buf) > 4*recordTarget {
		r.buf = nil
	}
	from, flags := 0, byte(groupFirst)
	if parts {
		flags |= groupLast
	}
	r.buf = append(r.buf, flags)
	for i := range changes {
		c := &changes[i]
		if n := len(r.buf) - from; n > 1 && n+len(c.Row) > recordTarget {
			r.ends = append(r.ends, len(r.buf))
			from = len(r.buf)
			r.buf = append(r.buf, flags&^groupFirst)
			if parts {
				r.buf[from] = flags
			}
		}
		gone := uint64(0)
		if c.Gone {
			gone = 1
		}
		r.buf = binary.AppendUvarint(r.buf, uint64(c.Relation)<<1|gone)
		r.buf = binary.AppendUvarint(r.buf, uint64(len(c.Row)))
		r.buf = append(r.buf, c.Row...)
	}
	r.buf[from] |= groupLast
	r.ends = append(r.ends, len(r.buf))
}

// log queues the changes of a tick for the next commit.
func (h *Host) log(changes []rt.Change) error {
	if len(changes) == 0 {
		return nil
	}
	for i := range changes {
		if len(changes[i].Row) > wire.RowMax {
			return fmt.Errorf("a durable row has %d bytes; the limit is %d", len(changes[i].Row), wire.RowMax)
		}
	}
	s := &h.step
	s.record.set(changes, false)
	if _, err := h.disk.Append(&s.record); err != nil {
		return err
	}
	s.counts.Changes += uint64(len(changes))
	return nil
}

// commit makes the queued changes durable and writes a piece of a running
// checkpoint. If logged, it may start a checkpoint.
func (h *Host) commit(logged bool) error {
	s := &h.step
	begun := h.opt.Env.Clock.Now()
	defer func() { s.pace.disk += h.opt.Env.Clock.Now().Sub(begun) }()
	if logged && h.disk.Due() {
		if err := h.checkpoint(); err != nil {
			return err
		}
	}
	if !h.disk.Waiting() {
		return nil
	}
	s.counts.Commits++
	return h.disk.Commit()
}

// checkpoint starts a checkpoint of the state after this tick. Later commits
// write it in pieces.
func (h *Host) checkpoint() error {
	s := &h.step
	h.mark("dedalus/host checkpoint")
	s.counts.Checkpoints++
	if err := h.disk.BeginCheckpoint(); err != nil {
		return err
	}
	var out rt.Out // the step's has what ticks have sent
	h.comp.Snapshot(&out)
	s.record.set(out.Changes, true)
	for i := range s.record.Len() {
		if err := h.disk.Save(s.record.Record(i)); err != nil {
			return err
		}
	}
	return h.disk.EndCheckpoint()
}

// Changes calls f with each complete change in a log record, for tools that
// inspect a log. It returns f's error.
func Changes(p *rt.Program, record []byte, f func(rt.Change) error) error {
	if len(record) == 0 {
		return errors.New("empty record")
	}
	return eachChange(p, record[1:], f)
}

func eachChange(p *rt.Program, b []byte, f func(rt.Change) error) error {
	for len(b) > 0 {
		c, rest, err := decodeChange(p, b)
		if err != nil {
			return err
		}
		if err := f(c); err != nil {
			return fmt.Errorf("%s: %w", p.Relations[c.Relation].Name, err)
		}
		b = rest
	}
	return nil
}
