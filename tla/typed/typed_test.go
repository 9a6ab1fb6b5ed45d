// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"math/rand"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// The tests compare the typed operations with those of package value on all
// small arguments: same answer, or an error in both.

type (
	intSet = Set[int32, Ints]
	intSeq = Seq[int32, Ints]
	intFn  = Fn[int32, int32, Ints, Ints]
	maybe  = Opt[int32]
)

// agree compares a typed computation with one on values.
func agree(t *testing.T, what string, typed func() value.Value, plain func() value.Value) {
	t.Helper()
	var got, want value.Value
	gerr := value.Catch(func() { got = typed() })
	werr := value.Catch(func() { want = plain() })
	switch {
	case (gerr == nil) != (werr == nil):
		t.Errorf("%s: typed %v %v, values %v %v", what, got, gerr, want, werr)
	case gerr == nil && !value.Equal(got, want):
		t.Errorf("%s: typed %v, values %v", what, got, want)
	}
}

func sets() []intSet {
	out := []intSet{{}}
	for s := range Subsets(Interval(-1, 2)).All() {
		out = append(out, s)
	}
	return out
}

func seqs() []intSeq {
	var out []intSeq
	for n := int32(0); n <= 3; n++ {
		out = append(out, AllSeqs(n, Interval(1, 2)).Slice()...)
	}
	return out
}

func ofSet(s intSet) value.Value { return Sets[int32, Ints]{}.Value(s) }
func ofSeq(s intSeq) value.Value { return Seqs[int32, Ints]{}.Value(s) }

func TestSetsAgree(t *testing.T) {
	for _, a := range sets() {
		for _, b := range sets() {
			va, vb := ofSet(a), ofSet(b)
			what := va.String() + " and " + vb.String()
			agree(t, "union of "+what, func() value.Value { return ofSet(a.Union(b)) }, func() value.Value { return value.Union(va, vb) })
			agree(t, "intersection of "+what, func() value.Value { return ofSet(a.Intersect(b)) }, func() value.Value { return value.Intersect(va, vb) })
			agree(t, "difference of "+what, func() value.Value { return ofSet(a.Minus(b)) }, func() value.Value { return value.Diff(va, vb) })
			agree(t, "subset of "+what, func() value.Value { return value.Bool(a.In(b)) }, func() value.Value { return value.Bool(value.Subseteq(va, vb)) })
			agree(t, "equality of "+what, func() value.Value { return value.Bool(Sets[int32, Ints]{}.Equal(a, b)) }, func() value.Value { return value.Bool(value.Equal(va, vb)) })
			if got, want := sign(Sets[int32, Ints]{}.Compare(a, b)), sign(value.Compare(va, vb)); got != want {
				t.Errorf("order of %s: typed %d, values %d", what, got, want)
			}
		}
		agree(t, "SUBSET", func() value.Value { return Sets[intSet, Sets[int32, Ints]]{}.Value(Subsets(a)) }, func() value.Value { return value.Enumerate(value.Subsets(ofSet(a))) })
		agree(t, "UNION", func() value.Value { return ofSet(BigUnion(Subsets(a))) }, func() value.Value { return value.BigUnion(value.Subsets(ofSet(a))) })
		for x := int32(-2); x <= 3; x++ {
			agree(t, "member", func() value.Value { return value.Bool(a.Has(x)) }, func() value.Value { return value.Bool(value.Contains(ofSet(a), value.Int(x))) })
		}
	}
}

func TestSubsetsComeInOrder(t *testing.T) {
	all := Subsets(Interval(1, 6)).Slice()
	for i := 1; i < len(all); i++ {
		if c := (Sets[int32, Ints]{}).Compare(all[i-1], all[i]); c >= 0 {
			t.Fatalf("%v before %v", all[i-1], all[i])
		}
	}
	if len(all) != 64 {
		t.Errorf("%d subsets, want 64", len(all))
	}
}

func TestSequencesAgree(t *testing.T) {
	for _, a := range seqs() {
		va := ofSeq(a)
		agree(t, "Head", func() value.Value { return value.Int(a.Head()) }, func() value.Value { return value.Head(va) })
		agree(t, "Tail", func() value.Value { return ofSeq(a.Tail()) }, func() value.Value { return value.Tail(va) })
		for i := int32(-1); i <= 4; i++ {
			agree(t, "index", func() value.Value { return value.Int(a.At(i)) }, func() value.Value { return va.Apply(value.Int(i)) })
			agree(t, "EXCEPT", func() value.Value { return ofSeq(a.With(i, 9)) }, func() value.Value { return va.ExceptIndex(value.Int(i), value.Int(9)) })
			agree(t, "EXCEPT with @", func() value.Value { return ofSeq(a.Update(i, func(x int32) int32 { return x + 5 })) },
				func() value.Value {
					return UpdateValue(va, func(x value.Value) value.Value { return value.Add(x, value.Int(5)) }, value.Int(i))
				})
			for j := int32(-1); j <= 4; j++ {
				agree(t, "SubSeq", func() value.Value { return ofSeq(a.Sub(i, j)) }, func() value.Value { return value.SubSeq(va, i, j) })
			}
		}
		for _, b := range seqs() {
			vb := ofSeq(b)
			agree(t, "concatenation", func() value.Value { return ofSeq(a.Concat(b)) }, func() value.Value { return value.Concat(va, vb) })
			if got, want := sign((Seqs[int32, Ints]{}).Compare(a, b)), sign(value.Compare(va, vb)); got != want {
				t.Errorf("order of %v and %v: typed %d, values %d", va, vb, got, want)
			}
		}
		agree(t, "Append", func() value.Value { return ofSeq(a.Append(7)) }, func() value.Value { return value.Append(va, value.Int(7)) })
		agree(t, "DOMAIN", func() value.Value { return ofSet(a.Domain()) }, func() value.Value { return va.Domain() })
		back := (Seqs[int32, Ints]{}).Of(va)
		if !(Seqs[int32, Ints]{}).Equal(a, back) {
			t.Errorf("%v comes back as %v", a, back)
		}
	}
}

// TestAppendShares checks that two sequences made from one do not affect each
// other.
func TestAppendShares(t *testing.T) {
	a := NewSeq[Ints](int32(1), 2).Append(3)
	b, c := a.Append(4), a.Append(5)
	d := a.Tail().With(1, 9)
	if b.At(4) != 4 || c.At(4) != 5 || a.At(2) != 2 || d.At(1) != 9 {
		t.Errorf("a %v, b %v, c %v, d %v", a, b, c, d)
	}
}

func fns() []intFn {
	var out []intFn
	for d := range Subsets(Interval(0, 2)).All() {
		out = append(out, AllFns(d, Interval(5, 6)).Slice()...)
	}
	return out
}

func ofFn(f intFn) value.Value { return Fns[int32, int32, Ints, Ints]{}.Value(f) }

func TestFunctionsAgree(t *testing.T) {
	k := Fns[int32, int32, Ints, Ints]{}
	for _, f := range fns() {
		vf := ofFn(f)
		for i := int32(-1); i <= 3; i++ {
			agree(t, "application", func() value.Value { return value.Int(f.At(i)) }, func() value.Value { return vf.Apply(value.Int(i)) })
			agree(t, "EXCEPT", func() value.Value { return ofFn(f.With(i, 9)) }, func() value.Value { return vf.ExceptIndex(value.Int(i), value.Int(9)) })
		}
		agree(t, "DOMAIN", func() value.Value { return ofSet(f.Domain()) }, func() value.Value { return vf.Domain() })
		if !k.Equal(f, k.Of(vf)) {
			t.Errorf("%v comes back as %v", vf, ofFn(k.Of(vf)))
		}
		for _, g := range fns() {
			if got, want := sign(k.Compare(f, g)), sign(value.Compare(vf, ofFn(g))); got != want {
				t.Errorf("order of %v and %v: typed %d, values %d", vf, ofFn(g), got, want)
			}
			if got, want := k.Equal(f, g), value.Equal(vf, ofFn(g)); got != want {
				t.Errorf("%v = %v: typed %v, values %v", vf, ofFn(g), got, want)
			}
			over := f.Over(g)
			for i := int32(0); i <= 2; i++ {
				want, ok := vf.Lookup(value.Int(i))
				if !ok {
					want, ok = ofFn(g).Lookup(value.Int(i))
				}
				if ok && value.Int(over.At(i)).String() != want.String() || ok != over.Domain().Has(i) {
					t.Errorf("%v @@ %v = %v", vf, ofFn(g), ofFn(over))
				}
			}
		}
	}
}

// TestFunctionsOfMixedDomainsAgree: the kind of the keys decides before the keys.
func TestFunctionsOfMixedDomainsAgree(t *testing.T) {
	type fn = Fn[value.Value, int32, Values, Ints]
	k := Fns[value.Value, int32, Values, Ints]{}
	m, n := value.Model("m"), value.Model("n")
	one := func(value.Value) int32 { return 1 }
	var all []fn
	for _, keys := range [][]value.Value{
		{}, {m}, {value.Int(1)}, {value.String("a")}, {value.Int(7), value.Int(8)}, {value.Int(1), value.Int(5)}, {m, value.Int(5)},
		{value.String("a"), value.String("b")}, {m, value.String("b")}, {m, n}, {value.Tuple(m), value.Tuple(n)},
	} {
		all = append(all, MakeFn[Ints](NewSet[Values](keys...), one))
	}
	for _, a := range all {
		for _, b := range all {
			agree(t, "order", func() value.Value { return value.Int(sign(k.Compare(a, b))) }, func() value.Value { return value.Int(sign(value.Compare(k.Value(a), k.Value(b)))) })
			agree(t, "equality", func() value.Value { return value.Bool(k.Equal(a, b)) }, func() value.Value { return value.Bool(value.Equal(k.Value(a), k.Value(b))) })
		}
	}
}

func TestOptionalValuesAgree(t *testing.T) {
	k := Opts[int32, Ints]{}
	all := []maybe{Just[int32](-1), Just[int32](3), Only[int32]("a"), Only[int32]("b"), Only[int32]("T_x"), Only[int32]("T_y")}
	for _, a := range all {
		for _, b := range all {
			agree(t, "equality", func() value.Value { return value.Bool(k.Equal(a, b)) }, func() value.Value { return value.Bool(value.Equal(k.Value(a), k.Value(b))) })
			agree(t, "order", func() value.Value { return value.Int(sign(k.Compare(a, b))) }, func() value.Value { return value.Int(sign(value.Compare(k.Value(a), k.Value(b)))) })
		}
		agree(t, "round trip", func() value.Value { return k.Value(k.Of(k.Value(a))) }, func() value.Value { return k.Value(a) })
	}
	if got := NewSet[Opts[int32, Ints]](all[0], all[2], all[1], all[2]); got.Size() != 3 || got.Nth(0).Model != "a" {
		t.Errorf("model values come first: %v", got)
	}
	if err := value.Catch(func() { Get[Ints](all[2]) }); err == nil {
		t.Error("the number of a model value is no error")
	}
	if err := value.Catch(func() { ModelOf[Ints](all[0]) }); err == nil {
		t.Error("the model value of a number is no error")
	}
	if err := value.Catch(func() { (Models{}).Equal("T_x", "U_x") }); err == nil {
		t.Error("model values of different types compare")
	}
}

func sign(n int) int32 {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestChooseIsTheFirstInOrder(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 200 {
		var list []int32
		for range rng.Intn(8) {
			list = append(list, int32(rng.Intn(9)))
		}
		s := NewSet[Ints](append([]int32(nil), list...)...)
		even := func(x int32) bool { return x%2 == 0 }
		agree(t, "CHOOSE", func() value.Value { return value.Int(Choose(s, even)) },
			func() value.Value {
				return ChooseValue(ofSet(s), func(x value.Value) bool { return even(x.AsInt()) })
			})
	}
	if got := ChooseIn(2147483646, 2147483647, func(x int32) bool { return x == 2147483647 }); got != 2147483647 {
		t.Errorf("the end of the numbers: %d", got)
	}
}

func TestRecursiveFunctions(t *testing.T) {
	calls := 0
	f := Recursive[Ints](Interval(0, 30), func(self func(int32) int32, n int32) int32 {
		calls++
		if n < 2 {
			return n
		}
		return self(n-1) + self(n-2)
	})
	if f.At(30) != 832040 || calls != 31 {
		t.Errorf("f[30] = %d after %d calls", f.At(30), calls)
	}
	err := value.Catch(func() {
		Recursive[Ints](Interval(0, 1), func(self func(int32) int32, n int32) int32 { return self(n) })
	})
	if err == nil {
		t.Error("a function that needs itself has a value")
	}
}

func TestLimits(t *testing.T) {
	for name, f := range map[string]func(){
		"interval": func() { Interval(0, value.MaxSetSize) },
		"subsets":  func() { Subsets(Interval(1, 20)) },
		"many":     func() { Subsets(Interval(1, 40)) },
		"fns":      func() { AllFns(Interval(1, 30), Interval(1, 30)) },
		"seq":      func() { MakeSeq[Ints](2_000_000, func(i int32) int32 { return i }) },
	} {
		if value.Catch(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := AllFns(intSet{}, Interval(1, 2)); got.Size() != 1 {
		t.Errorf("there are %d functions on the empty set", got.Size())
	}
	if got := AllSeqs(2, intSet{}); got.Size() != 0 {
		t.Errorf("there are %d sequences over nothing", got.Size())
	}
	if got := Booleans(); got.Size() != 2 || got.Nth(0) {
		t.Errorf("BOOLEAN = %v", got)
	}
}

func TestFieldsAreChecked(t *testing.T) {
	r := value.Record([]value.Field{{Name: "a", Val: value.Int(1)}, {Name: "b", Val: value.Int(2)}})
	for _, c := range []struct {
		required, optional []string
		ok                 bool
	}{
		{[]string{"a", "b"}, nil, true},
		{[]string{"a"}, []string{"b"}, true},
		{[]string{"a"}, nil, false},
		{[]string{"a", "b", "c"}, nil, false},
		{nil, []string{"a", "b", "c"}, true},
	} {
		if err := value.Catch(func() { Fields(r, c.required, c.optional) }); (err == nil) != c.ok {
			t.Errorf("required %v, optional %v: %v", c.required, c.optional, err)
		}
	}
	if err := value.Catch(func() { Fields(value.Int(1), nil, nil) }); err == nil {
		t.Error("a number passes as a record")
	}
}

func TestLazyComputesOnce(t *testing.T) {
	n := 0
	x := Lazy(func() int { n++; return 7 })
	if n != 0 || x() != 7 || x() != 7 || n != 1 {
		t.Errorf("computed %d times", n)
	}
}

func TestPlacesFind(t *testing.T) {
	p := &Places{File: "x.go", Lines: []Place{{3, "a.tla:1"}, {7, ""}, {9, "a.tla:5"}}}
	for line, want := range map[int]string{1: "", 3: "a.tla:1", 6: "a.tla:1", 8: "", 20: "a.tla:5"} {
		if got := p.find(line); got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
	here := &Places{File: "typed_test.go", Lines: []Place{{1, "here"}}}
	if got := here.Trace(); len(got) != 1 || got[0] != "here" {
		t.Errorf("got %v", got)
	}
}
