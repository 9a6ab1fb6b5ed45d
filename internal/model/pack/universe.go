// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"math/bits"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// universe is a finite set of values, numbered in the order of values.
type universe struct {
	set   value.Value
	vals  []value.Value
	index map[uint64][]int32
	// ints: the values are consecutive integers.
	ints bool
}

// universeMax bounds the size of a universe.
const universeMax = 4096

// universes has one universe for each set.
type universes map[string]*universe

// of returns the universe of the elements of a finite set; nil if there are too
// many, or if they cannot be listed.
func (us universes) of(set value.Value) *universe {
	var u *universe
	err := value.Catch(func() {
		if set.Kind() != value.KindSet || !value.IsFinite(set) || !value.AtMost(set, universeMax) {
			return
		}
		set = value.Enumerate(set)
		key := set.String()
		if u = us[key]; u != nil {
			return
		}
		made := &universe{set: set, vals: set.Elems(), index: make(map[uint64][]int32)}
		for i, v := range made.vals {
			h := value.Hash(v)
			made.index[h] = append(made.index[h], int32(i))
		}
		made.ints = len(made.vals) > 0 && made.every(value.KindInt) &&
			int(made.vals[len(made.vals)-1].AsInt())-int(made.vals[0].AsInt()) == len(made.vals)-1
		us[key], u = made, made
	})
	if err != nil {
		return nil
	}
	return u
}

// ofAll returns the universe of these values; nil if they cannot be compared.
func (us universes) ofAll(vals []value.Value) *universe {
	var set value.Value
	if value.Catch(func() { set = value.SetOf(append([]value.Value(nil), vals...)) }) != nil {
		return nil
	}
	return us.of(set)
}

// find returns the number of v, or -1. It may panic like value.Hash.
func (u *universe) find(v value.Value) int {
	v = v.Normal()
	if v.Kind() == value.KindSet && !value.IsFinite(v) {
		return -1
	}
	for _, i := range u.index[value.Hash(v)] {
		if w := u.vals[i]; w.Kind() == v.Kind() && value.Equal(w, v) {
			return int(i)
		}
	}
	return -1
}

// words returns the number of words of a subset. It is at least one, so that
// afterNodes has a word to which it can attach parts that may stop.
func (u *universe) words() int { return max(1, (len(u.vals)+63)/64) }

// every reports whether all values are of kind k.
func (u *universe) every(k value.Kind) bool {
	for _, v := range u.vals {
		if v.Kind() != k {
			return false
		}
	}
	return true
}

// width returns the number of bits of the numbers 0..n-1.
func width(n int) int { return bits.Len(uint(max(n-1, 0))) }

// kind is the kind of the values of a type.
type kind uint8

const (
	kBool kind = iota
	kInt       // from lo to hi
	kAtom      // an element of u
	kSet       // a subset of u
	kFn        // a function on the constant domain dom, in canonical order
	kSeq       // a sequence of at most most elements of elem
	kPart      // a function on some elements of u; no variable is of such a type
)

// typ is a type of values with a layout.
type typ struct {
	kind   kind
	lo, hi int64
	u      *universe
	dom    value.Value
	keys   []value.Value
	elems  []*typ
	elem   *typ
	most   int
}

var boolType = &typ{kind: kBool}

const (
	intMin = -1 << 31
	intMax = 1<<31 - 1
)

func intType(lo, hi int64) *typ { return &typ{kind: kInt, lo: max(lo, intMin), hi: min(hi, intMax)} }

// bits returns the number of bits of a value of the type, if no field had to
// begin in a new word.
func (t *typ) bits() int {
	switch t.kind {
	case kBool:
		return 1
	case kInt:
		return bits.Len64(uint64(t.hi - t.lo))
	case kAtom:
		return width(len(t.u.vals))
	case kSet:
		return len(t.u.vals)
	case kSeq:
		return width(t.most+1) + t.most*t.elem.bits()
	}
	n := 0
	for _, e := range t.elems {
		n += e.bits()
	}
	return n
}
