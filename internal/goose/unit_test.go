// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// testModule is the module of the programs in testdata that are checked without
// the go command.
const testModule = "example.com/m"

// library has the types of the packages that tests import. It is loaded once.
type library map[string]*types.Package

func (l library) Import(path string) (*types.Package, error) {
	if p := l[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s for tests", path)
}

var loadLibrary = sync.OnceValues(func() (library, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports},
		"fmt", "os", "strings", "sync", "time", "errors", "unsafe", "bytes", "cmp", "encoding/binary", "math/bits", "slices", "sort", "sync/atomic",
		primitivePath+"disk", primitivePath+"filesys", primitivePath+"machine")
	if err != nil {
		return nil, err
	}
	l := library{"unsafe": types.Unsafe}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		l[p.PkgPath] = p.Types
	}
	return l, nil
})

// check parses and type-checks one file as a package of testModule.
func check(name, text, goVersion string) (*Unit, error) {
	l, err := loadLibrary()
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
	}
	path := testModule + "/" + strings.TrimSuffix(name, ".go")
	// Unused variables and imports are the compiler's business.
	var first error
	config := types.Config{Importer: l, GoVersion: goVersion, Error: func(err error) {
		if e, ok := err.(types.Error); ok && first == nil && !strings.Contains(e.Msg, "and not used") {
			first = err
		}
	}}
	pkg, _ := config.Check(path, fset, []*ast.File{f}, info)
	if first != nil {
		return nil, first
	}
	return &Unit{Fset: fset, Files: []*ast.File{f}, Pkg: pkg, Info: info, Module: testModule, Prefix: Prefix(testModule),
		Texts: map[string]*source.File{name: source.NewFile(name, []byte(text))}}, nil
}

// runGo is a Config's Go.
func runGo(dir string, args ...string) (stdout, stderr []byte, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var failure bytes.Buffer
	cmd.Stderr = &failure
	stdout, err = cmd.Output()
	return stdout, failure.Bytes(), err
}

func mustCheck(t *testing.T, name, text, goVersion string) *Unit {
	t.Helper()
	u, err := check(name, text, goVersion)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
