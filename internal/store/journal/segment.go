// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The first page of a segment, little endian; offsets in bytes:
//
//	 0 u32 magic "ASJS"
//	 4 u16 version, 1
//	 6 u16 zero
//	 8 u64 number of the segment
//	16 u64 number of the first message
//	24 u64 session that writes the segment
//	32 u32 size of the segment, this page included
//	36 u32 checksum of the last frame of the segment before
//	40 u32 CRC-32C of bytes 0 to 39, continued from the seed of store and page 0
//	44 zeros
//
// All that counts is within one sector.

// SegmentHeader is where a segment's first frame begins, in bytes.
const SegmentHeader = PageSize

const (
	segmentMagic   = 0x534a5341
	segmentVersion = 1
	segmentUsed    = 44
)

// numberMax is the highest number of a segment.
const numberMax = 1<<63 - 1

// SegmentInfo describes a segment.
type SegmentInfo struct {
	// Store is as in Header.
	Store uint64
	// Number orders segments; it grows, not always by one, and never comes
	// again.
	Number uint64
	// Size is the segment's length in bytes with its first page; a multiple of
	// PageSize, two pages at least.
	Size uint32
	// First is the number of the first message, Prev the checksum of the frame
	// before the first, and Session the life that writes the segment: all of
	// its frames have it.
	First   message.Seq
	Prev    uint32
	Session uint64
}

// PutSegmentHeader writes a segment's first page: b has SegmentHeader bytes.
func PutSegmentHeader(b []byte, s SegmentInfo) {
	invariant.Check(len(b) == SegmentHeader, "a segment's first page of %d bytes", len(b))
	invariant.Check(s.Size >= 2*PageSize && s.Size%PageSize == 0, "a segment of %d bytes", s.Size)
	invariant.Check(s.Number <= numberMax, "a segment with number %d", s.Number)
	invariant.Check(s.First >= 1 && s.First <= message.MaxSeq, "a segment from message %d on", s.First)
	clear(b)
	le := binary.LittleEndian
	le.PutUint32(b[0:], segmentMagic)
	le.PutUint16(b[4:], segmentVersion)
	le.PutUint64(b[8:], s.Number)
	le.PutUint64(b[16:], uint64(s.First))
	le.PutUint64(b[24:], s.Session)
	le.PutUint32(b[32:], s.Size)
	le.PutUint32(b[36:], s.Prev)
	le.PutUint32(b[40:], checksum(seed(s.Store, 0), b[:40]))
}

// readSegmentHeader reads a segment's first page; a short b is none.
func readSegmentHeader(b []byte, store uint64) (SegmentInfo, Flaw) {
	if len(b) < segmentUsed {
		return SegmentInfo{}, Flaw{wrongShort, segmentUsed, uint64(len(b))}
	}
	le := binary.LittleEndian
	if got := le.Uint32(b[0:]); got != segmentMagic {
		return SegmentInfo{}, Flaw{wrongMagic, segmentMagic, uint64(got)}
	}
	if got := le.Uint16(b[4:]); got != segmentVersion {
		return SegmentInfo{}, Flaw{wrongVersion, segmentVersion, uint64(got)}
	}
	if want, got := checksum(seed(store, 0), b[:40]), le.Uint32(b[40:]); want != got {
		return SegmentInfo{}, Flaw{wrongHeaderChecksum, uint64(want), uint64(got)}
	}
	s := SegmentInfo{
		Store: store, Number: le.Uint64(b[8:]), Size: le.Uint32(b[32:]),
		First: message.Seq(le.Uint64(b[16:])), Prev: le.Uint32(b[36:]), Session: le.Uint64(b[24:]),
	}
	if s.Size < 2*PageSize || s.Size%PageSize != 0 {
		return SegmentInfo{}, Flaw{wrongLength, 2 * PageSize, uint64(s.Size)}
	}
	if s.Number > numberMax {
		return SegmentInfo{}, Flaw{wrongSegment, numberMax, s.Number}
	}
	if s.First < 1 || s.First > message.MaxSeq {
		return SegmentInfo{}, Flaw{wrongFirst, 1, uint64(s.First)}
	}
	return s, Flaw{}
}
