// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/dedalus/rt/internal/raw"
	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// quiet asks once, and never again.
type quiet struct{ leader }

func (q *quiet) Resend(*rt.Out) {}

// telling says after a crash what it has put down.
type telling struct{ voter }

func (v *telling) Restore(c rt.Change) error {
	v.next = append(v.next, string(c.Row))
	return v.voter.Restore(c)
}

func quietProgram() *rt.Program {
	p := voteProgram()
	p.Components[0].Timers = nil
	p.Components[0].New = func(rt.Identity, map[string][][]byte) (rt.Component, error) {
		return &quiet{leader{asked: map[string]*asked{}}}, nil
	}
	p.Components[1].New = func(who rt.Identity, _ map[string][][]byte) (rt.Component, error) {
		return &telling{voter{who: who, kept: map[string]bool{}}}, nil
	}
	return p
}

// TestAcknowledgedIsDurable: voters, who alone have a disk, lose power while they write. Nobody asks a second
// time, so what a voter has acknowledged and does not know would never be answered.
func TestAcknowledgedIsDurable(t *testing.T) {
	play := func(w *sim.World) error {
		x := newWorld(w, func(o *host.Options) {
			// With a window this small each batch is acknowledged as soon as it may be.
			o.Program, o.ResendEvery, o.Window = quietProgram(), -1, 60
		})
		answered := 0
		const calls = 300
		w.Node("c", func(l *sim.Life) error {
			c, err := client.Open(client.Options{Env: l.Env, Program: x.program, Name: "c", Nodes: map[string]env.Addr{"leader/0": x.peers["leader/0"]},
				Output: func(string, int, []byte) { answered++ }})
			if err != nil {
				return err
			}
			n := uint64(0)
			var next func()
			next = func() {
				if n++; n > calls {
					return
				}
				if err := c.Send("leader/0", relCommand, command("c", n, fmt.Sprint("v", n))); err != nil {
					w.Fail("inputs are taken", err)
				}
				l.Env.Clock.After(time.Duration(env.IntN(l.Env.Random, int(20*time.Millisecond))), env.WakeFunc(next))
			}
			next()
			return nil
		})
		return w.RunUntil(10*time.Minute, func() bool { return answered == calls })
	}
	suite.Suite{Getenv: os.Getenv, Package: "./dedalus/rt/host", Short: testing.Short(), Seeds: 20, Whole: true,
		Faults: sim.CrashFaults().With(sim.CrashInDisk, .02).With(sim.PowerLoss, 1)}.Run(t, play)
}

// peerAt is a listener that passes for an instance, as far as a test wants.
type peerAt struct {
	t       *testing.T
	welcome func(h raw.Hello) raw.Welcome
	frames  chan raw.Frame
	closed  chan error
}

func (p *peerAt) accept(c env.Conn) env.Handler {
	return &peerConn{p: p, scan: raw.Scanner{}}
}

type peerConn struct {
	p    *peerAt
	scan raw.Scanner
}

func (c *peerConn) Opened(env.Conn)              {}
func (c *peerConn) Drained(env.Conn)             {}
func (c *peerConn) Closed(_ env.Conn, err error) { c.p.closed <- err }
func (c *peerConn) Data(nc env.Conn, b []byte) {
	c.scan.Feed(b)
	for {
		f, ok, err := c.scan.Next()
		if err != nil {
			c.p.t.Error(err)
		}
		if !ok || err != nil {
			return
		}
		if f.Type == raw.TypeHello {
			h, err := raw.DecodeHello(f.Payload)
			if err != nil {
				c.p.t.Error(err)
			}
			w := c.p.welcome(h)
			if err := nc.Write(raw.AppendWelcome(nil, &w)); err != nil {
				c.p.t.Error(err)
			}
			continue
		}
		f.Payload = append([]byte(nil), f.Payload...)
		c.p.frames <- f
		if f.Type == raw.TypeBatch {
			nc.Close()
		}
	}
}

// passAs has near/0 talk to a listener in place of far/0, and sends an input on.
func passAs(t *testing.T, key []byte, welcome func(h raw.Hello) raw.Welcome) (*live, *peerAt) {
	t.Helper()
	p := &peerAt{t: t, welcome: welcome, frames: make(chan raw.Frame, 10000), closed: make(chan error, 10000)}
	x := newLive(t, func(o *host.Options) {
		l, err := o.Env.Network.Listen("127.0.0.1:0", p.accept)
		if err != nil {
			t.Fatal(err)
		}
		o.Peers["far/0"], o.Key = l.Addr(), key
		// What is to be sent again is looked for each time, not once for several.
		o.AckAfter, o.BackoffMin, o.BackoffMax = time.Millisecond, 200*time.Millisecond, 201*time.Millisecond
	})
	h := asClient("c")
	s := x.dial()
	s.say(raw.AppendHello(nil, &h))
	s.hear(raw.TypeWelcome)
	s.say(batch(relIn, "x"))
	return x, p
}

// TestPeerWithoutKey: a peer without the key is sent nothing but the hello.
func TestPeerWithoutKey(t *testing.T) {
	key := []byte("a key of some length")
	for name, proof := range map[string]func(h raw.Hello, w raw.Welcome) raw.Proof{
		"none":    func(raw.Hello, raw.Welcome) raw.Proof { return raw.Proof{} },
		"another": func(h raw.Hello, w raw.Welcome) raw.Proof { return raw.Prove([]byte("other"), false, &h, &w) },
		"the dialler's": func(h raw.Hello, w raw.Welcome) raw.Proof {
			return raw.Prove(key, true, &h, &w)
		},
	} {
		_, p := passAs(t, key, func(h raw.Hello) raw.Welcome {
			w := raw.Welcome{Life: 1, Node: "far/0", Window: 1 << 20}
			w.Proof = proof(h, w)
			return w
		})
		<-p.closed
		<-p.closed // it was dialled again
		select {
		case f := <-p.frames:
			t.Errorf("%s: a %v was sent", name, f.Type)
		default:
		}
	}
}

// TestUnacknowledgedIsSentAgain: to the same life from where it is, to another all, and
// the program is asked what holds.
func TestUnacknowledgedIsSentAgain(t *testing.T) {
	var mu sync.Mutex
	n := 0
	x, p := passAs(t, nil, func(raw.Hello) raw.Welcome {
		mu.Lock()
		defer mu.Unlock()
		n++
		w := raw.Welcome{Life: 1, Node: "far/0", Window: 1 << 20}
		if n > 1 {
			w.Life = 2 // started anew: it has nothing
		}
		return w
	})
	for range 2 {
		for f := range p.frames {
			if f.Type == raw.TypeProof {
				continue
			}
			seq, m, err := wire.Batch(f.Payload)
			if err != nil || seq != 1 {
				t.Fatalf("batch %d, %v", seq, err)
			}
			if r, row, ok := m.Next(); !ok || r != relOn || string(row) != "x" {
				t.Fatalf("%d %q %v", r, row, ok)
			}
			break
		}
		<-p.closed
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for x.near.Status().Counts.Resends < 2 { // one for the client, one for the new life
		select {
		case <-deadline.C:
			t.Fatalf("%+v", x.near.Status())
		case <-p.closed: // it goes on dialling
		}
	}
}

// TestLostPiece: a message to another piece for which there is no room ends the
// incarnation; a piece that has none begins the next one of the first that it meets.
func TestLostPiece(t *testing.T) {
	for _, incarnation := range []uint64{4, 0} {
		ended := make(chan error, 1)
		x := newLive(t, func(o *host.Options) {
			o.Pieces, o.Incarnation, o.QueueMax = []string{"far/0"}, incarnation, 100
			o.Fatal = func(err error) { ended <- err }
		})
		h := asClient("c")
		s := x.dial()
		s.say(raw.AppendHello(nil, &h))
		s.hear(raw.TypeWelcome)
		o := wire.Outbox{Max: 1 << 20}
		for range 20 {
			o.Add(relIn, []byte("a message of some length"))
		}
		o.Seal()
		s.say(o.Next(0))
		want := uint64(5)
		if incarnation == 0 {
			s.hear(raw.TypeAck) // the tick is over
			far := asClient("far/0")
			far.Role, far.Incarnation = raw.Instance, 7
			f := x.dial()
			f.say(raw.AppendHello(nil, &far))
			f.hear(raw.TypeWelcome)
			want = 8
		}
		err := <-ended
		var newer *host.NewerError
		if !errors.As(err, &newer) || newer.Incarnation != want {
			t.Errorf("ended with %v, want incarnation %d", err, want)
		}
	}
}
