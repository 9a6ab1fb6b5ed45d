// SPDX-License-Identifier: Apache-2.0

package model

import (
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// packing is the model on packed states: see package pack. A state that cannot
// be packed is encoded as a byte 0 and the encoding of Codec. The first byte of
// a packed state is never 0, so equal states have equal bytes.
type packing struct {
	lowered *pack.Lowered
	code    *pack.Code
	layout  *pack.Layout
	images  *pack.Images // nil where states have other names
	// preds has the number of the predicate of each formula, or -1.
	preds []int
	vars  []packedVar
	// before has the bits of the states that were expanded before a search was
	// resumed.
	before seenBits
	// odd: the search has met a state or an evaluation that packed code alone
	// cannot handle.
	odd atomic.Bool
}

// meetOdd records that.
func (p *packing) meetOdd() {
	if !p.odd.Load() {
		p.odd.Store(true)
	}
}

// packedVar is the location of a variable in a packed state: the index of the
// first word, and the mask in each word.
type packedVar struct {
	low   int
	masks []uint64
}

// sampleStopsMax is the maximum percentage of the sample's states in which the
// code may stop.
const sampleStopsMax = 10

// Pack makes the model use packed states from now on, if that promises to be
// faster. packed reports whether it does; if not, why has the reasons. Pack
// changes the encoding of states, so the caller must call it before anything
// else uses the model. It visits only the first states of the model and polls
// stop occasionally; if stop returns true, nothing changes.
func (m *Model) Pack(stop func() bool) (packed bool, why string) {
	packed, m.unpacked = m.pack(packOptions{states: sampleStatesMax, stop: stop})
	return packed, m.unpacked
}

// packOptions control how a model is packed; tests force packing.
type packOptions struct {
	states int // of the sample
	always bool
	stop   func() bool
}

func (m *Model) pack(o packOptions) (packed bool, why string) {
	switch {
	case m.compiled == nil || m.next == nil || m.init == nil || m.packed != nil:
		return false, "there is nothing to pack"
	case m.profile != nil:
		return false, "expressions are counted"
	case m.direct != nil:
		return false, "an algorithm is executed itself"
	}
	for _, f := range m.formulas {
		if m.program.Unsteady(f.expr) {
			return false, "the model prints, reads or is random"
		}
	}
	states, lowered, why := m.lower(o)
	if lowered == nil {
		return false, why
	}
	p := &packing{lowered: lowered, code: pack.Compile(lowered), preds: make([]int, len(m.formulas))}
	p.layout = p.code.Layout()
	n := 0
	for i, f := range m.formulas {
		p.preds[i] = -1
		if m.lowers(f) {
			if !p.code.Hopeless(n) {
				p.preds[i] = n
			}
			n++
		}
	}
	if !o.always && !p.suits(m, states) {
		why := lowered.Reasons()
		if why == "" { // all was lowered
			why = "most states have values outside the layout"
		}
		return false, "much of the model is not packed: " + why
	}
	for i := range m.program.Spec.Variables {
		v := packedVar{}
		v.low, v.masks = p.layout.Masks(i)
		p.vars = append(p.vars, v)
	}
	p.before = newBits(p.layout.Words())
	m.packImages(p)
	m.packed = p
	return true, ""
}

// suits reports whether the code runs to its end in most of the states.
func (p *packing) suits(m *Model, states []check.State) bool {
	machine := pack.NewMachine(p.code)
	words := make([]uint64, p.layout.Words())
	machine.Start(func(int) bool { return true })
	stops, tried := 0, 0
	for i := 0; i < len(states); i += 1 + len(states)/suitsMax {
		s := states[i]
		tried++
		if !p.layout.Encode(words, m.Decode(s)) || !machine.Run(words) {
			stops++
		}
	}
	return stops*100 <= sampleStopsMax*tried
}

// suitsMax is about the number of states that are tried.
const suitsMax = 2_000

// lowers reports whether a formula is evaluated in states or steps, so that it
// needs packed code.
func (m *Model) lowers(f *formula) bool {
	return f != m.init && f != m.next && f != m.view && f != m.alias && f != m.post && !isAssume(m, f)
}

func isAssume(m *Model, f *formula) bool {
	for _, a := range m.assumes {
		if a == f {
			return true
		}
	}
	return false
}

func (m *Model) toLower() pack.Model {
	out := pack.Model{Program: packProgram{m.program}, Next: m.next.expr, Actions: m.actions.Index}
	for _, f := range m.invariants {
		out.Invariants = append(out.Invariants, f.expr)
	}
	for _, f := range m.formulas {
		if m.lowers(f) {
			out.Preds = append(out.Preds, f.expr)
		}
	}
	if m.packsView() {
		out.View = m.view.expr
	}
	return out
}

// packProgram implements pack.Program.
type packProgram struct{ p *program.Program }

var _ pack.Program = packProgram{}

func (p packProgram) Definition(d *core.Def) (*core.Def, value.Value) {
	to, r := p.p.Resolve(d)
	return to, r.Val
}

func (p packProgram) Constant(c *core.Constant) (value.Value, *core.Def) {
	r := p.p.Constants[c]
	return r.Val, r.Def
}

func (p packProgram) Native(d *core.Def) (func([]value.Value) value.Value, bool, bool) {
	if !p.p.IsNative(d) {
		return nil, false, false
	}
	op := program.Native(d)
	if op == nil {
		return nil, true, false
	}
	return func(args []value.Value) value.Value { return computeNative(op, args) }, true, !op.Effects
}

// computeNative applies an operator without effects to values.
func computeNative(op *stdlib.Op, args []value.Value) value.Value {
	switch {
	case op.F0 != nil:
		return op.F0()
	case op.F1 != nil:
		return op.F1(args[0])
	case op.F2 != nil:
		return op.F2(args[0], args[1])
	case op.F3 != nil:
		return op.F3(args[0], args[1], args[2])
	}
	list := make([]stdlib.Arg, len(args))
	for i, a := range args {
		list[i].Val = a
	}
	return op.FN(nil, list)
}

func (p packProgram) Once(d *core.Def) (v value.Value, once bool) {
	c := p.p.ConstDefs[d]
	if c == nil {
		return value.Value{}, false
	}
	v, _ = c.Peek()
	return v, true
}

func (p packProgram) Literal(e core.Expr) (value.Value, bool) {
	l, ok := e.(*program.Literal)
	if !ok {
		return value.Value{}, false
	}
	return l.Val, true
}

// decodePacked returns the values of a state that a packed model made.
func (m *Model) decodePacked(s check.State) []value.Value {
	words := make([]uint64, m.packed.layout.Words())
	if !m.packed.layout.LoadBytes(words, s) {
		v := vector.New(len(m.program.Spec.Variables))
		m.codec.Decode(s[1:], v, make([]int32, len(v.Vals)))
		return v.Vals
	}
	vals := make([]value.Value, len(m.program.Spec.Variables))
	for i := range vals {
		vals[i] = m.packed.layout.Value(words, i)
	}
	return vals
}

// encodePacked returns the state of a packed model in which the variables have
// the given values.
func (m *Model) encodePacked(vals []value.Value) check.State {
	words := make([]uint64, m.packed.layout.Words())
	if m.packed.layout.Encode(words, vals) {
		return m.packed.layout.AppendBytes(nil, words)
	}
	return append(check.State{0}, m.encodeVector(vals)...)
}
