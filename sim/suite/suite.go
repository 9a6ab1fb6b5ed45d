// SPDX-License-Identifier: Apache-2.0

// Package suite runs a scenario under many seeds of package sim and says how
// to run the one again that failed.
//
// In: a Scenario and a Suite with the faults that it is to survive. Out: the
// test fails at the first seed that fails, with the cause, the fewest kinds of
// faults under which it still fails, the last lines of the log, and the
// command that replays it. It fails as well when a seed that is run twice does
// not do the same twice, and when something that must be exercised never was:
// each kind of fault that is on, and what Require names.
//
// The environment variable ASHLAR_SIM changes what is run: a list of
// seed=N (that one alone), first=N, seeds=N, off=KIND+KIND, lines=N, separated
// by commas.
package suite

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/sim"
)

// Variable is the name of the environment variable.
const Variable = "ASHLAR_SIM"

// Defaults of a Suite.
const (
	seedsDefault = 100
	twiceDefault = 10
	linesDefault = 40
)

// T is what of a *testing.T is needed.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Scenario makes the nodes, runs the world, and returns what is wrong; the
// world's own Failure need not be handed on. It depends on nothing but the
// world.
type Scenario func(w *sim.World) error

// Suite is how a scenario is run. Getenv, Package and Faults are needed.
type Suite struct {
	// Getenv is os.Getenv.
	Getenv func(string) string
	// Package is the package of the test as `go test` takes it, for the
	// command that replays: "./sim".
	Package string
	// Seeds is how many seeds are run.
	Seeds int
	// Faults are what the scenario is to survive; each seed has a part of
	// them (sim.Faults.Swarm). Whole: each seed has them all.
	Faults sim.Faults
	Whole  bool
	// Options are the world's; Seed, Faults and Log are set here.
	Options sim.Options
	// Twice has each so many-th seed run twice. Default: 10.
	Twice int
	// Short, for testing.Short(), runs a tenth of the seeds, and asks for
	// nothing to be exercised.
	Short bool
	// Require names what must have been counted in the end, besides the
	// kinds of Faults.
	Require []string
}

// order is what ASHLAR_SIM asks for.
type order struct {
	first uint64
	seeds int
	only  bool
	off   []sim.Kind
	lines int
}

func parse(text string, seeds int) (order, error) {
	o := order{first: 1, seeds: seeds, lines: linesDefault}
	if text == "" {
		return o, nil
	}
	for _, part := range strings.Split(text, ",") {
		key, val, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "seed":
			o.first, err = strconv.ParseUint(val, 10, 64)
			o.seeds, o.only = 1, true
		case "first":
			o.first, err = strconv.ParseUint(val, 10, 64)
		case "seeds":
			o.seeds, err = strconv.Atoi(val)
		case "lines":
			o.lines, err = strconv.Atoi(val)
		case "off":
			for _, name := range strings.Split(val, "+") {
				k, kerr := sim.KindOf(name)
				err = errors.Join(err, kerr)
				o.off = append(o.off, k)
			}
		default:
			err = errors.New("want seed, first, seeds, lines or off")
		}
		if err != nil {
			return o, fmt.Errorf("%s: %q: %w", Variable, part, err)
		}
	}
	return o, nil
}

// result is what became of a seed.
type result struct {
	err    error
	check  string // of a Failure; else empty
	hash   uint64
	events uint64
	cover  sim.Coverage
}

// Run runs the scenario.
func (s Suite) Run(t T, play Scenario) {
	t.Helper()
	if s.Seeds == 0 {
		s.Seeds = seedsDefault
	}
	if s.Twice == 0 {
		s.Twice = twiceDefault
	}
	seeds := s.Seeds
	if s.Short {
		seeds = (seeds + 9) / 10
	}
	o, err := parse(s.Getenv(Variable), seeds)
	if err != nil {
		t.Fatalf("%v", err)
	}
	total := sim.Coverage{}
	var events uint64
	for i := range o.seeds {
		seed := o.first + uint64(i)
		faults := s.faults(seed, o.off)
		r := s.once(seed, faults, play, nil)
		if r.err != nil {
			s.report(t, seed, o, faults, r, play)
			return
		}
		if i%s.Twice == 0 || o.only {
			if again := s.once(seed, faults, play, nil); again.hash != r.hash || again.events != r.events {
				t.Fatalf("seed %d does not do the same twice: %s\n%s", seed, s.difference(seed, faults, play), s.replay(t, seed, o.off))
				return
			}
		}
		events += r.events
		total.Add(r.cover)
	}
	t.Logf("%d seeds, %d events\n%s", o.seeds, events, total)
	if o.only || o.seeds < s.Seeds {
		return
	}
	need := append([]string(nil), s.Require...)
	for _, k := range s.Faults.Without(o.off...).On() {
		need = append(need, sim.FaultName(k))
	}
	if missing := total.Missing(need...); len(missing) > 0 {
		t.Fatalf("%d seeds never came to: %s", o.seeds, strings.Join(missing, ", "))
	}
}

// faults are those of a seed.
func (s Suite) faults(seed uint64, off []sim.Kind) sim.Faults {
	f := s.Faults
	if !s.Whole {
		f = f.Swarm(seed)
	}
	return f.Without(off...)
}

// once runs a seed.
func (s Suite) once(seed uint64, faults sim.Faults, play Scenario, log *tail) result {
	opt := s.Options
	opt.Seed, opt.Faults = seed, faults
	if log != nil {
		opt.Log = log
	}
	w, err := sim.New(opt)
	if err != nil {
		return result{err: err}
	}
	err = play(w)
	if werr := w.Err(); werr != nil {
		err = werr
	}
	r := result{err: err, hash: w.Hash(), events: w.Events(), cover: w.Coverage()}
	if f := (*sim.Failure)(nil); errors.As(err, &f) {
		r.check = f.Check
	}
	return r
}

// report fails the test with all that helps.
func (s Suite) report(t T, seed uint64, o order, faults sim.Faults, r result, play Scenario) {
	t.Helper()
	off, least := s.minimize(seed, o.off, faults, r.check, play)
	log := &tail{keep: o.lines}
	last := s.once(seed, least, play, log)
	note := ""
	if last.err == nil || last.check != r.check {
		note = "\nrun again, it does something else: " + fmt.Sprint(last.err)
	}
	t.Fatalf("%v\nfaults: %s\nit still fails with: %s%s\nthe end of its log:\n%s%s", r.err, faults, least, note, log.text(), s.replay(t, seed, off))
}

// minimize turns off one kind after the other that the failure does not need.
func (s Suite) minimize(seed uint64, off []sim.Kind, f sim.Faults, check string, play Scenario) ([]sim.Kind, sim.Faults) {
	off = append([]sim.Kind(nil), off...)
	for _, k := range f.On() {
		less := f.Without(k)
		if r := s.once(seed, less, play, nil); r.err != nil && r.check == check {
			f, off = less, append(off, k)
		}
	}
	return off, f
}

// replay is the command that runs a seed again.
func (s Suite) replay(t T, seed uint64, off []sim.Kind) string {
	text := fmt.Sprintf("seed=%d", seed)
	for i, k := range off {
		sep := "+"
		if i == 0 {
			sep = ",off="
		}
		text += sep + k.String()
	}
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	return fmt.Sprintf("replay: %s=%s go test %s -count=1 -run '%s'", Variable, text, s.Package, name)
}

// difference is where two runs of a seed part. Two that are alike say little:
// a map of two has but two orders.
func (s Suite) difference(seed uint64, f sim.Faults, play Scenario) string {
	const keep, tries = 1 << 20, 16
	a := &tail{keep: keep}
	s.once(seed, f, play, a)
	for range tries {
		b := &tail{keep: keep}
		s.once(seed, f, play, b)
		for i := range min(len(a.lines), len(b.lines)) {
			if a.lines[i] != b.lines[i] {
				return fmt.Sprintf("line %d of the log is\n%s\nand then\n%s", i+1, a.lines[i], b.lines[i])
			}
		}
		if len(a.lines) != len(b.lines) {
			return fmt.Sprintf("the log has %d lines, and then %d", len(a.lines), len(b.lines))
		}
	}
	return fmt.Sprintf("%d further runs were alike", tries)
}

// tail keeps the last lines that are written to it.
type tail struct {
	keep  int
	lines []string
}

func (l *tail) Write(b []byte) (int, error) {
	l.lines = append(l.lines, string(bytes.TrimRight(b, "\n")))
	if len(l.lines) > 2*l.keep {
		l.lines = append(l.lines[:0], l.lines[len(l.lines)-l.keep:]...)
	}
	return len(b), nil
}

func (l *tail) text() string {
	lines := l.lines[max(len(l.lines)-l.keep, 0):]
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
