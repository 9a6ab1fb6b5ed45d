// SPDX-License-Identifier: Apache-2.0

// Package faultproxy is a TCP proxy that tests put between real processes to inject
// network faults.
//
// In: the host to listen on, and the address of the other side. Out: connections that
// are cut, even in the middle of a frame, delayed, delivered in small pieces, or stalled
// without an end.
//
// Promised: bytes that pass are unchanged and in order; without Faults every byte passes.
// Close ends all connections and waits for the goroutines of the proxy.
//
// Refused: simulations, which have a network of their own.
package faultproxy

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Faults are the faults that a Proxy injects. The zero value injects none.
type Faults struct {
	// Blackhole stalls all bytes and new connections, without an error.
	Blackhole bool
	// Cut is the mean number of bytes after which a connection is cut; 0 is never.
	Cut int
	// Delay bounds the delay of each piece.
	Delay time.Duration
	// Piece bounds the bytes written at once; 0 means no bound.
	Piece int
}

// Proxy forwards the connections of one process to another. It is safe for concurrent
// use.
type Proxy struct {
	l  net.Listener
	wg sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // the faults have changed, or the proxy is closed
	target  string     // "": connections are closed at once
	Faults
	rng    *rand.Rand
	conns  map[net.Conn]bool
	cuts   int
	closed bool
}

// Open listens on a free port of a host. Faults are drawn from the seed.
func Open(host string, seed uint64) (*Proxy, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	k := &Proxy{l: l, rng: rand.New(rand.NewPCG(seed, 7)), conns: map[net.Conn]bool{}}
	k.changed = sync.NewCond(&k.mu)
	k.wg.Go(k.accept)
	return k, nil
}

// Addr is the address that the proxy listens on.
func (k *Proxy) Addr() string { return k.l.Addr().String() }

// Close closes the proxy and all its connections.
func (k *Proxy) Close() {
	k.mu.Lock()
	k.closed = true
	k.changed.Broadcast()
	k.mu.Unlock()
	k.l.Close()
	k.Reset()
	k.wg.Wait()
}

// Aim sets the address that new connections are forwarded to; "" refuses them.
func (k *Proxy) Aim(target string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.target = target
}

// Set sets the faults of all connections, present and new.
func (k *Proxy) Set(w Faults) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Faults = w
	k.changed.Broadcast()
}

// Reset closes all connections with a TCP reset.
func (k *Proxy) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.Close()
	}
}

// Cuts is the number of connections that were cut.
func (k *Proxy) Cuts() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cuts
}

// keep registers a connection, unless the proxy is closed.
func (k *Proxy) keep(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		c.Close()
		return false
	}
	k.conns[c] = true
	return true
}

func (k *Proxy) drop(cs ...net.Conn) {
	for _, c := range cs {
		c.Close()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range cs {
		delete(k.conns, c)
	}
}

// pass waits while bytes are stalled, and returns the address to forward to, or "".
func (k *Proxy) pass() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.Blackhole && !k.closed {
		k.changed.Wait()
	}
	if k.closed {
		return ""
	}
	return k.target
}

func (k *Proxy) accept() {
	for {
		in, err := k.l.Accept()
		if err != nil {
			return
		}
		if k.keep(in) {
			k.wg.Go(func() { k.connect(in) })
		}
	}
}

func (k *Proxy) connect(in net.Conn) {
	target := k.pass()
	if target == "" {
		k.drop(in)
		return
	}
	out, err := net.DialTimeout("tcp", target, time.Second)
	if err != nil || !k.keep(out) {
		k.drop(in)
		return
	}
	k.wg.Go(func() { k.copy(out, in) })
	k.copy(in, out)
}

// plan draws what happens to the next bytes.
func (k *Proxy) plan(have int) (n int, wait time.Duration, cut bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n = have
	if k.Piece > 0 {
		n = min(have, 1+k.rng.IntN(k.Piece))
	}
	if k.Delay > 0 {
		wait = time.Duration(k.rng.Int64N(int64(k.Delay)))
	}
	if k.Cut > 0 && k.rng.IntN(k.Cut) < n {
		n, cut = k.rng.IntN(n+1), true
		k.cuts++
	}
	return n, wait, cut
}

func (k *Proxy) copy(from, to net.Conn) {
	defer k.drop(from, to)
	buf := make([]byte, 64<<10)
	for {
		got, err := from.Read(buf)
		for b := buf[:got]; len(b) > 0; {
			n, wait, cut := k.plan(len(b))
			time.Sleep(wait)
			if k.pass() == "" {
				return
			}
			if _, err := to.Write(b[:n]); err != nil || cut {
				return
			}
			b = b[n:]
		}
		if err != nil {
			return
		}
	}
}
