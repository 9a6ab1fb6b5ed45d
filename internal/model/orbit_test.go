// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// orbitCounts are the figures of a search with symmetries, found by sorting or
// by permutations, and whether they could be found by sorting.
func orbitCounts(t testing.TB, module, cfg string, permute bool) (string, bool) {
	t.Helper()
	spec, config := loadText(t, module, cfg)
	m := newModel(t, spec, config, Options{permute: permute})
	r, err := check.Run(context.Background(), m, check.Options{Workers: 2, StatesMax: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v: %d generated, %d distinct, levels %v", r.Verdict, r.Generated, r.Distinct, r.Levels), m.orbits != nil
}

// symmetric is a module whose states are of one variable, v.
func symmetric(constants, init, next, sym string) string {
	return "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nCONSTANTS " + constants + "\nVARIABLES v, w\nInit == " + init + "\nNext == " + next + "\nSym == " + sym + "\n====\n"
}

// TestOrbits: sorting finds as many orbits as permutations do, whatever the
// states are made of.
func TestOrbits(t *testing.T) {
	const cfg = "INIT Init NEXT Next CHECK_DEADLOCK FALSE SYMMETRY Sym\nCONSTANTS S = {a, b, c, d}\nT = {x, y}\n"
	const one, two = "Permutations(S)", "Permutations(S) \\cup Permutations(T)"
	for _, c := range []struct {
		name, init, next, sym string
		sorted                bool
	}{
		{"a function", "v = [s \\in S |-> 0] /\\ w = 0", "\\E s \\in S : v[s] < 2 /\\ v' = [v EXCEPT ![s] = @ + 1] /\\ w' = w", one, true},
		{"two functions", "v = [s \\in S |-> 0] /\\ w = [s \\in S |-> 0]", "\\E s \\in S : (v' = [v EXCEPT ![s] = 1 - @] /\\ w' = w) \\/ (w' = [w EXCEPT ![s] = 1 - @] /\\ v' = v)", one, true},
		{"a set, a leader", "v = {} /\\ w = 0", "\\E s \\in S : (v' = v \\cup {s} /\\ w' = w) \\/ (w' = s /\\ v' = v)", one, true},
		{"messages", "v = {} /\\ w = 0", "\\E s \\in S, n \\in 1..2 : v' = v \\cup {[type |-> n, from |-> s]} /\\ w' = Cardinality(v)", one, true},
		{"a sequence", "v = <<>> /\\ w = 0", "\\E s \\in S : Len(v) < 4 /\\ v' = Append(v, s) /\\ w' = w", one, true},
		{"a partial function", "v = <<>> /\\ w = 0", "\\E s \\in S, n \\in 1..2 : v' = (s :> n) @@ v /\\ w' = w", one, true},
		{"a relation", "v = [s \\in S |-> 0] /\\ w = 0", "\\E s \\in S, r \\in S : v' = [v EXCEPT ![s] = r] /\\ w' = w", one, true},
		{"sets of sets", "v = {} /\\ w = 0", "\\E s \\in SUBSET S : Cardinality(v) < 3 /\\ v' = v \\cup {s} /\\ w' = w", one, true},
		{"an empty tuple beside an element", "v = {} /\\ w = 0", "\\E s \\in S : w' = w /\\ (v' = v \\cup {<<s>>} \\/ v' = v \\cup {<< <<>> >>})", one, true},
		{"two sets apart", "v = [s \\in S |-> 0] /\\ w = {}", "(\\E s \\in S : v' = [v EXCEPT ![s] = 1 - @] /\\ w' = w) \\/ (\\E t \\in T : w' = w \\cup {t} /\\ v' = v)", two, true},
		{"two sets together", "v = [s \\in S |-> 0] /\\ w = {}", "\\E s \\in S, t \\in T : (v' = [v EXCEPT ![s] = t] /\\ w' = w) \\/ (w' = {t} /\\ v' = v)", two, true},
		{"an element of either", "v = 0 /\\ w = 0", "\\E x \\in S \\cup T : v' = x /\\ w' = w", two, true},
		{"a smaller group", "v = [s \\in S |-> 0] /\\ w = 0", "\\E s \\in S : v' = [v EXCEPT ![s] = 1 - @] /\\ w' = w",
			"{f \\in Permutations(S) : \\A s \\in S : f[f[s]] = s /\\ (f[s] = s \\/ s \\in {CHOOSE q \\in S : TRUE, f[CHOOSE q \\in S : TRUE]})}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := symmetric("S, T", c.init, c.next, c.sym)
			got, sorted := orbitCounts(t, module, cfg, false)
			want, permuted := orbitCounts(t, module, cfg, true)
			if got != want || sorted != c.sorted || permuted {
				t.Errorf("sorting (%v): %s\npermuting (%v): %s", sorted, got, permuted, want)
			}
			if strings.HasPrefix(got, "incomplete") {
				t.Error("the model is too large")
			}
		})
	}
	module := symmetric("S, T", "v = 0 /\\ w = 0", "UNCHANGED <<v, w>>", "{f \\in Permutations(S) : \\A s \\in S : f[f[f[f[s]]]] = s /\\ (\\A s \\in S : f[s] # s) /\\ \\A s \\in S : f[f[s]] # s}")
	if _, sorted := orbitCounts(t, module, "INIT Init NEXT Next SYMMETRY Sym\nCONSTANTS S = {a, b, c, d, e}\nT = {x}\n", false); sorted {
		t.Error("a group that is not that of all permutations is sorted")
	}
}

// TestRandomOrbits draws initial states of all shapes: as many are distinct by
// sorting as by permutations.
func TestRandomOrbits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var val func(depth int) string
		pick := func(options ...string) string { return rapid.SampledFrom(options).Draw(r, "pick") }
		elem := func() string { return pick("a", "b", "c", "x", "y") }
		val = func(depth int) string {
			if depth == 0 {
				return pick(elem(), elem(), "n0", "n1")
			}
			sub := func() string { return val(depth - 1) }
			switch pick("elem", "set", "tuple", "record", "fn", "partial", "pairs") {
			case "set":
				return "{" + sub() + ", " + sub() + ", " + sub() + "}"
			case "tuple":
				return "<<" + sub() + ", " + sub() + ">>"
			case "record":
				return "[f |-> " + sub() + ", g |-> " + sub() + "]"
			case "fn":
				return "(a :> " + sub() + " @@ b :> " + sub() + " @@ c :> " + sub() + ")"
			case "partial":
				return "(" + elem() + " :> " + sub() + " @@ n0 :> " + sub() + ")"
			case "pairs":
				return "{<<" + elem() + ", " + sub() + ">>, <<" + elem() + ", " + sub() + ">>}"
			}
			return val(0)
		}
		var states []string
		for range rapid.IntRange(1, 8).Draw(r, "states") {
			v, w := val(rapid.IntRange(0, 3).Draw(r, "depth")), val(1)
			states = append(states, "(v = "+v+" /\\ w = "+w+")")
			// Images of it, by hand.
			turn := strings.NewReplacer("a", "b", "b", "c", "c", "a", "x", "y", "y", "x")
			if pick("turn", "not") == "turn" {
				states = append(states, "(v = "+turn.Replace(v)+" /\\ w = "+turn.Replace(w)+")")
			}
		}
		module := "---- MODULE M ----\nEXTENDS Integers, TLC\nCONSTANTS a, b, c, x, y, n0, n1\nVARIABLES v, w\nInit == " + strings.Join(states, " \\/ ") +
			"\nNext == UNCHANGED <<v, w>>\nSym == Permutations({a, b, c}) \\cup Permutations({x, y})\n====\n"
		cfg := "INIT Init NEXT Next SYMMETRY Sym\nCONSTANTS a = a b = b c = c x = x y = y n0 = n0 n1 = n1\n"
		got, _ := orbitCounts(t, module, cfg, false)
		want, _ := orbitCounts(t, module, cfg, true)
		if got != want {
			r.Fatalf("sorting: %s\npermuting: %s\n%s", got, want, module)
		}
	})
}

// symmetricVars are variables of random models with two symmetric sets, S and T:
// what they are in the beginning, and how a step with elements s, r, t may
// change them.
var symmetricVars = []struct {
	init  string
	steps []string
}{
	{"[e \\in S |-> 0]", []string{"[V EXCEPT ![s] = 1 - @]", "[V EXCEPT ![s] = V[r]]", "[V EXCEPT ![s] = V[r], ![r] = V[s]]"}},
	{"{}", []string{"V \\cup {s}", "V \\ {s}", "S \\ V", "V \\cup {s, r}"}},
	{"<<>>", []string{"IF Len(V) < 3 THEN Append(V, s) ELSE Tail(V)", "<<s, t>>", "IF V = <<>> THEN <<t, t>> ELSE SubSeq(V, 1, Len(V) - 1)"}},
	{"[e \\in S |-> none]", []string{"[V EXCEPT ![s] = r]", "[V EXCEPT ![s] = none]", "[V EXCEPT ![s] = s]"}},
	{"{}", []string{"IF Cardinality(V) < 3 THEN V \\cup {[from |-> s, to |-> t, n |-> 1]} ELSE {}", "V \\cup {[from |-> s, n |-> 0]}", "{m \\in V : m.from # s}", "IF V = {} THEN {[from |-> r, to |-> r]} ELSE V"}},
	{"[e \\in T |-> {}]", []string{"[V EXCEPT ![t] = @ \\cup {s}]", "[V EXCEPT ![t] = @ \\ {s}]", "[V EXCEPT ![t] = {}]"}},
	{"{}", []string{"IF Cardinality(V) < 3 THEN V \\cup {{s, r}} ELSE {}", "V \\cup {{t}}", "V \\cup {{}}", "V \\ {{s}}"}},
	{"[e \\in S |-> [f \\in T |-> 0]]", []string{"[V EXCEPT ![s][t] = 1 - @]", "[V EXCEPT ![s] = V[r]]"}},
	{"none", []string{"s", "t", "none", "<<s, {r}>>", "[a |-> s, b |-> {}]", "[a |-> {}, b |-> s]", "(s :> 1)", "(s :> {t})", "(t :> 1 @@ none :> 2)", "{<<s, <<>>>>, <<r, 0>>}", "{{{s}}}"}},
	{"[x |-> none, y |-> <<>>]", []string{"[V EXCEPT !.x = s]", "[V EXCEPT !.x = t]", "[V EXCEPT !.y = <<s>>]", "[V EXCEPT !.y = <<V.x>>]", "[V EXCEPT !.x = none]"}},
	{"<<[e \\in S |-> FALSE], {}>>", []string{"[V EXCEPT ![1][s] = ~@]", "[V EXCEPT ![2] = @ \\cup {s}]", "[V EXCEPT ![2] = {}]"}},
}

// symmetricModel draws a model; its steps treat all elements alike but for
// their order.
func symmetricModel(r *rand.Rand) (module, cfg string) {
	var names, inits, steps []string
	n := 1 + r.IntN(3)
	for i := range n {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	for i, v := range names {
		kind := symmetricVars[r.IntN(len(symmetricVars))]
		inits = append(inits, v+" = "+kind.init)
		rest := ""
		if n > 1 {
			others := append(append([]string(nil), names[:i]...), names[i+1:]...)
			rest = " /\\ UNCHANGED <<" + strings.Join(others, ", ") + ">>"
		}
		for range 1 + r.IntN(3) {
			guard := []string{"TRUE", "s # r", "s = r", "(" + names[0] + " = " + strings.TrimPrefix(inits[0], "v0 = ") + ")"}[r.IntN(4)]
			step := strings.ReplaceAll(kind.steps[r.IntN(len(kind.steps))], "V", v)
			steps = append(steps, "\\E s, r \\in S, t \\in T : "+guard+" /\\ "+v+"' = "+step+rest)
		}
	}
	sym := []string{"Permutations(S)", "Permutations(T)", "Permutations(S) \\cup Permutations(T)", "Permutations(S) \\cup Permutations(T)",
		"Permutations(S \\ {a}) \\cup Permutations(T)", "{f \\in Permutations(S) : f[a] = b /\\ f[b] = c}", "{f @@ g : f \\in Permutations(S), g \\in Permutations(T)}"}[r.IntN(7)]
	module = "---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\nCONSTANTS S, T, a, b, c, d, none\nVARIABLES " + strings.Join(names, ", ") + "\nInit == " + strings.Join(inits, " /\\ ") +
		"\nNext ==\n  (" + strings.Join(steps, ") \\/\n  (") + ")" + "\nSym == " + sym + "\n====\n"
	sets := []string{"S = {a, b, c} T = {x, y}", "S = {a, b, c, d} T = {x, y}", "S = {a, b, c} T = {x, y, z}"}[r.IntN(3)]
	return module, "INIT Init NEXT Next CHECK_DEADLOCK FALSE SYMMETRY Sym\nCONSTANTS a = a b = b c = c d = d none = none " + sets + "\n"
}

// TestOrbitsOfRandomModels: a search that sorts finds, level by level, as many
// orbits as one that permutes, with one worker and with two. ASHLAR_SEED runs
// more models, from another seed.
func TestOrbitsOfRandomModels(t *testing.T) {
	rounds, seed := randomRounds(t)
	sortedModels, complete := 0, 0
	for round := range rounds {
		module, cfg := symmetricModel(rand.New(rand.NewPCG(seed, uint64(9000+round))))
		spec, config := loadText(t, module, cfg)
		search := func(permute bool, workers int) *check.Result {
			m := newModel(t, spec, config, Options{permute: permute})
			if m.orbits != nil {
				sortedModels++
			}
			r, err := check.Run(context.Background(), m, check.Options{Workers: workers, StatesMax: 1500})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		text := func(r *check.Result) string {
			return fmt.Sprintf("%v: %d generated, %d distinct, levels %v, %v", r.Verdict, r.Generated, r.Distinct, r.Levels, r.Err)
		}
		want := search(true, 1)
		for workers := 1; workers <= 2; workers++ {
			if got := search(false, workers); text(got) != text(want) && (workers == 1 || want.Verdict != check.Incomplete) {
				t.Fatalf("seed %d, round %d, %d workers:\nsorting:   %s\npermuting: %s\n%s%s", seed, round, workers, text(got), text(want), module, cfg)
			}
		}
		if want.Verdict == check.OK {
			complete++
		}
	}
	t.Logf("%d searches sorted, %d of %d models were explored to their end", sortedModels, complete, rounds)
	if sortedModels < rounds || complete < rounds/4 {
		t.Errorf("%d searches sorted, %d of %d models were explored to their end", sortedModels, complete, rounds)
	}
}
