package live

import (
	"context"
	"errors"
	"slices"
)

// Lasso is a behaviour that goes round for ever: Path leads from an initial
// state to the first state of Loop, without it; after the last state of Loop
// comes its first again. In a Loop of one state nothing happens.
type Lasso struct{ Path, Loop []uint32 }

// ErrTooLarge is that the product of a graph and an automaton has more nodes
// than can be numbered.
var ErrTooLarge = errors.New("live: the product of the state graph and the formula's automaton is too large")

// productMax is how many nodes a product may have.
const productMax = 1<<31 - 2

// Find looks for a behaviour of g that satisfies p.Assume and not p.Property;
// nil means that there is none. It returns a *LimitError where a formula is
// beyond a limit, ErrTooLarge, or the error of ctx.
func Find(ctx context.Context, g *Graph, p Problem) (*Lasso, error) {
	if len(p.Atoms) > AtomsMax {
		return nil, &LimitError{"atoms", AtomsMax}
	}
	l := newLayout(p.Atoms)
	s := &search{ctx: ctx, g: g, layout: l}
	var rest []*Formula
	for _, f := range conjuncts(All(l.place(p.Assume), Negate(l.place(p.Property))).normal(false)) {
		if f.Op == False {
			return nil, nil
		}
		if c, ok := conditionOf(f); ok {
			s.conditions = append(s.conditions, c)
		} else {
			rest = append(rest, f)
		}
	}
	var err error
	if s.a, err = translate(rest); err != nil {
		return nil, err
	}
	if int64(len(s.a.states))*int64(g.States()) > productMax {
		return nil, ErrTooLarge
	}
	if err := s.reach(); err != nil {
		return nil, err
	}
	return s.components()
}

func conjuncts(f *Formula) []*Formula {
	if f.Op == And {
		return f.Args
	}
	return []*Formula{f}
}

// search is the search of one product: its nodes are pairs of a state of the
// graph and one of the automaton, numbered as they are reached, breadth first.
type search struct {
	ctx        context.Context
	g          *Graph
	a          *automaton
	layout     *layout
	conditions []condition

	number []uint32 // of the node (state, automaton state), plus one
	nodes  []node
	letter []uint64
}

type node struct {
	state  uint32
	aut    uint16
	parent int32 // -1 at a root
}

// pollEvery is how many nodes are expanded between two looks at the context.
const pollEvery = 1 << 12

func (s *search) index(state uint32, aut int) int {
	return int(state)*len(s.a.states) + aut
}

// steps calls visit for every step of the product from node n: where it leads,
// the letter (valid during the call), and what it postpones. It stops where
// visit is false. The stuttering step comes first.
func (s *search) steps(n int, visit func(state uint32, aut int, letter []uint64, postponed uint64) bool) {
	g, l := s.g, s.layout
	at := s.nodes[n]
	if s.letter == nil {
		s.letter = make([]uint64, l.stateWords+l.stepWords)
	}
	copy(s.letter, g.StateAtoms[int(at.state)*l.stateWords:][:l.stateWords])
	from, to := g.Start[at.state], g.Start[at.state+1]
	for e := int64(from) - 1; e < int64(to); e++ {
		state := at.state
		if e < int64(from) {
			copy(s.letter[l.stateWords:], l.stutter)
		} else {
			state = g.To[e]
			copy(s.letter[l.stateWords:], g.StepAtoms[int(e)*l.stepWords:][:l.stepWords])
		}
		for i := range s.a.states[at.aut] {
			tr := &s.a.states[at.aut][i]
			if tr.guard.holds(s.letter) && !visit(state, tr.next, s.letter, tr.postponed) {
				return
			}
		}
	}
}

// reach numbers the nodes of the product.
func (s *search) reach() error {
	s.number = make([]uint32, s.g.States()*len(s.a.states))
	add := func(state uint32, aut int, parent int) {
		i := s.index(state, aut)
		if s.number[i] == 0 {
			s.nodes = append(s.nodes, node{state, uint16(aut), int32(parent)})
			s.number[i] = uint32(len(s.nodes))
		}
	}
	for i := range s.g.Initial {
		add(uint32(i), 0, -1)
	}
	for n := 0; n < len(s.nodes); n++ {
		if n%pollEvery == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		s.steps(n, func(state uint32, aut int, _ []uint64, _ uint64) bool {
			add(state, aut, n)
			return true
		})
	}
	return nil
}

// part is a set of nodes to be searched for components, with what must hold of
// the steps that may be used.
type part struct {
	nodes []int32 // nil for all
	only  []*Formula
}

// components looks for a component that accepts, first in the whole product,
// then in what is left of components that would accept without some steps. Of
// all that accept it takes the one that is reached soonest.
func (s *search) components() (*Lasso, error) {
	var best *lassoPlan
	work := []part{{}}
	t := newTarjan(s)
	for number := int32(1); len(work) > 0; number++ {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		if p.nodes == nil {
			p.nodes = make([]int32, len(s.nodes))
			for i := range p.nodes {
				p.nodes[i] = int32(i)
			}
		}
		if err := t.run(p.nodes, number, p.only); err != nil {
			return nil, err
		}
		for _, c := range t.found {
			if best != nil && c.first >= best.first {
				continue // it would not be reached sooner, nor would a part of it
			}
			plan, narrower := s.judge(c, t, p.only)
			switch {
			case plan != nil:
				best = plan
			case narrower != nil:
				work = append(work, part{c.nodes, append(p.only[:len(p.only):len(p.only)], narrower...)})
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	return s.lasso(best), nil
}

// component is a strongly connected component with at least one step.
type component struct {
	nodes []int32
	first int32 // the lowest of them
	id    int32
}

// tarjan finds the components of a part of the product, without recursion. Its
// arrays are by node, and serve one part after the other.
type tarjan struct {
	s     *search
	in    []int32 // the number of the last part that the node was in
	part  int32
	only  []*Formula
	low   []int32
	order []int32 // 0 while the node has not been seen
	comp  []int32 // the node's component, 0 while it is open
	found []component
}

func newTarjan(s *search) *tarjan {
	n := len(s.nodes)
	return &tarjan{s: s, in: make([]int32, n), low: make([]int32, n), order: make([]int32, n), comp: make([]int32, n)}
}

// inside calls visit for the steps that stay in the part and may be used.
func (t *tarjan) inside(n int32, visit func(m int32, letter []uint64, postponed uint64) bool) {
	s := t.s
	s.steps(int(n), func(state uint32, aut int, letter []uint64, postponed uint64) bool {
		m := int32(s.number[s.index(state, aut)]) - 1
		if t.in[m] != t.part {
			return true
		}
		for _, f := range t.only {
			if !f.holds(letter) {
				return true
			}
		}
		return visit(m, letter, postponed)
	})
}

// frame is a node whose steps are being followed.
type frame struct {
	node  int32
	succs []int32
}

func (t *tarjan) run(nodes []int32, part int32, only []*Formula) error {
	t.part, t.only, t.found = part, only, nil
	for _, n := range nodes {
		t.in[n], t.order[n], t.comp[n] = part, 0, 0
	}
	var stack []int32
	var frames []frame
	seen := int32(0)
	push := func(n int32) {
		seen++
		t.order[n], t.low[n] = seen, seen
		stack = append(stack, n)
		var succs []int32
		t.inside(n, func(m int32, _ []uint64, _ uint64) bool {
			if m != n {
				succs = append(succs, m)
			}
			return true
		})
		frames = append(frames, frame{n, succs})
	}
	closed := int32(0)
	for i, root := range nodes {
		if i%pollEvery == 0 && t.s.ctx.Err() != nil {
			return t.s.ctx.Err()
		}
		if t.order[root] != 0 {
			continue
		}
		push(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if len(f.succs) > 0 {
				m := f.succs[0]
				f.succs = f.succs[1:]
				if t.order[m] == 0 {
					push(m)
				} else if t.comp[m] == 0 {
					t.low[f.node] = min(t.low[f.node], t.order[m])
				}
				continue
			}
			n := f.node
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].node
				t.low[up] = min(t.low[up], t.low[n])
			}
			if t.low[n] == t.order[n] {
				closed++
				stack = t.close(stack, n, closed)
			}
		}
	}
	return nil
}

// close takes the component of n from the stack.
func (t *tarjan) close(stack []int32, n, id int32) []int32 {
	c := component{id: id, first: n}
	for {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.comp[m] = id
		c.nodes = append(c.nodes, m)
		c.first = min(c.first, m)
		if m == n {
			break
		}
	}
	cycle := len(c.nodes) > 1
	if !cycle {
		t.inside(n, func(m int32, _ []uint64, _ uint64) bool {
			cycle = m == n
			return !cycle
		})
	}
	if cycle {
		t.found = append(t.found, c)
	}
	return stack
}

// lassoPlan is a component that accepts and what its loop has to pass.
type lassoPlan struct {
	component
	only  []*Formula
	wants []want
}

// want is a thing that some step of a loop has to do.
type want func(letter []uint64, postponed uint64) bool

// judge says whether the component accepts. If it does not, but a part of it
// may, it gives what the steps of that part must satisfy.
func (s *search) judge(c component, t *tarjan, only []*Formula) (*lassoPlan, []*Formula) {
	kept := make([]bool, s.a.eventually)
	often := make([]bool, len(s.conditions))
	ever := make([]bool, len(s.conditions)) // every step satisfies it
	for i := range ever {
		ever[i] = s.conditions[i].ever != nil
	}
	for _, n := range c.nodes {
		t.inside(n, func(m int32, letter []uint64, postponed uint64) bool {
			if t.comp[m] != c.id {
				return true
			}
			for j := range kept {
				kept[j] = kept[j] || postponed>>j&1 == 0
			}
			for i, cond := range s.conditions {
				often[i] = often[i] || cond.often != nil && cond.often.holds(letter)
				ever[i] = ever[i] && cond.ever.holds(letter)
			}
			return true
		})
	}
	for j := range kept {
		if !kept[j] {
			return nil, nil
		}
	}
	var narrower []*Formula
	for i, cond := range s.conditions {
		switch {
		case often[i] || ever[i]:
		case cond.ever == nil:
			return nil, nil
		default:
			narrower = append(narrower, cond.ever)
		}
	}
	if narrower != nil {
		return nil, narrower
	}
	plan := &lassoPlan{component: c, only: only}
	for j := range kept {
		plan.wants = append(plan.wants, func(_ []uint64, postponed uint64) bool { return postponed>>j&1 == 0 })
	}
	for i, cond := range s.conditions {
		if !ever[i] {
			plan.wants = append(plan.wants, func(letter []uint64, _ uint64) bool { return cond.often.holds(letter) })
		}
	}
	return plan, nil
}

// lasso makes the behaviour: the shortest path to the component, then a loop
// that takes, from where it is, the shortest way to a step that does one of
// the things that are still to be done, and home.
func (s *search) lasso(p *lassoPlan) *Lasso {
	l := &Lasso{}
	for n := s.nodes[p.first].parent; n >= 0; n = s.nodes[n].parent {
		l.Path = append(l.Path, s.nodes[n].state)
	}
	slices.Reverse(l.Path)
	w := &walker{s: s, t: newTarjan(s), p: p, done: make([]bool, len(p.wants))}
	w.t.part, w.t.only = 1, p.only
	for _, n := range p.nodes {
		w.t.in[n] = 1
	}
	at := p.first
	for first := true; first || at != p.first || slices.Contains(w.done, false); first = false {
		l.Loop = append(l.Loop, s.nodes[at].state)
		way := w.way(at)
		for _, n := range way[:len(way)-1] {
			l.Loop = append(l.Loop, s.nodes[n].state)
		}
		at = way[len(way)-1]
	}
	l.shorten()
	return l
}

// shorten drops repetitions of a state: the automaton may take a step while the
// system stutters, and no formula tells the difference.
func (l *Lasso) shorten() {
	l.Loop = slices.Compact(l.Loop)
	for len(l.Loop) > 1 && l.Loop[len(l.Loop)-1] == l.Loop[0] {
		l.Loop = l.Loop[:len(l.Loop)-1]
	}
	l.Path = slices.Compact(l.Path)
	if n := len(l.Path); n > 0 && l.Path[n-1] == l.Loop[0] {
		l.Path = l.Path[:n-1]
	}
}

// walker walks through a component and notes what has been done.
type walker struct {
	s    *search
	t    *tarjan
	p    *lassoPlan
	done []bool
}

// wanted says whether a step is one to go to: it does something that is still
// to be done or, when all is done, leads home.
func (w *walker) wanted(to int32, letter []uint64, postponed uint64) bool {
	all := true
	for i, want := range w.p.wants {
		if !w.done[i] {
			all = false
			if want(letter, postponed) {
				return true
			}
		}
	}
	return all && to == w.p.first
}

// way is the shortest way from a node over a step that is wanted: the nodes
// after the first.
func (w *walker) way(from int32) []int32 {
	parent := map[int32]int32{from: -1}
	queue := []int32{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		last := int32(-1)
		w.t.inside(n, func(m int32, letter []uint64, postponed uint64) bool {
			if w.wanted(m, letter, postponed) {
				for i, want := range w.p.wants {
					w.done[i] = w.done[i] || want(letter, postponed)
				}
				last = m
				return false
			}
			if _, seen := parent[m]; !seen {
				parent[m] = n
				queue = append(queue, m)
			}
			return true
		})
		if last >= 0 {
			way := []int32{last}
			for ; n != from; n = parent[n] {
				way = append(way, n)
			}
			slices.Reverse(way)
			return way
		}
	}
	panic("live: a component without the step that it was accepted for")
}
