// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/model/tree"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// Evaluate is the value of a constant expression over the names of the
// specification. An error is a *check.EvalError.
func (m *Model) Evaluate(e core.Expr) (value.Value, error) { return m.EvaluateIn(e, nil) }

// EvaluateIn is the value of an expression in a state, given by the values of
// the variables in the order of Variables.
func (m *Model) EvaluateIn(e core.Expr, s []value.Value) (value.Value, error) {
	return m.EvaluateUntil(nil, e, s, nil)
}

// EvaluateUntil is the value of an expression in a step; next is nil where there is no
// next state. When stop returns true, the evaluation soon ends with an error; a nil stop
// never does. The reference evaluator is used: for an expression that is evaluated a few
// times, compiling costs more than it saves.
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

// Definition is what may be written at the end of the root module under this
// name, overrides considered; nil where there is nothing.
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
