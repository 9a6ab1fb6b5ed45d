package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/store"
)

const storeVerifyHelp = `Verify reads the whole store and checks it: every block against the checksum that
its parent has of it, the order of all messages, that the filters and fences lead
to each of them, large values, the shape of the tree, and that every page has one
owner or none. It changes nothing. Nobody else may have the store open.

Exit codes: 0 sound; 150 damaged, each place is listed; 130 interrupted; 1 files;
2 usage.`

func newStoreVerifyCommand(t *term) *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "verify DIR",
		Short: "Read and check everything in a store",
		Long:  storeVerifyHelp,
		Example: `  ashlar store verify /var/lib/app/db
  ashlar store verify --json db | jq .problems`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStoreCheck(cmd.Context(), t, o, args[0], "ashlar-store-verify/1", func(ctx context.Context, db *store.DB) (store.Report, error) {
				return db.Verify(ctx)
			})
		},
	}
	o.flags(cmd, "ashlar-store-verify/1")
	return cmd
}

const storeScrubHelp = `Scrub does what verify does, but reads no more than so many megabytes in a second
on the average, so that what else the disk has to do goes on. Programs that have a
store open scrub it with DB.Scrub; this command is for stores that are not in use.

Exit codes: as of verify.`

func newStoreScrubCommand(t *term) *cobra.Command {
	var o storeOptions
	var rate float64
	cmd := &cobra.Command{
		Use:   "scrub DIR",
		Short: "Read and check everything in a store, slowly",
		Long:  storeScrubHelp,
		Example: `  ashlar store scrub --rate 10 /var/lib/app/db
  ashlar store scrub --rate 0.5 --json db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bytes := int64(rate * 1e6)
			if bytes <= 0 {
				return &exit{exitUsage, fmt.Errorf("--rate %g: want a positive number", rate)}
			}
			return runStoreCheck(cmd.Context(), t, o, args[0], "ashlar-store-scrub/1", func(ctx context.Context, db *store.DB) (store.Report, error) {
				return db.Scrub(ctx, bytes)
			})
		},
	}
	o.flags(cmd, "ashlar-store-scrub/1")
	cmd.Flags().Float64Var(&rate, "rate", 20, "read `MB` per second")
	return cmd
}

// storeReport is what verify and scrub tell machines.
type storeReport struct {
	Schema   string         `json:"schema"`
	Dir      string         `json:"dir"`
	Sound    bool           `json:"sound"`
	ExitCode int            `json:"exitCode"`
	Branches int64          `json:"branches"`
	Blocks   int64          `json:"blocks"`
	Messages int64          `json:"messages"`
	Values   int64          `json:"values"`
	Bytes    int64          `json:"bytes"`
	Problems []storeProblem `json:"problems"`
	More     int64          `json:"more"`
}

// storeProblem is a damaged place. Keys are escaped as in a Go string.
type storeProblem struct {
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

func problemOf(err error) storeProblem {
	p := storeProblem{Text: err.Error()}
	var c *store.CorruptError
	if errors.As(err, &c) {
		p.File, p.Offset, p.Branch, p.Block, p.Want, p.Found = c.File, c.Offset, c.Branch, c.Block, c.Want, c.Found
		p.Lo, p.Hi = store.EscapeKey(c.Lo), store.EscapeKey(c.Hi)
	}
	return p
}

// runStoreCheck opens a store, has it checked, and tells the result.
func runStoreCheck(ctx context.Context, t *term, o storeOptions, dir, schema string, look func(context.Context, *store.DB) (store.Report, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := openStoreDir(dir, true)
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
	var stop *exit
	switch {
	case errors.As(err, &stop):
		return err
	case errors.Is(err, store.ErrCorrupt):
		report.Problems = append(report.Problems, err)
	case err != nil && ctx.Err() == nil:
		return failed(err)
	}
	code := exitOK
	if len(report.Problems) > 0 {
		code = exitSpec
	} else if ctx.Err() != nil {
		code = exitInterrupted
	}
	if err := tellStoreReport(t, o, dir, schema, &report, code); err != nil {
		return err
	}
	if code == exitInterrupted {
		return interrupted(ctx)
	}
	if code != exitOK {
		return &exit{code: code}
	}
	return nil
}

func tellStoreReport(t *term, o storeOptions, dir, schema string, r *store.Report, code int) error {
	if o.json {
		out := storeReport{Schema: schema, Dir: dir, Sound: code == exitOK, ExitCode: code, Branches: r.Branches, Blocks: r.Blocks,
			Messages: r.Messages, Values: r.Blobs, Bytes: r.Bytes, Problems: []storeProblem{}, More: r.More}
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemOf(p))
		}
		return writeJSON(t, out)
	}
	p := newPalette(t.outTTY)
	for _, problem := range r.Problems {
		fmt.Fprintf(t.out, "%v\n", problem)
	}
	if r.More > 0 {
		fmt.Fprintf(t.out, "and %s more\n", count(r.More))
	}
	verdict := p.good("sound")
	switch code {
	case exitSpec:
		verdict = p.bad("damaged") + fmt.Sprintf(" in %s places; ashlar store repair %s makes a sound store of what is whole", count(int64(len(r.Problems))+r.More), dir)
	case exitInterrupted:
		verdict = "no damage so far"
	}
	fmt.Fprintf(t.out, "%s branches, %s blocks, %s messages, %s large values, %s bytes read\n%s: %s\n",
		count(r.Branches), count(r.Blocks), count(r.Messages), count(r.Blobs), count(r.Bytes), dir, verdict)
	return nil
}

const storeRepairHelp = `Repair makes a sound store of everything in a damaged one that its checksums vouch
for, and lists the ranges of keys of which something is lost, with the reason. It
never guesses, and keeps the old files beside the new ones, as DATA.damaged-1 and
JOURNAL-NN.damaged-1: remove them when you do not need them any more. It needs
space for a second copy of the data. A store that is sound is left alone. It can
be interrupted at any moment: the store is then the old one or the new one.

Exit codes: 0 sound, or repaired and nothing is lost; 20 repaired, and something
is lost; 150 it cannot be repaired without guessing; 130 interrupted; 1 files;
2 usage.`

func newStoreRepairCommand(t *term) *cobra.Command {
	var o storeOptions
	cmd := &cobra.Command{
		Use:   "repair DIR",
		Short: "Make a sound store of a damaged one",
		Long:  storeRepairHelp,
		Example: `  ashlar store repair /var/lib/app/db
  ashlar store repair --json db | jq .report.lost`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runStoreRepair(cmd.Context(), t, o, args[0]) },
	}
	o.flags(cmd, "ashlar-store-repair/1")
	return cmd
}

func runStoreRepair(ctx context.Context, t *term, o storeOptions, dir string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := openStoreDir(dir, false) // Repair locks by itself
	if err != nil {
		return err
	}
	defer s.close()
	var report store.RepairReport
	start := time.Now()
	err = work(ctx, t, o.quiet, func() string { return s.disk.megabytes(start) }, func() error {
		var err error
		report, err = store.Repair(s.world, s.name, o.options())
		return err
	})
	var stop *exit
	switch {
	case errors.As(err, &stop):
		return err
	case errors.Is(err, store.ErrAmbiguous):
		return &exit{code: exitSpec, err: err}
	case err != nil:
		return failed(err)
	}
	code := exitOK
	if len(report.Lost) > 0 {
		code = exitNotChecked
	}
	if o.json {
		err = writeJSON(t, struct {
			Schema   string              `json:"schema"`
			Dir      string              `json:"dir"`
			ExitCode int                 `json:"exitCode"`
			Report   *store.RepairReport `json:"report"`
		}{"ashlar-store-repair/1", dir, code, &report})
	} else {
		_, err = fmt.Fprint(t.out, report.String())
		err = failed(err)
	}
	if err == nil && code != exitOK {
		return &exit{code: code}
	}
	return err
}
