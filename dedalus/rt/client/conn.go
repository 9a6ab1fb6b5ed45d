package client

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// conn is a connection. It belongs to the Client's lock.
type conn struct {
	n     *node
	conn  env.Conn
	scan  wire.Scanner
	heard env.Instant
	over  bool
}

func (n *node) dial() {
	if n.line != nil || n.c.closed {
		return
	}
	k := &conn{n: n, heard: n.c.opt.Env.Clock.Now()}
	n.line = k
	k.conn = n.c.opt.Env.Network.Dial(n.addr, k)
}

// look asks whether a connection lives on which nothing is heard, and gives it up.
func (n *node) look(now env.Instant) {
	if n.line == nil {
		return
	}
	switch silent := now.Sub(n.line.heard); {
	case silent > n.c.opt.DeadAfter:
		n.line.end(errors.New("it does not answer"))
	case n.ready && silent >= n.c.opt.PingAfter:
		_ = n.line.conn.Write(wire.AppendPing(nil, false)) // full: then something is under way
	}
}

// end gives the connection up. Closed follows.
func (k *conn) end(err error) {
	if !k.over {
		k.over = true
		k.n.trouble = err
		k.conn.Close()
	}
}

// Opened implements env.Handler.
func (k *conn) Opened(nc env.Conn) {
	n, c := k.n, k.n.c
	c.mu.Lock()
	defer c.mu.Unlock()
	k.conn = nc
	if c.closed {
		k.end(ErrClosed)
		return
	}
	a, b := c.random.Uint64(), c.random.Uint64()
	hello := wire.Hello{Version: wire.Version, Role: wire.Client, Program: c.opt.Program.Hash, Life: c.life,
		Window: uint32(c.opt.Window), Seen: n.life, Last: n.last, From: c.opt.Name, To: n.name}
	for i := range 8 {
		hello.Nonce[i], hello.Nonce[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	if err := nc.Write(wire.AppendHello(nil, &hello)); err != nil {
		k.end(err)
	}
}

// Data implements env.Handler.
func (k *conn) Data(_ env.Conn, b []byte) {
	c := k.n.c
	c.mu.Lock()
	k.heard = c.opt.Env.Clock.Now()
	c.giving++
	c.mu.Unlock()
	defer c.given()
	k.scan.Feed(b)
	for {
		f, ok, err := k.scan.Next()
		if err == nil && !ok {
			return
		}
		var outputs wire.Messages
		if err == nil {
			outputs, err = k.frame(f)
		}
		if err != nil {
			c.mu.Lock()
			k.end(err)
			c.mu.Unlock()
			return
		}
		if len(outputs) > 0 {
			c.give(k.n.name, outputs)
		}
	}
}

// give gives outputs.
func (c *Client) give(node string, outputs wire.Messages) {
	c.calls.Lock()
	defer c.calls.Unlock()
	for {
		relation, row, ok := outputs.Next()
		if !ok {
			return
		}
		if relation < len(c.opt.Program.Relations) {
			c.opt.Output(node, relation, row)
		}
	}
}

// frame takes a frame and answers the outputs that it has.
func (k *conn) frame(f wire.Frame) (outputs wire.Messages, err error) {
	n := k.n
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if k.over || n.c.closed {
		return nil, ErrClosed
	}
	switch {
	case f.Type == wire.TypeRefusal:
		r, err := wire.DecodeRefusal(f.Payload)
		if err != nil {
			return nil, err
		}
		return nil, r
	case !n.ready && f.Type == wire.TypeWelcome:
		return nil, k.welcome(f.Payload)
	case n.ready && f.Type == wire.TypeBatch:
		return n.batch(f.Payload)
	case n.ready && f.Type == wire.TypeAck:
		seq, err := wire.DecodeAck(f.Payload)
		if err != nil {
			return nil, err
		}
		if err := n.out.Ack(seq); err != nil {
			return nil, err
		}
		n.touched = true // the window is open again
		return nil, nil
	case n.ready && f.Type == wire.TypePong:
		return nil, nil
	}
	return nil, fmt.Errorf("a %v frame from an instance", f.Type)
}

// welcome goes on where the other side has left off.
func (k *conn) welcome(payload []byte) error {
	n := k.n
	w, err := wire.DecodeWelcome(payload)
	if err != nil {
		return err
	}
	if err := n.out.Resume(w.Last); err != nil {
		return err
	}
	if w.Life != n.life {
		n.life, n.last = w.Life, 0
	}
	k.scan.Open = true
	n.acked = 0
	n.ready, n.full, n.window, n.trouble = true, false, int(w.Window), nil
	n.backoff.Reset()
	n.touched = true
	n.owe(0)
	return nil
}

// batch takes outputs that have not come before.
func (n *node) batch(payload []byte) (wire.Messages, error) {
	seq, messages, err := wire.Batch(payload)
	switch {
	case err != nil:
		return nil, err
	case seq <= n.last:
		return nil, nil
	case n.last > 0 && seq != n.last+1:
		return nil, fmt.Errorf("batch %d after %d", seq, n.last)
	}
	n.last = seq
	n.owe(len(payload))
	return messages, nil
}

// Drained implements env.Handler.
func (k *conn) Drained(env.Conn) {
	k.n.c.mu.Lock()
	defer k.n.c.mu.Unlock()
	if k.n.line == k {
		k.n.full = false
		k.n.flush()
	}
}

// Closed implements env.Handler.
func (k *conn) Closed(_ env.Conn, err error) {
	n, c := k.n, k.n.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !k.over {
		n.trouble = err
	}
	k.over = true
	n.line, n.ready, n.full = nil, false, false
	if c.closed {
		return
	}
	c.opt.Env.Clock.After(n.backoff.Next(c.random), env.WakeFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		n.dial()
	}))
}
