// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Evaluate returns the value of a constant expression over the names of the
// specification. An error is a *check.EvalError.
func (m *Model) Evaluate(e core.Expr) (value.Value, error) { return m.EvaluateIn(e, nil) }

// EvaluateIn returns the value of an expression in a state, given by the values
// of the variables in the order of Variables.
func (m *Model) EvaluateIn(e core.Expr, s []value.Value) (value.Value, error) {
	return m.EvaluateUntil(nil, e, s, nil)
}

// EvaluateUntil returns the value of an expression on a step; next is nil if there is no
// next state. When stop returns true, the evaluation soon ends with an error; stop may
// be nil. EvaluateUntil uses the reference evaluator: an expression that is evaluated
// only a few times is not worth compiling.
func (m *Model) EvaluateUntil(stop func() bool, e core.Expr, s, next []value.Value) (value.Value, error) {
	run := tlcget.New(m.common, m.workers.Add(1))
	run.Stop = stop
	r := tree.New(m.program, run)
	var v value.Value
	err := value.Catch(func() {
		v = r.Eval(e, nil, tree.State{Cur: s, Nxt: next}).Normal()
		if v.Kind() == value.KindSet && value.IsFinite(v) {
			v = value.Enumerate(v)
		}
	})
	if err != nil {
		return value.Value{}, &check.EvalError{Message: err.Error(), Places: r.Places()}
	}
	return v, nil
}

// Definition returns the definition to which this name refers at the end of the
// root module, overrides applied; nil if there is none.
func (m *Model) Definition(name string) *core.Def {
	d := m.program.Spec.Names[name]
	if d == nil {
		return nil
	}
	if to, _ := m.program.Resolve(d); to != nil {
		return to
	}
	return d
}
