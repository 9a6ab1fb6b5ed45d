// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

var rewriteFlag = flag.Bool("rewrite", false, "write the package that is in the tree anew")

// logic reads a program and takes the steps of its script.
func (e program) logic() (*logic.Program, error) {
	text, err := os.ReadFile("../" + e.source)
	if err != nil {
		return nil, err
	}
	var diags source.List
	p := lower.Lower(syntax.Parse(source.NewFile(e.source, text), &diags), &diags)
	if p == nil {
		return nil, diags.Err()
	}
	if e.script == "" {
		return p, nil
	}
	steps, err := os.ReadFile("../" + e.script)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(steps)) {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := rewrite.ParseStep(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.script, err)
		}
		if p, _, err = rewrite.Apply(p, s); err != nil {
			return nil, fmt.Errorf("%s: %w", e.script, err)
		}
	}
	return p, nil
}

func load(t testing.TB, e program) *logic.Program {
	t.Helper()
	p, err := e.logic()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestGenerated: the package in the tree is what the compiler makes of its program.
func TestGenerated(t *testing.T) {
	e := programs()[0]
	files, err := gen.Generate(load(t, e), e.name)
	if err != nil {
		t.Fatal(err)
	}
	if *rewriteFlag {
		if err := os.RemoveAll(e.name); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(e.name, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(e.name, f.Name), f.Text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	there, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range there {
		if d.IsDir() && d.Name() != e.name {
			t.Errorf("%s: only %s is kept in the tree", d.Name(), e.name)
		}
	}
	if there, err = os.ReadDir(e.name); err != nil {
		t.Fatal(err)
	}
	for _, d := range there {
		if !slices.ContainsFunc(files, func(f gen.File) bool { return f.Name == d.Name() }) {
			t.Errorf("%s/%s is not generated any more", e.name, d.Name())
		}
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(e.name, f.Name))
		if err != nil {
			t.Error(err)
		} else if d := cmp.Diff(string(f.Text), string(got)); d != "" {
			t.Errorf("%s/%s is not what the compiler writes (-rewrite writes it):\n%s", e.name, f.Name, d)
		}
	}
}
