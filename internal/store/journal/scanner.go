// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Scanner walks over the frames of segments and says where they stop making a
// chain. It is pure: it is shown bytes and answers. A copy of a Scanner is a
// Scanner that is at the same place.
//
// A segment continues the chain if its Prev and First are those of the chain,
// its number is not below the chain's, and its session is the chain's or its
// first frame is a start. A frame continues it if it is whole, names the
// segment, has the segment's session, and begins where the frame before ended.
// Only the first frame of a segment may be a start: a session never writes
// into a segment of another one.
type Scanner struct {
	store uint64
	chain ChainState
	in    SegmentInfo
	size  int // of the segment, as far as it is there
	off   int // where the next frame stands
}

// NewScanner returns a Scanner that has seen everything before the chain's next
// message.
func NewScanner(store uint64, chain ChainState) Scanner {
	return Scanner{store: store, chain: chain}
}

// Chain is the state that the next frame must continue.
func (s *Scanner) Chain() ChainState { return s.chain }

// Enter goes to the beginning of a segment, of which size bytes are there. The
// flaw is why the segment does not continue the chain; the Scanner has not
// moved then.
func (s *Scanner) Enter(info SegmentInfo, size int) Flaw {
	switch {
	case info.Number < s.chain.Segment:
		return Flaw{wrongSegment, s.chain.Segment, info.Number}
	case info.First != s.chain.Next:
		return Flaw{wrongFirst, uint64(s.chain.Next), uint64(info.First)}
	case info.Prev != s.chain.Prev:
		return Flaw{wrongPrev, uint64(s.chain.Prev), uint64(info.Prev)}
	}
	s.in, s.size, s.off = info, min(size, int(info.Size)), SegmentHeader
	return Flaw{}
}

// StepKind is the kind of a Step.
type StepKind uint8

// The kinds of steps.
const (
	// More: the first Step.End bytes of the segment are needed.
	More StepKind = iota
	// Next: a frame continues the chain; the Scanner is behind it.
	Next
	// Stop: what is at Step.Off does not continue the chain.
	Stop
)

// Step is what a Scanner has found: a frame in bytes Off to End of the segment,
// including padding, or the reason why there is none.
type Step struct {
	Kind     StepKind
	Header   Header
	Off, End int
	Flaw     Flaw
}

// Step looks at the next frame. Image is the segment from its first byte on, as
// far as it has been read.
func (s *Scanner) Step(image []byte) Step {
	if s.off+PageSize > s.size {
		return Step{Kind: Stop, Off: s.off, Flaw: Flaw{wrongSpace, uint64(s.off + PageSize), uint64(s.size)}}
	}
	if s.off+PageSize > len(image) {
		return Step{Kind: More, Off: s.off, End: s.off + PageSize}
	}
	h, flaw := readHeader(image[s.off:], s.store, uint32(s.off))
	if flaw.OK() {
		flaw = s.continues(h)
	}
	if !flaw.OK() {
		return Step{Kind: Stop, Off: s.off, Flaw: flaw}
	}
	end := s.off + h.Padded()
	if end > len(image) {
		return Step{Kind: More, Off: s.off, End: end}
	}
	frame := image[s.off:end]
	want, got := frameChecksum(frame), binary.LittleEndian.Uint32(frame[60:])
	if want != got {
		return Step{Kind: Stop, Off: s.off, Flaw: Flaw{wrongFrameChecksum, uint64(want), uint64(got)}}
	}
	step := Step{Kind: Next, Header: h, Off: s.off, End: end}
	s.chain.Advance(h, got)
	s.off = end
	return step
}

// continues says why a header does not continue the chain.
func (s *Scanner) continues(h Header) Flaw {
	switch {
	case h.Padded() > s.size-s.off:
		return Flaw{wrongSpace, uint64(s.off + h.Padded()), uint64(s.size)}
	case h.Segment != s.in.Number:
		return Flaw{wrongSegment, s.in.Number, h.Segment}
	case h.Session != s.in.Session:
		return Flaw{wrongSession, s.in.Session, h.Session}
	case h.First != s.chain.Next:
		return Flaw{wrongFirst, uint64(s.chain.Next), uint64(h.First)}
	case h.Prev != s.chain.Prev:
		return Flaw{wrongPrev, uint64(s.chain.Prev), uint64(h.Prev)}
	case h.Start && s.off != SegmentHeader:
		return Flaw{wrongStart, 0, 1}
	case !h.Start && h.Session != s.chain.Session:
		return Flaw{wrongSession, s.chain.Session, h.Session}
	}
	return Flaw{}
}

// Witness looks for proof that a message was synced once: a header of this
// store, in a page of b, which is at the offset off of a segment, that says
// so. Both lengths are multiples of PageSize. At is where in b it is.
func Witness(store uint64, b []byte, off int, missing message.Seq) (h Header, at int, found bool) {
	for at = 0; at+PageSize <= len(b); at += PageSize {
		h, flaw := readHeader(b[at:], store, uint32(off+at))
		if flaw.OK() && h.Durable >= missing {
			return h, at, true
		}
	}
	return Header{}, 0, false
}
