// SPDX-License-Identifier: Apache-2.0

package interp

import "github.com/ashlar-dev/ashlar/internal/dedalus/logic"

// Deploy returns all instances of a program, in the order of its components. Extra has facts
// of static relations that the program does not declare, by name; a static relation without
// any is empty.
func Deploy(p *logic.Program, extra map[string][][]logic.Value, f Functions) []*Instance {
	static := map[*logic.Relation][][]logic.Value{}
	for _, r := range p.Relations {
		if r.Kind == logic.Static {
			static[r] = append(StaticFacts(p, r), extra[r.Name]...)
		}
	}
	var out []*Instance
	for _, c := range p.Components {
		for i := range c.Instances * c.Partitions {
			out = append(out, New(p, c, Identify(c, i), static, f))
		}
	}
	return out
}

// Identify returns the identity of instance i of a component, counted from 0.
func Identify(c *logic.Component, i int) Identity {
	return Identity{Node: logic.NodeName(c.Name, i), Self: logic.NodeName(c.Of, i/c.Partitions)}
}

// StaticFacts returns the facts that the program declares for a static relation.
func StaticFacts(p *logic.Program, r *logic.Relation) [][]logic.Value {
	facts := append([][]logic.Value(nil), r.Facts...)
	if c := p.Component(r.Nodes); c != nil {
		for i := range c.Instances {
			facts = append(facts, []logic.Value{{Kind: logic.Node, Str: logic.NodeName(c.Name, i)}})
		}
	}
	if c := p.Component(r.Size); c != nil {
		facts = append(facts, []logic.Value{{Kind: logic.U64, Num: uint64(c.Instances)}})
	}
	return facts
}
