// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"iter"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Set is a finite set: its elements in the order of values, without
// duplicates. A large one is a tree, so that adding and removing an element
// cost the logarithm of its size.
type Set[T any, K Kind[T]] struct{ list[T, T] }

// Sets is the kind of Set[T, K].
type Sets[T any, K Kind[T]] struct{}

func (Sets[T, K]) Equal(a, b Set[T, K]) bool { return equalAll[K](a, b) }

// Compare orders sets by size, then element by element.
func (Sets[T, K]) Compare(a, b Set[T, K]) int { return compareAll[K](a, b) }

func (Sets[T, K]) Value(a Set[T, K]) value.Value {
	return value.SetOf(valuesOf[K](a))
}

func (Sets[T, K]) Of(v value.Value) Set[T, K] {
	var k K
	if v.Kind() != value.KindSet {
		value.Fail("expected a set, found %s", value.Describe(v))
	}
	elems := v.Elems()
	out := make([]T, len(elems))
	for i, e := range elems {
		out[i] = k.Of(e)
	}
	return sorted[K](out) // in order: the order of values is that of the kind
}

func valuesOf[K Kind[T], T any, E elements[T]](e E) []value.Value {
	var k K
	out := make([]value.Value, 0, e.len())
	for x := range all[T](e) {
		out = append(out, k.Value(x))
	}
	return out
}

// sorted is the set of elems, which are in order and without duplicates. It
// takes ownership of elems.
func sorted[K Kind[T], T any](elems []T) Set[T, K] { return Set[T, K]{listOf[T](elems)} }

// NewSet is the set of elems. It takes ownership of elems.
func NewSet[K Kind[T], T any](elems ...T) Set[T, K] {
	var k K
	if len(elems) > 1 {
		slices.SortFunc(elems, k.Compare)
		elems = slices.CompactFunc(elems, func(a, b T) bool { return k.Compare(a, b) == 0 })
	}
	return sorted[K](elems)
}

// Interval is a..b.
func Interval(a, b int32) Set[int32, Ints] {
	if b < a {
		return Set[int32, Ints]{}
	}
	n := int64(b) - int64(a) + 1
	checkSize(n)
	out := make([]int32, n)
	for i := range out {
		out[i] = a + int32(i)
	}
	return sorted[Ints](out)
}

// checkSize fails if a set would have more than n elements, as the checker
// does.
func checkSize(n int64) {
	if n > value.MaxSetSize {
		value.Fail("a set of %d elements is larger than the limit of %d", n, value.MaxSetSize)
	}
}

// Booleans is BOOLEAN.
func Booleans() Set[bool, Bools] { return sorted[Bools]([]bool{false, true}) }

// Has is x \in s.
func (s Set[T, K]) Has(x T) bool {
	_, ok := s.search(x)
	return ok
}

// search returns the place of x, or where it would be.
func (s Set[T, K]) search(x T) (int, bool) {
	var k K
	if s.long == nil {
		return slices.BinarySearchFunc(s.short, x, k.Compare)
	}
	t, before := s.long, 0
	for t.height > 0 {
		// The last child that does not begin after x.
		lo, hi := 1, len(t.kids)
		for lo < hi {
			mid := (lo + hi) / 2
			if k.Compare(t.kids[mid].first, x) <= 0 {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		before += t.start(lo - 1)
		t = t.kids[lo-1].sub
	}
	i, ok := slices.BinarySearchFunc(t.leaf, x, k.Compare)
	return before + i, ok
}

// Size is Cardinality(s).
func (s Set[T, K]) Size() int32 { return int32(s.len()) }

// Nth is the element that has i elements before it in the order of values.
func (s Set[T, K]) Nth(i int) T { return s.at(i) }

// Slice returns the elements in order. The caller must not change them.
func (s Set[T, K]) Slice() []T { return s.slice() }

// All are the elements in order.
func (s Set[T, K]) All() iter.Seq[T] { return all[T](s) }

// Add is s \cup {x}.
func (s Set[T, K]) Add(x T) Set[T, K] {
	i, found := s.search(x)
	if found {
		return s
	}
	checkSize(int64(s.len() + 1))
	return Set[T, K]{s.insert(i, x)}
}

// Remove is s \ {x}.
func (s Set[T, K]) Remove(x T) Set[T, K] {
	i, found := s.search(x)
	if !found {
		return s
	}
	return Set[T, K]{s.remove(i)}
}

// fewMax is how many times larger a set must be than another for an operation
// to change it element by element, instead of walking through both.
const fewMax = 32

// few reports whether s is so small compared with t that looking up its
// elements in t is cheaper than walking through t.
func (s Set[T, K]) few(t Set[T, K]) bool { return s.len() <= 1 || s.len() <= t.len()/fewMax }

// Union is s \cup t.
func (s Set[T, K]) Union(t Set[T, K]) Set[T, K] {
	switch {
	case s.len() == 0:
		return t
	case t.few(s):
		for x := range t.All() {
			s = s.Add(x)
		}
		return s
	case s.few(t):
		return t.Union(s)
	}
	var k K
	a, b := s.slice(), t.slice()
	out := make([]T, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch c := k.Compare(a[i], b[j]); {
		case c < 0:
			out = append(out, a[i])
			i++
		case c > 0:
			out = append(out, b[j])
			j++
		default:
			out = append(out, a[i])
			i, j = i+1, j+1
		}
	}
	out = append(append(out, a[i:]...), b[j:]...)
	checkSize(int64(len(out)))
	return sorted[K](out)
}

// Intersect is s \cap t.
func (s Set[T, K]) Intersect(t Set[T, K]) Set[T, K] {
	if t.few(s) {
		s, t = t, s
	}
	return s.pick(t, true)
}

// Minus is s \ t.
func (s Set[T, K]) Minus(t Set[T, K]) Set[T, K] {
	if !t.few(s) {
		return s.pick(t, false)
	}
	for x := range t.All() {
		s = s.Remove(x)
	}
	return s
}

// pick returns the elements of s that are in t or, if in is false, those that
// are not.
func (s Set[T, K]) pick(t Set[T, K], in bool) Set[T, K] {
	if s.few(t) {
		return Filter(s, func(x T) bool { return t.Has(x) == in })
	}
	var k K
	other := t.slice()
	j := 0
	return Filter(s, func(x T) bool {
		for j < len(other) && k.Compare(other[j], x) < 0 {
			j++
		}
		return (j < len(other) && k.Compare(other[j], x) == 0) == in
	})
}

// In is s \subseteq t.
func (s Set[T, K]) In(t Set[T, K]) bool {
	return s.len() <= t.len() && (s.long != nil && s.long == t.long || All(s, t.Has))
}

// Subsets is SUBSET s, in the order of values: by size, then by elements.
func Subsets[T any, K Kind[T]](s Set[T, K]) Set[Set[T, K], Sets[T, K]] {
	if s.len() > 30 {
		value.Fail("SUBSET of a set of %d elements is larger than the limit of %d", s.len(), value.MaxSetSize)
	}
	elems := s.slice()
	checkSize(int64(1) << len(elems))
	out := make([]Set[T, K], 0, 1<<len(elems))
	for size := 0; size <= len(elems); size++ {
		pick := make([]int, size)
		for i := range pick {
			pick[i] = i
		}
		for more := true; more; {
			sub := make([]T, size)
			for i, p := range pick {
				sub[i] = elems[p]
			}
			out = append(out, sorted[K](sub))
			more = advance(pick, len(elems))
		}
	}
	return sorted[Sets[T, K]](out)
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
	if s.len() <= 2 {
		var out Set[T, K]
		for t := range s.All() {
			out = out.Union(t)
		}
		return out
	}
	var elems []T
	for t := range s.All() {
		elems = append(elems, t.slice()...)
	}
	return NewSet[K](elems...)
}
