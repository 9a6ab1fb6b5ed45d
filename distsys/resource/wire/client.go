package wire

import (
	"github.com/ashlar-dev/ashlar/env"
)

// ClientOwner is told what happens on a Client's link, with the lock held.
type ClientOwner interface {
	// Up says that the link is there. The peer's Session tells whether it is
	// the peer of before.
	Up(peer Hello)
	// Frame gives a frame of the service. An error ends the connection.
	Frame(t Type, payload []byte) error
	// Room says that a Send that met env.ErrFull may be tried again.
	Room()
	// Down says that the link is gone, or that connecting went wrong; the
	// client is going to try again.
	Down(err error)
}

// Client keeps a link to an address, connecting again when it breaks.
type Client struct {
	opt      Options
	addr     env.Addr
	service  string
	owner    ClientOwner
	link     *link // nil between connections
	backoff  env.Backoff
	retry    env.Timer
	closed   bool
	connects int
}

// NewClient starts to connect. O is complete.
func NewClient(o Options, addr env.Addr, service string, owner ClientOwner) *Client {
	c := &Client{opt: o, addr: addr, service: service, owner: owner,
		backoff: env.Backoff{Min: o.RetryMin, Max: o.RetryMax}}
	c.dial()
	return c
}

func (c *Client) dial() {
	l := newLink(&c.opt, c.service, true)
	l.onUp = func() {
		c.connects++
		c.backoff.Reset()
		c.owner.Up(l.peer)
	}
	l.onFrame = c.owner.Frame
	l.onRoom = c.owner.Room
	l.onDown = func(err error) {
		c.link = nil
		c.retry = c.opt.Env.Clock.After(c.backoff.Next(c.opt.Env.Random), env.WakeFunc(c.again))
		c.owner.Down(err)
	}
	c.link = l
	l.conn = c.opt.Env.Network.Dial(c.addr, l)
	l.start()
}

func (c *Client) again() {
	c.opt.Lock.Lock()
	defer c.opt.Lock.Unlock()
	if !c.closed && c.link == nil {
		c.dial()
	}
}

// Send queues a whole frame. It answers ErrDown while the link is down and
// env.ErrFull when the peer does not keep up; Room follows that.
func (c *Client) Send(frame []byte) error {
	if c.link == nil {
		return ErrDown
	}
	return c.link.send(frame)
}

// Connects is the number of times that the link came up.
func (c *Client) Connects() int { return c.connects }

// Close ends the link. The owner hears no more.
func (c *Client) Close() {
	c.closed = true
	if c.retry != nil {
		c.retry.Stop()
	}
	if c.link != nil {
		c.link.drop()
		c.link = nil
	}
}
