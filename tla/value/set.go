// SPDX-License-Identifier: Apache-2.0

package value

import (
	"math"
)

// The representations of sets, in the order in which infinite sets compare.
const (
	setEnum     = iota // elems, sorted and free of duplicates
	setInterval        // lo..hi, not empty
	setNat
	setInt
	setReal
	setString
	setSeqs    // Seq(elems[0])
	setSubsets // SUBSET elems[0]
	setFns     // [elems[0] -> elems[1]]
	setRecords // [f : S, ...]; elems[0] is the set of names, the S follow
	setTimes   // elems[0] \X elems[1] \X ...
	setUnion   // union of all elems
	setInter   // elems[0] \cap elems[1]
	setDiff    // elems[0] \ elems[1]
	setFilter  // {x \in elems[0] : info.pred(x)}
	setAny     // everything
)

const (
	bitsEnum     = uint32(KindSet) | setEnum<<8
	bitsInterval = uint32(KindSet) | setInterval<<8
)

// EmptySet is {}.
func EmptySet() Value { return Value{bits: bitsEnum} }

// Booleans is BOOLEAN.
func Booleans() Value { return Set(Bool(false), Bool(true)) }

// Set is {elems[0], elems[1], ...}.
func Set(elems ...Value) Value {
	switch len(elems) {
	case 0:
		return EmptySet()
	case 1:
		nd := newNode(1)
		nd.elems[0] = elems[0]
		return Value{bits: bitsEnum, n: 1, ref: nd}
	}
	nd := newNode(len(elems))
	copy(nd.elems, elems)
	nd.elems = sortSet(nd.elems)
	return Value{bits: bitsEnum, n: int32(len(nd.elems)), ref: nd}
}

// SetOf is the set of elems. It takes ownership of elems, sorts them in place
// and drops duplicates.
func SetOf(elems []Value) Value { return setOfSorted(sortSet(elems)) }

// setOfSorted is the set of elems, sorted and free of duplicates already.
func setOfSorted(elems []Value) Value {
	if len(elems) == 0 {
		return EmptySet()
	}
	return Value{bits: bitsEnum, n: int32(len(elems)), ref: nodeOf(elems)}
}

// Interval is lo..hi.
func Interval(lo, hi int32) Value {
	n := int64(hi) - int64(lo) + 1
	switch {
	case n <= 0:
		return EmptySet()
	case n <= math.MaxUint16:
		return Value{bits: bitsInterval | uint32(n)<<16, n: lo}
	}
	nd := newNode(2)
	nd.elems[0], nd.elems[1] = Int(lo), Int(hi)
	return Value{bits: bitsInterval, n: lo, ref: nd}
}

// bounds are the ends of an interval.
func (v Value) bounds() (lo, hi int32) {
	if v.ref != nil {
		return v.n, v.ref.elems[1].n
	}
	return v.n, v.n + int32(v.bits>>16) - 1
}

// AsInterval reports whether v is a non-empty set of integers without a gap,
// and returns its ends.
func (v Value) AsInterval() (lo, hi int32, ok bool) {
	if v.Kind() != KindSet {
		return 0, 0, false
	}
	switch v.sub() {
	case setInterval:
		lo, hi = v.bounds()
		return lo, hi, true
	case setEnum:
		if lo, n, ok := contiguous(v.elements()); ok {
			return lo, lo + int32(n-1), true
		}
	}
	return 0, 0, false
}

func named(sub uint32) Value { return Value{bits: uint32(KindSet) | sub<<8} }

// Nat is the set of natural numbers.
func Nat() Value { return named(setNat) }

// Ints is Int, the set of integers.
func Ints() Value { return named(setInt) }

// Reals is Real. Integers are its only elements that can be represented.
func Reals() Value { return named(setReal) }

// Strings is STRING.
func Strings() Value { return named(setString) }

// Anything is TLC's Any, which contains every value.
func Anything() Value { return named(setAny) }

// symbolic makes a symbolic set of a given form from its operands.
func symbolic(sub uint32, operands ...Value) Value {
	nd := newNode(len(operands))
	copy(nd.elems, operands)
	return Value{bits: uint32(KindSet) | sub<<8, ref: nd}
}

func mustSet(v Value, op string) {
	if v.Kind() != KindSet {
		fail("%s: expected a set, found %s", op, Describe(v))
	}
}

// Seqs is Seq(s).
func Seqs(s Value) Value {
	mustSet(s, "Seq")
	return symbolic(setSeqs, s)
}

// Subsets is SUBSET s.
func Subsets(s Value) Value {
	mustSet(s, "SUBSET")
	return symbolic(setSubsets, s)
}

// FnSet is [domain -> codomain].
func FnSet(domain, codomain Value) Value {
	mustSet(domain, "[S -> T]")
	mustSet(codomain, "[S -> T]")
	return symbolic(setFns, domain, codomain)
}

// RecordSet is [f : S, ...]; the Val of each field is its set.
func RecordSet(fields []Field) Value {
	pairs := make([]Pair, len(fields))
	for i, f := range fields {
		mustSet(f.Val, "[f : S]")
		pairs[i] = Pair{String(f.Name), f.Val}
	}
	r := Fn(pairs)
	return RecordSetOf(r.Domain(), r.elements())
}

// RecordSetOf is the record set with these names, a set of strings. sets are
// the sets of the fields in the order of the names.
func RecordSetOf(names Value, sets []Value) Value {
	for _, s := range sets {
		mustSet(s, "[f : S]")
	}
	if len(sets) == 0 {
		return Set(Tuple())
	}
	return symbolic(setRecords, append([]Value{names}, sets...)...)
}

// Times is sets[0] \X sets[1] \X ...
func Times(sets ...Value) Value {
	for _, s := range sets {
		mustSet(s, "\\X")
	}
	return symbolic(setTimes, sets...)
}

// LazyFilter is {x \in s : pred(x)}. It is not enumerated: a membership test
// calls the predicate, which must be pure.
func LazyFilter(s Value, pred func(Value) bool) Value {
	mustSet(s, "{x \\in S : p}")
	v := symbolic(setFilter, s)
	v.ref.info = &info{pred: pred}
	return v
}

// Filter is {x \in s : pred(x)}. It is enumerated if s is finite, else lazy.
func Filter(s Value, pred func(Value) bool) Value {
	mustSet(s, "{x \\in S : p}")
	if !IsFinite(s) {
		return LazyFilter(s, pred)
	}
	v, ok := FilterFinite(s, pred)
	if !ok {
		failTooLarge(s)
	}
	return v
}

// FilterFinite is {x \in s : pred(x)} of a finite set s, enumerated. It returns
// false if s has more than MaxSetSize elements.
func FilterFinite(s Value, pred func(Value) bool) (Value, bool) {
	if s.bits == bitsEnum {
		return filterEnum(s, pred), true
	}
	var out []Value
	for x := range s.each {
		if !pred(x) {
			continue
		}
		if len(out) >= MaxSetSize {
			return Value{}, false
		}
		out = append(out, x)
	}
	return setOfSorted(out), true
}

// filterEnum allocates only if it drops some elements and keeps others.
func filterEnum(s Value, pred func(Value) bool) Value {
	es := s.elements()
	i := 0
	for i < len(es) && pred(es[i]) {
		i++
	}
	if i == len(es) {
		return s
	}
	var out []Value
	if i > 0 {
		out = append(make([]Value, 0, len(es)-1), es[:i]...)
	}
	for _, x := range es[i+1:] {
		if pred(x) {
			out = append(out, x)
		}
	}
	return setOfSorted(out)
}

// Map is {f(x) : x \in s}; s must be finite.
func Map(s Value, f func(Value) Value) Value {
	mustSet(s, "{e : x \\in S}")
	var out []Value
	if n, ok := knownSize(s); ok && n <= MaxSetSize {
		out = make([]Value, 0, n)
	}
	for x := range s.each {
		out = grow(out, f(x), s)
	}
	return SetOf(out)
}

// grow appends x to the elements taken from s and fails beyond MaxSetSize.
func grow(out []Value, x, s Value) []Value {
	if len(out) >= MaxSetSize {
		failTooLarge(s)
	}
	return append(out, x)
}

func failTooLarge(s Value) {
	fail("the set %s has more than %d elements and cannot be enumerated", Brief(s), MaxSetSize)
}

// Choose is the first element of the finite set s, in canonical order, for which
// pred holds. It returns false if there is none.
func Choose(s Value, pred func(Value) bool) (Value, bool) {
	for x := range s.Each {
		if pred(x) {
			return x, true
		}
	}
	return Value{}, false
}
