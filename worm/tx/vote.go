// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// RM is the number of a resource manager.
type RM uint32

// ID names a transaction: the nonce of the Engine that began it, and a counter.
type ID struct{ Nonce, Seq uint64 }

func (i ID) String() string { return fmt.Sprintf("%x.%d", i.Nonce, i.Seq) }

// Slot is the register in which an RM votes on a transaction.
type Slot struct {
	RM   RM
	Addr wor.Addr
}

// Tx names the participants of a transaction and their registers. Each attempt
// is a Tx of its own.
type Tx struct {
	ID ID
	// Slots are sorted by RM, one per RM.
	Slots []Slot
}

// Limits of a transaction. An RM that would exceed them votes NO.
const (
	// SlotsMax bounds the RMs of a transaction.
	SlotsMax = 64
	// BriefMax is the longest Vote.Brief, in bytes.
	BriefMax = 256 << 10
	// VoteMax is the longest Vote.Brief and Vote.Redo together, in bytes.
	VoteMax = wor.ValueMax - 16<<10
)

// valid reports whether a Tx from outside is well-formed.
func (t *Tx) valid() bool {
	return len(t.Slots) > 0 && len(t.Slots) <= SlotsMax &&
		slices.IsSortedFunc(t.Slots, func(a, b Slot) int { return cmp.Or(cmp.Compare(a.RM, b.RM), -1) })
}

// Vote is the value of a register in which an RM votes.
type Vote struct {
	ID  ID
	Yes bool
	// Order numbers the YES votes of an RM in the order in which it gave them:
	// of two conflicting transactions, the earlier one has the lower number.
	// Slots are the transaction's.
	Order uint64
	Slots []Slot
	// Brief is sent to all participants with the vote: a result or, with NO, a
	// reason. Redo is what the RM needs to finish the transaction after its
	// owner's death.
	Brief, Redo []byte
}

const (
	voteNo  = 'n'
	voteYes = 'y'
)

func (v *Vote) encode() []byte {
	e := encoder{make([]byte, 0, 32+20*len(v.Slots)+len(v.Brief)+len(v.Redo))}
	if !v.Yes {
		e.u8(voteNo)
		e.id(v.ID)
		e.bytes(v.Brief)
		return e.b
	}
	e.u8(voteYes)
	e.id(v.ID)
	e.uint(v.Order)
	e.slots(v.Slots)
	e.bytes(v.Brief)
	e.bytes(v.Redo)
	return e.b
}

// decodeVote decodes the value of a register. Every process counts an
// undecodable vote as NO.
func decodeVote(b []byte) *Vote {
	d := decoder{b: b}
	v := &Vote{}
	switch d.u8() {
	case voteYes:
		v.Yes = true
		v.ID = d.id()
		v.Order = d.uint()
		v.Slots = d.slots()
		v.Brief = d.bytes()
		v.Redo = d.bytes()
	case voteNo:
		v.ID = d.id()
		v.Brief = d.bytes()
	default:
		d.fail()
	}
	if !d.done() || v.Yes && !(&Tx{v.ID, v.Slots}).valid() {
		return &Vote{Brief: []byte(reasonGarbled)} // else its readers would wait for a vote that never comes
	}
	return v
}

// The reasons of a NO that the engine writes.
const (
	reasonGarbled = "garbled"
	// ReasonTimeout: another process waited too long for the vote.
	ReasonTimeout = "timeout"
	// ReasonClosed: another process has taken the RM over before the RM voted.
	ReasonClosed = "closed"
	// ReasonRolled: the RM was asked to vote in a segment that it had closed
	// when it moved on to the next one. The RM can be asked again there.
	ReasonRolled = "rolled"
	// ReasonTrimmed: the segment was trimmed, and the vote with it. If the
	// transaction was committed, all its RMs had recorded that before.
	ReasonTrimmed = "trimmed"
	// ReasonLimit: the vote would be too long.
	ReasonLimit = "limit"
)

// Outcome is the outcome of a transaction.
type Outcome struct {
	Commit bool
	// Unknown: votes were trimmed, and no RM here has a part in the
	// transaction. The transaction is finished, but its outcome is not known
	// here.
	Unknown bool
	// Briefs has the briefs of the slots that were known when the outcome was
	// determined; for a commit, those of all slots.
	Briefs [][]byte
}

// count evaluates vote v for a slot of transaction t: a YES to another
// transaction does not count as YES.
func (t *Tx) count(v *Vote) *Vote {
	if v.Yes && (v.ID != t.ID || !slices.Equal(v.Slots, t.Slots)) {
		return &Vote{ID: t.ID, Brief: []byte(reasonGarbled)}
	}
	return v
}
