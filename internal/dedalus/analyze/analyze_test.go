// SPDX-License-Identifier: Apache-2.0

package analyze_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// TestVerdicts runs scripts. "program" reads a program and numbers its rules; "part c=NAME
// rules=(1,2)" prints all verdicts on some rules of a component, on all if none are named;
// "split c=NAME rules=(1,2)" prints whether these rules and the rest depend on each other.
func TestVerdicts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var p *logic.Program
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "program":
				p = given.Program(t, d.Input)
				var b strings.Builder
				for _, c := range p.Components {
					for i, r := range c.Rules {
						fmt.Fprintf(&b, "%s %d: %v\n", c.Name, i+1, r)
					}
				}
				return b.String()
			case "part":
				return tell(part(t, p, d))
			case "split":
				a := part(t, p, d)
				return fmt.Sprintf("of the rest: %v\nthe rest of it: %v\n", analyze.Independent(a, a.Rest()), analyze.Independent(a.Rest(), a))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func part(t *testing.T, p *logic.Program, d *datadriven.TestData) analyze.Part {
	var name string
	d.ScanArgs(t, "c", &name)
	c := p.Component(name)
	if !d.HasArg("rules") {
		return analyze.Whole(p, c)
	}
	out := analyze.Part{Program: p, Component: c}
	for _, a := range d.CmdArgs {
		if a.Key == "rules" {
			for _, v := range a.Vals {
				var n int
				fmt.Sscan(v, &n)
				out.Rules = append(out.Rules, c.Rules[n-1])
			}
		}
	}
	return out
}

func tell(p analyze.Part) string {
	var b strings.Builder
	names := func(what string, rels []*logic.Relation) {
		var s []string
		for _, r := range rels {
			s = append(s, r.Name)
		}
		fmt.Fprintf(&b, "%s: %s\n", what, strings.Join(s, " "))
	}
	sorted := func(m map[*logic.Relation]bool) (out []*logic.Relation) {
		for _, r := range p.Program.Relations {
			if m[r] && r.Kind != logic.Static {
				out = append(out, r)
			}
		}
		return out
	}
	names("in", p.Inputs())
	names("out", p.Outputs())
	persisted, _ := analyze.Persisted(p, func(*logic.Relation) bool { return false })
	names("persisted", sorted(persisted))
	names("existence", sorted(analyze.Existence(p)))
	fmt.Fprintf(&b, "functional: %v\nmonotonic: %v\nstate machine: %v\n", analyze.Functional(p), analyze.Monotonic(p), analyze.StateMachine(p))
	keys, v := analyze.Partition(p)
	fmt.Fprintf(&b, "partition: %v\n", v)
	for _, k := range keys {
		var s []string
		for r, key := range k {
			s = append(s, r.Name+" by "+key.Name(r))
		}
		sort.Strings(s)
		fmt.Fprintf(&b, "  %s\n", strings.Join(s, ", "))
	}
	deps := analyze.Dependencies(p.Program)
	for _, r := range p.Program.Relations {
		var s []string
		for _, d := range deps[r] {
			s = append(s, d.String())
		}
		if slices.Sort(s); len(s) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", r.Name, strings.Join(s, ", "))
		}
	}
	return b.String()
}
