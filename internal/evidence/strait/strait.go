// SPDX-License-Identifier: Apache-2.0

// Package strait is what connections of real processes pass through in tests: a proxy
// whose weather can be bad.
//
// In: where it listens, and where the other side is. Out: connections that are cut, in
// the middle of frames too, delayed, delivered in small pieces, and held back without
// an end.
//
// Promised: what passes is not changed and not put in another order; in calm weather
// everything passes. Close ends all connections and waits for all that it has started.
//
// Refused: simulations, which have a network of their own.
package strait

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Weather is what a Link does to what passes. The zero Weather is calm.
type Weather struct {
	// Hole lets nothing pass, and tells nobody.
	Hole bool
	// Cut is how many bytes pass, in the mean, until the connection is cut; 0 is never.
	Cut int
	// Delay bounds the delay of each piece.
	Delay time.Duration
	// Piece is how many bytes pass together at most; 0 is as they come.
	Piece int
}

// Link is what connections of one process to another pass through. It is safe for
// concurrent use.
type Link struct {
	l  net.Listener
	wg sync.WaitGroup

	mu     sync.Mutex
	calm   *sync.Cond // the weather has changed, or it is over
	target string     // "": nobody is there
	Weather
	rng   *rand.Rand
	conns map[net.Conn]bool
	cuts  int
	over  bool
}

// Open listens on a host, on a port of its own. Accidents are drawn from the seed.
func Open(host string, seed uint64) (*Link, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	k := &Link{l: l, rng: rand.New(rand.NewPCG(seed, 7)), conns: map[net.Conn]bool{}}
	k.calm = sync.NewCond(&k.mu)
	k.wg.Go(k.accept)
	return k, nil
}

// Addr is where it listens.
func (k *Link) Addr() string { return k.l.Addr().String() }

// Close ends everything.
func (k *Link) Close() {
	k.mu.Lock()
	k.over = true
	k.calm.Broadcast()
	k.mu.Unlock()
	k.l.Close()
	k.Reset()
	k.wg.Wait()
}

// Aim says where the other side is from now on; "" is nowhere.
func (k *Link) Aim(target string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.target = target
}

// Set changes the weather.
func (k *Link) Set(w Weather) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Weather = w
	k.calm.Broadcast()
}

// Reset ends all connections.
func (k *Link) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.Close()
	}
}

// Cuts is how many connections were cut by the weather.
func (k *Link) Cuts() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.cuts
}

// keep notes a connection, unless it is over.
func (k *Link) keep(c net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		c.Close()
		return false
	}
	k.conns[c] = true
	return true
}

func (k *Link) drop(cs ...net.Conn) {
	for _, c := range cs {
		c.Close()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range cs {
		delete(k.conns, c)
	}
}

// pass waits until something may pass, and answers where to; "" when nobody is
// there.
func (k *Link) pass() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.Hole && !k.over {
		k.calm.Wait()
	}
	if k.over {
		return ""
	}
	return k.target
}

func (k *Link) accept() {
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

func (k *Link) connect(in net.Conn) {
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

// plan says what happens to the next bytes.
func (k *Link) plan(have int) (n int, wait time.Duration, cut bool) {
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

func (k *Link) copy(from, to net.Conn) {
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
