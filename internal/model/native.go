// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
)

// Native is a packed model as a program: its source, and the input that it needs.
type Native struct {
	// Source is its package main.
	Source []byte
	Info   check.Info
	// The numbers of the predicates in the program: of the constraints, the
	// constraints of actions, the invariants, their antecedents, and the parts of
	// Info.Steps that speak of steps, -1 where there is none.
	Constraints, ActionConstraints, Invariants, Antecedents, StepNexts []int
}

// Native is the model as a program that goes on with a search of its states by
// itself; nil where there can be none, and why: the model must have been packed,
// and everything that is asked of its states and steps must be. Properties of
// behaviours are left out.
func (m *Model) Native() (n *Native, why string) {
	switch {
	case m.packed == nil && m.unpacked == "":
		return nil, "states are not packed"
	case m.packed == nil:
		return nil, "states are not packed: " + m.unpacked
	case m.view != nil && len(m.symmetry) > 0:
		return nil, "there is a view beside a symmetry"
	case m.view != nil && m.packed.code.ViewLayout() == nil:
		return nil, "the view is not packed: " + m.packed.lowered.Reasons()
	case len(m.symmetry) > imagesMax:
		return nil, fmt.Sprintf("the symmetry has more than %d permutations", imagesMax)
	case len(m.symmetry) > 0 && m.packed.images == nil:
		return nil, "the symmetry does not permute packed states"
	}
	n = &Native{Info: m.info}
	ok := true
	number := func(f *formula) int {
		i := m.packed.preds[f.id]
		ok = ok && i >= 0
		return i
	}
	for _, f := range m.constraints {
		n.Constraints = append(n.Constraints, number(f))
	}
	for _, f := range m.actionConstraints {
		n.ActionConstraints = append(n.ActionConstraints, number(f))
	}
	for _, f := range m.invariants {
		n.Invariants = append(n.Invariants, number(f))
	}
	for _, a := range m.antecedents {
		n.Antecedents = append(n.Antecedents, number(a.f))
	}
	for _, s := range m.steps {
		next := -1
		if s.next != nil {
			next = number(s.next)
		}
		n.StepNexts = append(n.StepNexts, next)
	}
	if !ok {
		return nil, "not every predicate is packed: " + m.packed.lowered.Reasons()
	}
	n.Source = pack.Source(m.packed.lowered, m.packed.images)
	return n, ""
}

// NativeFits reports whether the program would have dealt with all states that were
// met so far. It may be called beside a search.
func (m *Model) NativeFits() bool { return m.packed != nil && !m.packed.odd.Load() }

// NativeRemarks report what is unusual about the states that a program visited. Unmet are
// the antecedents that were true in none, ors and ands the bits that some and all have.
func (m *Model) NativeRemarks(unmet []bool, ors, ands []uint64) []string {
	w := &packedWorker{worker: &worker{m: m}, p: m.packed, ors: ors, ands: ands}
	for i, no := range unmet {
		if no {
			w.unmet = append(w.unmet, i)
		}
	}
	return m.Remarks([]check.Worker{w})
}

// seenBits are the bits that some and all states have that were expanded.
type seenBits struct{ ors, ands []uint64 }

// newBits are those of no state.
func newBits(words int) seenBits {
	b := seenBits{make([]uint64, words), make([]uint64, words)}
	for i := range b.ands {
		b.ands[i] = ^uint64(0)
	}
	return b
}

// join adds those of other states.
func (b seenBits) join(ors, ands []uint64) {
	for i := range b.ors {
		b.ors[i] |= ors[i]
		b.ands[i] &= ands[i]
	}
}

// joinBits joins what the workers saw, and what was seen before a search was
// resumed.
func (m *Model) joinBits(workers []check.Worker) seenBits {
	out := newBits(m.packed.layout.Words())
	out.join(m.packed.before.ors, m.packed.before.ands)
	for _, w := range workers {
		switch w := w.(type) {
		case *packedWorker:
			out.join(w.ors, w.ands)
		case *packedKeyedWorker:
			out.join(w.ors, w.ands)
		}
	}
	return out
}

// saveBits is what a checkpoint keeps of them: nothing where states are not packed.
func (m *Model) saveBits(workers []check.Worker) []byte {
	if m.packed == nil {
		return nil
	}
	seen := m.joinBits(workers)
	var out []byte
	for i := range seen.ors {
		out = binary.LittleEndian.AppendUint64(out, seen.ors[i])
		out = binary.LittleEndian.AppendUint64(out, seen.ands[i])
	}
	return out
}

// restoreBits reads what saveBits has written.
func (m *Model) restoreBits(b []byte) error {
	if m.packed == nil {
		if len(b) > 0 {
			return vector.ErrKept
		}
		return nil
	}
	if len(b) != 16*m.packed.layout.Words() {
		return vector.ErrKept
	}
	for i := range m.packed.before.ors {
		m.packed.before.ors[i] = binary.LittleEndian.Uint64(b[16*i:])
		m.packed.before.ands[i] = binary.LittleEndian.Uint64(b[16*i+8:])
	}
	return nil
}
