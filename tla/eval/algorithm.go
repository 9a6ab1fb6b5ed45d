package eval

import (
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Direct execution of an algorithm.
//
// A step is executed on a copy of the state: an assignment gives the copy a new
// value, and every expression reads the copy. Branching is a matter of
// continuations: a statement calls what comes after it once for every way to
// be executed. What a resource gives or takes is visible as such, which it no
// longer is in the translation; that is what traces are held against.
//
// The algorithm is one that tla/pcal has expanded and given unique names; its
// variables are those of the model's specification by name.

// Algorithm is an algorithm that executes in the states of a model. It is for
// one goroutine.
type Algorithm struct {
	m         *Model
	r         *reference
	plain     *pcal.Algorithm
	processes []*Process
	blocks    map[string]*block // by label
	pc, stack *core.Variable    // nil where the state has none
	procSet   []value.Value
}

// Process is one process: an element of a process set, or a single process.
type Process struct {
	Decl *pcal.Process
	Self value.Value // Undefined where the algorithm has a single process without identity
}

// block is a label with the process or procedure that it belongs to.
type block struct {
	*pcal.Block
	name string // of the label before names were made unique
	in   *frameOf
}

// frameOf is how the text of a process or procedure sees the variables.
type frameOf struct {
	process   *pcal.Process   // nil for a procedure
	procedure *pcal.Procedure // nil for a process
	self      *core.Local
	own       map[string]bool // variables that are functions of self
	exprs     map[core.Expr]core.Expr
	defs      map[*core.Def]*core.Def
}

// Algorithm makes the algorithm executable. Its values of names come from the
// model's configuration.
func (m *Model) Algorithm(plain *pcal.Algorithm) (*Algorithm, error) {
	invariant.Check(!plain.Modular, "algorithm %s is not expanded", plain.Name)
	a := &Algorithm{m: m, plain: plain, blocks: map[string]*block{},
		r: newReference(m.program, newRun(m.program, m.workers.Add(1)))}
	uni := plain.Uniprocess()
	if plain.NeedsPC() {
		a.pc = a.variable(plain.PC)
	}
	if plain.NeedsStack() {
		a.stack = a.variable(plain.Stack)
	}
	for _, q := range plain.Procedures {
		f := newFrame(q.Self)
		f.procedure = q
		for _, v := range procedureVars(q) {
			f.own[v.Var.Name] = !uni
		}
		var names []*pcal.Block
		if q.From != nil {
			names = q.From.Blocks
		}
		a.place(q.Blocks, names, f)
	}
	for _, p := range plain.Processes {
		f := newFrame(p.Self)
		f.process = p
		for _, v := range p.Locals {
			f.own[v.Var.Name] = p.Set
		}
		var names []*pcal.Block
		if p.From != nil {
			names = p.From.Archetype.Blocks
		}
		a.place(p.Blocks, names, f)
		if err := a.spawn(p, f); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func newFrame(self *core.Local) *frameOf {
	return &frameOf{self: self, own: map[string]bool{}, exprs: map[core.Expr]core.Expr{}, defs: map[*core.Def]*core.Def{}}
}

func procedureVars(q *pcal.Procedure) []*pcal.Variable {
	var out []*pcal.Variable
	for _, p := range q.Params {
		out = append(out, &p.Variable)
	}
	return append(out, q.Locals...)
}

// place enters blocks by their labels; before are the blocks they were made
// from, nil where they are as written.
func (a *Algorithm) place(blocks, before []*pcal.Block, f *frameOf) {
	for i, b := range blocks {
		name := b.Label
		if before != nil {
			name = before[i].Label
		}
		a.blocks[b.Label] = &block{Block: b, name: name, in: f}
	}
}

// spawn enters the processes of a declaration.
func (a *Algorithm) spawn(p *pcal.Process, f *frameOf) error {
	if p.Id == nil {
		a.processes = append(a.processes, &Process{Decl: p})
		return nil
	}
	id, err := a.m.Evaluate(a.bound(p.Id, f))
	if err != nil {
		return err
	}
	ids := []value.Value{id}
	if p.Set {
		ids = id.Elems()
	}
	for _, self := range ids {
		a.processes = append(a.processes, &Process{Decl: p, Self: self})
		a.procSet = append(a.procSet, self)
	}
	return nil
}

// Processes are the processes, in the order of their declaration.
func (a *Algorithm) Processes() []*Process { return a.processes }

// variable is the specification's variable of that name.
func (a *Algorithm) variable(v *core.Variable) *core.Variable {
	for _, w := range a.m.program.spec.Variables {
		if w.Name == v.Name {
			return w
		}
	}
	invariant.Check(false, "the translation has no variable %s", v.Name)
	return nil
}

// bound is e over the names of the specification: variables and constants by
// name, locals of a process set applied to self.
func (a *Algorithm) bound(e core.Expr, f *frameOf) core.Expr {
	if e == nil {
		return nil
	}
	if out, ok := f.exprs[e]; ok {
		return out
	}
	out := core.Rewrite(e, func(x core.Expr) core.Expr { return a.rebind(x, f) })
	f.exprs[e] = out
	return out
}

func (a *Algorithm) rebind(x core.Expr, f *frameOf) core.Expr {
	args := func(xs []core.Expr) []core.Expr {
		out := make([]core.Expr, len(xs))
		for i, y := range xs {
			out[i] = a.bound(y, f)
		}
		return out
	}
	switch x := x.(type) {
	case *core.VarRef:
		v := &core.VarRef{At: x.At, Var: a.variable(x.Var)}
		if f.own[x.Var.Name] {
			return &core.Apply{At: x.At, Fn: v, Arg: &core.LocalRef{At: x.At, Local: f.self}}
		}
		return v
	case *core.ConstRef:
		if c := a.constant(x.Const); c != x.Const {
			return &core.ConstRef{At: x.At, Const: c, Args: args(x.Args)}
		}
	case *core.Call:
		if d := a.definition(x.Def, f); d != x.Def {
			return &core.Call{At: x.At, Def: d, Args: args(x.Args)}
		}
	case *core.OpRef:
		if d := a.definition(x.Def, f); d != x.Def {
			return &core.OpRef{At: x.At, Def: d}
		}
	}
	return nil
}

func (a *Algorithm) constant(c *core.Constant) *core.Constant {
	for _, d := range a.m.program.spec.Constants {
		if d.Name == c.Name && d.Module == c.Module {
			return d
		}
	}
	return c
}

// definition is the specification's definition of the same name, or d over the
// names of the specification where it has none: a LOCAL one.
func (a *Algorithm) definition(d *core.Def, f *frameOf) *core.Def {
	if out, ok := f.defs[d]; ok {
		return out
	}
	if g := a.m.program.spec.Names[d.Name]; g != nil && g.Module == d.Module && len(g.Params) == len(d.Params) {
		f.defs[d] = g
		return g
	}
	if d.Body == nil {
		f.defs[d] = d
		return d
	}
	c := *d
	f.defs[d] = &c
	// A definition of the module knows nothing of the process's variables.
	c.Body = core.Rewrite(d.Body, func(x core.Expr) core.Expr { return a.rebind(x, f) })
	return &c
}

// Label is where a process stands in a state, as the user wrote the label, and
// as it is in the state.
func (a *Algorithm) Label(p *Process, vals []value.Value) (written, unique string) {
	if a.pc == nil {
		b := p.Decl.Blocks[0]
		return a.blocks[b.Label].name, b.Label
	}
	v := vals[a.pc.Index]
	if !p.Self.IsUndefined() {
		v = v.Apply(p.Self)
	}
	unique = v.AsString()
	if b := a.blocks[unique]; b != nil {
		return b.name, unique
	}
	return unique, unique
}

// Place is where the label at which a process stands is written, as
// file:line:column; empty at its end.
func (a *Algorithm) Place(p *Process, vals []value.Value) string {
	_, label := a.Label(p, vals)
	if b := a.blocks[label]; b != nil {
		return b.Span.String()
	}
	return ""
}

// Local is the value of a local of a process, by the name that the user gave
// it; false where there is none.
func (a *Algorithm) Local(p *Process, name string, vals []value.Value) (value.Value, bool) {
	locals, first := p.Decl.Locals, 0
	if from := p.Decl.From; from != nil {
		first = len(locals) - len(from.Archetype.Locals)
		for i, arg := range from.Args {
			if arg.Ref != nil {
				continue
			}
			if from.Archetype.Params[i].Var.Name == name {
				return a.own(p, locals[0], vals), true
			}
			locals = locals[1:]
			first--
		}
		for i, l := range from.Archetype.Locals {
			if l.Var.Name == name {
				return a.own(p, locals[first+i], vals), true
			}
		}
		return value.Value{}, false
	}
	for _, l := range locals {
		if l.Var.Name == name {
			return a.own(p, l, vals), true
		}
	}
	return value.Value{}, false
}

func (a *Algorithm) own(p *Process, l *pcal.Variable, vals []value.Value) value.Value {
	v := vals[a.variable(l.Var).Index]
	if p.Decl.Set {
		v = v.Apply(p.Self)
	}
	return v
}
