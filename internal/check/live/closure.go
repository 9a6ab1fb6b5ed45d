// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
)

// ErrForm reports that Stuck cannot decide: fairness has a form that it does
// not know, or finding the ways to fair behaviours takes too many rounds.
var ErrForm = errors.New("live: whether this fairness is machine closed is not known")

// Stuck looks for a reachable state from which no behaviour satisfies p.Assume: fairness is
// machine closed on this graph exactly if there is none (Abadi and Lamport, The Existence
// of Refinement Mappings, section 2.3). It returns the lowest such state; ok reports
// whether there is one. It ignores p.Property. The errors are those of Find, and ErrForm.
func Stuck(ctx context.Context, g Graph, p Problem) (state uint32, ok bool, err error) {
	s := search{ctx: ctx, g: g, atoms: p.Atoms, room: p.MemoryBytes}
	for _, f := range conjuncts(p.Assume.normal(false)) {
		c, ok := conditionOf(f)
		switch {
		case f.Op == True:
			return 0, false, nil
		case !ok:
			return 0, false, ErrForm
		}
		s.must(c)
	}
	if s.a, err = translate(nil); err != nil {
		return 0, false, err
	}
	s.ask = s.atom
	t, err := s.components()
	if err != nil {
		return 0, false, err
	}
	if err := s.take("the states with fair behaviours", nodeSetBytes(int64(g.States()))); err != nil {
		return 0, false, err
	}
	fair, err := t.reaching()
	if err != nil {
		return 0, false, err
	}
	for n := range uint32(g.States()) {
		if !fair.has(n) {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// sweepsMax bounds the passes that reaching makes over all states.
const sweepsMax = 64

// reaching are the nodes that lead to a component that accepts. States are numbered
// breadth first, so alternating backward and forward passes need few rounds; if
// they need too many, it gives up with ErrForm.
func (t *tarjan) reaching() (*nodeSet, error) {
	states := uint32(t.s.g.States())
	fair, comps := newNodeSet(states), map[uint32]bool{}
	for _, a := range t.accepted {
		comps[closed|a.comp] = true
	}
	for n := range states {
		if comps[t.mark[n]] {
			fair.add(n)
		}
	}
	for sweep := range sweepsMax {
		more := false
		for i := range states {
			n := i
			if sweep%2 == 0 {
				n = states - 1 - i
			}
			if fair.has(n) {
				continue
			}
			err := t.s.each(n, func(m uint32, _ uint64) bool {
				if fair.has(m) {
					fair.add(n)
					more = true
				}
				return !fair.has(n)
			})
			if err != nil {
				return nil, err
			}
		}
		if !more {
			return fair, nil
		}
	}
	return nil, ErrForm
}
