// SPDX-License-Identifier: Apache-2.0

package value

import "math"

// Arithmetic is on 32-bit integers. A result that does not fit is an *Error.
// Compiled systems use the functions whose names end in Int.

func overflow(a int32, op string, b int32) {
	fail("%d %s %d does not fit in 32 bits (%d..%d)", a, op, b, math.MinInt32, math.MaxInt32)
}

//go:noinline
func overflowAdd(a, b int32) { overflow(a, "+", b) }

//go:noinline
func overflowSub(a, b int32) { overflow(a, "-", b) }

// fit returns r, or fails if r does not fit in 32 bits.
func fit(r int64, a int32, op string, b int32) int32 {
	if int64(int32(r)) != r {
		overflow(a, op, b)
	}
	return int32(r)
}

// AddInt is a + b.
func AddInt(a, b int32) int32 {
	c := a + b
	if (c^a)&(c^b) < 0 {
		overflowAdd(a, b)
	}
	return c
}

// SubInt is a - b.
func SubInt(a, b int32) int32 {
	c := a - b
	if (a^b)&(c^a) < 0 {
		overflowSub(a, b)
	}
	return c
}

// MulInt is a * b.
func MulInt(a, b int32) int32 { return fit(int64(a)*int64(b), a, "*", b) }

// NegInt is -a.
func NegInt(a int32) int32 {
	if a == math.MinInt32 {
		fail("-(%d) does not fit in 32 bits", a)
	}
	return -a
}

// DivInt is a \div b: the quotient rounded towards minus infinity.
func DivInt(a, b int32) int32 {
	if b == 0 {
		fail("%d \\div 0: division by zero", a)
	}
	q := int64(a) / int64(b)
	if (int64(a)%int64(b) != 0) && ((a < 0) != (b < 0)) {
		q--
	}
	return fit(q, a, "\\div", b)
}

// ModInt is a % b, in 0..b-1; b must be positive.
func ModInt(a, b int32) int32 {
	if b <= 0 {
		fail("%d %% %d: the right operand of %% must be positive", a, b)
	}
	r := a % b
	if r < 0 {
		r += b
	}
	return r
}

// PowInt is a ^ b. It fails if b is negative, and for 0 ^ 0.
func PowInt(a, b int32) int32 {
	if b < 0 {
		fail("%d ^ %d: the exponent must not be negative", a, b)
	}
	if a == 0 && b == 0 {
		fail("0 ^ 0 is undefined")
	}
	switch a {
	case 0, 1:
		return a
	case -1:
		if b%2 == 0 {
			return 1
		}
		return -1
	}
	r := int64(1)
	for range b {
		r *= int64(a)
		if int64(int32(r)) != r {
			overflow(a, "^", b)
		}
	}
	return int32(r)
}

// operands checks that both operands are integers.
func operands(a, b Value, op string) {
	if a.bits != bitsInt {
		fail("%s %s %s: the left operand must be an integer, found %s", Brief(a), op, Brief(b), Describe(a))
	}
	if b.bits != bitsInt {
		fail("%s %s %s: the right operand must be an integer, found %s", Brief(a), op, Brief(b), Describe(b))
	}
}

func bothInts(a, b Value) bool { return a.bits == bitsInt && b.bits == bitsInt }

// Add is a + b.
func Add(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "+")
	}
	return Int(AddInt(a.n, b.n))
}

// Sub is a - b.
func Sub(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "-")
	}
	return Int(SubInt(a.n, b.n))
}

// Mul is a * b.
func Mul(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "*")
	}
	return Int(MulInt(a.n, b.n))
}

// Neg is -a.
func Neg(a Value) Value {
	if a.bits != bitsInt {
		fail("-(%s): the operand must be an integer, found %s", Brief(a), Describe(a))
	}
	return Int(NegInt(a.n))
}

// Div is a \div b, rounded towards minus infinity.
func Div(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "\\div")
	}
	return Int(DivInt(a.n, b.n))
}

// Mod is a % b, in 0..b-1.
func Mod(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "%")
	}
	return Int(ModInt(a.n, b.n))
}

// Pow is a ^ b.
func Pow(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "^")
	}
	return Int(PowInt(a.n, b.n))
}

// Less is a < b.
func Less(a, b Value) bool {
	if a.bits != bitsInt || b.bits != bitsInt {
		operands(a, b, "<")
	}
	return a.n < b.n
}

// Leq is a <= b.
func Leq(a, b Value) bool {
	if a.bits != bitsInt || b.bits != bitsInt {
		operands(a, b, "<=")
	}
	return a.n <= b.n
}

// Greater is a > b.
func Greater(a, b Value) bool {
	if a.bits != bitsInt || b.bits != bitsInt {
		operands(a, b, ">")
	}
	return a.n > b.n
}

// Geq is a >= b.
func Geq(a, b Value) bool {
	if a.bits != bitsInt || b.bits != bitsInt {
		operands(a, b, ">=")
	}
	return a.n >= b.n
}

// Range is a .. b.
func Range(a, b Value) Value {
	if !bothInts(a, b) {
		operands(a, b, "..")
	}
	return Interval(a.n, b.n)
}
