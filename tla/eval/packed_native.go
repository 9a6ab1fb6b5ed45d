package eval

import (
	"errors"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/tla/pack"
)

// Native is a packed model as a program: what the program has to be told.
type Native struct {
	// Source is its package main.
	Source []byte
	Info   check.Info
	// Initial are all initial states in their order, duplicates included.
	Initial [][]byte
	// The numbers of the predicates in the program: of the constraints, the
	// constraints of actions, the invariants, and their antecedents.
	Constraints, ActionConstraints, Invariants, Antecedents []int
}

// nativeInitialMax is how many initial states a program is given.
const nativeInitialMax = 4 << 20

// Native is the model as a program that searches all of it by itself; nil where
// there can be none, and why: the model must have been packed, and everything
// that is asked of its states and steps must be. Properties of behaviours are
// left out. It evaluates the assumptions and the initial predicate; the error
// is that of stop, or of what it evaluates.
func (m *Model) Native(stop func() bool) (n *Native, why string, err error) {
	if m.packed == nil {
		return nil, "states are not packed", nil
	}
	if len(m.steps) > 0 {
		return nil, "there are properties of steps", nil
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
	if !ok {
		return nil, "not every predicate is packed: " + m.packed.lowered.Reasons(), nil
	}
	w := m.newPackedWorker()
	w.EndWhen(stop)
	if broken, err := w.Assumptions(); err != nil || len(broken) > 0 {
		return nil, "an assumption is false", err
	}
	errMany := errors.New("too many initial states, or one that is not packed")
	err = w.Init(func(_ int, s check.State) error {
		if len(n.Initial) >= nativeInitialMax || s[0]&1 == 0 {
			return errMany
		}
		n.Initial = append(n.Initial, append([]byte(nil), s...))
		return nil
	})
	if errors.Is(err, errMany) {
		return nil, errMany.Error(), nil
	}
	if err != nil {
		return nil, "the initial states have no value", err
	}
	n.Source = pack.Source(m.packed.lowered)
	return n, "", nil
}

// NativeRemarks tell what is odd about the states that a program visited: which
// antecedents were true in none, and which bits some and all states have.
func (m *Model) NativeRemarks(unmet []bool, ors, ands []uint64) []string {
	w := &packedWorker{worker: &worker{m: m}, p: m.packed, ors: ors, ands: ands}
	for i, no := range unmet {
		if no {
			w.unmet = append(w.unmet, i)
		}
	}
	return m.Remarks([]check.Worker{w})
}
