// SPDX-License-Identifier: Apache-2.0

package program

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func (p *Program) bindValues(cfg *config.Config, diags *source.List) {
	for _, a := range cfg.Constants {
		cs, ds := p.targets(a.Name, a.Module)
		if len(cs)+len(ds) == 0 {
			p.undeclared(a.Name, diags)
			continue
		}
		val, args, err := configValues(a)
		if err != nil {
			diags.Errorf(a.Name.Span, NoValue, "the value of %s is none: %v", a.Name.Text, err)
		}
		set := func(arity int, old Replacement) Replacement {
			if arity != len(a.Args) {
				diags.Errorf(a.Name.Span, WrongArity, "%s takes %d arguments, the configuration gives %d", a.Name.Text, arity, len(a.Args))
			}
			if len(a.Args) == 0 {
				return Replacement{Val: val}
			}
			return Replacement{Table: append(old.Table, row{args, val})}
		}
		for _, c := range cs {
			p.Constants[c] = set(c.Arity, p.Constants[c])
		}
		for _, d := range ds {
			p.Overrides[d] = set(len(d.Params), p.Overrides[d])
		}
	}
}

func (p *Program) bindOverrides(cfg *config.Config, diags *source.List) {
	for _, o := range cfg.Overrides {
		cs, ds := p.targets(o.Name, o.Module)
		if len(cs)+len(ds) == 0 {
			p.Unknown(o.Name, diags)
			continue
		}
		op := p.Spec.Names[o.Op.Text]
		if op == nil {
			// "N <- M" where M is itself a constant.
			if c := p.Constant(o.Op.Text); c != nil {
				op = &core.Def{Name: c.Name, Module: c.Module, Span: c.Span, Body: &core.ConstRef{At: core.At{Place: c.Span}, Const: c}}
			}
		}
		if op == nil {
			p.Unknown(o.Op, diags)
			for _, c := range cs {
				p.Constants[c] = Replacement{} // what is wrong with it has been said
			}
			continue
		}
		check := func(arity int) {
			if arity != len(op.Params) {
				diags.Errorf(o.Op.Span, WrongArity, "%s takes %d arguments, %s takes %d", o.Name.Text, arity, o.Op.Text, len(op.Params))
			}
		}
		for _, c := range cs {
			check(c.Arity)
			p.Constants[c] = Replacement{Def: op}
		}
		for _, d := range ds {
			check(len(d.Params))
			p.Overrides[d] = Replacement{Def: op}
		}
	}
}

// targets finds the constants and definitions to which a name on the left side
// of a configuration's assignment refers, in one module or in the root module.
func (p *Program) targets(name, module config.Name) (cs []*core.Constant, ds []*core.Def) {
	for _, c := range p.Spec.Constants {
		if c.Name == name.Text && (!module.IsSet() || c.Module == module.Text) {
			cs = append(cs, c)
		}
	}
	if module.IsSet() {
		for _, d := range p.Spec.Defs {
			if d.Name == name.Text && d.Module == module.Text {
				ds = append(ds, d)
			}
		}
		if len(cs)+len(ds) == 0 { // the module has the name from another one
			for _, d := range p.Spec.Defs {
				if d.Name == name.Text {
					ds = append(ds, d)
				}
			}
		}
		return cs, ds
	}
	if d := p.Spec.Names[name.Text]; d != nil {
		ds = append(ds, d)
	}
	return cs, ds
}

// Unknown reports a name that the specification does not declare.
func (p *Program) Unknown(n config.Name, diags *source.List) {
	if d, ok := p.misnamed(n); ok {
		diags.Add(d)
		return
	}
	d := source.Diagnostic{Code: UnknownName, Span: n.Span, Message: "the specification neither declares nor defines " + n.Text}
	near := source.NewNearest(n.Text)
	for name, def := range p.Spec.Names {
		if !def.Native {
			near.Offer(name)
		}
	}
	for _, c := range p.Spec.Constants {
		near.Offer(c.Name)
	}
	d.Repair = near.Repair()
	diags.Add(d)
}

// undeclared warns of a value for a constant that the specification does not
// declare. It is only a warning because TLC ignores such values and many
// configurations have one, such as defaultInitValue = defaultInitValue. A value
// for a variable is an error, because the author means it as the initial value.
func (p *Program) undeclared(n config.Name, diags *source.List) {
	var found source.List
	p.Unknown(n, &found)
	variable := slices.ContainsFunc(p.Spec.Variables, func(v *core.Variable) bool { return v.Name == n.Text })
	for _, d := range found.Sorted() {
		if variable {
			diags.Add(d)
			continue
		}
		d.Severity = source.Warning
		d.Message += "; its value is ignored"
		diags.Add(d)
	}
}

// misnamed returns a diagnostic for a name in a configuration that the
// specification declares as something else, or as two parts. It returns false if
// the name is simply unknown.
func (p *Program) misnamed(n config.Name) (source.Diagnostic, bool) {
	d := source.Diagnostic{Code: UnknownName, Span: n.Span}
	for _, v := range p.Spec.Variables {
		if v.Name == n.Text {
			d.Message = n.Text + " is a variable; a configuration gives values to constants and names definitions"
			d.Repair = "give it its first value in the initial predicate"
			d.Related = []source.Note{{Span: v.Span, Message: "declared here"}}
			return d, true
		}
	}
	if n.Text == "Spec" && p.Spec.Names["Init"] != nil && p.Spec.Names["Next"] != nil {
		d.Message = "the specification neither declares nor defines Spec"
		d.Repair = `write INIT Init and NEXT Next, or define Spec == Init /\ [][Next]_vars`
		return d, true
	}
	return d, false
}

// configValues converts the values in a configuration's assignment, including
// those in its arguments.
func configValues(a config.Constant) (val value.Value, args []value.Value, err error) {
	err = value.Catch(func() {
		val = configValue(a.Value)
		for _, x := range a.Args {
			args = append(args, configValue(x))
		}
	})
	return val, args, err
}

// configValue converts a value of a configuration.
func configValue(v config.Value) value.Value {
	elems := func() []value.Value {
		vs := make([]value.Value, len(v.Elems))
		for i, e := range v.Elems {
			vs[i] = configValue(e)
		}
		return vs
	}
	switch v.Kind {
	case config.Int:
		return value.Int(v.Int)
	case config.Bool:
		return value.Bool(v.Bool)
	case config.Str:
		return value.String(v.Text)
	case config.Model:
		return value.Model(v.Text)
	case config.Set:
		return value.SetOf(elems())
	case config.Tuple:
		return value.TupleOf(elems())
	}
	fields := make([]value.Field, len(v.Fields))
	for i, f := range v.Fields {
		fields[i] = value.Field{Name: f.Name.Text, Val: configValue(f.Value)}
	}
	return value.Record(fields)
}

func (p *Program) Constant(name string) *core.Constant {
	for _, c := range p.Spec.Constants {
		if c.Name == name {
			return c
		}
	}
	return nil
}
