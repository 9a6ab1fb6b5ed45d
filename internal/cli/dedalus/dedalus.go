// SPDX-License-Identifier: Apache-2.0

// Package dedalus is the command dedalus: it checks, draws, rewrites, compares,
// compiles and runs protocols that are written as rules.
//
// In: programs (*.ded) and, for some commands, steps, loads and measurements. Out:
// reports, rewritten programs, Go modules, processes on this machine. Refused: a step
// of a rewrite whose conditions do not hold, with the reason.
package dedalus

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// New makes the command dedalus.
func New(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dedalus",
		Short: "Protocols as rules: check, format, draw, rewrite, compile and run them",
		Long: `Programs in the Dedalus dialect (docs/lang/dedalus.md) say which facts hold on a
node in a tick, which hold in the next tick, and which are sent.

Exit codes: 0 success; 150 errors in the program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus check voting.ded
  ashlar dedalus fmt --write voting.ded
  ashlar dedalus graph voting.ded --svg voting.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCheckCommand(t), newFmtCommand(t), newGraphCommand(t), newRewriteCommand(t), newCertifyCommand(t), newOptimizeCommand(t), newCalibrateCommand(t))
	cmd.AddCommand(newCompileCommand(t), newDeployCommand(t), newRunCommand(t), newLoadCommand(t), newMeasureCommand(t))
	cmd.AddCommand(newCompareCommand(t), newSimulateCommand(t), newMutantsCommand(t))
	return cmd
}

// failed marks an error of the environment. If the error is that rules do not
// terminate, it is an evaluation error instead, because such a program has no
// value.
func failed(err error) error {
	var endless *interp.EndlessError
	if errors.As(err, &endless) {
		return exit.With(exit.Eval, err)
	}
	return exit.Failed(err)
}

// read reads and parses a program.
func read(path string, diags *source.List) (*syntax.File, error) {
	text, err := specification.Files{}.ReadFile(path)
	if err != nil {
		return nil, failed(err)
	}
	return syntax.Parse(source.NewFile(path, text), diags), nil
}

// load reads a program and reports its errors.
func load(t *console.Terminal, path string) (*logic.Program, error) {
	var diags source.List
	f, err := read(path, &diags)
	if err != nil {
		return nil, err
	}
	var p *logic.Program
	if !diags.HasErrors() {
		p = lower.Lower(f, &diags)
	}
	diags.Print(t.Err)
	if p == nil {
		return nil, exit.With(exit.Spec, nil)
	}
	return p, nil
}

// document is what check reports to machines.
type document struct {
	Schema      string          `json:"schema"`
	Program     string          `json:"program"`
	ExitCode    int             `json:"exitCode"`
	Components  []component     `json:"components"`
	Diagnostics []source.Report `json:"diagnostics"`
}

type component struct {
	Name      string   `json:"name"`
	Instances int      `json:"instances"`
	Rules     int      `json:"rules"`
	Strata    int      `json:"strata"`
	In        []string `json:"in"`
	Out       []string `json:"out"`
}

func newCheckCommand(t *console.Terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE.ded",
		Short: "Check a program, and list its components",
		Long: `Check reads a program and reports its errors: names, types, unbound variables, and
relations that depend on their own absence or count within a tick. For each component
it prints what the component receives and sends.

Exit codes: 0 nothing is wrong, though there may be warnings; 150 errors in the
program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus check voting.ded
  ashlar dedalus check --json voting.ded | jq .components`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCheck(t, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func runCheck(t *console.Terminal, path string, asJSON bool) error {
	var diags source.List
	f, err := read(path, &diags)
	if err != nil {
		return err
	}
	doc := document{Schema: "ashlar-dedalus-1", Program: path, Components: []component{}, Diagnostics: []source.Report{}}
	if !diags.HasErrors() {
		if p := lower.Lower(f, &diags); p != nil {
			doc.Components = components(p)
		}
	}
	if diags.HasErrors() {
		doc.ExitCode = exit.Spec
	}
	if asJSON {
		doc.Diagnostics = append(doc.Diagnostics, diags.Reports()...)
		if err := t.JSON(doc); err != nil {
			return err
		}
	} else {
		diags.Print(t.Err)
		for _, c := range doc.Components {
			fmt.Fprintf(t.Out, "%s: %s, %s in %s\n", c.Name, many(c.Instances, "instance"), many(c.Rules, "rule"), many(c.Strata, "stratum"))
			fmt.Fprintf(t.Out, "  receives %s\n  sends %s\n", list(c.In), list(c.Out))
		}
	}
	if doc.ExitCode != 0 {
		return exit.With(doc.ExitCode, nil)
	}
	return nil
}

func many(n int, what string) string {
	switch {
	case n == 1:
	case what == "stratum":
		what = "strata"
	case what == "process":
		what = "processes"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

func components(p *logic.Program) []component {
	names := func(rels []*logic.Relation) []string {
		out := []string{}
		for _, r := range rels {
			out = append(out, r.Name)
		}
		return out
	}
	var out []component
	for _, c := range p.Components {
		strata, _ := p.Strata(c) // a program that was lowered is stratified
		out = append(out, component{c.Name, c.Instances * c.Partitions, len(c.Rules), len(strata), names(p.In(c)), names(p.Out(c))})
	}
	return out
}
