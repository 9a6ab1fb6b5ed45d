// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// How long the world has faults, and the maximum time after that until every running
// operation ends.
const (
	turmoil   = 1500 * time.Millisecond
	aftermath = 60 * time.Second
)

// faults are all faults of networks, nodes and crashes.
func faults() sim.Faults {
	return sim.NetworkFaults().Without(sim.Duplicate, sim.Reorder). // of packets: there are none
									And(sim.NodeFaults()).And(sim.CrashFaults()).With(sim.Crash, 0.6).With(sim.Partition, 0.4).With(sim.OneWay, 0.3).With(sim.Pause, 0.5)
}

// draw has the parameters of a seed's scenario.
type draw struct{ r env.Random }

func (d draw) n(n int) int                           { return env.IntN(d.r, n) }
func (d draw) time(most time.Duration) time.Duration { return time.Duration(env.IntN(d.r, int(most))) }

// playRegisters runs clients on registers of all protocols, operators, and at most one
// mishap.
func playRegisters(w *sim.World) error {
	d := draw{w.Random("plan")}
	c, err := newCluster(w, 5, 2)
	if err != nil {
		return err
	}
	x := &workload{c: c, allocs: map[wor.Segment]int{}, pause: 4*time.Millisecond + d.time(20*time.Millisecond)}
	for i := range 1 + d.n(3) {
		x.segments = append(x.segments, segmentPlan{wor.Segment(10 + i), wor.Meta{
			Partition: wor.Partition(d.n(2)), Protocol: wor.Protocol(d.n(3)), Size: 2 + uint32(d.n(3)),
		}})
	}
	for i := range 2 + d.n(2) {
		x.start(i)
	}
	var ops []*operator
	for i := range d.n(3) {
		ops = append(ops, c.operator(i, 2, 100*time.Millisecond+d.time(600*time.Millisecond)))
	}
	if d.n(2) == 0 {
		w.After(turmoil/2+d.time(turmoil/2), func() { x.trimming = true })
	}
	if d.n(2) == 0 {
		s := c.stranger(x, d.n(3))
		w.After(turmoil, func() { s.stop = true })
	}
	if d.n(4) == 0 {
		w.After(d.time(turmoil), c.blackout)
	}
	if w.Faults().Rate(sim.BitRot) == 0 {
		c.misfortune(d) // no more servers than may fail
	} else {
		w.After(turmoil/2+d.time(turmoil/4), func() { c.hosts[1].restart(true, restartAfter) })
	}
	if err := w.Run(turmoil); err != nil {
		return err
	}
	if err := c.finish(x, ops); !errors.Is(err, errOver) {
		return err
	}
	w.Mark(excused)
	return nil
}

// excused marks a run that shows nothing any more (cluster.over); returned marks one in
// which a disk was restored after its server had sent answers that the disk has lost.
const (
	excused  = "nobody there knew what a disk had lost"
	returned = "a disk was put back that had lost answers"
)

// errOver ends a run that shows nothing any more (cluster.over).
var errOver = errors.New("a disk was put back, and nobody who is there can know")

// blackout is a loss of power of all servers.
func (c *cluster) blackout() {
	for _, h := range c.hosts {
		h.restart(true, time.Duration(env.IntN(c.w.Random("blackout "+h.node.Name()), int(300*time.Millisecond))))
	}
}

// mend ends all faults, and replaces servers that will not come back.
func (c *cluster) mend(ops []*operator) error {
	for _, o := range ops {
		o.stop = true
	}
	c.w.Heal()
	idle := func() bool {
		for _, o := range ops {
			if o.busy {
				return false
			}
		}
		return true
	}
	if err := c.await("operators end", idle); err != nil {
		return err
	}
	return c.replaced()
}

// ends waits for operations that may need the replacement of servers that are found to be
// bad meanwhile.
func (c *cluster) ends(what string, reached func() bool) error {
	gone := func() (n int) {
		for _, h := range c.hosts {
			if h.gone {
				n++
			}
		}
		return n
	}
	for {
		if err := c.replaced(); err != nil {
			return err
		}
		was := gone()
		if err := c.await(what, func() bool { return reached() || gone() > was }); err != nil || gone() == was {
			return err
		}
	}
}

// retire gives up servers that were found to be behind: a damaged end of a log looks like
// one that was never written, but others have seen it.
func (c *cluster) retire() {
	for _, h := range c.hosts {
		switch {
		case h.gone || h.server == nil || h.server.Status().RolledBack == "":
		case c.w.Faults().Rate(sim.BitRot) > 0 && h == c.hosts[1]:
			c.w.Mark("rot at the end was found by others")
			h.gone, h.mishap = true, "rot"
		default:
			c.ghost.wrong("rolled back", "%s has all that it wrote, and calls itself behind: %s", h.node.Name(), h.server.Status().RolledBack)
		}
	}
}

// replaced makes an operator replace all servers that will not come back.
func (c *cluster) replaced() error {
	// All start, or find that they cannot; then peers have seen each other.
	if err := c.w.Run(600 * time.Millisecond); err != nil {
		return err
	}
	c.retire()
	c.menders++
	mender := c.operator(90+c.menders, 0, time.Hour)
	mended := false
	c.w.After(100*time.Millisecond, func() {
		mender.serial.Do(func() { mender.mend(func() { mended = true }) })
	})
	return c.await("members are mended", func() bool { return mended })
}

// finish ends all operations, takes the power away and checks what is left.
func (c *cluster) finish(x *workload, ops []*operator) error {
	x.stop = true
	if err := c.mend(ops); err != nil {
		return err
	}
	if err := c.ends("everything ends", func() bool { return x.pending == 0 }); err != nil {
		return err
	}
	if err := c.settled(x); err != nil {
		return err
	}
	c.blackout()
	read := 0
	reader := &client{load: x}
	c.w.Node("reader", func(l *sim.Life) error {
		a, err := c.agent(l, 50, nil)
		if err != nil {
			return err
		}
		reader.agent, read = a, 0
		a.serial.Do(func() {
			for _, s := range x.segments {
				reader.readAll(s, 0, func() { read++ })
			}
		})
		return nil
	})
	if err := c.ends("all is read", func() bool { return read == len(x.segments) }); err != nil {
		return err
	}
	if err := c.mishapsEnded(); err != nil {
		return err
	}
	return c.history.check()
}

// settled waits until the listeners of all living clients have received everything that
// is decided.
func (c *cluster) settled(x *workload) error {
	caught := func() bool {
		for _, cl := range x.clients {
			for _, s := range x.segments {
				for off := range s.meta.Size {
					a := wor.Addr{Segment: s.number, Offset: off}
					if c.ghost.chosen[a] != nil && !cl.heard[a] && !cl.buried[s.number] {
						return false
					}
				}
			}
		}
		return true
	}
	return c.await("listeners are told", caught)
}

// await runs until reached; if this takes too long, the test fails and shows
// the state of all servers.
func (c *cluster) await(what string, reached func() bool) error {
	for end := c.w.Now().Add(aftermath); !reached() && !c.over; {
		if c.w.Now() > end {
			c.w.Fail("liveness", fmt.Errorf("%s: not within %v\n%v", what, aftermath, c))
		}
		if !c.w.Step() {
			break
		}
	}
	if err := c.w.Err(); err != nil || !c.over {
		return err
	}
	return errOver
}

// String describes the state of all servers.
func (c *cluster) String() string {
	var b strings.Builder
	for _, h := range c.hosts {
		fmt.Fprintf(&b, "%s %v mishap %q", h.node.Name(), h.member.ID, h.mishap)
		if h.server != nil {
			s := h.server.Status()
			fmt.Fprintf(&b, " generation %d, failed %v, full %v, rolled back %q", s.Generation, s.Failed, s.Full, s.RolledBack)
			for _, p := range s.Partitions {
				fmt.Fprintf(&b, "; %d.%d %v unsure %v", p.Partition, p.Epoch, p.Standing, p.Unsure)
				for _, m := range p.Members {
					fmt.Fprintf(&b, " %s", m.Name)
				}
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// misfortune does something to one server that faults do not do: its disk is restored to
// an earlier state or replaced, or the server never comes back.
func (c *cluster) misfortune(d draw) {
	h := c.hosts[d.n(len(c.hosts))]
	at := turmoil/5 + d.time(turmoil/4)
	switch d.n(6) {
	case 0:
		var old *sim.Disk
		c.w.After(at, func() {
			h.restart(false, restartAfter)
			old = h.node.Disk().Clone()
			h.lost = newLostLives(h, old)
		})
		c.w.Invariant("rolled back", func() error { return c.returned(h) })
		alone := d.n(4)
		c.w.After(at+turmoil/2, func() {
			h.lost.end()
			h.gone, h.mishap, h.disk = true, "rolled back", old
			h.alone(alone)
		})
	case 1:
		c.w.After(at, func() {
			was := h.member
			h.disk = sim.NewDisk()
			if err := h.format(h.disk, "format again"); err != nil {
				c.w.Fail("format", err)
			}
			h.gone, h.mishap, h.member = true, "empty", was
			c.ghost.tick()
			c.ghost.absent[was.ID] = c.ghost.now
			h.restart(false, restartAfter)
		})
	case 2:
		c.w.After(at, func() {
			h.gone, h.mishap = true, "dead"
			h.restart(d.n(2) == 0, restartAfter)
		})
	}
}

// sure reports whether the server answers in some partition.
func (h *host) sure() bool {
	for _, p := range h.server.Status().Partitions {
		if !p.Unsure {
			return true
		}
	}
	return false
}

// mishapsEnded checks whether servers that must not serve were refused.
func (c *cluster) mishapsEnded() error {
	for _, h := range c.hosts {
		if !h.gone {
			continue
		}
		c.w.Mark(env.Mark("server replaced"))
		if h.server == nil {
			continue
		}
		s := h.server.Status()
		switch h.mishap {
		case "rolled back":
			switch {
			case !h.lost.served: // a life in which it answered no request does not count
				continue
			case s.RolledBack == "":
				return errors.New("a disk was put back, and its server does not know")
			}
			c.w.Mark("rolled-back disk refused")
		case "empty":
			if s.Counts.Refused > 0 {
				c.w.Mark("empty disk refused")
			}
		}
	}
	return nil
}

// seeds is the number of seeds of a plain test; the environment may ask for more.
func seeds(t *testing.T, plain int) int {
	if text := os.Getenv("ASHLAR_SEEDS_WORM"); text != "" {
		if _, err := fmt.Sscan(text, &plain); err != nil {
			t.Fatal(err)
		}
	}
	return plain
}

// TestRegisters runs registers of all protocols on servers that crash and restart.
func TestRegisters(t *testing.T) {
	var runs, disks, over int
	suite.Suite{
		Getenv: os.Getenv, Package: "./internal/evidence/worm/simulation", Short: testing.Short(), Seeds: seeds(t, 600), Faults: faults(),
		Options: worldOptions(), Twice: 20,
		Require: []string{
			"half-written read repaired", "outbid then resolved", "seal during write", "reconfigurers duel",
			"reconfigurer died after seal", "reconfigurer died before decide", "reconfigurer died after decide",
			"members changed", "server replaced", "rolled-back disk refused", "empty disk refused",
			"started alone on a disk that was put back",
			"stranger's activation: busy", "stranger's trim: busy", "stranger's trim: limit", "stranger's stage: ok", "stranger's seal: ok",
			"stranger's hello", "stranger's report", "impostor was asked",
			"trim races read", "trim races write", "written with another's token", "worm/node mute", "worm/node checkpoint",
		},
	}.Run(t, func(w *sim.World) error {
		err := playRegisters(w)
		runs++
		disks += int(min(w.Coverage()[returned], 1))
		over += int(min(w.Coverage()[excused], 1))
		return err
	})
	t.Logf("%d runs: in %d a disk was put back that had lost answers, %d of them are excused", runs, disks, over)
	if disks >= 30 && over*excusedMost > disks {
		t.Errorf("of %d runs in which a disk was put back, %d are excused: at most one of %d may be", disks, over, excusedMost)
	}
}

// excusedMost: of so many runs in which a disk was put back, one may be excused.
// They need a server that comes back to the very members that were away in the lost
// life, while those that were there are away for longer than WitnessWait.
const excusedMost = 10

// TestDisks is the same on disks that fail, and are full and slow; that of one server is
// damaged as well.
func TestDisks(t *testing.T) {
	disks := faults().With(sim.BitRot, 3).With(sim.ReadError, 0.002).With(sim.SyncError, 0.005).With(sim.DiskFull, 0.3).With(sim.SlowDisk, 0.5)
	o := worldOptions()
	o.Corruptible = []string{"s1"}
	suite.Suite{
		Getenv: os.Getenv, Package: "./internal/evidence/worm/simulation", Short: testing.Short(), Seeds: seeds(t, 300), Faults: disks,
		Options: o, Twice: 20, Require: []string{"a disk failed", "rot was found", "server replaced"},
	}.Run(t, playRegisters)
}
