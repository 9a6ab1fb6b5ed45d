// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// fake is a test that notes how it fails.
type fake struct{ failed, logged string }

func (f *fake) Helper()                      {}
func (f *fake) Name() string                 { return "TestX/one two" }
func (f *fake) Logf(s string, args ...any)   { f.logged += fmt.Sprintf(s, args...) }
func (f *fake) Fatalf(s string, args ...any) { f.failed += fmt.Sprintf(s, args...) }

func none(string) string { return "" }

func faults() sim.Faults { return sim.NodeFaults().With(sim.Crash, 3).Without(sim.Drift) }

// crashing fails when a node has been ended by a crash, but not by a pause.
func crashing(w *sim.World) error {
	w.Node("n", func(l *sim.Life) error {
		if l.Number() == 3 {
			return errors.New("the third life")
		}
		return nil
	})
	return w.Run(5 * time.Second)
}

// TestAFailureIsReplayed: the message has the cause, the kinds that matter, the
// end of the log, and a command under which it fails again, alike.
func TestAFailureIsReplayed(t *testing.T) {
	f := &fake{}
	suite.Suite{Getenv: none, Package: "./x", Seeds: 100, Faults: faults()}.Run(f, crashing)
	for _, want := range []string{"boot: seed ", "the third life", "it still fails with: crash=", "start", "go test ./x -count=1 -run '^TestX$/^one two$'"} {
		if !strings.Contains(f.failed, want) {
			t.Errorf("the message has no %q:\n%s", want, f.failed)
		}
	}
	_, order, _ := strings.Cut(f.failed, suite.Variable+"=")
	order, _, _ = strings.Cut(order, " ")
	if !strings.Contains(order, "seed=") || !strings.Contains(order, "pause") || strings.Contains(order, "+crash") {
		t.Errorf("the order is %q", order)
	}
	again := &fake{}
	suite.Suite{Getenv: func(name string) string {
		if name != suite.Variable {
			t.Errorf("asked for %s", name)
		}
		return order
	}, Package: "./x", Seeds: 100, Faults: faults()}.Run(again, crashing)
	first, _, _ := strings.Cut(f.failed, "\n")
	replayed, _, _ := strings.Cut(again.failed, "\n")
	if seed, other := strings.Fields(first)[2], strings.Fields(replayed)[2]; seed != other || !strings.Contains(replayed, "the third life") {
		t.Errorf("first: %s\nagain: %s", first, replayed)
	}
	_, log, _ := strings.Cut(f.failed, "the end of its log:")
	_, same, _ := strings.Cut(again.failed, "the end of its log:")
	if a, _, _ := strings.Cut(log, "replay:"); a == "" || !strings.HasPrefix(same, a) {
		t.Errorf("the logs are not the same:\n%s\nand\n%s", log, same)
	}
}

// TestWhatWasNeverExercisedFails: kinds of faults and marks alike.
func TestWhatWasNeverExercisedFails(t *testing.T) {
	quiet := func(w *sim.World) error {
		w.Mark("here")
		return w.Run(time.Second)
	}
	for _, c := range []struct {
		s    suite.Suite
		want string
	}{
		{suite.Suite{Faults: sim.Faults{}.With(sim.Crash, 5)}, "never came to: fault crash"},
		{suite.Suite{Require: []string{"here", "there"}}, "never came to: there"},
		{suite.Suite{Require: []string{"here"}}, ""},
		{suite.Suite{Faults: sim.Faults{}.With(sim.Crash, 5), Require: []string{"there"},
			Getenv: func(string) string { return "seed=3" }}, ""},
		{suite.Suite{Short: true, Require: []string{"there"}}, ""},
	} {
		f := &fake{}
		if c.s.Getenv == nil {
			c.s.Getenv = none
		}
		c.s.Seeds, c.s.Package = 5, "./x"
		c.s.Run(f, quiet)
		if !strings.Contains(f.failed, c.want) || c.want == "" && f.failed != "" {
			t.Errorf("%q, want %q", f.failed, c.want)
		}
	}
}

// TestChanceFromElsewhereIsFoundOut: a scenario that is not the same twice.
func TestChanceFromElsewhereIsFoundOut(t *testing.T) {
	runs := 0
	f := &fake{}
	suite.Suite{Getenv: none, Package: "./x", Seeds: 5}.Run(f, func(w *sim.World) error {
		runs++
		d := time.Duration(runs) * time.Millisecond
		w.Node("n", func(l *sim.Life) error {
			l.Env.Clock.After(d, env.WakeFunc(func() {}))
			return nil
		})
		return w.Run(time.Second)
	})
	if !strings.Contains(f.failed, "seed 1 does not do the same twice: line 2 of the log") {
		t.Errorf("%q", f.failed)
	}
}

// TestOrders: what the variable may say.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		text, want string // want: of the message
		seeds      string // that were run
	}{
		{"", "", "1 2 3"},
		{"seed=7", "", "7"},
		{"first=5,seeds=2", "", "5 6"},
		{"seed=1,off=crash+pause,lines=3", "", "1"},
		{"sead=1", "want seed", ""},
		{"seed=x", "invalid syntax", ""},
		{"off=earthquake", "no kind of fault", ""},
	} {
		var ran []string
		seen := map[uint64]bool{}
		f := &fake{}
		suite.Suite{Getenv: func(string) string { return c.text }, Package: "./x", Seeds: 3}.Run(f, func(w *sim.World) error {
			if !seen[w.Seed()] {
				ran = append(ran, fmt.Sprint(w.Seed()))
			}
			seen[w.Seed()] = true
			return nil
		})
		if c.want != "" {
			if !strings.Contains(f.failed, c.want) {
				t.Errorf("%q: %q, want %q", c.text, f.failed, c.want)
			}
			continue
		}
		if got := strings.Join(ran, " "); got != c.seeds || f.failed != "" {
			t.Errorf("%q: ran %s, want %s; %s", c.text, got, c.seeds, f.failed)
		}
	}
}
