// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

func (h *halves) assumed(k logic.AssumptionKind, n rel) bool {
	has := func(list []logic.Assumption) bool {
		return slices.ContainsFunc(list, func(a logic.Assumption) bool { return a.Kind == k && a.Relation == n })
	}
	return has(h.assuming) && has(h.p.Assumptions)
}

func (h *halves) monotonic() error {
	for _, err := range []error{h.volatile(), h.promptly(), h.stays()} {
		if err != nil {
			return err
		}
	}
	grows := h.growing()
	for _, r := range h.moved {
		if r.Head.Relation.Merges() {
			return fmt.Errorf("'%v' merges", r)
		}
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation.Merges() {
				return fmt.Errorf("'%v' reads %s, which merges", r, a.Relation.Name)
			}
		}
		guards, persistence := r.Persistence()
		if persistence && len(guards) > 0 && h.assumed(logic.Collected, r.Head.Relation.Name) {
			continue
		}
		for i := range r.Body {
			l := &r.Body[i]
			if l.Atom == nil || l.Atom.Relation.Kind == logic.Static {
				continue
			}
			if l.Negated {
				return fmt.Errorf("'%v' negates %s", r, l.Atom.Relation.Name)
			}
			if r.Head.Aggregates() && !grows[l.Atom.Relation.Name] {
				return fmt.Errorf("'%v' aggregates %s, which is not kept forever", r, l.Atom.Relation.Name)
			}
		}
		if r.Head.Aggregates() && !h.assumed(logic.Growing, r.Head.Relation.Name) {
			if err := h.onlyPassed(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// promptly checks that no moved rule waits for the next tick if a kept rule logs: the moved
// part would say that a fact is durable, but it learns of the fact before the disk has it.
func (h *halves) promptly() error {
	logs := slices.ContainsFunc(h.kept, func(r *logic.Rule) bool { return r.Head.Relation.Durable })
	for _, r := range h.moved {
		if _, carries := r.Persistence(); logs && r.Kind == logic.Next && !carries {
			return fmt.Errorf("'%v' waits for the next tick, and after the move it would no longer wait for the disk", r)
		}
	}
	return nil
}

// stays checks each relation that the moved part will keep and that the kept part derives or
// reads too: either the kept part keeps it forever, or all that the moved part derives from
// a fact follows from that fact alone, and is kept or sent.
func (h *halves) stays() error {
	local, keptReads := derives(h.kept), reads(h.kept)
	for _, n := range inOrder(incoming(h.moved)) {
		if (local[n] || keptReads[n]) && !h.persistent(h.kept)[n] && !h.alone(n, map[rel]bool{}) {
			return fmt.Errorf("the rules that stay do not keep %s forever, and the moved rules would join it with later facts", n)
		}
	}
	return nil
}

// persistent returns the relations that rules carry to the next tick forever, and those that
// follow from only such relations within a tick. A received fact holds for one tick unless
// a rule carries it.
func (h *halves) persistent(rules []*logic.Rule) map[rel]bool {
	out := map[rel]bool{}
	for _, r := range rules {
		if guards, ok := r.Persistence(); ok && (len(guards) == 0 || h.assumed(logic.Collected, r.Head.Relation.Name)) {
			out[r.Head.Relation.Name] = true
		}
	}
	for range rules {
		for n := range derives(rules) {
			all := !sent(h.p, h.p.Find(n))
			for _, r := range rules {
				if r.Kind == logic.Async || r.Head.Relation.Name != n {
					continue
				}
				all = all && r.Kind == logic.Sync && !r.Head.Aggregates()
				for m := range names(r, any) {
					all = all && out[m]
				}
				for i := range r.Body {
					all = all && !r.Body[i].Negated
				}
			}
			if all {
				out[n] = true
			}
		}
	}
	return out
}

// alone reports whether all that the moved rules derive from a fact of n follows from that
// fact alone.
func (h *halves) alone(n rel, seen map[rel]bool) bool {
	if seen[n] {
		return true
	}
	seen[n] = true
	for _, r := range h.moved {
		if !names(r, any)[n] {
			continue
		}
		k := 0
		for i := range r.Body {
			if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
				k++
			}
		}
		head := r.Head.Relation.Name
		if k > 1 || r.Head.Aggregates() || r.Kind != logic.Async && !h.persistent(h.moved)[head] && !h.alone(head, seen) {
			return false
		}
	}
	return true
}

// growing returns the relations whose facts hold forever if received facts do.
func (h *halves) growing() map[rel]bool {
	derived, out := derives(h.moved), map[rel]bool{}
	for _, n := range inOrder(reads(h.moved)) {
		if !derived[n] {
			out[n] = true
		}
	}
	for _, r := range h.moved {
		if guards, ok := r.Persistence(); ok && (len(guards) == 0 || h.assumed(logic.Collected, r.Head.Relation.Name)) {
			out[r.Head.Relation.Name] = true
		}
	}
	// A relation grows if all its rules derive it within the tick from relations that grow.
	for range h.moved {
		for n := range derived {
			all := true
			for _, r := range h.moved {
				if r.Kind == logic.Async || r.Head.Relation.Name != n {
					continue
				}
				all = all && r.Kind == logic.Sync && !r.Head.Aggregates()
				for i := range r.Body {
					if a := r.Body[i].Atom; a != nil && a.Relation.Kind != logic.Static {
						all = all && !r.Body[i].Negated && out[a.Relation.Name]
					}
				}
			}
			if all {
				out[n] = true
			}
		}
	}
	return out
}

// onlyPassed checks that rules only compare a count or a maximum with a lower bound, or a
// minimum with an upper bound, and use it for nothing else.
func (h *halves) onlyPassed(agg *logic.Rule) error {
	for col, a := range agg.Head.Args {
		if a.Aggregate == logic.NoAggregate {
			continue
		}
		up := a.Aggregate == logic.Count || a.Aggregate == logic.Max
		if !up && a.Aggregate != logic.Min {
			return fmt.Errorf("'%v' aggregates by %v, whose result does not only grow", agg, a.Aggregate)
		}
		for _, r := range h.moved {
			for i := range r.Body {
				l := &r.Body[i]
				if l.Atom == nil || l.Atom.Relation != agg.Head.Relation {
					continue
				}
				t := l.Atom.Args[col]
				if t.Kind != logic.Wildcard && (t.Kind != logic.Var || !passed(r, i, t.Name, up)) {
					return fmt.Errorf("'%v' uses the %v of %s for more than a comparison with a bound", r, a.Aggregate, agg.Head.Relation.Name)
				}
			}
		}
	}
	return nil
}

// passed reports whether a rule uses a variable, once in the literal at own and otherwise only in
// comparisons that stay true once they are.
func passed(r *logic.Rule, own int, name string, up bool) bool {
	uses := func(visit func(func(string))) bool {
		found := false
		visit(func(v string) { found = found || v == name })
		return found
	}
	for i := range r.Body {
		l := &r.Body[i]
		if i == own {
			// A literal in which the variable occurs twice requires one exact number.
			times := 0
			l.Vars(func(v string) {
				if v == name {
					times++
				}
			})
			if times > 1 {
				return false
			}
			continue
		}
		if !uses(l.Vars) {
			continue
		}
		c := l.Compare
		if c == nil {
			return false
		}
		left := c.Left.Kind == logic.Var && c.Left.Name == name
		right := c.Right.Kind == logic.Var && c.Right.Name == name
		above := left && !right && (c.Op == logic.Greater || c.Op == logic.GreaterEqual) || right && !left && (c.Op == logic.Less || c.Op == logic.LessEqual)
		below := left && !right && (c.Op == logic.Less || c.Op == logic.LessEqual) || right && !left && (c.Op == logic.Greater || c.Op == logic.GreaterEqual)
		other := c.Right
		if right {
			other = c.Left
		}
		if up && !above || !up && !below || uses(other.Vars) {
			return false
		}
	}
	for _, a := range r.Head.Args {
		if uses(a.Term.Vars) {
			return false
		}
	}
	return r.Dest == nil || !uses(r.Dest.Vars)
}
