package host

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// peer is the link to another instance. It is dialled when there is something
// to send, and from then on whenever it is not connected. All of it belongs to
// the link's lock.
type peer struct {
	link
	h       *Host
	node    string
	addr    env.Addr
	random  env.Random
	backoff env.Backoff
	line    *outconn // that is being opened, or is open
	pausing bool     // a clock says when to dial
	stopped bool
	life    uint64 // that was met last; 0: none
	trouble string
}

func newPeer(h *Host, node string, addr env.Addr) *peer {
	p := &peer{h: h, node: node, addr: addr, backoff: env.Backoff{Min: h.opt.BackoffMin, Max: h.opt.BackoffMax}}
	p.link.out.Max = h.opt.QueueMax
	p.link.peer = p
	return p
}

// dial connects, where nothing is under way. The lock is held.
func (p *peer) dial() {
	if p.line != nil || p.pausing || p.stopped {
		return
	}
	c := &outconn{p: p, heard: p.h.opt.Env.Clock.Now()}
	p.line = c
	c.conn = p.h.opt.Env.Network.Dial(p.addr, c)
}

// stop ends it. The lock is held.
func (p *peer) stop() {
	p.stopped = true
	if p.line != nil {
		p.line.conn.Close()
	}
}

// look asks whether a connection lives on which nothing is heard, and gives it up.
func (p *peer) look(now env.Instant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.line
	if c == nil {
		return
	}
	silent := now.Sub(c.heard)
	switch {
	case p.conn == nil && silent > p.h.opt.HelloWithin, silent > p.h.opt.DeadAfter && p.conn != nil:
		c.end(errors.New("it does not answer"))
	case p.conn != nil && silent >= p.h.opt.PingAfter:
		_ = c.conn.Write(wire.AppendPing(nil, false)) // full: then something is under way
	}
}

// outconn is a connection that was dialled. It belongs to the peer's lock.
type outconn struct {
	p     *peer
	conn  env.Conn
	scan  wire.Scanner
	hello wire.Hello
	heard env.Instant
	over  bool
	// welcomed is when it was.
	welcomed env.Instant
}

// end gives the connection up. Closed follows.
func (c *outconn) end(err error) {
	if !c.over {
		c.over = true
		c.p.trouble = err.Error()
		c.conn.Close()
	}
}

// Opened implements env.Handler.
func (c *outconn) Opened(conn env.Conn) {
	hello := c.p.h.hello(wire.Instance, c.p.node)
	hello.Window = uint32(c.p.h.opt.Window)
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	c.conn, c.hello = conn, hello
	c.heard = c.p.h.opt.Env.Clock.Now()
	if c.p.stopped {
		c.end(env.ErrClosed)
		return
	}
	if err := conn.Write(wire.AppendHello(nil, &c.hello)); err != nil {
		c.end(err)
	}
}

// Data implements env.Handler.
func (c *outconn) Data(_ env.Conn, b []byte) {
	h := c.p.h
	var counts Counts
	var resend bool
	c.p.mu.Lock()
	c.heard = h.opt.Env.Clock.Now()
	c.scan.Feed(b)
	for !c.over {
		f, ok, err := c.scan.Next()
		if err == nil && !ok {
			break
		}
		again := false
		if err == nil {
			again, err = c.frame(f, &counts)
		}
		resend = resend || again
		if err != nil {
			c.end(err)
		}
	}
	h.weigh(&c.p.link)
	c.p.mu.Unlock()
	h.count(&counts)
	if resend {
		h.resends.want(c.p.node)
	}
}

func (c *outconn) frame(f wire.Frame, counts *Counts) (resend bool, err error) {
	welcomed := c.p.conn != nil
	switch {
	case f.Type == wire.TypeRefusal:
		r, err := wire.DecodeRefusal(f.Payload)
		if err != nil {
			return false, err
		}
		return false, r
	case !welcomed && f.Type == wire.TypeWelcome:
		return c.welcome(f.Payload, counts)
	case welcomed && f.Type == wire.TypeAck:
		seq, err := wire.DecodeAck(f.Payload)
		if err != nil {
			return false, err
		}
		return c.p.acked(seq, counts)
	case welcomed && f.Type == wire.TypePong:
		return false, nil
	}
	return false, fmt.Errorf("a %v frame from the side that was dialled", f.Type)
}

// welcome continues where the other side stopped.
func (c *outconn) welcome(payload []byte, counts *Counts) (resend bool, err error) {
	p := c.p
	w, err := wire.DecodeWelcome(payload)
	if err != nil {
		return false, err
	}
	key := p.h.opt.Key
	if !w.Proof.Same(wire.Prove(key, false, &c.hello, &w)) && len(key) > 0 {
		return false, errors.New("it has not shown that it has the key")
	}
	if err := c.conn.Write(wire.AppendProof(nil, wire.Prove(key, true, &c.hello, &w))); err != nil {
		return false, err
	}
	if older, err := p.h.incarnation.meet(p.node, w.Incarnation); older || err != nil {
		// An older one believes what it is told when it has the proof, and ends.
		return false, err
	}
	if err := p.link.out.Resume(w.Last); err != nil {
		return false, err
	}
	c.scan.Open = true
	c.welcomed = c.heard
	p.trouble = ""
	p.conn, p.full, p.window = c.conn, false, int(min(w.Window, 1<<30))
	resend = p.life != 0 && p.life != w.Life
	if resend {
		p.h.mark("dedalus/host peer started anew")
	}
	p.life = w.Life
	counts.Connected++
	p.flush(counts)
	return resend, nil
}

// Drained implements env.Handler.
func (c *outconn) Drained(env.Conn) {
	var counts Counts
	c.p.mu.Lock()
	if c.p.line == c {
		c.p.full = false
		c.p.flush(&counts)
	}
	c.p.mu.Unlock()
	c.p.h.count(&counts)
}

// Closed implements env.Handler.
func (c *outconn) Closed(_ env.Conn, err error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.over {
		p.trouble = err.Error()
	}
	c.over = true
	if p.conn != nil && p.h.opt.Env.Clock.Now().Sub(c.welcomed) >= p.h.opt.BackoffMax {
		p.backoff.Reset() // one who welcomes and hangs up is not dialled all the time
	}
	p.conn, p.line, p.full = nil, nil, false
	p.h.weigh(&p.link)
	if p.stopped {
		return
	}
	p.pausing = true
	p.h.opt.Env.Clock.After(p.backoff.Next(p.random), env.WakeFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pausing = false
		p.dial()
	}))
}
