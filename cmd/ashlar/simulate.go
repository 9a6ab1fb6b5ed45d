package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/check"
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

const simulateHelp = `Simulate walks through the states of a specification at random: from an initial
state, again and again, to one of all successors. It finds violations where there
are too many states to visit them all; that it finds none shows nothing about the
states that it did not visit.

Invariants and action properties are evaluated on every successor that is computed
on the way. Properties of behaviours are not checked. Walk number i of a seed is
always the same, whatever --workers, so a run can be repeated with the seed that it
printed. The trace of a violation is made shorter where one of its states leads to
a later one at once.

Exit codes: 0 nothing was wrong; otherwise as ashlar check.`

// walks is what a simulation did.
type walks struct {
	Number    int64  `json:"number"`
	Depth     int    `json:"depth"` // at most so many states a walk
	Seed      uint64 `json:"seed"`
	Steps     int64  `json:"states"` // in the walks
	Longest   int    `json:"longest"`
	Deadlocks int64  `json:"deadlocks"` // walks that could not go on
	// Found is the number of the walk with the violation, and Length how many
	// states it had before its trace was made shorter.
	Found  int64         `json:"found,omitempty"`
	Length int           `json:"length,omitempty"`
	Taken  []walkedShare `json:"actions"`
}

// walkedShare is what an action did in the walks.
type walkedShare struct {
	Name    string `json:"name"`
	Place   string `json:"place,omitempty"`
	Taken   int64  `json:"taken"`
	Enabled int64  `json:"enabled"`
}

func newSimulateCommand(t *term) *cobra.Command {
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
	o.library.addTo(cmd)
	f.IntVar(&o.depth, "depth", o.depth, "at most `N` states in a walk")
	f.Int64Var(&o.number, "num", o.number, "make `N` walks; 0: until --duration or an interrupt")
	f.DurationVar(&o.duration, "duration", 0, "stop after a `TIME` such as 30s or 10m")
	f.Uint64Var(&o.seed, "seed", 0, "the `SEED` of the walks (default: another one each time; it is printed)")
	f.IntVarP(&o.workers, "workers", "w", 0, "how many `N` goroutines walk (default: one per processor)")
	f.BoolVar(&o.deadlock, "deadlock", true, "report deadlock, unless the configuration says not to")
	f.BoolVar(&o.json, "json", false, "write the result as JSON (schema: docs/lang/check-json.md)")
	f.StringVar(&o.html, "html", "", "write a page to explore the result to `FILE`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

func runSimulate(ctx context.Context, t *term, o simulateOptions, spec string, load loader) error {
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	switch {
	case o.workers < 0 || o.workers > check.WorkersMax:
		return &exit{exitUsage, fmt.Errorf("--workers %d: want 1 to %d", o.workers, check.WorkersMax)}
	case o.depth < 1:
		return &exit{exitUsage, fmt.Errorf("--depth %d: want at least 1", o.depth)}
	case o.number < 0:
		return &exit{exitUsage, fmt.Errorf("--num %d: want a positive number, or 0 for no end", o.number)}
	case o.duration < 0:
		return &exit{exitUsage, fmt.Errorf("--duration %v: want a positive time", o.duration)}
	}
	var monitor check.WalkMonitor
	g := newProgress(t, func() (int64, string) {
		s := monitor.Stats()
		return s.Generated, fmt.Sprintf("%s walks  %s generated  %%s/s", count(s.Walks), count(s.Generated))
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
			wrong.Diagnostics.Print(t.err)
		}
		return finish(t, o.checkOptions, diagnose(spec, wrong.File, wrong.Diagnostics, exitCodeOf(wrong.Configuration)))
	case err != nil:
		return failed(err)
	}
	if !o.json {
		s.diags.Print(t.err)
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.duration, check.Limit("the time was up"))
		defer cancel()
	}
	ctx, release := s.asked.watch(ctx)
	defer release()
	g.begin(t.errTTY && !o.quiet)
	r, err := check.Simulate(ctx, s.model, check.SimulateOptions{Workers: o.workers, Depth: o.depth, Walks: o.number,
		Seed: o.seed, IgnoreDeadlock: !o.deadlock, Monitor: &monitor})
	elapsed := g.end()
	if err != nil {
		return failed(err)
	}
	return finish(t, o.checkOptions, describeWalks(s, r, o, elapsed))
}

// describeWalks makes the document of a simulation.
func describeWalks(s *subject, r *check.Simulation, o simulateOptions, elapsed time.Duration) *document {
	result := &check.Result{Info: r.Info, Stats: check.Stats{Generated: r.Generated}, Broken: r.Broken, Warnings: r.Warnings,
		Violation: check.Violation{Verdict: r.Verdict, Property: r.Property, Index: -1, Err: r.Err, Trace: r.Trace},
		Reason:    "walks at random visit some behaviours only"}
	if asked := s.model.Capabilities().Live; asked != nil {
		asked.Unasked(result)
	}
	d := describe(s, result, o.checkOptions, elapsed)
	d.Complete, d.Reason = false, result.Reason
	d.Actions, d.Init = []covered{}, covered{Name: initialName}
	d.Walks = &walks{Number: r.Walks, Depth: o.depth, Seed: o.seed, Steps: r.Steps, Longest: r.Longest, Deadlocks: r.Deadlocks}
	if r.Verdict != check.OK {
		d.Walks.Found, d.Walks.Length = r.Walk, r.Length
	}
	for i, a := range r.Info.Actions {
		d.Walks.Taken = append(d.Walks.Taken, walkedShare{a.Name, a.Place, r.Taken[i], r.Enabled[i]})
	}
	d.Headline = d.headline()
	return d
}

// writeWalks prints what the walks did.
func writeWalks(w io.Writer, d *document, p palette) {
	k := d.Walks
	if k.Number == 0 {
		return
	}
	name := len("Action")
	for _, a := range k.Taken {
		name = max(name, runewidth.StringWidth(a.Name))
	}
	fmt.Fprintf(w, "\n%s\n", p.bold(fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight("Action", name), "taken", "enabled")))
	for _, a := range k.Taken {
		line := fmt.Sprintf("%s  %13s  %13s", runewidth.FillRight(a.Name, name), count(a.Taken), count(a.Enabled))
		if a.Enabled == 0 {
			line = p.warn(line)
		}
		fmt.Fprintf(w, "%s  %s\n", line, p.dim(a.Place))
	}
	fmt.Fprintf(w, "\n%s walks of %.1f states on average, the longest %d, %s that could not go on; %s states generated.\n",
		count(k.Number), float64(k.Steps)/float64(k.Number), k.Longest, count(k.Deadlocks), count(d.Statistics.Generated))
	if k.Length > 0 {
		fmt.Fprintf(w, "The violation is of walk %s, which had %d states.\n", count(k.Found), k.Length)
	}
	fmt.Fprintf(w, "Repeat with --seed %d --depth %d.\n", k.Seed, k.Depth)
	fmt.Fprintln(w, p.dim(fmt.Sprintf("%.2f s with %d workers: %s states/s.", d.Statistics.Seconds, d.Statistics.Workers, count(int64(d.Statistics.PerSecond)))))
}
