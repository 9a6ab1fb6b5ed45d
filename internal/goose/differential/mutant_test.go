// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/goose"
)

// TestMutantsAreFoundOut: random programs distinguish a translation that is
// wrong in one way from Go.
func TestMutantsAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("did not run: -short")
	}
	t.Parallel()
	prepare(t)
	mutants := []struct{ is, becomes string }{
		{"≫", "≪"},
		{"`rem`", "`quot`"},
		{"`or`", "`xor`"},
		{" < ", " ≤ "},
		{"(to_int U8 ", "(to_int U16 "},
		{"slice_drop ", "slice_take "},
		{"slice_set", "slice_get uint64T #() #() #();; slice_set"},
		{".[record, \"b\"]", ".[record, \"a\"]"},
	}
	g := &generator{rand: rand.New(rand.NewPCG(7, 0))}
	text, functions := g.source(25)
	module := newGoModule(t, text, functions)
	o := translateOne(t, module.dir, "./program")
	var all strings.Builder
	var inMutants []string
	for i, m := range mutants {
		mutated := strings.ReplaceAll(o.Text, m.is, m.becomes)
		if mutated == o.Text {
			t.Errorf("%s is not in the translation", m.is)
		}
		fmt.Fprintf(&all, "Module m%d.\n%s\nEnd m%d.\n", i, mutated, i)
		for _, f := range functions {
			inMutants = append(inMutants, fmt.Sprintf("m%d.%s", i, f))
		}
	}
	m := newModel(t, goose.Output{File: o.File, Text: all.String()}, inMutants)
	out, err := run("", time.Minute, module.build(t), "1")
	if err != nil {
		t.Fatal(err)
	}
	inGo, inModel := parseOutcomes(out), m.outcomes(t, "-steps", "200000")
	for i, mutant := range mutants {
		different := 0
		for _, f := range functions {
			got, want := inModel[fmt.Sprintf("m%d.%s", i, f)][0], inGo[f][0]
			if got != want && !(want == "panic" && strings.HasPrefix(got, "stuck ")) {
				different++
			}
		}
		t.Logf("%s for %s: %d of %d programs differ", mutant.becomes, mutant.is, different, len(functions))
		if different == 0 {
			t.Errorf("%s for %s is not found out", mutant.becomes, mutant.is)
		}
	}
}
