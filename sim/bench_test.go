// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// bouncer sends back what it gets.
type bouncer struct{ start []byte }

func (b bouncer) Opened(c env.Conn)          { c.Write(b.start) }
func (bouncer) Data(c env.Conn, b []byte)    { c.Write(b) }
func (bouncer) Drained(env.Conn)             {}
func (b bouncer) Closed(c env.Conn, _ error) {}

// events runs worlds until there were b.N events.
func events(b *testing.B, faults sim.Faults, boot func(i int) sim.Boot) {
	b.ReportAllocs()
	var done uint64
	for seed := uint64(0); done < uint64(b.N); seed++ {
		w, err := sim.New(sim.Options{Seed: seed, Faults: faults})
		if err != nil {
			b.Fatal(err)
		}
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			w.Node(name, boot(i))
		}
		w.Invariant("none", func() error { return nil })
		for w.Events() < 100_000 && done+w.Events() < uint64(b.N) && w.Step() {
		}
		if err := w.Err(); err != nil {
			b.Fatal(err)
		}
		done += w.Events()
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkEvents is how many events the simulator itself gets through.
func BenchmarkEvents(b *testing.B) {
	packet := make([]byte, 64)
	packets := func(int) sim.Boot {
		return func(l *sim.Life) error {
			var p env.Port
			p, err := l.Env.Packets.Bind(":1", func(from env.Addr, b []byte) { p.Send(from, b) })
			if err != nil {
				return err
			}
			for _, to := range []env.Addr{"a:1", "b:1", "c:1"} {
				p.Send(to, packet)
			}
			var tick env.WakeFunc
			tick = func() {
				p.Send("d:1", packet)
				l.Env.Clock.After(10*time.Millisecond, tick)
			}
			tick()
			return nil
		}
	}
	streams := func(i int) sim.Boot {
		return func(l *sim.Life) error {
			if _, err := l.Env.Network.Listen(":1", func(env.Conn) env.Handler { return bouncer{} }); err != nil {
				return err
			}
			var dial env.WakeFunc
			dial = func() {
				for _, to := range []env.Addr{"a:1", "b:1", "c:1"} {
					l.Env.Network.Dial(to, bouncer{packet})
				}
				l.Env.Clock.After(5*time.Second, dial)
			}
			l.Env.Clock.After(time.Millisecond, dial)
			return nil
		}
	}
	faults := sim.NetworkFaults().And(sim.NodeFaults())
	b.Run("packets", func(b *testing.B) { events(b, sim.Faults{}, packets) })
	b.Run("packets among faults", func(b *testing.B) { events(b, faults, packets) })
	b.Run("streams", func(b *testing.B) { events(b, sim.Faults{}, streams) })
	b.Run("streams among faults", func(b *testing.B) { events(b, faults, streams) })
}

// BenchmarkLockService is how many there are with compiled systems' mailboxes
// and the whole of their protocol on top.
func BenchmarkLockService(b *testing.B) {
	var done uint64
	for seed := uint64(0); done < uint64(b.N); seed++ {
		w, err := sim.New(sim.Options{Seed: seed, Faults: lockFaults().Swarm(seed)})
		if err != nil {
			b.Fatal(err)
		}
		newLock(w, false, false)
		for w.Events() < 20_000 && done+w.Events() < uint64(b.N) && w.Step() {
		}
		if err := w.Err(); err != nil {
			b.Fatal(err)
		}
		done += w.Events()
	}
	b.ReportMetric(float64(done)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkCrashStates is how many states after a crash a disk gives when it
// is cloned for each.
func BenchmarkCrashStates(b *testing.B) {
	d := sim.NewDisk()
	f, err := d.Open("f", true)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 256 {
		if _, err := f.WriteAt(make([]byte, 4096), int64(i)*4096); err != nil {
			b.Fatal(err)
		}
		if i == 250 {
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Clone().Crash(sim.KeepUpTo(uint64(i) % d.Ops()))
	}
}
