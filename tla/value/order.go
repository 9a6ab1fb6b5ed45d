// SPDX-License-Identifier: Apache-2.0

package value

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Equal reports whether a = b. It fails with an *Error for values that TLC
// refuses to compare: scalars of different kinds, a scalar and a set or a
// function, a set and a function, typed model values of different types. An
// untyped model value differs from everything but itself.
func Equal(a, b Value) bool {
	return a.ref == b.ref && a.n == b.n && a.bits == b.bits || equal(a, b)
}

// isScalar reports whether bits are those of a boolean or an integer, whose
// value is entirely in n, or of Undefined.
func isScalar(bits uint32) bool { return bits <= uint32(KindInt) }

func equal(a, b Value) bool {
	ka, kb := a.Kind(), b.Kind()
	if ka != kb {
		return equalKinds(a, b)
	}
	switch ka {
	case Undefined, KindBool, KindInt:
		return a.n == b.n
	case KindString:
		return a.n == b.n && (a.ref == b.ref || a.text() == b.text())
	case KindModel:
		if a.bits != b.bits {
			checkTypes(a, b)
			return false
		}
		return a.n == b.n && (a.ref == b.ref || a.text() == b.text())
	case KindTuple:
		return a.ref == b.ref || a.n == b.n && equalElems(a.ref.elems, b.ref.elems)
	case KindRecord, KindFn:
		return equalFns(a, b)
	case KindSet:
		return equalSets(a, b)
	}
	failCompare(a, b)
	return false
}

func equalElems(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// equalKinds compares values of different kinds.
func equalKinds(a, b Value) bool {
	if a.bits == bitsFnLazy || b.bits == bitsFnLazy {
		if isFn(a) && isFn(b) {
			return Equal(a.Normal(), b.Normal())
		}
	}
	checkComparable(a, b)
	return false
}

// isFn reports whether v is a function of any form.
func isFn(v Value) bool { return v.Kind() >= KindTuple && v.Kind() <= KindFn }

// checkComparable fails with an *Error unless values of the two different kinds
// may be compared. Functions of different forms may be compared; they are
// different.
func checkComparable(a, b Value) {
	switch {
	case a.Kind() == Undefined || b.Kind() == Undefined:
	case isFn(a) && isFn(b):
		return
	case a.Kind() == KindModel && a.sub() == 0, b.Kind() == KindModel && b.sub() == 0:
		return
	}
	failCompare(a, b)
}

// checkTypes fails with an *Error if two model values have different types.
func checkTypes(a, b Value) {
	if a.sub() != 0 && b.sub() != 0 && a.sub() != b.sub() {
		failCompare(a, b)
	}
}

func failCompare(a, b Value) {
	fail("cannot compare %s with %s", Describe(a), Describe(b))
}

// equalFns compares two functions of the same kind, records included.
func equalFns(a, b Value) bool {
	if a.bits != b.bits {
		if a.bits == bitsFnLazy || b.bits == bitsFnLazy {
			return Equal(a.Normal(), b.Normal())
		}
		return false // one has an interval for its domain, the other has not
	}
	if a.ref == b.ref && a.n == b.n {
		return true
	}
	if a.bits == bitsFnLazy {
		return Equal(a.Normal(), b.Normal())
	}
	if len(a.ref.elems) != len(b.ref.elems) {
		return false
	}
	if a.bits == bitsFnInterval {
		return a.n == b.n && equalElems(a.ref.elems, b.ref.elems)
	}
	ia, ib := a.ref.info, b.ref.info
	if ia != ib && keyRank(ia.keys) != keyRank(ib.keys) {
		return false // such keys cannot all be compared
	}
	if ia != ib && !equalElems(ia.keys, ib.keys) {
		return false
	}
	return equalElems(a.ref.elems, b.ref.elems)
}

func equalSets(a, b Value) bool {
	if a.bits == b.bits && a.n == b.n && a.ref == b.ref {
		return true
	}
	sa, sb := a.sub(), b.sub()
	if sa == setEnum && sb == setEnum {
		return equalElems(a.elements(), b.elements())
	}
	if sa == setInterval && sb == setInterval {
		la, ha := a.bounds()
		lb, hb := b.bounds()
		return la == lb && ha == hb
	}
	ea, eb := extents(a, b)
	if ea != eb {
		return false
	}
	if ea == infinite {
		return equalInfinite(a, b)
	}
	if sa == sb && sameOperands(a, b) {
		return true
	}
	c, exact := compareSizes(a, b)
	switch {
	case exact && c != 0:
		return false
	case exact && sa == setEnum:
		return subsetOf(a, b)
	case exact && sb == setEnum:
		return subsetOf(b, a)
	}
	return compareLockstep(a, b) == 0
}

// extents returns the extents of both sets and fails if one is undecided.
func extents(a, b Value) (finiteness, finiteness) {
	ea, eb := extent(a), extent(b)
	if ea == undecided || eb == undecided {
		fail("cannot decide whether the sets %s and %s are equal", Brief(a), Brief(b))
	}
	return ea, eb
}

// subsetOf reports whether all elements of the enumerated set a are in b.
func subsetOf(a, b Value) bool {
	for _, x := range a.elements() {
		if !Contains(b, x) {
			return false
		}
	}
	return true
}

// sameOperands reports whether two symbolic sets of the same form have equal
// operands. If so, the sets are equal.
func sameOperands(a, b Value) bool {
	switch a.sub() {
	case setSeqs, setSubsets, setFns, setRecords, setTimes:
		return equalElems(a.ref.elems, b.ref.elems)
	}
	return false
}

// equalInfinite compares infinite sets by their form.
func equalInfinite(a, b Value) bool {
	decided := func(v Value) bool {
		switch v.sub() {
		case setNat, setInt, setReal, setString, setAny, setSeqs, setSubsets, setFns, setRecords, setTimes:
			return true
		}
		return false
	}
	if !decided(a) || !decided(b) {
		fail("cannot decide whether the infinite sets %s and %s are equal", Brief(a), Brief(b))
	}
	if a.sub() != b.sub() {
		return false
	}
	switch a.sub() {
	case setNat, setInt, setReal, setString, setAny:
		return true
	}
	return equalElems(a.ref.elems, b.ref.elems)
}

// Compare orders a and b: it is negative if a comes first, 0 if they are equal,
// and positive if b comes first. It fails where Equal does.
func Compare(a, b Value) int {
	if a.bits == b.bits && isScalar(a.bits) {
		return cmp.Compare(a.n, b.n)
	}
	ka, kb := a.Kind(), b.Kind()
	if ka != kb {
		return compareKinds(a, b)
	}
	switch ka {
	case KindBool, KindInt:
		return cmp.Compare(a.n, b.n)
	case KindString:
		if a.ref == b.ref {
			return 0
		}
		return strings.Compare(a.text(), b.text())
	case KindModel:
		if a.ref == b.ref {
			return 0
		}
		if a.bits != b.bits {
			checkTypes(a, b)
		}
		return strings.Compare(a.text(), b.text())
	case KindTuple, KindRecord, KindFn:
		return compareFns(a, b)
	case KindSet:
		return compareSets(a, b)
	}
	failCompare(a, b)
	return 0
}

func compareElems(a, b []Value) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	for i := range a {
		if c := Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return 0
}

func compareKinds(a, b Value) int {
	if isFn(a) && isFn(b) {
		return compareFns(a, b)
	}
	checkComparable(a, b)
	if a.Kind() == KindModel {
		return -1
	}
	return 1
}

// compareFns orders functions of any form by size, then by domain, then by
// their values in the order of the domain. Domains of integers come before
// other domains.
func compareFns(a, b Value) int {
	if a.ref == b.ref && a.bits == b.bits && a.n == b.n {
		return 0
	}
	if a.bits == bitsFnLazy || b.bits == bitsFnLazy {
		return Compare(a.Normal(), b.Normal())
	}
	ea, eb := a.elements(), b.elements()
	if len(ea) != len(eb) {
		return cmp.Compare(len(ea), len(eb))
	}
	if c := compareDomains(a, b); c != 0 {
		return c
	}
	return compareElems(ea, eb)
}

// compareDomains orders the domains, of equal size, of two functions.
func compareDomains(a, b Value) int {
	loA, rangeA := firstKey(a)
	loB, rangeB := firstKey(b)
	switch {
	case rangeA && rangeB:
		return cmp.Compare(loA, loB)
	case rangeA:
		return compareRangeKeys(loA, b.ref.info.keys)
	case rangeB:
		return -compareRangeKeys(loB, a.ref.info.keys)
	}
	ia, ib := a.ref.info, b.ref.info
	if ia == ib {
		return 0
	}
	if c := cmp.Compare(keyRank(ia.keys), keyRank(ib.keys)); c != 0 {
		return c
	}
	return compareElems(ia.keys, ib.keys)
}

// keyRank puts functions on integers first, then records, then the others. The
// first key decides it: model values come before the values that they may be
// mixed with.
func keyRank(keys []Value) int {
	switch keys[0].Kind() {
	case KindInt:
		return -1
	case KindString:
		return 0
	}
	return 1
}

// firstKey is the first key of a function whose domain is an interval.
func firstKey(v Value) (int32, bool) {
	switch v.bits {
	case bitsTuple:
		return 1, true
	case bitsFnInterval:
		return v.n, true
	}
	return 0, false
}

// compareRangeKeys compares the interval that starts at lo with keys that are
// not an interval.
func compareRangeKeys(lo int32, keys []Value) int {
	for i, k := range keys {
		if k.Kind() != KindInt {
			return -1
		}
		if c := cmp.Compare(int64(lo)+int64(i), int64(k.n)); c != 0 {
			return c
		}
	}
	return 0
}

func compareSets(a, b Value) int {
	if a.bits == b.bits && a.n == b.n && a.ref == b.ref {
		return 0
	}
	if a.sub() == setEnum && b.sub() == setEnum {
		return compareElems(a.elements(), b.elements())
	}
	if a.sub() == setInterval && b.sub() == setInterval {
		la, ha := a.bounds()
		lb, hb := b.bounds()
		if c := cmp.Compare(int64(ha)-int64(la), int64(hb)-int64(lb)); c != 0 {
			return c
		}
		return cmp.Compare(la, lb)
	}
	ea, eb := extents(a, b)
	switch {
	case ea != eb:
		return cmp.Compare(ea, eb)
	case ea == infinite:
		if equalInfinite(a, b) {
			return 0
		}
		if c := cmp.Compare(a.sub(), b.sub()); c != 0 {
			return c
		}
		return compareElems(a.ref.elems, b.ref.elems)
	}
	if a.sub() == b.sub() && sameOperands(a, b) {
		return 0
	}
	if c, exact := compareSizes(a, b); exact && c != 0 {
		return c
	}
	return compareLockstep(a, b)
}

// compareSizes compares the sizes of finite sets if they are known without
// enumeration.
func compareSizes(a, b Value) (c int, exact bool) {
	if na, ok := smallCardinal(a); ok {
		if nb, ok := smallCardinal(b); ok {
			return cmp.Compare(na, nb), true
		}
	}
	na, oka := cardinal(a)
	nb, okb := cardinal(b)
	if !oka || !okb {
		return 0, false
	}
	return na.Cmp(nb), true
}

// compareLockstep walks two finite sets in canonical order. It enumerates sets
// whose size is not known in advance, because sizes are compared first.
func compareLockstep(a, b Value) int {
	if _, known := cardinal(a); !known {
		a = enumerated(a)
	}
	if _, known := cardinal(b); !known {
		b = enumerated(b)
	}
	if c, _ := compareSizes(a, b); c != 0 {
		return c
	}
	if a.bits == bitsEnum && b.bits == bitsEnum {
		return compareElems(a.elements(), b.elements())
	}
	nextA, stopA := iter.Pull(a.All())
	defer stopA()
	nextB, stopB := iter.Pull(b.All())
	defer stopB()
	for range MaxSetSize {
		x, ok := nextA()
		if !ok {
			return 0
		}
		y, _ := nextB()
		if c := Compare(x, y); c != 0 {
			return c
		}
	}
	fail("the sets %s and %s are too large to be compared", Brief(a), Brief(b))
	return 0
}

// insertionMax is the largest number of elements that insertion sort is used
// for.
const insertionMax = 12

// sortSet sorts values in place and drops duplicates.
func sortSet(vs []Value) []Value {
	if len(vs) < 2 {
		return vs
	}
	if allInts(vs) {
		slices.SortFunc(vs, func(a, b Value) int { return cmp.Compare(a.n, b.n) })
		return slices.CompactFunc(vs, func(a, b Value) bool { return a.n == b.n })
	}
	if len(vs) > insertionMax {
		slices.SortFunc(vs, Compare)
		return slices.CompactFunc(vs, func(a, b Value) bool { return Compare(a, b) == 0 })
	}
	n := 1
	for i := 1; i < len(vs); i++ {
		x := vs[i]
		j, dup := n, false
		for j > 0 {
			c := Compare(vs[j-1], x)
			if c <= 0 {
				dup = c == 0
				break
			}
			j--
		}
		if dup {
			continue
		}
		copy(vs[j+1:n+1], vs[j:n])
		vs[j] = x
		n++
	}
	clear(vs[n:])
	return vs[:n]
}

func allInts(vs []Value) bool {
	for i := range vs {
		if vs[i].bits != uint32(KindInt) {
			return false
		}
	}
	return true
}

// contiguous reports whether sorted elements are two or more integers without a
// gap.
func contiguous(elems []Value) (lo int32, n int, ok bool) {
	n = len(elems)
	if n < 1 || elems[0].bits != uint32(KindInt) || elems[n-1].bits != uint32(KindInt) {
		return 0, 0, false
	}
	lo = elems[0].n
	return lo, n, int64(elems[n-1].n)-int64(lo) == int64(n-1)
}
