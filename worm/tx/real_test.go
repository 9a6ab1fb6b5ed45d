// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/evidence/worm/history"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// real is a cluster of register servers in the simulator, each with a part in a store.
type real struct {
	w       *sim.World
	genesis *wor.Genesis
	nodes   []*sim.Node
	// spares are servers that keep no registers.
	spares []wor.Member
	setup  func(i int, l *sim.Life, r *reach, s *node.Server) error
	txns   []history.Txn
	under  int
}

// reach is a process's access to the registers.
type reach struct {
	serial    *env.Serial
	transport *node.Transport
	space     *space.Space
}

const realServers, realLog = 3, "log"

func newReal(w *sim.World, spares int) (*real, error) {
	x := &real{w: w, genesis: &wor.Genesis{Cluster: 99, Partitions: []wor.Config{{}}}}
	random := w.Random("format")
	for i := range realServers + spares {
		n := w.Node(fmt.Sprint("s", i), func(l *sim.Life) error { return x.boot(i, l) })
		x.nodes = append(x.nodes, n)
		id, err := node.Format(env.Env{Disk: n.Disk(), Random: random.Split(fmt.Sprint(i)), Tracer: env.NoTrace{}}, realLog, "")
		if err != nil {
			return nil, err
		}
		m := wor.Member{ID: id, Name: n.Name(), Addr: n.Name() + ":1"}
		if i < realServers {
			x.genesis.Partitions[0].Members = append(x.genesis.Partitions[0].Members, m)
		} else {
			x.spares = append(x.spares, m)
		}
	}
	return x, nil
}

func (x *real) reach(e env.Env) (*reach, error) {
	r := &reach{serial: &env.Serial{}}
	r.transport = node.NewTransport(node.TransportOptions{Env: e, Serial: r.serial, Cluster: x.genesis.Cluster, From: e.Random.Uint64()})
	var err error
	r.space, err = space.Open(space.Options{Env: e, Serial: r.serial, Transport: r.transport, Genesis: x.genesis})
	return r, err
}

func (x *real) boot(i int, l *sim.Life) error {
	s, err := node.OpenServer(node.Options{Env: l.Env, Tasks: l, Dir: realLog, Genesis: x.genesis,
		Listen: env.Addr(l.Node().Name() + ":1"), Fatal: func(err error) { l.Exit(err.Error()) }})
	if err != nil {
		return err
	}
	r, err := x.reach(l.Env)
	if err != nil {
		return err
	}
	r.serial.Do(func() { err = x.setup(i, l, r, s) })
	return err
}

// TestDelaysOnServers counts message delays on real registers: every message takes the
// same time, and the disks take almost none.
func TestDelaysOnServers(t *testing.T) {
	const unit = 100 * time.Millisecond
	for v := A8; v <= F2; v++ {
		w, err := sim.New(sim.Options{Seed: 1, LatencyMin: unit, LatencyMax: unit})
		if err != nil {
			t.Fatal(err)
		}
		const rms = 2 // the third of the spares is the TM
		engines := make([]*Engine, realServers)
		d := &realDelays{w: w}
		x, err := newReal(w, realServers)
		if err != nil {
			t.Fatal(err)
		}
		members := x.spares // a message to oneself takes no time: registers are elsewhere
		opened := 0
		x.setup = func(i int, l *sim.Life, r *reach, s *node.Server) error {
			if i -= realServers; i < 0 {
				return nil
			}
			e := l.Env
			e.Tracer = d
			var err error
			engines[i], err = New(Options{Env: e, Serial: r.serial, Space: r.space, Messenger: r.transport, Self: members[i], Resource: yes{},
				Variant: v, Instance: 1, RMs: rms, Managers: members[rms:], SegmentSize: 512, ResolveAfter: 10 * time.Second})
			if err != nil {
				return err
			}
			s.Register(wor.ServiceTx, r.serial, engines[i].Handle)
			for rm := range rms {
				engines[i].Suppose(RM(rm), members[rm])
			}
			if i < rms {
				engines[i].Acquire(RM(i), func(_ *Recovered, err error) {
					if err != nil {
						t.Error(err)
						return
					}
					engines[i].Open(RM(i), func() { opened++ })
				})
			}
			return nil
		}
		if err := w.RunUntil(time.Minute, func() bool { return opened == rms }); err != nil {
			t.Fatal(v, err)
		}
		// The first transactions set up all connections; the last one counts.
		for range 3 {
			d.learned = 0
			parts := []Part{{0, nil}, {1, nil}}
			w.After(0, func() {
				if v == F2 {
					engines[0].Reserve(parts, func(tx Tx, err error) {
						d.began = w.Now()
						for i := range parts {
							w.After(0, func() { engines[i].Join(tx, i, nil) })
						}
					})
					return
				}
				engines[0].Start(parts, func(Tx, *Outcome, error) {})
			})
			if err := w.RunUntil(time.Minute, func() bool { return d.learned == rms }); err != nil {
				t.Fatal(v, err)
			}
			if err := w.Run(5 * time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if got := int(d.last.Sub(d.began) / unit); got != v.Delays() {
			t.Errorf("%v: %v are %d delays, want %d", v, d.last.Sub(d.began), got, v.Delays())
		}
	}
}

type yes struct{}

func (yes) Prepare(RM, ID, uint64, []byte) ([]byte, []byte, bool) { return nil, nil, true }
func (yes) Finish(RM, ID, *Outcome)                               {}
func (yes) Lost(RM)                                               {}

type realDelays struct {
	w           *sim.World
	began, last env.Instant
	learned     int
}

func (d *realDelays) Trace(e env.Event) {
	switch e.(type) {
	case Began:
		d.began = d.w.Now()
	case Learned:
		d.last = d.w.Now()
		d.learned++
	}
}

// client runs list transactions, one after another.
func (x *real) client(n, each int) {
	x.under++
	x.w.Node(fmt.Sprint("c", n), func(l *sim.Life) error {
		r, err := x.reach(l.Env)
		if err != nil {
			return err
		}
		members := x.genesis.Partitions[0].Members
		cl := NewClient(ClientOptions{Env: l.Env, Serial: r.serial, Messenger: r.transport, Servers: members, Partitions: 4, Nonce: r.space.Nonce()})
		random := l.Env.Random.Split("work")
		left := each
		var next func()
		next = func() {
			if left--; left < 0 {
				x.under--
				return
			}
			x.ask(cl, random, fmt.Sprint(n, ".", l.Number(), ".", left), 20*time.Second, func() {
				l.Env.Clock.After(time.Duration(env.IntN(random, int(200*time.Millisecond))), r.serial.Waker(next))
			})
		}
		r.serial.Do(next)
		return nil
	})
}

func (x *real) ask(cl *Client, random env.Random, name string, within time.Duration, next func()) {
	var q Request
	h := history.Txn{Name: name, Begin: int64(x.w.Now()), Status: history.Unknown}
	for j := range 1 + random.Uint64()%3 {
		key := fmt.Sprint("list", random.Uint64()%4)
		if random.Uint64()%2 == 0 {
			v := fmt.Sprint(name, ".", j)
			q.Ops = append(q.Ops, add(key, v+","))
			h.Ops = append(h.Ops, history.Op{Key: key, Append: v})
		} else {
			q.Ops = append(q.Ops, get(key))
			h.Ops = append(h.Ops, history.Op{Key: key})
		}
	}
	at := len(x.txns)
	x.txns = append(x.txns, h)
	cl.Do(&q, within, func(res *Result, err error) {
		h := &x.txns[at]
		h.End = int64(x.w.Now())
		switch {
		case err == nil:
			h.Status = history.Committed
			for i := range h.Ops {
				if h.Ops[i].Append == "" {
					h.Ops[i].List = strings.FieldsFunc(string(res.Ops[i].Value), func(r rune) bool { return r == ',' })
				}
			}
		case !errors.Is(err, wor.ErrUnknown):
			h.Status = history.Aborted
		}
		next()
	})
}

func playReal(w *sim.World) error {
	x, err := newReal(w, 0)
	if err != nil {
		return err
	}
	x.setup = func(i int, l *sim.Life, r *reach, s *node.Server) error {
		members := x.genesis.Partitions[0].Members
		kv, err := NewKV(KVOptions{
			Engine: Options{Env: l.Env, Serial: r.serial, Space: r.space, Messenger: r.transport, Self: members[i],
				Instance: 1, RMs: 4, SegmentSize: 64, ResolveAfter: 100 * time.Millisecond},
			Servers: members, PingEvery: 100 * time.Millisecond, FailAfter: time.Second,
		})
		if err != nil {
			return err
		}
		s.Register(wor.ServiceTx, r.serial, kv.HandleTx)
		s.Register(wor.ServiceKV, r.serial, kv.HandleKV)
		return nil
	}
	for n := range 3 {
		x.client(n, 25)
	}
	if err := w.Run(15 * time.Second); err != nil {
		return err
	}
	w.Heal()
	if err := w.RunUntil(3*time.Minute, func() bool { return x.under <= 0 }); err != nil {
		return err
	}
	committed := 0
	for i := range x.txns {
		if x.txns[i].Status == history.Committed {
			committed++
		}
	}
	if committed < 20 {
		return fmt.Errorf("only %d transactions were committed", committed)
	}
	if found := history.Check(x.txns); len(found) > 0 {
		return errors.New(history.Describe(found, 4))
	}
	return nil
}

// TestSimulated runs the store on real registers among faults of networks and
// nodes.
func TestSimulated(t *testing.T) {
	n := 12
	if s := os.Getenv("ASHLAR_TX_SIM_SEEDS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	faults := sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder). // of packets
										And(sim.NodeFaults()).And(sim.CrashFaults()).With(sim.Crash, .1).
										Without(sim.HalfOpen, sim.ReorderWrite, sim.TearWrite) // too rare to be required of so few seeds
	suite.Suite{Getenv: os.Getenv, Package: "./worm/tx", Short: testing.Short(), Seeds: n, Faults: faults}.Run(t, playReal)
}
