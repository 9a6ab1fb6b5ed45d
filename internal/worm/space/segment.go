// SPDX-License-Identifier: Apache-2.0

package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Segments. The metadata register of a segment decides which client allocated
// it, where its data registers are, and their protocol. Placement registers,
// just below it, move them, one after the other, when the segment is closed. A
// trim is decided by the trim register first; then the next placement register
// is made the end of them; then tombstones go to where the data are or were,
// and last to the home partition, where they replace the metadata: a client
// that no longer finds metadata need not look for data.

// segment is what is known of an allocated segment. Decided facts may be cached
// permanently, except that a further placement may follow.
type segment struct {
	place
	size    uint32
	trimmed bool
	// before are its earlier places, the oldest first. Ended: there will be no
	// further one.
	before []place
	ended  bool
}

func (s *segment) moves() int { return len(s.before) }

type segments struct {
	lru[wor.Segment, segment]
	n, max int
}

func (c *segments) set(s wor.Segment, v segment) {
	if e := c.get(s); e != nil {
		e.value = v
		return
	}
	if c.n == c.max {
		c.drop(c.oldest())
		c.n--
	}
	c.n++
	c.put(s, v)
}

func (c *segments) forget(s wor.Segment) {
	if e := c.get(s); e != nil {
		c.drop(e)
		c.n--
	}
}

func (s *Space) markTrimmed(seg wor.Segment) { s.segments.set(seg, segment{trimmed: true}) }

// with reports whether a tombstone at one of two places is one at both: Paxos
// and Fast are stored together.
func (p place) with(q place) bool {
	return p.partition == q.partition && (p.protocol == wor.Chain) == (q.protocol == wor.Chain)
}

// home is where the segment's metadata, placement and trim registers are.
func (s *Space) home(seg wor.Segment) place { return place{partition: s.genesis.Home(seg)} }

// PlacementsMax is how often a segment can be moved.
const PlacementsMax = int(wor.MetaOffset - wor.PlacementOffset)

// placements returns the registers that move a segment, the last one first,
// followed by that of the metadata.
func placements(seg wor.Segment) wor.Range {
	return wor.Range{Segment: seg, Lo: wor.PlacementOffset, Hi: wor.MetaOffset + 1}
}

// The forms of a placement register's value: the destination with the digest of
// the contents; or the end of placements.
const (
	placementForm = 1
	placementEnd  = 2
	placementSize = 14
)

func encodePlacement(p place, digest uint64) []byte {
	b := []byte{placementForm}
	b = binary.LittleEndian.AppendUint32(b, uint32(p.partition))
	b = append(b, byte(p.protocol))
	return binary.LittleEndian.AppendUint64(b, digest)
}

func decodePlacement(b []byte) (p place, end bool, err error) {
	switch {
	case len(b) == 1 && b[0] == placementEnd:
		return place{}, true, nil
	case len(b) != placementSize || b[0] != placementForm || !wor.Protocol(b[5]).Valid():
		return place{}, false, wor.ErrEncoding
	}
	return place{partition: wor.Partition(binary.LittleEndian.Uint32(b[1:])), protocol: wor.Protocol(b[5])}, false, nil
}

// learnSegment caches what the registers of a segment's home hold.
func (s *Space) learnSegment(seg wor.Segment, meta []byte, moves [][]byte) (wor.Meta, error) {
	var m wor.Meta
	if err := m.UnmarshalBinary(meta); err != nil {
		return m, fmt.Errorf("metadata of segment %d: %w", seg, err)
	}
	v := segment{place: place{partition: m.Partition, protocol: m.Protocol}, size: m.Size}
	for _, b := range moves {
		p, end, err := decodePlacement(b)
		if err != nil {
			return m, fmt.Errorf("placement of segment %d: %w", seg, err)
		}
		if v.ended = end; end {
			break
		}
		v.before = append(v.before, v.place)
		v.place = p
	}
	for _, p := range v.before {
		if err := s.checkPartition(p.partition); err != nil {
			return m, err
		}
	}
	if err := s.checkPartition(v.partition); err != nil {
		return m, err
	}
	s.segments.set(seg, v)
	return m, nil
}

func (s *Space) checkPartition(p wor.Partition) error {
	if int(p) >= len(s.views) {
		return &wor.LimitError{Name: "Genesis.Partitions", Limit: int64(len(s.views)) - 1, Got: int64(p)}
	}
	return nil
}

func checkSegment(seg wor.Segment) error {
	if seg&wor.ReservedSegment != 0 {
		return &wor.LimitError{Name: "wor.ReservedSegment", Limit: 1<<63 - 1, Got: int64(seg &^ wor.ReservedSegment)}
	}
	return nil
}

// Alloc implements wor.Space.
func (s *Space) Alloc(seg wor.Segment, m wor.Meta, within time.Duration, done func(wor.Meta, error)) {
	value, err := s.checkAlloc(seg, &m)
	if err == nil {
		err = s.admit(int64(len(value)))
	}
	if err != nil {
		s.later(func() { done(wor.Meta{}, err) })
		return
	}
	a := &alloc{done: done}
	a.seg = seg
	a.begin(s, int64(len(value)), within, a)
	a.p.run(s, a, s.home(seg), wor.Addr{Segment: seg, Offset: wor.MetaOffset}, value, a.until)
}

func (s *Space) checkAlloc(seg wor.Segment, m *wor.Meta) ([]byte, error) {
	if err := checkSegment(seg); err != nil {
		return nil, err
	}
	if err := s.checkPartition(m.Partition); err != nil {
		return nil, err
	}
	return m.MarshalBinary()
}

// alloc is a running Alloc.
type alloc struct {
	target
	p    proposer
	done func(wor.Meta, error)
}

func (a *alloc) proposed(p *proposer, value []byte, err error) {
	switch {
	case errors.Is(err, errTombstone):
		a.findAnew(a) // it ends with ErrTrimmed
		return
	case err != nil:
		a.fail(err)
		return
	}
	won, err := a.s.learnSegment(a.seg, value, nil)
	if err == nil && string(value) != string(p.value) {
		err = &wor.WrittenError{Addr: p.a, Value: value}
	}
	a.answer(won, err)
}

// ready: the segment was found where there was a tombstone.
func (a *alloc) ready() { a.fail(fmt.Errorf("segment %d: %w", a.seg, errContradiction)) }

func (a *alloc) fail(err error) { a.answer(wor.Meta{}, unknown(a.p.a, a.p.sent, err)) }

func (a *alloc) answer(m wor.Meta, err error) {
	if a.end() {
		a.p.stop()
		a.done(m, err)
	}
}

// unknown converts the error of a write, depending on whether anything was
// sent.
func unknown(a wor.Addr, sent bool, err error) error {
	var refused *refusedError
	switch {
	case errors.As(err, &refused) && refused.whole && !sent:
		return &refused.limit
	case err == nil, !sent, errors.Is(err, wor.ErrTrimmed), errors.Is(err, wor.ErrUnknown), errors.Is(err, wor.ErrWritten):
		return err
	}
	return &wor.UnknownError{Addr: a, Cause: err}
}

// Stat implements wor.Space. It asks the servers, because the segment may have
// been trimmed.
func (s *Space) Stat(seg wor.Segment, within time.Duration, done func(wor.Meta, error)) {
	err := checkSegment(seg)
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(wor.Meta{}, err) })
		return
	}
	t := &stat{done: done}
	t.seg, t.owner = seg, t
	t.begin(s, 0, within, t)
	if e := s.segments.get(seg); e != nil && e.value.trimmed {
		t.failLater(wor.ErrTrimmed)
		return
	}
	t.r.run(s, t, s.home(seg), wor.Addr{Segment: seg, Offset: wor.MetaOffset}, t.until)
}

// stat is a running Stat.
type stat struct {
	target
	r    reader
	done func(wor.Meta, error)
}

func (t *stat) read(_ *reader, value []byte, err error) {
	var m wor.Meta
	switch {
	case errors.Is(err, errTombstone):
		t.findAnew(t)
		return
	case errors.Is(err, wor.ErrUnwritten):
		err = wor.ErrUnallocated
	case err == nil:
		err = m.UnmarshalBinary(value)
	}
	t.answer(m, err)
}

func (t *stat) ready() { t.fail(fmt.Errorf("segment %d: %w", t.seg, errContradiction)) }

func (t *stat) fail(err error) { t.answer(wor.Meta{}, err) }

func (t *stat) answer(m wor.Meta, err error) {
	if t.end() {
		t.r.stop()
		t.done(m, err)
	}
}

// Trim implements wor.Space.
func (s *Space) Trim(seg wor.Segment, within time.Duration, done func(error)) {
	err := checkSegment(seg)
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	t := &trim{done: done}
	t.seg = seg
	t.begin(s, 0, within, t)
	t.find(t)
}

// trim is a running Trim.
type trim struct {
	target
	p    proposer
	done func(error)
}

// trimValue is the value of a trim register. There is only this one, so that
// all clients that trim agree.
const trimValue = "trimmed"

func (t *trim) ready() {
	t.p.run(t.s, t, t.s.home(t.seg), wor.Addr{Segment: t.seg, Offset: wor.TrimOffset}, []byte(trimValue), t.until)
}

func (t *trim) proposed(_ *proposer, _ []byte, err error) {
	if err != nil && !errors.Is(err, errTombstone) {
		t.fail(err)
		return
	}
	t.bury()
}

func (t *trim) bury() {
	t.s.join(errandKey{trimErrand, t.seg}, t.until, &t.op, func(err error) {
		if errors.Is(err, errElsewhere) {
			t.bury() // it had looked before the trim was decided
			return
		}
		t.fail(err)
	})
}

// fail ends it; nil means success.
func (t *trim) fail(err error) {
	if errors.Is(err, wor.ErrTrimmed) {
		err = nil
	}
	if t.end() {
		t.p.stop()
		t.done(unknown(t.p.a, t.p.sent, err))
	}
}
