// SPDX-License-Identifier: Apache-2.0

package filesys

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestOpenSettles: opening a file system makes its contents durable, the bytes
// of a file before the names. A loss of power would undo writes that a killed
// process left, but in the model the state after a crash stays.
func TestOpenSettles(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"a", "b", "other"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/x", "a/y", "b/z", "other/w"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("x", filepath.Join(root, "a/link")); err != nil {
		t.Fatal(err)
	}
	var synced []string
	tree, err := openTree(root, []string{"a", "b"}, func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		name := filepath.Base(f.Name())
		if info.IsDir() {
			name = "names"
		}
		synced = append(synced, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tree.Shut(); err != nil {
			t.Error(err)
		}
	}()
	// The files of a directory come in any order.
	if len(synced) == 5 {
		slices.Sort(synced[:2])
	}
	if want := []string{"x", "y", "names", "z", "names"}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
}

// TestOpenFailsUnsettled: Open fails if the contents could not be made durable.
func TestOpenFailsUnsettled(t *testing.T) {
	_, err := openTree(t.TempDir(), []string{"a"}, func(*os.File) error { return os.ErrPermission })
	if err == nil {
		t.Error("opened")
	}
}
