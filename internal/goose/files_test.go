// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFilesAreThoseOfTheBuild translates a package whose files have constraints of
// every form under several configurations. The judge is the go command, asked
// apart: what go list -json calls GoFiles is translated, and what it calls
// IgnoredGoFiles, without tests, is named in the head.
func TestFilesAreThoseOfTheBuild(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/files\n\ngo 1.26\n")
	// A function per file says which file it is from.
	for name, constraint := range map[string]string{
		"plain.go": "", "dev.go": "!prod", "prod.go": "prod", "both.go": "prod && beta", "either.go": "beta || linux",
		"s_linux.go": "", "s_windows.go": "", "s_arm64.go": "", "s_linux_amd64.go": "", "s_unix.go": "", "u.go": "unix",
		"cgo.go": "cgo", "pure.go": "!cgo", "never.go": "ignore", "new.go": "go1.25", "future.go": "go1.999",
		"x_test.go": "", "y_test.go": "prod", "y_windows_test.go": "", "_hidden.go": "", ".hidden.go": "prod",
	} {
		text := fmt.Sprintf("package files\n\nfunc From_%s() bool { return true }\n", strings.NewReplacer(".", "_").Replace(name))
		if constraint != "" {
			text = "// A comment.\n\n//go:build " + constraint + "\n\n" + text
		}
		write(name, text)
	}
	function := regexp.MustCompile(`Definition From_(\w+)_go `)
	left := regexp.MustCompile(`\(\* Left out by build constraints: (\S+) \*\)`)
	for _, c := range []struct{ system, machine, tags, cgo string }{
		{"linux", "amd64", "", "0"}, {"linux", "amd64", "prod", "0"}, {"linux", "arm64", "prod,beta", "0"},
		{"windows", "amd64", "", "0"}, {"darwin", "arm64", "beta", "0"}, {"linux", "amd64", "ignore", "1"}, {"js", "wasm", "", "0"},
	} {
		t.Run(strings.Join([]string{c.system, c.machine, c.tags, c.cgo}, "-"), func(t *testing.T) {
			t.Setenv("GOOS", c.system)
			t.Setenv("GOARCH", c.machine)
			t.Setenv("CGO_ENABLED", c.cgo)
			t.Setenv("GOFLAGS", "-tags="+c.tags)
			out, diags, err := Translate(Config{Dir: dir, Patterns: []string{"."}, ReadFile: os.ReadFile, Go: runGo, Show: filepath.Base})
			if err != nil || diags.HasErrors() || len(out) != 1 {
				t.Fatalf("%d packages, %v\n%v", len(out), err, diags)
			}
			var got, gotLeft, warned []string
			for _, m := range function.FindAllStringSubmatch(out[0].Text, -1) {
				got = append(got, m[1]+".go")
			}
			for _, m := range left.FindAllStringSubmatch(out[0].Text, -1) {
				gotLeft = append(gotLeft, m[1])
			}
			for _, d := range diags.Sorted() {
				warned = append(warned, d.Span.File.Name)
			}

			cmd := exec.Command("go", "list", "-json=GoFiles,IgnoredGoFiles", ".")
			cmd.Dir = dir
			text, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var want struct{ GoFiles, IgnoredGoFiles []string }
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			ignored := slices.DeleteFunc(want.IgnoredGoFiles, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
			slices.Sort(got)
			slices.Sort(warned)
			if !slices.Equal(got, want.GoFiles) {
				t.Errorf("translated %v, want %v", got, want.GoFiles)
			}
			if !slices.Equal(gotLeft, ignored) || !slices.Equal(warned, ignored) {
				t.Errorf("left out %v, warned of %v, want %v", gotLeft, warned, ignored)
			}
			head := "(* Configuration " + c.system + "/" + c.machine
			if c.tags != "" {
				head += ", tags " + strings.ReplaceAll(c.tags, ",", ", ")
			}
			if c.cgo == "0" {
				head += ", without cgo"
			}
			if !strings.Contains(out[0].Text, head+" *)\n") {
				t.Errorf("no %q in\n%s", head, out[0].Text)
			}
		})
	}
}

// TestAssertionsNeedNoPackage: a package of which only assertions are called is
// not translated, and need not be of the subset; it is as soon as something else
// of it is used.
func TestAssertionsNeedNoPackage(t *testing.T) {
	const (
		asserts = "package must\n\nimport \"os\"\n\nvar out = os.Stdout\n\n//goose:assert\nfunc Be(ok bool, args ...any) {\n\tif !ok {\n\t\tpanic(args)\n\t}\n}\n\nfunc Say() { out.Close() }\n\nconst Level = 3\n"
		calls   = "package use\n\nimport \"example.com/needed/must\"\n\nfunc F(x uint64) uint64 {\n\tmust.Be(x > 0, x)\n\treturn x\n}\n"
		uses    = "package use\n\nimport \"example.com/needed/must\"\n\nfunc F(x uint64) uint64 {\n\tmust.Be(x > 0, x)\n\treturn must.Level\n}\n"
	)
	for _, c := range []struct {
		text, want string
		patterns   []string
	}{
		{calls, "use", []string{"./use"}},
		{uses, "", []string{"./use"}},
		{calls, "", []string{"./use", "./must"}},
		{calls, "", []string{"./..."}},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.com/needed\n\ngo 1.26\n", "must/must.go": asserts, "use/use.go": c.text} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, diags, err := Translate(Config{Dir: dir, Patterns: c.patterns, ReadFile: os.ReadFile, Go: runGo, Show: filepath.Base})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range out {
			got = append(got, strings.TrimPrefix(o.Path, "example.com/needed/"))
			if strings.Contains(o.Text, "must") || !strings.Contains(o.Text, "assert (#(u64 0) < \"x\")") {
				t.Errorf("%v:\n%s", c.patterns, o.Text)
			}
		}
		if strings.Join(got, " ") != c.want || diags.HasErrors() == (c.want != "") {
			t.Errorf("%v: translated %q, want %q\n%v", c.patterns, got, c.want, diags)
		}
	}
}

// TestErrorsOfOtherPackages: a variable of another package is an error of its own
// only if it is made as one; it may also be another name for one, or nil.
func TestErrorsOfOtherPackages(t *testing.T) {
	for value, accepted := range map[string]bool{"= errors.New(`x`)": true, "= other": false, "error": false, "= named(`x`)": false} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":   "module example.com/errs\n\ngo 1.26\n",
			"q/q.go":   "package q\n\nimport \"errors\"\n\nvar other = errors.New(\"o\")\n\nvar Err " + value + "\n\nfunc Fail() error { return other }\n\nfunc named(string) error { return other }\n",
			"p/use.go": "package p\n\nimport \"example.com/errs/q\"\n\nfunc F() bool { return q.Fail() == q.Err }\n",
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, diags, err := Translate(Config{Dir: dir, Patterns: []string{"./p"}, ReadFile: os.ReadFile, Go: runGo, Show: filepath.Base})
		if err != nil || diags.HasErrors() == accepted {
			t.Errorf("Err %s: %v\n%v", value, err, diags)
		}
	}
}
