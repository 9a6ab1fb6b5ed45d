// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/model/pack"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// sharing are models in which a step, or an element of a set, asks for the same
// several times; the modules but for their last line.
var sharing = map[string]string{
	"a state": "Many == Cardinality({x \\in s : f[x] + a > 1 /\\ (x + a) % 3 # f[(x % 4) + 1]})\n" +
		"Next == (Many > 0 /\\ a' = (Many + a) % 3 /\\ f' = [f EXCEPT ![Many] = (@ + Many) % 3] /\\ s' = s \\ {Many}) \\/" +
		" (Many < 2 /\\ s' = s \\cup {Many + 1} /\\ a' = (a + 1) % 3 /\\ UNCHANGED f)\n" +
		"Inv == Many * Many + Many < 30",
	"an element": "Far(x) == Cardinality({y \\in s : f[y] + a > x % 3 /\\ (x + y + a) % 3 # f[(y % 4) + 1]})\n" +
		"Next == \\E x \\in s : (Far(x) > 0 /\\ f' = [f EXCEPT ![x] = (@ + Far(x)) % 3] /\\ a' = (a + Far(x)) % 3 /\\ s' = {y \\in 1..4 : (y # x /\\ y \\in s) \\/ y = Far(x)}) \\/" +
		" (Far(x) = 0 /\\ s' = s \\cup {(x % 4) + 1} /\\ UNCHANGED <<a, f>>)\n" +
		"Inv == \\A x \\in s : Far(x) * Far(x) + Far(x) < 30",
	"two elements": "Near(x, y) == Cardinality({z \\in s : (f[z] + a + x) % 3 > (y + z) % 3 /\\ (x + y + z) % 2 # f[(z % 4) + 1]})\n" +
		"Next == \\E x \\in s, y \\in s : /\\ Near(x, y) >= 0 /\\ f' = [f EXCEPT ![x] = (@ + Near(x, y)) % 3] /\\ a' = (a + Near(x, y)) % 3\n" +
		"  /\\ s' = {z \\in 1..4 : z \\in s \\/ z = Near(x, y)}\n" +
		"Inv == \\A x \\in s, y \\in s : Near(x, y) * Near(x, y) + Near(y, x) < 30",
	"a next state": "Many == Cardinality({x \\in s : f[x] + a > 1 /\\ (x + a) % 3 # f[(x % 4) + 1]})\n" +
		"Next == /\\ f' = [f EXCEPT ![a + 1] = (@ + 1) % 3] /\\ \\E x \\in 1..4 : s' = {y \\in 1..4 : (y = x) # (y \\in s)}\n" +
		"  /\\ a' \\in 0..2 /\\ (Many' > 1 \\/ a' = 0) /\\ Many' * Many' + Many' # 2 /\\ (Many' < 3 \\/ Many > 2)\n" +
		"Inv == Many * Many + Many < 30",
}

const (
	sharingHead = "---- MODULE W ----\nEXTENDS Integers, FiniteSets\nVARIABLES a, s, f\n" +
		"Init == a \\in 0..2 /\\ s \\in SUBSET (1..4) /\\ f = [i \\in 1..4 |-> i % 3]\n"
	sharingCfg = "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE\n"
)

// sharingModel is one of them, packed, and its specification.
func sharingModel(t *testing.T, name string) (m *Model, spec *core.Spec, cfg *config.Config) {
	t.Helper()
	spec, cfg = loadText(t, sharingHead+sharing[name]+"\n====\n", sharingCfg)
	if m = packedModel(t, newModel(t, spec, cfg, Options{}), 500); m.packed == nil {
		t.Fatalf("the model of %s is not packed", name)
	}
	return m, spec, cfg
}

// TestPackedSharesWithinAState: what a step, and an element of a set, asks
// several times is not what another one asked.
func TestPackedSharesWithinAState(t *testing.T) {
	for name := range sharing {
		t.Run(name, func(t *testing.T) {
			m, spec, config := sharingModel(t, name)
			if states, same := compareValues(t, m, newModel(t, spec, config, Options{}), 400); !same || states < 100 {
				t.Errorf("%d states, %v", states, same)
			}
			if got, want := resultText(t, m, 1), resultText(t, newModel(t, spec, config, Options{}), 1); got != want {
				t.Errorf("packed %s\nboxed %s", got, want)
			}
		})
	}
}

// TestNativeSharesWithinAState: compiled code agrees with closures there.
func TestNativeSharesWithinAState(t *testing.T) {
	var sources [][]byte
	var asked []nativeAsked
	states := 0 // of how many models the code remembers something
	names := slices.Sorted(maps.Keys(sharing))
	for _, name := range names {
		m, _, _ := sharingModel(t, name)
		asked = append(asked, nativeQuestions(m, len(sources), 100)...)
		sources = append(sources, pack.Source(m.packed.lowered, nil))
		if bytes.Contains(sources[len(sources)-1], []byte("s.now == x.now")) {
			states++
		}
	}
	if states < 2 {
		t.Errorf("the code of %d models remembers something", states)
	}
	askNative(t, sources, asked, func(model int) string { return names[model] })
}

// TestPackedSums: a sum, difference or product beyond 32 bits is an error in
// packed code too.
func TestPackedSums(t *testing.T) {
	for _, e := range []string{"a + a", "a * b", "(0 - a) - a", "a * a - b"} {
		const cfg = "INIT Init NEXT Next CHECK_DEADLOCK FALSE\n"
		spec, config := loadText(t, "---- MODULE W ----\nEXTENDS Integers\nVARIABLES a, b, c\nInit == a \\in {1, 2} /\\ b = 1 /\\ c = FALSE\n"+
			"Next == a < 1000000000 /\\ a' = a * 1000 /\\ b' = b * 1000 /\\ c' = (("+e+") % 2 = 0)\n====\n", cfg)
		m := packedModel(t, newModel(t, spec, config, Options{}), 40)
		if got, want := resultText(t, m, 1), resultText(t, newModel(t, spec, config, Options{}), 1); got != want {
			t.Errorf("%s: packed %s\nboxed %s", e, got, want)
		}
	}
}
