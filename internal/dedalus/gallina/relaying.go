// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// relayed asks about a relay: the old component passes on, and all its rules are the new one's.
func (w *writer) relayed(before, after *logic.Program, c certificate.Claim) (Query, error) {
	from, kept := before.Component(c.Component), after.Component(c.Component)
	if from == nil || kept == nil {
		return Query{}, fmt.Errorf("the claim is not a relay of component %s", c.Component)
	}
	if rules, err := movers(from, c); err != nil || !slices.Equal(rules, from.Rules) {
		return Query{}, fmt.Errorf("the claim must list the rules of %s in their order", c.Component)
	}
	passed, forward, err := passes(kept.Rules)
	if err != nil {
		return Query{}, err
	}
	var again []string
	moves := slices.DeleteFunc(local(from.Rules), func(n string) bool {
		return slices.ContainsFunc(passed, func(r *logic.Rule) bool { return r.Body[0].Atom.Relation.Name == n })
	})
	for _, r := range passed {
		if in := r.Body[0].Atom.Relation; in.Kind == logic.Input {
			again = append(again, in.Name)
		}
	}
	nodes, places := w.places(from, c.Name)
	of := call("Relaying", list(passed, pass), text(forward), list(moves, text), nodes, places)
	q, err := w.plain(call("relayed", of, w.program(before), w.program(after)))
	return Query{Text: q, Again: again}, err
}
