// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
)

// fleet is the processes of a program, on loopback.
type fleet struct {
	t          *testing.T
	program    *rt.Program // or its outline
	exe        []string    // what a process is started with
	environ    []string
	d          *deploy.Description
	dir        string
	deployment string
	more       []string // of the command line
	// links are what processes and clients reach each process through, by its node and
	// theirs; the clients are "". Empty where there are none.
	links   map[string]map[string]*faultproxy.Proxy
	running map[string]*running
}

type running struct {
	cmd    *exec.Cmd
	status string
	errs   buffer
	ended  chan struct{}
}

type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newFleet starts all processes of a program that this test has.
func newFleet(t *testing.T, name string, more ...string) *fleet {
	t.Helper()
	e, d := entry(t, name)
	f := &fleet{t: t, program: e.compiled(), exe: []string{os.Args[0]}, environ: []string{asProgram + "=" + name}, d: d, more: more}
	f.begin()
	return f
}

// begin gives each process a place and starts it.
func (f *fleet) begin() {
	f.t.Helper()
	f.dir, f.running = f.t.TempDir(), map[string]*running{}
	addrs, err := ports.Free(len(f.d.Processes))
	if err != nil {
		f.t.Fatal(err)
	}
	for i, addr := range addrs {
		f.d.Processes[i].Addr = addr
	}
	f.deployment = f.describe("deployment.json", f.d)
	if f.links != nil {
		f.connect()
	}
	f.t.Cleanup(func() {
		for node := range f.running {
			f.kill(node)
		}
	})
	var nodes []string
	for i := range f.d.Processes {
		nodes = append(nodes, f.d.Processes[i].Node)
	}
	f.start(nodes...)
}

// describe writes a deployment.
func (f *fleet) describe(name string, d *deploy.Description) string {
	f.t.Helper()
	text, err := d.Append(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	name = filepath.Join(f.dir, name)
	if err := os.WriteFile(name, text, 0o666); err != nil {
		f.t.Fatal(err)
	}
	return name
}

func newLinks() map[string]map[string]*faultproxy.Proxy {
	return map[string]map[string]*faultproxy.Proxy{}
}

// connect opens a link from each process to each other one, and from the clients, and
// describes to each how it reaches the others.
func (f *fleet) connect() {
	f.t.Helper()
	for i := range f.d.Processes {
		to := f.d.Processes[i]
		f.links[to.Node] = map[string]*faultproxy.Proxy{}
		for k := range len(f.d.Processes) + 1 {
			from := ""
			if k > 0 {
				from = f.d.Processes[k-1].Node
			}
			l, err := faultproxy.Open("127.0.0.1", uint64(1000*i+k))
			if err != nil {
				f.t.Fatal(err)
			}
			f.t.Cleanup(l.Close)
			l.Aim(to.Addr)
			f.links[to.Node][from] = l
		}
	}
	for i := range f.d.Processes {
		d := *f.d
		d.Processes = slices.Clone(d.Processes)
		for k := range d.Processes {
			d.Processes[k].Addr = f.links[d.Processes[k].Node][f.d.Processes[i].Node].Addr()
		}
		f.describe(fileName(d.Processes[i].Node)+".json", &d)
	}
}

func fileName(node string) string { return strings.ReplaceAll(node, "/", "-") }

func (f *fleet) command(node string) *exec.Cmd {
	deployment := f.deployment
	if f.links != nil {
		deployment = filepath.Join(f.dir, fileName(node)+".json")
	}
	args := append(slices.Clone(f.exe[1:]), "--deployment", deployment, "--node", node, "--http", "127.0.0.1:0",
		"--listen", f.d.Process(node).Addr, "--data", filepath.Join(f.dir, fileName(node)))
	cmd := exec.Command(f.exe[0], append(args, f.more...)...)
	cmd.Env = append(os.Environ(), f.environ...)
	return cmd
}

// start starts processes and waits until all listen.
func (f *fleet) start(nodes ...string) {
	f.t.Helper()
	var ready []chan string
	for _, node := range nodes {
		ready = append(ready, f.launch(node))
	}
	for i, node := range nodes {
		r := f.running[node]
		select {
		case r.status = <-ready[i]:
		case <-r.ended:
			f.t.Fatalf("%s has ended:\n%s", node, &r.errs)
		}
	}
}

// launch starts a process, and tells when it listens where it shows its status.
func (f *fleet) launch(node string) chan string {
	f.t.Helper()
	r := &running{cmd: f.command(node), ended: make(chan struct{})}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		f.t.Fatal(err)
	}
	r.cmd.Stderr = &r.errs
	if err := r.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		defer close(r.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if s, ok := strings.CutPrefix(lines.Text(), "status on "); ok {
				ready <- s
			}
		}
		_ = r.cmd.Wait() // its code is in ProcessState
	}()
	f.running[node] = r
	return ready
}

func (f *fleet) kill(node string) {
	r := f.running[node]
	_ = r.cmd.Process.Kill() // it may have ended
	<-r.ended
}

// stop ends all in order.
func (f *fleet) stop() {
	f.t.Helper()
	for _, r := range f.running {
		if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			f.t.Error(err)
		}
	}
	for node, r := range f.running {
		<-r.ended
		if code := r.cmd.ProcessState.ExitCode(); code != 0 {
			f.t.Errorf("%s ends with exit code %d:\n%s", node, code, &r.errs)
		}
	}
}

// dial opens a client of the fleet.
func (f *fleet) dial(world env.Env, name string, retry time.Duration, key func(p *rt.Program, relation int, row []rt.Value) (string, bool)) *client.Caller {
	f.t.Helper()
	p := f.program
	c, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: world, Program: p, Name: name, Nodes: f.reached()},
		To: (&cluster{d: f.d}).nodes(true, false), Retry: retry,
		Key: func(r int, row []byte) (string, bool) {
			values, err := rt.ReadRow(row, p.Relations[r].Columns)
			if err != nil {
				f.t.Error(err)
			}
			return key(p, r, values)
		}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

// reached is where clients find the instances that have to do with them.
func (f *fleet) reached() map[string]env.Addr {
	nodes := map[string]env.Addr{}
	for _, n := range (&cluster{d: f.d}).nodes(true, true) {
		nodes[n] = env.Addr(f.d.Process(n).Addr)
		if f.links != nil {
			nodes[n] = env.Addr(f.links[n][""].Addr())
		}
	}
	return nodes
}
