// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// resolver resolves one module, or expressions in a scope of a module.
type resolver struct {
	*graph
	module *Module
	scope  *Scope
	depth  int
	// except is the number of enclosing EXCEPT values; @ has a meaning only
	// inside one.
	except int
	// announced are the symbols that RECURSIVE announced in this module or LET.
	announced []*Symbol
	// later has the positions of the module's definitions, and operators has
	// those that RECURSIVE can announce. Both are for messages and are built on
	// first use.
	later     map[string]source.Span
	operators map[string]bool
}

func (r *resolver) error(at source.Span, code source.Code, repair, format string, args ...any) {
	r.diags.Add(source.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Repair: repair})
}

// inner calls f with a new scope inside the current one.
func (r *resolver) inner(f func()) {
	saved := r.scope
	r.scope = NewScope(saved)
	f()
	r.scope = saved
}

// extends imports the names of the modules that the module extends.
func (r *resolver) extends() {
	m := r.module
	for _, name := range m.Syntax.Extends {
		e := r.moduleNamed(name)
		if e == nil {
			m.broken = true
			continue
		}
		m.broken = m.broken || e.broken
		m.Extends = append(m.Extends, e)
		for _, n := range e.Names.order {
			if b := e.Names.names[n]; !b.local {
				r.bring(n, b.symbol, false, name.Span())
			}
		}
		m.Constants = union(m.Constants, e.Constants)
		m.Variables = union(m.Variables, e.Variables)
	}
}

// union adds to list the elements of more that it lacks.
func union(list, more []*Symbol) []*Symbol {
	known := make(map[*Symbol]bool, len(list))
	for _, s := range list {
		known[s] = true
	}
	for _, s := range more {
		if !known[s] {
			known[s] = true
			list = append(list, s)
		}
	}
	return list
}

// moduleNamed finds a module that is nested in an enclosing module, or that of
// a file.
func (r *resolver) moduleNamed(name syntax.Name) *Module {
	if s := r.scope.Lookup(moduleKey(name.Text)); s != nil {
		if !s.Inner.done {
			r.cycle(name)
			return nil
		}
		return s.Inner
	}
	return r.find(name)
}

// bring imports a name of another module.
func (r *resolver) bring(name string, s *Symbol, local bool, at source.Span) {
	if old := r.scope.Lookup(name); old != nil {
		if !old.Same(s) {
			switch {
			case sameText(s, old):
				r.twin(at, name, s, old)
			case givesWay(s) && !givesWay(old):
				r.giveWay(at, old, s)
			case givesWay(old) && !givesWay(s):
				r.giveWay(at, s, old)
				r.scope.bind(name, s, local)
			default:
				r.conflict(at, name, s, old)
			}
			return
		}
		if b, ok := r.scope.names[name]; ok && (!b.local || local) {
			return
		}
	}
	r.scope.bind(name, s, local)
}

// sameText reports whether two definitions have the same text. Such a pair is
// accepted because specifications repeat a definition to add a comment that some
// tool reads.
func sameText(s, t *Symbol) bool {
	d, ok := s.source().Node.(*syntax.OperatorDef)
	e, also := t.source().Node.(*syntax.OperatorDef)
	return ok && also && words(d) == words(e)
}

// words returns the text of a tree without white space.
func words(n syntax.Node) string { return strings.Join(strings.Fields(syntax.Format(n)), " ") }

// twin warns that name comes from two modules with identical definitions.
func (r *resolver) twin(at source.Span, name string, s, old *Symbol) {
	r.diags.Add(source.Diagnostic{Severity: source.Warning, Code: DefinedAlike, Span: at,
		Message: fmt.Sprintf("%s of module %s is already defined here, identically; this one counts", name, s.source().Module.Name),
		Repair:  "remove one of the two definitions",
		Related: []source.Note{{Span: old.Span, Message: "the one that counts"}, {Span: s.Span, Message: "the other one"}}})
}

// givesWay reports whether another definition of the same name takes precedence
// over s. It does if s is an operator of a community module. Those modules have
// grown: an older specification may define an operator itself, or import an
// older module that defines it.
func givesWay(s *Symbol) bool {
	m := s.source().Module
	if m == nil || !m.Standard || s.Kind == Builtin {
		return false
	}
	switch m.Name {
	case "Naturals", "Integers", "Reals", "Sequences", "FiniteSets", "Bags", "TLC", "RealTime", "Randomization":
		return false
	}
	return true
}

// giveWay warns that s takes precedence over old.
func (r *resolver) giveWay(at source.Span, s, old *Symbol) {
	note := source.Note{Span: s.Span, Message: "the one that counts"}
	if s.Span == at {
		note = source.Note{Span: old.Span, Message: "the other one"}
	}
	r.diags.Add(source.Diagnostic{Severity: source.Warning, Code: Hides, Span: at,
		Message: fmt.Sprintf("%s of module %s no longer counts: this definition replaces it", old.Name, old.source().Module.Name),
		Repair:  "choose another name, or leave this definition out if it means the same",
		Related: []source.Note{note}})
}

// conflict reports that name comes from two places.
func (r *resolver) conflict(at source.Span, name string, s, old *Symbol) {
	if r.module.broken {
		return
	}
	whose := func(s *Symbol) string {
		if s.source().Module == nil || s.source().Module == r.module {
			return describe(s) + " of this module"
		}
		return describe(s) + " of module " + s.source().Module.Name
	}
	d := source.Diagnostic{Code: Redefined, Span: at}
	d.Message = fmt.Sprintf("%s would mean two things: %s and %s", name, whose(s), whose(old))
	d.Repair = "rename one of them, or make one LOCAL in its module"
	if old.Span.IsValid() {
		d.Related = append(d.Related, source.Note{Span: old.Span, Message: "other declaration here"})
	}
	if s.Span.IsValid() && s.Span != at {
		d.Related = append(d.Related, source.Note{Span: s.Span, Message: "declared here"})
	}
	r.diags.Add(d)
}

func describe(s *Symbol) string {
	switch s.Kind {
	case Builtin:
		return "an operator of the language"
	case Constant:
		return "a constant"
	case Variable:
		return "a variable"
	case Function:
		return "a function"
	case Bound:
		return "a bound name"
	case Instanced:
		return "an instance"
	case Nested:
		return "a module"
	case Fact:
		return "the name of a theorem or an assumption"
	}
	return "a definition"
}

// declare makes a new symbol of the module, or reports that its name is taken.
func (r *resolver) declare(s *Symbol) {
	s.Module = r.module
	old := r.scope.Lookup(s.Name)
	switch {
	case old == nil:
	case s.Kind == Bound && old.Kind == Bound:
		r.diags.Add(source.Diagnostic{Severity: source.Warning, Code: Shadowed, Span: s.Span,
			Message: s.Name + " hides another bound name",
			Repair:  "choose another name",
			Related: []source.Note{{Span: old.Span, Message: "other declaration here"}}})
	case r.module.broken:
	case givesWay(old) && !r.module.Standard:
		r.giveWay(s.Span, s, old)
	default:
		d := source.Diagnostic{Code: Redefined, Span: s.Span,
			Message: fmt.Sprintf("%s is declared already, as %s", s.Name, describe(old)), Repair: "choose another name"}
		if old.Module != nil && old.Module != r.module {
			d.Message += " of module " + old.Module.Name
		}
		if old.Span.IsValid() {
			d.Related = []source.Note{{Span: old.Span, Message: "other declaration here"}}
		}
		r.diags.Add(d)
	}
	r.scope.bind(s.Name, s, s.Local)
}

func (r *resolver) unit(u syntax.Unit) {
	switch u := u.(type) {
	case *syntax.VariableDecl:
		for _, n := range u.Names {
			s := &Symbol{Kind: Variable, Name: n.Text, Node: u, Span: n.Span()}
			r.declare(s)
			r.module.Variables = append(r.module.Variables, s)
		}
	case *syntax.ConstantDecl:
		for _, d := range u.Decls {
			s := &Symbol{Kind: Constant, Name: d.Name.Text, Params: make([]int, d.Arity), Node: u, Span: d.Name.Span()}
			r.declare(s)
			r.module.Constants = append(r.module.Constants, s)
		}
	case *syntax.Recursive:
		r.announce(u)
	case *syntax.OperatorDef:
		r.operator(u)
	case *syntax.FunctionDef:
		r.function(u)
	case *syntax.Instance:
		r.instance(u)
	case *syntax.Module:
		r.nested(u)
	case *syntax.Assume:
		r.module.Assumes = append(r.module.Assumes, u)
		r.fact(u, u.Name, u.Body)
	case *syntax.Theorem:
		r.fact(u, u.Name, u.Body)
	case *syntax.UseHide, *syntax.Separator, *syntax.BadUnit:
	}
}

func (r *resolver) nested(u *syntax.Module) {
	if r.count++; r.count > ModulesMax || len(r.path) > DepthMax {
		r.error(u.Name.Span(), TooManyModules, "", "more than %d modules are reached from %s", ModulesMax, r.info.Root.Name)
		return
	}
	m := &Module{Name: u.Name.Text, Syntax: u, Outer: r.module, Standard: r.module.Standard}
	s := &Symbol{Kind: Nested, Name: moduleKey(m.Name), Node: u, Span: u.Name.Span(), Inner: m}
	r.declare(s)
	r.path = append(r.path, u.Name)
	r.resolve(m, r.scope, Options{})
	r.path = r.path[:len(r.path)-1]
	r.module.broken = r.module.broken || m.broken
}

func (r *resolver) announce(u *syntax.Recursive) {
	for _, d := range u.Decls {
		s := &Symbol{Kind: Operator, Name: d.Name.Text, Params: make([]int, d.Arity), Span: d.Name.Span(), Recursive: true}
		r.declare(s)
		r.announced = append(r.announced, s)
	}
}

// define completes the symbol that RECURSIVE announced for a definition with
// what s has, and returns it. It returns nil if RECURSIVE did not announce the
// definition.
func (r *resolver) define(s *Symbol) *Symbol {
	a := r.scope.names[s.Name].symbol
	if a == nil || !a.pending() {
		r.info.Defs[s.Node] = s
		return nil
	}
	if a.Arity() != s.Arity() || maxOf(s.Params) > 0 {
		d := source.Diagnostic{Code: RecursiveMismatch, Span: s.Span,
			Message: fmt.Sprintf("%s takes %s, but RECURSIVE announced %s", s.Name, arguments(s), arguments(a)),
			Related: []source.Note{{Span: a.Span, Message: "announced here"}}}
		if maxOf(s.Params) > 0 {
			d.Message = s.Name + " is recursive and so cannot take operators as arguments"
		}
		r.diags.Add(d)
	}
	a.Kind, a.Params, a.Formals, a.Node, a.Span, a.Local = s.Kind, s.Params, s.Formals, s.Node, s.Span, s.Local
	r.info.Defs[s.Node] = a
	return a
}

// pending reports whether RECURSIVE announced s and nothing has defined it yet.
func (s *Symbol) pending() bool { return s.Recursive && s.Node == nil }

func maxOf(list []int) int {
	m := 0
	for _, n := range list {
		m = max(m, n)
	}
	return m
}

func arguments(s *Symbol) string { return count(s.Arity()) }

func count(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// recursiveDone reports names that RECURSIVE announced but no definition
// follows.
func (r *resolver) recursiveDone() {
	for _, s := range r.announced {
		if !s.pending() {
			continue
		}
		r.error(s.Span, RecursiveUndefined, "define it, or remove it here", "%s is announced by RECURSIVE and never defined", s.Name)
	}
	r.announced = nil
}

func (r *resolver) operator(u *syntax.OperatorDef) {
	s := &Symbol{Kind: Operator, Name: u.Name.Text, Node: u, Span: u.Name.Span(), Local: u.Local, Module: r.module}
	for _, p := range u.Params {
		s.Params = append(s.Params, p.Arity)
	}
	sym := r.define(s)
	r.inner(func() {
		formals := r.formals(u.Params, u)
		if s.Formals = formals; sym != nil {
			sym.Formals = formals
		}
		r.value(u.Body)
	})
	r.defined(s, sym)
}

// defined ends a definition; from here on its name is known.
func (r *resolver) defined(s, announced *Symbol) {
	if announced == nil {
		r.declare(s)
	} else {
		s = announced
		s.Module = r.module
		r.scope.bind(s.Name, s, s.Local)
	}
	r.module.Defined = append(r.module.Defined, s)
}

// formals declares parameters.
func (r *resolver) formals(params []syntax.OpDecl, node syntax.Node) []*Symbol {
	var out []*Symbol
	for _, p := range params {
		s := &Symbol{Kind: Bound, Name: p.Name.Text, Params: make([]int, p.Arity), Node: node, Span: p.Name.Span()}
		r.declareParameter(s)
		out = append(out, s)
	}
	r.info.Binds[node] = out
	return out
}

// declareParameter is declare in a separate scope. Two equal names in one
// parameter list are an error.
func (r *resolver) declareParameter(s *Symbol) {
	if o := r.scope.names[s.Name].symbol; o != nil {
		s.Module = r.module
		r.diags.Add(source.Diagnostic{Code: Redefined, Span: s.Span, Message: s.Name + " is bound twice in one list",
			Repair: "choose another name", Related: []source.Note{{Span: o.Span, Message: "other declaration here"}}})
		r.scope.bind(s.Name, s, false)
		return
	}
	r.declare(s)
}

func (r *resolver) function(u *syntax.FunctionDef) {
	s := &Symbol{Kind: Function, Name: u.Name.Text, Node: u, Span: u.Name.Span(), Local: u.Local, Module: r.module}
	sym := r.define(s)
	known := s
	if sym != nil {
		known = sym
	} else {
		r.declare(s)
	}
	r.bounds(u.Bounds, u, func() { r.value(u.Body) })
	r.scope.bind(known.Name, known, known.Local)
	known.Module = r.module
	r.module.Defined = append(r.module.Defined, known)
}

// fact resolves a theorem or an assumption and names it.
func (r *resolver) fact(u syntax.Unit, name syntax.Name, body syntax.Expr) {
	if ap, ok := body.(*syntax.AssumeProve); ok {
		r.inner(func() { r.assumeProve(ap) })
	} else {
		r.value(body)
	}
	s := &Symbol{Kind: Fact, Name: name.Text, Node: u, Span: name.Span(), Module: r.module}
	r.info.Defs[u] = s
	if !name.IsZero() {
		r.declare(s)
	}
}

// assumeProve resolves a sequent. The items after a declaration see the
// declared name.
func (r *resolver) assumeProve(ap *syntax.AssumeProve) {
	if !r.enter(ap) {
		return
	}
	defer r.leave()
	for _, item := range ap.Items {
		switch item := item.(type) {
		case *syntax.NewDecl:
			if item.Set != nil {
				r.value(item.Set)
			}
			s := &Symbol{Kind: Bound, Name: item.Decl.Name.Text, Params: make([]int, item.Decl.Arity), Node: item, Span: item.Decl.Name.Span()}
			if item.Kind == "VARIABLE" {
				s.Kind = Variable
			}
			r.declare(s)
			r.info.Binds[item] = []*Symbol{s}
		case *syntax.AssumeProve:
			r.inner(func() { r.assumeProve(item) })
		case syntax.Expr:
			r.value(item)
		}
	}
	if ap.Prove != nil {
		r.value(ap.Prove)
	}
}
