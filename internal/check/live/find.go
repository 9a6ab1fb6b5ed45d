// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"slices"
)

// Lasso is an infinite behaviour: Path leads from an initial state to the first
// state of Loop, without including it; after the last state of Loop comes its
// first again. A Loop of one state is stuttering.
type Lasso struct{ Path, Loop []uint32 }

// ErrTooLarge reports that the product of graph and automaton has more nodes
// than can be numbered.
var ErrTooLarge = errors.New("live: the product of the state graph and the formula's automaton is too large")

// productMax is how many nodes a product may have.
const productMax = 1<<31 - 2

// Find looks for a behaviour of g that satisfies p.Assume and not p.Property;
// nil means that there is none. It returns a *LimitError if a formula exceeds a
// limit, a *MemoryError, ErrTooLarge, the error of ctx, or what g returned.
func Find(ctx context.Context, g Graph, p Problem) (*Lasso, error) {
	if len(p.Atoms) > AtomsMax {
		return nil, &LimitError{"atoms", AtomsMax}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base := search{ctx: ctx, g: g, atoms: p.Atoms, room: p.MemoryBytes}
	var rest []*Formula
	branches := [][]condition{nil}
	for _, f := range conjuncts(All(p.Assume, Negate(p.Property)).normal(false)) {
		if f.Op == False {
			return nil, nil
		}
		if c, ok := conditionOf(f); ok {
			base.must(c)
		} else if choices := choicesOf(f); choices != nil && len(choices)*len(branches) <= branchesMax {
			branches = times(branches, choices)
		} else {
			rest = append(rest, f)
		}
	}
	var err error
	if base.a, err = translate(rest); err != nil {
		return nil, err
	}
	if int64(len(base.a.states))*int64(g.States()) > productMax {
		return nil, ErrTooLarge
	}
	base.ask = base.atom
	if err := base.reach(); err != nil {
		return nil, err
	}
	var best *Lasso
	for _, conditions := range branches {
		s := base
		s.ask = s.atom
		s.only, s.often, s.strong = slices.Clip(s.only), slices.Clone(s.often), slices.Clip(s.strong)
		for _, c := range conditions {
			s.must(c)
		}
		l, err := s.find()
		if err != nil {
			return nil, err
		}
		if l != nil && (best == nil || l.length() < best.length()) {
			best = l
		}
	}
	return best, nil
}

// branchesMax is the maximum number of disjuncts that are decided one after the
// other.
const branchesMax = 64

// times distributes a conjunction of disjunctions: one choice from each.
func times(branches, choices [][]condition) [][]condition {
	var out [][]condition
	for _, b := range branches {
		for _, c := range choices {
			out = append(out, append(slices.Clip(b), c...))
		}
	}
	return out
}

// must adds a condition that a run must satisfy.
func (s *search) must(c condition) {
	switch {
	case c.often == nil:
		s.only = append(s.only, c.ever)
	case c.ever == nil:
		s.often = append(s.often, c.often)
	default:
		s.strong = append(s.strong, c)
	}
}

// find looks for a behaviour that the automaton accepts and that satisfies the
// conditions.
func (s *search) find() (*Lasso, error) {
	found, err := s.components()
	if err != nil || len(found.accepted) == 0 {
		return nil, err
	}
	return found.lasso()
}

// length is the number of states that can be read.
func (l *Lasso) length() int { return len(l.Path) + len(l.Loop) }

func conjuncts(f *Formula) []*Formula {
	if f.Op == And {
		return f.Args
	}
	return []*Formula{f}
}

// search is the search of one product. Its nodes are pairs of a state of the
// graph and one of the automaton; the number of a node is that of the latter
// times the number of states, plus that of the former.
type search struct {
	ctx   context.Context
	g     Graph
	a     *automaton
	atoms []AtomKind
	room  int64 // maximum bytes; 0 for no bound
	taken int64

	// What a run must satisfy in the limit: from some step on only, infinitely
	// often each of often, and strong. The conditions of often that rejected a
	// component most recently come first.
	only   []*Formula
	often  []*Formula
	strong []condition

	reached *nodeSet // nil where it is every node

	// The current step.
	from, to uint32
	ask      func(atom int) bool
	err      error // of an atom
	polls    int
}

// pollEvery is how many nodes are expanded between two checks of the context.
const pollEvery = 1 << 12

// take accounts for the given number of bytes.
func (s *search) take(what string, bytes int64) error {
	s.taken += bytes
	if s.room > 0 && s.taken > s.room {
		return &MemoryError{What: what, Bytes: s.taken, Max: s.room}
	}
	return nil
}

// atom is the value of an atom on the current step.
func (s *search) atom(i int) bool {
	kind := s.atoms[i]
	if s.err != nil || kind != StateAtom && s.from == s.to {
		return kind == BoxAtom
	}
	v, err := s.g.Atom(i, s.from, s.to)
	s.err = err
	return v
}

func (s *search) state(n uint32) uint32 { return n % uint32(s.g.States()) }
func (s *search) aut(n uint32) int      { return int(n / uint32(s.g.States())) }

// each calls visit for every step of the product from node n, with its target
// and the promises that it postpones. It stops if visit returns false. The
// stuttering step comes first. Formulas that visit evaluates are about that
// step.
func (s *search) each(n uint32, visit func(m uint32, postponed uint64) bool) error {
	if s.polls++; s.polls%pollEvery == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	states := uint32(s.g.States())
	state, transitions := s.state(n), s.a.states[s.aut(n)]
	row, err := s.g.Steps(state)
	if err != nil {
		return err
	}
	s.from = state
	for to, begun := state, false; !begun || len(row) > 0; begun = true {
		if begun {
			to, row = nextStep(row, to)
		}
		s.to = to
		for i := range transitions {
			tr := &transitions[i]
			if tr.guard.holds(s.ask) && s.err == nil && !visit(uint32(tr.next)*states+to, tr.postponed) {
				return s.err
			}
			if s.err != nil {
				return s.err
			}
		}
	}
	return nil
}

// all reports whether every formula holds on the current step.
func (s *search) all(fs []*Formula) bool {
	for _, f := range fs {
		if !f.holds(s.ask) {
			return false
		}
	}
	return true
}

// reach finds the reachable nodes of the product. It passes over the states in
// their order until a pass finds nothing new; states are numbered breadth
// first, so few passes are enough.
func (s *search) reach() error {
	states, m := uint32(s.g.States()), uint32(len(s.a.states))
	if s.a.trivial() {
		return nil
	}
	if err := s.take("the nodes of a product", 2*nodeSetBytes(int64(states)*int64(m))); err != nil {
		return err
	}
	todo := newNodeSet(states * m)
	s.reached = newNodeSet(states * m)
	for i := range uint32(s.g.Initial()) {
		s.reached.add(i)
		todo.add(i)
	}
	for more := true; more; {
		more = false
		for state := range states {
			for a := uint32(0); a < m; a++ {
				n := a*states + state
				if !todo.has(n) {
					continue
				}
				todo.remove(n)
				more = true
				err := s.each(n, func(to uint32, _ uint64) bool {
					if !s.reached.has(to) {
						s.reached.add(to)
						todo.add(to)
					}
					return true
				})
				if err != nil {
					return err
				}
			}
		}
	}
	s.taken -= nodeSetBytes(int64(states) * int64(m))
	s.reached.count()
	return nil
}
