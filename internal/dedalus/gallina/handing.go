// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// handing writes a certificate of a functional decoupling in which the old component passes on all
// that the rules read that moved.
func (w *writer) handing(before, after *logic.Program, c certificate.Claim) (term, error) {
	from, kept := before.Component(c.Component), after.Component(c.Component)
	if from == nil || kept == nil || len(c.Moved) > len(from.Rules) {
		return term{}, fmt.Errorf("component %s has not handed over", c.Component)
	}
	var movers []*logic.Rule
	for _, n := range c.Moved {
		if n < 0 || n >= len(from.Rules) {
			return term{}, fmt.Errorf("%s has no rule %d", c.Component, n+1)
		}
		movers = append(movers, from.Rules[n])
	}
	forward := ""
	var passed []*logic.Rule
	for _, r := range kept.Rules[min(len(from.Rules)-len(movers), len(kept.Rules)):] {
		if r.Kind != logic.Async || len(r.Body) != 2 || r.Body[0].Atom == nil || r.Body[1].Atom == nil {
			return term{}, fmt.Errorf("'%v' passes nothing on", r)
		}
		passed, forward = append(passed, r), r.Body[1].Atom.Relation.Name
	}
	pass := func(r *logic.Rule) term {
		columns := list(r.Head.Args, func(a logic.HeadArg) term { return text(a.Term.Name) })
		return call("Pass", text(r.Body[0].Atom.Relation.Name), text(r.Head.Relation.Name), columns, text(r.Dest.Name))
	}
	var nodes []string
	var places []term
	for i := range from.Instances * from.Partitions {
		at := logic.NodeName(from.Name, i)
		nodes = append(nodes, at)
		places = append(places, both(both(node(at), nat(0)), node(logic.NodeName(c.Name, i))))
	}
	return call("Handing", list(movers, w.rule), list(passed, pass), text(forward), list(nodes, node),
		list(places, func(t term) term { return t })), w.err
}
