// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestEveryPackageHasOneComment(t *testing.T) {
	_, files := goFiles(t)
	comments := map[string][]string{}
	hasCode := map[string]bool{}
	for _, f := range files {
		if f.test {
			continue
		}
		hasCode[f.pkg] = true
		if f.ast.Doc != nil && strings.TrimSpace(f.ast.Doc.Text()) != "" {
			comments[f.pkg] = append(comments[f.pkg], f.path)
		}
	}
	for pkg := range hasCode {
		if n := len(comments[pkg]); n != 1 {
			t.Errorf("package %s has %d package comments, want 1 %v", pkg, n, comments[pkg])
		}
	}
}

// TestEveryPackageStandsInTheArchitecture: ARCHITECTURE.md links to each package, or to
// a directory above it.
func TestEveryPackageStandsInTheArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{".": true}
	for _, m := range link.FindAllStringSubmatch(string(text), -1) {
		linked[m[1]] = true
	}
	_, files := goFiles(t)
	missing := map[string]bool{}
	for _, f := range files {
		dir := f.pkg
		for dir != "." && !linked[dir] {
			dir = path.Dir(dir)
		}
		if dir == "." && f.pkg != "." {
			missing[f.pkg] = true
		}
	}
	for pkg := range missing {
		t.Errorf("package %s is not in ARCHITECTURE.md", pkg)
	}
}

// worldly lists the functions that only env/osenv, commands and tests may call:
// a package that reads the clock, draws random numbers or opens files by itself
// cannot be simulated.
var worldly = map[string][]string{
	"time":         {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"os":           nil, // nil: every use
	"net":          nil,
	"math/rand":    nil,
	"math/rand/v2": nil,
	"crypto/rand":  nil,
	"os/exec":      nil,
}

// joinsTheWorld are packages that are not commands and may do what commands may:
// harnesses build programs, start and kill processes and cut connections, and the
// files of specifications are files.
var joinsTheWorld = map[string]bool{
	"internal/child": true, "internal/search": true, "internal/search/program": true,
	"internal/evidence/crashtest": true, "internal/overlay": true, "internal/evidence/ports": true, "internal/evidence/procs": true, "internal/specification": true, "internal/evidence/faultproxy": true,
}

func TestTheWorldEntersThroughEnv(t *testing.T) {
	fset, files := goFiles(t)
	for pkg := range joinsTheWorld {
		if !slices.ContainsFunc(files, func(f goFile) bool { return f.pkg == pkg }) {
			t.Errorf("there is no package %s: remove it from joinsTheWorld", pkg)
		}
	}
	for _, f := range files {
		if f.test || f.pkg == "env/osenv" || strings.HasPrefix(f.pkg, "goose/primitive/") ||
			joinsTheWorld[f.pkg] || strings.HasPrefix(f.pkg, "cmd/") || covers("internal/cli/...", f.pkg) || strings.HasPrefix(f.pkg, "bench/") || f.ast.Name.Name == "main" {
			continue // commands and benchmarks join the world to the rooms, and proofs start from the primitives
		}
		names := map[string]string{} // local name -> import path
		for _, spec := range f.ast.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			banned, watched := worldly[p]
			if !watched {
				continue
			}
			if banned == nil {
				t.Errorf("%s: imports %q; the world enters through env", f.path, p)
				continue
			}
			local := path.Base(p)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			names[local] = p
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok {
				for _, name := range worldly[names[x.Name]] {
					if sel.Sel.Name == name {
						t.Errorf("%s: %s.%s; the world enters through env", fset.Position(sel.Pos()), x.Name, name)
					}
				}
			}
			return true
		})
	}
}

func TestNoInitAndNoMutablePackageVariables(t *testing.T) {
	fset, files := goFiles(t)
	for _, f := range files {
		if f.test {
			continue
		}
		assigned := map[string]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: func init; construct where it is used", fset.Position(n.Pos()))
				}
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, lhs := range n.Lhs {
						if id, ok := lhs.(*ast.Ident); ok && id.Obj != nil {
							if spec, ok := id.Obj.Decl.(*ast.ValueSpec); ok && isPackageLevel(f.ast, spec) {
								assigned[id.Name] = true
							}
						}
					}
				}
			}
			return true
		})
		for name := range assigned {
			t.Errorf("%s: the package variable %s is assigned to; pass state in", f.path, name)
		}
	}
}

// generatedMax is the maximum number of lines of a generated file in the tree.
const generatedMax = 2000

// TestFilesNameTheirLicense: each file written by hand names its license in its first
// line.
func TestFilesNameTheirLicense(t *testing.T) {
	_, files := goFiles(t)
	for _, f := range files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		if len(f.ast.Comments) == 0 || f.ast.Comments[0].List[0].Text != "// SPDX-License-Identifier: Apache-2.0" {
			t.Errorf("%s does not begin with // SPDX-License-Identifier: Apache-2.0", f.path)
		}
	}
}

// linesMax is the maximum number of lines of a file written by hand.
const linesMax = 600

// longFiles may be longer, each for a reason.
var longFiles = map[string]string{
	"internal/model/enabled_random_test.go": "a generator of modules and its brute force, read side by side",
	"store/repair_test.go":                  "one damaged store after the other",
}

// TestFilesAreShort: a file that is too long to keep in mind is divided by idea.
func TestFilesAreShort(t *testing.T) {
	fset, files := goFiles(t)
	unseen := maps.Clone(longFiles)
	for _, f := range files {
		n := fset.Position(f.ast.End()).Line
		delete(unseen, f.path)
		switch why := longFiles[f.path]; {
		case ast.IsGenerated(f.ast):
		case n > linesMax && why == "":
			t.Errorf("%s has %d lines, at most %d: divide it by idea", f.path, n, linesMax)
		case n <= linesMax && why != "":
			t.Errorf("%s is short, and need not be in longFiles", f.path)
		}
	}
	for file := range unseen {
		t.Errorf("there is no file %s: remove it from longFiles", file)
	}
}

// TestGeneratedCodeIsSmall: the tree has the generated packages that
// docs/decisions/generated-code.md names, and no others.
func TestGeneratedCodeIsSmall(t *testing.T) {
	kept := []string{"examples/cart", "examples/dedalus/compiled/voting", "internal/dedalus/gen/internal/closure"}
	fset, files := goFiles(t)
	for _, f := range files {
		if !ast.IsGenerated(f.ast) {
			continue
		}
		if !slices.Contains(kept, f.pkg) {
			t.Errorf("%s: generated code; let the tests that need it generate it (internal/overlay)", f.path)
		}
		if n := fset.Position(f.ast.End()).Line; n > generatedMax {
			t.Errorf("%s: %d lines of generated code, at most %d", f.path, n, generatedMax)
		}
	}
}

func isPackageLevel(f *ast.File, spec *ast.ValueSpec) bool {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if s == spec {
					return true
				}
			}
		}
	}
	return false
}

// modules are the roots of the repository's modules: the benchmarks are a separate
// module, so that programs that use Ashlar do not depend on its peers.
var modules = []string{".", "bench"}

// modFile reads the go.mod of a module.
func modFile(t *testing.T, at string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, at, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse(path.Join(at, "go.mod"), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

func TestEveryDependencyHasAReason(t *testing.T) {
	reasons, err := os.ReadFile(filepath.Join(root, "docs/decisions/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range modules {
		for _, r := range modFile(t, at).Require {
			if !r.Indirect && r.Mod.Path != module && !strings.Contains(string(reasons), "`"+r.Mod.Path+"`") {
				t.Errorf("%s/go.mod requires %s, and docs/decisions/dependencies.md does not say why", at, r.Mod.Path)
			}
		}
	}
}

// TestModulesAgree: the measured programs are built with the versions that users get.
func TestModulesAgree(t *testing.T) {
	versions := map[string]string{}
	for _, r := range modFile(t, ".").Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range modFile(t, "bench").Require {
		if v := versions[r.Mod.Path]; v != "" && v != r.Mod.Version {
			t.Errorf("bench/go.mod requires %s, go.mod %s", r.Mod, v)
		}
	}
}

// TestDirectDependenciesSaySo: go.mod states for each module whether we import it
// ourselves. 'go mod tidy -diff', which 'make lint' runs, knows more, but must download
// modules.
func TestDirectDependenciesSaySo(t *testing.T) {
	_, files := goFiles(t)
	for _, at := range modules {
		mod := modFile(t, at)
		imported := map[string]bool{}
		for _, f := range files {
			if strings.HasPrefix(f.path, "bench/") != (at == "bench") {
				continue
			}
			for _, i := range f.ast.Imports {
				imports := strings.Trim(i.Path.Value, `"`)
				from := ""
				for _, r := range mod.Require {
					if p := r.Mod.Path; covers(p+"/...", imports) && len(p) > len(from) {
						from = p
					}
				}
				imported[from] = true
			}
		}
		for _, r := range mod.Require {
			if r.Indirect == imported[r.Mod.Path] {
				t.Errorf("%s/go.mod says that %s is indirect: %v, and it is imported: %v; 'go mod tidy' mends it", at, r.Mod.Path, r.Indirect, imported[r.Mod.Path])
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	n := 0
	walk(t, func(p string) {
		if !strings.HasSuffix(p, ".md") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			n++
			if _, err := os.Stat(filepath.Join(root, path.Dir(p), m[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", p, m[1])
			}
		}
	})
	if n == 0 {
		t.Error("found no link in any document")
	}
}

// TestNoFileNamesAMachine keeps paths of one machine out of the repository.
func TestNoFileNamesAMachine(t *testing.T) {
	bad := regexp.MustCompile(`(?i)(^|[\s"'(=])/(root|work|farm|home/[a-z])/`)
	var hits []string
	walk(t, func(p string) {
		switch path.Ext(p) {
		case ".go", ".md", ".tla", ".cfg", ".sh", ".txt", ".v", "":
		default:
			return
		}
		if strings.HasPrefix(p, "internal/tidy/") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, p))
		if err != nil || strings.ContainsRune(string(text[:min(len(text), 512)]), 0) {
			return
		}
		for i, line := range strings.Split(string(text), "\n") {
			if bad.MatchString(line) {
				hits = append(hits, p+":"+strconv.Itoa(i+1))
			}
		}
	})
	sort.Strings(hits)
	for _, h := range hits {
		t.Errorf("%s: a path of one machine", h)
	}
}
