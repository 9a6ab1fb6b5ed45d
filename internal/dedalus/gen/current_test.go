// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

var update = flag.Bool("update", false, "compile the programs anew")

// compiled are programs whose code is in the tree, and where. Those of
// examples/dedalus/compiled are looked after there.
var compiled = map[string]string{"internal/closure/closure.ded": "internal/closure"}

// TestCodeIsCurrent compiles programs and compares.
func TestCodeIsCurrent(t *testing.T) {
	for path, dir := range compiled {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var diags source.List
		p := lower.Lower(syntax.Parse(source.NewFile(filepath.Base(path), text), &diags), &diags)
		if p == nil {
			t.Fatal(path, "is no program")
		}
		files, err := gen.Generate(p, p.Name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, f := range files {
			at := filepath.Join(dir, f.Name)
			want[at] = true
			if *update {
				if err := os.WriteFile(at, f.Text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(at); err != nil || !bytes.Equal(got, f.Text) {
				t.Errorf("%s is not what the compiler writes: run  go test ./internal/dedalus/gen -run TestCodeIsCurrent -update (%v)", at, err)
			}
		}
		there, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range there {
			if !want[f] {
				t.Errorf("%s is not of what the compiler writes", f)
			}
		}
	}
}
