// SPDX-License-Identifier: Apache-2.0

package value

import "iter"

// All calls yield for the elements of a finite set in canonical order. It does
// not enumerate a symbolic set in advance, so it can also walk sets of more
// than MaxSetSize elements.
func (v Value) All() iter.Seq[Value] {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	return v.each
}

// Each is All as a range function, without an extra closure: "for x := range
// v.Each".
func (v Value) Each(yield func(Value) bool) {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	v.each(yield)
}

// CheckBound fails with an *Error if v is not a set or is plainly an infinite set.
// It does not enumerate v.
func CheckBound(v Value) {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	s := v
	for s.sub() == setFilter || s.sub() == setDiff {
		s = s.ref.elems[0]
	}
	if s.sub() >= setNat && s.sub() <= setString || s.sub() == setAny || s.sub() == setSeqs && !isEmpty(s.ref.elems[0]) {
		fail("the infinite set %s cannot be enumerated", Brief(s))
	}
}

// Elems are the elements of a finite set in canonical order. The caller must
// not change the slice. More than MaxSetSize elements are an *Error.
func (v Value) Elems() []Value {
	if v.bits == bitsEnum {
		return v.elements()
	}
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	return enumerated(v).elements()
}

// Enumerate is the finite set v with its elements listed.
func Enumerate(v Value) Value {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	return enumerated(v)
}

// enumerated lists the elements of a finite set. The list of a symbolic set is
// computed once.
func enumerated(v Value) Value {
	if v.bits == bitsEnum {
		return v
	}
	if v.ref == nil {
		return enumerate(v)
	}
	if c := v.ref.cache.Load(); c != nil {
		return c.whole
	}
	w := enumerate(v)
	v.ref.cache.Store(&cache{whole: w})
	return w
}

func enumerate(v Value) Value {
	if !IsFinite(v) {
		fail("the infinite set %s cannot be enumerated", Brief(v))
	}
	size, _ := knownSize(v)
	if size > MaxSetSize {
		failTooLarge(v)
	}
	nd := newNode(int(size))
	out := nd.elems[:0]
	for x := range v.each {
		out = grow(out, x, v)
	}
	if len(out) == 0 {
		return EmptySet()
	}
	nd.elems = out
	return Value{bits: bitsEnum, n: int32(len(out)), ref: nd}
}

// each implements All.
func (v Value) each(yield func(Value) bool) {
	switch v.sub() {
	case setEnum:
		for _, x := range v.elements() {
			if !yield(x) {
				return
			}
		}
	case setInterval:
		lo, hi := v.bounds()
		for i := int64(lo); i <= int64(hi); i++ {
			if !yield(Int(int32(i))) {
				return
			}
		}
	case setSubsets:
		eachSubset(enumerated(v.ref.elems[0]).elements(), yield)
	case setFns:
		eachFn(v.ref.elems[0], v.ref.elems[1], yield)
	case setRecords:
		names := v.ref.elems[0]
		mold, _ := NewFn(names)
		eachProduct(v.ref.elems[1:], mold, yield)
	case setTimes:
		mold, _ := NewTuple(len(v.ref.elems))
		eachProduct(v.ref.elems, mold, yield)
	case setUnion:
		eachUnion(v, yield)
	case setInter:
		a, b := v.ref.elems[0], v.ref.elems[1]
		if !IsFinite(a) {
			a, b = b, a
		}
		eachThat(a, func(x Value) bool { return Contains(b, x) }, yield)
	case setDiff:
		b := v.ref.elems[1]
		eachThat(v.ref.elems[0], func(x Value) bool { return !Contains(b, x) }, yield)
	case setFilter:
		eachThat(v.ref.elems[0], v.ref.info.pred, yield)
	case setSeqs:
		if !isEmpty(v.ref.elems[0]) {
			fail("the infinite set %s cannot be enumerated", Brief(v))
		}
		yield(Tuple())
	default:
		fail("the infinite set %s cannot be enumerated", Brief(v))
	}
}

func eachThat(s Value, pred func(Value) bool, yield func(Value) bool) {
	for x := range s.each {
		if pred(x) && !yield(x) {
			return
		}
	}
}

// eachUnion iterates over a union of sets. It enumerates and sorts the operands
// once; if there are too many elements for that, it merges the operands while
// iterating.
func eachUnion(v Value, yield func(Value) bool) {
	if c := v.ref.cache.Load(); c != nil {
		c.whole.each(yield)
		return
	}
	var out []Value
	for _, s := range v.ref.elems {
		for x := range s.each {
			out = append(out, x)
			if len(out) > 2*MaxSetSize {
				if out = sortSet(out); len(out) > MaxSetSize {
					mergeSets(v.ref.elems, yield)
					return
				}
			}
		}
	}
	w := setOfSorted(sortSet(out))
	v.ref.cache.Store(&cache{whole: w})
	w.each(yield)
}

// mergeSets yields the elements of the union of sets, each of which is iterated
// in order.
func mergeSets(sets []Value, yield func(Value) bool) {
	type source struct {
		head Value
		next func() (Value, bool)
	}
	var sources []source
	for _, s := range sets {
		next, stop := iter.Pull(iter.Seq[Value](s.each))
		defer stop()
		if x, ok := next(); ok {
			sources = append(sources, source{x, next})
		}
	}
	for len(sources) > 0 {
		least := sources[0].head
		for _, s := range sources[1:] {
			if Compare(s.head, least) < 0 {
				least = s.head
			}
		}
		left := sources[:0]
		for _, s := range sources {
			ok := true
			if Equal(s.head, least) {
				s.head, ok = s.next()
			}
			if ok {
				left = append(left, s)
			}
		}
		sources = left
		if !yield(least) {
			return
		}
	}
}

// eachSubset yields the subsets of es by size, and those of equal size in
// lexicographic order.
func eachSubset(es []Value, yield func(Value) bool) {
	if !yield(EmptySet()) {
		return
	}
	n := len(es)
	places := make([]int, n)
	for k := 1; k <= n; k++ {
		for i := range k {
			places[i] = i
		}
		for {
			nd := newNode(k)
			for i := range k {
				nd.elems[i] = es[places[i]]
			}
			if !yield(Value{bits: bitsEnum, n: int32(k), ref: nd}) {
				return
			}
			i := k - 1
			for i >= 0 && places[i] == n-k+i {
				i--
			}
			if i < 0 {
				break
			}
			places[i]++
			for j := i + 1; j < k; j++ {
				places[j] = places[j-1] + 1
			}
		}
	}
}

// eachFn yields the functions of [domain -> codomain].
func eachFn(domain, codomain Value, yield func(Value) bool) {
	if !IsFinite(domain) {
		if !isEmpty(codomain) {
			fail("the infinite set %s cannot be enumerated", Brief(FnSet(domain, codomain)))
		}
		return
	}
	if isEmpty(domain) {
		yield(Tuple())
		return
	}
	if isEmpty(codomain) {
		return
	}
	if _, _, ok := domain.AsInterval(); !ok {
		domain = enumerated(domain)
	}
	n := Size(domain)
	if n > MaxSetSize {
		failTooLarge(domain)
	}
	sets := make([]Value, n)
	for i := range sets {
		sets[i] = codomain
	}
	mold, _ := NewFn(domain)
	eachProduct(sets, mold, yield)
}

// eachProduct iterates over a product of sets; the last component varies
// fastest. The combinations are functions or tuples, as mold is.
func eachProduct(sets []Value, mold Value, yield func(Value) bool) {
	for _, s := range sets {
		if isEmpty(s) {
			return
		}
	}
	lists := make([][]Value, len(sets))
	for i, s := range sets {
		if i > 0 && Same(s, sets[i-1]) {
			lists[i] = lists[i-1]
		} else {
			lists[i] = enumerated(s).elements()
		}
	}
	at := make([]int, len(sets))
	for {
		nd := newNode(len(sets))
		nd.info = mold.ref.info
		for i := range nd.elems {
			nd.elems[i] = lists[i][at[i]]
		}
		if !yield(Value{bits: mold.bits, n: mold.n, ref: nd}) {
			return
		}
		i := len(at) - 1
		for i >= 0 {
			if at[i]++; at[i] < len(lists[i]) {
				break
			}
			at[i] = 0
			i--
		}
		if i < 0 {
			return
		}
	}
}
