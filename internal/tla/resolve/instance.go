// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// instance resolves an INSTANCE, named or not. An instance copies the
// definitions of its module, with every constant and variable of that module
// replaced. A named instance gives them the names I!Op. An unnamed one adds
// them to the scope as symbols whose Origin is the definition. If the module
// has nothing to substitute, its definitions are used unchanged.
func (r *resolver) instance(u *syntax.Instance) {
	m := r.moduleNamed(u.Module)
	if m == nil {
		r.module.broken = true
		return
	}
	r.module.broken = r.module.broken || m.broken
	inst := &Instance{Node: u, In: r.module, Module: m}
	r.inner(func() {
		inst.Params = r.formals(u.Params, u)
		r.substitutions(inst)
	})
	r.info.Instances[u] = inst
	if !u.Name.IsZero() {
		s := &Symbol{Kind: Instanced, Name: u.Name.Text, Formals: inst.Params, Node: u, Span: u.Name.Span(), Local: u.Local, Instance: inst}
		for _, p := range u.Params {
			s.Params = append(s.Params, p.Arity)
		}
		r.declare(s)
		r.info.Defs[u] = s
		r.module.Defined = append(r.module.Defined, s)
		return
	}
	for _, name := range m.Names.order {
		b := m.Names.names[name]
		d := b.symbol
		if b.local || d.Kind == Constant || d.Kind == Variable || d.Kind == Nested {
			continue
		}
		if d.Module.closed() {
			r.bring(name, d, u.Local, u.Module.Span())
			continue
		}
		s := &Symbol{Kind: d.Kind, Name: d.Name, Params: d.Params, Formals: d.Formals, Module: r.module, Node: d.Node,
			Span: d.Span, Local: u.Local, Recursive: d.Recursive, Instance: inst, Origin: d}
		if old := r.scope.Lookup(name); old == nil {
			r.module.Defined = append(r.module.Defined, s)
		}
		r.bring(name, s, u.Local, u.Module.Span())
	}
}

// closed reports whether the module has nothing to substitute.
func (m *Module) closed() bool {
	return len(m.Constants) == 0 && len(m.Variables) == 0 && m.Outer == nil
}

// substitutions completes the list of replacements for constants and variables.
func (r *resolver) substitutions(inst *Instance) {
	u, m := inst.Node, inst.Module
	given := map[string]syntax.Substitution{}
	for _, w := range u.With {
		name := w.Name.Text
		if old, ok := given[name]; ok {
			r.diags.Add(source.Diagnostic{Code: SubstitutionTwice, Span: w.Name.Span(), Message: name + " is substituted twice",
				Repair: "remove one of the two", Related: []source.Note{{Span: old.Name.Span(), Message: "first here"}}})
			continue
		}
		given[name] = w
	}
	param := func(p *Symbol) {
		if w, ok := given[p.Name]; ok {
			delete(given, p.Name)
			r.argument(w.Value, p.Arity(), func() string { return fmt.Sprintf("%s of module %s", p.Name, m.Name) })
			inst.Subs = append(inst.Subs, Sub{Param: p, Value: w.Value})
			return
		}
		if s := r.implicit(inst, p); s != nil {
			inst.Subs = append(inst.Subs, Sub{Param: p, Symbol: s})
		}
	}
	for _, p := range m.Constants {
		param(p)
	}
	for _, p := range m.Variables {
		param(p)
	}
	for _, w := range u.With {
		if _, wrong := given[w.Name.Text]; !wrong || m.broken {
			continue
		}
		delete(given, w.Name.Text)
		near := source.NewNearest(w.Name.Text)
		for _, p := range append(append([]*Symbol(nil), m.Constants...), m.Variables...) {
			near.Offer(p.Name)
		}
		r.error(w.Name.Span(), SubstitutionUnknown, near.Repair(), "module %s has no constant or variable %s", m.Name, w.Name.Text)
	}
}

// implicit finds the symbol with the same name as the parameter p of an
// instance.
func (r *resolver) implicit(inst *Instance, p *Symbol) *Symbol {
	s := r.scope.Lookup(p.Name)
	d := source.Diagnostic{Code: SubstitutionMissing, Span: inst.Node.Module.Span(),
		Repair:  "add WITH " + p.Name + " <- ...",
		Related: []source.Note{{Span: p.Span, Message: "declared here"}}}
	what := "constant"
	if p.Kind == Variable {
		what = "variable"
	}
	switch {
	case s == nil:
		if r.module.broken {
			return nil
		}
		d.Message = fmt.Sprintf("%s %s of module %s has no substitution, and nothing here is named %s", what, p.Name, inst.Module.Name, p.Name)
	case s.Kind == Instanced || s.Kind == Fact:
		d.Message = fmt.Sprintf("%s %s of module %s has no substitution, and %s here is %s", what, p.Name, inst.Module.Name, p.Name, describe(s))
	case s.Arity() != p.Arity():
		d.Message = fmt.Sprintf("%s %s of module %s takes %s, but %s here takes %s", what, p.Name, inst.Module.Name, arguments(p), p.Name, arguments(s))
	default:
		return s
	}
	r.diags.Add(d)
	return nil
}
