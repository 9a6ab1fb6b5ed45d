// SPDX-License-Identifier: Apache-2.0

package value

import "math/bits"

// Seeds make the hashes of different kinds differ.
const (
	seedBool   = 0x9AE16A3B2F90404F
	seedInt    = 0xC3A5C85C97CB3127
	seedTuple  = 0xB492B66FBE98F273
	seedRecord = 0x9FB21C651E98DF25
	seedFn     = 0xA0761D6478BD642F
	seedSet    = 0xE7037ED1A0B428DB
	seedRange  = 0x8EBC6AF09C88C6E3
	seedSym    = 0x589965CC75374CC3
	mixMul     = 0x9E3779B97F4A7C15
	fnvOffset  = 0xCBF29CE484222325
	fnvPrime   = 0x100000001B3
)

// mix folds x into h by a wide multiplication.
func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, mixMul^bits.RotateLeft64(x, 32))
	return hi ^ lo ^ bits.RotateLeft64(h, 23)
}

// hashText hashes the text of a string or model value; it is never 0.
func hashText(s string, k Kind) uint64 {
	h := uint64(fnvOffset) ^ uint64(k)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return avoidZero(mix(h, uint64(len(s))+seedSym))
}

func avoidZero(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}

// Hash is a hash of v. Equal values have equal hashes, in every process. The
// hash is cached in the value. An infinite set without a name of its own is an
// *Error.
func Hash(v Value) uint64 {
	switch v.Kind() {
	case KindBool:
		return mix(seedBool, uint64(v.n))
	case KindInt:
		return mix(seedInt, uint64(uint32(v.n)))
	case KindString, KindModel:
		return v.ref.hash.Load()
	case KindTuple:
		return hashNode(v, seedTuple)
	case KindRecord, KindFn:
		return hashFn(v)
	case KindSet:
		return hashSet(v)
	}
	return 0
}

func hashElems(h uint64, elems []Value) uint64 {
	for _, e := range elems {
		h = mix(h, Hash(e))
	}
	return mix(h, uint64(len(elems)))
}

func hashNode(v Value, seed uint64) uint64 {
	if v.ref == nil {
		return avoidZero(hashElems(seed, nil))
	}
	if h := v.ref.hash.Load(); h != 0 {
		return h
	}
	h := avoidZero(hashElems(seed, v.ref.elems))
	v.ref.hash.Store(h)
	return h
}

func hashFn(v Value) uint64 {
	if v.bits == bitsFnLazy {
		return Hash(v.Normal())
	}
	if h := v.ref.hash.Load(); h != 0 {
		return h
	}
	var h uint64
	if v.bits == bitsFnInterval {
		h = mix(seedFn, hashRange(v.n, int64(len(v.ref.elems))))
	} else {
		h = mix(seedRecord, Hash(v.ref.info.set))
	}
	h = avoidZero(hashElems(h, v.ref.elems))
	v.ref.hash.Store(h)
	return h
}

// hashRange is the hash of the set of n integers from lo up.
func hashRange(lo int32, n int64) uint64 {
	return avoidZero(mix(mix(seedRange, uint64(uint32(lo))), uint64(n)))
}

// hashSet hashes contiguous integers without enumerating them.
func hashSet(v Value) uint64 {
	switch v.sub() {
	case setEnum:
		if v.ref == nil {
			return avoidZero(hashElems(seedSet, nil))
		}
		if h := v.ref.hash.Load(); h != 0 {
			return h
		}
		var h uint64
		if lo, n, ok := contiguous(v.ref.elems); ok {
			h = hashRange(lo, int64(n))
		} else {
			h = avoidZero(hashElems(seedSet, v.ref.elems))
		}
		v.ref.hash.Store(h)
		return h
	case setInterval:
		lo, hi := v.bounds()
		return hashRange(lo, int64(hi)-int64(lo)+1)
	case setNat, setInt, setReal, setString, setAny:
		return mix(seedSym, uint64(v.sub()))
	}
	if h := v.ref.hash.Load(); h != 0 {
		return h
	}
	h := hashSymbolic(v)
	v.ref.hash.Store(h)
	return h
}

// hashSymbolic hashes a finite symbolic set by its elements and an infinite one
// by its operands, which determine the set.
func hashSymbolic(v Value) uint64 {
	if IsFinite(v) {
		return Hash(enumerated(v))
	}
	switch v.sub() {
	case setSeqs, setSubsets, setFns, setRecords, setTimes:
		return avoidZero(hashElems(mix(seedSym, uint64(v.sub())), v.ref.elems))
	}
	fail("the infinite set %s cannot be stored or hashed", Brief(v))
	return 0
}
