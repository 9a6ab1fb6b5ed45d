// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math/big"
	"slices"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func tlc() []Op {
	m := module{name: "TLC"}
	m.fn("Print", func(ctx *Context, args []Arg) Value {
		ctx.print(args[0].Val.String() + "  " + args[1].Val.String())
		return args[1].Val
	}, 0, 0)
	m.fn("PrintT", func(ctx *Context, args []Arg) Value {
		ctx.print(args[0].Val.String())
		return boolean(true)
	}, 0)
	m.f2("Assert", func(cond, text Value) Value {
		if cond.Kind() != value.KindBool {
			value.Fail("Assert: expected a boolean, found %s", value.Describe(cond))
		}
		if !cond.IsTrue() {
			shown := text.String()
			if text.Kind() == value.KindString {
				shown = text.AsString()
			}
			value.Fail("assertion failed: %s", shown)
		}
		return cond
	})
	m.fn("JavaTime", func(ctx *Context, _ []Arg) Value {
		if ctx.Now == nil {
			value.Fail("JavaTime: there is no clock here")
		}
		return value.Int(ctx.Now())
	})
	m.fn("TLCGet", func(ctx *Context, args []Arg) Value { return ctx.register(args[0].Val, "TLCGet") }, 0)
	m.fn("TLCSet", func(ctx *Context, args []Arg) Value {
		ctx.setRegister(args[0].Val, args[1].Val, "TLCSet")
		return boolean(true)
	}, 0, 0)
	m.f2(":>", func(d, e Value) Value {
		f, vals := value.NewFn(value.Set(d))
		vals[0] = e
		return f
	})
	m.f2("@@", func(f, g Value) Value { return value.Merge(f, g) })
	m.f1("Permutations", permutations)
	m.fn("SortSeq", func(_ *Context, args []Arg) Value {
		return sortBy(slices.Clone(wantSeq(args[0].Val, "SortSeq")), args[1].Op, "SortSeq")
	}, 0, 2)
	m.fn("RandomElement", func(ctx *Context, args []Arg) Value {
		return randomElement(ctx, args[0].Val, "RandomElement")
	}, 0)
	m.f0("Any", value.Anything)
	m.f1("ToString", func(v Value) Value { return value.String(v.String()) })
	m.f1("TLCEval", whole)
	m.primitive("JavaTime TLCGet TLCSet RandomElement Any ToString")
	m.effects("Print PrintT JavaTime TLCGet TLCSet RandomElement")
	return m.ops
}

// whole computes the lazy parts of a value.
func whole(v Value) Value {
	v = v.Normal()
	if v.Kind() == value.KindSet && value.IsFinite(v) {
		return value.Enumerate(v)
	}
	return v
}

func (ctx *Context) print(line string) {
	if ctx.Print != nil {
		ctx.Print(line)
	}
}

func (ctx *Context) register(key Value, op string) Value {
	v, ok := ctx.lookup(key, op)
	if !ok {
		value.Fail("%s(%s): it has no value", op, value.Brief(key))
	}
	return v
}

func (ctx *Context) lookup(key Value, op string) (Value, bool) {
	if ctx.Register == nil {
		value.Fail("%s(%s): there are no registers here", op, value.Brief(key))
	}
	return ctx.Register(key)
}

func (ctx *Context) setRegister(key, val Value, op string) {
	if ctx.SetRegister == nil {
		value.Fail("%s(%s): there are no registers here", op, value.Brief(key))
	}
	ctx.SetRegister(key, whole(val))
}

func (ctx *Context) random(n int64, op string) int64 {
	if ctx.Random == nil {
		value.Fail("%s: there is no source of random numbers here", op)
	}
	return ctx.Random(n)
}

// permutations is the set of bijections from s to s.
func permutations(s Value) Value {
	domain := value.Enumerate(wantSet(s, "Permutations"))
	orders := arrangements(domain, "Permutations", true).Elems()
	out := make([]Value, len(orders))
	for i, o := range orders {
		f, vals := value.NewFn(domain)
		copy(vals, o.Elements())
		out[i] = f
	}
	return value.SetOf(out)
}

// digitBits is the number of random bits drawn at a time.
const digitBits = 31

// randomElement draws an element of a set uniformly. It draws a few more bits
// than needed, so that the bias of the remainder is negligible.
func randomElement(ctx *Context, s Value, op string) Value {
	n := value.Count(wantSet(s, op))
	if n.Sign() == 0 {
		value.Fail("%s of the empty set", op)
	}
	if n.IsInt64() {
		return value.At(s, big.NewInt(ctx.random(n.Int64(), op)))
	}
	r := new(big.Int)
	for range n.BitLen()/digitBits + 3 {
		r.Lsh(r, digitBits)
		r.Or(r, big.NewInt(ctx.random(1<<digitBits, op)))
	}
	return value.At(s, r.Mod(r, n))
}

func tlcExt() []Op {
	m := module{name: "TLCExt"}
	m.fn("AssertEq", func(ctx *Context, args []Arg) Value {
		same := value.Equal(args[0].Val, args[1].Val)
		if !same {
			ctx.print("AssertEq: " + args[0].Val.String() + " is not " + args[1].Val.String())
		}
		return boolean(same)
	}, 0, 0)
	m.fn("AssertError", assertError, 0, 0).Lazy = true
	m.fn("Trace", func(ctx *Context, _ []Arg) Value {
		if ctx.Trace == nil {
			value.Fail("Trace: how a state was reached is known while states are searched or walked through, and in an alias, but not here")
		}
		return ctx.Trace()
	})
	m.f1("TLCModelValue", func(s Value) Value { return value.Model(wantString(s, "TLCModelValue")) })
	m.f2("TLCCache", func(v, _ Value) Value { return v })
	m.fn("TLCGetOrDefault", func(ctx *Context, args []Arg) Value {
		if v, ok := ctx.lookup(args[0].Val, "TLCGetOrDefault"); ok {
			return v
		}
		return args[1].Val
	}, 0, 0)
	m.fn("TLCGetAndSet", func(ctx *Context, args []Arg) Value {
		op := apply2{op: args[1].Op}
		old, ok := ctx.lookup(args[0].Val, "TLCGetAndSet")
		if !ok {
			old = args[3].Val
		}
		ctx.setRegister(args[0].Val, op.call(old, args[2].Val), "TLCGetAndSet")
		return old
	}, 0, 2, 0, 0)
	m.f1("TLCFP", func(v Value) Value { return value.Int(int32(uint32(value.Hash(whole(v))))) })
	m.primitive("AssertError Trace TLCModelValue TLCGetOrDefault TLCGetAndSet TLCFP")
	m.effects("AssertEq AssertError Trace TLCGetOrDefault TLCGetAndSet")
	return m.ops
}

// assertError is TRUE if the expression has a value, or if its evaluation fails
// with the expected message.
func assertError(ctx *Context, args []Arg) Value {
	want := wantString(args[0].Val, "AssertError")
	err := value.Catch(func() { args[1].Op(nil) })
	switch {
	case err == nil || err.Error() == want:
	case ctx.Uncaught != nil && ctx.Uncaught(err):
		panic(err)
	default:
		value.Fail("assertion failed: the error is %q, and not %q", err.Error(), want)
	}
	return boolean(true)
}

func randomization() []Op {
	m := module{name: "Randomization"}
	m.fn("RandomSubset", func(ctx *Context, args []Arg) Value {
		return randomSubset(ctx, wantNat(args[0].Val, "RandomSubset"), args[1].Val, "RandomSubset")
	}, 0, 0)
	m.fn("RandomSetOfSubsets", func(ctx *Context, args []Arg) Value {
		return value.SetOf(randomSubsets(ctx, args, "RandomSetOfSubsets"))
	}, 0, 0, 0)
	m.fn("TestRandomSetOfSubsets", func(ctx *Context, args []Arg) Value {
		sizes := make([]Value, testRuns)
		for i := range sizes {
			sets := randomSubsets(ctx, args, "TestRandomSetOfSubsets")
			sizes[i] = value.Int(int32(value.Size(value.SetOf(sets))))
		}
		return value.TupleOf(sizes)
	}, 0, 0, 0)
	m.primitive("RandomSubset RandomSetOfSubsets TestRandomSetOfSubsets")
	m.effects("RandomSubset RandomSetOfSubsets TestRandomSetOfSubsets")
	return m.ops
}

// testRuns is the number of sets of subsets that TestRandomSetOfSubsets draws.
const testRuns = 5

// randomSubset draws a subset of k elements uniformly. If the set has at most k
// elements, it returns the whole set.
func randomSubset(ctx *Context, k int32, s Value, op string) Value {
	n := value.Count(wantSet(s, op))
	if n.Cmp(big.NewInt(int64(k))) <= 0 {
		return s
	}
	if k > value.MaxSetSize {
		value.Fail("%s: a set of %d elements is too large", op, k)
	}
	if n.Cmp(big.NewInt(4*int64(k))) > 0 {
		// k is small compared with the set: draw elements until k different
		// ones are found.
		out := collector{what: op}
		for {
			for range k - int32(len(out.elems)) {
				out.add(randomElement(ctx, s, op))
			}
			if out.elems = slices.Clone(out.set().Elems()); int32(len(out.elems)) == k {
				return value.SetOf(out.elems)
			}
		}
	}
	es := slices.Clone(s.Elems())
	for i := range es[:k] {
		j := i + int(ctx.random(int64(len(es)-i), op))
		es[i], es[j] = es[j], es[i]
	}
	return value.SetOf(es[:k])
}

// randomSubsets draws k subsets of a set, of n elements on average.
func randomSubsets(ctx *Context, args []Arg, op string) []Value {
	k, n := wantNat(args[0].Val, op), wantNat(args[1].Val, op)
	es := wantSet(args[2].Val, op).Elems()
	if int(n) > len(es) || k > value.MaxSetSize {
		value.Fail("%s(%d, %d, S): the set has %d elements, and at most %d subsets can be drawn",
			op, k, n, len(es), value.MaxSetSize)
	}
	sets := make([]Value, k)
	for i := range sets {
		var chosen []Value
		for _, x := range es {
			if ctx.random(int64(len(es)), op) < int64(n) {
				chosen = append(chosen, x)
			}
		}
		sets[i] = value.SetOf(chosen)
	}
	return sets
}

func apalache() []Op {
	m := module{name: "Apalache"}
	m.fn("MkSeq", func(_ *Context, args []Arg) Value {
		op, n := apply1{op: args[1].Op}, wantNat(args[0].Val, "MkSeq")
		if n > value.MaxSetSize {
			value.Fail("MkSeq: a sequence of %d elements is too long", n)
		}
		s, es := value.NewTuple(int(n))
		for i := range es {
			es[i] = op.call(value.Int(int32(i + 1)))
		}
		return s
	}, 0, 1)
	m.fn("Repeat", func(_ *Context, args []Arg) Value {
		op, v := apply2{op: args[0].Op}, args[2].Val
		for i := range wantNat(args[1].Val, "Repeat") {
			v = op.call(v, value.Int(i+1))
		}
		return v
	}, 2, 0, 0)
	m.f1("SetAsFun", func(s Value) Value {
		var pairs []value.Pair
		for t := range wantSet(s, "SetAsFun").Each {
			es := wantSeq(t, "SetAsFun")
			if len(es) != 2 {
				value.Fail("SetAsFun: expected a pair, found %s", value.Brief(t))
			}
			if n := len(pairs); n > 0 && value.Equal(pairs[n-1].Key, es[0]) {
				continue
			}
			pairs = append(pairs, value.Pair{Key: es[0], Val: es[1]})
		}
		return value.Fn(pairs)
	})
	m.f3("FunAsSeq", func(f, n, most Value) Value {
		limit := min(wantNat(n, "FunAsSeq"), wantNat(most, "FunAsSeq"))
		return restrict(f, value.Interval(1, limit), "FunAsSeq")
	})
	m.fn("ApaFoldSet", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		es := wantSet(args[2].Val, "ApaFoldSet").Elems()
		for i := len(es); i > 0; i-- {
			acc = op.call(acc, es[i-1])
		}
		return acc
	}, 2, 0, 0)
	m.fn("ApaFoldSeqLeft", func(_ *Context, args []Arg) Value {
		op, acc := apply2{op: args[0].Op}, args[1].Val
		for _, x := range wantSeq(args[2].Val, "ApaFoldSeqLeft") {
			acc = op.call(acc, x)
		}
		return acc
	}, 2, 0, 0)
	m.f1("Gen", func(Value) Value {
		value.Fail("Gen has a value only in a symbolic checker")
		return Value{}
	})
	m.primitive("Gen")
	return m.ops
}
