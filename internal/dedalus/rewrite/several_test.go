// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// wide draws rules of more kinds than rule does: relations of two columns of which one may be a
// key, messages to the node itself, to other instances and back through other components,
// timers, lattices, groups, and self as data.
func (d drawn) wide() string {
	local := []string{"p", "q", "r", "m"}
	read := append([]string{"in", "ask", "back", "peer", "again"}, local...)
	pick := func() string { return d.of(read...) }
	first := pick()
	body := first + "(k, x)"
	switch env.IntN(d.r, 8) {
	case 0, 1:
		body += ", " + pick() + "(k, x)"
	case 2:
		body += ", " + pick() + "(k, y), y != x"
	case 3:
		body += ", not " + pick() + d.of("(k, x)", "(k, _)", "(_, _)")
	case 4:
		body += ", clock()"
	}
	head := d.of(local...)
	switch env.IntN(d.r, 12) {
	case 0, 1, 2:
		return "async " + d.of("one", "two") + "@c(" + d.of("k, x", "x, k") + ") <- " + body + ", client(c)"
	case 3:
		return "async again@self(" + d.of("k, x", "x, k") + ") <- " + body
	case 4:
		return "async peer@n(k, x) <- " + body + ", like(n)" + d.of("", ", n != self")
	case 5:
		return "next " + head + "(k, x) <- " + body
	case 6, 7, 8:
		body = head + "(k, x)"
		if env.IntN(d.r, 2) == 0 {
			body += ", not " + pick() + d.of("(k, x)", "(k, _)", "(_, _)")
		}
		return "next " + head + "(k, x) <- " + body
	case 9:
		return fmt.Sprintf("sync %s(%s) <- %s", head, d.of("k, count<x>", "k, max<x>", "k, sum<x>", "x, min<k>"), body)
	}
	return "sync " + head + "(k, x) <- " + body
}

// wider draws a program of n such rules, or returns nil if it is not valid.
func (d drawn) wider(n int) *logic.Program {
	var rules []string
	for range n {
		rules = append(rules, d.wide())
	}
	declare := ""
	if env.IntN(d.r, 3) == 0 {
		declare = "  var m(k: u64, x: max<u64>)\n"
	}
	for _, c := range []struct{ name, rule string }{
		{"p", "sync p(k, x) <- in(k, x)"}, {"q", "sync q(k, x) <- ask(k, x)"}, {"r", "next r(k, x) <- in(k, x)"}, {"m", "sync m(k, x) <- in(k, x)"},
		{"peer", "async peer@n(k, x) <- in(k, x), like(n)"}, {"again", "async again@self(k, x) <- in(k, x)"},
	} {
		if text := strings.Join(rules, "\n"); strings.Contains(text, " "+c.name+"(") {
			rules = append(rules, c.rule)
		}
	}
	p, _ := given.Read("program drawn\ncomponent a {\n  static client(c: node) = nodes client\n  static like(n: node) = nodes a\n  timer clock every 1s\n" + declare + "  " +
		strings.Join(rules, "\n  ") + "\n}\ncomponent client {\n  input go(k: u64, x: u64)\n  output first(k: u64, x: u64)\n  output second(k: u64, x: u64)\n  static a(n: node) = nodes a\n" +
		"  async in@n(k, x) <- go(k, x), a(n)\n  async first@node \"c\"(k, x) <- one(k, x)\n  async second@node \"c\"(k, x) <- two(k, x)\n" +
		"  async ask@n(k, x) <- one(k, x), a(n)\n  async back@n(k, x) <- two(k, x), a(n)\n}\ndeploy { a: " + d.of("1", "1", "2") + ", client: 1 }\n")
	return p
}

// step applies one step that the rewrite allows, at any component, or returns nil if it allows
// no attempt.
func (d drawn) step(p *logic.Program, name string) (*logic.Program, *rewrite.Certificate) {
	kinds := []rewrite.Kind{rewrite.Mutual, rewrite.Functional, rewrite.Monotonic, rewrite.StateMachine, rewrite.Asymmetric, rewrite.Partition, rewrite.Partition, rewrite.Partial}
	for range 40 {
		c := p.Components[env.IntN(d.r, len(p.Components))]
		if c.Of != "a" {
			// What the client tells it tells as it sends it, before anything follows.
			continue
		}
		s := rewrite.Step{Kind: kinds[env.IntN(d.r, len(kinds))], Component: c.Name}
		if s.Kind.Divides() {
			s.Partitions = 2
		} else {
			s.Name = name
			for i := range c.Rules {
				if env.IntN(d.r, 2) == 0 {
					s.Rules = append(s.Rules, i+1)
				}
			}
		}
		if q, cert, err := rewrite.Apply(p, s); err == nil {
			return q, cert
		}
	}
	return nil, nil
}

// TestSeveralSteps rewrites random programs by one to three steps of all kinds, in any allowed
// order, and explores whether the results behave as the originals do. ASHLAR_DRAWN=N draws
// from N seeds.
func TestSeveralSteps(t *testing.T) {
	seeds, from := uint64(40), uint64(0)
	if n := os.Getenv("ASHLAR_DRAWN"); n != "" {
		if _, err := fmt.Sscan(n, &seeds); err != nil {
			t.Fatal(err)
		}
	}
	if n := os.Getenv("ASHLAR_DRAWN_FROM"); n != "" {
		if _, err := fmt.Sscan(n, &from); err != nil {
			t.Fatal(err)
		}
	}
	states := int64(2500)
	if n := os.Getenv("ASHLAR_DRAWN_STATES"); n != "" {
		if _, err := fmt.Sscan(n, &states); err != nil {
			t.Fatal(err)
		}
	}
	taken, compared := map[rewrite.Kind]int{}, 0
	for seed := from; seed < from+seeds; seed++ {
		d := drawn{env.Seeded(1000 + seed)}
		p := d.wider(3 + env.IntN(d.r, 5))
		if p == nil {
			continue
		}
		q := p
		var steps []rewrite.Step
		for i := range 1 + env.IntN(d.r, 3) {
			next, cert := d.step(q, fmt.Sprintf("b%d", i))
			if next == nil {
				break
			}
			if err := certificate.Check(q, next, cert.Claim(q)); err != nil {
				t.Errorf("seed %d: %v: the certificate: %v of\n%v", seed, cert.Step, err, q)
			}
			taken[cert.Step.Kind]++
			steps = append(steps, cert.Step)
			q = next
		}
		if len(steps) == 0 {
			continue
		}
		inputs := func(p *logic.Program) []interp.Message { return given.Inputs(p, uint64(1+seed%2)) }
		c, err := explore.Compare(t.Context(), p, q, inputs, nil, explore.Bounds{Duplicates: env.IntN(d.r, 2), StatesMax: states}, func(m *explore.Model) { m.Limit("clock", 1) })
		if err != nil {
			t.Fatal(err)
		}
		if c.Different != nil {
			t.Errorf("seed %d: %v of\n%v\n%v", seed, steps, p, c.Different)
		}
		if c.Complete() {
			compared++
		}
	}
	t.Logf("taken %v, %d compared to the end", taken, compared)
	if compared == 0 {
		t.Error("none was compared to the end")
	}
}
