// SPDX-License-Identifier: Apache-2.0

package live

import (
	"slices"
	"sort"
)

// A lasso is a path to a component that accepts, and a loop in it with every kind
// of step that must occur infinitely often. Nodes are visited breadth first. From
// the first ones in such components a loop is built, each time by the shortest
// way to the next required step, and then back to the start. The shortest of
// these lassos is shown.

// The number of nodes from which loops are built, and the number of expanded
// nodes after which no further loop is.
const (
	candidatesMax = 64
	walkedMax     = 1 << 18
)

// want is a condition that some step of a loop must satisfy.
type want func(postponed uint64) bool

// walker makes loops.
type walker struct {
	t      *tarjan
	comp   uint32 // as a mark; 0 for none
	wants  []want
	back   []uint32 // by place: the node before and 1, or 0
	walked int
}

// lasso is a short behaviour that ends in a component that accepts.
func (t *tarjan) lasso() (*Lasso, error) {
	s := t.s
	nodes := uint32(s.g.States())
	if s.reached != nil {
		nodes = s.reached.place(uint32(s.g.States() * len(s.a.states)))
	}
	if err := s.take("the behaviours that violate it", 8*int64(nodes)+8*int64(len(t.mark))); err != nil {
		return nil, err
	}
	place := func(n uint32) uint32 {
		if s.reached == nil {
			return n
		}
		return s.reached.place(n)
	}
	parent := make([]uint32, nodes) // the node before and 1; that of a root is the node itself
	queue := make([]uint32, 0, nodes)
	for i := range uint32(s.g.Initial()) {
		parent[place(i)] = i + 1
		queue = append(queue, i)
	}
	w := &walker{t: t, back: make([]uint32, len(t.mark))}
	var best *Lasso
	depth, level := 0, len(queue) // the distance of a node; where the next level begins
	candidates := 0
	for i := 0; i < len(queue); i++ {
		if i == level {
			depth, level = depth+1, len(queue)
		}
		if best != nil && (depth+1 >= best.length() || candidates >= candidatesMax || w.walked > walkedMax) {
			break
		}
		n := queue[i]
		if only, ok := t.accepts(n); ok {
			candidates++
			l, err := w.from(n, only)
			if err != nil {
				return nil, err
			}
			for at := n; parent[place(at)] != at+1; {
				at = parent[place(at)] - 1
				l.Path = append(l.Path, s.state(at))
			}
			slices.Reverse(l.Path)
			l.shorten()
			if best == nil || l.length() < best.length() {
				best = l
			}
		}
		err := s.each(n, func(m uint32, _ uint64) bool {
			if p := place(m); parent[p] == 0 {
				parent[p] = n + 1
				queue = append(queue, m)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return best, nil
}

// accepts reports whether a node is in a component that accepts, and which
// steps may be used in it.
func (t *tarjan) accepts(n uint32) (only []*Formula, ok bool) {
	if t.group[t.s.aut(n)] < 0 {
		return nil, false
	}
	comp := t.mark[t.at(n)] &^ closed
	i := sort.Search(len(t.accepted), func(i int) bool { return t.accepted[i].comp >= comp })
	if i == len(t.accepted) || t.accepted[i].comp != comp {
		return nil, false
	}
	return t.accepted[i].only, true
}

// shorten drops repetitions of a state: the automaton may take a step while the
// system stutters, and no formula can distinguish the two.
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

// from is a loop from a node of a component that accepts.
func (w *walker) from(first uint32, only []*Formula) (*Lasso, error) {
	w.t.only = only
	if comp := w.t.mark[w.t.at(first)]; comp != w.comp {
		w.comp = comp
		if err := w.plan(first); err != nil {
			return nil, err
		}
	}
	l := &Lasso{}
	done := make([]bool, len(w.wants))
	at := first
	for begun := false; !begun || at != first || slices.Contains(done, false); begun = true {
		l.Loop = append(l.Loop, w.t.s.state(at))
		way, err := w.way(at, first, done)
		if err != nil {
			return nil, err
		}
		for _, n := range way[:len(way)-1] {
			l.Loop = append(l.Loop, w.t.s.state(n))
		}
		at = way[len(way)-1]
	}
	return l, nil
}

// plan finds the conditions that the steps of a loop in a component must satisfy.
func (w *walker) plan(first uint32) error {
	s := w.t.s
	nodes, err := w.nodes(first)
	if err != nil {
		return err
	}
	w.wants = w.wants[:0]
	for j := range s.a.eventually {
		w.wants = append(w.wants, func(postponed uint64) bool { return postponed>>j&1 == 0 })
	}
	for _, f := range s.often {
		w.wants = append(w.wants, func(uint64) bool { return f.holds(s.ask) })
	}
	for _, c := range s.strong {
		breaks, err := w.t.some(nodes, Negate(c.ever))
		if err != nil {
			return err
		}
		if breaks {
			w.wants = append(w.wants, func(uint64) bool { return c.often.holds(s.ask) })
		}
	}
	return nil
}

// nodes are those of the component of a node.
func (w *walker) nodes(first uint32) ([]uint32, error) {
	nodes := []uint32{first}
	defer func() { w.forget(nodes) }()
	w.back[w.t.at(first)] = 1
	for i := 0; i < len(nodes); i++ {
		err := w.t.inside(nodes[i], func(m uint32, _ uint64) bool {
			if k := w.t.at(m); w.t.mark[k] == w.comp && w.back[k] == 0 {
				w.back[k] = 1
				nodes = append(nodes, m)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func (w *walker) forget(nodes []uint32) {
	for _, n := range nodes {
		w.back[w.t.at(n)] = 0
	}
}

// wanted reports whether a loop should take a step: it satisfies an outstanding
// condition or, if there is none, leads back to the start.
func (w *walker) wanted(home bool, postponed uint64, done []bool) bool {
	all := true
	for i, want := range w.wants {
		if !done[i] {
			all = false
			if want(postponed) {
				return true
			}
		}
	}
	return all && home
}

// way is the shortest way from a node over a wanted step: the nodes after the
// first. It records the conditions that the step satisfies.
func (w *walker) way(from, home uint32, done []bool) ([]uint32, error) {
	queue := []uint32{from}
	defer func() { w.forget(queue) }()
	w.back[w.t.at(from)] = from + 1
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		w.walked++
		var way []uint32
		err := w.t.inside(n, func(m uint32, postponed uint64) bool {
			k := w.t.at(m)
			if w.t.mark[k] != w.comp {
				return true
			}
			if w.wanted(m == home, postponed, done) {
				for i, want := range w.wants {
					done[i] = done[i] || want(postponed)
				}
				way = []uint32{m}
				return false
			}
			if w.back[k] == 0 {
				w.back[k] = n + 1
				queue = append(queue, m)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if way == nil {
			continue
		}
		for ; n != from; n = w.back[w.t.at(n)] - 1 {
			way = append(way, n)
		}
		slices.Reverse(way)
		return way, nil
	}
	panic("live: a component without the step that it was accepted for")
}
