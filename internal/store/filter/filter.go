// SPDX-License-Identifier: Apache-2.0

// Package filter reports whether a key may be in a set or certainly is not: a
// blocked Bloom filter (Putze, Sanders, Singler, "Cache-, Hash- and
// Space-Efficient Bloom Filters", 2007).
//
// In: 64-bit hashes of keys. Out: bytes, which are the filter both in memory
// and on disk. Promised: an added hash is found; any other is found with a
// probability of at most 1.5 %, at BitsPerKey bits for each key and one cache
// line of the processor for each lookup. Refused: removal.
package filter

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

const (
	// BitsPerKey is the size of a filter, for each key.
	BitsPerKey = 10
	// LineBytes is the unit of a filter: a key's bits are in one line. Sizes are
	// multiples of it, and a filter in memory should start at one.
	LineBytes = 64
	// probes is how many bits a key sets. Six and seven are nearly equally
	// good at ten bits for each key; six cost less.
	probes = 6
	// mix spreads the bits of a hash, so that the bits within the line do not
	// follow from what chose the line: 2^64 over the golden ratio.
	mix = 0x9E3779B97F4A7C15
)

// Size is the length in bytes of a filter for n keys.
func Size(n int) int {
	lines := (n*BitsPerKey + 8*LineBytes - 1) / (8 * LineBytes)
	return max(lines, 1) * LineBytes
}

// Valid reports whether a filter can have that length in bytes.
func Valid(size int) bool { return size > 0 && size%LineBytes == 0 }

// Hash is the hash of a key that filters are asked with: XXH64. It is on disk.
//
//goose:omit
func Hash(key []byte) uint64 { return xxhash.Sum64(key) }

// At is where in a filter of that size the line begins that has the bits of h: the
// high bits of h choose uniformly without a division. Has may be asked with
// that line alone.
func At(size int, h uint64) int {
	n, _ := bits.Mul64(h, uint64(size)/LineBytes)
	return int(n) * LineBytes
}

func line(f []byte, h uint64) []byte {
	at := At(len(f), h)
	return f[at : at+LineBytes : at+LineBytes]
}

// Add adds a hash to f, whose length is valid.
func Add(f []byte, h uint64) {
	l := line(f, h)
	x := h * mix
	for range probes {
		at := l[x>>61*8:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)|1<<(x>>55&63))
		x <<= 9
	}
}

// Has reports whether h may have been added to f; false is sure.
func Has(f []byte, h uint64) bool {
	l := line(f, h)
	x := h * mix
	for range probes {
		if binary.LittleEndian.Uint64(l[x>>61*8:])>>(x>>55&63)&1 == 0 {
			return false
		}
		x <<= 9
	}
	return true
}
