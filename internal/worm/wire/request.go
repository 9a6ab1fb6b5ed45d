// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The fields of a request that are not zero, and therefore written.
const (
	requestFlags = 1 << iota
	requestRange
	requestBallot
	requestValue
	requestTag
	requestCursor
	requestDigest
	requestEnd
)

// Request adds a request. The client chooses the id, which is valid for this
// connection. The Reply has the same id, and so have the Notes if q is of
// wor.KindListen; a wor.KindUnlisten names the subscription's id as its Tag.
// budget is the time that the client allows from now on, rounded up to
// microseconds; 0 means no bound. Request does not retain q.
func (e *Encoder) Request(id uint64, budget time.Duration, q *wor.Request) error {
	e.begin(TypeRequest)
	fields := byte(0)
	if q.Flags != 0 {
		fields |= requestFlags
	}
	if q.Range != (wor.Range{}) {
		fields |= requestRange
	}
	if !q.Ballot.IsZero() {
		fields |= requestBallot
	}
	if len(q.Value) != 0 {
		fields |= requestValue
	}
	if q.Tag != 0 {
		fields |= requestTag
	}
	if q.Cursor != 0 {
		fields |= requestCursor
	}
	if q.Digest != 0 {
		fields |= requestDigest
	}
	b := binary.LittleEndian.AppendUint64(e.buf, id)
	b = appendUvarint(b, micros(budget))
	b = append(b, byte(q.Kind), byte(q.Protocol), fields)
	b = appendUvarint(b, uint64(q.Partition))
	b = appendUvarint(b, uint64(q.Epoch))
	if fields&requestFlags != 0 {
		b = append(b, q.Flags)
	}
	if fields&requestRange != 0 {
		b = appendUvarint(b, uint64(q.Range.Segment))
		b = appendUvarint(b, uint64(q.Range.Lo))
		b = appendUvarint(b, uint64(q.Range.Hi-q.Range.Lo))
	}
	if fields&requestBallot != 0 {
		b = appendBallot(b, q.Ballot)
	}
	if fields&requestTag != 0 {
		b = binary.LittleEndian.AppendUint64(b, q.Tag)
	}
	if fields&requestCursor != 0 {
		b = appendUvarint(b, q.Cursor)
	}
	if fields&requestDigest != 0 {
		b = binary.LittleEndian.AppendUint64(b, q.Digest)
	}
	if fields&requestValue != 0 {
		b = appendBytes(b, q.Value)
	}
	e.buf = b
	return e.finish()
}

// DecodeRequest decodes the payload of a TypeRequest into q and overwrites all of
// q. q.Value refers to the payload. An error is a *link.FrameError; q is then
// invalid.
func DecodeRequest(payload []byte, q *wor.Request) (id uint64, budget time.Duration, err error) {
	r := reader{b: payload}
	*q = wor.Request{}
	id = r.u64()
	budget = r.budget()
	q.Kind, q.Protocol = wor.Kind(r.u8()), wor.Protocol(r.u8())
	fields := r.u8()
	if fields >= requestEnd {
		r.fail("unknown fields")
	}
	q.Partition, q.Epoch = wor.Partition(r.uvarint32()), wor.Epoch(r.uvarint32())
	if fields&requestFlags != 0 {
		q.Flags = r.u8()
		r.given(q.Flags == 0)
	}
	if fields&requestRange != 0 {
		q.Range.Segment, q.Range.Lo = wor.Segment(r.uvarint()), r.uvarint32()
		// The sum may wrap. The recipient refuses a range that ends before it
		// begins.
		q.Range.Hi = q.Range.Lo + r.uvarint32()
		r.given(q.Range == wor.Range{})
	}
	if fields&requestBallot != 0 {
		q.Ballot = r.ballot()
		r.given(q.Ballot.IsZero())
	}
	if fields&requestTag != 0 {
		q.Tag = r.u64()
		r.given(q.Tag == 0)
	}
	if fields&requestCursor != 0 {
		q.Cursor = r.uvarint()
		r.given(q.Cursor == 0)
	}
	if fields&requestDigest != 0 {
		q.Digest = r.u64()
		r.given(q.Digest == 0)
	}
	if fields&requestValue != 0 {
		q.Value = r.bytes()
	}
	return id, budget, r.end(TypeRequest)
}

// budgetMax is the largest budget, in microseconds.
const budgetMax = math.MaxInt64 / uint64(time.Microsecond)

// micros converts a budget to microseconds, rounded up. A budget that is used
// up must not become 0, which means no bound.
func micros(d time.Duration) uint64 {
	switch {
	case d == 0:
		return 0
	case d < 0:
		return 1
	}
	return min((uint64(d)+uint64(time.Microsecond)-1)/uint64(time.Microsecond), budgetMax)
}

func (r *reader) budget() time.Duration {
	n := r.uvarint()
	if n > budgetMax {
		r.fail("a budget of more than 292 years")
		return 0
	}
	return time.Duration(n) * time.Microsecond
}
