// SPDX-License-Identifier: Apache-2.0

package tlcget

import (
	"strconv"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Run is the part of a run that a specification can read and change: the
// registers of TLCGet and TLCSet, the random numbers, the output. Each worker
// has its own.
type Run struct {
	shared    *Shared
	registers map[string]value.Value
	random    *random
	// Level is the number of states on the path to the state that is evaluated.
	Level int
	// Setup: an assumption or the initial predicate is being evaluated. All workers
	// share the registers that these set.
	Setup bool
	// Action is the index, plus one, of the action that produced the candidate;
	// 0 if it is not known.
	Action int
	// Muted suppresses output, because an evaluation is being repeated to
	// explain it.
	Muted bool
	// over: no worker is evaluating, so all registers may be read.
	over  bool
	World stdlib.Context

	// Stop reports that the search is over.
	Stop func() bool
}

// ErrStopped is the error with which an evaluation unwinds when the search is
// over.
var ErrStopped = &value.Error{Message: "the evaluation was stopped"}

// PollEvery is the number of loop iterations between two checks whether the
// search is over. It must be a power of two.
const PollEvery = 256

// AskStop ends the evaluation if the search is over.
func (r *Run) AskStop() {
	if r.Stop != nil && r.Stop() {
		panic(ErrStopped)
	}
}

// New returns the run of a worker. The worker's number makes its random numbers
// differ from those of the other workers.
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

// Mute returns a run for repeating an evaluation without visible effects.
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

// unwritten gives a repeated evaluation access to files; it drops writes,
// because the first evaluation has made them.
type unwritten struct{ stdlib.Files }

func (unwritten) WriteFile(string, []byte, bool) error { return nil }

func (r *Run) print(line string) {
	if !r.Muted && r.shared.settings.Output != nil {
		r.shared.settings.Output(line)
	}
}

// registerName distinguishes numbered registers from named ones.
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

// Settings connect the registers and effects of a run to its surroundings. The zero
// Settings connect them to nothing.
type Settings struct {
	// Output receives what Print and PrintT print, one call per line, without
	// a line end. It may be called from several workers at once. Nil: discarded.
	Output func(line string)
	// Seed starts the sequences of random numbers.
	Seed uint64
	// Now gives JavaTime. Nil: JavaTime is an evaluation error.
	Now func() int32
	// Files is what IOUtils, Json and CSV read and write; Environment is the
	// value of IOEnv. If they are nil, using them is an evaluation error.
	Files       stdlib.Files
	Environment func() map[string]string
	// Progress gives what TLCGet knows of the run. Nil: TLCGet of such a name
	// is an evaluation error.
	Progress func() Progress
	// Configuration is the value of TLCGet("config").
	Configuration Configuration
	// Exit is called, by any worker, when the specification ends the run with
	// TLCSet("exit", TRUE). Nil: the run continues.
	Exit func()
	// Actions lists the actions of the next-state relation, for TLCGet("action"),
	// and Spec is the value of TLCGet("spec"). Both are called during the run only.
	// Nil: they are evaluation errors.
	Actions func() []check.Action
	Spec    func() value.Value
}
