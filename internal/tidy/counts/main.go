// SPDX-License-Identifier: Apache-2.0

// Command counts prints the size of a checkout: 'go run ./internal/tidy/counts [DIR]'.
//
// In: a directory with a checkout, of this or of an earlier commit. Out: files and lines
// by kind, importable packages and what they export, the largest structs and packages,
// and the names in go.mod. Promised: it counts what git tracks, by syntax alone, so that
// two commits can be compared. It does not build anything.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	c, err := count(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "counts:", err)
		os.Exit(1)
	}
	c.print()
}

// counts has the totals.
type counts struct {
	files, lines map[string]int // by kind
	packages     map[string]*goPackage
	structs      []structure
	modules      int // names in go.mod
}

// goPackage is a directory with Go files.
type goPackage struct {
	files, exported int // without tests
	program         bool
}

type structure struct {
	name   string
	fields int
}

// count reads the files that git tracks below dir.
func count(dir string) (*counts, error) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	c := &counts{files: map[string]int{}, lines: map[string]int{}, packages: map[string]*goPackage{}}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		k := kind(name)
		if k == "Go" {
			var f *ast.File
			if f, err = c.add(name, text); err != nil {
				return nil, err
			}
			if ast.IsGenerated(f) {
				k = "Go, generated"
			}
		}
		if name == "go.mod" {
			c.modules = bytes.Count(text, []byte("\n\t"))
		}
		c.files[k]++
		c.lines[k] += bytes.Count(text, []byte("\n"))
	}
	return c, nil
}

// kind is the kind of a file, by its name.
func kind(name string) string {
	if strings.HasSuffix(name, "_test.go") {
		return "Go, tests"
	}
	switch path.Ext(name) {
	case ".go":
		return "Go"
	case ".v":
		return "Coq"
	case ".tla", ".cfg":
		return "TLA+"
	case ".md":
		return "documents"
	}
	return "other"
}

// add counts a Go file that is no test.
func (c *counts) add(name string, text []byte) (*ast.File, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(name)
	if strings.Contains("/"+dir+"/", "/testdata/") || strings.HasPrefix(dir, "bench") {
		return f, nil // not of this module's packages
	}
	p := c.packages[dir]
	if p == nil {
		p = &goPackage{}
		c.packages[dir] = p
	}
	p.files++
	p.program = f.Name.Name == "main"
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) {
				p.exported++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				p.exported += c.spec(dir, s, ast.IsGenerated(f))
			}
		}
	}
	return f, nil
}

// spec counts the exported names of a declaration, and records structs.
func (c *counts) spec(dir string, s ast.Spec, generated bool) (exported int) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if t, ok := s.Type.(*ast.StructType); ok && !generated {
			c.structs = append(c.structs, structure{dir + "." + s.Name.Name, t.Fields.NumFields()})
		}
		if s.Name.IsExported() {
			return 1
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				exported++
			}
		}
	}
	return exported
}

// exportedReceiver reports whether the type of a method is exported.
func exportedReceiver(recv *ast.FieldList) bool {
	name := ""
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return ast.IsExported(name)
}

// users are the directories of programs and of evidence: no package imports theirs.
var users = []string{"bench", "cmd", "docs", "examples", "mail", "proofs", "specs"}

func (c *counts) print() {
	files, lines := 0, 0
	for _, k := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Printf("%-16s %6d files %8d lines\n", k, c.files[k], c.lines[k])
		files, lines = files+c.files[k], lines+c.lines[k]
	}
	fmt.Printf("%-16s %6d files %8d lines\n\n", "all", files, lines)
	importable, exported, total := 0, 0, 0
	var sizes []structure
	for dir, p := range c.packages {
		total++
		sizes = append(sizes, structure{dir, p.files})
		top, _, _ := strings.Cut(dir, "/")
		inside := strings.Contains("/"+dir+"/", "/internal/") || slices.Contains(users, top)
		if !p.program && !inside {
			importable++
			exported += p.exported
		}
	}
	fmt.Printf("%d packages, %d of them importable, with %d exported names\n%d names in go.mod\n", total, importable, exported, c.modules)
	largest("structs, fields", c.structs)
	largest("packages, files without tests", sizes)
}

// largest prints the ten largest.
func largest(what string, all []structure) {
	slices.SortFunc(all, func(a, b structure) int {
		return cmp.Or(cmp.Compare(b.fields, a.fields), strings.Compare(a.name, b.name))
	})
	fmt.Printf("\nthe largest %s:\n", what)
	for _, s := range all[:min(10, len(all))] {
		fmt.Printf("%6d %s\n", s.fields, s.name)
	}
}
