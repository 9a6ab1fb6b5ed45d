// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Version is the version of the frames and of the handshake; both sides must
// have the same. The first six bytes of a frame, its checksum, and what a hello
// begins with mean the same in every version.
const Version = 1

// HandshakeMax is the longest frame, in bytes, before both sides know each
// other.
const HandshakeMax = 2 << 10

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
	keepMax = 128 << 10
)

// Overhead is how much longer a frame is than its payload, in bytes.
const Overhead = headLen + tailLen

// Type is what a frame says.
type Type uint8

// Types below Service belong to this package, the others to the services.
const (
	TypeHello   Type = iota + 1 // of the side that connects: the first frame, once
	TypeWelcome                 // the answer to it
	TypeProof                   // that the side which has dialled knows the key
	TypeRefusal                 // why the connection ends
	TypePing                    // asks for a pong
	TypePong
	Service Type = 16
)

func (t Type) String() string {
	switch t {
	case TypeHello:
		return "hello"
	case TypeWelcome:
		return "welcome"
	case TypeProof:
		return "proof"
	case TypeRefusal:
		return "refusal"
	case TypePing:
		return "ping"
	case TypePong:
		return "pong"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// FrameError states what is wrong with bytes that should be a frame, or with
// what a frame says. The connection that they came on is of no more use.
type FrameError struct {
	// What names the frame; it is empty where the frame itself is wrong.
	What   string
	Reason string
}

func (e *FrameError) Error() string {
	if e.What == "" {
		return "bad frame: " + e.Reason
	}
	return "bad " + e.What + " frame: " + e.Reason
}

// Malformed returns a *FrameError about the frame that what names.
func Malformed(what, format string, args ...any) error {
	return &FrameError{What: what, Reason: fmt.Sprintf(format, args...)}
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Begin appends the head of a frame. What is appended from then on until Seal,
// which needs the length that b had before, is its payload.
func Begin(b []byte, t Type) []byte { return append(b, 0, 0, 0, 0, Version, byte(t)) }

// Seal completes the frame that begins at start and ends with b.
func Seal(b []byte, start int) []byte {
	f := b[start:]
	binary.LittleEndian.PutUint32(f, uint32(len(f)-lengthLen+tailLen))
	return binary.LittleEndian.AppendUint32(b, checksum(f))
}

// Frame is a whole frame.
type Frame struct {
	Type    Type
	Payload []byte
}

// Scanner cuts a stream of bytes into frames. Feed it what has come, then call
// Next until there is no more; and so on. The zero Scanner is at the beginning
// of a stream. It keeps one unfinished frame at most, and of that only what has
// come. It is for one goroutine at a time.
type Scanner struct {
	// Max bounds the length of a frame; 0 is HandshakeMax. It may be changed
	// between calls, and counts for frames of which less than the length is there.
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
	if s.err != nil {
		return
	}
	if len(s.in) > 0 {
		// A caller that does not take the rest must not lose it.
		s.in = append(s.in[:len(s.in):len(s.in)], b...)
		return
	}
	s.in = b
}

// Next returns the next frame, if it is whole. Its Payload is valid until the
// next call of the Scanner, and as long as the bytes that were fed are. An error
// is a *FrameError; the stream cannot be followed any further, and the answer
// stays the same.
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
		end := len(whole) - tailLen
		if checksum(whole[:end]) == binary.LittleEndian.Uint32(whole[end:]) {
			return Frame{Type: Type(whole[headLen-1]), Payload: whole[headLen:end:end]}, true, nil
		}
		s.err = Malformed("", "wrong checksum")
	}
	if s.err != nil {
		s.in, s.rest = nil, nil
	}
	return Frame{}, false, s.err
}

// Partial is how many bytes of an unfinished frame the Scanner holds, after
// Next has answered that there is no more frame.
func (s *Scanner) Partial() int {
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

// need is how long the frame that begins b is, as far as is known: its head,
// at least.
func (s *Scanner) need(b []byte) int {
	if len(b) < lengthLen {
		return headLen
	}
	limit := s.Max
	if limit <= 0 {
		limit = HandshakeMax
	}
	n := uint64(binary.LittleEndian.Uint32(b)) + lengthLen
	switch {
	case n < frameMin:
		s.err = Malformed("", "%d bytes are no frame", n)
	case n > uint64(limit):
		s.err = Malformed("", "%d bytes, limit is %d", n, limit)
	case len(b) > lengthLen && b[lengthLen] != Version:
		s.err = Malformed("", "version %d, known is %d", b[lengthLen], Version)
	}
	if len(b) < headLen {
		return headLen
	}
	return int(n)
}
