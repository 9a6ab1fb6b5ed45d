// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// TestClassics checks well-known algorithms whose counts were found without this
// program, by a search in another language through states written by hand. Where
// a violation ends the search, that is how many states its trace has; for a
// property of behaviours only the verdict is known.
//
//	module  the module M, perhaps with an algorithm
//	also    a module that it uses
//	check   a configuration, and what is to be found
//
// Each is found by every evaluator, by packed states however few were sampled,
// by one worker and by two, and by an algorithm itself.
func TestClassics(t *testing.T) {
	checked := 0
	datadriven.Walk(t, "testdata/classic", func(t *testing.T, path string) {
		files := textFiles{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			_, rest, _ := strings.Cut(d.Input, "MODULE ")
			name, _, _ := strings.Cut(rest, " ")
			switch d.Cmd {
			case "module":
				clear(files)
				files["M.tla"] = d.Input + "\n"
			case "also":
				files[name+".tla"] = d.Input + "\n"
			case "check":
				checked++
				classic(t, files, d)
				return d.Expected
			}
			return ""
		})
	})
	if checked < 45 {
		t.Errorf("only %d models were checked", checked)
	}
}

// classic checks one configuration in every way.
func classic(t *testing.T, files textFiles, d *datadriven.TestData) {
	t.Helper()
	spec, alg := classicSpec(t, files)
	cfg := parseConfig(t, "M.cfg", d.Input)
	compare := func(how string, m *Model, workers int) {
		t.Helper()
		r, err := check.Run(context.Background(), m, check.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if got := classicOutcome(r); got != strings.TrimSpace(d.Expected) {
			t.Errorf("%s: %s, %d workers: %s, want %s", d.Pos, how, workers, got, d.Expected)
		}
	}
	for _, workers := range []int{1, 2} {
		compare("compiled", newModel(t, spec, cfg, Options{}), workers)
		for _, sample := range []int{3, 300} {
			compare(fmt.Sprint("packed after ", sample), packedModel(t, newModel(t, spec, cfg, Options{}), sample), workers)
		}
		if alg != nil {
			m, err := NewDirect(spec, alg, cfg, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if m.direct == nil {
				t.Errorf("%s: the algorithm is not explored itself", d.Pos)
			}
			compare("algorithm", m, workers)
		}
	}
	compare("reference", newModel(t, spec, cfg, Options{Reference: true}), 2)
}

// classicSpec loads M, and makes the translation of an algorithm.
func classicSpec(t *testing.T, files textFiles) (*core.Spec, *pcal.Algorithm) {
	t.Helper()
	var alg *pcal.Algorithm
	loaded, diags, err := load.Load(files, "M.tla", load.Options{Retranslate: true,
		Translate: func(u *load.Untranslated, diags *source.List) load.Translation {
			made := trans.InMemory(u, diags)
			alg = made.Plain
			return made
		}})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return loaded.Spec, alg
}

func classicOutcome(r *check.Result) string {
	switch r.Verdict {
	case check.OK:
		return fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
	case check.Deadlock:
		return fmt.Sprintf("deadlock after %d states", len(r.Trace))
	case check.InvariantViolated:
		return fmt.Sprintf("invariant violated %s after %d states", r.Property, len(r.Trace))
	case check.LivenessViolated:
		return "property of behaviours " + r.Property
	case check.StepViolated:
		return "property of steps " + r.Property
	}
	return fmt.Sprintf("%v %s %v", r.Verdict, r.Reason, r.Err)
}
