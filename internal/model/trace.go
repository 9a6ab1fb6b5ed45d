// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// AskPath sets the function that returns the path to the state whose successors
// are being computed, for Trace.
func (w *worker) AskPath(path func() ([]check.State, error)) {
	w.run.World.Trace = func() value.Value { return w.trace(path) }
}

// trace returns the behaviour up to the current state: the state whose
// successors are being computed or, if the expression is about it, the
// candidate.
func (w *worker) trace(path func() ([]check.State, error)) value.Value {
	states, err := path()
	if err != nil {
		panic(tlcget.ErrStopped) // the checker knows why
	}
	var out []value.Value
	for _, s := range states {
		out = append(out, w.m.recordOf(w.m.Decode(s)))
	}
	if len(w.asked) > 0 && &w.asked[0] == &w.seen.Vals[0] {
		out = append(out, w.m.recordOf(w.asked))
	}
	return value.TupleOf(out)
}

// recordOf returns a state as a record of its variables.
func (m *Model) recordOf(vals []value.Value) value.Value {
	fields := make([]value.Field, len(vals))
	for i, v := range vals {
		fields[i] = value.Field{Name: m.program.Spec.Variables[i].Name, Val: v}
	}
	return value.Record(fields)
}
