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

// drawn draws parts of a program.
type drawn struct{ r env.Random }

func (d drawn) of(list ...string) string { return list[env.IntN(d.r, len(list))] }

// rule draws a rule of a component that receives in, other and ask, and sends one and two to
// a client, which sends ask when it receives one.
func (d drawn) rule() string {
	local := []string{"p", "q", "r", "s"}
	read := append([]string{"in", "other", "ask"}, local...)
	first := d.of(read...)
	body := first + "(x)"
	switch env.IntN(d.r, 6) {
	case 0:
		body += ", " + d.of(read...) + "(x)"
	case 1:
		body += ", " + d.of(read...) + "(y), y != x"
	case 2, 3:
		body += ", not " + d.of(read...) + d.of("(x)", "(_)")
	}
	head := d.of(local...)
	switch env.IntN(d.r, 8) {
	case 0, 1, 2:
		return "async " + d.of("one", "two") + "@c(x) <- " + body + ", client(c)"
	case 3:
		return "next " + head + "(x) <- " + body
	case 4, 5:
		body = head + "(x)"
		if env.IntN(d.r, 2) == 0 {
			body += ", not " + d.of(read...) + d.of("(x)", "(_)")
		}
		return "next " + head + "(x) <- " + body
	case 6:
		return fmt.Sprintf("sync %s(%s<x>) <- %s", head, d.of("count", "max"), body)
	}
	return "sync " + head + "(x) <- " + body
}

// program draws a program of n such rules, or returns nil if it is not valid.
func (d drawn) program(n int) *logic.Program {
	var rules []string
	for range n {
		rules = append(rules, d.rule())
	}
	for _, l := range []string{"p", "q", "r", "s"} {
		if text := strings.Join(rules, "\n"); strings.Contains(text, " "+l+"(") && !strings.Contains(text, "c "+l+"(") && !strings.Contains(text, "t "+l+"(") {
			rules = append(rules, "sync "+l+"(x) <- "+d.of("in", "other", "ask")+"(x)")
		}
	}
	p, _ := given.Read("program drawn\ncomponent a {\n  input in(x: u64)\n  input other(x: u64)\n  static client(c: node) = nodes client\n  " + strings.Join(rules, "\n  ") +
		"\n}\ncomponent client {\n  output first(x: u64)\n  output second(x: u64)\n  static a(n: node) = nodes a\n" +
		"  async first@node \"c\"(x) <- one(x)\n  async second@node \"c\"(x) <- two(x)\n  async ask@n(x) <- one(x), a(n)\n}\n")
	return p
}

// apart decouples rules of a program as the rewrite allows, or returns nil if it allows no
// attempt.
func (d drawn) apart(p *logic.Program, kind rewrite.Kind, n int) (*logic.Program, *rewrite.Certificate) {
	for range 12 {
		var rules []int
		for i := range n {
			if env.IntN(d.r, 2) == 0 {
				rules = append(rules, i+1)
			}
		}
		if q, cert, err := rewrite.Apply(p, rewrite.Step{Kind: kind, Component: "a", Rules: rules, Name: "b"}); err == nil {
			return q, cert
		}
	}
	return nil, nil
}

// TestDrawnPrograms decouples random programs as the rewrites allow, and explores whether the
// results behave as the originals do. ASHLAR_DRAWN=N draws from N seeds.
func TestDrawnPrograms(t *testing.T) {
	seeds := uint64(100)
	if n := os.Getenv("ASHLAR_DRAWN"); n != "" {
		if _, err := fmt.Sscan(n, &seeds); err != nil {
			t.Fatal(err)
		}
	}
	taken, compared := map[rewrite.Kind]int{}, map[rewrite.Kind]int{}
	for seed := range seeds {
		d := drawn{env.Seeded(seed)}
		p := d.program(3 + env.IntN(d.r, 5))
		if p == nil {
			continue
		}
		a := p.Component("a")
		for _, kind := range []rewrite.Kind{rewrite.Mutual, rewrite.Functional, rewrite.Monotonic, rewrite.StateMachine, rewrite.Asymmetric} {
			q, cert := d.apart(p, kind, len(a.Rules))
			if q == nil {
				continue
			}
			taken[kind]++
			if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
				t.Errorf("seed %d: %v: the certificate: %v", seed, cert.Step, err)
			}
			inputs := func(p *logic.Program) []interp.Message { return given.Inputs(p, 1) }
			c, err := explore.Compare(t.Context(), p, q, inputs, nil, explore.Bounds{Duplicates: 1, StatesMax: 3000}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Different != nil {
				t.Errorf("seed %d: %v of\n%v\n%v", seed, cert.Step, p, c.Different)
			}
			if c.Complete() {
				compared[kind]++
			}
		}
	}
	t.Logf("taken %v, compared to the end %v", taken, compared)
	// Random programs rarely have two parts with nothing in common, so mutual is not required.
	for _, kind := range []rewrite.Kind{rewrite.Functional, rewrite.Monotonic, rewrite.StateMachine, rewrite.Asymmetric} {
		if compared[kind] == 0 {
			t.Errorf("no %v was compared to the end", kind)
		}
	}
}
