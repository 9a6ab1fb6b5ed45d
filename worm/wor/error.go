// SPDX-License-Identifier: Apache-2.0

package wor

import (
	"errors"
	"fmt"
)

// The outcomes of an operation, besides success. Every error of a Space is one
// of these or wraps one (errors.Is).
var (
	// ErrWritten: the register holds another value; it is in *WrittenError.
	ErrWritten = errors.New("register is written")
	// ErrTrimmed: the segment is trimmed.
	ErrTrimmed = errors.New("segment is trimmed")
	// ErrSealed: the epoch ended, and the client did not learn the next one.
	ErrSealed = errors.New("epoch is sealed")
	// ErrUnwritten: the register was unwritten at some moment during the read.
	ErrUnwritten = errors.New("register is unwritten")
	// ErrUnknown: a write may have taken effect, may do so later, or never.
	ErrUnknown = errors.New("outcome is unknown")
	// ErrOutbid: another client captured the register. A write returns it
	// wrapped in ErrUnknown.
	ErrOutbid = errors.New("another client captured the register")
	// ErrUnallocated: the segment has not been allocated.
	ErrUnallocated = errors.New("segment is not allocated")
	// ErrDeadline: the time limit passed. A read changed nothing, a capture may
	// have taken effect; a write returns ErrUnknown instead.
	ErrDeadline = errors.New("deadline exceeded")
	// ErrBusy: the operation was not done, because servers or client have no
	// room for it now.
	ErrBusy = errors.New("no room now: try again later")
	// ErrLimit: the operation was not done, because it exceeds a limit that the
	// error names.
	ErrLimit = errors.New("limit exceeded")
	// ErrToken: the token does not cover the register, or was used for it
	// before with another value.
	ErrToken = errors.New("token is not valid for this write")
	// ErrClosed: the client was closed.
	ErrClosed = errors.New("client is closed")
	// ErrTainted: the register's partition was recovered without a majority.
	ErrTainted = errors.New("partition is tainted")
)

// WrittenError is an ErrWritten with the value that the register holds. The
// caller may keep the value but must not change it.
type WrittenError struct {
	Addr  Addr
	Value []byte
}

func (e *WrittenError) Error() string { return fmt.Sprintf("register %v is written", e.Addr) }

// Is reports whether target is ErrWritten.
func (e *WrittenError) Is(target error) bool { return target == ErrWritten }

// UnknownError is an ErrUnknown with its cause.
type UnknownError struct {
	Addr Addr
	// Cause is ErrOutbid, ErrDeadline, ErrClosed or another error that ended
	// the attempt.
	Cause error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("write of %v: outcome is unknown: %v", e.Addr, e.Cause)
}

// Is reports whether target is ErrUnknown.
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Cause }

// LimitError is an ErrLimit with the limit's name.
type LimitError struct {
	Name       string // the name of the constant or option
	Limit, Got int64
}

func (e *LimitError) Error() string {
	if e.Limit == 0 && e.Got == 0 { // a server has named the limit
		return "limit " + e.Name + " is reached"
	}
	return fmt.Sprintf("%s is %d, got %d", e.Name, e.Limit, e.Got)
}

// Is reports whether target is ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
