// SPDX-License-Identifier: Apache-2.0

package gallina_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gallina"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
)

// relations are those that a rule reads, and derives on its own node, but static ones.
func relations(r *logic.Rule) []string {
	var out []string
	for _, l := range r.Body {
		if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
			out = append(out, l.Atom.Relation.Name)
		}
	}
	if r.Kind != logic.Async {
		out = append(out, r.Head.Relation.Name)
	}
	return out
}

// connected are sets of relations of a component, each of which shares no rule with the others.
func connected(c *logic.Component) [][]string {
	set := map[string]map[string]bool{}
	for _, r := range c.Rules {
		one := map[string]bool{}
		for _, n := range relations(r) {
			one[n] = true
			maps.Copy(one, set[n])
		}
		for n := range one {
			set[n] = one
		}
	}
	var out [][]string
	for _, n := range slices.Sorted(maps.Keys(set)) {
		if all := slices.Sorted(maps.Keys(set[n])); all[0] == n {
			out = append(out, all)
		}
	}
	return out
}

// around are the numbers of the rules that have some of the relations.
func around(c *logic.Component, moves []string) []int {
	var out []int
	for i, r := range c.Rules {
		if slices.ContainsFunc(relations(r), func(n string) bool { return slices.Contains(moves, n) }) {
			out = append(out, i+1)
		}
	}
	return out
}

// TestSeparations asks the checker that is proved, and the rewriter, whether rules around some relations
// may become a component of their own: relations that share no rule with others, and some that are
// drawn. What is proved must be allowed, but where a side derives what is also sent to it, or sends
// something to the other one: in the theorem the network redirects such messages, and the rewriter
// refuses. Some is proved, and of some both say no.
func TestSeparations(t *testing.T) {
	checker := certifier(t)
	type asked struct {
		name string
		p    *logic.Program
		step rewrite.Step
	}
	var all []asked
	var questions []string
	ask := func(name string, p *logic.Program, c *logic.Component, moves []string) {
		step := rewrite.Step{Kind: rewrite.Mutual, Component: c.Name, Name: "moved", Rules: around(c, moves)}
		if q, err := gallina.Separation(p, c, moves, "moved"); err == nil && len(step.Rules) > 0 && len(step.Rules) < len(c.Rules) {
			all, questions = append(all, asked{name, p, step}), append(questions, q)
		}
	}
	add := func(name string, p *logic.Program, r env.Random) {
		for _, c := range p.Components {
			var known []string
			for _, moves := range connected(c) {
				ask(name, p, c, moves)
				known = append(known, moves...)
			}
			moves := slices.DeleteFunc(slices.Clone(known), func(string) bool { return env.IntN(r, 2) == 0 })
			ask(name, p, c, moves)
		}
	}
	examples, err := filepath.Glob("../../../../examples/dedalus/*.ded")
	if err != nil || len(examples) == 0 {
		t.Fatal(err)
	}
	for _, path := range examples {
		add(filepath.Base(path), given.Program(t, read(t, path)), env.Seeded(1))
	}
	for seed := range uint64(150) {
		for kind, draw := range map[string]func(env.Random) string{"seed": drawn.Program, "sending, seed": drawn.Sending} {
			r := env.Seeded(seed)
			if p, _ := given.Read(draw(r)); p != nil {
				add(fmt.Sprint(kind, " ", seed), p, r)
			}
		}
	}
	proved, allowed, refused, sent := 0, 0, 0, 0
	for i, answer := range answers(t, checker, questions) {
		a := all[i]
		_, _, err := rewrite.Apply(a.p, a.step)
		switch {
		case answer == "yes" && err == nil:
			proved++
		case answer == "yes" && (strings.Contains(err.Error(), "and messages bring it as well") || strings.Contains(err.Error(), "is derived on the other side")):
			sent++
		case answer == "yes":
			t.Errorf("%s: %v is proved to be right, and refused: %v\n%v", a.name, a.step, err, a.p)
		case err == nil:
			allowed++
		default:
			refused++
		}
	}
	t.Logf("%d separations: %d proved and allowed, %d allowed alone, %d refused by both, %d proved and refused for messages that the network redirects", len(all), proved, allowed, refused, sent)
	if proved < 10 || refused < 10 || sent == 0 {
		t.Errorf("%d separations are proved, %d refused by both", proved, refused)
	}
}
