// SPDX-License-Identifier: Apache-2.0

package distsys

import (
	"errors"
	"fmt"
	"strings"
)

// The errors that a section or a resource returns instead of a result.
var (
	// ErrBlocked reports that there is nothing to do now: an await is false, a
	// mailbox is empty. The instance tries other choices and then waits for a
	// change of what it read.
	ErrBlocked = errors.New("blocked")
	// ErrContended is ErrBlocked because another section holds what is needed:
	// the instance also tries again after a short jittered wait.
	ErrContended = fmt.Errorf("held by another section: %w", ErrBlocked)
	// ErrAbort, wrapped with the reason, ends the attempt; the section is tried
	// again after a jittered wait.
	ErrAbort = errors.New("section aborted")
	// ErrPending is returned by PreCommit while the result is not known: the
	// resource wakes Tx.Answered when PreCommit is worth calling again.
	ErrPending = errors.New("pre-commit pending")
)

// The errors with which a run ends.
var (
	// ErrStopped is returned by Run after Stop; the instance is at a label and
	// may be run again.
	ErrStopped = errors.New("instance stopped")
	// ErrClosed is returned for an instance that was closed.
	ErrClosed = errors.New("instance closed")
	// ErrProcedureFallthrough reports that a procedure ended without a return.
	ErrProcedureFallthrough = errors.New("procedure ended without return")
	// ErrStackOverflow reports that calls are nested deeper than StackDepthMax.
	ErrStackOverflow = fmt.Errorf("procedure calls nested deeper than %d", StackDepthMax)
)

// SectionError wraps the error of a run with the instance and the section.
type SectionError struct {
	Archetype string
	Self      string // TLA+ text
	Label     string
	Place     string // file:line:column in the specification
	Err       error
}

func (e *SectionError) Error() string {
	at := e.Archetype + "(" + e.Self + ") at " + e.Label
	if e.Place != "" {
		at = e.Place + ": " + at
	}
	return at + ": " + e.Err.Error()
}

func (e *SectionError) Unwrap() error { return e.Err }

// AssertionError is a false assert of the specification.
type AssertionError struct {
	Text  string // the asserted expression
	Place string
}

func (e *AssertionError) Error() string {
	if e.Place != "" {
		return "assertion failed: " + e.Text + " (" + e.Place + ")"
	}
	return "assertion failed: " + e.Text
}

// InvariantError reports a compiled invariant that the section would make
// false. The section is aborted.
type InvariantError struct {
	Name  string
	Place string
	// Vars are the variables the archetype has after the section.
	Vars []Var
}

func (e *InvariantError) Error() string {
	text := "invariant " + e.Name + " is false"
	if e.Place != "" {
		text += " (" + e.Place + ")"
	}
	for _, v := range e.Vars {
		text += "\n  " + v.Name + " = " + v.Value.String()
	}
	return text
}

// EvalError reports an expression that has no value, with the places in the
// specification that were being evaluated, innermost first.
type EvalError struct {
	Places []string
	Err    error
}

func (e *EvalError) Error() string {
	return e.Err.Error() + " (at " + strings.Join(e.Places, ", in ") + ")"
}

func (e *EvalError) Unwrap() error { return e.Err }

func retryable(err error) bool { return errors.Is(err, ErrAbort) }
func blocked(err error) bool   { return err == ErrBlocked || errors.Is(err, ErrBlocked) }
