// SPDX-License-Identifier: Apache-2.0

package value

import (
	"slices"
	"sort"
)

// Contains reports whether x \in s, without enumerating a symbolic set. If s is
// enumerated, Contains fails where Equal of x and an element would. If s is a
// set of functions or a set of sets, Contains fails unless x is a function or a
// set. Any value may be tested for membership in Nat, Int, Real and STRING.
func Contains(s, x Value) bool {
	switch s.bits & 0xFFFF {
	case bitsEnum:
		es := s.elements()
		if found, ok := containsText(es, x); ok {
			return found
		}
		_, ok := search(es, x)
		return ok
	case bitsInterval:
		if x.bits == uint32(KindInt) {
			lo, hi := s.bounds()
			return lo <= x.n && x.n <= hi
		}
		checkMember(x, Int(s.n))
		return false
	}
	if s.Kind() != KindSet {
		fail("cannot decide %s \\in %s: the right side is not a set", Brief(x), Describe(s))
	}
	return containsSymbolic(s, x)
}

// Listed reports whether the set s is enumerated or an interval. TLC filters such
// a set at once in {x \in s : p}; for any other set it evaluates p only for
// elements whose membership is tested.
func Listed(s Value) bool { return s.Kind() == KindSet && s.sub() <= setInterval }

// Alike reports whether x, which is a boolean, a number, a string or a model value,
// is plainly of the same kind as every element of the set s, so that they can be
// compared. If this holds for several sets, it also holds for their unions,
// intersections and differences, and for pairs of their elements.
func Alike(s, x Value) bool {
	if !isAtom(x) {
		return false
	}
	switch {
	case s.bits == bitsEnum:
		es := s.elements()
		n := len(es)
		if x.Kind() == KindModel { // values of several types may lie between two of one
			return !slices.ContainsFunc(es, func(e Value) bool { return e.bits != x.bits })
		}
		return n == 0 || es[0].bits == x.bits && es[n-1].bits == x.bits
	case s.bits&0xFFFF == bitsInterval:
		return x.Kind() == KindInt
	}
	switch {
	case s.Kind() != KindSet:
		return false
	case s.sub() == setNat, s.sub() == setInt, s.sub() == setReal:
		return x.Kind() == KindInt
	case s.sub() == setString:
		return x.Kind() == KindString
	}
	return s.sub() == setAny
}

// AlikeOne is Alike for the set {y}.
func AlikeOne(y, x Value) bool { return y.bits == x.bits && isAtom(x) }

// isAtom reports whether x is neither a set nor a function.
func isAtom(x Value) bool {
	switch x.Kind() {
	case KindBool, KindInt, KindString, KindModel:
		return true
	}
	return false
}

// checkMember fails with an *Error if x cannot be compared with like.
func checkMember(x, like Value) {
	if x.Kind() != like.Kind() {
		checkComparable(x, like)
	}
}

// checkKind is checkMember for a set of all values of a kind: asking whether a
// string is a number is the same mistake as asking whether they are equal.
func checkKind(x, like, s Value) {
	if x.Kind() == like.Kind() {
		return
	}
	if x.Kind() != KindModel {
		kind := "integers"
		if like.Kind() == KindString {
			kind = "strings"
		}
		fail("cannot decide %s \\in %s, whose elements are %s", Brief(x), s, kind)
	}
	checkComparable(x, like)
}

// linearMax is the largest size at which sets of strings and model values are
// searched linearly, by the hash of the text.
const linearMax = 16

// search returns the index of x in sorted elements, or the index at which to
// insert it.
func search(es []Value, x Value) (int, bool) {
	n := len(es)
	if n == 0 {
		return 0, false
	}
	if x.bits == uint32(KindInt) && es[0].bits == x.bits && es[n-1].bits == x.bits {
		lo, hi := 0, n
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if es[mid].n < x.n {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo, lo < n && es[lo].n == x.n
	}
	i := sort.Search(n, func(i int) bool { return Compare(es[i], x) >= 0 })
	return i, i < n && Compare(es[i], x) == 0
}

// containsText looks up a string or a model value in a small set of its own
// kind. It returns false in ok if that does not apply.
func containsText(es []Value, x Value) (found, ok bool) {
	n := len(es)
	if k := x.Kind(); k != KindString && k != KindModel {
		return false, false
	}
	if n == 0 || n > linearMax || es[0].bits != x.bits || es[n-1].bits != x.bits {
		return false, false
	}
	for i := range es {
		e := &es[i]
		if e.bits != x.bits {
			return false, false // a model value of another type
		}
		if e.n == x.n && (e.ref == x.ref || e.text() == x.text()) {
			return true, true
		}
	}
	return false, true
}

func containsSymbolic(s, x Value) bool {
	switch s.sub() {
	case setNat:
		checkKind(x, Int(0), s)
		return x.Kind() == KindInt && x.n >= 0
	case setInt, setReal:
		checkKind(x, Int(0), s)
		return x.Kind() == KindInt
	case setString:
		checkKind(x, String(""), s)
		return x.Kind() == KindString
	case setAny:
		return true
	case setSeqs:
		return containsSeq(s, x)
	case setSubsets:
		if x.Kind() != KindSet {
			checkMember(x, EmptySet())
			return false
		}
		return Subseteq(x, s.ref.elems[0])
	case setFns:
		return containsFn(s, x)
	case setRecords:
		return containsRecord(s, x)
	case setTimes:
		return containsTuple(s, x)
	case setUnion:
		for _, e := range s.ref.elems {
			if Contains(e, x) {
				return true
			}
		}
		return false
	case setInter:
		return Contains(s.ref.elems[0], x) && Contains(s.ref.elems[1], x)
	case setDiff:
		return Contains(s.ref.elems[0], x) && !Contains(s.ref.elems[1], x)
	case setFilter:
		return Contains(s.ref.elems[0], x) && s.ref.info.pred(x)
	}
	panic("value: unknown representation of a set")
}

// asFn returns the function x with all values computed. If x is not a function,
// ok is false; asFn fails with an *Error unless x may be compared with
// functions.
func asFn(x Value) (Value, bool) {
	if isFn(x) {
		return x.Normal(), true
	}
	checkMember(x, Tuple())
	return x, false
}

func containsSeq(s, x Value) bool {
	x, ok := asFn(x)
	if !ok || x.bits != bitsTuple {
		return false
	}
	for _, e := range x.elements() {
		if !Contains(s.ref.elems[0], e) {
			return false
		}
	}
	return true
}

// containsFn decides f \in [S -> T] by the domain and the values of f.
func containsFn(s, x Value) bool {
	domain, codomain := s.ref.elems[0], s.ref.elems[1]
	if x.bits == bitsFnLazy && !IsFinite(x.ref.elems[0]) {
		if !Equal(x.ref.elems[0], domain) {
			return false
		}
		if codomain.sub() == setAny {
			return true
		}
	}
	x, ok := asFn(x)
	if !ok {
		return false
	}
	es := x.elements()
	if lo, hi, ok := domain.AsInterval(); ok {
		first, ranged := firstKey(x)
		if !ranged || first != lo || int64(len(es)) != int64(hi)-int64(lo)+1 {
			return false
		}
	} else if !Equal(x.Domain(), domain) {
		return false
	}
	for _, e := range es {
		if !Contains(codomain, e) {
			return false
		}
	}
	return true
}

func containsRecord(s, x Value) bool {
	x, ok := asFn(x)
	if !ok || x.bits != bitsRecord {
		return false
	}
	names, sets := s.ref.elems[0], s.ref.elems[1:]
	if len(sets) != int(x.n) {
		return false
	}
	if in := x.ref.info; in.set.ref != names.ref && !equalElems(in.keys, names.elements()) {
		return false
	}
	for i, e := range x.ref.elems {
		if !Contains(sets[i], e) {
			return false
		}
	}
	return true
}

func containsTuple(s, x Value) bool {
	x, ok := asFn(x)
	if !ok || x.bits != bitsTuple || int(x.n) != len(s.ref.elems) {
		return false
	}
	for i, e := range x.elements() {
		if !Contains(s.ref.elems[i], e) {
			return false
		}
	}
	return true
}

// Subseteq reports whether a \subseteq b.
func Subseteq(a, b Value) bool {
	if a.Kind() != KindSet {
		fail("cannot decide %s \\subseteq %s: the left side is not a set", Describe(a), Brief(b))
	}
	if b.Kind() != KindSet {
		fail("cannot decide %s \\subseteq %s: the right side is not a set", Brief(a), Describe(b))
	}
	if Same(a, b) {
		return true
	}
	if a.bits == bitsEnum && b.bits == bitsEnum {
		return subsetEnum(a.elements(), b.elements())
	}
	if a.sub() == setInterval && b.sub() == setInterval {
		la, ha := a.bounds()
		lb, hb := b.bounds()
		return lb <= la && ha <= hb
	}
	if c, ok := subsetSymbolic(a, b); ok {
		return c
	}
	for x := range a.each {
		if !Contains(b, x) {
			return false
		}
	}
	return true
}

// subsetEnum merges two sorted lists. If a is small, it searches b for each
// element instead.
func subsetEnum(a, b []Value) bool {
	if len(a) > len(b) {
		// Some element of a is missing in b. Compare one pair, so that
		// incomparable elements give an error.
		if len(b) > 0 {
			Equal(a[0], b[0])
		}
		return false
	}
	if len(a)*4 < len(b) {
		for _, x := range a {
			if _, ok := search(b, x); !ok {
				return false
			}
		}
		return true
	}
	j := 0
	for _, x := range a {
		for {
			if j == len(b) {
				return false
			}
			c := Compare(b[j], x)
			j++
			if c == 0 {
				break
			}
			if c > 0 {
				return false
			}
		}
	}
	return true
}

// subsetSymbolic decides a \subseteq b by the forms of the sets where it can.
func subsetSymbolic(a, b Value) (result, ok bool) {
	sa, sb := a.sub(), b.sub()
	if sb == setAny {
		return true, true
	}
	if sa == setInterval && (sb == setNat || sb == setInt || sb == setReal) {
		return sb != setNat || a.n >= 0, true
	}
	if sa >= setNat && sa <= setReal && sb >= setNat && sb <= setReal {
		return sa <= sb, true
	}
	if sa == sb {
		ea, eb := a.elements(), b.elements()
		switch sa {
		case setString, setAny:
			return true, true
		case setSeqs, setSubsets:
			return Subseteq(ea[0], eb[0]), true
		case setFns:
			if Same(ea[0], eb[0]) && Subseteq(ea[1], eb[1]) {
				return true, true
			}
		}
	}
	if sb == setUnion {
		for _, e := range b.ref.elems {
			if Same(a, e) {
				return true, true
			}
		}
	}
	switch sa {
	case setUnion:
		for _, e := range a.ref.elems {
			if !Subseteq(e, b) {
				return false, true
			}
		}
		return true, true
	case setDiff, setInter, setFilter:
		if !IsFinite(a) && Subseteq(a.ref.elems[0], b) {
			return true, true
		}
	}
	if extent(a) == infinite && extent(b) == finite {
		return false, true
	}
	return false, false
}
