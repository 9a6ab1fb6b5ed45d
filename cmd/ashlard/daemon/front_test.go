// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// tool runs a program of the distribution.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: make deps installs it: %v", name, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestRedisTools(t *testing.T) {
	f := newFleet(t, 3)
	port := func(i int) string { _, p, _ := net.SplitHostPort(f.servers[i].keys); return p }
	for i, c := range []struct{ command, want string }{
		{"SET a 1", "OK"}, {"INCR a", "2"}, {"GET a", "2"}, {"INCRBY a 40", "42"}, {"DEL a b", "1"}, {"GET a", ""},
		{"MSET x 1 y 2", "OK"}, {"MGET x y z", "1\n2"}, {"APPEND x 23", "3"}, {"GET x", "123"},
	} {
		// Each at another server: all see the same.
		if got := tool(t, "redis-cli", append([]string{"-p", port(i % 3)}, strings.Fields(c.command)...)...); got != c.want {
			t.Errorf("redis-cli %s: %q, want %q", c.command, got, c.want)
		}
	}
	script := filepath.Join(t.TempDir(), "multi")
	if err := os.WriteFile(script, []byte("MULTI\nINCR n\nINCR n\nEXEC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := tool(t, "sh", "-c", "redis-cli -p "+port(0)+" < "+script)
	if want := "OK\nQUEUED\nQUEUED\n1\n2"; out != want {
		t.Errorf("MULTI: %q, want %q", out, want)
	}
	out = tool(t, "redis-benchmark", "-p", port(1), "-t", "set,get,incr", "-n", "2000", "-c", "16", "-r", "1000", "-q")
	if strings.Contains(strings.ToLower(out), "error") || strings.Count(out, "requests per second") < 3 {
		t.Errorf("redis-benchmark:\n%s", out)
	}
	// What is no command, and a client that goes away in the middle of one.
	c, err := net.Dial("tcp", f.servers[0].keys)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("*3\r\n$3\r\nSET\r\n$1\r\nq\r\n$100\r\nabc")); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if c, err = net.Dial("tcp", f.servers[0].keys); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("*1\r\n$-7\r\n\x00\xff")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, _ := c.Read(b)
	if !strings.HasPrefix(string(b[:n]), "-ERR") {
		t.Errorf("nonsense is answered %q", b[:n])
	}
	if got := tool(t, "redis-cli", "-p", port(0), "GET", "q"); got != "" {
		t.Errorf("half a command has set %q", got)
	}
	metrics := f.servers[0].get(t, "/metrics")
	for _, want := range []string{"ashlard_serving 1", "ashlard_kv_connections", "ashlard_kv_keys", `ashlard_requests_total{kind="write",status="ok"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s:\n%s", want, metrics)
		}
	}
}

// TestDrainUnderLoad ends one server after the other in order while clients append
// and set; what was acknowledged is there.
func TestDrainUnderLoad(t *testing.T) {
	f := newFleet(t, 3)
	c := f.client(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	l, err := c.Log(ctx, 3, worm.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	kv, err := c.KV(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	var mu sync.Mutex
	appended, set := map[string]log.Position{}, map[string]bool{}
	stop := make(chan struct{})
	var work sync.WaitGroup
	for w := range 4 {
		work.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				name := fmt.Sprintf("%d/%d", w, i)
				at, err := l.Append(ctx, []byte(name))
				if err == nil {
					mu.Lock()
					appended[name] = at
					mu.Unlock()
				} else if !errors.Is(err, wor.ErrUnknown) && !errors.Is(err, wor.ErrBusy) {
					t.Errorf("append: %v", err)
					return
				}
				if err := kv.Set(ctx, name, []byte(name)); err == nil {
					mu.Lock()
					set[name] = true
					mu.Unlock()
				} else if !errors.Is(err, wor.ErrUnknown) {
					t.Errorf("set: %v", err)
					return
				}
			}
		})
	}
	more := func() {
		mu.Lock()
		a, s := len(appended), len(set)
		mu.Unlock()
		for now := 0; now < a+50; {
			time.Sleep(10 * time.Millisecond) // the work goes on meanwhile
			mu.Lock()
			now = min(len(appended), len(set)+a-s)
			mu.Unlock()
			if ctx.Err() != nil {
				t.Fatal("nothing goes on")
			}
		}
	}
	more()
	for i := range 3 {
		if code := f.servers[i].Stop(); code != 0 {
			t.Errorf("server %d ends with %d", i, code)
		}
		more()
		f.start(i)
	}
	more()
	close(stop)
	work.Wait()
	tail, err := l.Tail(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]log.Position{}
	for e, err := range l.Entries(ctx, 0, tail) {
		if err != nil {
			t.Fatal(err)
		}
		found[string(e.Data)] = e.Position
	}
	for name, at := range appended {
		if found[name] != at {
			t.Errorf("%s was acknowledged at %v and is at %v", name, at, found[name])
		}
	}
	for name := range set {
		if v, err := kv.Get(ctx, name); err != nil || string(v) != name {
			t.Fatalf("key %s was acknowledged and is %q, %v", name, v, err)
		}
	}
	t.Logf("%d appends and %d keys through three drains", len(appended), len(set))
}

// authority signs certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key, a.file, _ = a.make(name, true)
	return a
}

// make makes a certificate, and answers the files with it and its key.
func (a *authority) make(name string, ca bool) (*x509.Certificate, *ecdsa.PrivateKey, string, string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: ca, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, by := a.cert, a.key
	if ca {
		template.KeyUsage |= x509.KeyUsageCertSign
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	write := func(suffix, kind string, der []byte) string {
		file := filepath.Join(a.dir, name+suffix)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return file
	}
	return cert, key, write(".crt", "CERTIFICATE", der), write(".key", "PRIVATE KEY", private)
}

// flags are those of a client that has a certificate of this authority.
func (a *authority) flags(name string) []string {
	_, _, cert, key := a.make(name, false)
	return []string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", a.file}
}

func TestTLS(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	f := newFleet(t, 3, append(ours.flags("server"), "--kv-tls")...)
	alice, mallory := ours.flags("alice"), theirs.flags("mallory")
	f.good(append([]string{"write", "5.0", "secret", "--alloc", "4"}, alice...)...)
	if got := f.good(append([]string{"read", "5.0"}, alice...)...); got != "secret" {
		t.Errorf("read %q", got)
	}
	// Without a certificate, with one of another authority, and with the right one but
	// other ideas about whom to trust.
	mixed := append(append([]string{}, alice[:4]...), "--tls-ca", theirs.file)
	for name, flags := range map[string][]string{"plain": nil, "foreign": mallory, "mistrustful": mixed} {
		args := append([]string{"read", "5.0", "--timeout", "1s"}, flags...)
		code, out, errs := f.run(args...)
		if code != 1 || strings.Contains(out, "secret") {
			t.Errorf("%s: exit code %d, %q\n%s", name, code, out, errs)
		}
		if want := map[string]string{"plain": "needs --tls-cert", "foreign": "certificate", "mistrustful": "certificate"}[name]; !strings.Contains(errs, want) {
			t.Errorf("%s: it says %q, want %q", name, errs, want)
		}
	}
	// The front wants a certificate, too.
	pool := x509.NewCertPool()
	pool.AddCert(ours.cert)
	c, err := tls.Dial("tcp", f.servers[0].keys, &tls.Config{RootCAs: pool})
	if err == nil {
		defer c.Close()
		_, _ = c.Write([]byte("PING\r\n")) // what counts is that there is no answer
		b := make([]byte, 10)
		if n, err := c.Read(b); err == nil {
			t.Errorf("a client without a certificate is answered %q", b[:n])
		}
	}
	pair, err := tls.LoadX509KeyPair(alice[1], alice[3])
	if err != nil {
		t.Fatal(err)
	}
	if c, err = tls.Dial("tcp", f.servers[0].keys, &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "+PONG\r\n" {
		t.Errorf("PING: %q, %v", b[:n], err)
	}
}

// TestPlainServers are asked with certificates: the command says what may be wrong.
func TestPlainServers(t *testing.T) {
	f := newFleet(t, 3)
	args := append([]string{"read", "5.0", "--timeout", "1s"}, newAuthority(t, "ours").flags("alice")...)
	if code, _, errs := f.run(args...); code != 1 || !strings.Contains(errs, "omit --tls-cert") {
		t.Errorf("exit code %d, %s", code, errs)
	}
	// Whom the time is not enough for is not sent to a majority that is there.
	for _, i := range []int{0, 1} {
		f.servers[i].Kill()
	}
	if code, _, errs := f.run("read", "5.0", "--timeout", "1s"); code != 1 || strings.Count(errs, "does not answer") != 2 || strings.Contains(errs, "n2") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
