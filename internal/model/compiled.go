// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/ashlar-dev/ashlar/internal/model/closure"

// compile makes code of the model's formulas.
func (m *Model) compile() *closure.Code {
	in := &closure.Source{Program: m.program, Shared: m.common, Codec: m.codec, Actions: m.actions,
		Algorithm: m.direct, Reduction: m.reduction, Profile: m.profile}
	for _, f := range m.formulas {
		kind := closure.Predicate
		switch f {
		case m.init:
			kind = closure.Initial
		case m.next:
			kind = closure.NextState
		case m.view, m.alias:
			kind = closure.Value
		}
		in.Formulas = append(in.Formulas, closure.Formula{Expr: f.expr, Kind: kind, Uncounted: m.isAntecedent(f)})
	}
	return closure.Compile(in)
}
