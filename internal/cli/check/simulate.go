// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// simulateOptions are the flags of simulate.
type simulateOptions struct {
	checkOptions
	depth    int
	number   int64
	seed     uint64
	duration time.Duration
}

const simulateHelp = `Simulate walks through the states of a specification at random: it starts in an
initial state and repeatedly goes to one of all successors. It finds violations where
there are too many states to visit them all; if it finds none, that shows nothing
about the states that it did not visit.

Invariants and action properties are evaluated on every successor that is computed
on the way. Properties of behaviours are not checked. Walk number i of a seed is
always the same for any --workers, so a run can be repeated with the seed that it
printed. The trace of a violation is shortened where one step leads from one of its
states to a later one.

Exit codes: 0 nothing was wrong; otherwise as ashlar check.`

// NewSimulate makes the command simulate.
func NewSimulate(t *console.Terminal) *cobra.Command {
	o := simulateOptions{number: 10_000, depth: check.DepthDefault}
	cmd := &cobra.Command{
		Use:   "simulate FILE.tla",
		Short: "Walk through the states of a specification at random",
		Long:  simulateHelp,
		Example: `  ashlar simulate specs/twophase/twophase.tla --config specs/twophase/twophase8.cfg
  ashlar simulate --num 0 --duration 10m --depth 500 Spec.tla
  ashlar simulate --seed 42 --json Spec.tla | jq .walks`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				o.seed = uint64(time.Now().UnixNano()) % 1e9
			}
			return runSimulate(cmd.Context(), t, o, args[0], loadSpecification)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	o.library.AddTo(cmd)
	o.crashes.addTo(f)
	f.IntVar(&o.depth, "depth", o.depth, "at most `N` states in a walk")
	f.Int64Var(&o.number, "num", o.number, "make `N` walks; 0: until --duration or an interrupt")
	f.DurationVar(&o.duration, "duration", 0, "stop after a `TIME` such as 30s or 10m")
	f.Uint64Var(&o.seed, "seed", 0, "the `SEED` of the walks (default: a different one each time, which is printed)")
	f.IntVarP(&o.workers, "workers", "w", 0, "how many `N` goroutines walk (default: one per processor)")
	f.BoolVar(&o.deadlock, "deadlock", true, "report deadlock, unless the configuration says not to")
	f.BoolVar(&o.json, "json", false, "write the result as JSON (schema: docs/lang/check-json.md)")
	f.StringVar(&o.html, "html", "", "write a page to explore the result to `FILE`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

func runSimulate(ctx context.Context, t *console.Terminal, o simulateOptions, spec string, load loader) error {
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.workers < 0 || o.workers > check.WorkersMax:
		return exit.With(exit.Usage, fmt.Errorf("--workers %d: want 1 to %d", o.workers, check.WorkersMax))
	case o.depth < 1:
		return exit.With(exit.Usage, fmt.Errorf("--depth %d: want at least 1", o.depth))
	case o.number < 0:
		return exit.With(exit.Usage, fmt.Errorf("--num %d: want a positive number, or 0 for no limit", o.number))
	case o.duration < 0:
		return exit.With(exit.Usage, fmt.Errorf("--duration %v: want a positive time", o.duration))
	}
	var monitor check.WalkMonitor
	g := console.NewProgress(t, func() (int64, string) {
		s := monitor.Stats()
		return s.Generated, fmt.Sprintf("%s walks  %s generated  %%s/s", console.Count(s.Walks), console.Count(s.Generated))
	})
	o.told = tlcget.Configuration{Mode: tlcget.Simulate, Workers: o.workers, Deadlock: o.deadlock, Depth: int64(o.depth), Walks: o.number, Seed: o.seed}
	o.progress = func() tlcget.Progress {
		s := monitor.Stats()
		return tlcget.Progress{Generated: s.Generated, Walks: s.Walks}
	}
	s, err := load(spec, o.checkOptions, printer(t, o.checkOptions, g), &check.Monitor{})
	var wrong *specification.Error
	switch {
	case errors.As(err, &wrong):
		if !o.json {
			wrong.Diagnostics.Print(t.Err)
		}
		return finish(t, o.checkOptions, report.Refused(spec, wrong.File, wrong.Diagnostics, exit.Input(wrong.Configuration)))
	case err != nil:
		return exit.Failed(err)
	}
	if !o.json {
		s.Diags.Print(t.Err)
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.duration, check.Limit("the time was over"))
		defer cancel()
	}
	ctx, release := s.asked.watch(ctx)
	defer release()
	g.Begin(t.ErrTTY && !o.quiet)
	r, err := check.Simulate(ctx, s.model, check.SimulateOptions{Workers: o.workers, Depth: o.depth, Walks: o.number,
		Seed: o.seed, IgnoreDeadlock: !o.deadlock, Monitor: &monitor})
	elapsed := g.End()
	if err != nil {
		return exit.Failed(err)
	}
	return finish(t, o.checkOptions, describeWalks(s, r, o, elapsed))
}

// describeWalks makes the document of a simulation.
func describeWalks(s *subject, r *check.Simulation, o simulateOptions, elapsed time.Duration) *report.Document {
	result := &check.Result{Info: r.Info, Stats: check.Stats{Generated: r.Generated}, Broken: r.Broken, Warnings: r.Warnings,
		Violation: check.Violation{Verdict: r.Verdict, Property: r.Property, Index: -1, Err: r.Err, Trace: r.Trace},
		Reason:    "random walks visit only some behaviours"}
	if asked := s.model.Capabilities().Live; asked != nil {
		asked.Unasked(result)
	}
	d := s.describe(result, o.checkOptions, elapsed)
	w := &report.Walks{Number: r.Walks, Depth: o.depth, Seed: o.seed, Steps: r.Steps, Longest: r.Longest, Deadlocks: r.Deadlocks}
	if r.Verdict != check.OK {
		w.Found, w.Length = r.Walk, r.Length
	}
	for i, a := range r.Info.Actions {
		w.Taken = append(w.Taken, report.WalkedAction{Name: a.Name, Place: a.Place, Taken: r.Taken[i], Enabled: r.Enabled[i]})
	}
	d.Walked(w, result.Reason)
	return d
}
