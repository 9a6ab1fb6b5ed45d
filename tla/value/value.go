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
// An operation that has no answer (comparing a number with a string, applying
// a function outside its domain, 2147483647 + 1) panics with an *Error, which
// Catch turns into an error value. It is the one place where the house unwinds
// by panic outside a parser: a result and an error from each of the millions
// of operations a second would cost more than the operations.
package value

import "fmt"

// Kind says what a Value is.
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

// Error says why an operation has no answer.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// fail unwinds to the nearest Catch.
func fail(format string, args ...any) {
	panic(&Error{Message: fmt.Sprintf(format, args...)})
}

// Catch runs f and returns the *Error it unwound with, or nil. Other panics
// pass through: they are ours.
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
