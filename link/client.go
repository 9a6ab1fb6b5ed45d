// SPDX-License-Identifier: Apache-2.0

package link

import (
	"github.com/ashlar-dev/ashlar/env"
)

// ClientOwner is notified of what happens on a Client's connection, with the
// lock held.
type ClientOwner interface {
	// Up reports that the connection is established. The peer's Life tells
	// whether it is the same peer as before. An error ends the connection.
	Up(peer *Hello) error
	// Frame delivers a frame of the service. It may release the lock for a while.
	// An error ends the connection.
	Frame(t Type, payload []byte) error
	// Room reports that it is worth retrying a Send that returned env.ErrFull.
	Room()
	// Down reports that the connection has ended or could not be established; the
	// client will try again.
	Down(err error)
}

// Target is the destination of a Client.
type Target struct {
	Addr env.Addr
	// Node is the node that must answer; empty means any.
	Node string
	// Body, if not nil, returns the body of the next hello. The Client calls it
	// with the lock held.
	Body func() []byte
}

// Client maintains a connection to an address and reconnects when it breaks.
type Client struct {
	opt      *Options
	to       Target
	owner    ClientOwner
	link     *dialling // nil between connections
	backoff  env.Backoff
	retry    env.Timer
	closed   bool
	connects int
}

// NewClient starts connecting. O must be complete. The caller holds the lock.
func NewClient(o *Options, to Target, owner ClientOwner) *Client {
	c := &Client{opt: o, to: to, owner: owner, backoff: env.Backoff{Min: o.BackoffMin, Max: o.BackoffMax}}
	c.dial()
	return c
}

// dialling is the Handler of one connection of a Client.
type dialling struct {
	c     *Client
	s     *Session
	timer env.Timer
	since env.Instant // it was up
	told  bool        // Down was called
}

func (c *Client) dial() {
	var body []byte
	if c.to.Body != nil {
		body = c.to.Body()
	}
	d := &dialling{c: c, s: c.opt.dial(c.to.Node, body)}
	c.link = d
	d.s.conn = c.opt.Env.Network.Dial(c.to.Addr, d)
	d.watch()
}

// watch sends pings and checks whether the other side still answers.
func (d *dialling) watch() {
	o := d.c.opt
	d.timer = o.Env.Clock.After(o.PingAfter, env.WakeFunc(func() {
		o.Lock.Lock()
		defer o.Lock.Unlock()
		if d.c.link != d {
			return
		}
		if err := d.s.Late(o.Env.Clock.Now()); err != nil {
			d.s.Drop(err)
			d.down(err)
			return
		}
		d.s.Ping()
		d.watch()
	}))
}

// Opened implements env.Handler.
func (d *dialling) Opened(conn env.Conn) {
	d.c.opt.Lock.Lock()
	defer d.c.opt.Lock.Unlock()
	if d.c.link == d {
		d.s.opened(conn)
	}
}

// Data implements env.Handler.
func (d *dialling) Data(_ env.Conn, b []byte) {
	d.c.opt.Lock.Lock()
	defer d.c.opt.Lock.Unlock()
	d.s.Feed(b)
	for d.c.link == d {
		f, ok, err := d.s.Next()
		if err == nil && !ok {
			return
		}
		if err == nil {
			err = d.frame(f)
		}
		if err != nil {
			d.s.End(err)
			d.down(err)
		}
	}
}

// down notifies the owner, at most once.
func (d *dialling) down(err error) {
	if !d.told {
		d.told = true
		d.c.owner.Down(d.s.Reason(err))
	}
}

func (d *dialling) frame(f Frame) error {
	if f.Type != TypeWelcome {
		return d.c.owner.Frame(f.Type, f.Payload)
	}
	d.since = d.c.opt.Env.Clock.Now()
	d.c.connects++
	return d.c.owner.Up(d.s.Peer())
}

// Drained implements env.Handler.
func (d *dialling) Drained(env.Conn) {
	d.c.opt.Lock.Lock()
	defer d.c.opt.Lock.Unlock()
	if d.c.link == d && d.s.Up() && !d.s.Over() {
		d.c.owner.Room()
	}
}

// Closed implements env.Handler.
func (d *dialling) Closed(_ env.Conn, err error) {
	c, o := d.c, d.c.opt
	o.Lock.Lock()
	defer o.Lock.Unlock()
	if c.link != d {
		return
	}
	c.link = nil
	d.timer.Stop()
	if d.s.Up() && o.Env.Clock.Now().Sub(d.since) >= o.BackoffMax {
		c.backoff.Reset() // a peer that welcomes and hangs up is not dialled all the time
	}
	c.retry = o.Env.Clock.After(c.backoff.Next(o.Env.Random), env.WakeFunc(c.again))
	d.down(err)
}

func (c *Client) again() {
	c.opt.Lock.Lock()
	defer c.opt.Lock.Unlock()
	if !c.closed && c.link == nil {
		c.dial()
	}
}

// Send queues a whole frame. It returns ErrDown while the connection is down,
// and env.ErrFull when the peer does not keep up; the client then calls Room
// later.
func (c *Client) Send(frame []byte) error {
	if c.link == nil {
		return ErrDown
	}
	return c.link.s.Send(frame)
}

// Drop ends the connection. The client then calls Down and reconnects.
func (c *Client) Drop(err error) {
	if c.link != nil {
		c.link.s.Drop(err)
	}
}

// Connects returns how many times the connection was established.
func (c *Client) Connects() int { return c.connects }

// Close ends the connection. The client calls the owner no more.
func (c *Client) Close() {
	c.closed = true
	if c.retry != nil {
		c.retry.Stop()
	}
	if d := c.link; d != nil {
		c.link = nil
		d.timer.Stop()
		d.s.Drop(env.ErrClosed)
	}
}
