// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// inComment puts an algorithm into a module, and checks that it parses and
// prints.
func inComment(t *testing.T, algorithm string) *Algorithm {
	t.Helper()
	m := mustModule(t, "A == 1\n(* text (* more *)\n"+algorithm+"\n text after \"it *)\nB == 2")
	if m.Algorithm == nil {
		t.Fatalf("no algorithm found in\n%s", algorithm)
	}
	if len(m.Units) != 2 {
		t.Errorf("got %d units, want 2", len(m.Units))
	}
	if got := m.Algorithm.Span().Text(); got != algorithm {
		t.Errorf("the span of the algorithm is %q", got)
	}
	return m.Algorithm
}

// outline shows the structure of statements.
func outline(list []Stmt) string {
	var out []string
	for _, s := range list {
		text := ""
		if l := s.Label(); l != nil {
			text = l.Name.Text + ":"
			if l.Modifier != 0 {
				text += string(rune(l.Modifier))
			}
		}
		out = append(out, text+outlineOf(s))
	}
	return strings.Join(out, " ")
}

func outlineOf(s Stmt) string {
	switch s := s.(type) {
	case *Block:
		return "{" + outline(s.Body) + "}"
	case *IfStmt:
		text := "if{" + outline(s.Then.Body) + "}"
		if s.Else != nil {
			text += "{" + outline(s.Else.Body) + "}"
		}
		return text
	case *While:
		return "while{" + outline(s.Body.Body) + "}"
	case *With:
		return fmt.Sprintf("with%d{%s}", len(s.Binds), outline(s.Body.Body))
	case *Either:
		text := "either"
		for _, b := range s.Branches {
			text += "{" + outline(b.Body) + "}"
		}
		return text
	case *Assign:
		text := "set"
		for _, p := range s.Parts {
			text += ":" + p.Target.Text
		}
		return text
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", s), "*syntax."))
}

func TestCStyle(t *testing.T) {
	a := inComment(t, `--algorithm Everything {
  variables x = 1, y \in {1, 2}; z;
            m = [i \in 1..3 |-> [a |-> i]];
  define { Sum(a, b) == a + b
           Double[n \in Nat] == n \o n };
  macro inc(v, by) { v := v + by; } ;
  macro nothing() { skip };
  procedure P(a, b = 3)
    variables c = a, d;
  { p1: c := a + b;
    p2: call P(c, 1);
        return; }
  procedure Q() { q1: return }
  process (One = 1) variable l = 0; { o1: skip; }
  fair process (Many \in 2..3)
    variables l2 \in 1..2
  {
    a1: while (x < 10) { x := x + 1 };
    a2:+ if (x = 1) y := 2; else if (x = 2) { y := 3 } else skip;
    a3:- either { x := 1 } or { a4: x := 2; goto a1 } or skip;
    a5: with (i \in 1..3, j = i; k \in {j}) { m[i].a := j || x := k || z := <<i, j>> };
        inc(x, 3); nothing();
    { print x; assert x # 3; }
        await /\ x = 1
              /\ y = 2;
    a6: { when x > 1; a7: skip };
    a8: if (TRUE) { skip } x := 1;
  };
  fair+ process (Strong \in {9}) { s: skip }
}`)
	if a.Style != CStyle || a.Fair || a.Modular || a.Name.Text != "Everything" {
		t.Errorf("head: %+v", a)
	}
	got := fmt.Sprint(len(a.Variables), len(a.Define), len(a.Macros), len(a.Procedures), len(a.Processes), a.Body)
	if got != "4 2 2 2 3 <nil>" {
		t.Errorf("sections: got %s", got)
	}
	if p := a.Procedures[0]; len(p.Params) != 2 || p.Params[1].Init == nil || len(p.Variables) != 2 || outline(p.Body.Body) != "p1:set:c p2:call return" {
		t.Errorf("procedure: got %s", outline(p.Body.Body))
	}
	var fair []FairnessKind
	for _, p := range a.Processes {
		fair = append(fair, p.Fairness)
	}
	if fmt.Sprint(fair) != "[0 1 2]" || a.Processes[0].In || !a.Processes[1].In {
		t.Errorf("processes: got %v", fair)
	}
	want := "a1:while{set:x} a2:+if{set:y}{if{set:y}{skip}} a3:-either{set:x}{a4:set:x goto}{skip} " +
		"a5:with3{set:m:x:z} macrocall macrocall {print assert} await a6:{await a7:skip} a8:if{skip} set:x"
	if got := outline(a.Processes[1].Body.Body); got != want {
		t.Errorf("statements:\ngot  %s\nwant %s", got, want)
	}
}

func TestPStyle(t *testing.T) {
	a := inComment(t, `--fair algorithm Everything
  variables x = 1; y \in {1, 2};
  define
    Sum(a, b) == a + b
  end define;
  macro inc(v) begin v := v + 1; end macro;
  procedure P(a) variables c = a;
  begin
    p1: c := a;
    p2: return;
  end procedure;
  process One = 1
  begin
    o1: skip
  end process
  fair process Many \in 2..3
  variable l;
  begin
    a1: while x < 10 do x := x + 1; end while;
    a2:+ if x = 1 then y := 2; elsif x = 2 then y := 3; inc(x); elsif x = 4 then skip; else skip end if;
    a3: either x := 1; or a4: x := 2; goto a1; or skip; end either;
    a5: with i \in 1..3, j = i do x := j || y := i; end with;
        await /\ x = 1
              /\ y = 2;
        if x = 1 then call P(1); end if;
  end process;
end algorithm`)
	if a.Style != PStyle || !a.Fair {
		t.Errorf("head: %+v", a)
	}
	got := fmt.Sprint(len(a.Variables), len(a.Define), len(a.Macros), len(a.Procedures), len(a.Processes), a.Body)
	if got != "2 1 1 1 2 <nil>" {
		t.Errorf("sections: got %s", got)
	}
	want := "a1:while{set:x} a2:+if{set:y}{if{set:y macrocall}{if{skip}{skip}}} a3:either{set:x}{a4:set:x goto}{skip} " +
		"a5:with2{set:x:y} await if{call}"
	if got := outline(a.Processes[1].Body.Body); got != want {
		t.Errorf("statements:\ngot  %s\nwant %s", got, want)
	}
	b := inComment(t, "--algorithm Uni\nvariable x = 0;\nbegin\n  x := 1;\n  l: x := 2\nend algorithm")
	if got := outline(b.Body.Body); got != "set:x l:set:x" {
		t.Errorf("body: got %s", got)
	}
}

const modular = `--mpcal Lock {
  define { NodeSet == 1..3
           LockMsg == 1 }
  macro m(a) { a := 1; }
  procedure Send(ref net[_], to, msg) variables tmp = 0; n; { s: net[to] := msg; return; }
  mapping macro Link {
    read { await Len($variable) > 0;
           with (readMsg = Head($variable)) { $variable := Tail($variable); yield readMsg; }; }
    write { either { yield Append($variable, $value); } or { $variable[1].f := $value; } }
  }
  mapping macro Id { read { yield $variable } write { yield $value } }
  archetype AServer(ref network[_], ref grid[_][_], ref one, timeout)
    variables msg, q = <<>>;
  {
    serverLoop:
      while (TRUE) {
        serverReceive: msg := network[self];
        serverRespond:
          if (msg.type = LockMsg) {
            network[msg.from] := 1 || q := Append(q, msg.from);
            call Send(ref network[_], 2, <<q>>);
          } else { skip; };
      };
  }
  variables network = [id \in NodeSet |-> <<>>]; grid = 0, lock \in {TRUE},
  fair process (Server = 1) == instance AServer(ref network[_], ref grid[_][_], ref lock, 10 + 1)
    mapping network[_] via Link
    mapping @2[_][_] via Id
    mapping @4 via Id;
  process (Client \in 2..3) == instance AServer(ref network, 1, 2, 3);
  procedure Plain(a) { p: return; }
  fair+ process (Watch = 0) variables w = 1; { w1: skip; }
}`

func TestModular(t *testing.T) {
	a := inComment(t, modular)
	if !a.Modular || a.Style != CStyle {
		t.Errorf("head: %+v", a)
	}
	got := fmt.Sprint(len(a.Variables), len(a.Define), len(a.Macros), len(a.Procedures), len(a.MappingMacros), len(a.Archetypes), len(a.Instances), len(a.Processes))
	if got != "3 2 1 2 2 1 2 1" {
		t.Errorf("sections: got %s", got)
	}
	if !a.Procedures[0].Modular || a.Procedures[1].Modular {
		t.Error("the procedures are mixed up")
	}
	var params []string
	for _, p := range a.Archetypes[0].Params {
		params = append(params, fmt.Sprint(p.Name, p.Ref, p.Indices))
	}
	if s := strings.Join(params, " "); s != "network true 1 grid true 2 one true 0 timeout false 0" {
		t.Errorf("parameters: got %s", s)
	}
	if got := outline(a.MappingMacros[0].Read.Body); got != "await with1{set:$variable yield}" {
		t.Errorf("read: got %s", got)
	}
	if got := outline(a.MappingMacros[0].Write.Body); got != "either{yield}{set:$variable}" {
		t.Errorf("write: got %s", got)
	}
	in := a.Instances[0]
	if in.Fairness != WeakFair || in.In || in.Archetype.Text != "AServer" || len(in.Args) != 4 {
		t.Errorf("instance: got %+v", in)
	}
	if r, ok := in.Args[1].(*RefArg); !ok || r.Name.Text != "grid" || r.Indices != 2 {
		t.Errorf("argument: got %+v", in.Args[1])
	}
	var mappings []string
	for _, m := range in.Mappings {
		mappings = append(mappings, fmt.Sprintf("%s@%d/%d %s", m.Target, m.Position, m.Indices, m.Macro))
	}
	if s := strings.Join(mappings, "; "); s != "network@0/1 Link; @2/2 Id; @4/0 Id" {
		t.Errorf("mappings: got %s", s)
	}
}

// TestEmitted reads a module that contains its own translation to PlusCal.
func TestEmitted(t *testing.T) {
	text := "---- MODULE M ----\n(*\n" + modular + `
*)
(*
\* BEGIN PLUSCAL TRANSLATION
--algorithm Lock { variables x = 1; { l: x := 2 } }
\* END PLUSCAL TRANSLATION
*)
\* BEGIN TRANSLATION
VARIABLE x
\* END TRANSLATION
====
`
	m := mustFile(t, text)
	if m.Emitted == nil || m.Emitted.Modular || !m.Algorithm.Modular || m.Translation == nil {
		t.Errorf("got %+v", m)
	}
	stale := strings.Replace(text, "variables x = 1; {", "variables x = ; {", 1)
	m, errs := ParseModule(source.NewFile("M.tla", []byte(stale)))
	if errs.HasErrors() || errs.Len() != 1 || m.Algorithm == nil {
		t.Errorf("a stale translation is an error: %v", errs)
	}
	m, errs = ParseModuleMode(source.NewFile("M.tla", []byte(stale)), SkipTranslation)
	if errs.Len() > 0 || m.Emitted != nil || len(m.Units) != 0 {
		t.Errorf("the translation was not skipped: %v", errs)
	}
}

func TestAlgorithmPlaces(t *testing.T) {
	alg := "--algorithm A { { skip } }"
	for _, c := range []struct{ name, text string }{
		{"in a comment", "---- MODULE M ----\n(*\n" + alg + "\n*)\n====\n"},
		{"in an inner comment", "---- MODULE M ----\n(* x (* y (* " + alg + " *) z *) *)\n====\n"},
		{"right after the comment opens", "---- MODULE M ----\n(*" + alg + "*)\n====\n"},
		{"in a box", "---- MODULE M ----\n(****************\n" + alg + "\n****************)\n====\n"},
		{"after prose about it", "---- MODULE M ----\n(* An --algorithm is below; --algorithm A is its name. *)\n(* " + alg + "*)\n====\n"},
		{"before the module", "(* " + alg + " *)\n---- MODULE M ----\n====\n"},
		{"after the module", "---- MODULE M ----\n====\n(* " + alg + " *)\n"},
		{"comment between name and brace", "---- MODULE M ----\n(* --algorithm A (* c *) \\* d\n { { skip } } *)\n====\n"},
	} {
		m, errs := ParseModule(source.NewFile("M.tla", []byte(c.text)))
		if errs.Len() > 0 || m.Algorithm == nil || m.Algorithm.Body == nil {
			t.Errorf("%s: %v", c.name, errs)
		}
	}
}

func TestAlgorithmOptions(t *testing.T) {
	for _, c := range []struct{ comment, want string }{
		{"(* PlusCal options (-wf, -label termination) *)", "wf label termination"},
		{"(* PlusCal   options (version 1.8) *)", "version 1.8"},
		{"(* PlusCal options -sf -wfNext *)", "sf wfNext"},
		{"\\* PlusCal options (-wf)", "wf"},
		{"(* see the PlusCal options of the manual *)", ""},
	} {
		m := mustModule(t, c.comment+"\n(* --algorithm A { { skip } } *)")
		var got []string
		for _, o := range m.Algorithm.Options {
			got = append(got, o.Text)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q", c.comment, s, c.want)
		}
	}
}

// TestAlgorithmErrors reads algorithms with mistakes; a place and a code for
// each.
func TestAlgorithmErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"several statements", "--algorithm A {\n{ x := ;\n  y := 1 + ;\n  skip;\n  if x then { z := }; w := 1 } }",
			"4:8 ExpressionExpected, 5:12 ExpressionExpected, 7:6 TokenExpected"},
		{"missing semicolon", "--algorithm A { {\nx := 1\ny := 2 } }", "4:7 SemicolonMissing"},
		{"= for :=", "--algorithm A { {\nx = 1; y := 2 } }", "4:3 TokenExpected"},
		{"keyword as a name", "--algorithm A {\nvariables do = 1; { skip } }", "4:11 NameReserved"},
		{"keyword as a second name", "--algorithm A {\nvariables x = 1, when = 0; y; { skip } }", "4:18 NameReserved"},
		{"keyword in an expression", "--algorithm A { {\nx := end + 1 } }", "4:6 NameReserved"},
		{"brace not closed", "--algorithm A {\n{ while (TRUE) { skip; \n }", "6:1 BracketUnclosed"},
		{"P style without end", "--algorithm A\nbegin\n  skip;", "6:1 TokenExpected"},
		{"end of another", "--algorithm A\nbegin\n if x then skip; end while;\n y := 1; end algorithm", "5:22 TokenExpected"},
		{"no or", "--algorithm A {\n{ either skip; x := 1 } }", "4:14 BranchMissing"},
		{"two labels", "--algorithm A {\n{ a: b: skip } }", "4:6 StatementExpected"},
		{"label at the end", "--algorithm A {\n{ skip; a: } }", "4:12 StatementExpected"},
		{"empty statement", "--algorithm A {\n{ skip;; skip } }", "4:8 StatementExpected"},
		{"define", "--algorithm A {\ndefine { A = 1\nB == }\n{ skip } }", "4:12 DefineExpected, 5:6 ExpressionExpected"},
		{"body and processes", "--algorithm A {\nprocess (P = 1) { skip }\n{ skip } }", "5:1 SectionOrder"},
		{"error in a header", "--algorithm A {\nmacro m( { skip }\nprocess (P = 1) { skip } }", "4:10 NameExpected"},
		{"ref in a plain procedure", "--algorithm A {\nprocedure P(ref x) { skip }\n{ skip } }", "4:17 BracketUnclosed"},
		{"no process id", "--algorithm A {\nprocess (P) { skip } }", "4:11 TokenExpected"},
		{"with without value", "--algorithm A {\n{ with (x) skip } }", "4:10 TokenExpected"},
		{"P style in Modular PlusCal", "--mpcal A\nvariables x = 1;\nbegin skip; end algorithm", "4:1 TokenExpected"},
	} {
		m, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n(*\n"+c.in+"\n*)\nB == 2\n====\n")))
		if len(m.Units) != 1 {
			t.Errorf("%s: the module has %d units", c.name, len(m.Units))
		}
		var got []string
		for _, d := range errs.Sorted() {
			got = append(got, d.Span.From().String()+" "+string(d.Code))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s\n%v", c.name, s, c.want, errs)
		}
	}
	for _, c := range []struct{ name, in, want string }{
		{"ref in an expression", "archetype X(ref x) { l: print ref x; }", "4:31 RefPlace"},
		{"caret", "archetype X(ref x^) { l: skip; }", "4:18 RefCaret"},
		{"yield outside", "archetype X(ref x) { l: yield 1; }", "4:25 MappingPlace"},
		{"$variable outside", "archetype X(ref x) { l: $variable := 1; }", "4:25 MappingPlace"},
		{"order", "archetype X() { l: skip; }\nmapping macro M { read { yield 1 } write { yield 2 } }", "5:1 SectionOrder"},
		{"write before read", "mapping macro M { write { yield 1 } read { yield 2 } }", "4:19 TokenExpected"},
		{"declaration without semicolon", "variables x = 1\nprocess (P = 1) { l: skip; }", "4:16 SemicolonMissing"},
		{"instance without semicolon", "process (P = 1) == instance X(1)\nprocess (Q = 2) == instance X(1);", "4:33 SemicolonMissing"},
		{"position 0", "process (P = 1) == instance X(1) mapping @0 via M;", "4:43 NameExpected"},
		{"index in a ref", "process (P = 1) == instance X(ref x[1]);", "4:37 TokenExpected"},
		{"ref in a procedure after the archetypes", "archetype X() { l: skip; }\nprocedure P(ref x) { l: return; }", "5:13 RefPlace"},
		{"reserved", "archetype X(read) { l: skip; }", "4:13 NameReserved"},
	} {
		_, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n(*\n--mpcal A {\n"+c.in+"\n}*)\n====\n")))
		var got []string
		for _, d := range errs.Sorted() {
			got = append(got, d.Span.From().String()+" "+string(d.Code))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s\n%v", c.name, s, c.want, errs)
		}
	}
}

// TestAlgorithmWords checks that words of one dialect are names in another.
func TestAlgorithmWords(t *testing.T) {
	inComment(t, "--algorithm A { variables read = 1, via = read, fair = 2; { fair := via; ref(1) } }")
	mustModule(t, "process == 1\nif == process\nA == [end |-> 1].end")
}

func TestAlgorithmLimits(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("{", 100_000) + "skip" + strings.Repeat("}", 100_000),
		strings.Repeat("if (x) ", 100_000) + "skip",
		strings.Repeat("while (x) ", 100_000) + "skip",
		strings.Repeat("either skip or ", 100_000) + "skip",
		strings.Repeat("{", 100_000),
	} {
		m, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n(* --algorithm A { { "+body+" } } *)\nB == 2\n====\n")))
		if !errs.HasErrors() || len(m.Units) != 1 {
			t.Errorf("%.20s: got %d units, %v", body, len(m.Units), errs)
		}
	}
	body := strings.Repeat("if x then ", 100_000) + "skip; " + strings.Repeat("end if; ", 100_000)
	_, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n(* --algorithm A begin "+body+" end algorithm *)\nB == 2\n====\n")))
	if !errs.HasErrors() {
		t.Error("P style: no diagnostic")
	}
}
