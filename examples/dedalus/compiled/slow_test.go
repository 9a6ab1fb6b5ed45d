// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// slow runs the ticks of a host on a machine that needs some time for each message: the
// next tick waits until the last one would be over. In simulation, code takes no time.
type slow struct {
	tasks env.Tasks
	clock env.Clock
	cost  time.Duration
	host  func() *host.Host
}

// Task is env.Tasks'.
func (s *slow) Task(step func() bool) env.Waker {
	var waker env.Waker
	done, busy := uint64(0), env.Instant(0)
	waker = s.tasks.Task(func() bool {
		if now := s.clock.Now(); now < busy {
			s.clock.After(busy.Sub(now), waker)
			return false
		}
		more := step()
		if h := s.host(); h != nil {
			c := h.Status().Counts
			all := c.Delivered + c.Sent + c.Dropped + c.Unclaimed
			if all < done {
				done = 0 // a new life
			}
			busy = s.clock.Now().Add(time.Duration(all-done) * s.cost)
			done = all
		}
		if more {
			s.clock.After(busy.Sub(s.clock.Now()), waker)
		}
		return false
	})
	return waker
}

// slowMessage makes machines a hundred times slower than those that the figures in
// bench/dedalus are from: what clients ask for at once takes longer than the time after
// which they ask again, and a tick with all that has come longer than that after which
// a leader who says nothing is taken for dead.
const slowMessage = 200 * time.Microsecond

// overloadWithin is when no answer has come permanently, in simulated time: it takes half
// a minute for those that are waited for.
const overloadWithin = 5 * time.Minute

// playOverload has so many clients ask at once that slow machines are never done, and
// kills who leads when the log is long, twice: all that is asked for is answered.
func playOverload(e program, d *deploy.Description, sends []loadgen.Send, waits []loadgen.Wait, clients, commands int) suite.Scenario {
	return func(w *sim.World) error {
		x := newCluster(w, e.compiled(), d)
		x.perMessage = slowMessage
		p := &progress{slots: map[uint64]uint64{}}
		var c *loadgen.Generator
		w.Node("client", func(l *sim.Life) error {
			nodes := map[string]env.Addr{}
			for _, n := range x.nodes(true, true) {
				nodes[n] = x.addrs[n]
			}
			var err error
			c, err = loadgen.Open(loadgen.Options{Env: l.Env, Program: x.program, Name: "client", Nodes: nodes, Sends: sends, Waits: waits,
				Clients: clients, Retry: time.Second, Answer: p.answer})
			if err == nil {
				c.Begin()
			}
			return err
		})
		wait := func(more int) error {
			from := p.answered
			return w.RunUntil(overloadWithin, func() bool { return p.answered >= from+more })
		}
		if err := wait(commands); err != nil {
			return err
		}
		for range 2 {
			leads := "proposer/0"
			if x.hosts["proposer/1"].Status().Counts.Sent > x.hosts[leads].Status().Counts.Sent {
				leads = "proposer/1"
			}
			n := x.nodesOf[leads]
			n.Crash(false)
			n.Start(time.Second)
			if err := wait(2 * clients); err != nil {
				return err
			}
		}
		c.Close()
		return x.rejected()
	}
}

// TestOverload: multi-Paxos on machines that have more to do than they can, and whose
// leader is killed: clients are answered again, as fast as such machines can.
func TestOverload(t *testing.T) {
	e, d := entry(t, "multipaxos")
	v := variant{name: "multipaxos", example: "multipaxos", logic: load(t, e)}
	sends, waits := loadgen.Commands(v.logic, v.load(t))
	suite.Suite{Getenv: os.Getenv, Package: "./examples/dedalus/compiled", Short: testing.Short(), Seeds: 2}.Run(t,
		playOverload(e, d, sends, waits, 2000, 6000))
}
