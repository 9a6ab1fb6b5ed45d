// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// optimizeOptions are the flags of dedalus optimize.
type optimizeOptions struct {
	load, calibration, measured string
	report, out                 string
	json, verbose, progress     bool
	skip                        bool // the comparison of what results with the program
	time                        time.Duration
	search                      cost.Options
}

func newOptimizeCommand(t *console.Terminal) *cobra.Command {
	var o optimizeOptions
	cmd := &cobra.Command{
		Use:   "optimize FILE.ded",
		Short: "Choose the rewrites with the highest throughput on a number of machines",
		Long: `Optimize runs a program on a small workload, counts the work of each node for a
command, and searches for rewrites that take work from the busiest node: components are
decoupled, and divided among the available machines. Each step is one of
dedalus rewrite, and its certificate is checked. For each step it prints the
bottleneck, what the step does, what it rests on, and what else was tried. For a
component that remains the bottleneck it prints what prevents further rewrites, and what
the author can do.

Throughput is modelled from the costs of messages, rules, functions and the log. With
--measured, the processor time that nodes have used for a command, the costs are first
fitted to the measurements, and the error of the prediction is reported.

A load describes the clients (docs/lang/dedalus.md). Without --load, FILE.load beside
the program is read; if there is none, every input gets one fact for each command.

` + trialHelp + `

Exit codes: 0 success; 12 the rewritten program outputs what the original does not; 13 it
comes to rest where the original does not; 130 interrupted, after reporting what was found; 150
errors in the program or the load; 1 files, or a load that is not answered; 2 usage.`,
		Example: `  ashlar dedalus optimize voting.ded --machines 20
  ashlar dedalus optimize voting.ded --machines 20 -o voting.steps --report voting.html
  ashlar dedalus rewrite voting.ded --script voting.steps -o voting20.ded`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runOptimize(ctx, t, o, args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.search.Machines, "machines", 20, "how many machines there are")
	f.StringVar(&o.load, "load", "", "the load, from `FILE`")
	f.StringVar(&o.calibration, "calibration", "", "costs, from a `FILE` that dedalus calibrate wrote")
	f.StringVar(&o.measured, "measured", "", "processor time of nodes, from `FILE`, to compare with and to fit costs to")
	f.StringVarP(&o.out, "out", "o", "", "write the steps to `FILE`, for dedalus rewrite --script")
	f.StringVar(&o.report, "report", "", "write a page about it to `FILE`")
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "report everything that was tried")
	f.BoolVar(&o.progress, "progress", t.ErrTTY, "report how far the search is")
	f.DurationVar(&o.time, "time", 0, "end the search after this time, with what was found (default: never)")
	f.BoolVar(&o.skip, "no-compare", false, "do not compare the result with the program")
	f.IntVar(&o.search.Programs, "programs", 0, "profile at most this many programs (default 2000)")
	f.IntVar(&o.search.Width, "width", 0, "continue with this many programs at each depth (default 4)")
	f.IntVar(&o.search.Depth, "depth", 0, "decouple components at most this many times (default 10)")
	return cmd
}

func runOptimize(ctx context.Context, t *console.Terminal, o optimizeOptions, path string) error {
	if o.search.Machines < 1 || o.time < 0 || o.search.Programs < 0 || o.search.Width < 0 || o.search.Depth < 0 {
		return exit.With(exit.Usage, errors.New("numbers of machines, programs, widths, depths and times must be positive"))
	}
	p, err := load(t, path)
	if err != nil {
		return err
	}
	load, err := readLoad(t, p, path, o.load)
	if err != nil {
		return err
	}
	costs, validation, err := o.costs(ctx, p, load)
	if err != nil {
		return failed(err)
	}
	if o.progress {
		o.search.Progress = func(g cost.Progress) {
			fmt.Fprintf(t.Err, "depth %d: %s profiled, %s refused, best %s commands/s\n", g.Depth, many(g.Programs, "program"),
				many(g.Refused, "way"), console.Count(int64(g.Best)))
		}
	}
	if o.time > 0 {
		c, cancel := context.WithTimeout(ctx, o.time)
		defer cancel()
		ctx = c
	}
	r, err := cost.Optimize(ctx, p, load, costs, o.search)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return exit.With(exit.Interrupted, errors.New("interrupted before the program was profiled"))
	}
	if err != nil {
		return failed(err)
	}
	doc := &optimizeDocument{Schema: "ashlar-dedalus-optimize-1", Program: path, Machines: o.search.Machines, Modelled: true,
		Calibration: costs, Validation: validation, Result: r}
	if doc.Compared, err = o.compare(ctx, p, r); err != nil {
		return err
	}
	return o.tell(ctx, t, doc)
}

// compare compares the program with the result of a result's steps.
func (o *optimizeOptions) compare(ctx context.Context, p *logic.Program, r *cost.Result) (*comparedSteps, error) {
	if len(r.Steps) == 0 || r.Stopped == "interrupted" {
		return nil, nil
	}
	after := p
	for _, c := range r.Steps {
		s, err := rewrite.ParseStep(c.Step)
		if err == nil {
			after, _, err = takeStep(after, s)
		}
		invariant.Check(err == nil, "optimize: a step that was accepted before is now refused: %v", err)
	}
	return try(ctx, p, after, o.skip)
}

// optimizeDocument is the result of optimize as JSON, which its page also
// shows.
type optimizeDocument struct {
	Schema   string `json:"schema"`
	Program  string `json:"program"`
	Machines int    `json:"machines"`
	// Modelled reports that throughput is predicted and not measured.
	Modelled    bool              `json:"modelled"`
	Calibration *cost.Calibration `json:"calibration"`
	Validation  *cost.Validation  `json:"validation,omitempty"`
	// Compared describes the comparison of the rewritten program with the original;
	// nil if there are no steps.
	Compared *comparedSteps `json:"compared,omitempty"`
	*cost.Result
}

// tell prints the result in each form that the flags ask for.
func (o *optimizeOptions) tell(ctx context.Context, t *console.Terminal, d *optimizeDocument) error {
	code := 0
	if d.Compared != nil {
		code = d.Compared.code()
	}
	if code != 0 {
		// Steps that change the program's behaviour are useless.
		if !o.json {
			d.Compared.write(t.Err)
			return exit.With(code, nil)
		}
		o.out, o.report = "", ""
	}
	if o.out != "" {
		if err := file.Write(o.out, []byte(d.script()), 0o644); err != nil {
			return failed(err)
		}
	}
	if o.report != "" {
		// Write the page even if the search was interrupted.
		if err := writeOptimizePage(context.WithoutCancel(ctx), o.report, d); err != nil {
			return failed(err)
		}
	}
	if o.json {
		if err := t.JSON(d); err != nil {
			return err
		}
	} else {
		writeOptimizeText(t.Out, d, console.NewPalette(t.OutTTY), o.verbose)
	}
	if d.Stopped == "interrupted" {
		code = exit.Interrupted
	}
	if code != 0 {
		return exit.With(code, nil)
	}
	return nil
}

// script returns the steps in the form that dedalus rewrite reads, each with
// its reason.
func (d *optimizeDocument) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Chosen for %s on %s: %s commands/s on %d, %.2f times as many as before; modelled.\n",
		d.Result.Original.Name, many(d.Machines, "machine"), console.Count(int64(d.After.Throughput)), d.After.Machines, d.gain())
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "# %s was the bottleneck with %.2f us a command: %s commands/s after this step.\n%s\n",
			s.Attacked, s.AttackedLoad, console.Count(int64(s.After)), s.Step)
	}
	return b.String()
}

func (d *optimizeDocument) gain() float64 { return d.After.Throughput / d.Before.Throughput }

// readLoad reads the requested load, or else the one beside the program, or else
// uses a default.
func readLoad(t *console.Terminal, p *logic.Program, program, path string) (*cost.Load, error) {
	if beside := strings.TrimSuffix(program, ".ded") + ".load"; path == "" && beside != program {
		if _, err := os.Stat(beside); err == nil {
			path = beside
		}
	}
	if path == "" {
		if l := cost.DefaultLoad(p); l != nil {
			return l, nil
		}
		return nil, failed(fmt.Errorf("%s has no inputs, so clients can send it nothing", p.Name))
	}
	text, err := specification.Files{}.ReadFile(path)
	if err != nil {
		return nil, failed(err)
	}
	var diags source.List
	l := cost.ParseLoad(source.NewFile(path, text), p, &diags)
	diags.Print(t.Err)
	if l == nil {
		return nil, exit.With(exit.Spec, nil)
	}
	return l, nil
}

// costs returns the costs from the calibration, fitted to measurements.
func (o *optimizeOptions) costs(ctx context.Context, p *logic.Program, l *cost.Load) (*cost.Calibration, *cost.Validation, error) {
	c := cost.DefaultCalibration()
	if o.calibration != "" {
		text, err := os.ReadFile(o.calibration)
		if err != nil {
			return nil, nil, err
		}
		if c, err = cost.ReadCalibration(text); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.calibration, err)
		}
	}
	if o.measured == "" {
		return c, nil, nil
	}
	seen, err := observation(ctx, p, l, c, o.measured)
	if err != nil {
		return nil, nil, err
	}
	fitted, v, err := c.Fit([]cost.Observation{seen})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.measured, err)
	}
	return fitted, v, nil
}

// observation reads measurements of a program, for comparison with the
// predictions.
func observation(ctx context.Context, p *logic.Program, l *cost.Load, c *cost.Calibration, measured string) (cost.Observation, error) {
	o := cost.Observation{Program: p.Name}
	text, err := os.ReadFile(measured)
	if err != nil {
		return o, err
	}
	if o.Measured, err = cost.ReadMeasured(text); err != nil {
		return o, fmt.Errorf("%s: %w", measured, err)
	}
	profile, err := cost.Run(ctx, p, l)
	if err != nil {
		return o, err
	}
	o.Estimate, _ = cost.Measure(p, l, c, profile)
	return o, nil
}
