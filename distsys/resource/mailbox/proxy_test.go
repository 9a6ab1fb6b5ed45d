// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// proxy forwards connections to a target and does to them what networks do: it
// cuts them in the middle of a frame, delivers byte by byte, and dawdles.
type proxy struct {
	t      *testing.T
	target string
	l      net.Listener
	wg     sync.WaitGroup

	mu    sync.Mutex
	rng   *rand.Rand
	conns map[net.Conn]bool
	cuts  int
	calm  bool // no more cuts
	gone  bool
	cut   int           // mean bytes until a cut; 0: none
	delay time.Duration // at most, before a chunk
	chunk int           // bytes at most in one write
}

func newProxy(t *testing.T, target env.Addr, seed uint64) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, target: string(target), l: l, rng: rand.New(rand.NewPCG(seed, 1)), conns: map[net.Conn]bool{}, chunk: 1 << 16}
	return p
}

func (p *proxy) start() *proxy {
	p.wg.Add(1)
	go p.accept()
	p.t.Cleanup(p.close)
	return p
}

func (p *proxy) addr() env.Addr { return env.Addr(p.l.Addr().String()) }

func (p *proxy) close() {
	p.mu.Lock()
	p.gone = true
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.l.Close()
	p.wg.Wait()
}

// calmDown ends the cutting.
func (p *proxy) calmDown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = true
}

func (p *proxy) cutCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) accept() {
	defer p.wg.Done()
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.target)
		if err != nil {
			in.Close()
			continue
		}
		if !p.keep(in) || !p.keep(out) {
			in.Close()
			out.Close()
			return
		}
		p.wg.Add(2)
		go p.copy(in, out)
		go p.copy(out, in)
	}
}

// plan decides what happens to the next bytes: how many go through together,
// after which wait, and whether the connection is cut behind them.
func (p *proxy) plan(have int) (n int, wait time.Duration, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = min(have, 1+p.rng.IntN(p.chunk))
	if p.delay > 0 {
		wait = time.Duration(p.rng.Int64N(int64(p.delay)))
	}
	if p.cut > 0 && !p.calm && p.rng.IntN(p.cut) < n {
		n, cut = p.rng.IntN(n+1), true
		p.cuts++
	}
	return n, wait, cut
}

func (p *proxy) copy(from, to net.Conn) {
	defer p.wg.Done()
	defer func() {
		from.Close()
		to.Close()
		p.mu.Lock()
		delete(p.conns, from)
		delete(p.conns, to)
		p.mu.Unlock()
	}()
	buf := make([]byte, 32<<10)
	for {
		got, err := from.Read(buf)
		for b := buf[:got]; len(b) > 0; {
			n, wait, cut := p.plan(len(b))
			if wait > 0 {
				time.Sleep(wait)
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
