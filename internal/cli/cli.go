// SPDX-License-Identifier: Apache-2.0

// Package cli is the command ashlar: it builds the root command with the subcommands
// of the packages below, and determines how the process ends.
//
// In: a command line. Out: the command's output and an exit code. If a result cannot
// be written, the exit code is never that of success. This package adds the commands
// of internal/cli/NAME, each of which provides New. The packages that these share are
// below them: exit, console, file, library, page and report.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/algorithm"
	"github.com/ashlar-dev/ashlar/internal/cli/check"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/dedalus"
	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/prove"
	"github.com/ashlar-dev/ashlar/internal/cli/repl"
	"github.com/ashlar-dev/ashlar/internal/cli/run"
	"github.com/ashlar-dev/ashlar/internal/cli/store"
	"github.com/ashlar-dev/ashlar/internal/cli/tlc"
	"github.com/ashlar-dev/ashlar/internal/cli/trace"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/cli/worm"
)

// Main runs the command line of this process and returns its exit code.
func Main() int {
	ctx, end, stop := ending.Begin(exit.Interrupted)
	defer stop()
	t := console.Standard()
	t.End = end
	return Run(ctx, os.Args[1:], t)
}

// Run executes the command line and returns the exit code.
func Run(ctx context.Context, args []string, t *console.Terminal) int {
	watched, out := *t, &watchedOutput{Writer: t.Out}
	t, watched.Out = &watched, out
	root := Command(t)
	root.SetArgs(args)
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	err := tlc.CheckFlags(args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var e *exit.Error
	lost := out.lost()
	switch {
	case err == nil && lost != nil:
		t.Complain(fmt.Errorf("write the result: %w", lost))
		return exit.World
	case err == nil:
		return exit.OK
	case errors.As(err, &e):
		if lost != nil && e.Code != exit.World {
			t.Complain(fmt.Errorf("write the result: %w", lost))
		}
		if e.Err != nil {
			t.Complain(e.Err)
		}
		return e.Code
	}
	// Errors that cobra itself reports are errors of the command line.
	t.Complain(err)
	fmt.Fprintf(t.Err, "Run 'ashlar --help' or 'ashlar COMMAND --help'.\n")
	return exit.Usage
}

// Command builds the command tree.
func Command(t *console.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlar",
		Short: "Design, check, compile and run distributed systems",
		Long: `Ashlar reads specifications in TLA+, PlusCal and Modular PlusCal. It checks them
exhaustively, compiles them to Go, and checks the traces of the running system
against them.`,
		Example: `  ashlar check specs/diehard/diehard.tla
  ashlar check --workers 4 --html report.html Spec.tla
  ashlar help check`,
		Version:       version.String(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(check.New(t), check.NewSimulate(t), repl.New(t), algorithm.NewTranslate(t), algorithm.NewCompile(t), trace.New(t), run.New(t), store.New(t), prove.New(t), dedalus.New(t), worm.New(t))
	root.AddCommand(newLSPCommand(t))
	return root
}

// watchedOutput records failed writes, so that a command whose result is lost, for
// example on a full disk, does not report success.
type watchedOutput struct {
	io.Writer
	mu  sync.Mutex
	err error // the first
}

// Write implements io.Writer. Several goroutines may call it.
func (w *watchedOutput) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// lost returns the first write error, or nil.
func (w *watchedOutput) lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
