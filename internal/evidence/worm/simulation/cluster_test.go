// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

const (
	clusterID = 0xc105
	logDir    = "log"
	// restartAfter is how long a program that ended by itself is down.
	restartAfter = 50 * time.Millisecond
)

// worldOptions are what a world of WormSpace needs.
func worldOptions() sim.Options {
	return sim.Options{EventsMax: 500_000, WriteBuffer: 2 * wire.FrameMax, DialTimeout: 500 * time.Millisecond, WriteTimeout: 2 * time.Second}
}

// host is a machine with a server.
type host struct {
	c      *cluster
	node   *sim.Node
	member wor.Member
	server *node.Server // of the current life, nil while there is none
	// disk is another than the machine's own, which a mishap has put there.
	disk *sim.Disk
	// gone: it will never serve again, for the reason that mishap says.
	gone   bool
	mishap string
	// lost is what is known of the lives that its disk has lost.
	lost *lostLives
}

// cluster is servers and what watches them.
type cluster struct {
	w       *sim.World
	genesis *wor.Genesis
	hosts   []*host
	ghost   *ghost
	history *history
	offer   func(h *host, l *sim.Life)
	menders int // operators that replaced servers
	// over: a server has begun to serve that may have forgotten something, and
	// the rules say that no process that is there can know.
	over bool
}

// newCluster makes so many machines; each partition begins on three of them.
func newCluster(w *sim.World, hosts, partitions int) (*cluster, error) {
	c := &cluster{w: w, genesis: &wor.Genesis{Cluster: clusterID}}
	c.ghost = newGhost(c)
	c.history = &history{w: w}
	for i := range hosts {
		h := &host{c: c}
		h.node = w.Node(fmt.Sprint("s", i), h.boot)
		if err := h.format(h.node.Disk(), fmt.Sprint("format ", i)); err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, h)
	}
	for p := range partitions {
		cfg := wor.Config{Partition: wor.Partition(p)}
		for i := range 3 {
			cfg.Members = append(cfg.Members, c.hosts[(p+i)%hosts].member)
		}
		c.genesis.Partitions = append(c.genesis.Partitions, cfg)
	}
	c.ghost.begin()
	return c, nil
}

// format makes a disk a server's, and the host the member with that identity.
func (h *host) format(d *sim.Disk, purpose string) error {
	id, err := node.Format(env.Env{Disk: d, Random: h.c.w.Random(purpose), Tracer: env.NoTrace{}}, logDir, h.node.Name())
	h.member = wor.Member{ID: id, Name: h.node.Name(), Addr: h.node.Name() + ":1"}
	return err
}

// theWorlds reports whether an error is one that a disk may have.
func theWorlds(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, env.ErrNoSpace)
}

func (h *host) boot(l *sim.Life) error {
	h.server = nil
	if h.gone && h.disk == nil {
		return h.impersonate(l) // a machine without the server
	}
	world := l.Env
	if h.disk != nil {
		h.disk.Crash(sim.KeepAll()) // the locks of the life before
		world.Disk = h.disk
	}
	s, err := node.OpenServer(node.Options{
		Env: world, Tasks: l, Dir: logDir, Genesis: h.c.genesis, Listen: env.Addr(h.member.Addr),
		LogSegment: 64 << 10, CheckpointBytes: 96 << 10, TellEvery: 200 * time.Millisecond, WitnessWait: 200 * time.Millisecond,
		Fatal: func(err error) {
			h.c.w.Mark("a disk failed")
			l.Node().Start(restartAfter)
			l.Exit(err.Error())
		},
	})
	switch {
	case err == nil:
	case errors.Is(err, wal.ErrCorrupt):
		h.c.w.Mark("rot was found")
		h.gone, h.mishap = true, "rot"
		l.Exit(err.Error())
	case theWorlds(err):
		l.Node().Start(restartAfter)
		l.Exit(err.Error())
	default:
		return err
	}
	h.server = s
	if h.c.offer != nil {
		h.c.offer(h, l)
	}
	return nil
}

// restart ends the program or the machine, and starts it again.
func (h *host) restart(power bool, after time.Duration) {
	h.node.Crash(power)
	h.node.Start(after)
}

// agent is a node that asks: a client, an operator, or a server's own.
type agent struct {
	*space.Space
	c         *cluster
	number    int
	l         *sim.Life
	serial    *env.Serial
	random    env.Random
	transport *tap
}

// agent makes a Space of a life.
func (c *cluster) agent(l *sim.Life, number int, serial *env.Serial) (*agent, error) {
	a := &agent{c: c, number: number, l: l, serial: serial, random: l.Env.Random.Split("work")}
	if a.serial == nil {
		a.serial = &env.Serial{}
	}
	a.transport = &tap{c: c, a: a, to: node.NewTransport(node.TransportOptions{
		Env: l.Env, Serial: a.serial, Cluster: clusterID, From: l.Env.Random.Split("from").Uint64(),
		BackoffMax: 200 * time.Millisecond, PingAfter: 300 * time.Millisecond, DeadAfter: time.Second,
	})}
	s, err := space.Open(space.Options{
		Env: l.Env, Serial: a.serial, Transport: a.transport, Genesis: c.genesis,
		ResendMax: 100 * time.Millisecond, Patience: 2 * time.Second, ListenPoll: 500 * time.Millisecond,
	})
	if err != nil {
		return nil, err
	}
	a.Space = s
	a.transport.nonce = s.Nonce()
	return a, nil
}

// after calls f in the agent's Serial.
func (a *agent) after(most time.Duration, f func()) {
	a.l.Env.Clock.After(time.Duration(env.IntN(a.random, int(most))), a.serial.Waker(f))
}

func (a *agent) chance(one, of int) bool { return env.IntN(a.random, of) < one }
