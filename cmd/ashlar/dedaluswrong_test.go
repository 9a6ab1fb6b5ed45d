package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/dedalus/mutants"
)

// TestDedalusDefaults has simulate and compare find wrong rewrites with what they do unless they
// are told otherwise.
func TestDedalusDefaults(t *testing.T) {
	for _, command := range []string{"simulate", "compare"} {
		found, all := 0, 0
		for _, r := range mutants.Table() {
			if r.Explored != "safety" && r.Explored != "liveness" {
				continue
			}
			if r.Both == nil && os.Getenv("ALLROWS") == "" {
				continue
			}
			before, after, err := r.Pair()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			first, second := filepath.Join(dir, "before.ded"), filepath.Join(dir, "after.ded")
			for path, text := range map[string]string{first: before.String(), second: after.String()} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			args := []string{"dedalus", command, first, "--other", second}
			if command == "compare" {
				args = append(args, "--states", "20000")
			}
			code := run(t.Context(), args, &term{out: &out, err: &out})
			all++
			if code == exitSafety || code == exitLiveness {
				found++
			} else {
				t.Logf("%s: %s: exit code %d: %s", command, r.Name, code, out.String()[:min(300, out.Len())])
			}
		}
		t.Logf("%s: %d of %d", command, found, all)
	}
}
