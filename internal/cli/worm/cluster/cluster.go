// SPDX-License-Identifier: Apache-2.0

// Package cluster is what an operator and a client do with a cluster of WormSpace from a
// command line: look at it, change its servers, read and write what is in it.
//
// In: the cluster's description, and what to do. Out: what was found or done, as text or
// JSON. Promised: each error has an exit code that says what a script may do next: the
// codes of package exit, of which Refused, Unknown and Nothing are used here. A command
// gives up after its --timeout and then says which servers are in the way. Refused: a
// change of servers that would lose something, as package worm says.
package cluster

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Operate makes the commands about a cluster's servers.
func Operate(t *console.Terminal) []*cobra.Command {
	return coded(newStatusCommand(t), newReplaceCommand(t), newReconfigureCommand(t), newDescribeCommand(t),
		newRestoreCommand(t), newUnsafeRecoverCommand(t))
}

// Use makes the commands about what is in a cluster.
func Use(t *console.Terminal) []*cobra.Command {
	return coded(newReadCommand(t), newWriteCommand(t), newTrimCommand(t), newLogCommand(t), newKVCommand(t))
}

// coded gives the errors of commands, and of those below them, their exit codes.
func coded(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return withCode(cmd.Context(), run(cmd, args))
		}
		coded(cmd.Commands()...)
	}
	return commands
}

// usage marks an error of the command line.
func usage(err error) error { return exit.With(exit.Usage, err) }

// withCode adds the exit code to an error. What is known of the outcome counts more than
// an interrupt.
func withCode(ctx context.Context, err error) error {
	var e *exit.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return exit.With(e.Code, err)
	case errors.Is(err, worm.ErrRefused), errors.Is(err, wor.ErrWritten), errors.Is(err, errNotHeld):
		return exit.With(exit.Refused, err)
	case errors.Is(err, wor.ErrUnknown):
		return exit.With(exit.Unknown, err)
	case errors.Is(err, wor.ErrUnwritten), errors.Is(err, wor.ErrUnallocated), errors.Is(err, wor.ErrTrimmed), errors.Is(err, worm.ErrNoKey):
		return exit.With(exit.Nothing, err)
	case ctx.Err() != nil:
		return exit.Stopped(ctx)
	}
	return exit.Failed(err)
}
