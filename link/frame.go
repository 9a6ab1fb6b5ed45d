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

// HandshakeMax is the maximum length of a frame, in bytes, before both sides
// have identified themselves.
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
	// keepMax is the maximum memory that a Scanner retains between frames.
	keepMax = 128 << 10
)

// Overhead is the length of a frame minus that of its payload, in bytes.
const Overhead = headLen + tailLen

// Type is the type of a frame.
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

// FrameError describes an error in bytes that should be a frame, or in the
// content of a frame. The connection cannot be used any more.
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

// Malformed returns a *FrameError about the frame named what.
func Malformed(what, format string, args ...any) error {
	return &FrameError{What: what, Reason: fmt.Sprintf(format, args...)}
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Begin appends the head of a frame. The bytes that the caller appends next are
// the payload, until Seal, which needs the length that b had before Begin.
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

// Scanner splits a stream of bytes into frames. Pass received bytes to Feed,
// call Next until there are no more frames, and repeat. The zero Scanner is at
// the beginning of a stream. A Scanner stores at most one unfinished frame, and
// of that only the bytes received. Only one goroutine at a time may use it.
type Scanner struct {
	// Max bounds the length of a frame; 0 means HandshakeMax. It may be changed
	// between calls, and applies to frames whose length field is still incomplete.
	Max int

	in   []byte // what was fed and not looked at
	rest []byte // a frame that came in pieces, as far as it came
	out  bool   // rest is whole, and was given
	err  error
}

// Feed passes the next bytes of the stream to the Scanner. The caller must not
// change them, or call Feed again, until Next has reported that there are no
// more frames.
func (s *Scanner) Feed(b []byte) {
	if s.err != nil {
		return
	}
	if len(s.in) > 0 {
		// If the caller fed these bytes before it had taken all frames, the
		// rest must not be lost.
		s.in = append(s.in[:len(s.in):len(s.in)], b...)
		return
	}
	s.in = b
}

// Next returns the next frame if it is complete. Its Payload is valid until the
// next call of the Scanner, as long as the bytes passed to Feed are valid. An
// error is a *FrameError. It is permanent: the position in the stream is lost,
// and later calls return the same error.
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

// Partial returns how many bytes of an unfinished frame the Scanner holds,
// after Next has reported that there are no more frames.
func (s *Scanner) Partial() int {
	if s.out {
		return 0
	}
	return len(s.rest)
}

// cut takes a frame directly from the fed bytes if they contain all of it, and
// otherwise stores what they contain.
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

// join completes a frame that arrived in pieces, taking no more bytes than it
// needs.
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

// need returns the length of the frame that begins b, as far as it is known: at
// least the length of the head.
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
		s.err = Malformed("", "%d bytes are too short for a frame", n)
	case n > uint64(limit):
		s.err = Malformed("", "%d bytes, limit is %d", n, limit)
	case len(b) > lengthLen && b[lengthLen] != Version:
		s.err = Malformed("", "version %d; this program speaks version %d", b[lengthLen], Version)
	}
	if len(b) < headLen {
		return headLen
	}
	return int(n)
}
