// SPDX-License-Identifier: Apache-2.0

package loadgen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
)

// still is a world in which nobody answers and time passes when the test says so.
type still struct {
	now    env.Instant
	timers []func()
}

func (s *still) Now() env.Instant { return s.now }
func (s *still) Wall() time.Time  { return time.Unix(0, int64(s.now)) }
func (s *still) After(d time.Duration, w env.Waker) env.Timer {
	at := s.now.Add(d)
	var look func()
	look = func() {
		if s.now >= at {
			w.Wake()
		} else {
			s.timers = append(s.timers, look)
		}
	}
	s.timers = append(s.timers, look)
	return s
}
func (s *still) Stop() bool { return false }
func (s *still) pass(d time.Duration) {
	s.now = s.now.Add(d)
	list := s.timers
	s.timers = nil
	for _, look := range list {
		look()
	}
}
func (s *still) Listen(env.Addr, func(env.Conn) env.Handler) (env.Listener, error) {
	return nil, errors.New("nobody listens")
}
func (s *still) Dial(env.Addr, env.Handler) env.Conn { return s }
func (s *still) Write([]byte) error                  { return env.ErrClosed }
func (s *still) Close()                              {}
func (s *still) Local() env.Addr                     { return "" }
func (s *still) Remote() env.Addr                    { return "" }

// alone is a load generator in such a world; tell gives it an output.
func alone(t *testing.T, load string, change func(o *Options)) (x *Generator, w *still, tell func(id uint64, key, v string)) {
	t.Helper()
	p, l := echo(t, load)
	w = &still{now: 1}
	o := Options{Env: env.Env{Clock: w, Random: env.Seeded(1), Network: w}, Program: gen.Outline(p), Name: "c", Nodes: map[string]env.Addr{}, Clients: 2}
	o.Sends, o.Waits = Commands(p, l)
	for i := range 3 {
		o.Nodes[fmt.Sprint("server/", i)] = "away"
	}
	if change != nil {
		change(&o)
	}
	x, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	var told int
	for r := range x.outs {
		told = r
	}
	return x, w, func(id uint64, key, v string) {
		t.Helper()
		row, err := rt.AppendRow(nil, o.Program.Relations[told].Columns, []rt.Value{{Num: id}, {Str: key}, {Str: v}})
		if err != nil {
			t.Fatal(err)
		}
		x.output("server/0", told, row)
	}
}

const oneWait = "send ask(client, #, #, bytes 6) to server\nwait told(#, #, bytes 6)\n"

// TestRun: clients ask for the next command when they have an answer; what comes again
// is counted, and what comes late does not count.
func TestRun(t *testing.T) {
	idle := 0
	var answers []uint64
	x, w, tell := alone(t, oneWait, func(o *Options) {
		o.Commands, o.Idle = 4, func() { idle++ }
		o.Answer = func(n uint64, _ int, row []rt.Value) error {
			answers = append(answers, n)
			if row[0].Num != n {
				t.Errorf("answer %d has %v", n, row)
			}
			return nil
		}
	})
	x.Begin()
	if o, err := x.Outcome(); !errors.Is(err, ErrUnanswered) || !strings.Contains(err.Error(), "2 of 2") || o.All != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	w.pass(time.Second)
	tell(1, "1", "000001") // before anything counts
	x.Count(true)
	w.pass(1500 * time.Millisecond)
	tell(2, "2", "000002")
	tell(2, "2", "000002")
	w.pass(500 * time.Millisecond)
	tell(3, "3", "000003")
	if idle != 0 {
		t.Error("idle while a command is under way")
	}
	x.Count(false)
	tell(4, "4", "000004")
	o, err := x.Outcome()
	if err != nil || o.All != 4 || o.Commands != 2 || o.Doubled != 1 || o.Resent != 0 || o.Micros != 2_000_000 || idle == 0 {
		t.Errorf("%+v, %v, idle %d", o, err, idle)
	}
	if fmt.Sprint(o.Windows) != "[0 1 1]" || fmt.Sprint(answers) != "[1 2 3 4]" {
		t.Errorf("windows %v, answers %v", o.Windows, answers)
	}
	// 2 took 2.5 s, 3 was asked for with the answer to 1 and took 2 s.
	near := func(got, want int64) bool { return got > want*99/100 && got < want*101/100 }
	if !near(o.Quantiles.P50, 2_000_000) || !near(o.Quantiles.Max, 2_500_000) || len(o.Latencies) != 2 {
		t.Errorf("%+v %v", o.Quantiles, o.Latencies)
	}
}

// TestWrongAnswers: each ends the run, and says what is wrong.
func TestWrongAnswers(t *testing.T) {
	for want, wrong := range map[string]func(o *Options, tell func(uint64, string, string)){
		`command 1: column key of told is "7", want "1"`: func(_ *Options, tell func(uint64, string, string)) { tell(1, "7", "000001") },
		"not a row of the relation":                      nil,
		"not what I wanted":                              func(_ *Options, tell func(uint64, string, string)) { tell(2, "2", "000002") },
	} {
		idle := 0
		x, _, tell := alone(t, oneWait, func(o *Options) {
			o.Idle = func() { idle++ }
			o.Answer = func(n uint64, _ int, _ []rt.Value) error {
				if n == 2 {
					return errors.New("not what I wanted")
				}
				return nil
			}
		})
		x.Begin()
		if wrong != nil {
			wrong(nil, tell)
		} else {
			for r := range x.outs {
				x.output("server/0", r, []byte{0xff})
			}
		}
		tell(2, "2", "000002") // the run is over: nothing begins
		if _, err := x.Outcome(); err == nil || !strings.Contains(err.Error(), want) || x.asked != 2 || idle == 0 {
			t.Errorf("%v, want %q; %d asked, idle %d", err, want, x.asked, idle)
		}
	}
}

// TestSeveralWaits: a command is over when all that it waits for has come, whatever comes
// of it twice.
func TestSeveralWaits(t *testing.T) {
	x, _, tell := alone(t, "send ask(client, #, #, bytes 6) to server\nwait told(#, \"yes\", _)\nwait told(#, \"no\", _)\n", func(o *Options) { o.Clients = 1 })
	x.Begin()
	tell(1, "no", "")
	tell(1, "no", "")
	if o, _ := x.Outcome(); o.All != 0 || o.Doubled != 1 {
		t.Errorf("%+v", o)
	}
	tell(1, "yes", "")
	if o, _ := x.Outcome(); o.All != 1 || x.asked != 2 {
		t.Errorf("%+v, %d asked", o, x.asked)
	}
	tell(2, "maybe", "")
	if _, err := x.Outcome(); err == nil || !strings.Contains(err.Error(), `is "maybe"`) {
		t.Error(err)
	}
}

// TestAskedAgain: commands that nobody answers are asked for again, the oldest first, at
// the next instance, where others begin from then on; those that are young are not.
func TestAskedAgain(t *testing.T) {
	x, w, tell := alone(t, oneWait, func(o *Options) { o.Retry = time.Second })
	x.Begin()
	w.pass(600 * time.Millisecond)
	tell(1, "1", "000001") // 3 begins
	w.pass(500 * time.Millisecond)
	o, _ := x.Outcome()
	if at := x.open[2].Value.(*command).at; o.Resent != 1 || at != 1 || x.at != 1 {
		t.Errorf("%d asked again, 2 at %d, new ones at %d", o.Resent, at, x.at)
	}
	tell(2, "2", "000002")
	if at := x.open[4].Value.(*command).at; at != 1 {
		t.Errorf("4 begins at %d", at)
	}
	w.pass(600 * time.Millisecond) // 3 is 1.1 s old
	if o, _ := x.Outcome(); o.Resent != 2 || x.open[3].Value.(*command).at != 1 || x.at != 1 {
		t.Errorf("%d asked again, 3 at %d", o.Resent, x.open[3].Value.(*command).at)
	}
	x.Close()
	for range 20 {
		w.pass(time.Second)
	}
	if o, _ := x.Outcome(); o.Resent != 2 {
		t.Errorf("%d asked again after the end", o.Resent)
	}
}

// TestAskedLess: the longer a command has no answer, the more seldom it is asked for
// again, down to once in RetryFactorMax times Retry.
func TestAskedLess(t *testing.T) {
	x, w, _ := alone(t, oneWait, func(o *Options) { o.Retry, o.Clients = time.Second, 1 })
	x.Begin()
	for range 1000 {
		w.pass(100 * time.Millisecond)
	}
	// After 1, 2, 4, 8, 16, 32 and 32 seconds, and up to a quarter more each time.
	if o, _ := x.Outcome(); o.Resent < 6 || o.Resent > 7 {
		t.Errorf("asked again %d times in 100 s, want 6 or 7", o.Resent)
	}
	x.Close()
}
