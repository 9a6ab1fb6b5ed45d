// SPDX-License-Identifier: Apache-2.0

package value

import (
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"
)

// read parses the text of a value.
func read(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return v
}

func wantValue(t *testing.T, what string, got Value, want string) {
	t.Helper()
	if !Equal(got, read(t, want)) {
		t.Errorf("%s is %v, want %s", what, got, want)
	}
}

func wantError(t *testing.T, what, part string, f func()) {
	t.Helper()
	err := Catch(f)
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: error %v, want one with %q", what, err, part)
	}
}

// TestExtensional: equal sets and functions look the same, whatever they are made
// from.
func TestExtensional(t *testing.T) {
	first := func(s Value) Value {
		v, ok := Choose(s, func(Value) bool { return true })
		if !ok {
			t.Fatalf("nothing chosen from %v", s)
		}
		return v
	}
	if a, b := first(Set(Int(1), Int(2))), first(Set(Int(2), Int(1))); !Equal(a, b) || a.AsInt() != 1 {
		t.Errorf("CHOOSE gives %v and %v from equal sets", a, b)
	}
	wantValue(t, `(-1) \div 2`, Div(Int(-1), Int(2)), "-1")
	wantValue(t, `(-1) % 2`, Mod(Int(-1), Int(2)), "1")
	if !Equal(Tuple(Int(7)), FnOf(Set(Int(1)), []Value{Int(7)})) {
		t.Error("<<7>> is not [i \\in {1} |-> 7]")
	}
	if !Equal(Tuple(), FnOf(EmptySet(), nil)) || !Equal(Tuple(), Record(nil)) {
		t.Error("<<>> is not [i \\in {} |-> 0]")
	}
	wantError(t, "2147483647 + 1", "2147483647 + 1 does not fit in 32 bits", func() { Add(Int(math.MaxInt32), Int(1)) })
	if !Equal(Record([]Field{{"b", Int(1)}, {"a", Int(2)}}), Fn([]Pair{{String("a"), Int(2)}, {String("b"), Int(1)}})) {
		t.Error("a record is not the function on its names")
	}
	for _, v := range []Value{FnOf(Interval(1, 2), []Value{Int(5), Int(6)}), Fn([]Pair{{Int(2), Int(6)}, {Int(1), Int(5)}}),
		LazyFn(Interval(1, 2), func(x Value) Value { return Add(x, Int(4)) }).Normal()} {
		if v.Kind() != KindTuple || !Equal(v, Tuple(Int(5), Int(6))) {
			t.Errorf("%v is not <<5, 6>>", v)
		}
	}
	if v := Fn([]Pair{{String("a"), Int(1)}}); v.Kind() != KindRecord {
		t.Errorf("%v is no record", v)
	}
}

// TestComparable states which values TLC compares, and which it refuses to compare.
func TestComparable(t *testing.T) {
	const refused = "refused"
	for _, c := range []struct{ a, b, want string }{
		{"1", "2", "less"}, {"FALSE", "TRUE", "less"}, {`"a"`, `"b"`, "less"}, {`"Z"`, `"a"`, "less"},
		{"m", "n", "less"}, {"m", "m", "equal"},
		{"1", `"a"`, refused}, {"1", "TRUE", refused}, {"1", "{1}", refused}, {"1", "<<1>>", refused},
		{`"a"`, "TRUE", refused}, {`"a"`, "{}", refused}, {"{1}", "<<1>>", refused}, {"{}", "<<>>", refused},
		{"{1}", `{"a"}`, refused}, {"<<1>>", `<<"a">>`, refused}, {"{1}", `{"a", "b"}`, "less"},
		{"m", "1", "less"}, {"m", `"a"`, "less"}, {"m", "TRUE", "less"}, {"m", "{}", "less"}, {"m", "<<>>", "less"},
		{"m", "[a |-> 1]", "less"}, {"m", "T_x", "greater"}, {"T_x", "m", "less"},
		{"T_x", "T_y", "less"}, {"T_x", "U_x", refused}, {"T_x", "1", refused}, {`"a"`, "T_x", refused}, {"T_", "1", "less"},
		{"<<1>>", "<<2>>", "less"}, {"<<2>>", "<<1, 1>>", "less"}, {"<<>>", "<<1>>", "less"},
		{"<<1>>", "[a |-> 1]", "less"}, {"<<1>>", "(2 :> 1)", "less"}, {"(0 :> 1)", "<<1>>", "less"},
		{"(0 :> 5 @@ 1 :> 5)", "<<5, 5>>", "less"}, {"(1 :> 5 @@ 3 :> 5)", "<<5, 5>>", "greater"},
		{"[a |-> 1]", "[b |-> 0]", "less"}, {"[a |-> 1]", "[a |-> 2]", "less"}, {"[z |-> 1]", "[a |-> 1, b |-> 1]", "less"},
		{"[a |-> 1]", "(m :> 1)", "less"}, {"(m :> 1)", "(n :> 0)", "less"}, {"(m :> 1)", "({1} :> 1)", "less"},
		{"({1} :> 1)", "(<<1>> :> 1)", refused},
		{"{3}", "{1, 2}", "less"}, {"{1, 3}", "{2, 3}", "less"}, {"{}", "{1}", "less"},
		{"1..3", "{1, 2, 3}", "equal"}, {"1..3", "{1, 2, 4}", "less"}, {"1..100", "1..99", "greater"},
		{"SUBSET {1, 2}", "{{}, {1}, {2}, {1, 2}}", "equal"}, {"SUBSET {1, 2}", "{{}, {1}, {3}, {1, 2}}", "less"},
		{"SUBSET (1..40)", "SUBSET (1..41)", "less"}, {"SUBSET (1..40)", "SUBSET (2..41)", "less"},
		{"[1..40 -> {0, 1}]", "[1..40 -> {0, 2}]", "less"}, {"[{1} -> {0, 1}]", "[{2} -> {0, 1}]", "less"},
		{"{1} \\X {2, 3}", "{<<1, 2>>, <<1, 3>>}", "equal"}, {"[a : {1, 2}]", "{[a |-> 1], [a |-> 2]}", "equal"},
		{"Nat", "Nat", "equal"}, {"Nat", "Int", "less"}, {"{1}", "Nat", "less"}, {"Nat", "STRING", "less"},
		{"Seq({1})", "Seq({1})", "equal"}, {"Seq({1})", "Seq({2})", "less"}, {"Seq({})", "{<<>>}", "equal"},
		{"[Nat -> {1}]", "[Nat -> {1}]", "equal"}, {"[{} -> Nat]", "{<<>>}", "equal"}, {"Nat \\cup {m}", "Nat", refused},
		{"[a : Nat]", "[b : Nat]", "less"}, {"Nat \\X {}", "{}", "equal"},
	} {
		a, b := read(t, c.a), read(t, c.b)
		got := refused
		if err := Catch(func() { got = map[int]string{-1: "less", 0: "equal", 1: "greater"}[sign(Compare(a, b))] }); err != nil {
			if !strings.Contains(err.Error(), "cannot") {
				t.Errorf("%s and %s: the error is %v", c.a, c.b, err)
			}
		}
		equal := refused
		_ = Catch(func() { equal = map[bool]string{true: "equal", false: "different"}[Equal(a, b)] })
		if got != c.want || (equal == refused) != (got == refused) || (equal == "equal") != (got == "equal") {
			t.Errorf("%s and %s: Compare says %s, Equal %s, want %s", c.a, c.b, got, equal, c.want)
		}
		if got != refused && Compare(b, a) != -Compare(a, b) {
			t.Errorf("%s and %s: Compare is not antisymmetric", c.a, c.b)
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		x, s string
		want any
	}{
		{"2", "{1, 2}", true}, {"3", "{1, 2}", false}, {"3", "{}", false}, {`"a"`, "{}", false}, {`"a"`, "{1}", "cannot compare"},
		{"1", `{"a", "b", "c"}`, "cannot compare"}, {`"a"`, "1..3", "cannot compare"}, {"m", "1..3", false}, {"1", "{m, n}", false},
		{"1", `{m, n, "a"}`, "cannot compare"}, {`"c"`, `{m, "a", "c"}`, true}, {"T_x", "{U_x}", "cannot compare"},
		{"T_z", "{T_x, T_y}", false}, {"n", "{m, n}", true}, {"o", "{m, n}", false},
		{"0", "Nat", true}, {"-1", "Nat", false}, {`"a"`, "Nat", "cannot decide"}, {"m", "Int", false}, {"-1", "Int", true}, {"1", "Real", true},
		{`"a"`, "STRING", true}, {"1", "STRING", "cannot decide"}, {"m", "STRING", false}, {"{}", "Any", true},
		{"<<1, 2>>", "Seq({1, 2})", true}, {"<<1, 3>>", "Seq({1, 2})", false}, {"<<>>", "Seq({})", true}, {"1", "Seq({1})", "cannot compare"},
		{"[a |-> 1]", "Seq({1})", false}, {"m", "Seq({1})", false},
		{"{1, 2}", "SUBSET (1..100)", true}, {"{0}", "SUBSET (1..100)", false}, {"{-1}", "SUBSET Nat", false}, {"1", "SUBSET {1}", "cannot compare"},
		{"m", "SUBSET {1}", false}, {"Nat", "SUBSET Int", true}, {"Int", "SUBSET Nat", false}, {"Nat", "SUBSET {1}", false},
		{"<<5, 6>>", "[1..2 -> 1..100]", true}, {"<<5, 6>>", "[{1, 2} -> Nat]", true}, {"<<5, 6>>", "[1..3 -> Nat]", false},
		{"<<5, -6>>", "[1..2 -> Nat]", false}, {"[a |-> 1]", "[1..2 -> Nat]", false}, {"[a |-> 1]", `[{"a"} -> Nat]`, true},
		{"(m :> 1 @@ n :> 2)", "[{m, n} -> Nat]", true}, {"(m :> 1 @@ o :> 2)", "[{m, n} -> Nat]", false},
		{"{}", "[1..2 -> Nat]", "cannot compare"}, {"m", "[1..2 -> Nat]", false}, {"<<>>", "[{} -> {}]", true}, {"<<>>", "[{1} -> {}]", false},
		{"[a |-> 1, b |-> 2]", "[a : Nat, b : Nat]", true}, {"[a |-> 1]", "[a : Nat, b : Nat]", false},
		{"[a |-> 1, c |-> 2]", "[a : Nat, b : Nat]", false}, {"<<1>>", "[a : Nat]", false}, {"1", "[a : Nat]", "cannot compare"},
		{"<<1, m>>", "Nat \\X {m}", true}, {"<<1, m, 1>>", "Nat \\X {m}", false}, {"[a |-> 1]", "Nat \\X {m}", false},
		{"1", "Nat \\cup {m}", true}, {"m", "Nat \\cup {m}", true}, {"-1", "Nat \\cup {m}", false},
		{"1", "1", "not a set"},
	} {
		x, s := read(t, c.x), read(t, c.s)
		var got any
		if err := Catch(func() { got = Contains(s, x) }); err != nil {
			if want, ok := c.want.(string); !ok || !strings.Contains(err.Error(), want) {
				t.Errorf("%s \\in %s: %v, want %v", c.x, c.s, err, c.want)
			}
		} else if got != c.want {
			t.Errorf("%s \\in %s is %v, want %v", c.x, c.s, got, c.want)
		}
	}
	evens := LazyFilter(Nat(), func(x Value) bool { return x.AsInt()%2 == 0 })
	if !Contains(evens, Int(4)) || Contains(evens, Int(5)) || Contains(evens, Int(-2)) || IsFinite(evens) {
		t.Error("the filtered Nat is wrong")
	}
	if s := Diff(Nat(), Set(Int(3))); Contains(s, Int(3)) || !Contains(s, Int(4)) {
		t.Error("Nat \\ {3} is wrong")
	}
	if s := Intersect(Ints(), Nat()); !Equal(s, Nat()) {
		t.Errorf("Int \\cap Nat is %v", s)
	}
	wantValue(t, "Nat \\cap {-1, 1}", Intersect(Nat(), Set(Int(-1), Int(1))), "{1}")
	wantValue(t, "Nat \\cap -5..5", Intersect(Nat(), Interval(-5, 5)), "0..5")
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int32{
		"{}": 0, "{1, 2, 1}": 2, "1..1000000000": 1000000000, "SUBSET (1..30)": 1 << 30, "[1..30 -> {0, 1}]": 1 << 30,
		"[{} -> Nat]": 1, "[{1} -> {}]": 0, "[Nat -> {}]": 0, "[a : 1..1000, b : 1..1000]": 1000000, "(1..1000) \\X (1..1000)": 1000000,
		"Nat \\X {}": 0, "((1..1000) \\X {}) \\cup {1}": 1, "Seq({})": 1, "SUBSET (1..10 \\cup {m})": 2048,
	} {
		if n := Cardinality(read(t, text)); n != want {
			t.Errorf("Cardinality(%s) = %d, want %d", text, n, want)
		}
	}
	wantError(t, "Cardinality(1..2^31)", "does not fit", func() { Cardinality(Interval(math.MinInt32, math.MaxInt32)) })
	wantError(t, "Cardinality(Nat)", "infinite", func() { Cardinality(Nat()) })
	wantError(t, "enumerate 2^30", "more than 1000000 elements", func() { read(t, "SUBSET (1..30)").Elems() })
	wantError(t, "enumerate Nat", "infinite", func() { Nat().Elems() })
	wantError(t, "enumerate a union", "more than 1000000 elements", func() { read(t, "1..900000 \\cup 2000000..2900000").Elems() })
	wantError(t, "walk Seq", "infinite", func() { Seqs(Set(Int(1))).Elems() })
	n := 0
	for range read(t, "SUBSET (1..30)").All() {
		if n++; n == 1000 {
			break
		}
	}
	if n != 1000 {
		t.Errorf("a large set was left after %d elements", n)
	}
}

// TestUndecided: a set that may be finite or infinite is never reported to be either.
func TestUndecided(t *testing.T) {
	small := LazyFilter(Nat(), func(x Value) bool { return x.AsInt() < 3 })
	for name, f := range map[string]func(){
		"filter = set":      func() { Equal(small, Interval(0, 2)) },
		"set = filter":      func() { Equal(Interval(0, 2), small) },
		"filter < set":      func() { Compare(small, Interval(0, 2)) },
		"filter = {}":       func() { IsEmpty(small) },
		"Nat \\ Int = {}":   func() { Equal(Diff(Nat(), Ints()), EmptySet()) },
		"Cardinality":       func() { Cardinality(small) },
		"IsFiniteSet":       func() { DecideFinite(small) },
		"union = set":       func() { Equal(Union(small, Set(Int(7))), Set(Int(7))) },
		"SUBSET filter":     func() { Equal(Subsets(small), Set(EmptySet())) },
		"[{1} -> filter]":   func() { DecideFinite(FnSet(Set(Int(1)), small)) },
		"[filter -> {1}]":   func() { DecideFinite(FnSet(small, Set(Int(1)))) },
		"Seq(filter)":       func() { DecideFinite(Seqs(small)) },
		"filter \\X {1}":    func() { DecideFinite(Times(small, Set(Int(1)))) },
		"Nat \\cap strings": func() { DecideFinite(Intersect(Strings(), Nat())) },
	} {
		wantError(t, name, "", f)
	}
	if !DecideFinite(Times(small, EmptySet())) || !DecideFinite(FnSet(EmptySet(), small)) || DecideFinite(Union(small, Nat())) ||
		DecideFinite(Diff(Nat(), Set(Int(1)))) || !DecideFinite(Intersect(small, Interval(0, 9))) {
		t.Error("the extent of a set is wrong")
	}
	if !Equal(small, small) || Equal(Diff(Nat(), Set(Int(1))), Set(Int(1))) || !Subseteq(small, Ints()) {
		t.Error("a lazy set is compared wrongly")
	}
	wantValue(t, "0..9 \\cap filter", Intersect(Interval(0, 9), small), "0..2")
}

func TestErrors(t *testing.T) {
	r := Record([]Field{{"a", Int(1)}})
	for _, c := range []struct {
		what, part string
		f          func()
	}{
		{"index", "cannot apply the function <<1>> to 2, which is not in its domain {1}", func() { Tuple(Int(1)).Apply(Int(2)) }},
		{"field", `has no field "b"; its fields are {"a"}`, func() { r.Field("b") }},
		{"apply a number", "cannot apply the integer 1 to 2", func() { Int(1).Apply(Int(2)) }},
		{"field of a number", "cannot select the field a of the integer 1", func() { Int(1).Field("a") }},
		{"domain", "cannot take the DOMAIN of the integer 1", func() { Int(1).Domain() }},
		{"except", "cannot use EXCEPT on the integer 1", func() { Int(1).ExceptIndex(Int(1), Int(1)) }},
		{"deep except", "cannot use EXCEPT on the integer 1", func() { r.Except([]Value{String("a"), Int(1)}, Int(1)) }},
		{"not a boolean", "expected a boolean, found the integer 1", func() { Int(1).IsTrue() }},
		{"not an integer", "expected an integer, found the boolean TRUE", func() { Bool(true).AsInt() }},
		{"not a string", "expected a string, found the model value m", func() { Model("m").AsString() }},
		{"not a model value", "expected a model value", func() { String("m").AsModel() }},
		{"union", `{1} \cup 2: the right operand must be a set, found the integer 2`, func() { Union(Set(Int(1)), Int(2)) }},
		{"difference", "the left operand must be a set", func() { Diff(Int(2), Set(Int(1))) }},
		{"subset", "the left side is not a set", func() { Subseteq(Int(2), Set(Int(1))) }},
		{"SUBSET", "SUBSET: expected a set, found the integer 1", func() { Subsets(Int(1)) }},
		{"UNION", "UNION: expected a set, found the integer 1", func() { BigUnion(Set(Int(1), Int(2), Int(3))) }},
		{"UNION Nat", "UNION of the infinite set Nat", func() { BigUnion(Nat()) }},
		{"two values", "two values for the argument 1", func() { Fn([]Pair{{Int(1), Int(1)}, {Int(1), Int(2)}}) }},
		{"too few values", "needs 2 values, found 1", func() { FnOf(Set(Int(1), Int(2)), []Value{Int(1)}) }},
		{"mixed set", "cannot compare the", func() { Set(Int(1), String("a")) }},
		{"whole of an infinite function", "can be applied, but not be written out", func() {
			LazyFn(Nat(), func(x Value) Value { return x }).Normal()
		}},
		{"outside Nat", "which is not in its domain Nat", func() {
			LazyFn(Nat(), func(x Value) Value { return x }).Apply(Int(-1))
		}},
		{"store an infinite union", "cannot be part of a state", func() { NewCodec().AppendTo(nil, read(t, "Nat \\cup {m}")) }},
		{"send an infinite set", "cannot be sent", func() { AppendWire(nil, read(t, "Seq({1})")) }},
		{"store nothing", "without a value", func() { NewCodec().AppendTo(nil, Value{}) }},
		{"large function", "more than 1000000 arguments", func() { NewFn(Interval(0, 1<<30)) }},
		{"long string", "too long", func() {
			for s := String("x"); ; {
				s = Concat(s, s)
			}
		}},
		{"long sequence", "too long", func() { Append(TupleOf(make([]Value, LengthMax)), Int(1)) }},
		{"deep value", "nested deeper than 10000", func() {
			v := Tuple()
			for range DepthMax + 1 {
				v = Tuple(v)
			}
			NewCodec().AppendTo(nil, v)
		}},
		{"long text", "...", func() { Int(1).Apply(read(t, "(1..9) \\X {\""+strings.Repeat("x", 500)+"\"}")) }},
	} {
		wantError(t, c.what, c.part, c.f)
	}
	if err := Catch(func() { Int(1).Apply(Interval(1, 16)) }); len(err.Error()) > 400 {
		t.Errorf("a message of %d bytes", len(err.Error()))
	}
}

// TestOrderOfDomains: functions with domains of all kinds have one order,
// however they are added to a set.
func TestOrderOfDomains(t *testing.T) {
	var fns []Value
	for _, domain := range []string{"{7, 8}", "{1, 2}", "{1, 5}", "{3, 9}", `{"a", "b"}`, `{"c", "d"}`, "{m, 5}", "{m, n}", "{<<1>>, <<2>>}"} {
		fns = append(fns, FnOf(read(t, domain), []Value{Int(0), Int(0)}))
	}
	for _, a := range fns {
		for _, b := range fns {
			for _, c := range fns {
				if Compare(a, b) < 0 && Compare(b, c) < 0 && Compare(a, c) >= 0 {
					t.Errorf("%v < %v < %v, but not the first < the last", a, b, c)
				}
				if Equal(a, b) != (Compare(a, b) == 0) {
					t.Errorf("Equal and Compare disagree on %v and %v", a, b)
				}
				if abc, cba := Set(a, b, c), Set(c, b, a); !Equal(abc, cba) {
					t.Errorf("%v and %v are not equal", abc, cba)
				}
			}
		}
	}
}

func TestFunctions(t *testing.T) {
	f := read(t, "(0 :> \"a\" @@ 1 :> \"b\")")
	if lo, hi, ok := f.Domain().AsInterval(); !ok || lo != 0 || hi != 1 {
		t.Errorf("the domain of %v is %v", f, f.Domain())
	}
	wantValue(t, "EXCEPT", f.ExceptIndex(Int(1), Int(9)), `(0 :> "a" @@ 1 :> 9)`)
	wantValue(t, "EXCEPT outside", f.ExceptIndex(Int(7), Int(9)), f.String())
	g := read(t, "[a |-> <<1, [b |-> 2]>>]")
	path := []Value{String("a"), Int(2), String("b")}
	wantValue(t, "deep EXCEPT", g.Except(path, Int(3)), "[a |-> <<1, [b |-> 3]>>]")
	if !Same(g.Except(path, Int(2)), g) || !Same(g.Except([]Value{String("z"), Int(1)}, Int(2)), g) {
		t.Error("an EXCEPT that changes nothing copies")
	}
	wantValue(t, ".a", g.ExceptField("a", Int(1)), "[a |-> 1]")
	wantValue(t, "@@", Merge(read(t, "<<1, 2>>"), read(t, "(2 :> 9 @@ 3 :> 9)")), "<<1, 2, 9>>")
	calls := 0
	lazy := LazyFn(Interval(1, 3), func(x Value) Value { calls++; return Mul(x, x) })
	wantValue(t, "f[2]", lazy.Apply(Int(2)), "4")
	if calls != 1 || lazy.Kind() != KindFn {
		t.Errorf("a lazy function was computed %d times", calls)
	}
	if !Equal(lazy, read(t, "<<1, 4, 9>>")) || lazy.Len() != 3 || Hash(lazy) != Hash(read(t, "<<1, 4, 9>>")) || calls != 4 {
		t.Errorf("the lazy function is %v after %d calls", lazy, calls)
	}
	if !Contains(FnSet(Interval(1, 3), Nat()), lazy) || !Contains(Seqs(Nat()), lazy) {
		t.Error("a lazy function is not in its set")
	}
	if PowInt(-1, math.MaxInt32) != -1 || PowInt(1, math.MaxInt32) != 1 || PowInt(0, math.MaxInt32) != 0 {
		t.Error("a power of -1, 0 or 1 is wrong")
	}
	big, vals := NewFn(modelSet(20))
	for i := range vals {
		vals[i] = Int(int32(i))
	}
	for i, k := range modelSet(20).Elems() {
		if v, ok := big.Lookup(k); !ok || v.AsInt() != int32(i) {
			t.Errorf("%v[%v] = %v", big, k, v)
		}
	}
	if _, ok := big.Lookup(Model("zz")); ok {
		t.Error("a function is defined outside its domain")
	}
	if n := Append(Tuple(), Int(1)).Len() + Concat(Tuple(Int(1)), Tuple(Int(2))).Len(); n != 3 {
		t.Errorf("lengths add up to %d", n)
	}
	names := []string{}
	for name := range read(t, "[b |-> 1, a |-> 2]").Fields {
		names = append(names, name)
	}
	if strings.Join(names, "") != "ab" {
		t.Errorf("the fields are %v", names)
	}
}

func TestAt(t *testing.T) {
	for _, text := range []string{"{}", "{3, 5}", "4..9", "SUBSET {1, 2, 3, 4}", "[{1, 2} -> {5, 6, 7}]", "[{} -> Nat]",
		"[a : {1, 2}, b : SUBSET {1}]", "{1, 2} \\X {3} \\X {4, 5}", "SUBSET {1} \\cup SUBSET {2}"} {
		s := read(t, text)
		i := int64(0)
		for x := range s.All() {
			if y := At(s, big.NewInt(i)); !Equal(x, y) {
				t.Errorf("element %d of %s is %v, At says %v", i, text, x, y)
			}
			i++
		}
		if Count(s).Int64() != i {
			t.Errorf("%s has %d elements, Count says %s", text, i, Count(s))
		}
		wantError(t, text, "no element number", func() { At(s, big.NewInt(i)) })
	}
	last := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 200), big.NewInt(1))
	if v := At(Subsets(Interval(1, 200)), last); !Equal(v, Interval(1, 200)) {
		t.Errorf("the last subset is %v", v)
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ text, want, json string }{
		{"TRUE", "TRUE", "true"}, {"-5", "-5", "-5"}, {`"a\"\\\n\t"`, `"a\"\\\n\t"`, `"a\"\\\n\t"`},
		{"m", "m", `{"#model":"m"}`}, {"<< >>", "<<>>", "[]"}, {"<<1,<<2>>>>", "<<1, <<2>>>>", "[1,[2]]"},
		{"{2, 1}", "{1, 2}", `{"#set":[1,2]}`}, {"{}", "{}", `{"#set":[]}`}, {"1 .. 3", "{1, 2, 3}", `{"#set":[1,2,3]}`},
		{"1..17", "1..17", `{"#set":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}`}, {"1..9999", "1..9999", `{"#text":"1..9999"}`},
		{"[b |-> 1, a |-> 2]", "[a |-> 2, b |-> 1]", `{"a":2,"b":1}`}, {`["x y" |-> 1]`, `("x y" :> 1)`, `{"x y":1}`}, {`("a" :> 1 @@ "1" :> 2)`, `("1" :> 2 @@ "a" :> 1)`, `{"1":2,"a":1}`},
		{"(m :> 1 @@ n :> {})", "(m :> 1 @@ n :> {})", `{"#map":[[{"#model":"m"},1],[{"#model":"n"},{"#set":[]}]]}`},
		{"2 :> 5", "(2 :> 5)", `{"#map":[[2,5]]}`}, {"1 :> 5", "<<5>>", "[5]"},
		{"BOOLEAN", "{FALSE, TRUE}", `{"#set":[false,true]}`}, {"SUBSET {1}", "{{}, {1}}", `{"#set":[{"#set":[]},{"#set":[1]}]}`},
		{"SUBSET (1..30)", "SUBSET 1..30", `{"#text":"SUBSET 1..30"}`}, {"Nat", "Nat", `{"#text":"Nat"}`},
		{"Nat \\X (1..20)", "(Nat \\X (1..20))", `{"#text":"(Nat \\X (1..20))"}`}, {"Nat \\cup -30..-1", "(Nat \\cup (-30..-1))", `{"#text":"(Nat \\cup (-30..-1))"}`},
		{"[Nat -> STRING]", "[Nat -> STRING]", `{"#text":"[Nat -> STRING]"}`}, {"[a : Nat, b : {1}]", "[a: Nat, b: {1}]", `{"#text":"[a: Nat, b: {1}]"}`},
		{"Nat \\X Int \\X Real", "(Nat \\X Int \\X Real)", `{"#text":"(Nat \\X Int \\X Real)"}`}, {"Seq(Nat \\cup {m})", "Seq((Nat \\cup {m}))", `{"#text":"Seq((Nat \\cup {m}))"}`},
	} {
		v := read(t, c.text)
		if s := v.String(); s != c.want {
			t.Errorf("%s is printed as %s, want %s", c.text, s, c.want)
		}
		if s := v.JSON(); s != c.json {
			t.Errorf("the JSON of %s is %s, want %s", c.text, s, c.json)
		}
	}
	v := read(t, `[count |-> (m :> 1 @@ n :> 2), msgs |-> {[type |-> "a"], [type |-> "b"]}]`)
	want := "[ count |-> (m :> 1 @@ n :> 2),\n  msgs |-> { [type |-> \"a\"],\n             [type |-> \"b\"] } ]"
	if s := v.Pretty(36); s != want {
		t.Errorf("printed as\n%s\nwant\n%s", s, want)
	}
	lazy := LazyFn(Nat(), func(x Value) Value { return x })
	if s := lazy.String(); s != "[x \\in Nat |-> ...]" {
		t.Errorf("a lazy function is printed as %s", s)
	}
}

func TestParseErrors(t *testing.T) {
	for text, part := range map[string]string{
		"": "expected a value", "{1,": "expected a value", "{1 2}": `expected "}"`, "<<1": `expected ">>"`, `"a`: "the end of a string",
		`"\x"`: "an escape sequence", "2147483648": "an integer of 32 bits", "[a |-> 1, 2]": "the name of a field", "[a |-> 1": `"]"`,
		"[1 : 2]": `"->"`, "1 2": "the end of the value", "{1, \"a\"}": "cannot compare", "1..m": "must be an integer",
		"SUBSET 1": "expected a set", "1 :> 2 @@ 3": "is not a function", "[a |-> 1, a |-> 2]": "two values", "Seq(": "expected a value",
		strings.Repeat("{", 10000): "nested deeper", strings.Repeat("SUBSET ", 10000) + "1": "nested deeper", "-": "an integer",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%.20s: error %v, want one with %q", text, err, part)
		}
	}
}

func TestCodec(t *testing.T) {
	c := NewCodec(String("idle"), Model("r1"))
	for _, text := range []string{"FALSE", "-16", "-17", "111", "112", "2147483647", "-2147483648", `"idle"`, "r1", "r2", "<<>>",
		"<<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>>", "{}", "{5}", "{5, 6}", "{5, 7}", "-5..5000", "1..2147483647",
		"{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33}", "[a |-> 1]", "(r1 :> 1 @@ r2 :> 2)", "(0 :> 1)", "(-3 :> 1 @@ -2 :> 1)",
		"Nat", "Int", "Real", "STRING", "Any", "Seq(Nat)", "[{1} -> Nat]", "[a : Nat]", "Nat \\X STRING", "SUBSET Nat", "{Nat}"} {
		v := read(t, text)
		buf := c.AppendTo(nil, v)
		w, rest, err := c.Decode(buf)
		if err != nil || len(rest) != 0 || !Equal(v, w) {
			t.Errorf("%s is decoded as %v, error %v", text, w, err)
		}
		for n := range buf {
			if w, rest, err := c.Decode(buf[:n]); err == nil && len(rest) == 0 && Equal(v, w) {
				t.Errorf("%s is decoded from %d of %d bytes", text, n, len(buf))
			}
		}
	}
	if buf := c.AppendTo(nil, String("idle")); len(buf) != 1 || buf[0] != tagString0 {
		t.Errorf("the first symbol is %x", buf)
	}
	for _, bad := range [][]byte{{}, {0x0E}, {tagString, 200}, {tagFn, 99}, {tagTuple, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, {tagRange, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F},
		{tagNamed, 0}, {tagForm, setFns, 1, 1}, {tagForm, setSeqs, 1, 0}, {tagForm, setRecords, 2, tagSet0, tagSet0}, {tagFnFrom, 2, 1, 1}, {tagFnAny, 1}} {
		if v, _, err := c.Decode(bad); err == nil {
			t.Errorf("%x is decoded as %v", bad, v)
		}
	}
}

// TestCodecConcurrent: symbols are numbered once, whichever goroutine is first.
func TestCodecConcurrent(t *testing.T) {
	c := NewCodec()
	encode := func(i int) string {
		name := "s" + string(rune('a'+i%20))
		return string(c.AppendTo(nil, Tuple(String(name), Model(name), Record([]Field{{name, Int(1)}}))))
	}
	results := make([][]string, 4)
	var group sync.WaitGroup
	for g := range results {
		group.Go(func() {
			for i := range 200 {
				results[g] = append(results[g], encode(i))
			}
		})
	}
	group.Wait()
	for g := range results {
		for i, buf := range results[g] {
			if buf != results[0][i] || buf != encode(i) {
				t.Fatalf("value %d is encoded as %x and %x", i, buf, results[0][i])
			}
			if _, rest, err := c.Decode([]byte(buf)); err != nil || len(rest) != 0 {
				t.Fatalf("value %d is not decoded: %v", i, err)
			}
		}
	}
}

func TestWireRejects(t *testing.T) {
	deep := Tuple()
	for range WireDepthMax + 1 {
		deep = Tuple(deep)
	}
	wantError(t, "a deep value", "nested deeper", func() { AppendWire(nil, deep) })
	for name, bad := range map[string][]byte{
		"empty": {}, "unknown tag": {0x42}, "long form of a number": {wireInt, 0x80, 0x00}, "33 bits": {wireInt, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F},
		"length beyond the end": {wireTuple, 9, wireTrue}, "huge length": {wireSet, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, "unsorted set": {wireSet, 2, wireTrue, wireFalse},
		"double element": {wireSet, 2, wireTrue, wireTrue}, "mixed set": {wireSet, 2, wireTrue, wireInt, 2}, "listed interval": {wireSet, 2, wireInt, 2, wireInt, 4},
		"short interval": {wireRange, 2, 1}, "interval beyond 32 bits": {wireRange, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 2}, "no fields": {wireRecord, 0},
		"unsorted fields": {wireRecord, 2, 1, 'b', wireTrue, 1, 'a', wireTrue}, "tuple as a function": {wireFn, wireRange, 2, 2, wireTrue, wireTrue},
		"record as a function": {wireFn, wireSet, 1, wireString, 1, 'a', wireTrue}, "function on nothing": {wireFn, wireSet, 0}, "function on Nat": {wireFn, wireNamed, setNat},
		"function on a huge interval": {wireFn, wireRange, 0, 0xFF, 0xFF, 0xFF, 0x07, wireTrue}, "unnamed set": {wireNamed, setSeqs},
		"deep": []byte(strings.Repeat(string([]byte{wireTuple, 1}), 100000)),
	} {
		if v, _, err := ParseWire(bad); err == nil {
			t.Errorf("%s: parsed as %v", name, v)
		}
	}
}

// TestKindsOfInfiniteSets: a value of another kind than the elements of Nat, Int, Real
// and STRING cannot be compared with them, so it cannot be tested for membership
// either. A model value without a type is equal to no other value.
func TestKindsOfInfiniteSets(t *testing.T) {
	for _, set := range []struct{ text, kind string }{{"Nat", "number"}, {"Int", "number"}, {"Real", "number"}, {"STRING", "string"}} {
		for _, x := range []struct{ text, kind string }{{"TRUE", "boolean"}, {"7", "number"}, {`"seven"`, "string"}, {"{}", "set"}, {"{7}", "set"}, {"Nat", "set"},
			{"<<7>>", "function"}, {"[a |-> 7]", "function"}, {"m", "model value"}} {
			var got bool
			err := Catch(func() { got = Contains(read(t, set.text), read(t, x.text)) })
			switch {
			case x.kind == "model value" || x.kind == set.kind:
				if err != nil || got != (x.kind == set.kind) {
					t.Errorf("%s \\in %s is %v, %v", x.text, set.text, got, err)
				}
			case err == nil:
				t.Errorf("%s \\in %s is %v, and has no value", x.text, set.text, got)
			case !strings.Contains(err.Error(), "cannot decide "+x.text+" \\in "+set.text):
				t.Errorf("%s \\in %s: %v", x.text, set.text, err)
			}
		}
	}
}

func TestAlike(t *testing.T) {
	one, a, m, typed := Int(1), String("a"), Model("m"), Model("A_m")
	tests := []struct {
		set, x Value
		want   bool
	}{
		{Set(Int(1), Int(5)), one, true}, {Set(Int(1), Int(5)), a, false}, {Interval(1, 3), one, true}, {Interval(1, 3), Bool(true), false},
		{EmptySet(), one, true}, {EmptySet(), EmptySet(), false}, {Set(a, String("b")), a, true}, {Set(Int(1), m), one, false}, {Set(Int(1), m), m, false},
		{Set(m, Model("n")), m, true}, {Set(m, typed), m, false}, {Set(m, typed, Model("n")), m, false}, {Set(typed), typed, true}, {Set(typed), Model("B_m"), false},
		{Nat(), a, false}, {Nat(), one, true}, {Ints(), one, true}, {Reals(), a, false}, {Strings(), one, false}, {Strings(), a, true}, {Subsets(Set(one)), one, false}, {Set(Tuple(one)), Tuple(one), false}, {one, one, false},
		{Union(Nat(), Set(m)), one, false}, {LazyFilter(Nat(), func(Value) bool { return true }), one, false},
	}
	for _, test := range tests {
		if got := Alike(test.set, test.x); got != test.want {
			t.Errorf("Alike(%v, %v) = %v", test.set, test.x, got)
		}
		if !test.want {
			continue
		}
		// No comparison of one with the other may fail.
		if err := Catch(func() { Contains(test.set, test.x) }); err != nil {
			t.Errorf("%v in %v: %v", test.x, test.set, err)
		}
	}
	if !AlikeOne(one, Int(7)) || AlikeOne(one, a) || AlikeOne(m, typed) || AlikeOne(EmptySet(), EmptySet()) {
		t.Error("AlikeOne does not tell kinds apart")
	}
}

func TestListedAndBounds(t *testing.T) {
	all := func(Value) bool { return true }
	tests := []struct {
		v             Value
		listed, bound bool
	}{
		{Set(Int(1)), true, true}, {EmptySet(), true, true}, {Interval(1, 1<<30), true, true}, {Int(1), false, false}, {Nat(), false, false}, {Strings(), false, false},
		{Subsets(Set(Int(1))), false, true}, {Subsets(Nat()), false, true}, {Times(Set(Int(1)), Set(Int(2))), false, true}, {Seqs(Set(Int(1))), false, false},
		{Seqs(EmptySet()), false, true}, {LazyFilter(Nat(), all), false, false}, {LazyFilter(Subsets(Set(Int(1))), all), false, true}, {Diff(Nat(), Set(Int(1))), false, false},
	}
	for _, test := range tests {
		if got := Listed(test.v); got != test.listed {
			t.Errorf("Listed(%v) = %v", test.v, got)
		}
		if err := Catch(func() { CheckBound(test.v) }); (err == nil) != test.bound {
			t.Errorf("CheckBound(%v): %v", test.v, err)
		}
	}
}
