// SPDX-License-Identifier: Apache-2.0

package rewrite_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// TestRewrites runs scripts. "program" reads a program; "apply kind=K c=NAME rules=(1,2)
// as=NAME", or "apply kind=partition c=NAME into=N by=(REL:KEY)", applies a step and prints
// the changed component; "show" prints all. The rewritten program is parsed again, and must
// give the answers of the original.
func TestRewrites(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var first, p *logic.Program
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "program":
				p = given.Program(t, d.Input)
				first = p
				return rules(p)
			case "show":
				return p.String()
			}
			s := step(t, d)
			before := p.String()
			q, cert, err := rewrite.Apply(p, s)
			if p.String() != before {
				d.Fatalf(t, "the program was changed")
			}
			var refused *rewrite.Refusal
			if err != nil && !errors.As(err, &refused) {
				return "error: " + err.Error() + "\n"
			}
			if err != nil {
				return err.Error() + "\n"
			}
			if err := q.Validate(); err != nil {
				d.Fatalf(t, "not valid: %v\n%v", err, q)
			}
			if again := given.Program(t, q.String()); again.String() != q.String() {
				d.Fatalf(t, "read again:\n%v\nwas\n%v", again, q)
			}
			if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
				d.Fatalf(t, "the certificate: %v", err)
			}
			for seed := range uint64(20) {
				if want, got := answers(t, first, seed), answers(t, q, seed+100); want != got {
					d.Fatalf(t, "seed %d: the program answered\n%sand rewritten\n%s", seed, want, got)
				}
			}
			p = q
			return fmt.Sprintf("%scopied %v, keys %v, assuming %v\n", rules(p), cert.Copied, cert.Keys, cert.Assuming)
		})
	})
}

func step(t *testing.T, d *datadriven.TestData) rewrite.Step {
	var s rewrite.Step
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "kind":
			s.Kind = map[string]rewrite.Kind{"mutual": rewrite.Mutual, "functional": rewrite.Functional,
				"monotonic": rewrite.Monotonic, "partition": rewrite.Partition}[a.Vals[0]]
		case "c":
			s.Component = a.Vals[0]
		case "as":
			s.Name = a.Vals[0]
		case "into":
			fmt.Sscan(a.Vals[0], &s.Partitions)
		case "rules":
			for _, v := range a.Vals {
				var n int
				fmt.Sscan(v, &n)
				s.Rules = append(s.Rules, n)
			}
		case "by":
			s.By = map[string]string{}
			for _, v := range a.Vals {
				rel, key, _ := strings.Cut(v, ":")
				s.By[rel] = key
			}
		default:
			t.Fatalf("unknown argument %s", a.Key)
		}
	}
	return s
}

func rules(p *logic.Program) string {
	var b strings.Builder
	for _, c := range p.Components {
		fmt.Fprintf(&b, "%s, a piece of %s, %d times %d:\n", c.Name, c.Of, c.Instances, c.Partitions)
		for i, r := range c.Rules {
			fmt.Fprintf(&b, "  %d %v\n", i+1, r)
		}
	}
	return b.String()
}

// answers runs a program on some inputs, in an order drawn from the seed, until no message is
// in flight, and lists its outputs.
func answers(t *testing.T, p *logic.Program, seed uint64) string {
	t.Helper()
	r := env.Seeded(seed)
	nodes := map[string]*interp.Instance{}
	var names []string
	for _, n := range interp.Deploy(p, nil, functions()) {
		nodes[n.Node] = n
		names = append(names, n.Node)
	}
	pending := given.Inputs(p, 4)
	out := map[string]bool{}
	for step := 0; ; step++ {
		if step > 20000 {
			t.Fatalf("seed %d: still at work", seed)
		}
		if len(pending) == 0 {
			break
		}
		node := names[env.IntN(r, len(names))]
		var in []interp.Fact
		pending = slices.DeleteFunc(pending, func(m interp.Message) bool {
			if m.To != node || r.Uint64()%3 == 0 {
				return false
			}
			in = append(in, m.Fact)
			return true
		})
		for _, m := range nodes[node].Tick(in).Sent {
			if nodes[m.To] == nil {
				out[m.String()] = true
			} else if !slices.ContainsFunc(pending, func(o interp.Message) bool { return o.String() == m.String() }) && !repeated(m, out) {
				pending = append(pending, m)
			}
		}
	}
	var list []string
	for m := range out {
		if m[0] == 0 {
			continue
		}
		list = append(list, m)
	}
	slices.Sort(list)
	return strings.Join(list, "\n") + "\n"
}

// repeated reports whether a message between nodes was sent before, and records it in out: a
// message that is sent at every tick is delivered once.
func repeated(m interp.Message, out map[string]bool) bool {
	key := "\x00" + m.String()
	if out[key] {
		return true
	}
	out[key] = true
	return false
}

func functions() interp.Functions {
	return interp.Functions{"sign": func(a []logic.Value) (logic.Value, bool) {
		return logic.Value{Kind: logic.Bytes, Str: "signed " + a[0].Str}, true
	}}
}
