// SPDX-License-Identifier: Apache-2.0

package pcal

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// Expansion of a Modular algorithm into a plain one.
//
// An instance becomes a process: its archetype's blocks with every ref
// parameter bound to the variable passed for it, every value parameter and
// local a variable of the process. A procedure with ref parameters becomes one
// procedure for every way in which it is called. A Read gets the read part of
// its mapping macro as Body, a Write the write part; both keep the Access that
// they came from.

// The diagnostics of Expand.
const (
	// ReadUnderBinder: \E i \in S : net[i] > 0, where a mapping macro makes
	// reading net more than an expression.
	ReadUnderBinder source.Code = "MPCalReadUnderBinder"
	// ExpansionTooLarge: procedures that call each other with ever new
	// bindings.
	ExpansionTooLarge source.Code = "MPCalExpansionTooLarge"
)

// SpecialisedMax is the maximum number of procedures that Expand makes.
const SpecialisedMax = 1000

// Names answers questions about the names in the rest of the specification.
type Names struct {
	// Written reports whether a name occurs there at all, and Declared whether it
	// is declared or defined there.
	Written, Declared func(string) bool
}

// Expand returns a as a plain algorithm. The names that it makes do not clash
// with the given ones. It returns a plain algorithm unchanged.
func Expand(a *Algorithm, names Names, diags *source.List) *Algorithm {
	if !a.Modular {
		return a
	}
	out := *a
	out.Modular, out.Archetypes, out.Mappings, out.Instances = false, nil, nil, nil
	out.Procedures, out.Processes = nil, nil
	x := &expander{from: a, out: &out, diags: diags, made: map[string]*Procedure{}, plain: map[*Procedure]*Procedure{}, taken: map[string]bool{}, names: names}
	x.take(a)
	x.counted(a.Crashes)
	for _, p := range a.Procedures {
		if !p.Modular {
			c := *p
			x.plain[p] = &c
			out.Procedures = append(out.Procedures, &c)
		}
	}
	for _, p := range a.Procedures {
		if to := x.plain[p]; to != nil {
			to.Blocks = x.callers(p.Blocks, p.Self, p.Variables(), true)
		}
	}
	for _, in := range a.Instances {
		out.Processes = append(out.Processes, x.instance(in))
	}
	for _, p := range a.Processes {
		c := *p
		c.Blocks = x.callers(p.Blocks, p.Self, p.Locals, p.Set)
		out.Processes = append(out.Processes, &c)
	}
	for len(x.queue) > 0 && !diags.HasErrors() {
		next := x.queue[0]
		x.queue = x.queue[1:]
		next()
	}
	x.nameCrashes()
	return &out
}

// callers expands the calls in the body of a plain process or procedure with
// the given local variables. Such a body has nothing else to expand.
func (x *expander) callers(blocks []*Block, self *core.Local, own []*Variable, set bool) []*Block {
	f := x.frame(self)
	f.to, f.set = self, set
	for _, v := range own {
		f.vars[v.Var], f.local[v.Var] = v.Var, true
	}
	r := &Rewriter{}
	r.Stmt = func(s Stmt) ([]Stmt, bool) {
		c, ok := s.(*Call)
		if !ok {
			return nil, false
		}
		if to := x.plain[c.Proc]; to != nil {
			return []Stmt{&Call{At: c.At, Proc: to, Args: c.Args, Return: c.Return}}, true
		}
		return f.call(r, c), true
	}
	return r.blocks(blocks)
}

func (r *Rewriter) blocks(list []*Block) []*Block {
	out := make([]*Block, len(list))
	for i, b := range list {
		c := *b
		c.Body = r.Stmts(b.Body)
		out[i] = &c
	}
	return out
}

type expander struct {
	from  *Algorithm // the one with archetypes
	out   *Algorithm
	diags *source.List
	made  map[string]*Procedure
	plain map[*Procedure]*Procedure // the copies of those that are not Modular
	queue []func()
	taken map[string]bool
	names Names
}

// take reserves the names that the algorithm's plain parts use.
func (x *expander) take(a *Algorithm) {
	for _, n := range []string{"self", a.PC.Name, a.Stack.Name} {
		x.taken[n] = true
	}
	vars := func(list []*Variable) {
		for _, v := range list {
			x.taken[v.Var.Name] = true
		}
	}
	vars(a.Globals)
	for _, d := range a.Define {
		x.taken[d.Name] = true
	}
	for _, p := range a.Procedures {
		x.taken[p.Name] = x.taken[p.Name] || !p.Modular
		if !p.Modular {
			vars(p.Locals)
			for _, q := range p.Params {
				x.taken[q.Var.Name] = true
			}
		}
	}
	for _, p := range a.Processes {
		x.taken[p.Name] = true
		vars(p.Locals)
	}
	for _, in := range a.Instances {
		x.taken[in.Name] = true
	}
}

// name returns base or, if that is taken, base with the first number that makes
// it unique.
func (x *expander) name(base string) string {
	for i := -1; ; i++ {
		n := base
		if i >= 0 {
			n = fmt.Sprintf("%s%d", base, i)
		}
		if !x.taken[n] && (i < 0 || !x.names.Written(n)) {
			x.taken[n] = true
			return n
		}
	}
}

// binding is what a ref parameter refers to: a variable seen through a mapping.
// If Own is set, it is the element of the variable that belongs to the process.
type binding struct {
	v       *core.Variable
	own     bool
	count   int // indices that a use has at least
	mapping *Mapping
	// inside reports that the binding is a local variable of the process that
	// was passed to a procedure, not a resource of the archetype.
	inside bool
}

// access is the annotation that a read or write of a resource keeps.
func (b binding) access(p *Param, index []core.Expr) *Access {
	if b.inside {
		return nil
	}
	return &Access{Param: p, Index: index}
}

// frame is the expansion of one archetype or procedure.
type frame struct {
	x    *expander
	refs map[*core.Variable]binding
	vars map[*core.Variable]*core.Variable
	// local has the new variables that belong to the process or to the
	// procedure itself.
	local map[*core.Variable]bool
	// set reports that each local variable has one instance per process,
	// selected by self.
	set      bool
	from, to *core.Local // self
}

func (x *expander) frame(from *core.Local) *frame {
	to := &core.Local{Name: "self", Span: from.Span}
	return &frame{x: x, refs: map[*core.Variable]binding{}, vars: map[*core.Variable]*core.Variable{},
		local: map[*core.Variable]bool{}, from: from, to: to}
}

// variable makes the process's own copy of a template's variable.
func (f *frame) variable(v *core.Variable) *core.Variable {
	c := &core.Variable{Name: f.x.name(v.Name), Index: -1, Span: v.Span}
	f.vars[v], f.local[c] = c, true
	return c
}

func (x *expander) instance(in *Instance) *Process {
	a := in.Archetype
	f := x.frame(a.Self)
	f.set = in.Set
	p := &Process{Name: in.Name, Id: in.Id, Set: in.Set, Fair: in.Fair, Self: f.to, Forever: a.Forever, From: in, Span: in.Span}
	args := &Rewriter{}
	args.Rename(in.Self, f.to)
	for i, param := range a.Params {
		arg := in.Args[i]
		if arg.Ref != nil {
			f.refs[param.Var] = binding{v: arg.Ref, count: param.Mapping, mapping: arg.Mapping}
			continue
		}
		v := f.variable(param.Var)
		if param.Ref {
			f.refs[param.Var] = binding{v: v, own: true, count: param.Mapping, mapping: arg.Mapping}
		}
		// A parameter that is never assigned keeps its value across a crash. The
		// crash part of the mapping macro changes the state of a resource.
		keeps := !param.Ref && !a.Assigns(param.Var) || arg.Mapping != nil && arg.Mapping.Crash != nil
		p.Locals = append(p.Locals, &Variable{Var: v, Init: args.X(arg.X), Durable: keeps, Span: arg.Span})
	}
	for _, l := range a.Locals {
		f.variable(l.Var)
	}
	r := f.rewriter()
	for _, l := range a.Locals {
		p.Locals = append(p.Locals, &Variable{Var: f.vars[l.Var], Init: r.X(l.Init), In: l.In, Durable: l.Durable, Span: l.Span})
	}
	p.Blocks = f.blocks(Hoist(a.Params, a.Blocks))
	if a.Restart != "" {
		p.Crash = f.crash(in)
	}
	return p
}

func (f *frame) blocks(list []*Block) []*Block { return f.rewriter().blocks(list) }

// rewriter translates expressions of the template to expressions of the
// process.
func (f *frame) rewriter() *Rewriter {
	r := &Rewriter{Fresh: true}
	r.Rename(f.from, f.to)
	r.Expr = func(e core.Expr) core.Expr {
		base, index := unapply(e)
		v, ok := base.(*core.VarRef)
		if !ok {
			return nil
		}
		if b, ok := f.refs[v.Var]; ok && len(index) == b.count {
			return f.inPlace(r, e, b, index)
		}
		if to := f.vars[v.Var]; to != nil && len(index) == 0 {
			return &core.VarRef{At: v.At, Var: to}
		}
		return nil
	}
	r.Var = func(v *core.Variable) *core.Variable {
		if to := f.vars[v]; to != nil {
			return to
		}
		return v
	}
	r.Stmt = func(s Stmt) ([]Stmt, bool) {
		switch s := s.(type) {
		case *Read:
			return f.read(r, s), true
		case *Write:
			return f.write(r, s), true
		case *Call:
			return f.call(r, s), true
		}
		return nil, false
	}
	return r
}

// unapply splits base[i]...[k].
func unapply(e core.Expr) (core.Expr, []core.Expr) {
	var index []core.Expr
	for {
		a, ok := e.(*core.Apply)
		if !ok {
			return e, index
		}
		index = append([]core.Expr{a.Arg}, index...)
		e = a.Fn
	}
}

// cell returns the expression for what a binding refers to, and the path of an
// assignment to it.
func (f *frame) cell(b binding, index []core.Expr, at core.At) (core.Expr, []core.Index) {
	var e core.Expr = &core.VarRef{At: at, Var: b.v}
	var path []core.Index
	if b.own && f.foreign(b.v) {
		self := &core.LocalRef{At: at, Local: f.to}
		e, path = &core.Apply{At: at, Fn: e, Arg: self}, append(path, core.Index{X: self})
	}
	for _, ix := range index {
		e, path = &core.Apply{At: at, Fn: e, Arg: ix}, append(path, core.Index{X: ix})
	}
	return e, path
}

// foreign reports whether a variable that belongs to a process is used outside it.
// Such a use must say which process is meant.
func (f *frame) foreign(v *core.Variable) bool { return !f.local[v] && f.set }

// inPlace expands a read that hoisting could not move.
func (f *frame) inPlace(r *Rewriter, e core.Expr, b binding, index []core.Expr) core.Expr {
	at := core.At{Place: e.Span()}
	cell, _ := f.cell(b, r.Xs(index), at)
	if b.mapping == nil {
		return cell
	}
	if len(b.mapping.Read) == 1 {
		if y, ok := b.mapping.Read[0].(*Yield); ok {
			m := &Rewriter{Expr: func(x core.Expr) core.Expr {
				if v, ok := x.(*core.VarRef); ok && v.Var == b.mapping.Target {
					return cell
				}
				return nil
			}}
			m.Rename(b.mapping.Self, f.to)
			return m.X(y.X)
		}
	}
	f.x.diags.Add(source.Diagnostic{Code: ReadUnderBinder, Span: e.Span(),
		Message: fmt.Sprintf("reading %s here acts through mapping macro %s, and how often it would act depends on a bound name: "+
			"expected a read outside the quantifier, set or function", b.v.Name, b.mapping.Name),
		Repair: "read into a name first: with (x = ...) { ... }"})
	return &core.Bad{At: at}
}

// read expands a Read; one without a resource only has its parts expanded.
func (f *frame) read(r *Rewriter, s *Read) []Stmt {
	if s.Access == nil {
		return []Stmt{r.StmtParts(s)}
	}
	b := f.refs[s.Access.Param.Var]
	at := core.At{Place: s.Span()}
	index, held := steady(r.Xs(s.Access.Index), b)
	cell, path := f.cell(b, index, at)
	out := &Read{At: s.At, Access: b.access(s.Access.Param, index)}
	if b.mapping == nil {
		out.Body = []Stmt{&Yield{At: s.At, X: cell}}
	} else {
		m := f.mapping(b, cell, path)
		out.Body = choice(m.Stmts(b.mapping.Read))
	}
	out.Dst = r.Local(s.Dst)
	out.Rest = r.Stmts(s.Rest)
	return held([]Stmt{out})
}

// steady gives names to indices that the mapping macro's own assignments could
// change, so that each index is computed only once.
func steady(index []core.Expr, b binding) ([]core.Expr, func([]Stmt) []Stmt) {
	changed := map[*core.Variable]bool{b.v: true}
	if b.mapping == nil {
		changed = nil
	} else {
		note := func(s Stmt) {
			if a, ok := s.(*Assign); ok {
				for _, p := range a.Pairs {
					changed[p.Target] = true
				}
			}
		}
		InspectStmts(b.mapping.Read, note, nil)
		InspectStmts(b.mapping.Write, note, nil)
	}
	out := append([]core.Expr(nil), index...)
	var withs []*With
	for i, ix := range index {
		moves := false
		core.Walk(ix, func(e core.Expr) bool {
			if v, ok := e.(*core.VarRef); ok {
				moves = moves || changed[v.Var]
			}
			return !moves
		})
		if moves {
			at := At{ix.Span()}
			l := &core.Local{Name: "index", Span: at.Place}
			withs = append(withs, &With{At: at, Var: l, X: ix})
			out[i] = &core.LocalRef{At: core.At{Place: at.Place}, Local: l}
		}
	}
	return out, func(inner []Stmt) []Stmt {
		for i := len(withs) - 1; i >= 0; i-- {
			withs[i].Body = inner
			inner = []Stmt{withs[i]}
		}
		return inner
	}
}

func (f *frame) write(r *Rewriter, s *Write) []Stmt {
	b := f.refs[s.Access.Param.Var]
	at := core.At{Place: s.Span()}
	index, held := steady(r.Xs(s.Access.Index), b)
	cell, path := f.cell(b, index, at)
	out := &Write{At: s.At, Access: b.access(s.Access.Param, index), X: r.X(s.X)}
	assign := func(value core.Expr) Stmt {
		return &Assign{At: s.At, Pairs: []Assignment{{Target: b.v, Path: path, Value: value, Span: s.Span()}}}
	}
	if b.mapping == nil {
		out.Value = &core.Local{Name: "value", Span: s.Span()}
		out.Body = []Stmt{assign(&core.LocalRef{At: at, Local: out.Value})}
		return held([]Stmt{out})
	}
	m := f.mapping(b, cell, path)
	// $value is not a valid name in PlusCal, so the new name has no $.
	out.Value = &core.Local{Name: "value", Span: s.Span()}
	m.Rename(b.mapping.Value, out.Value)
	yields := m.Stmt
	m.Stmt = func(t Stmt) ([]Stmt, bool) {
		if y, ok := t.(*Yield); ok {
			return []Stmt{assign(m.X(y.X))}, true
		}
		return yields(t)
	}
	out.Body = m.Stmts(b.mapping.Write)
	return held([]Stmt{out})
}

// mapping returns the rewriter that replaces $variable by a cell.
func (f *frame) mapping(b binding, cell core.Expr, path []core.Index) *Rewriter {
	m := &Rewriter{Fresh: true}
	m.Rename(b.mapping.Self, f.to)
	m.Expr = func(e core.Expr) core.Expr {
		if v, ok := e.(*core.VarRef); ok && v.Var == b.mapping.Target {
			return cell
		}
		return nil
	}
	m.Stmt = func(s Stmt) ([]Stmt, bool) {
		a, ok := s.(*Assign)
		if !ok {
			return nil, false
		}
		pairs := m.Assignments(a.Pairs)
		for i, p := range pairs {
			if p.Target == b.mapping.Target {
				pairs[i].Target = b.v
				pairs[i].Path = append(append([]core.Index(nil), path...), p.Path...)
			}
		}
		return []Stmt{&Assign{At: a.At, Pairs: pairs}}, true
	}
	return m
}

// call returns the procedure for these bindings and makes it on the first call.
func (f *frame) call(r *Rewriter, s *Call) []Stmt {
	out := &Call{At: s.At, Proc: s.Proc, Return: s.Return}
	if !s.Proc.Modular {
		return []Stmt{r.StmtParts(s)}
	}
	bound := map[*core.Variable]binding{}
	var key strings.Builder
	fmt.Fprintf(&key, "%p", s.Proc)
	for i, param := range s.Proc.Params {
		arg := s.Args[i]
		if arg.Ref == nil {
			arg.X = r.X(arg.X)
			arg.Mapping = nil
			out.Args = append(out.Args, arg)
			key.WriteString(" value")
			continue
		}
		b, ok := f.refs[arg.Ref]
		if !ok {
			b = binding{v: arg.Ref, inside: true}
			if to := f.vars[arg.Ref]; to != nil {
				b = binding{v: to, own: true, inside: true}
			}
		}
		b.count = param.Mapping
		bound[param.Var] = b
		fmt.Fprintf(&key, " %p,%v,%v,%p", b.v, b.own, b.own && f.set, b.mapping)
	}
	proc := f.x.made[key.String()]
	if proc == nil {
		proc = f.procedure(s.Proc, bound)
		f.x.made[key.String()] = proc
	}
	out.Proc = proc
	return []Stmt{out}
}

// procedure creates the copy of a procedure for the given bindings. Its blocks
// are filled in after the current work, so that a recursive call finds the
// copy.
func (f *frame) procedure(from *Procedure, bound map[*core.Variable]binding) *Procedure {
	x := f.x
	self := from.Self
	g := x.frame(self)
	g.refs, g.set = bound, true
	p := &Procedure{Name: x.name(from.Name), From: from, Self: g.to, Span: from.Span}
	x.out.Procedures = append(x.out.Procedures, p)
	if len(x.made) >= SpecialisedMax {
		x.diags.Errorf(from.Span, ExpansionTooLarge, "procedure %s is called in more than %d ways", from.Name, SpecialisedMax)
		return p
	}
	for b, bind := range bound {
		// A variable of a single process (not a set) is identified by its name.
		if bind.own && !f.set {
			bind.own = false
			bound[b] = bind
		}
	}
	for _, param := range from.Params {
		if _, ok := bound[param.Var]; ok {
			continue
		}
		v := g.variable(param.Var)
		if param.Ref {
			g.refs[param.Var] = binding{v: v, own: true, count: param.Mapping, inside: true}
		}
		c := &Param{}
		c.Variable = Variable{Var: v, Init: param.Init, Span: param.Span}
		p.Params = append(p.Params, c)
	}
	for _, l := range from.Locals {
		g.variable(l.Var)
	}
	r := g.rewriter()
	for _, l := range from.Locals {
		p.Locals = append(p.Locals, &Variable{Var: g.vars[l.Var], Init: r.X(l.Init), In: l.In, Span: l.Span})
	}
	x.queue = append(x.queue, func() { p.Blocks = g.blocks(Hoist(from.Params, from.Blocks)) })
	return p
}
