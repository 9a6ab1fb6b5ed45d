// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// seedTexts are inputs that together use every construct.
func seedTexts() []string {
	wrap := func(s string) string { return "---- MODULE M ----\nEXTENDS Naturals\n" + s + "\n====\n" }
	return []string{
		wrap("VARIABLES x, y\nCONSTANTS N, Op(_, _), _+_\nRECURSIVE f(_)\nf(n) == IF n = 0 THEN 1 ELSE n * f(n - 1)"),
		wrap("A == /\\ x' = [x EXCEPT ![1].f = @ + 1, !.g = 2]\n     /\\ \\/ y\n        \\/ z\nB == {a \\in S : \\A b, c \\in T, <<d, e>> \\in U : CHOOSE v : v}"),
		wrap("g[i \\in 1..3] == CASE i = 1 -> \"a\\\"\" [] OTHER -> \\h1F\nI(p) == INSTANCE N WITH q <- p, + <- -\nSpec == Init /\\ [][Next]_vars /\\ WF_vars(I(1)!Next) /\\ <<A>>_<<x>>"),
		wrap("THEOREM T == ASSUME NEW x \\in S PROVE x\n<1>1. CASE x\n  BY <1>1 DEF A, **\n<1>. QED OBVIOUS\nLET == 1\nl:: LAMBDA x : Op!1!<<!:"),
		wrap("(* --algorithm A { variables x = 1; process (P \\in S) { l:+ while (TRUE) { either x := 1 || y[2].f := 3 or await z; } } } *)"),
		wrap("(* --fair algorithm A variable x = 1; begin if x then skip; elsif y then goto l; else call P(1); end if; end algorithm *)"),
		wrap("(*\n" + modular + "\n*)\n\\* BEGIN TRANSLATION\n\\* END TRANSLATION"),
		wrap("A ≜ ∀ x ∈ S : ⟨x′⟩ ≠ [y ↦ ℕ]\n---- MODULE Inner ----\n===="),
	}
}

func FuzzParseModule(f *testing.F) {
	for _, s := range seedTexts() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("M.tla", []byte(text))
		m, errs := ParseModule(file)
		Inspect(m, func(n Node) bool {
			s := n.Span()
			if s.IsValid() && (s.Start < 0 || s.End < s.Start || int(s.End) > len(text)) {
				t.Fatalf("%T: span %d..%d of %d", n, s.Start, s.End, len(text))
			}
			return true
		})
		var b strings.Builder
		errs.Print(&b)
		ParseModuleMode(file, SkipTranslation)
		printed := Format(m)
		if errs.HasErrors() || strings.Contains(text, "BY") || strings.Contains(text, "PROOF") || strings.ContainsAny(text, "<\r\f") && strings.Contains(text, "<1>") {
			return // text copied from the source need not parse elsewhere
		}
		again, errs := ParseModule(source.NewFile("M.tla", []byte(printed)))
		if errs.HasErrors() {
			t.Fatalf("printed as\n%s\n%v", printed, errs)
		}
		if d := difference(m.Units, again.Units); d != "" {
			t.Fatalf("printed as\n%s\nwhich differs: %s", printed, d)
		}
		if m.Algorithm != nil {
			if d := difference(m.Algorithm, again.Algorithm); d != "" {
				t.Fatalf("printed as\n%s\nwhich differs: %s", printed, d)
			}
		}
	})
}

func FuzzParseExpr(f *testing.F) {
	for _, s := range seedTexts() {
		for _, line := range strings.Split(s, "\n") {
			if _, e, ok := strings.Cut(line, "=="); ok {
				f.Add(e)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, errs := ParseExpr(source.NewFile("e", []byte(text)))
		if errs.HasErrors() {
			return
		}
		printed := Format(x)
		again, errs := ParseExpr(source.NewFile("e", []byte(printed)))
		if errs.HasErrors() {
			t.Fatalf("printed as\n%s\n%v", printed, errs)
		}
		if d := difference(x, again); d != "" {
			t.Fatalf("printed as\n%s\nwhich differs: %s", printed, d)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range seedTexts() {
		f.Add(s, uint8(0))
		f.Add(s, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, d uint8) {
		file := source.NewFile("M.tla", []byte(text))
		s := &scanner{file: file, text: file.Text, dialect: dialect(d % 3)}
		s.scanAll(0)
		end := int32(0)
		for i, tok := range s.tokens {
			if tok.start < end || tok.end < tok.start || int(tok.end) > len(text) {
				t.Fatalf("token %d: %+v after %d", i, tok, end)
			}
			if tok.kind != kindEOF && tok.end == tok.start {
				t.Fatalf("token %d is empty: %+v", i, tok)
			}
			end = tok.end
		}
		if n := len(s.tokens); s.tokens[n-1].kind != kindEOF {
			t.Fatalf("the last token is %+v", s.tokens[n-1])
		}
	})
}
