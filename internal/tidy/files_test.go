// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/ashlar-dev/ashlar"
)

// goFile is one parsed Go file of the repository.
type goFile struct {
	path string // from the root, with slashes
	pkg  string // the package's directory
	test bool
	ast  *ast.File
}

// goFiles returns every Go file outside testdata, parsed once for all tests, which must
// not change the trees.
func goFiles(t *testing.T) (*token.FileSet, []goFile) {
	t.Helper()
	p := parsed()
	if p.err != nil {
		t.Fatal(p.err)
	}
	if len(p.files) < 20 {
		t.Fatalf("found %d Go files from %s: wrong directory?", len(p.files), root)
	}
	return p.fset, p.files
}

// tree is all Go files of the repository.
type tree struct {
	fset  *token.FileSet
	files []goFile
	err   error
}

var parsed = sync.OnceValue(func() tree {
	p := tree{fset: token.NewFileSet()}
	p.err = walkFiles(func(at string) error {
		if !strings.HasSuffix(at, ".go") || strings.Contains(at, "testdata/") {
			return nil
		}
		f, err := parser.ParseFile(p.fset, filepath.Join(root, at), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		p.files = append(p.files, goFile{path: at, pkg: path.Dir(at), test: strings.HasSuffix(at, "_test.go"), ast: f})
		return nil
	})
	return p
})

// walk visits every regular file of the repository in order, except those of
// git and of builds.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := walkFiles(func(at string) error {
		visit(at)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func walkFiles(visit func(path string) error) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == "build" || rel == "bench/build" {
				return filepath.SkipDir
			}
			return nil
		}
		return visit(rel)
	})
}
