// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Sizes of a record, in bytes. A value begins with its record's number (8), the
// version that was put (4) and how many merges came on top of it (4); the rest
// follows from number and version, so that each byte of it can be checked.
const (
	keySize     = 24
	valueHeader = 16
	operandSize = 4
)

// format states how records look. Every engine stores the same ones.
type format struct {
	// ValueSize is the length of a value: valueHeader and at least one word.
	ValueSize int
	// Compressible is the part of a value, 0 to 1, that repeats one word.
	Compressible float64
}

// mix is a bijection of 64-bit words (the finaliser of splitmix64): different
// records have different keys, in an order that has nothing to do with when
// they were inserted.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// absent is above every record's number: these have a key, but are never put.
const absent = uint64(1) << 40

// rank is the number in the key of a record; keys are ordered by it.
func rank(record uint64) uint64 { return mix(record + 0x9e3779b97f4a7c15) }

// appendKey appends the key of a record.
func appendKey(dst []byte, record uint64) []byte { return appendRank(dst, rank(record)) }

// appendRank appends a key: "user" and 20 digits, as YCSB has it.
func appendRank(dst []byte, n uint64) []byte {
	dst = append(dst, "user00000000000000000000"...)
	for i := len(dst) - 1; n > 0; i-- {
		dst[i] = '0' + byte(n%10)
		n /= 10
	}
	return dst
}

// appendValue appends the value that version of the record has when it is put.
func (f format) appendValue(dst []byte, record uint64, version uint32) []byte {
	start := len(dst)
	dst = slices.Grow(dst, f.ValueSize+8)
	dst = binary.LittleEndian.AppendUint64(dst, record)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return f.appendBody(dst, record, version)[:start+f.ValueSize]
}

// appendBody appends everything but the header, and up to 7 bytes more.
func (f format) appendBody(dst []byte, record uint64, version uint32) []byte {
	words := (f.ValueSize - valueHeader + 7) / 8
	random := words - int(f.Compressible*float64(words))
	seed := mix(record<<20 ^ uint64(version) ^ 0x5851f42d4c957f2d)
	for i := range words {
		w := seed
		if i < random {
			w = mix(seed + uint64(i)*0x9e3779b97f4a7c15)
		}
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// badValue states what is wrong with a value that a store returned.
type badValue struct {
	Record      uint64
	Want, Found string
}

func (e *badValue) Error() string {
	return fmt.Sprintf("record %d (key %s): expected %s, found %s", e.Record, appendKey(nil, e.Record), e.Want, e.Found)
}

// check reads the version of a record from a value, counting merges, after it
// compared every byte with what it has to be. scratch is memory to work in.
func (f format) check(record uint64, value, scratch []byte) (version uint32, _ []byte, err error) {
	if len(value) != f.ValueSize {
		return 0, scratch, &badValue{record, fmt.Sprintf("%d bytes", f.ValueSize), fmt.Sprintf("%d bytes", len(value))}
	}
	if n := binary.LittleEndian.Uint64(value); n != record {
		return 0, scratch, &badValue{record, "its own number in the value", fmt.Sprintf("number %d", n)}
	}
	put, merges := binary.LittleEndian.Uint32(value[8:]), binary.LittleEndian.Uint32(value[12:])
	scratch = f.appendBody(scratch[:0], record, put)
	if want := scratch[:f.ValueSize-valueHeader]; !bytes.Equal(want, value[valueHeader:]) {
		i := 0
		for want[i] == value[valueHeader+i] {
			i++
		}
		return 0, scratch, &badValue{record, fmt.Sprintf("byte %d of version %d to be %#02x", valueHeader+i, put, want[i]),
			fmt.Sprintf("%#02x", value[valueHeader+i])}
	}
	return put + merges, scratch, nil
}

// recordOf reads the number of a record from its value.
func recordOf(value []byte) (uint64, error) {
	if len(value) < valueHeader {
		return 0, fmt.Errorf("expected a value of at least %d bytes, found %d", valueHeader, len(value))
	}
	return binary.LittleEndian.Uint64(value), nil
}

// operand is the merge operand that counts n merges.
func operand(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// applyOperand adds an operand to a value, or to another operand, in place.
// What is neither stays as it is: the next check finds it.
func applyOperand(value, operand []byte) {
	if len(operand) != operandSize {
		return
	}
	var count []byte
	switch {
	case len(value) == operandSize:
		count = value
	case len(value) > valueHeader:
		count = value[12:16]
	default:
		return
	}
	binary.LittleEndian.PutUint32(count, binary.LittleEndian.Uint32(count)+binary.LittleEndian.Uint32(operand))
}
