// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"iter"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Quantifiers over sets, sequences and intervals.

// all are the elements of e in order.
func all[T any, E elements[T]](e E) iter.Seq[T] {
	return func(yield func(T) bool) { All(e, yield) }
}

// All is \A x \in e : p; e is a Set, or a Seq for its elements.
func All[E elements[T], T any](e E, p func(T) bool) bool {
	for i, n := 0, e.len(); i < n; {
		run := e.run(i)
		for _, x := range run {
			if !p(x) {
				return false
			}
		}
		i += len(run)
	}
	return true
}

// Some is \E x \in e : p.
func Some[E elements[T], T any](e E, p func(T) bool) bool {
	return !All(e, func(x T) bool { return !p(x) })
}

// AllIn is \A x \in a..b : p.
func AllIn(a, b int32, p func(int32) bool) bool {
	for x := int64(a); x <= int64(b); x++ {
		if !p(int32(x)) {
			return false
		}
	}
	return true
}

// SomeIn is \E x \in a..b : p.
func SomeIn(a, b int32, p func(int32) bool) bool {
	for x := int64(a); x <= int64(b); x++ {
		if p(int32(x)) {
			return true
		}
	}
	return false
}

// Choose is CHOOSE x \in s : p, the first in the order of values.
func Choose[T any, K Kind[T]](s Set[T, K], p func(T) bool) T {
	for x := range s.All() {
		if p(x) {
			return x
		}
	}
	value.Fail("no element of the set satisfies the CHOOSE")
	panic("unreachable")
}

// ChooseIn is CHOOSE x \in a..b : p.
func ChooseIn(a, b int32, p func(int32) bool) int32 {
	for x := int64(a); x <= int64(b); x++ {
		if p(int32(x)) {
			return int32(x)
		}
	}
	value.Fail("no element of the set satisfies the CHOOSE")
	panic("unreachable")
}

// Filter is {x \in s : p}.
func Filter[T any, K Kind[T]](s Set[T, K], p func(T) bool) Set[T, K] {
	return sorted[K](kept[T](s, p))
}

func kept[T any, E elements[T]](e E, p func(T) bool) []T {
	var out []T
	for x := range all[T](e) {
		if p(x) {
			out = append(out, x)
		}
	}
	return out
}

// Collect is {f(x) : x \in s}.
func Collect[L Kind[U], T, U any, K Kind[T]](s Set[T, K], f func(T) U) Set[U, L] {
	out := make([]U, 0, s.len())
	for x := range s.All() {
		out = append(out, f(x))
	}
	return NewSet[L](out...)
}

// HasInt is x \in a..b.
func HasInt(x, a, b int32) bool { return a <= x && x <= b }

// Count is the number of branches of "with x \in a..b".
func Count(a, b int32) int {
	return int(max(0, int64(b)-int64(a)+1))
}
