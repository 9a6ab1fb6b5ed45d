// SPDX-License-Identifier: Apache-2.0

package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Relocation of a closed segment, all of whose registers are decided. Decided
// values never change, so there is no need for a seal or for consensus on the
// values: they are read, written to the registers of the same addresses in the
// other partition, where no other value is ever written, read there again, and
// compared by digest. Then the next placement register is proposed: from there
// on the segment is at the new place. A client that still asks at the old place
// finds the same values, or a tombstone that no trim register explains, and
// looks the segment up anew. Tokens are invalid at the new place: at their
// ballots a client could overwrite a value that was decided at ballot zero.

// Relocate moves a segment, all of whose registers must be decided, to another
// partition and frees its space at the old one. The exception is the segment's
// home: its servers store data and metadata of Paxos and Fast under one
// tombstone, so that space is freed when the segment is trimmed. A segment
// cannot return to a place where its space was freed (ErrRefused), and moves at
// most PlacementsMax times (ErrLimit). ErrUnwritten means that it is not
// closed.
func (s *Space) Relocate(seg wor.Segment, to wor.Partition, within time.Duration, done func(error)) {
	err := checkSegment(seg)
	if err == nil {
		err = s.checkPartition(to)
	}
	if err == nil {
		err = s.admit(0)
	}
	if err != nil {
		s.later(func() { done(err) })
		return
	}
	r := &relocation{to: to, done: done}
	r.seg = seg
	r.begin(s, 0, within, r)
	r.findAnew(r)
}

// relocation is a running Relocate.
type relocation struct {
	target
	to   wor.Partition
	done func(error)

	from, into place
	next       uint32
	digest     *xxhash.Digest
	sum        uint64 // of the values at the old place
	verify     bool
	call       call
	cells      []wor.Cell
	repair     reader
	writers    int
	written    int
	proposers  [partsMax]proposer
	decision   proposer
	clearing   *clearing
}

// relocateStep is the number of registers moved at once.
const relocateStep = 256

func (r *relocation) ready() {
	switch {
	case r.at.partition == r.to:
		r.failLater(nil)
		return
	case r.at.ended:
		r.buried(r) // it is about to be trimmed
		return
	case r.at.moves() == PlacementsMax:
		r.failLater(&wor.LimitError{Name: "PlacementsMax", Limit: int64(PlacementsMax), Got: int64(PlacementsMax) + 1})
		return
	}
	r.from = r.at.place
	r.into = place{partition: r.to, protocol: r.from.protocol}
	for _, p := range r.at.before {
		if p.with(r.into) && !p.with(r.s.home(r.seg)) {
			r.failLater(fmt.Errorf("%w: segment %d was in partition %d before, and its tombstone is there", ErrRefused, r.seg, r.to))
			return
		}
	}
	r.pass(false)
}

// pass visits all registers: at the old place, to copy, or at the new one, to verify.
func (r *relocation) pass(verify bool) {
	r.verify, r.next, r.digest = verify, 0, xxhash.New()
	r.step()
}

func (r *relocation) source() place {
	if r.verify {
		return r.into
	}
	return r.from
}

func (r *relocation) piece() wor.Range {
	return wor.Range{Segment: r.seg, Lo: r.next, Hi: min(r.at.size, r.next+relocateStep)}
}

func (r *relocation) step() {
	if r.next == r.at.size {
		r.through()
		return
	}
	r.call.run(r.s, r, r.source().task(wor.KindRead, r.piece(), 0))
}

func (r *relocation) answered(c *call, err error) {
	if err != nil {
		r.fail(err)
		return
	}
	cells, outbid := unfold(r.piece(), c.m.Result())
	if len(outbid) > 0 {
		r.repair.resume(r.s, r, r.source(), outbid[0].addr, 0, outbid[0].by)
		return
	}
	for i := range cells {
		cell := &cells[i]
		if errors.Is(cell.Err, wor.ErrTrimmed) {
			r.buried(r)
			return
		}
		if cell.Err != nil {
			r.fail(fmt.Errorf("segment %d is not closed: register %d: %w", r.seg, cell.Addr.Offset, cell.Err))
			return
		}
		var b [8]byte
		binary.LittleEndian.PutUint32(b[:], cell.Addr.Offset)
		binary.LittleEndian.PutUint32(b[4:], uint32(len(cell.Value)))
		_, _ = r.digest.Write(b[:]) // never fails
		_, _ = r.digest.Write(cell.Value)
	}
	if r.verify {
		r.next += uint32(len(cells))
		r.step()
		return
	}
	r.cells, r.written = cells, 0
	for i := range r.proposers {
		r.copyNext(&r.proposers[i])
	}
}

// read handles the repair of a register that was halfway.
func (r *relocation) read(_ *reader, _ []byte, err error) {
	if err != nil && !errors.Is(err, wor.ErrUnwritten) && !errors.Is(err, errTombstone) {
		r.fail(err)
		return
	}
	r.step()
}

// copyNext writes the next value with a free proposer.
func (r *relocation) copyNext(p *proposer) {
	if r.written == len(r.cells) {
		return
	}
	cell := &r.cells[r.written]
	r.written++
	r.writers++
	*p = proposer{sole: true}
	p.run(r.s, r, r.into, cell.Addr, cell.Value, 0)
}

func (r *relocation) proposed(p *proposer, value []byte, err error) {
	if p == &r.decision {
		r.decided(p, value, err)
		return
	}
	r.writers--
	switch {
	case errors.Is(err, errTombstone):
		r.buried(r)
	case err != nil:
		r.fail(err)
	case string(value) != string(p.value):
		r.fail(fmt.Errorf("register %v in partition %d: %w", p.a, r.to, errContradiction))
	default:
		r.copyNext(p)
		if r.writers == 0 && r.live {
			r.next += uint32(len(r.cells))
			r.step()
		}
	}
}

// through runs when all registers are done.
func (r *relocation) through() {
	sum := r.digest.Sum64()
	if !r.verify {
		r.sum = sum
		r.pass(true)
		return
	}
	if sum != r.sum {
		r.fail(fmt.Errorf("segment %d in partition %d has digest %x instead of %x: %w", r.seg, r.to, sum, r.sum, errContradiction))
		return
	}
	a := wor.Addr{Segment: r.seg, Offset: wor.MetaOffset - 1 - uint32(r.at.moves())}
	r.decision = proposer{}
	r.decision.run(r.s, r, r.s.home(r.seg), a, encodePlacement(r.into, sum), 0)
}

// decided continues when the placement register is decided.
func (r *relocation) decided(p *proposer, value []byte, err error) {
	switch {
	case errors.Is(err, errTombstone):
		r.buried(r)
	case err != nil:
		r.fail(err)
	case string(value) != string(p.value):
		r.findAnew(r) // to another place, or to its end
	case r.from.with(r.s.home(r.seg)):
		r.s.segments.forget(r.seg)
		r.fail(nil)
	default:
		r.s.segments.forget(r.seg)
		e := &clearing{r: r}
		e.call.run(r.s, e, r.from.task(wor.KindTrim, wor.One(wor.Addr{Segment: r.seg}), 0))
		r.clearing = e
	}
}

// clearing frees the space at the old place.
type clearing struct {
	r    *relocation
	call call
}

func (e *clearing) answered(_ *call, err error) { e.r.fail(err) }

// fail ends it; nil means success.
func (r *relocation) fail(err error) {
	if !r.end() {
		return
	}
	r.call.stop()
	r.repair.stop()
	for i := range r.proposers {
		r.proposers[i].stop()
	}
	err = unknown(r.decision.a, r.decision.sent, err)
	r.decision.stop()
	if r.clearing != nil {
		r.clearing.call.stop()
	}
	r.done(err)
}
