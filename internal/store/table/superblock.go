// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// SuperSize is the length of a superblock in bytes.
const SuperSize = 4096

// SuperAddr is where the superblock of a slot, 0 or 1, is in the data file.
func SuperAddr(slot int) int64 { return int64(slot) << 20 }

// Limits of a superblock.
const (
	// ChunkCount is the largest number of chunks; before it is reached the
	// table is written whole.
	ChunkCount = 96
	// MergerMax is the longest name of a merger in bytes.
	MergerMax = 64
	// seqMax is the largest number of a message.
	seqMax = 1<<56 - 1
)

const superMagic = "ASHSUPER"

// Places in a superblock. docs/format/store.md has them as a table.
const (
	superCRC       = 8
	superVersion   = 12
	superUUID      = 16
	superSeq       = 32
	superCut       = 40
	superSegment   = 48
	superSession   = 56
	superPrev      = 64
	superPages     = 68
	superNextID    = 72
	superEpoch     = 80
	superClean     = 88
	superMergerLen = 89
	superChunks    = 90
	superPageSize  = 92
	superMerger    = 96
	superTable     = superMerger + MergerMax
	superChunkSize = 32
	superFeatures  = superTable + ChunkCount*superChunkSize
	superRest      = superFeatures + 4
)

// Features that a store may have in addition to those of version 1. A superblock
// with any of them is of version 2, so that older programs refuse it.
const (
	// Keyspaces: the keys that begin with message.Reserved are those of keyspaces.
	Keyspaces Features = 1 << iota

	allFeatures = Keyspaces
)

// Features is a set of such things.
type Features uint32

// version is that of a superblock with the features.
func (f Features) version() uint32 {
	if f != 0 {
		return superVersionMax
	}
	return Version
}

// superVersionMax is the newest version of superblocks.
const superVersionMax = 2

// The last 7 bytes of each sector of a superblock are Superblock.Life. A place of
// a chunk never needs them.
const (
	superSector = 512
	lifeSize    = 7
	// LifeMax is the largest Superblock.Life.
	LifeMax = 1<<(8*lifeSize) - 1
)

// Loc says where bytes are in the data file, how many, and what their checksum
// is: the holder of a Loc finds out when the disk answers with other bytes.
type Loc struct {
	Addr int64
	Len  uint32
	CRC  uint32
}

// Chunk is the place of a part of the table: first the whole table as of some
// moment, then its changes, one after the other.
type Chunk struct {
	Loc
	Full bool
	Seq  uint64 // what Table.Full or Table.Delta was told
}

// Chain is where the journal goes on: the checksum of the frame before, and the
// session that wrote it.
type Chain struct {
	Prev    uint32
	Session uint64
}

// Superblock is the root of everything on disk.
type Superblock struct {
	// UUID is the store's, permanently.
	UUID [16]byte
	// Seq counts the superblocks of the store from 1.
	Seq uint64
	// Cut is the number of a message: it and all before it are in the tree.
	Cut uint64
	// Segment is the first segment of the journal to replay, Chain what its
	// first frame has to follow.
	Segment uint64
	Chain   Chain
	// NextID is at least the id of every object: greater ones are new.
	NextID uint64
	// Pages is the length of the data file in pages of 4096 bytes.
	Pages uint32
	// Merger is the name of the merger the store was made with, or empty.
	Merger string
	// Clean reports that the superblock was written when the store was made or
	// closed. It is for people: later changes may be in the journal all the
	// same.
	Clean bool
	// Chunks is the table, at most ChunkCount; none is an empty table.
	Chunks   []Chunk
	Features Features
	// Epoch numbers the openings that wrote something.
	Epoch uint64
	// Life is a random number of 56 bits that no other opening has. It is in
	// each sector: a superblock that a crash has torn, and whose missing
	// sectors the next opening writes again, tears again, and would have written
	// the same, is not the old one made whole. That one would lead to pages
	// that are in use for something else by then.
	Life uint64
}

// EncodeSuper writes the superblock into the first SuperSize bytes of dst. A
// superblock that DecodeSuper would refuse is a bug of ours.
func EncodeSuper(dst []byte, s Superblock) {
	c := checker{part: "superblock"}
	s.check(&c)
	invariant.Check(c.err == nil, "superblock %d: %v", s.Seq, c.err)
	dst = dst[:SuperSize]
	clear(dst)
	le := binary.LittleEndian
	copy(dst, superMagic)
	le.PutUint32(dst[superVersion:], s.Features.version())
	le.PutUint32(dst[superFeatures:], uint32(s.Features))
	copy(dst[superUUID:], s.UUID[:])
	le.PutUint64(dst[superSeq:], s.Seq)
	le.PutUint64(dst[superCut:], s.Cut)
	le.PutUint64(dst[superSegment:], s.Segment)
	le.PutUint64(dst[superSession:], s.Chain.Session)
	le.PutUint32(dst[superPrev:], s.Chain.Prev)
	le.PutUint32(dst[superPages:], s.Pages)
	le.PutUint64(dst[superNextID:], s.NextID)
	le.PutUint64(dst[superEpoch:], s.Epoch)
	if s.Clean {
		dst[superClean] = 1
	}
	dst[superMergerLen] = byte(len(s.Merger))
	le.PutUint16(dst[superChunks:], uint16(len(s.Chunks)))
	le.PutUint32(dst[superPageSize:], pageSize)
	copy(dst[superMerger:], s.Merger)
	for i, c := range s.Chunks {
		at := dst[superTable+i*superChunkSize:]
		le.PutUint64(at, uint64(c.Addr))
		le.PutUint64(at[8:], c.Seq)
		le.PutUint32(at[16:], c.Len)
		le.PutUint32(at[20:], c.CRC)
		at[24] = chunkDelta
		if c.Full {
			at[24] = chunkFull
		}
	}
	var life [8]byte
	le.PutUint64(life[:], s.Life)
	for end := superSector; end <= SuperSize; end += superSector {
		copy(dst[end-lifeSize:end], life[:])
	}
	le.PutUint32(dst[superCRC:], checksumBut4(dst, superCRC))
}

// takeLife returns the number in the sectors of a superblock, and a copy of it
// with zeros there.
func takeLife(b []byte, c *checker) (uint64, []byte) {
	b = bytes.Clone(b)
	var life [8]byte
	copy(life[:], b[superSector-lifeSize:superSector])
	for end := superSector; end <= SuperSize; end += superSector {
		if at := b[end-lifeSize : end]; !bytes.Equal(at, life[:lifeSize]) {
			c.fail(end-lifeSize, fmt.Sprintf("%x", at), "%x, as in the first sector", life[:lifeSize])
		}
		clear(b[end-lifeSize : end])
	}
	return binary.LittleEndian.Uint64(life[:]), b
}

// DecodeSuper reads a superblock. Errors are *Corrupt and *VersionError.
func DecodeSuper(b []byte) (Superblock, error) {
	c := checker{part: "superblock"}
	if len(b) != SuperSize {
		c.fail(0, len(b), "%d bytes", SuperSize)
		return Superblock{}, c.err
	}
	le := binary.LittleEndian
	// Magic number, checksum and version are at these places in every version
	// there will be.
	if string(b[:len(superMagic)]) != superMagic {
		c.fail(0, fmt.Sprintf("%q", b[:len(superMagic)]), "%q", superMagic)
		return Superblock{}, c.err
	}
	if want, found := checksumBut4(b, superCRC), le.Uint32(b[superCRC:]); want != found {
		c.fail(superCRC, hex(found), "checksum %s", hex(want))
		return Superblock{}, c.err
	}
	if v := le.Uint32(b[superVersion:]); v > superVersionMax {
		return Superblock{}, &VersionError{Part: "superblock", Found: v, Known: superVersionMax}
	}
	life, b := takeLife(b, &c)
	features := Features(le.Uint32(b[superFeatures:]))
	c.want(superVersion, "version", uint64(features.version()), uint64(le.Uint32(b[superVersion:])))
	if unknown := features &^ allFeatures; unknown != 0 {
		c.fail(superFeatures, unknown, "no features except %d", allFeatures)
	}
	c.want(superPageSize, "page size", pageSize, uint64(le.Uint32(b[superPageSize:])))
	if b[superClean] > 1 {
		c.fail(superClean, b[superClean], "0 or 1")
	}
	merger, chunks := int(b[superMergerLen]), int(le.Uint16(b[superChunks:]))
	if merger > MergerMax {
		c.fail(superMergerLen, merger, "at most %d", MergerMax)
	}
	if chunks > ChunkCount {
		c.fail(superChunks, chunks, "at most %d", ChunkCount)
	}
	if c.err != nil {
		return Superblock{}, c.err
	}
	c.zero(superMerger+merger, b[superMerger+merger:superTable])
	c.zero(superTable+chunks*superChunkSize, b[superTable+chunks*superChunkSize:superFeatures])
	c.zero(superRest, b[superRest:])
	s := Superblock{
		UUID:    [16]byte(b[superUUID:]),
		Seq:     le.Uint64(b[superSeq:]),
		Cut:     le.Uint64(b[superCut:]),
		Segment: le.Uint64(b[superSegment:]),
		Chain:   Chain{Prev: le.Uint32(b[superPrev:]), Session: le.Uint64(b[superSession:])},
		NextID:  le.Uint64(b[superNextID:]),
		Pages:   le.Uint32(b[superPages:]),
		Merger:  string(b[superMerger : superMerger+merger]),
		Clean:   b[superClean] == 1,
		Epoch:   le.Uint64(b[superEpoch:]),
		Life:    life,
		Chunks:  decodeChunks(b, chunks, &c),

		Features: features,
	}
	s.check(&c)
	if c.err != nil {
		return Superblock{}, c.err
	}
	return s, nil
}

// decodeChunks reads the places of so many chunks of the table.
func decodeChunks(b []byte, n int, c *checker) []Chunk {
	if n == 0 {
		return nil
	}
	le := binary.LittleEndian
	chunks := make([]Chunk, n)
	for i := range chunks {
		off := superTable + i*superChunkSize
		at := b[off : off+superChunkSize]
		if at[24] != chunkFull && at[24] != chunkDelta {
			c.fail(off+24, at[24], "chunk kind %d or %d", chunkFull, chunkDelta)
		}
		c.zero(off+25, at[25:])
		chunks[i] = Chunk{
			Loc:  Loc{Addr: int64(le.Uint64(at)), Len: le.Uint32(at[16:]), CRC: le.Uint32(at[20:])},
			Full: at[24] == chunkFull,
			Seq:  le.Uint64(at[8:]),
		}
	}
	return chunks
}

// check looks for values that no store has.
func (s *Superblock) check(c *checker) {
	if s.Seq == 0 {
		c.fail(superSeq, s.Seq, "a positive number")
	}
	if s.Cut > seqMax {
		c.fail(superCut, s.Cut, "a message number below 2^56")
	}
	if s.Life > LifeMax {
		c.fail(superSector-lifeSize, s.Life, "a number below 2^56")
	}
	if s.Pages < FirstPage {
		c.fail(superPages, s.Pages, "at least %d pages", FirstPage)
	}
	if len(s.Merger) > MergerMax {
		c.fail(superMergerLen, len(s.Merger), "a name of at most %d bytes", MergerMax)
	}
	if len(s.Chunks) > ChunkCount {
		c.fail(superChunks, len(s.Chunks), "at most %d chunks", ChunkCount)
	}
	last, end := uint64(0), int64(s.Pages)*pageSize
	for i, k := range s.Chunks {
		off := superTable + i*superChunkSize
		if k.Full != (i == 0) {
			c.fail(off+24, fmt.Sprintf("whole: %v, as number %d", k.Full, i), "the whole table first, then changes")
		}
		if k.Seq <= last || k.Seq > s.Seq {
			c.fail(off+8, k.Seq, "a number above %d and at most %d", last, s.Seq)
		}
		if k.Addr < FirstPage*pageSize || k.Addr%pageSize != 0 {
			c.fail(off, k.Addr, "the start of a page after the superblocks")
		}
		if k.Len == 0 || k.Len%pageSize != 0 || k.Len > chunkMax {
			c.fail(off+16, k.Len, "whole pages, at most %d bytes", chunkMax)
		}
		if k.Addr > end-int64(k.Len) {
			c.fail(off, k.Addr, "at least %d bytes before the end of the file at %d", k.Len, end)
		}
		last = k.Seq
	}
}

// Choose picks the superblock that counts: of the two slots' bytes the one that
// is valid and has the larger Seq; which is 0 for a and 1 for b. It is
//   - ErrBlank when both slots are nothing but zeros, or shorter than that;
//   - an error with what is wrong with each when neither is valid;
//   - an error when one was written by a newer version: the other one is older
//     than what that version has done since;
//   - an error when both are valid but of different stores, or of the same Seq
//     and different.
func Choose(a, b []byte) (s Superblock, which int, err error) {
	if blank(a) && blank(b) {
		return Superblock{}, 0, ErrBlank
	}
	sa, errA := DecodeSuper(a)
	sb, errB := DecodeSuper(b)
	for i, err := range []error{errA, errB} {
		var newer *VersionError
		if errors.As(err, &newer) {
			return Superblock{}, i, fmt.Errorf("slot %c: %w", 'A'+i, err)
		}
	}
	switch {
	case errA != nil && errB != nil:
		return Superblock{}, 0, fmt.Errorf("no superblock is valid: slot A: %w; slot B: %w", errA, errB)
	case errA != nil:
		return sb, 1, nil
	case errB != nil:
		return sa, 0, nil
	}
	c := checker{part: "superblock in slot B"}
	switch {
	case sa.UUID != sb.UUID:
		c.fail(superUUID, fmt.Sprintf("%x", sb.UUID), "store %x, as in slot A", sa.UUID)
		return Superblock{}, 0, c.err
	case sa.Seq == sb.Seq && !bytes.Equal(a, b):
		at := 0
		for a[at] == b[at] {
			at++
		}
		c.fail(at, hexByte(b[at]), "%s, as in slot A, which has the same number %d", hexByte(a[at]), sa.Seq)
		return Superblock{}, 0, c.err
	case sa.Seq >= sb.Seq:
		return sa, 0, nil
	}
	return sb, 1, nil
}

// blank reports whether b has no byte that is not zero.
func blank(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
