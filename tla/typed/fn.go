// SPDX-License-Identifier: Apache-2.0

package typed

import "github.com/ashlar-dev/ashlar/tla/value"

// Fn is a function with a finite domain: its keys in the order of values, and
// the value for each key.
type Fn[D, R any, KD Kind[D], KR Kind[R]] struct {
	keys Set[D, KD]
	vals []R
}

// Fns is the kind of Fn[D, R, KD, KR].
type Fns[D, R any, KD Kind[D], KR Kind[R]] struct{}

func (Fns[D, R, KD, KR]) Equal(a, b Fn[D, R, KD, KR]) bool {
	return equalAll[D, KD](a.keys, b.keys) && equalAll[R, KR](a.vals, b.vals)
}

// Compare orders functions by size, then by domain, then by their values in
// the order of the domain.
func (Fns[D, R, KD, KR]) Compare(a, b Fn[D, R, KD, KR]) int {
	if c := compareAll[D, KD](a.keys, b.keys); c != 0 {
		return c
	}
	return compareAll[R, KR](a.vals, b.vals)
}

func (Fns[D, R, KD, KR]) Value(a Fn[D, R, KD, KR]) value.Value {
	return value.FnOf(Sets[D, KD]{}.Value(a.keys), valuesOf[R, KR](a.vals))
}

func (Fns[D, R, KD, KR]) Of(v value.Value) Fn[D, R, KD, KR] {
	if v.Kind() < value.KindTuple || v.Kind() > value.KindFn {
		value.Fail("expected a function, found %s", value.Describe(v))
	}
	var kr KR
	if v.Kind() == value.KindFn {
		v = v.Normal()
	}
	f := Fn[D, R, KD, KR]{keys: Sets[D, KD]{}.Of(v.Domain())}
	vals := v.Values()
	f.vals = make([]R, len(vals))
	for i, x := range vals {
		f.vals[i] = kr.Of(x)
	}
	return f
}

// MakeFn is [x \in s |-> f(x)].
func MakeFn[KR Kind[R], D, R any, KD Kind[D]](s Set[D, KD], f func(D) R) Fn[D, R, KD, KR] {
	out := Fn[D, R, KD, KR]{keys: s, vals: make([]R, len(s))}
	for i, x := range s {
		out.vals[i] = f(x)
	}
	return out
}

// Single is k :> v.
func Single[KD Kind[D], KR Kind[R], D, R any](k D, v R) Fn[D, R, KD, KR] {
	return Fn[D, R, KD, KR]{keys: Set[D, KD]{k}, vals: []R{v}}
}

// At is f[k].
func (f Fn[D, R, KD, KR]) At(k D) R {
	i, ok := f.keys.search(k)
	if !ok {
		var kd KD
		Fns[D, R, KD, KR]{}.Value(f).Apply(kd.Value(k))
	}
	return f.vals[i]
}

// With is [f EXCEPT ![k] = x]. If k is outside the domain, the result is f
// itself.
func (f Fn[D, R, KD, KR]) With(k D, x R) Fn[D, R, KD, KR] {
	i, ok := f.keys.search(k)
	if !ok {
		return f
	}
	vals := append([]R(nil), f.vals...)
	vals[i] = x
	return Fn[D, R, KD, KR]{keys: f.keys, vals: vals}
}

// Update is [f EXCEPT ![k] = g(@)].
func (f Fn[D, R, KD, KR]) Update(k D, g func(R) R) Fn[D, R, KD, KR] {
	i, ok := f.keys.search(k)
	if !ok {
		return f
	}
	return f.With(k, g(f.vals[i]))
}

// Domain is DOMAIN f.
func (f Fn[D, R, KD, KR]) Domain() Set[D, KD] { return f.keys }

// Values are the values of f in the order of its domain.
func (f Fn[D, R, KD, KR]) Values() []R { return f.vals }

// Len is the size of f's domain.
func (f Fn[D, R, KD, KR]) Len() int32 { return int32(len(f.keys)) }

// Over is f @@ g: the function on both domains that takes its value from f if
// both are defined.
func (f Fn[D, R, KD, KR]) Over(g Fn[D, R, KD, KR]) Fn[D, R, KD, KR] {
	keys := f.keys.Union(g.keys)
	out := Fn[D, R, KD, KR]{keys: keys, vals: make([]R, len(keys))}
	for i, k := range keys {
		if j, ok := f.keys.search(k); ok {
			out.vals[i] = f.vals[j]
			continue
		}
		j, _ := g.keys.search(k)
		out.vals[i] = g.vals[j]
	}
	return out
}

// AllFns is [d -> r].
func AllFns[D, R any, KD Kind[D], KR Kind[R]](d Set[D, KD], r Set[R, KR]) Set[Fn[D, R, KD, KR], Fns[D, R, KD, KR]] {
	seqs := AllSeqs(int32(len(d)), r)
	out := make(Set[Fn[D, R, KD, KR], Fns[D, R, KD, KR]], len(seqs))
	for i, vals := range seqs {
		out[i] = Fn[D, R, KD, KR]{keys: d, vals: vals.Slice()}
	}
	return out
}

// LookupMax limits the depth of the evaluation of a recursive function.
const LookupMax = 100_000

// Recursive is the function f[x \in s] == rule(f, x). Its values are computed
// when it is applied; rule is called at most once for each x.
func Recursive[KR Kind[R], D, R any, KD Kind[D]](s Set[D, KD], rule func(self func(D) R, x D) R) Fn[D, R, KD, KR] {
	out := Fn[D, R, KD, KR]{keys: s, vals: make([]R, len(s))}
	state := make([]uint8, len(s)) // 0 unknown, 1 being computed, 2 known
	depth := 0
	var self func(D) R
	self = func(x D) R {
		i, ok := s.search(x)
		if !ok {
			var kd KD
			value.Fail("attempted to apply a recursive function to %s, which is not in its domain", kd.Value(x))
		}
		switch state[i] {
		case 2:
			return out.vals[i]
		case 1:
			var kd KD
			value.Fail("the recursive function needs its own value at %s", kd.Value(x))
		}
		if depth++; depth > LookupMax {
			value.Fail("the recursive function is nested deeper than %d", LookupMax)
		}
		state[i] = 1
		out.vals[i] = rule(self, x)
		state[i] = 2
		depth--
		return out.vals[i]
	}
	for _, x := range s {
		self(x)
	}
	return out
}
