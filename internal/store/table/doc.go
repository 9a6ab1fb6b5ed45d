// SPDX-License-Identifier: Apache-2.0

// Package table holds what the store knows about its data file: the indirection
// table, which says for each object (a branch, a node of the trunk) what it is
// and where its parts are, and the superblocks, which say where the table is
// and from where on the journal is needed. It is VeriBetrKV's indirection table
// (OSDI 2020, section 4), written as changes since the last time instead of
// whole, and its pair of superblocks.
//
// In and out: objects whose bodies are bytes to this package, and blocks of
// bytes as they are on disk; docs/format/store.md describes every one of them.
// Promised: the same objects give the same bytes; what is decoded was encoded
// by a version known here, for this store, at the place in the sequence where
// it is expected, and encodes to the same bytes again. Refused: input and
// output, and any byte that is not as it must be: the error says where, what
// was wanted and what was found.
package table

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Version is the version of the superblocks and table chunks that are written,
// and the newest that is read.
const Version = 1

// Places in the data file, in bytes. The superblocks are far apart, so that
// they are in different erase blocks of a flash disk.
const (
	// SlotA and SlotB are where the superblocks are.
	SlotA = 0
	SlotB = 1 << 20
	// FirstPage is the first page, of 4096 bytes, of everything else.
	FirstPage = 2 << 20 / pageSize
)

const pageSize = 4096

// Checksum is the CRC32C, Castagnoli's, that the store uses everywhere.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// checksumBut4 is the checksum of b without the four bytes at off, which are to
// hold it.
func checksumBut4(b []byte, off int) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:off], castagnoli), castagnoli, b[off+4:])
}

// ErrBlank reports that both superblocks are zeros or missing altogether: no store
// was made here, or its creation did not complete.
var ErrBlank = errors.New("both superblocks are blank: there is no store")

// Corrupt is the error for bytes from the disk that are not as they must be.
type Corrupt struct {
	Part        string // as "superblock"
	Offset      int    // in bytes from the part's beginning
	Want, Found string
}

func (c *Corrupt) Error() string {
	return fmt.Sprintf("%s, byte %d: want %s, found %s", c.Part, c.Offset, c.Want, c.Found)
}

// VersionError is the error for data that a newer version of the store wrote:
// none of it is used.
type VersionError struct {
	Part         string
	Found, Known uint32
}

func (v *VersionError) Error() string {
	return fmt.Sprintf("%s: written in format version %d; this program reads versions up to %d: use a newer program", v.Part, v.Found, v.Known)
}

// checker keeps the first thing that is found wrong with a part.
type checker struct {
	part string
	err  *Corrupt
}

// want compares two numbers.
func (c *checker) want(off int, name string, want, found uint64) {
	if want != found {
		c.fail(off, found, "%s %d", name, want)
	}
}

// zero says that b, which is at off, has only zeros. Most pages of a small store are
// little else, so it compares many bytes at a time before it looks for the
// byte that is not zero.
func (c *checker) zero(off int, b []byte) {
	for len(b) >= len(zeros) && [len(zeros)]byte(b) == zeros {
		off, b = off+len(zeros), b[len(zeros):]
	}
	for i, x := range b {
		if x != 0 {
			c.fail(off+i, hexByte(x), "zero")
			return
		}
	}
}

var zeros [64]byte

// hex and hexByte are numbers as they are printed in errors.
func hex(x uint32) string { return fmt.Sprintf("0x%08x", x) }

func hexByte(x byte) string { return fmt.Sprintf("0x%02x", x) }

// fail notes what is wrong at a place, unless something was before.
func (c *checker) fail(off int, found any, want string, args ...any) {
	if c.err == nil {
		c.err = &Corrupt{Part: c.part, Offset: off, Want: fmt.Sprintf(want, args...), Found: fmt.Sprint(found)}
	}
}

// result is the error, as an interface that is nil when there is none.
func (c *checker) result() error {
	if c.err == nil {
		return nil
	}
	return c.err
}
