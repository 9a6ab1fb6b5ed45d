// SPDX-License-Identifier: Apache-2.0

package gallina_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gallina"
	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/drawn"
)

// all has what the drawn programs lack: all types, functions and aggregates that the semantics has,
// recursion, and division by zero.
const all = `program all
component a {
  input  come(k: u64, i: int, s: text, b: bytes, n: node, o: bool)
  output said(k: u64, i: int)
  static edge(x: u64, y: u64) = { (0, 1), (1, 2), (2, 0), (2, 3) }
  table t(k: u64, i: int, s: text, b: bytes, n: node, o: bool)
  sync  t(k, i, s, b, n, o) <- come(k, i, s, b, n, o)
  sync  path(x, y) <- edge(x, y), t(x, _, _, _, _, _)
  sync  path(x, z) <- path(x, y), edge(y, z)
  sync  far(x) <- edge(x, _), not path(0, x)
  sync  agg(o, count<k>, sum<k>, min<i>, max<s>) <- t(k, i, s, _, _, o)
  sync  most(max<i>, min<b>, sum<i>) <- t(_, i, _, b, _, _)
  sync  pick(o, choose<k>, choose<i>) <- t(k, i, _, _, _, o)
  next  sum(x, y, z, p, q) <- come(k, i, _, _, _, _), t(l, j, _, _, _, _), x := k + l * 7, y := i - j, z := k / l, p := i / j, q := i % j
  next  texts(x, y, z, c, l) <- come(k, i, _, b, n, _), x := text(k), y := text(i), z := text(n), c := concat(b, b"\"x"), l := len(b)
  next  mix(h, g, f, m) <- come(k, i, s, _, _, o), h := hash(s), g := hash(i), f := hash(o), m := hash(k) % 3
  next  turn(x, y) <- come(k, i, _, _, _, _), x := int(k), y := u64(i)
  next  less(k, l) <- t(k, i, s, b, _, _), t(l, j, u, c, _, _), i < j, s <= u, b >= c, k != l
  next  mine(k) <- t(k, _, _, _, self, true)
  async said@n(k, i) <- come(k, i, _, _, n, _), not mine(k)
  async told@self(k) <- t(k, _, "a", _, _, _), far(k)
}
deploy { a: 2 }
`

// row draws a row. There are few values, so that rows meet.
func row(r env.Random, p *logic.Program, rel *logic.Relation) []logic.Value {
	texts := []string{"", "a", "b", "\"é"}
	nodes := []string{"c"}
	for _, c := range p.Components {
		nodes = append(nodes, logic.NodeName(c.Name, 0))
	}
	var out []logic.Value
	for _, col := range rel.Columns {
		v := logic.Value{Kind: col.Type.Kind}
		switch v.Kind {
		case logic.Text, logic.Bytes:
			v.Str = texts[env.IntN(r, len(texts))]
		case logic.Node:
			v.Str = nodes[env.IntN(r, len(nodes))]
		case logic.Bool:
			v.Num = uint64(env.IntN(r, 2))
		case logic.Int:
			v.Num = uint64(env.IntN(r, 4) - 2)
		default:
			v.Num = uint64(env.IntN(r, 4))
		}
		out = append(out, v)
	}
	return out
}

// static are the facts of static relations, as the language page has them.
func static(p *logic.Program) (facts []interp.Fact, rows map[string][][]logic.Value) {
	rows = map[string][][]logic.Value{}
	for _, r := range p.Relations {
		for _, f := range r.Facts {
			facts = append(facts, interp.Fact{Relation: r, Row: f})
		}
		for _, c := range p.Components {
			for i := range c.Instances {
				if c.Name == r.Nodes {
					facts = append(facts, interp.Fact{Relation: r, Row: []logic.Value{{Kind: logic.Node, Str: fmt.Sprintf("%s/%d", c.Name, i)}}})
				}
			}
			if c.Name == r.Size {
				facts = append(facts, interp.Fact{Relation: r, Row: []logic.Value{{Kind: logic.U64, Num: uint64(c.Instances)}}})
			}
		}
	}
	return facts, rows
}

// runs writes ticks of each component of a program, which begin with what came before and
// some more, as equations that Coq has to find true.
func runs(t *testing.T, b *strings.Builder, name string, p *logic.Program, r env.Random, ticks int) (covered bool) {
	fixed, extra := static(p)
	for _, n := range interp.Deploy(p, extra, nil) {
		if !strings.HasSuffix(n.Node, "/0") {
			continue
		}
		c := p.Component(strings.TrimSuffix(n.Node, "/0"))
		code, err := gallina.Component(p, c)
		if err != nil {
			continue
		}
		covered = true
		strata, _ := p.Strata(c)
		rounds := 1
		for _, s := range strata {
			if s.Recursive {
				rounds = 8
			}
		}
		id := name + "_" + c.Name
		fmt.Fprintf(b, "Definition %s : component := %s.\n", id, code)
		for i := range ticks {
			before := append(n.Carried(), fixed...)
			var in []interp.Fact
			var timers []*logic.Relation
			for _, rel := range p.In(c) {
				if rel.Kind == logic.Timer {
					if env.IntN(r, 2) == 0 {
						timers = append(timers, rel)
						before = append(before, interp.Fact{Relation: rel})
					}
					continue
				}
				for range env.IntN(r, 3) {
					in = append(in, interp.Fact{Relation: rel, Row: row(r, p, rel)})
				}
			}
			tick := n.Tick(in, timers...)
			if tick.Endless != nil {
				t.Fatal(tick.Endless)
			}
			holds := append([]interp.Fact(nil), fixed...)
			for _, rel := range p.Relations {
				for _, row := range tick.Facts(rel) {
					holds = append(holds, interp.Fact{Relation: rel, Row: row})
				}
			}
			text := func(s string, err error) string {
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			fmt.Fprintf(b, "Goal agrees %d %s %s\n  %s\n  %s\n  %s\n  %s = true.\nProof. vm_compute. reflexivity || fail 1 \"%s tick %d\". Qed.\n", rounds, id, gallina.Node(n.Self),
				text(gallina.Facts(append(before, in...))), text(gallina.Facts(holds)), text(gallina.Facts(n.Carried())), text(gallina.Messages(tick.Sent)), id, i)
		}
	}
	return covered
}

// header leaves the scopes so that brackets are lists, quotes are texts and numbers are of N.
const header = "From stdpp Require Import strings list.\nFrom ashlar.dedalus Require Import lang builtin.\nLocal Open Scope N_scope.\n"

// coq has Coq check a file that uses the semantics, which it compiles in a folder of the test.
func coq(t *testing.T, dir, name, text string) error {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "coqc", "-q", "-w", "none", "-Q", ".", "ashlar.dedalus", name)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// semantics compiles the semantics. It skips the test where there is no Coq.
func semantics(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("coqc"); err != nil {
		t.Skip("did not run: there is no coqc (the packages coq and libcoq-stdpp have it, see .ci/deps)")
	}
	dir := t.TempDir()
	for _, name := range []string{"lang.v", "builtin.v"} {
		text, err := os.ReadFile(filepath.Join("../../../../proofs/dedalus", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := coq(t, dir, name, string(text)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTicks has Coq go through ticks of programs (the one above, the examples, and some that are
// drawn) and checks that it finds what the interpreter found.
func TestTicks(t *testing.T) {
	dir := semantics(t)
	var b strings.Builder
	b.WriteString(header)
	r := env.Seeded(1)
	if !runs(t, &b, "all", given.Program(t, all), r, 8) {
		t.Error("the program of all constructs is not covered")
	}
	examples, err := filepath.Glob("../../../../examples/dedalus/*.ded")
	if err != nil || len(examples) == 0 {
		t.Fatal(err)
	}
	covered := 0
	for i, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := given.Read(string(text)); p != nil && runs(t, &b, fmt.Sprint("x", i), p, r, 2) {
			covered++
		}
	}
	random := 0
	for seed := uint64(0); random < 20; seed++ {
		if p, _ := given.Read(drawn.Program(env.Seeded(seed))); p != nil && runs(t, &b, fmt.Sprint("d", seed), p, r, 2) {
			random++
		}
	}
	t.Logf("%d examples, %d drawn programs, %d ticks", covered, random, strings.Count(b.String(), "Goal "))
	if covered < len(examples)/2 {
		t.Errorf("%d of %d examples are covered", covered, len(examples))
	}
	if err := coq(t, dir, "runs.v", b.String()); err != nil {
		t.Error(err)
	}
}

// TestDisagreement makes sure that the test above can fail: a fact too many, one too few, a fact
// that is carried and one that is sent. It fails for no other reason: what is so, Coq believes.
func TestDisagreement(t *testing.T) {
	dir := semantics(t)
	const p = `[("p", [U64 1])]`
	for i, c := range []struct {
		facts, carried, sent string
		right                bool
	}{
		{p, `[]`, `[]`, true},
		{`[("p", [U64 1]); ("p", [U64 2])]`, `[]`, `[]`, false},
		{`[]`, `[]`, `[]`, false},
		{p, p, `[]`, false},
		{p, `[]`, `[(Node "b", ("p", [U64 1]))]`, false},
	} {
		text := header + "Goal agrees 1 (Component [[]] [] []) (Node \"a\") " + p + " " + c.facts + " " + c.carried + " " + c.sent + " = true.\nProof. vm_compute. reflexivity. Qed.\n"
		err := coq(t, dir, fmt.Sprint("wrong", i, ".v"), text)
		switch {
		case c.right && err != nil:
			t.Errorf("Coq does not believe what is so: %v", err)
		case !c.right && err == nil:
			t.Errorf("Coq believes that %s holds, %s is carried and %s is sent", c.facts, c.carried, c.sent)
		case !c.right && !strings.Contains(err.Error(), `Unable to unify "true" with "false"`):
			t.Errorf("%s, %s, %s: refused for another reason: %v", c.facts, c.carried, c.sent, err)
		}
	}
}
