// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/plan"
)

// TestPlans prints plans: how each relation is kept and looked up, and for each rule whether
// it is a pulse and what it starts from.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans", func(t *testing.T, d *datadriven.TestData) string {
		p, err := plan.New(given.Program(t, "program p\n"+d.Input))
		if refused := (*plan.Refused)(nil); errors.As(err, &refused) {
			return refused.Error() + "\n"
		} else if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, c := range p.Components {
			for _, g := range c.Groups {
				show(&b, g)
			}
			for _, r := range c.Later {
				rule(&b, r)
			}
		}
		return b.String()
	})
}

func show(b *strings.Builder, g *plan.Group) {
	for _, r := range g.Relations {
		fmt.Fprintf(b, "%s: %s", r.Name, [...]string{plan.Static: "static", plan.Passing: "passing", plan.Tracked: "tracked"}[r.Class])
		for _, w := range []struct {
			is   bool
			word string
		}{{r.Pulse, "pulse"}, {r.Arrives, "arrives"}, {r.Carried, "carried"}, {r.Durable, "durable"}, {r.Merges, "merges"},
			{r.Recursive, "recursive"}, {r.Bag, "bag"}, {r.Inline, "inline"}} {
			if w.is {
				b.WriteString(", " + w.word)
			}
		}
		for n, i := range r.Indexes {
			fmt.Fprintf(b, ", by %v%s", i, map[bool]string{true: " late"}[r.Late[n]])
		}
		b.WriteString("\n")
	}
	for _, r := range g.Rules {
		rule(b, r)
	}
}

func rule(b *strings.Builder, r *plan.Rule) {
	what := "standing"
	if r.Pulse {
		what = "pulse"
	}
	name := r.Made
	if r.Source != nil {
		name = r.Source.String()
	}
	fmt.Fprintf(b, "  %s: %s", what, name)
	if g := r.Grouping; g != nil {
		fmt.Fprintf(b, " [simple %v, kept %v]", g.Simple, g.Kept)
	}
	b.WriteString("\n")
	for _, v := range r.Variants {
		fmt.Fprintf(b, "    %s", [...]string{plan.FromAll: "all", plan.FromChanges: "changes", plan.FromWork: "new", plan.FromNothing: "begin"}[v.Start])
		if v.Literal >= 0 {
			b.WriteString(" of " + literal(r, v.Literal))
		}
		for _, s := range v.Steps {
			b.WriteString("; " + literal(r, s.Literal))
			if l := &r.Body[s.Literal]; l.Relation != nil {
				fmt.Fprintf(b, " by %v", s.Bound)
			}
			for _, w := range []struct {
				is   bool
				word string
			}{{s.Before, " before"}, {s.Once, " once"}, {s.Known, " known"}} {
				if w.is {
					b.WriteString(w.word)
				}
			}
		}
		b.WriteString("\n")
	}
}

func literal(r *plan.Rule, i int) string {
	l := &r.Body[i]
	switch {
	case l.Compare != nil:
		return (&logic.Literal{Compare: l.Compare}).String()
	case l.Assign != nil:
		return l.Assign.Var
	case l.Negated:
		return "not " + l.Relation.Name
	}
	return l.Relation.Name
}
