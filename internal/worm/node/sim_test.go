// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

var _ env.Tasks = (*sim.Life)(nil)

// op is an operation on a register, for porcupine.
type op struct {
	read  bool
	value string
	err   error
}

var registerModel = porcupine.Model{
	Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
		by := map[wor.Addr][]porcupine.Operation{}
		for _, o := range h {
			by[o.Input.(wor.Addr)] = append(by[o.Input.(wor.Addr)], o)
		}
		var out [][]porcupine.Operation
		for _, l := range by {
			out = append(out, l)
		}
		return out
	},
	Init: func() any { return wor.Register{} },
	Step: func(state, input, output any) (bool, any) {
		r, o := state.(wor.Register), output.(op)
		switch {
		case o.read:
			return r.Read(o.value, o.err), r
		case errors.Is(o.err, wor.ErrUnknown): // at the end of time, if ever
			if next, ok := r.Write(o.value, nil); ok {
				return true, next
			}
			return true, r
		}
		next, ok := r.Write(o.value, o.err)
		return ok, next
	},
}

const (
	simServers   = 3
	simRegisters = 4
	simLog       = "log"
)

// world is a cluster in a simulation, with clients that capture, write and read.
type world struct {
	w       *sim.World
	genesis *wor.Genesis
	servers []*sim.Node
	running []*Server
	change  func(*Options)
	history []porcupine.Operation
	checked int
	replies int
	notes   int
	stop    bool
	failure error
}

func newWorld(w *sim.World, change func(*Options)) (*world, error) {
	x := &world{w: w, change: change, genesis: &wor.Genesis{Cluster: testCluster, Partitions: []wor.Config{{}}}}
	random := w.Random("format")
	for i := range simServers {
		n := w.Node(fmt.Sprint("s", i), func(l *sim.Life) error { return x.boot(i, l) })
		x.servers = append(x.servers, n)
		id, err := Format(env.Env{Disk: n.Disk(), Random: random.Split(fmt.Sprint(i)), Tracer: env.NoTrace{}}, simLog, "")
		if err != nil {
			return nil, err
		}
		x.genesis.Partitions[0].Members = append(x.genesis.Partitions[0].Members,
			wor.Member{ID: id, Name: n.Name(), Addr: n.Name() + ":1"})
	}
	x.running = make([]*Server, simServers)
	return x, nil
}

func (x *world) boot(i int, l *sim.Life) error {
	o := Options{Env: l.Env, Tasks: l, Dir: simLog, Genesis: x.genesis, Listen: env.Addr(x.genesis.Partitions[0].Members[i].Addr),
		LogSegment: 64 << 10, CheckpointBytes: 128 << 10, Fatal: func(err error) { l.Exit(err.Error()) }}
	if x.change != nil {
		x.change(&o)
	}
	s, err := OpenServer(o)
	if err != nil {
		return err
	}
	if s.witness.denial() != "" {
		return errors.New(s.witness.denial())
	}
	x.running[i] = s
	return nil
}

// durable checks, in the state that server i would have after a loss of power, whether a
// register is promised at a ballot, or accepted there.
func (x *world) durable(i int, a wor.Addr, b wor.Ballot, accepted bool) error {
	x.checked++
	disk := x.servers[i].Disk().Clone()
	disk.Crash(sim.KeepUpTo(0))
	log, err := wal.Open(env.Env{Disk: disk, Random: env.Seeded(1), Clock: x.servers[0].Life().Env.Clock, Tracer: env.NoTrace{}}, simLog,
		wal.Options{Segment: 64 << 10})
	if err != nil {
		return err
	}
	s := &Server{}
	s.witness = newWitness(s, 0)
	g := group.New(x.genesis.Partitions[0].Members[i].ID, x.genesis, 0)
	s.registers.parts = []*part{{group: g}}
	if err := log.Replay(s.redo); err != nil {
		return err
	}
	var r wor.Reply
	g.Handle(&wor.Request{Kind: wor.KindRead, Range: wor.One(a)}, &r, &wor.Log{})
	if r.Status != wor.StatusOK || len(r.Runs) != 1 || r.Runs[0].Promised.Less(b) || accepted && (!r.Runs[0].Written || r.Runs[0].Accepted.Less(b)) {
		return fmt.Errorf("server %d has answered for %v at %v (accepted: %v), and its disk says %+v", i, a, b, accepted, r)
	}
	return nil
}

// observe checks that everything that a server has answered is durable.
func (x *world) observe(to int, q *wor.Request, r *wor.Reply) {
	if r == nil || r.Status != wor.StatusOK || len(r.Runs) != 1 || r.Runs[0].Status != wor.StatusOK || x.failure != nil {
		return
	}
	if q.Kind != wor.KindCapture && q.Kind != wor.KindWrite {
		return
	}
	x.replies++
	if x.replies%8 == 0 && x.servers[0].Life() != nil {
		x.failure = x.durable(to, wor.Addr{Segment: q.Range.Segment, Offset: q.Range.Lo}, q.Ballot, q.Kind == wor.KindWrite)
	}
}

// client is a node that works on registers until it is stopped.
func (x *world) client(number int) {
	x.w.Node(fmt.Sprint("c", number), func(l *sim.Life) error {
		k := newClient(l.Env, x.genesis, l.Env.Random.Uint64())
		k.observe = x.observe
		k.every = 30 * time.Millisecond
		random := l.Env.Random.Split("work")
		round, n := uint64(0), 0
		var next func()
		begin := func(read bool, a wor.Addr, value string) func(op) {
			i := len(x.history)
			x.history = append(x.history, porcupine.Operation{ClientId: number, Input: a, Call: int64(x.w.Now()), Return: math.MaxInt64,
				Output: op{read: read, value: value, err: wor.ErrUnknown}})
			return func(o op) {
				x.history[i].Output = o
				if !errors.Is(o.err, wor.ErrUnknown) {
					x.history[i].Return = int64(x.w.Now())
				}
			}
		}
		pause := func() {
			l.Env.Clock.After(time.Duration(env.IntN(random, int(20*time.Millisecond))), k.serial.Waker(next))
		}
		next = func() {
			if x.stop {
				return
			}
			n++
			a := addr(1+env.IntN(random, 2), env.IntN(random, simRegisters))
			r := wor.One(a)
			if env.IntN(random, 3) == 0 {
				end := begin(true, a, "")
				k.do(paxos.Client{}.Read(simServers, r), func(m wor.Machine) {
					switch run := m.Result()[0]; {
					case run.Status != wor.StatusOK:
						end(op{read: true, err: wor.ErrUnknown})
					case run.Written:
						end(op{read: true, value: string(run.Value)})
					default:
						end(op{read: true, err: wor.ErrUnwritten})
					}
					pause()
				})
				return
			}
			value := fmt.Sprintf("%d.%d.%d", number, l.Number(), n)
			end := begin(false, a, value)
			round++
			b := wor.Ballot{Round: round + uint64(env.IntN(random, 3)), Nonce: k.opt.From}
			round = b.Round
			k.do(paxos.Client{}.Capture(simServers, r, b), func(m wor.Machine) {
				run := m.Result()[0]
				if run.Status != wor.StatusOK {
					round = max(round, run.Promised.Round)
					end(op{value: value, err: wor.ErrUnknown})
					pause()
					return
				}
				put := value
				if run.Written {
					put = string(run.Value)
				}
				k.do(paxos.Client{}.Write(simServers, r, b, []byte(put)), func(m wor.Machine) {
					switch run := m.Result()[0]; {
					case run.Status != wor.StatusOK:
						round = max(round, run.Promised.Round)
						end(op{value: value, err: wor.ErrUnknown})
					case put == value:
						end(op{value: value})
					default:
						end(op{value: value, err: wor.ErrWritten})
					}
					pause()
				})
			})
		}
		k.serial.Do(next)
		return nil
	})
}

// listener is a node that listens on all servers, and checks whether each reported value
// is durable there.
func (x *world) listener() {
	x.w.Node("listener", func(l *sim.Life) error {
		k := newClient(l.Env, x.genesis, l.Env.Random.Uint64())
		k.serial.Do(func() {
			for i, m := range x.genesis.Partitions[0].Members {
				q := wor.Request{Range: wor.Range{Segment: 1, Lo: 0, Hi: simRegisters}}
				k.Listen(m, &q, func(n *wor.Note) {
					x.notes++
					if x.notes%8 == 0 && x.failure == nil && x.servers[0].Life() != nil {
						x.failure = x.durable(i, n.Addr, n.Ballot, true)
					}
				}, func(*wor.Reply) {}, func() { x.w.Mark("a gap") })
			}
		})
		return nil
	})
}

// check checks the history. Reads without an answer are not part of it.
func (x *world) check() error {
	if x.failure != nil {
		return x.failure
	}
	var kept []porcupine.Operation
	for _, o := range x.history {
		if p := o.Output.(op); !p.read || !errors.Is(p.err, wor.ErrUnknown) {
			kept = append(kept, o)
		}
	}
	if !porcupine.CheckOperations(registerModel, kept) {
		return fmt.Errorf("%d operations are not linearizable", len(kept))
	}
	return nil
}

func simFaults() sim.Faults {
	return sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder). // of packets
									And(sim.NodeFaults()).And(sim.CrashFaults()).With(sim.Crash, .15)
}

func play(w *sim.World) error {
	x, err := newWorld(w, nil)
	if err != nil {
		return err
	}
	for i := range 3 {
		x.client(i)
	}
	x.listener()
	w.Invariant("ack is durable", func() error { return x.failure })
	if err := w.Run(12 * time.Second); err != nil {
		return err
	}
	w.Heal()
	// Whatever has happened, work and notes continue.
	before, notes := x.done(), x.notes
	if err := w.RunUntil(60*time.Second, func() bool { return x.done() > before+20 && x.notes > notes+5 }); err != nil {
		return err
	}
	x.stop = true
	if x.checked > 0 {
		w.Mark("looked at a disk")
	}
	return x.check()
}

// done counts operations with an outcome.
func (x *world) done() int {
	n := 0
	for _, o := range x.history {
		if !errors.Is(o.Output.(op).err, wor.ErrUnknown) {
			n++
		}
	}
	return n
}

// TestSimulated runs registers on three servers with all faults that networks, crashes
// and losses of power can cause. More seeds: ASHLAR_SIM=seeds=1000.
func TestSimulated(t *testing.T) {
	suite.Suite{Getenv: os.Getenv, Package: "./internal/worm/node", Short: testing.Short(), Seeds: 40, Faults: simFaults(),
		Require: []string{"looked at a disk", "worm/node mute", "worm/node checkpoint", "a gap"}}.Run(t, play)
}
