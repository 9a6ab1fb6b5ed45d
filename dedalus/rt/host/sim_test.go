// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// world is the program in a simulation, with clients that make one call after the
// other.
type world struct {
	w        *sim.World
	program  *rt.Program
	peers    map[string]env.Addr
	nodes    map[string]*sim.Node
	hosts    map[string]*host.Host
	change   func(*host.Options)
	answered int
	checked  int
	failure  error
	stop     bool
}

func newWorld(w *sim.World, change func(*host.Options)) *world {
	x := &world{w: w, program: voteProgram(), peers: map[string]env.Addr{}, nodes: map[string]*sim.Node{},
		hosts: map[string]*host.Host{}, change: change}
	names := []string{"leader/0"}
	for i := range voters {
		names = append(names, voterNode(i))
	}
	for i, node := range names {
		x.peers[node] = env.Addr(fmt.Sprintf("n%d:1", i))
	}
	for i, node := range names {
		component := min(i, 1)
		x.nodes[node] = w.Node(fmt.Sprint("n", i), func(l *sim.Life) error { return x.boot(l, node, component) })
	}
	return x
}

func (x *world) boot(l *sim.Life, node string, component int) error {
	o := host.Options{Env: l.Env, Tasks: l, Program: x.program, Component: component, Who: rt.Identity{Node: node, Self: node},
		Listen: x.peers[node], Peers: x.peers, Key: []byte("a key of the deployment"), Dir: "log", LogSegment: 32 << 10, CheckpointBytes: 64 << 10,
		ResendEvery: 2 * time.Second, Fatal: func(err error) { l.Exit(err.Error()) }}
	if x.change != nil {
		x.change(&o)
	}
	if component == 1 {
		if err := host.Format(l.Env, o.Dir, x.program, node); err != nil && !errors.Is(err, wal.ErrExists) {
			return err
		}
	}
	h, err := host.Open(o)
	x.hosts[node] = h
	return err
}

// durable looks whether a voter would know a command after a loss of power.
func (x *world) durable(node string, row []byte) error {
	disk := x.nodes[node].Disk().Clone()
	disk.Crash(sim.KeepUpTo(0))
	log, err := wal.Open(env.Env{Disk: disk, Random: env.Seeded(1), Tracer: env.NoTrace{}}, "log", wal.Options{Segment: 32 << 10})
	if err != nil {
		return err
	}
	defer log.Close()
	found := false
	err = log.Replay(func(record []byte) error {
		return host.Changes(x.program, record, func(c rt.Change) error {
			found = found || string(c.Row) == string(row)
			return nil
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("%s has said that it has put down %q, and has not", node, row)
	}
	return err
}

// client is a node that makes calls until it is stopped.
func (x *world) client(number int) {
	name := fmt.Sprint("c", number)
	x.w.Node(name, func(l *sim.Life) error {
		c, err := client.OpenCaller(client.CallerOptions{Options: client.Options{Env: l.Env, Program: x.program, Name: name,
			Nodes: map[string]env.Addr{"leader/0": x.peers["leader/0"]}}, To: []string{"leader/0"}, Key: doneKey})
		if err != nil {
			return err
		}
		n := uint64(0)
		var next func()
		next = func() {
			n++
			row := command(name, n, fmt.Sprint(name, ".", l.Number(), ".", n))
			err := c.Call(fmt.Sprint(n), relCommand, row, func(_ string, _ int, out []byte) {
				x.answered++
				r := rt.Read(out)
				r.U64()
				if v := string(r.Bytes()); l.Number() == 1 && v != fmt.Sprint(name, ".1.", n) {
					x.failure = fmt.Errorf("%s was answered %q", name, v)
				}
				if x.answered%16 == 0 && l.Number() == 1 {
					x.checked++
					for i := range voters {
						if err := x.durable(voterNode(i), row); err != nil && x.failure == nil {
							x.failure = err
						}
					}
				}
				if !x.stop {
					l.Env.Clock.After(time.Duration(env.IntN(l.Env.Random, int(10*time.Millisecond))), env.WakeFunc(next))
				}
			})
			if err != nil {
				x.failure = err
			}
		}
		next()
		return nil
	})
}

func simFaults() sim.Faults {
	return sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder). // of packets
									And(sim.NodeFaults()).And(sim.CrashFaults()).With(sim.Crash, .15)
}

// tearing are faults of which each run has all: power is lost while something is
// written, of which any sectors are there afterwards, in any order.
func tearing() sim.Faults {
	return sim.CrashFaults().With(sim.CrashInDisk, .02).With(sim.PowerLoss, .8).With(sim.LoseWrite, .9).With(sim.Delay, .02).With(sim.Reset, .003)
}

func play(change func(*host.Options)) suite.Scenario {
	return func(w *sim.World) error {
		x := newWorld(w, change)
		for i := range 3 {
			x.client(i)
		}
		w.Invariant("what was said is durable", func() error { return x.failure })
		if err := w.Run(10 * time.Second); err != nil {
			return err
		}
		w.Heal()
		// Whatever has happened, calls are answered again.
		before := x.answered
		if err := w.RunUntil(60*time.Second, func() bool { return x.answered > before+60 }); err != nil {
			return err
		}
		x.stop = true
		if x.checked > 0 {
			w.Mark("looked at a disk")
		}
		for node, h := range x.hosts {
			if c := h.Status().Counts; c.Rejected > 0 || c.TooLong > 0 {
				return fmt.Errorf("%s has rejected messages: %+v", node, c)
			}
		}
		return x.failure
	}
}

// TestSimulated runs the program among all that networks, crashes and losses of power
// can do. More seeds: ASHLAR_SIM=seeds=1000.
func TestSimulated(t *testing.T) {
	suite.Suite{Getenv: os.Getenv, Package: "./dedalus/rt/host", Short: testing.Short(), Seeds: 40,
		Faults:  simFaults().Without(sim.ReorderWrite, sim.TearWrite),
		Require: []string{"looked at a disk", "dedalus/host peer started anew", "dedalus/host checkpoint"}}.Run(t, play(nil))
}

// TestTornDisks: what voters have said to be durable is, whatever is torn by losses of
// power, in each run many times.
func TestTornDisks(t *testing.T) {
	suite.Suite{Getenv: os.Getenv, Package: "./dedalus/rt/host", Short: testing.Short(), Seeds: 100, Whole: true, Faults: tearing(),
		Require: []string{"looked at a disk", "dedalus/host peer started anew", "dedalus/host checkpoint"}}.Run(t, play(nil))
}
