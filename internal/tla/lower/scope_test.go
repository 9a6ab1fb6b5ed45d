// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

const scopeModule = `---- MODULE A ----
CONSTANT N
VARIABLE before
Def(a) == <<a, N>>
(* --algorithm Alg { variables x = 0; { skip } } *)
\* BEGIN TRANSLATION
VARIABLE x
Translated == x
\* END TRANSLATION
After == Translated
====
`

func parsed(t *testing.T, text string) syntax.Expr {
	t.Helper()
	e, list := syntax.ParseExpr(source.NewFile("expr", []byte(text)))
	if list.HasErrors() {
		t.Fatal(list)
	}
	return e
}

func TestScope(t *testing.T) {
	var diags source.List
	p := program(scopeModule, &diags)
	if p == nil {
		t.Fatal(diags.Error())
	}
	x := &core.Variable{Name: "x", Index: -1}
	target := &core.Variable{Name: "$variable", Index: -1}
	self, op := &core.Local{Name: "self"}, &core.Local{Name: "Op", Arity: 1}
	scope := p.AlgorithmScope().WithVariables(x, target).WithLocals(self, op).WithExpr("arg", &core.Int{Val: 7})
	tests := []struct {
		text string
		want string // the expression, or a part of the diagnostic
	}{
		{"x + self", "the operator + is not defined"},
		{"<<x, self, before, N, Def(arg)>>", "<<x, self, before, N, Def(7)>>"},
		{"Op(x)", "Op(x)"},
		{"Op", "takes 1 argument and is used where a value is expected"},
		{"Translated", "Translated is used before it is defined"},
		{"After", "After is used before it is defined"},
		{`\E s \in {1} : s = x`, `\E s \in {1} : s = x`},
		{`\E self \in {1} : self = x`, `\E self \in {1} : self = x`},
		{`\E N \in {1} : TRUE`, "N is declared already"},
		{"x'", "x'"},
		{"(x')'", "only a state function can be primed"},
		{"[x EXCEPT ![self] = @]", "[x EXCEPT ![self] = @]"},
		{"LET y == x IN <<y, y>>", "LET y == x IN <<y, y>>"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			diags = source.List{}
			e := scope.Expr(parsed(t, tt.text))
			_, bad := e.(*core.Bad)
			if bad != diags.HasErrors() {
				t.Errorf("got %T with %q", e, diags.Error())
			}
			got := core.Format(e, 0)
			if bad {
				got = diags.Error()
			}
			if bad && !strings.Contains(got, tt.want) || !bad && got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}

	diags = source.List{}
	if e := scope.Expr(&syntax.Dollar{Name: "$variable"}).(*core.VarRef); e.Var != target {
		t.Errorf("$variable: got %v", e.Var)
	}
	// The Spec shares the definitions that the scope used.
	def := scope.Lookup("Def").Def
	if s := p.Spec(); s.Names["Def"] != def || def == nil {
		t.Error("the Spec has another Def than the scope")
	}
	for name, want := range map[string]Meaning{
		"x": {Variable: x}, "self": {Local: self}, "Nothing": {}, "Def": {Def: def}, "N": {Constant: p.Spec().Constants[0]},
	} {
		if got := scope.Lookup(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := scope.Lookup("arg").Expr; core.Format(got, 0) != "7" {
		t.Errorf("arg: got %v", got)
	}
}

func TestScopeDefine(t *testing.T) {
	var diags source.List
	p := program(scopeModule, &diags)
	m, list := syntax.ParseModule(source.NewFile("D", []byte(
		"---- MODULE D ----\nTwice(a) == <<a, x>>\nRECURSIVE Rec(_)\nRec(n) == Rec(Twice(n))\nf[n \\in {1}] == f[x]\n====\n")))
	if list.HasErrors() {
		t.Fatal(list)
	}
	x := &core.Variable{Name: "x", Index: -1}
	inner, defs := p.AlgorithmScope().WithVariables(x).Define(m.Units)
	var got []string
	for _, d := range defs {
		got = append(got, fmt.Sprintf("%d %s", d.Level, core.FormatDef(d)))
	}
	want := "1 Twice(a) == <<a, x>>|1 RECURSIVE Rec(_)\nRec(n) == Rec(Twice(n))|1 f[n \\in {1}] == f[x]"
	if strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
	if e := inner.Expr(parsed(t, "Twice(f[1])")); core.Format(e, 0) != "Twice(f[1])" {
		t.Errorf("got %s, %v", core.Format(e, 0), diags.Error())
	}
	if p.AlgorithmScope().Lookup("Twice").Def != nil {
		t.Error("the definition is seen outside the scope that has it")
	}
	bad, _ := syntax.ParseModule(source.NewFile("D", []byte("---- MODULE D ----\nA == nothing\nRECURSIVE B\n====\n")))
	if _, defs := p.AlgorithmScope().Define(bad.Units); defs != nil || diags.Len() != 2 {
		t.Errorf("got %v, %v, want two errors", defs, diags.Error())
	}
}

func TestScopePath(t *testing.T) {
	var diags source.List
	p := program(scopeModule, &diags)
	update := parsed(t, "[before EXCEPT ![N].a[1, N] = 2]").(*syntax.Except).Updates[0]
	got := p.AlgorithmScope().Path(update.Path)
	e := &core.Except{Fn: &core.Int{}, Updates: []core.Update{{Path: got, Value: &core.Int{}}}}
	if text := core.Format(e, 0); text != "[0 EXCEPT ![N].a[1, N] = 0]" || diags.Len() > 0 {
		t.Errorf("got %s, %v", text, diags.Error())
	}
}

// TestTooManyInstances doubles the definitions with each module.
func TestTooManyInstances(t *testing.T) {
	var b strings.Builder
	b.WriteString("---- MODULE M0 ----\nCONSTANT c\nX == c\n====\n")
	const n = 20
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "---- MODULE M%d ----\nCONSTANT c\nI == INSTANCE M%d WITH c <- {c}\nJ == INSTANCE M%d WITH c <- <<c>>\n====\n", i, i-1, i-1)
	}
	var diags source.List
	p := program(b.String(), &diags)
	if p == nil {
		t.Fatal(diags.Error())
	}
	p.Spec()
	if got := diags.Sorted(); len(got) != 1 || got[0].Code != TooManyInstances {
		t.Errorf("got %v, want one TooManyInstances", got)
	}
}
