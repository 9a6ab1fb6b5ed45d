// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// The programs that `make release` makes for macOS type-check there, with all packages
// that they import. Compiling them takes ten times as long and would find no more.
func TestProgramsForDarwin(t *testing.T) {
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes,
		Dir:  "../..",
		Env:  append(os.Environ(), "GOOS=darwin", "CGO_ENABLED=0"),
	}
	programs, err := packages.Load(config, "./cmd/...")
	if err != nil {
		t.Fatal(err)
	}
	seen, other := 0, false
	packages.Visit(programs, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			t.Error(e)
		}
		seen++
		other = other || slices.ContainsFunc(p.CompiledGoFiles, func(name string) bool {
			return filepath.Base(name) == "disk_portable.go"
		})
	})
	if seen < 300 || !other {
		t.Errorf("%d packages were looked at, env/osenv's files for systems but Linux among them: %v", seen, other)
	}
}
