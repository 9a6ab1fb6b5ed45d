package model

import (
	"strconv"

	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/native"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// run is what a specification can see and change of the run that evaluates it:
// the registers of TLCGet and TLCSet, the random numbers, the output. Each
// worker has its own.
type run struct {
	p         *program
	registers map[string]value.Value
	random    *random
	level     int
	// setup reports that an assumption or the initial predicate is being evaluated:
	// the registers that these set are every worker's.
	setup bool
	// action is the index of what made the candidate plus one, 0 where that is
	// not known.
	action int
	// muted drops output: an evaluation is being repeated to explain it.
	muted bool
	// over reports that no worker is evaluating, so that all registers may be read.
	over  bool
	world native.Context

	// stop reports that the search is over.
	stop func() bool
}

// errStopped is what an evaluation unwinds with when the search is over.
var errStopped = &value.Error{Message: "the evaluation was stopped"}

// stopPollEvery is how many turns of loops there are between two looks at
// whether the search is over; it is a power of two.
const stopPollEvery = 256

func (r *run) askStop() {
	if r.stop != nil && r.stop() {
		panic(errStopped)
	}
}

func newRun(p *program, worker uint64) *run {
	r := &run{p: p, registers: make(map[string]value.Value), random: newRandom(p.options.Seed, worker)}
	r.world = native.Context{
		Print:       r.print,
		Register:    r.register,
		SetRegister: r.setRegister,
		Random:      func(n int64) int64 { return int64(r.random.next() % uint64(n)) },
		Now:         p.options.Now,
		Files:       p.options.Files,
		Environment: p.options.Environment,
		Uncaught:    func(err error) bool { return err == error(errStopped) },
	}
	return r
}

// mute returns a run for repeating an evaluation: its effects are not seen.
func (r *run) mute() *run {
	m := newRun(r.p, 0)
	m.level, m.muted, m.stop = r.level, true, r.stop
	for k, v := range r.registers {
		m.registers[k] = v
	}
	if m.world.Files != nil {
		m.world.Files = unwritten{m.world.Files}
	}
	m.world.Trace = r.world.Trace
	return m
}

// unwritten are files for an evaluation that is repeated: what it writes is
// written already.
type unwritten struct{ native.Files }

func (unwritten) WriteFile(string, []byte, bool) error { return nil }

func (r *run) print(line string) {
	if !r.muted && r.p.options.Output != nil {
		r.p.options.Output(line)
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
func (r *run) register(key value.Value) (value.Value, bool) {
	name := registerName(key)
	if v, ok := r.registers[name]; ok {
		return v, true
	}
	if v, ok := r.p.common.get(name); ok {
		return v, true
	}
	if name[0] != '.' {
		return value.Value{}, false
	}
	return r.told(name[1:])
}

func (r *run) setRegister(key, val value.Value) {
	name, val := registerName(key), val.Normal()
	r.registers[name] = val
	if r.setup && !r.muted {
		r.p.common.set(name, val)
	}
	if name == ".exit" && !r.muted && r.p.options.Exit != nil && val.Kind() == value.KindBool && val.IsTrue() {
		r.p.options.Exit()
	}
}

// nativeOp is the Go form of a definition of a standard module, or nil.
func nativeOp(d *core.Def) *native.Op {
	if !d.Native {
		return nil
	}
	return native.Lookup(d.Module, d.Name)
}

// reach calls visit for the definitions that e leads to, each once and none that seen
// has; what a definition is made of is looked into as long as visit says so.
func (p *program) reach(e core.Expr, seen map[*core.Def]bool, visit func(*core.Def) (further bool)) {
	var walk func(core.Expr)
	def := func(d *core.Def) {
		d, _ = p.resolve(d)
		if d == nil || seen[d] {
			return
		}
		seen[d] = true
		if visit(d) && d.Body != nil && !p.isNative(d) {
			walk(d.Body)
		}
	}
	walk = func(e core.Expr) {
		switch e := e.(type) {
		case *core.Call:
			def(e.Def)
		case *core.OpRef:
			def(e.Def)
		case *core.ConstRef:
			if r := p.constants[e.Const]; r.def != nil {
				def(r.def)
			}
		}
		for x := range core.Children(e, core.EvaluationOrder) {
			walk(x)
		}
	}
	walk(e)
}

// hasEffects reports whether d is an operator whose result may differ from one
// evaluation to the next, or that acts.
func hasEffects(d *core.Def) bool {
	op := nativeOp(d)
	return op != nil && op.Effects
}
