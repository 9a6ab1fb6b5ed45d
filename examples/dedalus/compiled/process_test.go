// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/cmd/dedalusd"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/internal/overlay"
)

// asProgram makes a process of this test an instance of the program of that name.
const asProgram = "ASHLAR_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(asProgram); name != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		for _, e := range programs() {
			if e.name == name {
				os.Exit(dedalusd.Run(ctx, e.compiled(), os.Args[1:], os.Stdout, os.Stderr))
			}
		}
		os.Exit(99)
	}
	if linked() == nil {
		fmt.Fprintln(os.Stderr, overlay.Again(generated))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := errors.Join(os.RemoveAll(buildAll.dir), overlay.End()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}), goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

func world(t *testing.T, security *tls.Config) env.Env {
	w := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{TLS: security})
	t.Cleanup(func() { network.Close() })
	w.Network = network
	return w
}

func ctx(t *testing.T) context.Context {
	c, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return c
}

const (
	loops    = 8
	commands = 250
)

// vote has closed loops of clients vote, and asserts each answer.
func (f *fleet) vote(world env.Env, retry time.Duration, between func(done int)) {
	f.t.Helper()
	p := f.program
	in := relation(p, "clientIn")
	var wg sync.WaitGroup
	var mu sync.Mutex
	total, resent := 0, uint64(0)
	for i := range loops {
		name := fmt.Sprint("client", i)
		c := f.dial(world, name, retry, func(p *rt.Program, r int, row []rt.Value) (string, bool) {
			return fmt.Sprint(row[0].Num, row[1].Str), p.Relations[r].Name == "clientOut"
		})
		wg.Go(func() {
			for n := range uint64(commands) {
				v := fmt.Sprint(name, "-", n)
				row, err := rt.AppendRow(nil, p.Relations[in].Columns, []rt.Value{{Str: name}, {Num: n}, {Str: v}})
				if err != nil {
					f.t.Error(err)
					return
				}
				if _, _, err := c.Do(ctx(f.t), fmt.Sprint(n, v), in, row); err != nil {
					f.t.Errorf("%s: %v", v, err)
					return
				}
				mu.Lock()
				total++
				done := total
				mu.Unlock()
				if between != nil {
					between(done)
				}
			}
			_, again := c.Calls()
			mu.Lock()
			resent += again
			mu.Unlock()
			c.Close()
		})
	}
	wg.Wait()
	if total != loops*commands || retry > time.Second && resent > 0 {
		f.t.Errorf("%d of %d commands were answered, %d asked again", total, loops*commands, resent)
	}
}

// status is what a process shows.
func (f *fleet) status(node string) (counts map[string]uint64, text string) {
	f.t.Helper()
	get := func(path string) []byte {
		resp, err := http.Get(f.running[node].status + path)
		if err != nil {
			f.t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			f.t.Fatalf("%s: %s: %s %v", node, path, resp.Status, err)
		}
		return b
	}
	var v struct{ Counts map[string]uint64 }
	if err := json.Unmarshal(get("/status.json"), &v); err != nil {
		f.t.Fatal(err)
	}
	if ok := string(get("/healthz")) + string(get("/readyz")); ok != "ok\nok\n" {
		f.t.Errorf("%s is %s", node, ok)
	}
	return v.Counts, string(get("/metrics"))
}

// TestVotingProcesses: voting end to end, as it was written and rewritten, with real
// processes on loopback. Nothing fails, so nothing is asked twice, and each command is
// counted as often as the program says.
func TestVotingProcesses(t *testing.T) {
	for _, name := range []string{"voting", "votingscaled"} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, name)
			f.vote(world(t, nil), time.Minute, nil)
			n := uint64(loops * commands)
			counts, text := f.status("leader/0")
			taken, last := n, "leader/0"
			if name == "voting" {
				taken += 3 * n // votes
			} else {
				last = "replier/0"
			}
			if counts["delivered"] != taken || counts["rejected"] != 0 || counts["dropped"] != 0 {
				t.Errorf("the leader: %v, and %d should have come", counts, taken)
			}
			if want := fmt.Sprintf("ashlar_dedalus_delivered_total{component=\"leader\",node=\"leader/0\",program=\"voting\"} %d\n", taken); !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
			if counts, _ := f.status(last); counts["unclaimed"] != 0 {
				t.Errorf("%s: %v", last, counts)
			}
			f.stop()
		})
	}
}

// TestVotingKilled: a participant is killed and started again while clients vote; they
// ask again, and all are answered.
func TestVotingKilled(t *testing.T) {
	f := newFleet(t, "voting")
	var once sync.Once
	f.vote(world(t, nil), 100*time.Millisecond, func(done int) {
		if done == loops*commands/4 {
			once.Do(func() {
				f.kill("participant/1")
				f.start("participant/1")
			})
		}
	})
	f.stop()
}

// TestPaxosProcesses: a log of commands; all proposers and an acceptor are killed and
// come back with what is on their disks.
func TestPaxosProcesses(t *testing.T) {
	f := newFleet(t, "paxos")
	w := world(t, nil)
	slots := map[uint64]string{}
	var mu sync.Mutex
	c := f.dial(w, "c", 200*time.Millisecond, func(p *rt.Program, r int, row []rt.Value) (string, bool) {
		if p.Relations[r].Name != "reply" {
			return "", false
		}
		mu.Lock()
		defer mu.Unlock()
		if was, ok := slots[row[0].Num]; ok && was != row[1].Str {
			t.Errorf("slot %d has %q and %q", row[0].Num, was, row[1].Str)
		}
		slots[row[0].Num] = row[1].Str
		return row[1].Str, true
	})
	e, _ := entry(t, "paxos")
	p := e.compiled()
	propose := relation(p, "propose")
	some := func(round int) {
		for n := range 20 {
			v := fmt.Sprint(round, ".", n)
			row, err := rt.AppendRow(nil, p.Relations[propose].Columns, []rt.Value{{Str: "c"}, {Str: v}})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Do(ctx(t), v, propose, row); err != nil {
				t.Fatal(v, err)
			}
		}
	}
	some(0)
	for _, node := range []string{"proposer/0", "proposer/1", "acceptor/2"} {
		f.kill(node)
	}
	for _, node := range []string{"proposer/0", "proposer/1", "acceptor/2"} {
		f.start(node)
	}
	some(1)
	if counts, _ := f.status("acceptor/0"); counts["commits"] == 0 || counts["changes"] == 0 {
		t.Errorf("an acceptor has put nothing on its disk: %v", counts)
	}
	f.stop()
	for _, k := range []string{"0.7", "1.19"} {
		found := false
		for _, v := range slots {
			found = found || v == k
		}
		if !found {
			t.Errorf("%s has no slot", k)
		}
	}
	// An acceptor whose disk is gone must not come back as a new one.
	if err := os.RemoveAll(filepath.Join(f.dir, "acceptor-1")); err != nil {
		t.Fatal(err)
	}
	cmd := f.command("acceptor/1")
	cmd.Args = append(cmd.Args, "--existing")
	if code, out, errs := procs.Run(t, cmd); code != 1 || !strings.Contains(out+errs, "--existing") {
		t.Errorf("without its disk: exit code %d\n%s%s", code, out, errs)
	}
}

// authority signs certificates for a test.
func authority(t *testing.T) (flags []string, security *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	kder, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: kder})
	for name, b := range map[string][]byte{"cert": certPEM, "tlskey": keyPEM, "key": []byte("something that only instances have\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return []string{"--tls-cert", dir + "/cert", "--tls-key", dir + "/tlskey", "--tls-ca", dir + "/cert", "--key", dir + "/key"},
		&tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, RootCAs: pool}
}

// TestVotingSecured: with certificates and a key; and who has none gets nowhere.
func TestVotingSecured(t *testing.T) {
	flags, security := authority(t)
	f := newFleet(t, "voting", flags...)
	f.vote(world(t, security), time.Minute, nil)
	c := f.dial(world(t, nil), "stranger", time.Minute, func(*rt.Program, int, []rt.Value) (string, bool) { return "", false })
	for {
		if ok, why := c.Connected("leader/0"); ok {
			t.Fatal("a stranger is connected")
		} else if why != nil {
			break
		}
		select {
		case <-ctx(t).Done():
			t.Fatal("a stranger waits")
		case <-time.After(5 * time.Millisecond): // the network tells nobody but Connected
		}
	}
	f.stop()
}

// TestCommandLine: what is wrong is said, with the exit code for it.
func TestCommandLine(t *testing.T) {
	f := newFleet(t, "voting")
	f.stop()
	other := filepath.Join(f.dir, "other.json")
	text, err := os.ReadFile(f.deployment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, bytes.Replace(text, []byte(`"program": "voting"`), []byte(`"program": "paxos"`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(f.dir, "short")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "--deployment is required"},
		{[]string{"--deployment", f.deployment}, 2, "--node is required"},
		{[]string{"--deployment", f.deployment, "--node", "leader/7"}, 2, "no such process"},
		{[]string{"--deployment", "nothing.json", "--node", "leader/0"}, 1, "nothing.json"},
		{[]string{"--deployment", other, "--node", "leader/0"}, 2, "not a deployment of this program"},
		{[]string{"--deployment", f.deployment, "--node", "leader/0", "--listen", "0.0.0.0:0"}, 2, "can be reached from other machines"},
		{[]string{"--deployment", f.deployment, "--node", "leader/0", "--tls-cert", "x"}, 2, "belong together"},
		{[]string{"--deployment", f.deployment, "--node", "leader/0", "--key", short}, 2, "want 16 to"},
		{[]string{"--what"}, 2, "unknown flag"},
	} {
		code, out, errs := procs.Run(t, procs.Self(t, asProgram+"=voting", c.args...))
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: exit code %d, want %d with %q:\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
}
