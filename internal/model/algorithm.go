// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"

	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Algorithm is the algorithm of a model that NewDirect made, for a caller that needs
// to see inside steps: it shows what a step reads from and writes to resources,
// which the successor state no longer shows. Only one goroutine may use it.
type Algorithm struct {
	m         *Model
	r         *tree.Evaluator
	processes []*Process
	blocks    map[string]*block // by label
	judge     *worker           // of invariants
}

// Process is one process: an element of a process set, or a single process.
type Process struct {
	Decl *pcal.Process
	Self value.Value // Undefined where the algorithm has a single process without identity
}

// block is a labelled block with its process or procedure.
type block struct {
	*pcal.Block
	name string // of the label before names were made unique
	text *text
}

// text translates the expressions of a process or procedure into expressions
// over the variables of the state.
type text struct {
	view    *pcal.View
	exprs   map[core.Expr]core.Expr
	updates map[pcal.Stmt][]pcal.Update
}

// Algorithm returns the model's algorithm. It returns an error if the model has
// none because NewDirect could not use it.
func (m *Model) Algorithm() (*Algorithm, error) {
	d := m.direct
	if d == nil {
		return nil, errors.New("the specification's behaviour is not that of its algorithm: its Next, pc or processes are others")
	}
	a := &Algorithm{m: m, blocks: map[string]*block{}, r: tree.New(m.program, tlcget.New(m.common, m.workers.Add(1)))}
	for _, q := range d.Alg.Procedures {
		var written []*pcal.Block
		if q.From != nil {
			written = q.From.Blocks
		}
		a.place(q.Blocks, written, d.Procedure(q))
	}
	for _, p := range d.Alg.Processes {
		var written []*pcal.Block
		if p.From != nil {
			written = p.From.Archetype.Blocks
		}
		a.place(p.Blocks, written, d.Process(p))
		if err := a.spawn(p); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// place records blocks by their labels. written has the blocks as the user
// wrote them, or is nil if the blocks were not rewritten.
func (a *Algorithm) place(blocks, written []*pcal.Block, v *pcal.View) {
	t := &text{view: v, exprs: map[core.Expr]core.Expr{}, updates: map[pcal.Stmt][]pcal.Update{}}
	for i, b := range blocks {
		name := b.Label
		if written != nil {
			name = written[i].Label
		}
		a.blocks[b.Label] = &block{Block: b, name: name, text: t}
	}
}

// spawn records the processes of a declaration.
func (a *Algorithm) spawn(p *pcal.Process) error {
	if p.Id == nil {
		a.processes = append(a.processes, &Process{Decl: p})
		return nil
	}
	id, err := a.m.Evaluate(p.Id)
	if err != nil {
		return err
	}
	ids := []value.Value{id}
	if p.Set {
		ids = id.Elems()
	}
	for _, self := range ids {
		a.processes = append(a.processes, &Process{Decl: p, Self: self})
	}
	return nil
}

// Varies reports whether the value of a definition depends on the state.
func (m *Model) Varies(d *core.Def) bool { return m.program.DefFacts(d).Level > core.ConstantLevel }

// BrokenInvariant returns the name and the definition of the first invariant of
// the configuration that is false in a state, or nil.
func (a *Algorithm) BrokenInvariant(vals []value.Value) (name string, def *core.Def, err error) {
	if len(a.m.invariants) == 0 {
		return "", nil, nil
	}
	if a.judge == nil {
		a.judge = a.m.newWorker()
	}
	copy(a.judge.nxt.Vals, vals)
	clear(a.judge.seen.IDs)
	i, err := a.judge.BrokenInvariantAfter(-1)
	if err != nil || i < 0 {
		return "", nil, err
	}
	f := a.m.invariants[i]
	if call, ok := f.expr.(*core.Call); ok {
		def = call.Def
	}
	return f.name, def, nil
}

// Processes are the processes, in the order of their declaration.
func (a *Algorithm) Processes() []*Process { return a.processes }

// x returns e as an expression over the state's variables, and caches the
// result.
func (t *text) x(e core.Expr) core.Expr {
	out, ok := t.exprs[e]
	if !ok {
		out = t.view.X(e, nil)
		t.exprs[e] = out
	}
	return out
}

// Label returns the label at which a process is in a state: as the user wrote
// it, and as the state has it.
func (a *Algorithm) Label(p *Process, vals []value.Value) (written, unique string) {
	alg := a.m.direct.Alg
	if !alg.NeedsPC() {
		unique = p.Decl.Blocks[0].Label
	} else {
		v := vals[alg.PC.Index]
		if !p.Self.IsUndefined() {
			v = v.Apply(p.Self)
		}
		unique = v.AsString()
	}
	if b := a.blocks[unique]; b != nil {
		return b.name, unique
	}
	return unique, unique
}

// Place returns the source position of the label at which a process is, as
// file:line:column, or "" if the process has ended.
func (a *Algorithm) Place(p *Process, vals []value.Value) string {
	_, label := a.Label(p, vals)
	if b := a.blocks[label]; b != nil {
		return b.Span.String()
	}
	return ""
}

// Local returns the value of a process's local variable by the name that the
// user gave it; false if there is no such variable.
func (a *Algorithm) Local(p *Process, name string, vals []value.Value) (value.Value, bool) {
	for i, written := range writtenLocals(p.Decl) {
		if written != name {
			continue
		}
		v := vals[p.Decl.Locals[i].Var.Index]
		if p.Decl.Set {
			v = v.Apply(p.Self)
		}
		return v, true
	}
	return value.Value{}, false
}

// Survives reports whether a process restarts after a crash.
func (a *Algorithm) Survives(p *Process) bool {
	return p.Decl.Crash != nil && p.Decl.From != nil
}

// writtenLocals returns the names of a process's local variables before names
// were made unique. For an instance of an archetype these are its value
// parameters, then its variables.
func writtenLocals(p *pcal.Process) []string {
	var out []string
	if p.From == nil {
		for _, l := range p.Locals {
			out = append(out, l.Var.Name)
		}
		return out
	}
	for i, arg := range p.From.Args {
		if arg.Ref == nil {
			out = append(out, p.From.Archetype.Params[i].Var.Name)
		}
	}
	for _, l := range p.From.Archetype.Locals {
		out = append(out, l.Var.Name)
	}
	return out
}
