// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/link"
)

// Limits, in bytes.
const (
	// FrameMax is the longest frame.
	FrameMax = 8 << 20
	// RowMax is the longest row of a message.
	RowMax = 4 << 20
	// NodeMax is the longest name of a node.
	NodeMax = link.NameMax
	// RelationMax is one more than the greatest number of a relation.
	RelationMax = 1 << 16
	// MessagesMax is how many messages a batch has at most: no tick can stop within one.
	MessagesMax = 1 << 16
)

// Service is the service of the links.
const Service = "dedalus"

// System is the system of the links of a program: rt.Program.Hash in hexadecimal.
func System(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// The frames.
const (
	TypeBatch = link.Service + iota // messages
	TypeAck                         // which batches are done with
)

// RefusalOld is the code for a sender that is of an older incarnation of the
// same logical node.
const RefusalOld = link.RefusalService

// Role is the role of a connecting peer.
type Role uint8

// The roles.
const (
	Instance Role = iota // of the program: sends messages
	Client               // from outside: sends inputs, is sent outputs
)

// Hello is what the connecting peer says in its link's hello.
type Hello struct {
	Role Role
	// Window is how many bytes of batches that are not acknowledged the sender takes.
	Window uint32
	// Last is the number of the last batch that came to the sender from the life Seen
	// of the other side; zeros when none did.
	Seen, Last uint64
	// Incarnation is that of the logical node that the sender is a piece of; 0 where it
	// is the whole of it, or does not know.
	Incarnation uint64
}

// Welcome is the answer to a Hello, in the link's welcome.
type Welcome struct {
	// Last is the number of the last batch that came from this life of the sender;
	// 0 when none did.
	Last uint64
	// Window is how many bytes of batches that are not acknowledged the answerer takes.
	Window uint32
	// Incarnation is as in Hello.
	Incarnation uint64
}

// AppendHello appends the body.
func AppendHello(b []byte, h *Hello) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(h.Role)), h.Window)
	b = binary.LittleEndian.AppendUint64(b, h.Seen)
	b = binary.LittleEndian.AppendUint64(b, h.Last)
	return binary.LittleEndian.AppendUint64(b, h.Incarnation)
}

// DecodeHello reads the body.
func DecodeHello(body []byte) (Hello, error) {
	r := link.NewReader("hello", body)
	h := Hello{Role: Role(r.U8("role")), Window: r.U32("window"), Seen: r.U64("life"), Last: r.U64("number"), Incarnation: r.U64("incarnation")}
	if h.Role > Client {
		r.Fail("unknown role %d", h.Role)
	}
	return h, r.End()
}

// AppendWelcome appends the body.
func AppendWelcome(b []byte, w *Welcome) []byte {
	b = binary.LittleEndian.AppendUint64(b, w.Last)
	b = binary.LittleEndian.AppendUint32(b, w.Window)
	return binary.LittleEndian.AppendUint64(b, w.Incarnation)
}

// DecodeWelcome reads the body.
func DecodeWelcome(body []byte) (Welcome, error) {
	r := link.NewReader("welcome", body)
	w := Welcome{Last: r.U64("number"), Window: r.U32("window"), Incarnation: r.U64("incarnation")}
	return w, r.End()
}
