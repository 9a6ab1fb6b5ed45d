// SPDX-License-Identifier: Apache-2.0

package rt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A row is the concatenation of its columns. An unsigned number is a varint and a
// signed number a zigzag varint, both of minimal length. A truth value is one
// byte, 0 or 1. Text, bytes and nodes are a length and that many bytes. A set is
// its number of elements, then the elements in ascending order. The encoding is
// canonical: equal rows have equal bytes.

// RowMax is the maximum length of a row in bytes.
const RowMax = 1 << 22

// ErrRow reports that bytes are not a row of the expected relation.
var ErrRow = errors.New("not a row of the relation")

// Row is a row under construction.
type Row struct{ bytes []byte }

// RowTo returns an empty row that will be appended to b.
func RowTo(b []byte) Row { return Row{bytes: b} }

// Bytes returns the buffer of RowTo with the row appended. The caller owns it.
func (r Row) Bytes() []byte { return r.bytes }

// U64 appends an unsigned number.
func (r *Row) U64(n uint64) {
	if n < 0x80 {
		r.bytes = append(r.bytes, byte(n))
		return
	}
	r.bytes = binary.AppendUvarint(r.bytes, n)
}

// Int appends a signed number.
func (r *Row) Int(n int64) { r.bytes = binary.AppendVarint(r.bytes, n) }

// Bool appends a truth value.
func (r *Row) Bool(b bool) {
	if b {
		r.bytes = append(r.bytes, 1)
	} else {
		r.bytes = append(r.bytes, 0)
	}
}

// Text appends text, bytes or a node.
func (r *Row) Text(s string) {
	r.U64(uint64(len(s)))
	r.bytes = append(r.bytes, s...)
}

// Reader reads the columns of a row in order. After a malformed column, all
// reads return zero values, and End returns the error.
type Reader struct {
	rest []byte
	bad  bool
}

// Read returns a reader of a row. The caller must not change the row while the
// reader is in use.
func Read(row []byte) Reader { return Reader{rest: row, bad: len(row) > RowMax} }

func (r *Reader) fail() {
	r.rest, r.bad = nil, true
}

// U64 reads an unsigned number.
func (r *Reader) U64() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		n := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || r.rest[size-1] == 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// Int reads a signed number.
func (r *Reader) Int() int64 {
	n := r.U64()
	return int64(n>>1) ^ -int64(n&1)
}

// Bool reads a truth value.
func (r *Reader) Bool() bool {
	if len(r.rest) == 0 || r.rest[0] > 1 {
		r.fail()
		return false
	}
	b := r.rest[0] == 1
	r.rest = r.rest[1:]
	return b
}

// Bytes reads text, bytes or a node. The result shares the row's memory.
func (r *Reader) Bytes() []byte {
	n := r.U64()
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// Size reads the number of elements of a set. It is at most the number of bytes
// left, so it is safe to allocate for.
func (r *Reader) Size() int {
	n := r.U64()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Fail records that a column is malformed.
func (r *Reader) Fail() { r.fail() }

// End returns an error if a column was malformed or bytes are left.
func (r *Reader) End() error {
	if r.bad || len(r.rest) > 0 {
		return ErrRow
	}
	return nil
}

// The kinds of types, with the numbers of package logic.
const (
	KindU64 uint8 = iota + 1
	KindInt
	KindBool
	KindText
	KindBytes
	KindNode
	KindSet
)

// Value is a column of a row, for code that does not know the row's type at
// compile time. Num is a U64, the bits of an Int, or 0 or 1 for a Bool. Str is
// a Text, Bytes or Node. Set is sorted and has no duplicates.
type Value struct {
	Num uint64
	Str string
	Set []Value
}

// AppendRow appends the row with these values to b. It returns an error if the
// number of values is not that of the columns, a set is not sorted, or the row is
// too long.
func AppendRow(b []byte, columns []Column, values []Value) ([]byte, error) {
	if len(values) != len(columns) {
		return nil, fmt.Errorf("%w: %d values for %d columns", ErrRow, len(values), len(columns))
	}
	r := RowTo(b)
	for i, c := range columns {
		if err := r.value(c.Type, values[i]); err != nil {
			return nil, fmt.Errorf("%w: column %s: %w", ErrRow, c.Name, err)
		}
	}
	if n := len(r.bytes) - len(b); n > RowMax {
		return nil, fmt.Errorf("%w: %d bytes; the limit is %d", ErrRow, n, RowMax)
	}
	return r.bytes, nil
}

func (r *Row) value(t Type, v Value) error {
	switch t.Kind {
	case KindInt:
		r.Int(int64(v.Num))
	case KindBool:
		r.Bool(v.Num != 0)
	case KindText, KindBytes, KindNode:
		r.Text(v.Str)
	case KindSet:
		r.U64(uint64(len(v.Set)))
		for i, e := range v.Set {
			if i > 0 && e.Compare(v.Set[i-1], *t.Elem) <= 0 {
				return errors.New("the set is not in ascending order")
			}
			if err := r.value(*t.Elem, e); err != nil {
				return err
			}
		}
	default:
		r.U64(v.Num)
	}
	return nil
}

// ReadRow decodes a row with these columns. The caller owns the values.
func ReadRow(row []byte, columns []Column) ([]Value, error) {
	r := Read(row)
	values := make([]Value, len(columns))
	for i, c := range columns {
		values[i] = r.value(c.Type)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w of %d columns: %d bytes", err, len(columns), len(row))
	}
	return values, nil
}

func (r *Reader) value(t Type) Value {
	switch t.Kind {
	case KindInt:
		return Value{Num: uint64(r.Int())}
	case KindBool:
		if r.Bool() {
			return Value{Num: 1}
		}
		return Value{}
	case KindText, KindBytes, KindNode:
		return Value{Str: string(r.Bytes())}
	case KindSet:
		var v Value
		for i := range r.Size() {
			e := r.value(*t.Elem)
			if r.bad || i > 0 && e.Compare(v.Set[i-1], *t.Elem) <= 0 {
				r.fail()
				return Value{}
			}
			v.Set = append(v.Set, e)
		}
		return v
	}
	return Value{Num: r.U64()}
}

// Compare compares two values of a type.
func (v Value) Compare(w Value, t Type) int {
	switch t.Kind {
	case KindInt:
		return compare(int64(v.Num), int64(w.Num))
	case KindText, KindBytes, KindNode:
		return strings.Compare(v.Str, w.Str)
	case KindSet:
		return slices.CompareFunc(v.Set, w.Set, func(a, b Value) int { return a.Compare(b, *t.Elem) })
	}
	return compare(v.Num, w.Num)
}

func compare[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
