// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// guess predicts, from the work of each rule in the profile of the whole program, the work
// that a decoupling leaves to a component, and the work of the larger piece. It only decides
// what to profile first.
func (s *search) guess(st *state, c *logic.Component, moves cut) (left, larger float64) {
	n := busiest(s.costs, st, s.load, c)
	if n == nil {
		return 0, 0
	}
	moved, passed := 0.0, 0.0
	message := func(bytes float64) (send, receive float64) {
		return s.costs.Send + s.costs.SendByte*bytes, s.costs.Receive + s.costs.ReceiveByte*bytes
	}
	average := float64(n.SentBytes) / float64(max(n.Sent, 1))
	send, receive := message(average)
	for i, r := range c.Rules {
		if !moves[i] {
			continue
		}
		each := s.costs.Firing
		if r.Head.Aggregates() {
			each += s.costs.Group
		}
		if r.Kind == logic.Async {
			each += send
		}
		for _, f := range calls(st.program, r) {
			m, _ := s.costs.function(st.program, s.load, f)
			each += m
		}
		moved += each * float64(n.Firings[i])
	}
	for _, rel := range st.program.Refs(c) {
		facts, derived, here, there := int64(0), false, false, false
		for i, r := range c.Rules {
			if local(r) && r.Head.Relation == rel && !moves[i] {
				derived = true
				facts += n.Firings[i]
			}
			here = here || !moves[i] && readsRelation(r, rel)
			there = there || moves[i] && readsRelation(r, rel)
		}
		if a := n.arrived[rel]; a != nil {
			facts += a.rows
		}
		switch {
		case !there:
		case derived || here || rel.Kind == logic.Input:
			passed += float64(facts) * (send + s.costs.Firing)
			moved += float64(facts) * receive
		case n.arrived[rel] != nil:
			moved += float64(facts) * receive
			passed -= float64(facts) * receive
		}
	}
	all := s.costs.parts(st.program, s.load, st.whole, n).Total() * float64(st.whole.Commands)
	left = all - moved + passed
	return left, max(left, moved)
}

// busiest returns the node of a component with the most work.
func busiest(costs *Calibration, st *state, l *Load, c *logic.Component) *Node {
	var out *Node
	most := -1.0
	for i := range st.whole.Nodes {
		n := &st.whole.Nodes[i]
		if n.Component != c.Name {
			continue
		}
		if t := costs.parts(st.program, l, st.whole, n).Total(); t > most {
			most, out = t, n
		}
	}
	return out
}

// pieceName names a new component after a relation that its rules send, so that the same rules
// get the same name in whatever order pieces are made.
func pieceName(p *logic.Program, c *logic.Component, moves cut) string {
	what := ""
	for i, r := range c.Rules {
		if moves[i] && r.Kind == logic.Async {
			what = r.Head.Relation.Name
		}
	}
	for i, r := range c.Rules {
		if moves[i] && what == "" {
			what = r.Head.Relation.Name
		}
	}
	return unusedName(p, c.Of+"_"+what)
}

// unusedName returns a name that no component has: want, if possible.
func unusedName(p *logic.Program, want string) string {
	name := want
	for i := 2; p.Component(name) != nil; i++ {
		name = fmt.Sprintf("%s%d", want, i)
	}
	return name
}

// canonical returns a text that is equal for programs that differ only in the order of
// components and rules.
func canonical(p *logic.Program) string {
	var all []string
	for _, c := range p.Components {
		var rules []string
		for _, r := range c.Rules {
			rules = append(rules, r.String())
		}
		slices.Sort(rules)
		all = append(all, fmt.Sprintf("%s %d\n%s", c.Of, c.Instances, strings.Join(rules, "\n")))
	}
	slices.Sort(all)
	return strings.Join(all, "\n\n")
}
