// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math/big"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func finiteSets() []Op {
	m := module{name: "FiniteSets"}
	m.f1("Cardinality", func(s Value) Value { return value.Int(value.Cardinality(s)) })
	m.f1("IsFiniteSet", func(s Value) Value {
		return boolean(s.Kind() == value.KindSet && value.DecideFinite(s))
	})
	m.primitive("IsFiniteSet")
	return m.ops
}

func finiteSetsExt() []Op {
	m := module{name: "FiniteSetsExt"}
	m.fn("FoldSet", func(_ *Context, args []Arg) Value {
		return foldSet(args[0].Op, args[1].Val, args[2].Val, "FoldSet")
	}, 2, 0, 0)
	m.fn("ReduceSet", func(_ *Context, args []Arg) Value {
		return foldSet(args[0].Op, args[2].Val, args[1].Val, "ReduceSet")
	}, 2, 0, 0)
	m.f1("SumSet", func(s Value) Value {
		sum := int32(0)
		for x := range wantSet(s, "SumSet").Each {
			sum = value.AddInt(sum, wantInt(x, "SumSet"))
		}
		return value.Int(sum)
	})
	m.f1("ProductSet", func(s Value) Value {
		product := int32(1)
		for x := range wantSet(s, "ProductSet").Each {
			product = value.MulInt(product, wantInt(x, "ProductSet"))
		}
		return value.Int(product)
	})
	m.fn("MapThenSumSet", func(_ *Context, args []Arg) Value {
		op, sum := apply1{op: args[0].Op}, int32(0)
		for x := range wantSet(args[1].Val, "MapThenSumSet").Each {
			sum = value.AddInt(sum, wantInt(op.call(x), "MapThenSumSet"))
		}
		return value.Int(sum)
	}, 1, 0)
	m.f1("FlattenSet", value.BigUnion)
	m.f2("SymDiff", func(a, b Value) Value {
		wantSet(a, "SymDiff")
		wantSet(b, "SymDiff")
		return value.Union(value.Diff(a, b), value.Diff(b, a))
	})
	m.fn("Quantify", func(_ *Context, args []Arg) Value {
		test, n := apply1{op: args[1].Op}, int32(0)
		for x := range wantSet(args[0].Val, "Quantify").Each {
			if wantBool(test.call(x), "Quantify") {
				n++
			}
		}
		return value.Int(n)
	}, 0, 1)
	m.f2("kSubset", kSubset)
	m.f1("Choices", choices)
	m.fn("ChooseUnique", func(_ *Context, args []Arg) Value {
		test, found := apply1{op: args[1].Op}, Value{}
		for x := range wantSet(args[0].Val, "ChooseUnique").Each {
			if !wantBool(test.call(x), "ChooseUnique") {
				continue
			}
			if !found.IsUndefined() {
				value.Fail("ChooseUnique: both %s and %s satisfy the condition", value.Brief(found), value.Brief(x))
			}
			found = x
		}
		if found.IsUndefined() {
			value.Fail("ChooseUnique: no element of %s satisfies the condition", value.Brief(args[0].Val))
		}
		return found
	}, 0, 1)
	m.f1("Max", func(s Value) Value { return extreme(s, "Max", value.Greater) })
	m.f1("Min", func(s Value) Value { return extreme(s, "Min", value.Less) })
	return m.ops
}

// foldSet is op(x1, op(x2, ... base)), the elements in canonical order.
func foldSet(f Operator, base, s Value, name string) Value {
	op, acc := apply2{op: f}, base
	es := wantSet(s, name).Elems()
	for i := len(es); i > 0; i-- {
		acc = op.call(es[i-1], acc)
	}
	return acc
}

// extreme returns the best number of a set according to better. The empty set
// is an error.
func extreme(s Value, op string, better func(a, b Value) bool) Value {
	if lo, hi, ok := wantSet(s, op).AsInterval(); ok {
		if op == "Max" {
			return value.Int(hi)
		}
		return value.Int(lo)
	}
	best := Value{}
	for x := range s.Each {
		wantInt(x, op)
		if best.IsUndefined() || better(x, best) {
			best = x
		}
	}
	if best.IsUndefined() {
		value.Fail("%s of the empty set", op)
	}
	return best
}

// kSubset is the set of subsets of s with k elements.
func kSubset(k, s Value) Value {
	n := wantInt(k, "kSubset")
	es := wantSet(s, "kSubset").Elems()
	out := collector{what: "kSubset(" + value.Brief(k) + ", " + value.Brief(s) + ")"}
	if n < 0 || int(n) > len(es) {
		return value.EmptySet()
	}
	out.expect(new(big.Int).Binomial(int64(len(es)), int64(n)))
	cur := make([]Value, 0, n)
	var extend func(from int)
	extend = func(from int) {
		if len(cur) == int(n) {
			out.add(value.Set(cur...))
			return
		}
		for i := from; i <= len(es)-(int(n)-len(cur)); i++ {
			cur = append(cur, es[i])
			extend(i + 1)
			cur = cur[:len(cur)-1]
		}
	}
	extend(0)
	return out.set()
}

// choices is the set of all sets made by choosing one element from each set in
// s.
func choices(s Value) Value {
	sets := wantSet(s, "Choices").Elems()
	for _, e := range sets {
		wantSet(e, "Choices")
	}
	if len(sets) == 0 {
		return value.Set(value.EmptySet())
	}
	// Different choices may give the same set, so chosen removes duplicates as
	// it goes.
	chosen := []Value{value.EmptySet()}
	for _, e := range sets {
		out := collector{what: "Choices(" + value.Brief(s) + ")"}
		for _, c := range chosen {
			for x := range e.Each {
				out.add(value.Union(c, value.Set(x)))
			}
		}
		chosen = slices.Clone(out.set().Elems())
	}
	return value.SetOf(chosen)
}

func folds() []Op {
	m := module{name: "Folds"}
	m.fn("MapThenFoldSet", func(_ *Context, args []Arg) Value {
		op, f, choose := apply2{op: args[0].Op}, apply1{op: args[2].Op}, apply1{op: args[3].Op}
		rest := value.Enumerate(wantSet(args[4].Val, "MapThenFoldSet"))
		order := make([]Value, 0, value.Size(rest))
		for !value.IsEmpty(rest) {
			x := choose.call(rest)
			if !value.Contains(rest, x) {
				value.Fail("MapThenFoldSet: %s was chosen from %s, which does not contain it", value.Brief(x), value.Brief(rest))
			}
			order = append(order, x)
			rest = value.Remove(rest, x)
		}
		acc := args[1].Val
		for i := len(order); i > 0; i-- {
			acc = op.call(f.call(order[i-1]), acc)
		}
		return acc
	}, 2, 0, 1, 1, 0)
	return m.ops
}
