// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Hello is the first message of the connecting peer.
type Hello struct {
	// Version is the highest version of the protocol that the sender speaks.
	Version uint16
	// Peer reports that the sender is a server.
	Peer bool
	// Cluster is wor.Genesis.Cluster.
	Cluster uint64
	// From is the client's nonce, or the ServerID of a peer.
	From uint64
	// To is the server that the sender wants to reach.
	To wor.ServerID
	// Generation and Position are the furthest at which the sender has seen
	// that server, or zeros if it has not seen it.
	Generation, Position uint64
	// Challenge is what the server must sign to prove its identity, or zeros if
	// the sender does not ask for that.
	Challenge Challenge
}

// Challenge is random bytes.
type Challenge [16]byte

// Unwelcomed is the prefix of a client's error for a connection that ended
// before the server had sent anything. The server then speaks another protocol,
// perhaps TLS.
const Unwelcomed = "it ended the connection instead of welcoming this client"

// Welcome is the server's answer to a Hello. If it is a refusal, the server
// ends the connection after it.
type Welcome struct {
	// Version is the version of the protocol for the rest of the connection. In
	// a refusal, it is the highest version that the server speaks.
	Version uint16
	// Refusal is RefusalNone for a welcome.
	Refusal Refusal
	Cluster uint64
	Server  wor.ServerID
	// Generation and Position are those of the server.
	Generation, Position uint64
	// Proof is the answer to Hello.Challenge, of ProofLen bytes: the server's public
	// key and a signature. It is nil in a refusal, and if there was no challenge.
	Proof []byte
	// Text is the reason of a refusal, for people. It is cut to TextMax bytes.
	Text string
}

// ProofLen is the length of Welcome.Proof.
const ProofLen = 32 + 64

// Refusal is the reason why a server refuses a peer.
type Refusal uint8

// The refusals. Later versions may have others.
const (
	RefusalNone     Refusal = iota
	RefusalVersion          // no version in common
	RefusalCluster          // another cluster
	RefusalServer           // another server is here
	RefusalFull             // no room for a connection
	RefusalClosing          // it is about to end
	RefusalBehind           // its disk is older than what the sender, or a member, has seen of it
	RefusalRestored         // the cluster was restored from a backup under another number
)

var refusalNames = [...]string{
	RefusalNone: "none", RefusalVersion: "version", RefusalCluster: "cluster", RefusalServer: "server",
	RefusalFull: "full", RefusalClosing: "closing", RefusalBehind: "behind", RefusalRestored: "restored",
}

func (r Refusal) String() string {
	if int(r) < len(refusalNames) {
		return refusalNames[r]
	}
	return fmt.Sprintf("refusal(%d)", uint8(r))
}

// Code is the outcome of an Invoke.
type Code uint8

// The codes. Any other code means CodeFailed.
const (
	CodeOK      Code = iota // the payload is the answer
	CodeBusy                // not done, for want of room
	CodeExpired             // not done: its time was over
	CodeUnknown             // not done: there is no such service
	CodeLimit               // not done: a limit, which the payload names as text
	CodeFailed              // what was done is not known; the payload is a text
)

var codeNames = [...]string{
	CodeOK: "ok", CodeBusy: "busy", CodeExpired: "expired", CodeUnknown: "unknown", CodeLimit: "limit", CodeFailed: "failed",
}

func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code(%d)", uint8(c))
}

// The flags of a hello, and the flag in a welcome's refusal byte.
const (
	helloPeer      = 1
	helloChallenge = 2
	welcomeProof   = 128
)

// Hello adds a hello.
func (e *Encoder) Hello(h *Hello) {
	e.begin(TypeHello)
	flags := byte(0)
	if h.Peer {
		flags = helloPeer
	}
	if h.Challenge != (Challenge{}) {
		flags |= helloChallenge
	}
	le := binary.LittleEndian
	b := append(le.AppendUint16(e.buf, h.Version), flags)
	b = le.AppendUint64(b, h.Cluster)
	b = le.AppendUint64(b, h.From)
	b = le.AppendUint64(b, uint64(h.To))
	b = le.AppendUint64(b, h.Generation)
	b = le.AppendUint64(b, h.Position)
	if h.Challenge != (Challenge{}) {
		b = append(b, h.Challenge[:]...)
	}
	e.buf = b
	e.seal()
}

// DecodeHello decodes the payload of a TypeHello. It ignores what a later
// version may append. A challenge has the same meaning in all versions, because
// a client of a later version must also be able to distinguish the server from
// an impostor.
func DecodeHello(payload []byte, h *Hello) error {
	r := reader{b: payload}
	*h = Hello{Version: r.u16()}
	flags := r.u8()
	h.Cluster, h.From, h.To = r.u64(), r.u64(), wor.ServerID(r.u64())
	h.Generation, h.Position = r.u64(), r.u64()
	h.Peer = flags&helloPeer != 0
	if flags&helloChallenge != 0 {
		copy(h.Challenge[:], r.some(len(h.Challenge)))
	}
	switch {
	case h.Version > Version:
		r.b = nil
	case flags > helloPeer|helloChallenge:
		r.fail("unknown flags")
	case flags&helloChallenge != 0 && h.Challenge == (Challenge{}):
		r.fail("an empty challenge")
	}
	return r.end(TypeHello)
}

// Welcome adds a welcome or a refusal.
func (e *Encoder) Welcome(w *Welcome) {
	e.begin(TypeWelcome)
	le := binary.LittleEndian
	refusal := byte(w.Refusal)
	if w.Proof != nil {
		refusal |= welcomeProof
	}
	b := append(le.AppendUint16(e.buf, w.Version), refusal)
	b = le.AppendUint64(b, w.Cluster)
	b = le.AppendUint64(b, uint64(w.Server))
	b = le.AppendUint64(b, w.Generation)
	b = append(le.AppendUint64(b, w.Position), w.Proof...)
	e.buf = append(b, w.Text[:min(len(w.Text), TextMax)]...)
	e.seal()
}

// DecodeWelcome decodes the payload of a TypeWelcome. The result does not share
// the payload's memory.
func DecodeWelcome(payload []byte, w *Welcome) error {
	r := reader{b: payload}
	*w = Welcome{Version: r.u16()}
	refusal := r.u8()
	w.Refusal = Refusal(refusal &^ welcomeProof)
	w.Cluster, w.Server = r.u64(), wor.ServerID(r.u64())
	w.Generation, w.Position = r.u64(), r.u64()
	if refusal&welcomeProof != 0 {
		w.Proof = bytes.Clone(r.some(ProofLen))
	}
	text := r.tail()
	if len(text) > TextMax {
		r.fail("a text of more than TextMax bytes")
	} else {
		w.Text = string(text)
	}
	return r.end(TypeWelcome)
}

// Note adds a note for the subscription that the request with that id began. It
// does not retain n.
func (e *Encoder) Note(id uint64, n *wor.Note) error {
	e.begin(TypeNote)
	b := binary.LittleEndian.AppendUint64(e.buf, id)
	b = appendUvarint(b, n.Number)
	b = appendUvarint(b, uint64(n.Partition))
	b = appendUvarint(b, uint64(n.Epoch))
	b = appendUvarint(b, uint64(n.Addr.Segment))
	b = appendUvarint(b, uint64(n.Addr.Offset))
	b = appendBallot(b, n.Ballot)
	e.buf = append(b, n.Value...)
	return e.finish()
}

// DecodeNote decodes the payload of a TypeNote into n and overwrites all of n.
// n.Value refers to the payload.
func DecodeNote(payload []byte, n *wor.Note) (id uint64, err error) {
	r := reader{b: payload}
	id = r.u64()
	*n = wor.Note{Number: r.uvarint(), Partition: wor.Partition(r.uvarint32()), Epoch: wor.Epoch(r.uvarint32())}
	n.Addr = wor.Addr{Segment: wor.Segment(r.uvarint()), Offset: r.uvarint32()}
	n.Ballot = r.ballot()
	n.Value = r.tail()
	return id, r.end(TypeNote)
}

// Invoke adds a call of a service. id and budget are as in Request, with ids of
// the same sequence. The payload may have at most PayloadMax bytes, and is not
// retained.
func (e *Encoder) Invoke(id uint64, budget time.Duration, s wor.Service, payload []byte) error {
	if err := checkPayload(payload); err != nil {
		return err
	}
	e.begin(TypeInvoke)
	b := binary.LittleEndian.AppendUint64(e.buf, id)
	b = appendUvarint(b, micros(budget))
	b = binary.LittleEndian.AppendUint16(b, uint16(s))
	e.buf = append(b, payload...)
	return e.finish()
}

func checkPayload(payload []byte) error {
	if len(payload) > PayloadMax {
		return &wor.LimitError{Name: "PayloadMax", Limit: PayloadMax, Got: int64(len(payload))}
	}
	return nil
}

// DecodeInvoke decodes the payload of a TypeInvoke. The returned payload refers
// to it.
func DecodeInvoke(frame []byte) (id uint64, budget time.Duration, s wor.Service, payload []byte, err error) {
	r := reader{b: frame}
	id, budget, s = r.u64(), r.budget(), wor.Service(r.u16())
	payload = r.payload()
	return id, budget, s, payload, r.end(TypeInvoke)
}

// payload returns the rest of the bytes, within the limit.
func (r *reader) payload() []byte {
	if len(r.b) > PayloadMax {
		r.fail("a payload of more than PayloadMax bytes")
	}
	return r.tail()
}

// Answer adds the answer to the Invoke with that id. The payload may have at
// most PayloadMax bytes, and is not retained.
func (e *Encoder) Answer(id uint64, c Code, payload []byte) error {
	if err := checkPayload(payload); err != nil {
		return err
	}
	e.begin(TypeAnswer)
	b := append(binary.LittleEndian.AppendUint64(e.buf, id), byte(c))
	e.buf = append(b, payload...)
	return e.finish()
}

// DecodeAnswer decodes the payload of a TypeAnswer. The returned payload refers
// to it.
func DecodeAnswer(frame []byte) (id uint64, c Code, payload []byte, err error) {
	r := reader{b: frame}
	id, c = r.u64(), Code(r.u8())
	payload = r.payload()
	return id, c, payload, r.end(TypeAnswer)
}

// Ping adds a ping, which asks whether the other side is alive. The Pong
// returns its token.
func (e *Encoder) Ping(token uint64) { e.token(TypePing, token) }

// Pong adds the answer to a Ping.
func (e *Encoder) Pong(token uint64) { e.token(TypePong, token) }

func (e *Encoder) token(t Type, token uint64) {
	e.begin(t)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, token)
	e.seal()
}

// DecodePing decodes the payload of a TypePing or a TypePong.
func DecodePing(payload []byte) (token uint64, err error) {
	r := reader{b: payload}
	token = r.u64()
	return token, r.end(TypePing)
}
