// SPDX-License-Identifier: Apache-2.0

package slab

// The Go heap's share of a memory bound.
const (
	heapShareMin = 6 << 20 // the collector does not begin before 4 MiB
	heapShareMax = 48 << 20
)

// Share is the part of a bound on all memory that a Pool may have: the rest is for
// the Go heap. A bound that is not large is one of tests.
func Share(memory int64, large bool) int64 {
	heap := min(memory/8, heapShareMax)
	if large {
		heap = max(heap, heapShareMin)
	}
	return memory - heap
}
