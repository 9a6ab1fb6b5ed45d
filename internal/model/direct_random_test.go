// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// generator writes random Modular algorithms over bits, whose state spaces are
// small.
type generator struct {
	t      *rapid.T
	labels []string
	bound  []string
	// resources may be read and written.
	resources bool
	// crashes has the processes crash, and durable some of their variables last.
	crashes, durable bool
}

func (g *generator) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.t, "pick") }

// number is an expression whose value is 0 or 1.
func (g *generator) number(depth int) string {
	kinds := 7
	if depth <= 0 {
		kinds = 3
	}
	switch g.pick(kinds) {
	case 0:
		return []string{"0", "1", "(self % 2)"}[g.pick(3)]
	case 1:
		return []string{"x", "y", "n"}[g.pick(3)]
	case 2:
		if len(g.bound) > 0 {
			return g.bound[g.pick(len(g.bound))]
		}
		return "f[x]"
	case 3:
		return fmt.Sprintf("((%s + %s) %% 2)", g.number(depth-1), g.number(depth-1))
	case 4:
		return fmt.Sprintf("(IF %s THEN %s ELSE %s)", g.truth(depth-1), g.number(depth-1), g.number(depth-1))
	case 5:
		return fmt.Sprintf("f[%s]", g.number(depth-1))
	}
	if !g.resources {
		return "y"
	}
	if g.pick(2) == 0 {
		return "s"
	}
	return fmt.Sprintf("r[%s]", g.number(depth-1))
}

func (g *generator) truth(depth int) string {
	if depth <= 0 {
		return fmt.Sprintf("%s = %s", g.number(0), g.number(0))
	}
	switch g.pick(6) {
	case 0:
		return fmt.Sprintf(`(%s /\ %s)`, g.truth(depth-1), g.truth(depth-1))
	case 1:
		return fmt.Sprintf(`(%s \/ %s)`, g.truth(depth-1), g.truth(depth-1))
	case 2:
		return fmt.Sprintf("~(%s)", g.truth(depth-1))
	case 3:
		return fmt.Sprintf("(%s => %s)", g.truth(depth-1), g.truth(depth-1))
	}
	return fmt.Sprintf("%s = %s", g.number(depth), g.number(depth))
}

// target is a place to assign; name tells which variable it is part of.
func (g *generator) target() (target, name string) {
	kinds := 4
	if g.resources {
		kinds = 6
	}
	switch g.pick(kinds) {
	case 0, 1:
		return "x", "x"
	case 2:
		return "y", "y"
	case 3:
		return fmt.Sprintf("f[%s]", g.number(1)), "f"
	case 4:
		return fmt.Sprintf("r[%s]", g.number(1)), "r"
	}
	return "s", "s"
}

func (g *generator) stmt(depth int) string {
	kinds := 8
	if depth <= 0 {
		kinds = 3
	}
	switch g.pick(kinds) {
	case 0, 1:
		target, _ := g.target()
		return fmt.Sprintf("%s := %s;", target, g.number(2))
	case 2:
		if g.pick(2) == 0 {
			return fmt.Sprintf("await %s;", g.truth(1))
		}
		a, an := g.target()
		b, bn := g.target()
		if an == bn {
			return "skip;"
		}
		return fmt.Sprintf("%s := %s || %s := %s;", a, g.number(1), b, g.number(1))
	case 3, 4:
		return fmt.Sprintf("if (%s) { %s} else { %s};", g.truth(2), g.stmts(depth-1), g.stmts(depth-1))
	case 5:
		return fmt.Sprintf("either { %s} or { %s};", g.stmts(depth-1), g.stmts(depth-1))
	}
	name := fmt.Sprintf("v%d", len(g.bound))
	bind := " = " + g.number(2)
	if g.pick(2) == 0 {
		bind = ` \in {` + g.number(1) + ", " + g.number(1) + "}"
	}
	g.bound = append(g.bound, name)
	body := g.stmts(depth - 1)
	g.bound = g.bound[:len(g.bound)-1]
	return fmt.Sprintf("with (%s%s) { %s};", name, bind, body)
}

// variables declares x, y and f. With crashes, some are durable, and some start
// anew from those that are.
func (g *generator) variables() string {
	if !g.crashes {
		return `variables x = 0, y = 1, f = [i \in 0..1 |-> i];`
	}
	x, y, f := []string{"x = 0", `x \in {0, 1}`}[g.pick(2)], "y = 1", `f = [i \in 0..1 |-> i]`
	if !g.durable {
		return "variables " + x + ", " + y + `, f = [i \in 0..1 |-> (i + y) % 2];`
	}
	switch g.pick(3) {
	case 0:
		return "durable variables " + x + "; variables " + []string{"y = x", `y \in {x, 1}`}[g.pick(2)] + ", " + f + ";"
	case 1:
		return "durable variables " + x + ", " + f + "; variables " + y + ";"
	}
	return "durable variables " + x + ", " + y + ", " + f + ";"
}

func (g *generator) stmts(depth int) string {
	var out strings.Builder
	for range 1 + g.pick(2) {
		out.WriteString(g.stmt(depth) + " ")
	}
	return out.String()
}

// body is the labelled steps of an archetype.
func (g *generator) body() string {
	var out strings.Builder
	for _, l := range g.labels {
		fmt.Fprintf(&out, "    %s: %s\n", l, g.stmts(2))
		to := g.labels[g.pick(len(g.labels))]
		switch g.pick(3) {
		case 0:
			fmt.Fprintf(&out, "       if (%s) { %s goto %s; };\n", g.truth(1), g.stmt(1), to)
		case 1:
			fmt.Fprintf(&out, "       either { goto %s; } or { %s};\n", to, g.stmts(1))
		}
	}
	return out.String()
}

// crashMacros are one for each of the variables that are mapped.
const crashMacros = `
  mapping macro C0 {
    read { yield $variable; } write { yield $value; }
    crash { either { $variable[self % 2] := 1; } or { $variable := [i \in 0..1 |-> $variable[1 - i]]; }; }
  }
  mapping macro C1 {
    read { $variable := 1 - $variable; yield $variable; } write { yield $value; }
    crash { if ($variable = 1) { with (t \in {0, 1}) { $variable := t; }; }; $variable := 1 - $variable; }
  }
`

const randomMacros = `
  mapping macro M0 { read { yield $variable; } write { yield $value; } }
  mapping macro M1 { read { $variable := 1 - $variable; yield $variable; } write { await $variable # $value; yield $value; } }
  mapping macro M2 { read { either { yield $variable; } or { yield 1; }; } write { either { yield $value; } or { skip; }; } }
  mapping macro M3 {
    read { await $variable = 1; with (old = $variable) { if (self = 1) { $variable := 0; yield old; } else { either { $variable := 0; } or { skip; }; yield 1 - old; }; }; }
    write { if ($value = 1) { with (t \in {0, 1}) { yield t; }; } else { $variable := 1; yield $value; }; }
  }
  mapping macro M4 { read { yield $variable; $variable := 0; } write { $variable := 1 - $variable; yield ($value + $variable) % 2; } }
`

func (g *generator) algorithm() string {
	var via [2]string
	for i, target := range []string{"gs[_]", "h"} {
		if g.crashes && g.pick(2) == 0 {
			via[i] = fmt.Sprintf("mapping %s via C%d ", target, i)
		} else if k := g.pick(6); k < 5 {
			via[i] = fmt.Sprintf("mapping %s via M%d ", target, k)
		}
	}
	macros := ""
	if g.crashes {
		macros = crashMacros
	}
	return "--mpcal R {" + randomMacros + macros + `
  archetype B(ref r[_], ref s, n) ` + g.variables() + ` {
` + g.body() + `  }
  variables gs = [i \in 0..1 |-> i], h = 0;
  process (P \in 1..2) == instance B(ref gs[_], ref h, P % 2) ` + via[0] + via[1] + `;
}`
}

// TestDirectOnRandomAlgorithms holds the direct execution of random algorithms
// against their translation.
func TestDirectOnRandomAlgorithms(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := &generator{t: r, labels: []string{"a", "b", "c"}[:1+rapid.IntRange(0, 2).Draw(r, "labels")], resources: true}
		directly(t, r, g, "")
	})
}

// TestDirectOnRandomCrashes does the same with processes that crash.
func TestDirectOnRandomCrashes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := &generator{t: r, labels: []string{"a", "recover", "c"}[:1+rapid.IntRange(0, 2).Draw(r, "labels")], resources: true, crashes: true}
		g.durable = rapid.Bool().Draw(r, "durable") || len(g.labels) == 1
		directly(t, r, g, "CONSTANT CRASHES = 1\n")
	})
}

func directly(t *testing.T, r *rapid.T, g *generator, constants string) {
	text := "---- MODULE T ----\nEXTENDS Integers, Sequences, TLC\n(*\n" + g.algorithm() + "\n*)\n====\n"
	direct, translated := both(t, texts{"T.tla": text}, "T.tla", constants+"SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n")
	// The translator holds the PlusCal that it writes against its own TLA+.
	if _, diags, err := trans.Translate(texts{"T.tla": text}, "T.tla", nil); err != nil || diags.HasErrors() {
		r.Fatalf("%v %v:\n%s", err, diags, text)
	}
	if direct != translated {
		r.Fatalf("directly %s, translated %s:\n%s", direct, translated, text)
	}
}
