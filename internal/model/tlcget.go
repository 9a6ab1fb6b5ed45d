// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"

	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// parts is the value of TLCGet("spec"): the formulas of each kind that the configuration
// names or the specification consists of, with their names and positions. It does not
// have the numbers of their evaluations.
func (m *Model) parts() value.Value {
	formulas := func(fs ...*formula) value.Value {
		var out []value.Value
		for _, f := range fs {
			if f != nil {
				out = append(out, m.part(f.name, f.expr))
			}
		}
		return value.SetOf(out)
	}
	var actions, variables, fairness, properties []value.Value
	if m.direct != nil {
		for _, a := range m.info.Actions {
			actions = append(actions, tlcget.Record("name", value.String(a.Name)))
		}
	} else if m.actions != nil {
		for _, a := range m.actions.List {
			actions = append(actions, m.part(a.Name, a.Expr))
		}
	}
	for _, v := range m.program.Spec.Variables {
		variables = append(variables, tlcget.Record("location", location(v.Span, m.program.Spec.Name), "name", value.String(v.Name)))
	}
	for _, e := range m.fairness {
		fairness = append(fairness, m.part(e.Span().Text(), e))
	}
	for _, t := range m.temporal {
		for _, e := range t.parts {
			properties = append(properties, m.part(t.name.Text, e))
		}
	}
	var inits, nexts []*formula
	for _, s := range m.steps {
		inits, nexts = append(inits, s.init), append(nexts, s.next)
	}
	return tlcget.Record("actionconstraints", formulas(m.actionConstraints...), "actions", value.SetOf(actions),
		"constraints", formulas(m.constraints...), "impliedactions", formulas(nexts...), "impliedinits", formulas(inits...),
		"impliedtemporals", value.SetOf(properties), "inits", formulas(m.init), "invariants", formulas(m.invariants...),
		"temporals", value.SetOf(fairness), "variables", value.SetOf(variables))
}

// part returns a formula as a record of its name and its location. The location of a
// name is that of its definition.
func (m *Model) part(name string, e core.Expr) value.Value {
	module := m.program.Spec.Name
	for range splitDepthMax {
		call, ok := e.(*core.Call)
		if !ok {
			break
		}
		d, _ := m.program.Resolve(call.Def)
		if d == nil || d.Body == nil {
			break
		}
		e, module = d.Body, d.Module
	}
	return tlcget.Record("location", location(e.Span(), module), "name", value.String(name))
}

// location returns a source position as a value.
func location(at source.Span, module string) value.Value {
	var from, to source.Position
	if at.IsValid() {
		from, to = at.From(), at.To()
		file := at.File.Name
		module = strings.TrimSuffix(file[strings.LastIndexAny(file, `/\\`)+1:], ".tla")
	}
	return tlcget.Record("beginColumn", value.Int(int32(from.Column)), "beginLine", value.Int(int32(from.Line)),
		"endColumn", value.Int(int32(max(from.Column, to.Column-1))), "endLine", value.Int(int32(to.Line)), "module", value.String(module))
}
