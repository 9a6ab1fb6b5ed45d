// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// packedCounts are the figures of a search on packed states, guessed from few;
// named says that states are named by images of words.
func packedCounts(t testing.TB, module, cfg string, sample int) (counts string, packed, named bool) {
	t.Helper()
	spec, config := loadText(t, module, cfg)
	m := packedModel(t, newModel(t, spec, config, Options{}), sample)
	if m.packed == nil {
		return "", false, false
	}
	return figures(t, m), true, m.packed.images != nil
}

// figures are those of a search by one worker.
func figures(t testing.TB, m *Model) string {
	t.Helper()
	r, err := check.Run(context.Background(), m, check.Options{Workers: 1, StatesMax: 1500})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v: %d generated, %d distinct, levels %v, %v", r.Verdict, r.Generated, r.Distinct, r.Levels, r.Err)
}

// plainCounts are the figures of a search that tries all permutations on values.
func plainCounts(t testing.TB, module, cfg string) string {
	t.Helper()
	spec, config := loadText(t, module, cfg)
	return figures(t, newModel(t, spec, config, Options{permute: true}))
}

// TestPackedOrbits: a search on packed states finds as many orbits as one that
// tries the permutations on values, also where most states have no packed form.
func TestPackedOrbits(t *testing.T) {
	rounds, seed := randomRounds(t)
	packed, named := 0, 0
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(8000+round)))
		module, cfg := symmetricModel(r)
		got, ok, words := packedCounts(t, module, cfg, 1+r.IntN(40))
		if !ok {
			continue
		}
		packed++
		if words {
			named++
		}
		if want := plainCounts(t, module, cfg); got != want {
			t.Fatalf("seed %d, round %d: packed (images of words: %v)\n%s\nwant\n%s\n%s\n%s", seed, round, words, got, want, module, cfg)
		}
	}
	t.Logf("%d of %d models packed, states of %d named by their words", packed, rounds, named)
	if packed < rounds/4 || named < rounds/8 {
		t.Errorf("%d of %d models were packed, states of %d named by their words", packed, rounds, named)
	}
}

// TestPackedView: a view names packed states too.
func TestPackedView(t *testing.T) {
	const module = "---- MODULE M ----\nEXTENDS Integers, FiniteSets\nVARIABLES v, w\nInit == v = 0 /\\ w = {}\n" +
		"Next == \\E n \\in 1..3 : v' = (v + n) % 7 /\\ w' = (w \\cup {v}) \\ {n}\nSeen == <<v, Cardinality(w)>>\n====\n"
	const cfg = "INIT Init NEXT Next CHECK_DEADLOCK FALSE\n"
	whole, want := plainCounts(t, module, cfg), plainCounts(t, module, cfg+"VIEW Seen\n")
	if whole == want {
		t.Fatalf("the view tells all states apart: %s", want)
	}
	for sample := 1; sample < 40; sample *= 3 {
		if got, ok, _ := packedCounts(t, module, cfg+"VIEW Seen\n", sample); !ok || got != want {
			t.Errorf("packed %v: %s, want %s", ok, got, want)
		}
	}
}

// viewedModel is a random model whose states are told apart by a few expressions.
func viewedModel(r *rand.Rand) (module, cfg string) {
	module, cfg = narrowModel(r)
	g := &exprGenerator{r: r, names: map[string][]string{}}
	var parts []string
	for range 1 + r.IntN(3) {
		parts = append(parts, g.expr("nbsq"[r.IntN(4)], 1+r.IntN(2)))
	}
	seen := "Seen == <<" + strings.Join(parts, ", ") + ", a, s>>\n====\n"
	return strings.Replace(module, "\n====\n", "\n"+seen, 1), cfg + "VIEW Seen\n"
}

// TestPackedViews: a search on packed states finds as many views as one on values,
// also where most states, or values of the view, have no packed form.
func TestPackedViews(t *testing.T) {
	rounds, seed := randomRounds(t)
	packed, lowered := 0, 0
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(8500+round)))
		module, cfg := viewedModel(r)
		spec, config := loadText(t, module, cfg)
		m := packedModel(t, newModel(t, spec, config, Options{}), 1+r.IntN(30))
		if m.packed == nil {
			continue
		}
		packed++
		if m.packed.code.ViewLayout() != nil {
			lowered++
		}
		if got, want := figures(t, m), plainCounts(t, module, cfg); got != want {
			t.Fatalf("seed %d, round %d: packed\n%s\nwant\n%s\n%s\n%s", seed, round, got, want, module, cfg)
		}
	}
	t.Logf("%d of %d models packed, the views of %d", packed, rounds, lowered)
	if packed < rounds/4 || lowered < rounds/8 {
		t.Errorf("%d of %d models were packed, the views of %d", packed, rounds, lowered)
	}
}
