// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

func world(t *testing.T, o sim.Options) *sim.World {
	t.Helper()
	w, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func run(t *testing.T, w *sim.World, d time.Duration) {
	t.Helper()
	if err := w.Run(d); err != nil {
		t.Fatal(err)
	}
}

// idle is a node that does nothing.
func idle(*sim.Life) error { return nil }

// sink keeps what a side of a connection is told, and checks the order of
// calls. What it has to send it sends as it is told that there is room.
type sink struct {
	l       *sim.Life
	conn    env.Conn
	dialled bool
	rest    []byte // to be sent
	sent    []byte
	got     []byte
	calls   []string
	open    bool
	err     error
	at      env.Instant // of Closed
	pieces  int
}

func (s *sink) call(name string) {
	if s.err != nil {
		panic(name + " after Closed")
	}
	if s.dialled && !s.open && name != "Opened" && name != "Closed" {
		panic(name + " before Opened")
	}
	if n := len(s.calls); n == 0 || s.calls[n-1] != name {
		s.calls = append(s.calls, name)
	}
}

func (s *sink) Opened(c env.Conn) {
	s.call("Opened")
	if s.open || !s.dialled {
		panic("Opened where it is not due")
	}
	s.open, s.conn = true, c
	s.pour()
}

func (s *sink) pour() {
	for len(s.rest) > 0 {
		n := min(len(s.rest), 97)
		err := s.conn.Write(s.rest[:n])
		if errors.Is(err, env.ErrFull) || errors.Is(err, env.ErrClosed) {
			return
		}
		s.sent = append(s.sent, s.rest[:n]...)
		s.rest = s.rest[n:]
	}
}

func (s *sink) Data(c env.Conn, b []byte) {
	s.call("Data")
	s.pieces++
	s.got = append(s.got, b...)
	for i := range b {
		b[i] = 0xee // it is the network's, and nothing reads it any more
	}
}

func (s *sink) Drained(env.Conn) {
	s.call("Drained")
	s.pour()
}

func (s *sink) Closed(_ env.Conn, err error) {
	s.call("Closed")
	if err == nil {
		panic("Closed without a reason")
	}
	s.err, s.at = err, s.l.Env.Clock.Now()
}

// pair is a dialling and a listening node, each with much to say.
type pair struct {
	w      *sim.World
	dialer *sink
	taker  *sink // nil: not accepted
	a, b   *sim.Node
}

func noise(r env.Random, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint64()) &^ 0x80 // never what sink writes over it
	}
	return out
}

func newPair(t *testing.T, o sim.Options, size int) *pair {
	t.Helper()
	p := &pair{w: world(t, o)}
	r := p.w.Random("pair")
	p.b = p.w.Node("b", func(l *sim.Life) error {
		_, err := l.Env.Network.Listen(":1", func(c env.Conn) env.Handler {
			p.taker = &sink{l: l, conn: c, rest: noise(r, size)}
			p.taker.pour()
			return p.taker
		})
		return err
	})
	p.a = p.w.Node("a", func(l *sim.Life) error {
		if l.Number() > 1 {
			return nil
		}
		p.dialer = &sink{l: l, dialled: true, rest: noise(r, size)}
		l.Env.Clock.After(time.Millisecond, env.WakeFunc(func() {
			p.dialer.conn = l.Env.Network.Dial("b:1", p.dialer)
		}))
		return nil
	})
	return p
}

// TestStreamsAreWhole: bytes arrive unaltered, once, in order; how many of
// them, when the connection breaks, is anything up to all.
func TestStreamsAreWhole(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(400) {
		o := sim.Options{Seed: seed, WriteBuffer: 2000, Faults: sim.NetworkFaults().Swarm(seed)}
		p := newPair(t, o, 20_000)
		run(t, p.w, 30*time.Second)
		p.w.Heal()
		run(t, p.w, 30*time.Second)
		if p.taker == nil {
			seen["not accepted"]++
			if p.dialer.err == nil || p.dialer.open {
				t.Fatalf("seed %d: the dialler of a connection that never was hears %v", seed, p.dialer.err)
			}
			continue
		}
		cover := p.w.Coverage()
		struck := func(ks ...sim.Kind) (n uint64) {
			for _, k := range ks {
				n += cover[sim.FaultName(k)]
			}
			return n
		}
		cut := struck(sim.Partition, sim.OneWay) > 0
		if hears := p.dialer.err != nil && p.taker.err != nil; !cut && hears != (struck(sim.Reset, sim.Blackhole, sim.Refuse) > 0) {
			t.Fatalf("seed %d: %d resets; the sides hear %v and %v", seed, struck(sim.Reset), p.dialer.err, p.taker.err)
		}
		for _, x := range []struct{ from, to *sink }{{p.dialer, p.taker}, {p.taker, p.dialer}} {
			if !bytes.HasPrefix(x.from.sent, x.to.got) {
				t.Fatalf("seed %d: what arrived is not the beginning of what was sent", seed)
			}
			whole := len(x.to.got) == 20_000
			broken := p.dialer.err != nil || p.taker.err != nil
			switch {
			case !whole && !broken:
				t.Fatalf("seed %d: %d of 20000 bytes arrived, and nothing broke", seed, len(x.to.got))
			case whole:
				seen["whole"]++
			case len(x.to.got)%97 != 0:
				seen["broken within a write"]++
			}
			if len(x.from.calls) > 3 && strings.Contains(strings.Join(x.from.calls, " "), "Drained") {
				seen["drained"]++
			}
		}
	}
	for _, what := range []string{"whole", "broken within a write", "drained", "not accepted"} {
		if seen[what] == 0 {
			t.Errorf("never %q: %v", what, seen)
		}
	}
}

// TestEndOfAPeer: what the other side hears when a program or a machine ends,
// or when the way is blocked.
func TestEndOfAPeer(t *testing.T) {
	const timeout = 3 * time.Second
	for _, c := range []struct {
		name   string
		do     func(p *pair)
		speaks bool // the dialler writes afterwards
		text   string
		least  time.Duration
		most   time.Duration // 0: it hears nothing
	}{
		{"program", func(p *pair) { p.b.Crash(false) }, false, "connection reset by peer", 0, 10 * time.Millisecond},
		{"machine", func(p *pair) { p.b.Crash(true) }, false, "", 0, 0},
		{"machine, speaking", func(p *pair) { p.b.Crash(true) }, true, "timed out", timeout, timeout + time.Second},
		{"machine that comes back, speaking", func(p *pair) { p.b.Crash(true); p.b.Start(time.Second) }, true, "connection reset by peer", time.Second, 2 * time.Second},
		{"machine that comes back, silent", func(p *pair) { p.b.Crash(true); p.b.Start(time.Second) }, false, "", 0, 0},
		{"way blocked", func(p *pair) { p.w.Partition([]*sim.Node{p.a}, []*sim.Node{p.b}, false) }, false, "", 0, 0},
		{"way blocked, speaking", func(p *pair) { p.w.Partition([]*sim.Node{p.a}, []*sim.Node{p.b}, false) }, true, "timed out", timeout, timeout + time.Second},
		{"peer closes", func(p *pair) { p.taker.conn.Close() }, false, "EOF", 0, 10 * time.Millisecond},
		{"own close", func(p *pair) { p.dialer.conn.Close() }, false, "connection closed", 0, 10 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, sim.Options{Seed: 1, WriteTimeout: timeout}, 100)
			run(t, p.w, time.Second)
			if !p.dialer.open || len(p.taker.got) != 100 {
				t.Fatal("no connection")
			}
			c.do(p)
			from := p.w.Now()
			if c.speaks {
				p.dialer.rest = []byte("hello?")
				p.dialer.pour()
			}
			run(t, p.w, 30*time.Second)
			switch took := p.dialer.at.Sub(from); {
			case c.most == 0 && p.dialer.err != nil:
				t.Errorf("it hears %v", p.dialer.err)
			case c.most == 0:
			case p.dialer.err == nil || !strings.Contains(p.dialer.err.Error(), c.text):
				t.Errorf("it hears %v, want %s", p.dialer.err, c.text)
			case took < c.least || took > c.most:
				t.Errorf("it hears of it after %v, want %v to %v", took, c.least, c.most)
			}
		})
	}
}

// TestOneWay: a partition in one direction stops that one and not the other,
// and what was stopped arrives when it has healed.
func TestOneWay(t *testing.T) {
	p := newPair(t, sim.Options{Seed: 3}, 10)
	run(t, p.w, time.Second)
	heal := p.w.Partition([]*sim.Node{p.a}, []*sim.Node{p.b}, true)
	p.dialer.rest, p.taker.rest = []byte("there"), []byte("back!")
	p.dialer.pour()
	p.taker.pour()
	run(t, p.w, time.Second)
	if len(p.taker.got) != 10 || len(p.dialer.got) != 15 {
		t.Errorf("%d bytes there and %d back, want 10 and 15", len(p.taker.got), len(p.dialer.got))
	}
	heal()
	run(t, p.w, time.Second)
	if len(p.taker.got) != 15 {
		t.Errorf("%d bytes there after healing, want 15", len(p.taker.got))
	}
	p.w.Clog(p.a, p.b, 5*time.Second)
	p.dialer.rest = []byte("again")
	p.dialer.pour()
	run(t, p.w, 4*time.Second)
	if len(p.taker.got) != 15 {
		t.Error("a clogged link has let something through")
	}
	run(t, p.w, 2*time.Second)
	if len(p.taker.got) != 20 {
		t.Error("a link stays clogged")
	}
}

// TestPackets: each arrives unaltered or not at all; without faults once and
// all; with them some are lost, some doubled, some overtaken.
func TestPackets(t *testing.T) {
	const count = 200
	for _, faulty := range []bool{false, true} {
		o := sim.Options{Seed: 5}
		if faulty {
			o.Faults = sim.Faults{}.With(sim.Drop, 0.2).With(sim.Duplicate, 0.2).With(sim.Reorder, 0.5)
		}
		w := world(t, o)
		var got []int
		w.Node("b", func(l *sim.Life) error {
			_, err := l.Env.Packets.Bind("b:7", func(from env.Addr, b []byte) {
				if from != "a:7" || len(b) != 2 || b[1] != ^b[0] {
					t.Errorf("% x from %s", b, from)
				}
				got = append(got, int(b[0]))
			})
			return err
		})
		w.Node("a", func(l *sim.Life) error {
			p, err := l.Env.Packets.Bind("a:7", func(env.Addr, []byte) {})
			if err != nil {
				return err
			}
			if err := p.Send("b:7", make([]byte, env.PacketMax+1)); !errors.Is(err, env.ErrTooLong) {
				t.Errorf("a packet that is too long: %v", err)
			}
			for i := range count {
				l.Env.Clock.After(time.Duration(i+1)*10*time.Millisecond, env.WakeFunc(func() {
					b := []byte{byte(i), ^byte(i)}
					if err := p.Send("b:7", b); err != nil {
						t.Error(err)
					}
					b[0] = 0 // it is not kept
					p.Send("nobody:1", nil)
				}))
			}
			return nil
		})
		run(t, w, 5*time.Second)
		times := make([]int, count)
		late := 0
		for i, n := range got {
			times[n]++
			if i > 0 && n < got[i-1] {
				late++
			}
		}
		lost, twice := 0, 0
		for _, n := range times {
			if n == 0 {
				lost++
			}
			if n == 2 {
				twice++
			}
		}
		if want := faulty; (lost > 0) != want || (twice > 0) != want || (late > 0) != want {
			t.Errorf("faults %v: %d lost, %d twice, %d overtaken", faulty, lost, twice, late)
		}
	}
}

// TestClock: timers fire at their time and not before, also on clocks that
// drift; a stopped one does not; After does not wake by itself; time is not
// the same as another node's.
func TestClock(t *testing.T) {
	w := world(t, sim.Options{Seed: 11, Faults: sim.Faults{}.With(sim.Drift, 0.01)})
	fired, drifted := 0, 0
	for i := range 20 {
		w.Node(fmt.Sprint("n", i), func(l *sim.Life) error {
			c := l.Env.Clock
			for _, d := range []time.Duration{-1, 0, 1, time.Millisecond, 77777 * time.Microsecond, 9 * time.Second} {
				at, inside := c.Now(), true
				begin := w.Now()
				c.After(d, env.WakeFunc(func() {
					fired++
					if inside {
						t.Error("After has woken")
					}
					late := c.Now().Sub(at) - max(d, 0)
					if late < 0 || late > 20*time.Microsecond {
						t.Errorf("%v took %v", d, c.Now().Sub(at))
					}
					if d == 9*time.Second && w.Now().Sub(begin) != d {
						drifted++
					}
				}))
				inside = false
			}
			stop := c.After(time.Millisecond, env.WakeFunc(func() { t.Error("a stopped timer has fired") }))
			if !stop.Stop() || stop.Stop() {
				t.Error("Stop of a timer that runs, and again")
			}
			if year := c.Wall().Year(); year != 2030 {
				t.Errorf("the year is %d", year)
			}
			return nil
		})
	}
	run(t, w, 10*time.Second)
	if fired != 20*6 || drifted < 15 {
		t.Errorf("%d timers fired, %d clocks drifted", fired, drifted)
	}
}

// TestPauseAndCrash: a node that stands still is called when it goes on; one
// that has ended not at all, and its code does not get past where it ended.
func TestPauseAndCrash(t *testing.T) {
	w := world(t, sim.Options{Seed: 1})
	var woken, lives []env.Instant
	past := false
	var n *sim.Node
	n = w.Node("n", func(l *sim.Life) error {
		lives = append(lives, w.Now())
		l.Env.Clock.After(time.Second, env.WakeFunc(func() { woken = append(woken, w.Now()) }))
		if l.Number() == 3 {
			defer func() {
				if _, err := l.Env.Disk.Open("x", true); err == nil {
					t.Error("an ended life has written")
				}
				if err := l.Env.Network.Dial("n:1", nil).Write([]byte{1}); err == nil {
					t.Error("an ended life has spoken")
				}
			}()
			n.Crash(false)
			past = true
		}
		return nil
	})
	w.After(500*time.Millisecond, func() { n.Pause(2 * time.Second) })
	w.After(3*time.Second, func() { n.Crash(false); n.Start(time.Second) })
	w.After(4500*time.Millisecond, func() { n.Crash(true); n.Start(time.Second) })
	run(t, w, 10*time.Second)
	if got, want := fmt.Sprint(woken), fmt.Sprint([]env.Instant{env.Instant(2500 * time.Millisecond)}); got != want {
		t.Errorf("woken at %s, want %s", got, want)
	}
	if len(lives) != 3 || lives[1] != env.Instant(4*time.Second) || past || n.Life() != nil {
		t.Errorf("lives from %v; past its end: %v", lives, past)
	}
}

// TestFailuresEndARun: panics, boot errors, invariants, too many events and
// what does not come about, each with its name.
func TestFailuresEndARun(t *testing.T) {
	forever := func(l *sim.Life) error {
		var again env.WakeFunc
		again = func() { l.Env.Clock.After(0, again) }
		again()
		return nil
	}
	bad := errors.New("bad")
	for _, c := range []struct {
		check string
		boot  sim.Boot
		with  func(w *sim.World)
	}{
		{"panic", func(*sim.Life) error { panic("oh") }, nil},
		{"boot", func(*sim.Life) error { return bad }, nil},
		{"events", forever, nil},
		{"liveness", idle, nil},
		{"mine", idle, func(w *sim.World) { w.Invariant("mine", func() error { return bad }) }},
		{"told", idle, func(w *sim.World) { w.After(1, func() { w.Fail("told", bad) }) }},
	} {
		w := world(t, sim.Options{Seed: 4, EventsMax: 1000})
		w.Node("n", c.boot)
		if c.with != nil {
			c.with(w)
		}
		err := w.RunUntil(time.Second, func() bool { return false })
		var f *sim.Failure
		if !errors.As(err, &f) || f.Check != c.check || f.Seed != 4 || w.Err() != error(f) || w.Step() {
			t.Errorf("%s: %v", c.check, err)
		}
	}
}

// TestFaultsDrawFromStreamsOfTheirOwn: what a kind does, and when, does not
// change when another is turned off.
func TestFaultsDrawFromStreamsOfTheirOwn(t *testing.T) {
	crashes := func(f sim.Faults) string {
		var log strings.Builder
		w := world(t, sim.Options{Seed: 21, Faults: f, Log: &log})
		for i := range 4 {
			w.Node(fmt.Sprint("n", i), idle)
		}
		run(t, w, 20*time.Second)
		var out []string
		for _, line := range strings.Split(log.String(), "\n") {
			if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == "pause" {
				out = append(out, f[0]+" "+f[2]+" "+f[4])
			}
		}
		return strings.Join(out, "\n")
	}
	full := sim.NetworkFaults().And(sim.NodeFaults()).And(sim.DiskFaults()).Without(sim.Crash)
	with := crashes(full)
	without := crashes(full.Without(sim.Clog, sim.Partition, sim.WallJump, sim.SlowDisk))
	if strings.Count(with, "\n") < 3 || with != without {
		t.Errorf("pauses with other faults:\n%s\nwithout:\n%s", with, without)
	}
	for _, k := range full.On() {
		a, b := full.Swarm(9), full.Without(sim.Clog).Swarm(9)
		if k != sim.Clog && a.Rate(k) != b.Rate(k) {
			t.Errorf("the swarm's rate of %s depends on clog", k)
		}
	}
}

// TestTheLogHasAllThatHappened: equal seeds have equal logs and hashes, other
// seeds others, and a change that only shows in the bytes changes the hash.
func TestTheLogHasAllThatHappened(t *testing.T) {
	hash := func(seed uint64, extra byte) (uint64, string) {
		var log strings.Builder
		w := world(t, sim.Options{Seed: seed, Log: &log})
		w.Node("b", func(l *sim.Life) error {
			_, err := l.Env.Packets.Bind(":1", func(env.Addr, []byte) {})
			return err
		})
		w.Node("a", func(l *sim.Life) error {
			p, err := l.Env.Packets.Bind(":1", func(env.Addr, []byte) {})
			l.Env.Clock.After(time.Millisecond, env.WakeFunc(func() { p.Send("b:1", []byte{1, extra}) }))
			return err
		})
		run(t, w, time.Second)
		return w.Hash(), log.String()
	}
	h, log := hash(1, 0)
	if again, same := hash(1, 0); again != h || same != log {
		t.Error("a seed does not do the same twice")
	}
	if other, _ := hash(2, 0); other == h {
		t.Error("two seeds have one hash")
	}
	if other, _ := hash(1, 1); other == h {
		t.Error("the bytes of a packet do not matter")
	}
	want := []string{"start", "start", "timer", "packet"}
	for i, line := range strings.Split(strings.TrimSpace(log), "\n") {
		if f := strings.Fields(line); len(f) < 6 || f[3] != want[i] {
			t.Errorf("line %d: %q, want %s", i+1, line, want[i])
		}
	}
}
