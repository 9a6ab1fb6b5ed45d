// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Set is a finite set: its elements in the order of values, without duplicates.
type Set[T any, K Kind[T]] []T

// Sets is the kind of Set[T, K].
type Sets[T any, K Kind[T]] struct{}

func (Sets[T, K]) Equal(a, b Set[T, K]) bool { return equalAll[T, K](a, b) }

// Compare orders sets by size, then element by element.
func (Sets[T, K]) Compare(a, b Set[T, K]) int { return compareAll[T, K](a, b) }

func (Sets[T, K]) Value(a Set[T, K]) value.Value {
	return value.SetOf(valuesOf[T, K](a))
}

func (Sets[T, K]) Of(v value.Value) Set[T, K] {
	var k K
	if v.Kind() != value.KindSet {
		value.Fail("expected a set, found %s", value.Describe(v))
	}
	elems := v.Elems()
	out := make(Set[T, K], len(elems))
	for i, e := range elems {
		out[i] = k.Of(e)
	}
	return out // in order: the order of values is that of the kind
}

func equalAll[T any, K Kind[T]](a, b []T) bool {
	var k K
	return len(a) == len(b) && slices.EqualFunc(a, b, k.Equal)
}

func compareAll[T any, K Kind[T]](a, b []T) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	var k K
	return slices.CompareFunc(a, b, k.Compare)
}

func valuesOf[T any, K Kind[T]](a []T) []value.Value {
	var k K
	out := make([]value.Value, len(a))
	for i, x := range a {
		out[i] = k.Value(x)
	}
	return out
}

// NewSet is the set of elems. It takes ownership of elems.
func NewSet[K Kind[T], T any](elems ...T) Set[T, K] {
	var k K
	if len(elems) > 1 {
		slices.SortFunc(elems, k.Compare)
		elems = slices.CompactFunc(elems, func(a, b T) bool { return k.Compare(a, b) == 0 })
	}
	return elems
}

// Interval is a..b.
func Interval(a, b int32) Set[int32, Ints] {
	if b < a {
		return nil
	}
	n := int64(b) - int64(a) + 1
	checkSize(n)
	out := make(Set[int32, Ints], n)
	for i := range out {
		out[i] = a + int32(i)
	}
	return out
}

// checkSize fails if a set would have more than n elements, as the checker
// does.
func checkSize(n int64) {
	if n > value.MaxSetSize {
		value.Fail("a set of %d elements is larger than the limit of %d", n, value.MaxSetSize)
	}
}

// Booleans is BOOLEAN.
func Booleans() Set[bool, Bools] { return Set[bool, Bools]{false, true} }

// Has is x \in s.
func (s Set[T, K]) Has(x T) bool {
	_, ok := s.search(x)
	return ok
}

func (s Set[T, K]) search(x T) (int, bool) {
	var k K
	return slices.BinarySearchFunc(s, x, k.Compare)
}

// Size is Cardinality(s).
func (s Set[T, K]) Size() int32 { return int32(len(s)) }

// Union is s \cup t.
func (s Set[T, K]) Union(t Set[T, K]) Set[T, K] {
	switch {
	case len(s) == 0:
		return t
	case len(t) == 0:
		return s
	case len(t) == 1:
		return s.insert(t[0])
	}
	var k K
	out := make(Set[T, K], 0, len(s)+len(t))
	i, j := 0, 0
	for i < len(s) && j < len(t) {
		switch c := k.Compare(s[i], t[j]); {
		case c < 0:
			out = append(out, s[i])
			i++
		case c > 0:
			out = append(out, t[j])
			j++
		default:
			out = append(out, s[i])
			i, j = i+1, j+1
		}
	}
	out = append(append(out, s[i:]...), t[j:]...)
	checkSize(int64(len(out)))
	return out
}

func (s Set[T, K]) insert(x T) Set[T, K] {
	i, found := s.search(x)
	if found {
		return s
	}
	checkSize(int64(len(s) + 1))
	out := make(Set[T, K], len(s)+1)
	copy(out, s[:i])
	out[i] = x
	copy(out[i+1:], s[i:])
	return out
}

// Intersect is s \cap t.
func (s Set[T, K]) Intersect(t Set[T, K]) Set[T, K] { return s.pick(t, true) }

// Minus is s \ t.
func (s Set[T, K]) Minus(t Set[T, K]) Set[T, K] {
	if len(t) == 1 {
		i, found := s.search(t[0])
		if !found {
			return s
		}
		out := make(Set[T, K], 0, len(s)-1)
		return append(append(out, s[:i]...), s[i+1:]...)
	}
	return s.pick(t, false)
}

// pick returns the elements of s that are in t or, if in is false, those that
// are not.
func (s Set[T, K]) pick(t Set[T, K], in bool) Set[T, K] {
	var k K
	var out Set[T, K]
	j := 0
	for _, x := range s {
		for j < len(t) && k.Compare(t[j], x) < 0 {
			j++
		}
		if (j < len(t) && k.Compare(t[j], x) == 0) == in {
			out = append(out, x)
		}
	}
	return out
}

// In is s \subseteq t.
func (s Set[T, K]) In(t Set[T, K]) bool {
	if len(s) > len(t) {
		return false
	}
	for _, x := range s {
		if !t.Has(x) {
			return false
		}
	}
	return true
}

// Subsets is SUBSET s, in the order of values: by size, then by elements.
func Subsets[T any, K Kind[T]](s Set[T, K]) Set[Set[T, K], Sets[T, K]] {
	if len(s) > 30 {
		value.Fail("SUBSET of a set of %d elements is larger than the limit of %d", len(s), value.MaxSetSize)
	}
	checkSize(int64(1) << len(s))
	out := make(Set[Set[T, K], Sets[T, K]], 0, 1<<len(s))
	for size := 0; size <= len(s); size++ {
		pick := make([]int, size)
		for i := range pick {
			pick[i] = i
		}
		for more := true; more; {
			sub := make(Set[T, K], size)
			for i, p := range pick {
				sub[i] = s[p]
			}
			out = append(out, sub)
			more = advance(pick, len(s))
		}
	}
	return out
}

// advance moves to the next combination of indices below n, in lexicographic
// order.
func advance(pick []int, n int) bool {
	for i := len(pick) - 1; i >= 0; i-- {
		if pick[i] < n-len(pick)+i {
			pick[i]++
			for j := i + 1; j < len(pick); j++ {
				pick[j] = pick[j-1] + 1
			}
			return true
		}
	}
	return false
}

// BigUnion is UNION s.
func BigUnion[T any, K Kind[T]](s Set[Set[T, K], Sets[T, K]]) Set[T, K] {
	var all []T
	for _, t := range s {
		all = append(all, t...)
	}
	return NewSet[K](all...)
}

// All is \A x \in s : p, and Some is \E x \in s : p; s is a set.
func All[T any](s []T, p func(T) bool) bool {
	for _, x := range s {
		if !p(x) {
			return false
		}
	}
	return true
}

// Some is \E x \in s : p.
func Some[T any](s []T, p func(T) bool) bool {
	for _, x := range s {
		if p(x) {
			return true
		}
	}
	return false
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
func Choose[T any](s []T, p func(T) bool) T {
	for _, x := range s {
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
func Filter[S ~[]T, T any](s S, p func(T) bool) S {
	var out S
	for _, x := range s {
		if p(x) {
			out = append(out, x)
		}
	}
	return out
}

// Collect is {f(x) : x \in s}.
func Collect[K Kind[U], T, U any](s []T, f func(T) U) Set[U, K] {
	out := make([]U, len(s))
	for i, x := range s {
		out[i] = f(x)
	}
	return NewSet[K](out...)
}

// HasInt is x \in a..b.
func HasInt(x, a, b int32) bool { return a <= x && x <= b }

// Count is the number of branches of "with x \in a..b".
func Count(a, b int32) int {
	return int(max(0, int64(b)-int64(a)+1))
}
