// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/mutants"
)

// TestDedalusDefaults has simulate and compare find every wrong step of the table of mistakes, with
// messages that they make up and draw themselves, and the defaults of their flags but for how many
// states are visited.
func TestDedalusDefaults(t *testing.T) {
	n := 0
	for _, r := range mutants.Table() {
		if r.Both == nil || r.Explored == mutants.Untried {
			continue
		}
		n++
		t.Run(r.Name, func(t *testing.T) {
			before, after, err := r.Pair()
			if err != nil {
				t.Fatal(err)
			}
			first, second := filepath.Join(t.TempDir(), "before.ded"), filepath.Join(t.TempDir(), "after.ded")
			for path, text := range map[string]string{first: before.String(), second: after.String()} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range [][]string{{"simulate"}, {"compare", "--states", "20000"}} {
				var out bytes.Buffer
				args = append([]string{"dedalus"}, append(args, first, "--other", second)...)
				if code := cli.Run(t.Context(), args, &console.Terminal{Out: &out, Err: &out}); code != exit.Safety && code != exit.Liveness {
					t.Errorf("%v: exit code %d\n%s", args, code, &out)
				}
			}
		})
	}
	if n < 10 {
		t.Errorf("there are only %d wrong steps", n)
	}
}
