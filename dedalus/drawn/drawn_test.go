package drawn_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/dedalus/drawn"
	"github.com/ashlar-dev/ashlar/dedalus/explore"
	"github.com/ashlar-dev/ashlar/dedalus/internal/given"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/dedalus/scenario"
	"github.com/ashlar-dev/ashlar/env"
)

// programs is how many are drawn in a short test, and statesMax how many states of each
// are gone through.
const (
	programs  = 250
	statesMax = 1500
)

// stepsOf are steps to be tried on a program: all that divide a, all that move one rule or
// what is around one relation, and some that move what is drawn.
func stepsOf(r env.Random, p *logic.Program) []rewrite.Step {
	a := p.Component("a")
	out := []rewrite.Step{{Kind: rewrite.Partition, Component: "a", Partitions: 2}, {Kind: rewrite.Partial, Component: "a", Partitions: 2}}
	var sets [][]int
	for i := range a.Rules {
		sets = append(sets, []int{i + 1})
	}
	for _, rel := range p.Heads(a) {
		var about []int
		for i, rule := range a.Rules {
			reads := slices.ContainsFunc(rule.Body, func(l logic.Literal) bool { return l.Atom != nil && l.Atom.Relation == rel })
			if rule.Head.Relation == rel || reads {
				about = append(about, i+1)
			}
		}
		sets = append(sets, about)
	}
	for range 6 {
		var some []int
		for i := range a.Rules {
			if env.IntN(r, 2) == 0 {
				some = append(some, i+1)
			}
		}
		sets = append(sets, some)
	}
	for _, set := range sets {
		for _, k := range []rewrite.Kind{rewrite.Mutual, rewrite.Functional, rewrite.Monotonic, rewrite.StateMachine, rewrite.Asymmetric} {
			out = append(out, rewrite.Step{Kind: k, Component: "a", Rules: set, Name: "b"})
		}
	}
	return out
}

// perKind is how many steps of a kind are compared of one program.
const perKind = 2

// tally counts what was done.
type tally struct {
	programs            int
	refused, taken, ran map[rewrite.Kind]int
}

// try takes steps on the program of a seed and compares what results.
func (c *tally) try(t *testing.T, ctx context.Context, seed uint64) {
	r := env.Seeded(seed)
	text := drawn.Program(r)
	p, _ := given.Read(text)
	if p == nil {
		return
	}
	c.programs++
	done := map[rewrite.Kind]int{}
	seen := map[string]bool{}
	for _, s := range stepsOf(r, p) {
		if done[s.Kind] == perKind {
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
		for n := range draws {
			if !c.compare(t, ctx, seed, s, p, q, scenario.Draw(p, r, 1+n%2)) {
				break
			}
		}
	}
}

// draws is how often inputs are drawn for a step, as long as comparisons are quick: of no
// more than quickMax states.
const draws, quickMax = 6, 300

// compare compares a program with what a step makes of it, and says whether that was quick,
// and found nothing.
func (c *tally) compare(t *testing.T, ctx context.Context, seed uint64, s rewrite.Step, p, q *logic.Program, inputs []interp.Message) bool {
	got, err := explore.Compare(ctx, p, q, func(p *logic.Program) []interp.Message {
		own := make([]interp.Message, len(inputs))
		for i, m := range inputs {
			own[i] = interp.Message{To: m.To, Fact: interp.Fact{Relation: p.Find(m.Fact.Relation.Name), Row: m.Fact.Row}}
		}
		return own
	}, nil, explore.Bounds{StatesMax: statesMax, Often: true}, func(m *explore.Model) { m.Limit("clock", 1) })
	if err != nil {
		return false // the time is up
	}
	if got.Complete() {
		c.ran[s.Kind]++
	}
	if got.Different != nil && !got.Different.Unsure {
		t.Errorf("seed %d: %v of\n%v%v\nafter %s\ngiven %v", seed, s, p, got.Different, strings.Join(got.Different.Steps, "; "), inputs)
		return false
	}
	return got.Complete() && got.First.States+got.Second.States < quickMax
}

// TestDrawn takes all steps that are allowed on programs that were drawn, and compares what
// results with them: nothing of that knows why a step is allowed. ASHLAR_DRAWN_FOR says for
// how long it goes on with ever new programs, ASHLAR_DRAWN_FROM with which seed it begins.
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
	c := &tally{refused: map[rewrite.Kind]int{}, taken: map[rewrite.Kind]int{}, ran: map[rewrite.Kind]int{}}
	seed := from
	for ; seed < last && ctx.Err() == nil; seed++ {
		c.try(t, ctx, seed)
	}
	t.Logf("seeds %d to %d: %d programs, refused %v, taken %v, compared to the end %v", from, seed-1, c.programs, c.refused, c.taken, c.ran)
	if ctx.Err() != nil {
		return
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
	taken := 0
	for seed := range uint64(4 * programs) {
		r := env.Seeded(seed)
		p, _ := given.Read(drawn.Program(r))
		if p == nil {
			continue
		}
		for _, s := range stepsOf(r, p) {
			q, cert, err := rewrite.Apply(p, s)
			if err != nil {
				continue
			}
			taken++
			if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
				t.Errorf("seed %d: %v: the certificate: %v, of\n%v", seed, s, err, p)
			}
		}
	}
	if taken < programs {
		t.Errorf("only %d steps were taken", taken)
	}
}
