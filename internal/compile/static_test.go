// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/compile"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
)

// module wraps the parts of a Modular algorithm.
func module(extra, parts string) string {
	return "---- MODULE m ----\nEXTENDS Integers, Sequences, FiniteSets, TLC, Randomization\n" + extra + "\n(* --mpcal m {\n" + parts + "\n} *)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION\n"
}

// mail is an archetype that crashes, with a mapping macro that does so to its own
// mail when it crashes, "" for nothing, and so when something is sent.
func mail(crash, write string) string {
	if crash != "" {
		crash = "crash { $variable[self] := " + crash + "; }"
	}
	return "mapping macro M { read { with (m \\in $variable) { $variable := {}; yield m; }; } write { yield " + write + "; } " + crash + " }\n" +
		"archetype A(ref net[_]) durable variables x = 0; { l: x := net[self]; net[1] := x; }\n" +
		"variables n = [i \\in 0..2 |-> {}]; other = [i \\in 0..2 |-> {}];\nprocess (P = 0) == instance A(ref n[_]) mapping n[_] via M;"
}

// TestDiagnostics has an input for each code.
func TestDiagnostics(t *testing.T) {
	const inst = "\nprocess (P = 0) == instance A();"
	cases := []struct {
		name, extra, parts, after string
		opt                       compile.Options
		want                      string // pattern of the diagnostics
	}{
		{"unsupported", "", "archetype A() variables x = 0; { l: x := LET f[n \\in Nat] == IF n = 0 THEN 0 ELSE f[n - 1] IN f; }" + inst, "", compile.Options{},
			`m.tla:5:46: error.*recursive function f can be applied, but not used as a value.*CompileUnsupported`},
		{"decimal", "", "archetype A() variables x = 0; { l: x := 1.5; }" + inst, "", compile.Options{}, `fraction.*CompileUnsupported`},
		{"prime", "", "archetype A() variables x = 0; { l: await ENABLED (x = 1); }" + inst, "", compile.Options{}, `is about steps.*CompileNotAValue`},
		{"operator constant", "CONSTANT Hash(_)", "archetype A() variables x = 0; { l: x := Hash(x); }" + inst, "", compile.Options{}, `Hash has no definition.*CompileConstantOperator`},
		{"large number", "", "archetype A() variables x = 0; { l: x := 2147483648; }" + inst, "", compile.Options{}, `2147483648 does not fit.*CompileNumberTooLarge`},
		{"unbounded", "", "archetype A() variables x = 0; { l: await \\E y : y > x; }" + inst, "", compile.Options{}, `without a set.*CompileUnbounded`},
		{"unbounded choose", "", "archetype A() variables x = 0; { l: x := CHOOSE y : y > x; }" + inst, "", compile.Options{}, `unbounded CHOOSE.*CompileUnbounded`},
		{"random", "", "archetype A() variables x = 0; { l: x := RandomElement(1..3); }" + inst, "", compile.Options{}, `RandomElement is not a function.*CompileEffects`},
		{"print", "", "archetype A() variables x = 0; { l: await PrintT(x); }" + inst, "", compile.Options{}, `warning: PrintT.*CompilePrintInExpression`},
		{"no archetype", "", "variables x = 0; process (P = 0) { l: x := 1; }", "", compile.Options{}, `no archetype.*CompileNoArchetype`},
		{"unknown invariant", "", "archetype A() variables x = 0; { l: x := 1; }" + inst, "", compile.Options{Invariants: []string{"Nonsense"}}, `no invariant Nonsense.*CompileUnknownInvariant`},
		{"invariant on pc", "", "archetype A() variables x = 0; { l: x := 1; }" + inst, "Inv == pc[0] = \"l\" => x = 0", compile.Options{Invariants: []string{"Inv"}},
			`Inv cannot be checked by one process: pc at .* is not a variable of an archetype.*CompileInvariantNotLocal`},
		{"invariant on two", "", "archetype A() variables x = 0; { l: x := 1; }\narchetype B() variables y = 0; { k: y := 1; }" + inst + "\nprocess (Q = 1) == instance B();", "Inv == x <= y",
			compile.Options{Invariants: []string{"Inv"}}, `variables of several archetypes: A, B.*CompileInvariantNotLocal`},
		{"invariant on others", "", "archetype A() variables x = 0; { l: x := 1; }\nprocess (P \\in 1..2) == instance A();", "Inv == \\A p, q \\in 1..2 : x[p] = x[q]",
			compile.Options{Invariants: []string{"Inv"}}, `process other than the one that checks.*CompileInvariantNotLocal`},
		{"assume", "ASSUME \\A x : x = x", "archetype A() variables x = 0; { l: x := 1; }" + inst, "", compile.Options{}, `warning: this assumption is not checked.*CompileAssumeNotCompiled`},
		{"crash part", "", mail("{} \\cup {1}", "$variable \\cup {$value}"), "", compile.Options{}, `m.tla:5:15: error: the crash part of M, for parameter net of A, cannot be compiled.*CompileCrash`},
		{"another's mail is lost", "", strings.Replace(mail("{}", "$variable \\cup {$value}"), "[self] := {}", "[1] := {}", 1), "", compile.Options{}, `the crash part of M.*CompileCrash`},
		{"another's mail is read", "", strings.Replace(mail("{}", "$variable \\cup {$value}"), "net[self];", "net[self + 1];", 1), "", compile.Options{}, `A reads net at another index.*CompileCrash`},
		{"own mail is read", "", mail("{}", "$variable \\cup {$value}"), "", compile.Options{}, `^$`},
		{"unread mail survives", "", mail("", "$variable \\cup {$value}"), "", compile.Options{}, `its unread messages in net survive the crash.*CompileCrash`},
		{"mail in order", "", mail("<<>>", "Append($variable, $value)"), "", compile.Options{}, `A can crash and sends through M, which keeps the order.*CompileCrash`},
		{"two losses", "", mail("{}", "$variable \\cup {$value}") + "\nprocess (Q = 2) == instance A(ref other[_]);", "", compile.Options{}, `a crash of A does not do the same to net in this instance.*CompileCrash`},
		{"several", "", "archetype A() variables x = 0; { l: x := 2147483648; k: x := RandomElement({1}); }" + inst, "", compile.Options{}, `(?s)NumberTooLarge.*CompileEffects`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := readText(t, "m", module(c.extra, c.parts)+c.after+"\n====\n")
			p, diags := s.compile(c.opt)
			got := diags.Error()
			if !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("got %q\nwant a match of %q", got, c.want)
			}
			if diags.HasErrors() != (p == nil) {
				t.Errorf("a package is %v with errors %v", p != nil, diags.HasErrors())
			}
		})
	}
}

// TestNotVisible hands the compiler an algorithm that the front end refuses: an
// archetype that reads a global variable.
func TestNotVisible(t *testing.T) {
	s := readText(t, "m", module("", "archetype A() variables x = 0; { l: x := 1; }\nvariables g = 0;\nprocess (P = 0) == instance A();")+"\n====\n")
	alg := s.made.Algorithm
	assign := alg.Archetypes[0].Blocks[0].Body[0].(*pcal.Assign)
	assign.Pairs[0].Value = &core.VarRef{At: core.At{Place: assign.Place}, Var: alg.Globals[0].Var}
	p, diags := compile.Compile(s.spec, alg, compile.Options{})
	if p != nil || !strings.Contains(diags.Error(), "the variable g is not in reach of compiled code [CompileNotVisible]") {
		t.Errorf("got %v", diags)
	}
}

// TestRelaxed decides where a relaxed mailbox is sound.
func TestRelaxed(t *testing.T) {
	cases := []struct{ name, body, why string }{
		{"send last", "l: x := x + 1; net[1] := x;", ""},
		{"one on each path", "l: if (x = 0) { net[1] := 1; } else { net[2] := 2; };", ""},
		{"twice", "l: net[1] := 1; net[2] := 2;", `label l \(m.tla:.*\): net is written a second time at m.tla:`},
		{"twice on one path", "l: if (x = 0) { net[1] := 1; }; net[2] := 2;", `written a second time`},
		{"await after", "l: net[1] := 1; await x = 1;", `an await at m.tla:.* can fail or block`},
		{"overflow after", "l: net[1] := 1; x := x + 1;", `the expression x \+ 1 at m.tla`},
		{"certain after", "l: net[1] := 1; x := 7; q := Append(q, x);", ""},
		{"read after", "l: net[1] := 1; x := net[3];", `a read of net`},
		{"other write after", "l: net[1] := 1; out := 1;", `a write of out`},
		{"either after", "l: net[1] := 1; either { skip; } or { x := 1; };", `an either`},
		{"choice before", "l: either { x := 1; } or { x := 2; }; net[1] := x;", ""},
		{"assert after", "l: net[1] := 1; assert x = 0;", `an assertion`},
		{"next label", "l: net[1] := 1; k: x := x + 1;", ""},
		{"call after", "l: net[1] := 1; call P(); k: skip;", `a procedure call`},
		{"in a procedure", "l: call S(ref net[_]); k: skip;", `label s1 .*written a second time`},
		{"known record", "l: if (m.a = 1) { net[m.b] := 1; q := Append(q, m.b); }; k: m := net[1];", ""},
		{"forgotten record", "l: if (m.a = 1) { net[m.b] := 1; m := e; q := Append(q, m.b); }; k: m := net[1]; j: e := net[2];", `the expression Append\(q, m.b\)`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			parts := "procedure P() { p1: return; }\nprocedure S(ref n[_]) { s1: n[1] := 1; n[2] := 2; return; }\n" +
				"archetype A(ref net[_], ref out) variables x = 0, q = <<>>, m = [a |-> 1, b |-> 2], e = 0; {\n" + c.body + "\n}\n" +
				"archetype W(ref net[_]) { w: net[1] := [a |-> 1, b |-> 2]; }\n" +
				"variables n = [i \\in 1..3 |-> 0], o = 0;\nprocess (A1 = 0) == instance A(ref n[_], ref o);\nprocess (W1 = 1) == instance W(ref n[_]);"
			s := readText(t, "m", module("", parts)+"\n====\n")
			p, diags := s.compile(compile.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			got := p.NotRelaxed["A"]["net"]
			if c.why == "" && got != "" || c.why != "" && !regexp.MustCompile(c.why).MatchString(got) {
				t.Errorf("got %q, want %q", got, c.why)
			}
		})
	}
}

// TestRelaxedSet decides that relaxed mailboxes are not sound for a set.
func TestRelaxedSet(t *testing.T) {
	for write, sound := range map[string]bool{`$variable \cup {$value}`: false, `Append($variable, $value)`: true} {
		s := readText(t, "m", module("", "mapping macro M { read { yield 0; } write { yield "+write+"; } }\n"+
			"archetype A(ref net[_]) { l: net[1] := 1; }\n"+
			"variables n = [i \\in 1..3 |-> <<>>];\nprocess (P = 0) == instance A(ref n[_]) mapping n[_] via M;")+"\n====\n")
		p, diags := s.compile(compile.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := p.NotRelaxed["A"]["net"]; (got == "") != sound || !sound && !strings.Contains(got, "adds to a set") {
			t.Errorf("%s: %q", write, got)
		}
	}
}

// TestCodesHaveExamples holds the list of codes against TestDiagnostics.
func TestCodesHaveExamples(t *testing.T) {
	text, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("static_test.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`"(Compile\w+)"`).FindAllStringSubmatch(string(text), -1)
	if len(codes) < 10 {
		t.Fatalf("%d codes", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(tests), strings.TrimPrefix(c[1], "Compile")) {
			t.Errorf("no test gives %s", c[1])
		}
	}
}

// TestExplain names the places of a conflict.
func TestExplain(t *testing.T) {
	s := readText(t, "m", module("CONSTANT Unknown", "archetype A() variables x = 0, y = <<>>; {\nl: x := 1;\nk: x := [i \\in {2} |-> 0];\nj: x := <<>>;\nh: y := Unknown; }\nprocess (P = 0) == instance A();")+"\n====\n")
	p, diags := s.compile(compile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text := strings.Join(p.Explain, "\n")
	for _, want := range []string{
		`archetype A, variable x: ANY, in Go value.Value`,
		`x is not typed because it holds a (number|sequence|tuple|function) at \S*m.tla:\d+:\d+ and a (number|function|tuple|sequence) at`,
		`constant Unknown: Seq\(ANY\)`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	sort.Strings(p.Explain)
}
