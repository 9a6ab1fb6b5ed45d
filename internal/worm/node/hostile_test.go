// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// frame makes a frame with a valid checksum from any payload.
func frame(kind byte, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)+6))
	b = append(append(b, wire.Version, kind), payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// FuzzServer sends arbitrary bytes to a server, with and without a hello: nothing ends
// the server, and data that others have stored stays.
func FuzzServer(f *testing.F) {
	var e wire.Encoder
	for _, q := range []wor.Request{
		writeOf(addr(1, 1), 2, "other"), readOf(addr(1, 1)), {Kind: wor.KindListen, Range: wor.Range{Segment: 1, Hi: 9}},
		{Kind: wor.KindCapture, Range: wor.Range{Segment: 1, Hi: wor.RangeMax}, Ballot: wor.Ballot{Round: 9}},
		{Kind: wor.KindTrim, Range: wor.Range{Segment: 7}}, {Kind: wor.KindStatus}, {Kind: wor.KindFetch}, {Kind: wor.KindUnlisten},
		{Kind: wor.KindStage, Epoch: 1, Tag: 4, Value: []byte("x"), Flags: wor.FlagLast}, {Kind: wor.KindActivate, Value: []byte("x")},
	} {
		e.Reset(0)
		if err := e.Request(3, 0, &q); err != nil {
			f.Fatal(err)
		}
		f.Add(true, byte(wire.TypeRequest), bytes.Clone(e.Bytes()[6:e.Len()-4]), []byte{})
	}
	e.Reset(0)
	_ = e.Invoke(1, 0, wor.ServiceWitness, encodeSighting(4, sighting{}))
	f.Add(true, byte(wire.TypeInvoke), bytes.Clone(e.Bytes()[6:e.Len()-4]), []byte{1, 2, 3})
	f.Add(false, byte(wire.TypeHello), []byte("nonsense"), []byte{0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, greeted bool, kind byte, payload, tail []byte) {
		d := newDesk(t, func(o *Options) { o.Memory = true })
		owner := d.guest()
		owner.ask(1, writeOf(addr(1000, 1000), 1, "mine"))
		d.commit()
		owner.one(wire.TypeReply)
		g := d.connect()
		if greeted {
			g = d.guest()
		}
		g.h.Data(g.c, append(frame(kind, payload), tail...))
		g.h.Data(g.c, frame(kind, payload))
		d.commit()
		g.h.Data(g.c, tail)
		owner.ask(2, readOf(addr(1000, 1000)))
		d.commit()
		r := owner.one(wire.TypeReply).reply
		sealed := r.Status == wor.StatusSealed || r.Status == wor.StatusStale || r.Status == wor.StatusMute || r.Status == wor.StatusForeign
		if sealed || len(r.Runs) == 1 && r.Runs[0].Status == wor.StatusTrimmed {
			return // a peer that may connect may end an epoch, and trim
		}
		if len(r.Runs) != 1 || string(r.Runs[0].Value) != "mine" && r.Runs[0].Accepted == (wor.Ballot{Round: 1, Nonce: 9}) {
			t.Fatalf("what was stored is now %+v", r)
		}
	})
}

// TestNoise sends damaged and random bytes to live servers while clients work.
func TestNoise(t *testing.T) {
	c := newCluster(t, 3, "", nil)
	k := c.client(7)
	random := rand.New(rand.NewPCG(1, 2))
	var hello wire.Encoder
	hello.Hello(&wire.Hello{Version: wire.Version, Cluster: testCluster, From: 3, To: c.member(0).ID})
	q := writeOf(addr(5, 5), 3, "noise")
	_ = hello.Request(1, 0, &q)
	for i := range 60 {
		nc, err := net.Dial("tcp", c.names.addr("s0"))
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(hello.Bytes())
		switch i % 3 {
		case 0: // one bit
			b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		case 1: // after a valid hello
			for range 100 {
				b = append(b, byte(random.Uint32()))
			}
		case 2: // a truncation
			b = b[:random.IntN(len(b))]
		}
		if _, err := nc.Write(b); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			nc.Close()
			continue
		}
		r, bl := wor.One(addr(1, i)), wor.Ballot{Round: 1, Nonce: 7}
		accepted(t, k.wait(t, paxos.Client{}.Capture(3, r, bl)))
		accepted(t, k.wait(t, paxos.Client{}.Write(3, r, bl, []byte("v"))))
		written(t, k.wait(t, paxos.Client{}.Read(3, r)), "v")
		nc.Close()
	}
	eventually(t, "connections end", func() bool { return c.nodes[0].Status().Conns <= 3 })
}

// TestReplay sends everything that a client has sent a second and a third time: the
// stored values do not change.
func TestReplay(t *testing.T) {
	d := newDesk(t, nil)
	g := d.guest()
	var e wire.Encoder
	for i := range 20 {
		q := wor.Request{Kind: wor.KindCapture, Range: wor.One(addr(1, i%5)), Ballot: wor.Ballot{Round: uint64(1 + i), Nonce: 9}}
		_ = e.Request(uint64(2*i), 0, &q)
		w := writeOf(addr(1, i%5), uint64(1+i), "v")
		_ = e.Request(uint64(2*i+1), 0, &w)
	}
	state := func() []wor.Run {
		g.ask(99, wor.Request{Kind: wor.KindRead, Range: wor.Range{Segment: 1, Lo: 0, Hi: 6}})
		d.commit()
		all := g.take()
		return all[len(all)-1].reply.Runs
	}
	g.h.Data(g.c, e.Bytes())
	first := state()
	for range 2 {
		h := d.guest()
		h.h.Data(h.c, e.Bytes())
		d.commit()
		if n := len(h.take()); n != 40 {
			t.Fatalf("%d of 40 are answered", n)
		}
	}
	for i, r := range state() {
		if r.Promised != first[i].Promised || r.Accepted != first[i].Accepted || string(r.Value) != string(first[i].Value) || r.Count != first[i].Count {
			t.Fatalf("run %d was %+v and is %+v", i, first[i], r)
		}
	}
}

// TestBadServer: whatever a server sends, its client keeps running and answers all calls.
func TestBadServer(t *testing.T) {
	key := testKey(1)
	answer := func(change func(w *wire.Welcome, c *wire.Challenge)) func(*wire.Hello) []byte {
		return func(h *wire.Hello) []byte {
			w := wire.Welcome{Version: wire.Version, Cluster: testCluster, Server: key.ID(), Generation: 1}
			w.Proof = key.prove(welcomePurpose, testCluster, welcomeText(&h.Challenge, &w))
			change(&w, &h.Challenge)
			var e wire.Encoder
			e.Welcome(&w)
			return e.Bytes()
		}
	}
	welcome := answer(func(*wire.Welcome, *wire.Challenge) {})
	also := func(b []byte) func(*wire.Hello) []byte {
		return func(h *wire.Hello) []byte { return append(bytes.Clone(welcome(h)), b...) }
	}
	always := func(b []byte) func(*wire.Hello) []byte { return func(*wire.Hello) []byte { return b } }
	var reply, lie wire.Encoder
	_ = reply.Reply(77, 1, &wor.Reply{})
	_ = lie.Reply(1, 1, &wor.Reply{Runs: []wor.Run{{Count: 1}}})
	lying := func(change func(w *wire.Welcome, c *wire.Challenge)) func(*wire.Hello) []byte {
		return func(h *wire.Hello) []byte { return append(bytes.Clone(answer(change)(h)), lie.Bytes()...) }
	}
	for name, says := range map[string]func(*wire.Hello) []byte{
		"nonsense":        always([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")),
		"reply first":     always(reply.Bytes()),
		"another cluster": answer(func(w *wire.Welcome, _ *wire.Challenge) { w.Cluster = 1 }),
		"another server":  answer(func(w *wire.Welcome, _ *wire.Challenge) { w.Server = 2 }),
		"a refusal":       answer(func(w *wire.Welcome, _ *wire.Challenge) { w.Refusal = wire.RefusalClosing }),
		"two welcomes":    func(h *wire.Hello) []byte { return also(welcome(h))(h) },
		"a request":       also(frame(byte(wire.TypeRequest), []byte("12345678"))),
		"a broken reply":  also(frame(byte(wire.TypeReply), []byte("1"))),
		"silence":         always(nil),
		// Another process that has the server's address.
		"no proof": lying(func(w *wire.Welcome, _ *wire.Challenge) { w.Proof = nil }),
		"another's proof": lying(func(w *wire.Welcome, c *wire.Challenge) {
			w.Proof = testKey(2).prove(welcomePurpose, testCluster, welcomeText(c, w))
		}),
		"a proof to another": lying(func(w *wire.Welcome, _ *wire.Challenge) {
			w.Proof = key.prove(welcomePurpose, testCluster, welcomeText(&wire.Challenge{1}, w))
		}),
		"a proof of something else": lying(func(w *wire.Welcome, c *wire.Challenge) {
			w.Proof = key.prove(reportPurpose, testCluster, welcomeText(c, w))
		}),
		"a proof for another cluster": lying(func(w *wire.Welcome, c *wire.Challenge) {
			w.Proof = key.prove(welcomePurpose, 1, welcomeText(c, w))
		}),
		"a proof of another place": lying(func(w *wire.Welcome, _ *wire.Challenge) { w.Position = 7 }),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			var asked atomic.Bool
			go func() {
				for {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer nc.Close()
						var scan wire.Scanner
						var hello wire.Hello
						b := make([]byte, 1024)
						for {
							n, err := nc.Read(b)
							if err != nil {
								return
							}
							scan.Feed(b[:n])
							if f, ok, err := scan.Next(); err != nil || ok && wire.DecodeHello(f.Payload, &hello) != nil {
								return
							} else if ok {
								break
							}
						}
						asked.Store(true)
						_, _ = nc.Write(says(&hello))
						_, _ = io.Copy(io.Discard, nc)
					}()
				}
			}()
			c := newCluster(t, 1, "", nil)
			c.names.table["bad"] = env.Addr(l.Addr().String())
			k := c.client(7)
			k.serial.Do(func() { k.opt.PingAfter, k.opt.DeadAfter = 20*time.Millisecond, 60*time.Millisecond })
			start := time.Now()
			if r := k.call(t, wor.Member{ID: key.ID(), Addr: "bad"}, readOf(addr(1, 1))); r != nil {
				t.Fatalf("answered %+v", r)
			}
			if !asked.Load() {
				t.Fatal("the bad server was not asked")
			}
			if time.Since(start) > 4*time.Second {
				t.Fatalf("it took %v to give the connection up", time.Since(start))
			}
			if r := k.call(t, c.member(0), readOf(addr(1, 1))); r == nil || r.Status != wor.StatusOK {
				t.Fatalf("another server: %+v", r)
			}
		})
	}
}
