// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	mathbits "math/bits"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func naturals() []Op { return arithmetic("Naturals", value.Nat) }

// arithmetic holds the operators of Naturals.
func arithmetic(name string, nat func() Value) []Op {
	m := module{name: name}
	m.f0("Nat", nat)
	m.f2("+", value.Add)
	m.f2("-", value.Sub)
	m.f2("*", value.Mul)
	m.f2("^", value.Pow)
	m.f2("<", func(a, b Value) Value { return boolean(value.Less(a, b)) })
	m.f2("<=", func(a, b Value) Value { return boolean(value.Leq(a, b)) })
	m.f2(">", func(a, b Value) Value { return boolean(value.Greater(a, b)) })
	m.f2(">=", func(a, b Value) Value { return boolean(value.Geq(a, b)) })
	m.f2("..", value.Range)
	m.f2(`\div`, value.Div)
	m.f2("%", value.Mod)
	m.primitive(`Nat + - * < .. \div`)
	return m.ops
}

func integers() []Op {
	m := module{name: "Integers"}
	m.f0("Int", value.Ints)
	m.f1("-.", value.Neg)
	m.primitive("Int -.")
	return m.ops
}

func reals() []Op {
	m := module{name: "Reals"}
	m.f0("Real", value.Reals)
	m.f0("Infinity", func() Value {
		value.Fail("Infinity is no value that can be computed with")
		return Value{}
	})
	m.f2("/", divide)
	m.primitive("Real Infinity /")
	return m.ops
}

// divide is a / b if the quotient is an integer. Other quotients are an error,
// because reals that are not integers are not supported.
func divide(a, b Value) Value {
	x, y := wantInt(a, "/"), wantInt(b, "/")
	if y == 0 {
		value.Fail("%d / 0: division by zero", x)
	}
	if int64(x)%int64(y) != 0 {
		value.Fail("%d / %d is not an integer, and other real numbers cannot be computed with", x, y)
	}
	return value.Int(value.DivInt(x, y))
}

func bitwise() []Op {
	m := module{name: "Bitwise"}
	m.f2("&", bits("&", func(x, y int32) int32 { return x & y }))
	m.f2("|", bits("|", func(x, y int32) int32 { return x | y }))
	m.f2("^^", bits("^^", func(x, y int32) int32 { return x ^ y }))
	m.f1("Not", func(a Value) Value {
		x := wantNat(a, "Not")
		return value.Int(x ^ int32(1<<mathbits.Len32(uint32(x))-1))
	})
	m.f2("shiftR", func(a, b Value) Value {
		x, n := wantNat(a, "shiftR"), wantNat(b, "shiftR")
		return value.Int(x >> min(n, 31))
	})
	m.f2("shiftL", func(a, b Value) Value {
		x, n := wantNat(a, "shiftL"), wantNat(b, "shiftL")
		if x == 0 {
			return a
		}
		return value.Int(value.MulInt(x, value.PowInt(2, n)))
	})
	return m.ops
}

// bits wraps a bitwise operator on natural numbers.
func bits(name string, f func(x, y int32) int32) func(a, b Value) Value {
	return func(a, b Value) Value { return value.Int(f(wantNat(a, name), wantNat(b, name))) }
}

// A dyadic rational is [num |-> n, den |-> d], where d is a power of 2.
func dyadic() []Op {
	m := module{name: "DyadicRationals"}
	m.f1("IsDyadicRational", func(r Value) Value {
		_, d := dyadicParts(r, "IsDyadicRational")
		return boolean(d > 0 && d&(d-1) == 0)
	})
	m.f2("Add", func(p, q Value) Value {
		pn, pd := dyadicParts(p, "Add")
		qn, qd := dyadicParts(q, "Add")
		if pn == 0 {
			return q
		}
		d := max(pd, qd)
		scale := func(n, from int32) int32 { return value.MulInt(n, value.DivInt(d, from)) }
		return dyadicReduce(value.AddInt(scale(pn, pd), scale(qn, qd)), d)
	})
	m.f1("Half", func(p Value) Value {
		n, d := dyadicParts(p, "Half")
		return dyadicReduce(n, value.MulInt(d, 2))
	})
	m.f1("Reduce", func(p Value) Value { return dyadicReduce(dyadicParts(p, "Reduce")) })
	return m.ops
}

func dyadicParts(r Value, op string) (num, den int32) {
	wantFn(r, op)
	return wantInt(r.Field("num"), op), wantInt(r.Field("den"), op)
}

// dyadicReduce cancels common factors of 2.
func dyadicReduce(n, d int32) Value {
	for d > 1 && d%2 == 0 && n%2 == 0 {
		n, d = n/2, d/2
	}
	return value.Record([]value.Field{{Name: "num", Val: value.Int(n)}, {Name: "den", Val: value.Int(d)}})
}
