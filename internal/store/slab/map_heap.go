// SPDX-License-Identifier: Apache-2.0

//go:build !linux || race

package slab

// Where there is no mapping the memory is the Go heap's; so it is in race
// builds as well, since the race detector sees nothing outside of the heap.

func regionBytes(int) int { return 1 << 20 }

func reserve(bytes int) ([]byte, bool) { return mapLarge(bytes) }

func mapLarge(bytes int) ([]byte, bool) {
	b := make([]byte, bytes+pageBytes)
	head := int(-address(b) & (pageBytes - 1))
	return b[head : head+bytes : head+bytes], true
}

func discard(b []byte) bool {
	clear(b)
	return true
}

// unmap leaves the memory to the collector.
func unmap([]byte) {}
