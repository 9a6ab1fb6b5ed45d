package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

func newDedalusCommand(t *term) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dedalus",
		Short: "Protocols as rules: check them, lay them out, draw them",
		Long: `Programs in the Dedalus dialect (docs/lang/dedalus.md) say which facts hold on a
node at a tick, which hold at the next, and which are sent.

Exit codes: 0 it worked; 150 errors in the program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus check voting.ded
  ashlar dedalus fmt --write voting.ded
  ashlar dedalus graph voting.ded --svg voting.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDedalusCheckCommand(t), newDedalusFmtCommand(t), newDedalusGraphCommand(t), newDedalusRewriteCommand(t), newDedalusOptimizeCommand(t), newDedalusCalibrateCommand(t))
	cmd.AddCommand(newDedalusCompileCommand(t), newDedalusDeployCommand(t), newDedalusRunCommand(t), newDedalusLoadCommand(t))
	cmd.AddCommand(newDedalusCompareCommand(t), newDedalusSimulateCommand(t), newDedalusMutantsCommand(t))
	return cmd
}

// readDedalus reads a program up to where it is parsed.
func readDedalus(path string, diags *source.List) (*syntax.File, error) {
	text, err := files{}.ReadFile(path)
	if err != nil {
		return nil, failed(err)
	}
	return syntax.Parse(source.NewFile(path, text), diags), nil
}

// loadDedalus reads a program and reports what is wrong with it.
func loadDedalus(t *term, path string) (*logic.Program, error) {
	var diags source.List
	f, err := readDedalus(path, &diags)
	if err != nil {
		return nil, err
	}
	var p *logic.Program
	if !diags.HasErrors() {
		p = lower.Lower(f, &diags)
	}
	diags.Print(t.err)
	if p == nil {
		return nil, &exit{code: exitSpec}
	}
	return p, nil
}

// dedalusDocument is what check reports to machines.
type dedalusDocument struct {
	Schema      string             `json:"schema"`
	Program     string             `json:"program"`
	ExitCode    int                `json:"exitCode"`
	Components  []dedalusComponent `json:"components"`
	Diagnostics []source.Report    `json:"diagnostics"`
}

type dedalusComponent struct {
	Name      string   `json:"name"`
	Instances int      `json:"instances"`
	Rules     int      `json:"rules"`
	Strata    int      `json:"strata"`
	In        []string `json:"in"`
	Out       []string `json:"out"`
}

func newDedalusCheckCommand(t *term) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE.ded",
		Short: "Check a program, and tell what it is made of",
		Long: `Check reads a program and reports what is wrong with it: names, types, variables
that nothing binds, and relations that depend on their own absence or number
within a tick. It tells of each component what it receives and what it sends.

Exit codes: 0 nothing is wrong, though there may be warnings; 150 errors in the
program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus check voting.ded
  ashlar dedalus check --json voting.ded | jq .components`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runDedalusCheck(t, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func runDedalusCheck(t *term, path string, asJSON bool) error {
	var diags source.List
	f, err := readDedalus(path, &diags)
	if err != nil {
		return err
	}
	doc := dedalusDocument{Schema: "ashlar-dedalus-1", Program: path, Components: []dedalusComponent{}, Diagnostics: []source.Report{}}
	if !diags.HasErrors() {
		if p := lower.Lower(f, &diags); p != nil {
			doc.Components = dedalusComponents(p)
		}
	}
	if diags.HasErrors() {
		doc.ExitCode = exitSpec
	}
	if asJSON {
		doc.Diagnostics = append(doc.Diagnostics, diags.Reports()...)
		e := json.NewEncoder(t.out)
		e.SetIndent("", "  ")
		if err := e.Encode(doc); err != nil {
			return failed(err)
		}
	} else {
		diags.Print(t.err)
		for _, c := range doc.Components {
			fmt.Fprintf(t.out, "%s: %s, %s in %s\n", c.Name, many(c.Instances, "instance"), many(c.Rules, "rule"), many(c.Strata, "stratum"))
			fmt.Fprintf(t.out, "  receives %s\n  sends %s\n", list(c.In), list(c.Out))
		}
	}
	if doc.ExitCode != 0 {
		return &exit{code: doc.ExitCode}
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

func dedalusComponents(p *logic.Program) []dedalusComponent {
	names := func(rels []*logic.Relation) []string {
		out := []string{}
		for _, r := range rels {
			out = append(out, r.Name)
		}
		return out
	}
	var out []dedalusComponent
	for _, c := range p.Components {
		strata, _ := p.Strata(c) // a program that was lowered is stratified
		out = append(out, dedalusComponent{c.Name, c.Instances * c.Partitions, len(c.Rules), len(strata), names(p.In(c)), names(p.Out(c))})
	}
	return out
}
