// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// TestAskedTooMuch refuses steps that ask for too much, before they are applied.
func TestAskedTooMuch(t *testing.T) {
	const text = `program much
component a {
  input in(v: u64)
  static client(c: node) = nodes client
  async x@c(v) <- in(v), client(c)
  async y@node "b/0"(v) <- in(v)
}
component client {
  output out(v: u64)
  async out@node "c"(v) <- x(v)
}
deploy { a: 60000, client: 1 }
`
	p := given.Program(t, text)
	for step, want := range map[string]string{
		"partition client into 9223372036854775807": "at most 4096",
		"partial client into 1000000":               "at most 4096",
		"partition client into 4000":                "exceeds the limit of 1048576",
		"functional a rules 1 as 9x":                "is not a valid name",
		"functional a rules 1 as b/0":               "is not a valid name",
		"functional a rules 1 as _":                 "needs a name",
		"functional a rules 1 as b":                 `mentions node "b/0"`,
		"functional a rules 1 as client":            "new name",
	} {
		s, err := rewrite.ParseStep(step)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := rewrite.Apply(p, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}

// TestNamesTaken refuses steps that would create nodes that the program mentions, or components
// whose names mean something else, and says what to rename.
func TestNamesTaken(t *testing.T) {
	text := func(node, more string) string {
		return `program taken
component a {
  input in(k: u64, v: u64)
  static boss(b: node) = { (node "` + node + `") }
  static store(s: node) = nodes store
  async put@s(k, v) <- in(k, v), store(s)
  async told@b(k) <- in(k, _), boss(b)
}
component store {
  output had(k: u64)
  table kept(k: u64, v: u64)
  next kept(k, v) <- put(k, v)
  async had@node "c"(k) <- put(k, _), kept(k, _)
}
` + more + `
deploy { store: 2 }
`
	}
	other := "component store_order {\n  output was(k: u64)\n  async was@node \"c\"(k) <- told(k)\n}\n"
	for _, c := range []struct{ node, more, step, want string }{
		{"x", "", "partition store into 3", ""},
		{"store/1", "", "partition store into 3", ""},  // the step creates this node
		{"store/6", "", "partition store into 3", ""},  // the step does not create this node
		{"store/02", "", "partition store into 3", ""}, // this is another name
		{"store/2", "", "partition store into 3", `mentions node "store/2", which is a name that the step would give to a new node; rename that node, or component store`},
		{"store/5", "", "partition store into 3", `mentions node "store/5"`},
		{"store/3", "", "partial store into 2", `mentions node "store/3"`},
		{"store_order/1", "", "partial store into 2", `mentions node "store_order/1"`},
		{"x", other, "partial store into 2", "the step would create a component store_order, which exists already; rename that one, or store"},
		{"x", strings.Replace(other, "store_order", "piece of store_order", 1), "partial store into 2", "piece is a piece of a component of that name; rename store"},
		{"x", strings.Replace(other, "store_order", "piece of whole", 1), "functional a rules 2 as whole", "piece is a piece of whole, whose nodes have that name; choose another name"},
		{"whole/0", "", "functional a rules 2 as whole", `mentions node "whole/0"`},
		{"whole/0", "", "functional a rules 2 as hole", ""},
	} {
		s, err := rewrite.ParseStep(c.step)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = rewrite.Apply(given.Program(t, text(c.node, c.more)), s)
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && err != nil {
			t.Errorf("%s with %s: %v, want %q", c.step, c.node, err, c.want)
		}
	}
	// The program may also mention the node in rules, functions and sets.
	for _, change := range []func(p *logic.Program, v logic.Value){
		func(p *logic.Program, v logic.Value) {
			boss := p.Find("boss")
			boss.Columns[0].Type = logic.Type{Kind: logic.SetType, Elem: &logic.Type{Kind: logic.Node}}
			boss.Facts[0][0] = logic.Value{Kind: logic.SetType, Set: []logic.Value{v}}
		},
		func(p *logic.Program, v logic.Value) {
			p.Component("store").Rules[1].Dest = &logic.Term{Kind: logic.Const, Value: v, Type: logic.Type{Kind: logic.Node}}
		},
		func(p *logic.Program, v logic.Value) {
			p.Functions = append(p.Functions, &logic.Function{Name: "f", Result: logic.Type{Kind: logic.Node}, Body: &logic.Term{Kind: logic.Const, Value: v, Type: logic.Type{Kind: logic.Node}}})
		},
	} {
		p := given.Program(t, text("x", ""))
		change(p, logic.Value{Kind: logic.Node, Str: "store/4"})
		s, err := rewrite.ParseStep("partition store into 3")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := rewrite.Apply(p, s); err == nil || !strings.Contains(err.Error(), `"store/4"`) {
			t.Error(err)
		}
	}
}
