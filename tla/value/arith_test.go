// SPDX-License-Identifier: Apache-2.0

package value

import (
	"math"
	"math/big"
	"testing"
)

// edges are numbers near which arithmetic may overflow.
func edges() []int32 {
	out := []int32{46340, 46341, -46340, -46341, 65535, 65536, 1 << 30, -1 << 30, 7, -7}
	for i := range int32(4) {
		out = append(out, i, -i, math.MaxInt32-i, math.MinInt32+i)
	}
	return out
}

// TestArithmeticAtTheEdges compares every operation on every pair of edges with
// unbounded arithmetic: a result that does not fit, or does not exist, must be
// an error.
func TestArithmeticAtTheEdges(t *testing.T) {
	num := func(i int32) *big.Int { return big.NewInt(int64(i)) }
	floor := func(a, b *big.Int) *big.Int {
		if b.Sign() == 0 {
			return nil
		}
		q, r := new(big.Int).QuoRem(a, b, new(big.Int))
		if r.Sign() != 0 && r.Sign() != b.Sign() {
			q.Sub(q, big.NewInt(1))
		}
		return q
	}
	for _, op := range []struct {
		name string
		got  func(a, b Value) Value
		want func(a, b *big.Int) *big.Int // nil: no value
	}{
		{"+", Add, func(a, b *big.Int) *big.Int { return a.Add(a, b) }},
		{"-", Sub, func(a, b *big.Int) *big.Int { return a.Sub(a, b) }},
		{"*", Mul, func(a, b *big.Int) *big.Int { return a.Mul(a, b) }},
		{"-.", func(a, _ Value) Value { return Neg(a) }, func(a, _ *big.Int) *big.Int { return a.Neg(a) }},
		{"\\div", Div, floor},
		{"%", Mod, func(a, b *big.Int) *big.Int {
			if b.Sign() <= 0 {
				return nil
			}
			return a.Mod(a, b)
		}},
		{"^", Pow, func(a, b *big.Int) *big.Int {
			if b.Sign() < 0 || a.Sign() == 0 && b.Sign() == 0 || a.CmpAbs(big.NewInt(1)) > 0 && b.Cmp(big.NewInt(64)) > 0 {
				return nil // the last is too large
			}
			if a.CmpAbs(big.NewInt(1)) <= 0 {
				b.And(b, big.NewInt(1)).Add(b, big.NewInt(2)) // the parity is all that counts
			}
			return a.Exp(a, b, nil)
		}},
	} {
		for _, a := range edges() {
			for _, b := range edges() {
				var got Value
				err := Catch(func() { got = op.got(Int(a), Int(b)) })
				want := op.want(num(a), num(b))
				fits := want != nil && want.IsInt64() && want.Int64() == int64(int32(want.Int64()))
				switch {
				case err == nil && !fits:
					t.Errorf("%d %s %d = %v, want an error", a, op.name, b, got)
				case err == nil && int64(got.AsInt()) != want.Int64():
					t.Errorf("%d %s %d = %v, want %v", a, op.name, b, got, want)
				case err != nil && fits:
					t.Errorf("%d %s %d: %v, want %v", a, op.name, b, err, want)
				}
			}
		}
	}
}

// TestSubSeqBounds takes every part of a sequence and of a string, including
// parts that reach beyond an end. The sequence has spare capacity, as one that
// was cut from another may have.
func TestSubSeqBounds(t *testing.T) {
	room := []Value{Int(1), Int(2), Int(3), Int(4)}
	text := "123"
	for m := int32(-1); m <= 5; m++ {
		for n := int32(-1); n <= 5; n++ {
			for _, v := range []Value{TupleOf(room[:3]), String(text)} {
				var got Value
				err := Catch(func() { got = SubSeq(v, m, n) })
				switch {
				case m > n:
					if err != nil || got.Len() != 0 {
						t.Errorf("SubSeq(%v, %d, %d) = %v, %v; want nothing", v, m, n, got, err)
					}
				case m < 1 || n > 3:
					if err == nil {
						t.Errorf("SubSeq(%v, %d, %d) = %v, want an error", v, m, n, got)
					}
				case err != nil:
					t.Errorf("SubSeq(%v, %d, %d): %v", v, m, n, err)
				case v.Kind() == KindString:
					if !Equal(got, String(text[m-1:n])) {
						t.Errorf("SubSeq(%v, %d, %d) = %v", v, m, n, got)
					}
				case !Equal(got, Tuple(room[m-1:n]...)):
					t.Errorf("SubSeq(%v, %d, %d) = %v", v, m, n, got)
				}
			}
		}
	}
}
