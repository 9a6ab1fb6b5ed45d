// SPDX-License-Identifier: Apache-2.0

// Package cluster implements the commands with which an operator or a client uses a
// cluster of WormSpace: inspect it, change its servers, read and write its contents.
//
// In: the cluster's description and the command's arguments. Out: the result, as text or
// JSON. Promised: the exit code of each error tells a script what it may do next. The
// codes are those of package exit; this package uses Refused, Unknown and Nothing. A
// command gives up after its --timeout and then reports which servers prevented it.
// Refused: a change of servers that would lose data, as package worm defines.
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

// Operate returns the commands that manage a cluster's servers.
func Operate(t *console.Terminal) []*cobra.Command {
	return coded(newStatusCommand(t), newReplaceCommand(t), newReconfigureCommand(t), newDescribeCommand(t),
		newRestoreCommand(t), newUnsafeRecoverCommand(t))
}

// Use returns the commands that read and write a cluster's contents.
func Use(t *console.Terminal) []*cobra.Command {
	return coded(newReadCommand(t), newWriteCommand(t), newTrimCommand(t), newLogCommand(t), newKVCommand(t))
}

// coded adds the exit codes to the errors of commands and their subcommands.
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

// withCode adds the exit code to an error. A known outcome takes precedence over an
// interrupt.
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
