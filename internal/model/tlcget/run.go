// SPDX-License-Identifier: Apache-2.0

package tlcget

import (
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Run is what a specification can see and change of the run that evaluates it:
// the registers of TLCGet and TLCSet, the random numbers, the output. Each
// worker has its own.
type Run struct {
	shared    *Shared
	registers map[string]value.Value
	random    *random
	// Level is how many states the path to what is evaluated has.
	Level int
	// Setup reports that an assumption or the initial predicate is being evaluated:
	// the registers that these set are every worker's.
	Setup bool
	// Action is the index of what made the candidate plus one, 0 where that is
	// not known.
	Action int
	// Muted drops output: an evaluation is being repeated to explain it.
	Muted bool
	// over reports that no worker is evaluating, so that all registers may be read.
	over  bool
	World stdlib.Context

	// Stop reports that the search is over.
	Stop func() bool
}

// ErrStopped is what an evaluation unwinds with when the search is over.
var ErrStopped = &value.Error{Message: "the evaluation was stopped"}

// PollEvery is how many turns of loops there are between two looks at
// whether the search is over; it is a power of two.
const PollEvery = 256

// AskStop ends the evaluation where the search is over.
func (r *Run) AskStop() {
	if r.Stop != nil && r.Stop() {
		panic(ErrStopped)
	}
}

// New returns the run of a worker; its number makes its random numbers differ from
// those of others.
func New(shared *Shared, worker uint64) *Run {
	r := &Run{shared: shared, registers: make(map[string]value.Value), random: newRandom(shared.settings.Seed, worker)}
	r.World = stdlib.Context{
		Print:       r.print,
		Register:    r.register,
		SetRegister: r.setRegister,
		Random:      func(n int64) int64 { return int64(r.random.next() % uint64(n)) },
		Now:         shared.settings.Now,
		Files:       shared.settings.Files,
		Environment: shared.settings.Environment,
		Uncaught:    func(err error) bool { return err == error(ErrStopped) },
	}
	return r
}

// Mute returns a run for repeating an evaluation: its effects are not seen.
func (r *Run) Mute() *Run {
	m := New(r.shared, 0)
	m.Level, m.Muted, m.Stop = r.Level, true, r.Stop
	for k, v := range r.registers {
		m.registers[k] = v
	}
	if m.World.Files != nil {
		m.World.Files = unwritten{m.World.Files}
	}
	m.World.Trace = r.World.Trace
	return m
}

// unwritten are files for an evaluation that is repeated: what it writes is
// written already.
type unwritten struct{ stdlib.Files }

func (unwritten) WriteFile(string, []byte, bool) error { return nil }

func (r *Run) print(line string) {
	if !r.Muted && r.shared.settings.Output != nil {
		r.shared.settings.Output(line)
	}
}

// registerName keeps numbered registers and named ones apart.
func registerName(v value.Value) string {
	if v.Kind() == value.KindInt {
		return strconv.Itoa(int(v.AsInt()))
	}
	return "." + v.AsString()
}

// register reads a register, or a named property of the run.
func (r *Run) register(key value.Value) (value.Value, bool) {
	name := registerName(key)
	if v, ok := r.registers[name]; ok {
		return v, true
	}
	if v, ok := r.shared.get(name); ok {
		return v, true
	}
	if name[0] != '.' {
		return value.Value{}, false
	}
	return r.property(name[1:])
}

func (r *Run) setRegister(key, val value.Value) {
	name, val := registerName(key), val.Normal()
	r.registers[name] = val
	if r.Setup && !r.Muted {
		r.shared.set(name, val)
	}
	if name == ".exit" && !r.Muted && r.shared.settings.Exit != nil && val.Kind() == value.KindBool && val.IsTrue() {
		r.shared.settings.Exit()
	}
}

// Settings are what the registers and the effects of a run are connected to. The zero
// settings connect them to nothing.
type Settings struct {
	// Output receives what Print and PrintT print, one call per line, without
	// a line end. It may be called from several workers at once. Nil: discarded.
	Output func(line string)
	// Seed starts the sequences of random numbers.
	Seed uint64
	// Now gives JavaTime. Nil: JavaTime is an evaluation error.
	Now func() int32
	// Files is what IOUtils, Json and CSV read and write, Environment what
	// IOEnv is. Nil: they are evaluation errors.
	Files       stdlib.Files
	Environment func() map[string]string
	// Progress gives what TLCGet knows of the run. Nil: TLCGet of such a name
	// is an evaluation error.
	Progress func() Progress
	// Configuration is the value of TLCGet("config").
	Configuration Configuration
	// Exit is called, by any worker, when the specification asks for the end of
	// the run, by TLCSet("exit", TRUE). Nil: the run continues.
	Exit func()
	// Actions lists the actions of the next-state relation, for TLCGet("action"),
	// and Spec is the value of TLCGet("spec"). Both are called during the run only.
	// Nil: they are evaluation errors.
	Actions func() []check.Action
	Spec    func() value.Value
}
