// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
)

// worker takes a time for what it is given, and answers each time.
type worker struct {
	work  func(time.Duration)
	takes time.Duration
	got   func(b []byte)
}

func (*worker) Opened(env.Conn) {}
func (h *worker) Data(c env.Conn, b []byte) {
	if h.got != nil {
		h.got(b)
		return
	}
	h.work(h.takes)
	_ = c.Write(b)
	h.work(h.takes)
}
func (*worker) Drained(env.Conn)       {}
func (*worker) Closed(env.Conn, error) {}

// TestHardware: a node answers when its work is done that far, takes nothing while it
// works, and all that has arrived at once; links and calls take their time.
func TestHardware(t *testing.T) {
	const hop, write, read, work = 100 * time.Microsecond, 3 * time.Microsecond, 5 * time.Microsecond, 50 * time.Microsecond
	var clock time.Duration
	w, err := sim.New(sim.Options{LatencyMin: hop, LatencyMax: hop, StepMax: 1, Hardware: &sim.Hardware{
		Spent: func() time.Duration { return clock }, Write: write, Read: read, KB: 1024 * time.Nanosecond, Bandwidth: 1_000_000, Ideal: []string{"asker"}}})
	if err != nil {
		t.Fatal(err)
	}
	spend := func(d time.Duration) { clock += d }
	server := w.Node("server", func(l *sim.Life) error {
		_, err := l.Env.Network.Listen(":1", func(env.Conn) env.Handler { return &worker{work: spend, takes: work} })
		return err
	})
	type answer struct {
		at    env.Instant
		bytes int
	}
	var answers []answer
	var conn env.Conn
	w.Node("asker", func(l *sim.Life) error {
		conn = l.Env.Network.Dial("server:1", &worker{got: func(b []byte) { answers = append(answers, answer{w.Now(), len(b)}) }})
		return nil
	})
	if err := w.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	ask := func(n int) {
		spend(time.Hour) // of an ideal node
		if err := conn.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	// A request of 10 bytes; two of 20 and 30 while it is worked on. A byte takes 1 us on a link of
	// either side, and 1 ns in a call.
	begin, before := w.Now(), server.Usage()
	w.After(0, func() { ask(10) })
	w.After(20*time.Microsecond, func() { ask(20) })
	w.After(60*time.Microsecond, func() { ask(30) })
	if err := w.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	first := begin.Add(10*time.Microsecond + hop + read + 10 + work + write + 10)
	free := first.Add(work) // it goes on working after it has written
	second := free.Add(read + 50 + work + write + 50)
	want := []answer{{first.Add(10*time.Microsecond + hop), 10}, {second.Add(50*time.Microsecond + hop), 50}}
	if len(answers) != 2 || answers[0] != want[0] || answers[1] != want[1] {
		t.Errorf("answers %v; want %v", answers, want)
	}
	u := server.Usage().Minus(before)
	if u != (sim.Usage{Code: 4 * work, Calls: 2*(read+write) + 120, Reads: 2, Writes: 2, Received: 60, Sent: 60}) || u.CPU() != u.Code+u.Calls {
		t.Errorf("usage %+v", u)
	}
}

// TestHardwareDisk: a node waits for its disk to sync, and for nothing else of it.
func TestHardwareDisk(t *testing.T) {
	var clock time.Duration
	w, err := sim.New(sim.Options{Hardware: &sim.Hardware{Spent: func() time.Duration { return clock }, Look: time.Microsecond, Sync: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	n := w.Node("n", func(l *sim.Life) error {
		begin := l.Env.Clock.Now()
		f, err := l.Env.Disk.Open("f", true)
		if err != nil {
			return err
		}
		clock += 11 * time.Microsecond // of which the look at the clock is one
		if _, err := f.WriteAt([]byte("x"), 0); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		took = l.Env.Clock.Now().Sub(begin)
		return nil
	})
	if err := w.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	if u := n.Usage(); took != 1010*time.Microsecond || u.Disk != time.Millisecond || u.Code != 10*time.Microsecond {
		t.Errorf("%v, usage %+v", took, u)
	}
}
