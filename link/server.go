// SPDX-License-Identifier: Apache-2.0

package link

import (
	"github.com/ashlar-dev/ashlar/env"
)

// ServerOwner is notified of what happens on a Server's connections, with the
// lock held.
type ServerOwner interface {
	// Up reports that a peer has connected.
	Up(c *Conn)
	// Frame delivers a frame of the service. An error ends the connection.
	Frame(c *Conn, t Type, payload []byte) error
	// Down reports that the connection of a peer reported by Up has ended.
	Down(c *Conn, err error)
}

// Server accepts connections. Its welcomes have no body.
type Server struct {
	opt      *Options
	owner    ServerOwner
	door     *Door
	listener env.Listener
	timer    env.Timer
	closed   bool
	rejected int
}

// Conn is the connection of a peer to a Server.
type Conn struct {
	// Peer is the peer's description of itself.
	Peer  *Hello
	s     *Session
	owned bool // Up was called, and Down was not
}

// NewServer listens at addr. O must be complete. The caller must not hold the
// lock.
func NewServer(o *Options, addr env.Addr, owner ServerOwner) (*Server, error) {
	s := &Server{opt: o, owner: owner, door: NewDoor(o)}
	l, err := o.Env.Network.Listen(addr, s.accept)
	if err != nil {
		return nil, err
	}
	o.Lock.Lock()
	defer o.Lock.Unlock()
	s.listener = l
	s.watch()
	return s, nil
}

// watch ends connections that exceed their time limits.
func (s *Server) watch() {
	s.timer = s.opt.Env.Clock.After(s.opt.PingAfter/2, env.WakeFunc(func() {
		s.opt.Lock.Lock()
		defer s.opt.Lock.Unlock()
		if !s.closed {
			s.door.Look(s.opt.Env.Clock.Now())
			s.watch()
		}
	}))
}

// Addr returns the address at which the server listens.
func (s *Server) Addr() env.Addr { return s.listener.Addr() }

// Rejected returns the number of connections that ended before they were up.
func (s *Server) Rejected() int { return s.rejected }

// accepted is the Handler of an accepted connection.
type accepted struct {
	server *Server
	Conn
}

func (s *Server) accept(conn env.Conn) env.Handler {
	s.opt.Lock.Lock()
	defer s.opt.Lock.Unlock()
	a := &accepted{server: s, Conn: Conn{s: s.opt.Accept(conn)}}
	a.Peer = a.s.Peer()
	if s.closed || !s.door.Enter(a.s) {
		s.rejected++
		return nil
	}
	return a
}

// Opened implements env.Handler. A server dials no connections, so it has
// nothing to do.
func (a *accepted) Opened(env.Conn) {}

// Data implements env.Handler.
func (a *accepted) Data(_ env.Conn, b []byte) {
	s := a.server
	s.opt.Lock.Lock()
	defer s.opt.Lock.Unlock()
	if s.closed {
		return
	}
	a.s.Feed(b)
	for !s.closed {
		f, ok, err := a.s.Next()
		if err == nil && !ok {
			s.door.Weigh(a.s)
			return
		}
		if err == nil {
			err = a.frame(f)
		}
		if err != nil {
			a.s.End(err)
		}
	}
}

func (a *accepted) frame(f Frame) error {
	switch f.Type {
	case TypeHello:
		a.s.Welcome(nil)
	case TypeProof:
	default:
		return a.server.owner.Frame(&a.Conn, f.Type, f.Payload)
	}
	if a.s.Up() && a.server.door.Known(a.s) {
		a.owned = true
		a.server.owner.Up(&a.Conn)
	}
	return nil
}

// Drained implements env.Handler. It has nothing to do: Send drops a peer that
// does not keep up.
func (a *accepted) Drained(env.Conn) {}

// Closed implements env.Handler.
func (a *accepted) Closed(_ env.Conn, err error) {
	s := a.server
	s.opt.Lock.Lock()
	defer s.opt.Lock.Unlock()
	s.door.Leave(a.s)
	switch {
	case s.closed:
	case a.owned:
		a.owned = false
		s.owner.Down(&a.Conn, a.s.Reason(err))
	default:
		s.rejected++
	}
}

// Send queues a whole frame. If the peer does not keep up with the server's
// frames, Send drops the connection; the peer reconnects and asks again.
func (c *Conn) Send(frame []byte) {
	if err := c.s.Send(frame); err != nil && !c.s.Over() {
		c.s.Drop(err)
	}
}

// Remote returns the address of the peer.
func (c *Conn) Remote() env.Addr { return c.s.conn.Remote() }

// Over reports that this side has ended the connection. Until Down follows, the
// peer may still be reading why.
func (c *Conn) Over() bool { return c.s.Over() }

// End ends the connection. The server calls Down once the peer has had time to
// read the reason.
func (c *Conn) End(err error) { c.s.End(err) }

// Shut ends all connections. The server calls the owner no more. The caller
// holds the lock.
func (s *Server) Shut() {
	s.closed = true
	s.timer.Stop()
	s.door.Close(env.ErrClosed)
}

// Close stops listening. Call Shut first. The caller must not hold the lock,
// because an accept may be waiting for it.
func (s *Server) Close() error { return s.listener.Close() }
