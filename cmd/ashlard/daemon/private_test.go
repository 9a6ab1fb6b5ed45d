// SPDX-License-Identifier: Apache-2.0

//go:build unix

package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDirectoryIsPrivate: only the owner may enter a server's directory, as the key
// that the server signs with is in it, also when the directory was there before; one
// that is a server's already is left as it is.
func TestDirectoryIsPrivate(t *testing.T) {
	fresh, old := filepath.Join(t.TempDir(), "deep", "fresh"), t.TempDir()
	if err := os.Chmod(old, 0o755); err != nil {
		t.Fatal(err)
	}
	mode := func(dir string) os.FileMode {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	for _, dir := range []string{fresh, old} {
		good(t, "format", dir, "--name", "n1")
		if got := mode(dir); got != 0o700 {
			t.Errorf("%s has mode %o, want 700", dir, got)
		}
	}
	if err := os.Chmod(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, "format", old, "--name", "n1"); code != 1 {
		t.Errorf("formatted again: exit code %d\n%s", code, errs)
	}
	if got := mode(old); got != 0o755 {
		t.Errorf("%s has mode %o after it was refused, want 755", old, got)
	}
}
