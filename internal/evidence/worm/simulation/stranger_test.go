// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// stranger is a node that any person could run: it belongs to no server, and sends
// arbitrary requests to the servers. The ghost does not see its requests, and has the
// same rules with it as without: a claim that a server believes shows as a broken rule,
// or as an operation that does not end.
//
// It does not do what the trust model permits to an admitted peer (docs/worm.md): write
// registers by the rules or against them, and capture them at ballots that leave no
// higher one.
type stranger struct {
	*agent
	segments []segmentPlan
	key      ed25519.PrivateKey
	seals    int // that are left
	stop     bool
}

func (c *cluster) stranger(x *workload, seals int) *stranger {
	s := &stranger{segments: x.segments, seals: seals}
	c.w.Node("stranger", func(l *sim.Life) error {
		a, err := c.agent(l, 70, nil)
		if err != nil {
			return err
		}
		s.agent = a
		seed := make([]byte, ed25519.SeedSize)
		binary.LittleEndian.PutUint64(seed, a.random.Uint64())
		s.key = ed25519.NewKeyFromSeed(seed)
		a.serial.Do(s.loop)
		return nil
	})
	return s
}

func (s *stranger) n(n int) int { return env.IntN(s.random, n) }

func (s *stranger) loop() {
	s.after(15*time.Millisecond, func() {
		if s.stop {
			return
		}
		s.say()
		s.loop()
	})
}

// say sends one request to one server.
func (s *stranger) say() {
	h := s.c.hosts[s.n(len(s.c.hosts))]
	p := wor.Partition(s.n(len(s.c.genesis.Partitions)))
	now := s.c.ghost.newest(p).Epoch
	switch s.n(6) {
	case 0, 1:
		cfg := s.configuration(p, now)
		value, err := cfg.MarshalBinary()
		if err != nil {
			s.c.w.Fail("stranger", err)
		}
		s.ask(h, "activation", wor.Request{Kind: wor.KindActivate, Partition: p, Epoch: cfg.Epoch, Value: value})
	case 2:
		plan := s.segments[s.n(len(s.segments))]
		q := wor.Request{Kind: wor.KindTrim, Partition: p, Epoch: now, Protocol: wor.Protocol(s.n(3)), Range: wor.One(wor.Addr{Segment: plan.number})}
		if s.n(2) == 0 { // where it harms
			q.Partition, q.Protocol = plan.meta.Partition, plan.meta.Protocol
			q.Epoch = s.c.ghost.newest(q.Partition).Epoch
		}
		s.ask(h, "trim", q)
	case 3:
		// An empty state, complete: for the next epoch.
		s.ask(h, "stage", wor.Request{Kind: wor.KindStage, Partition: p, Epoch: now + 1 + wor.Epoch(s.n(2)), Tag: 1 + uint64(s.n(1<<20)), Flags: wor.FlagLast, Digest: emptyDigest})
	case 4:
		s.report(h)
	case 5:
		if s.seals > 0 && s.n(8) == 0 {
			s.seals--
			for _, h := range s.c.hosts {
				if s.n(2) == 0 {
					s.ask(h, "seal", wor.Request{Kind: wor.KindSeal, Partition: p, Epoch: now})
				}
			}
			return
		}
		s.greet(h)
	}
}

// emptyDigest is XXH64 of nothing.
const emptyDigest = 0xef46db3751d8e999

func (s *stranger) ask(h *host, what env.Mark, q wor.Request) {
	s.transport.to.Call(h.member, &q, time.Second, func(r *wor.Reply) {
		if r != nil {
			s.c.w.Mark("stranger's " + what + ": " + env.Mark(r.Status.String()))
		}
	})
}

// configuration returns one that was not decided: of strangers, of some of the servers,
// or with the tag and digest of an existing stage.
func (s *stranger) configuration(p wor.Partition, now wor.Epoch) wor.Config {
	cfg := wor.Config{Partition: p, Epoch: now + 1, Tag: s.random.Uint64(), Digest: s.random.Uint64()}
	if s.n(3) == 0 {
		cfg.Epoch += wor.Epoch(s.n(1 << 20))
	}
	if s.n(2) == 0 {
		cfg.Digest = emptyDigest
	}
	for k := range s.c.ghost.stages {
		if k.p == p && k.e == cfg.Epoch && k.tag > cfg.Tag { // one of them, whatever the order
			cfg.Tag = k.tag
		}
	}
	for _, h := range s.c.hosts {
		m := h.member
		if s.n(4) == 0 {
			m.Addr = "nowhere:1"
		}
		if s.n(2) == 0 {
			cfg.Members = append(cfg.Members, m)
		}
	}
	if len(cfg.Members) == 0 {
		cfg.Members = []wor.Member{{ID: 77, Name: "false", Addr: "nowhere:1"}}
	}
	return cfg
}

// report claims that a server was further than it is: unsigned, in another server's name,
// or with a key of the stranger's own.
func (s *stranger) report(h *host) {
	le := binary.LittleEndian
	text := []byte{3}
	for _, x := range []uint64{1 << 40, 7, 1 << 40, 0, 0, 0} {
		text = le.AppendUint64(text, x)
	}
	payload := append([]byte{}, text...)
	switch s.n(3) {
	case 0:
		signed := append(le.AppendUint64([]byte("ashlar worm report"), clusterID), text...)
		payload = append(append(payload, s.key.Public().(ed25519.PublicKey)...), ed25519.Sign(s.key, signed)...)
	case 1:
		payload = append(payload, make([]byte, 96)...)
	}
	s.transport.to.Invoke(h.member, wor.ServiceWitness, payload, time.Second, func(_ []byte, err error) {
		s.c.w.Mark("stranger's report")
	})
}

// greet connects with a claim, as a client or as another server.
func (s *stranger) greet(h *host) {
	other := s.c.hosts[s.n(len(s.c.hosts))]
	hello := wire.Hello{Version: wire.Version, Peer: s.n(2) == 0, Cluster: clusterID, From: uint64(other.member.ID), To: h.member.ID,
		Generation: 1 << uint(s.n(64)), Position: s.random.Uint64()}
	s.l.Env.Network.Dial(env.Addr(h.member.Addr), &caller{hello: hello, heard: func() { s.c.w.Mark("stranger's hello") }})
}

// caller sends a hello, and hangs up when it is answered.
type caller struct {
	hello wire.Hello
	heard func()
}

func (c *caller) Opened(conn env.Conn) {
	var e wire.Encoder
	e.Hello(&c.hello)
	_ = conn.Write(e.Bytes())
}

func (c *caller) Data(conn env.Conn, _ []byte) {
	c.heard()
	conn.Close()
}
func (c *caller) Drained(env.Conn)       {}
func (c *caller) Closed(env.Conn, error) {}

// impostor is a program that listens at the address of a server that is gone, and answers
// in its name: that everything is done, that nothing was ever written, and that there is
// a later epoch.
type impostor struct {
	h       *host
	key     ed25519.PrivateKey
	scanner wire.Scanner
}

// impersonate makes the machine of a host that is gone run an impostor.
func (h *host) impersonate(l *sim.Life) error {
	seed := binary.LittleEndian.AppendUint64(make([]byte, ed25519.SeedSize-8), l.Env.Random.Split("false").Uint64())
	key := ed25519.NewKeyFromSeed(seed)
	_, err := l.Env.Network.Listen(env.Addr(h.member.Addr), func(env.Conn) env.Handler { return &impostor{h: h, key: key} })
	return err
}

func (x *impostor) Opened(env.Conn)        {}
func (x *impostor) Drained(env.Conn)       {}
func (x *impostor) Closed(env.Conn, error) {}

func (x *impostor) Data(conn env.Conn, b []byte) {
	var out wire.Encoder
	x.scanner.Feed(b)
	for {
		f, ok, err := x.scanner.Next()
		if err != nil || !ok {
			break
		}
		x.answer(f, &out)
	}
	if out.Len() > 0 {
		_ = conn.Write(out.Bytes())
	}
}

func (x *impostor) answer(f wire.Frame, out *wire.Encoder) {
	switch f.Type {
	case wire.TypeHello:
		var h wire.Hello
		if wire.DecodeHello(f.Payload, &h) != nil {
			return
		}
		w := wire.Welcome{Version: wire.Version, Cluster: clusterID, Server: x.h.member.ID, Generation: h.Generation + 1, Position: 1 << 40}
		if h.Challenge != (wire.Challenge{}) {
			text := append(h.Challenge[:], binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, w.Generation), w.Position)...)
			signed := append(binary.LittleEndian.AppendUint64([]byte("ashlar worm welcome"), clusterID), text...)
			w.Proof = append(append([]byte{}, x.key.Public().(ed25519.PublicKey)...), ed25519.Sign(x.key, signed)...) // it has no other key
		}
		out.Welcome(&w)
		x.h.c.w.Mark("impostor was asked")
	case wire.TypeRequest:
		var q wor.Request
		id, _, err := wire.DecodeRequest(f.Payload, &q)
		if err != nil {
			return
		}
		r := wor.Reply{Epoch: q.Epoch}
		if n := q.Range.Len(); n > 0 {
			run := wor.Run{Count: uint32(n)}
			if q.Kind == wor.KindWrite {
				run.Promised, run.Written, run.Accepted = q.Ballot, true, q.Ballot
			}
			r.Runs = []wor.Run{run}
		}
		_ = out.Reply(id, 1, &r)
		x.h.c.w.Mark(env.Mark(fmt.Sprint("impostor lies to a ", q.Kind)))
	case wire.TypeInvoke:
		if id, _, _, _, err := wire.DecodeInvoke(f.Payload); err == nil {
			_ = out.Answer(id, wire.CodeOK, nil)
		}
	case wire.TypePing:
		if token, err := wire.DecodePing(f.Payload); err == nil {
			out.Pong(token)
		}
	}
}

// TestSealedAlone: a stranger seals one server, two, or all three, and there is no client
// that could notice. The servers end the epoch themselves, and all of them serve again.
func TestSealedAlone(t *testing.T) {
	for sealed := 1; sealed <= 3; sealed++ {
		w, err := sim.New(sim.Options{Seed: uint64(sealed), EventsMax: worldOptions().EventsMax, WriteBuffer: worldOptions().WriteBuffer})
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCluster(w, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		w.Node("stranger", func(l *sim.Life) error {
			a, err := c.agent(l, 70, nil)
			if err != nil {
				return err
			}
			for _, h := range c.hosts[:sealed] {
				a.after(time.Second, func() {
					a.transport.to.Call(h.member, &wor.Request{Kind: wor.KindSeal}, time.Second, func(*wor.Reply) {})
				})
			}
			return nil
		})
		serving := func(least wor.Epoch) bool {
			for _, h := range c.hosts {
				if p := h.server.Status().Partitions[0]; p.Standing != wor.StatusOK || p.Unsure || p.Epoch < least {
					return false
				}
			}
			return true
		}
		if err := w.Run(2 * time.Second); err != nil {
			t.Fatal(err)
		}
		if serving(0) {
			t.Fatalf("%d servers are to be sealed, and all serve", sealed)
		}
		if err := c.await("all serve again", func() bool { return serving(1) }); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d sealed: all serve after %v", sealed, w.Now())
	}
}
