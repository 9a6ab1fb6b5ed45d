// SPDX-License-Identifier: Apache-2.0

// Package trace implements the command trace, which compares the behaviour of a running
// system with its specification.
//
// In: a specification and a directory of trace files. Out: a verdict, and for a
// rejection the step that no order explains.
package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/library"
	document "github.com/ashlar-dev/ashlar/internal/cli/report"
	"github.com/ashlar-dev/ashlar/internal/conform"
)

// New makes the command trace.
func New(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Check what a running system did against its specification",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCheckCommand(t))
	return cmd
}

// options are the flags of trace check.
type options struct {
	config   string
	library  library.Dirs
	json     bool
	orders   string
	follow   bool
	stepsMax int
}

// A check keeps few sections at a time and makes many, so it lets the garbage
// grow to several times what it keeps, up to a bound.
const (
	gcPercent = 800
	gcMemory  = 128 << 20
)

const checkHelp = `Check reads the trace files that a compiled system wrote into a directory when it
ran with ASHLAR_TRACE_DIR set, one for each process, and reports whether some
behaviour of the specification explains all of them: every critical section
with the values that it read and wrote, in an order that the vector clocks allow.

If none does, it names the step that no order can pass, the statement that
blocks it, and the values.

With --orders all, every order that the clocks allow must be a behaviour: then the
clocks say everything on which the outcome depends. Messages of two senders to one
mailbox, neither of which had seen the other's, may arrive in either order, but only
one order is in the trace.

With --follow it continues while the processes run, until all of them have ended,
the traces are rejected, or a signal arrives; then it reports what it has found. It
begins when each process has a trace, and says which ones it waits for.

Processes without a trace, and lives of a process without one, are listed. The steps
of such processes are searched. A section that has seen a missing life is an error.

The configuration must give the constants with which the system ran. It may name
invariants, which are evaluated in the states on the way; check names the step that
violates one. The traces are those of the algorithm: where the configuration's
specification has another next-state relation, check warns and takes the algorithm's.

Exit codes: 0 accepted; 12 rejected, or an invariant is violated; 20 undecided: the search
stopped at a limit, which it names; 75 a statement has no value; 130 interrupted; 150 errors in the
specification; 151 errors in the configuration; 1 files, malformed traces; 2 usage.`

func newCheckCommand(t *console.Terminal) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "check FILE.tla DIR",
		Short: "Does a behaviour of the specification explain these traces?",
		Long:  checkHelp,
		Example: `  ASHLAR_TRACE_DIR=traces ./lockservice -config sys.json -node server
  ashlar trace check specs/lockservice/lockservice.tla traces`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCheck(cmd.Context(), t, o, args[0], args[1])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.config, "config", "c", "", "the configuration `FILE` (default: FILE.cfg beside FILE.tla)")
	o.library.AddTo(cmd)
	f.StringVar(&o.orders, "orders", "one", "`WHICH` orders must be behaviours: one, or all that the clocks allow")
	f.BoolVar(&o.follow, "follow", false, "check the traces of processes that still run")
	f.IntVar(&o.stepsMax, "max-steps", 0, fmt.Sprintf("give up after `N` search steps (default %d, and some for each section)", conform.StepsMax))
	f.BoolVar(&o.json, "json", false, "write the result as JSON")
	return cmd
}

// report is the result of trace check as JSON.
type report struct {
	Schema    string    `json:"schema"`
	Spec      string    `json:"spec"`
	Dir       string    `json:"dir"`
	Orders    string    `json:"orders"`
	Verdict   string    `json:"verdict"`
	ExitCode  int       `json:"exitCode"`
	Logs      int       `json:"logs"`
	Sections  int       `json:"sections"`
	Explained int       `json:"explained"`
	Trimmed   int       `json:"trimmed"`
	Steps     int       `json:"steps"`
	GaveUp    string    `json:"gaveUp,omitempty"`
	Untraced  []string  `json:"untraced,omitempty"`
	Blocked   []blocked `json:"blocked,omitempty"`
	Invariant string    `json:"invariant,omitempty"`
	BrokenBy  *blocked  `json:"brokenBy,omitempty"`
	State     []binding `json:"state,omitempty"`
}

// blocked is a section that no order gets past.
type blocked struct {
	Actor  string `json:"actor"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Label  string `json:"label"`
	Place  string `json:"place,omitempty"`
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason"`
}

type binding struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func runCheck(ctx context.Context, t *console.Terminal, o options, spec, dir string) error {
	if o.stepsMax < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--max-steps %d: want a positive number", o.stepsMax))
	}
	if o.orders != "one" && o.orders != "all" {
		return exit.With(exit.Usage, fmt.Errorf("--orders %s: want one or all", o.orders))
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(gcMemory)
	ro := ashlar.ReplayOptions{Options: o.library.Options(o.config), StepsMax: o.stepsMax, AllOrders: o.orders == "all"}
	check := ctx
	if o.follow {
		if o.orders == "all" {
			return exit.With(exit.Usage, errors.New("--follow and --orders all: all orders can be checked when the processes have ended"))
		}
		var done context.CancelFunc
		check, done = afterwards(ctx)
		defer done()
		ro.Follow = &ashlar.Follow{Ended: func() bool { return ctx.Err() != nil }}
		if !o.json {
			ro.Follow.Progress = show(t, dir)
		}
	}
	r, err := ashlar.Replay(check, spec, os.DirFS(dir), ro)
	code, err := document.Replayed(check, t.Err, r, err)
	if err != nil {
		return err
	}
	r.Warnings.Print(t.Err)
	if !o.json {
		r.Print(t.Out)
	} else if err := writeReport(t, o, spec, dir, r, code); err != nil {
		return err
	}
	if code == exit.OK {
		return nil
	}
	return exit.With(code, nil)
}

// show returns what shows the progress of a check that follows processes: which
// traces it waits for, each time that this changes, and on a terminal how far it is.
func show(t *console.Terminal, dir string) func(ashlar.Progress) {
	var last string
	return func(p ashlar.Progress) {
		missing := strings.Join(p.Missing, ", ")
		switch {
		case missing != "" && missing != last:
			fmt.Fprintf(t.Err, "waiting for the traces of %s in %s\n", missing, dir)
		case missing == "" && t.ErrTTY:
			fmt.Fprintf(t.Err, "\r%d sections", p.Sections)
		}
		last = missing
	}
}

// verdictTime is how long a check may go on after a signal, to say what it has
// found.
const verdictTime = 700 * time.Millisecond

// afterwards returns a context that ends some time after another.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(verdictTime, cancel) })
	return out, func() { stop(); cancel() }
}

func writeReport(t *console.Terminal, o options, spec, dir string, r *ashlar.Replayed, code int) error {
	out := report{Schema: "ashlar-trace-check/1", Spec: spec, Dir: dir, Orders: o.orders, Verdict: string(r.Verdict), ExitCode: code,
		Logs: r.Processes, Sections: r.Sections, Explained: r.Explained, Trimmed: r.Trimmed, Steps: r.Steps, GaveUp: r.GaveUp, Untraced: r.Untraced}
	section := func(b ashlar.Blocked) blocked {
		return blocked{Actor: b.Process, File: filepath.Join(dir, b.File), Line: b.Line, Label: b.Label, Place: b.Place, Text: b.Text, Reason: b.Reason}
	}
	for _, b := range r.Blocked {
		out.Blocked = append(out.Blocked, section(b))
	}
	if out.Invariant = r.Broken; r.By != nil {
		by := section(*r.By)
		out.BrokenBy = &by
	}
	for _, b := range r.State {
		out.State = append(out.State, binding{b.Name, b.Value})
	}
	return t.JSON(out)
}
