// SPDX-License-Identifier: Apache-2.0

package value

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// shape is the type of a generated value: values of one shape can be compared.
type shape func(t *rapid.T) Value

// anyShape draws a shape; the values of one are of comparable kinds.
func anyShape(t *rapid.T, depth int) shape {
	kind := rapid.IntRange(0, 10).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return func(t *rapid.T) Value { return Bool(rapid.Bool().Draw(t, "bool")) }
	case 1:
		return func(t *rapid.T) Value { return Int(int32(rapid.IntRange(-3, 4).Draw(t, "int"))) }
	case 2:
		return func(t *rapid.T) Value {
			return String(rapid.SampledFrom([]string{"", "a", "b", "\"\\\n", "zz"}).Draw(t, "string"))
		}
	case 3:
		inner := shape(func(t *rapid.T) Value { return Int(rapid.Int32().Draw(t, "wide")) })
		return func(t *rapid.T) Value {
			if rapid.Bool().Draw(t, "model") {
				return Model(rapid.SampledFrom([]string{"m1", "m2", "p"}).Draw(t, "name"))
			}
			return inner(t)
		}
	case 4:
		shapes := []shape{anyShape(t, depth-1), anyShape(t, depth-1)}
		return func(t *rapid.T) Value { return Tuple(shapes[0](t), shapes[1](t)) }
	case 5:
		e := anyShape(t, depth-1)
		return func(t *rapid.T) Value { return TupleOf(draws(t, e, 4)) }
	case 6, 7:
		e := anyShape(t, depth-1)
		return func(t *rapid.T) Value { return SetOf(draws(t, e, 5)) }
	case 8:
		e := anyShape(t, depth-1)
		return func(t *rapid.T) Value {
			names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c d", "x"}), 1, 3, rapid.ID).Draw(t, "names")
			fields := make([]Field, len(names))
			for i, n := range names {
				fields[i] = Field{n, e(t)}
			}
			return Record(fields)
		}
	case 9:
		lo := int32(rapid.IntRange(-2, 3).Draw(t, "lo"))
		e := anyShape(t, depth-1)
		return func(t *rapid.T) Value {
			vals := draws(t, e, 4)
			return FnOf(Interval(lo, lo+int32(len(vals))-1), vals)
		}
	}
	k, e := anyShape(t, depth-1), anyShape(t, depth-1)
	return func(t *rapid.T) Value {
		keys := SetOf(draws(t, k, 4))
		vals := make([]Value, keys.n)
		for i := range vals {
			vals[i] = e(t)
		}
		return FnOf(keys, vals)
	}
}

func draws(t *rapid.T, e shape, most int) []Value {
	vs := make([]Value, rapid.IntRange(0, most).Draw(t, "n"))
	for i := range vs {
		vs[i] = e(t)
	}
	return vs
}

func sign(c int) int {
	switch {
	case c < 0:
		return -1
	case c > 0:
		return 1
	}
	return 0
}

// TestOrder: the order is total, consistent with Equal and Hash.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyShape(t, 3)
		a, b, c := e(t), e(t), e(t)
		if Compare(a, a) != 0 || !Equal(a, a) {
			t.Fatalf("%v is not equal to itself", a)
		}
		ab := sign(Compare(a, b))
		if ab != -sign(Compare(b, a)) {
			t.Fatalf("Compare(%v, %v) is not antisymmetric", a, b)
		}
		if (ab == 0) != Equal(a, b) || Equal(a, b) != Equal(b, a) {
			t.Fatalf("Compare and Equal disagree on %v and %v", a, b)
		}
		if ab == 0 && (Hash(a) != Hash(b) || a.String() != b.String() || a.JSON() != b.JSON()) {
			t.Fatalf("%v and %v are equal, their hashes or texts are not", a, b)
		}
		if ab != 0 && a.String() == b.String() {
			t.Fatalf("different values have the text %v", a)
		}
		if ab <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Fatalf("%v <= %v <= %v, but not the first <= the last", a, b, c)
		}
	})
}

// TestCanonical: a set or a function is the same value however it is built.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyShape(t, 2)
		vs := draws(t, e, 8)
		whole := Set(vs...)
		perm := rapid.Permutation(vs).Draw(t, "permutation")
		grown := EmptySet()
		for _, v := range perm {
			grown = Insert(grown, v)
		}
		split := rapid.IntRange(0, len(vs)).Draw(t, "split")
		joined := Union(Set(perm[:split]...), SetOf(slices.Clone(perm[split:])))
		same(t, whole, grown)
		same(t, whole, joined)
		if !slices.IsSortedFunc(whole.Elems(), Compare) {
			t.Fatalf("%v is not sorted", whole)
		}
		if len(vs) > 0 {
			x := vs[0]
			same(t, Remove(whole, x), Diff(whole, Set(x)))
			if Contains(Remove(whole, x), x) || !Contains(whole, x) {
				t.Fatalf("%v is not removed from %v", x, whole)
			}
		}
		vals := make([]Value, Size(whole))
		pairs := make([]Pair, len(vals))
		single := make([]Value, len(vals))
		for i, k := range whole.Elems() {
			vals[i] = e(t)
			pairs[i] = Pair{k, vals[i]}
			single[i] = Fn(pairs[i : i+1])
		}
		f := FnOf(whole, slices.Clone(vals))
		same(t, f, Fn(rapid.Permutation(pairs).Draw(t, "pairs")))
		same(t, f, LazyFn(whole, func(x Value) Value { return f.Apply(x) }).Normal())
		same(t, f, Merge(single...))
		same(t, f.Domain(), whole)
		for _, p := range pairs {
			same(t, f.Apply(p.Key), p.Val)
			y := e(t)
			g := f.ExceptIndex(p.Key, y)
			same(t, g.Apply(p.Key), y)
			same(t, g.ExceptIndex(p.Key, p.Val), f)
		}
	})
}

func same(t *rapid.T, a, b Value) {
	t.Helper()
	if !Equal(a, b) || Compare(a, b) != 0 || Hash(a) != Hash(b) || a.String() != b.String() {
		t.Fatalf("%v is not %v", a, b)
	}
}

// symbolicSet draws a finite set that is not enumerated, with its reference.
func symbolicSet(t *rapid.T, depth int) Value {
	small := func() Value { return Set(draws(t, intShape, 3)...) }
	operand := func() Value {
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			if s := symbolicSet(t, depth-1); Size(s) <= 4 {
				return s
			}
		}
		return small()
	}
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		lo := int32(rapid.IntRange(-3, 3).Draw(t, "lo"))
		return Interval(lo, lo+int32(rapid.IntRange(-1, 4).Draw(t, "n")))
	case 1:
		return Subsets(operand())
	case 2:
		return FnSet(operand(), operand())
	case 3:
		return RecordSet([]Field{{"b", operand()}, {"a", operand()}})
	case 4:
		return Times(operand(), operand())
	case 5:
		s := operand()
		return symbolic(setUnion, s, Filter(s, func(x Value) bool { return Hash(x)%2 == 0 }))
	case 6:
		s := operand()
		return symbolic(setInter, s, LazyFilter(s, func(x Value) bool { return Hash(x)%2 == 0 }))
	case 7:
		s := operand()
		return symbolic(setDiff, s, Filter(s, func(x Value) bool { return Hash(x)%3 == 0 }))
	case 8:
		return Intersect(Nat(), small())
	}
	return LazyFilter(operand(), func(x Value) bool { return Hash(x)%2 == 0 })
}

func intShape(t *rapid.T) Value { return Int(int32(rapid.IntRange(-2, 3).Draw(t, "int"))) }

// TestSymbolic: every operation treats a symbolic set like its enumeration.
func TestSymbolic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := symbolicSet(t, 1)
		listed := []Value{}
		for x := range s.All() {
			listed = append(listed, x)
		}
		if !slices.IsSortedFunc(listed, Compare) {
			t.Fatalf("%s is not walked in order", Brief(s))
		}
		e := Set(listed...)
		if Size(s) != len(listed) || Size(e) != len(listed) || IsEmpty(s) != (len(listed) == 0) || !IsFinite(s) {
			t.Fatalf("%s has %d elements, not %d", Brief(s), Size(s), len(listed))
		}
		same(t, s, e)
		for _, x := range listed {
			if !Contains(s, x) {
				t.Fatalf("%v is not in %s", x, Brief(s))
			}
		}
		codec := NewCodec()
		if string(codec.AppendTo(nil, s)) != string(codec.AppendTo(nil, e)) || string(AppendWire(nil, s)) != string(AppendWire(nil, e)) {
			t.Fatalf("%s and its enumeration have different encodings", Brief(s))
		}
		// A second set of elements of the same kind, so that they compare.
		other := Filter(e, func(x Value) bool { return rapid.Bool().Draw(t, "keep") })
		for _, o := range []Value{other, LazyFilter(s, func(x Value) bool { return Contains(other, x) })} {
			same(t, Union(s, o), Union(e, other))
			same(t, Intersect(s, o), Intersect(e, other))
			same(t, Intersect(o, s), Intersect(e, other))
			same(t, Diff(s, o), Diff(e, other))
			same(t, Diff(o, s), EmptySet())
			same(t, BigUnion(Set(Set(listed...), o)), Union(e, other))
			if Subseteq(o, s) != true || Subseteq(s, o) != Equal(e, other) || Equal(s, o) != Equal(e, other) {
				t.Fatalf("%s and %s: wrong inclusion", Brief(s), Brief(o))
			}
			if Compare(s, o) != Compare(e, other) || Compare(o, s) != Compare(other, e) {
				t.Fatalf("%s and %s: wrong order", Brief(s), Brief(o))
			}
		}
		same(t, Map(s, func(x Value) Value { return Tuple(x) }), Map(e, func(x Value) Value { return Tuple(x) }))
		f := LazyFn(s, func(x Value) Value { return Set(x) })
		for _, x := range listed {
			same(t, f.Apply(x), Set(x))
		}
		same(t, f.Normal(), FnOf(e, f.Values()))
	})
}

// TestCodecProperty: decoding gives the value back; encodings are equal exactly
// where values are.
func TestCodecProperty(t *testing.T) {
	codec := NewCodec(String("a"), Model("m1"))
	rapid.Check(t, func(t *rapid.T) {
		e := anyShape(t, 3)
		a, b := e(t), e(t)
		ba, bb := codec.AppendTo(nil, a), codec.AppendTo(nil, b)
		if (string(ba) == string(bb)) != Equal(a, b) {
			t.Fatalf("%v and %v are encoded as %x and %x", a, b, ba, bb)
		}
		v, rest, err := codec.Decode(append(slices.Clone(ba), 7))
		if err != nil || len(rest) != 1 {
			t.Fatalf("decode %v: %v, %d bytes left", a, err, len(rest))
		}
		same(t, a, v)
		wa, wb := AppendWire(nil, a), AppendWire(nil, b)
		if (string(wa) == string(wb)) != Equal(a, b) {
			t.Fatalf("%v and %v are sent as %x and %x", a, b, wa, wb)
		}
		v, rest, err = ParseWire(append(slices.Clone(wa), 7))
		if err != nil || len(rest) != 1 {
			t.Fatalf("parse the wire form of %v: %v, %d bytes left", a, err, len(rest))
		}
		same(t, a, v)
	})
}

// TestTextProperty: the text of a value is read back as the value.
func TestTextProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyShape(t, 3)(t)
		if rapid.Bool().Draw(t, "symbolic") {
			a = symbolicSet(t, 1)
		}
		for _, text := range []string{a.String(), a.Pretty(8), a.Pretty(30)} {
			v, err := Parse(text)
			if err != nil {
				t.Fatalf("parse %s: %v", text, err)
			}
			same(t, a, v)
		}
	})
}

// TestDivisionProperty: \div and % satisfy their definition in Naturals.
func TestDivisionProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int32().Draw(t, "a"), rapid.Int32Range(1, 1<<30).Draw(t, "b")
		q, r := DivInt(a, b), ModInt(a, b)
		if r < 0 || r >= b || int64(q)*int64(b)+int64(r) != int64(a) {
			t.Fatalf("%d \\div %d = %d, %% = %d", a, b, q, r)
		}
	})
}
