// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/cmd/ashlard/daemon"
	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// asCommand makes a process of this test a program: ashlard, or ashlar, which has the
// commands of a cluster's clients.
const asCommand = "ASHLARD_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	switch os.Getenv(asCommand) {
	case "ashlard":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(daemon.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "ashlar":
		os.Exit(cli.Main())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// run runs a command to its end.
func run(t testing.TB, args ...string) (code int, out, errs string) {
	t.Helper()
	return procs.Run(t, self(t, args...))
}

// good runs a command that succeeds.
func good(t testing.TB, args ...string) string {
	t.Helper()
	code, out, errs := run(t, args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// self is a command as a process: of ashlard if that has it, else of 'ashlar worm'.
func self(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	switch args[0] {
	case "format", "genesis", "serve", "--version":
		return procs.Self(t, asCommand+"=ashlard", args...)
	}
	return procs.Self(t, asCommand+"=ashlar", append([]string{"worm"}, args...)...)
}

// server is a process that serves.
type server struct {
	*procs.Process
	addr, http, keys string
}

// serve starts a server and waits until it says where it listens.
func serve(t testing.TB, args ...string) *server {
	t.Helper()
	p := procs.Start(t, self(t, append([]string{"serve"}, args...)...))
	return &server{p, p.Await("listening on "), p.Await("status on "), p.Await("keys on ")}
}

// fleet is a cluster of processes.
type fleet struct {
	t       testing.TB
	dir     string
	cluster string
	names   []string // NAME=ID@ADDR
	servers []*server
	flags   []string
}

// newFleet formats n servers and starts those of a cluster of the first three.
func newFleet(t testing.TB, n int, flags ...string) *fleet {
	f := &fleet{t: t, dir: t.TempDir(), flags: flags, servers: make([]*server, n)}
	for i := range n {
		f.names = append(f.names, strings.TrimSpace(good(t, "format", f.path(i), "--name", fmt.Sprint("n", i), "--addr", freePort(t))))
	}
	f.cluster = filepath.Join(f.dir, "cluster.json")
	text := good(t, append([]string{"genesis"}, f.names[:3]...)...)
	if err := os.WriteFile(f.cluster, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f.start(i)
	}
	return f
}

func (f *fleet) path(i int) string { return filepath.Join(f.dir, fmt.Sprint("n", i)) }

func (f *fleet) addr(i int) string { _, a, _ := strings.Cut(f.names[i], "@"); return a }

func (f *fleet) start(i int) *server {
	f.t.Helper()
	f.servers[i] = serve(f.t, append([]string{f.path(i), "--cluster", f.cluster, "--listen", f.addr(i),
		"--http", "127.0.0.1:0", "--kv", "127.0.0.1:0"}, f.flags...)...)
	return f.servers[i]
}

func (f *fleet) run(args ...string) (int, string, string) {
	f.t.Helper()
	return run(f.t, append(args, "--cluster", f.cluster)...)
}

func (f *fleet) good(args ...string) string {
	f.t.Helper()
	return good(f.t, append(args, "--cluster", f.cluster)...)
}

// client opens a client of the cluster.
func (f *fleet) client(security *tls.Config) *worm.Client {
	f.t.Helper()
	c, err := worm.Open(worm.Options{Genesis: f.genesis(), TLS: security})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

func (f *fleet) genesis() *wor.Genesis {
	r, err := os.Open(f.cluster)
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Close()
	g, err := worm.ReadGenesis(r)
	if err != nil {
		f.t.Fatal(err)
	}
	return g
}

// freePort is an address at which no process listens now.
func freePort(t testing.TB) string {
	free, err := ports.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	return free[0]
}

// get reads a page of a server.
func (s *server) get(t testing.TB, path string) string {
	t.Helper()
	r, err := http.Get(s.http + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", path, r.Status, err, b)
	}
	return string(b)
}

// TestReplace kills a server and puts a new one in its place; what was written
// before and between is there, in registers, log and keys.
func TestReplace(t *testing.T) {
	f := newFleet(t, 4)
	f.good("write", "17.0", "hello", "--alloc", "10")
	f.good("log", "append", "7", "one")
	f.good("kv", "set", "k", "before")
	f.servers[1].Kill()
	f.good("write", "17.1", "with two of three")
	if code, _, errs := f.run("replace", "n1", "--with", f.names[3]); code != 3 || !strings.Contains(errs, "does not answer") {
		t.Errorf("replaced by a server that is not there: exit code %d, %s", code, errs)
	}
	if code, _, errs := f.run("replace", "nobody", "--with", f.names[3]); code != 2 || !strings.Contains(errs, `no server "nobody"`) {
		t.Errorf("nobody is replaced: exit code %d, %s", code, errs)
	}
	f.start(3)
	out := f.good("replace", "n1", "--with", f.names[3])
	for _, want := range []string{"checked:", "n1", "does not answer", "no member", "done: n3 has replaced n1", "3 of 3 servers serve"} {
		if !strings.Contains(out, want) {
			t.Errorf("replace does not say %q:\n%s", want, out)
		}
	}
	// A majority now needs the new one.
	f.servers[0].Kill()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"read", "17.0"}, "hello"}, {[]string{"read", "17.1"}, "with two of three"},
		{[]string{"log", "cat", "7"}, "one\n"}, {[]string{"kv", "get", "k"}, "before"},
	} {
		if got := f.good(c.args...); got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
	f.good("log", "append", "7", "two")
	if got := f.good("log", "cat", "7"); got != "one\ntwo\n" {
		t.Errorf("the log has %q", got)
	}
	var v struct {
		Healthy    bool
		Partitions []struct{ Epoch, Serving int }
	}
	_, status, _ := f.run("status", "--json")
	if err := json.Unmarshal([]byte(status), &v); err != nil || v.Healthy || v.Partitions[0].Epoch != 1 || v.Partitions[0].Serving != 2 {
		t.Errorf("status: %v %+v\n%s", err, v, status)
	}
	f.servers[3].Kill()
	if code, out, _ := f.run("status"); code != 1 || !strings.Contains(out, "NOT AVAILABLE") {
		t.Errorf("status without a majority: exit code %d\n%s", code, out)
	}
}

// TestRefused starts servers that must not serve.
func TestRefused(t *testing.T) {
	f := newFleet(t, 3)
	empty := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"empty disk", []string{"serve", empty, "--cluster", f.cluster}, 1, "'ashlar worm replace'"},
		{"no disk", []string{"serve", filepath.Join(empty, "none"), "--cluster", f.cluster}, 1, "'ashlard format'"},
		{"in use", []string{"serve", f.path(0), "--cluster", f.cluster}, 1, ""},
		{"no cluster", []string{"serve", empty}, 2, "--cluster is missing"},
		{"reachable", []string{"serve", empty, "--cluster", f.cluster, "--listen", "0.0.0.0:0"}, 2, "--listen \"0.0.0.0:0\": can be reached"},
		{"keys reachable", []string{"serve", empty, "--cluster", f.cluster, "--kv", ":6379"}, 2, "--kv"},
		{"half of TLS", []string{"serve", empty, "--cluster", f.cluster, "--tls-cert", "x"}, 2, "--tls-key"},
		{"memory", []string{"serve", empty, "--cluster", f.cluster, "--memory", "0"}, 2, "want at least 1M"},
		{"memory without a size", []string{"serve", empty, "--memory", "--cluster", f.cluster}, 2, "is not a size"},
		{"the old flag", []string{"serve", empty, "--cluster", f.cluster, "--max-mb", "24"}, 2, "--memory SIZE"},
		{"format again", []string{"format", f.path(0), "--name", "x"}, 1, "format"},
		{"flag", []string{"serve", "--nonsense"}, 2, "--help"},
	} {
		code, out, errs := run(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", c.name, code, c.code, c.want, out, errs)
		}
	}
	config := filepath.Join(empty, "c.toml")
	if err := os.WriteFile(config, []byte("memoryy = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, errs := run(t, "serve", empty, "--config", config); !strings.Contains(errs, `no setting "memoryy"`) {
		t.Errorf("a wrong setting: %s", errs)
	}
	// A client of another cluster, at these addresses, is told so.
	other := filepath.Join(empty, "other.json")
	if err := os.WriteFile(other, []byte(good(t, append([]string{"genesis"}, f.names...)...)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := run(t, "status", "--cluster", other)
	if code != 1 || !strings.Contains(out, "cluster") || strings.Contains(out, "serving") {
		t.Errorf("status of another cluster: exit code %d\n%s", code, out)
	}
	// A server of the cluster that lost its disk is another one.
	f.servers[2].Kill()
	if err := os.RemoveAll(f.path(2)); err != nil {
		t.Fatal(err)
	}
	good(t, "format", f.path(2), "--name", "n2")
	f.start(2)
	_, out, _ = f.run("status")
	if !strings.Contains(out, "2 of 3 servers serve") {
		t.Errorf("an empty disk in the place of a lost one:\n%s", out)
	}
}

func TestVersion(t *testing.T) {
	if out := good(t, "--version"); !strings.Contains(out, runtime.Version()) {
		t.Errorf("--version says %q", out)
	}
}

// TestMovedCommands: ashlard was the client, too; each command that ashlar has now is
// answered with where it is, and ashlar has it there.
func TestMovedCommands(t *testing.T) {
	worm, _, err := cli.Command(&console.Terminal{Out: io.Discard, Err: io.Discard}).Find([]string{"worm"})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range worm.Commands() {
		if c.Name() == "demo" { // it was never one of ashlard
			continue
		}
		tried++
		for _, args := range [][]string{{c.Name(), "--cluster", "x"}, {"help", c.Name()}, {"--help", c.Name()}} {
			var out, errs strings.Builder
			code := daemon.Main(t.Context(), args, strings.NewReader(""), &out, &errs)
			want := fmt.Sprintf("ashlard: %s is a command of ashlar now: ashlar worm %[1]s\n", c.Name())
			if code != 2 || errs.String() != want || out.String() != "" {
				t.Errorf("ashlard %v: exit code %d, %q, %q; want 2 and %q", args, code, errs.String(), out.String(), want)
			}
		}
	}
	if tried != 11 {
		t.Errorf("%d commands have moved, want 11", tried)
	}
}
