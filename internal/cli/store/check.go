// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

const verifyHelp = `Verify reads the whole store and checks it: every block against the checksum in its
parent, the order of all messages, whether the filters and fences lead to each of
them, large values, the shape of the tree, and that every page has at most one owner.
It changes nothing. No other process may have the store open.

Verify also reads the files of a history (HISTORY-...). Damage in such a file affects only
feeds and archives: remove the file, and start a new copy for them. A repair leaves it.

Exit codes: 0 sound; 150 damaged, each place is listed; 130 interrupted; 1 files;
2 usage.`

func newVerifyCommand(t *console.Terminal) *cobra.Command {
	var o shared
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Read and check everything in a store",
		Long:  verifyHelp,
		Example: `  ashlar store verify /var/lib/app/db
  ashlar store verify --json db | jq .problems`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCheck(cmd.Context(), t, o, args[0], "ashlar-store-verify/1", func(ctx context.Context, db *store.DB) (store.Report, error) {
				return db.Verify(ctx)
			})
		},
	}
	o.flags(cmd, "ashlar-store-verify/1")
	return cmd
}

const scrubHelp = `Scrub does what verify does, but reads no more than so many megabytes in a second
on average, so that other users of the disk are not slowed down. A program that has a
store open scrubs it with DB.Scrub; this command is for stores that are not in use.

Exit codes: as of verify.`

func newScrubCommand(t *console.Terminal) *cobra.Command {
	var o shared
	var rate float64
	cmd := &cobra.Command{
		Use:   "scrub DIR",
		Short: "Read and check everything in a store, slowly",
		Long:  scrubHelp,
		Example: `  ashlar store scrub --rate 10 /var/lib/app/db
  ashlar store scrub --rate 0.5 --json db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bytes := int64(rate * 1e6)
			if bytes <= 0 {
				return exit.With(exit.Usage, fmt.Errorf("--rate %g: want a positive number", rate))
			}
			return runCheck(cmd.Context(), t, o, args[0], "ashlar-store-scrub/1", func(ctx context.Context, db *store.DB) (store.Report, error) {
				return db.Scrub(ctx, bytes)
			})
		},
	}
	o.flags(cmd, "ashlar-store-scrub/1")
	cmd.Flags().Float64Var(&rate, "rate", 20, "read `MB` per second")
	return cmd
}

// report is the result of verify and scrub as JSON.
type report struct {
	Schema   string    `json:"schema"`
	Dir      string    `json:"dir"`
	Sound    bool      `json:"sound"`
	ExitCode int       `json:"exitCode"`
	Branches int64     `json:"branches"`
	Blocks   int64     `json:"blocks"`
	Messages int64     `json:"messages"`
	Values   int64     `json:"values"`
	Bytes    int64     `json:"bytes"`
	Gaps     []gap     `json:"gaps,omitempty"`
	Problems []problem `json:"problems"`
	More     int64     `json:"more"`
}

// gap is changes that the history lacks.
type gap struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// problem is a damaged place. Keys are escaped as in a Go string.
type problem struct {
	Text   string `json:"text"`
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Branch uint64 `json:"branch,omitempty"`
	Block  int    `json:"block,omitempty"`
	Lo     string `json:"lo,omitempty"`
	Hi     string `json:"hi,omitempty"`
	Want   string `json:"want,omitempty"`
	Found  string `json:"found,omitempty"`
}

func problemOf(err error) problem {
	p := problem{Text: err.Error()}
	var c *store.CorruptError
	if errors.As(err, &c) {
		p.File, p.Offset, p.Branch, p.Block, p.Want, p.Found = c.File, c.Offset, c.Branch, c.Block, c.Want, c.Found
		p.Lo, p.Hi = repair.EscapeKey(c.Lo), repair.EscapeKey(c.Hi)
	}
	return p
}

// keysOf returns the keys that a problem affects, which the error's text does not show.
func keysOf(err error) string {
	if p := problemOf(err); p.Lo != "" || p.Hi != "" {
		return fmt.Sprintf("; keys \"%s\" to \"%s\"", p.Lo, p.Hi)
	}
	return ""
}

// runCheck opens a store, checks it, and reports the result.
func runCheck(ctx context.Context, t *console.Terminal, o shared, dir, schema string, look func(context.Context, *store.DB) (store.Report, error)) error {
	s, err := openDir(dir, true)
	if err != nil {
		return err
	}
	defer s.close()
	var report store.Report
	start := time.Now()
	err = work(ctx, t, o.quiet, func() string { return s.disk.megabytes(start) }, func() error {
		db, err := s.read(o.options())
		if err != nil {
			return err
		}
		report, err = look(ctx, db)
		return errors.Join(err, db.Close())
	})
	var stop *exit.Error
	switch {
	case errors.As(err, &stop):
		return err
	case errors.Is(err, store.ErrCorrupt):
		report.Problems = append(report.Problems, err)
	case err != nil && ctx.Err() == nil:
		return exit.Failed(err)
	}
	code := exit.OK
	if len(report.Problems) > 0 {
		code = exit.Spec
	} else if ctx.Err() != nil {
		code = exit.Interrupted
	}
	if err := tellReport(t, o, dir, schema, &report, code); err != nil {
		return err
	}
	if code == exit.Interrupted {
		return exit.Stopped(ctx)
	}
	if code != exit.OK {
		return exit.With(code, nil)
	}
	return nil
}

func tellReport(t *console.Terminal, o shared, dir, schema string, r *store.Report, code int) error {
	if o.json {
		out := report{Schema: schema, Dir: dir, Sound: code == exit.OK, ExitCode: code, Branches: r.Branches, Blocks: r.Blocks,
			Messages: r.Messages, Values: r.Blobs, Bytes: r.Bytes, Problems: []problem{}, More: r.More}
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemOf(p))
		}
		for _, g := range r.Gaps {
			out.Gaps = append(out.Gaps, gap(g))
		}
		return t.JSON(out)
	}
	p := console.NewPalette(t.OutTTY)
	for _, problem := range r.Problems {
		fmt.Fprintf(t.Out, "%v%s\n", problem, keysOf(problem))
	}
	if r.More > 0 {
		fmt.Fprintf(t.Out, "and %s more\n", console.Count(r.More))
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(t.Out, "the history lacks changes %d to %d: they were ingested, could not be written, or their file is missing; feeds and archives end there\n", g.First, g.Last)
	}
	verdict := p.Good("sound")
	switch code {
	case exit.Spec:
		verdict = p.Bad("damaged") + fmt.Sprintf(" in %s places; ashlar store repair %s makes a sound store from the undamaged part", console.Count(int64(len(r.Problems))+r.More), dir)
	case exit.Interrupted:
		verdict = "no damage so far"
	}
	fmt.Fprintf(t.Out, "%s branches, %s blocks, %s messages, %s large values, %s bytes read\n%s: %s\n",
		console.Count(r.Branches), console.Count(r.Blocks), console.Count(r.Messages), console.Count(r.Blobs), console.Count(r.Bytes), dir, verdict)
	return nil
}

const repairHelp = `Repair makes a sound store from everything in a damaged one that has a correct
checksum, and lists the ranges of keys from which data is lost, with the reason. It
never guesses, and keeps the old files beside the new ones, as DATA.damaged-1 and
JOURNAL-NN.damaged-1: remove them when you no longer need them. It needs space for a
second copy of the data. A sound store is not changed. Repair may be interrupted at
any moment: the store is then the old one or the new one.

Exit codes: 0 sound, or repaired and nothing is lost; 20 repaired, and something
is lost; 150 it cannot be repaired without guessing; 130 interrupted; 1 files;
2 usage.`

func newRepairCommand(t *console.Terminal) *cobra.Command {
	var o shared
	cmd := &cobra.Command{
		Use:   "repair DIR",
		Short: "Make a sound store from a damaged one",
		Long:  repairHelp,
		Example: `  ashlar store repair /var/lib/app/db
  ashlar store repair --json db | jq .report.lost`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRepair(cmd.Context(), t, o, args[0]) },
	}
	o.flags(cmd, "ashlar-store-repair/1")
	return cmd
}

func runRepair(ctx context.Context, t *console.Terminal, o shared, dir string) error {
	s, err := openDir(dir, false) // Repair locks by itself
	if err != nil {
		return err
	}
	defer s.close()
	var report repair.Report
	start := time.Now()
	err = work(ctx, t, o.quiet, func() string { return s.disk.megabytes(start) }, func() error {
		var err error
		report, err = repair.Store(s.world, s.name, o.options())
		return err
	})
	var stop *exit.Error
	switch {
	case errors.As(err, &stop):
		return err
	case errors.Is(err, repair.ErrAmbiguous):
		return exit.With(exit.Spec, err)
	case err != nil:
		return exit.Failed(err)
	}
	code := exit.OK
	if len(report.Lost) > 0 {
		code = exit.NotChecked
	}
	if o.json {
		err = t.JSON(struct {
			Schema   string         `json:"schema"`
			Dir      string         `json:"dir"`
			ExitCode int            `json:"exitCode"`
			Report   *repair.Report `json:"report"`
		}{"ashlar-store-repair/1", dir, code, &report})
	} else {
		_, err = fmt.Fprint(t.Out, report.String())
		err = exit.Failed(err)
	}
	if err == nil && code != exit.OK {
		return exit.With(code, nil)
	}
	return err
}
