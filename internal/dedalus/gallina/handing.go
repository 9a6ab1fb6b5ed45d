// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// handed asks about a functional decoupling in which the old component passes on all that the rules
// read that moved.
func (w *writer) handed(before, after *logic.Program, c certificate.Claim) (Query, error) {
	from, kept := before.Component(c.Component), after.Component(c.Component)
	if from == nil || kept == nil || len(c.Moved) > len(from.Rules) {
		return Query{}, fmt.Errorf("the claim is not a functional decoupling of component %s", c.Component)
	}
	rules, err := movers(from, c)
	if err != nil {
		return Query{}, err
	}
	passed, forward, err := passes(kept.Rules[min(len(from.Rules)-len(rules), len(kept.Rules)):])
	if err != nil {
		return Query{}, err
	}
	nodes, places := w.places(from, c.Name)
	of := call("Handing", list(rules, w.rule), list(passed, pass), text(forward), nodes, places)
	q, err := w.plain(call("handed", of, w.program(before), w.program(after)))
	return Query{Text: q}, err
}

// passes finds in rules that pass on the static relation that leads to the new component.
func passes(rules []*logic.Rule) ([]*logic.Rule, string, error) {
	forward := ""
	for _, r := range rules {
		if r.Kind != logic.Async || len(r.Body) != 2 || r.Body[0].Atom == nil || r.Body[1].Atom == nil {
			return nil, "", fmt.Errorf("'%v' does not forward a relation", r)
		}
		forward = r.Body[1].Atom.Relation.Name
	}
	return rules, forward, nil
}

// pass writes a relation that is passed on.
func pass(r *logic.Rule) term {
	columns := list(r.Head.Args, func(a logic.HeadArg) term { return text(a.Term.Name) })
	return call("Pass", text(r.Body[0].Atom.Relation.Name), text(r.Head.Relation.Name), columns, text(r.Dest.Name))
}
