package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type gotFrame struct {
	t       Type
	payload string
}

func frames(n int) (stream []byte, want []gotFrame) {
	for i := range n {
		t := Service + Type(i%7)
		payload := strings.Repeat(fmt.Sprint(i), i*i%1000)
		start := len(stream)
		stream = Finish(append(Begin(stream, t), payload...), start)
		want = append(want, gotFrame{t, payload})
	}
	return stream, want
}

// TestDecoderTakesAnyPieces feeds a stream in pieces of every kind.
func TestDecoderTakesAnyPieces(t *testing.T) {
	stream, want := frames(60)
	for _, piece := range []int{1, 2, 3, 7, 100, 1001, len(stream)} {
		d := Decoder{Max: 1 << 16}
		var got []gotFrame
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			if err := d.Feed(rest[:n], func(t Type, p []byte) error {
				got = append(got, gotFrame{t, string(p)})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in pieces of %d: other frames", piece)
		}
	}
}

// TestEveryFlippedBitIsFound: no frame with one bit changed is accepted.
func TestEveryFlippedBitIsFound(t *testing.T) {
	frame := Finish(append(Begin(nil, Service), "a short payload"...), 0)
	for bit := range len(frame) * 8 {
		b := bytes.Clone(frame)
		b[bit/8] ^= 1 << (bit % 8)
		d := Decoder{Max: 1 << 10}
		err := d.Feed(b, func(Type, []byte) error {
			t.Errorf("bit %d: the frame was accepted", bit)
			return nil
		})
		// A length that has become larger waits for more, at most Max.
		if err == nil && binary.LittleEndian.Uint32(b) <= uint32(len(frame)-headerLen) {
			t.Errorf("bit %d: no error", bit)
		}
	}
}

func TestDecoderRefusesLongFrames(t *testing.T) {
	d := Decoder{Max: 100}
	head := []byte{101, 0, 0, 0, 0, 0, 0, 0}
	if err := d.Feed(head, nil); err == nil || !strings.Contains(err.Error(), "over the limit of 100") {
		t.Errorf("got %v", err)
	}
	if err := d.Feed([]byte{1}, nil); err == nil {
		t.Error("the error was not final")
	}
}

func FuzzDecoder(f *testing.F) {
	stream, _ := frames(5)
	f.Add(stream, 3)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0}, 1)
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		if piece <= 0 {
			piece = 1
		}
		const limit = 1 << 10
		d := Decoder{Max: limit}
		for len(data) > 0 {
			n := min(piece, len(data))
			err := d.Feed(data[:n], func(_ Type, p []byte) error {
				if len(p) >= limit {
					t.Errorf("a payload of %d bytes", len(p))
				}
				return nil
			})
			if err != nil {
				return
			}
			if len(d.rest) > limit+headerLen {
				t.Errorf("%d bytes kept", len(d.rest))
			}
			data = data[n:]
		}
	})
}

func FuzzHello(f *testing.F) {
	o := Options{Env: env.Env{Random: env.Seeded(1)}, System: "s", Node: "n", Session: 7}
	f.Add(o.hello("x").raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseHello(data)
		if err == nil && !bytes.Equal(h.raw, data) {
			t.Error("the hello is not the bytes it was read from")
		}
	})
}

// peerLog is an owner of a client and of a server that keeps what it is told.
type peerLog struct {
	mu     sync.Mutex
	events []string
	client *Client
	peers  []*Peer
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

func (l clientLog) Up(h Hello) { l.log("up %s", h.Node) }
func (l clientLog) Frame(t Type, p []byte) error {
	l.log("frame %d %s", t-Service, p)
	return nil
}
func (l clientLog) Room()          { l.log("room") }
func (l clientLog) Down(err error) { l.log("down: %v", err) }

type serverLog struct{ *peerLog }

func (l serverLog) Up(p *Peer) {
	l.log("up %s", p.Hello.Node)
	l.peers = append(l.peers, p)
}
func (l serverLog) Frame(p *Peer, t Type, b []byte) error {
	l.log("frame %d %s", t-Service, b)
	if string(b) == "bad" {
		return Malformed("so it is")
	}
	if l.echo {
		p.Send(Finish(append(Begin(nil, t+1), b...), 0))
	}
	return nil
}
func (l serverLog) Down(p *Peer, err error) { l.log("down %s: %v", p.Hello.Node, err) }

func options(t testing.TB, node string, l *peerLog) Options {
	t.Helper()
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	o, err := Options{Env: e, System: "sys", Node: node, RetryMin: time.Millisecond, RetryMax: 5 * time.Millisecond, Lock: &l.mu}.Complete()
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
	server, err := NewServer(so, ":0", "test", serverLog{s})
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.client = NewClient(co, server.Addr(), "test", clientLog{c})
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
			s, c, _ := pair(t, func(so, co *Options) { so.Secret, co.Secret = []byte(secret), []byte(secret) })
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
					return c.client.Send(Finish(append(Begin(nil, Service), fmt.Sprint("hello", i)...), 0)) == nil
				})
				waitFor(t, "the echo", func() bool { return c.has(fmt.Sprint("frame 1 hello", i)) })
				s.mu.Lock()
				s.peers[len(s.peers)-1].Drop(errors.New("dropped"))
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
				return c.client.Send(Finish(append(Begin(nil, Service), "bad"...), 0)) == nil
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
		want   string
	}{
		{"system", func(_, co *Options) { co.System = "other" }, `system "other", want "sys"`},
		{"client has no secret", func(so, _ *Options) { so.Secret = []byte(secret) }, "a secret is set here and the peer has none"},
		{"server has no secret", func(_, co *Options) { co.Secret = []byte(secret) }, "the peer wants a secret and none is set here"},
		{"other secret", func(so, co *Options) { so.Secret, co.Secret = []byte(secret), []byte(secret+"!") }, "the peer does not know the secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, cl, server := pair(t, c.change)
			waitFor(t, "the refusal", func() bool { return cl.has("rejected by the peer: " + c.want) })
			// It counts after it has told why.
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

// TestProofIsBoundToTheConnection: a proof that was overheard is of no use on
// another connection, and not for the other side.
func TestProofIsBoundToTheConnection(t *testing.T) {
	o := Options{Env: env.Env{Random: env.Seeded(1)}, System: "s", Node: "n", Session: 7, Secret: []byte("0123456789abcdef")}
	a, b, c := o.hello("x"), o.hello("x"), o.hello("x")
	p := prove(o.Secret, sideDialler, a, b)
	for name, q := range map[string][]byte{
		"another listener's hello": prove(o.Secret, sideDialler, a, c),
		"another dialler's hello":  prove(o.Secret, sideDialler, c, b),
		"the other side":           prove(o.Secret, sideListener, a, b),
		"another secret":           prove([]byte("0123456789abcdeF"), sideDialler, a, b),
	} {
		if bytes.Equal(p, q) {
			t.Errorf("the proof holds for %s", name)
		}
	}
}

// TestHostileBytes: garbage, and a stranger who says nothing, end the
// connection and nothing else.
func TestHostileBytes(t *testing.T) {
	s, c, server := pair(t, func(so, _ *Options) { so.KeepAlive, so.Idle = 10*time.Millisecond, 60*time.Millisecond })
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
			good := hello.hello("test")
			b = append(Finish(append(Begin(nil, typeHello), good.raw...), 0), b...)
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
		"short secret": func(o *Options) { o.Secret = []byte("short") },
		"idle":         func(o *Options) { o.KeepAlive, o.Idle = time.Second, time.Millisecond },
		"small frames": func(o *Options) { o.FrameMax = 10 },
	} {
		o := good
		change(&o)
		if _, err := o.Complete(); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
