// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// A frame, little endian; offsets in bytes:
//
//	 0 u32 magic "ASJF"
//	 4 u16 version, 1
//	 6 u16 flags: 1 = start of a session
//	 8 u32 used length: header and messages
//	12 u32 padded length: the used one, rounded up to a page
//	16 u64 number of the first message
//	24 u64 session
//	32 u64 durable: the highest number known to be synced when it was sealed
//	40 u64 number of the segment
//	48 u32 count of messages
//	52 u32 checksum of the frame before (the chain)
//	56 u32 CRC-32C of bytes 0 to 55, continued from the seed of store and page
//	60 u32 CRC-32C of bytes 0 to 55 and 64 to the padded length
//	64 messages, then zeros
//
// The header is within one sector, and has a checksum of its own: a header
// whose checksum is right was sealed by this store for this page of a segment,
// even where the rest of its frame is torn. That is what makes it a witness
// (replay.go). A value that a client has put into the store cannot pass for
// one: it would have to know the seed.
//
// The frame's checksum leaves out the header's. A CRC that runs over bytes and
// then over their CRC forgets the bytes: with it, all headers would look alike to
// the chain.

// HeaderSize is the length of a frame's header, in bytes.
const HeaderSize = 64

// PageSize is the unit of everything in a segment, in bytes.
const PageSize = 4096

const (
	frameMagic   = 0x464a5341
	frameVersion = 1
	flagStart    = 1
)

// Header describes a frame.
type Header struct {
	// Store is the store's identity, random and the same for its life. It is
	// not written: it is part of the checksum.
	Store uint64
	// Segment is the number of the segment that holds the frame, and Offset
	// where in it the frame begins, in bytes; a multiple of PageSize. Of the
	// offset, too, only the checksum knows.
	Segment uint64
	Offset  uint32
	// First is the number of the frame's first message, and Count how many it
	// has, one at least: the next frame begins with First+Count.
	First message.Seq
	Count uint32
	// Len is the used length in bytes, header included.
	Len uint32
	// Session is the life of the store that wrote the frame: a random number
	// for each time it is opened.
	Session uint64
	// Prev is the checksum of the frame before.
	Prev uint32
	// Durable is the highest number of which all up to it is known to be
	// synced, in the journal or in the tree. It must never be a hope: a
	// later life takes its absence for rot. It is below First.
	Durable message.Seq
	// Start marks the first frame of a session.
	Start bool
}

// Last is the number of the frame's last message.
func (h Header) Last() message.Seq { return h.First + message.Seq(h.Count) - 1 }

// Padded is the length of the frame in its segment, in bytes.
func (h Header) Padded() int { return padded(int(h.Len)) }

func padded(n int) int { return (n + PageSize - 1) &^ (PageSize - 1) }

// ChainState is the state that the next frame must continue.
type ChainState struct {
	// Segment is the least number that the next segment may have.
	Segment uint64
	// Prev is the checksum of the last frame, and Session its session. For the
	// first frame of a store they may be anything that its superblock says.
	Prev    uint32
	Session uint64
	// Next is the number of the next message.
	Next message.Seq
}

// Advance makes h, whose checksum is crc, the last frame.
func (c *ChainState) Advance(h Header, crc uint32) {
	c.Segment = max(c.Segment, h.Segment+1)
	c.Prev, c.Session = crc, h.Session
	c.Next = h.First + message.Seq(h.Count)
}

// Seal completes a frame: its messages are in [HeaderSize, h.Len), followed by
// zeros, and len(frame) is h.Padded(). Seal writes the header and returns the
// checksum that the next frame must have as Prev.
func Seal(frame []byte, h Header) (crc uint32) {
	if !h.makesSense(len(frame)) { // the arguments are made only then
		invariant.Check(false, "a frame of %d bytes: %+v", len(frame), h)
	}
	le := binary.LittleEndian
	le.PutUint32(frame[0:], frameMagic)
	le.PutUint16(frame[4:], frameVersion)
	var flags uint16
	if h.Start {
		flags = flagStart
	}
	le.PutUint16(frame[6:], flags)
	le.PutUint32(frame[8:], h.Len)
	le.PutUint32(frame[12:], uint32(len(frame)))
	le.PutUint64(frame[16:], uint64(h.First))
	le.PutUint64(frame[24:], h.Session)
	le.PutUint64(frame[32:], uint64(h.Durable))
	le.PutUint64(frame[40:], h.Segment)
	le.PutUint32(frame[48:], h.Count)
	le.PutUint32(frame[52:], h.Prev)
	le.PutUint32(frame[56:], checksum(seed(h.Store, h.Offset/PageSize), frame[:56]))
	crc = frameChecksum(frame)
	le.PutUint32(frame[60:], crc)
	return crc
}

// makesSense reports whether h can be the header of a frame of n bytes.
func (h Header) makesSense(n int) bool {
	return h.Len > HeaderSize && n == h.Padded() &&
		h.Offset >= SegmentHeader && h.Offset%PageSize == 0 &&
		h.First >= 1 && h.First <= message.MaxSeq && h.Count >= 1 && h.Last() <= message.MaxSeq &&
		h.Durable < h.First
}

// seed is what the checksum of a header starts from: different for each page,
// and for a stranger's store but for a chance of one in 2^32.
func seed(store uint64, page uint32) uint32 {
	return uint32(store) ^ uint32(store>>32) ^ page
}

func checksum(from uint32, b []byte) uint32 {
	return crc32.Update(from, crc32.MakeTable(crc32.Castagnoli), b)
}

// frameChecksum is that of a whole padded frame.
func frameChecksum(frame []byte) uint32 {
	return checksum(checksum(0, frame[:56]), frame[64:])
}

// readHeader reads the header that begins b, which has HeaderSize bytes at
// least, of a frame that is at an offset in a segment. The flaw, if there
// is one, is that this is no header of this store for this place.
func readHeader(b []byte, store uint64, offset uint32) (Header, Flaw) {
	le := binary.LittleEndian
	if got := le.Uint32(b[0:]); got != frameMagic {
		return Header{}, Flaw{wrongMagic, frameMagic, uint64(got)}
	}
	if got := le.Uint16(b[4:]); got != frameVersion {
		return Header{}, Flaw{wrongVersion, frameVersion, uint64(got)}
	}
	want, got := checksum(seed(store, offset/PageSize), b[:56]), le.Uint32(b[56:])
	if want != got {
		return Header{}, Flaw{wrongHeaderChecksum, uint64(want), uint64(got)}
	}
	flags := le.Uint16(b[6:])
	h := Header{
		Store: store, Segment: le.Uint64(b[40:]), Offset: offset,
		First: message.Seq(le.Uint64(b[16:])), Count: le.Uint32(b[48:]),
		Len: le.Uint32(b[8:]), Session: le.Uint64(b[24:]), Prev: le.Uint32(b[52:]),
		Durable: message.Seq(le.Uint64(b[32:])), Start: flags == flagStart,
	}
	if flags > flagStart {
		return Header{}, Flaw{wrongFlags, flagStart, uint64(flags)}
	}
	if got := le.Uint32(b[12:]); h.Len <= HeaderSize || uint64(h.Padded()) != uint64(got) {
		return Header{}, Flaw{wrongLength, uint64(got), uint64(h.Len)}
	}
	if h.First < 1 || h.First > message.MaxSeq || h.Count < 1 || h.Last() > message.MaxSeq {
		return Header{}, Flaw{wrongCount, uint64(h.First), uint64(h.Count)}
	}
	if h.Durable >= h.First {
		return Header{}, Flaw{wrongDurable, uint64(h.First), uint64(h.Durable)}
	}
	return h, Flaw{}
}
