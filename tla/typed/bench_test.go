// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// The benchmarks change values of several sizes at random places; half of the
// elements that they add or remove are already present.

func BenchmarkSet(b *testing.B) {
	for _, n := range []int32{8, 32, 64, 128, 1000, 500_000} {
		s := Collect[Ints](Interval(1, n), func(x int32) int32 { return 2 * x })
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			cpu(b, func() {
				for range b.N {
					s = s.Add(rand.Int32N(2 * n))
					s = s.Remove(rand.Int32N(2 * n))
				}
			})
		})
	}
}

func BenchmarkFn(b *testing.B) {
	for _, n := range []int32{8, 32, 64, 128, 1000, 900_000} {
		f := MakeFn[Ints](Interval(1, n), func(x int32) int32 { return x })
		b.Run(fmt.Sprintf("size=%d/at", n), func(b *testing.B) {
			cpu(b, func() {
				for range b.N {
					f.At(1 + rand.Int32N(n))
				}
			})
		})
		b.Run(fmt.Sprintf("size=%d/update", n), func(b *testing.B) {
			b.ReportAllocs()
			cpu(b, func() {
				for range b.N {
					f = f.Put(1+rand.Int32N(n), 7)
				}
			})
		})
		g := Collect[Ints](Interval(1, n), func(x int32) int32 { return x * 64 })
		b.Run(fmt.Sprintf("size=%d/insert", n), func(b *testing.B) {
			b.ReportAllocs()
			f := MakeFn[Ints](g, func(x int32) int32 { return x })
			cpu(b, func() {
				for range b.N {
					if h := f.Put(rand.Int32N(64*n), 7); h.Len() < n+n/16 {
						f = h
					}
				}
			})
		})
	}
}

// cpu reports the processor time of a benchmark per operation, which a busy
// machine does not increase.
func cpu(b *testing.B, run func()) {
	var before, after syscall.Rusage
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	run()
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	spent := after.Utime.Nano() - before.Utime.Nano() + after.Stime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
}
