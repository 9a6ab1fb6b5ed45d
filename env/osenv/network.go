// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// Limits and defaults of a Network.
const (
	writeBufferDefault  = 4 << 20
	dialTimeoutDefault  = 5 * time.Second
	writeTimeoutDefault = 10 * time.Second
	readChunk           = 32 << 10
	// acceptPause is the wait after a failed accept, for example when the
	// process has no free file descriptors.
	acceptPause = 50 * time.Millisecond
)

// NetworkOptions configure a Network. The zero value is plain TCP.
type NetworkOptions struct {
	// TLS, if set, secures every connection. It configures both the listening
	// and the dialling side; when dialling, ServerName defaults to the host of
	// the address. For mutual authentication, set Certificates, ClientCAs,
	// RootCAs and tls.RequireAndVerifyClientCert.
	TLS *tls.Config
	// DialTimeout bounds connecting, TLS included; default 5 s.
	DialTimeout time.Duration
	// WriteTimeout is how long a peer may accept none of the queued data;
	// default 10 s.
	WriteTimeout time.Duration
	// WriteBuffer is the maximum number of bytes that Write queues; default 4
	// MiB.
	WriteBuffer int
}

func (o NetworkOptions) complete() NetworkOptions {
	if o.DialTimeout <= 0 {
		o.DialTimeout = dialTimeoutDefault
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = writeTimeoutDefault
	}
	if o.WriteBuffer <= 0 {
		o.WriteBuffer = writeBufferDefault
	}
	return o
}

// Network is TCP. Addresses are host:port. A listening address without a host
// means the loopback interface: listening on other interfaces requires naming
// them.
type Network struct {
	opt    NetworkOptions
	ctx    context.Context // ends with Close; connections are bound to it
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[closer]struct{}
}

type closer interface{ shut() }

var _ env.Network = (*Network)(nil)

// NewNetwork returns a network without connections.
func NewNetwork(o NetworkOptions) *Network {
	ctx, cancel := context.WithCancel(context.Background())
	return &Network{opt: o.complete(), ctx: ctx, cancel: cancel, open: map[closer]struct{}{}}
}

// Close closes every listener and connection and waits until all handlers
// have had their last call.
func (n *Network) Close() error {
	n.mu.Lock()
	n.closed = true
	var open []closer
	for c := range n.open {
		open = append(open, c)
	}
	n.mu.Unlock()
	n.cancel()
	for _, c := range open {
		c.shut()
	}
	n.wg.Wait()
	return nil
}

// enter registers a closer with the network and counts its goroutine. It
// returns false if the network is closed.
func (n *Network) enter(c closer) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.open[c] = struct{}{}
	n.wg.Add(1)
	return true
}

func (n *Network) leave(c closer) {
	n.mu.Lock()
	delete(n.open, c)
	n.mu.Unlock()
	n.wg.Done()
}

// Listen listens at host:port.
func (n *Network) Listen(addr env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	host, port, err := net.SplitHostPort(string(addr))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	nl, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err // names the operation and the address
	}
	l := &listener{net: n, nl: nl, done: make(chan struct{})}
	if !n.enter(l) {
		nl.Close()
		return nil, fmt.Errorf("listen %s: %w", addr, env.ErrClosed)
	}
	go l.loop(accept)
	return l, nil
}

type listener struct {
	net  *Network
	nl   net.Listener
	once sync.Once
	done chan struct{} // closed when the loop has ended
}

func (l *listener) Addr() env.Addr { return env.Addr(l.nl.Addr().String()) }
func (l *listener) shut()          { l.once.Do(func() { l.nl.Close() }) }

func (l *listener) Close() error {
	l.shut()
	<-l.done
	return nil
}

func (l *listener) loop(accept func(env.Conn) env.Handler) {
	defer l.net.leave(l)
	defer close(l.done)
	for {
		nc, err := l.nl.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			pause := time.NewTimer(acceptPause)
			select {
			case <-l.net.ctx.Done():
			case <-pause.C:
			}
			pause.Stop()
			continue
		}
		c := newConn(l.net, env.Addr(nc.RemoteAddr().String()))
		c.local = env.Addr(nc.LocalAddr().String())
		if !l.net.enter(c) {
			nc.Close()
			continue
		}
		h := accept(c)
		if h == nil {
			c.shut()
			nc.Close()
			l.net.leave(c)
			continue
		}
		if l.net.opt.TLS != nil {
			nc = tls.Server(nc, l.net.opt.TLS)
		}
		c.h = h
		go c.serve(nc)
	}
}

// Dial connects to host:port.
func (n *Network) Dial(addr env.Addr, h env.Handler) env.Conn {
	c := newConn(n, addr)
	c.h = h
	if !n.enter(c) {
		c.shut()
		// Dial must not call the handler before it has returned.
		go h.Closed(c, fmt.Errorf("dial %s: %w", addr, env.ErrClosed))
		return c
	}
	go c.dial()
	return c
}
