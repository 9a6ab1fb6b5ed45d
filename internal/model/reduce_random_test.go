// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/reduce"
)

// longRounds is how many random models a test looks at, and from which seed:
// few, or as many as ASHLAR_ROUNDS says, from ASHLAR_SEED.
func longRounds(t testing.TB, few int) (rounds int, seed uint64) {
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	if testing.Short() {
		few /= 4
	}
	return int(number("ASHLAR_ROUNDS", uint64(few))), number("ASHLAR_SEED", 1)
}

// systems writes algorithms with several kinds of processes, procedures, macros,
// loops and definitions.
type systems struct {
	r *rand.Rand
	// own are the variables of the process that is being written, foreign what
	// it may see of others, at the labels that it may go to.
	own, foreign, at []string
	bound            []string
	procs            []string // procedures that are there
	inProc           bool
	assigned         map[string]bool // in the step
	mpcal            bool            // the processes are instances of archetypes
	instances        string
}

func (g *systems) one(list ...string) string { return list[g.r.IntN(len(list))] }
func (g *systems) chance(n int) bool         { return g.r.IntN(n) == 0 }

// num is a number, mostly from 0 to 2, and mostly of the process's own.
func (g *systems) num(depth int) string {
	if depth <= 0 || g.chance(3) {
		switch n := g.r.IntN(20); {
		case n < 9 && len(g.own) > 0:
			return g.one(g.own...)
		case n < 11 && len(g.bound) > 0:
			return g.one(g.bound...)
		case n < 12 && len(g.foreign) > 0:
			return g.one(g.foreign...)
		case n < 14:
			return g.one("g", "h", "Len(q)", "arr[(self % 3) + 1]", "Two", "Plus(1)", "Sees", "Pick(Sees)")
		case n < 15:
			return "self"
		}
		return g.one("0", "1", "1", "2", "K")
	}
	e := func() string { return g.num(depth - 1) }
	switch g.r.IntN(9) {
	case 0, 1:
		return "((" + e() + " + " + e() + ") % 3)"
	case 2:
		return "(IF " + g.truth(depth-1) + " THEN " + e() + " ELSE " + e() + ")"
	case 3:
		return "Cardinality({v \\in 0..2 : v < " + e() + "})"
	case 4:
		return "(LET d == " + e() + " IN (d + d) % 3)"
	case 5:
		return "Plus(" + e() + ")"
	case 6:
		return "(CHOOSE v \\in {" + e() + ", 1} : v >= 1 \\/ v = 0)"
	case 7:
		return "(CASE " + g.truth(depth-1) + " -> " + e() + " [] OTHER -> 1)"
	}
	return "(2 - " + e() + ")"
}

func (g *systems) truth(depth int) string {
	switch g.r.IntN(7) {
	case 0:
		return "(" + g.num(depth) + " < " + g.num(depth) + ")"
	case 1:
		return "(" + g.num(depth) + " \\in {0, " + g.num(depth) + "})"
	case 2:
		if depth > 0 {
			return "(" + g.truth(depth-1) + g.one(" /\\ ", " \\/ ") + g.truth(depth-1) + ")"
		}
	case 3:
		return "(\\E v \\in 0..1 : v = " + g.num(depth) + ")"
	case 4:
		return "(" + g.num(depth) + " # " + g.num(depth) + ")"
	}
	return "(" + g.num(depth) + " = " + g.num(depth) + ")"
}

// target is a variable that the step has not assigned, and how it is written.
func (g *systems) target() (name, text string) {
	var list []string
	for _, v := range g.own {
		if !strings.ContainsAny(v, "[(") {
			list = append(list, v, v, v)
		}
	}
	list = append(list, "g", "h", "arr", "q")
	if g.inProc {
		list = append(list, "g", "g")
	}
	name = g.one(list...)
	if g.assigned[name] {
		return "", ""
	}
	text = name
	if name == "arr" {
		text = "arr[" + g.one("1", "2", "(self % 3) + 1") + "]"
	}
	if strings.HasSuffix(name, "f") {
		text = name + "[" + g.one("0", "1", g.num(0)+" % 2") + "]"
	}
	return name, text
}

// stmts are statements of one step; they end the step where last says that
// nothing comes after them.
func (g *systems) stmts(depth int, last bool) string {
	var out strings.Builder
	n := 1 + g.r.IntN(2)
	for i := range n {
		out.WriteString(g.stmt(depth, last && i == n-1))
	}
	return out.String()
}

func (g *systems) branches(depth int, last bool, parts ...*string) {
	before := g.assigned
	all := map[string]bool{}
	for _, p := range parts {
		g.assigned = map[string]bool{}
		for v := range before {
			g.assigned[v] = true
		}
		*p = g.stmts(depth, last)
		for v := range g.assigned {
			all[v] = true
		}
	}
	g.assigned = all
}

func (g *systems) stmt(depth int, last bool) string {
	kind := g.r.IntN(16)
	if depth <= 0 && kind < 6 {
		kind = 6 + g.r.IntN(10)
	}
	switch kind {
	case 0, 1:
		var a, b string
		cond := g.truth(1)
		g.branches(depth-1, last, &a, &b)
		if g.chance(3) {
			return "if " + cond + " { " + a + "}; "
		}
		return "if " + cond + " { " + a + "} else { " + b + "}; "
	case 2, 3:
		var a, b string
		g.branches(depth-1, last, &a, &b)
		return "either { " + a + "} or { " + b + "}; "
	case 4, 5:
		name := fmt.Sprintf("v%d", len(g.bound))
		bind := g.one(" = "+g.num(1), " \\in {0, "+g.num(1)+"}", " \\in {n \\in 0..2 : n < "+g.num(1)+"}")
		g.bound = append(g.bound, name)
		body := g.stmts(depth-1, last)
		g.bound = g.bound[:len(g.bound)-1]
		return "with (" + name + bind + ") { " + body + "}; "
	case 6:
		return "await " + g.truth(1) + "; "
	case 7:
		if g.chance(2) {
			return "assert " + g.one("g < 3", "Len(q) < 3", g.num(1)+" < 3", g.truth(1)) + "; "
		}
	case 8:
		return g.one("skip; ", "print "+g.num(0)+"; ")
	case 9, 10:
		if last {
			return "goto " + g.one(append(g.at, "Done")...) + "; "
		}
	case 11:
		if len(g.procs) > 0 && last {
			return "call " + g.one(g.procs...) + "(" + g.num(1) + "); "
		}
	case 12:
		if name, text := g.target(); name != "" && name != "q" && !g.mpcal {
			g.assigned[name] = true
			return "Turn(" + text + "); "
		}
	}
	name, text := g.target()
	if name == "" {
		return "skip; "
	}
	g.assigned[name] = true
	if name == "q" {
		if g.chance(2) {
			return "if (Len(q) < 2) { q := Append(q, " + g.num(1) + "); }; "
		}
		return "await q # <<>>; q := Tail(q); "
	}
	if other, t2 := g.target(); g.chance(6) && other != "" && other != "q" {
		g.assigned[other] = true
		return text + " := " + g.num(1) + " || " + t2 + " := " + g.num(1) + "; "
	}
	return text + " := " + g.num(2) + "; "
}

// body are the labelled steps of a process or a procedure.
func (g *systems) body(labels []string, end string) string {
	g.at = labels
	var out strings.Builder
	for i, l := range labels {
		g.assigned = map[string]bool{}
		if !g.mpcal && g.chance(8) && i+1 < len(labels) {
			cond := g.one("(TRUE)", g.truth(1), g.truth(1))
			fmt.Fprintf(&out, "    %s: while %s { %s};\n", l, cond, g.stmts(1, true))
			continue
		}
		fmt.Fprintf(&out, "    %s: %s\n", l, g.stmts(2, true))
	}
	return out.String() + end
}

// process writes a process whose variables are called by the letters of names.
func (g *systems) process(head, prefix string, names ...string) string {
	g.own, g.inProc = nil, false
	decl := ""
	for _, v := range names {
		init := g.one(" = 0", " = 1", " \\in {0, 1}", " = self % 3", " = g")
		if strings.HasSuffix(v, "f") {
			init = " = [i \\in 0..1 |-> i]"
			g.own = append(g.own, v, v+"[0]", v+"[1]", v+"["+names[0]+"]")
		} else {
			g.own = append(g.own, v)
		}
		decl += v + init + "; "
	}
	numbers := slices.DeleteFunc(slices.Clone(g.own), func(v string) bool { return strings.HasSuffix(v, "f") })
	all := g.own
	g.own = numbers
	var labels []string
	for i := range 2 + g.r.IntN(3) {
		labels = append(labels, fmt.Sprintf("%s%c", prefix, 'a'+i))
	}
	if len(all) > len(numbers) && g.chance(2) {
		// The function as a whole is assigned too.
		defer func() { g.own = nil }()
	}
	if g.mpcal {
		// An archetype sees what is shared through resources.
		name := "A" + prefix
		refs := []string{"g", "h", "arr[_]", "q"}
		via := ""
		for _, r := range refs {
			if k := g.r.IntN(12); k < 5 && r != "q" {
				via += fmt.Sprintf(" mapping %s via M%d", r, k)
			}
		}
		g.instances += "  process (" + head + ") == instance " + name + "(ref " + strings.Join(refs, ", ref ") + ")" + via + ";\n"
		return "  archetype " + name + "(ref " + strings.Join(refs, ", ref ") + ") variables " + strings.ReplaceAll(decl, "= g", "= 1") + "{\n" + g.body(labels, "  }\n")
	}
	return "  process (" + head + ") variables " + decl + "{\n" + g.body(labels, "  }\n")
}

// algorithm writes a module with an algorithm, and its configuration.
func (g *systems) algorithm() (files texts, cfg string) {
	var text strings.Builder
	variables := "  variables g = 0; h " + g.one("= 0", "\\in {0, 1}") + "; arr = [i \\in 1..3 |-> 0]; q = <<>>;\n"
	sees, n := g.one("g", "g", "1", "Len(q)"), g.r.IntN(3)
	if g.mpcal = g.chance(4); g.mpcal {
		sees, n = "1", 0
		text.WriteString("--mpcal A {\n")
	} else {
		text.WriteString("--algorithm A {\n" + variables)
	}
	text.WriteString("  define { Two == 2\n Plus(n) == (n + 1) % 3\n Sees == " + sees + "\n Pick(n) == CHOOSE v \\in {n} : v = n }\n")
	text.WriteString("  macro Turn(v) { v := 1 - v; }\n")
	if g.mpcal {
		text.WriteString(randomMacros)
	}
	for i := range n {
		g.procs, g.inProc, g.own, g.foreign = nil, true, []string{"n" + strconv.Itoa(i)}, nil
		if i > 0 && g.chance(2) {
			g.procs = []string{"S0"}
		}
		name := "m" + strconv.Itoa(i)
		g.own = append(g.own, name)
		var labels []string
		for k := range 1 + g.r.IntN(2) {
			labels = append(labels, fmt.Sprintf("s%d%c", i, 'a'+k))
		}
		g.at = labels
		steps := strings.ReplaceAll(g.body(labels, ""), "goto Done", "goto "+labels[0])
		fmt.Fprintf(&text, "  procedure S%d(n%d) variables %s = 0; {\n%s    s%dz: return;\n  }\n", i, i, name, steps, i)
	}
	g.procs = nil
	for i := range n {
		g.procs = append(g.procs, "S"+strconv.Itoa(i))
	}
	// A process may see variables of others: that of a single process as it is,
	// that of a set with an index.
	kinds := g.r.IntN(4)
	pvars := [][]string{{"x"}, {"x", "y"}, {"x", "y", "pf"}}[g.r.IntN(3)]
	if g.chance(3) {
		g.foreign = []string{"u"}
	}
	if kinds == 3 || g.mpcal {
		g.foreign = nil
	}
	p := g.process("P \\in "+g.one("1..2", "1..2", "{1, 2}", "Ids"), "l", pvars...)
	g.foreign = nil
	if g.chance(4) && !g.mpcal {
		g.foreign = []string{"x[1]"}
	}
	second := ""
	switch kinds {
	case 0, 1, 2:
		second = g.process("Q = 2 + 1", "q", []string{"u", "w"}[:1+g.r.IntN(2)]...)
	}
	third := ""
	if kinds >= 2 {
		g.foreign = nil
		third = g.process("R \\in {4}", "r", "k")
	}
	parts := []string{p, second, third}
	if g.chance(2) {
		parts = []string{third, second, p}
	}
	text.WriteString(strings.Join(parts, ""))
	if g.mpcal {
		text.WriteString(variables + g.instances)
	}
	text.WriteString("}")
	last := g.one("la", "lb")
	invs := []string{"TRUE", "g + h < 4", "~(g = 1 /\\ h = 1)", "g < 2", "\\A p \\in 1..2 : x[p] < 2", "x[1] # x[2]", "x[1] + x[2] + g < 4",
		"\\A p \\in 1..2 : pc[p] = \"" + last + "\" => g < 2", "~(pc[1] = \"lb\" /\\ pc[2] = \"lb\")", "\\A p \\in ProcSet : pc[p] \\in {\"lb\", \"Done\"} => h = 0",
		"(pc[1] # \"" + last + "\") \\/ x[1] = x[2]", "pc[2] = \"Done\" => g # 1", "\\E p \\in 1..2 : pc[p] \\notin {\"Done\", \"la\"}", "Len(q) < 2", "arr[1] + arr[2] < 2",
		"LET at(p, l) == pc[p] = l IN ~at(1, \"lb\") \\/ g = 0", "~(\\A p \\in 1..2 : pc[p] = \"Done\")", "\\A p \\in {p \\in 1..2 : pc[p] = \"la\"} : x[p] = 1",
		"I!Inv", "At(1, \"lb\") => h = 0"}
	after := "At(p, l) == pc[p] = l\nI == INSTANCE Seen WITH at <- " + g.one("pc", "x", "[p \\in 1..2 |-> g]", "[p \\in 1..2 |-> IF pc[p] = \"lb\" THEN \"lb\" ELSE \"la\"]")
	cfg = "SPECIFICATION Spec\nCONSTANT K " + g.one("= 0", "= 1", "<- Sees") + "\n"
	if n > 0 {
		cfg += "CONSTANT defaultInitValue = defaultInitValue\n"
	}
	for i := range g.r.IntN(3) {
		after += fmt.Sprintf("\nInv%d == %s", i, g.one(invs...))
		cfg += fmt.Sprintf("INVARIANT Inv%d\n", i)
	}
	cfg += g.one("", "CHECK_DEADLOCK FALSE\n")
	files = algorithmText(text.String(), after)
	files["T.tla"] = strings.Replace(files["T.tla"], "FiniteSets, TLC\n", "FiniteSets, TLC\nCONSTANT K\nIds == 1..2\n", 1)
	files["Seen.tla"] = "---- MODULE Seen ----\nVARIABLE at\nInv == at[1] = \"lb\" => at[2] # \"lb\"\n====\n"
	return files, cfg
}

// wrongs are what a search finds wrong with a model, each property once.
func wrongs(r *check.Result) (list []string, failed bool) {
	for _, v := range r.Violations {
		name := fmt.Sprint(v.Verdict, " ", v.Property)
		failed = failed || v.Verdict == check.EvalFailed
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, failed || r.Verdict == check.EvalFailed
}

// TestReductionOnRandomSystems: the reduced search of an algorithm finds every
// property violated that the whole one finds violated, and no other, and errors
// and deadlocks where there are some. ASHLAR_ROUNDS says how many algorithms it
// looks at, from ASHLAR_SEED.
func TestReductionOnRandomSystems(t *testing.T) {
	const most = 6000
	rounds, seed := longRounds(t, 60)
	counts := map[string]int{}
	for round := range rounds {
		g := &systems{r: rand.New(rand.NewPCG(seed, uint64(round)))}
		files, cfg := g.algorithm()
		var what reduce.Report
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d, round %d:\n%s%s", seed, round, files["T.tla"], cfg)
				}
			}()
			run := func(reduce, goOn bool, workers int) *check.Result {
				m := reducible(t, files, "T.tla", cfg, reduce)
				r, err := check.Run(context.Background(), m, check.Options{Workers: workers, StatesMax: most, Continue: goOn})
				if err != nil {
					t.Fatal(err)
				}
				what = m.Reduction()
				return r
			}
			whole := run(false, false, 1)
			reduced := run(true, false, 1)
			switch {
			case reduced.Verdict == check.Incomplete || whole.Verdict == check.Incomplete:
				counts["too large"]++
				return
			case what.Refused != "":
				counts["refused"]++
			case what.States > 0:
				counts["reduced"]++
			default:
				counts["idle"]++
			}
			counts[whole.Verdict.String()]++
			if (whole.Verdict == check.OK) != (reduced.Verdict == check.OK) {
				t.Fatalf("%v %s %v with %d states, reduced %v %s %v with %d (%s)", whole.Verdict, whole.Property, whole.Err, whole.Distinct, reduced.Verdict, reduced.Property, reduced.Err, reduced.Distinct, what)
			}
			if whole.Verdict == check.OK && (reduced.Distinct > whole.Distinct || what.States == 0 && reduced.Distinct != whole.Distinct) {
				t.Fatalf("%d states, reduced %d (%s)", whole.Distinct, reduced.Distinct, what)
			}
			if again := run(true, false, 2); again.Verdict != reduced.Verdict || again.Distinct != reduced.Distinct || again.Generated != reduced.Generated {
				t.Fatalf("%v with %d states, with two workers %v with %d", reduced.Verdict, reduced.Distinct, again.Verdict, again.Distinct)
			}
			if whole.Verdict == check.OK {
				return
			}
			whole, reduced = run(false, true, 1), run(true, true, 1)
			if whole.Distinct >= most || reduced.Distinct >= most {
				counts["too large as a whole"]++
				return
			}
			all, failed := wrongs(whole)
			less, failedToo := wrongs(reduced)
			if failed != failedToo || !failed && !slices.Equal(all, less) {
				t.Fatalf("%v, reduced %v (%s)", all, less, what)
			}
			counts["compared as a whole"]++
		})
		if t.Failed() {
			return
		}
	}
	t.Log(counts)
	if counts["reduced"] < rounds/8 || counts["ok"] < rounds/20 {
		t.Errorf("of %d algorithms: %v", rounds, counts)
	}
}
