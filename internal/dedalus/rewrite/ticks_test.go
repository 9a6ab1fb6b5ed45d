// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// hurried has a node to which y returns at least two ticks later. In between x arrives, in a
// tick in which p no longer holds.
const hurried = `program hurried
component a {
  static client(c: node) = nodes client
  next p(v) <- in(v)
  async x1@c(v) <- in(v), client(c)
  async got@c(v) <- p(v), y(v), client(c)
  async y1@c(v) <- x(v), client(c)
}
component client {
  input go(v: u64)
  static a(c: node) = nodes a
  output out(v: u64)
  async in@c(v) <- go(v), a(c)
  async x@c(w) <- x1(v), w := v + 1, a(c)
  async y@c(v) <- y1(w), v := w - 1, a(c)
  async out@node "c"(v) <- got(v)
}
deploy { a: 1, client: 1 }
`

// waning has a node that deletes s a tick after t begins to hold, possibly in a tick without
// inputs.
var waning = strings.NewReplacer("next p(v) <- in(v)", "next s(v) <- in(v)\n  next s(v) <- s(v), !gone(v)\n  sync gone(v) <- t(v)\n"+
	"  next t(v) <- in(v)\n  next t(v) <- t(v)", "p(v), y(v)", "s(v), y(v)").Replace(hurried)

// TestTicks decouples a node that can observe how many ticks have passed. A step whose ticks
// the node could observe is refused; the result of any other step behaves as the node does.
func TestTicks(t *testing.T) {
	for _, c := range []struct{ step, text, refused string }{
		{"functional a rules 4 as b", hurried, ""},
		{"monotonic a rules 4 as b", hurried, ""},
		{"monotonic a rules 8 as b", waning, ""},
		{"mutual a rules 4 as b", hurried, "p holds for one tick"},
		{"mutual a rules 1 2 3 as b", hurried, "p holds for one tick"},
		{"partition a into 2", hurried, "p holds for one tick"},
		{"mutual a rules 5 as b", strings.ReplaceAll(strings.ReplaceAll(hurried, "y(v), client", "y(v), q(v), client"),
			"next p(v) <- in(v)", "next p(v) <- in(v)\n  sync q(v) <- p(v)"), "p holds for one tick"},
		{"monotonic a rules 4 5 6 as b", strings.ReplaceAll(hurried, "async y1@c(v) <- x(v)",
			"next z(v) <- x(v)\n  next z(v) <- z(v)\n  async y1@c(v) <- z(v)"), "takes an extra tick"},
	} {
		p := given.Program(t, c.text)
		s, err := rewrite.ParseStep(c.step)
		if err != nil {
			t.Fatal(err)
		}
		q, cert, err := rewrite.Apply(p, s)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %q", c.step, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.step, err)
			continue
		}
		if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
			t.Errorf("%s: the certificate: %v", c.step, err)
		}
		inputs := func(p *logic.Program) []interp.Message { return given.Inputs(p, 1) }
		r, err := explore.Compare(t.Context(), p, q, inputs, nil, explore.Bounds{Duplicates: 1, StatesMax: 20000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Different != nil {
			t.Errorf("%s: %v", c.step, r.Different)
		}
	}
}

// TestTicksClaimed uses rewrites of a node that keeps p forever as rewrites of the node that
// does not: no certificate of them is accepted. The relation that y is joined with may follow
// from p, y may arrive because a client was answered, and a guarded relation is not kept.
func TestTicksClaimed(t *testing.T) {
	const keeps = "next p(v) <- p(v)"
	const last = "async y1@c(v) <- x(v), client(c)\n"
	text := strings.NewReplacer("deploy { a: 1, client: 1 }", "", last, last+"  "+keeps+"\n").Replace(hurried)
	follows := strings.NewReplacer("p(v), y(v)", "q(v), y(v)", keeps, keeps+"\n  sync q(v) <- p(v)").Replace(text)
	asked := strings.NewReplacer("y1@c(v) <- x(v), client(c)", "y1@c(v) <- x(v), teller(c)",
		"static client(c: node) = nodes client", "static client(c: node) = nodes client\n  static teller(c: node) = nodes teller",
		"  async y@c(v) <- y1(w), v := w - 1, a(c)\n", "").Replace(text) + `component teller {
  async out@node "d"(v) <- y1(v)
}
component person {
  input ask(v: u64)
  static to(c: node) = nodes a
  async y@c(v) <- ask(v), to(c)
}
`
	for _, text := range []string{text, follows, asked} {
		for _, step := range []string{"functional a rules 4 as b", "monotonic a rules 4 as b", "mutual a rules 4 as b", "partition a into 2"} {
			claimTicks(t, text, step, keeps)
		}
	}
	const stays = "next s(v) <- s(v)"
	text = strings.NewReplacer("deploy { a: 1, client: 1 }", "", last, last+"  "+stays+"\n").Replace(waning)
	for _, step := range []string{"functional a rules 8 as b", "monotonic a rules 8 as b"} {
		claimTicks(t, text, step, stays)
	}
}

// claimTicks rewrites a program, and then removes a rule from it and from the result.
func claimTicks(t *testing.T, text, step, keeps string) {
	t.Helper()
	s, err := rewrite.ParseStep(step)
	if err != nil {
		t.Fatal(err)
	}
	p := given.Program(t, text)
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		t.Fatal(err)
	}
	claim := cert.Claim(p)
	if err := certificate.Check(p, q, claim); err != nil {
		t.Errorf("%s: %v", step, err)
	}
	for _, p := range []*logic.Program{p, q} {
		a := p.Component("a")
		n := len(a.Rules)
		a.Rules = slices.DeleteFunc(a.Rules, func(r *logic.Rule) bool { return r.String() == keeps })
		if len(a.Rules) != n-1 {
			t.Fatalf("%s: no rule '%s'", step, keeps)
		}
	}
	if err := certificate.Check(p, q, claim); err == nil {
		t.Errorf("%s: the certificate is accepted of a node that can tell, of\n%s", step, text)
	}
}

// TestToItself moves a rule that sends its own inputs to its own node. The message must reach
// the piece that reads it, and a certificate of a program in which it does not is refused.
func TestToItself(t *testing.T) {
	p := given.Program(t, `program itself
component a {
  input in(v: u64)
  static client(c: node) = nodes client
  async x@self(v) <- in(v)
  async y@c(v) <- x(v), client(c)
  async z@c(v) <- in(v), client(c)
}
component client {
  output out(v: u64)
  async out@node "c"(v) <- y(v)
  async out@node "d"(v) <- z(v)
}
`)
	for _, kind := range []rewrite.Kind{rewrite.Functional, rewrite.Monotonic} {
		q, cert, err := rewrite.Apply(p, rewrite.Step{Kind: kind, Component: "a", Rules: []int{1, 2}, Name: "b"})
		if err != nil {
			t.Fatal(err)
		}
		claim := cert.Claim(p)
		if err := certificate.Check(p, q, claim); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		r := q.Component("b").Rules[0]
		r.Body, r.Dest = r.Body[:1], p.Component("a").Rules[0].Dest
		if err := certificate.Check(p, q, claim); err == nil {
			t.Errorf("%v: the certificate is accepted of a piece that sends to another what it reads itself", kind)
		}
	}
}
