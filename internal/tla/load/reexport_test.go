// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/module"
)

// exported lists, for modules that extend others, expressions that a
// specification may use if it extends only that module: one or more from each
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

// TestExported: a specification that extends a module can use what the module
// extends, and not what the module only instantiates for itself.
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

// TestExtendsTwo: any two modules can be extended together, unless they give
// one name two meanings.
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

// loadsWith returns the errors of a module that extends others and uses an
// expression, or "" if it loads.
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
