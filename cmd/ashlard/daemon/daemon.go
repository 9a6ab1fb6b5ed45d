// SPDX-License-Identifier: Apache-2.0

// Package daemon is the command ashlard: a server of WormSpace with what it hosts,
// and what its operators do. It is a package so that `ashlar worm` can be the
// servers that it starts.
//
// In: a command line. Out: an exit code; what is written to out and errs.
//
// Exit codes: 0 done; 1 the world failed (a file, the network, the time that was
// given); 2 the command line or a setting is wrong; 3 refused, nothing was changed;
// 4 the outcome is unknown; 5 there is nothing there; 130 interrupted.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The exit codes.
const (
	exitOK      = 0
	exitWorld   = 1
	exitUsage   = 2
	exitRefused = 3
	exitUnknown = 4
	exitNothing = 5
	// ExitInterrupted is that of a command that a signal has ended.
	ExitInterrupted = 130
)

// usageError is a wrong command line or setting.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error { return usageError{err} }

// Main runs a command line and answers the exit code. When the context ends, a
// server drains, and other commands end.
func Main(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	begun := false
	root := newRootCommand()
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetArgs(args)
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errs, "ashlard: %v\n", err)
	if !begun { // cobra did not understand the command line
		fmt.Fprintln(errs, "Run 'ashlard --help' or 'ashlard COMMAND --help'.")
		return exitUsage
	}
	return exitCode(ctx, err)
}

func exitCode(ctx context.Context, err error) int {
	var u usageError
	switch {
	case errors.As(err, &u):
		return exitUsage
	case errors.Is(err, worm.ErrRefused), errors.Is(err, wor.ErrWritten), errors.Is(err, errNotHeld):
		return exitRefused
	case errors.Is(err, wor.ErrUnknown):
		return exitUnknown
	case errors.Is(err, wor.ErrUnwritten), errors.Is(err, wor.ErrUnallocated), errors.Is(err, wor.ErrTrimmed), errors.Is(err, worm.ErrNoKey):
		return exitNothing
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	return exitWorld
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlard",
		Short: "A server of write-once registers, and of what is built on them",
		Long: `ashlard keeps write-once registers on its disk, in agreement with the other servers
of its cluster. What it has acknowledged is on the disks of a majority. On the
registers it offers shared logs and a transactional key-value store.

A new cluster: format a directory for each server, write the cluster's description
from what that prints, and give it to each server and client. Servers are replaced by
'ashlard replace'; 'ashlard describe' writes a description with those of now.

Exit codes: 0 done; 1 the world failed (a file, the network, --timeout); 2 the
command line or a setting is wrong; 3 refused, nothing was changed; 4 the outcome is
unknown; 5 there is nothing there; 130 interrupted.`,
		Example: `  ashlard format /var/lib/ashlard --name n1 --addr 10.0.0.1:7420
  ashlard genesis n1=1c6f...@10.0.0.1:7420 n2=...@10.0.0.2:7420 n3=...@10.0.0.3:7420 > cluster.json
  ashlard serve /var/lib/ashlard --cluster cluster.json --listen 10.0.0.1:7420
  ashlard status --cluster cluster.json
  ashlard replace n2 --with n4=...@10.0.0.4:7420 --cluster cluster.json`,
		Version:       version.String(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(&cobra.Group{ID: "server", Title: "A server:"}, &cobra.Group{ID: "cluster", Title: "A cluster:"},
		&cobra.Group{ID: "data", Title: "What is in it:"})
	for group, commands := range map[string][]*cobra.Command{
		"server": {newFormatCommand(), newGenesisCommand(), newServeCommand()},
		"cluster": {newStatusCommand(), newReplaceCommand(), newReconfigureCommand(), newDescribeCommand(),
			newRestoreCommand(), newUnsafeRecoverCommand()},
		"data": {newReadCommand(), newWriteCommand(), newTrimCommand(), newLogCommand(), newKVCommand()},
	} {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	return root
}
