// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// mustModule parses units between a header and an end without diagnostics and
// checks that printing keeps them.
func mustModule(t *testing.T, units string) *Module {
	t.Helper()
	return mustFile(t, "---- MODULE M ----\n"+units+"\n====\n")
}

func mustFile(t *testing.T, text string) *Module {
	t.Helper()
	m, errs := ParseModule(source.NewFile("M.tla", []byte(text)))
	if errs.Len() > 0 {
		var b strings.Builder
		errs.Print(&b)
		t.Errorf("%s\n%s", text, b.String())
		return m
	}
	reparse(t, text, m)
	return m
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"VARIABLES x, y", "*syntax.VariableDecl"},
		{"CONSTANTS N, Op(_, _), _+_, -._, _^+, _ \\prec _", "*syntax.ConstantDecl"},
		{"RECURSIVE f(_), g", "*syntax.Recursive"},
		{"A == 1", "*syntax.OperatorDef"},
		{"LOCAL A(x, F(_, _), _+_) == F(x, 1)", "*syntax.OperatorDef"},
		{"a \\prec b == a < b", "*syntax.OperatorDef"},
		{"a (+) b == a", "*syntax.OperatorDef"},
		{"a ... b == a", "*syntax.OperatorDef"},
		{"a := b == a", "*syntax.OperatorDef"},
		{"-. a == 0 - a", "*syntax.OperatorDef"},
		{"a ^+ == a", "*syntax.OperatorDef"},
		{"f[x \\in S, <<a, b>> \\in T] == x", "*syntax.FunctionDef"},
		{"LOCAL f[x \\in S] == x", "*syntax.FunctionDef"},
		{"INSTANCE N", "*syntax.Instance"},
		{"LOCAL INSTANCE N WITH a <- 1, op <- +", "*syntax.Instance"},
		{"I == INSTANCE N WITH a <- b + 1, + <- Plus, F <- LAMBDA x : x", "*syntax.Instance"},
		{"I(x, Op(_)) == INSTANCE N WITH a <- x", "*syntax.Instance"},
		{"---- MODULE Inner ----\nEXTENDS Naturals\nA == 1\n====", "*syntax.Module"},
		{"ASSUME N > 0", "*syntax.Assume"},
		{"ASSUMPTION Pos == N > 0", "*syntax.Assume"},
		{"AXIOM Pos == ASSUME NEW x PROVE x", "*syntax.Assume"},
		{"THEOREM Spec => []Inv", "*syntax.Theorem"},
		{"LEMMA L == ASSUME NEW x \\in S, NEW CONSTANT c, STATE P, ACTION A, TEMPORAL T, VARIABLE v, NEW F(_), x > 1, ASSUME a PROVE b PROVE c", "*syntax.Theorem"},
		{"COROLLARY C == l:: ASSUME a PROVE b", "*syntax.Theorem"},
		{"PROPOSITION TRUE OBVIOUS", "*syntax.Theorem"},
		{"USE DEF A, B", "*syntax.UseHide"},
		{"HIDE L DEF A", "*syntax.UseHide"},
		{"--------", "*syntax.Separator"},
	} {
		m := mustModule(t, c.in+"\nB == 2\n1a == 3")
		if len(m.Units) != 3 {
			t.Errorf("%s: got %d units, want 3", c.in, len(m.Units))
			continue
		}
		if got := fmt.Sprintf("%T", m.Units[0]); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
		if got := m.Units[0].Span().Text(); got != c.in {
			t.Errorf("%s: its span is %q", c.in, got)
		}
	}
}

func TestDefinitionShape(t *testing.T) {
	m := mustModule(t, "a \\leq b == TRUE\nLOCAL F(x, G(_, _), _+_, -._, _^*) == x\nCONSTANTS _ ≤ _, H(_,_,_)")
	le := m.Units[0].(*OperatorDef)
	if le.Name.Text != "<=" || le.Fixity != InfixOp || len(le.Params) != 2 || le.Name.Span().Text() != `\leq` {
		t.Errorf("infix: got %+v", le)
	}
	f := m.Units[1].(*OperatorDef)
	var got []string
	for _, p := range f.Params {
		got = append(got, fmt.Sprintf("%s/%d/%d", p.Name.Text, p.Arity, p.Fixity))
	}
	if s := strings.Join(got, " "); !f.Local || s != "x/0/0 G/2/0 +/2/2 -./1/1 ^*/1/3" {
		t.Errorf("parameters: got %s", s)
	}
	c := m.Units[2].(*ConstantDecl)
	if c.Decls[0].Name.Text != "<=" || c.Decls[1].Arity != 3 {
		t.Errorf("constants: got %+v", c.Decls)
	}
}

func TestFreeTextAroundModule(t *testing.T) {
	m := mustFile(t, "Some text with \"quotes and (* and MODULE and ---- too.\n---- MODULE M ----\nA == 1\n====\nMore \" text (* A = 3\n---- MODULE N ----\n")
	if m.Name.Text != "M" || len(m.Units) != 1 {
		t.Errorf("got %s with %d units", m.Name.Text, len(m.Units))
	}
}

// TestProofs checks that each proof ends at the right place: B and C follow it.
func TestProofs(t *testing.T) {
	for _, proof := range []string{
		"", "OBVIOUS", "OMITTED", "PROOF OBVIOUS", "PROOF OMITTED",
		"BY A, B!C, x = 1 DEF A, B", "BY ONLY A DEFS B, **", "PROOF BY DEF -., A", "BY \\A x : x = 1, LET d == 1 IN d",
		"BY SMT, IsaM(\"blast\")",
		"<1>1. A = 1\n  BY DEF A\n<1>2. QED\n  BY <1>1",
		"PROOF\n<1>1. A = 1 OBVIOUS\n<1> QED BY <1>1 DEF A",
		"<1> DEFINE d == 1\n           e(x) == x\n<1>a. d = 1\n  <2>1. TRUE\n  <2>. QED BY <2>1\n<1>b. QED\n  <2>1. TRUE OBVIOUS\n  <2>2. QED BY <1>a, <2>1",
		"<1>. USE DEF A\n<1> HIDE B\n<1>1. SUFFICES ASSUME NEW x, x = 1 PROVE x\n  OBVIOUS\n<1>2. PICK y \\in S : y = 1\n  BY A\n<1>3. CASE x\n  BY <1>2, <1>3\n<1>4. HAVE x\n<1>5. TAKE z \\in S\n<1>6. WITNESS 3\n<1>. QED BY <1>3, **",
		"<*>1. TRUE\n  <+>1. TRUE OBVIOUS\n  <*>2. QED OBVIOUS\n<*> QED",
		"<1>1. x' = y'\n  <2> QED BY DEF A\n<1>2. x = <<1>>\n<1>3. @ = {2}\n<1>4. [A]_v\n<1> QED PROOF OMITTED",
		"<1>1. A /\\\n      B\n  PROOF\n  <2>1. TRUE\n  <2>. QED\n<1>. QED",
	} {
		m := mustModule(t, "THEOREM T == TRUE\n"+proof+"\nB == 2\nC(x) == 3\nx ** y == 4")
		var got []string
		for _, u := range m.Units {
			switch u := u.(type) {
			case *OperatorDef:
				got = append(got, u.Name.Text)
			case *Theorem:
				got = append(got, "T")
				if text := u.Proof.Text(); text != proof {
					t.Errorf("%s: the proof is %q", proof, text)
				}
			default:
				got = append(got, fmt.Sprintf("%T", u))
			}
		}
		if s := strings.Join(got, " "); s != "T B C **" {
			t.Errorf("%s: got units %s", proof, s)
		}
	}
}

// TestProofWithoutQED ends a proof at the next theorem at the latest.
func TestProofWithoutQED(t *testing.T) {
	m := mustModule(t, "THEOREM T == TRUE\n<1>1. A = 1\n  BY DEF A\nTHEOREM U == TRUE\nOBVIOUS\nB == 2")
	if len(m.Units) != 3 {
		t.Errorf("got %d units, want 3", len(m.Units))
	}
}

func TestMarkers(t *testing.T) {
	text := "---- MODULE M ----\nA == 1\n  \\* BEGIN TRANSLATION (chksum(pcal) = \"1\")\nB == \n\\** END   TRANSLATION   \nC == 3\n====\n"
	f := source.NewFile("M.tla", []byte(text))
	m, errs := ParseModule(f)
	if !errs.HasErrors() {
		t.Error("the broken translation was not read")
	}
	r := m.Translation
	if r == nil || r.Inner.Text() != "B == \n" || r.Begin.Text() != "\\* BEGIN TRANSLATION (chksum(pcal) = \"1\")" {
		t.Errorf("got %+v", r)
	}
	if !r.Contains(m.Units[1].Span()) || r.Contains(m.Units[0].Span()) {
		t.Error("Contains is wrong")
	}
	m, errs = ParseModuleMode(f, SkipTranslation)
	if errs.Len() > 0 || len(m.Units) != 2 {
		t.Errorf("skipping the translation: %d units, %v", len(m.Units), errs)
	}
	for _, bad := range []string{
		"\\* BEGIN TRANSLATION", "\\* END TRANSLATION", "\\* END TRANSLATION\n\\* BEGIN TRANSLATION",
		"\\* BEGIN TRANSLATION\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION",
		"\\* BEGIN PLUSCAL TRANSLATION\n\\* END TRANSLATION",
	} {
		m, errs := ParseModule(source.NewFile("M.tla", []byte("---- MODULE M ----\n"+bad+"\n====\n")))
		if errs.Len() == 0 || errs.HasErrors() || errs.Sorted()[0].Code != MarkersBroken || m.Translation != nil {
			t.Errorf("%s: got %v", bad, errs)
		}
	}
}

func TestUnicode(t *testing.T) {
	m := mustModule(t, "A(S) ≜ ∀ x ∈ S : ∃ y ∈ ℕ : ¬(x ≠ y) ∧ x ≤ y ∧ ⟨x, y⟩ ∉ S × S\nB ≜ [x ∈ S ↦ x′] ∪ [S → S]\nC ≜ □[A]_v ⇒ ◇⟨B⟩_v ↝ (a ∘ b)")
	_ = m
	got := Format(m.Units[1])
	if want := `B == [x \in S |-> x'] \cup [S -> S]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInspect(t *testing.T) {
	m := mustModule(t, "A(x) == LET b == {y \\in x : [y EXCEPT ![c] = d(e)]} IN CASE f -> g [] OTHER -> WF_h(i)\nINSTANCE N WITH j <- k")
	var got []string
	Inspect(m, func(n Node) bool {
		if id, ok := n.(*Ident); ok {
			got = append(got, id.Name)
		}
		_, stop := n.(*Fairness)
		return !stop
	})
	if s := strings.Join(got, ""); s != "xycefgk" {
		t.Errorf("got %s", s)
	}
}
