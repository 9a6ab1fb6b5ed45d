// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/gomodule"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// steps are the flags of commands that first rewrite the program.
type steps struct {
	apply  []string
	script string
}

func (o *steps) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.apply, "apply", nil, "rewrite the program by a `STEP` first, as 'ashlar dedalus rewrite' does; may be repeated")
	f.StringVar(&o.script, "script", "", "rewrite it by the steps in a `FILE` first")
}

// load reads a program and applies the steps.
func (o *steps) load(t *console.Terminal, path string) (*logic.Program, error) {
	steps, err := (&rewriteOptions{steps: o.apply, script: o.script}).parse()
	if err != nil {
		return nil, err
	}
	p, err := load(t, path)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		q, _, err := takeStep(p, s)
		var refused *rewrite.Refusal
		switch {
		case errors.As(err, &refused):
			fmt.Fprintln(t.Err, refused)
			return nil, exit.With(exit.Safety, nil)
		case err != nil:
			return nil, exit.With(exit.Usage, err)
		}
		p = q
	}
	return p, nil
}

// compileOptions are the flags of dedalus compile.
type compileOptions struct {
	steps
	out, ashlar string
	json        bool
}

func newCompileCommand(t *console.Terminal) *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "compile FILE.ded -o DIR",
		Short: "Compile a protocol to a Go program",
		Long: `Compile writes a Go program that runs any instance of a protocol: a package with a
type for each component, and a main. One binary contains all components. Its --node
selects the instance that a process runs, and its --deployment, which
'ashlar dedalus deploy' writes, says where the others are.

Within a Go module the program is a part of it, and the module must require
` + version.Module + `. Elsewhere DIR becomes a separate module, which
'go build' builds without further steps: its go.mod names a directory with the sources of
` + version.Module + `, which is not published, and all that they require.
--ashlar names this directory; without it, it is the one that the module of the
current directory uses.

Exit codes: 0 compiled; 12 a step was refused; 150 errors in the program; 1 files;
2 usage.`,
		Example: `  ashlar dedalus compile voting.ded -o cmd/voting
  ashlar dedalus compile voting.ded --script voting.steps --ashlar ../ashlar -o build/voting
  cd build/voting && go build -o node . && ./node --help`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runCompile(cmd.Context(), t, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "the directory to write the program to (required)")
	o.steps.flags(cmd)
	f.StringVar(&o.ashlar, "ashlar", "", "the `DIR` of the sources of "+version.Module+", for a separate module")
	f.BoolVar(&o.json, "json", false, "report what was written as JSON")
	return cmd
}

// compiled is what compile reports to machines.
type compiled struct {
	Schema     string   `json:"schema"`
	Program    string   `json:"program"`
	Dir        string   `json:"dir"`
	Package    string   `json:"package"`
	Module     bool     `json:"module"`
	Files      []string `json:"files"`
	Components []string `json:"components"`
}

func runCompile(ctx context.Context, t *console.Terminal, o compileOptions, path string) error {
	if o.out == "" {
		return exit.With(exit.Usage, errors.New("compile needs -o DIR"))
	}
	p, err := o.load(t, path)
	if err != nil {
		return err
	}
	c, err := compile(ctx, p, o.out, o.ashlar)
	if err != nil {
		return err
	}
	if o.json {
		return t.JSON(c)
	}
	for _, f := range c.Files {
		fmt.Fprintln(t.Out, f)
	}
	return nil
}

// compile writes a program to a directory.
func compile(ctx context.Context, p *logic.Program, dir, ashlar string) (*compiled, error) {
	name := packageName(p.Name)
	files, err := gen.Generate(p, name)
	if err != nil {
		return nil, exit.With(exit.Spec, err)
	}
	c := &compiled{Schema: "ashlar-dedalus-compile-1", Program: p.Name, Dir: dir}
	for _, k := range p.Components {
		c.Components = append(c.Components, k.Name)
	}
	// Generate everything before writing anything, so that a failure leaves no
	// files.
	var texts [][]byte
	write := func(file string, text []byte) {
		c.Files = append(c.Files, filepath.Join(dir, file))
		texts = append(texts, text)
	}
	base, err := importPathOf(dir)
	if err != nil {
		return nil, failed(err)
	}
	if base == "" {
		base, c.Module = name, true
		if err := writeModule(ctx, name, ashlar, write); err != nil {
			return nil, failed(err)
		}
	}
	c.Package = path.Join(base, name)
	for _, f := range files {
		write(filepath.Join(name, f.Name), f.Text)
	}
	text, err := format.Source(fmt.Appendf(nil, `// Code generated by ashlar dedalus compile. DO NOT EDIT.

// Command %[1]s runs one instance of the program %[2]s; --help explains.
package main

import (
	program %[3]q

	"%[4]s/cmd/dedalusd"
)

func main() { dedalusd.Main(program.Program()) }
`, name, p.Name, c.Package, version.Module))
	if err != nil {
		return nil, err
	}
	write("main.go", text)
	made, err := makeDirs(filepath.Join(dir, name))
	if err == nil {
		err = removeGenerated(filepath.Join(dir, name), files)
	}
	for i := 0; i < len(texts) && err == nil; i++ {
		_, missing := os.Lstat(c.Files[i])
		if err = file.Write(c.Files[i], texts[i], 0o666); errors.Is(missing, fs.ErrNotExist) {
			made = append(made, c.Files[i])
		}
	}
	if err != nil {
		for _, at := range slices.Backward(made) {
			_ = os.Remove(at) // a directory in which there is something else stays
		}
		return nil, failed(err)
	}
	return c, nil
}

// makeDirs creates a directory and its parents, and returns those that did not exist,
// outermost first.
func makeDirs(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, os.MkdirAll(dir, 0o777)
}

// packageName derives a valid package name.
func packageName(program string) string {
	n := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(program))
	if n == "" || n[0] <= '9' || n == "main" {
		n = "program" + n
	}
	return n
}

// removeGenerated removes the files of an earlier compilation that this one does
// not write: the code of a removed component would no longer compile.
func removeGenerated(dir string, files []gen.File) error {
	there, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range there {
		if !strings.HasSuffix(e.Name(), ".go") || slices.ContainsFunc(files, func(f gen.File) bool { return f.Name == e.Name() }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte("// Code generated by ashlar")) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// importPathOf returns the import path of a directory, or "" if the directory is in no
// module or in one that compile has made.
func importPathOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if at == filepath.Dir(at) {
				return "", nil
			}
			continue
		case err != nil:
			return "", err
		case bytes.HasPrefix(text, []byte(generatedModule)):
			return "", nil
		}
		if m := modfile.ModulePath(text); m != "" {
			rel, err := filepath.Rel(at, abs)
			return path.Join(m, filepath.ToSlash(rel)), err
		}
		return "", fmt.Errorf("%s does not name a module", filepath.Join(at, "go.mod"))
	}
}

const generatedModule = "// Written by ashlar dedalus compile.\n"

// writeModule makes the directory a module of its own.
func writeModule(ctx context.Context, name, ashlar string, write func(string, []byte)) error {
	mod, sum, err := gomodule.Files(ctx, name, ashlar)
	if err != nil {
		return err
	}
	write("go.sum", sum)
	write("go.mod", append([]byte(generatedModule), mod...))
	return nil
}
