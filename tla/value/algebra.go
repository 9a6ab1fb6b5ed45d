// SPDX-License-Identifier: Apache-2.0

package value

// listable reports whether merging a set element by element is cheap: it is
// enumerated or a short interval.
func listable(v Value) bool {
	return v.bits == bitsEnum || v.bits&0xFFFF == bitsInterval && v.ref == nil
}

func twoSets(a, b Value, op string) {
	if a.Kind() != KindSet {
		fail("%s %s %s: the left operand must be a set, found %s", Brief(a), op, Brief(b), Describe(a))
	}
	if b.Kind() != KindSet {
		fail("%s %s %s: the right operand must be a set, found %s", Brief(a), op, Brief(b), Describe(b))
	}
}

// Union is a \cup b. It stays symbolic if one of the operands is.
func Union(a, b Value) Value {
	if a.bits == bitsEnum && b.bits == bitsEnum {
		return unionEnum(a, b)
	}
	twoSets(a, b, "\\cup")
	if a.bits == bitsEnum && a.n == 0 || Same(a, b) {
		return b
	}
	if b.bits == bitsEnum && b.n == 0 {
		return a
	}
	if listable(a) && listable(b) {
		return unionListable(a, b)
	}
	return symbolic(setUnion, a, b)
}

// unionListable joins two overlapping or adjacent intervals into one and
// enumerates other sets.
func unionListable(a, b Value) Value {
	if a.sub() == setInterval && b.sub() == setInterval {
		la, ha := a.bounds()
		lb, hb := b.bounds()
		if int64(lb) <= int64(ha)+1 && int64(la) <= int64(hb)+1 {
			return Interval(min(la, lb), max(ha, hb))
		}
	}
	return unionEnum(enumerated(a), enumerated(b))
}

func unionEnum(a, b Value) Value {
	switch {
	case b.n == 0 || a.ref == b.ref:
		return a
	case a.n == 0:
		return b
	case b.n == 1:
		return insert(a, b.ref.elems[0])
	case a.n == 1:
		return insert(b, a.ref.elems[0])
	}
	ea, eb := a.ref.elems, b.ref.elems
	nd := newNode(len(ea) + len(eb))
	out := nd.elems[:0]
	i, j := 0, 0
	for i < len(ea) && j < len(eb) {
		c := Compare(ea[i], eb[j])
		switch {
		case c < 0:
			out = append(out, ea[i])
			i++
		case c > 0:
			out = append(out, eb[j])
			j++
		default:
			out = append(out, ea[i])
			i++
			j++
		}
	}
	out = append(out, ea[i:]...)
	out = append(out, eb[j:]...)
	switch len(out) {
	case len(ea):
		return a
	case len(eb):
		return b
	}
	nd.elems = out
	return Value{bits: bitsEnum, n: int32(len(out)), ref: nd}
}

// insert is the enumerated set s with x.
func insert(s, x Value) Value {
	es := s.ref.elems
	if found, ok := containsText(es, x); ok && found {
		return s
	}
	i, found := search(es, x)
	if found {
		return s
	}
	nd := newNode(len(es) + 1)
	copy(nd.elems, es[:i])
	nd.elems[i] = x
	copy(nd.elems[i+1:], es[i:])
	return Value{bits: bitsEnum, n: int32(len(es) + 1), ref: nd}
}

// Insert is s \cup {x}.
func Insert(s, x Value) Value {
	if s.bits == bitsEnum && s.n > 0 {
		return insert(s, x)
	}
	return Union(s, Set(x))
}

// Remove is s \ {x}.
func Remove(s, x Value) Value {
	if s.bits != bitsEnum {
		return Diff(s, Set(x))
	}
	i, found := search(s.elements(), x)
	if !found {
		return s
	}
	return without(s, i)
}

// without is an enumerated set without its element i.
func without(s Value, i int) Value {
	es := s.ref.elems
	if len(es) == 1 {
		return EmptySet()
	}
	nd := newNode(len(es) - 1)
	copy(nd.elems, es[:i])
	copy(nd.elems[i:], es[i+1:])
	return Value{bits: bitsEnum, n: int32(len(es) - 1), ref: nd}
}

// Intersect is a \cap b. It is enumerated if one of the operands is.
func Intersect(a, b Value) Value {
	twoSets(a, b, "\\cap")
	switch {
	case Same(a, b):
		return a
	case a.sub() == setInterval && b.sub() == setInterval:
		la, ha := a.bounds()
		lb, hb := b.bounds()
		return Interval(max(la, lb), min(ha, hb))
	case a.bits == bitsEnum && b.bits == bitsEnum && b.n < a.n:
		return filterEnum(b, func(x Value) bool { return Contains(a, x) })
	case a.bits == bitsEnum:
		return filterEnum(a, func(x Value) bool { return Contains(b, x) })
	case b.bits == bitsEnum:
		return filterEnum(b, func(x Value) bool { return Contains(a, x) })
	}
	if r, ok := intersectRange(a, b); ok {
		return r
	}
	if r, ok := intersectRange(b, a); ok {
		return r
	}
	return symbolic(setInter, a, b)
}

// intersectRange intersects an interval, or Nat, with a set of all numbers.
func intersectRange(a, b Value) (Value, bool) {
	switch {
	case a.sub() == setInterval && (b.sub() == setInt || b.sub() == setReal):
		return a, true
	case a.sub() == setInterval && b.sub() == setNat:
		lo, hi := a.bounds()
		return Interval(max(lo, 0), hi), true
	case a.sub() >= setNat && a.sub() <= setReal && b.sub() >= setNat && b.sub() <= setReal:
		if a.sub() <= b.sub() {
			return a, true
		}
		return b, true
	}
	return Value{}, false
}

// Diff is a \ b. It is enumerated if a is.
func Diff(a, b Value) Value {
	twoSets(a, b, "\\")
	switch {
	case b.bits == bitsEnum && b.n == 0, a.bits == bitsEnum && a.n == 0:
		return a
	case Same(a, b):
		return EmptySet()
	case a.bits == bitsEnum && b.bits == bitsEnum && b.n == 1:
		return Remove(a, b.ref.elems[0])
	case listable(a):
		return filterEnum(enumerated(a), func(x Value) bool { return !Contains(b, x) })
	}
	return symbolic(setDiff, a, b)
}

// BigUnion is UNION s, the union of the sets in s.
func BigUnion(s Value) Value {
	mustSet(s, "UNION")
	if s.sub() == setSubsets {
		return s.ref.elems[0]
	}
	if !IsFinite(s) {
		fail("UNION of the infinite set %s cannot be computed", Brief(s))
	}
	sets := enumerated(s).elements()
	if len(sets) == 2 {
		return Union(sets[0], sets[1])
	}
	return UnionOf(sets)
}

// UnionOf is the union of sets. It stays symbolic if one of them is.
func UnionOf(sets []Value) Value {
	plain := true
	for _, s := range sets {
		mustSet(s, "UNION")
		plain = plain && listable(s)
	}
	switch {
	case len(sets) == 0:
		return EmptySet()
	case len(sets) == 1:
		return sets[0]
	case !plain:
		return symbolic(setUnion, sets...)
	}
	var out []Value
	for _, s := range sets {
		out = append(out, enumerated(s).elements()...)
		if len(out) > 2*MaxSetSize {
			if out = sortSet(out); len(out) > MaxSetSize {
				fail("a union has more than %d elements", MaxSetSize)
			}
		}
	}
	return SetOf(out)
}
