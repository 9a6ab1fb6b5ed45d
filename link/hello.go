// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Limits on the fields of a handshake, in bytes.
const (
	// NameMax is the maximum length of the name of a service, a system or a
	// node.
	NameMax = 255
	// BodyMax is the maximum length of the body of a hello or a welcome.
	BodyMax = 512
	// TextMax is the maximum length of the text of a refusal; a longer text is
	// cut.
	TextMax = 512
	// KeyMin is the minimum length of a key.
	KeyMin = 16
)

// magic begins every hello. It distinguishes a peer with a newer version from bytes of
// another protocol.
const magic = "ASHLINK\n"

const (
	nonceLen = 16
	proofLen = sha256.Size
	// proofAt is the offset of the proof in the payload of a welcome.
	proofAt = 8 + nonceLen
	// keyed is the flag in a hello that says that the sender has the key.
	keyed = 1
)

// Hello describes one side of a connection. The dialler sends it in its hello,
// the listener in its welcome.
type Hello struct {
	// Node is the side's name.
	Node string
	// To is the node for which a hello is meant; empty means any.
	To string
	// Life distinguishes two lives of a node. It is never 0.
	Life uint64
	// Keyed reports that the side claims to have the key. The claim is proved
	// once the Session is up.
	Keyed bool
	// Body is defined by the service.
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

// readName reads a length in one byte and that many bytes.
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

// decodeHello reads the payload of a hello. For a hello of another version it
// returns a *Refusal, because it cannot interpret the rest.
func decodeHello(payload []byte) (Hello, error) {
	r := NewReader("hello", payload)
	if !bytes.HasPrefix(payload, []byte(magic)) {
		return Hello{}, Malformed("hello", "it must begin with %q", magic)
	}
	r.Bytes("magic", len(magic))
	if v := r.U16("version"); r.Err == nil && v != Version {
		return Hello{}, &Refusal{Code: RefusalVersion, Text: fmt.Sprintf("this program speaks version %d, the peer speaks version %d", Version, v)}
	}
	flags := r.U8("flags")
	if flags > keyed {
		r.Fail("flags %#x", flags)
	}
	h := Hello{Keyed: flags == keyed, Life: r.U64("life")}
	r.Bytes("nonce", nonceLen)
	h.service, h.system = readName(r, "service"), readName(r, "system")
	h.Node, h.To = readName(r, "node"), readName(r, "destination node")
	h.Body = readBody(r)
	if r.Err == nil && (h.Life == 0 || h.Node == "") {
		r.Fail("the name and the life must be set")
	}
	return h, r.End()
}

// appendWelcome leaves room for the proof.
func appendWelcome(b []byte, h *Hello, nonce []byte) []byte {
	b = append(binary.LittleEndian.AppendUint64(b, h.Life), nonce...)
	b = append(b, make([]byte, proofLen)...)
	b = append(append(b, byte(len(h.Node))), h.Node...)
	return append(b, h.Body...)
}

// decodeWelcome reads the payload of a welcome and also returns its proof.
func decodeWelcome(payload []byte) (h Hello, proof []byte, err error) {
	r := NewReader("welcome", payload)
	h = Hello{Life: r.U64("life")}
	r.Bytes("nonce", nonceLen)
	proof = r.Bytes("proof", proofLen)
	h.Node = readName(r, "node")
	h.Body = readBody(r)
	if r.Err == nil && h.Life == 0 {
		r.Fail("the life must be set")
	}
	return h, proof, r.End()
}

// side identifies the side that makes a proof.
type side byte

const (
	dialler  side = 'd'
	listener side = 'l'
)

// prove computes the proof of one side. It covers the side and everything that
// both sides have sent, including both nonces, names and lives, so it is valid
// for this handshake only. The proof field of the welcome is not covered.
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

// Code is the reason for which a connection ends.
type Code uint8

// The codes. Services define those from RefusalService on; later versions
// define others.
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
	// Text explains the refusal to people.
	Text string
	// Remote reports that the other side sent the refusal.
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
