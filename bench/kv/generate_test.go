// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// The first draws of each distribution: they are part of what a run is.
func TestDrawsAreTheSameForEver(t *testing.T) {
	const n = 1_000_000
	zipf := newZipfian(n)
	for _, c := range []struct {
		name string
		how  picks
		want []uint64
	}{
		{"uniform", pickUniform, []uint64{0x5a7e, 0x8a377, 0x9fb05, 0x7d4a1, 0x64a01, 0x702a0, 0x8d944, 0x4a101}},
		{"zipfian", pickZipfian, []uint64{0x14002, 0x7a6f1, 0x101e2, 0xd63e1, 0x7fc0c, 0xd2cd5, 0x2fe62, 0xa1c9f}},
		{"latest", pickLatest, []uint64{0xf423f, 0xf3972, 0xf2307, 0xf3e2c, 0xf4153, 0xf4065, 0xf3781, 0xf4211}},
	} {
		ch := chooser{how: c.how, source: newSource(1, 2, 3), zipf: zipf, records: n}
		var got []uint64
		for range 8 {
			got = append(got, ch.record())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %#v, want %#v", c.name, got, c.want)
		}
	}
}

// TestZipfianFrequencies compares how often ranks are drawn with the law. The
// first two ranks are exact by construction, the others an approximation that
// is known to be within a fifth for single ranks and better for many.
func TestZipfianFrequencies(t *testing.T) {
	const n, draws = 10_000, 2_000_000
	z, s := newZipfian(n), newSource(7)
	counts := make([]int, n)
	for range draws {
		counts[z.rank(s)]++
	}
	part := func(lo, hi int) (got, want float64) {
		for r := lo; r < hi; r++ {
			got += float64(counts[r]) / draws
			want += math.Pow(float64(r+1), -zipfTheta) / z.zetan
		}
		return got, want
	}
	for _, c := range []struct {
		lo, hi    int
		tolerance float64
	}{{0, 1, 0.02}, {1, 2, 0.02}, {2, 10, 0.15}, {0, 100, 0.05}, {100, 1000, 0.05}, {1000, n, 0.05}} {
		if got, want := part(c.lo, c.hi); math.Abs(got-want) > c.tolerance*want {
			t.Errorf("ranks %d to %d: %.4f of all draws, want %.4f", c.lo, c.hi, got, want)
		}
	}
}

func TestUniformFrequencies(t *testing.T) {
	s := newSource(9)
	counts := make([]int, 10)
	for range 1_000_000 {
		counts[s.below(10)]++
	}
	for i, n := range counts {
		if n < 98_500 || n > 101_500 {
			t.Errorf("%d was drawn %d times of a million, want about 100000", i, n)
		}
	}
}

func TestScrambleIsABijection(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 4, 5, 7, 8, 9, 100, 1000, 4096, 65537} {
		seen := make([]bool, n)
		for x := range n {
			y := scramble(x, n)
			if y >= n || seen[y] {
				t.Fatalf("of %d: %d goes to %d, which is outside or taken", n, x, y)
			}
			seen[y] = true
		}
	}
	// Neighbours in popularity are not neighbours among the records.
	near := 0
	for x := range uint64(1000) {
		if d := int64(scramble(x, 1e6)) - int64(scramble(x+1, 1e6)); d > -1000 && d < 1000 {
			near++
		}
	}
	if near > 20 {
		t.Errorf("%d of 1000 popular records are near the next one", near)
	}
}

func TestLatestPrefersWhatWasInsertedLast(t *testing.T) {
	c := chooser{how: pickLatest, source: newSource(4), zipf: newZipfian(1000), records: 1000, own: []uint64{1000, 1003}}
	counts := map[uint64]int{}
	for range 100_000 {
		counts[c.record()]++
	}
	if counts[1003] < counts[1000] || counts[1000] < counts[999] || counts[999] < counts[998] || counts[998] < counts[500] {
		t.Errorf("1003: %d, 1000: %d, 999: %d, 998: %d, 500: %d draws; want fewer and fewer", counts[1003], counts[1000], counts[999], counts[998], counts[500])
	}
	if counts[1001]+counts[1002] > 0 {
		t.Error("drew records that another client inserted")
	}
}

func TestSourcesAreIndependent(t *testing.T) {
	seen := map[uint64]bool{}
	for a := range uint64(20) {
		for b := range uint64(20) {
			seen[newSource(a, b).next()] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d different first draws of 400 sources", len(seen))
	}
}

func TestKeysAreOrderedByRank(t *testing.T) {
	keys := map[string]bool{}
	for r := range uint64(1000) {
		a, b := appendKey(nil, r), appendKey(nil, absent+r)
		if len(a) != keySize || len(b) != keySize {
			t.Fatalf("keys %s and %s: want %d bytes", a, b, keySize)
		}
		if (bytes.Compare(a, b) < 0) != (rank(r) < rank(absent+r)) {
			t.Errorf("keys %s and %s are not ordered as their ranks", a, b)
		}
		keys[string(a)], keys[string(b)] = true, true
	}
	if len(keys) != 2000 {
		t.Errorf("%d different keys of 2000 records", len(keys))
	}
	if got, want := string(appendRank(nil, math.MaxUint64)), "user18446744073709551615"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

// TestEveryByteOfAValueIsChecked changes one bit at a time.
func TestEveryByteOfAValueIsChecked(t *testing.T) {
	for _, f := range []format{{ValueSize: 512}, {ValueSize: 100, Compressible: 0.5}, {ValueSize: valueHeader + 1}} {
		good := f.appendValue(nil, 77, 5)
		version, _, err := f.check(77, good, nil)
		if err != nil || version != 5 || len(good) != f.ValueSize {
			t.Fatalf("%d bytes: version %d, %v", len(good), version, err)
		}
		for i := range good {
			bad := slices.Clone(good)
			bad[i] ^= 1 << (i % 8)
			version, _, err := f.check(77, bad, nil)
			if err == nil && version == 5 {
				t.Errorf("%d bytes: byte %d was changed and nobody noticed", f.ValueSize, i)
			}
		}
		if _, _, err := f.check(77, good[:len(good)-1], nil); err == nil {
			t.Error("a shorter value passed")
		}
		if _, _, err := f.check(78, good, nil); err == nil {
			t.Error("another record's value passed")
		}
	}
}

func TestOperandsAdd(t *testing.T) {
	f := format{ValueSize: 64}
	v, two := f.appendValue(nil, 3, 10), operand(2)
	applyOperand(two, operand(3))
	applyOperand(v, two)
	applyOperand(v, []byte("no operand"))
	if version, _, err := f.check(3, v, nil); err != nil || version != 15 {
		t.Errorf("version %d, %v, want 15", version, err)
	}
}

func TestCompressibleValues(t *testing.T) {
	v := format{ValueSize: 512, Compressible: 0.5}.appendValue(nil, 1, 1)
	words := map[string]int{}
	for b := v[valueHeader:]; len(b) >= 8; b = b[8:] {
		words[string(b[:8])]++
	}
	most := 0
	for _, n := range words {
		most = max(most, n)
	}
	if most != 31 {
		t.Errorf("one word is there %d times of 62, want half", most)
	}
}
