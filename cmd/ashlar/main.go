// Command ashlar checks, translates and compiles specifications written in
// TLA+, PlusCal and Modular PlusCal, and checks the traces of running systems
// against them. Every subcommand explains itself with --help.
//
// Exit codes are part of the interface; docs/lang/exit-codes.md lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/cmd/internal/ending"
	"github.com/ashlar-dev/ashlar/cmd/internal/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/source"
)

func main() {
	ctx, end, stop := ending.Begin(exitInterrupted)
	t := terminal()
	t.end = end
	code := run(ctx, os.Args[1:], t)
	stop()
	os.Exit(code)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, t *term) int {
	watched, out := *t, &watchedOutput{Writer: t.out}
	t, watched.out = &watched, out
	root := newRootCommand(t)
	root.SetArgs(args)
	root.SetOut(t.out)
	root.SetErr(t.err)
	err := tlcFlagIn(args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var e *exit
	lost := out.lost()
	switch {
	case err == nil && lost != nil:
		t.complain(fmt.Errorf("write the result: %w", lost))
		return exitWorld
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		if lost != nil && e.code != exitWorld {
			t.complain(fmt.Errorf("write the result: %w", lost))
		}
		if e.err != nil {
			t.complain(e.err)
		}
		return e.code
	}
	// What cobra itself reports is a wrong command line.
	t.complain(err)
	fmt.Fprintf(t.err, "Run 'ashlar --help' or 'ashlar COMMAND --help'.\n")
	return exitUsage
}

// newRootCommand builds the command tree.
func newRootCommand(t *term) *cobra.Command {
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
	root.AddCommand(newCheckCommand(t), newSimulateCommand(t), newReplCommand(t), newTranslateCommand(t), newCompileCommand(t), newTraceCommand(t), newStoreCommand(t), newProveCommand(t), newDedalusCommand(t), newWormCommand(t))
	root.AddCommand(newLSPCommand(t))
	return root
}

// The exit codes. Those from 10 on that TLC has mean what they mean there.
const (
	exitOK          = 0
	exitWorld       = 1  // a file cannot be read or written, and the like
	exitUsage       = 2  // the command line is wrong
	exitAssumption  = 10 // an ASSUME is false
	exitDeadlock    = 11
	exitSafety      = 12 // an invariant is violated
	exitLiveness    = 13 // a property of steps or of behaviours is violated
	exitNotChecked  = 20 // something that was asked for was not checked
	exitEval        = 75 // an expression of the specification has no value
	exitInterrupted = 130
	exitSpec        = 150 // the specification has errors
	exitConfig      = 151 // the configuration has errors
)

// exit is an error that ends the process with a code of its own. Without err,
// everything has been said.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// failed marks an error of the world: a file, the network; or that rules do not end.
func failed(err error) error {
	if err == nil {
		return nil
	}
	var endless *interp.EndlessError
	if errors.As(err, &endless) {
		return &exit{code: exitEval, err: err}
	}
	return &exit{code: exitWorld, err: err}
}

// term is where a command reads and writes.
type term struct {
	out, err       io.Writer
	outTTY, errTTY bool // a person is looking
	// end is how the process ends on request; nil in tests.
	end *ending.Ending
}

// complain prints an error: diagnostics with their source lines.
func (t *term) complain(err error) {
	var diags *source.List
	if errors.As(err, &diags) {
		diags.Print(t.err)
		return
	}
	p := newPalette(t.errTTY)
	fmt.Fprintf(t.err, "%s %v\n", p.bad("ashlar:"), err)
}
