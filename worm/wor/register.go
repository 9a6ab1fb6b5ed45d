package wor

import "errors"

// Register is the sequential specification of a write-once register: what each
// operation may answer when operations happen one after the other. The zero
// Register is unwritten. It is a value.
type Register struct {
	Phase Phase
	Value string
}

// Phase is how far a register has come; it never goes back.
type Phase uint8

// The phases.
const (
	Unwritten Phase = iota
	Written
	Trimmed
)

// Write is a write that takes effect. It answers what the register is then, and
// whether the answer err is one that this write may give here: nil when the
// register was unwritten or has this very value, ErrWritten when it has another,
// ErrTrimmed when it is trimmed.
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

// Read is a read. Err is nil, ErrUnwritten or ErrTrimmed.
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
