// SPDX-License-Identifier: Apache-2.0

package wor

import "fmt"

// Kind is the kind of a request to a server.
type Kind uint8

// The kinds. The first four are about registers and go to the Server of the
// request's protocol; the others are about a partition as a whole.
const (
	// KindCapture promises the ballot for each register of the range.
	KindCapture Kind = iota + 1
	// KindWrite writes Value at the ballot into each register of the range.
	KindWrite
	// KindRead returns what each register of the range holds, and promises
	// nothing.
	KindRead
	// KindTrim permanently discards all registers of the segment. The segment's
	// trim register must be decided before.
	KindTrim

	// KindSeal ends the epoch on this server: from then on it returns nothing
	// that could help to decide a register or to declare one unwritten. The
	// reply's Digest covers the whole state.
	KindSeal
	// KindFetch reads the state of a sealed server, from Cursor on. The reply's
	// Value is a piece of it (package group defines the form).
	KindFetch
	// KindStage passes a piece (Value) of the state for the next epoch to a
	// server that will be one of its members, under Tag. Pieces come in order:
	// Cursor numbers them from 0. The piece with FlagLast has Digest.
	KindStage
	// KindActivate begins an epoch on a server: Value is the decided Config.
	// Only a stage whose tag matches the configuration's counts.
	KindActivate
	// KindStatus asks for a server's view of a partition: its epoch, whether it
	// is sealed, its configuration (Value) and Digest. A request of any epoch
	// may ask.
	KindStatus
	// KindListen requests a note of each write that the server accepts in the
	// range from now on; the reply shows what it has accepted already, as
	// KindRead does. KindUnlisten ends that.
	KindListen
	KindUnlisten
)

var kindNames = [...]string{
	KindCapture: "capture", KindWrite: "write", KindRead: "read", KindTrim: "trim",
	KindSeal: "seal", KindFetch: "fetch", KindStage: "stage", KindActivate: "activate",
	KindStatus: "status", KindListen: "listen", KindUnlisten: "unlisten",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Valid reports whether it is one of the kinds.
func (k Kind) Valid() bool { return k >= KindCapture && k <= KindUnlisten }

// FlagLast marks the last piece of a stage.
const FlagLast uint8 = 1

// Request is what a client asks of one server. It is a value: a repeated, late
// or reordered request does no harm.
type Request struct {
	Kind     Kind
	Protocol Protocol
	Flags    uint8
	// Partition and Epoch state in which membership the server is asked.
	Partition Partition
	Epoch     Epoch
	// Range has the registers. KindTrim, and kinds for the whole partition,
	// have none.
	Range  Range
	Ballot Ballot
	// Value is for KindWrite, KindStage and KindActivate.
	Value []byte
	// Tag, Cursor and Digest are for the kinds for the whole partition.
	Tag, Cursor, Digest uint64
}

// Status is a server's result for a request or a register.
type Status uint8

// The results for a register.
const (
	// StatusOK: promised, accepted, read, or trimmed, as requested.
	StatusOK Status = iota
	// StatusOutbid: the server has promised a higher ballot (Run.Promised).
	StatusOutbid
	// StatusConflict: at this same ballot the register has another value
	// (Run.Accepted, Run.Value). At one of the client's own ballots that is an
	// error of the client; at ballot 0 another client wrote first.
	StatusConflict
	// StatusTrimmed: the segment is trimmed.
	StatusTrimmed
)

// The results for a request as a whole. They come without runs.
const (
	// StatusSealed: the epoch has ended here. Reply.Epoch is the highest epoch
	// that the server knows, Reply.Value its Config if that is higher.
	StatusSealed Status = iota + 16
	// StatusStale: the request's epoch is over; Reply.Epoch and Reply.Value are
	// as for StatusSealed.
	StatusStale
	// StatusAhead: the request's epoch has not begun here.
	StatusAhead
	// StatusForeign: the server is not a member.
	StatusForeign
	// StatusMute: the server is a member but must not answer: it lacks its
	// stage, or does not know yet whether its disk is up to date.
	StatusMute
	// StatusBusy: not done, for lack of room; the client may ask again later.
	StatusBusy
	// StatusExpired: not done, its time had passed.
	StatusExpired
	// StatusLimit: not done, because the request exceeds a limit or is
	// malformed. Reply.Value says which, as text.
	StatusLimit
)

var statusNames = [...]string{
	StatusOK: "ok", StatusOutbid: "outbid", StatusConflict: "conflict", StatusTrimmed: "trimmed",
	StatusSealed: "sealed", StatusStale: "stale", StatusAhead: "ahead", StatusForeign: "foreign",
	StatusMute: "mute", StatusBusy: "busy", StatusExpired: "expired", StatusLimit: "limit",
}

func (s Status) String() string {
	if int(s) < len(statusNames) && statusNames[s] != "" {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Run is a server's result for Count neighbouring registers that are alike.
type Run struct {
	Count  uint32
	Status Status
	// Promised is the highest ballot that the server has promised or accepted.
	Promised Ballot
	// Written reports that the server has accepted a value, at ballot Accepted.
	Written  bool
	Accepted Ballot
	Value    []byte
}

// Reply is a server's answer to a Request.
type Reply struct {
	// Status is StatusOK if Runs has the results, otherwise a status of the
	// whole.
	Status Status
	Epoch  Epoch
	// Runs cover the range from its beginning; they may end before it does
	// (ReplyMax), but they include its first register. Registers that they do
	// not cover were not processed.
	Runs []Run
	// Value, Digest and Cursor are for the kinds for the whole partition;
	// Cursor is where to continue, 0 at the end.
	Value          []byte
	Digest, Cursor uint64
}

// Covered is the number of registers that the runs cover.
func (r *Reply) Covered() int {
	n := 0
	for i := range r.Runs {
		n += int(r.Runs[i].Count)
	}
	return n
}

// Add appends a run, or extends the last one if it has the same result.
func (r *Reply) Add(run Run) {
	if n := len(r.Runs); n > 0 && r.Runs[n-1].alike(run) {
		r.Runs[n-1].Count += run.Count
		return
	}
	r.Runs = append(r.Runs, run)
}

func (r *Run) alike(s Run) bool {
	return r.Status == s.Status && r.Promised == s.Promised && r.Written == s.Written &&
		r.Accepted == s.Accepted && string(r.Value) == string(s.Value)
}

// Note notifies a listener that a server has accepted a value. It is a hint
// that may be lost; the notes of one server for one KindListen are numbered
// without gaps from 1, so that a loss shows.
type Note struct {
	Partition Partition
	Epoch     Epoch
	Number    uint64
	Addr      Addr
	Ballot    Ballot
	Value     []byte
}
