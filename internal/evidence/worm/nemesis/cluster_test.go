// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/faultproxy"
	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// host is a place for a server: a directory, and a process if there is one.
type host struct {
	t       *testing.T
	c       *cluster
	number  int
	dir     string
	member  wor.Member // its identity, by its disk
	command []string   // with which a process is started
	listen  string
	links   []*faultproxy.Proxy // to it, from each host, and from the clients
	genesis string              // its description when its disk was formatted

	process *procs.Process // nil: none runs
	in      io.WriteCloser
}

// cluster is the hosts, and what the clients know.
type cluster struct {
	t       *testing.T
	hosts   []*host
	genesis *wor.Genesis
}

// newLink opens a link, which is closed when the test ends.
func newLink(t *testing.T, seed uint64) *faultproxy.Proxy {
	t.Helper()
	k, err := faultproxy.Open("127.0.0.1", seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// newCluster formats hosts and starts their servers. The first partition begins on hosts
// 0 to 2, the second one on hosts 1 to 3.
func newCluster(t *testing.T, hosts int) *cluster {
	t.Helper()
	c := &cluster{t: t, genesis: &wor.Genesis{Cluster: 0xadd, Partitions: []wor.Config{{Partition: 0}, {Partition: 1}}}}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range hosts {
		h := &host{t: t, c: c, number: i, dir: filepath.Join(t.TempDir(), fmt.Sprint("disk", i)), command: []string{program}, listen: "127.0.0.1:0"}
		for j := range hosts + 1 {
			h.links = append(h.links, newLink(t, uint64(100*i+j)))
		}
		h.member = wor.Member{Name: fmt.Sprint("s", i), Addr: h.links[hosts].Addr()}
		c.hosts = append(c.hosts, h)
		h.format()
		t.Cleanup(h.kill)
	}
	c.begin()
	return c
}

// begin writes the genesis and starts all servers.
func (c *cluster) begin() {
	c.t.Helper()
	for p := range c.genesis.Partitions {
		for i := range 3 {
			c.genesis.Partitions[p].Members = append(c.genesis.Partitions[p].Members, c.hosts[p+i].member)
		}
	}
	for _, h := range c.hosts {
		h.genesis = c.describe()
	}
	c.startAll()
}

// describe returns the cluster's description as text.
func (c *cluster) describe() string {
	c.t.Helper()
	var b bytes.Buffer
	if err := worm.WriteGenesis(&b, c.genesis); err != nil {
		c.t.Fatal(err)
	}
	return b.String()
}

// renew makes new clients know the present members: a client that knows only servers that
// have all been replaced finds none.
func (c *cluster) renew(w *worm.Client) {
	c.t.Helper()
	g := *c.genesis
	g.Known = nil
	for p := range c.genesis.Partitions {
		cfg, err := w.Config(wor.Partition(p))
		if err != nil {
			c.t.Fatal(err)
		}
		if cfg.Epoch > 0 {
			g.Known = append(g.Known, cfg)
		}
	}
	c.genesis = &g
}

func (c *cluster) startAll() {
	c.t.Helper()
	for _, h := range c.hosts {
		h.start()
	}
}

func (c *cluster) client() *worm.Client {
	c.t.Helper()
	w, err := worm.Open(worm.Options{Genesis: c.genesis})
	if err != nil {
		c.t.Fatal(err)
	}
	return w
}

// calm ends all faults of the links.
func (c *cluster) calm() {
	for _, h := range c.hosts {
		for _, k := range h.links {
			k.Set(faultproxy.Faults{})
		}
	}
}

// format gives the host an empty disk, which makes it another server.
func (h *host) format() {
	h.t.Helper()
	if err := os.RemoveAll(h.dir); err != nil {
		h.t.Fatal(err)
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	world := osenv.New()
	disk, err := osenv.OpenDisk(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer disk.Close()
	world.Disk, world.Tracer = disk, env.NoTrace{}
	if h.member.ID, err = node.Format(world, logDir, h.member.Name); err != nil {
		h.t.Fatal(err)
	}
	h.genesis = h.c.describe()
}

// start starts a server process and waits until it listens.
func (h *host) start() {
	h.t.Helper()
	o := order{Dir: h.dir, Listen: h.listen, Genesis: h.genesis, Detours: map[string]string{}}
	for _, other := range h.c.hosts {
		if len(other.links) > 0 {
			o.Detours[other.member.Addr] = other.links[h.number].Addr()
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(h.command[0], h.command[1:]...)
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text), "GOMAXPROCS=2")
	if h.in, err = cmd.StdinPipe(); err != nil {
		h.t.Fatal(err)
	}
	h.process = procs.Start(h.t, cmd)
	addr := h.process.Await("")
	for _, k := range h.links {
		k.Aim(addr)
	}
}

// ask asks the process for its condition.
func (h *host) ask() condition {
	h.t.Helper()
	if _, err := io.WriteString(h.in, "?\n"); err != nil {
		h.t.Fatalf("server %d: %v", h.number, err)
	}
	var c condition
	if err := json.Unmarshal([]byte(h.process.Await("")), &c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

func (h *host) signal(s os.Signal) {
	if h.process != nil {
		h.process.Signal(s)
	}
}

// kill ends the process, if there is one, at once.
func (h *host) kill() {
	if h.process != nil {
		h.process.Kill()
		h.wait()
	}
}

// drain ends the process in order.
func (h *host) drain() {
	h.t.Helper()
	h.signal(syscall.SIGTERM)
	h.wait()
}

// wait waits for the process to end. The test fails if the process ended unexpectedly.
func (h *host) wait() {
	h.process.Wait()
	if state := h.process.State(); !state.Success() && state.String() != "signal: killed" || h.process.Errs() != "" {
		h.t.Errorf("server %d: %v\n%s", h.number, state, h.process.Errs())
	}
	h.process = nil
	for _, k := range h.links {
		k.Aim("")
	}
}

// all calls f for each host, concurrently.
func (c *cluster) all(f func(*host)) {
	var wait sync.WaitGroup
	for _, h := range c.hosts {
		wait.Go(func() { f(h) })
	}
	wait.Wait()
}

// await tries until it succeeds, or fails the test with the last error.
func await(t *testing.T, what string, within time.Duration, try func(context.Context) error) {
	t.Helper()
	all, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	for {
		ctx, end := context.WithTimeout(all, 5*time.Second)
		err := try(ctx)
		end()
		if err == nil {
			return
		}
		select {
		case <-all.Done():
			t.Fatalf("%s: not within %v: %v", what, within, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// serving waits until all members of all partitions serve the newest epoch.
func (c *cluster) serving(w *worm.Client, within time.Duration) {
	c.t.Helper()
	await(c.t, "all members serve", within, func(ctx context.Context) error {
		states, err := w.Inspect(ctx)
		for i := range states {
			if n := states[i].Serving(); err == nil && n != len(states[i].Members) {
				err = fmt.Errorf("%d of partition %d: %+v", n, i, states[i])
			}
		}
		return err
	})
}
