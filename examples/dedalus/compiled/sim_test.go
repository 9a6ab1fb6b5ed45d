// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/client"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/examples/dedalus/keys"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// cluster is a compiled program in a simulation: a node for each process, which does
// what package cmd/dedalusd does.
type cluster struct {
	w       *sim.World
	program *rt.Program
	d       *deploy.Description
	addrs   map[string]env.Addr
	of      map[string]uint64 // incarnations that processes are to begin
	hosts   map[string]*host.Host
	nodesOf map[string]*sim.Node
	// perMessage is what a message costs a node that takes or sends it, of its time; 0
	// where machines are as fast as one likes.
	perMessage time.Duration
}

func newCluster(w *sim.World, p *rt.Program, d *deploy.Description) *cluster {
	x := &cluster{w: w, program: p, d: d, addrs: map[string]env.Addr{}, of: map[string]uint64{}, hosts: map[string]*host.Host{}, nodesOf: map[string]*sim.Node{}}
	name := func(node string) string { return strings.ReplaceAll(node, "/", "-") }
	for i := range d.Processes {
		x.addrs[d.Processes[i].Node] = env.Addr(name(d.Processes[i].Node) + ":1")
	}
	for i := range d.Processes {
		q := &d.Processes[i]
		x.nodesOf[q.Node] = w.Node(name(q.Node), func(l *sim.Life) error { return x.boot(l, q) })
	}
	return x
}

func (x *cluster) boot(l *sim.Life, q *deploy.Process) error {
	component := slices.IndexFunc(x.program.Components, func(c rt.ComponentType) bool { return c.Name == q.Component })
	o := host.Options{Env: l.Env, Tasks: l, Program: x.program, Component: component, Who: rt.Identity{Node: q.Node, Self: q.Self},
		Listen: x.addrs[q.Node], Peers: x.addrs, Pieces: x.d.Pieces(q), Key: []byte("a key of the deployment"), LogSegment: 64 << 10, CheckpointBytes: 64 << 10,
		ResendEvery: 2 * time.Second}
	o.Fatal = func(err error) {
		var newer *host.NewerError
		if !errors.As(err, &newer) {
			x.w.Fail("disks do not fail", err)
			return
		}
		l.Env.Clock.After(0, env.WakeFunc(func() {
			x.of[q.Node] = newer.Incarnation
			if err := errors.Join(x.hosts[q.Node].Close(), x.boot(l, q)); err != nil {
				x.w.Fail("a piece starts anew", err)
			}
		}))
	}
	o.Incarnation = x.of[q.Node]
	if x.d.Component(q.Component).Carries && len(o.Pieces) > 0 {
		n, err := host.Incarnation(l.Env, "incarnation", x.of[q.Node])
		if err != nil {
			return err
		}
		o.Incarnation = n
	}
	x.of[q.Node] = 0
	if x.perMessage > 0 {
		o.Tasks = &slow{tasks: l, clock: l.Env.Clock, cost: x.perMessage, host: func() *host.Host { return x.hosts[q.Node] }}
	}
	if x.program.Components[component].Durable {
		o.Dir = "log"
		if err := host.Format(l.Env, o.Dir, x.program, q.Node); err != nil && !errors.Is(err, wal.ErrExists) {
			return err
		}
	}
	h, err := host.Open(o)
	x.hosts[q.Node] = h
	return err
}

// nodes are the processes of components that have to do with clients.
func (x *cluster) nodes(in, out bool) (list []string) {
	for i := range x.d.Processes {
		c := x.d.Component(x.d.Processes[i].Component)
		if in && len(c.Inputs) > 0 || out && len(c.Outputs) > 0 {
			list = append(list, x.d.Processes[i].Node)
		}
	}
	return list
}

// relation is the number of one that is not durable.
func relation(p *rt.Program, name string) int {
	return slices.IndexFunc(p.Relations, func(r rt.Relation) bool { return r.Name == name && r.Kind != rt.Durable })
}

// dial opens a caller with all nodes that have to do with clients.
func (x *cluster) dial(l *sim.Life, name string, key func(relation int, row []rt.Value) (string, bool), other func(relation int, row []rt.Value)) (*client.Caller, error) {
	nodes := map[string]env.Addr{}
	for _, n := range x.nodes(true, true) {
		nodes[n] = x.addrs[n]
	}
	read := func(r int, row []byte) []rt.Value {
		values, err := rt.ReadRow(row, x.program.Relations[r].Columns)
		if err != nil {
			x.w.Fail("outputs are rows", err)
		}
		return values
	}
	return client.OpenCaller(client.CallerOptions{
		Options: client.Options{Env: l.Env, Program: x.program, Name: name, Nodes: nodes,
			Output: func(_ string, r int, row []byte) { other(r, read(r, row)) }},
		To: x.nodes(true, false), Retry: 400 * time.Millisecond,
		Key: func(r int, row []byte) (string, bool) { return key(r, read(r, row)) },
	})
}

// rejected says whether an instance was sent what is no message.
func (x *cluster) rejected() error {
	for node, h := range x.hosts {
		if c := h.Status().Counts; c.Rejected > 0 || c.TooLong > 0 {
			return fmt.Errorf("%s has rejected messages: %+v", node, c)
		}
	}
	return nil
}

func faults() sim.Faults {
	return sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder). // of packets
									And(sim.NodeFaults()).And(sim.CrashFaults()).With(sim.Crash, .2)
}

// playVoting has clients vote: what a client is told is an answer to what it has asked,
// and all are answered when the faults are over.
func playVoting(e program, d *deploy.Description) suite.Scenario {
	return func(w *sim.World) error {
		p := e.compiled()
		x := newCluster(w, p, d)
		answered, stop := 0, false
		asked := map[string]bool{} // client, id, value
		for i := range 3 {
			name := fmt.Sprint("c", i)
			w.Node(name, func(l *sim.Life) error {
				look := func(_ int, row []rt.Value) {
					if k := fmt.Sprint(name, row[0].Num, row[1].Str); !asked[k] {
						w.Fail("answers are to what was asked", errors.New(k))
					}
				}
				c, err := x.dial(l, name, func(r int, row []rt.Value) (string, bool) {
					look(r, row)
					return fmt.Sprint(row[0].Num), true
				}, look)
				if err != nil {
					return err
				}
				n := uint64(l.Number()) << 32
				var next func()
				next = func() {
					n++
					v := fmt.Sprint("v", n)
					asked[fmt.Sprint(name, n, v)] = true
					in := relation(p, "clientIn")
					row, err := rt.AppendRow(nil, p.Relations[in].Columns, []rt.Value{{Str: name}, {Num: n}, {Str: v}})
					if err == nil {
						err = c.Call(fmt.Sprint(n), in, row, func(string, int, []byte) {
							answered++
							if !stop {
								l.Env.Clock.After(time.Duration(env.IntN(l.Env.Random, int(20*time.Millisecond))), env.WakeFunc(next))
							}
						})
					}
					if err != nil {
						w.Fail("calls are made", err)
					}
				}
				next()
				return nil
			})
		}
		if err := w.Run(8 * time.Second); err != nil {
			return err
		}
		w.Heal()
		before := answered
		if err := w.RunUntil(60*time.Second, func() bool { return answered > before+60 }); err != nil {
			return err
		}
		stop = true
		return x.rejected()
	}
}

func entry(t *testing.T, name string) (program, *deploy.Description) {
	t.Helper()
	for _, e := range programs() {
		if e.name == name {
			return e, deploy.New(load(t, e))
		}
	}
	t.Fatalf("no program %s", name)
	return program{}, nil
}

func TestVotingSimulated(t *testing.T) {
	for _, name := range []string{"voting", "votingscaled"} {
		t.Run(name, func(t *testing.T) {
			e, d := entry(t, name)
			var require []string
			if e.script != "" {
				require = []string{"dedalus/host piece started anew"}
			}
			suite.Suite{Getenv: os.Getenv, Package: "./examples/dedalus/compiled", Short: testing.Short(), Seeds: 30,
				Faults: faults().Without(sim.LoseWrite, sim.ReorderWrite, sim.TearWrite, sim.CrashInDisk), Require: require}.Run(t, playVoting(e, d))
		})
	}
}

// paxosRun is what is known of a run of Paxos from outside.
type paxosRun struct {
	w        *sim.World
	log      map[uint64]string // that was told, by slot
	history  []porcupine.Operation
	slots    []int64 // of the history's operations, -1 where they have none yet
	proposed map[string]bool
	answered int
}

// told notes that a slot has a command: there is one, and somebody has proposed it.
func (r *paxosRun) told(slot uint64, v string) {
	if was, ok := r.log[slot]; ok && was != v {
		r.w.Fail("agreement", fmt.Errorf("slot %d has %q and %q", slot, was, v))
	}
	if v != "noop" && !r.proposed[v] {
		r.w.Fail("validity", fmt.Errorf("slot %d has %q, which nobody has proposed", slot, v))
	}
	r.log[slot] = v
}

// knows says whether a slot's command is known.
func (r *paxosRun) knows(slot uint64) bool { _, ok := r.log[slot]; return ok }

// check applies the log and asks whether what clients would have read is linearizable.
// A command that is in the log twice counts where it is first.
func (r *paxosRun) check() error {
	replica := keys.NewReplica()
	for slot, v := range r.log {
		if err := replica.Tell(slot, v); err != nil {
			return err
		}
	}
	var history []porcupine.Operation
	for i, o := range r.history {
		v := o.Output.(string)
		o.Output = nil
		if r.slots[i] >= 0 {
			result, ok := replica.Before(v)
			if !ok {
				return fmt.Errorf("%q was answered from slot %d, and only the slots below %d are known", v, r.slots[i], replica.Applied())
			}
			o.Output = o.Input.(keys.Op).Result(result)
		} else if o.Input.(keys.Op).Value == "" {
			continue // a read that was never answered
		}
		history = append(history, o)
	}
	return judge(history)
}

// long is what makes some values longer than a sector of a disk.
func long(random env.Random) string {
	if env.IntN(random, 3) == 0 {
		return ""
	}
	return strings.Repeat(".", env.IntN(random, 4<<10))
}

func (r *paxosRun) client(x *cluster, number int, stop *bool) {
	name := fmt.Sprint("c", number)
	p := x.program
	reply, leader, propose := relation(p, "reply"), relation(p, "leader"), relation(p, "propose")
	x.w.Node(name, func(l *sim.Life) error {
		random := l.Env.Random.Split("work")
		var c *client.Caller
		see := func(rel int, row []rt.Value) {
			switch rel {
			case reply:
				r.told(row[0].Num, row[1].Str)
			case leader:
				c.Prefer(row[1].Str)
			}
		}
		var err error
		if c, err = x.dial(l, name, func(rel int, row []rt.Value) (string, bool) {
			see(rel, row)
			if rel == reply {
				return row[1].Str, true
			}
			return "", false
		}, func(int, []rt.Value) {}); err != nil {
			return err
		}
		n := 0
		var next func()
		next = func() {
			n++
			o := keys.Op{Key: fmt.Sprint("k", env.IntN(random, 2))}
			v := fmt.Sprintf("%s.%d.%d", name, l.Number(), n)
			if env.IntN(random, 2) == 0 {
				o.Value = v + long(random)
			}
			v = o.Command(v)
			row, err := rt.AppendRow(nil, p.Relations[propose].Columns, []rt.Value{{Str: name}, {Str: v}})
			i := len(r.history)
			r.proposed[v] = true
			r.history = append(r.history, porcupine.Operation{ClientId: number, Input: o, Output: v, Call: int64(x.w.Now()), Return: math.MaxInt64})
			r.slots = append(r.slots, -1)
			if err == nil {
				err = c.Call(v, propose, row, func(_ string, rel int, out []byte) {
					values, err := rt.ReadRow(out, p.Relations[rel].Columns)
					if err != nil {
						x.w.Fail("outputs are rows", err)
						return
					}
					r.slots[i], r.history[i].Return = int64(values[0].Num), int64(x.w.Now())
					r.answered++
					if !*stop {
						l.Env.Clock.After(time.Duration(env.IntN(random, int(40*time.Millisecond))), env.WakeFunc(next))
					}
				})
			}
			if err != nil {
				x.w.Fail("calls are made", err)
			}
		}
		next()
		return nil
	})
}

// playPaxos has clients propose commands of a key-value store: each slot has one
// command, clients see a linearizable store, and go on when the faults are over.
func playPaxos(e program, d *deploy.Description) suite.Scenario {
	return func(w *sim.World) error {
		x := newCluster(w, e.compiled(), d)
		r := &paxosRun{w: w, log: map[uint64]string{}, proposed: map[string]bool{}}
		stop := false
		for i := range 3 {
			r.client(x, i, &stop)
		}
		// Who keeps the log is told of every slot, and applies it.
		w.Node("log", func(l *sim.Life) error {
			a := &applier{env: l.Env, program: x.program, nodes: map[string]env.Addr{}, to: x.nodes(true, false), told: r.told, knows: r.knows}
			for _, n := range x.nodes(true, true) {
				a.nodes[n] = x.addrs[n]
			}
			return a.open()
		})
		if err := w.Run(10 * time.Second); err != nil {
			return err
		}
		w.Heal()
		before := r.answered
		if err := w.RunUntil(60*time.Second, func() bool { return r.answered > before+30 }); err != nil {
			return err
		}
		stop = true
		if err := w.Run(2 * time.Second); err != nil { // the log hears of the last ones
			return err
		}
		w.Mark(env.Mark(fmt.Sprintf("answered %d hundred", r.answered/100)))
		return errors.Join(x.rejected(), r.check())
	}
}

// losing are faults with many losses of power while something is written, and is not
// there afterwards. Few runs have enough of these at once for something to be torn.
func losing() sim.Faults {
	return faults().With(sim.CrashInDisk, .01).Without(sim.ReorderWrite, sim.TearWrite)
}

// tearing are faults of which each run has all: power is lost while something is
// written, of which any sectors are there afterwards, in any order.
func tearing() sim.Faults {
	return sim.CrashFaults().With(sim.CrashInDisk, .02).With(sim.PowerLoss, .8).With(sim.LoseWrite, .9).With(sim.Delay, .02).With(sim.Reset, .003)
}

// TestTornDisks: programs that decide a log, and whose disks are torn in each run.
func TestTornDisks(t *testing.T) {
	for _, name := range []string{"paxos", "paxosscaled", "multipaxos", "multipaxosscaled"} {
		t.Run(name, func(t *testing.T) {
			e, d := entry(t, name)
			suite.Suite{Getenv: os.Getenv, Package: "./examples/dedalus/compiled", Short: testing.Short(), Seeds: 10, Whole: true,
				Faults: tearing(), Require: []string{"dedalus/host checkpoint"}}.Run(t, playPaxos(e, d))
		})
	}
}

// TestPaxosSimulated: programs that decide a log, under whatever happens to networks,
// machines and disks.
func TestPaxosSimulated(t *testing.T) {
	for _, name := range []string{"paxos", "paxosscaled", "multipaxos", "multipaxosscaled"} {
		t.Run(name, func(t *testing.T) {
			e, d := entry(t, name)
			suite.Suite{Getenv: os.Getenv, Package: "./examples/dedalus/compiled", Short: testing.Short(), Seeds: 20,
				Faults: losing(), Require: []string{"dedalus/host checkpoint"}}.Run(t, playPaxos(e, d))
		})
	}
}
