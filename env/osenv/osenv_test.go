// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler keeps what it is told and checks the order of calls.
type handler struct {
	t       *testing.T
	dialled bool
	echo    bool
	stuck   chan struct{} // Data waits for it

	mu      sync.Mutex
	inCall  bool
	opened  bool
	data    bytes.Buffer
	drained int
	err     error
	done    chan struct{}
}

func newHandler(t *testing.T, dialled bool) *handler {
	return &handler{t: t, dialled: dialled, done: make(chan struct{})}
}

func (h *handler) enter(what string) func() {
	h.mu.Lock()
	if h.inCall {
		h.t.Errorf("%s while another call runs", what)
	}
	if h.err != nil {
		h.t.Errorf("%s after Closed", what)
	}
	if what != "Opened" && what != "Closed" && h.dialled && !h.opened {
		h.t.Errorf("%s before Opened", what)
	}
	h.inCall = true
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		h.inCall = false
		h.mu.Unlock()
	}
}

func (h *handler) Opened(env.Conn) {
	defer h.enter("Opened")()
	if !h.dialled {
		h.t.Error("Opened on an accepted connection")
	}
	h.mu.Lock()
	h.opened = true
	h.mu.Unlock()
}

func (h *handler) Data(c env.Conn, b []byte) {
	defer h.enter("Data")()
	if h.stuck != nil {
		<-h.stuck
	}
	h.mu.Lock()
	h.data.Write(b)
	h.mu.Unlock()
	if h.echo {
		if err := c.Write(b); err != nil && !errors.Is(err, env.ErrClosed) {
			h.t.Errorf("echo: %v", err)
		}
	}
}

func (h *handler) Drained(env.Conn) {
	defer h.enter("Drained")()
	h.mu.Lock()
	h.drained++
	h.mu.Unlock()
}

func (h *handler) Closed(_ env.Conn, err error) {
	defer h.enter("Closed")()
	h.mu.Lock()
	h.err = err
	h.mu.Unlock()
	if err == nil {
		h.t.Error("Closed without a reason")
	}
	close(h.done)
}

func (h *handler) got() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.data.String()
}

func (h *handler) wait() error {
	select {
	case <-h.done:
	case <-time.After(20 * time.Second):
		h.t.Fatal("not closed")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
		time.Sleep(time.Millisecond)
	}
}

func network(t *testing.T, o osenv.NetworkOptions) *osenv.Network {
	n := osenv.NewNetwork(o)
	t.Cleanup(func() { n.Close() })
	return n
}

// certificate is a self-signed one for 127.0.0.1, both for servers and clients.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

func TestConnectionsEcho(t *testing.T) {
	cert, pool := certificate(t)
	mutual := &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	for name, o := range map[string]osenv.NetworkOptions{"tcp": {}, "tls": {TLS: mutual}} {
		t.Run(name, func(t *testing.T) {
			n := network(t, o)
			var server *handler
			l, err := n.Listen(":0", func(env.Conn) env.Handler {
				server = newHandler(t, false)
				server.echo = true
				return server
			})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(l.Addr()), "127.0.0.1:") {
				t.Errorf("listens at %s without being told so", l.Addr())
			}
			h := newHandler(t, true)
			c := n.Dial(l.Addr(), h)
			waitFor(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.opened })
			var want strings.Builder
			for i := range 2000 {
				s := fmt.Sprint(i, ";")
				want.WriteString(s)
				if err := c.Write([]byte(s)); err != nil {
					t.Fatal(err)
				}
			}
			waitFor(t, func() bool { return len(h.got()) == want.Len() })
			if h.got() != want.String() {
				t.Error("other bytes came back")
			}
			c.Close()
			c.Close()
			if err := h.wait(); !errors.Is(err, env.ErrClosed) {
				t.Errorf("closed by %v", err)
			}
			if err := c.Write([]byte("x")); !errors.Is(err, env.ErrClosed) {
				t.Errorf("write after close: %v", err)
			}
			server.wait()
		})
	}
}

// TestStrangersWithoutCertificate: with TLS both ways, a stranger that has no certificate
// gets nowhere.
func TestStrangersWithoutCertificate(t *testing.T) {
	cert, pool := certificate(t)
	n := network(t, osenv.NetworkOptions{TLS: &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}})
	accepted := make(chan *handler, 1)
	l, err := n.Listen(":0", func(env.Conn) env.Handler {
		h := newHandler(t, false)
		accepted <- h
		return h
	})
	if err != nil {
		t.Fatal(err)
	}
	stranger := network(t, osenv.NetworkOptions{TLS: &tls.Config{RootCAs: pool}})
	h := newHandler(t, true)
	c := stranger.Dial(l.Addr(), h)
	c.Write([]byte("let me in"))
	if err := (<-accepted).wait(); !strings.Contains(err.Error(), "tls") {
		t.Errorf("the server ends with %v", err)
	}
	h.wait()
}

func TestDialFails(t *testing.T) {
	n := network(t, osenv.NetworkOptions{})
	l, err := n.Listen(":0", func(env.Conn) env.Handler { return nil })
	if err != nil {
		t.Fatal(err)
	}
	refused := newHandler(t, true)
	n.Dial(l.Addr(), refused)
	if err := refused.wait(); err == nil {
		t.Error("an accept that refuses was not noticed")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, true)
	n.Dial(l.Addr(), h)
	if err := h.wait(); err == nil || h.opened {
		t.Errorf("dialled where nobody listens: %v", err)
	}
	if _, err := n.Listen("nonsense", nil); err == nil {
		t.Error("listened at an address that is none")
	}
}

// TestBackpressure: a writer to a peer that does not read gets ErrFull, and
// is told when there is room again.
func TestBackpressure(t *testing.T) {
	n := network(t, osenv.NetworkOptions{WriteBuffer: 64 << 10})
	stuck := make(chan struct{})
	server := newHandler(t, false)
	server.stuck = stuck
	l, err := n.Listen(":0", func(env.Conn) env.Handler { return server })
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, true)
	c := n.Dial(l.Addr(), h)
	piece := bytes.Repeat([]byte("x"), 10<<10)
	sent := 0
	for ; ; sent += len(piece) {
		if err := c.Write(piece); errors.Is(err, env.ErrFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if sent > 1<<30 {
			t.Fatal("the buffer has no bound")
		}
		time.Sleep(100 * time.Microsecond)
	}
	close(stuck)
	waitFor(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.drained > 0 })
	if err := c.Write(piece); err != nil {
		t.Errorf("write after Drained: %v", err)
	}
	waitFor(t, func() bool { return len(server.got()) == sent+len(piece) })
}

// TestWriteTimeout: a peer that never reads loses the connection.
func TestWriteTimeout(t *testing.T) {
	n := network(t, osenv.NetworkOptions{WriteTimeout: 50 * time.Millisecond, WriteBuffer: 64 << 20})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := newHandler(t, true)
	c := n.Dial(env.Addr(l.Addr().String()), h)
	if err := c.Write(make([]byte, 32<<20)); err != nil {
		t.Fatal(err)
	}
	if err := h.wait(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("closed by %v", err)
	}
}

// TestCloseNetworkEndsEverything: listeners and connections, dialling ones
// too, have had their last call when Close returns.
func TestCloseNetworkEndsEverything(t *testing.T) {
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	var mu sync.Mutex
	var hs []*handler
	l, err := n.Listen(":0", func(env.Conn) env.Handler {
		h := newHandler(t, false)
		mu.Lock()
		hs = append(hs, h)
		mu.Unlock()
		return h
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		h := newHandler(t, true)
		mu.Lock()
		hs = append(hs, h)
		mu.Unlock()
		n.Dial(l.Addr(), h)
	}
	waitFor(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(hs) > 25 })
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, h := range hs {
		select {
		case <-h.done:
		default:
			t.Error("a handler has not had its last call")
		}
	}
	late := newHandler(t, true)
	n.Dial(l.Addr(), late)
	if err := late.wait(); !errors.Is(err, env.ErrClosed) {
		t.Errorf("dialled on a closed network: %v", err)
	}
	if _, err := n.Listen(":0", nil); !errors.Is(err, env.ErrClosed) {
		t.Errorf("listened on a closed network: %v", err)
	}
}

func TestClock(t *testing.T) {
	c := osenv.NewClock()
	a := c.Now()
	woken := make(chan env.Instant, 1)
	c.After(20*time.Millisecond, env.WakeFunc(func() { woken <- c.Now() }))
	stopped := c.After(time.Hour, env.WakeFunc(func() { t.Error("a stopped timer fired") }))
	if !stopped.Stop() {
		t.Error("a timer of an hour could not be stopped")
	}
	if b := <-woken; b.Sub(a) < 20*time.Millisecond {
		t.Errorf("woken after %v", b.Sub(a))
	}
	if d := time.Since(c.Wall()); d < 0 || d > time.Minute {
		t.Errorf("the calendar is off by %v", d)
	}
}

func TestRandomDiffers(t *testing.T) {
	seen := map[uint64]bool{}
	for range 10 {
		r := osenv.NewRandom()
		for _, x := range []uint64{r.Uint64(), r.Split("a").Uint64(), r.Split("a").Uint64()} {
			if seen[x] {
				t.Error("a number came twice")
			}
			seen[x] = true
		}
	}
}

func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Open("a", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	f, err := d.Open("a", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{f.Append([]byte("hello ")), f.Append([]byte("world")), f.Sync(), d.MakeDir("x/y"), d.SyncDir(".")} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if _, err := f.WriteAt([]byte("W"), 6); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if _, err := f.ReadAt(b, 6); err != nil || string(b) != "World" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := f.Truncate(5); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Size(); n != 5 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename("a", "x/b"); err != nil {
		t.Fatal(err)
	}
	if got, err := d.List("x"); err != nil || fmt.Sprint(got) != "[b y]" {
		t.Errorf("list: %v, %v", got, err)
	}
	if err := d.Remove("x/b"); err != nil {
		t.Fatal(err)
	}
	// Names do not lead out of the directory.
	if _, err := d.Open("../../out", true); err == nil {
		t.Error("a name led out of the directory")
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "link")); err == nil {
		if _, err := d.Open("link/out", true); err == nil {
			t.Error("a symbolic link led out of the directory")
		}
	}
}
