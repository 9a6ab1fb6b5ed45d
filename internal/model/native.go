// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
)

// Native is a packed model as a program: its source and its input.
type Native struct {
	// Source is the program's package main.
	Source []byte
	Info   check.Info
	// The numbers of the predicates in the program: of the constraints, the
	// action constraints, the invariants, their antecedents, and the parts of
	// Info.Steps that are about steps; -1 means none.
	Constraints, ActionConstraints, Invariants, Antecedents, StepNexts []int
}

// Native returns the model as a program that continues a search of its states on
// its own. If that is impossible, it returns nil and the reason: the model must
// be packed, and all checks of its states and steps must have packed code.
// Properties of behaviours are left out.
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

// NativeFits reports whether the program could have handled all states that were
// visited so far. It may be called during a search.
func (m *Model) NativeFits() bool { return m.packed != nil && !m.packed.odd.Load() }

// NativeRemarks reports what is unusual about the states that a program visited. unmet
// are the antecedents that were true in no state; ors and ands are the bits that are set
// in some and in all states.
func (m *Model) NativeRemarks(unmet []bool, ors, ands []uint64) []string {
	w := &packedWorker{worker: &worker{m: m}, p: m.packed, ors: ors, ands: ands}
	for i, no := range unmet {
		if no {
			w.unmet = append(w.unmet, i)
		}
	}
	return m.Remarks([]check.Worker{w})
}

// seenBits has the bits that are set in some and in all expanded states.
type seenBits struct{ ors, ands []uint64 }

// newBits returns the seenBits of no states.
func newBits(words int) seenBits {
	b := seenBits{make([]uint64, words), make([]uint64, words)}
	for i := range b.ands {
		b.ands[i] = ^uint64(0)
	}
	return b
}

// join adds the bits of other states.
func (b seenBits) join(ors, ands []uint64) {
	for i := range b.ors {
		b.ors[i] |= ors[i]
		b.ands[i] &= ands[i]
	}
}

// joinBits joins the bits that the workers saw with those that were seen before
// the search was resumed.
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

// saveBits encodes them for a checkpoint; nothing if states are not packed.
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
