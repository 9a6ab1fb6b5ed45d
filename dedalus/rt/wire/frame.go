package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Limits, in bytes.
const (
	// FrameMax is the longest frame.
	FrameMax = 8 << 20
	// HandshakeMax is the longest frame before both sides know each other.
	HandshakeMax = 2 << 10
	// RowMax is the longest row of a message.
	RowMax = 4 << 20
	// NodeMax is the longest name of a node.
	NodeMax = 255
	// TextMax is the longest text of a refusal.
	TextMax = 512
	// RelationMax is one more than the greatest number of a relation.
	RelationMax = 1 << 16
	// MessagesMax is how many messages a batch has at most: no tick can stop within one.
	MessagesMax = 1 << 16
)

// A frame is
//
//	length   u32, little endian: of all that follows
//	type     u8
//	payload
//	crc      u32, little endian: CRC-32C of all before it
const (
	lengthLen = 4
	headLen   = 5
	tailLen   = 4
	// keepMax is how much memory an Outbox keeps of each batch for reuse, scanKeepMax
	// what a Scanner keeps.
	keepMax     = 256 << 10
	scanKeepMax = 128 << 10
)

// Type is what a frame says.
type Type uint8

// The types.
const (
	TypeHello   Type = iota + 1 // who connects: first, once
	TypeWelcome                 // the answer to it
	TypeProof                   // that the one who connects has the key
	TypeRefusal                 // why the connection ends
	TypeBatch                   // messages
	TypeAck                     // which batches are done with
	TypePing                    // is somebody there
	TypePong
)

var typeNames = [...]string{
	TypeHello: "hello", TypeWelcome: "welcome", TypeProof: "proof", TypeRefusal: "refusal", TypeBatch: "batch",
	TypeAck: "ack", TypePing: "ping", TypePong: "pong",
}

func (t Type) valid() bool { return t > 0 && int(t) < len(typeNames) }

func (t Type) String() string {
	if t.valid() {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// FrameError states what is wrong with bytes that should be a frame, or with what a
// frame says. The connection that they came on is of no more use.
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

func bad(t Type, format string, args ...any) error {
	return &FrameError{Type: t, Reason: fmt.Sprintf(format, args...)}
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// begin appends the head of a frame, to be completed by seal.
func begin(b []byte, t Type) []byte { return append(b, 0, 0, 0, 0, byte(t)) }

// seal completes the frame that begins at start and ends with b.
func seal(b []byte, start int) []byte {
	f := b[start:]
	binary.LittleEndian.PutUint32(f, uint32(len(f)-lengthLen+tailLen))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(f, castagnoli()))
}

// Frame is a whole frame: its type and what it says.
type Frame struct {
	Type    Type
	Payload []byte
}

// Scanner cuts a stream of bytes into frames. Feed it what has come, then call
// Next until there is no more; and so on. The zero Scanner is at the beginning of a
// stream and takes what belongs to a handshake only, until Open is set. It is for
// one goroutine at a time.
type Scanner struct {
	// Open reports that the handshake is over: frames may be as long as FrameMax.
	Open bool

	in   []byte // what was fed and not looked at
	rest []byte // a frame that came in pieces, as far as it came
	out  bool   // rest is whole, and was given
	err  error
}

// Feed gives the next bytes of the stream. They are the Scanner's until Next has
// answered that there is no more frame; only then may it be fed again.
func (s *Scanner) Feed(b []byte) { s.in = b }

// Partial is how many bytes it has of a frame that is not whole yet, after Next has
// answered that there is none.
func (s *Scanner) Partial() int {
	if s.out {
		return 0
	}
	return len(s.rest)
}

// Next returns the next frame, if it is whole. Its Payload is valid until the next
// call of the Scanner. After an error, which is a *FrameError, the stream cannot be
// followed any further, and the answer stays the same.
func (s *Scanner) Next() (f Frame, ok bool, err error) {
	if s.err != nil {
		return Frame{}, false, s.err
	}
	if s.out {
		s.out = false
		if s.rest = s.rest[:0]; cap(s.rest) > scanKeepMax {
			s.rest = nil
		}
	}
	whole, err := s.take()
	if err == nil && whole != nil {
		f, err = open(whole)
	}
	if err != nil {
		s.err, s.in, s.rest = err, nil, nil
		return Frame{}, false, err
	}
	return f, whole != nil, nil
}

// take returns the bytes of the next frame, nil where it is not there yet.
func (s *Scanner) take() ([]byte, error) {
	if len(s.rest) == 0 {
		need, err := s.need(s.in)
		if err != nil {
			return nil, err
		}
		if need <= len(s.in) {
			whole := s.in[:need:need]
			s.in = s.in[need:]
			return whole, nil
		}
		s.rest = append(s.rest, s.in...)
		s.in = nil
		return nil, nil
	}
	for {
		need, err := s.need(s.rest)
		if err != nil {
			return nil, err
		}
		if need == len(s.rest) {
			s.out = true
			return s.rest, nil
		}
		if len(s.in) == 0 {
			return nil, nil
		}
		n := min(need-len(s.rest), len(s.in))
		s.rest = append(s.rest, s.in[:n]...)
		s.in = s.in[n:]
	}
}

// need is how long the frame that begins b is, as far as can be told: its head, at
// least.
func (s *Scanner) need(b []byte) (int, error) {
	if len(b) < headLen {
		return headLen, nil
	}
	limit := HandshakeMax
	if s.Open {
		limit = FrameMax
	}
	n := uint64(binary.LittleEndian.Uint32(b)) + lengthLen
	switch {
	case n < headLen+tailLen:
		return 0, bad(0, "%d bytes are no frame", n)
	case n > uint64(limit):
		return 0, bad(0, "%d bytes, limit is %d", n, limit)
	}
	return int(n), nil
}

// open looks into a whole frame.
func open(b []byte) (Frame, error) {
	end := len(b) - tailLen
	if crc32.Checksum(b[:end], castagnoli()) != binary.LittleEndian.Uint32(b[end:]) {
		return Frame{}, bad(0, "wrong checksum")
	}
	t := Type(b[headLen-1])
	if !t.valid() {
		return Frame{}, bad(0, "unknown type %d", uint8(t))
	}
	return Frame{Type: t, Payload: b[headLen:end:end]}, nil
}
