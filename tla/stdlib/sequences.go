// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math/big"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func sequences() []Op {
	m := module{name: "Sequences"}
	m.f1("Seq", value.Seqs)
	m.f1("Len", func(s Value) Value {
		if s.Kind() == value.KindString {
			return value.Int(int32(s.Len()))
		}
		return value.Int(int32(len(wantSeq(s, "Len"))))
	})
	m.f2(`\o`, value.Concat)
	m.f2("Append", func(s, x Value) Value {
		wantSeq(s, "Append")
		return value.Append(s, x)
	})
	m.f1("Head", func(s Value) Value {
		wantSeq(s, "Head")
		return value.Head(s)
	})
	m.f1("Tail", func(s Value) Value {
		wantSeq(s, "Tail")
		return value.Tail(s)
	})
	m.f3("SubSeq", func(s, a, b Value) Value {
		if s.Kind() != value.KindString {
			wantSeq(s, "SubSeq")
		}
		return value.SubSeq(s, wantInt(a, "SubSeq"), wantInt(b, "SubSeq"))
	})
	m.fn("SelectSeq", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		return keep(args[0].Val, "SelectSeq", func(x Value) bool { return wantBool(test.call(x), "SelectSeq") })
	}, 0, 1)
	m.primitive("Seq")
	return m.ops
}

// keep returns the elements of a sequence that pass a test, in order.
func keep(s Value, op string, test func(Value) bool) Value {
	es := wantSeq(s, op)
	i := 0
	for i < len(es) && test(es[i]) {
		i++
	}
	if i == len(es) {
		return s.Normal()
	}
	out := append(make([]Value, 0, len(es)), es[:i]...)
	for _, x := range es[i+1:] {
		if test(x) {
			out = append(out, x)
		}
	}
	return value.TupleOf(out)
}

// sequencesExt is the first half of SequencesExt: single elements, folds, and
// sequences from sets.
func sequencesExt() []Op {
	m := module{name: "SequencesExt"}
	m.f1("ToSet", func(s Value) Value { return value.SetOf(slices.Clone(wantSeq(s, "ToSet"))) })
	m.f1("SetToSeq", func(s Value) Value { return value.TupleOf(slices.Clone(wantSet(s, "SetToSeq").Elems())) })
	m.f1("SetToSeqs", func(s Value) Value { return arrangements(wantSet(s, "SetToSeqs"), "SetToSeqs", true) })
	m.f1("SetToAllKPermutations", func(s Value) Value {
		return arrangements(wantSet(s, "SetToAllKPermutations"), "SetToAllKPermutations", false)
	})
	m.fn("SetToSortSeq", func(_ *Context, args []Arg) Value {
		return sortBy(slices.Clone(wantSet(args[0].Val, "SetToSortSeq").Elems()), args[1].Op, "SetToSortSeq")
	}, 0, 2)
	m.f2("TupleOf", func(s, n Value) Value {
		return value.FnSet(value.Interval(1, wantNat(n, "TupleOf")), wantSet(s, "TupleOf"))
	})
	m.f2("SeqOf", func(s, n Value) Value { return boundedSeqs(s, wantNat(n, "SeqOf")) })
	m.f2("BoundedSeq", func(s, n Value) Value { return boundedSeqs(s, wantNat(n, "BoundedSeq")) })
	m.f2("Contains", func(s, e Value) Value {
		return boolean(slices.ContainsFunc(wantSeq(s, "Contains"), func(x Value) bool { return value.Equal(x, e) }))
	})
	m.f1("Reverse", func(s Value) Value {
		es := slices.Clone(wantSeq(s, "Reverse"))
		slices.Reverse(es)
		return value.TupleOf(es)
	})
	m.f2("Remove", func(s, e Value) Value {
		return keep(s, "Remove", func(x Value) bool { return !value.Equal(x, e) })
	})
	m.f3("ReplaceAll", func(s, from, to Value) Value {
		es := slices.Clone(wantSeq(s, "ReplaceAll"))
		for i := range es {
			if value.Equal(es[i], from) {
				es[i] = to
			}
		}
		return value.TupleOf(es)
	})
	m.fn("SelectInSeq", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		at := slices.IndexFunc(wantSeq(args[0].Val, "SelectInSeq"), func(x Value) bool {
			return wantBool(test.call(x), "SelectInSeq")
		})
		return value.Int(int32(at + 1))
	}, 0, 1)
	m.fn("SelectLastInSeq", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		es := wantSeq(args[0].Val, "SelectLastInSeq")
		for i := len(es); i > 0; i-- {
			if wantBool(test.call(es[i-1]), "SelectLastInSeq") {
				return value.Int(int32(i))
			}
		}
		return value.Int(0)
	}, 0, 1)
	m.f3("InsertAt", func(s, i, e Value) Value {
		es := wantSeq(s, "InsertAt")
		return value.TupleOf(slices.Insert(slices.Clone(es), place(i, len(es)+1, "InsertAt"), e))
	})
	m.f3("ReplaceAt", func(s, i, e Value) Value {
		es := slices.Clone(wantSeq(s, "ReplaceAt"))
		es[place(i, len(es), "ReplaceAt")] = e
		return value.TupleOf(es)
	})
	m.f2("RemoveAt", func(s, i Value) Value {
		es := slices.Clone(wantSeq(s, "RemoveAt"))
		at := place(i, len(es), "RemoveAt")
		return value.TupleOf(slices.Delete(es, at, at+1))
	})
	m.f2("RemoveFirst", func(s, e Value) Value {
		return removeFirst(s, "RemoveFirst", func(x Value) bool { return value.Equal(x, e) })
	})
	m.fn("RemoveFirstMatch", func(_ *Context, args []Arg) Value {
		test := apply1{op: args[1].Op}
		return removeFirst(args[0].Val, "RemoveFirstMatch", func(x Value) bool {
			return wantBool(test.call(x), "RemoveFirstMatch")
		})
	}, 0, 1)
	m.f2("Cons", func(e, s Value) Value {
		return value.TupleOf(slices.Insert(slices.Clone(wantSeq(s, "Cons")), 0, e))
	})
	m.f2("Snoc", func(e, s Value) Value {
		wantSeq(s, "Snoc")
		return value.Append(s, e)
	})
	m.f1("Front", func(s Value) Value {
		es := wantSeq(s, "Front")
		return value.SubSeq(s.Normal(), 1, int32(len(es)-1))
	})
	m.f1("Last", func(s Value) Value {
		es := wantSeq(s, "Last")
		if len(es) == 0 {
			value.Fail("Last of the empty sequence")
		}
		return es[len(es)-1]
	})
	foldSequences(&m)
	return m.ops
}

// place converts i, which must be in 1..n, to a slice index.
func place(i Value, n int, op string) int {
	at := wantInt(i, op)
	if at < 1 || int(at) > n {
		value.Fail("%s: the place %d is not in 1..%d", op, at, n)
	}
	return int(at - 1)
}

func removeFirst(s Value, op string, test func(Value) bool) Value {
	es := wantSeq(s, op)
	at := slices.IndexFunc(es, test)
	if at < 0 {
		return s.Normal()
	}
	return value.TupleOf(slices.Delete(slices.Clone(es), at, at+1))
}

// foldSequences adds the left and right folds.
func foldSequences(m *module) {
	m.fn("FoldSeq", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		es := wantSeq(args[2].Val, "FoldSeq")
		for i := len(es); i > 0; i-- {
			acc = op.call(es[i-1], acc)
		}
		return acc
	}, 2, 0, 0)
	m.fn("FoldLeft", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		for _, x := range wantSeq(args[2].Val, "FoldLeft") {
			acc = op.call(acc, x)
		}
		return acc
	}, 2, 0, 0)
	m.fn("FoldRight", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[2].Val
		es := wantSeq(args[1].Val, "FoldRight")
		for i := len(es); i > 0; i-- {
			acc = op.call(es[i-1], acc)
		}
		return acc
	}, 2, 0, 0)
	m.fn("FoldLeftDomain", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		for i := range wantSeq(args[2].Val, "FoldLeftDomain") {
			acc = op.call(acc, value.Int(int32(i+1)))
		}
		return acc
	}, 2, 0, 0)
	m.fn("FoldRightDomain", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[2].Val
		for i := len(wantSeq(args[1].Val, "FoldRightDomain")); i > 0; i-- {
			acc = op.call(value.Int(int32(i)), acc)
		}
		return acc
	}, 2, 0, 0)
}

// sortBy sorts es, which it owns, in increasing order of less. The sort is
// stable. It terminates even if less is not an order.
func sortBy(es []Value, less Operator, op string) Value {
	cmp := apply2{op: less}
	for i := 1; i < len(es); i++ {
		x := es[i]
		// Binary search keeps the number of calls of less low. It finds the
		// place after the last element that x is not less than.
		lo, hi := 0, i
		for lo < hi {
			mid := (lo + hi) / 2
			if wantBool(cmp.call(x, es[mid]), op) {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		copy(es[lo+1:i+1], es[lo:i])
		es[lo] = x
	}
	return value.TupleOf(es)
}

// arrangements returns the sequences of distinct elements of s: those that use
// all elements, or those of any length.
func arrangements(s Value, op string, whole bool) Value {
	es := s.Elems()
	out := collector{what: op + "(" + value.Brief(s) + ")"}
	out.expect(new(big.Int).MulRange(1, int64(min(len(es), 20)))) // 20! already exceeds the limit
	used := make([]bool, len(es))
	cur := make([]Value, 0, len(es))
	var extend func()
	extend = func() {
		if !whole || len(cur) == len(es) {
			out.add(value.Tuple(cur...))
		}
		for i, x := range es {
			if !used[i] {
				used[i] = true
				cur = append(cur, x)
				extend()
				cur = cur[:len(cur)-1]
				used[i] = false
			}
		}
	}
	extend()
	return out.set()
}

// boundedSeqs is the sequences of elements of s of length at most n.
func boundedSeqs(s Value, n int32) Value {
	wantSet(s, "BoundedSeq")
	if int(n) > value.MaxSetSize {
		value.Fail("BoundedSeq(S, %d): more than %d lengths", n, value.MaxSetSize)
	}
	sets := make([]Value, 0, n+1)
	for i := int32(0); i <= n; i++ {
		sets = append(sets, value.FnSet(value.Interval(1, i), s))
	}
	return value.UnionOf(sets)
}
