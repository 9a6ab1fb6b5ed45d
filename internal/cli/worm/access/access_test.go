// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestWrite: a new description is for its owner alone; one that others may read stays so
// when it is replaced.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.json")
	for i, mode := range []fs.FileMode{0o600, 0o644} {
		g := &wor.Genesis{Cluster: uint64(i + 1), Partitions: []wor.Config{{Members: []wor.Member{{ID: 1, Name: "a", Addr: "a:1"}}}}}
		if err := Write(path, g); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("write %d: mode %v, %v; want %v", i, info.Mode(), err, mode)
		}
		if got, err := Read(path); err != nil || got.Cluster != g.Cluster {
			t.Errorf("write %d is read as %v, %v", i, got, err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	none := filepath.Join(path, "cluster.json")
	if err := Write(none, &wor.Genesis{}); err == nil {
		t.Error("a description is written below a file")
	}
	if _, err := Read(none); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read below a file: %v", err)
	}
}
