package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Version is the version of what is said. The length, the type and the checksum of a
// frame, and the magic and the version that a Hello begins with, mean the same in
// every version.
const Version = 1

// magic begins a Hello: it distinguishes peers that speak another protocol at
// once.
const magic = "ASHLDED\n"

// Nonce is drawn by one side of a connection, so that no proof is good for another.
type Nonce [16]byte

// Proof shows that who gives it has the key; see Prove.
type Proof [sha256.Size]byte

// Role is the role of a connecting peer.
type Role uint8

// The roles.
const (
	Instance Role = iota // of the program: sends messages
	Client               // from outside: sends inputs, is sent outputs
)

// Hello is the first message of the connecting peer.
type Hello struct {
	// Version is the sender's.
	Version uint16
	Role    Role
	// Program is rt.Program.Hash.
	Program uint64
	// Life tells the lives of one node apart: it is drawn when the sender starts.
	Life uint64
	// Window is how many bytes of batches that are not acknowledged the sender takes.
	Window uint32
	// Last is the number of the last batch that came to the sender from the life Seen
	// of the other side; zeros when none did.
	Seen, Last uint64
	// Incarnation is that of the logical node that the sender is a piece of; 0 where it
	// is the whole of it, or does not know.
	Incarnation uint64
	Nonce       Nonce
	// From is the sender's node, To the one that it wants to talk to.
	From, To string
}

// Welcome is the answer to a Hello.
type Welcome struct {
	// Life is the answerer's.
	Life uint64
	// Last is the number of the last batch that came from this life of the sender;
	// 0 when none did.
	Last uint64
	// Window is how many bytes of batches that are not acknowledged the answerer takes.
	Window uint32
	// Incarnation is as in Hello.
	Incarnation uint64
	Nonce       Nonce
	// Proof is the answerer's, or zeros where it has no key.
	Proof Proof
}

// RefusalCode is why a connection ends.
type RefusalCode uint8

// The codes. Others come from later versions.
const (
	RefusalVersion RefusalCode = iota + 1 // another version
	RefusalProgram                        // another program
	RefusalNode                           // another node is here
	RefusalName                           // the sender may not be called so
	RefusalKey                            // the sender has not shown that it has the key
	RefusalFull                           // no room for a client
	RefusalClosing                        // about to end
	RefusalMessage                        // it has sent what is no message here
	RefusalTaken                          // somebody newer has the same name
	RefusalOld                            // the sender is of an older incarnation of the same logical node
)

var refusalNames = [...]string{
	RefusalVersion: "version", RefusalProgram: "program", RefusalNode: "node", RefusalName: "name", RefusalKey: "key",
	RefusalFull: "full", RefusalClosing: "closing", RefusalMessage: "message", RefusalTaken: "taken", RefusalOld: "old",
}

func (c RefusalCode) String() string {
	if c > 0 && int(c) < len(refusalNames) {
		return refusalNames[c]
	}
	return fmt.Sprintf("refusal(%d)", uint8(c))
}

// Refusal ends a connection. Text is for people; of more than TextMax bytes the
// beginning is sent.
type Refusal struct {
	Code RefusalCode
	Text string
}

// Error is what the other side has said.
func (r *Refusal) Error() string { return fmt.Sprintf("refused: %s (%v)", r.Text, r.Code) }

const (
	helloFixed   = len(magic) + 2 + 1 + 8 + 8 + 4 + 8 + 8 + 8 + len(Nonce{})
	welcomeFixed = 8 + 8 + 4 + 8 + len(Nonce{}) + len(Proof{})
)

// AppendHello appends the frame. Names are at most NodeMax bytes long.
func AppendHello(b []byte, h *Hello) []byte {
	start := len(b)
	b = append(begin(b, TypeHello), magic...)
	b = binary.LittleEndian.AppendUint16(b, h.Version)
	b = append(b, byte(h.Role))
	b = binary.LittleEndian.AppendUint64(b, h.Program)
	b = binary.LittleEndian.AppendUint64(b, h.Life)
	b = binary.LittleEndian.AppendUint32(b, h.Window)
	b = binary.LittleEndian.AppendUint64(b, h.Seen)
	b = binary.LittleEndian.AppendUint64(b, h.Last)
	b = binary.LittleEndian.AppendUint64(b, h.Incarnation)
	b = append(b, h.Nonce[:]...)
	for _, name := range []string{h.From, h.To} {
		b = append(append(b, byte(len(name))), name...)
	}
	return seal(b, start)
}

// DecodeHello reads a Hello. Of one of another version only Version is read.
func DecodeHello(p []byte) (Hello, error) {
	var h Hello
	if len(p) < len(magic)+2 || string(p[:len(magic)]) != magic {
		return h, bad(TypeHello, "it does not begin with %q", magic)
	}
	h.Version = binary.LittleEndian.Uint16(p[len(magic):])
	if h.Version != Version {
		return h, nil
	}
	if len(p) < helloFixed {
		return h, bad(TypeHello, "%d bytes", len(p))
	}
	p = p[len(magic)+2:]
	h.Role = Role(p[0])
	h.Program = binary.LittleEndian.Uint64(p[1:])
	h.Life = binary.LittleEndian.Uint64(p[9:])
	h.Window = binary.LittleEndian.Uint32(p[17:])
	h.Seen = binary.LittleEndian.Uint64(p[21:])
	h.Last = binary.LittleEndian.Uint64(p[29:])
	h.Incarnation = binary.LittleEndian.Uint64(p[37:])
	p = p[45:]
	p = p[copy(h.Nonce[:], p):]
	for _, name := range []*string{&h.From, &h.To} {
		if len(p) < 1 || len(p) < 1+int(p[0]) {
			return h, bad(TypeHello, "a name that is cut off")
		}
		*name, p = string(p[1:1+int(p[0])]), p[1+int(p[0]):]
	}
	switch {
	case len(p) > 0:
		return h, bad(TypeHello, "%d bytes too many", len(p))
	case h.Role > Client:
		return h, bad(TypeHello, "unknown role %d", h.Role)
	}
	return h, nil
}

// AppendWelcome appends the frame.
func AppendWelcome(b []byte, w *Welcome) []byte {
	start := len(b)
	b = begin(b, TypeWelcome)
	b = binary.LittleEndian.AppendUint64(b, w.Life)
	b = binary.LittleEndian.AppendUint64(b, w.Last)
	b = binary.LittleEndian.AppendUint32(b, w.Window)
	b = binary.LittleEndian.AppendUint64(b, w.Incarnation)
	b = append(b, w.Nonce[:]...)
	b = append(b, w.Proof[:]...)
	return seal(b, start)
}

// DecodeWelcome reads a Welcome.
func DecodeWelcome(p []byte) (Welcome, error) {
	var w Welcome
	if len(p) != welcomeFixed {
		return w, bad(TypeWelcome, "%d bytes", len(p))
	}
	w.Life = binary.LittleEndian.Uint64(p)
	w.Last = binary.LittleEndian.Uint64(p[8:])
	w.Window = binary.LittleEndian.Uint32(p[16:])
	w.Incarnation = binary.LittleEndian.Uint64(p[20:])
	p = p[28:]
	p = p[copy(w.Nonce[:], p):]
	copy(w.Proof[:], p)
	return w, nil
}

// AppendProof appends the frame.
func AppendProof(b []byte, p Proof) []byte {
	start := len(b)
	return seal(append(begin(b, TypeProof), p[:]...), start)
}

// DecodeProof reads a Proof.
func DecodeProof(b []byte) (Proof, error) {
	var p Proof
	if len(b) != len(p) {
		return p, bad(TypeProof, "%d bytes", len(b))
	}
	copy(p[:], b)
	return p, nil
}

// AppendRefusal appends the frame.
func AppendRefusal(b []byte, r *Refusal) []byte {
	start := len(b)
	b = append(begin(b, TypeRefusal), byte(r.Code))
	return seal(append(b, r.Text[:min(len(r.Text), TextMax)]...), start)
}

// DecodeRefusal reads a Refusal.
func DecodeRefusal(p []byte) (*Refusal, error) {
	if len(p) < 1 || len(p) > 1+TextMax {
		return nil, bad(TypeRefusal, "%d bytes", len(p))
	}
	return &Refusal{Code: RefusalCode(p[0]), Text: string(p[1:])}, nil
}

// Prove makes the proof of one side of a connection: of the one that has dialled,
// or of the one that has answered with w. It is bound to both nonces, both names and
// both lives, so that it can be used nowhere else. Without a key it is zeros.
func Prove(key []byte, dialled bool, h *Hello, w *Welcome) Proof {
	var p Proof
	if len(key) == 0 {
		return p
	}
	m := hmac.New(sha256.New, key)
	side := byte('a')
	if dialled {
		side = 'd'
	}
	m.Write([]byte{side})
	m.Write(h.Nonce[:])
	m.Write(w.Nonce[:])
	m.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, w.Life), w.Incarnation))
	m.Write(AppendHello(nil, h))
	m.Sum(p[:0])
	return p
}

// Same reports whether two proofs are equal, in a time that does not tell where they
// differ.
func (p Proof) Same(q Proof) bool { return hmac.Equal(p[:], q[:]) }
