// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/child"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gallina"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/lower"
	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// provedWithin bounds the time that the extracted checker may take for one
// step.
const provedWithin = time.Minute

func newCertifyCommand(t *console.Terminal) *cobra.Command {
	var proved string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "certify BEFORE.ded AFTER.ded CERTIFICATE.json",
		Short: "Check that one program is a correct rewriting of another",
		Long: `Certify reads two programs and a certificate, which ashlar dedalus rewrite --certificate
writes. It checks step by step that the second program is the first one, rewritten
as the certificate says, and that the conditions of each rewrite hold. It uses
nothing of the rewriter except the certificate (docs/format/certificate.md).

A step that is accepted is checked, not proved. With --proved it is also given to the
checker extracted from Coq ("make certifier" builds it). If that accepts it as well, a
theorem says that clients see nothing of the second program that they could not see of
the first, and the step is reported as proved (docs/proofs.md). For partition the theorem
covers runs in which no piece of the component crashes, for mutual runs in which neither
component crashes, and for relay inputs that may arrive more than once; the report of the
step says so. Each step is proved separately: no theorem covers a sequence of steps.

Exit codes: 0 all steps are accepted; 1 files, or the extracted checker failed; 2 usage;
12 a step is refused; 130 interrupted; 150 errors in a program or in the certificate.`,
		Example: `  ashlar dedalus rewrite cohash.ded --script cohash.steps -o out.ded --certificate out.json
  ashlar dedalus certify cohash.ded out.ded out.json
  ashlar dedalus certify cohash.ded out.ded out.json --proved build/certifier/dedalus-certifier`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCertify(cmd.Context(), t, args, proved, asJSON)
		},
	}
	cmd.Flags().StringVar(&proved, "proved", "", "also ask the extracted checker, the program in `FILE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

// certified is the report of certify about a step.
type certified struct {
	Rewrite   string `json:"rewrite"`
	Component string `json:"component"`
	Accepted  bool   `json:"accepted"`
	Because   string `json:"because,omitempty"`
	// Proved reports that the extracted checker accepts the step. NotProved is the
	// reason if it was asked and does not.
	Proved    bool   `json:"proved"`
	NotProved string `json:"notProved,omitempty"`
	// Assuming is what must hold of a run for the theorem to apply to it.
	Assuming []string `json:"assuming,omitempty"`
}

func runCertify(ctx context.Context, t *console.Terminal, args []string, proved string, asJSON bool) error {
	before, err := load(t, args[0])
	if err != nil {
		return err
	}
	after, err := load(t, args[1])
	if err != nil {
		return err
	}
	steps, err := readCertificate(args[2])
	if err != nil {
		return err
	}
	report := []certified{}
	refused := false
	for i, s := range steps {
		next := after
		if i < len(steps)-1 {
			if next, err = loadStep(t, args[2], i, s.Program); err != nil {
				return err
			}
		}
		r := certified{Rewrite: s.Claim.Kind, Component: s.Claim.Component}
		if err := certificate.Check(before, next, s.Claim); err != nil {
			r.Because = err.Error()
		} else if r.Accepted = true; proved != "" {
			if err = r.prove(ctx, proved, before, next, s.Claim); err != nil {
				return err
			}
		}
		report = append(report, r)
		if !asJSON {
			r.write(t, i+1, proved != "")
		}
		if refused = !r.Accepted; refused {
			break
		}
		before = next
	}
	code := exit.OK
	if refused {
		code = exit.Safety
	}
	note := ""
	if len(steps) > 1 && slices.ContainsFunc(report, func(r certified) bool { return r.Proved }) {
		note = "each step is proved separately, not their sequence"
		if !asJSON {
			fmt.Fprintln(t.Out, note)
		}
	}
	if asJSON {
		if err := t.JSON(struct {
			Schema   string      `json:"schema"`
			ExitCode int         `json:"exitCode"`
			Steps    []certified `json:"steps"`
			Note     string      `json:"note,omitempty"`
		}{"ashlar-dedalus-certify-1", code, report, note}); err != nil {
			return err
		}
	}
	if refused {
		return exit.With(code, nil)
	}
	return nil
}

func (r *certified) write(t *console.Terminal, n int, asked bool) {
	what := fmt.Sprintf("step %d, %s %s: ", n, r.Rewrite, r.Component)
	switch {
	case !r.Accepted:
		fmt.Fprintf(t.Err, "%srefused: %s\n", what, r.Because)
	case len(r.Assuming) > 0:
		fmt.Fprintf(t.Out, "%saccepted, and proved where %s\n", what, strings.Join(r.Assuming, " and "))
	case r.Proved:
		fmt.Fprintf(t.Out, "%saccepted, and proved\n", what)
	case asked:
		fmt.Fprintf(t.Out, "%saccepted; not proved: %s\n", what, r.NotProved)
	default:
		fmt.Fprintf(t.Out, "%saccepted\n", what)
	}
}

// readCertificate reads a certificate, up to the maximum length of one.
func readCertificate(path string) ([]certificate.Step, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, failed(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, certificate.FileBytesMax+1))
	if err != nil {
		return nil, failed(err)
	}
	steps, err := certificate.Decode(text)
	if err != nil {
		return nil, exit.With(exit.Spec, fmt.Errorf("%s: %w", path, err))
	}
	return steps, nil
}

func writeCertificate(path string, steps []certificate.Step) error {
	text, err := certificate.Encode(steps)
	if err != nil {
		return failed(err)
	}
	return failed(file.Write(path, text, 0o644))
}

// loadStep reads the program after a step from the certificate.
func loadStep(t *console.Terminal, path string, i int, text string) (*logic.Program, error) {
	var diags source.List
	f := syntax.Parse(source.NewFile(fmt.Sprintf("%s, the program after step %d", path, i+1), []byte(text)), &diags)
	var p *logic.Program
	if !diags.HasErrors() {
		p = lower.Lower(f, &diags)
	}
	if p == nil {
		diags.Print(t.Err)
		return nil, exit.With(exit.Spec, nil)
	}
	return p, nil
}

// prove runs the extracted checker and records its answer. It returns an error only if the
// checker itself fails.
func (r *certified) prove(ctx context.Context, checker string, before, after *logic.Program, c certificate.Claim) error {
	within, cancel := context.WithTimeout(ctx, provedWithin)
	defer cancel()
	question, err := gallina.Question(before, after, c)
	if err != nil {
		r.NotProved = err.Error()
		return nil
	}
	cmd := exec.CommandContext(within, checker)
	cmd.SysProcAttr = child.Attributes()
	cmd.Stdin = strings.NewReader(question.Text)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		switch {
		case ctx.Err() != nil:
			return exit.With(exit.Interrupted, errors.New("interrupted"))
		case within.Err() != nil:
			r.NotProved = fmt.Sprintf("the checker did not end within %v", provedWithin)
			return nil
		}
		return failed(fmt.Errorf("%s: %w\n%s", checker, err, &told))
	}
	switch answer := strings.TrimSpace(out.String()); answer {
	case "yes":
		r.Proved = true
		switch who := strings.Join(question.Immortal, " and "); len(question.Immortal) {
		case 0:
		case 1:
			r.Assuming = append(r.Assuming, "the pieces of "+who+" do not crash")
		default:
			r.Assuming = append(r.Assuming, who+" do not crash")
		}
		if len(question.Again) > 0 {
			r.Assuming = append(r.Assuming, "inputs "+strings.Join(question.Again, ", ")+" may reach the original program more often than clients send them")
		}
	case "no":
		r.NotProved = "the theorem's conditions do not hold, or the program is not of its form"
	default:
		return failed(fmt.Errorf("%s answered %q, expected yes or no", checker, answer))
	}
	return nil
}
