// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/evidence/store/explore"
)

const exploreHelp = `Crash-explore searches for a power failure that the store does not survive. It runs
workloads on a disk in memory, stops at every change of the disk, and makes every state
in which a power failure may leave the disk (none, all, each prefix, subsets, torn
writes). It opens the store on each state, and compares the contents with the history. It
continues with the recovered store and crashes it again. It also injects damaged
reads, failing reads, writes and syncs, and a full disk.

The same seed gives exactly the same run. A failure is reported with the operations,
the moment, what the disk kept, and the command that replays it.

Exit codes: 0 no failure; 12 a failure; 130 interrupted, nothing found so far;
1 files; 2 usage.`

// exploreOptions are the flags of store crash-explore.
type exploreOptions struct {
	json    bool
	quiet   bool
	seed    uint64
	seeds   uint64
	states  uint64
	workers int
	replay  string
}

func newExploreCommand(t *console.Terminal) *cobra.Command {
	var o exploreOptions
	cmd := &cobra.Command{
		Use:   "crash-explore",
		Short: "Search for a power failure that the store does not survive",
		Long:  exploreHelp,
		Example: `  ashlar store crash-explore --states 100000
  ashlar store crash-explore --seed 17 --seeds 1
  ashlar store crash-explore --replay subject=lazy,profile=mixed,seed=17,at=231:4`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runExplore(cmd.Context(), t, o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Uint64Var(&o.seed, "seed", 1, "begin with seed `N`")
	f.Uint64Var(&o.seeds, "seeds", 0, "explore `N` seeds (default: as many as --states needs)")
	f.Uint64Var(&o.states, "states", 0, "explore seeds until there were `N` states (default 10000, without --seeds)")
	f.IntVarP(&o.workers, "workers", "w", 0, "explore `N` parts of seeds in parallel (default: one per processor)")
	f.StringVar(&o.replay, "replay", "", "repeat a failure from the `WORDS` that it printed")
	f.BoolVar(&o.json, "json", false, "write the result as JSON (ashlar-store-explore/1)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	return cmd
}

// exploreReport is the result of store crash-explore as JSON.
type exploreReport struct {
	Schema   string            `json:"schema"`
	Verdict  string            `json:"verdict"` // "survives" or "fails" or "interrupted"
	ExitCode int               `json:"exitCode"`
	Seed     uint64            `json:"seed"`
	Moments  uint64            `json:"moments"`
	States   uint64            `json:"states"`
	Images   uint64            `json:"images"`
	Opens    uint64            `json:"opens"`
	Reads    uint64            `json:"reads"`
	Verified uint64            `json:"verified"`
	Coverage map[string]uint64 `json:"coverage"`
	Hash     string            `json:"hash"`
	Failure  string            `json:"failure,omitempty"`
	Replay   string            `json:"replay,omitempty"`
}

func runExplore(ctx context.Context, t *console.Terminal, o exploreOptions) error {
	if o.workers == 0 {
		o.workers = runtime.GOMAXPROCS(0)
	}
	if o.workers < 0 || o.workers > 1024 {
		return exit.With(exit.Usage, fmt.Errorf("--workers %d: want 1 to 1024", o.workers))
	}
	if o.states == 0 && o.seeds == 0 {
		o.states = 10_000
	}
	suite := explore.Suite{Subjects: explore.Engines(), Profiles: explore.Profiles(), First: o.seed, Seeds: o.seeds, States: o.states, Workers: o.workers}
	var sofar atomic.Pointer[explore.Report]
	sofar.Store(&explore.Report{})
	suite.Progress = func(_ uint64, sum explore.Report) {
		sum.Coverage = nil // it is changed meanwhile
		sofar.Store(&sum)
	}
	do := func() explore.Report { return suite.Run() }
	if o.replay != "" {
		once, err := suite.Replay(o.replay)
		if err != nil {
			return exit.With(exit.Usage, fmt.Errorf("--replay %s: %w", o.replay, err))
		}
		do = func() explore.Report { return explore.Run(once) }
	}
	start := time.Now()
	tell := func() string {
		r := sofar.Load()
		return fmt.Sprintf("%s states  %s opened  %s reads right  %s", console.Count(int64(r.States)), console.Count(int64(r.Opens)), console.Count(int64(r.Reads)), console.Duration(time.Since(start)))
	}
	var r explore.Report
	err := work(ctx, t, o.quiet, tell, func() error {
		r = do()
		return nil
	})
	code, verdict := exit.OK, "survives"
	var stop *exit.Error
	switch {
	case errors.As(err, &stop):
		r, code, verdict = *sofar.Load(), exit.Interrupted, "interrupted"
	case r.Failure != nil:
		code, verdict = exit.Safety, "fails"
	}
	if err := tellExplored(t, o, &r, code, verdict, time.Since(start)); err != nil {
		return err
	}
	if code != exit.OK {
		return exit.With(code, stopError(stop))
	}
	return nil
}

// stopError returns why the work was stopped, or nil if it was not.
func stopError(stop *exit.Error) error {
	if stop == nil {
		return nil
	}
	return stop.Err
}

func tellExplored(t *console.Terminal, o exploreOptions, r *explore.Report, code int, verdict string, elapsed time.Duration) error {
	if o.json {
		out := exploreReport{Schema: "ashlar-store-explore/1", Verdict: verdict, ExitCode: code, Seed: o.seed, Moments: r.Moments, States: r.States,
			Images: r.Images, Opens: r.Opens, Reads: r.Reads, Verified: r.Verify, Coverage: r.Coverage, Hash: fmt.Sprintf("%016x", r.Hash)}
		if r.Failure != nil {
			out.Failure, out.Replay = r.Failure.Error(), r.Failure.Replay()
		}
		return t.JSON(out)
	}
	w := t.Out
	p := console.NewPalette(t.OutTTY)
	fmt.Fprintf(w, "%s moments, %s crash states, %s images (an image that several parts of a seed reach is counted in each); the store was opened %s times\n",
		console.Count(int64(r.Moments)), console.Count(int64(r.States)), console.Count(int64(r.Images)), console.Count(int64(r.Opens)))
	fmt.Fprintf(w, "%s reads gave the right answer; %s images were verified\n", console.Count(int64(r.Reads)), console.Count(int64(r.Verify)))
	names := make([]string, 0, len(r.Coverage))
	for name := range r.Coverage {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, "state ") || strings.HasPrefix(name, "fault ") {
			fmt.Fprintf(w, "  %-28s %12s\n", name, console.Count(int64(r.Coverage[name])))
		}
	}
	var err error
	switch {
	case r.Failure != nil:
		_, err = fmt.Fprintf(w, "%s\n%v\nreplay: ashlar store crash-explore --replay %s\n", p.Bad("a failure:"), r.Failure, r.Failure.Replay())
	case verdict == "interrupted":
		_, err = fmt.Fprintf(w, "no failure so far\n")
	default:
		_, err = fmt.Fprintf(w, "%s; outcomes %016x; %s\n", p.Good("no failure"), r.Hash, console.Duration(elapsed))
	}
	return exit.Failed(err)
}
