package live

import (
	"context"
	"errors"
)

// ErrForm is that fairness is of a form of which Stuck knows nothing.
var ErrForm = errors.New("live: the fairness is no conjunction of weak and strong fairness")

// Stuck looks for a state that can be reached and from which no behaviour that
// satisfies p.Assume goes on: fairness is machine closed on this graph exactly
// where there is none (Abadi and Lamport, The Existence of Refinement Mappings, section
// 2.3). It is the least one; ok says whether there is one. p.Property is not looked at. The
// errors are those of Find, and ErrForm.
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

// reaching are the nodes that lead to a component that accepts. States are numbered
// breadth first, so most steps lead to greater numbers, and going through them backwards
// takes few rounds.
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
	for more := true; more; {
		more = false
		for n := states; n > 0; {
			n--
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
	}
	return fair, nil
}
