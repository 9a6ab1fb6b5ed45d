// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/cli"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
)

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (w *fullDisk) Write(b []byte) (int, error) {
	n := min(w.room, len(b))
	if w.room -= n; n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestResultsThatAreLost: what cannot be written is told, and no success; what is
// violated counts more.
func TestResultsThatAreLost(t *testing.T) {
	for _, m := range matrixModels {
		if m.name != "constraints" && m.name != "invariant" {
			continue
		}
		dir := matrixFiles(t, m)
		want := m.code
		if want == exit.OK {
			want = exit.World
		}
		for _, form := range []string{"--json", "--tlc-output", "--quiet"} {
			for _, room := range []int{0, 100} {
				var said bytes.Buffer
				code := cli.Run(context.Background(), []string{"check", "--native=never", form, filepath.Join(dir, "M.tla")}, &console.Terminal{Out: &fullDisk{room}, Err: &said})
				if code != want || !strings.Contains(said.String(), "no space left") || strings.Count(said.String(), "\n") != 1 {
					t.Errorf("%s %s with room for %d bytes: exit code %d: %s", m.name, form, room, code, &said)
				}
			}
		}
	}
}
