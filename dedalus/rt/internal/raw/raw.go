// SPDX-License-Identifier: Apache-2.0

// Package raw builds and parses the frames, handshakes and proofs of attackers
// in tests of compiled programs. It is written from docs/format/link.md and
// docs/format/dedalus.md alone and shares no code with the packages under
// attack.
//
// In: the fields of a frame, valid or not. Out: the bytes of the frame; the
// frames in a stream.
//
// Promised: valid fields yield frames that are valid by version 1 of the format
// pages.
//
// Refused: limits and state; an attacker keeps to none.
package raw

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Type is the type of a frame.
type Type byte

// The types.
const (
	TypeHello   Type = 1
	TypeWelcome Type = 2
	TypeProof   Type = 3
	TypeRefusal Type = 4
	TypePing    Type = 5
	TypePong    Type = 6
	TypeBatch   Type = 16
	TypeAck     Type = 17
)

// Frame is a frame.
type Frame struct {
	Type    Type
	Payload []byte
}

// AppendFrame appends a frame with any type and payload, valid or not.
func AppendFrame(b []byte, t Type, payload []byte) []byte {
	f := binary.LittleEndian.AppendUint32(nil, uint32(2+len(payload)+4))
	f = append(append(f, 1, byte(t)), payload...)
	f = binary.LittleEndian.AppendUint32(f, crc32.Checksum(f, crc32.MakeTable(crc32.Castagnoli)))
	return append(b, f...)
}

// Scanner splits a stream into frames.
type Scanner struct{ stream []byte }

// Feed appends bytes to the stream.
func (s *Scanner) Feed(b []byte) { s.stream = append(s.stream, b...) }

var errFrame = errors.New("not a frame")

// Next removes and returns the next frame, if it is complete.
func (s *Scanner) Next() (f Frame, ok bool, err error) {
	if len(s.stream) < 6 {
		return f, false, nil
	}
	n := int(binary.LittleEndian.Uint32(s.stream)) + 4
	if n < 10 || s.stream[4] != 1 {
		return f, false, errFrame
	}
	if len(s.stream) < n {
		return f, false, nil
	}
	whole := s.stream[:n]
	if binary.LittleEndian.Uint32(whole[n-4:]) != crc32.Checksum(whole[:n-4], crc32.MakeTable(crc32.Castagnoli)) {
		return f, false, errFrame
	}
	s.stream = append([]byte(nil), s.stream[n:]...)
	return Frame{Type(whole[5]), append([]byte(nil), whole[6:n-4]...)}, true, nil
}

// Nonce is the nonce of one side of a handshake.
type Nonce [16]byte

// Proof is the proof of one side of a handshake.
type Proof [32]byte

// The roles.
const (
	Instance byte = 0
	Client   byte = 1
)

// Version is the version of the format pages.
const Version = 1

// Hello is a hello frame with the body of the service.
type Hello struct {
	Version     uint16
	Keyed       bool
	Life        uint64
	Nonce       Nonce
	Program     uint64
	From, To    string
	Role        byte
	Window      uint32
	Seen, Last  uint64
	Incarnation uint64
}

// helloPayload is the payload of a hello.
func helloPayload(h *Hello) []byte {
	b := append([]byte("ASHLINK\n"), byte(h.Version), byte(h.Version>>8), 0)
	if h.Keyed {
		b[10] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, h.Life)
	b = append(b, h.Nonce[:]...)
	for _, name := range []string{"dedalus", fmt.Sprintf("%016x", h.Program), h.From, h.To} {
		b = append(append(b, byte(len(name))), name...)
	}
	b = binary.LittleEndian.AppendUint32(append(b, h.Role), h.Window)
	for _, n := range []uint64{h.Seen, h.Last, h.Incarnation} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// AppendHello appends a hello.
func AppendHello(b []byte, h *Hello) []byte { return AppendFrame(b, TypeHello, helloPayload(h)) }

// taker reads the fields of a payload in order.
type taker struct {
	b   []byte
	bad bool
}

func (t *taker) take(n int) []byte {
	if len(t.b) < n {
		t.b, t.bad = make([]byte, n), true
	}
	f := t.b[:n]
	t.b = t.b[n:]
	return f
}
func (t *taker) u64() uint64  { return binary.LittleEndian.Uint64(t.take(8)) }
func (t *taker) name() string { return string(t.take(int(t.take(1)[0]))) }

// DecodeHello decodes the payload of a hello.
func DecodeHello(p []byte) (Hello, error) {
	t := taker{b: p}
	if string(t.take(8)) != "ASHLINK\n" {
		return Hello{}, errors.New("not a hello")
	}
	h := Hello{Version: binary.LittleEndian.Uint16(t.take(2)), Keyed: t.take(1)[0] == 1, Life: t.u64()}
	copy(h.Nonce[:], t.take(16))
	service, system := t.name(), t.name()
	h.From, h.To = t.name(), t.name()
	h.Role = t.take(1)[0]
	h.Window = binary.LittleEndian.Uint32(t.take(4))
	h.Seen, h.Last, h.Incarnation = t.u64(), t.u64(), t.u64()
	if _, err := fmt.Sscanf(system, "%016x", &h.Program); err != nil || service != "dedalus" || t.bad || len(t.b) > 0 {
		return h, fmt.Errorf("a hello of %q %q, %+v", service, system, h)
	}
	return h, nil
}

// Welcome is a welcome frame with the body of the service.
type Welcome struct {
	Life        uint64
	Nonce       Nonce
	Proof       Proof
	Node        string
	Last        uint64
	Window      uint32
	Incarnation uint64
}

func welcomePayload(w *Welcome) []byte {
	b := binary.LittleEndian.AppendUint64(nil, w.Life)
	b = append(append(b, w.Nonce[:]...), w.Proof[:]...)
	b = append(append(b, byte(len(w.Node))), w.Node...)
	b = binary.LittleEndian.AppendUint64(b, w.Last)
	b = binary.LittleEndian.AppendUint32(b, w.Window)
	return binary.LittleEndian.AppendUint64(b, w.Incarnation)
}

// AppendWelcome appends a welcome.
func AppendWelcome(b []byte, w *Welcome) []byte {
	return AppendFrame(b, TypeWelcome, welcomePayload(w))
}

// DecodeWelcome decodes the payload of a welcome.
func DecodeWelcome(p []byte) (Welcome, error) {
	t := taker{b: p}
	w := Welcome{Life: t.u64()}
	copy(w.Nonce[:], t.take(16))
	copy(w.Proof[:], t.take(32))
	w.Node, w.Last = t.name(), t.u64()
	w.Window = binary.LittleEndian.Uint32(t.take(4))
	w.Incarnation = t.u64()
	if t.bad || len(t.b) > 0 {
		return w, fmt.Errorf("not a welcome: %x", p)
	}
	return w, nil
}

// AppendProof appends a proof.
func AppendProof(b []byte, p Proof) []byte { return AppendFrame(b, TypeProof, p[:]) }

// Same reports whether two proofs are equal.
func (p Proof) Same(q Proof) bool { return p == q }

// Prove computes the proof of the dialling side or of the other one. Without a
// key, the proof is all zeros.
func Prove(key []byte, dialled bool, h *Hello, w *Welcome) (p Proof) {
	if len(key) == 0 {
		return p
	}
	side := byte('l')
	if dialled {
		side = 'd'
	}
	bare := *w
	bare.Proof = Proof{}
	m := hmac.New(sha256.New, key)
	for _, part := range [][]byte{{side}, helloPayload(h), welcomePayload(&bare)} {
		m.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		m.Write(part)
	}
	copy(p[:], m.Sum(nil))
	return p
}

// RefusalCode states why a connection ends.
type RefusalCode byte

// The codes.
const (
	RefusalVersion RefusalCode = 1
	RefusalProgram RefusalCode = 2
	RefusalNode    RefusalCode = 3
	RefusalName    RefusalCode = 4
	RefusalKey     RefusalCode = 5
	RefusalFull    RefusalCode = 6
	RefusalMessage RefusalCode = 8
	RefusalTaken   RefusalCode = 9
	RefusalOld     RefusalCode = 64
)

// Refusal is a frame that ends a connection with a reason.
type Refusal struct {
	Code RefusalCode
	Text string
}

// AppendRefusal appends a refusal.
func AppendRefusal(b []byte, r *Refusal) []byte {
	return AppendFrame(b, TypeRefusal, append([]byte{byte(r.Code)}, r.Text...))
}

// DecodeRefusal decodes the payload of a refusal.
func DecodeRefusal(p []byte) (Refusal, error) {
	if len(p) < 1 {
		return Refusal{}, errors.New("not a refusal")
	}
	return Refusal{RefusalCode(p[0]), string(p[1:])}, nil
}

// AppendPing appends a ping, or a pong.
func AppendPing(b []byte, pong bool) []byte {
	if pong {
		return AppendFrame(b, TypePong, nil)
	}
	return AppendFrame(b, TypePing, nil)
}
