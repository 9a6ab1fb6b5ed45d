// SPDX-License-Identifier: Apache-2.0

// Package value holds the values of TLA+ as TLC has them: booleans, 32-bit
// integers, strings, model values, sets, functions, tuples and records.
//
// A Value is immutable, small (two words) and canonical: a function whose
// domain is 1..n is a tuple, one whose domain is a set of strings is a record,
// and a finite set is sorted and free of duplicates, so that equal values are
// alike in every way. Large and infinite sets (Nat, SUBSET S, [S -> T],
// Seq(S), intervals) stay symbolic until something enumerates them. The order
// of values is total on comparable values and the same in the checker and in
// compiled systems; CHOOSE is determined by it.
//
// The order is TLC's (sets and functions by size first, then element by
// element; FALSE before TRUE; integers ascending) with one exception: TLC
// orders strings and model values by when it first met them. Here they are
// ordered by their bytes, so that the order does not depend on the text that
// was parsed before. Model values come before all other values.
//
// An operation that has no answer (comparing a number with a string, applying
// a function outside its domain, 2147483647 + 1) panics with an *Error, which
// Catch turns into an error value. This is the only place outside a parser
// where the project unwinds by panic: returning an error from each of the
// millions of operations a second would cost more than the operations.
//
// Values are safe for concurrent use. Slices that constructors named ...Of
// take belong to the value afterwards; slices that accessors return belong to
// the value and must not be written.
package value

import (
	"fmt"
	"strings"
)

// Kind states what a Value is.
type Kind uint8

// The kinds. Undefined is the zero Value: "no value", never part of another.
const (
	Undefined Kind = iota
	KindBool
	KindInt
	KindString
	KindModel // a model value: equal to itself only
	KindTuple
	KindRecord
	KindFn
	KindSet // enumerated or symbolic
)

// MaxSetSize is the maximum size of an enumerated set.
const MaxSetSize = 1_000_000

// Value is a value of TLA+. The zero Value is Undefined. Values are compared
// by Equal; the language's == is ruled out.
type Value struct {
	_ [0]func()
	// bits holds the kind in the low byte; in the second byte the
	// representation of a set or a function, or the type letter of a model
	// value; in the high half the number of elements of a small interval.
	bits uint32
	// n is the value of a boolean or an integer, the number of elements of a
	// tuple, a keyed function or an enumerated set, the first element of a
	// small interval, the first key of a function on an interval, and a hash of
	// the text of a string or a model value.
	n   int32
	ref *node
}

// True and False are the booleans' integers inside a Value.
const (
	bitsFalse = 0
	bitsTrue  = 1
)

// Bool is TRUE or FALSE.
func Bool(b bool) Value {
	if b {
		return Value{bits: uint32(KindBool), n: bitsTrue}
	}
	return Value{bits: uint32(KindBool), n: bitsFalse}
}

// Int is an integer.
func Int(i int32) Value { return Value{bits: uint32(KindInt), n: i} }

// String is a string value. It allocates once; keep the Value of a literal.
func String(s string) Value {
	nd := textNode(s, KindString)
	return Value{bits: uint32(KindString), n: int32(uint32(nd.hash.Load())), ref: nd}
}

// Model is the model value of that name. A name such as "A_x", a letter and an
// underscore first, makes it a typed one, which may be compared with model
// values of type A and untyped ones only.
func Model(name string) Value {
	nd := textNode(name, KindModel)
	bits := uint32(KindModel)
	if len(name) > 2 && name[1] == '_' {
		bits |= uint32(name[0]) << 8
	}
	return Value{bits: bits, n: int32(uint32(nd.hash.Load())), ref: nd}
}

// Kind is the kind of v. For a function made by LazyFn it is KindFn, even if
// the function is a tuple or a record by its domain; call Normal first to find
// out.
func (v Value) Kind() Kind { return Kind(v.bits) }

// IsUndefined reports whether v is the zero Value.
func (v Value) IsUndefined() bool { return v.bits == 0 }

func (v Value) sub() uint8 { return uint8(v.bits >> 8) }

// IsTrue reports whether v is TRUE. A value that is not a boolean is an *Error.
func (v Value) IsTrue() bool {
	if Kind(v.bits) != KindBool {
		failKind(v, "a boolean")
	}
	return v.n != 0
}

// AsBool is IsTrue.
func (v Value) AsBool() bool { return v.IsTrue() }

// AsInt returns v as an integer. A value of any other kind is an *Error.
func (v Value) AsInt() int32 {
	if Kind(v.bits) != KindInt {
		failKind(v, "an integer")
	}
	return v.n
}

// AsString returns the text of the string v. A value of any other kind is an
// *Error.
func (v Value) AsString() string {
	if Kind(v.bits) != KindString {
		failKind(v, "a string")
	}
	return v.text()
}

// AsModel returns the name of the model value v. A value of any other kind is
// an *Error.
func (v Value) AsModel() string {
	if Kind(v.bits) != KindModel {
		failKind(v, "a model value")
	}
	return v.text()
}

// Same reports whether a and b are plainly the same, without looking inside
// them. It may be false for equal values and is never true for unequal ones.
func Same(a, b Value) bool { return a.bits == b.bits && a.n == b.n && a.ref == b.ref }

// text is the text of a string or model value.
func (v Value) text() string { return v.ref.info.text }

// Error states why an operation has no answer.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// Fail panics with an *Error. It is for operations in other packages.
func Fail(format string, args ...any) {
	panic(&Error{Message: fmt.Sprintf(format, args...)})
}

// fail unwinds to the nearest Catch.
func fail(format string, args ...any) {
	panic(&Error{Message: fmt.Sprintf(format, args...)})
}

// failKind panics because v is not of the expected kind.
func failKind(v Value, expected string) {
	fail("expected %s, found %s", expected, Describe(v))
}

// describeMax is the number of bytes of a value's text that an error message
// shows.
const describeMax = 120

// Describe describes v for a message: its kind and its shortened text.
func Describe(v Value) string {
	kind := ""
	switch v.Kind() {
	case Undefined:
		return "no value"
	case KindBool:
		kind = "the boolean "
	case KindInt:
		kind = "the integer "
	case KindString:
		kind = "the string "
	case KindModel:
		kind = "the model value "
	case KindTuple:
		kind = "the sequence "
	case KindRecord:
		kind = "the record "
	case KindFn:
		kind = "the function "
	case KindSet:
		kind = "the set "
	}
	return kind + Brief(v)
}

// Brief is the text of v, shortened for a message.
func Brief(v Value) string {
	p := printer{limit: describeMax}
	p.value(v, 0)
	s := string(p.buf)
	if len(s) > describeMax {
		cut := describeMax
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}

// Catch calls f and returns the *Error that f panicked with, or nil. Other
// panics are bugs, and Catch lets them pass.
func Catch(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}
