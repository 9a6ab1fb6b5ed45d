// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestHabits: what a configuration gets wrong is told with what to write instead.
func TestHabits(t *testing.T) {
	const module = "---- MODULE T ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x\nStill == x = x + 0\nEnds == <>(x = 0)\n====\n"
	for cfg, want := range map[string]string{
		"INIT Init NEXT Next CONSTANT x = 3": "test.cfg:1:30: error: x is a variable; a configuration gives values to constants and names definitions [UnknownName]\n" +
			"    INIT Init NEXT Next CONSTANT x = 3\n                                 ^\n    repair: give it its first value in the initial predicate\n  T.tla:3:10: declared here\n    VARIABLE x\n             ^\n",
		"SPECIFICATION Spec": "repair: write INIT Init and NEXT Next, or define Spec == Init /\\ [][Next]_vars\n",
		"INIT Init NEXT Next INVARIANT Next": "test.cfg:1:31: error: Next is an action; an invariant must not go beyond a state predicate [WrongLevel]\n" +
			"    INIT Init NEXT Next INVARIANT Next\n                                  ^^^^\n    repair: remove the primes; a condition on every step is a property: PROPERTY P, where P == [][Next]_vars\n  T.tla:5:1: defined here\n    Next == x' = x\n    ^^^^\n",
		"INIT Next NEXT Next":                "repair: remove the primes\n",
		"INIT Init NEXT Next INVARIANT Ends": "repair: PROPERTY Ends\n",
		"INIT Init NEXT Ends":                "repair: SPECIFICATION Ends, without INIT and NEXT\n",
	} {
		spec, c := loadText(t, module, cfg)
		_, err := New(spec, c, Options{})
		var list *source.List
		if !errors.As(err, &list) {
			t.Errorf("%s: got %v", cfg, err)
			continue
		}
		var got strings.Builder
		list.Print(&got)
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s: got\n%s\nwant\n%s", cfg, got.String(), want)
		}
	}
	spec, c := loadText(t, module, "INIT Init NEXT Still")
	warnings := newModel(t, spec, c, Options{}).Info().Warnings
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "the next-state relation Still mentions no primed variable") {
		t.Errorf("warnings %q", warnings)
	}
	spec, c = loadText(t, strings.Replace(module, "Ends ==", "Spec == Init /\\ [][Still]_x\nEnds ==", 1), "SPECIFICATION Spec")
	if warnings := newModel(t, spec, c, Options{}).Info().Warnings; len(warnings) != 1 {
		t.Errorf("warnings %q", warnings)
	}
	spec, c = loadText(t, module, "INIT Init NEXT Next")
	if warnings := newModel(t, spec, c, Options{}).Info().Warnings; len(warnings) != 0 {
		t.Errorf("warnings %q", warnings)
	}
}
