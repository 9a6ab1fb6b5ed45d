// SPDX-License-Identifier: Apache-2.0

package mailbox_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/mailbox"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// world is a sim.World whose connections deliver in pieces, late, and break at
// any byte. Each name that a test uses is a node; the test steps the instances
// itself, between events, in an order that the seed decides.
type world struct {
	*sim.World
	t    *testing.T
	rng  env.Random
	envs map[string]env.Env
}

// newWorld makes a world in which one in so many deliveries breaks the connection;
// 0: none.
func newWorld(t *testing.T, seed uint64, cut int) *world {
	faults := sim.Faults{}.With(sim.Fragment, 0.9)
	if cut > 0 {
		faults = faults.With(sim.Reset, 1/float64(cut))
	}
	s, err := sim.New(sim.Options{Seed: seed, Faults: faults, WriteBuffer: 2000})
	if err != nil {
		t.Fatal(err)
	}
	return &world{World: s, t: t, rng: s.Random("order"), envs: map[string]env.Env{}}
}

func (w *world) env(name string) env.Env {
	if _, ok := w.envs[name]; !ok {
		w.Node(name, func(l *sim.Life) error {
			w.envs[name] = l.Env
			return nil
		})
		for w.envs[name].Clock == nil {
			w.next()
		}
	}
	return w.envs[name]
}

// next runs one event and says whether there was one.
func (w *world) next() bool {
	more := w.Step()
	if err := w.Err(); err != nil {
		w.t.Fatal(err)
	}
	return more
}

// cuts is how many connections were broken.
func (w *world) cuts() int { return int(w.Coverage()[sim.FaultName(sim.Reset)]) }

// stepper is an instance that can be driven by hand.
type stepper interface {
	distsys.Process
	Notify(func())
	Err() error
}

// drive runs instances and the world until all instances have finished.
func (w *world) drive(procs ...stepper) error {
	runnable := make([]bool, len(procs))
	left := len(procs)
	for i, p := range procs {
		runnable[i] = true
		p.Notify(func() { runnable[i] = true })
	}
	for steps := 0; left > 0; steps++ {
		if steps > 2_000_000 {
			return errors.New("it does not end")
		}
		var ready []int
		for i := range procs {
			if runnable[i] {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 || env.IntN(w.rng, 3) == 0 {
			if !w.next() && len(ready) == 0 {
				return errors.New("nothing can go on")
			}
			continue
		}
		i := ready[env.IntN(w.rng, len(ready))]
		runnable[i] = false
		switch procs[i].Step() {
		case distsys.Running:
			runnable[i] = true
		case distsys.Finished:
			if err := procs[i].Err(); err != nil {
				return err
			}
			left--
		}
	}
	return nil
}

func (w *world) link(node string) link.Options {
	return link.Options{Env: w.env(node), System: "test", Node: node, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond}
}

const worldSeeds = 60

// TestInTheWorld is TestMessagesArriveOnceInOrder for many seeds, and twice for
// each: the same seed gives the same run.
func TestInTheWorld(t *testing.T) {
	modes(t, func(t *testing.T, relaxed bool) {
		cuts := 0
		for seed := range uint64(worldSeeds) {
			run := func() uint64 {
				const senders, count = 3, 30
				w := newWorld(t, seed, 5+int(seed%60))
				here := value.Int(0)
				server := open(t, mailbox.Options{Link: w.link("server"), Listen: ":0", Local: []value.Value{here},
					Queue: queue.Limits{Messages: 3}, HoldTime: 3 * time.Millisecond})
				rcv := newReceiver(t, w.env("receiver"), server, here, senders*count)
				procs := []stepper{rcv}
				for i := range senders {
					name := fmt.Sprint("sender", i)
					m := open(t, mailbox.Options{Link: w.link(name), Relaxed: relaxed, Window: 5,
						Remote: []mailbox.Remote{{Index: here, Addr: server.Addr()}}})
					procs = append(procs, newSender(t, w.env(name), m, value.Int(int32(i)), here, count))
				}
				if err := w.drive(procs...); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				checkFIFO(t, rcv.State().got, senders, count)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
				cuts += w.cuts()
				return w.Hash()
			}
			if a, b := run(), run(); a != b {
				t.Fatalf("seed %d: two runs differ", seed)
			}
		}
		if cuts < 10*worldSeeds {
			t.Errorf("only %d cuts", cuts)
		}
	})
}

// caster sends each of its messages to several mailboxes in one section.
type caster struct {
	network  distsys.Ref
	to       []value.Value
	i, count int32
}

func (s *caster) l(tx *distsys.Tx) (distsys.Label, error) {
	if s.i >= s.count {
		return distsys.Done, nil
	}
	s.i++
	for _, to := range s.to {
		if err := tx.Write(s.network, value.Tuple(tx.Self(), value.Int(s.i)), to); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// TestCastsHaveOneOrder: sections that send to two mailboxes on different
// nodes are seen there in the same order, whatever breaks.
func TestCastsHaveOneOrder(t *testing.T) {
	const senders, count = 3, 12
	for seed := range uint64(worldSeeds) {
		w := newWorld(t, seed+1000, int(seed+1)%2*40)
		boxes := []value.Value{value.Int(100), value.Int(101)}
		var procs []stepper
		var receivers []*distsys.Instance[receiver]
		var remotes []mailbox.Remote
		for i, b := range boxes {
			name := fmt.Sprint("receiver", i)
			m := open(t, mailbox.Options{Link: w.link(name), Listen: ":0", Local: []value.Value{b}, Queue: queue.Limits{Messages: 4}, HoldTime: time.Minute})
			remotes = append(remotes, mailbox.Remote{Index: b, Addr: m.Addr()})
			r := newReceiver(t, w.env(name), m, b, senders*count)
			receivers, procs = append(receivers, r), append(procs, r)
		}
		code := &distsys.Archetype[caster]{Name: "Caster", Sections: []distsys.Section[caster]{{Name: "l", Run: (*caster).l}}}
		for i := range senders {
			name := fmt.Sprint("sender", i)
			m := open(t, mailbox.Options{Link: w.link(name), Remote: remotes})
			to := []value.Value{boxes[i%2], boxes[1-i%2]}
			in, err := distsys.New(code, value.Int(int32(i)), caster{network: distsys.NewRef("network", m.Network()), to: to, count: count}, distsys.Options{Env: w.env(name)})
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, in)
		}
		if err := w.drive(procs...); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		a, b := receivers[0].State().got, receivers[1].State().got
		checkFIFO(t, a, senders, count)
		for i := range a {
			if !value.Equal(a[i], b[i]) {
				t.Fatalf("seed %d: message %d is %s in one mailbox and %s in the other", seed, i, a[i], b[i])
			}
		}
	}
}
