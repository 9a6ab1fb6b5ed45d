// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/tla/stdlib"
)

// Program is the lowering of one root module. It caches what it has lowered, so
// that a Spec and the expressions of an algorithm share definitions.
type Program struct {
	info  *resolve.Info
	diags *source.List

	constants map[*resolve.Symbol]*core.Constant
	variables map[*resolve.Symbol]*core.Variable
	locals    map[*resolve.Symbol]*core.Local
	// meanings maps names to whole expressions that they denote.
	meanings map[*resolve.Symbol]core.Expr
	defs     map[*resolve.Symbol]*core.Def
	contexts map[*resolve.Instance]*context
	origins  map[*core.Def]origin // of the copies that instances made
	asks     map[*core.Def]bool   // see asksEnabled
	shadows  []*core.Variable     // see core.Spec
	tasks    map[*core.Def]*task
	// closed has the definitions that are lowered together with everything that
	// they reach.
	closed map[*core.Def]bool
	// define has the names of the algorithm's define block.
	define *resolve.Scope
	parts  int  // expressions made by substitution, at most PartsMax
	full   bool // the excess of a limit was reported
}

// task is the remaining work for a definition.
type task struct {
	build func()
	begun bool
	// waits reports that there is no text yet: RECURSIVE announced a definition
	// whose text comes after the algorithm.
	waits func() bool
	// nested reports that the definition belongs to a LET.
	nested bool
}

// New prepares the lowering of a module that was resolved without errors. The
// Program reports what it cannot lower to diags.
func New(info *resolve.Info, diags *source.List) *Program {
	return &Program{
		info: info, diags: diags,
		constants: map[*resolve.Symbol]*core.Constant{},
		variables: map[*resolve.Symbol]*core.Variable{},
		locals:    map[*resolve.Symbol]*core.Local{},
		meanings:  map[*resolve.Symbol]core.Expr{},
		defs:      map[*resolve.Symbol]*core.Def{},
		contexts:  map[*resolve.Instance]*context{},
		origins:   map[*core.Def]origin{},
		asks:      map[*core.Def]bool{},
		tasks:     map[*core.Def]*task{},
		closed:    map[*core.Def]bool{},
	}
}

// Spec lowers everything that is reachable from the root module's names.
func (p *Program) Spec() *core.Spec {
	root := p.info.Root
	s := &core.Spec{Name: root.Name, Names: map[string]*core.Def{}}
	for _, c := range root.Constants {
		s.Constants = append(s.Constants, p.constant(c))
	}
	for i, v := range root.Variables {
		x := p.variable(v)
		x.Index = i
		s.Variables = append(s.Variables, x)
	}
	var order []*core.Def
	p.names(root.Names, func(name string, d *core.Def) {
		s.Names[name] = d
		order = append(order, d)
	})
	for _, m := range p.extended(root) {
		for _, a := range m.Assumes {
			x := p.completeExpr(p.reader().expr(a.Body))
			s.Assumes = append(s.Assumes, core.Assume{Name: a.Name.Text, Body: x})
		}
	}
	for _, d := range order {
		p.complete(d)
	}
	s.Defs = p.sorted(order, s.Assumes, nil)
	for i, v := range p.shadows {
		v.Index = len(s.Variables) + i
	}
	s.Shadows = p.shadows
	return s
}

// extended returns the modules whose assumptions hold in m: m and those that it
// extends. The standard modules have no assumptions that a check could use.
func (p *Program) extended(m *resolve.Module) []*resolve.Module {
	var out []*resolve.Module
	seen := map[*resolve.Module]bool{}
	var visit func(*resolve.Module)
	visit = func(m *resolve.Module) {
		if seen[m] || m.Standard {
			return
		}
		seen[m] = true
		for _, e := range m.Extends {
			visit(e)
		}
		out = append(out, m)
	}
	visit(m)
	return out
}

// names calls visit for every name in a scope, names seen through instances
// included.
func (p *Program) names(scope *resolve.Scope, visit func(string, *core.Def)) {
	var through func(prefix string, s *resolve.Symbol, wrap func(*core.Def) *core.Def)
	through = func(prefix string, s *resolve.Symbol, wrap func(*core.Def) *core.Def) {
		if p.full {
			return
		}
		switch s.Kind {
		case resolve.Operator, resolve.Function:
			visit(prefix+s.Name, wrap(p.def(s)))
		case resolve.Instanced:
			hop := func(d *core.Def) *core.Def { return wrap(p.seenThrough(s, d)) }
			m := instanceOf(s).Module
			for _, name := range m.Names.Names() {
				if t := m.Export(name); t != nil {
					through(prefix+s.Name+"!", t, hop)
				}
			}
		}
	}
	for _, name := range scope.Names() {
		if s := p.info.Root.Export(name); s != nil {
			through("", s, func(d *core.Def) *core.Def { return d })
		}
	}
}

// sorted lists the reachable definitions, each after those that it uses except
// in recursion. among selects the definitions to include; nil means all
// definitions of modules.
func (p *Program) sorted(roots []*core.Def, assumes []core.Assume, among map[*core.Def]bool) []*core.Def {
	var out []*core.Def
	seen := map[*core.Def]bool{}
	type frame struct {
		def  *core.Def
		uses []*core.Def
	}
	var stack []frame
	push := func(d *core.Def) {
		if among != nil && !among[d] {
			return
		}
		if !seen[d] && p.tasks[d] != nil && !p.tasks[d].nested {
			seen[d] = true
			stack = append(stack, frame{d, p.uses(d.Body)})
		}
	}
	run := func() {
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.uses) == 0 {
				out = append(out, top.def)
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.uses[0]
			top.uses = top.uses[1:]
			push(next)
		}
	}
	for _, d := range roots {
		push(d)
		run()
	}
	for _, a := range assumes {
		for _, d := range p.uses(a.Body) {
			push(d)
			run()
		}
	}
	return out
}

// uses lists the definitions of modules that e refers to, in order.
func (p *Program) uses(e core.Expr) []*core.Def {
	if e == nil {
		return nil
	}
	var out []*core.Def
	seen := map[*core.Def]bool{}
	core.Calls(e, func(d *core.Def) {
		if t := p.tasks[d]; !seen[d] && t != nil && !t.nested {
			seen[d] = true
			out = append(out, d)
		}
	})
	return out
}

// complete lowers d and everything that it reaches, and sets their levels.
func (p *Program) complete(d *core.Def) { p.completeAll([]*core.Def{d}) }

func (p *Program) completeExpr(e core.Expr) core.Expr {
	p.completeAll(p.uses(e))
	p.setLevels([]core.Expr{e}, nil)
	return p.outside(e)
}

func (p *Program) completeAll(stack []*core.Def) {
	var fresh []*core.Def
	seen := map[*core.Def]bool{}
	for len(stack) > 0 {
		d := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[d] || p.closed[d] {
			continue
		}
		seen[d] = true
		fresh = append(fresh, d)
		if t := p.tasks[d]; t != nil && !t.begun && (t.waits == nil || !t.waits()) {
			t.begun = true
			t.build()
		}
		stack = append(stack, p.uses(d.Body)...)
	}
	for _, d := range fresh {
		p.closed[d] = d.Body != nil || d.Native
	}
	ordered := p.sorted(fresh, nil, seen)
	bodies := make([]core.Expr, len(ordered))
	for i, d := range ordered {
		bodies[i] = d.Body
	}
	p.setLevels(bodies, ordered)
	for _, d := range ordered {
		if d.Body != nil {
			d.Body = p.outside(d.Body)
		}
	}
}

// setLevels computes the levels of definitions and of the LETs in their bodies,
// and repeats until recursion no longer changes them.
func (p *Program) setLevels(bodies []core.Expr, defs []*core.Def) {
	for changed := true; changed; {
		changed = false
		set := func(d *core.Def) {
			if d.Body == nil {
				return
			}
			if l := core.LevelOf(d.Body); l > d.Level {
				d.Level = l
				changed = true
			}
		}
		for i, body := range bodies {
			if body == nil {
				continue
			}
			var lets []*core.Let
			core.Walk(body, func(x core.Expr) bool {
				if l, ok := x.(*core.Let); ok {
					lets = append(lets, l)
				}
				return true
			})
			for j := len(lets) - 1; j >= 0; j-- {
				for _, d := range lets[j].Defs {
					set(d)
				}
			}
			if defs != nil {
				set(defs[i])
			}
		}
	}
}

func (p *Program) constant(s *resolve.Symbol) *core.Constant {
	c := p.constants[s]
	if c == nil {
		c = &core.Constant{Name: s.Name, Module: s.Module.Name, Arity: s.Arity(), Span: s.Span}
		p.constants[s] = c
	}
	return c
}

func (p *Program) variable(s *resolve.Symbol) *core.Variable {
	v := p.variables[s]
	if v == nil {
		v = &core.Variable{Name: s.Name, Index: -1, Span: s.Span}
		p.variables[s] = v
	}
	return v
}

// local returns the Local of a bound name. The expression that binds the name
// must have made it first.
func (p *Program) local(s *resolve.Symbol) *core.Local {
	l := p.locals[s]
	if l == nil {
		l = p.bind(s)
	}
	return l
}

// bind makes a new Local for a bound name.
func (p *Program) bind(s *resolve.Symbol) *core.Local {
	l := &core.Local{Name: s.Name, Arity: s.Arity(), Span: s.Span}
	p.locals[s] = l
	return l
}

func (p *Program) bindAll(list []*resolve.Symbol) []*core.Local {
	out := make([]*core.Local, len(list))
	for i, s := range list {
		out[i] = p.bind(s)
	}
	return out
}

// def returns the definition of a symbol; its body may be lowered later.
func (p *Program) def(s *resolve.Symbol) *core.Def {
	if d := p.defs[s]; d != nil {
		return d
	}
	var d *core.Def
	if s.Origin != nil {
		d = p.context(s.Instance).copy(p.def(s.Origin))
	} else {
		d = p.newDef(s)
		waits := func() bool { return s.Recursive && s.Node == nil }
		announced := waits()
		p.addTask(d, &task{waits: waits, build: func() {
			if announced { // and nothing more was known of it than its name
				*d = *p.newDef(s)
			}
			p.body(s, d)
		}})
	}
	p.defs[s] = d
	return d
}

// addTask adds a new definition and reports an error when there are too many.
func (p *Program) addTask(d *core.Def, t *task) {
	p.tasks[d] = t
	if len(p.tasks) > DefinitionsMax && !p.full {
		p.full = true
		p.diags.Errorf(p.info.Root.Syntax.Name.Span(), TooManyInstances,
			"the instances of module %s make more than %d definitions", p.info.Root.Name, DefinitionsMax)
	}
}

// bounded returns e, which a substitution made, or a Bad if substitution has
// created too many expressions.
func (p *Program) bounded(e core.Expr) core.Expr {
	if !p.full {
		core.Walk(e, func(core.Expr) bool {
			p.parts++
			return p.parts <= PartsMax
		})
	}
	if p.parts <= PartsMax {
		return e
	}
	if !p.full {
		p.full = true
		p.diags.Errorf(p.info.Root.Syntax.Name.Span(), ExpressionTooLarge,
			"the instances and selected parts in module %s make more than %d expressions", p.info.Root.Name, PartsMax)
	}
	return &core.Bad{At: core.At{Place: e.Span()}}
}

func (p *Program) newDef(s *resolve.Symbol) *core.Def {
	return &core.Def{Name: s.Name, Module: s.Module.Name, Params: p.bindAll(s.Formals), Recursive: s.Recursive, Local: s.Local,
		Native: isNative(s), Span: s.Span}
}

// isNative reports whether s is computed in Go. A module beside the root that
// has the name of a standard one is taken from its text, except for operators
// that no text can define.
func isNative(s *resolve.Symbol) bool {
	op := stdlib.Lookup(s.Module.Name, s.Name)
	return op != nil && op.Arity == s.Arity() && (s.Module.Standard || op.Primitive)
}
