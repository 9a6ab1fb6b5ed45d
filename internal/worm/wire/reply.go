// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The fields of a reply that are not zero, and therefore written.
const (
	replyRuns = 1 << iota
	replyValue
	replyDigest
	replyCursor
	replyEnd
)

// The bits of a run's first byte. A ballot that equals the one written just
// before is not written again: if one client has captured a range, a run
// without a value takes two or three bytes.
const (
	runWritten      = 1 << iota
	runPromised     // Promised is written
	runPromisedSame // Promised is that of the run before
	runAccepted     // Accepted is written
	runAcceptedSame // Accepted is Promised
	runValue
	runStatus // Status is written, else it is StatusOK
	runCount  // Count is written, else it is 1
)

// Reply adds the reply to the request with that id. position is the position in
// the server's log at which the reply is durable. Reply does not retain r. Each of
// its runs must count at least one register, and all together at most
// wor.RangeMax.
func (e *Encoder) Reply(id, position uint64, r *wor.Reply) error {
	e.begin(TypeReply)
	fields := byte(0)
	if len(r.Runs) != 0 {
		fields |= replyRuns
	}
	if len(r.Value) != 0 {
		fields |= replyValue
	}
	if r.Digest != 0 {
		fields |= replyDigest
	}
	if r.Cursor != 0 {
		fields |= replyCursor
	}
	b := binary.LittleEndian.AppendUint64(e.buf, id)
	b = appendUvarint(b, position)
	b = append(b, byte(r.Status), fields)
	b = appendUvarint(b, uint64(r.Epoch))
	if fields&replyDigest != 0 {
		b = binary.LittleEndian.AppendUint64(b, r.Digest)
	}
	if fields&replyCursor != 0 {
		b = appendUvarint(b, r.Cursor)
	}
	if fields&replyValue != 0 {
		b = appendBytes(b, r.Value)
	}
	if fields&replyRuns != 0 {
		b = appendRuns(b, r.Runs)
	}
	e.buf = b
	return e.finish()
}

func appendRuns(b []byte, runs []wor.Run) []byte {
	b = appendUvarint(b, uint64(len(runs)))
	var before wor.Ballot
	covered := uint64(0)
	for i := range runs {
		run := &runs[i]
		invariant.Check(run.Count > 0, "an empty run of registers")
		covered += uint64(run.Count)
		b = appendRun(b, run, before)
		before = run.Promised
	}
	if covered > wor.RangeMax {
		invariant.Check(false, "a reply about %d registers", covered)
	}
	return b
}

// appendRun encodes a run; before is the Promised of the previous run.
func appendRun(b []byte, run *wor.Run, before wor.Ballot) []byte {
	at := len(b)
	b = append(b, 0)
	head := byte(0)
	if run.Count != 1 {
		head |= runCount
		b = appendUvarint(b, uint64(run.Count))
	}
	if run.Status != wor.StatusOK {
		head |= runStatus
		b = append(b, byte(run.Status))
	}
	if !run.Promised.IsZero() {
		if run.Promised == before {
			head |= runPromisedSame
		} else {
			head |= runPromised
			b = appendBallot(b, run.Promised)
		}
	}
	if run.Written {
		head |= runWritten
	}
	if !run.Accepted.IsZero() {
		if run.Accepted == run.Promised {
			head |= runAcceptedSame
		} else {
			head |= runAccepted
			b = appendBallot(b, run.Accepted)
		}
	}
	if len(run.Value) != 0 {
		head |= runValue
		b = appendBytes(b, run.Value)
	}
	b[at] = head
	return b
}

// DecodeReply decodes the payload of a TypeReply into m. It overwrites all of
// m, but reuses the memory of Runs. The values refer to the payload. An error
// is a *link.FrameError; m is then invalid.
func DecodeReply(payload []byte, m *wor.Reply) (id, position uint64, err error) {
	r := reader{b: payload}
	*m = wor.Reply{Runs: m.Runs[:0]}
	id = r.u64()
	position = r.uvarint()
	m.Status = wor.Status(r.u8())
	fields := r.u8()
	if fields >= replyEnd {
		r.fail("unknown fields")
	}
	m.Epoch = wor.Epoch(r.uvarint32())
	if fields&replyDigest != 0 {
		m.Digest = r.u64()
		r.given(m.Digest == 0)
	}
	if fields&replyCursor != 0 {
		m.Cursor = r.uvarint()
		r.given(m.Cursor == 0)
	}
	if fields&replyValue != 0 {
		m.Value = r.bytes()
	}
	if fields&replyRuns != 0 {
		r.runs(m)
	}
	return id, position, r.end(TypeReply)
}

func (r *reader) runs(m *wor.Reply) {
	n := r.uvarint()
	r.given(n == 0)
	// A run takes at least one byte, so this limit prevents allocating memory
	// for runs that are not there.
	if n > uint64(len(r.b)) || n > wor.RangeMax {
		r.fail("more runs than it can have")
		return
	}
	if uint64(cap(m.Runs)) < n {
		m.Runs = make([]wor.Run, 0, n)
	}
	m.Runs = m.Runs[:n]
	var before wor.Ballot
	covered := uint64(0)
	for i := range m.Runs {
		run := &m.Runs[i]
		r.run(run, before)
		if r.flaw != "" {
			return
		}
		before = run.Promised
		covered += uint64(run.Count)
	}
	if covered > wor.RangeMax {
		r.fail("it has more registers than a request can name")
	}
}

// run decodes a run; before is the Promised of the previous run.
func (r *reader) run(run *wor.Run, before wor.Ballot) {
	head := r.u8()
	*run = wor.Run{Count: 1, Written: head&runWritten != 0}
	if head&runCount != 0 {
		if run.Count = r.uvarint32(); run.Count <= 1 {
			r.fail("a counted run has fewer than two registers")
		}
	}
	if head&runStatus != 0 {
		run.Status = wor.Status(r.u8())
		r.given(run.Status == wor.StatusOK)
	}
	switch head & (runPromised | runPromisedSame) {
	case runPromised:
		run.Promised = r.ballot()
		r.given(run.Promised.IsZero() || run.Promised == before)
	case runPromisedSame:
		run.Promised = before
		r.given(before.IsZero())
	case runPromised | runPromisedSame:
		r.fail("a ballot is given twice")
	}
	switch head & (runAccepted | runAcceptedSame) {
	case runAccepted:
		run.Accepted = r.ballot()
		r.given(run.Accepted.IsZero() || run.Accepted == run.Promised)
	case runAcceptedSame:
		run.Accepted = run.Promised
		r.given(run.Accepted.IsZero())
	case runAccepted | runAcceptedSame:
		r.fail("a ballot is given twice")
	}
	if head&runValue != 0 {
		run.Value = r.bytes()
	}
}
