package wor

import "fmt"

// Kind is what a request asks of a server.
type Kind uint8

// The kinds. The first four are about registers and go to the Server of the
// request's protocol; the others are about a partition as a whole.
const (
	// KindCapture promises the ballot for each register of the range.
	KindCapture Kind = iota + 1
	// KindWrite writes Value at the ballot into each register of the range.
	KindWrite
	// KindRead shows what each register of the range holds, and promises
	// nothing.
	KindRead
	// KindTrim gives up all registers of the segment, for ever. It follows the
	// decision of the segment's trim register.
	KindTrim

	// KindSeal ends the epoch on this server: from then on it answers nothing
	// that could help to decide a register or to call one unwritten. The reply's
	// Digest covers the whole state.
	KindSeal
	// KindFetch reads the state of a sealed server, from Cursor on. The reply's
	// Value is a piece of it (package group has the form).
	KindFetch
	// KindStage hands a piece (Value) of the state for the next epoch to a server
	// that will be one of its members, under Tag. Pieces come in order: Cursor
	// numbers them from 0. The one with FlagLast has Digest.
	KindStage
	// KindActivate begins an epoch on a server: Value is the Config that was
	// decided. Only a stage whose tag is the configuration's counts.
	KindActivate
	// KindStatus asks what a server knows of a partition: its epoch, whether it
	// is sealed, its configuration (Value) and Digest. Any epoch may ask.
	KindStatus
	// KindListen asks for a note of each write that the server accepts in the
	// range, from now on; the reply shows what is accepted already, as KindRead.
	// KindUnlisten ends it.
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

// Valid says that it is one of the kinds.
func (k Kind) Valid() bool { return k >= KindCapture && k <= KindUnlisten }

// FlagLast marks the last piece of a stage.
const FlagLast uint8 = 1

// Request is what a client asks of one server. It is a value: asking the same
// again, or late, or after others, never harms.
type Request struct {
	Kind     Kind
	Protocol Protocol
	Flags    uint8
	// Partition and Epoch say as whose member the server is asked.
	Partition Partition
	Epoch     Epoch
	// Range has the registers. KindTrim, and kinds of the whole partition, have
	// none.
	Range  Range
	Ballot Ballot
	// Value is for KindWrite, KindStage and KindActivate.
	Value []byte
	// Tag, Cursor and Digest are for the kinds of the whole partition.
	Tag, Cursor, Digest uint64
}

// Status is a server's answer about a request or a register.
type Status uint8

// The answers about a register.
const (
	// StatusOK: promised, accepted, shown, or trimmed, as was asked.
	StatusOK Status = iota
	// StatusOutbid: the server has promised a higher ballot (Run.Promised).
	StatusOutbid
	// StatusConflict: at this very ballot the register has another value
	// (Run.Accepted, Run.Value). At a ballot of one's own that is a client's
	// mistake; at ballot 0 somebody else was first.
	StatusConflict
	// StatusTrimmed: the segment is trimmed.
	StatusTrimmed
)

// The answers about a request as a whole. They come without runs.
const (
	// StatusSealed: the epoch has ended here. Reply.Epoch is the highest that
	// the server knows of, Reply.Value its Config when that is higher.
	StatusSealed Status = iota + 16
	// StatusStale: the request's epoch is over; Reply.Epoch and Reply.Value are
	// as for StatusSealed.
	StatusStale
	// StatusAhead: the request's epoch has not begun here.
	StatusAhead
	// StatusForeign: the server is not a member.
	StatusForeign
	// StatusMute: the server is a member but must not answer: it has not its
	// stage, or does not know yet whether its disk is the newest.
	StatusMute
	// StatusBusy: not done, for want of room; it may be asked again later.
	StatusBusy
	// StatusExpired: not done, its time had passed.
	StatusExpired
	// StatusLimit: not done, it exceeds a limit or makes no sense. Reply.Value
	// says which, as text.
	StatusLimit
)

var statusNames = map[Status]string{
	StatusOK: "ok", StatusOutbid: "outbid", StatusConflict: "conflict", StatusTrimmed: "trimmed",
	StatusSealed: "sealed", StatusStale: "stale", StatusAhead: "ahead", StatusForeign: "foreign",
	StatusMute: "mute", StatusBusy: "busy", StatusExpired: "expired", StatusLimit: "limit",
}

func (s Status) String() string {
	if n, ok := statusNames[s]; ok {
		return n
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Run is what a server says of Count neighbouring registers that are alike.
type Run struct {
	Count  uint32
	Status Status
	// Promised is the highest ballot that the server has promised or accepted.
	Promised Ballot
	// Written says that the server has accepted a value, at ballot Accepted.
	Written  bool
	Accepted Ballot
	Value    []byte
}

// Reply is a server's answer to a Request.
type Reply struct {
	// Status is StatusOK when Runs answer, otherwise a status of the whole.
	Status Status
	Epoch  Epoch
	// Runs cover the range from its beginning; they may end before it does
	// (ReplyMax), never before its first register. What was not covered was not
	// done.
	Runs []Run
	// Value, Digest and Cursor are those of kinds of the whole partition; Cursor
	// is where to go on, 0 at the end.
	Value          []byte
	Digest, Cursor uint64
}

// Covered is how many registers the runs cover.
func (r *Reply) Covered() int {
	n := 0
	for i := range r.Runs {
		n += int(r.Runs[i].Count)
	}
	return n
}

// Add appends a run, or makes the last one longer when it says the same.
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

// Note tells a listener that a server has accepted a value. It is a hint that
// may be lost; notes of one server for one listening are numbered without gaps
// from 1, so that a loss shows.
type Note struct {
	Partition Partition
	Epoch     Epoch
	Number    uint64
	Addr      Addr
	Ballot    Ballot
	Value     []byte
}
