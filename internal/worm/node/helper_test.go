// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// names is a network in which servers have names instead of ports.
type names struct {
	env.Network
	mu    sync.Mutex
	table map[env.Addr]env.Addr
}

func (n *names) Listen(a env.Addr, accept func(env.Conn) env.Handler) (env.Listener, error) {
	l, err := n.Network.Listen("127.0.0.1:0", accept)
	if err == nil {
		n.mu.Lock()
		n.table[a] = l.Addr()
		n.mu.Unlock()
	}
	return l, err
}

func (n *names) Dial(a env.Addr, h env.Handler) env.Conn {
	n.mu.Lock()
	to, ok := n.table[a]
	n.mu.Unlock()
	if !ok {
		to = "127.0.0.1:1"
	}
	return n.Network.Dial(to, h)
}

func (n *names) addr(a env.Addr) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.table[a])
}

const testCluster = 0xc105

// testKey is the key of a server in memory.
func testKey(i int) Key { return NewKey(env.Seeded(uint64(1000 + i))) }

// cluster is some servers of one partition in this process.
type cluster struct {
	t       testing.TB
	world   env.Env
	network *osenv.Network
	names   *names
	genesis *wor.Genesis
	change  func(*Options)
	nodes   []*running
}

// running is a server and its environment.
type running struct {
	*Server
	root  string // of the disk
	dir   string
	world env.Env
	tasks *osenv.Tasks
}

// mount opens the disk, which may differ from the last one.
func (r *running) mount() error {
	if r.root == "" {
		return nil
	}
	disk, err := osenv.OpenDisk(r.root)
	r.world.Disk = disk
	return err
}

func (r *running) stop() {
	r.tasks.Close()
	r.Server.Close()
}

// newCluster starts n servers, durable below dir, or in memory if dir is empty.
func newCluster(t testing.TB, n int, dir string, change func(*Options)) *cluster {
	t.Helper()
	c := &cluster{t: t, world: osenv.New(), network: osenv.NewNetwork(osenv.NetworkOptions{}), change: change}
	c.names = &names{Network: c.network, table: map[env.Addr]env.Addr{}}
	c.world.Network = c.names
	c.genesis = &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{}}}
	for i := range n {
		r := &running{world: c.world}
		id := testKey(i).ID()
		if dir != "" {
			r.root, r.dir = fmt.Sprintf("%s/s%d", dir, i), "log"
			if err := r.mount(); err != nil {
				t.Fatal(err)
			}
			var err error
			if id, err = Format(r.world, r.dir, fmt.Sprint("s", i)); err != nil {
				t.Fatal(err)
			}
		}
		m := wor.Member{ID: id, Name: fmt.Sprint("s", i), Addr: fmt.Sprint("s", i)}
		c.genesis.Partitions[0].Members = append(c.genesis.Partitions[0].Members, m)
		c.nodes = append(c.nodes, r)
	}
	t.Cleanup(func() {
		for _, r := range c.nodes {
			if r.Server != nil {
				r.stop()
			}
		}
		c.network.Close()
	})
	for i := range n {
		if err := c.start(i); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *cluster) member(i int) wor.Member { return c.genesis.Partitions[0].Members[i] }

// start starts a server that is not running.
func (c *cluster) start(i int) error {
	r := c.nodes[i]
	o := Options{Env: r.world, Dir: r.dir, Memory: r.dir == "", Listen: env.Addr(c.member(i).Addr), Genesis: c.genesis}
	if o.Memory {
		o.Key = testKey(i)
	}
	if c.change != nil {
		c.change(&o)
	}
	if err := r.mount(); err != nil {
		return err
	}
	o.Env = r.world
	r.tasks = osenv.NewTasks()
	o.Tasks = r.tasks
	s, err := OpenServer(o)
	if err != nil {
		r.tasks.Close()
		r.Server = nil
		return err
	}
	r.Server = s
	return nil
}

func (c *cluster) stop(i int) {
	c.nodes[i].stop()
	c.nodes[i].Server = nil
}

// client is a client of a cluster.
type client struct {
	*Transport
	world  env.Env
	serial *env.Serial
	config wor.Config
	every  time.Duration // between Expires
	// observe, if not nil, is called with each reply.
	observe func(to int, q *wor.Request, r *wor.Reply)
}

func (c *cluster) client(nonce uint64) *client {
	k := newClient(c.world, c.genesis, nonce)
	c.t.Cleanup(k.Close)
	return k
}

func newClient(world env.Env, g *wor.Genesis, nonce uint64) *client {
	k := &client{world: world, serial: &env.Serial{}, config: g.Partitions[0], every: 50 * time.Millisecond}
	k.Transport = NewTransport(TransportOptions{Env: world, Serial: k.serial, Cluster: g.Cluster, From: nonce})
	return k
}

// do runs a machine in the Serial; done is called at its end.
func (k *client) do(m wor.Machine, done func(wor.Machine)) {
	r := &run{k: k, m: m, done: done}
	m.Start(&r.out)
	r.step()
	if !r.over {
		r.wait()
	}
}

type run struct {
	k     *client
	m     wor.Machine
	out   wor.Outbox
	done  func(wor.Machine)
	timer env.Timer
	over  bool
}

func (r *run) wait() {
	r.timer = r.k.world.Clock.After(r.k.every, r.k.serial.Waker(func() {
		if r.over {
			return
		}
		r.m.Expire(&r.out)
		r.step()
		if !r.over {
			r.wait()
		}
	}))
}

func (r *run) step() {
	step := r.m.Step()
	for i, to := range r.out.To {
		q := r.out.Requests[i]
		q.Epoch, q.Partition = r.k.config.Epoch, r.k.config.Partition
		asked := *q
		r.k.Call(r.k.config.Members[to], q, time.Second, func(reply *wor.Reply) {
			if r.k.observe != nil {
				r.k.observe(to, &asked, reply)
			}
			if reply == nil || r.over {
				return
			}
			r.m.Deliver(to, step, reply, &r.out)
			r.step()
		})
	}
	r.out.Reset()
	if r.m.Done() && !r.over {
		r.over = true
		if r.timer != nil {
			r.timer.Stop()
		}
		r.done(r.m)
	}
}

// wait runs a machine and waits for its end.
func (k *client) wait(t testing.TB, m wor.Machine) []wor.Run {
	t.Helper()
	over := make(chan []wor.Run, 1)
	k.serial.Do(func() { k.do(m, func(m wor.Machine) { over <- m.Result() }) })
	select {
	case r := <-over:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("the machine does not end")
		return nil
	}
}

// call makes one call and waits for its answer.
func (k *client) call(t testing.TB, to wor.Member, q wor.Request) *wor.Reply {
	t.Helper()
	over := make(chan *wor.Reply, 1)
	k.serial.Do(func() { k.Call(to, &q, 5*time.Second, func(r *wor.Reply) { over <- r }) })
	select {
	case r := <-over:
		return r
	case <-time.After(20 * time.Second):
		t.Fatal("the call is not answered")
		return nil
	}
}

// eventually waits for a condition that no event reports.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}
