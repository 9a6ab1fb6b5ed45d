// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"container/heap"
	"errors"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// world is an env of one thread and virtual time whose connections deliver in
// pieces, late, and break at any byte. It runs the very code that runs on the
// real one, in an order that the seed decides.
type world struct {
	t      *testing.T
	rng    env.Random
	now    env.Instant
	seq    int
	events events
	listen map[env.Addr]func(env.Conn) env.Handler
	ports  int
	conns  []*wconn
	cut    int // one in so many deliveries breaks the connection; 0: none
	cuts   int
	hash   uint64 // of everything that was delivered
}

type event struct {
	at   env.Instant
	seq  int
	do   func()
	dead bool
}

type events []*event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{t: t, rng: env.Seeded(seed), listen: map[env.Addr]func(env.Conn) env.Handler{}}
}

func (w *world) env(name string) env.Env {
	return env.Env{Clock: (*wclock)(w), Random: w.rng.Split(name), Network: (*wnet)(w), Tracer: env.NoTrace{}}
}

func (w *world) at(d time.Duration, do func()) *event {
	w.seq++
	e := &event{at: w.now.Add(max(d, 0)), seq: w.seq, do: do}
	heap.Push(&w.events, e)
	return e
}

func (w *world) latency() time.Duration {
	return time.Duration(env.IntN(w.rng, int(2*time.Millisecond)))
}

// next runs one event and says whether there was one.
func (w *world) next() bool {
	for w.events.Len() > 0 {
		e := heap.Pop(&w.events).(*event)
		if e.dead {
			continue
		}
		w.now = e.at
		e.do()
		return true
	}
	return false
}

type wclock world

func (c *wclock) Now() env.Instant { return c.now }
func (c *wclock) Wall() time.Time  { return time.Unix(0, int64(c.now)) }
func (c *wclock) After(d time.Duration, w env.Waker) env.Timer {
	return wtimer{(*world)(c).at(d, w.Wake)}
}

type wtimer struct{ e *event }

func (t wtimer) Stop() bool {
	was := !t.e.dead
	t.e.dead = true
	return was
}

type wnet world

type wlistener struct {
	w    *world
	addr env.Addr
}

func (l wlistener) Addr() env.Addr { return l.addr }
func (l wlistener) Close() error {
	delete(l.w.listen, l.addr)
	return nil
}

func (n *wnet) Listen(a env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	if a == "any" {
		n.ports++
		a = env.Addr(fmt.Sprint("world:", n.ports))
	}
	n.listen[a] = accept
	return wlistener{(*world)(n), a}, nil
}

var errCut = errors.New("cut")

// wconn is one end of a connection. What is written is kept by the end until
// an event delivers a piece of it to the other.
type wconn struct {
	w       *world
	h       env.Handler
	other   *wconn
	addr    env.Addr
	out     []byte
	moving  bool // a delivery is on its way
	full    bool
	closed  bool // no call to the handler any more
	closing bool
}

const wbuffer = 2000

func (n *wnet) Dial(addr env.Addr, h env.Handler) env.Conn {
	w := (*world)(n)
	c := &wconn{w: w, h: h, addr: addr}
	w.at(w.latency(), func() {
		accept := w.listen[addr]
		if c.closing || accept == nil {
			c.end(errCut)
			return
		}
		s := &wconn{w: w, other: c, addr: "world:client"}
		if s.h = accept(s); s.h == nil {
			c.end(errCut)
			return
		}
		c.other = s
		w.conns = append(w.conns, c)
		c.h.Opened(c)
		c.move()
	})
	return c
}

func (c *wconn) Local() env.Addr  { return "" }
func (c *wconn) Remote() env.Addr { return c.addr }

func (c *wconn) Write(b []byte) error {
	if c.closing || c.closed {
		return env.ErrClosed
	}
	if len(c.out) > 0 && len(c.out)+len(b) > wbuffer {
		c.full = true
		return env.ErrFull
	}
	c.out = append(c.out, b...)
	c.move()
	return nil
}

// move has a piece delivered later.
func (c *wconn) move() {
	if c.moving || c.other == nil || len(c.out) == 0 {
		return
	}
	c.moving = true
	c.w.at(c.w.latency(), func() {
		c.moving = false
		if c.closed || c.other.closed || len(c.out) == 0 {
			return
		}
		n := 1 + env.IntN(c.w.rng, len(c.out))
		piece := append([]byte(nil), c.out[:n]...)
		c.out = c.out[n:]
		h := fnv.New64a()
		h.Write(piece)
		c.w.hash = c.w.hash*31 + h.Sum64() + uint64(c.w.now)
		c.other.h.Data(c.other, piece)
		if c.w.cut > 0 && env.IntN(c.w.rng, c.w.cut) == 0 {
			c.w.cuts++
			c.end(errCut)
			c.other.end(errCut)
			return
		}
		if c.full && !c.closed && len(c.out) < wbuffer/2 {
			c.full = false
			c.h.Drained(c)
		}
		c.move()
	})
}

func (c *wconn) Close() {
	if c.closing || c.closed {
		return
	}
	c.closing = true
	c.w.at(c.w.latency(), func() {
		c.end(env.ErrClosed)
		if c.other != nil {
			c.other.end(errCut)
		}
	})
}

func (c *wconn) end(err error) {
	if !c.closed {
		c.closed = true
		c.h.Closed(c, err)
	}
}

// stepper is an instance that can be driven by hand.
type stepper interface {
	distsys.Process
	Notify(func())
	Err() error
}

// drive runs instances and the world until all instances have finished.
func (w *world) drive(procs ...stepper) error {
	runnable := make([]bool, len(procs))
	left := len(procs)
	for i, p := range procs {
		runnable[i] = true
		p.Notify(func() { runnable[i] = true })
	}
	for steps := 0; left > 0; steps++ {
		if steps > 2_000_000 {
			return errors.New("it does not end")
		}
		var ready []int
		for i := range procs {
			if runnable[i] {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 || env.IntN(w.rng, 3) == 0 {
			if !w.next() && len(ready) == 0 {
				return errors.New("nothing can go on")
			}
			continue
		}
		i := ready[env.IntN(w.rng, len(ready))]
		runnable[i] = false
		switch procs[i].Step() {
		case distsys.Running:
			runnable[i] = true
		case distsys.Finished:
			if err := procs[i].Err(); err != nil {
				return err
			}
			left--
		}
	}
	return nil
}

func (w *world) link(node string) link.Options {
	return link.Options{Env: w.env(node), System: "test", Node: node, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond}
}

const worldSeeds = 60

// TestInTheWorld is TestMessagesArriveOnceInOrder for many seeds, and twice for
// each: the same seed gives the same run.
func TestInTheWorld(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		cuts := 0
		for seed := range uint64(worldSeeds) {
			run := func() uint64 {
				const senders, count = 3, 30
				w := newWorld(t, seed)
				w.cut = 5 + int(seed%60)
				here := value.Int(0)
				server := open(t, mailbox.Options{Link: w.link("server"), Listen: "any", Local: []value.Value{here},
					Queue: queue.Limits{Messages: 3}, HoldTime: 3 * time.Millisecond})
				rcv := newReceiver(t, w.env("receiver"), server, here, senders*count)
				procs := []stepper{rcv}
				for i := range senders {
					name := fmt.Sprint("sender", i)
					m := open(t, mailbox.Options{Link: w.link(name), Relaxed: relaxed, Window: 5,
						Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
					procs = append(procs, newSender(t, w.env(name), m, value.Int(int32(i)), here, count))
				}
				if err := w.drive(procs...); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				checkFIFO(t, rcv.State().got, senders, count)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
				cuts += w.cuts
				return w.hash
			}
			if a, b := run(), run(); a != b {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
		if cuts < 10*worldSeeds {
			t.Errorf("only %d cuts", cuts)
		}
	})
}

// caster sends each of its messages to several mailboxes in one section.
type caster struct {
	network  distsys.Ref
	to       []value.Value
	i, count int32
}

func (s *caster) l(tx *distsys.Tx) (distsys.Label, error) {
	if s.i >= s.count {
		return distsys.Done, nil
	}
	s.i++
	for _, to := range s.to {
		if err := tx.Write(s.network, value.Tuple(tx.Self(), value.Int(s.i)), to); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// TestCastsHaveOneOrder: sections that send to two mailboxes on different
// nodes are seen there in the same order, whatever breaks.
func TestCastsHaveOneOrder(t *testing.T) {
	const senders, count = 3, 12
	for seed := range uint64(worldSeeds) {
		w := newWorld(t, seed+1000)
		if seed%2 == 0 {
			w.cut = 40
		}
		boxes := []value.Value{value.Int(100), value.Int(101)}
		var procs []stepper
		var receivers []*distsys.Instance[receiver]
		var remotes []mailbox.Remote
		for i, b := range boxes {
			name := fmt.Sprint("receiver", i)
			m := open(t, mailbox.Options{Link: w.link(name), Listen: "any", Local: []value.Value{b}, Queue: queue.Limits{Messages: 4}, HoldTime: time.Minute})
			remotes = append(remotes, mailbox.Remote{Index: b, Addr: m.Addr()})
			r := newReceiver(t, w.env(name), m, b, senders*count)
			receivers, procs = append(receivers, r), append(procs, r)
		}
		code := &distsys.Archetype[caster]{Name: "Caster", Sections: []distsys.Section[caster]{{Name: "l", Run: (*caster).l}}}
		for i := range senders {
			name := fmt.Sprint("sender", i)
			m := open(t, mailbox.Options{Link: w.link(name), Remote: remotes})
			to := []value.Value{boxes[i%2], boxes[1-i%2]}
			in, err := distsys.New(code, value.Int(int32(i)), caster{network: distsys.NewRef("network", m.Network()), to: to, count: count}, distsys.Options{Env: w.env(name)})
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, in)
		}
		if err := w.drive(procs...); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		a, b := receivers[0].State().got, receivers[1].State().got
		checkFIFO(t, a, senders, count)
		for i := range a {
			if !value.Equal(a[i], b[i]) {
				t.Fatalf("seed %d: message %d is %s in one mailbox and %s in the other", seed, i, a[i], b[i])
			}
		}
	}
}
