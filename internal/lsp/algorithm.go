// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// algorithmIndex adds the names of an algorithm to those of its module. The
// expressions are resolved by the resolver, in the scopes made here.
type algorithmIndex struct {
	*tlaIndex
	a      *syntax.Algorithm
	global *resolve.Scope
	// labels are those of the current process, procedure or archetype; the
	// other maps are those of the algorithm.
	labels, procedures, macros, archetypes, mappings map[string]*entity
}

func (x *tlaIndex) algorithms(a *syntax.Algorithm) {
	names := x.info.Root.Names
	if names == nil {
		names = resolve.NewScope(nil)
	}
	point := lower.TranslationPoint(x.root)
	r := &algorithmIndex{tlaIndex: x, a: a, global: resolve.NewScope(names.Until(x.info.Root, point)),
		procedures: map[string]*entity{}, macros: map[string]*entity{}, archetypes: map[string]*entity{}, mappings: map[string]*entity{}}
	r.define("algorithm", a.Name, source.Span{}).label = true
	for _, name := range []string{"pc", "stack"} {
		s := &resolve.Symbol{Kind: resolve.Variable, Name: name, Module: x.info.Root}
		x.entities[s] = &entity{name: name, kind: "variable of the translation", algorithmic: true}
		r.global.Put(name, s)
	}
	r.variables(r.global, a.Variables, "variable of the algorithm", true)
	r.initial(r.global, a.Variables)
	r.headers()
	x.info.Units(r.global, a.Define, new(source.List))
	r.defined()
	r.bodies()
}

// defined makes the definitions of the define block names of the algorithm: its
// translation has them, and a configuration may use them.
func (r *algorithmIndex) defined() {
	for _, u := range r.a.Define {
		var n syntax.Name
		switch u := u.(type) {
		case *syntax.OperatorDef:
			n = u.Name
		case *syntax.FunctionDef:
			n = u.Name
		case *syntax.Instance:
			n = u.Name
		}
		s := r.global.Lookup(n.Text)
		if n.IsZero() || s == nil || s.Span != n.Span() {
			continue
		}
		e := r.entity(s)
		e.algorithmic = true
		if r.algorithm[n.Text] == nil {
			r.algorithm[n.Text] = e
		}
	}
}

// define adds an entity of the algorithm at its name.
func (r *algorithmIndex) define(kind string, n syntax.Name, whole source.Span) *entity {
	e := &entity{name: n.Text, kind: kind, span: n.Span(), whole: whole, algorithmic: true}
	r.add(n.Span(), e)
	return e
}

// put declares a variable or a parameter in a scope.
func (r *algorithmIndex) put(scope *resolve.Scope, n syntax.Name, kind string, whole source.Span) *entity {
	s := &resolve.Symbol{Kind: resolve.Variable, Name: n.Text, Span: n.Span(), Module: r.info.Root}
	e := r.define(kind, n, whole)
	r.entities[s] = e
	scope.Put(n.Text, s)
	return e
}

func (r *algorithmIndex) variables(scope *resolve.Scope, list []*syntax.PlusVar, kind string, exported bool) {
	for _, v := range list {
		e := r.put(scope, v.Name, kind, v.Span())
		if _, ok := r.algorithm[v.Name.Text]; exported && !ok {
			r.algorithm[v.Name.Text] = e
		}
	}
}

func (r *algorithmIndex) initial(scope *resolve.Scope, list []*syntax.PlusVar) {
	for _, v := range list {
		r.expr(scope, v.Init)
	}
}

func (r *algorithmIndex) expr(scope *resolve.Scope, e syntax.Expr) {
	if e == nil {
		return
	}
	if ref, ok := e.(*syntax.RefArg); ok {
		r.use(scope, ref.Name)
		return
	}
	r.info.Expr(scope, e, new(source.List))
}

func (r *algorithmIndex) exprs(scope *resolve.Scope, list []syntax.Expr) {
	for _, e := range list {
		r.expr(scope, e)
	}
}

// use adds an occurrence of a plain name: an assigned variable, or one passed
// by reference.
func (r *algorithmIndex) use(scope *resolve.Scope, n syntax.Name) {
	if s := scope.Lookup(n.Text); s != nil && s.Kind != resolve.Builtin {
		r.add(n.Span(), r.entity(s))
	}
}

// headers declares the names that may be used before their text.
func (r *algorithmIndex) headers() {
	for _, m := range r.a.Macros {
		r.macros[m.Name.Text] = r.define("macro"+arguments(len(m.Params)), m.Name, m.Span())
	}
	for _, p := range r.a.Procedures {
		e := r.define("procedure"+arguments(len(p.Params)), p.Name, p.Span())
		e.label = true
		r.procedures[p.Name.Text], r.algorithm[p.Name.Text] = e, e
	}
	for _, p := range r.a.Archetypes {
		r.archetypes[p.Name.Text] = r.define("archetype"+arguments(len(p.Params)), p.Name, p.Span())
	}
	for _, m := range r.a.MappingMacros {
		r.mappings[m.Name.Text] = r.define("mapping macro", m.Name, m.Span())
	}
	for _, p := range r.a.Processes {
		r.algorithm[p.Name.Text] = r.define("process", p.Name, p.Span())
	}
	for _, p := range r.a.Instances {
		r.algorithm[p.Name.Text] = r.define("process", p.Name, p.Span())
	}
}

func (r *algorithmIndex) bodies() {
	for _, m := range r.a.Macros {
		scope := r.inner(r.global)
		for _, p := range m.Params {
			r.put(scope, p, "parameter of the macro "+m.Name.Text, m.Span())
		}
		r.part(scope, m.Body)
	}
	for _, p := range r.a.Procedures {
		r.parameterized(r.inner(r.global), p.Params, p.Variables, p.Body, "the procedure "+p.Name.Text)
	}
	for _, m := range r.a.MappingMacros {
		scope := r.inner(r.global)
		for _, name := range []string{"$variable", "$value"} {
			s := &resolve.Symbol{Kind: resolve.Variable, Name: name, Module: r.info.Root}
			r.entities[s] = &entity{name: name, kind: "what the mapping macro " + m.Name.Text + " maps"}
			scope.Put(name, s)
		}
		r.part(scope, m.Read)
		r.part(scope, m.Write)
		r.part(scope, m.Crash)
	}
	for _, p := range r.a.Archetypes {
		scope := r.self()
		r.variables(scope, p.Durable, "durable variable of the archetype "+p.Name.Text, false)
		r.parameterized(scope, p.Params, p.Variables, p.Body, "the archetype "+p.Name.Text)
		for _, e := range r.labels {
			e.restarts = true
		}
		r.initial(scope, p.Durable)
	}
	for _, p := range r.a.Instances {
		r.expr(r.global, p.Set)
		r.exprs(r.self(), p.Args)
		r.refer(r.archetypes, p.Archetype)
		for _, m := range p.Mappings {
			r.use(r.global, m.Target)
			r.refer(r.mappings, m.Macro)
		}
	}
	for _, p := range r.a.Processes {
		r.expr(r.global, p.Set)
		scope := r.self()
		r.variables(scope, p.Variables, "variable of the process "+p.Name.Text, true)
		r.initial(scope, p.Variables)
		r.part(scope, p.Body)
	}
	r.part(r.global, r.a.Body)
}

func (r *algorithmIndex) inner(outer *resolve.Scope) *resolve.Scope { return resolve.NewScope(outer) }

// self is a scope in which self is the process.
func (r *algorithmIndex) self() *resolve.Scope {
	scope := r.inner(r.global)
	s := &resolve.Symbol{Kind: resolve.Bound, Name: "self", Module: r.info.Root}
	r.entities[s] = &entity{name: "self", kind: "the process itself"}
	scope.Put("self", s)
	return scope
}

func (r *algorithmIndex) parameterized(scope *resolve.Scope, params []*syntax.Param, vars []*syntax.PlusVar, body *syntax.Block, of string) {
	for _, p := range params {
		r.put(scope, p.Name, "parameter of "+of, p.Span())
		r.expr(r.global, p.Init)
	}
	r.variables(scope, vars, "variable of "+of, false)
	r.initial(scope, vars)
	r.part(scope, body)
}

func (r *algorithmIndex) refer(to map[string]*entity, n syntax.Name) { r.add(n.Span(), to[n.Text]) }

// part indexes a body that has labels of its own.
func (r *algorithmIndex) part(scope *resolve.Scope, b *syntax.Block) {
	if b == nil {
		return
	}
	r.labels = map[string]*entity{}
	syntax.Inspect(b, func(n syntax.Node) bool {
		if s, ok := n.(syntax.Stmt); ok {
			if l := s.Label(); l != nil && r.labels[l.Name.Text] == nil {
				e := r.define("label", l.Name, s.Span())
				e.label = true
				r.labels[l.Name.Text] = e
				if r.algorithm[l.Name.Text] == nil {
					r.algorithm[l.Name.Text] = e
				}
			}
		}
		return true
	})
	r.block(scope, b)
}

func (r *algorithmIndex) block(scope *resolve.Scope, b *syntax.Block) {
	if b == nil {
		return
	}
	for _, s := range b.Body {
		r.stmt(scope, s)
	}
}

func (r *algorithmIndex) stmt(scope *resolve.Scope, s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.Block:
		r.block(scope, s)
	case *syntax.Assign:
		for _, p := range s.Parts {
			r.use(scope, p.Target)
			for _, step := range p.Path {
				r.exprs(scope, step.Index)
			}
			r.expr(scope, p.Value)
		}
	case *syntax.IfStmt:
		r.expr(scope, s.Cond)
		r.block(scope, s.Then)
		r.block(scope, s.Else)
	case *syntax.While:
		r.expr(scope, s.Cond)
		r.block(scope, s.Body)
	case *syntax.Either:
		for _, b := range s.Branches {
			r.block(scope, b)
		}
	case *syntax.With:
		inner := scope
		for _, v := range s.Binds {
			r.expr(inner, v.Init)
			inner = r.inner(inner)
			r.put(inner, v.Name, "name bound by with", v.Span())
		}
		r.block(inner, s.Body)
	case *syntax.Goto:
		r.refer(r.labels, s.Target)
	case *syntax.Call:
		r.refer(r.procedures, s.Procedure)
		r.exprs(scope, s.Args)
	case *syntax.MacroCall:
		r.refer(r.macros, s.Macro)
		r.exprs(scope, s.Args)
	case *syntax.Await:
		r.expr(scope, s.Cond)
	case *syntax.Assert:
		r.expr(scope, s.Cond)
	case *syntax.Print:
		r.expr(scope, s.Value)
	case *syntax.Yield:
		r.expr(scope, s.Value)
	}
}
