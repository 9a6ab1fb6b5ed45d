// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Version is the version of the protocol. What a Hello and a Welcome begin with
// means the same in every version.
const Version = 1

// The version in each frame is link's, and so is how frames are cut. A change of
// either is a change of this protocol: this does not compile if the two differ.
var _ = [1]struct{}{}[Version-link.Version]

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

// Type is what a frame says.
type Type uint8

// The types.
const (
	TypeHello   Type = iota + 1 // of the side that connects: first, once
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
	e.buf = link.Begin(e.buf, link.Type(t))
}

// finish completes the frame that was begun.
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
	// Max bounds the length of a frame; 0, and what is more than FrameMax, is
	// FrameMax. It may be changed between calls, as link.Scanner's.
	Max int

	scan link.Scanner
	err  error
}

// Feed is link.Scanner's.
func (s *Scanner) Feed(b []byte) {
	if s.err == nil {
		s.scan.Feed(b)
	}
}

// Buffered is how many bytes of an unfinished frame the Scanner holds.
func (s *Scanner) Buffered() int { return s.scan.Partial() }

// Next is link.Scanner's, and refuses unknown types.
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
