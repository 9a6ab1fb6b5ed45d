// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// assignments gives every variable of exprModule a next value, most of them one
// that keeps the state space small.
func (g *exprGenerator) assignments(depth int) string {
	e := func(k byte) string { return g.expr(k, depth) }
	forms := map[string][]string{
		"a": {"a' = (" + e('n') + ") % 5", "a' \\in (" + e('s') + ") \\cap (0..4)", "a' = IF " + e('b') + " THEN 0 ELSE a"},
		"b": {"b' = " + e('b'), "b' \\in BOOLEAN", "b' = ~b"},
		"s": {"s' = (" + e('s') + ") \\cap (0..6)", "s' = (s \\cup {" + e('n') + "}) \\cap (0..5)", "s' = s \\ {" + e('n') + "}"},
		"q": {"q' = IF Len(q) > 2 THEN Tail(q) ELSE Append(q, (" + e('n') + ") % 4)", "q' = <<>>", "q' = IF q = <<>> THEN <<1>> ELSE <<Head(q)>>"},
		"f": {"f' = [f EXCEPT ![2] = (" + e('n') + ") % 5]", "f' = [i \\in 1..3 |-> IF i \\in s THEN 0 ELSE f[i]]", "f' = [f EXCEPT ![a] = 7]"},
		"r": {"r' = [r EXCEPT !.x = (" + e('n') + ") % 3]", "r' = [x |-> a, y |-> r.y]", "r' = [r EXCEPT !.y = IF @ = \"u\" THEN \"v\" ELSE \"u\"]"},
	}
	var parts []string
	for _, v := range []string{"a", "b", "s", "q", "f", "r"} {
		if list := forms[v]; g.r.IntN(3) == 0 {
			parts = append(parts, list[g.r.IntN(len(list))])
		} else {
			parts = append(parts, "UNCHANGED "+v)
		}
	}
	return "/\\ " + strings.Join(parts, " /\\ ")
}

// action writes a random action.
func (g *exprGenerator) action(depth int) string {
	switch g.r.IntN(4) {
	case 0:
		return g.with('n', func(v string) string {
			return "(\\E " + v + " \\in {1, 3, 4} : " + g.expr('b', depth) + g.assignments(depth) + ")"
		})
	case 1:
		return "(" + g.expr('b', depth) + " \\/ " + g.expr('b', depth) + ") " + g.assignments(depth)
	}
	return g.expr('b', depth) + g.assignments(depth)
}

// narrowModel is a random model of exprModule with its configuration.
func narrowModel(r *rand.Rand) (module, cfg string) {
	g := &exprGenerator{r: r, names: map[string][]string{}}
	var defs strings.Builder
	var names []string
	for i := range 4 {
		guard := ""
		if i > 0 && g.r.IntN(4) == 0 {
			guard = fmt.Sprintf("(ENABLED Do%d \\/ %s) /\\ ", g.r.IntN(i), g.expr('b', 1))
		}
		fmt.Fprintf(&defs, "Do%d == %s%s\n", i, guard, g.action(1+g.r.IntN(2)))
		names = append(names, fmt.Sprintf("Do%d", i))
	}
	fmt.Fprintf(&defs, "Steps == %s\n", strings.Join(names, " \\/ "))
	inv := g.expr('b', 3)
	if g.r.IntN(3) == 0 {
		inv = fmt.Sprintf("ENABLED Do%d => %s", g.r.IntN(4), inv)
	}
	fmt.Fprintf(&defs, "Inv == %s\n", inv)
	g.primed = true
	fmt.Fprintf(&defs, "Kept == %s\n", g.expr('b', 2))
	cfg = strings.Replace(exprConfig, "NEXT Next", "NEXT Steps", 1) + "INVARIANT Inv\nACTION_CONSTRAINT Kept\nCHECK_DEADLOCK FALSE\n"
	return exprModule + defs.String() + "\n====\n", cfg
}

// TestPackedAgreesOnRandomModels compares packed code with the compiled
// evaluator on random next-state relations, invariants and action constraints.
// The layout is guessed from few states, so that many have none. ASHLAR_SEED
// runs more of them, from another seed.
func TestPackedAgreesOnRandomModels(t *testing.T) {
	rounds, seed := randomRounds(t)
	packed, visited := 0, 0
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(5000+round)))
		module, cfg := narrowModel(r)
		spec, _ := loadText(t, module, cfg)
		plain := newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{})
		m := packedModel(t, newModel(t, spec, parseConfig(t, "test.cfg", cfg), Options{}), 1+r.IntN(30))
		if m.packed == nil {
			continue
		}
		packed++
		if !t.Run(fmt.Sprint(round), func(t *testing.T) { visited += compareModels(t, m, plain, 150) }) {
			t.Fatalf("seed %d, round %d:\n%s", seed, round, module[len(exprModule):])
		}
	}
	t.Logf("%d of %d models packed, %d states expanded", packed, rounds, visited)
	if packed < rounds/4 {
		t.Errorf("%d of %d models were packed", packed, rounds)
	}
}
