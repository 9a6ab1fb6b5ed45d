// SPDX-License-Identifier: Apache-2.0

// Package exit defines how a command ends: the exit codes, and errors that carry
// one.
//
// In: an error. Out: an error from which the root command takes the exit code and
// the remaining message. docs/lang/exit-codes.md lists the codes.
package exit

import (
	"context"
	"errors"
	"fmt"
)

// The exit codes. Codes from 10 on that TLC also defines have the same meaning
// there.
const (
	OK          = 0
	World       = 1  // a file cannot be read or written, and the like
	Usage       = 2  // the command line is wrong
	Refused     = 3  // a cluster refused the change: nothing was done
	Unknown     = 4  // whether a cluster did it is not known
	Nothing     = 5  // a cluster has nothing at that place
	Assumption  = 10 // an ASSUME is false
	Deadlock    = 11
	Safety      = 12 // an invariant is violated
	Liveness    = 13 // a property of steps or of behaviours is violated
	NotChecked  = 20 // something that was asked for was not checked
	Eval        = 75 // an expression of the specification has no value
	Interrupted = 130
	Spec        = 150 // the specification has errors
	Config      = 151 // the configuration has errors
)

// Error ends the process with a particular exit code. A nil err means that the
// command has already reported everything.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// With returns an error with the exit code. If err is nil, the root command
// prints nothing more.
func With(code int, err error) error { return &Error{code, err} }

// Failed marks an error of the environment, such as a file or the network; nil
// remains nil.
func Failed(err error) error {
	if err == nil {
		return nil
	}
	return With(World, err)
}

// Input returns the exit code for errors in the input: in the configuration, or
// in the specification.
func Input(configuration bool) int {
	if configuration {
		return Config
	}
	return Spec
}

// Stopped returns the error of a command that its user has interrupted, or nil if ctx
// has not ended.
func Stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return With(Interrupted, errors.New("interrupted"))
	}
	return nil
}
