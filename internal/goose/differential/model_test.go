// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/goose"
)

// proofs is the folder of the proofs.
const proofs = "../../../proofs"

// prepare builds what extraction needs. It skips the test where the tools are
// missing.
func prepare(t *testing.T) {
	t.Helper()
	for tool, pkg := range map[string]string{"coqc": "coq, libcoq-iris and libcoq-stdpp", "ocamlfind": "ocaml-nox and ocaml-findlib", "make": "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("did not run: there is no %s (the packages %s have it, see .ci/deps)", tool, pkg)
		}
	}
	if err := buildProofs(); err != nil {
		t.Fatal(err)
	}
}

// buildProofs builds the interpreter, once for all tests.
var buildProofs = sync.OnceValue(func() error {
	_, err := run("", 20*time.Minute, "make", "-C", proofs, "extract/api.vo", "lang/texts.vo", "lang/packages.vo")
	return err
})

// run runs a command in a folder and gives what it prints.
func run(dir string, limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// model is an interpreter with programs in it.
type model struct{ driver string }

// newModel extracts the functions of a package that goose has translated.
func newModel(t *testing.T, o goose.Output, functions []string) model {
	t.Helper()
	dir := t.TempDir()
	abs, err := filepath.Abs(proofs)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.FromSlash(o.File)
	write(t, filepath.Join(dir, "gen", file), o.Text)
	logical := strings.ReplaceAll(strings.TrimSuffix(o.File, ".v"), "/", ".")
	var main strings.Builder
	fmt.Fprintf(&main, "From ashlar.extract Require Import api.\nFrom differential Require %s.\n", logical)
	fmt.Fprintf(&main, "Open Scope string_scope.\nDefinition driver_programs := [\n")
	for i, f := range functions {
		if i > 0 {
			main.WriteString(";\n")
		}
		fmt.Fprintf(&main, "  program_of %q %s.%s", f, logical[strings.LastIndex(logical, ".")+1:], f)
	}
	main.WriteString("\n].\nExtraction \"model.ml\" driver_programs driver_init driver_next driver_run driver_crash.\n")
	write(t, filepath.Join(dir, "main.v"), main.String())
	for _, cmd := range [][]string{
		{"coqc", "-q", "-w", "none", "-Q", abs, "ashlar", "-Q", "gen", "differential", filepath.Join("gen", file)},
		{"coqc", "-q", "-w", "none", "-Q", abs, "ashlar", "-Q", "gen", "differential", "main.v"},
		{"cp", filepath.Join(abs, "extract/driver.ml"), "driver.ml"},
		// The compiler recurses deeply on the terms of long programs.
		{"sh", "-c", "ulimit -s unlimited; exec ocamlfind ocamlopt -w -a -o driver model.mli model.ml driver.ml"},
	} {
		if _, err := run(dir, 10*time.Minute, cmd[0], cmd[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	return model{driver: filepath.Join(dir, "driver")}
}

// outcomes runs the driver and gives the outcomes of each program.
func (m model) outcomes(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	out, err := run("", 10*time.Minute, m.driver, args...)
	if err != nil {
		t.Fatal(err)
	}
	return parseOutcomes(out)
}

// parseOutcomes reads lines of a name and outcomes, with tabs between.
func parseOutcomes(out string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		all[fields[0]] = append(all[fields[0]], fields[1:]...)
	}
	return all
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// translateOne translates the package that the pattern names; it has no imports
// that are translated.
func translateOne(t *testing.T, dir, pattern string) goose.Output {
	t.Helper()
	out, diags, err := goose.Translate(goose.Config{
		Dir: dir, Patterns: []string{pattern}, ReadFile: os.ReadFile, Show: filepath.Base,
		Go: func(dir string, args ...string) ([]byte, []byte, error) {
			cmd := exec.Command("go", args...)
			cmd.Dir = dir
			var failure bytes.Buffer
			cmd.Stderr = &failure
			out, err := cmd.Output()
			return out, failure.Bytes(), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diags.HasErrors() {
		t.Fatalf("refused:\n%v", diags)
	}
	if len(out) != 1 {
		t.Fatalf("%d packages, not one", len(out))
	}
	return out[0]
}

// functionsOf are the functions without parameters and with one result of a
// package, in order.
func functionsOf(t *testing.T, text string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if ok && d.Recv == nil && d.Name.IsExported() && d.Type.Params.NumFields() == 0 && d.Type.Results.NumFields() == 1 {
			names = append(names, d.Name.Name)
		}
	}
	if len(names) == 0 {
		t.Fatal("no programs")
	}
	return names
}

// harness runs programs many times, as its arguments say, and prints their
// outcomes as the driver does. Several copies run at a time, so that the
// scheduler has something to decide.
const harness = `package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"example.com/differential/program"
)

func outcome(f func() any) (s string) {
	defer func() {
		if recover() != nil {
			s = "panic"
		}
	}()
	if x, ok := f().(string); ok {
		return fmt.Sprintf("value x\"%%x\"", x)
	}
	return fmt.Sprint("value ", f())
}

func main() {
	times, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for _, p := range programs {
		if len(os.Args) > 2 && os.Args[2] != p.name {
			continue
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		seen := map[string]bool{}
		for range min(times, 16) {
			wg.Go(func() {
				for range (times + 15) / 16 {
					s := outcome(p.f)
					mu.Lock()
					if !seen[s] {
						seen[s] = true
						fmt.Printf("%%s\t%%s\n", p.name, s)
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
}

var programs = []struct {
	name string
	f    func() any
}{
%s}
`

// goModule is a module with a package of programs and a command that runs them.
type goModule struct{ dir string }

func newGoModule(t *testing.T, text string, functions []string) goModule {
	t.Helper()
	dir := t.TempDir()
	var table strings.Builder
	for _, f := range functions {
		fmt.Fprintf(&table, "\t{%q, func() any { return program.%s() }},\n", f, f)
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/differential\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "program/program.go"), text)
	write(t, filepath.Join(dir, "main.go"), fmt.Sprintf(harness, table.String()))
	return goModule{dir: dir}
}

// build compiles the command, with flags such as -race.
func (m goModule) build(t *testing.T, flags ...string) string {
	t.Helper()
	name := filepath.Join(m.dir, "programs"+strings.Join(flags, ""))
	args := append([]string{"build", "-o", name}, flags...)
	if _, err := run(m.dir, 5*time.Minute, "go", append(args, ".")...); err != nil {
		t.Fatal(err)
	}
	return name
}
