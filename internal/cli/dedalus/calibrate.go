// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// calibrateOptions are the flags of dedalus calibrate.
type calibrateOptions struct {
	load, out, where, measured string
	underWay                   int
	json                       bool
}

// calibrated is the JSON result of calibrate. Nodes gives, for each component, the
// predicted and measured costs in microseconds per command; Fitted is the result of
// --measured.
type calibrated struct {
	Schema      string            `json:"schema"`
	File        string            `json:"file,omitempty"`
	Calibration *cost.Calibration `json:"calibration"`
	Nodes       []calibratedNode  `json:"nodes"`
	Fitted      *cost.Validation  `json:"fitted,omitempty"`
}

type calibratedNode struct {
	Program   string  `json:"program"`
	Node      string  `json:"node"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

func newCalibrateCommand(t *console.Terminal) *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate [FILE.ded...]",
		Short: "Measure what messages, rules, functions and the log cost on this machine",
		Long: `Calibrate sends messages over a connection on this machine, writes to a disk, and
prints the measured costs as JSON, for dedalus optimize --calibration.

If programs are given, it compiles them, runs their components in one thread with their
loads, and measures the cost of a derived row, including reading and writing messages, of
a tick, and of the programs' functions from Go. It reports how far these costs are from
the measured time of each component. This needs Linux, the go command, and a directory in
which it finds this module.

With --measured, a directory in which bench/dedalus has written NAME.json for programs,
it fits all costs to the processor time that nodes have used, including connections, and
reports the error before and after.

The costs are the input of optimize. With --json a document goes to standard output
(ashlar-dedalus-calibrate-1): the costs, how far they are from the measured times, in
microseconds for a command, and the fit. With -o the costs are written as well.

Exit codes: 0 success; 130 interrupted; 150 errors in a program or load; 1 files and
commands; 2 usage.`,
		Example: `  ashlar dedalus calibrate -o costs.json
  ashlar dedalus calibrate examples/dedalus/voting.ded examples/dedalus/mutual.ded -o costs.json
  ashlar dedalus calibrate examples/dedalus/*.ded --measured DIR -o costs.json
  ashlar dedalus calibrate voting.ded --json -o costs.json | jq .nodes
  ashlar dedalus optimize voting.ded --calibration costs.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			if o.underWay < 1 {
				return exit.With(exit.Usage, errors.New("--under-way must be a positive number"))
			}
			err := runCalibrate(ctx, t, args, o)
			if err != nil && ctx.Err() != nil {
				return exit.Stopped(ctx) // nothing was written
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.load, "load", "", "the load, from `FILE`; for one program")
	f.StringVarP(&o.out, "out", "o", "", "write the costs to `FILE`, in place of standard output")
	f.StringVar(&o.measured, "measured", "", "fit costs to the measurements in `DIR`")
	f.IntVar(&o.underWay, "under-way", int(cost.DefaultCalibration().UnderWay), "commands under way at once in a busy deployment, and in the measurements")
	f.StringVar(&o.where, "where", "", "a name for this machine")
	f.BoolVar(&o.json, "json", false, "write the costs and their errors as JSON")
	return cmd
}

func runCalibrate(ctx context.Context, t *console.Terminal, paths []string, o calibrateOptions) error {
	if o.load != "" && len(paths) != 1 {
		return exit.With(exit.Usage, errors.New("--load is for one program"))
	}
	c := cost.DefaultCalibration()
	c.Machine, c.UnderWay = o.where, float64(o.underWay)
	if o.where == "" {
		c.Machine = fmt.Sprintf("%s/%s with %s", runtime.GOOS, runtime.GOARCH, many(runtime.NumCPU(), "processor"))
	}
	if err := calibrateMessages(ctx, c); err != nil {
		return failed(err)
	}
	if err := calibrateDisk(c); err != nil {
		return failed(err)
	}
	doc := &calibrated{Schema: "ashlar-dedalus-calibrate-1", File: o.out, Calibration: c, Nodes: []calibratedNode{}}
	programs, err := doc.measure(ctx, t, paths, o)
	if err != nil {
		return err
	}
	if o.measured != "" {
		fitted, v, err := fitMeasured(ctx, t, doc.Calibration, programs, o.measured)
		if err != nil {
			return failed(err)
		}
		doc.Calibration, doc.Fitted = fitted, v
		if !o.json {
			writeValidation(t.Err, v)
		}
	}
	return doc.write(t, o)
}

// measure compiles and runs programs, and replaces the given costs by the measured
// ones.
func (doc *calibrated) measure(ctx context.Context, t *console.Terminal, paths []string, o calibrateOptions) ([]loadedProgram, error) {
	var runs []cost.Compiled
	var programs []loadedProgram
	for _, path := range paths {
		p, err := load(t, path)
		if err != nil {
			return nil, err
		}
		l, err := readLoad(t, p, path, o.load)
		if err != nil {
			return nil, err
		}
		r, functions, err := runCompiled(ctx, p, l)
		if err != nil {
			return nil, failed(err)
		}
		for name, us := range functions {
			doc.Calibration.Functions[name] = us
		}
		runs = append(runs, r...)
		programs = append(programs, loadedProgram{p, l})
	}
	if len(runs) == 0 {
		return programs, nil
	}
	c, errs := doc.Calibration.FitRules(runs)
	doc.Calibration = c
	for _, e := range errs {
		doc.Nodes = append(doc.Nodes, calibratedNode{e.Program, e.Node, e.Measured, e.Predicted})
	}
	if !o.json {
		tellRules(t, errs)
	}
	return programs, nil
}

// write writes the costs to the file, or reports them as JSON with --json.
func (doc *calibrated) write(t *console.Terminal, o calibrateOptions) error {
	text, err := json.MarshalIndent(doc.Calibration, "", "  ")
	if err != nil {
		return failed(err)
	}
	text = append(text, '\n')
	if o.out != "" {
		if err := file.Write(o.out, text, 0o644); err != nil {
			return failed(err)
		}
	}
	switch {
	case o.json:
		return t.JSON(doc)
	case o.out == "":
		_, err := t.Out.Write(text)
		return failed(err)
	}
	return nil
}

// loadedProgram is a program with its load.
type loadedProgram struct {
	*logic.Program
	load *cost.Load
}

// fitMeasured fits the costs to the measurements in a folder and returns the
// remaining errors.
func fitMeasured(ctx context.Context, t *console.Terminal, c *cost.Calibration, programs []loadedProgram, dir string) (*cost.Calibration, *cost.Validation, error) {
	var seen []cost.Observation
	for _, p := range programs {
		file := filepath.Join(dir, p.Name+".json")
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(t.Err, "%s has no measurements\n", p.Name)
			continue
		}
		o, err := observation(ctx, p.Program, p.load, c, file)
		if err != nil {
			return nil, nil, err
		}
		seen = append(seen, o)
	}
	fitted, v, err := c.Fit(seen)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return fitted, v, nil
}

// errorsShown is the number of errors that calibrate shows, largest first.
const errorsShown = 5

// tellRules shows the difference between the predicted costs of rules and the
// measured costs of nodes.
func tellRules(t *console.Terminal, errs []cost.RuleError) {
	mean := 0.0
	for i, e := range errs {
		if i < errorsShown {
			fmt.Fprintf(t.Err, "%s %s: %.2f us a command without connections, predicted %.2f (%+.0f%%)\n", e.Program, e.Node,
				e.Measured, e.Predicted, 100*(e.Predicted/e.Measured-1))
		}
		mean += math.Abs(e.Predicted-e.Measured) / e.Measured / float64(len(errs))
	}
	fmt.Fprintf(t.Err, "mean error %.0f%% over %s\n", 100*mean, many(len(errs), "node"))
}
