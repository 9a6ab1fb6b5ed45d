// SPDX-License-Identifier: Apache-2.0

package tx

import "github.com/ashlar-dev/ashlar/worm/wor"

// The messages of the engine, as payloads of wor.ServiceTx. Each is answered by
// a byte, and by data that depends on the kind. They may be lost, duplicated
// and late.
const (
	// msgBegin asks a TM to begin. The message has all parts, and the asking
	// process.
	msgBegin = iota + 1
	// msgPrepare asks an RM to vote. The message has the RM's part, and the
	// asking process.
	msgPrepare
	// msgVoted reports a decided vote to the TM.
	msgVoted
	// msgOutcome reports the outcome to an RM, or to the process that began the
	// transaction.
	msgOutcome
	// msgGrant asks the owner of an RM for registers to vote in.
	msgGrant
	// msgStatus asks a process which RMs it owns.
	msgStatus
	// msgRoll asks the owner of an RM to release its segments up to a number.
	msgRoll

	// msgOther is the first kind that the Engine does not handle itself.
	msgOther = 32
)

// Answers.
const (
	answerOK = iota
	answerNotOwner
	answerBad
	answerBusy
	// answerClosed: the RM no longer votes in that segment.
	answerClosed
)

// TxnsMax is the number of transactions in which a process takes part at one
// time; a TM refuses more.
const TxnsMax = 1 << 16

// MessageMax is the longest message that is processed, in bytes.
const MessageMax = 8 << 20

type beginMessage struct {
	tx   Tx
	from wor.Member
	// owners and parts are those of the slots.
	owners []wor.Member
	parts  [][]byte
}

func (m *beginMessage) encode() []byte {
	var e encoder
	e.u8(msgBegin)
	e.id(m.tx.ID)
	e.slots(m.tx.Slots)
	e.member(m.from)
	for i, p := range m.parts {
		e.member(m.owners[i])
		e.bytes(p)
	}
	return e.b
}

func (m *beginMessage) decode(d *decoder) bool {
	m.tx = Tx{d.id(), d.slots()}
	m.from = d.member()
	for range m.tx.Slots {
		m.owners = append(m.owners, d.member())
		m.parts = append(m.parts, d.bytes())
	}
	return d.done() && m.tx.valid()
}

// prepareMessage asks one RM of a transaction for its vote. From is the process
// that the RM must notify.
type prepareMessage struct {
	tx   Tx
	slot int
	from wor.Member
	part []byte
}

func (m *prepareMessage) encode() []byte {
	var e encoder
	e.u8(msgPrepare)
	e.id(m.tx.ID)
	e.slots(m.tx.Slots)
	e.uint(uint64(m.slot))
	e.member(m.from)
	e.bytes(m.part)
	return e.b
}

func (m *prepareMessage) decode(d *decoder) bool {
	m.tx = Tx{d.id(), d.slots()}
	m.slot = int(d.u32())
	m.from = d.member()
	m.part = d.bytes()
	return d.done() && m.tx.valid() && m.slot < len(m.tx.Slots)
}

// votedMessage reports to the TM the decision for a slot, without Redo.
type votedMessage struct {
	tx    Tx
	slot  int
	yes   bool
	brief []byte
}

func (m *votedMessage) encode() []byte {
	var e encoder
	e.u8(msgVoted)
	e.id(m.tx.ID)
	e.slots(m.tx.Slots)
	e.uint(uint64(m.slot))
	e.bool(m.yes)
	e.bytes(m.brief)
	return e.b
}

func (m *votedMessage) decode(d *decoder) bool {
	m.tx = Tx{d.id(), d.slots()}
	m.slot = int(d.u32())
	m.yes = d.bool()
	m.brief = d.bytes()
	return d.done() && m.tx.valid() && m.slot < len(m.tx.Slots)
}

type outcomeMessage struct {
	tx      Tx
	outcome Outcome
}

func (m *outcomeMessage) encode() []byte {
	var e encoder
	e.u8(msgOutcome)
	e.id(m.tx.ID)
	e.slots(m.tx.Slots)
	e.bool(m.outcome.Commit)
	for _, b := range m.outcome.Briefs {
		e.bytes(b)
	}
	return e.b
}

func (m *outcomeMessage) decode(d *decoder) bool {
	m.tx = Tx{d.id(), d.slots()}
	m.outcome.Commit = d.bool()
	for range m.tx.Slots {
		m.outcome.Briefs = append(m.outcome.Briefs, d.bytes())
	}
	return d.done() && m.tx.valid()
}

// grantAnswer follows answerOK to a msgGrant: the asker may use offsets
// lo..hi-1 of a segment, each for one transaction.
type grantAnswer struct {
	segment wor.Segment
	lo, hi  uint32
}

// route describes the owner of an RM, as far as the sender knows: last is the
// number of the last segment known to be allocated, by that owner, and base the
// first one that a takeover needs. It follows answerNotOwner.
type route struct {
	known      bool
	last, base uint64
	member     wor.Member
}

func (r *route) encode(e *encoder) {
	e.bool(r.known)
	e.uint(r.last)
	e.uint(r.base)
	e.member(r.member)
}

func (r *route) decode(d *decoder) {
	r.known = d.bool()
	r.last = d.uint()
	r.base = d.uint()
	r.member = d.member()
}
