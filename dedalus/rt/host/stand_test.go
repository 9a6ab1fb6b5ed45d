// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"encoding/binary"
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
)

// stand is near/0 of the line program in the hands of a test: nothing comes, ticks or
// runs out but when the test says so. So what an attacker gets it to keep can be
// counted, and minutes of patience take no time.
type stand struct {
	t       standTB
	p       *rt.Program
	h       *host.Host
	now     env.Instant
	timers  []*standTimer
	accept  func(env.Conn) env.Handler
	turn    func() bool
	woken   bool
	dialled []*standConn
	ended   error
}

// newStand opens it. Comp is what runs in the place of near, nil for near itself.
func newStand(t standTB, comp rt.Component, change func(o *host.Options)) *stand {
	t.Helper()
	s := &stand{t: t, now: 1}
	if comp == nil {
		comp = &near{}
	}
	s.p = lineProgram(&line{came: map[string]int{}})
	s.p.Components[0].New = func(rt.Identity, map[string][][]byte) (rt.Component, error) { return comp, nil }
	o := host.Options{Env: env.Env{Clock: s, Random: env.Seeded(1), Network: s, Tracer: env.NoTrace{}}, Tasks: s, Program: s.p,
		Who: rt.Identity{Node: "near/0", Self: "near/0"}, Listen: "here", Peers: map[string]env.Addr{"near/0": "here", "far/0": "there"}, ResendEvery: -1,
		Fatal: func(err error) { s.ended = err }}
	if change != nil {
		change(&o)
	}
	h, err := host.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	s.h = h
	s.run()
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// standTB is what a stand says its troubles to: a *testing.T or a *rapid.T.
type standTB interface {
	rapid.TB
	Cleanup(func())
}

type standTimer struct {
	at   env.Instant
	w    env.Waker
	done bool
}

// Stop is env.Timer's.
func (t *standTimer) Stop() bool { was := t.done; t.done = true; return !was }

// Now, Wall and After are env.Clock's.
func (s *stand) Now() env.Instant { return s.now }
func (s *stand) Wall() time.Time  { return time.Unix(0, int64(s.now)) }
func (s *stand) After(d time.Duration, w env.Waker) env.Timer {
	t := &standTimer{at: s.now.Add(max(d, 0)), w: w}
	s.timers = append(s.timers, t)
	return t
}

// Task is env.Tasks'.
func (s *stand) Task(turn func() bool) env.Waker {
	s.turn = turn
	return env.WakeFunc(func() { s.woken = true })
}

// Listen and Dial are env.Network's.
func (s *stand) Listen(_ env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	s.accept = accept
	return s, nil
}
func (s *stand) Dial(_ env.Addr, h env.Handler) env.Conn {
	c := &standConn{s: s, h: h, scan: raw.Scanner{}}
	s.dialled = append(s.dialled, c)
	return c
}

// Addr and Close are env.Listener's.
func (s *stand) Addr() env.Addr { return "here" }
func (s *stand) Close() error   { return nil }

// run has the instance tick until it has nothing more to do.
func (s *stand) run() {
	for n := 0; s.woken; n++ {
		s.woken = false
		for s.turn() {
		}
		if n > 1000 {
			s.t.Fatal("the instance never rests")
		}
	}
}

// pass lets time pass, and has timers run out in their order.
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
		s.run()
	}
}

// standConn is the host's side of a connection; the test is the other side.
type standConn struct {
	s       *stand
	h       env.Handler
	scan    raw.Scanner
	said    []raw.Frame // by the host
	full    bool        // takes nothing
	closing bool
	closed  bool
}

// Write, Close, Local and Remote are env.Conn's.
func (c *standConn) Write(b []byte) error {
	switch {
	case c.closing:
		return env.ErrClosed
	case c.full:
		return env.ErrFull
	}
	c.scan.Feed(append([]byte(nil), b...))
	for {
		f, ok, err := c.scan.Next()
		if err != nil {
			c.s.t.Errorf("the host says what is no frame: %v", err)
		}
		if err != nil || !ok {
			return nil
		}
		f.Payload = append([]byte(nil), f.Payload...)
		c.said = append(c.said, f)
	}
}

func (c *standConn) Close() {
	if c.closing {
		return
	}
	c.closing = true
	c.s.After(0, env.WakeFunc(func() { c.hangUp(env.ErrClosed) }))
}
func (c *standConn) Local() env.Addr  { return "here" }
func (c *standConn) Remote() env.Addr { return "away" }

// hangUp ends the connection, as from the other side.
func (c *standConn) hangUp(err error) {
	if !c.closed {
		c.closing, c.closed = true, true
		c.h.Closed(c, err)
	}
}

// connect makes a connection; nil when it is turned away.
func (s *stand) connect() *standConn {
	c := &standConn{s: s, scan: raw.Scanner{}}
	h := s.accept(c)
	if h == nil {
		return nil
	}
	c.h = h
	return c
}

// say has bytes come, in pieces of at most so many; 0: in one.
func (c *standConn) say(b []byte, piece int) {
	for len(b) > 0 && !c.closing {
		n := len(b)
		if piece > 0 {
			n = min(n, piece)
		}
		// The network's buffer is used again: it may not be kept.
		buf := append([]byte(nil), b[:n]...)
		c.h.Data(c, buf)
		clear(buf)
		b = b[n:]
	}
}

// refusal is why the host has ended the connection, 0 when it has not said.
func (c *standConn) refusal() raw.RefusalCode {
	for _, f := range c.said {
		if f.Type == raw.TypeRefusal {
			if r, err := raw.DecodeRefusal(f.Payload); err == nil {
				return r.Code
			}
		}
	}
	return 0
}

// last is the last frame of a type that the host has said.
func (c *standConn) last(typ raw.Type) (f raw.Frame, ok bool) {
	for i := len(c.said) - 1; i >= 0; i-- {
		if c.said[i].Type == typ {
			return c.said[i], true
		}
	}
	return f, false
}

// client connects as one, and has been welcomed when it returns.
func (s *stand) client(name string, life uint64) *standConn {
	s.t.Helper()
	c := s.connect()
	if c == nil {
		s.t.Fatalf("%s was turned away", name)
	}
	h := asClient(name)
	h.Life = life
	c.say(raw.AppendHello(nil, &h), 0)
	if _, ok := c.last(raw.TypeWelcome); !ok {
		s.t.Fatalf("%s was not welcomed: %v", name, c.refusal())
	}
	return c
}

// instance connects as far/0, with a key or without.
func (s *stand) instance(key []byte, life uint64) *standConn {
	s.t.Helper()
	c := s.connect()
	h := asClient("far/0")
	h.Role, h.Life, h.Keyed = raw.Instance, life, len(key) > 0
	c.say(raw.AppendHello(nil, &h), 0)
	f, _ := c.last(raw.TypeWelcome)
	w, err := raw.DecodeWelcome(f.Payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if h.Keyed {
		c.say(raw.AppendProof(nil, raw.Prove(key, true, &h, &w)), 0)
	}
	return c
}

// batchOf is a batch of a number, of messages that need not be any.
func batchOf(seq uint64, messages []byte) []byte {
	return frameOf(raw.TypeBatch, append(binary.LittleEndian.AppendUint64(nil, seq), messages...))
}

// frameOf is a frame with whatever it says.
func frameOf(typ raw.Type, payload []byte) []byte {
	return raw.AppendFrame(nil, typ, payload)
}

// answers is whether a client that keeps to the rules is served: a row that comes from
// far/0 for the client c is an output.
func (s *stand) answers(c, far *standConn, seq uint64) error {
	before := len(c.said)
	far.say(batchOf(seq, wire.AppendMessage(nil, relBack, []byte("well"))), 0)
	s.run()
	for _, f := range c.said[before:] {
		if f.Type == raw.TypeBatch {
			return nil
		}
	}
	return errors.New("a client that keeps to the rules is not served")
}
