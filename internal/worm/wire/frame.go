package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Version is the version of the frames. The first six bytes of a frame, and what
// a Hello and a Welcome begin with, mean the same in every version.
const Version = 1

// Limits, in bytes.
const (
	// FrameMax is the longest frame. It holds every reply that keeps to
	// wor.RangeMax, and to wor.ReplyMax but for the value that exceeds it.
	FrameMax = 8 << 20
	// HelloMax is the longest frame of a handshake: a Scanner's Max until it is
	// over.
	HelloMax = 2 << 10
	// TextMax is the longest text of a refusal.
	TextMax = 1 << 10
	// PayloadMax is the longest payload of an Invoke or an Answer.
	PayloadMax = 4 << 20
)

// A frame is
//
//	length   u32, little endian: of all that follows
//	version  u8
//	type     u8
//	payload
//	crc      u32, little endian: CRC-32C of all before it
const (
	lengthLen = 4
	headLen   = 6
	tailLen   = 4
	frameMin  = headLen + tailLen
	// keepMax is how much memory a Scanner keeps between frames.
	keepMax = 64 << 10
)

// Type is what a frame says.
type Type uint8

// The types.
const (
	TypeHello   Type = iota + 1 // who connects: first, once
	TypeWelcome                 // the answer to it
	TypeRequest
	TypeReply
	TypeNote
	TypeInvoke
	TypeAnswer
	TypePing
	TypePong
)

var typeNames = [...]string{
	TypeHello: "hello", TypeWelcome: "welcome", TypeRequest: "request", TypeReply: "reply", TypeNote: "note",
	TypeInvoke: "invoke", TypeAnswer: "answer", TypePing: "ping", TypePong: "pong",
}

func (t Type) String() string {
	if t.valid() {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

func (t Type) valid() bool { return int(t) < len(typeNames) && typeNames[t] != "" }

// FrameError states what is wrong with bytes that should be a frame. The
// connection that they came on is of no more use.
type FrameError struct {
	// Type is the frame's, 0 where the frame itself is wrong.
	Type   Type
	Reason string
}

func (e *FrameError) Error() string {
	if e.Type == 0 {
		return "bad frame: " + e.Reason
	}
	return fmt.Sprintf("bad %v frame: %s", e.Type, e.Reason)
}

// VersionError reports that a frame is of a version that this program does not
// know.
type VersionError struct{ Found, Known uint8 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("frame of version %d, known is %d", e.Found, e.Known)
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Encoder appends frames to bytes that are written to a connection in one piece.
// The zero Encoder is empty. Its methods, one for each type of frame, add a whole
// frame; those with an error add nothing when they answer one, which is a
// *wor.LimitError. It is for one goroutine at a time.
type Encoder struct {
	buf   []byte
	start int // of the frame that is being made
}

// Bytes are the frames since Reset. They are the Encoder's, and valid until its
// next call.
func (e *Encoder) Bytes() []byte { return e.buf }

// Len is the length of Bytes.
func (e *Encoder) Len() int { return len(e.buf) }

// Reset forgets the frames and keeps the memory, up to keep bytes of it.
func (e *Encoder) Reset(keep int) {
	if cap(e.buf) > keep {
		e.buf = nil
	}
	e.buf = e.buf[:0]
}

// Truncate takes back the frames that came when Len was n already.
func (e *Encoder) Truncate(n int) { e.buf = e.buf[:n] }

func (e *Encoder) begin(t Type) {
	e.start = len(e.buf)
	e.buf = append(e.buf, 0, 0, 0, 0, Version, byte(t))
}

// finish completes the frame that was begun.
func (e *Encoder) finish() error {
	if n := len(e.buf) - e.start + tailLen; n > FrameMax {
		e.buf = e.buf[:e.start]
		return &wor.LimitError{Name: "FrameMax", Limit: FrameMax, Got: int64(n)}
	}
	e.seal()
	return nil
}

func (e *Encoder) seal() {
	f := e.buf[e.start:]
	binary.LittleEndian.PutUint32(f, uint32(len(f)-lengthLen+tailLen))
	e.buf = binary.LittleEndian.AppendUint32(e.buf, checksum(f))
}

// Frame is a whole frame: its type, and the payload for the Decode function of
// that type.
type Frame struct {
	Type    Type
	Payload []byte
}

// Scanner cuts a stream of bytes into frames. Feed it what has come, then call
// Next until there is no more; and so on. The zero Scanner is at the beginning
// of a stream. It is for one goroutine at a time.
type Scanner struct {
	// Max bounds the length of a frame; 0 is FrameMax. It may be changed
	// between calls, and counts for frames of which less than the length is
	// there.
	Max int

	in   []byte // what was fed and not looked at
	rest []byte // a frame that came in pieces, as far as it came
	out  bool   // rest is whole, and was given
	err  error
}

// Feed gives the next bytes of the stream. They are the Scanner's, and must not
// change, until Next has answered that there is no more frame; only then may it
// be fed again.
func (s *Scanner) Feed(b []byte) {
	if len(s.in) > 0 {
		// A caller that does not take the rest must not lose it.
		s.in = append(s.in[:len(s.in):len(s.in)], b...)
		return
	}
	s.in = b
}

// Next returns the next frame, if it is whole. Its Payload is valid until the
// next call of the Scanner, and as long as the bytes that were fed are. An error
// is a *FrameError or a *VersionError; the stream cannot be followed any
// further, and the answer stays the same.
func (s *Scanner) Next() (f Frame, ok bool, err error) {
	if s.err != nil {
		return Frame{}, false, s.err
	}
	if s.out {
		s.out = false
		if s.rest = s.rest[:0]; cap(s.rest) > keepMax {
			s.rest = nil
		}
	}
	var whole []byte
	if len(s.rest) == 0 {
		whole = s.cut()
	} else {
		whole = s.join()
	}
	if s.err == nil && whole != nil {
		f, s.err = open(whole)
	}
	if s.err != nil {
		s.in, s.rest = nil, nil
		return Frame{}, false, s.err
	}
	return f, whole != nil, nil
}

// Buffered is how many bytes of an unfinished frame the Scanner holds.
func (s *Scanner) Buffered() int {
	if s.out {
		return 0
	}
	return len(s.rest)
}

// cut takes a frame from what was fed, where it is there as a whole, or keeps
// what is there.
func (s *Scanner) cut() []byte {
	need := s.need(s.in)
	if s.err != nil {
		return nil
	}
	if need > len(s.in) {
		s.rest = append(s.rest, s.in...)
		s.in = nil
		return nil
	}
	whole := s.in[:need]
	s.in = s.in[need:]
	return whole
}

// join adds to a frame that came in pieces what it needs and no more.
func (s *Scanner) join() []byte {
	for {
		need := s.need(s.rest)
		if s.err != nil {
			return nil
		}
		if need == len(s.rest) {
			s.out = true
			return s.rest
		}
		if len(s.in) == 0 {
			s.in = nil
			return nil
		}
		n := min(need-len(s.rest), len(s.in))
		s.rest = append(s.rest, s.in[:n]...)
		s.in = s.in[n:]
	}
}

// need is how long the frame that begins b is, as far as can be told: its head,
// at least.
func (s *Scanner) need(b []byte) int {
	if len(b) < headLen {
		return headLen
	}
	limit := s.Max
	if limit <= 0 || limit > FrameMax {
		limit = FrameMax
	}
	n := uint64(binary.LittleEndian.Uint32(b)) + lengthLen
	switch {
	case n < frameMin:
		s.err = &FrameError{Reason: "too short"}
	case n > uint64(limit):
		s.err = &FrameError{Reason: fmt.Sprintf("%d bytes, limit is %d", n, limit)}
	case b[lengthLen] != Version:
		s.err = &VersionError{Found: b[lengthLen], Known: Version}
	}
	return int(n)
}

// open looks into a whole frame.
func open(b []byte) (Frame, error) {
	end := len(b) - tailLen
	if checksum(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return Frame{}, &FrameError{Reason: "wrong checksum"}
	}
	t := Type(b[headLen-1])
	if !t.valid() {
		return Frame{}, &FrameError{Reason: fmt.Sprintf("unknown type %d", uint8(t))}
	}
	return Frame{Type: t, Payload: b[headLen:end:end]}, nil
}
