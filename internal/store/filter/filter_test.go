// SPDX-License-Identifier: Apache-2.0

package filter

import (
	"encoding/binary"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func key(i uint64) []byte { return binary.BigEndian.AppendUint64([]byte("user"), i) }

func TestSize(t *testing.T) {
	for _, c := range []struct{ n, want int }{
		{0, 64}, {1, 64}, {51, 64}, {52, 128}, {1000, 1280}, {1 << 20, 1310720},
	} {
		if got := Size(c.n); got != c.want || !Valid(got) {
			t.Errorf("Size(%d) = %d (valid: %v), want %d", c.n, got, Valid(got), c.want)
		}
	}
	for _, n := range []int{0, -64, 63, 65} {
		if Valid(n) {
			t.Errorf("a length of %d is valid", n)
		}
	}
}

// TestHashIsFixed: the hash must stay the same, because it is on disks.
func TestHashIsFixed(t *testing.T) {
	for k, want := range map[string]uint64{
		"":    0xef46db3751d8e999,
		"a":   0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999,
	} {
		if got := Hash([]byte(k)); got != want {
			t.Errorf("Hash(%q) = %#x, want %#x", k, got, want)
		}
	}
}

func TestWhatWasAddedIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hashes := rapid.SliceOf(rapid.Uint64()).Draw(t, "hashes")
		f := make([]byte, Size(rapid.IntRange(0, 200).Draw(t, "size")))
		for i, h := range hashes {
			Add(f, h)
			for _, g := range hashes[:i+1] {
				if !Has(f, g) {
					t.Fatalf("hash %#x is lost after %d more", g, i)
				}
			}
		}
	})
}

// TestFalsePositives measures, at several sizes, and also that an overfull
// filter gets worse slowly.
func TestFalsePositives(t *testing.T) {
	for _, c := range []struct {
		n, room int
		most    float64
	}{
		{1000, 1000, 0.015}, {20_000, 20_000, 0.015}, {500_000, 500_000, 0.015}, {40_000, 20_000, 0.2},
	} {
		t.Run(fmt.Sprint(c.n, "of", c.room), func(t *testing.T) {
			f := make([]byte, Size(c.room))
			for i := range c.n {
				Add(f, Hash(key(uint64(i))))
			}
			const asked = 400_000
			found := 0
			for i := range asked {
				if Has(f, Hash(key(uint64(1<<40+i)))) {
					found++
				}
			}
			rate := float64(found) / asked
			t.Logf("%d keys: %.3f %% false positives", c.n, rate*100)
			if rate > c.most {
				t.Errorf("false positives: %.3f %%, want at most %.1f %%", rate*100, c.most*100)
			}
			if rate == 0 {
				t.Error("no false positive at all: the measurement is wrong")
			}
		})
	}
}

func TestAnEmptyFilterHasNothing(t *testing.T) {
	f := make([]byte, Size(100))
	for i := range uint64(1000) {
		if Has(f, Hash(key(i))) {
			t.Fatalf("key %d found in an empty filter", i)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	k := []byte("user00000000000000000001")
	b.ReportAllocs()
	for b.Loop() {
		k[20]++
		_ = Hash(k)
	}
}

func BenchmarkHas(b *testing.B) {
	f := make([]byte, Size(10_000))
	for i := range uint64(10_000) {
		Add(f, i*0x2545F4914F6CDD1D)
	}
	b.Run("present", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if !Has(f, uint64(i%10_000)*0x2545F4914F6CDD1D) {
				b.Fatal("lost")
			}
		}
	})
	b.Run("absent", func(b *testing.B) {
		b.ReportAllocs()
		for i := uint64(0); b.Loop(); i++ {
			Has(f, i*0xD1342543DE82EF95)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	f := make([]byte, Size(100_000))
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		Add(f, i*0x2545F4914F6CDD1D)
	}
}
