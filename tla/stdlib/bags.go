// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math/big"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// A bag is a function from a set to positive integers.
func bags() []Op {
	m := module{name: "Bags"}
	m.f1("IsABag", func(b Value) Value { return boolean(isBag(b)) })
	m.f1("BagToSet", func(b Value) Value { return wantFn(b, "BagToSet").Domain() })
	m.f1("SetToBag", func(s Value) Value { return uniformBag(wantSet(s, "SetToBag")) })
	m.f2("BagIn", func(x, b Value) Value { return boolean(copies(x, b, "BagIn") > 0) })
	m.f0("EmptyBag", func() Value { return value.Tuple() })
	m.f2("CopiesIn", func(x, b Value) Value { return value.Int(copies(x, b, "CopiesIn")) })
	m.f2("(+)", func(a, b Value) Value { return addBags([]Value{a, b}, "(+)") })
	m.f2("(-)", subtractBags)
	m.f1("BagUnion", func(s Value) Value { return addBags(wantSet(s, "BagUnion").Elems(), "BagUnion") })
	m.f2(`\sqsubseteq`, func(a, b Value) Value {
		for x := range wantFn(a, `\sqsubseteq`).Domain().Each {
			if copies(x, a, `\sqsubseteq`) > copies(x, b, `\sqsubseteq`) {
				return boolean(false)
			}
		}
		return boolean(true)
	})
	m.f1("SubBag", subBags)
	m.fn("BagOfAll", func(_ *Context, args []Arg) Value {
		f := apply1{op: args[0].Op}
		b := wantFn(args[1].Val, "BagOfAll")
		var counts []value.Pair
		for x := range b.Domain().Each {
			counts = append(counts, value.Pair{Key: f.call(x), Val: value.Int(copies(x, b, "BagOfAll"))})
		}
		return sumPairs(counts)
	}, 1, 0)
	m.f1("BagCardinality", func(b Value) Value {
		sum := int32(0)
		for _, n := range wantFn(b, "BagCardinality").Values() {
			sum = value.AddInt(sum, wantInt(n, "BagCardinality"))
		}
		return value.Int(sum)
	})
	return m.ops
}

func isBag(b Value) bool {
	if b.Kind() < value.KindTuple || b.Kind() > value.KindFn {
		return false
	}
	for _, n := range b.Values() {
		if n.Kind() != value.KindInt || n.AsInt() <= 0 {
			return false
		}
	}
	return true
}

// copies is the number of copies of x in b.
func copies(x, b Value, op string) int32 {
	n, ok := wantFn(b, op).Lookup(x)
	if !ok {
		return 0
	}
	return wantInt(n, op)
}

func uniformBag(s Value) Value {
	f, vals := value.NewFn(value.Enumerate(s))
	for i := range vals {
		vals[i] = value.Int(1)
	}
	return f
}

// addBags adds the numbers of copies in two bags.
func addBags(bs []Value, op string) Value {
	var counts []value.Pair
	for _, b := range bs {
		for x := range wantFn(b, op).Domain().Each {
			counts = append(counts, value.Pair{Key: x, Val: value.Int(copies(x, b, op))})
		}
	}
	return sumPairs(counts)
}

// sumPairs returns the bag in which the count of each key is the sum of the
// counts given for it.
func sumPairs(counts []value.Pair) Value {
	keys := make([]Value, len(counts))
	for i, c := range counts {
		keys[i] = c.Key
	}
	domain := value.SetOf(keys)
	f, vals := value.NewFn(domain)
	sums := make([]int32, len(vals))
	at := placesOf(domain)
	for _, c := range counts {
		i := at(c.Key)
		sums[i] = value.AddInt(sums[i], wantInt(c.Val, "a bag"))
	}
	for i, n := range sums {
		vals[i] = value.Int(n)
	}
	return f
}

// placesOf returns a function that finds the index of an element in a set.
func placesOf(s Value) func(Value) int {
	numbers, vals := value.NewFn(s)
	for i := range vals {
		vals[i] = value.Int(int32(i))
	}
	return func(x Value) int { return int(numbers.Apply(x).AsInt()) }
}

// subtractBags removes the copies in b from a.
func subtractBags(a, b Value) Value {
	var left []value.Pair
	for x := range wantFn(a, "(-)").Domain().Each {
		if n := value.SubInt(copies(x, a, "(-)"), copies(x, b, "(-)")); n > 0 {
			left = append(left, value.Pair{Key: x, Val: value.Int(n)})
		}
	}
	return value.Fn(left)
}

// subBags is the set of all sub-bags of b.
func subBags(b Value) Value {
	keys := wantFn(b, "SubBag").Domain().Elems()
	out := collector{what: "SubBag(" + value.Brief(b) + ")"}
	count := big.NewInt(1)
	for _, k := range keys {
		if count.Mul(count, big.NewInt(int64(copies(k, b, "SubBag"))+1)); count.BitLen() > 32 {
			break
		}
	}
	out.expect(count)
	cur := make([]value.Pair, 0, len(keys))
	var extend func(i int)
	extend = func(i int) {
		if i == len(keys) {
			out.add(value.Fn(cur))
			return
		}
		extend(i + 1)
		for n := int32(1); n <= copies(keys[i], b, "SubBag"); n++ {
			cur = append(cur, value.Pair{Key: keys[i], Val: value.Int(n)})
			extend(i + 1)
			cur = cur[:len(cur)-1]
		}
	}
	extend(0)
	return out.set()
}

func bagsExt() []Op {
	m := module{name: "BagsExt"}
	one := func(x Value) Value { return uniformBag(value.Set(x)) }
	m.f2("BagAdd", func(b, x Value) Value { return addBags([]Value{b, one(x)}, "BagAdd") })
	m.f2("BagRemove", func(b, x Value) Value { return subtractBags(b, one(x)) })
	m.f2("BagRemoveAll", func(b, x Value) Value {
		f := wantFn(b, "BagRemoveAll")
		return restrict(f, value.Diff(value.Enumerate(f.Domain()), value.Set(x)), "BagRemoveAll")
	})
	m.fn("FoldBag", func(_ *Context, args []Arg) Value {
		op, acc, b := apply2{op: args[0].Op}, args[1].Val, args[2].Val
		keys := wantFn(b, "FoldBag").Domain().Elems()
		for i := len(keys); i > 0; i-- {
			for range copies(keys[i-1], b, "FoldBag") {
				acc = op.call(keys[i-1], acc)
			}
		}
		return acc
	}, 2, 0, 0)
	m.f1("SumBag", func(b Value) Value {
		sum := int32(0)
		for x := range wantFn(b, "SumBag").Domain().Each {
			sum = value.AddInt(sum, value.MulInt(wantInt(x, "SumBag"), copies(x, b, "SumBag")))
		}
		return value.Int(sum)
	})
	m.f1("ProductBag", func(b Value) Value {
		product := int32(1)
		for x := range wantFn(b, "ProductBag").Domain().Each {
			product = value.MulInt(product, value.PowInt(wantInt(x, "ProductBag"), copies(x, b, "ProductBag")))
		}
		return value.Int(product)
	})
	return m.ops
}
