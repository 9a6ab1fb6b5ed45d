// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
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
	*procs.Process
	status string // where it shows its status
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
	for _, node := range nodes {
		f.running[node] = &running{Process: procs.Start(f.t, f.command(node))}
	}
	for _, node := range nodes {
		r := f.running[node]
		r.status = r.Await("status on ")
	}
}

func (f *fleet) kill(node string) { f.running[node].Kill() }

// stop ends all in order.
func (f *fleet) stop() {
	f.t.Helper()
	for _, r := range f.running {
		r.Signal(syscall.SIGTERM)
	}
	for node, r := range f.running {
		if code := r.Wait(); code != 0 {
			f.t.Errorf("%s ends with exit code %d", node, code)
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
