// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/certificate"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// rewriteOptions are the flags of dedalus rewrite.
type rewriteOptions struct {
	steps  []string
	script string
	out    string
	// certificate is the file to which the command writes the certificate.
	certificate string
	explain     bool
	json        bool
	// skip disables the comparison of the result with the program.
	skip bool
}

func newRewriteCommand(t *console.Terminal) *cobra.Command {
	var o rewriteOptions
	cmd := &cobra.Command{
		Use:   "rewrite FILE.ded",
		Short: "Rewrite a protocol to run on more machines",
		Long: `Rewrite applies steps, one after the other, and writes the resulting program. A
step is refused if the program does not allow it; the message names the rules and
literals that prevent it.

Steps:
  mutual|functional|monotonic|statemachine|asymmetric COMPONENT rules N... as NAME
      moves rules of a component to one of their own
  relay COMPONENT as NAME
      moves all rules of a component to a new one, to which inputs from outside and
      timers are forwarded; the new one can be divided
  partition COMPONENT into N [RELATION by COLUMN ...]
      divides a component's facts among N machines
  partial COMPONENT into N [RELATION by COLUMN ...]
      divides the facts with a key; those without one go to all N in one order

--explain prints the numbers of rules, before the first step and after each.

` + trialHelp + `

Exit codes: 0 all steps were applied; 12 a step was refused, or the result outputs what
the original does not; 13 it comes to rest where the original does not; 130
interrupted; 150 errors in the program; 1 files; 2 usage.`,
		Example: `  ashlar dedalus rewrite storage.ded --explain
  ashlar dedalus rewrite storage.ded --apply 'partition storage into 2' -o storage2.ded
  ashlar dedalus rewrite storage.ded --script steps.txt --explain
  ashlar dedalus rewrite storage.ded --script steps.txt -o storage2.ded --certificate storage2.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRewrite(cmd.Context(), t, o, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&o.steps, "apply", nil, "apply a `STEP`; may be repeated")
	f.StringVar(&o.script, "script", "", "apply the steps in `FILE`, one per line; # begins a comment")
	f.StringVarP(&o.out, "out", "o", "", "write the program to `FILE` instead of standard output")
	f.StringVar(&o.certificate, "certificate", "", "write a certificate of the steps to `FILE`, for ashlar dedalus certify")
	f.BoolVar(&o.explain, "explain", false, "print what each step did and what it rests on")
	f.BoolVar(&o.json, "json", false, "write the steps and what they rest on as JSON, and the program to --out only")
	f.BoolVar(&o.skip, "no-compare", false, "do not compare the result with the program")
	return cmd
}

// step is the report of a step.
type step struct {
	Step     string            `json:"step"`
	Taken    bool              `json:"taken"`
	Because  []string          `json:"because,omitempty"`
	Moved    []string          `json:"moved,omitempty"`
	Copied   []string          `json:"copied,omitempty"`
	Keys     map[string]string `json:"keys,omitempty"`
	Assuming []string          `json:"assuming,omitempty"`
	// Replicated, Sealed, Depth and Settling describe a partial partitioning.
	Replicated []string `json:"replicated,omitempty"`
	Sealed     []string `json:"sealed,omitempty"`
	Depth      int      `json:"depth,omitempty"`
	Settling   bool     `json:"settling,omitempty"`
}

func runRewrite(ctx context.Context, t *console.Terminal, o rewriteOptions, path string) error {
	steps, err := o.parse()
	if err != nil {
		return err
	}
	if o.certificate != "" && len(steps) == 0 {
		return exit.With(exit.Usage, errors.New("--certificate: there are no steps to certify"))
	}
	p, err := load(t, path)
	if err != nil {
		return err
	}
	if o.explain {
		explainRules(t, p)
	}
	original, told := p, []step{}
	var certified []certificate.Step
	var refused *rewrite.Refusal
	for _, s := range steps {
		q, cert, err := takeStep(p, s)
		if err != nil && !errors.As(err, &refused) {
			return exit.With(exit.Usage, err)
		}
		told = append(told, tellStep(q, s, cert, refused))
		if refused != nil {
			break
		}
		certified = append(certified, certificate.Step{Claim: cert.Claim(p), Program: q.String()})
		p = q
		if o.explain {
			explainStep(t, told[len(told)-1])
			explainRules(t, p)
		}
	}
	var compared *comparedSteps
	if refused == nil && len(steps) > 0 {
		if compared, err = try(ctx, original, p, o.skip); err != nil {
			return err
		}
	}
	if o.json {
		if err := t.JSON(struct {
			Schema   string         `json:"schema"`
			Steps    []step         `json:"steps"`
			Compared *comparedSteps `json:"compared,omitempty"`
		}{"ashlar-dedalus-rewrite-1", told, compared}); err != nil {
			return err
		}
	}
	if refused != nil {
		if !o.json {
			fmt.Fprintln(t.Err, refused)
		}
		return exit.With(exit.Safety, nil)
	}
	if compared != nil {
		if !o.json {
			compared.write(t.Err)
		}
		if code := compared.code(); code != 0 {
			return exit.With(code, nil)
		}
	}
	if o.certificate != "" {
		if err := writeCertificate(o.certificate, certified); err != nil {
			return err
		}
	}
	switch {
	case o.out != "":
		return failed(file.Write(o.out, []byte(p.String()), 0o644))
	case !o.json && !o.explain:
		_, err := t.Out.Write([]byte(p.String()))
		return failed(err)
	}
	return nil
}

// takeStep applies a step and has the certificate checked by code that shares
// nothing with the rewriter. A step that this checker cannot derive again is refused
// as well.
func takeStep(p *logic.Program, s rewrite.Step) (*logic.Program, *rewrite.Certificate, error) {
	q, cert, err := rewrite.Apply(p, s)
	if err != nil {
		return nil, nil, err
	}
	if err := certificate.Check(p, q, cert.Claim(p)); err != nil {
		why := analyze.Blocker{Why: "the certificate is not accepted: " + err.Error(), Help: "check whether names in the program look like names that rewrites make"}
		return nil, nil, &rewrite.Refusal{Step: s, Verdict: analyze.Verdict{Because: []analyze.Blocker{why}}}
	}
	return q, cert, nil
}

// parse parses the steps of the command line and of the script.
func (o *rewriteOptions) parse() ([]rewrite.Step, error) {
	lines := o.steps
	if o.script != "" {
		text, err := os.ReadFile(o.script)
		if err != nil {
			return nil, failed(err)
		}
		for _, l := range strings.Split(string(text), "\n") {
			if l, _, _ = strings.Cut(l, "#"); strings.TrimSpace(l) != "" {
				lines = append(lines, l)
			}
		}
	}
	var steps []rewrite.Step
	for _, l := range lines {
		s, err := rewrite.ParseStep(l)
		if err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func tellStep(p *logic.Program, s rewrite.Step, cert *rewrite.Certificate, refused *rewrite.Refusal) step {
	d := step{Step: s.String(), Taken: refused == nil}
	if refused != nil {
		for _, b := range refused.Verdict.Because {
			d.Because = append(d.Because, b.String())
		}
		return d
	}
	d.Moved, d.Copied = cert.Moved, cert.Copied
	if r := cert.Partial; r != nil {
		d.Replicated, d.Sealed, d.Depth, d.Settling = r.Replicated, r.Sealed, r.Depth, r.Settling
	}
	for rel, k := range cert.Keys {
		if d.Keys == nil {
			d.Keys = map[string]string{}
		}
		d.Keys[rel] = k.Name(p.Find(rel))
	}
	for _, a := range cert.Assuming {
		d.Assuming = append(d.Assuming, a.String())
	}
	return d
}

func explainStep(t *console.Terminal, d step) {
	fmt.Fprintf(t.Out, "\n%s\n", d.Step)
	for _, r := range d.Copied {
		fmt.Fprintf(t.Out, "  both sides read %s: the new component reads a copy\n", r)
	}
	var keys []string
	for r, k := range d.Keys {
		keys = append(keys, r+" by "+k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(t.Out, "  divides %s\n", k)
	}
	for _, r := range d.Replicated {
		fmt.Fprintf(t.Out, "  all pieces receive %s, in one order\n", r)
	}
	if d.Settling {
		fmt.Fprintf(t.Out, "  a piece that continues by itself votes when it has come to rest\n")
	}
	for _, r := range d.Sealed {
		fmt.Fprintf(t.Out, "  seals %s: its receiver takes what all pieces send, or nothing\n", r)
	}
	for _, a := range d.Assuming {
		fmt.Fprintf(t.Out, "  assuming %s\n", a)
	}
	fmt.Fprintln(t.Out)
}

func explainRules(t *console.Terminal, p *logic.Program) {
	for _, c := range p.Components {
		fmt.Fprintf(t.Out, "%s × %d", c.Name, c.Instances*c.Partitions)
		if c.Of != c.Name {
			fmt.Fprintf(t.Out, ", a piece of %s", c.Of)
		}
		fmt.Fprintln(t.Out)
		for i, r := range c.Rules {
			fmt.Fprintf(t.Out, "%4d  %v\n", i+1, r)
		}
	}
}
