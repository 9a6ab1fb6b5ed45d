// SPDX-License-Identifier: Apache-2.0

package histogram

import (
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"
)

// TestEveryValueHasItsBucket goes over the edges of all buckets.
func TestEveryValueHasItsBucket(t *testing.T) {
	least := int64(0)
	for i := range buckets {
		most := greatest(i)
		if index(uint64(least)) != i || index(uint64(most)) != i {
			t.Fatalf("bucket %d is %d to %d; index finds %d and %d", i, least, most, index(uint64(least)), index(uint64(most)))
		}
		if width := most - least; width > least/8 {
			t.Fatalf("bucket %d, %d to %d, is too wide", i, least, most)
		}
		least = most + 1
	}
	if greatest(buckets-1) != math.MaxInt64 {
		t.Errorf("the last bucket ends at %d", greatest(buckets-1))
	}
}

// TestQuantiles compares with the sorted values.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var parts [3]Histogram
	var values []int64
	var sum int64
	for range 10_000 {
		v := int64(math.Exp(r.Float64() * 30))
		values = append(values, v)
		sum += v
		parts[r.Intn(3)].Add(v)
	}
	slices.Sort(values)
	var all Snapshot
	for i := range parts {
		all.Add(parts[i].Snapshot())
	}
	if all.Count() != int64(len(values)) || all.Sum() != sum {
		t.Errorf("%d values with sum %d, want %d with %d", all.Count(), all.Sum(), len(values), sum)
	}
	var few Histogram
	for v := range int64(4) {
		few.Add(v)
	}
	for q, want := range map[float64]int64{0: 0, 0.25: 0, 0.26: 1, 0.5: 1, 0.51: 2, 0.75: 2, 0.76: 3, 1: 3} {
		if got := few.Snapshot().Quantile(q); got != want {
			t.Errorf("quantile %v of 0, 1, 2 and 3 is %d, want %d", q, got, want)
		}
	}
	for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.9999, 1} {
		want := values[max(int(math.Ceil(q*float64(len(values))))-1, 0)]
		if got := all.Quantile(q); got < want || got > want+want/8 {
			t.Errorf("quantile %v is %d, of the values it is %d", q, got, want)
		}
	}
	var n int64
	last := int64(-1)
	for most, count := range all.Buckets() {
		if most <= last || count == 0 {
			t.Fatalf("bucket to %d with %d after one to %d", most, count, last)
		}
		n, last = n+count, most
	}
	if n != all.Count() {
		t.Errorf("%d values in buckets, %d in all", n, all.Count())
	}
}

func TestAnEmptyHistogram(t *testing.T) {
	var h Histogram
	if s := h.Snapshot(); s.Count() != 0 || s.Sum() != 0 || s.Quantile(0.5) != 0 {
		t.Errorf("empty: %+v", s)
	}
	h.Add(-5)
	if s := h.Snapshot(); s.Count() != 1 || s.Sum() != 0 || s.Quantile(1) != 0 {
		t.Errorf("a negative value: %+v", s)
	}
}

func TestConcurrentAdds(t *testing.T) {
	var h Histogram
	var done sync.WaitGroup
	for g := range 4 {
		done.Add(1)
		go func() {
			defer done.Done()
			for i := range 1000 {
				h.Add(int64(g * i))
			}
		}()
	}
	done.Wait()
	if s := h.Snapshot(); s.Count() != 4000 || s.Sum() != 6*999*1000/2 {
		t.Errorf("%d values, sum %d", s.Count(), s.Sum())
	}
}

func BenchmarkAdd(b *testing.B) {
	var h Histogram
	for i := range b.N {
		h.Add(int64(i))
	}
}
