package worm

import (
	"crypto/tls"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/worm/node"
	"github.com/ashlar-dev/ashlar/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// WriteBuffer is how many bytes a connection of a client or server queues: at
// least a frame.
const WriteBuffer = 2 * wire.FrameMax

// Options of Open.
type Options struct {
	// Genesis is the cluster's.
	Genesis *wor.Genesis
	// TLS, where given, secures the connections; it has what the client shows and
	// whom it trusts, as osenv.NetworkOptions.TLS.
	TLS *tls.Config
	// DialTimeout bounds connecting; default 5 s.
	DialTimeout time.Duration
	// Unresolved: a Write that was outbid answers wor.ErrUnknown at once.
	Unresolved bool
	// Space are the limits of the space; its Env, Serial, Transport and Genesis
	// are set here.
	Space space.Options
}

// Open returns a client of a cluster. It connects when it is asked something.
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
