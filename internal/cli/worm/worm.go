// SPDX-License-Identifier: Apache-2.0

// Package worm is the command worm, which has those for clusters of write-once registers
// and for what is in them.
//
// In: a command line. Out: the commands of the packages below it. The servers are
// another program, ashlard.
package worm

import (
	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/cluster"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/demo"
)

// New makes the command worm.
func New(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worm",
		Short: "Operate and use a cluster of write-once registers, logs and keys",
		Long: `A cluster of WormSpace is a set of servers, each a process of ashlard, that store
write-once registers together. Shared logs and a transactional key-value store are built
on the registers. These commands inspect a cluster, change its servers, and read and
write its data; ashlard creates and runs servers. See docs/worm.md.

Every command except restore and demo contacts the cluster that --cluster describes.

Exit codes: 0 done; 1 a file or the network failed, or --timeout is over; 2 the
command line is wrong; 3 refused, nothing was changed; 4 the outcome is unknown; 5
nothing is there; 130 interrupted.`,
		Example: `  ashlar worm demo
  ashlar worm status --cluster cluster.json
  ashlar worm write 17.0 hello --alloc 1000 --cluster cluster.json
  ashlar worm replace n2 --with n4=...@10.0.0.4:7420 --cluster cluster.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"show", "To see how it works:", []*cobra.Command{demo.New(t)}},
		{"cluster", "A cluster:", cluster.Operate(t)},
		{"data", "Its data:", cluster.Use(t)},
	} {
		cmd.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			cmd.AddCommand(c)
		}
	}
	return cmd
}
