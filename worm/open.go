// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"crypto/tls"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// WriteBuffer is the number of bytes that a connection of a client or server
// may queue. It must be at least the size of a frame.
const WriteBuffer = 2 * wire.FrameMax

// SpaceOptions are the settings of the client's view of the address space: what it
// remembers, and when it gives up.
type SpaceOptions = space.Options

// Options of Open.
type Options struct {
	// Genesis is the Genesis of the cluster.
	Genesis *wor.Genesis
	// TLS, if not nil, secures the connections. It has the client's certificate
	// and the trusted authorities, as in osenv.NetworkOptions.TLS.
	TLS *tls.Config
	// DialTimeout bounds connecting; default 5 s.
	DialTimeout time.Duration
	// Unresolved makes a Write that another client has outbid return
	// wor.ErrUnknown at once.
	Unresolved bool
	// Space are the limits of the space; Open sets its Env, Serial, Transport
	// and Genesis.
	Space SpaceOptions
}

// Open returns a client of a cluster. The client connects on first use.
func Open(o Options) (*Client, error) {
	world := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{TLS: o.TLS, DialTimeout: o.DialTimeout, WriteBuffer: WriteBuffer})
	world.Network = network
	serial := &env.Serial{}
	var c *Client
	transport := node.NewTransport(node.TransportOptions{
		Env: world, Serial: serial, Cluster: o.Genesis.Cluster, From: world.Random.Uint64(),
		Restored: func() { c.end(ErrRestored) },
	})
	limits := o.Space
	limits.Env, limits.Serial, limits.Transport, limits.Genesis = world, serial, transport, o.Genesis
	limits.Changed = func(*wor.Config) { c.follow() }
	s, err := space.Open(limits)
	if err != nil {
		transport.Close()
		network.Close()
		return nil, err
	}
	c = Over(world, serial, s, func() {
		var ended sync.WaitGroup
		ended.Add(1)
		serial.Do(func() {
			s.Close()
			ended.Done()
		})
		ended.Wait()
		transport.Close()
		network.Close()
	})
	c.messenger, c.unresolved = transport, o.Unresolved
	c.cluster = &cluster{genesis: o.Genesis, space: s, transport: transport, handles: map[any]func([]wor.Member){}}
	serial.Do(c.refreshing)
	return c, nil
}
