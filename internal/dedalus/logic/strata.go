// SPDX-License-Identifier: Apache-2.0

package logic

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Stratum is a set of relations that depend on each other within a tick, with the
// Sync rules that derive them. A stratum is complete before the next one begins.
type Stratum struct {
	Relations []*Relation
	Rules     []*Rule
	// Recursive reports that a rule of the stratum reads a relation of it.
	Recursive bool
}

// CycleError reports that, within a tick, a relation depends on the absence or the
// number of its own facts.
type CycleError struct {
	// Steps lists the cycle of dependencies.
	Steps []CycleStep
}

// CycleStep states that Head depends on Read, through a literal of a rule.
type CycleStep struct {
	Head, Read *Relation
	// How is "not", "aggregate", "merged" (a column with a lattice is read into a
	// relation without one, which would see it grow), or empty.
	How  string
	Span source.Span
}

func (e *CycleError) Error() string {
	s := "within a tick, " + e.Steps[0].Head.Name
	for _, st := range e.Steps {
		s += " <- "
		if st.How != "" {
			s += st.How + " "
		}
		s += st.Read.Name
	}
	return s
}

type edge struct {
	from, to int // head, read
	how      string
	span     source.Span
}

// Strata orders the Sync rules of a component.
func (p *Program) Strata(c *Component) ([]Stratum, *CycleError) {
	number := map[*Relation]int{}
	var rels []*Relation
	for _, r := range c.Rules {
		if _, ok := number[r.Head.Relation]; r.Kind == Sync && !ok {
			number[r.Head.Relation] = len(rels)
			rels = append(rels, r.Head.Relation)
		}
	}
	edges := make([][]edge, len(rels))
	for _, r := range c.Rules {
		if r.Kind != Sync {
			continue
		}
		h := number[r.Head.Relation]
		for i := range r.Body {
			l := &r.Body[i]
			if l.Atom == nil {
				continue
			}
			to, ok := number[l.Atom.Relation]
			if !ok {
				continue
			}
			how := ""
			if l.Negated {
				how = "not"
			} else if r.Head.Aggregates() {
				how = "aggregate"
			} else if l.Atom.Relation.Merges() && !r.Head.Relation.Merges() {
				how = "merged"
			}
			edges[h] = append(edges[h], edge{h, to, how, l.Span})
		}
	}
	comp, order := components(len(rels), edges)
	for _, from := range edges {
		for _, e := range from {
			if e.how != "" && comp[e.from] == comp[e.to] {
				return nil, cycle(rels, edges, comp, e)
			}
		}
	}
	strata := make([]Stratum, len(order))
	for i, r := range rels {
		s := &strata[comp[i]]
		s.Relations = append(s.Relations, r)
		for _, e := range edges[i] {
			s.Recursive = s.Recursive || comp[e.to] == comp[i]
		}
	}
	for _, r := range c.Rules {
		if r.Kind == Sync {
			s := &strata[comp[number[r.Head.Relation]]]
			s.Rules = append(s.Rules, r)
		}
	}
	return strata, nil
}

// components finds the strongly connected components, numbered such that edges
// lead to the same or a lower number (Tarjan).
func components(n int, edges [][]edge) (comp []int, order [][]int) {
	comp = make([]int, n)
	index, low := make([]int, n), make([]int, n)
	on := make([]bool, n)
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, on[v] = append(stack, v), true
		for _, e := range edges[v] {
			if index[e.to] == 0 {
				visit(e.to)
				low[v] = min(low[v], low[e.to])
			} else if on[e.to] {
				low[v] = min(low[v], index[e.to])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w], comp[w] = false, len(order)
		}
		order = append(order, slices.Clone(stack[at:]))
		stack = stack[:at]
	}
	for v := range n {
		if index[v] == 0 {
			visit(v)
		}
	}
	return comp, order
}

// cycle returns the shortest path from the end of an edge back to its start.
func cycle(rels []*Relation, edges [][]edge, comp []int, first edge) *CycleError {
	step := func(e edge) CycleStep { return CycleStep{rels[e.from], rels[e.to], e.how, e.span} }
	came := map[int]edge{}
	queue := []int{first.to}
	for len(queue) > 0 && first.to != first.from {
		v := queue[0]
		queue = queue[1:]
		for _, e := range edges[v] {
			if _, seen := came[e.to]; seen || e.to == first.to || comp[e.to] != comp[v] {
				continue
			}
			came[e.to] = e
			queue = append(queue, e.to)
		}
		if _, ok := came[first.from]; ok {
			break
		}
	}
	var back []CycleStep
	for at := first.from; at != first.to; at = came[at].from {
		back = append(back, step(came[at]))
	}
	slices.Reverse(back)
	return &CycleError{Steps: append([]CycleStep{step(first)}, back...)}
}
