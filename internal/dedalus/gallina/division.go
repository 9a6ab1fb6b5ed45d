// SPDX-License-Identifier: Apache-2.0

package gallina

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Division is that the instances of a component are divided by the columns of keys, and that a
// static relation leads to the pieces.
type Division struct {
	Component *logic.Component
	Pieces    int
	Keys      map[string]int
	Forward   string
}

// Query is what the extracted checker is asked about a rewrite.
type Query struct {
	Text string
	// Immortal are the components of which no piece crashes, as far as the theorem goes: it says nothing
	// of runs in which one does.
	Immortal []string
	// Again are the inputs that may come to the program before more often than they were given.
	Again []string
}

// Question asks the extracted checker whether a program is another one rewritten as a claim says.
// The error names what Coq has no theorem about, or the limit that the question exceeds.
func Question(before, after *logic.Program, c certificate.Claim) (Query, error) {
	w := &writer{functions: true}
	if w.tooMany(before); w.tooMany(after) {
		return Query{}, w.err
	}
	switch c.Kind {
	case "functional":
		return w.handed(before, after, c)
	case "mutual":
		return w.separated(before, after, c)
	case "relay":
		return w.relayed(before, after, c)
	}
	d, err := division(before, after, c)
	if err != nil {
		return Query{}, err
	}
	text, err := w.plain(call("divided", w.division(before, d), w.program(before), w.program(after, d.Component.Name)))
	return Query{Text: text, Immortal: []string{d.Component.Name}}, err
}

// Plan asks the extracted checker whether a component may be divided, by the network.
func Plan(p *logic.Program, d Division) (string, error) {
	w := &writer{functions: true}
	return w.plain(call("may_divide", w.division(p, d), w.program(p)))
}

func division(before, after *logic.Program, c certificate.Claim) (Division, error) {
	if c.Kind != "partition" {
		return Division{}, fmt.Errorf("no theorem covers %s", c.Kind)
	}
	d := Division{Component: before.Component(c.Component), Pieces: c.Partitions, Keys: map[string]int{}}
	if d.Component == nil {
		return d, fmt.Errorf("the program has no component %s", c.Component)
	}
	for _, r := range slices.Sorted(maps.Keys(c.Keys)) {
		if k := c.Keys[r]; k.Func != "" {
			return d, fmt.Errorf("the theorem does not cover keys that are functions of columns, such as %s of %s", k.Func, r)
		}
		d.Keys[r] = c.Keys[r].Column
	}
	d.Forward = forward(before, after)
	return d, nil
}

// division writes a certificate. Where pieces are is what it says of programs that are deployed.
func (w *writer) division(p *logic.Program, d Division) term {
	c := d.Component
	if d.Pieces > NodesMax || c.Instances*c.Partitions*d.Pieces > NodesMax {
		w.tooLarge(fmt.Sprintf("more than %d pieces", NodesMax))
		return term{}
	}
	var nodes []string
	var places []term
	for i := range c.Instances * c.Partitions {
		at := logic.NodeName(c.Name, i)
		nodes = append(nodes, at)
		for q := range d.Pieces {
			places = append(places, both(both(node(at), nat(q)), node(logic.NodeName(c.Name, i*d.Pieces+q))))
		}
	}
	key := func(r string) term { return both(text(r), nat(d.Keys[r])) }
	return call("Division", nat(d.Pieces), list(slices.Sorted(maps.Keys(d.Keys)), key), list(pulses(p, c), text),
		list(nodes, node), list(places, func(t term) term { return t }), text(d.Forward))
}

// program writes a program with its instances and static facts. All nodes may crash but those of some
// components.
func (w *writer) program(p *logic.Program, immortal ...string) term {
	if w.tooMany(p) {
		return term{}
	}
	var instances, facts []term
	var mortals []string
	for _, c := range p.Components {
		of := w.component(p, c) // instances share it: it may be long
		for i := range c.Instances * c.Partitions {
			n := interp.Identify(c, i)
			instances = append(instances, call("Instance", node(n.Node), node(n.Self), of))
			if !slices.Contains(immortal, c.Name) {
				mortals = append(mortals, n.Node)
			}
		}
	}
	var static, input, output, timer, durable []string
	for _, r := range p.Relations {
		switch r.Kind {
		case logic.Static:
			static = append(static, r.Name)
			if r.Facts == nil && r.Nodes == "" && r.Size == "" {
				w.refuse("static relations without facts in the program, such as " + r.Name)
			}
			for _, row := range interp.StaticFacts(p, r) {
				facts = append(facts, w.fact(interp.Fact{Relation: r, Row: row}))
			}
			if len(facts) > FactsMax {
				w.tooLarge(fmt.Sprintf("more than %d static facts", FactsMax))
				return term{}
			}
		case logic.Input:
			input = append(input, r.Name)
		case logic.Output:
			output = append(output, r.Name)
		case logic.Timer:
			timer = append(timer, r.Name)
		}
		if r.Durable {
			durable = append(durable, r.Name)
		}
	}
	same := func(t term) term { return t }
	return call("Program", list(instances, same), list(facts, same), list(static, text), list(input, text), list(output, text),
		list(timer, text), list(durable, text), list(mortals, node))
}

// pulses are the most relations of which it may be that nothing carries them, and that they follow
// from others in their tick.
func pulses(p *logic.Program, c *logic.Component) []string {
	in := map[string]bool{}
	for _, r := range p.Refs(c) {
		in[r.Name] = true
	}
	for _, r := range c.Rules {
		if r.Kind == logic.Sync {
			in[r.Head.Relation.Name] = true
		}
	}
	for _, r := range c.Rules {
		if r.Kind == logic.Next {
			delete(in, r.Head.Relation.Name)
		}
	}
	for range c.Rules {
		for _, r := range c.Rules {
			wakes := slices.ContainsFunc(r.Body, func(l logic.Literal) bool { return l.Positive() && in[l.Atom.Relation.Name] })
			if r.Kind == logic.Sync && !wakes {
				delete(in, r.Head.Relation.Name)
			}
		}
	}
	return slices.Sorted(maps.Keys(in))
}
