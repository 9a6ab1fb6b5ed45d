// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Version is the version of the protocol. The first fields of a Hello and a
// Welcome have the same meaning in every version.
const Version = 1

// Package link defines the version in each frame, and how frames are delimited.
// A change of either is a change of this protocol: this line does not compile if
// the two versions differ.
var _ = [1]struct{}{}[Version-link.Version]

// Limits, in bytes.
const (
	// FrameMax is the longest frame. It has room for every reply within
	// wor.RangeMax and wor.ReplyMax, plus one value that may exceed ReplyMax.
	FrameMax = 8 << 20
	// HelloMax is the longest frame of a handshake. It must be a Scanner's Max
	// until the handshake is over.
	HelloMax = 2 << 10
	// TextMax is the longest text of a refusal.
	TextMax = 1 << 10
	// PayloadMax is the longest payload of an Invoke or an Answer.
	PayloadMax = 4 << 20
)

// Type is the type of a frame.
type Type uint8

// The types.
const (
	TypeHello   Type = iota + 1 // sent by the connecting side, once, as the first frame
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

// Encoder appends frames to bytes that are written to a connection in one piece.
// The zero Encoder is empty. It has a method for each type of frame, which adds a
// whole frame. If a method returns an error, a *wor.LimitError, it has added
// nothing. An Encoder is for one goroutine at a time.
type Encoder struct {
	buf   []byte
	start int // of the current frame
}

// Bytes returns the frames since Reset. They belong to the Encoder, and are
// valid until its next call.
func (e *Encoder) Bytes() []byte { return e.buf }

// Len returns the length of Bytes.
func (e *Encoder) Len() int { return len(e.buf) }

// Reset removes all frames. It keeps the memory, up to keep bytes of it.
func (e *Encoder) Reset(keep int) {
	if cap(e.buf) > keep {
		e.buf = nil
	}
	e.buf = e.buf[:0]
}

// Truncate removes the frames that were added since Len was n.
func (e *Encoder) Truncate(n int) { e.buf = e.buf[:n] }

func (e *Encoder) begin(t Type) {
	e.start = len(e.buf)
	e.buf = link.Begin(e.buf, link.Type(t))
}

// finish completes the current frame.
func (e *Encoder) finish() error {
	e.seal()
	if n := len(e.buf) - e.start; n > FrameMax {
		e.buf = e.buf[:e.start]
		return &wor.LimitError{Name: "FrameMax", Limit: FrameMax, Got: int64(n)}
	}
	return nil
}

func (e *Encoder) seal() { e.buf = link.Seal(e.buf, e.start) }

// Frame is a whole frame: its type, and the payload for the Decode function of
// that type.
type Frame struct {
	Type    Type
	Payload []byte
}

// Scanner is a link.Scanner for frames of this package. The zero Scanner is at the
// beginning of a stream. It is for one goroutine at a time.
type Scanner struct {
	// Max bounds the length of a frame. 0, and any value above FrameMax, means
	// FrameMax. Like that of link.Scanner, it may be changed between calls.
	Max int

	scan link.Scanner
	err  error
}

// Feed is that of link.Scanner.
func (s *Scanner) Feed(b []byte) {
	if s.err == nil {
		s.scan.Feed(b)
	}
}

// Buffered returns the number of bytes of an incomplete frame that the Scanner
// holds.
func (s *Scanner) Buffered() int { return s.scan.Partial() }

// Next is that of link.Scanner; it also refuses unknown types.
func (s *Scanner) Next() (f Frame, ok bool, err error) {
	if s.err != nil {
		return Frame{}, false, s.err
	}
	if s.scan.Max = s.Max; s.Max <= 0 || s.Max > FrameMax {
		s.scan.Max = FrameMax
	}
	whole, ok, err := s.scan.Next()
	t := Type(whole.Type)
	if ok && !t.valid() {
		err = link.Malformed("", "unknown type %d", uint8(t))
	}
	if err != nil {
		s.err, s.scan = err, link.Scanner{}
		return Frame{}, false, err
	}
	return Frame{Type: t, Payload: whole.Payload}, ok, nil
}
