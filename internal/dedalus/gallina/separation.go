// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Separation asks the extracted checker whether the rules of a component that derive or read some
// relations may become a component of their own, by the network.
func Separation(p *logic.Program, c *logic.Component, moves []string, as string) (string, error) {
	w := &writer{functions: true}
	if w.tooMany(p) {
		return "", w.err
	}
	return w.plain(call("may_decouple", w.separation(p, c, moves, as), w.program(p)))
}

func (w *writer) separation(p *logic.Program, c *logic.Component, moves []string, as string) term {
	nodes, places := w.places(c, as)
	return call("Separation", list(moves, text), list(pulses(p, c), text), nodes, places)
}

// places are the nodes of a component, and where the new instance of each is.
func (w *writer) places(c *logic.Component, as string) (nodes, places term) {
	var at []string
	var to []term
	for i := range c.Instances * c.Partitions {
		n := logic.NodeName(c.Name, i)
		at = append(at, n)
		to = append(to, both(both(node(n), nat(0)), node(logic.NodeName(as, i))))
	}
	return list(at, node), list(to, func(t term) term { return t })
}

// movers are the rules of a component that moved, as a claim has them.
func movers(from *logic.Component, c certificate.Claim) ([]*logic.Rule, error) {
	if from == nil {
		return nil, fmt.Errorf("the program has no component %s", c.Component)
	}
	var out []*logic.Rule
	for _, n := range c.Moved {
		if n < 0 || n >= len(from.Rules) {
			return nil, fmt.Errorf("%s has no rule %d", c.Component, n+1)
		}
		if slices.Contains(out, from.Rules[n]) {
			return nil, fmt.Errorf("the claim lists rule %d of %s twice", n+1, c.Component)
		}
		out = append(out, from.Rules[n])
	}
	return out, nil
}

// local are the relations that rules read or derive on their own node, but static ones.
func local(rules []*logic.Rule) []string {
	in := map[string]bool{}
	for _, r := range rules {
		for _, l := range r.Body {
			if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
				in[l.Atom.Relation.Name] = true
			}
		}
		if r.Kind != logic.Async {
			in[r.Head.Relation.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(in))
}

// forward is the relation that a rewrite made to lead messages.
func forward(before, after *logic.Program) string {
	name := ""
	for _, r := range after.Relations {
		if r.Kind == logic.Static && before.Find(r.Name) == nil {
			name = r.Name
		}
	}
	return name
}

// separated asks about a mutual decoupling.
func (w *writer) separated(before, after *logic.Program, c certificate.Claim) (Query, error) {
	from := before.Component(c.Component)
	rules, err := movers(from, c)
	if err != nil {
		return Query{}, err
	}
	q := call("separated", w.separation(before, from, local(rules), c.Name), text(forward(before, after)),
		w.program(before), w.program(after, c.Component, c.Name))
	of, err := w.plain(q)
	return Query{Text: of, Immortal: []string{c.Component, c.Name}}, err
}
