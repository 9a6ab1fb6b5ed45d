package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

const (
	nameMax   = 255
	helloMax  = 4 << 10 // before a peer is known it may send no longer frame
	rejectMax = 1 << 10
	nonceLen  = 16
)

// magic begins every hello, so that a stranger's bytes are told from a
// newer peer's.
const magic = "ashlar/wire"

// Hello is what a peer says of itself.
type Hello struct {
	System  string
	Service string // what the link is for
	Node    string
	Session uint64
	nonce   [nonceLen]byte
	proof   bool // it wants, and gives, proof of the secret
	raw     []byte
}

func (o *Options) hello(service string) Hello {
	h := Hello{System: o.System, Service: service, Node: o.Node, Session: o.Session, proof: len(o.Secret) > 0}
	for i := 0; i < nonceLen; i += 8 {
		binary.LittleEndian.PutUint64(h.nonce[i:], o.Env.Random.Uint64())
	}
	b := append([]byte(nil), magic...)
	b = binary.AppendUvarint(b, Version)
	b = AppendString(b, h.System)
	b = AppendString(b, h.Service)
	b = AppendString(b, h.Node)
	b = binary.AppendUvarint(b, h.Session)
	b = append(b, h.nonce[:]...)
	if h.proof {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	h.raw = b
	return h
}

// parseHello reads a hello. A version that is not ours is an error of its own
// kind, as the rest cannot be read then.
func parseHello(b []byte) (Hello, error) {
	h := Hello{raw: append([]byte(nil), b...)}
	r := NewReader(b)
	if string(r.Bytes("magic", len(magic))) != magic {
		return h, Malformed("not a peer of this kind")
	}
	if v := r.Uvarint("version"); r.Err == nil && v != Version {
		return h, &RejectError{Reason: fmt.Sprintf("protocol version %d, want %d", v, Version)}
	}
	h.System = r.String("system", nameMax)
	h.Service = r.String("service", nameMax)
	h.Node = r.String("node", nameMax)
	h.Session = r.Uvarint("session")
	copy(h.nonce[:], r.Bytes("nonce", nonceLen))
	if flag := r.Bytes("flags", 1); r.Err == nil {
		if flag[0] > 1 {
			return h, Malformed("flags %#x", flag[0])
		}
		h.proof = flag[0] == 1
	}
	return h, r.End()
}

// RejectError states why two peers do not talk.
type RejectError struct {
	Reason string
	Remote bool // the peer said so, not we
}

func (e *RejectError) Error() string {
	if e.Remote {
		return "rejected by the peer: " + e.Reason
	}
	return "peer rejected: " + e.Reason
}

// compare says why we do not talk to a peer with that hello.
func (h Hello) compare(peer Hello) error {
	switch {
	case peer.System != h.System:
		return &RejectError{Reason: fmt.Sprintf("system %q, want %q", peer.System, h.System)}
	case peer.Service != h.Service:
		return &RejectError{Reason: fmt.Sprintf("service %q, want %q", peer.Service, h.Service)}
	case peer.proof && !h.proof:
		return &RejectError{Reason: "the peer wants a secret and none is set here"}
	case !peer.proof && h.proof:
		return &RejectError{Reason: "a secret is set here and the peer has none"}
	}
	return nil
}

// prove is the proof of the secret that one side gives: bound to both hellos,
// so to both nonces, and to the side.
func prove(secret []byte, side string, dialler, listener Hello) []byte {
	m := hmac.New(sha256.New, secret)
	for _, part := range [][]byte{[]byte(side), dialler.raw, listener.raw} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		m.Write(n[:])
		m.Write(part)
	}
	return m.Sum(nil)
}

const (
	sideDialler  = "dialler"
	sideListener = "listener"
)
