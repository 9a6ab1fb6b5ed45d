// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Limits on what a handshake says, in bytes.
const (
	// NameMax is the longest name of a service, a system or a node.
	NameMax = 255
	// BodyMax is the longest body of a hello or a welcome.
	BodyMax = 512
	// TextMax is the longest text of a refusal; longer ones are cut.
	TextMax = 512
	// KeyMin is the length of the shortest key.
	KeyMin = 16
)

// magic begins every hello, so that the bytes of other protocols are distinguished from
// those of a newer peer.
const magic = "ASHLINK\n"

const (
	nonceLen = 16
	proofLen = sha256.Size
	// proofAt is where the proof is in the payload of a welcome.
	proofAt = 8 + nonceLen
	// keyed is the flag of a hello whose sender has the key.
	keyed = 1
)

// Hello is what one side of a connection says of itself: that which has dialled
// in its hello, the other one in its welcome.
type Hello struct {
	// Node is the side's name.
	Node string
	// To is the node that a hello is meant for; empty means any.
	To string
	// Life distinguishes two lives of a node. It is never 0.
	Life uint64
	// Keyed reports that the side has the key, which it has proved when the
	// Session is up.
	Keyed bool
	// Body is the service's own.
	Body []byte

	service, system string
}

func appendHello(b []byte, h *Hello, nonce []byte) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, magic...), Version)
	flags := byte(0)
	if h.Keyed {
		flags = keyed
	}
	b = binary.LittleEndian.AppendUint64(append(b, flags), h.Life)
	b = append(b, nonce...)
	for _, name := range []string{h.service, h.system, h.Node, h.To} {
		b = append(append(b, byte(len(name))), name...)
	}
	return append(b, h.Body...)
}

// readName reads a byte with a length, and so many bytes.
func readName(r *Reader, field string) string { return string(r.Bytes(field, int(r.U8(field)))) }

// readBody reads the rest.
func readBody(r *Reader) []byte {
	if len(r.Rest()) > BodyMax {
		r.Fail("a body of %d bytes, limit is %d", len(r.Rest()), BodyMax)
	}
	body := bytes.Clone(r.Rest())
	r.Skip(nil)
	return body
}

// decodeHello reads the payload of a hello. A hello of another version is a
// *Refusal, as the rest cannot be read then.
func decodeHello(payload []byte) (Hello, error) {
	r := NewReader("hello", payload)
	if !bytes.HasPrefix(payload, []byte(magic)) {
		return Hello{}, Malformed("hello", "it does not begin with %q", magic)
	}
	r.Bytes("magic", len(magic))
	if v := r.U16("version"); r.Err == nil && v != Version {
		return Hello{}, &Refusal{Code: RefusalVersion, Text: fmt.Sprintf("version %d is spoken here, and the peer speaks %d", Version, v)}
	}
	flags := r.U8("flags")
	if flags > keyed {
		r.Fail("flags %#x", flags)
	}
	h := Hello{Keyed: flags == keyed, Life: r.U64("life")}
	r.Bytes("nonce", nonceLen)
	h.service, h.system = readName(r, "service"), readName(r, "system")
	h.Node, h.To = readName(r, "node"), readName(r, "node that is meant")
	h.Body = readBody(r)
	if r.Err == nil && (h.Life == 0 || h.Node == "") {
		r.Fail("a name and a life are needed")
	}
	return h, r.End()
}

// appendWelcome leaves the proof empty.
func appendWelcome(b []byte, h *Hello, nonce []byte) []byte {
	b = append(binary.LittleEndian.AppendUint64(b, h.Life), nonce...)
	b = append(b, make([]byte, proofLen)...)
	b = append(append(b, byte(len(h.Node))), h.Node...)
	return append(b, h.Body...)
}

// decodeWelcome reads the payload of a welcome, and returns its proof, too.
func decodeWelcome(payload []byte) (h Hello, proof []byte, err error) {
	r := NewReader("welcome", payload)
	h = Hello{Life: r.U64("life")}
	r.Bytes("nonce", nonceLen)
	proof = r.Bytes("proof", proofLen)
	h.Node = readName(r, "node")
	h.Body = readBody(r)
	if r.Err == nil && h.Life == 0 {
		r.Fail("a life is needed")
	}
	return h, proof, r.End()
}

// side says whose proof it is.
type side byte

const (
	dialler  side = 'd'
	listener side = 'l'
)

// prove makes the proof of one side: bound to the side and to all that both
// sides have said, so to both nonces, names and lives. It is good nowhere else.
// The welcome is taken without the proof in it.
func prove(key []byte, s side, hello, welcome []byte) []byte {
	m := hmac.New(sha256.New, key)
	write := func(part []byte) {
		m.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		m.Write(part)
	}
	write([]byte{byte(s)})
	write(hello)
	bare := bytes.Clone(welcome)
	clear(bare[proofAt : proofAt+proofLen])
	write(bare)
	return m.Sum(nil)
}

// Code is why a connection ends.
type Code uint8

// The codes. Those from RefusalService on belong to the services; others come
// from later versions.
const (
	RefusalVersion Code = iota + 1 // another version
	RefusalSystem                  // another service or system
	RefusalNode                    // another node is here
	RefusalName                    // the peer may not be called so
	RefusalKey                     // the peer has not shown that it knows the key, or a key is wanted where none is
	RefusalFull                    // no room
	RefusalClosing                 // about to end
	RefusalMessage                 // what was sent breaks a rule
	RefusalTaken                   // a newer connection has the same name
	RefusalService Code = 64
)

var codeNames = [...]string{
	RefusalVersion: "version", RefusalSystem: "system", RefusalNode: "node", RefusalName: "name", RefusalKey: "key",
	RefusalFull: "full", RefusalClosing: "closing", RefusalMessage: "message", RefusalTaken: "taken",
}

func (c Code) String() string {
	if c > 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Refusal is an error that ends a connection and is sent to the other side.
type Refusal struct {
	Code Code
	// Text is for people.
	Text string
	// Remote reports that the other side said so.
	Remote bool
}

func (r *Refusal) Error() string {
	if r.Remote {
		return fmt.Sprintf("refused by the peer: %q (%v)", r.Text, r.Code)
	}
	return fmt.Sprintf("peer refused: %s (%v)", r.Text, r.Code)
}

func appendRefusal(b []byte, r *Refusal) []byte {
	b = append(b, byte(r.Code))
	return append(b, r.Text[:min(len(r.Text), TextMax)]...)
}

func decodeRefusal(payload []byte) (*Refusal, error) {
	if len(payload) < 1 || len(payload) > 1+TextMax {
		return nil, Malformed("refusal", "%d bytes", len(payload))
	}
	return &Refusal{Code: Code(payload[0]), Text: string(payload[1:]), Remote: true}, nil
}
