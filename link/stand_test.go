// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

// stand is a world in the hands of a test: time passes when the test says so,
// and connections are the test's.
type stand struct {
	t       testing.TB
	now     env.Instant
	timers  []*standTimer
	accept  func(env.Conn) env.Handler
	dialled []*standConn
}

type standTimer struct {
	at   env.Instant
	w    env.Waker
	done bool
}

func (t *standTimer) Stop() bool { was := t.done; t.done = true; return !was }

func (s *stand) Now() env.Instant { return s.now }
func (s *stand) Wall() time.Time  { return time.Unix(0, int64(s.now)) }
func (s *stand) After(d time.Duration, w env.Waker) env.Timer {
	t := &standTimer{at: s.now.Add(max(d, 0)), w: w}
	s.timers = append(s.timers, t)
	return t
}

func (s *stand) Listen(_ env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	s.accept = accept
	return s, nil
}
func (s *stand) Addr() env.Addr { return "here" }
func (s *stand) Close() error   { return nil }
func (s *stand) Dial(to env.Addr, h env.Handler) env.Conn {
	c := &standConn{s: s, h: h, remote: to}
	s.dialled = append(s.dialled, c)
	return c
}

// pass lets time pass, and fires timers in their order.
func (s *stand) pass(d time.Duration) {
	until := s.now.Add(d)
	for {
		next := -1
		for i, t := range s.timers {
			if t.at <= until && (next < 0 || t.at < s.timers[next].at) {
				next = i
			}
		}
		if next < 0 {
			s.now = until
			return
		}
		t := s.timers[next]
		s.timers = append(s.timers[:next], s.timers[next+1:]...)
		s.now = max(s.now, t.at)
		if !t.done {
			t.done = true
			t.w.Wake()
		}
	}
}

// standConn is this side of a connection; the test is the other side.
type standConn struct {
	s       *stand
	h       env.Handler
	remote  env.Addr
	said    []byte // to the test, all of it
	full    bool   // takes nothing
	closing bool
	closed  bool
}

func (c *standConn) Write(b []byte) error {
	switch {
	case c.closing:
		return env.ErrClosed
	case c.full:
		return env.ErrFull
	}
	c.said = append(c.said, b...)
	return nil
}

func (c *standConn) Close() {
	if !c.closing {
		c.closing = true
		c.s.After(0, env.WakeFunc(func() { c.hangUp(env.ErrClosed) }))
	}
}
func (c *standConn) Local() env.Addr  { return "here" }
func (c *standConn) Remote() env.Addr { return c.remote }

func (c *standConn) hangUp(err error) {
	if !c.closed {
		c.closing, c.closed = true, true
		c.h.Closed(c, err)
	}
}

// say delivers bytes, in pieces of at most that many; 0: in one.
func (c *standConn) say(b []byte, piece int) {
	for len(b) > 0 && !c.closing {
		n := len(b)
		if piece > 0 {
			n = min(n, piece)
		}
		// The network's buffer is used again.
		buf := append([]byte(nil), b[:n]...)
		c.h.Data(c, buf)
		clear(buf)
		b = b[n:]
	}
}

// heard is what was said on the connection, which must be whole frames.
func (c *standConn) heard() []rawFrame {
	c.s.t.Helper()
	frames, rest, _ := rawFrames(c.said, 1<<30)
	if rest > 0 {
		c.s.t.Fatalf("what is no frame was said: %x", c.said)
	}
	return frames
}

// refusal is why the connection was refused, 0 when it was not.
func (c *standConn) refusal() byte {
	for _, f := range c.heard() {
		if f.kind == 4 {
			return f.payload[0]
		}
	}
	return 0
}

func newStand(t testing.TB) *stand { return &stand{t: t, now: 1} }

// options are complete options in the stand.
func (s *stand) options(change func(*link.Options)) *link.Options {
	s.t.Helper()
	o := link.Options{Env: env.Env{Clock: s, Random: env.Seeded(1), Network: s}, Service: "test", System: "sys", Node: "server", Life: 5, Lock: &sync.Mutex{}}
	if change != nil {
		change(&o)
	}
	o, err := o.Complete()
	if err != nil {
		s.t.Fatal(err)
	}
	return &o
}

// owner is a server's, and notes who is there and what came.
type owner struct {
	up     []*link.Conn
	frames []rawFrame
	down   []error
}

func (o *owner) Up(c *link.Conn) { o.up = append(o.up, c) }
func (o *owner) Frame(_ *link.Conn, t link.Type, b []byte) error {
	o.frames = append(o.frames, rawFrame{byte(t), append([]byte(nil), b...)})
	return nil
}
func (o *owner) Down(_ *link.Conn, err error) { o.down = append(o.down, err) }

// serve starts a server in the stand.
func (s *stand) serve(change func(*link.Options)) *owner {
	s.t.Helper()
	w := &owner{}
	o := s.options(change)
	server, err := link.NewServer(o, "here", w)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		o.Lock.Lock()
		server.Shut()
		o.Lock.Unlock()
	})
	return w
}

// connect makes a connection from a host; nil when it is turned away.
func (s *stand) connect(host string) *standConn {
	c := &standConn{s: s, remote: env.Addr(host + ":1000")}
	h := s.accept(c)
	if h == nil {
		return nil
	}
	c.h = h
	return c
}

func goodHello() rawHello {
	return rawHello{version: 1, life: 7, nonce: [16]byte{1, 2, 3}, service: "test", system: "sys", from: "peer", to: "server"}
}

// peer makes a connection whose handshake is over.
func (s *stand) peer(host string) *standConn {
	s.t.Helper()
	c := s.connect(host)
	c.say(rawFrame{1, goodHello().payload()}.bytes(), 0)
	if f := c.heard(); len(f) < 1 || f[0].kind != 2 {
		s.t.Fatalf("not welcomed: %v", f)
	}
	return c
}
