// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

const key = "a key of sixteen bytes, or more"

func withKey(o *link.Options) { o.Key = []byte(key) }

// clientOwner notes what a client is told.
type clientOwner struct {
	up     []link.Hello
	frames []rawFrame
	down   []error
	fail   error
}

func (o *clientOwner) Up(h *link.Hello) error { o.up = append(o.up, *h); return o.fail }
func (o *clientOwner) Frame(t link.Type, b []byte) error {
	o.frames = append(o.frames, rawFrame{byte(t), bytes.Clone(b)})
	return nil
}
func (o *clientOwner) Room()          {}
func (o *clientOwner) Down(err error) { o.down = append(o.down, err) }

// dial starts a client in the stand, and returns its connection, which is open.
func (s *stand) dial(w *clientOwner, change func(*link.Options)) (*link.Client, *standConn) {
	s.t.Helper()
	o := s.options(func(o *link.Options) {
		o.Node, o.Life, o.Env.Random = "peer", 7, env.Seeded(2)
		if change != nil {
			change(o)
		}
	})
	o.Lock.Lock()
	c := link.NewClient(o, link.Target{Addr: "there", Node: "server", Body: func() []byte { return []byte("body") }}, w)
	o.Lock.Unlock()
	s.t.Cleanup(func() {
		o.Lock.Lock()
		c.Close()
		o.Lock.Unlock()
	})
	return c, s.open()
}

// open opens the connection that was dialled last.
func (s *stand) open() *standConn {
	c := s.dialled[len(s.dialled)-1]
	c.h.Opened(c)
	return c
}

// TestGoldenHandshake: the bytes of a whole handshake with a key, a ping and a
// refusal are those that are kept, and a reader that knows the format's page
// alone reads them and finds the same proofs.
func TestGoldenHandshake(t *testing.T) {
	s := newStand(t)
	server := s.serve(withKey)
	client := &clientOwner{}
	c, out := s.dial(client, withKey)
	in := s.connect("client")
	var log strings.Builder
	var dialler, listener []rawFrame
	// talk carries what each side has said to the other, until neither says more.
	talk := func() {
		for said, heard := 0, 0; said < len(out.said) || heard < len(in.said); {
			if b := out.said[said:]; len(b) > 0 {
				fmt.Fprintf(&log, "dialler  %s\n", hex.EncodeToString(b))
				said = len(out.said)
				in.say(b, 1)
			}
			if b := in.said[heard:]; len(b) > 0 {
				fmt.Fprintf(&log, "listener %s\n", hex.EncodeToString(b))
				heard = len(in.said)
				out.say(b, 1)
			}
		}
		dialler, listener = append(dialler, out.heard()...), append(listener, in.heard()...)
		out.said, in.said = nil, nil
	}
	talk()
	s.pass(link.PingAfterDefault)
	talk()
	if err := c.Send(link.Seal(append(link.Begin(nil, link.Service+4), "said"...), 0)); err != nil {
		t.Fatal(err)
	}
	talk()
	if len(server.up) != 1 || len(client.up) != 1 {
		t.Fatalf("up: %d and %d", len(server.up), len(client.up))
	}
	server.up[0].End(&link.Refusal{Code: link.RefusalFull, Text: "full"})
	talk()
	const golden = "testdata/handshake.txt"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(log.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != log.String() {
		t.Errorf("%v; said:\n%s\nwant:\n%s", err, log.String(), want)
	}

	kinds := func(frames []rawFrame) (all []byte) {
		for _, f := range frames {
			all = append(all, f.kind)
		}
		return all
	}
	if d, l := kinds(dialler), kinds(listener); !bytes.Equal(d, []byte{1, 3, 5, 20}) || !bytes.Equal(l, []byte{2, 6, 4}) {
		t.Fatalf("frames %v and %v", d, l)
	}
	h, err := readRawHello(dialler[0].payload)
	if err != nil || h.flags != 1 || h.life != 7 || h.service != "test" || h.system != "sys" || h.from != "peer" || h.to != "server" || string(h.body) != "body" {
		t.Errorf("hello %+v, %v", h, err)
	}
	w, err := readRawWelcome(listener[0].payload)
	if err != nil || w.life != 5 || w.node != "server" || len(w.body) > 0 || w.proof != rawProof(key, 'l', h, w) {
		t.Errorf("welcome %+v, %v", w, err)
	}
	if p := rawProof(key, 'd', h, w); !bytes.Equal(dialler[1].payload, p[:]) {
		t.Errorf("proof %x, want %x", dialler[1].payload, p)
	}
	if string(listener[2].payload) != "\x06full" {
		t.Errorf("refusal %q", listener[2].payload)
	}
	if got := server.up[0].Peer; got.Node != "peer" || got.Life != 7 || !got.Keyed || string(got.Body) != "body" {
		t.Errorf("the server's peer is %+v", got)
	}
	if got := client.up[0]; got.Node != "server" || got.Life != 5 || !got.Keyed {
		t.Errorf("the client's peer is %+v", got)
	}
	s.pass(time.Millisecond)
	if len(client.down) != 1 || client.down[0].Error() != `refused by the peer: "full" (full)` {
		t.Errorf("down: %v", client.down)
	}
}

// TestHellos: what a stranger says in its hello, and what becomes of it.
func TestHellos(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   byte // 0: welcome
		set    func(*link.Options)
		change func(*rawHello)
	}{
		{"good", 0, nil, func(*rawHello) {}},
		{"to anybody", 0, nil, func(h *rawHello) { h.to = "" }},
		{"the longest body", 0, nil, func(h *rawHello) { h.body = make([]byte, 512) }},
		{"the longest names", 0, func(o *link.Options) { o.Service, o.System, o.Node = long('s'), long('y'), long('n') },
			func(h *rawHello) {
				h.service, h.system, h.from, h.to, h.body = long('s'), long('y'), long('f'), long('n'), make([]byte, 512)
			}},
		{"another version", 1, nil, func(h *rawHello) { h.version = 2 }},
		{"another service", 2, nil, func(h *rawHello) { h.service = "tset" }},
		{"another system", 2, nil, func(h *rawHello) { h.system = "sis" }},
		{"another node", 3, nil, func(h *rawHello) { h.to = "servex" }},
		{"a key where none is", 5, nil, func(h *rawHello) { h.flags = 1 }},
		{"no key where one is", 5, withKey, func(*rawHello) {}},
		{"a guest", 0, func(o *link.Options) { o.Guests = true; withKey(o) }, func(*rawHello) {}},
		{"no life", 8, nil, func(h *rawHello) { h.life = 0 }},
		{"no name", 8, nil, func(h *rawHello) { h.from = "" }},
		{"unknown flags", 8, nil, func(h *rawHello) { h.flags = 2 }},
		{"a long body", 8, nil, func(h *rawHello) { h.body = make([]byte, 513) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStand(t)
			w := s.serve(c.set)
			k := s.connect("a")
			h := goodHello()
			c.change(&h)
			k.say(rawFrame{1, h.payload()}.bytes(), 7)
			if k.refusal() != c.code {
				t.Errorf("refused with %d, want %d", k.refusal(), c.code)
			}
			if (len(w.up) == 1) != (c.code == 0) {
				t.Errorf("%d are up", len(w.up))
			}
			if c.code == 0 {
				if w.up[0].Peer.Keyed {
					t.Error("without a proof it has the key")
				}
				return
			}
			// What follows a refusal is not listened to, and the connection ends.
			k.say(rawFrame{1, goodHello().payload()}.bytes(), 0)
			s.pass(2 * time.Second)
			if len(w.up) > 0 || !k.closed {
				t.Errorf("%d are up; closed: %v", len(w.up), k.closed)
			}
		})
	}
}

func long(r rune) string { return strings.Repeat(string(r), 255) }

// TestOnlyTheKeyProves: a proof is good for one side of one connection. All that
// was overheard, reflected, or made with another key is refused, and the
// service never hears of it.
func TestOnlyTheKeyProves(t *testing.T) {
	s := newStand(t)
	w := s.serve(withKey)
	h := goodHello()
	h.flags = 1
	greet := func() (*standConn, rawWelcome) {
		c := s.connect("a")
		c.say(rawFrame{1, h.payload()}.bytes(), 0)
		welcome, err := readRawWelcome(c.heard()[0].payload)
		if err != nil || welcome.proof != rawProof(key, 'l', h, welcome) {
			t.Fatalf("%+v, %v", welcome, err)
		}
		return c, welcome
	}
	first, welcome := greet()
	good := rawProof(key, 'd', h, welcome)
	first.say(rawFrame{3, good[:]}.bytes(), 0)
	if len(w.up) != 1 || !w.up[0].Peer.Keyed {
		t.Fatalf("%d are up", len(w.up))
	}
	for name, proof := range map[string]func(rawWelcome) [32]byte{
		"overheard on another connection": func(rawWelcome) [32]byte { return good },
		"the listener's own":              func(v rawWelcome) [32]byte { return v.proof },
		"with another key":                func(v rawWelcome) [32]byte { return rawProof(key+"!", 'd', h, v) },
		"of another name": func(v rawWelcome) [32]byte {
			g := h
			g.from = "another"
			return rawProof(key, 'd', g, v)
		},
		"of another life": func(v rawWelcome) [32]byte {
			g := h
			g.life++
			return rawProof(key, 'd', g, v)
		},
		"of another body": func(v rawWelcome) [32]byte {
			g := h
			g.body = []byte("x")
			return rawProof(key, 'd', g, v)
		},
		"zeros": func(rawWelcome) [32]byte { return [32]byte{} },
	} {
		c, v := greet()
		p := proof(v)
		c.say(append(rawFrame{3, p[:]}.bytes(), rawFrame{16, []byte("said")}.bytes()...), 0)
		if c.refusal() != 5 || len(w.up) != 1 || len(w.frames) > 0 {
			t.Errorf("%s: refused with %d; %d are up, %d frames", name, c.refusal(), len(w.up), len(w.frames))
		}
	}
	// No frame of the service, and no other one, is taken in the place of a proof.
	for _, f := range []rawFrame{{16, nil}, {1, h.payload()}, {2, welcome.payload()}, {3, good[:31]}, {5, nil}, {6, nil}, {200, nil}} {
		c, _ := greet()
		c.say(f.bytes(), 0)
		if c.refusal() == 0 || len(w.up) != 1 || len(w.frames) > 0 {
			t.Errorf("a frame of type %d in the place of a proof: %d are up", f.kind, len(w.up))
		}
	}
}

// TestImpostors: a client with a key believes no listener that has not proved
// it, and gives it no proof of its own.
func TestImpostors(t *testing.T) {
	answer := func(h rawHello) rawWelcome {
		return rawWelcome{life: 9, nonce: h.nonce, node: "server"}
	}
	for name, proof := range map[string]func(h rawHello, w rawWelcome) [32]byte{
		"zeros":            func(rawHello, rawWelcome) [32]byte { return [32]byte{} },
		"another key":      func(h rawHello, w rawWelcome) [32]byte { return rawProof(key+"!", 'l', h, w) },
		"the other side's": func(h rawHello, w rawWelcome) [32]byte { return rawProof(key, 'd', h, w) },
		"of another welcome": func(h rawHello, w rawWelcome) [32]byte {
			w.life++
			return rawProof(key, 'l', h, w)
		},
	} {
		s := newStand(t)
		o := &clientOwner{}
		_, c := s.dial(o, withKey)
		h, err := readRawHello(c.heard()[0].payload)
		if err != nil {
			t.Fatal(err)
		}
		w := answer(h)
		w.proof = proof(h, w)
		c.say(append(rawFrame{2, w.payload()}.bytes(), rawFrame{16, nil}.bytes()...), 0)
		s.pass(0)
		if len(c.heard()) != 1 || len(o.up) > 0 || len(o.frames) > 0 || len(o.down) != 1 {
			t.Errorf("%s: %d frames, up %v, down %v", name, len(c.heard()), o.up, o.down)
		}
	}
	s := newStand(t)
	o := &clientOwner{}
	_, c := s.dial(o, withKey)
	h, _ := readRawHello(c.heard()[0].payload)
	w := answer(h)
	w.proof = rawProof(key, 'l', h, w)
	c.say(rawFrame{2, w.payload()}.bytes(), 0)
	want := rawProof(key, 'd', h, w)
	if f := c.heard(); len(f) != 2 || !bytes.Equal(f[1].payload, want[:]) || len(o.up) != 1 {
		t.Errorf("the right proof: %d frames, up %v", len(f), o.up)
	}
}

// TestAnotherNodeAnswers: a client believes no listener that has another name than
// the node that it dials, with the key and without; it gives it no proof, and
// tries again.
func TestAnotherNodeAnswers(t *testing.T) {
	for _, keyed := range []bool{false, true} {
		for _, node := range []string{"servex", ""} {
			s := newStand(t)
			o := &clientOwner{}
			change := func(*link.Options) {}
			if keyed {
				change = withKey
			}
			_, c := s.dial(o, change)
			h, err := readRawHello(c.heard()[0].payload)
			if err != nil {
				t.Fatal(err)
			}
			w := rawWelcome{life: 9, nonce: h.nonce, node: node}
			if keyed {
				w.proof = rawProof(key, 'l', h, w)
			}
			c.say(rawFrame{2, w.payload()}.bytes(), 0)
			s.pass(time.Second)
			if len(c.heard()) != 1 || len(o.up) > 0 || len(o.down) != 1 || len(s.dialled) < 2 {
				t.Errorf("key %v, %q answers: %d frames, up %v, down %v, dialled %d times", keyed, node, len(c.heard()), o.up, o.down, len(s.dialled))
			}
		}
	}
}

// TestWelcomeAndHangUp: a peer that welcomes and hangs up is not dialled all the
// time; one that has stayed is dialled soon.
func TestWelcomeAndHangUp(t *testing.T) {
	s := newStand(t)
	o := &clientOwner{}
	_, c := s.dial(o, nil)
	welcome := rawFrame{2, rawWelcome{life: 9, node: "server"}.payload()}.bytes()
	at := 1
	for range 6000 {
		c.say(welcome, 0)
		c.hangUp(env.ErrClosed)
		s.pass(10 * time.Millisecond)
		if at < len(s.dialled) {
			at, c = len(s.dialled), s.open()
		}
	}
	if at < 20 || at > 100 {
		t.Errorf("dialled %d times in a minute", at)
	}
	for len(s.dialled) == at {
		s.pass(10 * time.Millisecond)
	}
	c = s.open()
	c.say(welcome, 0)
	for range 30 {
		s.pass(100 * time.Millisecond)
		c.say(rawFrame{6, nil}.bytes(), 0)
	}
	c.hangUp(env.ErrClosed)
	before := len(s.dialled)
	s.pass(link.BackoffMinDefault)
	if len(s.dialled) != before+1 {
		t.Error("a peer that had stayed is not dialled soon")
	}
}

// TestClientGivesUpTheSilent: a connection that is not opened, not welcomed or
// silent ends when its time is over, and pings meanwhile.
func TestClientGivesUpTheSilent(t *testing.T) {
	welcome := rawFrame{2, rawWelcome{life: 9, node: "server"}.payload()}.bytes()
	for _, c := range []struct {
		name     string
		say      []byte
		sooner   time.Duration
		later    time.Duration
		pingsMin int
	}{
		{"no welcome", nil, link.HelloWithinDefault - time.Second, link.HelloWithinDefault + time.Second, 0},
		{"silent", welcome, link.DeadAfterDefault - time.Second, link.DeadAfterDefault + time.Second, 2},
	} {
		s := newStand(t)
		o := &clientOwner{}
		_, k := s.dial(o, nil)
		k.say(c.say, 0)
		s.pass(c.sooner)
		if len(o.down) > 0 {
			t.Errorf("%s: down too soon: %v", c.name, o.down)
		}
		s.pass(c.later - c.sooner)
		if len(o.down) != 1 {
			t.Errorf("%s: down %v", c.name, o.down)
		}
		pings := 0
		for _, f := range k.heard() {
			if f.kind == 5 {
				pings++
			}
		}
		if pings < c.pingsMin || c.pingsMin == 0 && pings > 0 {
			t.Errorf("%s: %d pings", c.name, pings)
		}
	}
}

// FuzzSaid: whatever a stranger, a peer or a listener says, this side answers in
// frames, keeps nothing beyond its limits, and serves others.
func FuzzSaid(f *testing.F) {
	hello, welcome := rawFrame{1, goodHello().payload()}.bytes(), rawFrame{2, rawWelcome{life: 9, node: "server"}.payload()}.bytes()
	f.Add(uint8(0), hello, uint8(0))
	f.Add(uint8(1), rawFrame{16, []byte("x")}.bytes(), uint8(3))
	f.Add(uint8(1), rawFrame{5, nil}.bytes(), uint8(3))
	f.Add(uint8(2), welcome, uint8(1))
	f.Add(uint8(3), rawFrame{6, nil}.bytes(), uint8(0))
	f.Add(uint8(3), rawFrame{4, []byte("\x06full")}.bytes(), uint8(0))
	f.Fuzz(func(t *testing.T, where uint8, said []byte, piece uint8) {
		s := newStand(t)
		w := s.serve(func(o *link.Options) { o.FrameMax = 4 << 10 })
		var c *standConn
		switch where % 4 {
		case 0:
			c = s.connect("a")
		case 1:
			c = s.peer("a")
		case 2:
			_, c = s.dial(&clientOwner{}, nil)
		case 3:
			_, c = s.dial(&clientOwner{}, nil)
			c.say(welcome, 0)
		}
		c.say(said, int(piece))
		if n := len(c.heard()); n > len(said)/10+2 {
			t.Errorf("%d frames for %d bytes", n, len(said))
		}
		c.hangUp(env.ErrClosed)
		up := len(w.up)
		if s.peer("b"); len(w.up) != up+1 {
			t.Error("another peer is not served")
		}
	})
}
