// SPDX-License-Identifier: Apache-2.0

package wor

import "time"

// Cell is a register and what is known about it.
type Cell struct {
	Addr Addr
	// Err is nil when Value was decided, or ErrUnwritten or ErrTrimmed.
	Value []byte
	Err   error
}

// Space is the address space of write-once registers, as applications see it
// (WormSpace, figure 2). Package space implements it on servers; package ideal
// implements the ideal behaviour.
//
// Operations return at once and report their result by calling done, exactly
// once, never from within the operation. A Space and the functions it calls
// belong to one env.Serial: all calls to the Space must come from there, and it
// calls done and note there. Within bounds the time of an operation; 0 means no
// bound. Values passed to the Space belong to it from then on; values that it
// returns must not be changed.
//
// All operations of one register are linearizable. A value reported as decided
// stays decided. Every operation may return ErrUnknown, ErrDeadline, ErrBusy,
// ErrSealed or ErrClosed.
type Space interface {
	// Alloc allocates a segment. The error is nil if this call's Meta was
	// decided, and ErrWritten if another client has allocated the segment; done
	// then gets that client's Meta.
	Alloc(s Segment, m Meta, within time.Duration, done func(Meta, error))
	// Stat returns a segment's Meta, ErrUnallocated or ErrTrimmed.
	Stat(s Segment, within time.Duration, done func(Meta, error))
	// Trim discards a segment: from then on all operations on its registers
	// return ErrTrimmed. Trimming again succeeds. A segment that was never
	// allocated cannot be trimmed.
	Trim(s Segment, within time.Duration, done func(error))

	// Capture captures all registers of a range at one ballot. It steals them
	// from any client that has captured them before. That is not atomic: each
	// register is captured by itself.
	Capture(r Range, within time.Duration, done func(*Token, error))
	// Write writes one register with a token. If the token has an adopted
	// value, Write writes that, and returns ErrWritten if it differs from
	// value. Nil means that the value is decided. ErrUnknown that wraps
	// ErrOutbid means that the token is of no further use; Propose finds the
	// outcome. If the reason is that the token's epoch is over, the error also
	// wraps ErrSealed.
	Write(t *Token, offset uint32, value []byte, within time.Duration, done func(error))
	// WriteRange writes one value to all registers of a range that the token
	// covers, each as Write does, and returns an error for each.
	WriteRange(t *Token, r Range, value []byte, within time.Duration, done func([]error))
	// Propose captures and writes a register until a value is decided: nil
	// means that it is this value, ErrWritten another one (an equal value
	// counts as this one). On a segment of protocol Fast it first tries without
	// a capture.
	Propose(a Addr, value []byte, within time.Duration, done func(error))
	// WriteUnsafe writes without a capture. It is safe only if no other client
	// ever writes this register without a capture, and this caller writes only
	// one value.
	WriteUnsafe(a Addr, value []byte, within time.Duration, done func(error))

	// Read returns the decided value, or ErrUnwritten. It completes a value
	// that was written halfway, without stealing the register if it can.
	Read(a Addr, within time.Duration, done func([]byte, error))
	// ReadRange reads all registers of a range, each as Read does.
	ReadRange(r Range, within time.Duration, done func([]Cell, error))
	// Known returns a value that this client knows to be decided, without
	// asking any server.
	Known(a Addr) ([]byte, bool)

	// Listen calls note for the decided registers of a range: soon for those
	// already decided, and soon after the decision for later ones; at least
	// once for each, in no particular order, until stop is called. For a
	// trimmed segment it calls note once, with ErrTrimmed, and ends.
	Listen(r Range, note func(Cell)) (stop func())

	// Nonce is the client's own number, the one in its ballots.
	Nonce() uint64
}
