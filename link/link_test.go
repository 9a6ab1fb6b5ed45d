// SPDX-License-Identifier: Apache-2.0

package link

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env/osenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peerLog is an owner of a client and of a server that keeps what it is told.
type peerLog struct {
	mu     sync.Mutex
	events []string
	client *Client
	peers  []*Conn
	echo   bool
}

func (l *peerLog) log(format string, args ...any) {
	l.events = append(l.events, fmt.Sprintf(format, args...))
}

func (l *peerLog) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if strings.Contains(e, s) {
			return true
		}
	}
	return false
}

type clientLog struct{ *peerLog }

func (l clientLog) Up(h *Hello) error {
	l.log("up %s", h.Node)
	return nil
}
func (l clientLog) Frame(t Type, p []byte) error {
	l.log("frame %d %s", t-Service, p)
	return nil
}
func (l clientLog) Room()          { l.log("room") }
func (l clientLog) Down(err error) { l.log("down: %v", err) }

type serverLog struct{ *peerLog }

func (l serverLog) Up(p *Conn) {
	l.log("up %s", p.Peer.Node)
	l.peers = append(l.peers, p)
}
func (l serverLog) Frame(p *Conn, t Type, b []byte) error {
	l.log("frame %d %s", t-Service, b)
	if string(b) == "bad" {
		return Malformed("", "so it is")
	}
	if l.echo {
		p.Send(Seal(append(Begin(nil, t+1), b...), 0))
	}
	return nil
}
func (l serverLog) Down(p *Conn, err error) { l.log("down %s: %v", p.Peer.Node, err) }

func options(t testing.TB, node string, l *peerLog) Options {
	t.Helper()
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	o, err := Options{Env: e, Service: "test", System: "sys", Node: node, BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond, Lock: &l.mu}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func pair(t *testing.T, change func(server, client *Options)) (s, c *peerLog, server *Server) {
	t.Helper()
	s, c = &peerLog{echo: true}, &peerLog{}
	so, co := options(t, "server", s), options(t, "client", c)
	if change != nil {
		change(&so, &co)
	}
	server, err := NewServer(&so, ":0", serverLog{s})
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.client = NewClient(&co, Target{Addr: server.Addr()}, clientLog{c})
	c.mu.Unlock()
	t.Cleanup(func() {
		c.mu.Lock()
		c.client.Close()
		c.mu.Unlock()
		s.mu.Lock()
		server.Shut()
		s.mu.Unlock()
		server.Close()
	})
	return s, c, server
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatalf("waited too long for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLinkCarriesFramesAndReconnects(t *testing.T) {
	for _, secret := range []string{"", "a secret of sixteen bytes"} {
		t.Run("secret "+secret, func(t *testing.T) {
			s, c, _ := pair(t, func(so, co *Options) { so.Key, co.Key = []byte(secret), []byte(secret) })
			// What is sent before the client knows that the last connection is gone is
			// lost with that.
			upAgain := func(times int) {
				waitFor(t, "the link", func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return c.client.Connects() == times
				})
			}
			for i := range 3 {
				upAgain(i + 1)
				waitFor(t, "room", func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return c.client.Send(Seal(append(Begin(nil, Service), fmt.Sprint("hello", i)...), 0)) == nil
				})
				waitFor(t, "the echo", func() bool { return c.has(fmt.Sprint("frame 1 hello", i)) })
				s.mu.Lock()
				s.peers[len(s.peers)-1].End(errors.New("dropped"))
				s.mu.Unlock()
				waitFor(t, "the end", func() bool {
					s.mu.Lock()
					defer s.mu.Unlock()
					return strings.Count(strings.Join(s.events, "\n"), "down client: dropped") == i+1
				})
			}
			// What a frame's owner refuses ends the connection.
			upAgain(4)
			waitFor(t, "room", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return c.client.Send(Seal(append(Begin(nil, Service), "bad"...), 0)) == nil
			})
			waitFor(t, "the refusal", func() bool { return s.has("down client: bad frame: so it is") })
		})
	}
}

func TestHandshakeRefuses(t *testing.T) {
	const secret = "a secret of sixteen bytes"
	for _, c := range []struct {
		name   string
		change func(so, co *Options)
		by     string
		want   string
	}{
		{"system", func(_, co *Options) { co.System = "other" }, "refused by the peer:", `"system \"other\", want \"sys\""`},
		{"client has no key", func(so, _ *Options) { so.Key = []byte(secret) }, "refused by the peer:", "\"a key is set here, and the peer has none"},
		{"server has no key", func(_, co *Options) { co.Key = []byte(secret) }, "refused by the peer:", "\"the peer requires a key, and none is set here"},
		{"other key", func(so, co *Options) { so.Key, co.Key = []byte(secret), []byte(secret+"!") }, "peer refused:", "the peer does not know the key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cl, server := pair(t, c.change)
			waitFor(t, "the refusal", func() bool { return cl.has("down: " + c.by + " " + c.want) })
			waitFor(t, "the count", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return server.Rejected() > 0
			})
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.events) > 0 {
				t.Errorf("the server's owner was told: %v", s.events)
			}
		})
	}
}

// TestHostileBytes: garbage, and a stranger that says nothing, end the
// connection and nothing else.
func TestHostileBytes(t *testing.T) {
	s, c, server := pair(t, func(so, _ *Options) {
		so.PingAfter, so.DeadAfter, so.HelloWithin = 10*time.Millisecond, 60*time.Millisecond, 60*time.Millisecond
	})
	rng := rand.New(rand.NewPCG(1, 2))
	hello := options(t, "x", &peerLog{})
	for i := range 40 {
		nc, err := net.Dial("tcp", string(server.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, rng.IntN(300))
		for j := range b {
			b[j] = byte(rng.Uint32())
		}
		switch i % 4 {
		case 0: // says nothing
			b = nil
		case 1: // a good hello, then garbage
			good := hello.hello("", nil)
			b = append(Seal(appendHello(Begin(nil, TypeHello), &good, make([]byte, nonceLen)), 0), b...)
		case 2: // a frame that announces more than a hello may have
			b = append([]byte{0, 0, 0, 1}, b...)
		}
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		nc.Write(b)
		buf := make([]byte, 1024)
		for {
			if _, err := nc.Read(buf); err != nil {
				if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
					t.Fatalf("case %d: the server holds on to a stranger", i)
				}
				break
			}
		}
		nc.Close()
	}
	waitFor(t, "the good client", func() bool { return c.has("up server") })
	if !s.has("up client") {
		t.Error("the server does not know the good client")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	e := osenv.New()
	e.Network = osenv.NewNetwork(osenv.NetworkOptions{})
	good := Options{Env: e, System: "s", Node: "n"}
	if _, err := good.Complete(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"no system":    func(o *Options) { o.System = "" },
		"no node":      func(o *Options) { o.Node = strings.Repeat("n", 256) },
		"no network":   func(o *Options) { o.Env.Network = nil },
		"short key":    func(o *Options) { o.Key = []byte("short") },
		"idle":         func(o *Options) { o.PingAfter, o.DeadAfter = time.Second, time.Millisecond },
		"small frames": func(o *Options) { o.FrameMax = 10 },
	} {
		o := good
		change(&o)
		if _, err := o.Complete(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
