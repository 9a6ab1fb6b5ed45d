// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// disk reads files as they are.
type disk struct{}

func (disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (disk) List(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out, err
}

// TestRealFiles opens the specifications and programs of the repository: no
// errors, names stand where the index says, and what is cut off in the middle,
// as while typing, is looked at to its end.
func TestRealFiles(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"../../specs/*/*.tla", "../../examples/dedalus/*.ded"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(list), err)
		}
		paths = append(paths, list...)
	}
	s := newServer(disk{}, []string{"../../specs/lib"})
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := &document{uri: s.uriOf(path), path: path, language: languageOf(path, "")}
		d.setText(text)
		s.byURI[d.uri], s.byPath[path] = d, d
		a := s.analysis(d)
		if a.broken || len(a.index.occurrences) == 0 {
			t.Errorf("%s: %d names, %v", path, len(a.index.occurrences), a.diagnostics)
		}
		for _, o := range a.index.occurrences {
			if got := syntax.Canonical(o.span.Text()); got != syntax.Canonical(o.of.name) && o.of.name != "-." {
				t.Errorf("%s: %q is taken for %s", o.span, got, o.of.name)
			}
		}
		outline(a, d.lines)
		for _, o := range a.index.occurrences[:min(20, len(a.index.occurrences))] {
			hoverText(d, a, o.of)
		}
		for part := 1; part < 4; part++ {
			d.setText(text[:len(text)*part/4])
			if a := s.analysis(d); !a.broken {
				t.Errorf("%s: no error in %d quarters of it", path, part)
			}
		}
		delete(s.byURI, d.uri)
		delete(s.byPath, path)
	}
}
