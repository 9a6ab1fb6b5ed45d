// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// Defaults of Options.
const (
	QueueMaxDefault   = 8 << 20
	WindowDefault     = 1 << 20
	AckAfterDefault   = 20 * time.Millisecond
	PingAfterDefault  = time.Second
	DeadAfterDefault  = 4 * time.Second
	BackoffMinDefault = 20 * time.Millisecond
	BackoffMaxDefault = 2 * time.Second
)

// Errors that a caller may test for.
var (
	// ErrFull reports that the queue to the instance is full. Outputs of the
	// instance make room.
	ErrFull = errors.New("too much data waits for the instance")
	// ErrClosed reports that the client was closed.
	ErrClosed = errors.New("client is closed")
	// ErrNode reports that the client has no instance of this name.
	ErrNode = errors.New("no such instance")
)

// Options configure a Client. Env, Program, Name and Nodes are required. Zero
// limits mean the defaults.
type Options struct {
	// Env must have a Clock, Random and Network.
	Env     env.Env
	Program *rt.Program
	// Name is the client's node name, which inputs and rules use. No instance and
	// no other running client may have the same name.
	Name string
	// Nodes maps the instances that the client connects to, by name, to their
	// addresses.
	Nodes map[string]env.Addr
	// Output receives the outputs, one call at a time, on any goroutine. It must not
	// block, and may use the row only until it returns. It may be nil.
	Output func(node string, relation int, row []byte)
	// QueueMax bounds the bytes queued for one instance. Window bounds the bytes that
	// one instance may have sent without an acknowledgement.
	QueueMax, Window int
	// AckAfter is how long an acknowledgement may be delayed, to cover more
	// batches.
	AckAfter time.Duration
	// The client pings a connection that has been silent for PingAfter, and closes it
	// after DeadAfter.
	PingAfter, DeadAfter time.Duration
	// BackoffMin and BackoffMax bound the wait before the client dials an instance
	// again.
	BackoffMin, BackoffMax time.Duration
}

func (o Options) complete() (Options, error) {
	switch {
	case o.Program == nil || o.Env.Clock == nil || o.Env.Random == nil || o.Env.Network == nil:
		return o, errors.New("Options needs Program, and Env with a clock, randomness and a network")
	case o.Name == "" || len(o.Name) > wire.NodeMax:
		return o, fmt.Errorf("the name of the client has %d bytes; want 1 to %d", len(o.Name), wire.NodeMax)
	case len(o.Nodes) == 0:
		return o, errors.New("Options needs Nodes, the instances to connect to")
	}
	if o.Output == nil {
		o.Output = func(string, int, []byte) {}
	}
	if o.QueueMax == 0 {
		o.QueueMax = QueueMaxDefault
	}
	if o.Window == 0 {
		o.Window = WindowDefault
	}
	for _, d := range []struct {
		to   *time.Duration
		from time.Duration
	}{
		{&o.AckAfter, AckAfterDefault}, {&o.PingAfter, PingAfterDefault}, {&o.DeadAfter, DeadAfterDefault},
		{&o.BackoffMin, BackoffMinDefault}, {&o.BackoffMax, BackoffMaxDefault},
	} {
		if *d.to == 0 {
			*d.to = d.from
		}
	}
	return o, nil
}

// Client is a node outside the deployment. It is safe for concurrent use.
type Client struct {
	opt   Options
	link  link.Options
	nodes map[string]*node
	order []*node

	calls sync.Mutex // held while outputs are given

	mu     sync.Mutex // guards the nodes
	giving int        // outputs are being given: what is sent waits for the end
	closed bool
	acking bool // a clock says when to acknowledge
}

// node is the client's state for one instance, guarded by the Client's lock.
type node struct {
	c       *Client
	name    string
	addr    env.Addr
	link    *link.Client
	out     wire.Outbox
	ready   bool // it is welcomed
	window  int
	full    bool
	touched bool   // something was added that was not written
	life    uint64 // the instance's, met last
	last    uint64 // batch that came from that life
	acked   uint64
	unacked int
	trouble error
}

// Open begins to connect to the instances, and returns before they answer.
func Open(o Options) (*Client, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{opt: o, nodes: map[string]*node{}}
	world := o.Env
	world.Random = o.Env.Random.Split("client")
	c.link, err = link.Options{Env: world, Service: wire.Service, System: wire.System(o.Program.Hash), Node: o.Name,
		Life: world.Random.Uint64() | 1, FrameMax: wire.FrameMax, PingAfter: o.PingAfter, DeadAfter: o.DeadAfter,
		BackoffMin: o.BackoffMin, BackoffMax: o.BackoffMax, Lock: &c.mu}.Complete()
	if err != nil {
		return nil, err
	}
	for name, addr := range o.Nodes {
		n := &node{c: c, name: name, addr: addr}
		n.out.Max = o.QueueMax
		c.nodes[name] = n
		c.order = append(c.order, n)
	}
	slices.SortFunc(c.order, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	c.mu.Lock()
	for _, n := range c.order {
		n.link = link.NewClient(&c.link, link.Target{Addr: n.addr, Node: n.name, Body: n.hello}, n)
	}
	c.mu.Unlock()
	return c, nil
}

// Send sends an input to an instance, or queues it until the instance is connected
// again. Send copies the row. It returns ErrFull, ErrClosed, ErrNode, or an error
// for a row that is too long.
func (c *Client) Send(to string, relation int, row []byte) error {
	if len(row) > wire.RowMax {
		return fmt.Errorf("the row has %d bytes; the limit is %d", len(row), wire.RowMax)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[to]
	switch {
	case c.closed:
		return ErrClosed
	case n == nil:
		return fmt.Errorf("%w: %s", ErrNode, to)
	case !n.out.Add(relation, row):
		return ErrFull
	}
	n.touched = true
	if c.giving == 0 {
		n.flush()
	}
	return nil
}

// Connected reports whether an instance is connected now. If it is not, the error
// is the reason, if known.
func (c *Client) Connected(name string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		return false, fmt.Errorf("%w: %s", ErrNode, name)
	}
	return n.ready, n.trouble
}

// Waiting returns how many bytes of inputs are queued: no tick has acknowledged
// them yet.
func (c *Client) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for _, n := range c.order {
		sum += n.out.Bytes()
	}
	return sum
}

// Close ends all connections and drops the queued inputs. A call of Output may
// still be running when Close returns.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, n := range c.order {
		n.link.Close()
	}
}

// flush writes as many batches as the window and the connection accept.
func (n *node) flush() {
	n.touched = false
	if !n.ready || n.full {
		return
	}
	n.out.Seal()
	for {
		b := n.out.Next(n.window)
		if b == nil {
			return
		}
		switch err := n.link.Send(b); {
		case errors.Is(err, env.ErrFull):
			n.full = true
			return
		case err != nil:
			n.link.Drop(err)
			return
		}
		n.out.Sent()
	}
}

// given ends a call of give, and flushes the inputs that were sent during it.
func (c *Client) given() {
	if c.giving--; c.giving > 0 {
		return
	}
	for _, n := range c.order {
		if n.touched {
			n.flush()
		}
	}
}

// owe schedules the acknowledgement of n more bytes, or sends it at once if
// much is unacknowledged.
func (n *node) owe(bytes int) {
	n.unacked += bytes
	if n.unacked >= n.c.opt.Window/4 {
		n.ack()
	}
	if n.acked < n.last && !n.c.acking && !n.c.closed {
		n.c.acking = true
		n.c.opt.Env.Clock.After(n.c.opt.AckAfter, env.WakeFunc(n.c.ackAll))
	}
}

func (n *node) ack() {
	if n.ready && n.acked < n.last && n.link.Send(wire.AppendAck(nil, n.last)) == nil {
		n.acked, n.unacked = n.last, 0
	}
}

func (c *Client) ackAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acking = false
	for _, n := range c.order {
		n.ack()
		if n.ready {
			n.owe(0)
		}
	}
}
