// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// memory is files by name.
type memory map[string]string

func (m memory) ReadFile(name string) ([]byte, error) {
	text, ok := m[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	case text == "broken disk":
		return nil, errors.New("broken disk")
	}
	return []byte(text), nil
}

func (m memory) List(dir string) ([]string, error) {
	var out []string
	for name := range m {
		if filepath.Dir(name) == dir {
			out = append(out, filepath.Base(name))
		}
	}
	return out, nil
}

func messages(list *source.List) string {
	var b strings.Builder
	list.Print(&b)
	return b.String()
}

func TestLoad(t *testing.T) {
	tests := []struct {
		name  string
		files memory
		// want is a part of the diagnostics; "" means none.
		want string
	}{
		{"a module beside the root", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\nX == Y\n====",
			"d/B.tla": "---- MODULE B ----\nY == 1\n====",
		}, ""},
		{"a standard module", memory{"d/A.tla": "---- MODULE A ----\nEXTENDS Integers, Sequences\nX == Len(<<1>>) - 1\n===="}, ""},
		{"the module beside the root comes first", memory{
			"d/A.tla":         "---- MODULE A ----\nEXTENDS Sequences\nX == Len(1, 2)\n====",
			"d/Sequences.tla": "---- MODULE Sequences ----\nLen(a, b) == a\n====",
		}, ""},
		{"not in other directories", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\n====",
			"B.tla":   "---- MODULE B ----\n====",
		}, "there is no module B: looked in the directory d, then the directory l1, then the directory l2, then the standard modules"},
		{"a module of a library", memory{
			"d/A.tla":  "---- MODULE A ----\nEXTENDS B\nX == Y\n====",
			"l1/B.tla": "---- MODULE B ----\nEXTENDS C\nY == Z\n====",
			"l2/C.tla": "---- MODULE C ----\nZ == 1\n====",
		}, ""},
		{"the module beside the root comes before a library's", memory{
			"d/A.tla":  "---- MODULE A ----\nEXTENDS B\nX == Y\n====",
			"d/B.tla":  "---- MODULE B ----\nY == 1\n====",
			"l1/B.tla": "---- MODULE B ----\n====",
		}, ""},
		{"a module in the root's file comes before a library's", memory{
			"d/A.tla":  "---- MODULE A ----\nEXTENDS B\nX == Y\n====\n---- MODULE B ----\nY == 1\n====\n",
			"l1/B.tla": "---- MODULE B ----\n====",
		}, ""},
		{"the first library comes before the second", memory{
			"d/A.tla":  "---- MODULE A ----\nEXTENDS B\nX == Y\n====",
			"l1/B.tla": "---- MODULE B ----\nY == 1\n====",
			"l2/B.tla": "---- MODULE B ----\n====",
		}, ""},
		{"a library comes before the standard modules", memory{
			"d/A.tla":          "---- MODULE A ----\nEXTENDS Sequences\nX == Len(1, 2)\n====",
			"l2/Sequences.tla": "---- MODULE Sequences ----\nLen(a, b) == a\n====",
		}, ""},
		{"a near name in a library", memory{
			"d/A.tla":         "---- MODULE A ----\nEXTENDS Counterr\n====",
			"l2/Counters.tla": "---- MODULE Counters ----\n====",
		}, "did you mean Counters?"},
		{"a module after the root in its file", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\nX == Y + C\n====\ntext\n---- MODULE B ----\nEXTENDS D\nY == Z\n====\n---- MODULE D ----\nEXTENDS Naturals\nC == 1 Z == 2\n====\n",
		}, ""},
		{"headers that are commented out", memory{
			"d/A.tla": "\\* ---- MODULE Old ----\n---- MODULE A ----\nEXTENDS B\nX == Y\n====\n\\*---- MODULE B ----\n\\*Y == (\n\\*====\n---- MODULE B ----\nY == 1\n====\n",
		}, ""},
		{"a module beside the root comes before one in its file", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\nX == Y\n====\n---- MODULE B ----\n====\n",
			"d/B.tla": "---- MODULE B ----\nY == 1\n====",
		}, ""},
		{"a module after the root that does not parse", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\n====\n---- MODULE B ----\nX == (1\n====\n",
		}, "d/A.tla:6:1: error: expected `)`, found the end of the module"},
		{"a near name of a module after the root", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS Counterr\n====\n---- MODULE Counters ----\n====\n",
		}, "did you mean Counters?"},
		{"a near name", memory{
			"d/A.tla":        "---- MODULE A ----\nEXTENDS Counterr\n====",
			"d/Counters.tla": "---- MODULE Counters ----\n====",
		}, "did you mean Counters?"},
		{"the file of another module", memory{"d/A.tla": "---- MODULE B ----\n===="}, "module B stands in the file A.tla"},
		{"a root that does not parse", memory{"d/A.tla": "---- MODULE A ----\nX == (1\n===="}, "[BracketUnclosed]"},
		{"a module that does not parse", memory{
			"d/A.tla": "---- MODULE A ----\nEXTENDS B\nX == Y\n====",
			"d/B.tla": "---- MODULE B ----\nX == (1\n====",
		}, "d/B.tla:3:1: error"},
		{"a number too large", memory{"d/A.tla": "---- MODULE A ----\nX == 99999999999999999999\n===="}, "[NumberTooLarge]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, diags, err := Load(tt.files, "d/A.tla", Options{Libraries: []string{"l1", "l2"}})
			if err != nil {
				t.Fatal(err)
			}
			got := messages(diags)
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if (l == nil) != diags.HasErrors() {
				t.Errorf("got Loaded %v with diagnostics %q", l, got)
			}
		})
	}
}

func TestWorldFails(t *testing.T) {
	if _, _, err := Load(memory{}, "A.tla", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no root: got %v, want fs.ErrNotExist", err)
	}
	files := memory{"A.tla": "---- MODULE A ----\nEXTENDS B\n====", "B.tla": "broken disk"}
	if _, _, err := Load(files, "A.tla", Options{}); err == nil || !strings.Contains(err.Error(), "broken disk") {
		t.Errorf("a file that cannot be read: got %v, want the disk's error", err)
	}
}

const algorithmModule = `---- MODULE A ----
EXTENDS Integers
CONSTANT N
Limit == N + 1
(* --algorithm Count {
   variables x = 0;
   { a: while (x < Limit) { x := x + 1 } }
} *)
%s
Inv == x <= Limit /\ pc \in {"a", "Done"}
====
`

// translation represents the text that internal/tla/trans makes from the algorithm
// above.
const translation = `VARIABLES x, pc
Init == x = 0 /\ pc = "a"
Next == pc = "a" /\ IF x < Limit THEN x' = x + 1 /\ pc' = "a" ELSE pc' = "Done" /\ x' = x`

// declaredBy represents the trees: variables, and definitions over them.
func declaredBy(u *Untranslated, variables []string, defs ...string) lower.Declared {
	var out lower.Declared
	for _, name := range variables {
		out.Variables = append(out.Variables, &core.Variable{Name: name, Index: -1, Span: u.Module.Algorithm.Name.Span()})
	}
	scope := u.Scope.WithVariables(out.Variables...)
	for _, d := range defs {
		name, text, _ := strings.Cut(d, " == ")
		e, _ := syntax.ParseExpr(source.NewFile("definition", []byte(text)))
		out.Defs = append(out.Defs, &core.Def{Name: name, Module: u.Module.Name.Text, Body: scope.Expr(e), Span: u.Module.Algorithm.Name.Span()})
	}
	return out
}

// count declares what the translation declares.
func count(u *Untranslated) lower.Declared {
	return declaredBy(u, []string{"x", "pc"}, strings.Split(translation, "\n")[1:]...)
}

const stale = "\\* BEGIN TRANSLATION\nVARIABLES x, pc, old\nOld == (1\n\\* END TRANSLATION"

func TestTranslate(t *testing.T) {
	calls := 0
	translate := func(u *Untranslated, diags *source.List) Translation {
		calls++
		if got := u.Scope.Lookup("Limit").Def; got == nil || got.Name != "Limit" {
			t.Errorf("Limit in the algorithm: got %v, want its definition", got)
		}
		for _, name := range []string{"x", "pc", "Inv", "old", "Old"} {
			if got := u.Scope.Lookup(name); got.Def != nil || got.Variable != nil {
				t.Errorf("%s is known before the translation", name)
			}
		}
		while := u.Module.Algorithm.Body.Body[0].(*syntax.While)
		x := u.Scope.WithVariables(&core.Variable{Name: "x", Index: -1}).Expr(while.Cond)
		if got := core.Format(x, 0); got != "x < Limit" {
			t.Errorf("condition: got %s", got)
		}
		return Translation{Declares: count(u), Algorithm: &pcal.Algorithm{Name: "Count"}}
	}
	fresh := "\\* BEGIN TRANSLATION\n" + strings.Replace(translation, "x = 0", "x = 7", 1) + "\n\\* END TRANSLATION"
	tests := []struct {
		name    string
		between string
		options Options
		calls   int
		init    string
	}{
		{"no translation", "", Options{Translate: translate}, 1, `x = 0 /\ pc = "a"`},
		{"the file's translation", fresh, Options{Translate: translate}, 0, `x = 7 /\ pc = "a"`},
		{"a translation that is made again", fresh, Options{Translate: translate, Retranslate: true}, 1, `x = 0 /\ pc = "a"`},
		{"a stale one that does not parse", stale, Options{Translate: translate, Retranslate: true}, 1, `x = 0 /\ pc = "a"`},
		{"nobody to translate", fresh, Options{}, 0, `x = 7 /\ pc = "a"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls = 0
			text := fmt.Sprintf(algorithmModule, tt.between)
			l, diags, err := Load(memory{"A.tla": text}, "A.tla", tt.options)
			if err != nil || diags.Len() > 0 {
				t.Fatalf("got %v, %s", err, messages(diags))
			}
			if calls != tt.calls || (l.Algorithm != nil) != (tt.calls > 0) {
				t.Errorf("got %d translations, want %d", calls, tt.calls)
			}
			if got := core.Format(l.Spec.Names["Init"].Body, 0); got != tt.init {
				t.Errorf("Init: got %s, want %s", got, tt.init)
			}
			inv := l.Spec.Names["Inv"]
			if got, want := inv.Span.From().Line, strings.Count(text[:strings.Index(text, "Inv ==")], "\n")+1; got != want || inv.Span.File.Name != "A.tla" {
				t.Errorf("Inv is at %s, want line %d of A.tla", inv.Span, want)
			}
			if err := core.Validate(l.Spec); err != nil {
				t.Error(err)
			}
			// After the load, too, an algorithm sees the definitions before it.
			scope := l.Program.AlgorithmScope()
			if scope.Lookup("Limit").Def != l.Spec.Names["Limit"] || scope.Lookup("Init").Def != nil || scope.Lookup("Inv").Def != nil {
				t.Error("the algorithm's scope is not that before the translation")
			}
		})
	}
}

// TestTranslationFails has errors before, in and after the translation.
func TestTranslationFails(t *testing.T) {
	text := fmt.Sprintf(algorithmModule, "")
	with := func(made func(*Untranslated) lower.Declared) Options {
		return Options{Translate: func(u *Untranslated, diags *source.List) Translation {
			if made == nil {
				diags.Errorf(source.Span{}, "Test", "cannot")
				return Translation{}
			}
			return Translation{Declares: made(u)}
		}}
	}
	only := func(variables []string, defs ...string) Options {
		return with(func(u *Untranslated) lower.Declared { return declaredBy(u, variables, defs...) })
	}
	both := []string{"x", "pc"}
	tests := []struct {
		name, text string
		options    Options
		want       string
	}{
		{"before", strings.Replace(text, "N + 1", "M + 1", 1), with(count), "A.tla:4:10: error: unknown name M"},
		{"the translator", text, with(nil), "cannot [Test]"},
		{"after", text, only([]string{"pc"}), "A.tla:10:8: error: unknown name x"},
		{"a definition that clashes", text, only(both, "Limit == 1"), "A.tla:5:16: error: Limit is declared already"},
		{"a variable that clashes", text, only([]string{"x", "pc", "N"}), "A.tla:5:16: error: N is declared already, as a constant"},
		{"a clash behind it", text, only(both, "Inv == 1"), "A.tla:10:1: error: Inv is declared already"},
		{"two of a name", text, only([]string{"x", "pc", "x"}), "A.tla:5:16: error: x is declared already"},
		{"a prime twice", text, only(both, "Next == (x')' = 1"), "error:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, diags, err := Load(memory{"A.tla": tt.text}, "A.tla", tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := messages(diags); l != nil || !strings.Contains(got, tt.want) {
				t.Errorf("got %v, %q, want %q", l, got, tt.want)
			}
		})
	}
}

// FuzzLoad feeds arbitrary text: nothing may panic, and a specification that
// loads must be valid and print as text that parses.
func FuzzLoad(f *testing.F) {
	seeds := []string{
		"---- MODULE A ----\nEXTENDS Naturals, B\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\nSpec == Init /\\ [][Next]_x\n====",
		"---- MODULE A ----\nI(p) == INSTANCE B WITH c <- p\nX == I(3)!Y!1\nRECURSIVE F(_)\nF(n) == LET g[i \\in {1}] == F(i) J == INSTANCE B WITH c <- n IN J!Y\n====",
		"---- MODULE A ----\nOp(G(_), a) == G(a)\nX == Op(LAMBDA z : {z}, 1)\nY == [[a |-> 1] EXCEPT !.a = @, ![1, 2] = CHOOSE q : TRUE]\n---- MODULE N ----\nCONSTANT k\nZ == k\n====\nW(k) == INSTANCE N\nV == W(1)!Z\n====",
		"---- MODULE A ----\nEXTENDS A\n====",
		"---- MODULE A ----\nX == \\E x \\in {1}, <<y, z>> \\in {<<1, 2>>} : lab(x) :: x = y\nY == X!(1, 2, 3)!lab(2)!<<\nTHEOREM T == ASSUME NEW q PROVE q\nZ == T!1\n====",
		"---- MODULE A ----\nEXTENDS Sequences\n(* --mpcal M { archetype P(ref a[_]) { l: a[1] := self } } *)\n====",
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := memory{"A.tla": text, "B.tla": "---- MODULE B ----\nCONSTANT c\nY == <<c, c>>\n===="}
		l, diags, err := Load(files, "A.tla", Options{})
		if err != nil {
			t.Fatal(err)
		}
		messages(diags)
		if l == nil {
			return
		}
		if err := core.Validate(l.Spec); err != nil {
			t.Fatal(err)
		}
		for _, d := range l.Spec.Defs {
			if d.Module != "A" || d.Body == nil {
				continue
			}
			printed := core.Format(d.Body, 0)
			if _, list := syntax.ParseExpr(source.NewFile("printed", []byte(printed))); list.HasErrors() {
				t.Fatalf("%s prints as\n%s\n%v", d.FullName(), printed, list)
			}
		}
	})
}
