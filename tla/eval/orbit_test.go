package eval

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/check"
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
