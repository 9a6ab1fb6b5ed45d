// SPDX-License-Identifier: Apache-2.0

package status

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/status.md")

const root = "../.."

// TestDocumentIsTheTable compares docs/status.md with the table.
func TestDocumentIsTheTable(t *testing.T) {
	name := filepath.Join(root, "docs", "status.md")
	want := Document(Claims)
	if *rewrite {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/status.md is not the table; write it with: go test ./internal/status -rewrite")
	}
}

// TestCommandsExist: a claim whose command runs no test is no claim. Packages
// and directories must exist, patterns of -run must match a test, and targets
// must be in the Makefile.
func TestCommandsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Claims {
		if c.Claim == "" || c.Room == "" || len(c.How) == 0 || len(c.Commands) == 0 {
			t.Errorf("the claim %q lacks its room, its kind of evidence or its commands", c.Claim)
		}
		for _, command := range c.Commands {
			if fault := faultOf(command, string(makefile)); fault != "" {
				t.Errorf("%s: `%s`: %s", c.Claim, command, fault)
			}
		}
	}
}

// TestFaults: the test above notices commands that show nothing.
func TestFaults(t *testing.T) {
	for _, command := range []string{
		"make nothing-of-the-kind",
		"go test ./no/such/package",
		"go test -run NoTestHasThisName ./internal/status",
		"go test ./docs/decisions",
		"go run ./no/such/command",
		"go -C bench run ./no/such/command",
		"true",
	} {
		if faultOf(command, "test: lint\n") == "" {
			t.Errorf("%s: taken for a command that shows something", command)
		}
	}
	if fault := faultOf("ASHLAR_X=1 go test -run 'Faults|Other' ./internal/status", ""); fault != "" {
		t.Error(fault)
	}
}

var (
	quoted      = regexp.MustCompile(`'[^']*'|\S+`)
	environment = regexp.MustCompile(`^[A-Z_]+=`)
)

// faultOf describes what is wrong with a command, or returns "".
func faultOf(command, makefile string) string {
	words := quoted.FindAllString(command, -1)
	for len(words) > 0 && environment.MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) < 2 {
		return "it is neither make, go test nor go run"
	}
	switch {
	case words[0] == "make":
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).MatchString(makefile) {
			return "the Makefile has no such target"
		}
		return ""
	case words[0] == "go" && words[1] == "-C" && len(words) > 3:
		module, words := words[2], words[2:]
		for i, w := range words {
			if p, ok := strings.CutPrefix(w, "./"); ok {
				words[i] = "./" + path.Join(module, p)
			}
		}
		return faultOfGo(words[1], words[2:])
	case words[0] == "go" && (words[1] == "test" || words[1] == "run"):
		return faultOfGo(words[1], words[2:])
	}
	return "it is neither make, go test nor go run"
}

func faultOfGo(verb string, words []string) string {
	kind, pattern := "Test", ""
	var packages []string
	for i := 0; i < len(words); i++ {
		w := strings.Trim(words[i], "'")
		switch {
		case w == "-run" || w == "-bench":
			i++
			value := strings.Trim(words[i], "'")
			if value == "^$" {
				kind = "Benchmark"
			} else if w == "-run" {
				pattern = value
			}
		case strings.HasPrefix(w, "./"):
			packages = append(packages, w)
		}
	}
	if len(packages) == 0 {
		return "it names no package"
	}
	if verb == "run" {
		packages = packages[:1] // the rest are arguments of the command
	}
	found := pattern == ""
	for _, p := range packages {
		names, ok := functions(p, kind)
		switch {
		case verb == "run" && !ok:
			return "there is no package " + p
		case verb == "run":
			continue
		case len(names) == 0:
			return p + " has no function " + kind + "..."
		}
		for _, name := range names {
			found = found || regexp.MustCompile(pattern).MatchString(name)
		}
	}
	if !found {
		return "no " + kind + " is named by " + pattern
	}
	return ""
}

// functions gives the names of the test functions of a package, or of a tree
// that ends in "...", and whether it has Go files at all.
func functions(pkg, kind string) (names []string, ok bool) {
	dir, tree := strings.CutSuffix(pkg, "/...")
	_ = filepath.WalkDir(filepath.Join(root, dir), func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != filepath.Join(root, dir) && !tree {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		ok = true
		if !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, is := d.(*ast.FuncDecl); is && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, kind) {
				names = append(names, fn.Name.Name)
			}
		}
		return nil
	})
	return names, ok
}
