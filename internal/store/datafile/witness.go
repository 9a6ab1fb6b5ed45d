// SPDX-License-Identifier: Apache-2.0

package datafile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/env"
)

// The witness is a page of the data file which says up to which change a store
// was durable when the page was written. It is written after the sync or the
// superblock that made them durable, over the one before, and is not synced by
// itself. So a crash leaves the old one or the new one, and both are true for
// ever: what was durable once is in the tree, in the journal, or lost to damage.
// A witness that is missing or damaged says nothing.
//
// Little endian; offsets in bytes:
//
//	 0 "ASHWITNS"
//	 8 u32 CRC-32C of bytes 12 to 39
//	12 u32 version, 1
//	16 the UUID of the store
//	32 u64 durable
//	40 zeros, not looked at
//
// All that counts is within one sector.

const (
	// WitnessAddr is the place of the witness: between the superblocks, away from both.
	WitnessAddr = 512 << 10
	// WitnessSize is its length in bytes.
	WitnessSize = 4096

	witnessMagic   = "ASHWITNS"
	witnessVersion = 1
	witnessUsed    = 40
)

// EncodeWitness writes a witness into the first WitnessSize bytes of dst.
func EncodeWitness(dst []byte, uuid [16]byte, durable uint64) {
	dst = dst[:WitnessSize]
	clear(dst)
	copy(dst, witnessMagic)
	le := binary.LittleEndian
	le.PutUint32(dst[12:], witnessVersion)
	copy(dst[16:], uuid[:])
	le.PutUint64(dst[32:], durable)
	le.PutUint32(dst[8:], witnessChecksum(dst))
}

func witnessChecksum(b []byte) uint32 {
	return crc32.Checksum(b[12:witnessUsed], crc32.MakeTable(crc32.Castagnoli))
}

// DecodeWitness returns what a witness records, and false if b is not a witness of
// that store.
func DecodeWitness(b []byte, uuid [16]byte) (durable uint64, ok bool) {
	le := binary.LittleEndian
	switch {
	case len(b) < witnessUsed, string(b[:8]) != witnessMagic, le.Uint32(b[12:]) != witnessVersion,
		le.Uint32(b[8:]) != witnessChecksum(b), [16]byte(b[16:32]) != uuid:
		return 0, false
	}
	return le.Uint64(b[32:]), true
}

// ReadWitness reads the witness of a store into buf, which has WitnessSize bytes. It
// returns 0 if there is none.
func ReadWitness(f env.File, buf []byte, uuid [16]byte) (uint64, error) {
	buf = buf[:WitnessSize]
	if err := ReadFull(f, buf, WitnessAddr); err != nil {
		return 0, fmt.Errorf("the witness: %w", err)
	}
	durable, _ := DecodeWitness(buf, uuid)
	return durable, nil
}
