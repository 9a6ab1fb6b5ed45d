// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// showAlias evaluates the alias. It returns nil if the alias has no value or is
// not a record.
func (m *Model) showAlias(at check.Shown, vals, next []value.Value) []check.Binding {
	var out []check.Binding
	w := m.newWorker()
	w.AskPath(func() ([]check.State, error) { return at.Path, nil })
	w.run.Level = at.Number
	if at.Number > 0 {
		w.run.Action = at.Action + 2
	}
	err := value.Catch(func() {
		v := w.ev.Value(m.alias.id, vector.Bare(vals), vector.Bare(next)).Normal()
		if v.Kind() != value.KindRecord {
			return
		}
		for name, x := range v.Fields {
			out = append(out, show(name, x))
		}
		// The fields of a record have no order. Show them in the order of the
		// specification's text, if it has one.
		order := m.fieldsOf(m.alias.expr)
		place := func(b check.Binding) int {
			if i := slices.Index(order, b.Name); i >= 0 {
				return i
			}
			return len(order)
		}
		slices.SortStableFunc(out, func(a, b check.Binding) int { return place(a) - place(b) })
	})
	if err != nil {
		return nil
	}
	return out
}

// fieldsOf returns the field names of a record constructor, or of a definition
// that is one, in the order of the text; nil for other expressions.
func (m *Model) fieldsOf(e core.Expr) []string {
	for range splitDepthMax {
		switch x := e.(type) {
		case *core.Record:
			var names []string
			for _, f := range x.Fields {
				names = append(names, f.Name)
			}
			return names
		case *core.Let:
			e = x.Body
		case *core.Call:
			d, _ := m.program.Resolve(x.Def)
			if d == nil || d.Body == nil {
				return nil
			}
			e = d.Body
		default:
			return nil
		}
	}
	return nil
}
