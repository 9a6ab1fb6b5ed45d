// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// conn is a connection. One goroutine dials, reads, and makes the last call of
// the handler; a second one writes queued data. The lock calls serializes the
// calls of the handler.
//
// The first Write after a read goes directly to the socket, without the second
// goroutine: a peer that waits for a reply gets it sooner, and a reply to a
// whole batch is one piece anyway. Later writes are collected and sent
// together.
type conn struct {
	network *Network
	h       env.Handler
	remote  env.Addr
	ctx     context.Context
	cancel  context.CancelFunc
	calls   sync.Mutex

	mu     sync.Mutex
	local  env.Addr
	nc     net.Conn // nil until connected
	queue  []byte   // not yet taken by the writer
	flight int      // taken, not yet written
	full   bool     // a Write has met ErrFull since the last Drained
	closed bool
	kick   chan struct{} // to the writer: there is something to do
	direct *direct       // nil: always by the writer

	heard atomic.Bool // something was read, and nothing written since
}

var _ env.Conn = (*conn)(nil)

func newConn(n *Network, remote env.Addr) *conn {
	c := &conn{network: n, remote: remote, kick: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(n.ctx)
	return c
}

func (c *conn) Remote() env.Addr { return c.remote }

func (c *conn) Local() env.Addr {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local
}

func (c *conn) Write(b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return env.ErrClosed
	}
	// A write that is larger than the buffer is accepted when the buffer is
	// empty.
	if used := len(c.queue) + c.flight; used > 0 && used+len(b) > c.network.opt.WriteBuffer {
		c.full = true
		return env.ErrFull
	}
	if c.direct != nil && len(c.queue)+c.flight == 0 && c.heard.CompareAndSwap(true, false) {
		if b = b[c.direct.write(b):]; len(b) == 0 {
			return nil
		}
	}
	c.queue = append(c.queue, b...)
	c.wake()
	return nil
}

func (c *conn) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// Close ends the connection.
func (c *conn) Close() { c.shut() }

func (c *conn) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.cancel()
	if c.nc != nil {
		c.nc.Close()
	}
	c.wake()
}

func (c *conn) dial() {
	ctx, cancel := context.WithTimeout(c.ctx, c.network.opt.DialTimeout)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", string(c.remote))
	if err == nil && c.network.opt.TLS != nil {
		nc, err = c.secure(ctx, nc)
	}
	if err != nil {
		c.end(err)
		return
	}
	c.run(nc, true)
}

// secure wraps a client connection in TLS.
func (c *conn) secure(ctx context.Context, nc net.Conn) (net.Conn, error) {
	config := c.network.opt.TLS
	if config.ServerName == "" && !config.InsecureSkipVerify {
		host, _, err := net.SplitHostPort(string(c.remote))
		if err != nil {
			nc.Close()
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	tc := tls.Client(nc, config)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("tls with %s: %w", c.remote, err)
	}
	return tc, nil
}

// serve runs an accepted connection.
func (c *conn) serve(nc net.Conn) {
	if tc, ok := nc.(*tls.Conn); ok {
		ctx, cancel := context.WithTimeout(c.ctx, c.network.opt.DialTimeout)
		err := tc.HandshakeContext(ctx)
		cancel()
		if err != nil {
			nc.Close()
			c.end(fmt.Errorf("tls with %s: %w", c.remote, err))
			return
		}
	}
	c.run(nc, false)
}

// run reads until the connection ends.
func (c *conn) run(nc net.Conn, dialled bool) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		nc.Close()
		c.end(env.ErrClosed)
		return
	}
	c.nc, c.local, c.direct = nc, env.Addr(nc.LocalAddr().String()), newDirect(nc)
	c.mu.Unlock()
	if dialled {
		c.calls.Lock()
		c.h.Opened(c)
		c.calls.Unlock()
	}
	written := make(chan error, 1)
	go func() { written <- c.writeLoop(nc) }()
	err := c.readLoop(nc)
	c.mu.Lock()
	ours := c.closed
	c.mu.Unlock()
	c.shut()
	werr := <-written
	switch {
	case werr != nil:
		err = werr
	case ours:
		err = env.ErrClosed
	}
	c.end(err)
}

// end makes the last call of the handler.
func (c *conn) end(err error) {
	c.shut()
	c.calls.Lock()
	c.h.Closed(c, err)
	c.calls.Unlock()
	c.network.leave(c)
}

func (c *conn) readLoop(nc net.Conn) error {
	buf := make([]byte, readChunk)
	for {
		n, err := nc.Read(buf)
		if n > 0 {
			c.heard.Store(true)
			c.calls.Lock()
			c.h.Data(c, buf[:n])
			c.calls.Unlock()
		}
		if err != nil {
			return err
		}
	}
}

// writeLoop writes all queued data at a time, until the connection is closed.
// It returns nil if another goroutine closed the connection.
func (c *conn) writeLoop(nc net.Conn) error {
	var spare []byte
	for range c.kick {
		// Let other runnable goroutines queue their data first: that costs less
		// than a further system call.
		runtime.Gosched()
		for {
			c.mu.Lock()
			if c.closed {
				c.mu.Unlock()
				return nil
			}
			out := c.queue
			if len(out) == 0 {
				c.mu.Unlock()
				break
			}
			c.queue, c.flight = spare[:0], len(out)
			spare = nil
			c.mu.Unlock()
			if err := c.writeAll(nc, out); err != nil {
				return err
			}
			spare = out
			if cap(spare) > c.network.opt.WriteBuffer/4 {
				spare = nil
			}
			c.drained()
		}
	}
	return nil
}

func (c *conn) writeAll(nc net.Conn, b []byte) error {
	if err := nc.SetWriteDeadline(time.Now().Add(c.network.opt.WriteTimeout)); err != nil {
		return nil // closed by others
	}
	if _, err := nc.Write(b); err != nil {
		c.mu.Lock()
		ours := c.closed
		c.mu.Unlock()
		nc.Close()
		if ours || errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	}
	return nil
}

// drained notifies the handler that there is room if the handler waits for it.
func (c *conn) drained() {
	c.mu.Lock()
	c.flight = 0
	tell := c.full && !c.closed && len(c.queue) <= c.network.opt.WriteBuffer/2
	if tell {
		c.full = false
	}
	c.mu.Unlock()
	if tell {
		c.calls.Lock()
		c.h.Drained(c)
		c.calls.Unlock()
	}
}
