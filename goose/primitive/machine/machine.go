// SPDX-License-Identifier: Apache-2.0

// Package machine has the primitives of the machine itself: random numbers, and
// numbers as bytes and as digits. Its model is the module machine of
// proofs/trusted/primitive.v.
package machine

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
)

// RandomUint64 returns any number: proofs may assume nothing else about it.
func RandomUint64() uint64 { return rand.Uint64() }

// UInt64Put writes n into the first eight bytes of b, the lowest first. It
// panics if b is shorter.
func UInt64Put(b []byte, n uint64) { binary.LittleEndian.PutUint64(b, n) }

// UInt64Get reads what UInt64Put wrote. It panics if b is shorter than eight bytes.
func UInt64Get(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// UInt64ToString is n in decimal digits.
func UInt64ToString(n uint64) string { return strconv.FormatUint(n, 10) }
