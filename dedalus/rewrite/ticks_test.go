package rewrite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/dedalus/explore"
	"github.com/ashlar-dev/ashlar/dedalus/internal/given"
	"github.com/ashlar-dev/ashlar/dedalus/interp"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
)

// hurried has a node to which y comes back two ticks later at the earliest, as x comes to
// it in between, when p holds no more.
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

// TestTicks takes apart a node that can tell how many ticks have passed: what cannot be
// hidden from it is refused, and else what results does nothing that it cannot.
func TestTicks(t *testing.T) {
	for _, c := range []struct{ step, text, refused string }{
		{"functional a rules 4 as b", hurried, ""},
		{"monotonic a rules 4 as b", hurried, ""},
		{"mutual a rules 4 as b", hurried, "p holds for one tick"},
		{"mutual a rules 1 2 3 as b", hurried, "p holds for one tick"},
		{"partition a into 2", hurried, "p holds for one tick"},
		{"mutual a rules 5 as b", strings.ReplaceAll(strings.ReplaceAll(hurried, "y(v), client", "y(v), q(v), client"),
			"next p(v) <- in(v)", "next p(v) <- in(v)\n  sync q(v) <- p(v)"), "p holds for one tick"},
		{"monotonic a rules 4 5 6 as b", strings.ReplaceAll(hurried, "async y1@c(v) <- x(v)",
			"next z(v) <- x(v)\n  next z(v) <- z(v)\n  async y1@c(v) <- z(v)"), "it takes a tick"},
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

// TestTicksClaimed has rewrites of a node that keeps p for ever stand for rewrites of
// the node that does not: no certificate of them is accepted.
func TestTicksClaimed(t *testing.T) {
	const keeps = "next p(v) <- p(v)"
	text := strings.Replace(hurried, "deploy", "#", 1)
	text = strings.Replace(text, "# { a: 1, client: 1 }", "", 1)
	text = strings.Replace(text, "async y1@c(v) <- x(v), client(c)\n", "async y1@c(v) <- x(v), client(c)\n  "+keeps+"\n", 1)
	for _, step := range []string{"functional a rules 4 as b", "monotonic a rules 4 as b", "mutual a rules 4 as b", "partition a into 2"} {
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
			t.Errorf("%s: the certificate is accepted of a node that can tell", step)
		}
	}
}

// TestToItself moves a rule that sends to its own node what it reads: it must find the
// piece that reads it, and a certificate of one that does not is refused.
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
