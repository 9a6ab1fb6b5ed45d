// Package wire is how nodes of compiled systems talk: frames with a length, a
// type and a checksum over a byte stream, a handshake that says who is there,
// and links that reconnect.
//
// In: an env.Network, an address or a place to listen. Out: whole frames, in
// order, from peers that have said the right version, system and service and,
// where a secret is set, have proved to know it. Promised: bytes from outside
// never panic, never make a reader wait for ever, and take memory only as far
// as they were sent and frameMax allows. What is not promised: that a frame
// that was sent arrives. When a connection breaks, frames are lost, and who
// uses the link sends again what must not be.
//
// The secret authenticates peers at the time of connecting. It hides nothing,
// and an attacker in between who alters bytes later is not found out: for that
// there is TLS (env/osenv).
//
// docs/format/wire.md describes the bytes.
package wire

import (
	"fmt"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Version is the version of the protocol; peers must have the same.
const Version = 1

// Limits and defaults of Options.
const (
	FrameMaxDefault  = 16 << 20
	KeepAliveDefault = 2 * time.Second
	IdleDefault      = 3 * KeepAliveDefault
	RetryMinDefault  = 20 * time.Millisecond
	RetryMaxDefault  = 2 * time.Second
	PeersMaxDefault  = 1024
	// HandshakesMaxDefault bounds the connections of a server that have not
	// said who they are.
	HandshakesMaxDefault = 128
	// PartialMaxDefault bounds the bytes of unfinished frames on all
	// connections of a server, and FrameTimeDefault the time that one frame
	// may take.
	PartialMaxDefault = 256 << 20
	FrameTimeDefault  = time.Minute
	// SecretMin is the length of the shortest secret, in bytes.
	SecretMin = 16
)

// Options of clients and servers. Env, System and Node are needed.
type Options struct {
	Env env.Env
	// System is the name of the system; peers must have the same.
	System string
	// Node is this node's name, for people.
	Node string
	// Session is this life of the node: drawn at random where it is zero. A
	// peer takes a node with another session for one that has lost its memory.
	Session uint64
	// Secret, where given, is what peers must know.
	Secret []byte
	// FrameMax bounds the length of a frame, in bytes.
	FrameMax int
	// KeepAlive is the time after which a silent side says that it is there;
	// a connection on which nothing was heard for Idle is given up.
	KeepAlive, Idle time.Duration
	// RetryMin and RetryMax bound the wait before connecting again.
	RetryMin, RetryMax time.Duration
	// PeersMax bounds the connections of a server whose handshakes are done: one more
	// ends the newest of the host that has most of them. Beside those,
	// HandshakesMax may be shaking hands: one more ends the oldest of the host
	// that has most of them, so that strangers who say nothing keep no peer out.
	PeersMax, HandshakesMax int
	// PartialMax bounds the bytes of unfinished frames on all connections of a
	// server: what is more ends the connection that holds most. A frame that
	// is not finished after FrameTime ends its connection.
	PartialMax int
	FrameTime  time.Duration
	// Lock is held in every call to an owner, and by the owner in every call
	// to a Client, Server or Peer.
	Lock sync.Locker
}

// Complete fills in the defaults and checks.
func (o Options) Complete() (Options, error) {
	switch {
	case o.Env.Clock == nil || o.Env.Random == nil || o.Env.Network == nil:
		return o, fmt.Errorf("wire options: Env.Clock, Env.Random and Env.Network are needed")
	case o.System == "" || len(o.System) > nameMax:
		return o, fmt.Errorf("wire options: the name of the system must have 1 to %d bytes", nameMax)
	case o.Node == "" || len(o.Node) > nameMax:
		return o, fmt.Errorf("wire options: the name of the node must have 1 to %d bytes", nameMax)
	case len(o.Secret) > 0 && len(o.Secret) < SecretMin:
		return o, fmt.Errorf("wire options: a secret of %d bytes is too short; it needs %d", len(o.Secret), SecretMin)
	}
	for o.Session == 0 {
		o.Session = o.Env.Random.Uint64()
	}
	or(&o.FrameMax, FrameMaxDefault)
	or(&o.KeepAlive, KeepAliveDefault)
	or(&o.Idle, max(IdleDefault, 3*o.KeepAlive))
	or(&o.RetryMin, RetryMinDefault)
	or(&o.RetryMax, max(RetryMaxDefault, o.RetryMin))
	or(&o.PeersMax, PeersMaxDefault)
	or(&o.HandshakesMax, min(HandshakesMaxDefault, o.PeersMax))
	or(&o.PartialMax, max(PartialMaxDefault, 2*o.FrameMax))
	or(&o.FrameTime, max(FrameTimeDefault, o.Idle))
	if o.FrameMax < helloMax || o.KeepAlive <= 0 || o.Idle < o.KeepAlive || o.RetryMin <= 0 || o.RetryMax < o.RetryMin || o.PeersMax < 1 ||
		o.HandshakesMax < 1 || o.PartialMax < o.FrameMax || o.FrameTime < o.KeepAlive {
		return o, fmt.Errorf("wire options: FrameMax %d, KeepAlive %v, Idle %v, RetryMin %v, RetryMax %v, PeersMax %d, HandshakesMax %d, PartialMax %d, FrameTime %v do not fit together",
			o.FrameMax, o.KeepAlive, o.Idle, o.RetryMin, o.RetryMax, o.PeersMax, o.HandshakesMax, o.PartialMax, o.FrameTime)
	}
	return o, nil
}

func or[T comparable](x *T, def T) {
	var zero T
	if *x == zero {
		*x = def
	}
}
