package wor

import "time"

// Cell is a register and what is known of it.
type Cell struct {
	Addr Addr
	// Err is nil when Value was decided, or ErrUnwritten or ErrTrimmed.
	Value []byte
	Err   error
}

// Space is the address space of write-once registers, as applications see it
// (WormSpace, figure 2). Package space implements it on servers, package ideal as
// what it should be.
//
// Operations return at once and answer through done, exactly once, never from
// within the call. A Space and the functions it calls belong to one env.Serial:
// all calls to it are made from there, and done and note run there. Within bounds
// how long an operation takes; 0 is no bound. Values that are passed belong to the
// Space from then on; values that are answered must not be changed.
//
// All operations of one register are linearizable. What was once answered as
// decided stays so. ErrUnknown, ErrDeadline, ErrBusy, ErrSealed and ErrClosed may
// come from all of them.
type Space interface {
	// Alloc allocates a segment. It answers nil if this call's Meta was decided.
	// With ErrWritten the segment is somebody else's, whose Meta is answered.
	Alloc(s Segment, m Meta, within time.Duration, done func(Meta, error))
	// Stat answers a segment's Meta, ErrUnallocated or ErrTrimmed.
	Stat(s Segment, within time.Duration, done func(Meta, error))
	// Trim gives a segment up: all operations on its registers answer ErrTrimmed
	// from then on. Trimming again succeeds. What was never allocated cannot be
	// trimmed.
	Trim(s Segment, within time.Duration, done func(error))

	// Capture captures all registers of a range at one ballot. It steals them
	// from whoever has captured them before. That is not atomic: each register
	// is captured by itself.
	Capture(r Range, within time.Duration, done func(*Token, error))
	// Write writes one register with a token. Where the token has an adopted
	// value, that is written, and if it is not the same the answer is ErrWritten.
	// With nil the value is decided. ErrUnknown with ErrOutbid within says that
	// the token is of no use any more; Propose finds out what became of it.
	// ErrSealed is within as well when that is because its epoch is over.
	Write(t *Token, offset uint32, value []byte, within time.Duration, done func(error))
	// WriteRange writes one value to all registers of a range that the token
	// covers, each as Write does, and answers for each.
	WriteRange(t *Token, r Range, value []byte, within time.Duration, done func([]error))
	// Propose captures and writes a register until a value is decided: nil says
	// it is this one, ErrWritten another (equal values count as this one).
	// On a segment of protocol Fast it first tries without a capture.
	Propose(a Addr, value []byte, within time.Duration, done func(error))
	// WriteUnsafe writes without a capture. It is safe only if nobody else ever
	// writes this register without a capture, and this caller one value only.
	WriteUnsafe(a Addr, value []byte, within time.Duration, done func(error))

	// Read answers the value that was decided, or ErrUnwritten. A value that was
	// written halfway it completes, without stealing the register if it can.
	Read(a Addr, within time.Duration, done func([]byte, error))
	// ReadRange reads all registers of a range, each as Read does.
	ReadRange(r Range, within time.Duration, done func([]Cell, error))
	// Known answers a value that this client knows to be decided, without asking
	// anybody.
	Known(a Addr) ([]byte, bool)

	// Listen calls note for the decided registers of a range: those that are
	// decided already soon, later ones soon after they are; each at least once,
	// in no order, as long as it is not stopped. A segment that is trimmed is
	// told once, with ErrTrimmed, and ends it.
	Listen(r Range, note func(Cell)) (stop func())

	// Nonce is the client's own number, the one of its ballots.
	Nonce() uint64
}
