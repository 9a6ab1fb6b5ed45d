// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/link"
)

// Limits, in bytes.
const (
	// FrameMax is the maximum length of a frame.
	FrameMax = 8 << 20
	// RowMax is the maximum length of a message's row.
	RowMax = 4 << 20
	// NodeMax is the maximum length of a node name.
	NodeMax = link.NameMax
	// RelationMax is the limit for relation numbers, which must be less.
	RelationMax = 1 << 16
	// MessagesMax is the maximum number of messages in a batch. It is limited because a
	// tick takes whole batches only.
	MessagesMax = 1 << 16
)

// Service is the service name of the links.
const Service = "dedalus"

// System returns the system name of a program's links: rt.Program.Hash in
// hexadecimal.
func System(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// The types of frames.
const (
	TypeBatch = link.Service + iota // messages
	TypeAck                         // which batches are done with
)

// RefusalOld is the refusal code for a sender with an older incarnation of the
// same logical node.
const RefusalOld = link.RefusalService

// Role is the role of the dialling peer.
type Role uint8

// The roles.
const (
	Instance Role = iota // of the program: sends messages
	Client               // from outside: sends inputs, is sent outputs
)

// Hello is the body of the dialling peer's hello.
type Hello struct {
	Role Role
	// Window is how many bytes of unacknowledged batches the sender accepts.
	Window uint32
	// Last is the number of the last batch that the sender has received from the life
	// Seen of the other side. Both are 0 if it has received none.
	Seen, Last uint64
	// Incarnation is the incarnation of the logical node of which the sender is a
	// piece. It is 0 if the sender is not a piece or does not know it yet.
	Incarnation uint64
}

// Welcome is the body of the welcome that answers a Hello.
type Welcome struct {
	// Last is the number of the last batch that the answerer has received from
	// this life of the sender, 0 if none.
	Last uint64
	// Window is how many bytes of unacknowledged batches the answerer accepts.
	Window uint32
	// Incarnation is as in Hello.
	Incarnation uint64
}

// AppendHello appends the body of a Hello.
func AppendHello(b []byte, h *Hello) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(h.Role)), h.Window)
	b = binary.LittleEndian.AppendUint64(b, h.Seen)
	b = binary.LittleEndian.AppendUint64(b, h.Last)
	return binary.LittleEndian.AppendUint64(b, h.Incarnation)
}

// DecodeHello decodes the body of a Hello.
func DecodeHello(body []byte) (Hello, error) {
	r := link.NewReader("hello", body)
	h := Hello{Role: Role(r.U8("role")), Window: r.U32("window"), Seen: r.U64("life"), Last: r.U64("number"), Incarnation: r.U64("incarnation")}
	if h.Role > Client {
		r.Fail("unknown role %d", h.Role)
	}
	return h, r.End()
}

// AppendWelcome appends the body of a Welcome.
func AppendWelcome(b []byte, w *Welcome) []byte {
	b = binary.LittleEndian.AppendUint64(b, w.Last)
	b = binary.LittleEndian.AppendUint32(b, w.Window)
	return binary.LittleEndian.AppendUint64(b, w.Incarnation)
}

// DecodeWelcome decodes the body of a Welcome.
func DecodeWelcome(body []byte) (Welcome, error) {
	r := link.NewReader("welcome", body)
	w := Welcome{Last: r.U64("number"), Window: r.U32("window"), Incarnation: r.U64("incarnation")}
	return w, r.End()
}
