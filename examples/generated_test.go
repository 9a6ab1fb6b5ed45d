// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "compile anew the system whose code is in the tree")

// TestCodeIsCurrent: the code of a system that is in the tree is what the command writes,
// and there is no other.
func TestCodeIsCurrent(t *testing.T) {
	tmp := t.TempDir()
	ashlar := filepath.Join(tmp, "ashlar")
	if err := command("..", "go", "build", "-o", ashlar, "./cmd/ashlar"); err != nil {
		t.Fatal(err)
	}
	files, err := compiled(ashlar, tmp, kept)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		file := filepath.Join(kept, name)
		if *update {
			if err := os.WriteFile(file, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the compiler writes: run  go test ./examples -run TestCodeIsCurrent -update (%v)", file, err)
		}
	}
	for _, name := range systems {
		if _, err := os.Stat(name); name != kept && !os.IsNotExist(err) {
			t.Errorf("%s: only the code of %s is kept in the tree", name, kept)
		}
	}
}
