// SPDX-License-Identifier: Apache-2.0

package interp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// TestTicks shows the ticks of programs. "program" deploys a program, "tick NODE" delivers
// the facts of its input there and prints what holds and what is sent, and "crash NODE"
// deletes what is not durable.
func TestTicks(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var p *logic.Program
		nodes := map[string]*interp.Instance{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "program":
				p = given.Program(t, d.Input)
				clear(nodes)
				var names []string
				for _, n := range interp.Deploy(p, nil, functions()) {
					nodes[n.Node] = n
					names = append(names, n.Node)
				}
				return strings.Join(names, " ") + "\n"
			case "tick":
				var in []interp.Fact
				var timers []*logic.Relation
				for _, line := range strings.Fields(strings.ReplaceAll(d.Input, ", ", ",")) {
					if f := fact(t, p, line); f.Relation.Kind == logic.Timer {
						timers = append(timers, f.Relation)
					} else {
						in = append(in, f)
					}
				}
				return nodes[d.CmdArgs[0].Key].Tick(in, timers...).String()
			case "crash":
				nodes[d.CmdArgs[0].Key].Crash()
				return ""
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func functions() interp.Functions {
	return interp.Functions{"double": func(a []logic.Value) (logic.Value, bool) {
		return logic.Value{Kind: logic.U64, Num: 2 * a[0].Num}, a[0].Num != 5
	}}
}

// fact parses a fact in the syntax of static relations.
func fact(t *testing.T, p *logic.Program, text string) interp.Fact {
	t.Helper()
	name, args, _ := strings.Cut(text, "(")
	r := p.Find(name)
	if r == nil {
		t.Fatalf("no relation %q", name)
	}
	cols := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		cols[i] = fmt.Sprintf("c%d: %v", i, c.Type)
	}
	args = strings.ReplaceAll(args, "node\"", "node \"")
	q := given.Program(t, fmt.Sprintf("program p component c { static f(%s) = { (%s } }", strings.Join(cols, ", "), args))
	return interp.Fact{Relation: r, Row: q.Find("f").Facts[0]}
}
