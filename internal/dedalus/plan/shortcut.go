// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// reads are the rules that have the relation in their bodies.
func (n *planner) reads(rel *Relation) []*Rule {
	var out []*Rule
	for _, r := range n.rules {
		if slices.ContainsFunc(r.Body, func(l Literal) bool { return l.Relation == rel }) {
			out = append(out, r)
		}
	}
	return out
}

// derives are the rules that derive the relation.
func (n *planner) derives(rel *Relation) []*Rule {
	var out []*Rule
	for _, r := range n.rules {
		if r.Head == rel {
			out = append(out, r)
		}
	}
	return out
}

// bag reports whether rules do nothing with the relation but to start from it, and derive
// the same from a fact that comes twice. What rules derive is not asked for, as it
// might come very often.
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

// inline reports whether the relation is what one simple aggregate says, and that rules
// which read it read nothing else that changes: they can be given each change when
// the aggregate finds it.
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
