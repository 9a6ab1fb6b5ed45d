// SPDX-License-Identifier: Apache-2.0

package nemesis

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// orderVariable makes the test program a server: its value is an order.
const orderVariable = "ASHLAR_NEMESIS_SERVER"

// logDir is where a server's log is on its disk.
const logDir = "log"

// order tells a server process which server it is.
type order struct {
	Dir     string
	Listen  string
	Genesis string // as worm.WriteGenesis writes it
	// Detours has the addresses to dial instead of those that are published.
	Detours map[string]string
}

// condition is what a server process reports about itself on request.
type condition struct {
	Generation  uint64
	RolledBack  string
	Unsure      bool // about any partition
	Serving     int  // partitions
	Checkpoints uint64
	Keys        int
}

func TestMain(m *testing.M) {
	if text := os.Getenv(orderVariable); text != "" {
		if err := serve(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// detour is a network on which some addresses are reached through others.
type detour struct {
	env.Network
	to map[string]string
}

func (d detour) Dial(a env.Addr, h env.Handler) env.Conn {
	if other := d.to[string(a)]; other != "" {
		a = env.Addr(other)
	}
	return d.Network.Dial(a, h)
}

// serve is a server process: it prints its address on standard output, answers each line
// of standard input with its condition, and ends when its input ends, or in order on
// SIGTERM.
func serve(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	genesis, err := worm.ReadGenesis(bytes.NewReader([]byte(o.Genesis)))
	if err != nil {
		return err
	}
	world, tasks := osenv.New(), osenv.NewTasks()
	disk, err := osenv.OpenDisk(o.Dir)
	if err != nil {
		return err
	}
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: worm.WriteBuffer, DialTimeout: time.Second})
	world.Disk, world.Network = disk, detour{network, o.Detours}
	server, err := node.OpenServer(node.Options{
		Env: world, Tasks: tasks, Dir: logDir, Listen: env.Addr(o.Listen), Genesis: genesis,
		LogSegment: 256 << 10, CheckpointBytes: 512 << 10, TellEvery: 100 * time.Millisecond, DrainWithin: 2 * time.Second,
		Fatal: func(err error) {
			fmt.Fprintln(os.Stderr, "the disk failed:", err)
			os.Exit(3)
		},
	})
	if err != nil {
		return err
	}
	a := &apps{world: world, server: server, genesis: genesis}
	if err := a.start(); err != nil {
		return err
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	lines := make(chan struct{})
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- struct{}{}
		}
		os.Exit(2) // the process that started this server is gone
	}()
	fmt.Println(string(server.Addr()))
	for {
		select {
		case <-lines:
			b, err := json.Marshal(look(server, a))
			if err != nil {
				return err
			}
			fmt.Println(string(b))
		case <-term:
			drained := make(chan struct{})
			a.sync(func() { a.closed = true; a.end() })
			server.Drain(func() { close(drained) })
			<-drained
			return server.Close()
		}
	}
}

func look(server *node.Server, a *apps) condition {
	s := server.Status()
	c := condition{Generation: s.Generation, RolledBack: s.RolledBack, Checkpoints: s.Counts.Checkpoints}
	for _, p := range s.Partitions {
		c.Unsure = c.Unsure || p.Unsure
		if p.Standing == wor.StatusOK && !p.Unsure {
			c.Serving++
		}
	}
	a.sync(func() {
		if a.kv != nil {
			c.Keys, _ = a.kv.Size()
		}
	})
	return c
}

// apps are the sequencer and the part of the key-value store that a server hosts, started
// anew when the members change.
type apps struct {
	world   env.Env
	server  *node.Server
	genesis *wor.Genesis

	serial    env.Serial
	transport *node.Transport
	space     *space.Space
	members   []wor.Member
	sequencer *log.Sequencer
	kv        *tx.KV
	closed    bool
}

func (a *apps) sync(f func()) {
	done := make(chan struct{})
	a.serial.Do(func() {
		f()
		close(done)
	})
	<-done
}

func (a *apps) start() (err error) {
	a.transport = node.NewTransport(node.TransportOptions{
		Env: a.world, Serial: &a.serial, Cluster: a.genesis.Cluster, From: a.world.Random.Uint64(),
	})
	a.space, err = space.Open(space.Options{Env: a.world, Serial: &a.serial, Transport: a.transport, Genesis: a.genesis})
	if err == nil {
		a.sync(a.look)
	}
	return err
}

func (a *apps) look() {
	if a.closed {
		return
	}
	a.world.Clock.After(200*time.Millisecond, a.serial.Waker(a.look))
	var members []wor.Member
	own := a.server.Status().Partitions
	for p := range a.genesis.Partitions {
		cfg, _ := a.space.Config(wor.Partition(p))
		all, epoch := cfg.Members, cfg.Epoch
		for i := range own {
			if own[i].Partition == cfg.Partition && own[i].Epoch > epoch {
				all = own[i].Members
			}
		}
		members = worm.Union(members, all)
	}
	id := a.server.ID()
	self := slices.IndexFunc(members, func(m wor.Member) bool { return m.ID == id })
	if self < 0 || slices.Equal(members, a.members) {
		return
	}
	a.end()
	if err := a.begin(members, members[self]); err != nil {
		fmt.Fprintln(os.Stderr, "applications:", err)
		os.Exit(4)
	}
}

func (a *apps) begin(members []wor.Member, self wor.Member) (err error) {
	a.members = members
	a.sequencer, err = log.NewSequencer(log.SequencerOptions{
		Space: a.space, Clock: a.world.Clock, Random: env.Seeded(a.world.Random.Uint64()), Serial: &a.serial, Member: self, Size: 200,
		Place: func(_ log.ID, index uint32) (wor.Partition, wor.Protocol) {
			return wor.Partition(int(index) % len(a.genesis.Partitions)), wor.Paxos
		},
	})
	if err != nil {
		return err
	}
	world := env.Env{Clock: a.world.Clock, Random: env.Seeded(a.world.Random.Uint64()), Tracer: env.NoTrace{}}
	a.kv, err = tx.NewKV(tx.KVOptions{
		Engine: tx.Options{
			Env: world, Serial: &a.serial, Space: a.space, Messenger: a.transport, Self: self,
			Instance: worm.KVInstance, RMs: worm.KVPartitions, Partitions: len(a.genesis.Partitions), SegmentSize: 512,
		},
		Servers: members,
	})
	if err != nil {
		return err
	}
	a.server.Register(wor.ServiceSequencer, &a.serial, a.sequencer.Handle)
	a.server.Register(wor.ServiceKV, &a.serial, a.kv.HandleKV)
	a.server.Register(wor.ServiceTx, &a.serial, a.kv.HandleTx)
	return nil
}

func (a *apps) end() {
	if a.sequencer != nil {
		a.sequencer.Close()
	}
	if a.kv != nil {
		a.kv.Stop()
	}
	a.sequencer, a.kv = nil, nil
}
