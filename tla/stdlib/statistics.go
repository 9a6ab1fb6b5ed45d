// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"math"
	"strconv"

	"github.com/ashlar-dev/ashlar/tla/value"
)

func statistics() []Op {
	m := module{name: "Statistics"}
	m.f3("ChiSquare", chiSquare)
	m.primitive("ChiSquare")
	return m.ops
}

// chiSquare reports whether the observed counts are consistent with the
// expected ones at significance level alpha. The sum of the squared deviations,
// each divided by the expected count, has a chi-square distribution; the
// probability of a sum at least as large must not be below alpha. If the sums
// of the counts differ, chiSquare scales the expected ones.
func chiSquare(expected, actual, alpha Value) Value {
	const op = "ChiSquare"
	wantFn(expected, op)
	wantFn(actual, op)
	level, err := strconv.ParseFloat(wantString(alpha, op), 64)
	if err != nil || !(level > 0 && level <= 0.5) {
		value.Fail("%s: the significance must be a string that holds a number above 0 and at most 0.5, found %s", op, alpha)
	}
	if !value.Equal(expected.Domain(), actual.Domain()) || value.Cardinality(expected.Domain()) < 2 {
		value.Fail("%s: the two functions must have one domain of at least 2 elements", op)
	}
	var want, got []float64
	var wanted, given float64
	for x := range expected.Domain().Each {
		e, a := float64(wantInt(expected.Apply(x), op)), float64(wantNat(actual.Apply(x), op))
		if e <= 0 {
			value.Fail("%s: an expected count must be positive, found %v", op, e)
		}
		want, got = append(want, e), append(got, a)
		wanted, given = wanted+e, given+a
	}
	sum := 0.0
	for i, e := range want {
		e *= given / wanted
		if e > 0 {
			sum += (got[i] - e) * (got[i] - e) / e
		}
	}
	return boolean(gammaAbove(float64(len(want)-1)/2, sum/2) >= level)
}

// gammaAbove is the regularized upper incomplete gamma function Q(a, x), for a
// > 0 and x >= 0. For small x it uses the series of the complement, for large x
// the continued fraction (Lentz's method).
func gammaAbove(a, x float64) float64 {
	const steps, precision, tiny = 10_000, 1e-15, 1e-300
	if x <= 0 {
		return 1
	}
	logGamma, _ := math.Lgamma(a)
	factor := math.Exp(a*math.Log(x) - x - logGamma)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1; n < steps && term > sum*precision; n++ {
			term *= x / (a + float64(n))
			sum += term
		}
		return 1 - factor*sum
	}
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for n := 1; n < steps; n++ {
		an := -float64(n) * (float64(n) - a)
		b += 2
		if d = an*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + an/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < precision {
			break
		}
	}
	return factor * h
}
