// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/dedalus/explore"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
	"github.com/ashlar-dev/ashlar/internal/dedalus/scenario"
	"github.com/ashlar-dev/ashlar/internal/dedalus/trial"
	"github.com/ashlar-dev/ashlar/internal/specification"
)

// pair is a program, the program made from it, and the inputs for both.
type pair struct {
	steps  rewriteOptions
	other  string
	inputs string
	each   int
}

func (o *pair) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.steps.steps, "apply", nil, "take a `STEP`, or the steps in a file whose name ends in .steps; may be repeated")
	f.StringVar(&o.other, "other", "", "compare with the program in `FILE`, instead of the result of steps")
	f.StringVar(&o.inputs, "inputs", "", "read the messages from outside from `FILE`, one per line, such as 'in(node \"c\", 1) to leader/0'")
	f.IntVar(&o.each, "each", 2, "without --inputs, make up `N` messages for each input")
}

// load reads the program and the one made from it.
func (o *pair) load(t *console.Terminal, path string) (before, after *logic.Program, err error) {
	if o.other != "" && len(o.steps.steps) > 0 {
		return nil, nil, exit.With(exit.Usage, errors.New("--apply and --other exclude each other"))
	}
	if o.each < 0 || o.each > eachMax {
		return nil, nil, exit.With(exit.Usage, fmt.Errorf("--each %d: want 0 to %d", o.each, eachMax))
	}
	var steps []rewrite.Step
	for _, s := range o.steps.steps {
		one := rewriteOptions{steps: []string{s}}
		if strings.HasSuffix(s, ".steps") {
			one = rewriteOptions{script: s}
		}
		more, err := one.parse()
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, more...)
	}
	if before, err = load(t, path); err != nil {
		return nil, nil, err
	}
	if o.other != "" {
		after, err = load(t, o.other)
		return before, after, err
	}
	after = before
	for _, s := range steps {
		q, _, err := takeStep(after, s)
		var refused *rewrite.Refusal
		if errors.As(err, &refused) {
			return nil, nil, exit.With(exit.Safety, refused)
		}
		if err != nil {
			return nil, nil, exit.With(exit.Usage, err)
		}
		after = q
	}
	return before, after, nil
}

// eachMax bounds --each.
const eachMax = 1000

// given reads the inputs of a program.
func (o *pair) given(p *logic.Program) ([]interp.Message, error) {
	if o.inputs == "" {
		return scenario.Inputs(p, o.each), nil
	}
	text, err := specification.Files{}.ReadFile(o.inputs)
	if err != nil {
		return nil, failed(err)
	}
	m, err := scenario.Read(p, o.inputs, string(text))
	if err != nil {
		return nil, exit.With(exit.Config, err)
	}
	return m, nil
}

// both are the inputs of two programs.
func (o *pair) both(before, after *logic.Program) (a, z []interp.Message, err error) {
	if a, err = o.given(before); err != nil {
		return nil, nil, err
	}
	if o.inputs != "" {
		z, err = o.given(after)
		return a, z, err
	}
	z, err = sameFor(after, a)
	return a, z, err
}

// sameFor converts messages made up for a program to messages for the program
// made from it.
func sameFor(after *logic.Program, given []interp.Message) (out []interp.Message, err error) {
	for _, m := range given {
		n, err := scenario.Message(after, m.String())
		if err != nil {
			return nil, exit.With(exit.Config, fmt.Errorf("the rewritten program: %w", err))
		}
		out = append(out, n)
	}
	return out, nil
}

const compareHelp = `Compare explores a program and its rewritten form (or another program) in every
order in which the messages can arrive. It reports whether the first can do everything
that the second does: at every moment the first can have sent the same messages to the
outside (safety), and where the second comes to rest, so can the first (liveness). A
difference is shown with the steps that lead to it.

The search has bounds, which it reports: the number of messages in a tick, of repeated
messages, of crashes, and of nodes that permanently omit messages. docs/lang/dedalus.md
says what a crash of one machine means for a node that runs on several. Functions from Go
are replaced by functions that return different results for different arguments.

Between nodes a message may arrive any number of times. If a difference is found, the
original is explored again with any number of deliveries: what it sends then is not a
difference. If that search does not finish, the difference is shown, with a remark that
it may be caused only by how often messages arrive (exit code 20).

Without --inputs, a few sets of messages with values from the original are compared as
well, each within small bounds and without failures, as in rewrite.

If there is no difference, the assertions of the original (assume collected, assume
timely) are tested on the same runs, in which the changes that are asserted to have no
effect happen later. An assertion that does not hold is reported like a difference.

Exit codes: 0 no difference, and nothing was left out; 12 the second outputs what the
first does not, or a step was refused; 13 it comes to rest where the first does not;
20 the search was not complete; 130 interrupted; 150 errors in a program; 151 in the
messages; 1 files; 2 usage.`

func newCompareCommand(t *console.Terminal) *cobra.Command {
	var o pair
	var b explore.Bounds
	var limits []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare FILE.ded",
		Short: "Explore whether a rewritten program does only what the original can",
		Long:  compareHelp,
		Example: `  ashlar dedalus compare voting.ded --apply voting.steps
  ashlar dedalus compare voting.ded --apply 'partition participant into 2' --inputs two.txt --duplicates 1
  ashlar dedalus compare twophase.ded --apply twophase.steps --limit retry=1 --crashes 1 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompare(cmd.Context(), t, o, b, limits, args[0], asJSON)
		},
	}
	f := cmd.Flags()
	o.flags(f)
	f.IntVar(&b.Together, "together", 2, "at most `N` messages arrive in a tick")
	f.IntVar(&b.Duplicates, "duplicates", 0, "`N` repeated deliveries, in addition to messages that are sent again")
	f.IntVar(&b.Crashes, "crashes", 0, "`N` crashes of nodes, which come back with what is durable")
	f.IntVar(&b.Omissions, "omissions", 0, "`N` nodes omit messages, permanently")
	f.Int64Var(&b.StatesMax, "states", 1_000_000, "visit at most `N` states of each program")
	f.StringArrayVar(&limits, "limit", nil, "let a timer expire at most N times, as `TIMER=N`; may be repeated")
	f.BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

// comparison is what compare reports to machines.
type comparison struct {
	Schema     string   `json:"schema"`
	ExitCode   int      `json:"exitCode"`
	Bounds     string   `json:"bounds"`
	Inputs     []string `json:"inputs"`
	States     [2]int64 `json:"states"`
	Complete   [2]bool  `json:"complete"`
	Told       [2]int   `json:"told"`
	Final      [2]int   `json:"final"`
	Different  string   `json:"different,omitempty"`
	Unsure     bool     `json:"unsure,omitempty"`
	Drawn      string   `json:"drawn,omitempty"`      // what was compared besides, without --inputs
	Assumption string   `json:"assumption,omitempty"` // of the original, that does not hold
	Difference []string `json:"difference,omitempty"`
	Steps      []string `json:"steps,omitempty"`
}

func runCompare(ctx context.Context, t *console.Terminal, o pair, b explore.Bounds, limits []string, path string, asJSON bool) error {
	if b.Together < 1 || b.Duplicates < 0 || b.Crashes < 0 || b.Omissions < 0 || b.StatesMax < 1 {
		return exit.With(exit.Usage, errors.New("bounds must not be negative, and --together and --states must be at least 1"))
	}
	before, after, err := o.load(t, path)
	if err != nil {
		return err
	}
	first, second, err := o.both(before, after)
	if err != nil {
		return err
	}
	times, err := parseLimits(before, limits)
	if err != nil {
		return err
	}
	inputs := func(p *logic.Program) []interp.Message {
		if p == before {
			return first
		}
		return second
	}
	b.Often = true
	c, err := explore.Compare(ctx, before, after, inputs, scenario.Functions(before), b, func(m *explore.Model) {
		for timer, n := range times {
			m.Limit(timer, n)
		}
	})
	if err != nil && ctx.Err() == nil {
		return failed(err)
	}
	if err != nil {
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted: there is no result yet (%v)", b))
	}
	var more *trial.Report
	if o.inputs == "" && c.Different == nil {
		// Mistakes usually concern values that the programs mention, so try
		// messages with those values.
		if more, err = trial.Run(ctx, before, after, trial.Limits{Drawn: drawnSets}); err != nil {
			return exit.With(exit.Interrupted, errors.New("interrupted while trying values from the program"))
		}
		c.Different = more.Different
	}
	broken := ""
	if c.Different == nil && c.Complete() {
		// An assertion of the author belongs to the original and is checked on the same
		// runs.
		b.StatesMax = max(c.First.States*assumedTimes, assumedMin)
		a, d, _, err := trial.Kept(ctx, before, first, scenario.Functions(before), b, func(m *explore.Model) {
			for timer, n := range times {
				m.Limit(timer, n)
			}
		})
		if err != nil && ctx.Err() == nil {
			return failed(err)
		}
		if err != nil {
			return exit.With(exit.Interrupted, errors.New("interrupted while testing assertions"))
		}
		if a != nil {
			broken, c.Different = a.String(), d
		}
	}
	return tellComparison(t, c, b, first, more, broken, asJSON)
}

// parseLimits parses the values of --limit.
func parseLimits(p *logic.Program, limits []string) (map[string]int, error) {
	out := map[string]int{}
	for _, l := range limits {
		name, number, _ := strings.Cut(l, "=")
		n, err := strconv.Atoi(number)
		if r := p.Find(name); err != nil || n < 0 || r == nil || r.Kind != logic.Timer {
			return nil, exit.With(exit.Usage, fmt.Errorf("--limit %s: want TIMER=N, of a timer of the program", l))
		}
		out[name] = n
	}
	return out, nil
}

// drawnSets is the number of sets of messages to draw, both of sets with one and of
// sets with two messages for each input.
const drawnSets = 24

// The check of an assumption may visit assumedTimes as many states as the original's
// search did, and assumedMin in any case.
const assumedTimes, assumedMin = 8, 20_000

func tellComparison(t *console.Terminal, c *explore.Comparison, b explore.Bounds, given []interp.Message, more *trial.Report, broken string, asJSON bool) error {
	d := comparison{Schema: "ashlar-dedalus-compare-1", Bounds: b.String(), Inputs: []string{}, Assumption: broken}
	for _, m := range given {
		d.Inputs = append(d.Inputs, m.String())
	}
	if more != nil {
		d.Drawn = more.String()
	}
	for i, out := range []*explore.Outcomes{c.First, c.Second} {
		d.States[i], d.Complete[i], d.Told[i], d.Final[i] = out.States, out.Complete, len(out.Told), len(out.Final)
	}
	switch {
	case c.Different != nil:
		d.Different, d.Steps = c.Different.Kind, c.Different.Steps
		d.Difference = strings.Split(c.Different.Told, "\n")
		d.ExitCode = map[string]int{"safety": exit.Safety, "liveness": exit.Liveness}[c.Different.Kind]
		if d.Unsure = c.Different.Unsure; d.Unsure {
			d.ExitCode = exit.NotChecked
		}
	case !c.Complete():
		d.ExitCode = exit.NotChecked
	}
	if asJSON {
		if err := t.JSON(d); err != nil {
			return err
		}
	} else {
		printComparison(t, c, d)
	}
	if d.ExitCode != 0 {
		return exit.With(d.ExitCode, nil)
	}
	return nil
}

func printComparison(t *console.Terminal, c *explore.Comparison, d comparison) {
	p := console.NewPalette(t.OutTTY)
	fmt.Fprintf(t.Out, "%s from outside; %s\n", many(len(d.Inputs), "message"), d.Bounds)
	for i, name := range []string{"the original", "the other"} {
		all := ""
		if !d.Complete[i] {
			all = ", and did not visit all"
		}
		fmt.Fprintf(t.Out, "%s: visited %s%s; sends %s of messages, and comes to rest with %d of them\n",
			name, many(int(d.States[i]), "state"), all, many(d.Told[i], "set"), d.Final[i])
	}
	if d.Drawn != "" {
		fmt.Fprintf(t.Out, "with values that occur in the original: %s\n", d.Drawn)
	}
	switch {
	case c.Different != nil:
		if d.Assumption != "" {
			fmt.Fprintf(t.Out, "%s'%s' does not hold in the original: if the changes that it covers happen later, %v\n", p.Bad("assumption: "), d.Assumption, c.Different)
		} else {
			fmt.Fprintln(t.Out, p.Bad("different: ")+c.Different.Error())
		}
		if len(d.Steps) > 0 {
			fmt.Fprintln(t.Out, "after")
		}
		for i, s := range d.Steps {
			fmt.Fprintf(t.Out, "%4d  %s\n", i+1, s)
		}
	case !c.Complete():
		fmt.Fprintln(t.Out, "no difference was found in the states that were visited; --states visits more, and --limit and fewer messages need fewer states")
	default:
		fmt.Fprintln(t.Out, p.Good("no difference: ")+"within these bounds the other program does nothing that the original cannot do")
	}
}
