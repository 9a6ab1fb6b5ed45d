// SPDX-License-Identifier: Apache-2.0

package wor

import "errors"

// Register is the sequential specification of a write-once register: the
// results that each operation may return when operations happen one after the
// other. The zero Register is unwritten. It is a value.
type Register struct {
	Phase Phase
	Value string
}

// Phase is the progress of a register; it never goes back.
type Phase uint8

// The phases.
const (
	Unwritten Phase = iota
	Written
	Trimmed
)

// Write is a write that takes effect. It returns the register afterwards, and
// whether this write may return err here: nil if the register was unwritten or
// has this same value, ErrWritten if it has another one, ErrTrimmed if it is
// trimmed.
func (r Register) Write(value string, err error) (Register, bool) {
	switch r.Phase {
	case Unwritten:
		return Register{Written, value}, err == nil
	case Written:
		if r.Value == value {
			return r, err == nil
		}
		return r, errors.Is(err, ErrWritten)
	}
	return r, errors.Is(err, ErrTrimmed)
}

// Read reports whether a read may return value and err here. Err must be nil,
// ErrUnwritten or ErrTrimmed.
func (r Register) Read(value string, err error) bool {
	switch r.Phase {
	case Unwritten:
		return errors.Is(err, ErrUnwritten)
	case Written:
		return err == nil && r.Value == value
	}
	return errors.Is(err, ErrTrimmed)
}

// Trim trims.
func (r Register) Trim() Register { return Register{Phase: Trimmed} }
