// SPDX-License-Identifier: Apache-2.0

package node

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// desk is a server of a partition of its own, in a world that the test moves by hand:
// input of connections, time, and when the server commits.
type desk struct {
	t       testing.TB
	s       *Server
	genesis *wor.Genesis
	disk    *sim.Disk
	sync    func() error // runs within each sync of the disk
	clock   handClock
	accept  func(env.Conn) env.Handler
	deaf    error // an error of Listen
	dialled []handDial
	warned  []string
	step    func() bool
	woken   bool
}

type handDial struct {
	addr env.Addr
	h    env.Handler
	c    *handConn
}

// newDesk opens a server; change may alter its options. It is durable unless Memory is
// set.
func newDesk(t testing.TB, change func(*Options)) *desk {
	d := &desk{t: t, disk: sim.NewDisk()}
	o := d.options()
	if change != nil {
		change(&o)
	}
	if !o.Memory {
		id, err := Format(o.Env, "log", "desk")
		if err != nil {
			t.Fatal(err)
		}
		o.Dir = "log"
		if o.Genesis == nil {
			o.Genesis = &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{Members: []wor.Member{{ID: id, Addr: "desk"}}}}}
		}
	} else {
		o.Key = testKey(1)
		o.Genesis = &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{Members: []wor.Member{{ID: o.Key.ID(), Addr: "desk"}}}}}
	}
	d.open(o)
	return d
}

func (d *desk) options() Options {
	return Options{Env: env.Env{Clock: &d.clock, Random: env.Seeded(1), Network: (*handNetwork)(d), Disk: (*handDisk)(d)},
		Tasks: (*handTasks)(d), Listen: "desk"}
}

func (d *desk) open(o Options) {
	d.genesis = o.Genesis
	s, err := OpenServer(o)
	if err != nil {
		d.t.Fatal(err)
	}
	d.s = s
	d.commit()
}

// commit runs the step that commits, if it was woken.
func (d *desk) commit() {
	for d.woken {
		d.woken = d.step()
	}
}

type handNetwork desk

func (n *handNetwork) Listen(_ env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	if n.deaf != nil {
		return nil, n.deaf
	}
	n.accept = accept
	return handListener{}, nil
}

func (n *handNetwork) Dial(a env.Addr, h env.Handler) env.Conn {
	c := &handConn{}
	n.dialled = append(n.dialled, handDial{a, h, c})
	return c
}

type handListener struct{}

func (handListener) Addr() env.Addr { return "desk" }
func (handListener) Close() error   { return nil }

type handTasks desk

func (h *handTasks) Task(step func() bool) env.Waker {
	h.step = step
	return env.WakeFunc(func() { h.woken = true })
}

// handDisk is the disk, with a hook in its syncs.
type handDisk desk

func (h *handDisk) Open(name string, create bool) (env.File, error) {
	f, err := h.disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &handFile{f, h}, nil
}
func (h *handDisk) Rename(a, b string) error          { return h.disk.Rename(a, b) }
func (h *handDisk) Remove(name string) error          { return h.disk.Remove(name) }
func (h *handDisk) MakeDir(name string) error         { return h.disk.MakeDir(name) }
func (h *handDisk) List(dir string) ([]string, error) { return h.disk.List(dir) }
func (h *handDisk) SyncDir(dir string) error          { return h.disk.SyncDir(dir) }

type handFile struct {
	env.File
	h *handDisk
}

func (f *handFile) Sync() error {
	if f.h.sync != nil {
		if err := f.h.sync(); err != nil {
			return err
		}
	}
	return f.File.Sync()
}

// handClock is a clock that only advance moves.
type handClock struct {
	now    env.Instant
	timers []*handTimer
}

type handTimer struct {
	at    env.Instant
	w     env.Waker
	ended bool
}

func (t *handTimer) Stop() bool {
	was := !t.ended
	t.ended = true
	return was
}

func (c *handClock) Now() env.Instant { return c.now }
func (c *handClock) Wall() time.Time  { return time.Unix(0, int64(c.now)) }
func (c *handClock) After(d time.Duration, w env.Waker) env.Timer {
	t := &handTimer{at: c.now.Add(max(d, 0)), w: w}
	c.timers = append(c.timers, t)
	return t
}

// advance moves the clock, timer by timer.
func (c *handClock) advance(d time.Duration) {
	end := c.now.Add(d)
	for {
		var first *handTimer
		for _, t := range c.timers {
			if !t.ended && t.at <= end && (first == nil || t.at < first.at) {
				first = t
			}
		}
		if first == nil {
			break
		}
		c.now = max(c.now, first.at)
		first.ended = true
		first.w.Wake()
		c.timers = slices.DeleteFunc(c.timers, func(t *handTimer) bool { return t.ended })
	}
	c.now = end
}

// handConn is a connection whose other side is the test.
type handConn struct {
	scan   wire.Scanner
	closed bool
	full   bool
	asked  bool // a write has met ErrFull
	out    []byte
	remote env.Addr
}

func (c *handConn) Write(b []byte) error {
	if c.closed {
		return env.ErrClosed
	}
	if c.full {
		c.asked = true
		return env.ErrFull
	}
	c.out = append(c.out, b...)
	return nil
}
func (c *handConn) Close()           { c.closed = true }
func (c *handConn) Local() env.Addr  { return "" }
func (c *handConn) Remote() env.Addr { return c.remote }

// guest is a client that the test controls.
type guest struct {
	d *desk
	c *handConn
	h env.Handler
}

// said is a frame that the server has sent.
type said struct {
	kind     wire.Type
	id       uint64
	position uint64
	reply    wor.Reply
	note     wor.Note
	code     wire.Code
	payload  []byte
	welcome  wire.Welcome
}

// connect opens a connection without sending anything.
func (d *desk) connect() *guest {
	g := &guest{d: d, c: &handConn{}}
	g.h = d.accept(g.c)
	return g
}

// guest opens a connection and is welcomed.
func (d *desk) guest() *guest {
	d.t.Helper()
	return d.guestFrom("")
}

// guestFrom is a guest with an address.
func (d *desk) guestFrom(remote env.Addr) *guest {
	d.t.Helper()
	g := &guest{d: d, c: &handConn{remote: remote}}
	if g.h = d.accept(g.c); g.h == nil {
		d.t.Fatalf("a connection from %q is turned away", remote)
	}
	g.say(func(e *wire.Encoder) {
		e.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 9, To: d.s.ID()})
	})
	if got := g.take(); len(got) != 1 || got[0].kind != wire.TypeWelcome || got[0].welcome.Refusal != wire.RefusalNone {
		d.t.Fatalf("hello was answered with %+v", got)
	}
	return g
}

// say sends frames in one piece.
func (g *guest) say(put func(*wire.Encoder)) {
	var e wire.Encoder
	put(&e)
	g.h.Data(g.c, e.Bytes())
}

func (g *guest) ask(id uint64, q wor.Request) {
	g.d.t.Helper()
	g.say(func(e *wire.Encoder) {
		if err := e.Request(id, 0, &q); err != nil {
			g.d.t.Fatal(err)
		}
	})
}

// take returns the frames that the server has sent since the last call.
func (g *guest) take() (all []said) {
	g.d.t.Helper()
	out := g.c.out
	g.c.out = nil
	g.c.scan.Feed(out)
	for {
		f, ok, err := g.c.scan.Next()
		if err != nil {
			g.d.t.Fatal(err)
		}
		if !ok {
			return all
		}
		s := said{kind: f.Type}
		switch f.Type {
		case wire.TypeReply:
			s.id, s.position, err = wire.DecodeReply(f.Payload, &s.reply)
			own(&s.reply)
		case wire.TypeNote:
			s.id, err = wire.DecodeNote(f.Payload, &s.note)
			s.note.Value = slices.Clone(s.note.Value)
		case wire.TypeAnswer:
			s.id, s.code, s.payload, err = wire.DecodeAnswer(f.Payload)
			s.payload = slices.Clone(s.payload)
		case wire.TypeWelcome:
			err = wire.DecodeWelcome(f.Payload, &s.welcome)
		case wire.TypePing, wire.TypePong:
			s.id, err = wire.DecodePing(f.Payload)
		}
		if err != nil {
			g.d.t.Fatal(err)
		}
		all = append(all, s)
	}
}

// one returns the only frame that the server has sent since, which must be of that type.
func (g *guest) one(kind wire.Type) said {
	g.d.t.Helper()
	got := g.take()
	if len(got) != 1 || got[0].kind != kind {
		g.d.t.Fatalf("got %+v, want one %v", got, kind)
	}
	return got[0]
}

// none checks that the server has sent nothing.
func (g *guest) none(when string) {
	g.d.t.Helper()
	if got := g.take(); len(got) > 0 {
		g.d.t.Fatalf("%s: %+v", when, got)
	}
}

func writeOf(a wor.Addr, round uint64, value string) wor.Request {
	return wor.Request{Kind: wor.KindWrite, Range: wor.One(a), Ballot: wor.Ballot{Round: round, Nonce: 9}, Value: []byte(value)}
}

func readOf(a wor.Addr) wor.Request { return wor.Request{Kind: wor.KindRead, Range: wor.One(a)} }

func (h *handDisk) Lock(name string) (io.Closer, error) { return h.disk.Lock(name) }
