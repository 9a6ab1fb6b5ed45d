// SPDX-License-Identifier: Apache-2.0

package typed

import "github.com/ashlar-dev/ashlar/tla/value"

// Fn is a function with a finite domain: its keys in the order of values, and
// the value for each key. A large one is two trees, so that changing a value or
// adding a key costs the logarithm of its size.
type Fn[D, R any, KD Kind[D], KR Kind[R]] struct {
	keys Set[D, KD]
	vals list[R, struct{}] // by the places of their keys
}

// Fns is the kind of Fn[D, R, KD, KR].
type Fns[D, R any, KD Kind[D], KR Kind[R]] struct{}

func (Fns[D, R, KD, KR]) Equal(a, b Fn[D, R, KD, KR]) bool {
	return a.Len() == b.Len() && compareKeyKinds(a.keys, b.keys) == 0 && equalAll[KD](a.keys, b.keys) && equalAll[KR](a.vals, b.vals)
}

// Compare orders functions by size, then by domain, then by their values in
// the order of the domain.
func (Fns[D, R, KD, KR]) Compare(a, b Fn[D, R, KD, KR]) int {
	if c := compareDomains(a.keys, b.keys); c != 0 {
		return c
	}
	return compareAll[KR](a.vals, b.vals)
}

// compareDomains orders domains by size, then by the kind of their keys, then
// key by key.
func compareDomains[D any, KD Kind[D]](a, b Set[D, KD]) int {
	if c := a.len() - b.len(); c != 0 {
		return c
	}
	if c := compareKeyKinds(a, b); c != 0 {
		return c
	}
	return compareAll[KD](a, b)
}

// compareKeyKinds orders domains of equal size: integers before strings before
// others, as in tla/value. The first key decides which of these a domain is:
// model values come before the values that they are mixed with.
func compareKeyKinds[D any, KD Kind[D]](a, b Set[D, KD]) int {
	switch any((*D)(nil)).(type) {
	case *bool, *int32, *string, *Model:
		return 0
	}
	if a.len() == 0 || &a.run(0)[0] == &b.run(0)[0] {
		return 0
	}
	return keyRank[KD](a.at(0)) - keyRank[KD](b.at(0))
}

func keyRank[KD Kind[D], D any](key D) int {
	var k KD
	switch k.Value(key).Kind() {
	case value.KindInt:
		return 0
	case value.KindString:
		return 1
	}
	return 2
}

func (Fns[D, R, KD, KR]) Value(a Fn[D, R, KD, KR]) value.Value {
	return value.FnOf(Sets[D, KD]{}.Value(a.keys), valuesOf[KR](a.vals))
}

func (Fns[D, R, KD, KR]) Of(v value.Value) Fn[D, R, KD, KR] {
	if v.Kind() < value.KindTuple || v.Kind() > value.KindFn {
		value.Fail("expected a function, found %s", value.Describe(v))
	}
	var kr KR
	if v.Kind() == value.KindFn {
		v = v.Normal()
	}
	keys := Sets[D, KD]{}.Of(v.Domain())
	vals := v.Values()
	out := make([]R, len(vals))
	for i, x := range vals {
		out[i] = kr.Of(x)
	}
	return Fn[D, R, KD, KR]{keys, listOf[struct{}](out)}
}

// MakeFn is [x \in s |-> f(x)].
func MakeFn[KR Kind[R], D, R any, KD Kind[D]](s Set[D, KD], f func(D) R) Fn[D, R, KD, KR] {
	vals := make([]R, 0, s.len())
	for x := range s.All() {
		vals = append(vals, f(x))
	}
	return Fn[D, R, KD, KR]{s, listOf[struct{}](vals)}
}

// Single is k :> v.
func Single[KD Kind[D], KR Kind[R], D, R any](k D, v R) Fn[D, R, KD, KR] {
	return Fn[D, R, KD, KR]{sorted[KD]([]D{k}), listOf[struct{}]([]R{v})}
}

// At is f[k].
func (f Fn[D, R, KD, KR]) At(k D) R {
	i, ok := f.keys.search(k)
	if !ok {
		var kd KD
		Fns[D, R, KD, KR]{}.Value(f).Apply(kd.Value(k))
	}
	return f.vals.at(i)
}

// With is [f EXCEPT ![k] = x]. If k is outside the domain, the result is f
// itself.
func (f Fn[D, R, KD, KR]) With(k D, x R) Fn[D, R, KD, KR] {
	i, ok := f.keys.search(k)
	if !ok {
		return f
	}
	return Fn[D, R, KD, KR]{f.keys, f.vals.with(i, x)}
}

// Update is [f EXCEPT ![k] = g(@)].
func (f Fn[D, R, KD, KR]) Update(k D, g func(R) R) Fn[D, R, KD, KR] {
	i, ok := f.keys.search(k)
	if !ok {
		return f
	}
	return Fn[D, R, KD, KR]{f.keys, f.vals.with(i, g(f.vals.at(i)))}
}

// Put is (k :> x) @@ f: f with x for k, whether k was in its domain or not.
func (f Fn[D, R, KD, KR]) Put(k D, x R) Fn[D, R, KD, KR] {
	i, ok := f.keys.search(k)
	if ok {
		return Fn[D, R, KD, KR]{f.keys, f.vals.with(i, x)}
	}
	return f.insert(i, k, x)
}

func (f Fn[D, R, KD, KR]) insert(i int, k D, x R) Fn[D, R, KD, KR] {
	checkSize(int64(f.keys.len() + 1))
	return Fn[D, R, KD, KR]{Set[D, KD]{f.keys.list.insert(i, k)}, f.vals.insert(i, x)}
}

// Part is the value of f at a key, if f has one there.
func (f *Fn[D, R, KD, KR]) Part(key value.Value) (x R, ok bool) {
	if i, ok := f.place(key); ok {
		return f.vals.at(i), true
	}
	return x, false
}

// SetPart sets f to [f EXCEPT ![key] = x], and reports whether f has a value at
// the key.
func (f *Fn[D, R, KD, KR]) SetPart(key value.Value, x R) bool {
	i, ok := f.place(key)
	if ok {
		f.vals = f.vals.with(i, x)
	}
	return ok
}

// place is the place of a key, if it is one of f.
func (f *Fn[D, R, KD, KR]) place(key value.Value) (i int, ok bool) {
	var k KD
	err := value.Catch(func() { i, ok = f.keys.search(k.Of(key)) })
	return i, ok && err == nil
}

// Domain is DOMAIN f.
func (f Fn[D, R, KD, KR]) Domain() Set[D, KD] { return f.keys }

// Values are the values of f in the order of its domain.
func (f Fn[D, R, KD, KR]) Values() Seq[R, KR] {
	if f.vals.long != nil {
		return Seq[R, KR]{tree: f.vals.long}
	}
	return NewSeq[KR](f.vals.short...)
}

// Len is the size of f's domain.
func (f Fn[D, R, KD, KR]) Len() int32 { return f.keys.Size() }

// Over is f @@ g: the function on both domains that takes its value from f if
// both are defined.
func (f Fn[D, R, KD, KR]) Over(g Fn[D, R, KD, KR]) Fn[D, R, KD, KR] {
	switch {
	case g.keys.few(f.keys):
		for j, k := range g.pairs {
			if i, ok := f.keys.search(k); !ok {
				f = f.insert(i, k, g.vals.at(j))
			}
		}
		return f
	case f.keys.few(g.keys):
		for i, k := range f.pairs {
			g = g.Put(k, f.vals.at(i))
		}
		return g
	}
	keys := f.keys.Union(g.keys)
	return MakeFn[KR](keys, func(k D) R {
		if i, ok := f.keys.search(k); ok {
			return f.vals.at(i)
		}
		i, _ := g.keys.search(k)
		return g.vals.at(i)
	})
}

// pairs yields the keys and their places.
func (f Fn[D, R, KD, KR]) pairs(yield func(int, D) bool) {
	i := -1
	All(f.keys, func(k D) bool {
		i++
		return yield(i, k)
	})
}

// AllFns is [d -> r].
func AllFns[D, R any, KD Kind[D], KR Kind[R]](d Set[D, KD], r Set[R, KR]) Set[Fn[D, R, KD, KR], Fns[D, R, KD, KR]] {
	seqs := allSeqs(d.Size(), r)
	out := make([]Fn[D, R, KD, KR], len(seqs))
	for i, vals := range seqs {
		out[i] = Fn[D, R, KD, KR]{d, listOf[struct{}](vals.Slice())}
	}
	return sorted[Fns[D, R, KD, KR]](out)
}

// LookupMax limits the depth of the evaluation of a recursive function.
const LookupMax = 100_000

// Recursive is the function f[x \in s] == rule(f, x). Its values are computed
// when it is applied; rule is called at most once for each x.
func Recursive[KR Kind[R], D, R any, KD Kind[D]](s Set[D, KD], rule func(self func(D) R, x D) R) Fn[D, R, KD, KR] {
	vals := make([]R, s.len())
	state := make([]uint8, s.len()) // 0 unknown, 1 being computed, 2 known
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
			return vals[i]
		case 1:
			var kd KD
			value.Fail("the recursive function needs its own value at %s", kd.Value(x))
		}
		if depth++; depth > LookupMax {
			value.Fail("the recursive function is nested deeper than %d", LookupMax)
		}
		state[i] = 1
		vals[i] = rule(self, x)
		state[i] = 2
		depth--
		return vals[i]
	}
	for x := range s.All() {
		self(x)
	}
	return Fn[D, R, KD, KR]{s, listOf[struct{}](vals)}
}
