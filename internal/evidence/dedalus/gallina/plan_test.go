// SPDX-License-Identifier: Apache-2.0

package gallina_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gallina"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
)

// derived are the relations of a component that the proof wants keys of: those that its rules read
// or derive on their own node.
func derived(p *logic.Program, c *logic.Component) []*logic.Relation {
	in := map[*logic.Relation]bool{}
	for _, r := range p.Refs(c) {
		in[r] = true
	}
	for _, r := range c.Rules {
		if r.Kind != logic.Async {
			in[r.Head.Relation] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Relations), func(r *logic.Relation) bool { return !in[r] })
}

// asked is a plan, and the step that is the same.
type asked struct {
	program string
	p       *logic.Program
	step    rewrite.Step
}

// plans writes the question whether the component may be divided into two, by keys that the rewriter
// finds and by some that are drawn.
func plans(name string, p *logic.Program, c *logic.Component, r env.Random, n int) ([]string, []asked) {
	relations := derived(p, c)
	var questions []string
	var steps []asked
	for i := range n {
		var found map[string]analyze.Key
		if i == 0 {
			if _, cert, err := rewrite.Apply(p, rewrite.Step{Kind: rewrite.Partition, Component: c.Name, Partitions: 2}); err == nil {
				found = cert.Keys
			}
		}
		keys, by := map[string]int{}, map[string]string{}
		for _, rel := range relations {
			if len(rel.Columns) == 0 {
				return nil, nil
			}
			column := env.IntN(r, len(rel.Columns))
			if k, ok := found[rel.Name]; ok {
				column = k.Column
			}
			keys[rel.Name] = column
			if slices.Contains(p.Refs(c), rel) {
				by[rel.Name] = rel.Columns[column].Name
			}
		}
		question, err := gallina.Plan(p, gallina.Division{Component: c, Pieces: 2, Keys: keys})
		if err != nil {
			return nil, nil
		}
		questions = append(questions, question)
		steps = append(steps, asked{name, p, rewrite.Step{Kind: rewrite.Partition, Component: c.Name, Partitions: 2, By: by}})
	}
	return questions, steps
}

// derivesWhatIsSent reports whether a component reads a relation that it derives and that others send.
func derivesWhatIsSent(p *logic.Program, c *logic.Component) bool {
	sent, made := map[*logic.Relation]bool{}, map[*logic.Relation]bool{}
	for _, o := range p.Components {
		for _, r := range o.Rules {
			if r.Kind == logic.Async {
				sent[r.Head.Relation] = true
			} else if o == c {
				made[r.Head.Relation] = true
			}
		}
	}
	return slices.ContainsFunc(p.Refs(c), func(r *logic.Relation) bool { return sent[r] && made[r] })
}

// logged is a program of which a component derives what is also sent to it, and could be divided
// nevertheless if the network sent messages to the piece that has the key.
const logged = `program logged
component a {
  table t(k: u64, v: u64)
  table u(k: u64, w: u64)
  output both(k: u64, v: u64, w: u64)
  sync  t(k, v) <- put(k, v)
  sync  u(k, w) <- give(k, w)
  async both@node "c"(k, v, w) <- t(k, v), u(k, w)
}
component front {
  input  gop(k: u64, v: u64)
  input  gog(k: u64, w: u64)
  input  got(k: u64, v: u64)
  static toa(n: node) = nodes a
  async  put@n(k, v) <- gop(k, v), toa(n)
  async  give@n(k, w) <- gog(k, w), toa(n)
  async  t@n(k, v) <- got(k, v), toa(n)
}
deploy { a: 1, front: 1 }
`

// TestPlans asks the checker that is proved, and the rewriter, whether components may be divided by
// keys that are drawn. What is proved must be allowed, but where a component derives what is also sent to
// it: in the theorem about plans the network routes such a message, and the rewriter refuses. The proof asks
// for more than the rewriter, so that the converse does not hold, but some of what is allowed must be proved.
func TestPlans(t *testing.T) {
	checker := certifier(t)
	var questions []string
	var all []asked
	add := func(name string, p *logic.Program, c *logic.Component, r env.Random, n int) {
		more, steps := plans(name, p, c, r, n)
		questions, all = append(questions, more...), append(all, steps...)
	}
	for _, name := range []string{"cohash", "voting", "storage", "mutual", "commit"} {
		p, r := given.Program(t, read(t, "../../../../examples/dedalus/"+name+".ded")), env.Seeded(1)
		for _, c := range p.Components {
			add(name, p, c, r, 5)
		}
	}
	p := given.Program(t, logged)
	add("logged", p, p.Component("a"), env.Seeded(1), 40)
	for seed := range uint64(80) {
		for kind, draw := range map[string]func(env.Random) string{"seed": drawn.Program, "sending, seed": drawn.Sending} {
			r := env.Seeded(seed)
			if p, _ := given.Read(draw(r)); p != nil {
				add(fmt.Sprint(kind, " ", seed), p, p.Component("a"), r, 3)
			}
		}
	}
	proved, allowed, sent := 0, 0, 0
	for i, answer := range answers(t, checker, questions) {
		a := all[i]
		_, _, err := rewrite.Apply(a.p, a.step)
		if err == nil {
			allowed++
		}
		if answer != "yes" {
			continue
		}
		proved++
		switch {
		case derivesWhatIsSent(a.p, a.p.Component(a.step.Component)):
			if sent++; err == nil || !strings.Contains(err.Error(), "and derived here as well") {
				t.Errorf("%s: %v: got %v, want it refused for what is derived and sent\n%v", a.program, a.step, err, a.p)
			}
		case err != nil:
			t.Errorf("%s: %v is proved to be right, and refused: %v\n%v", a.program, a.step, err, a.p)
		}
	}
	t.Logf("%d plans, %d allowed, %d proved to be right, %d of them of components that derive what is sent to them", len(all), allowed, proved, sent)
	if proved < 10 || sent == 0 || proved == len(all) {
		t.Errorf("of %d plans %d are proved to be right, %d of them of components that derive what is sent to them", len(all), proved, sent)
	}
}
