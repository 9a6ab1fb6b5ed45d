// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/evidence/dedalus/mutants"
)

func newMutantsCommand(t *console.Terminal) *cobra.Command {
	var asJSON, markdown bool
	var only string
	cmd := &cobra.Command{
		Use:   "mutants",
		Short: "Show how wrong rewrites and protocols are found",
		Long: `Mutants tries a table of mistakes: wrong rewrites that an engineer might write by hand,
the mistakes of published rules, certificates that do not say what was done, and wrong
protocols. Each must be found by the certificate's checker, by exploration, or by runs
under an adversary; the table says by which, and with which message.

Exit codes: 0 all were found as the table says; 12 one was not; 130 interrupted;
1 files; 2 usage.`,
		Example: `  ashlar dedalus mutants
  ashlar dedalus mutants --only B4
  ashlar dedalus mutants --markdown > docs/dedalus-mutants.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMutants(cmd.Context(), t, only, asJSON, markdown)
		},
	}
	cmd.Flags().StringVar(&only, "only", "", "try only mistakes whose names contain `TEXT`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the table as JSON")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "write the table as a page")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// mutant is a row of the JSON result.
type mutant struct {
	Name        string `json:"name"`
	About       string `json:"about"`
	Found       bool   `json:"found"`
	Certificate string `json:"certificate"`
	Exploration string `json:"exploration"`
	Adversary   string `json:"adversary"`
	Wrong       string `json:"wrong,omitempty"` // where the table says otherwise
}

func runMutants(ctx context.Context, t *console.Terminal, only string, asJSON, markdown bool) error {
	var results []*mutants.Result
	rows := []mutant{}
	code := 0
	for _, r := range mutants.Table() {
		if !strings.Contains(r.Name, only) {
			continue
		}
		got, err := mutants.Try(ctx, r)
		if ctx.Err() != nil {
			code = exit.Interrupted
			break
		}
		if err != nil {
			return exit.With(exit.Safety, err)
		}
		d := mutant{r.Name, r.About, got.Found(), got.CertificateText(), got.ExploredText(), got.RandomText(), got.Wrong()}
		if !d.Found || d.Wrong != "" {
			code = exit.Safety
		}
		results, rows = append(results, got), append(rows, d)
		if !asJSON && !markdown {
			printMutant(t, d)
		}
	}
	switch {
	case len(rows) == 0 && code == 0:
		return exit.With(exit.Usage, fmt.Errorf("--only %s: no mistake has a name that contains it", only))
	case asJSON:
		if err := t.JSON(struct {
			Schema string   `json:"schema"`
			Rows   []mutant `json:"rows"`
		}{"ashlar-dedalus-mutants-1", rows}); err != nil {
			return err
		}
	case markdown:
		if _, err := io.WriteString(t.Out, mutants.Document(results)); err != nil {
			return failed(err)
		}
	}
	if code != 0 {
		return exit.With(code, nil)
	}
	return nil
}

func printMutant(t *console.Terminal, d mutant) {
	p := console.NewPalette(t.OutTTY)
	verdict := p.Good("found")
	if !d.Found {
		verdict = p.Bad("not found")
	}
	plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "\\|", "|")
	fmt.Fprintf(t.Out, "%s: %s\n  certificate  %s\n  exploration  %s\n  adversary    %s\n", d.Name, verdict,
		plain.Replace(d.Certificate), plain.Replace(d.Exploration), plain.Replace(d.Adversary))
	if d.Wrong != "" {
		fmt.Fprintf(t.Out, "  %s %s\n", p.Bad("not as the table says:"), d.Wrong)
	}
}
