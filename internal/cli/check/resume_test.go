// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// TestInterruptedBeforeItBegins: whether states are packed is found out on a sample of
// the states. An interrupt that comes before the sample is complete leaves the checkpoint
// as it is, and leaves none where there was none: the next search can resume.
func TestInterruptedBeforeItBegins(t *testing.T) {
	dir := t.TempDir()
	spec := filepath.Join(dir, "M.tla")
	if err := os.WriteFile(spec, []byte(`---- MODULE M ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == \/ x' = x + 1 /\ y' = y
        \/ y' = y + 1 /\ x' = x
====
`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "M.cfg"), []byte("INIT Init\nNEXT Next\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept")
	search := func(ctx context.Context, o checkOptions) (string, int) {
		o.json, o.every = true, 1<<40
		var out, errs bytes.Buffer
		err := runCheck(ctx, &console.Terminal{Out: &out, Err: &errs}, o, spec, loadSpecification)
		code := 0
		var e *exit.Error
		switch {
		case errors.As(err, &e):
			code = e.Code
		case err != nil:
			t.Fatalf("%v\n%s", err, errs.String())
		}
		return out.String(), code
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, step := range []struct {
		name string
		ctx  context.Context
		o    checkOptions
		code int
		says string
	}{
		{"begun, and interrupted at once", over, checkOptions{checkpoint: kept}, exit.Interrupted, `"verdict": "interrupted"`},
		{"begun", context.Background(), checkOptions{checkpoint: kept, statesMax: 200_000}, exit.NotChecked, `"headline": "No violation so far`},
		{"resumed, and interrupted at once", over, checkOptions{resume: kept}, exit.Interrupted, `"checkpoint": "` + kept},
		{"resumed", context.Background(), checkOptions{resume: kept, statesMax: 300_000}, exit.NotChecked, `"headline": "No violation so far`},
	} {
		out, code := search(step.ctx, step.o)
		if code != step.code || !strings.Contains(out, step.says) {
			t.Fatalf("%s: exit code %d and\n%.1000s, want %d and %s", step.name, code, out, step.code, step.says)
		}
	}
}
