// SPDX-License-Identifier: Apache-2.0

package value

import (
	"math"
	"math/big"
	"math/bits"
)

// finiteness is what the form of a set shows about its size.
type finiteness uint8

const (
	finite finiteness = iota
	infinite
	undecided // a filter of an infinite set, say
)

// IsFinite reports whether the form of the set v makes it finite. It counts {x
// \in Nat : p} as infinite, whatever p is.
func IsFinite(v Value) bool {
	if v.Kind() != KindSet {
		failKind(v, "a set")
	}
	return extent(v) == finite
}

// DecideFinite reports whether the set v is finite. If its form does not show it,
// the result is an *Error.
func DecideFinite(v Value) bool {
	mustSet(v, "IsFiniteSet")
	e := extent(v)
	if e == undecided {
		fail("cannot decide whether the set %s is finite", Brief(v))
	}
	return e == finite
}

// extent determines from its form whether the set v is finite.
func extent(v Value) finiteness {
	switch v.sub() {
	case setEnum, setInterval:
		return finite
	case setNat, setInt, setReal, setString, setAny:
		return infinite
	case setSeqs:
		return extentFns(infinite, v.ref.elems[0])
	case setFns:
		d, r := v.ref.elems[0], v.ref.elems[1]
		e := extent(d)
		if e == finite {
			if isEmpty(d) {
				return finite
			}
			return extent(r)
		}
		return extentFns(e, r)
	case setRecords:
		return extentProduct(v.ref.elems[1:])
	case setTimes:
		return extentProduct(v.ref.elems)
	case setUnion:
		e := finite
		for _, s := range v.ref.elems {
			switch extent(s) {
			case infinite:
				return infinite
			case undecided:
				e = undecided
			}
		}
		return e
	case setInter:
		if extent(v.ref.elems[0]) == finite || extent(v.ref.elems[1]) == finite {
			return finite
		}
		return undecided
	case setDiff:
		e := extent(v.ref.elems[0])
		if e == infinite && extent(v.ref.elems[1]) != finite {
			return undecided
		}
		return e
	case setFilter:
		if extent(v.ref.elems[0]) == finite {
			return finite
		}
		return undecided
	}
	return extent(v.ref.elems[0]) // subsets
}

// extentFns is the extent of a set of functions whose domain is not finite, or
// of a set of sequences. Such a set is finite only if the codomain is empty.
func extentFns(domain finiteness, codomain Value) finiteness {
	switch extent(codomain) {
	case undecided:
		return undecided
	case finite:
		if isEmpty(codomain) && domain == infinite {
			return finite
		}
	}
	return domain
}

// extentProduct is the extent of a product of sets. It is finite if one of them
// is empty.
func extentProduct(sets []Value) finiteness {
	e := finite
	for _, s := range sets {
		switch extent(s) {
		case finite:
			if isEmpty(s) {
				return finite
			}
		case infinite:
			e = max(e, infinite)
		case undecided:
			e = undecided
		}
	}
	return e
}

// isEmpty reports whether the set v is empty.
func isEmpty(v Value) bool {
	switch v.sub() {
	case setEnum:
		return v.n == 0
	case setInterval:
		return false
	}
	if n, ok := knownSize(v); ok {
		return n == 0
	}
	switch extent(v) {
	case infinite:
		return false
	case undecided:
		fail("cannot decide whether the set %s is empty", Brief(v))
	}
	for range v.each {
		return false
	}
	return true
}

// IsEmpty reports whether the set v is {}.
func IsEmpty(v Value) bool {
	mustSet(v, "= {}")
	return isEmpty(v)
}

// Cardinality is the number of elements of a finite set. It does not enumerate
// the set if its form gives the number. A number over 2147483647 is an *Error.
func Cardinality(v Value) int32 {
	if v.bits == bitsEnum {
		return v.n
	}
	if v.Kind() != KindSet {
		fail("Cardinality: expected a set, found %s", Describe(v))
	}
	mustFinite(v, "Cardinality")
	n, ok := knownSize(v)
	if !ok {
		return enumerated(v).n
	}
	if n > math.MaxInt32 {
		fail("Cardinality(%s) does not fit in 32 bits (at most %d)", Brief(v), math.MaxInt32)
	}
	return int32(n)
}

// mustFinite fails with an *Error unless the form of the set v makes it finite.
func mustFinite(v Value, op string) {
	switch extent(v) {
	case infinite:
		fail("%s: the set %s is infinite", op, Brief(v))
	case undecided:
		fail("%s: the set %s may be infinite", op, Brief(v))
	}
}

// Size is Cardinality as an int.
func Size(v Value) int { return int(Cardinality(v)) }

// knownSize is the size of a finite set if its form gives it. Sizes of more
// than 62 bits are returned as MaxInt64.
func knownSize(v Value) (n int64, ok bool) {
	if n, ok := smallCardinal(v); ok {
		return n, true
	}
	c, ok := cardinal(v)
	if !ok {
		return 0, false
	}
	if c.IsInt64() {
		return c.Int64(), true
	}
	return math.MaxInt64, true
}

// smallCardinal is the exact size of a finite set if its form gives it and it
// fits in 62 bits. cardinal handles larger sizes.
func smallCardinal(v Value) (int64, bool) {
	switch v.sub() {
	case setEnum:
		return int64(v.n), true
	case setInterval:
		lo, hi := v.bounds()
		return int64(hi) - int64(lo) + 1, true
	case setSubsets:
		n, ok := smallCardinal(v.ref.elems[0])
		if !ok || n > 61 {
			return 0, false
		}
		return 1 << n, true
	case setFns:
		d, okD := smallCardinal(v.ref.elems[0])
		r, okR := smallCardinal(v.ref.elems[1])
		if !okD || !okR {
			return 0, false
		}
		return smallPower(r, d)
	case setRecords:
		return smallProduct(v.ref.elems[1:])
	case setTimes:
		return smallProduct(v.ref.elems)
	}
	return 0, false
}

func smallProduct(sets []Value) (int64, bool) {
	product := int64(1)
	for _, s := range sets {
		n, ok := smallCardinal(s)
		if !ok {
			return 0, false
		}
		if product, ok = smallTimes(product, n); !ok {
			return 0, false
		}
	}
	return product, true
}

func smallPower(base, exponent int64) (int64, bool) {
	if exponent == 0 || base == 1 {
		return 1, true
	}
	if base == 0 {
		return 0, true
	}
	power, ok := int64(1), true
	for range exponent {
		if power, ok = smallTimes(power, base); !ok {
			return 0, false
		}
	}
	return power, true
}

func smallTimes(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo < 1<<62
}

// powerMax limits the exponents for which cardinal computes exact sizes, in
// bits of the result.
const powerMax = 1 << 16

// cardinal is the exact size of a finite set if its form gives it.
func cardinal(v Value) (*big.Int, bool) {
	switch v.sub() {
	case setEnum:
		return big.NewInt(int64(v.n)), true
	case setInterval:
		lo, hi := v.bounds()
		return big.NewInt(int64(hi) - int64(lo) + 1), true
	case setSubsets:
		n, ok := cardinal(v.ref.elems[0])
		if !ok || !n.IsInt64() || n.Int64() > powerMax {
			return nil, false
		}
		return new(big.Int).Lsh(big.NewInt(1), uint(n.Int64())), true
	case setFns:
		return cardinalFns(v.ref.elems[0], v.ref.elems[1])
	case setRecords:
		return cardinalProduct(v.ref.elems[1:])
	case setTimes:
		return cardinalProduct(v.ref.elems)
	case setSeqs:
		if n, ok := cardinal(v.ref.elems[0]); ok && n.Sign() == 0 {
			return big.NewInt(1), true
		}
	}
	return nil, false
}

func cardinalFns(domain, codomain Value) (*big.Int, bool) {
	d, okD := cardinal(domain)
	if okD && d.Sign() == 0 {
		return big.NewInt(1), true
	}
	r, okR := cardinal(codomain)
	if okR && r.Sign() == 0 && (okD || !IsFinite(domain)) {
		return r, true
	}
	if !okD || !okR {
		return nil, false
	}
	if r.IsInt64() && r.Int64() == 1 {
		return r, true
	}
	if !d.IsInt64() || d.Int64() > powerMax || d.Int64()*int64(r.BitLen()) > powerMax {
		return nil, false
	}
	return new(big.Int).Exp(r, d, nil), true
}

func cardinalProduct(sets []Value) (*big.Int, bool) {
	known := true
	product := big.NewInt(1)
	for _, s := range sets {
		n, ok := cardinal(s)
		if ok && n.Sign() == 0 {
			return n, true
		}
		if known = known && ok; known {
			product.Mul(product, n)
		}
	}
	return product, known
}
