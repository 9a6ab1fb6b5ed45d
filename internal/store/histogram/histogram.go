// SPDX-License-Identifier: Apache-2.0

// Package histogram counts values, such as times and lengths, in buckets that are
// fixed, so that memory is bounded and two histograms can be added.
//
// In: values from 0 to 2^63-1. Out: a Snapshot, which has counts, a sum and quantiles.
//
// Promised: Add is safe for concurrent use, and two atomic additions. A bucket is at most an
// eighth as wide as its least value, so that a quantile is at most 12.5 % above the
// value that it stands for, and never below it.
//
// Refused: nothing; a negative value counts as 0.
//
// The values below 16 have a bucket each; from there on each power of two is divided into eight.
package histogram

import (
	"iter"
	"math/bits"
	"sync/atomic"
)

const (
	stepBits = 3
	steps    = 1 << stepBits
	// buckets is how many there are: index(1<<63-1) + 1.
	buckets = (63-stepBits)*steps + steps
)

// Histogram is one to which values are added. The zero Histogram is empty.
type Histogram struct {
	sum    atomic.Int64
	counts [buckets]atomic.Uint64
}

// index is the bucket of v.
func index(v uint64) int {
	if v < 2*steps {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - stepBits
	return shift*steps + int(v>>shift)
}

// greatest is the greatest value in a bucket.
func greatest(i int) int64 {
	if i < 2*steps {
		return int64(i)
	}
	shift := i/steps - 1
	return int64((uint64(i-shift*steps)+1)<<shift - 1)
}

// Add counts a value.
func (h *Histogram) Add(v int64) {
	v = max(v, 0)
	h.sum.Add(v)
	h.counts[index(uint64(v))].Add(1)
}

// Snapshot copies the counts so far. A value added concurrently may be in the sum
// but not in the counts.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{sum: h.sum.Load()}
	last := -1
	var counts [buckets]uint64
	for i := range counts {
		if counts[i] = h.counts[i].Load(); counts[i] > 0 {
			last = i
		}
	}
	s.counts = append(s.counts, counts[:last+1]...)
	return s
}

// Snapshot is a histogram of some moment, or the sum of several. The zero Snapshot is
// empty. Its memory is at most 4 KiB.
type Snapshot struct {
	sum    int64
	counts []uint64 // up to the last that is not 0
}

// Count is how many values there are.
func (s Snapshot) Count() (n int64) {
	for _, c := range s.counts {
		n += int64(c)
	}
	return n
}

// Sum is the sum of the values.
func (s Snapshot) Sum() int64 { return s.sum }

// Quantile is a value that the part q of all values, from 0 to 1, is not above: 0.99 for the
// 99th percentile. It is exact below 16, and else at most 12.5 % too large. Of an empty
// histogram it is 0.
func (s Snapshot) Quantile(q float64) int64 {
	n := s.Count()
	rank := int64(q * float64(n))
	if float64(rank) < q*float64(n) {
		rank++
	}
	rank = max(min(rank, n), 1)
	for i, c := range s.counts {
		if rank -= int64(c); rank <= 0 {
			return greatest(i)
		}
	}
	return 0
}

// Add adds the values of another histogram: of another store, or another time.
func (s *Snapshot) Add(o Snapshot) {
	counts := make([]uint64, max(len(s.counts), len(o.counts)))
	copy(counts, s.counts)
	for i, c := range o.counts {
		counts[i] += c
	}
	s.counts, s.sum = counts, s.sum+o.sum
}

// Buckets returns the buckets that have values, in ascending order: the greatest
// value that a bucket can hold, and the number of values in it.
func (s Snapshot) Buckets() iter.Seq2[int64, int64] {
	return func(yield func(greatest, count int64) bool) {
		for i, c := range s.counts {
			if c > 0 && !yield(greatest(i), int64(c)) {
				return
			}
		}
	}
}
