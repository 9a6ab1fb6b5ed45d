// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// newNodes checks that the step creates no node that the program before mentions, for
// example as the name of a client: messages for it would arrive at a piece. A new component
// must not have the name of the component that an existing one is a piece of either.
func newNodes(before, after *logic.Program) error {
	for _, c := range after.Components {
		if before.Component(c.Name) != nil {
			continue
		}
		for _, b := range before.Components {
			if b.Of == c.Name {
				return fmt.Errorf("the new component %s has the name of the component that %s is a piece of", c.Name, b.Name)
			}
		}
	}
	is := func(p *logic.Program, name string, i int) bool {
		c := p.Component(name)
		return c != nil && i < c.Instances*c.Partitions
	}
	for _, n := range nodesSpokenOf(before) {
		name, number, ok := strings.Cut(n, "/")
		i, err := strconv.ParseUint(number, 10, 31)
		if !ok || err != nil || strconv.FormatUint(i, 10) != number {
			continue // there is no such name
		}
		if is(after, name, int(i)) && !is(before, name, int(i)) {
			return fmt.Errorf("the program before the step mentions node %q, which the step creates; choose another name for %s", n, name)
		}
	}
	return nil
}

// nodesSpokenOf returns the nodes in facts, rules and functions, possibly more than once.
func nodesSpokenOf(p *logic.Program) (nodes []string) {
	var value func(v logic.Value)
	value = func(v logic.Value) {
		if v.Kind == logic.Node {
			nodes = append(nodes, v.Str)
		}
		for _, e := range v.Set {
			value(e)
		}
	}
	var term func(ts ...*logic.Term)
	term = func(ts ...*logic.Term) {
		for _, t := range ts {
			if t == nil {
				continue
			}
			if t.Kind == logic.Const {
				value(t.Value)
			}
			term(t.Args...)
		}
	}
	for _, r := range p.Relations {
		for _, row := range r.Facts {
			for _, v := range row {
				value(v)
			}
		}
	}
	for _, f := range p.Functions {
		term(f.Body)
	}
	for _, c := range p.Components {
		for _, r := range c.Rules {
			term(r.Dest)
			for _, a := range r.Head.Args {
				term(a.Term)
			}
			for _, l := range r.Body {
				switch {
				case l.Atom != nil:
					term(l.Atom.Args...)
				case l.Compare != nil:
					term(l.Compare.Left, l.Compare.Right)
				default:
					term(l.Assign.Term)
				}
			}
		}
	}
	return nodes
}
