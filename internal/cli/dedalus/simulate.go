// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/dedalus/adversary"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
	"github.com/ashlar-dev/ashlar/internal/dedalus/trial"
)

const simulateHelp = `Simulate runs a program, or the result of rewrite steps, under a hostile scheduler:
messages are late, reordered and duplicated, timers expire at any time, nodes crash, and
machines stop. Then the faults end, and every message arrives, until there is no new
output.

Each run is judged: the original must have a run with the same output, at each moment and
at rest. Simulate searches for such a run within a bound. If it finds none it reports the
run, which may still be a run of the original. It shortens a reported run and shows a line
that repeats it: --replay LINE.

Without --inputs, runs with odd seeds are given messages with the numbers 0, 1, and so
on. Runs with even seeds have no failures, and are given values from the program and
others, as the seed draws them. In some runs machines are slow, or idle until a message
comes, or all inputs come early.

Without steps a program is its own original: that shows how it behaves, and how far the
search for a run gets. Functions from Go are replaced by functions that give different
results for different arguments.

The assertions of the original (assume collected, assume timely) are tested as well: each
seed has a run of the original in which the changes that one component's assertions
cover happen later. --postpone COMPONENT makes only such runs.

Exit codes: 0 all runs were explained; 12 an output was found that the original was not
found to have; 13 a run came to rest where the original was not found to; 130
interrupted; 150 errors in a program; 151 in the messages; 1 files; 2 usage.`

// simulateOptions are the flags of dedalus simulate.
type simulateOptions struct {
	pair
	seeds, seed uint64
	replay      string
	postpone    string
	ticks       int
	run         adversary.Options
	json        bool
}

func newSimulateCommand(t *console.Terminal) *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate FILE.ded",
		Short: "Run a program under random schedules, and compare it with the original",
		Long:  simulateHelp,
		Example: `  ashlar dedalus simulate voting.ded --apply voting.steps --seeds 100
  ashlar dedalus simulate voting.ded --apply voting.steps --crashes 2 --stops 1 --each 20
  ashlar dedalus simulate voting.ded --other mine.ded --replay '>0 leader/0:0 participant/1:0'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSimulate(cmd.Context(), t, o, args[0])
		},
	}
	f := cmd.Flags()
	o.flags(f)
	f.Uint64Var(&o.seeds, "seeds", 80, "make `N` runs")
	f.Uint64Var(&o.seed, "seed", 1, "begin with this `SEED`")
	f.StringVar(&o.replay, "replay", "", "make the one run of a `SCHEDULE`")
	f.StringVar(&o.postpone, "postpone", "", "run the original, with the changes that assertions about `COMPONENT` cover happening later")
	f.IntVar(&o.run.Steps, "steps", 400, "`N` steps with faults in each run")
	f.IntVar(&o.run.Faults.Crashes, "crashes", 0, "about `N` crashes of nodes in a run; they come back with what is durable")
	f.IntVar(&o.run.Faults.Stops, "stops", 0, "machines of at most `N` nodes stop permanently")
	f.StringSliceVar(&o.run.Faults.Spared, "spare", nil, "the nodes of a `COMPONENT` neither crash nor stop")
	f.BoolVar(&o.run.Again, "again", false, "clients repeat their messages")
	f.IntVar(&o.ticks, "search", 4000, "look for a run of the original for `N` ticks")
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// simulation is what simulate reports to machines.
type simulation struct {
	Schema   string   `json:"schema"`
	ExitCode int      `json:"exitCode"`
	Runs     uint64   `json:"runs"`
	Rested   uint64   `json:"rested"`
	Told     int      `json:"told"`
	Steps    int      `json:"steps"`
	Seed     uint64   `json:"seed,omitempty"` // of what was found
	Found    string   `json:"found,omitempty"`
	What     []string `json:"what,omitempty"`
	Schedule []string `json:"schedule,omitempty"`
	Replay   string   `json:"replay"`
	// Assumption is the original's assertion that does not hold, if the simulation found
	// one.
	Assumption string `json:"assumption,omitempty"`
	component  string
}

func runSimulate(ctx context.Context, t *console.Terminal, o simulateOptions, path string) error {
	if o.run.Steps < 1 || o.run.Faults.Crashes < 0 || o.run.Faults.Stops < 0 || o.ticks < 0 {
		return exit.With(exit.Usage, errors.New("--steps must be at least 1, and --crashes, --stops and --search must not be negative"))
	}
	line, err := adversary.Parse(o.replay)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	before, after, err := o.load(t, path)
	if err != nil {
		return err
	}
	for _, c := range o.run.Faults.Spared {
		if before.Component(c) == nil {
			return exit.With(exit.Usage, fmt.Errorf("--spare %s: there is no such component", c))
		}
	}
	o.run.Functions = scenario.Functions(before)
	d := simulation{Schema: "ashlar-dedalus-simulate-1"}
	one := func(seed uint64, run func(*adversary.Player) *adversary.Run) (bool, error) {
		first, second, err := o.drawn(before, after, seed)
		if err != nil {
			return false, err
		}
		x, oracle := adversary.NewPlayer(after, second, o.run), adversary.NewOracle(before, first, o.run)
		oracle.TicksMax = o.ticks
		r := run(x)
		if r.Endless != nil {
			return false, failed(r.Endless)
		}
		d.Runs++
		d.Told, d.Steps = d.Told+len(r.Told), d.Steps+r.Steps
		if r.Rest {
			d.Rested++
		}
		v := oracle.Judge(ctx, r)
		if v.Kind == "" || ctx.Err() != nil {
			return false, nil
		}
		r, v = shortened(ctx, x, oracle, r, v)
		d.Seed, d.Found, d.What = seed, v.Kind, strings.Split(v.String(), "\n")
		d.Schedule, d.Replay = r.Schedule.Tell(), r.Schedule.String()
		d.ExitCode = map[string]int{"safety": exit.Safety, "liveness": exit.Liveness}[v.Kind]
		return true, nil
	}
	if o.replay != "" {
		o.seeds = 1
	}
	made := after
	assumed := asserted(before, o.postpone)
	if o.postpone != "" && len(assumed) == 0 {
		return exit.With(exit.Usage, fmt.Errorf("--postpone %s: no assertion about its relations is about ticks", o.postpone))
	}
	run := func(seed uint64) func(*adversary.Player) *adversary.Run {
		return func(x *adversary.Player) *adversary.Run {
			if o.replay != "" {
				return x.Replay(line)
			}
			return x.Random(seed)
		}
	}
	for seed, found := o.seed, false; seed < o.seed+o.seeds && !found && ctx.Err() == nil; seed++ {
		if o.postpone == "" {
			if found, err = one(seed, run(seed)); err != nil || found {
				break
			}
		}
		if n := uint64(len(assumed)); n > 0 && (o.replay == "" || o.postpone != "") {
			// Each run also checks one of the author's assertions.
			x := assumed[seed%n]
			after = x.Late
			if found, err = one(seed, run(seed)); found {
				d.Assumption, d.component = x.String(), x.Component
			}
			after = made
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil && d.Found == "" {
		d.ExitCode = exit.Interrupted
	}
	return tellSimulation(t, d, o, after)
}

// asserted returns the assertions about ticks of one component, or of all if the
// name is "".
func asserted(p *logic.Program, component string) []trial.Assertions {
	return slices.DeleteFunc(trial.Asserted(p), func(a trial.Assertions) bool { return component != "" && a.Component != component })
}

// drawn are the inputs of both programs in the run of a seed.
func (o *simulateOptions) drawn(before, after *logic.Program, seed uint64) (first, second []interp.Message, err error) {
	if o.inputs != "" || seed%2 == 1 || o.run.Faults.Crashes+o.run.Faults.Stops > 0 {
		// In a run with both equal messages and failures, the search explains
		// too little.
		return o.both(before, after)
	}
	first = scenario.Draw(before, env.Seeded(seed), o.each)
	second, err = sameFor(after, first)
	return first, second, err
}

// shortened shortens a run with a search that gives up early. It returns the
// shorter run only if the full search cannot explain it either.
func shortened(ctx context.Context, x *adversary.Player, o *adversary.Oracle, r *adversary.Run, v *adversary.Verdict) (*adversary.Run, *adversary.Verdict) {
	whole := o.TicksMax
	o.TicksMax = min(whole, 300)
	short := x.Shrink(ctx, r.Schedule, func(r *adversary.Run) bool { return o.Judge(ctx, r).Kind == v.Kind })
	o.TicksMax = whole
	if w := o.Judge(ctx, short); w.Kind == v.Kind {
		return short, w
	}
	return r, v
}

func tellSimulation(t *console.Terminal, d simulation, o simulateOptions, p *logic.Program) error {
	if o.json {
		if err := t.JSON(d); err != nil {
			return err
		}
	} else {
		pal := console.NewPalette(t.OutTTY)
		if d.ExitCode == exit.Interrupted {
			fmt.Fprintln(t.Out, "interrupted, after")
		}
		fmt.Fprintf(t.Out, "%s of %s: %s in %s, %d came to rest\n", many(int(d.Runs), "run"), p.Name, many(d.Told, "message")+" sent to the outside", many(d.Steps, "step"), d.Rested)
		if d.Found == "" {
			fmt.Fprintln(t.Out, pal.Good("no difference: ")+"the original can do what these runs did")
		} else {
			what, postpone := pal.Bad("different:"), ""
			if d.Assumption != "" {
				what = fmt.Sprintf("%s '%s' does not hold in the original: if the changes that it covers happen later,", pal.Bad("assumption:"), d.Assumption)
				postpone = " --postpone " + d.component
			}
			fmt.Fprintf(t.Out, "%s with seed %d, %s\nafter\n", what, d.Seed, strings.Join(d.What, "\n"))
			for i, s := range d.Schedule {
				fmt.Fprintf(t.Out, "%4d  %s\n", i+1, s)
			}
			fmt.Fprintf(t.Out, "and no further faults. Repeat with --seed %d%s --replay '%s'\n", d.Seed, postpone, d.Replay)
		}
	}
	if d.ExitCode != 0 {
		return exit.With(d.ExitCode, nil)
	}
	return nil
}
