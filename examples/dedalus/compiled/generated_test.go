package compiled_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/dedalus/gen"
	"github.com/ashlar-dev/ashlar/dedalus/logic"
	"github.com/ashlar-dev/ashlar/dedalus/lower"
	"github.com/ashlar-dev/ashlar/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled"
	"github.com/ashlar-dev/ashlar/source"
)

var rewriteFlag = flag.Bool("rewrite", false, "write the generated packages anew")

// load reads a program of examples/dedalus and takes the steps of its script.
func load(t testing.TB, e compiled.Entry) *logic.Program {
	t.Helper()
	text, err := os.ReadFile("../" + e.Source)
	if err != nil {
		t.Fatal(err)
	}
	var diags source.List
	p := lower.Lower(syntax.Parse(source.NewFile(e.Source, text), &diags), &diags)
	if p == nil {
		t.Fatal(diags.Err())
	}
	if e.Script == "" {
		return p
	}
	steps, err := os.ReadFile("../" + e.Script)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(steps)) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := rewrite.ParseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		if p, _, err = rewrite.Apply(p, s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestGenerated: the packages are what the compiler makes of the programs.
func TestGenerated(t *testing.T) {
	for _, e := range compiled.Programs() {
		files, err := gen.Generate(load(t, e), e.Name)
		if err != nil {
			t.Fatal(err)
		}
		if *rewriteFlag {
			if err := os.RemoveAll(e.Name); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(e.Name, 0o777); err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(e.Name, f.Name), f.Text, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		there, err := os.ReadDir(e.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range there {
			if !slices.ContainsFunc(files, func(f gen.File) bool { return f.Name == d.Name() }) {
				t.Errorf("%s/%s is not generated any more", e.Name, d.Name())
			}
		}
		for _, f := range files {
			got, err := os.ReadFile(filepath.Join(e.Name, f.Name))
			if err != nil {
				t.Error(err)
			} else if d := cmp.Diff(string(f.Text), string(got)); d != "" {
				t.Errorf("%s/%s is not what the compiler writes (-rewrite writes it):\n%s", e.Name, f.Name, d)
			}
		}
	}
}
