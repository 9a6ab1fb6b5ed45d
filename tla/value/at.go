// SPDX-License-Identifier: Apache-2.0

package value

import "math/big"

// At is element number i, from 0, of a finite set in canonical order. It does
// not enumerate intervals, products, sets of functions or sets of subsets, so
// that a caller can draw a random element of a very large set.
func At(v Value, i *big.Int) Value {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	n, known := cardinal(v)
	if !known {
		v = enumerated(v)
		n = big.NewInt(int64(v.n))
	}
	if i.Sign() < 0 || i.Cmp(n) >= 0 {
		fail("the set %s has no element number %s", Brief(v), i)
	}
	switch v.sub() {
	case setEnum:
		return v.ref.elems[i.Int64()]
	case setInterval:
		return Int(int32(int64(v.n) + i.Int64()))
	case setFns:
		if isEmpty(v.ref.elems[0]) {
			return Tuple()
		}
		f, vals := NewFn(enumerated(v.ref.elems[0]))
		atProduct(i, vals, func(int) Value { return v.ref.elems[1] })
		return f
	case setRecords:
		r, vals := NewFn(v.ref.elems[0])
		atProduct(i, vals, func(j int) Value { return v.ref.elems[j+1] })
		return r
	case setTimes:
		t, vals := NewTuple(len(v.ref.elems))
		atProduct(i, vals, func(j int) Value { return v.ref.elems[j] })
		return t
	case setSubsets:
		return atSubset(i, enumerated(v.ref.elems[0]).elements())
	}
	return enumerated(v).elements()[i.Int64()]
}

// atProduct fills vals with combination number i; the last component varies
// fastest.
func atProduct(i *big.Int, vals []Value, set func(j int) Value) {
	rest := new(big.Int).Set(i)
	for j := len(vals) - 1; j >= 0; j-- {
		s := set(j)
		n, known := cardinal(s)
		if !known {
			s = enumerated(s)
			n = big.NewInt(int64(s.n))
		}
		digit := new(big.Int)
		rest.DivMod(rest, n, digit)
		vals[j] = At(s, digit)
	}
}

// atSubset is subset number i of es, ordered by size and then
// lexicographically.
func atSubset(i *big.Int, es []Value) Value {
	rest := new(big.Int).Set(i)
	size, n := 0, int64(len(es))
	for {
		count := new(big.Int).Binomial(n, int64(size))
		if rest.Cmp(count) < 0 {
			break
		}
		rest.Sub(rest, count)
		size++
	}
	out := make([]Value, 0, size)
	for at := int64(0); len(out) < size; at++ {
		// The subsets that contain es[at] come before those that do not.
		with := new(big.Int).Binomial(n-at-1, int64(size-len(out)-1))
		if rest.Cmp(with) < 0 {
			out = append(out, es[at])
		} else {
			rest.Sub(rest, with)
		}
	}
	return setOfSorted(out)
}

// Count is the exact number of elements of a finite set.
func Count(v Value) *big.Int {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	mustFinite(v, "counting")
	if n, known := cardinal(v); known {
		return n
	}
	return big.NewInt(int64(enumerated(v).n))
}
