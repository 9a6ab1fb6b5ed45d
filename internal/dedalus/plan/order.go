// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// group puts relations and sync rules into groups, each after the groups that it reads.
func (n *planner) group() {
	number := map[*Relation]int{}
	for i, r := range n.component.Relations {
		number[r] = i
		r.Recursive = false
	}
	edges := make([][]int, len(n.component.Relations))
	for _, r := range n.rules {
		if r.Kind != logic.Sync {
			continue
		}
		for _, l := range r.Body {
			if l.changing() {
				edges[number[r.Head]] = append(edges[number[r.Head]], number[l.Relation])
			}
		}
	}
	in, count := components(edges)
	groups := make([]*Group, count)
	for i := range groups {
		groups[i] = &Group{}
	}
	for i, r := range n.component.Relations {
		g := groups[in[i]]
		g.Relations = append(g.Relations, r)
		for _, to := range edges[i] {
			g.Recursive = g.Recursive || in[to] == in[i]
		}
	}
	n.component.Later = nil
	for _, r := range n.rules {
		if r.Kind != logic.Sync {
			n.component.Later = append(n.component.Later, r)
			continue
		}
		g := groups[in[number[r.Head]]]
		g.Rules = append(g.Rules, r)
		r.Recursive = slices.ContainsFunc(r.Body, func(l Literal) bool {
			return l.changing() && in[number[l.Relation]] == in[number[r.Head]]
		})
	}
	for _, g := range groups {
		tracked := false
		for _, r := range g.Relations {
			r.Recursive = g.Recursive
			tracked = tracked || r.Class == Tracked
		}
		// If one relation of a recursive group is tracked, all are, because they are computed
		// together.
		for _, r := range g.Relations {
			if g.Recursive && tracked {
				r.Class = Tracked
			}
		}
	}
	n.component.Groups = groups
}

// components finds the strongly connected components of a graph, numbered such that
// edges lead to the same or a lower number (Tarjan).
func components(edges [][]int) (in []int, count int) {
	in = make([]int, len(edges))
	index, low := make([]int, len(edges)), make([]int, len(edges))
	on := make([]bool, len(edges))
	var stack []int
	next := 1
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, on[v] = append(stack, v), true
		for _, w := range edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w], in[w] = false, count
		}
		stack = stack[:at]
		count++
	}
	for v := range edges {
		if index[v] == 0 {
			visit(v)
		}
	}
	return in, count
}

// variants determines the ways in which a rule is evaluated, and their look-ups.
func (n *planner) variants(r *Rule) {
	if r.aggregates() {
		r.Grouping = grouping(r)
	}
	if r.Head != nil && r.Head.Class == Tracked && r.Head.Merges && !r.Recursive {
		// The rule feeds a recursive relation that merges, which is recomputed.
		r.Recursive = true
		n.indexes(r.Head, r.Head.Key(), true)
		n.variant(r, FromAll, 0)
		return
	}
	same := func(l *Literal) bool { return r.Recursive && n.sameGroup(l.Relation, r.Head) }
	switch {
	case r.Recursive:
		for i := range r.Body {
			l := &r.Body[i]
			switch {
			case !l.positive():
			case same(l):
				n.variant(r, FromWork, i)
			case r.Head.Class == Tracked && l.Relation.Pulse:
				n.variant(r, FromAll, i)
			case r.Head.Class == Tracked:
				n.variant(r, FromChanges, i)
			}
		}
	case r.Pulse:
		for i := range r.Body {
			if l := &r.Body[i]; l.positive() && l.Relation.Pulse {
				n.variant(r, FromAll, i)
				break
			}
		}
	default:
		r.Begins = !slices.ContainsFunc(r.Body, func(l Literal) bool { return l.positive() })
		if r.Begins {
			n.variant(r, FromNothing, -1)
		}
		for i := range r.Body {
			if r.Body[i].changing() {
				n.variant(r, FromChanges, i)
			}
		}
		if r.Kind == logic.Async {
			n.variant(r, FromAll, slices.IndexFunc(r.Body, func(l Literal) bool { return l.changing() }))
		}
	}
}

func (n *planner) sameGroup(a, b *Relation) bool {
	for _, g := range n.component.Groups {
		if slices.Contains(g.Relations, a) {
			return slices.Contains(g.Relations, b)
		}
	}
	return false
}

func (r *Rule) aggregates() bool {
	return slices.ContainsFunc(r.Args, func(a Arg) bool { return a.Aggregate != logic.NoAggregate })
}

// variant orders the other literals after the first one: first those that can be checked, then
// the atom with the most known columns.
func (n *planner) variant(r *Rule, start Start, first int) {
	v := &Variant{Start: start, Literal: first}
	bound := map[string]bool{}
	done := make([]bool, len(r.Body))
	if first >= 0 {
		done[first] = true
		for _, t := range r.Body[first].Args {
			if t.Kind == logic.Var {
				bound[t.Name] = true
			}
		}
	}
	for range r.Body {
		i := next(r, done, bound)
		if i < 0 {
			break
		}
		done[i] = true
		l := &r.Body[i]
		// Literals before the changed one are read as they are now, those after it as they were
		// in the tick before.
		s := Step{Literal: i, Before: (start == FromChanges && !r.Recursive || start == FromNothing) && i > first && l.changing()}
		switch {
		case l.Assign != nil:
			s.Known = bound[l.Assign.Var]
			bound[l.Assign.Var] = true
		case l.Relation != nil:
			for j, t := range l.Args {
				if known(t, bound) {
					s.Bound = append(s.Bound, j)
				}
			}
			s.Once = !l.Negated && (r.Pulse || r.Recursive) && r.Grouping == nil && !needed(r, done, l, bound)
			n.index(l.Relation, &s, start == FromWork && n.sameGroup(l.Relation, r.Head))
			for _, t := range l.Args {
				if t.Kind == logic.Var && !l.Negated {
					bound[t.Name] = true
				}
			}
		}
		v.Steps = append(v.Steps, s)
	}
	r.Variants = append(r.Variants, v)
}

func known(t *logic.Term, bound map[string]bool) bool {
	return t.Kind == logic.Const || t.Kind == logic.Self || t.Kind == logic.Var && bound[t.Name]
}

// needed reports whether the head, or a literal that is not done, uses a variable that the
// literal would bind.
func needed(r *Rule, done []bool, l *Literal, bound map[string]bool) bool {
	used := map[string]bool{}
	note := func(v string) { used[v] = true }
	for i := range r.Body {
		m := &r.Body[i]
		if done[i] {
			continue
		}
		for _, t := range m.Args {
			t.Vars(note)
		}
		if m.Compare != nil {
			m.Compare.Left.Vars(note)
			m.Compare.Right.Vars(note)
		}
		if m.Assign != nil {
			note(m.Assign.Var)
			m.Assign.Term.Vars(note)
		}
	}
	for _, a := range r.Args {
		a.Term.Vars(note)
	}
	r.Dest.Vars(note)
	return slices.ContainsFunc(l.Args, func(t *logic.Term) bool { return t.Kind == logic.Var && !bound[t.Name] && used[t.Name] })
}

// next returns the literal to evaluate next, or -1.
func next(r *Rule, done []bool, bound map[string]bool) int {
	all := func(t *logic.Term) bool {
		ok := true
		t.Vars(func(v string) { ok = ok && bound[v] })
		return ok
	}
	best, score := -1, 0
	for i := range r.Body {
		l := &r.Body[i]
		if done[i] {
			continue
		}
		s := 0
		switch {
		case l.Compare != nil:
			if all(l.Compare.Left) && all(l.Compare.Right) {
				return i
			}
			continue
		case l.Assign != nil:
			if all(l.Assign.Term) {
				return i
			}
			continue
		case l.Negated:
			if !slices.ContainsFunc(l.Args, func(t *logic.Term) bool { return !all(t) }) {
				// An atom that binds nothing new costs a look-up.
				s = 900
				break
			}
			continue
		default:
			have, free := 0, 0
			for _, t := range l.Args {
				if known(t, bound) {
					have++
				} else {
					free++
				}
			}
			s = 100 + 10*have - free
			if free == 0 {
				s = 1000
			} else if have == 0 {
				s = 50 - free
				if l.static() {
					s -= 30
				}
			}
		}
		if best < 0 || s > score {
			best, score = i, s
		}
	}
	return best
}

// index adds an index of the relation for the columns of a step; derived reports that it may be
// used while the relation is derived. The index of a relation that merges in place has only
// columns that do not merge.
func (n *planner) index(r *Relation, s *Step, derived bool) {
	cols := IndexColumns(r, s.Bound)
	if len(cols) > 0 && len(cols) < len(r.Columns) {
		n.indexes(r, cols, derived)
	}
}

func (n *planner) indexes(r *Relation, cols []int, derived bool) {
	i := slices.IndexFunc(r.Indexes, func(c []int) bool { return slices.Equal(c, cols) })
	if i < 0 {
		i = len(r.Indexes)
		r.Indexes, r.Late = append(r.Indexes, cols), append(r.Late, r.Class == Tracked && r.Recursive)
	}
	r.Late[i] = r.Late[i] && !derived
}

// IndexColumns returns the bound columns by which the relation is looked up.
func IndexColumns(r *Relation, bound []int) []int {
	if r.Class != Passing || !r.Merges {
		return bound
	}
	var cols []int
	for _, c := range bound {
		if r.Columns[c].Lattice == logic.NoLattice {
			cols = append(cols, c)
		}
	}
	return cols
}

// grouping determines how aggregates are computed.
func grouping(r *Rule) *Grouping {
	g := &Grouping{Index: slices.IndexFunc(r.Args, func(a Arg) bool { return a.Aggregate == logic.Index })}
	count, only := 0, logic.NoAggregate
	for i, a := range r.Args {
		numbered := g.Index >= 0 && a.Aggregate == logic.NoAggregate && a.Term.Kind == logic.Var && a.Term.Name == r.Args[g.Index].Term.Name
		switch {
		case numbered:
			g.Numbered = append(g.Numbered, i)
		case a.Aggregate == logic.NoAggregate:
			g.Group = append(g.Group, i)
		default:
			count++
			only = a.Aggregate
		}
		g.Rows = append(g.Rows, a.Term)
	}
	g.Simple = count == 1 && len(g.Numbered) == 0 &&
		(only == logic.Count || only == logic.Sum || only == logic.Min || only == logic.Max)
	sums := slices.ContainsFunc(r.Args, func(a Arg) bool { return a.Aggregate == logic.Sum })
	if sums {
		g.Rows = append(g.Rows, others(r)...)
	}
	switch {
	case !g.Simple:
		g.Kept = true
	case only == logic.Sum:
		// Each row of the body counts, and it occurs once unless the body has wildcards.
		g.Kept = slices.ContainsFunc(r.Body, func(l Literal) bool {
			return l.Relation != nil && !l.Negated && slices.ContainsFunc(l.Args, wildcard)
		})
	case only == logic.Count:
		g.Kept = !r.injective()
	default:
		g.Kept = !r.Pulse
	}
	return g
}

// others returns the variables of a body that are not arguments of the head.
func others(r *Rule) []*logic.Term {
	var out []*logic.Term
	seen := map[string]bool{}
	for _, a := range r.Args {
		if a.Term.Kind == logic.Var {
			seen[a.Term.Name] = true
		}
	}
	note := func(t *logic.Term) {
		if t.Kind == logic.Var && !seen[t.Name] {
			seen[t.Name] = true
			out = append(out, t)
		}
	}
	for _, l := range r.Body {
		if l.Relation != nil && !l.Negated {
			for i, t := range l.Args {
				note(&logic.Term{Kind: t.Kind, Name: t.Name, Type: l.Relation.Columns[i].Type})
			}
		}
		if l.Assign != nil {
			note(&logic.Term{Kind: logic.Var, Name: l.Assign.Var, Type: l.Assign.Term.Type})
		}
	}
	return out
}
