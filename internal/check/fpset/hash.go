// SPDX-License-Identifier: Apache-2.0

package fpset

import (
	"encoding/binary"
	"math/bits"
)

// The seeds of Hash: the first 64 bits of the fractional parts of the square
// roots of 2, 3, 5 and 7, made odd. They are fixed so that a run can be
// repeated exactly.
const (
	seed1 = 0x6a09e667f3bcc909
	seed2 = 0xbb67ae8584caa73b
	seed3 = 0x3c6ef372fe94f82b
	seed4 = 0xa54ff53a5f1d36f1
)

// Hash is the fingerprint of a state. Sixteen bytes at a time are multiplied
// into the hash, 64 by 64 to 128 bits, and the halves of the product folded;
// the rotated hash is added so that a zero factor cannot erase the bytes
// before. The length is hashed too, and so are the bytes of a short tail.
func Hash(b []byte) uint64 {
	n := uint64(len(b))
	h := seed1 ^ n*seed2
	for len(b) > 16 {
		h = fold(binary.LittleEndian.Uint64(b)^seed3, binary.LittleEndian.Uint64(b[8:])^h) + bits.RotateLeft64(h, 29)
		b = b[16:]
	}
	var lo, hi uint64
	switch {
	case len(b) >= 8:
		lo = binary.LittleEndian.Uint64(b)
		hi = binary.LittleEndian.Uint64(b[len(b)-8:])
	case len(b) >= 4:
		lo = uint64(binary.LittleEndian.Uint32(b))
		hi = uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	case len(b) > 0:
		lo = uint64(b[0])<<16 | uint64(b[len(b)/2])<<8 | uint64(b[len(b)-1])
	}
	h = fold(lo^seed3, hi^h) + bits.RotateLeft64(h, 29)
	return fold(h^seed4, h^seed2^n)
}

// fold multiplies and joins the halves of the product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
