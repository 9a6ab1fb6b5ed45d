// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/module"
)

// exported is, for modules that extend others, expressions that a
// specification may use which extends that module alone: one or more from each
// module that it exports.
var exported = map[string][]string{
	"Functions":     {"-1", "Int", "1..2", "MapThenFoldSet(+, 0, LAMBDA x : x, LAMBDA s : 1, {1})"},
	"FiniteSetsExt": {"-1", "Int", "Range(<<1>>)", "IsInjective(<<1>>)", "MapThenFoldSet(+, 0, LAMBDA x : x, LAMBDA s : 1, {1})", "Cardinality({1})"},
	"SequencesExt": {"1 + 1", "Len(<<1>>)", "<<1>> \\o <<2>>", "Cardinality({1})", "Max({1})", "kSubset(1, {1})", "Range(<<1>>)",
		"MapThenFoldSet(+, 0, LAMBDA x : x, LAMBDA s : 1, {1})", "SetToBag({1}) (+) SetToBag({2})", "BagIn(1, SetToBag({1}))",
		"1 :> 2 @@ 3 :> 4", "ToString(1)"},
	"VectorClocks":  {"1 + 1", "Len(<<1>>)", "Range(<<1>>)"},
	"Combinatorics": {"1 + 1", "Nat"},
	"Statistics":    {"1 + 1", "Nat"},
}

// TestExported: what a module extends can be used where the module is extended,
// and what it only instantiates for itself cannot.
func TestExported(t *testing.T) {
	for name, uses := range exported {
		for _, use := range uses {
			if got := loadsWith(t, name, use); got != "" {
				t.Errorf("EXTENDS %s: %s: %s", name, use, got)
			}
		}
	}
	for name, use := range map[string]string{"Functions": "Cardinality({1})", "VectorClocks": "Max({1})", "BagsExt": "1 + 1", "FiniteSetsExt": "Len(<<1>>)"} {
		if got := loadsWith(t, name, use); !strings.Contains(got, "UnknownName") && !strings.Contains(got, "Unknown") {
			t.Errorf("EXTENDS %s: %s: got %q, want an unknown name", name, use, got)
		}
	}
}

// TestExtendsTwo: any two modules can be extended together, but for those that
// give one name two meanings.
func TestExtendsTwo(t *testing.T) {
	var clash []string
	names := module.Names()
	for i, a := range names {
		for _, b := range names[i+1:] {
			if loadsWith(t, a+", "+b, "TRUE") != "" {
				clash = append(clash, a+" "+b)
			}
		}
	}
	if want := []string{"Graphs UndirectedGraphs"}; !slices.Equal(clash, want) {
		t.Errorf("these clash: %q, want %q", clash, want)
	}
}

// loadsWith returns what is wrong with a module that extends others and uses an
// expression, nothing where it loads.
func loadsWith(t *testing.T, extends, use string) string {
	t.Helper()
	text := fmt.Sprintf("---- MODULE A ----\nEXTENDS %s\nUsed == %s\n====\n", extends, use)
	_, diags, err := Load(memory{"A.tla": text}, "A.tla", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !diags.HasErrors() {
		return ""
	}
	return messages(diags)
}
