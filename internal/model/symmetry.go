// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/symmetry"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// If the configuration has a SYMMETRY, a state is identified by the name of its
// orbit; if it has a VIEW, by the value of the view in one state of the orbit,
// which is always the same one.

// symmetry evaluates the SYMMETRY of the configuration and computes its group.
func (b *builder) symmetry() {
	if !b.cfg.Symmetry.IsSet() {
		return
	}
	d := b.lookup(b.cfg.Symmetry)
	if d == nil {
		return
	}
	bad := func(what string) {
		b.diags.Errorf(b.cfg.Symmetry.Span, BadSymmetry, "the symmetry %s %s; it must be a set of permutations of model values", b.cfg.Symmetry.Text, what)
	}
	set, err := b.m.Evaluate(&core.Call{At: core.At{Place: d.Span}, Def: d})
	if err != nil {
		b.diags.Add(source.Diagnostic{Code: BadSymmetry, Span: b.cfg.Symmetry.Span, Message: "the symmetry has no value: " + err.Error()})
		return
	}
	group, wrong := symmetry.Group(set)
	if wrong != "" {
		bad(wrong)
		return
	}
	b.m.symmetry = group
	if b.m.view == nil && !b.o.permute {
		b.m.orbits = symmetry.NewOrbits(group)
	}
	if len(b.m.info.Unchecked) > 0 {
		b.m.info.Warnings = append(b.m.info.Warnings, "symmetry must not be used when liveness is checked: properties of behaviours may be missed")
	}
}

// keyedWorker is a worker of a model with a view or a symmetry.
type keyedWorker struct {
	*worker
	keys *symmetry.Keys
}

// Capabilities returns the features of the embedded worker, and keys.
func (w *keyedWorker) Capabilities() check.Capabilities {
	can := w.worker.Capabilities()
	can.Key = w.Key
	return can
}

// Key returns the key of the candidate.
func (w *keyedWorker) Key() (check.State, error) { return w.key(w.keys) }

func (m *Model) newKeys() *symmetry.Keys {
	return symmetry.NewKeys(m.codec, m.symmetry, m.orbits)
}

// key returns the key of the candidate, which is encoded in buf.
func (w *worker) key(keys *symmetry.Keys) (check.State, error) {
	if w.m.view == nil {
		return keys.Name(w.seen, w.buf), nil
	}
	view, err := w.viewOf(vector.Bare(keys.Least(w.seen, w.buf)))
	if err != nil {
		return nil, err
	}
	w.viewed = w.m.codec.Values.AppendTo(w.viewed[:0], view)
	return w.viewed, nil
}

// viewOf returns the value of the view in a state.
func (w *worker) viewOf(state vector.Vector) (v value.Value, err error) {
	err = w.guard(w.m.view, state, vector.Vector{}, func() { v = w.ev.Value(w.m.view.id, state, vector.Vector{}).Normal() })
	return v, err
}
