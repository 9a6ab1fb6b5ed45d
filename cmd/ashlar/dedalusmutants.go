package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/mutants"
)

func newDedalusMutantsCommand(t *term) *cobra.Command {
	var asJSON, markdown bool
	var only string
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Show how wrong rewrites and protocols are found",
		Long: `Mutants tries a table of mistakes: rewrites as somebody might write them by hand, the
mistakes that the published rules have, certificates that do not say what was done,
and wrong protocols. Each must be found by the certificate's checker, by exploration,
or by runs under an adversary; the table says by which, and in which words.

Exit codes: 0 all were found as the table says; 12 one was not; 130 interrupted;
1 files; 2 usage.`,
		Example: `  ashlar dedalus mutants
  ashlar dedalus mutants --only B4
  ashlar dedalus mutants --markdown > docs/dedalus-mutants.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDedalusMutants(cmd.Context(), t, only, asJSON, markdown)
		},
	}
	cmd.Flags().StringVar(&only, "only", "", "try those whose names have this `TEXT` in them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the table as JSON")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "write the table as a page")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// dedalusMutant is a row for machines.
type dedalusMutant struct {
	Name        string `json:"name"`
	About       string `json:"about"`
	Found       bool   `json:"found"`
	Certificate string `json:"certificate"`
	Exploration string `json:"exploration"`
	Adversary   string `json:"adversary"`
	Wrong       string `json:"wrong,omitempty"` // where the table says otherwise
}

func runDedalusMutants(ctx context.Context, t *term, only string, asJSON, markdown bool) error {
	var results []*mutants.Result
	rows := []dedalusMutant{}
	code := 0
	for _, r := range mutants.Table() {
		if !strings.Contains(r.Name, only) {
			continue
		}
		got, err := mutants.Try(ctx, r)
		if ctx.Err() != nil {
			code = exitInterrupted
			break
		}
		if err != nil {
			return &exit{exitSafety, err}
		}
		d := dedalusMutant{r.Name, r.About, got.Found(), got.CertificateText(), got.ExploredText(), got.RandomText(), got.Wrong()}
		if !d.Found || d.Wrong != "" {
			code = exitSafety
		}
		results, rows = append(results, got), append(rows, d)
		if !asJSON && !markdown {
			printMutant(t, d)
		}
	}
	switch {
	case len(rows) == 0 && code == 0:
		return &exit{exitUsage, fmt.Errorf("--only %s: no mistake has that in its name", only)}
	case asJSON:
		e := json.NewEncoder(t.out)
		e.SetIndent("", "  ")
		if err := e.Encode(struct {
			Schema string          `json:"schema"`
			Rows   []dedalusMutant `json:"rows"`
		}{"ashlar-dedalus-mutants-1", rows}); err != nil {
			return failed(err)
		}
	case markdown:
		if _, err := io.WriteString(t.out, mutants.Document(results)); err != nil {
			return failed(err)
		}
	}
	if code != 0 {
		return &exit{code: code}
	}
	return nil
}

func printMutant(t *term, d dedalusMutant) {
	p := newPalette(t.outTTY)
	verdict := p.good("found")
	if !d.Found {
		verdict = p.bad("not found")
	}
	plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "\\|", "|")
	fmt.Fprintf(t.out, "%s: %s\n  certificate  %s\n  exploration  %s\n  adversary    %s\n", d.Name, verdict,
		plain.Replace(d.Certificate), plain.Replace(d.Exploration), plain.Replace(d.Adversary))
	if d.Wrong != "" {
		fmt.Fprintf(t.out, "  %s %s\n", p.bad("otherwise than the table says:"), d.Wrong)
	}
}
