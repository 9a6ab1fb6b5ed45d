// SPDX-License-Identifier: Apache-2.0

package link

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Defaults of Options.
const (
	FrameMaxDefault    = 16 << 20
	PingAfterDefault   = time.Second
	DeadAfterDefault   = 4 * time.Second
	HelloWithinDefault = 10 * time.Second
	FrameWithinDefault = 30 * time.Second
	BackoffMinDefault  = 20 * time.Millisecond
	BackoffMaxDefault  = 2 * time.Second
	ConnsMaxDefault    = 1024
	StrangersDefault   = 128
	PartialMaxDefault  = 256 << 20
)

// Options identify one side and set its limits. Env, System and Node are
// required; Complete fills in the defaults.
type Options struct {
	// Env is the world: Clock, Random and Network.
	Env env.Env
	// Service is the purpose of the connections, and System the system to which
	// they belong. Both sides of a connection must agree on them.
	Service, System string
	// Node is this side's name.
	Node string
	// Life identifies this life of the node; if it is zero, Complete draws it
	// at random. A peer concludes from a new Life that the node has lost its
	// memory.
	Life uint64
	// Key, if set, is a secret that the peers must know.
	Key []byte
	// Guests reports that sides without the key may also connect; the service
	// then checks Hello.Keyed.
	Guests bool
	// FrameMax bounds the length of a frame, in bytes.
	FrameMax int
	// The dialler sends a ping every PingAfter. Either side closes a connection
	// that has been silent for DeadAfter.
	PingAfter, DeadAfter time.Duration
	// HelloWithin bounds the duration of a handshake, and FrameWithin that of a
	// frame from its first byte to its last.
	HelloWithin, FrameWithin time.Duration
	// BackoffMin and BackoffMax bound the wait before a Client connects again.
	BackoffMin, BackoffMax time.Duration
	// ConnsMax bounds the incoming connections whose handshake is over. One more
	// ends the newest of the host that has most. In addition, at most
	// StrangersMax connections may be in their handshake, at most
	// StrangersHostMax of them from one host. One more ends the oldest of that
	// host, or of the host that has most.
	ConnsMax, StrangersMax, StrangersHostMax int
	// PartialMax bounds the total bytes of unfinished frames longer than 64 KiB.
	// If they exceed it, the host that has most loses the connection with its
	// longest unfinished frame.
	PartialMax int
	// Lock guards the Clients and Servers. They hold it during every call to
	// the owner, and the owner must hold it during every call to a Client,
	// Server or Conn. Sessions do not use it.
	Lock sync.Locker

	dice *dice
}

// dice draws nonces for several goroutines.
type dice struct {
	mu     sync.Mutex
	random env.Random
}

func (d *dice) nonce() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, nonceLen), d.random.Uint64())
	return binary.LittleEndian.AppendUint64(b, d.random.Uint64())
}

// Complete fills in the defaults and validates the options.
func (o Options) Complete() (Options, error) {
	bad := func(format string, args ...any) (Options, error) {
		return o, fmt.Errorf("link options: "+format, args...)
	}
	if o.Env.Clock == nil || o.Env.Random == nil || o.Env.Network == nil {
		return bad("Env.Clock, Env.Random and Env.Network are needed")
	}
	for what, name := range map[string]string{"system": o.System, "node": o.Node} {
		if name == "" || len(name) > NameMax {
			return bad("the name of the %s must have 1 to %d bytes", what, NameMax)
		}
	}
	switch {
	case len(o.Service) > NameMax:
		return bad("the name of the service must have at most %d bytes", NameMax)
	case len(o.Key) > 0 && len(o.Key) < KeyMin:
		return bad("a key of %d bytes is too short; it needs %d", len(o.Key), KeyMin)
	}
	for o.Life == 0 {
		o.Life = o.Env.Random.Uint64()
	}
	o.dice = &dice{random: o.Env.Random.Split("link")}
	or(&o.FrameMax, FrameMaxDefault)
	or(&o.PingAfter, PingAfterDefault)
	or(&o.DeadAfter, max(DeadAfterDefault, 4*o.PingAfter))
	or(&o.HelloWithin, max(HelloWithinDefault, o.DeadAfter))
	or(&o.FrameWithin, max(FrameWithinDefault, o.DeadAfter))
	or(&o.BackoffMin, BackoffMinDefault)
	or(&o.BackoffMax, max(BackoffMaxDefault, o.BackoffMin))
	or(&o.ConnsMax, ConnsMaxDefault)
	or(&o.StrangersMax, min(StrangersDefault, max(o.ConnsMax, 1)))
	or(&o.StrangersHostMax, max(o.StrangersMax-o.StrangersMax/4, 1))
	or(&o.PartialMax, max(PartialMaxDefault, 2*o.FrameMax))
	switch {
	case o.FrameMax < HandshakeMax || o.PartialMax < o.FrameMax:
		return bad("FrameMax %d and PartialMax %d: want %d <= FrameMax <= PartialMax", o.FrameMax, o.PartialMax, HandshakeMax)
	case o.PingAfter <= 0 || o.DeadAfter < 2*o.PingAfter || o.HelloWithin <= 0 || o.FrameWithin <= 0:
		return bad("PingAfter %v, DeadAfter %v, HelloWithin %v, FrameWithin %v: want 0 < PingAfter <= DeadAfter/2, and none below 0", o.PingAfter, o.DeadAfter, o.HelloWithin, o.FrameWithin)
	case o.BackoffMin <= 0 || o.BackoffMax < o.BackoffMin:
		return bad("BackoffMin %v, BackoffMax %v: want 0 < BackoffMin <= BackoffMax", o.BackoffMin, o.BackoffMax)
	case o.ConnsMax < 1 || o.StrangersMax < 1 || o.StrangersHostMax < 1:
		return bad("ConnsMax %d, StrangersMax %d, StrangersHostMax %d: want at least 1", o.ConnsMax, o.StrangersMax, o.StrangersHostMax)
	}
	return o, nil
}

func or[T comparable](x *T, def T) {
	var zero T
	if *x == zero {
		*x = def
	}
}

func (o *Options) hello(to string, body []byte) Hello {
	return Hello{Node: o.Node, To: to, Life: o.Life, Keyed: len(o.Key) > 0, Body: body, service: o.Service, system: o.System}
}

// refusalWithin is how long the other side has to read the reason for a
// refusal.
func (o *Options) refusalWithin() time.Duration { return min(o.PingAfter, time.Second) }
