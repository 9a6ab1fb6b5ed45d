// SPDX-License-Identifier: Apache-2.0

package algorithm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// compileOptions are the flags of compile.
type compileOptions struct {
	out        string
	pkg        string
	main       bool
	explain    bool
	invariants []string
	config     string
	library    library.Dirs
	json       bool
}

const compileHelp = `Compile writes a Go package with the archetypes of a Modular PlusCal algorithm: a
function for each label, structs for records, slices for sequences, and comments
that lead back to the specification. The package runs on distsys, which executes
each label as one atomic section over the resources behind the ref parameters.

With --main the package is a command that runs a part of the system, as described by
a configuration file. Compile also writes an example of such a file, sys.json, from
the instances of the specification: one node for each process, on loopback.

  go run DIR -config DIR/sys.json -node server
  go run DIR -config DIR/sys.json -archetype AClient -self 2

With ASHLAR_TRACE_DIR set the command writes traces; see 'ashlar trace check'.

The constants in the configuration (a .cfg as for check, or a sys.json) determine
the types of the compiled constants. Without --config, the .cfg beside the specification
is used if there is one. The compiled system reads its constants when it starts, and
refuses values of other types.

--check-invariants compiles invariants about the state that one process sees. They
are evaluated before each step commits, and a step that violates one ends the process.

Exit codes: 0 compiled; 150 errors in the specification; 151 errors in the
configuration; 1 files; 2 usage.`

// NewCompile makes the command.
func NewCompile(t *console.Terminal) *cobra.Command {
	var o compileOptions
	cmd := &cobra.Command{
		Use:   "compile FILE.tla -o DIR",
		Short: "Compile archetypes to a Go package",
		Long:  compileHelp,
		Example: `  ashlar compile specs/lockservice/lockservice.tla -o build/lockservice --main
  ashlar compile Spec.tla -o internal/spec --package spec --explain`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCompile(t, o, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.out, "out", "o", "", "the directory to write the package to (required)")
	f.StringVar(&o.pkg, "package", "", "the package's name (default: the algorithm's, in lower case)")
	f.BoolVar(&o.main, "main", false, "write a command and an example configuration")
	f.BoolVar(&o.explain, "explain", false, "report the type of each variable, or why it has none")
	f.StringSliceVar(&o.invariants, "check-invariants", nil, "invariants to check while the system runs: Inv1,Inv2")
	f.StringVar(&o.config, "config", "", "the file with the values of the constants (.cfg or .json)")
	o.library.AddTo(cmd)
	f.BoolVar(&o.json, "json", false, "write what was done, and diagnostics, as JSON")
	return cmd
}

// compiled is what compile reports to machines.
type compiled struct {
	Schema      string              `json:"schema"`
	Spec        string              `json:"spec"`
	Files       []string            `json:"files"`
	Explain     []string            `json:"explain,omitempty"`
	ExitCode    int                 `json:"exitCode"`
	Diagnostics []ashlar.Diagnostic `json:"diagnostics"`
}

func runCompile(t *console.Terminal, o compileOptions, path string) error {
	if o.out == "" {
		return exit.With(exit.Usage, errors.New("compile needs -o DIR"))
	}
	out := compiled{Schema: "ashlar-compile-1", Spec: specification.File(path), Files: []string{}, Diagnostics: []ashlar.Diagnostic{}}
	made, err := ashlar.Compile(path, ashlar.CompileOptions{Options: o.library.Options(o.config), Package: o.pkg, Main: o.main, Invariants: o.invariants})
	var wrong *ashlar.InputError
	switch {
	case errors.As(err, &wrong):
		out.ExitCode = exit.Input(wrong.Configuration)
		return tellCompiled(t, o, out, wrong.Diagnostics)
	case err != nil:
		return exit.Failed(err)
	}
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return exit.Failed(err)
	}
	for _, f := range made.Files {
		if err := out.write(filepath.Join(o.out, f.Name), f.Text); err != nil {
			return exit.Failed(err)
		}
	}
	example := filepath.Join(o.out, "sys.json")
	if _, err := os.Stat(example); err != nil && made.Example != nil { // it may have been edited
		if err := out.write(example, made.Example); err != nil {
			return exit.Failed(err)
		}
	}
	if o.explain {
		out.Explain = made.Explain
	}
	return tellCompiled(t, o, out, made.Warnings)
}

// write writes a file and lists it.
func (c *compiled) write(name string, text []byte) error {
	if err := file.Write(name, text, 0o666); err != nil {
		return err
	}
	c.Files = append(c.Files, name)
	return nil
}

func tellCompiled(t *console.Terminal, o compileOptions, out compiled, diags ashlar.Diagnostics) error {
	if o.json {
		out.Diagnostics = append(out.Diagnostics, diags.List...)
		if err := t.JSON(out); err != nil {
			return err
		}
	} else {
		diags.Print(t.Err)
		for _, f := range out.Files {
			fmt.Fprintln(t.Out, f)
		}
		for _, line := range out.Explain {
			fmt.Fprintln(t.Out, line)
		}
		if out.ExitCode == 0 && !insideModule(o.out) {
			fmt.Fprintf(t.Out, "%s is not in a Go module that requires %s: run 'go mod init' there and 'go get %s'\n", o.out, version.Module, version.Module)
		}
	}
	if out.ExitCode != 0 {
		return exit.With(out.ExitCode, nil)
	}
	return nil
}

// insideModule reports whether Go can find the packages that generated code
// imports.
func insideModule(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			return strings.Contains(string(text), version.Module)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
