// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// The additions of Modular PlusCal: mapping macros, archetypes and instances.

func (r *algorithm) mappingMacros() {
	for _, s := range r.a.MappingMacros {
		r.mappingMacro(s, "")
	}
	for _, m := range r.mappingsOfModules() {
		r.mappingMacro(m.MappingMacro, m.module)
	}
}

// moduleMacro is a mapping macro of another module, and the module's name if it
// comes with the tool.
type moduleMacro struct {
	*syntax.MappingMacro
	module string
}

// mappingsOfModules finds the mapping macros that instances use and the algorithm
// does not declare: in the algorithms of the modules that the root extends,
// directly or not. The first module in the order of EXTENDS has precedence. The
// bodies see the names of the root module, which include those of that module.
func (r *algorithm) mappingsOfModules() []moduleMacro {
	wanted := map[string]bool{}
	for _, p := range r.a.Instances {
		for _, m := range p.Mappings {
			wanted[m.Macro.Text] = true
		}
	}
	for _, s := range r.a.MappingMacros {
		delete(wanted, s.Name.Text)
	}
	var out []moduleMacro
	var visit func(m *resolve.Module)
	visit = func(m *resolve.Module) {
		if a := m.Syntax.Algorithm; a != nil && m != r.p.info.Root {
			for _, s := range a.MappingMacros {
				if !wanted[s.Name.Text] {
					continue
				}
				delete(wanted, s.Name.Text)
				found := moduleMacro{MappingMacro: s}
				if m.Standard {
					found.module = m.Name
				}
				out = append(out, found)
			}
		}
		for _, e := range m.Extends {
			visit(e)
		}
	}
	visit(r.p.info.Root)
	return out
}

// mappingMacro lowers a mapping macro of the algorithm or of a module.
func (r *algorithm) mappingMacro(s *syntax.MappingMacro, module string) {
	at := s.Name.Span()
	m := &pcal.Mapping{Name: s.Name.Text, Module: module, Target: newVariable("$variable", at), Self: newSelf(at),
		Value: &core.Local{Name: "$value", Span: at}, Span: at}
	scope := r.pure.WithLocals(m.Self).WithVariables(m.Target)
	part := func(s *syntax.Block, scope *Scope, what string) []pcal.Stmt {
		b := &body{algorithm: r, scope: scope, what: what + " part of mapping macro " + m.Name, many: true, yields: true}
		items := b.block(s)
		for _, it := range items {
			b.noJumps(it)
		}
		return b.seq(items, "", "")
	}
	before := r.p.diags.HasErrors()
	m.Read = part(s.Read, scope, "the read")
	m.Write = part(s.Write, scope.WithLocals(m.Value), "the write")
	if s.Crash != nil {
		m.Crash = r.crashPart(m, s.Crash, scope)
	}
	if !before && r.p.diags.HasErrors() {
		m.Read = nil
	} else {
		c := &closer{r: r, name: m.Name, target: m.Target}
		if s.Read != nil {
			c.span = s.Read.Span()
		}
		m.Read = c.close(m.Read)
	}
	r.mappings[m.Name] = m
	r.out.Mappings = append(r.out.Mappings, m)
}

// noJumps reports statements that a mapping macro must not contain.
func (b *body) noJumps(it *item) {
	switch {
	case it.label != nil:
		b.fail(it.label.span, LabelForbidden, "a mapping macro is part of one step", "a label in %s", b.what)
		it.label = nil
	case it.kind == whileItem:
		b.fail(it.span, LabelForbidden, "use an operator, or a with over a set", "a while needs a label, and %s can have none", b.what)
		it.kind, it.branches = leafItem, nil
		it.leaf = &pcal.Skip{At: pcal.At{Place: it.span}}
	}
	if g, ok := it.leaf.(*pcal.Goto); ok {
		b.fail(it.span, StatementMisplaced, "jump in the archetype", "goto %s in %s: expected statements of one step", g.Label, b.what)
	}
	for _, list := range it.branches {
		for _, x := range list {
			b.noJumps(x)
		}
	}
}

// closer rewrites a read part so that every path ends in its yield. The value
// is computed at the yield; the statements after the yield run before the value
// is returned.
type closer struct {
	r    *algorithm
	name string
	span source.Span
	said bool
	// target is the result of a path that never ends. No step ever uses it.
	target *core.Variable
}

func (c *closer) fail(span source.Span, code source.Code, repair, format string, args ...any) {
	if !c.said {
		c.r.error(span, code, repair, format, args...)
	}
	c.said = true
}

// yields reports whether there is a yield in the list.
func yields(list []pcal.Stmt) bool {
	found := false
	pcal.InspectStmts(list, func(s pcal.Stmt) {
		if _, ok := s.(*pcal.Yield); ok {
			found = true
		}
	}, nil)
	return found
}

func (c *closer) close(list []pcal.Stmt) []pcal.Stmt {
	for i, s := range list {
		if !yields([]pcal.Stmt{s}) {
			continue
		}
		rest := list[i+1:]
		out := append([]pcal.Stmt(nil), list[:i]...)
		with := func(b []pcal.Stmt, n int) []pcal.Stmt {
			tail := rest
			if n > 0 {
				fresh := &pcal.Rewriter{Fresh: true}
				tail = fresh.Stmts(rest)
			}
			return c.close(append(append([]pcal.Stmt(nil), b...), tail...))
		}
		switch s := s.(type) {
		case *pcal.Yield:
			if len(rest) == 0 {
				return append(out, s)
			}
			if yields(rest) {
				c.fail(s.Span(), MPCalYieldTwice, "yield once on every path", "another yield follows this one in mapping macro %s", c.name)
				return append(out, s)
			}
			dst := &core.Local{Name: "yielded", Span: s.Span()}
			ref := &core.LocalRef{At: core.At{Place: s.Span()}, Local: dst}
			tail := append(append([]pcal.Stmt(nil), rest...), &pcal.Yield{At: s.At, X: ref})
			return append(out, &pcal.Read{At: s.At, Dst: dst, Body: []pcal.Stmt{s}, Rest: tail})
		case *pcal.If:
			return append(out, &pcal.If{At: s.At, Cond: s.Cond, Then: with(s.Then, 0), Else: with(s.Else, 1)})
		case *pcal.Either:
			e := &pcal.Either{At: s.At}
			for n, b := range s.Branches {
				e.Branches = append(e.Branches, with(b, n))
			}
			return append(out, e)
		case *pcal.With:
			return append(out, &pcal.With{At: s.At, Var: s.Var, In: s.In, X: s.X, Body: with(s.Body, 0)})
		}
	}
	if ends(list) {
		place := list[len(list)-1].Span()
		return append(list, &pcal.Yield{At: pcal.At{Place: place}, X: &core.VarRef{At: core.At{Place: place}, Var: c.target}})
	}
	c.fail(c.span, MPCalYieldMissing, "end it with  yield $variable", "a path through the read part of mapping macro %s ends without a yield", c.name)
	return append(list, &pcal.Yield{X: &core.Bool{}})
}

// ends reports whether no step reaches the end of the list, because it stops at
// an assertion or a condition that is plainly false.
func ends(list []pcal.Stmt) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *pcal.Assert:
			if isFalse(s.Cond) {
				return true
			}
		case *pcal.Await:
			if isFalse(s.Cond) {
				return true
			}
		case *pcal.If:
			if ends(s.Then) && ends(s.Else) {
				return true
			}
		case *pcal.Either:
			all := true
			for _, b := range s.Branches {
				all = all && ends(b)
			}
			if all {
				return true
			}
		case *pcal.With:
			if ends(s.Body) {
				return true
			}
		}
	}
	return false
}

func isFalse(e core.Expr) bool {
	b, ok := e.(*core.Bool)
	return ok && !b.Val
}

// templates lowers the archetypes.
func (r *algorithm) templates() {
	for _, s := range r.a.Archetypes {
		a := &pcal.Archetype{Name: s.Name.Text, Span: s.Name.Span(), Self: newSelf(s.Name.Span())}
		a.Params = r.params(s.Params)
		variables := append(s.Durable[:len(s.Durable):len(s.Durable)], s.Variables...)
		a.Locals = r.declare(variables)
		scope := r.pure.WithLocals(a.Self)
		for _, p := range a.Params {
			scope = scope.WithVariables(p.Var)
		}
		scope = scope.WithVariables(variablesOf(a.Locals)...)
		b := &body{algorithm: r, scope: scope, what: "archetype " + a.Name, end: pcal.LabelDone, many: true}
		b.params(a.Params, true)
		for i, v := range variables {
			if v.Init != nil {
				a.Locals[i].Init = b.x(v.Init)
			}
		}
		a.Blocks, a.Forever = b.lower(s.Body)
		r.restart(a, s)
		r.archetypes[a.Name] = a
		r.out.Archetypes = append(r.out.Archetypes, a)
	}
}

func (r *algorithm) instances() {
	for _, s := range r.a.Instances {
		in := &pcal.Instance{Name: s.Name.Text, Set: s.In, Fair: r.fair(s.Fairness), Span: s.Name.Span(), Self: newSelf(s.Name.Span())}
		in.Id = r.model.Expr(s.Set)
		in.Archetype = r.archetypes[s.Archetype.Text]
		if in.Archetype == nil {
			r.error(s.Archetype.Span(), ArchetypeLookup, "", "there is no archetype %s", s.Archetype.Text)
			continue
		}
		params := in.Archetype.Params
		if len(params) != len(s.Args) {
			r.error(s.Span(), PClArityMismatch, "", "archetype %s takes %s, but is given %s", in.Archetype.Name,
				plural(len(params), "argument"), plural(len(s.Args), "argument"))
			continue
		}
		self := &core.LocalRef{At: at(s), Local: in.Self}
		scope := r.model.WithLocals(in.Self).WithExpr(in.Name, self)
		names := make([]string, len(params))
		for i, a := range s.Args {
			arg, name := r.instanceArgument(a, params[i], scope)
			in.Args, names[i] = append(in.Args, arg), name
		}
		for _, m := range s.Mappings {
			r.mapped(in, m, names)
		}
		r.checkCrashArguments(in)
		r.out.Instances = append(r.out.Instances, in)
	}
}

// instanceArgument lowers an argument and returns the name of what it passes.
func (r *algorithm) instanceArgument(a syntax.Expr, p *pcal.Param, scope *Scope) (pcal.Arg, string) {
	ref, ok := a.(*syntax.RefArg)
	if !ok {
		return pcal.Arg{X: scope.Expr(a), Count: p.Mapping, Span: a.Span()}, ""
	}
	arg := pcal.Arg{Count: ref.Indices, Span: a.Span()}
	v := scope.Lookup(ref.Name.Text).Variable
	switch {
	case v == nil || v == r.out.PC || v == r.out.Stack:
		r.error(ref.Name.Span(), DefinitionLookup, "", "there is no global variable %s to pass by reference", ref.Name.Text)
	case !p.Ref:
		r.error(a.Span(), MPCalMappingValueRefMismatch, "pass the value, without ref", "%s is passed by reference, and the parameter %s is not a ref", v.Name, p.Var.Name)
	case ref.Indices != p.Mapping:
		r.error(a.Span(), MPCalKindMismatch, "", "%s is passed with %s, and the parameter is ref %s", v.Name, plural(ref.Indices, "index"), indexed(p))
	default:
		arg.Ref = v
		return arg, v.Name
	}
	arg.X = &core.Bad{At: at(a)}
	return arg, ref.Name.Text
}

// mapped applies one mapping clause.
func (r *algorithm) mapped(in *pcal.Instance, m *syntax.Mapping, names []string) {
	macro := r.mappings[m.Macro.Text]
	if macro == nil {
		r.error(m.Macro.Span(), MappingMacroLookup, "", "there is no mapping macro %s", m.Macro.Text)
		return
	}
	var targets []int
	if m.Position != 0 {
		if m.Position > len(names) {
			r.error(m.Span(), MappingIndexOutOfBounds, "", "there is no argument @%d: archetype %s has %s", m.Position, in.Archetype.Name, plural(len(names), "argument"))
			return
		}
		targets = append(targets, m.Position-1)
	} else {
		for i, n := range names {
			if n == m.Target.Text {
				targets = append(targets, i)
			}
		}
		if len(targets) == 0 {
			r.error(m.Target.Span(), MappingLookup, "map by position: mapping @1 via "+macro.Name, "%s is no argument of this instance that is passed by reference", m.Target.Text)
			return
		}
	}
	for _, i := range targets {
		p := in.Archetype.Params[i]
		switch {
		case !p.Ref:
			r.error(m.Span(), MPCalMappingValueRefMismatch, "declare the parameter ref "+p.Var.Name, "the parameter %s is mapped, and is not a ref", p.Var.Name)
		case m.Indices != p.Mapping:
			r.error(m.Span(), MPCalKindMismatch, "", "the mapping has %s, and the parameter is ref %s", plural(m.Indices, "index"), indexed(p))
		case in.Args[i].Mapping != nil:
			r.error(m.Span(), MPCalMultipleMapping, "map it once", "the parameter %s is mapped already, via %s", p.Var.Name, in.Args[i].Mapping.Name)
		default:
			in.Args[i].Mapping = macro
		}
	}
}
