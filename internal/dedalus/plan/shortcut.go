// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// reads returns the rules that have the relation in their bodies.
func (n *planner) reads(rel *Relation) []*Rule {
	var out []*Rule
	for _, r := range n.rules {
		if slices.ContainsFunc(r.Body, func(l Literal) bool { return l.Relation == rel }) {
			out = append(out, r)
		}
	}
	return out
}

// derives returns the rules that derive the relation.
func (n *planner) derives(rel *Relation) []*Rule {
	var out []*Rule
	for _, r := range n.rules {
		if r.Head == rel {
			out = append(out, r)
		}
	}
	return out
}

// bag reports whether rules only start from the relation, and derive the same from a fact that
// arrives twice. It excludes relations that rules derive, because they might derive a fact
// very often.
func (n *planner) bag(rel *Relation) bool {
	if rel.Class != Passing || rel.Merges || rel.Recursive || len(n.derives(rel)) > 0 {
		return false
	}
	for _, r := range n.reads(rel) {
		if g := r.Grouping; g != nil && !g.Kept {
			return false
		}
		for _, v := range r.Variants {
			if slices.ContainsFunc(v.Steps, func(s Step) bool { return r.Body[s.Literal].Relation == rel }) {
				return false
			}
		}
	}
	return true
}

// inline reports whether the relation is the result of one simple aggregate, and the rules
// that read it read nothing else that changes. Then the aggregate can pass each change to
// these rules directly.
func (n *planner) inline(rel *Relation) bool {
	if rel.Class != Tracked || rel.Arrives || rel.Durable || rel.Carried || rel.Merges || rel.Recursive {
		return false
	}
	from := n.derives(rel)
	if len(from) != 1 || from[0].Pulse || from[0].Grouping == nil || !from[0].Grouping.Simple {
		return false
	}
	return !slices.ContainsFunc(n.reads(rel), func(r *Rule) bool {
		return r.Kind == logic.Async || r.Pulse || r.Recursive || !r.single()
	})
}
