// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// reducible loads an algorithm for a search, reduced or not.
func reducible(t interface{ Fatalf(string, ...any) }, files load.Files, module, cfg string, reduce bool) *model.Model {
	loaded, diags, err := load.Load(files, module, load.Options{Translate: trans.InMemory})
	if err == nil {
		err = diags.Err()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	var wrong source.List
	m, err := model.NewDirect(loaded.Spec, loaded.Plain, config.Parse(source.NewFile("T.cfg", []byte(cfg)), &wrong), model.Options{Reduce: reduce})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

// algorithmText is a module with an algorithm.
func algorithmText(algorithm, after string) texts {
	return texts{"T.tla": "---- MODULE T ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n(*\n" + algorithm + "\n*)\n" + after + "\n====\n"}
}

// bothWays searches an algorithm whole and reduced.
func bothWays(t interface{ Fatalf(string, ...any) }, files texts, cfg string) (whole, reduced *check.Result, what reduce.Report) {
	run := func(reduce bool, workers int) *check.Result {
		m := reducible(t, files, "T.tla", cfg, reduce)
		r, err := check.Run(context.Background(), m, check.Options{Workers: workers, StatesMax: 200_000})
		if err != nil {
			t.Fatalf("%v", err)
		}
		what = m.Reduction()
		return r
	}
	whole, reduced = run(false, 1), run(true, 1)
	if again := run(true, 3); again.Distinct != reduced.Distinct || again.Generated != reduced.Generated || again.Verdict != reduced.Verdict {
		t.Fatalf("%d distinct with one worker, %d with three", reduced.Distinct, again.Distinct)
	}
	return whole, reduced, what
}

// TestReduction says what is taken alone, and why something is not.
func TestReduction(t *testing.T) {
	const spec, endless = "SPECIFICATION Spec\n", "CHECK_DEADLOCK FALSE\n"
	const counter = `--algorithm A {
  variables g = 0;
  process (P \in 1..3) variables x = 0; {
    a: x := self;
    b: x := x + 1;
    c: g := g + x;
    d: x := 0;
  } }`
	for _, c := range []struct{ name, algorithm, after, cfg, labels, refused string }{
		{"own steps", counter, "", spec, "a b d", ""},
		{"an invariant of what is shared", counter, "Inv == g < 10", spec + "INVARIANT Inv", "a b d", ""},
		{"an invariant that is broken", counter, "Inv == g < 9", spec + "INVARIANT Inv", "a b d", ""},
		{"an invariant of a variable", counter, "Inv == \\A p \\in 1..3 : x[p] < 5", spec + "INVARIANT Inv", "", "no label is safe"},
		{"an invariant of labels", counter, "Inv == \\A p, q \\in 1..3 : p # q => ~(pc[p] = \"c\" /\\ pc[q] = \"c\")", spec + "INVARIANT Inv", "a d", ""},
		{"an invariant of all labels", counter, "Inv == \\A p \\in 1..3 : pc[p] \\in {\"a\", \"b\", \"c\", \"d\", \"Done\"}", spec + "INVARIANT Inv", "", "no label is safe"},
		{"labels in a definition", counter, "In(p) == pc[p] = \"b\"\nInv == \\A p \\in 1..3 : In(p) => g >= 0", spec + "INVARIANT Inv", "d", ""},
		{"pc as a value", counter, "Inv == pc \\in [1..3 -> STRING]", spec + "INVARIANT Inv", "", "the invariant Inv uses pc"},
		{"pc compared with pc", counter, "Inv == \\A p \\in 1..3 : pc[p] = pc[p]", spec + "INVARIANT Inv", "", "the invariant Inv uses pc"},
		{"a constraint", counter, "Con == g < 3", spec + "CONSTRAINT Con", "", "there is a CONSTRAINT"},
		{"a view", counter, "V == g", spec + "VIEW V", "", "there is a VIEW"},
		{"a property of steps", counter, "Up == [][g' >= g]_g", spec + "PROPERTY Up", "", "the property Up is one of steps"},
		{"a property of behaviours", counter, "End == <>(g = 9)", spec + "PROPERTY End", "", "a property is one of behaviours"},
		{"the level", counter, "Inv == TLCGet(\"level\") < 100", spec + "INVARIANT Inv", "", "the specification uses TLCGet"},
		{"a loop of own steps", `--algorithm A { variables g = 0;
  process (P \in 1..2) variables x = 0; { a: x := 1 - x; b: x := x; c: goto a; }
  process (Q = 3) { q: g := 1; } }`, "Inv == g = 0", spec + "INVARIANT Inv", "a b", ""},
		{"a label that waits", `--algorithm A { variables g = 0;
  process (P \in 1..2) variables x = self; { a: await x = 1; b: g := x; } }`, "", spec, "a", ""},
		{"a definition that sees", `--algorithm A { variables g = 0; define { Two == g + 1 }
  process (P \in 1..2) variables x = 0; { a: x := Two; b: x := 3; c: g := 1; } }`, "", spec + endless, "b", ""},
		{"a constant that sees", `--algorithm A { variables g = 0; define { Two == g + 1 }
  process (P \in 1..2) variables x = 0; { a: x := K; b: assert x = 1; c: x := 0; }
  process (Q = 3) { q: g := 1; r: g := 0; } }`, "", spec + "CONSTANT K <- Two\n", "b c", ""},
		{"what another process reads", `--algorithm A { variables g = 0;
  process (P = 1) variables x = 0, y = 0; { a: x := 1; b: y := 2; }
  process (Q = 3) { q: g := x; } }`, "Inv == g < 2", spec + "INVARIANT Inv", "b", ""},
		{"what another process assigns", `--algorithm A { variables g = 0;
  process (P = 1) variables x = 0, y = 0; { a: y := x; b: g := y; c: y := 0; }
  process (Q = 3) { q: x := 2; } }`, "Inv == g < 2", spec + "INVARIANT Inv", "c", ""},
		{"what a procedure assigns", `--algorithm A { variables g = 0;
  procedure S() { s: x := 2; t: return; }
  process (P = 1) variables x = 0, y = 0; { a: y := x; b: g := y; c: y := 0; }
  process (Q = 3) { q: call S(); } }`, "Inv == g < 2", spec + "INVARIANT Inv", "c", ""},
		{"a failing assertion", `--algorithm A { variables g = 0;
  process (P \in 1..2) variables x = 0; { a: x := g; b: assert x < 1; c: g := 1; d: x := 1; } }`, "", spec, "b d", ""},
		{"what prints", `--algorithm A { variables g = 0;
  process (P \in 1..2) variables x = 0; { a: print x; b: x := 1; c: g := 1; } }`, "", spec, "b", ""},
		{"one process", "--algorithm A { variables x = 0; { a: x := 1; b: x := 2; } }", "", spec, "", "the algorithm has one process"},
		{"pc in the algorithm", `--algorithm A { variables g = 0;
  process (P \in 1..2) variables x = 0; { a: x := 1; b: await pc[1] # "a"; g := 1; } }`, "", spec, "", "the algorithm mentions pc"},
		{"a process that crashes", `--mpcal A {
  mapping macro M { read { yield $variable; } write { yield $value; } crash { $variable := 1; } }
  archetype B(ref r) variables x = 0; { recover: x := 1; }
  archetype C() variables y = 0; { c: y := 1; d: y := 2; }
  variables g = 0;
  process (P = 1) == instance B(ref g) mapping g via M;
  process (Q = 2) == instance C();
}`, "Inv == g = 0", spec + "CONSTANT CRASHES = 1\nINVARIANT Inv", "c d", ""},
		{"no algorithm", "no algorithm", "VARIABLE x\nSpec == x = 0 /\\ [][x' = 1 - x]_x", spec, "", "the behaviour is not that of an algorithm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := algorithmText(c.algorithm, c.after)
			if strings.Contains(c.cfg, "CONSTANT K") {
				files["T.tla"] = strings.Replace(files["T.tla"], "(*", "CONSTANT K\n(*", 1)
			}
			whole, reduced, what := bothWays(t, files, c.cfg)
			if got := strings.Join(what.Labels, " "); got != c.labels || !strings.HasPrefix(what.Refused, c.refused) || (what.Refused == "") != (c.refused == "") {
				t.Errorf("labels %q, refused %q; want %q, %q", got, what.Refused, c.labels, c.refused)
			}
			if whole.Verdict != reduced.Verdict || whole.Property != reduced.Property {
				t.Errorf("%v %s, and reduced %v %s", whole.Verdict, whole.Property, reduced.Verdict, reduced.Property)
			}
			switch {
			case c.refused != "" && (what.States > 0 || reduced.Distinct != whole.Distinct):
				t.Errorf("%d states instead of %d, though refused", reduced.Distinct, whole.Distinct)
			case c.refused == "" && (what.States == 0 || whole.Verdict == check.OK && reduced.Distinct >= whole.Distinct):
				t.Errorf("%d states instead of %d", reduced.Distinct, whole.Distinct)
			}
		})
	}
}

// TestReducedSpecifications: the algorithms of this repository and of the
// corpus have the same verdicts.
func TestReducedSpecifications(t *testing.T) {
	for _, files := range [][2]string{{"mutex/mutex.tla", "mutex/mutex.cfg"}, {"queue/queue.tla", "queue/queue.cfg"}, {"tour/tour.tla", "tour/tour.cfg"},
		{"tour/tour.tla", "tour/different.cfg"}, {"lockservice/lockservice.tla", "lockservice/lockservice.cfg"},
		{"lockservice/bug/lockservice.tla", "lockservice/bug/lockservice.cfg"}, {"loadbalancer/loadbalancer.tla", "loadbalancer/crowded.cfg"},
		{"workqueue/workqueue.tla", "workqueue/overfull.cfg"}, {"primarybackup/primarybackup.tla", "primarybackup/alone.cfg"}} {
		verdict := func(reduce bool) (string, reduce.Report) {
			text := readSpec(t, files[1])
			m := reducible(t, texts{}, "../../specs/"+files[0], text, reduce)
			r, err := check.Run(context.Background(), m, check.Options{Workers: 2, SafetyOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d distinct, reduced %v: %s", files[1], r.Distinct, reduce, m.Reduction())
			return fmt.Sprint(r.Verdict, r.Property, r.Err), m.Reduction()
		}
		want, _ := verdict(false)
		if got, _ := verdict(true); got != want {
			t.Errorf("%s: reduced %s, want %s", files[1], got, want)
		}
	}
}

// algorithms draws algorithms most of whose steps are local.
type algorithms struct{ t *rapid.T }

func (g algorithms) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(g.t, "pick")
}

func (g algorithms) number() string {
	return g.pick("0", "1", "x", "y", "1 - x", "(x + y) % 3", "g", "self", "(g + x) % 3")
}

func (g algorithms) step() string {
	switch g.pick("assign", "assign", "assign", "await", "if", "either", "with", "global", "global", "assert", "both") {
	case "assign":
		return g.pick("x", "y") + " := " + g.number() + ";"
	case "await":
		return "await " + g.number() + " # " + g.number() + ";"
	case "if":
		return "if (" + g.number() + " = 1) { x := " + g.number() + "; } else { " + g.pick("skip;", "goto "+g.label()+";") + " };"
	case "either":
		return "either { y := " + g.number() + "; } or { " + g.pick("skip;", "goto "+g.label()+";") + " };"
	case "with":
		return "with (v \\in " + g.pick("{0, 1}", "{x, 2}", "{n \\in {1} : n = x}") + ") { y := v; };"
	case "global":
		return g.pick("g", "h") + " := " + g.number() + ";"
	case "assert":
		return "assert " + g.pick("x < 3", "x # 2 \\/ y < 2", "g < 2") + ";"
	}
	return "x := " + g.number() + "; g := " + g.number() + ";"
}

func (g algorithms) label() string { return g.pick("a", "b", "c", "d") }

func (g algorithms) process(head string, labels ...string) string {
	out := "  process (" + head + ") variables x = 0, y = 1; {\n"
	for _, l := range labels {
		out += "    " + l + ": " + strings.ReplaceAll(g.step(), "goto ", "goto "+l[:len(l)-1]) + "\n"
	}
	return out + "  }\n"
}

// TestReducedRandomAlgorithms: whatever an algorithm does, the reduced search
// finds what the whole one does: a deadlock, a broken invariant, an error, or
// nothing; where several things are wrong, one of them.
func TestReducedRandomAlgorithms(t *testing.T) {
	reductions := 0
	rapid.Check(t, func(r *rapid.T) {
		g := algorithms{r}
		algorithm := "--algorithm A {\n  variables g = 0, h = 0;\n" + g.process("P \\in 1..2", "a", "b", "c", "d") +
			strings.NewReplacer("a:", "qa:", "b:", "qb:", "c:", "qc:", "d:", "qd:", "goto ", "goto q").Replace(
				strings.NewReplacer("x", "u", "y", "w").Replace(strings.ReplaceAll(strings.ReplaceAll(g.process("Q = 2 + 1", "a", "b", "c", "d"), "process", "PROC"), "variables", "VARS"))) + "}"
		algorithm = strings.NewReplacer("PROC", "process", "VARS", "variables").Replace(algorithm)
		after := "Inv == " + g.pick("TRUE", "TRUE", "g + h < 4", "~(g = 1 /\\ h = 1)", "\\A p \\in 1..2 : pc[p] = \"d\" => g < 2", "\\A p \\in 1..2 : x[p] < 3", "g < 2")
		cfg := "SPECIFICATION Spec\nINVARIANT Inv\n" + g.pick("", "CHECK_DEADLOCK FALSE\n")
		files := algorithmText(algorithm, after)
		whole, reduced, what := bothWays(r, files, cfg)
		if what.States > 0 {
			reductions++
		}
		ok := whole.Verdict == reduced.Verdict
		if whole.Verdict != check.OK && reduced.Verdict != check.OK {
			ok = true // the first of several things is another one
		}
		if !ok || reduced.Distinct > whole.Distinct && whole.Verdict == check.OK {
			r.Fatalf("%v with %d states, reduced %v with %d (%s):\n%s", whole.Verdict, whole.Distinct, reduced.Verdict, reduced.Distinct, what, files["T.tla"])
		}
	})
	if reductions < 10 {
		t.Errorf("%d algorithms were reduced", reductions)
	}
}
