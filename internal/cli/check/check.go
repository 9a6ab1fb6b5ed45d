// SPDX-License-Identifier: Apache-2.0

// Package check implements the commands check and simulate: they load a specification,
// search its states or take random walks through them, and show the report.
//
// In: a specification, its configuration and flags. Out: a report as text, JSON, a page
// or TLC's messages; a graph of states; checkpoints; an exit code. Refused: flags that
// exclude each other, with the reason.
package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	"github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
	"github.com/ashlar-dev/ashlar/internal/cli/tlc"
	"github.com/ashlar-dev/ashlar/internal/model/tlcget"
	"github.com/ashlar-dev/ashlar/internal/search/program"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// checkOptions are the flags of check.
type checkOptions struct {
	config     string
	library    library.Dirs
	workers    int
	json       bool
	tlcOutput  bool
	tlc        *tlc.Output // where tlcOutput says so, made by runCheck
	html       string
	dump       string
	goOn       bool // after violations
	safetyOnly bool
	liveness   string // when properties of behaviours are decided
	deadlock   bool
	reference  bool
	quiet      bool
	statesMax  int64
	crashes    crashes
	deepen     bool // search by depth, to that of dfid
	dfid       int  // states

	profile bool // count expressions

	por   bool // leave out states where that is sound
	exact bool // leave none out

	// told and progress are what the specification can read of a simulation.
	told     tlcget.Configuration
	progress func() tlcget.Progress

	native string // when compiled code searches

	memoryBytes int64  // what a search may hold; 0 for what is available
	temp        string // the directory for what does not fit
	checkpoint  string // directories
	resume      string
	every       time.Duration // between checkpoints
}

const checkHelp = `Check visits every reachable state of a specification, breadth first, and reports
whether its invariants and properties hold and whether it can deadlock. For a
violation it prints a shortest trace; for one of a property of behaviours, a trace
and how it repeats forever.

The configuration is FILE.cfg beside FILE.tla unless --config names another. With
neither, Spec (or Init and Next) is explored without constants and invariants.

All figures and traces are the same for any number of workers. Properties that
cannot be checked (those of behaviours where there is a SYMMETRY or VIEW, say) are
listed as NOT CHECKED and make the exit code 20. With --safety-only properties of
behaviours are left out, and the exit code is 0 all the same.

Properties of behaviours are decided at the end of the search. With
--liveness=periodic they are also decided during the search, whenever the number of
states has doubled, from 1,024 on, so a violation may be found long before all states
are; the verdict is the same. Together these checks take about as long as the one at the
end, and are skipped if they would take much longer. For users of TLC: its -lncheck
default is periodic, its final is final, which is the default here, and its seqfinal is
also final, since each property is decided and named separately.

With --dfid N the search is depth first, round by round, along paths of 1, 2, and up
to N states. Its memory does not grow with the number of states, and it finds what
the other search finds, with the same trace; it takes longer, and checks no
properties of behaviours. The exit code is 20, unless paths of N states reach every
state.

With --profile the search counts for every expression how often it was evaluated, how
often it was true or let its action continue, and, by sampling, what part of the time was
spent in it. The page of --html shows this beside the text.

If a search takes more than a few seconds and a Go toolchain is installed, the model is
compiled while the search runs, and the search continues in a separate process, several
times as fast. The results are the same. The program is kept in the user's cache directory
for the next search. With --native the search waits for the program before it begins;
without a toolchain, or if the model cannot be compiled, it says so and runs without
compiled code. With --native=never nothing is compiled.

With --por the search of an algorithm, PlusCal or Modular PlusCal, takes only the steps of
one process in states where that process is at a label whose steps no other process can
observe. It finds what the whole search finds; traces may differ, and counts are smaller. If
a checked property could observe the difference, no state is left out, and the reason is
printed. Without --por, or with --exact, every state is counted, as TLC counts them.

With --memory SIZE a search uses at most SIZE of memory. States that do not fit are stored
in files in a directory ashlar-check-* of --temp, which is removed at the end. If the
values of the model alone do not fit, the search ends with exit code 20. Even if SIZE is
smaller, the search may use 128 MiB more than the program used at the start, unless less
memory is available. Available means 85% of the memory that the machine, and each control
group of the program, had left at the start.

With --checkpoint DIR the search is saved in DIR periodically, and when it is interrupted
or reaches --max-states. --resume DIR continues it, with the same result, also if it was
killed. The checkpoint is removed when the search has reached its end.

With --continue the search continues after violations to its end: it reports every
violated invariant and property, and deadlock, each with a shortest trace, and the
exit code is that of the first one found. --dump FILE.dot or FILE.json writes the
graph of all states, up to 100,000, and --dump FILE.svg draws it with Graphviz, up to
500 states. After a violation without --continue, the graph has only the states that
are no deeper than the violation. The page of --html shows the graph of up to 300
states.

With --tlc-output the result is written as TLC's messages, which editors for
TLA+ can read; the exit codes stay the same.

Check warns of signs that a model says less than its author meant: an action that was
never enabled, a variable that never changes, an invariant without variables, an
invariant P => Q or a property P ~> Q whose P is true in no state, and fairness that no
behaviour satisfies from some state on, so that it is not machine closed.

A module is searched for beside FILE.tla, then after the module in that file, then in
the directories of --library, then in those of the environment variable ASHLAR_PATH,
then among the standard modules.

Exit codes: 0 nothing is wrong; 10 an assumption or the postcondition is false;
11 deadlock; 12 an invariant or action property is violated; 13 a property of
behaviours is violated; 20 not everything was checked; 75 an expression has no value; 130 interrupted; 150 errors in the
specification; 151 errors in the configuration; 1 files; 2 usage.`

// loader loads a specification as a subject. It returns a *specification.Error
// if the specification or the configuration is wrong.
type loader func(spec string, o checkOptions, print func(line string), m *check.Monitor) (*subject, error)

// New makes the command check.
func New(t *console.Terminal) *cobra.Command {
	var o checkOptions
	memory := size.Value{Min: memoryMin}
	cmd := &cobra.Command{
		Use:   "check FILE.tla",
		Short: "Visit every state of a specification and check its properties",
		Long:  checkHelp,
		Example: `  ashlar check specs/diehard/diehard.tla
  ashlar check --config specs/twophase/twophase8.cfg specs/twophase/twophase.tla
  ashlar check --html report.html --safety-only Spec.tla
  ashlar check --liveness=periodic Spec.tla
  ashlar check --continue --dump graph.dot Spec.tla
  ashlar check --json Spec.tla | jq .verdict
  ashlar check --tlc-output Spec.tla > Spec.out`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.deepen = cmd.Flags().Changed("dfid")
			o.memoryBytes = memory.Bytes
			if exact := cmd.Flags().Changed("exact"); exact && o.exact == o.por {
				return exit.With(exit.Usage, fmt.Errorf("--exact=%t with --por=%t: --exact visits every state and --por leaves states out; use only one of them", o.exact, o.por))
			}
			return runCheck(cmd.Context(), t, o, args[0], loadSpecification)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	o.library.AddTo(cmd)
	f.IntVarP(&o.workers, "workers", "w", 0, "how many `N` goroutines search (default: one per processor)")
	f.BoolVar(&o.deadlock, "deadlock", true, "report deadlock, unless the configuration says not to")
	f.BoolVar(&o.safetyOnly, "safety-only", false, "do not check properties of behaviours (liveness)")
	f.StringVar(&o.liveness, "liveness", livenessFinal, "decide properties of behaviours at the end, or also during the search: `WHEN` is final or periodic")
	f.Int64Var(&o.statesMax, "max-states", 0, "stop after `N` distinct states")
	o.crashes.addTo(f)
	f.IntVar(&o.dfid, "dfid", 0, "search depth first, by iterative deepening, paths of up to `N` states")
	f.BoolVar(&o.profile, "profile", false, "report what each expression costs")
	f.BoolVar(&o.por, "por", false, "leave out states of an algorithm that differ only in the order of local steps")
	f.BoolVar(&o.exact, "exact", true, "visit every state, so that counts are those of TLC; the opposite of --por")
	f.StringVar(&o.native, "native", nativeAuto, "search with code compiled for the model: `WHEN` is auto, always or never")
	f.Lookup("native").NoOptDefVal = nativeAlways
	f.BoolVar(&o.goOn, "continue", false, "continue after a violation and report all violations")
	f.Var(&memory, "memory", "use at most `SIZE` of memory, such as 512M or 4G: states that do not fit go to disk (default: 85% of what is available at the start)")
	size.Renamed(cmd, "max-memory", "--memory SIZE, such as --memory 4G")
	f.StringVar(&o.temp, "temp", "", "put temporary files in `DIR` (default: the system's temporary directory)")
	f.StringVar(&o.checkpoint, "checkpoint", "", "save the search in `DIR`, to be resumed")
	f.DurationVar(&o.every, "every", 10*time.Minute, "the `TIME` between two checkpoints")
	f.StringVar(&o.resume, "resume", "", "continue the search that is saved in `DIR`")
	f.BoolVar(&o.json, "json", false, "write the result as JSON (schema: docs/lang/check-json.md)")
	f.BoolVar(&o.tlcOutput, "tlc-output", false, "write the result as TLC's messages, for editors")
	f.StringVar(&o.html, "html", "", "write a page to explore the result to `FILE`")
	f.StringVar(&o.dump, "dump", "", "write the graph of states to `FILE` (.dot for Graphviz, .svg drawn by it, or .json)")
	f.BoolVar(&o.reference, "reference", false, "evaluate with the slow reference evaluator")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

// validSpec checks the path given for the specification.
func validSpec(spec string) error {
	if filepath.Ext(spec) != ".cfg" {
		return nil
	}
	return exit.With(exit.Usage, fmt.Errorf("%s is a configuration: name the module instead, and add --config %s if their names differ", spec, spec))
}

// valid completes the flags and validates them.
func (o *checkOptions) valid() error {
	if o.deepen {
		if err := o.validDeepening(); err != nil {
			return err
		}
		o.workers = max(o.workers, 1)
	}
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	if o.workers < 0 || o.workers > check.WorkersMax {
		return exit.With(exit.Usage, fmt.Errorf("--workers %d: want 1 to %d", o.workers, check.WorkersMax))
	}
	if o.statesMax < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--max-states %d: want a positive number", o.statesMax))
	}
	if err := errors.Join(o.validDisk(), o.validNative(), o.validLiveness()); err != nil {
		return err
	}
	if o.json && o.tlcOutput {
		return exit.With(exit.Usage, errors.New("--json and --tlc-output are two forms of one result: use only one of them"))
	}
	if o.dump != "" {
		if _, err := graphFormOf(o.dump); err != nil {
			return err
		}
	}
	return nil
}

// The values of --liveness: when to decide properties of behaviours.
// livenessSeqFinal exists for users of TLC; here properties are always decided one
// after the other.
const (
	livenessFinal    = "final"
	livenessPeriodic = "periodic"
	livenessSeqFinal = "seqfinal"
)

// validLiveness validates --liveness.
func (o checkOptions) validLiveness() error {
	switch {
	case o.liveness == "", o.liveness == livenessFinal, o.liveness == livenessSeqFinal:
		return nil
	case o.liveness != livenessPeriodic:
		return exit.With(exit.Usage, fmt.Errorf("--liveness=%s: want %s or %s", o.liveness, livenessFinal, livenessPeriodic))
	case o.safetyOnly:
		return exit.With(exit.Usage, errors.New("--safety-only leaves out what --liveness=periodic checks: use only one of them"))
	case o.deepen:
		return exit.With(exit.Usage, errors.New("--dfid checks no properties of behaviours: --liveness=periodic is not possible"))
	}
	return nil
}

// runCheck checks a specification and shows the result in every way asked for.
func runCheck(ctx context.Context, t *console.Terminal, o checkOptions, spec string, load loader) error {
	if err := errors.Join(o.valid(), validSpec(spec)); err != nil {
		return err
	}
	search := searcher{o: o}
	g := console.NewProgress(t, search.progress())
	// The graph evaluates the model again; do not print again what the search
	// printed.
	var silent atomic.Bool
	say := printer(t, o, g)
	if o.tlcOutput {
		o.tlc = tlc.New(t.Out)
		search.o.tlc = o.tlc
		say = o.tlc.Print
	}
	s, err := load(spec, o, func(line string) {
		if !silent.Load() {
			say(line)
		}
	}, &search.breadth)
	var wrong *specification.Error
	switch {
	case errors.As(err, &wrong):
		if o.tlc != nil {
			o.tlc.Open(spec, o.workers, o.deepenDepth(), nil, wrong.Diagnostics)
			o.tlc.Refused(exit.Input(wrong.Configuration), wrong.Diagnostics)
		} else if !o.json {
			wrong.Diagnostics.Print(t.Err)
		}
		return finish(t, o, report.Refused(spec, wrong.File, wrong.Diagnostics, exit.Input(wrong.Configuration)))
	case err != nil:
		return exit.Failed(err)
	}
	if o.tlc != nil {
		o.tlc.Open(s.Spec, o.workers, o.deepenDepth(), s.files, &s.Diags)
		if s.span != nil {
			o.tlc.Span = s.span
		}
	} else if !o.json {
		s.Diags.Print(t.Err)
	}
	// The search moves its knowledge of states to disk long before the guard ends it.
	// The guard exists for the memory that the model itself holds.
	search.memory = memoryBounds(o.memoryBytes, availableBytes(), program.HeldBytes())
	search.o.memoryBytes = search.memory.states
	ctx, release := search.memory.guard(ctx)
	defer release()
	ctx, unwatch := s.asked.watch(ctx)
	defer unwatch()
	disk, err := o.openDisk(ctx, s.identity)
	if err != nil {
		return exit.Failed(err)
	}
	search.disk = disk
	g.Begin(t.ErrTTY && !o.quiet && o.tlc == nil)
	if o.tlc != nil {
		o.tlc.Begin(search.watcher())
	}
	stopSampling := func() {}
	if s.tla != nil && o.profile {
		stopSampling = sample(s.tla).end
	}
	forget := func() bool { return false }
	if o.checkpoint+o.resume != "" {
		forget = context.AfterFunc(ctx, t.End.InOrder) // a last checkpoint is kept
	}
	search.tla = s.tla
	result, err := search.run(ctx, s.model)
	forget()
	t.End.InOrder() // files go
	defer t.End.Over()
	stopSampling()
	elapsed := g.End()
	if o.tlc != nil {
		o.tlc.End()
	}
	if err != nil {
		return errors.Join(disk.explain(err), disk.close())
	}
	kept := disk.kept()
	if err := disk.close(); err != nil {
		return exit.Failed(err)
	}
	d := s.describe(result, o, elapsed)
	d.Statistics.Deepening = search.deep
	if use := search.nativeDocument(); use != nil {
		d.Statistics.Native = use
	}
	d.Reduced(reducedBy(ctx, s, result, o))
	d.Checkpoint = kept
	d.Profile = profileOf(s, o)
	silent.Store(true)
	if o.html != "" && result.Distinct <= graphPageStatesMax {
		// If there is no graph, or it is too large, the page shows none.
		if small, err := exploreGraph(ctx, s, result, o, graphPageStatesMax); err == nil {
			d.Graph = small.document()
		}
	}
	err = finish(t, o, d)
	if o.dump == "" {
		return err
	}
	if dumped := dumpGraph(ctx, t, s, result, o); dumped != nil {
		if err == nil {
			return exit.Failed(dumped)
		}
		t.Complain(dumped)
	}
	return err
}

// dumpGraph writes the graph of a finished search to the requested file.
func dumpGraph(ctx context.Context, t *console.Terminal, s *subject, r *check.Result, o checkOptions) error {
	form, err := graphFormOf(o.dump)
	if err != nil {
		return err
	}
	g, err := exploreGraph(ctx, s, r, o, form.statesMax)
	if err != nil {
		return fmt.Errorf("no graph is written: %w", err)
	}
	if err := writeGraphFile(ctx, o.dump, g, form); err != nil {
		return err
	}
	if !o.json {
		fmt.Fprintf(t.Out, "The graph is %s: %s states, %s steps.\n", o.dump, console.Count(int64(g.graph.States())), console.Count(int64(g.graph.Steps())))
	}
	return nil
}

// printer returns the output for what the specification prints: the text
// output, or standard error if the result is JSON.
func printer(t *console.Terminal, o checkOptions, g *console.Progress) func(string) {
	w := t.Out
	if o.json {
		w = t.Err
	}
	return func(line string) { g.Above(w, line) }
}

// finish writes the document and turns its verdict into the exit code. Failing
// to write the page is an error, but does not hide a violation.
func finish(t *console.Terminal, o checkOptions, d *report.Document) error {
	if o.tlc != nil {
		o.tlc.Finish(d)
	} else if o.json {
		if err := t.JSON(d); err != nil && d.ExitCode == exit.OK {
			return err
		} // otherwise the root command reports it, and what was found counts more
	} else if d.Verdict != "error" {
		d.Text(t.Out, console.NewPalette(t.OutTTY))
	}
	if o.html != "" {
		if err := d.Page(o.html); err != nil {
			if d.ExitCode == exit.OK {
				return exit.Failed(err)
			}
			t.Complain(err)
		} else if !o.json {
			fmt.Fprintf(t.Out, "The page is %s.\n", o.html)
		}
	}
	if d.ExitCode == exit.OK {
		return nil
	}
	return exit.With(d.ExitCode, nil)
}
