package eval

import (
	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/source"
	"github.com/ashlar-dev/ashlar/tla/config"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/pcal"
)

// Algorithms in the place of their next-state relations.
//
// The next-state relation of a translation asks of every label of every
// process whether it is where the process stands. Here the program counter is
// looked up once for each process, and the step at its label is executed as it
// was written: a mapping macro's read goes on with the rest of the step
// through a continuation, and what the step assigns twice it assigns twice.
// The successors are those of the translation, and as many; actions have the
// names of labels and the places of the algorithm's text.

// NewDirect is New for a specification whose Init and Next are the translation
// of an algorithm: steps are those of the algorithm, which is plain and has
// unique names. Where the configuration's behaviour has another next-state
// relation than Next, or the identities of processes depend on variables, it
// is the same as New.
func NewDirect(spec *core.Spec, alg *pcal.Algorithm, cfg *config.Config, o Options) (*Model, error) {
	whole := *spec
	whole.Defs = append([]*core.Def(nil), spec.Defs...)
	o.direct = rebased(&whole, alg)
	return New(&whole, cfg, o)
}

// direct is an algorithm over the variables, constants and definitions of a
// specification.
type direct struct {
	alg   *pcal.Algorithm
	next  *core.Def // the translation of it all
	print *core.Def
	check *core.Def // Assert
	calls pcal.Stack
	// undefined is the value of what has none.
	undefined core.Expr
	actions   []check.Action
	// first is the number of the first action of a process or procedure.
	first map[any]int
	ends  bool
}

// rebase moves trees from one lowering of a module to another.
type rebase struct {
	spec      *core.Spec
	variables map[string]*core.Variable
	constants map[constantKey]*core.Constant
	known     map[defKey]*core.Def
	define    map[*core.Def]*core.Def
	moved     map[*core.Def]*core.Def
	lets      map[*core.Def]bool
	missing   bool
}

type constantKey struct{ name, module string }

type defKey struct {
	name string
	at   source.Span
}

// rebased returns the algorithm over spec, or nil where spec is not its
// translation. Definitions that spec does not have are added to it.
func rebased(spec *core.Spec, alg *pcal.Algorithm) *direct {
	next := spec.Names["Next"]
	if next == nil || alg == nil || alg.Modular {
		return nil
	}
	r := &rebase{spec: spec, variables: map[string]*core.Variable{}, constants: map[constantKey]*core.Constant{},
		known: map[defKey]*core.Def{}, define: map[*core.Def]*core.Def{}, moved: map[*core.Def]*core.Def{}, lets: map[*core.Def]bool{}}
	for _, v := range spec.Variables {
		r.variables[v.Name] = v
	}
	for _, c := range spec.Constants {
		r.constants[constantKey{c.Name, c.Module}] = c
	}
	for _, d := range spec.Defs {
		r.known[defKey{d.FullName(), d.Span}] = d
	}
	for _, d := range alg.Define {
		if to := spec.Names[d.Name]; to != nil {
			r.define[d] = to
		}
	}
	d := &direct{next: next, first: map[any]int{}, print: spec.Names["PrintT"], check: spec.Names["Assert"]}
	d.calls = pcal.Stack{Head: spec.Names["Head"], Tail: spec.Names["Tail"], Concat: spec.Names[`\o`]}
	for _, c := range spec.Constants {
		if c.Name == pcal.DefaultInitValue {
			d.undefined = &core.ConstRef{At: core.At{Place: c.Span}, Const: c}
		}
	}
	d.alg = r.algorithm(alg)
	if r.missing {
		return nil
	}
	d.list()
	return d
}

// list numbers the actions: labels in the order of the text.
func (d *direct) list() {
	visit := func(s pcal.Stmt) {
		switch s := s.(type) {
		case *pcal.Goto:
			d.ends = d.ends || s.Label == pcal.LabelDone
		case *pcal.Call:
			d.ends = d.ends || s.Return == pcal.LabelDone
		}
	}
	add := func(of any, blocks []*pcal.Block) {
		d.first[of] = len(d.actions)
		for _, b := range blocks {
			d.actions = append(d.actions, check.Action{Name: b.Label, Place: b.Span.String()})
		}
	}
	for _, p := range d.alg.Procedures {
		add(p, p.Blocks)
	}
	for _, p := range d.alg.Processes {
		add(p, p.Blocks)
		for _, b := range p.Blocks {
			pcal.InspectStmts(b.Body, visit, nil)
		}
	}
	if d.ends {
		d.actions = append(d.actions, check.Action{Name: "Terminating", Place: d.alg.Span.String()})
	}
}

func (r *rebase) variable(v *core.Variable) *core.Variable {
	if to := r.variables[v.Name]; to != nil {
		return to
	}
	r.missing = true
	return v
}

// def is the definition of spec that d is, or a copy of d over spec.
func (r *rebase) def(d *core.Def) *core.Def {
	if to := r.define[d]; to != nil {
		return to
	}
	if to := r.known[defKey{d.FullName(), d.Span}]; to != nil {
		return to
	}
	if to := r.moved[d]; to != nil {
		return to
	}
	c := *d
	r.moved[d] = &c
	r.spec.Defs = append(r.spec.Defs, &c)
	if d.Body != nil {
		c.Body = core.Transform(d.Body, r.replace)
	}
	return &c
}

// replace is for core.Transform. The definitions of a LET are not global, and
// core.Transform takes care of them.
func (r *rebase) replace(e core.Expr, again func(core.Expr) core.Expr) core.Expr {
	switch e := e.(type) {
	case *core.Let:
		for _, d := range e.Defs {
			r.lets[d] = true
		}
	case *core.VarRef:
		return &core.VarRef{At: e.At, Var: r.variable(e.Var)}
	case *core.ConstRef:
		to := r.constants[constantKey{e.Const.Name, e.Const.Module}]
		if to == nil {
			r.missing = true
			return e
		}
		args := make([]core.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = again(a)
		}
		return &core.ConstRef{At: e.At, Const: to, Args: args}
	case *core.OpRef:
		if !r.lets[e.Def] {
			return &core.OpRef{At: e.At, Def: r.def(e.Def)}
		}
	case *core.Call:
		if !r.lets[e.Def] {
			args := make([]core.Expr, len(e.Args))
			for i, a := range e.Args {
				args[i] = again(a)
			}
			return &core.Call{At: e.At, Def: r.def(e.Def), Args: args}
		}
	}
	return nil
}

// algorithm copies a plain algorithm.
func (r *rebase) algorithm(a *pcal.Algorithm) *pcal.Algorithm {
	out := *a
	out.Globals, out.Procedures, out.Processes = nil, nil, nil
	if a.NeedsPC() {
		out.PC = r.variable(a.PC)
	}
	if a.NeedsStack() {
		out.Stack = r.variable(a.Stack)
	}
	procs := map[*pcal.Procedure]*pcal.Procedure{}
	w := &pcal.Rewriter{Var: r.variable}
	w.Expr = func(e core.Expr) core.Expr {
		switch v := e.(type) {
		case *core.VarRef:
			if v.Var == a.PC {
				return &core.VarRef{At: v.At, Var: out.PC}
			}
			if v.Var == a.Stack {
				return &core.VarRef{At: v.At, Var: out.Stack}
			}
		}
		return r.replace(e, w.X)
	}
	w.Stmt = func(s pcal.Stmt) ([]pcal.Stmt, bool) {
		if c, ok := s.(*pcal.Call); ok {
			d := w.StmtParts(c).(*pcal.Call)
			d.Proc = procs[c.Proc]
			return []pcal.Stmt{d}, true
		}
		return nil, false
	}
	variables := func(list []*pcal.Variable) []*pcal.Variable {
		out := make([]*pcal.Variable, len(list))
		for i, v := range list {
			out[i] = &pcal.Variable{Var: r.variable(v.Var), Init: w.X(v.Init), In: v.In, Span: v.Span}
		}
		return out
	}
	blocks := func(list []*pcal.Block) []*pcal.Block {
		out := make([]*pcal.Block, len(list))
		for i, b := range list {
			c := *b
			c.Body = w.Stmts(b.Body)
			out[i] = &c
		}
		return out
	}
	out.Globals = variables(a.Globals)
	for _, p := range a.Procedures {
		c := *p
		procs[p] = &c
		c.Params = nil
		for _, q := range p.Params {
			d := &pcal.Param{}
			d.Variable = pcal.Variable{Var: r.variable(q.Var), Init: w.X(q.Init), Span: q.Span}
			c.Params = append(c.Params, d)
		}
		c.Locals = variables(p.Locals)
		out.Procedures = append(out.Procedures, &c)
	}
	for _, p := range out.Procedures {
		p.Blocks = blocks(p.Blocks)
	}
	for _, p := range a.Processes {
		c := *p
		c.Id, c.Locals, c.Blocks = w.X(p.Id), variables(p.Locals), blocks(p.Blocks)
		out.Processes = append(out.Processes, &c)
	}
	return &out
}
