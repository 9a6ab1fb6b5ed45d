// SPDX-License-Identifier: Apache-2.0

// Package daemon is the command ashlard: it runs a server of WormSpace with its
// applications, and creates servers and clusters. It is a package so that tests and
// benchmarks can run as the servers that they start.
//
// In: a command line. Out: an exit code, and the output on out and errs.
//
// Exit codes: 0 done; 1 the environment failed (a file, the network); 2 the command
// line or a setting is wrong; 130 interrupted.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
)

// Main runs a command line and returns the exit code. When the context ends, a
// server drains and other commands end.
func Main(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	for _, name := range args {
		if moved(name) {
			fmt.Fprintf(errs, "ashlard: %s is a command of ashlar now: ashlar worm %[1]s\n", name)
			return exit.Usage
		}
		if name != "help" && name != "--help" && name != "-h" {
			break
		}
	}
	begun := false
	root := newRootCommand()
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetArgs(args)
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exit.OK
	}
	fmt.Fprintf(errs, "ashlard: %v\n", err)
	if !begun { // cobra did not understand the command line
		fmt.Fprintln(errs, "Run 'ashlard --help' or 'ashlard COMMAND --help'.")
		return exit.Usage
	}
	return exitCode(ctx, err)
}

func exitCode(ctx context.Context, err error) int {
	var e *exit.Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case ctx.Err() != nil:
		return exit.Interrupted
	}
	return exit.World
}

// moved reports whether the command is now a subcommand of ashlar worm.
func moved(name string) bool {
	switch name {
	case "status", "replace", "reconfigure", "describe", "restore", "unsafe-recover", "read", "write", "trim", "log", "kv":
		return true
	}
	return false
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlard",
		Short: "A server of write-once registers, logs and keys",
		Long: `ashlard stores write-once registers on its disk, in agreement with the other servers
of its cluster. Acknowledged data is on the disks of a majority. On the registers it
offers shared logs and a transactional key-value store.

To make a new cluster, format a directory for each server, write the cluster's
description from the output, and give it to each server and client. The commands for a
running cluster are in ashlar: see 'ashlar worm --help'.

Exit codes: 0 done; 1 a file or the network failed; 2 the command line or a
setting is wrong; 130 interrupted.`,
		Example: `  ashlard format /var/lib/ashlard --name n1 --addr 10.0.0.1:7420
  ashlard genesis n1=1c6f...@10.0.0.1:7420 n2=...@10.0.0.2:7420 n3=...@10.0.0.3:7420 > cluster.json
  ashlard serve /var/lib/ashlard --cluster cluster.json --listen 10.0.0.1:7420
  ashlar worm status --cluster cluster.json`,
		Version:       version.String(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newFormatCommand(), newGenesisCommand(), newServeCommand())
	return root
}
