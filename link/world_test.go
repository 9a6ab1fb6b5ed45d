// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// The world of TestInTheWorld: a server that loses its memory now and then, and
// clients that number what they send on each connection from 1. The server
// answers each frame with its number.

const worldClients = 3

type sender struct {
	w     *sim.World
	c     *link.Client
	life  *sim.Life
	sent  uint64 // on this connection
	acked uint64
	met   uint64 // the server's life
	ups   int
	full  int
}

func (s *sender) Up(peer *link.Hello) error {
	if peer.Node != "server" || peer.Life == 0 || !peer.Keyed {
		s.w.Fail("identity", fmt.Errorf("the peer is %+v", peer))
	}
	if s.met != 0 && peer.Life != s.met {
		s.w.Mark("the server has lost its memory")
	}
	s.met, s.sent, s.acked = peer.Life, 0, 0
	if s.ups++; s.ups > 1 {
		s.w.Mark("connected again")
	}
	return nil
}

func (s *sender) Frame(t link.Type, b []byte) error {
	n := binary.LittleEndian.Uint64(b)
	if t != link.Service+1 || n != s.acked+1 || n > s.sent {
		s.w.Fail("answers", fmt.Errorf("type %v, number %d after %d, %d were sent", t, n, s.acked, s.sent))
	}
	s.acked = n
	return nil
}
func (s *sender) Room()      {}
func (s *sender) Down(error) {}

// speak sends a number, and sets the clock for the next.
func (s *sender) speak() {
	b := link.Begin(nil, link.Service)
	b = binary.LittleEndian.AppendUint64(b, s.sent+1)
	b = append(b, make([]byte, (s.sent*977)%5000)...)
	switch err := s.c.Send(link.Seal(b, 0)); err {
	case nil:
		s.sent++
	case env.ErrFull:
		s.full++
	}
	s.life.Env.Clock.After(20*time.Millisecond, env.WakeFunc(s.speak))
}

// receiver is the server: what comes on a connection has no gap, nothing twice
// and nothing damaged.
type receiver struct {
	w    *sim.World
	last map[*link.Conn]uint64
}

func (r *receiver) Up(c *link.Conn) {
	if !c.Peer.Keyed || c.Peer.Life == 0 {
		r.w.Fail("identity", fmt.Errorf("the peer is %+v", c.Peer))
	}
	r.last[c] = 0
}

func (r *receiver) Frame(c *link.Conn, t link.Type, b []byte) error {
	last, up := r.last[c]
	n := binary.LittleEndian.Uint64(b)
	if !up || t != link.Service || n != last+1 || len(b) != 8+int(((n-1)*977)%5000) {
		r.w.Fail("frames", fmt.Errorf("up %v, type %v, number %d after %d, %d bytes", up, t, n, last, len(b)))
	}
	r.last[c] = n
	c.Send(link.Seal(binary.LittleEndian.AppendUint64(link.Begin(nil, link.Service+1), n), 0))
	return nil
}

func (r *receiver) Down(c *link.Conn, _ error) {
	if _, up := r.last[c]; !up {
		r.w.Fail("down", fmt.Errorf("of a connection that was not up"))
	}
	delete(r.last, c)
}

func worldOptions(l *sim.Life, node string) (*link.Options, error) {
	o, err := link.Options{Env: l.Env, Service: "test", System: "world", Node: node, Key: []byte(key), Lock: &sync.Mutex{}}.Complete()
	return &o, err
}

func playLinks(w *sim.World) error {
	w.Node("server", func(l *sim.Life) error {
		o, err := worldOptions(l, "server")
		if err == nil {
			_, err = link.NewServer(o, ":1", &receiver{w: w, last: map[*link.Conn]uint64{}})
		}
		return err
	})
	senders := make([]*sender, worldClients)
	for i := range senders {
		name := fmt.Sprint("client", i)
		w.Node(name, func(l *sim.Life) error {
			o, err := worldOptions(l, name)
			if err != nil {
				return err
			}
			s := &sender{w: w, life: l}
			senders[i] = s
			o.Lock.Lock()
			defer o.Lock.Unlock()
			s.c = link.NewClient(o, link.Target{Addr: "server:1", Node: "server"}, s)
			s.speak()
			return nil
		})
	}
	if err := w.Run(20 * time.Second); err != nil {
		return err
	}
	w.Heal()
	// When nothing breaks any more, all are connected, and answered.
	if err := w.Run(30 * time.Second); err != nil {
		return err
	}
	for i, s := range senders {
		if s.acked < 100 || s.sent-s.acked > 50 {
			return fmt.Errorf("client %d: %d sent, %d answered on its connection", i, s.sent, s.acked)
		}
	}
	return nil
}

// TestInTheWorld: over networks that delay, break and cut connections, and with
// nodes that die and start again, what arrives on a connection is what was sent
// on it, in order; and a client finds its server again.
func TestInTheWorld(t *testing.T) {
	suite.Suite{
		Getenv: os.Getenv, Package: "./link", Short: testing.Short(), Seeds: 60, Twice: 20,
		Faults:  sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder).And(sim.Faults{}.With(sim.Crash, 0.05).With(sim.Pause, 0.05)),
		Require: []string{"connected again", "the server has lost its memory"},
	}.Run(t, playLinks)
}
