// SPDX-License-Identifier: Apache-2.0

// Package vector holds states as vectors of values and encodes them as bytes.
//
// In: the values of the variables, in the order of the variables. Out: the bytes
// of a state, and from these the values and their numbers; for a checkpoint, the
// tables that the bytes mean something by.
//
// Promised: equal states have equal bytes, whichever goroutine encodes them, and
// what was encoded decodes to the same values. A Codec is safe for concurrent
// use. Refused: tables that another specification saved (ErrKept). Bytes that no
// Codec made are a fault of the caller's and end in an assertion.
//
// A state is encoded variable by variable. The values that a variable takes
// are numbered as they are met, and the state holds the numbers: most states
// are a few bytes long, a state is decoded without building values, and what a
// step leaves unchanged is copied. A variable that takes very many values is
// not worth numbering; past a limit its further values are written in full:
//
//	number+1                      a value with a number
//	0 length bytes                a value in full
//
// All numbers are varints. A value that has a number keeps it, and one that is
// written in full never gets one, so equal states have equal bytes.
package vector

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Vector is a state: the values of the variables, and their numbers plus one,
// where 0 means that a number is not known. IDs is nil if no number is known.
type Vector struct {
	Vals []value.Value
	IDs  []uint32
}

// New returns a vector of n variables, without values.
func New(n int) Vector { return Vector{make([]value.Value, n), make([]uint32, n)} }

// Bare is a vector without numbers.
func Bare(vals []value.Value) Vector { return Vector{Vals: vals} }

// Codec encodes and decodes states. It is safe for concurrent use.
type Codec struct {
	Values *value.Codec
	Vars   []*Table
}

// NewCodec returns a codec for states of the given number of variables.
func NewCodec(vars int) *Codec {
	c := &Codec{Values: value.NewCodec(), Vars: make([]*Table, vars)}
	for i := range c.Vars {
		c.Vars[i] = newTable()
	}
	return c
}

// Append appends the encoding of the value v of variable i and returns its
// number plus one, or 0. full is scratch memory for values without a number; it
// is returned for reuse.
func (c *Codec) Append(buf []byte, i int, v value.Value, full []byte) (out []byte, number uint32, scratch []byte) {
	t := c.Vars[i]
	h := value.Hash(v)
	id, ok := t.Find(v, h)
	if !ok {
		full = c.Values.AppendTo(full[:0], v)
		id, ok = t.insert(v, h, len(full))
		if !ok {
			buf = append(buf, 0)
			buf = binary.AppendUvarint(buf, uint64(len(full)))
			return append(buf, full...), 0, full
		}
	}
	return binary.AppendUvarint(buf, uint64(id)+1), id + 1, full
}

// Decode fills v with the values of a state. In ends it stores where in s the
// encoding of each variable ends.
func (c *Codec) Decode(s []byte, v Vector, ends []int32) {
	at := 0
	for i := range v.Vals {
		n := uint64(s[at])
		if n < 0x80 {
			at++
		} else {
			var width int
			n, width = binary.Uvarint(s[at:])
			invariant.Check(width > 0, "state is cut off in variable %d", i)
			at += width
		}
		v.IDs[i] = uint32(n)
		if n > 0 {
			v.Vals[i] = c.Vars[i].At(uint32(n - 1))
		} else {
			length, width := binary.Uvarint(s[at:])
			invariant.Check(width > 0 && int(length) <= len(s)-at-width, "state is cut off in variable %d", i)
			at += width
			x, _, err := c.Values.Decode(s[at : at+int(length)])
			invariant.Check(err == nil, "state does not decode in variable %d: %v", i, err)
			v.Vals[i] = x
			at += int(length)
		}
		ends[i] = int32(at)
	}
	invariant.Check(at == len(s), "state has %d bytes too many", len(s)-at)
}
