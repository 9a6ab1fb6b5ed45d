// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/goose"
)

// TestProductPackages: packages that ship are accepted, with what they import,
// and what they become type-checks in Coq. That it means what the Go means, this
// test does not show.
func TestProductPackages(t *testing.T) {
	t.Parallel()
	patterns := []string{"./worm/wor", "./internal/worm/paxos", "./internal/worm/fast", "./internal/worm/chain",
		"./internal/store/message", "./internal/store/filter", "./internal/store/extent", "./internal/store/merge"}
	out, diags, err := goose.Translate(goose.Config{
		Dir: "../../..", Patterns: patterns, ReadFile: os.ReadFile, Show: filepath.Base,
		Go: func(dir string, args ...string) ([]byte, []byte, error) {
			cmd := exec.Command("go", args...)
			cmd.Dir = dir
			var failure bytes.Buffer
			cmd.Stderr = &failure
			out, err := cmd.Output()
			return out, failure.Bytes(), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatalf("refused: docs/lang/goose.md says what to write instead\n%v", diags)
	}
	if len(out) != len(patterns) {
		t.Fatalf("%d packages, want %d", len(out), len(patterns))
	}
	for _, o := range out {
		if !strings.Contains(o.Text, "\nDefinition ") {
			t.Errorf("nothing is left of %s", o.Path)
		}
	}
	prepare(t)
	abs, err := filepath.Abs(proofs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, o := range out { // callees first
		file := filepath.FromSlash(o.File)
		write(t, filepath.Join(dir, file), o.Text)
		if _, err := run(dir, 5*time.Minute, "coqc", "-q", "-w", "none", "-Q", abs, "ashlar", "-Q", ".", "ashlar.gen", file); err != nil {
			t.Errorf("%s: %v", o.Path, err)
		}
	}
}
