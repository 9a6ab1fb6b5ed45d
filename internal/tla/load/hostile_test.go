// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/lower"
	"github.com/ashlar-dev/ashlar/internal/tla/resolve"
)

// repeat joins the results of f for 0 to n-1.
func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func moduleText(name, body string) string {
	return fmt.Sprintf("---- MODULE %s ----\n%s\n====\n", name, body)
}

// TestHostile loads inputs on which a careless loader would run forever: long
// lists, long chains, and small texts with an exponential expansion.
func TestHostile(t *testing.T) {
	const n = 10_000
	line := func(format string, args ...any) func(int) string {
		return func(i int) string {
			return fmt.Sprintf(strings.NewReplacer("#1", fmt.Sprint(i+1), "#", fmt.Sprint(i)).Replace(format), args...)
		}
	}
	a := func(body string) memory { return memory{"A.tla": moduleText("A", body)} }
	nested := func(substitution string) memory {
		files := a("CONSTANT c\nI == INSTANCE M60\nX == I" + strings.Repeat("!I", 60) + "!X")
		files["M0.tla"] = moduleText("M0", "CONSTANT c\nX == c")
		for i := 1; i <= 60; i++ {
			files[fmt.Sprintf("M%d.tla", i)] = moduleText(fmt.Sprintf("M%d", i), fmt.Sprintf("CONSTANT c\nI == INSTANCE M%d WITH c <- %s", i-1, substitution))
		}
		return files
	}
	with := func(files memory, name, body string) memory {
		files[name+".tla"] = moduleText(name, body)
		return files
	}
	tests := []struct {
		name  string
		files memory
		want  source.Code // "" for a specification that loads
	}{
		{"a chain of definitions", a("D0 == 1\n" + repeat(n, line("D#1 == D#\n"))), ""},
		{"a level that travels up a chain", a("VARIABLE x\nRECURSIVE D0\n" + repeat(n, line("D#1 == D#\n")) + fmt.Sprintf("D0 == <<D%d, x>>", n)), ""},
		{"a ring of definitions", a(repeat(n, line("RECURSIVE D#\n")) + repeat(n, func(i int) string { return fmt.Sprintf("D%d == D%d\n", i, (i+1)%n) })), ""},
		{"many variables", with(a("EXTENDS B"), "B", "VARIABLES y"+repeat(n, line(", x#"))), ""},
		{"many variables without substitution", with(a("I == INSTANCE B"), "B", "VARIABLES y"+repeat(n, line(", x#"))), resolve.SubstitutionMissing},
		{"many bound names", a("X == \\E y" + repeat(n, line(", x#")) + " \\in {1} : TRUE"), ""},
		{"many unknown names", a(repeat(n, line("D# == foo#\n"))), resolve.UnknownName},
		{"many definitions that are alike", with(with(a("EXTENDS B, C"), "B", repeat(n, line("D# == 1\n"))), "C", repeat(n, line("D# == 1\n"))), resolve.DefinedAlike},
		{"a long sum", a("EXTENDS Naturals\nX == 1" + strings.Repeat(" + 1", 9000)), ""},
		{"a long conjunction", a("X == TRUE" + strings.Repeat(" /\\ TRUE", 9000)), ""},
		{"deep braces", a("X == " + strings.Repeat("{", 900) + strings.Repeat("}", 900)), ""},
		{"deep recursive LETs", a("X == " + repeat(900, line("LET RECURSIVE a#(_) a#(x#) == a#(x#) IN ")) + "1"), ""},
		{"deep LETs with instances", with(a("X == "+repeat(300, line("LET a# == INSTANCE B WITH y <- 1 IN "))+"a7!Z"), "B", "CONSTANT y\nZ == y"), ""},
		{"many instances", with(a(repeat(n, line("I# == INSTANCE B WITH y <- 1\n"))), "B", "CONSTANT y\nZ == y"), ""},
		{"instances that double", nested("<<c, c>>"), lower.ExpressionTooLarge},
		{"instances that nest", nested("<<c>>"), ""},
		{"parts that double", a("X0 == <<1, 2>>\n" + repeat(60, line("X#1 == <<X#!1, X#!: , X#!: >>\n"))), lower.ExpressionTooLarge},
		{"a LAMBDA that doubles", with(a("I == INSTANCE B WITH F <- LAMBDA x : <<x, x>>"), "B", "CONSTANT F(_)\nZ == "+strings.Repeat("F(", 60)+"1"+strings.Repeat(")", 60)), lower.ExpressionTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, diags, err := Load(tt.files, "A.tla", Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got source.Code
			if diags.Len() > 0 {
				got = diags.Sorted()[0].Code
			}
			if got != tt.want {
				t.Errorf("got %q (%v), want %q", got, diags, tt.want)
			}
			if l == nil {
				return
			}
			if err := core.Validate(l.Spec); err != nil {
				t.Error(err)
			}
		})
	}
}
