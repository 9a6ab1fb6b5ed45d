// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// TestExamples runs the programs of examples/dedalus, as they were written and as
// the rewriter has made them, beside the interpreter: longer with
// ASHLAR_DEDALUS_PROGRAMS.
func TestExamples(t *testing.T) {
	paths, err := filepath.Glob("../../../examples/dedalus/*.ded")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	var programs []named
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		p := given.Program(t, string(text))
		programs = append(programs, named{p.Name, p})
		steps, err := os.ReadFile(strings.TrimSuffix(path, ".ded") + ".steps")
		if os.IsNotExist(err) {
			continue // It has no rewrite.
		} else if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(steps), "\n") {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			step, err := rewrite.ParseStep(line)
			if err != nil {
				t.Fatal(path, i+1, err)
			}
			if p, _, err = rewrite.Apply(p, step); err != nil {
				t.Fatal(path, i+1, err)
			}
		}
		programs = append(programs, named{p.Name + ", rewritten", p})
	}
	seeds := 2
	if os.Getenv("ASHLAR_DEDALUS_PROGRAMS") != "" {
		seeds = 20
	}
	lockstep(t, programs, seeds, 100)
}
