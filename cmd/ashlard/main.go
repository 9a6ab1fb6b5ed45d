// Command ashlard is a server of WormSpace: it keeps write-once registers on its
// disk together with others, and offers what is built on them. Every subcommand
// explains itself with --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := newRootCommand(os.Stdout, os.Stderr).ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "ashlard: %v\n", err)
		os.Exit(1)
	}
}

func newRootCommand(out, errs io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "ashlard",
		Short: "A server of write-once registers, and of what is built on them",
		Long: `ashlard keeps write-once registers on its disk, in agreement with the other servers
of its cluster. What it has acknowledged is on the disks of a majority.

A new cluster: format a directory for each server, write the cluster's description
from what that prints, and give it to each server and client. It never changes;
servers are replaced by 'ashlard replace'.`,
		Example: `  ashlard format /var/lib/ashlard --name n1 --addr 10.0.0.1:7420
  ashlard genesis n1=1c6f...@10.0.0.1:7420 n2=...@10.0.0.2:7420 n3=...@10.0.0.3:7420 > cluster.json
  ashlard serve /var/lib/ashlard --cluster cluster.json --listen 10.0.0.1:7420
  ashlard replace --cluster cluster.json --dead n2 --new n4=...@10.0.0.4:7420`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(out)
	root.SetErr(errs)
	root.AddCommand(newFormatCommand(), newGenesisCommand(), newServeCommand())
	return root
}
