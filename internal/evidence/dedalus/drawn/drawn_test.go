// SPDX-License-Identifier: Apache-2.0

package drawn_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
)

// programs is how many are drawn in a short test, and statesMax how many states of each
// are gone through.
const (
	programs  = 400
	statesMax = 1500
)

// stepsOf are steps to be tried on a program: those that divide a, by any key and by one that
// is drawn; and those that move one rule, what is around one relation or follows from one, what
// shares no relation with the rest, and some rules that are drawn.
func stepsOf(r env.Random, p *logic.Program) []rewrite.Step {
	a := p.Component("a")
	var out []rewrite.Step
	for _, k := range []rewrite.Kind{rewrite.Partition, rewrite.Partial} {
		if in := p.In(a); len(in) > 0 {
			rel := in[env.IntN(r, len(in))]
			if n := len(rel.Columns); n > 0 {
				out = append(out, rewrite.Step{Kind: k, Component: "a", Partitions: 2, By: map[string]string{rel.Name: rel.Columns[env.IntN(r, n)].Name}})
			}
		}
		out = append(out, rewrite.Step{Kind: k, Component: "a", Partitions: 2})
	}
	sets := parts(a)
	for i := range a.Rules {
		sets = append(sets, []int{i + 1})
	}
	for _, rel := range p.Heads(a) {
		sets = append(sets, around(a, rel))
	}
	for _, rel := range p.In(a) {
		sets = append(sets, following(a, rel))
	}
	for range 4 {
		var some []int
		for i := range a.Rules {
			if env.IntN(r, 2) == 0 {
				some = append(some, i+1)
			}
		}
		sets = append(sets, some)
	}
	for i := range sets {
		j := i + env.IntN(r, len(sets)-i)
		sets[i], sets[j] = sets[j], sets[i]
	}
	for _, set := range sets {
		for _, k := range []rewrite.Kind{rewrite.Mutual, rewrite.Functional, rewrite.Monotonic, rewrite.StateMachine, rewrite.Asymmetric} {
			out = append(out, rewrite.Step{Kind: k, Component: "a", Rules: set, Name: "b"})
		}
	}
	return out
}

func reads(rule *logic.Rule, rel *logic.Relation) bool {
	return slices.ContainsFunc(rule.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == rel })
}

// around are the rules that derive or read a relation.
func around(a *logic.Component, rel *logic.Relation) []int {
	var out []int
	for i, rule := range a.Rules {
		if rule.Head.Relation == rel || reads(rule, rel) {
			out = append(out, i+1)
		}
	}
	return out
}

// following are the rules that read a relation, and those that read what these derive.
func following(a *logic.Component, rel *logic.Relation) []int {
	from := map[*logic.Relation]bool{rel: true}
	var out []int
	for range a.Rules {
		out = nil
		for i, rule := range a.Rules {
			for of := range from {
				if reads(rule, of) {
					out = append(out, i+1)
					if rule.Kind != logic.Async {
						from[rule.Head.Relation] = true
					}
					break
				}
			}
		}
	}
	return out
}

// parts are rules that share no relation with the others but static ones.
func parts(a *logic.Component) [][]int {
	part := make([]int, len(a.Rules))
	for i := range part {
		part[i] = i
	}
	uses := func(rule *logic.Rule) map[*logic.Relation]bool {
		out := map[*logic.Relation]bool{}
		for _, l := range rule.Body {
			if l.Atom != nil && l.Atom.Relation.Kind != logic.Static {
				out[l.Atom.Relation] = true
			}
		}
		if rule.Kind != logic.Async {
			out[rule.Head.Relation] = true
		}
		return out
	}
	for range a.Rules {
		for i, one := range a.Rules {
			for j, two := range a.Rules {
				for rel := range uses(one) {
					if uses(two)[rel] {
						part[i] = min(part[i], part[j])
						part[j] = part[i]
					}
				}
			}
		}
	}
	var out [][]int
	for p := range a.Rules {
		var set []int
		for i := range part {
			if part[i] == p {
				set = append(set, i+1)
			}
		}
		if len(set) > 0 && len(set) < len(a.Rules) {
			out = append(out, set)
		}
	}
	return out
}

// effort is how many steps of a kind are compared of one program, and how often inputs are
// drawn for each, as long as comparisons are quick: of no more than quickMax states. What
// divides, and what tells each other nothing, is small.
type effort struct{ steps, draws, inputs int }

func effortOf(k rewrite.Kind) effort {
	switch k {
	case rewrite.Partition, rewrite.Mutual:
		return effort{3, 9, 3}
	case rewrite.Partial:
		return effort{2, 6, 2}
	case rewrite.Functional:
		return effort{2, 6, 2}
	}
	return effort{1, 2, 2}
}

const quickMax = 300

// crashes is how many there are in a comparison: in the first of a program that has a disk.
func crashes(p *logic.Program, n int) int {
	if n == 0 && slices.ContainsFunc(p.Relations, func(r *logic.Relation) bool { return r.Durable }) {
		return 1
	}
	return 0
}

// tally counts what was done.
type tally struct {
	programs            map[string]int // by the name of what draws them
	crashed             int
	refused, taken, ran map[rewrite.Kind]int
}

// try takes steps on the program of a seed and compares what results.
func (c *tally) try(t *testing.T, ctx context.Context, name string, seed uint64, program func(env.Random) string) {
	r := env.Seeded(seed)
	p, _ := given.Read(program(r))
	if p == nil {
		return
	}
	c.programs[name]++
	done := map[rewrite.Kind]int{}
	seen := map[string]bool{}
	for _, s := range stepsOf(r, p) {
		if done[s.Kind] == effortOf(s.Kind).steps {
			continue
		}
		q, _, err := rewrite.Apply(p, s)
		if err != nil {
			c.refused[s.Kind]++
			continue
		}
		if seen[q.String()] {
			continue
		}
		seen[q.String()] = true
		done[s.Kind]++
		c.taken[s.Kind]++
		e := effortOf(s.Kind)
		for n := range e.draws {
			if crashes(p, n) > 0 {
				c.crashed++
			}
			if !c.compare(t, ctx, fmt.Sprintf("%s, seed %d", name, seed), s, p, q, scenario.Draw(p, r, 1+n%e.inputs), crashes(p, n)) {
				break
			}
		}
	}
}

// compare compares a program with what a step makes of it, and says whether that was quick,
// and found nothing.
func (c *tally) compare(t *testing.T, ctx context.Context, of string, s rewrite.Step, p, q *logic.Program, inputs []interp.Message, crashes int) bool {
	got, err := explore.Compare(ctx, p, q, func(p *logic.Program) []interp.Message {
		own := make([]interp.Message, len(inputs))
		for i, m := range inputs {
			own[i] = interp.Message{To: m.To, Fact: interp.Fact{Relation: p.Find(m.Fact.Relation.Name), Row: m.Fact.Row}}
		}
		return own
	}, nil, explore.Bounds{StatesMax: statesMax, Often: true, Crashes: crashes}, func(m *explore.Model) { m.Limit("clock", 1) })
	if err != nil {
		return false // the time is up
	}
	if got.Complete() {
		c.ran[s.Kind]++
	}
	if got.Different != nil && !got.Different.Unsure {
		t.Fatalf("%s: %v of\n%v%v\nafter %s\ngiven %v", of, s, p, got.Different, strings.Join(got.Different.Steps, "; "), inputs)
	}
	return got.Complete() && got.First.States+got.Second.States < quickMax
}

// TestDrawn takes all steps that are allowed on programs that were drawn, and compares what
// results with them: nothing of that knows why a step is allowed. ASHLAR_DRAWN_FOR says for
// how long it continues with ever new programs, ASHLAR_DRAWN_FROM with which seed it
// begins.
func TestDrawn(t *testing.T) {
	ctx, from, last := t.Context(), uint64(0), uint64(programs)
	if s := os.Getenv("ASHLAR_DRAWN_FROM"); s != "" {
		if _, err := fmt.Sscan(s, &from); err != nil {
			t.Fatal(err)
		}
		last = from + programs
	}
	if s := os.Getenv("ASHLAR_DRAWN_FOR"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		c, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		ctx, last = c, 1<<63
	}
	c := &tally{programs: map[string]int{}, refused: map[rewrite.Kind]int{}, taken: map[rewrite.Kind]int{}, ran: map[rewrite.Kind]int{}}
	seed := from
	for ; seed < last && ctx.Err() == nil; seed++ {
		c.try(t, ctx, "Program", seed, drawn.Program)
		if seed%4 == 0 {
			c.try(t, ctx, "Sending", seed/4, drawn.Sending)
		}
	}
	t.Logf("seeds %d to %d: programs %v, refused %v, taken %v, compared with crashes %d, compared to the end %v", from, seed-1, c.programs, c.refused, c.taken, c.crashed, c.ran)
	if ctx.Err() != nil {
		return
	}
	for _, name := range []string{"Program", "Sending"} {
		if c.programs[name] == 0 {
			t.Errorf("no program of %s was read", name)
		}
	}
	for _, k := range rewrite.Kinds() {
		if k != rewrite.Relay && c.ran[k] == 0 {
			t.Errorf("no step of kind %v was compared to the end", k)
		}
	}
}

// TestClaims has the checker of certificates accept all steps that the rewriter takes on
// programs that were drawn: where they differ, one of them is wrong.
func TestClaims(t *testing.T) {
	taken, sending := 0, 0
	for n := range uint64(4*programs + programs/4) {
		seed, program := n, drawn.Program
		if n >= 4*programs {
			seed, program = n-4*programs, drawn.Sending
		}
		r := env.Seeded(seed)
		p, _ := given.Read(program(r))
		if p == nil {
			continue
		}
		if n >= 4*programs {
			sending++
		}
		for _, s := range stepsOf(r, p) {
			q, cert, err := rewrite.Apply(p, s)
			if err != nil {
				continue
			}
			taken++
			if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
				t.Errorf("%d, seed %d: %v: the certificate: %v, of\n%v", n, seed, s, err, p)
			}
		}
	}
	if taken < programs {
		t.Errorf("only %d steps were taken", taken)
	}
	if sending == 0 {
		t.Error("no program of Sending was read")
	}
}
