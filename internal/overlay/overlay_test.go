// SPDX-License-Identifier: Apache-2.0

package overlay_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/overlay"
)

// with runs a command that prints a text of a package, both of which are laid over the
// tree.
func with(t *testing.T, files overlay.Files) string {
	t.Helper()
	dir := t.TempDir()
	files["internal/overlay/saying/saying.go"] = []byte("// Package saying is laid over the tree.\npackage saying\n\n// Text is what is said.\nconst Text = \"generated\"\n")
	files["internal/overlay/say/main.go"] = []byte(`package main

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/overlay/saying"
)

func main() { fmt.Println(saying.Text, more()) }
`)
	path, err := files.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-overlay", path, "./internal/overlay/say")
	if cmd.Dir, err = overlay.Root(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestStacked: what GOFLAGS lays over the tree is built together with what is generated,
// and nothing is left in the tree.
func TestStacked(t *testing.T) {
	more := func(s string) []byte { return []byte("package main\n\nfunc more() string { return \"" + s + "\" }\n") }
	if got := with(t, overlay.Files{"internal/overlay/say/more.go": more("alone")}); got != "generated alone" {
		t.Errorf("said %q", got)
	}
	below, err := overlay.Files{"internal/overlay/say/more.go": more("below")}.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	flags := os.Getenv("GOFLAGS")
	for _, flag := range []string{"-overlay=", "--overlay="} {
		t.Setenv("GOFLAGS", flags+" "+flag+below)
		if got := with(t, overlay.Files{}); got != "generated below" {
			t.Errorf("with %s said %q", flag, got)
		}
	}
	for _, name := range []string{"say", "saying"} {
		if _, err := os.Stat(filepath.Join(".", name)); !os.IsNotExist(err) {
			t.Errorf("%s is in the tree: %v", name, err)
		}
	}
}
