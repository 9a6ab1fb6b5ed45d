// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/worm"
)

func newDescribeCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Write the description of a cluster as it is now",
		Long: `Describe writes the cluster's description with the current servers beside the original
ones. Give it to clients and servers after servers were replaced: with an older
description they find the cluster only as long as one of the servers in it is left.
Every server keeps such a description in its directory, as members.json.`,
		Example: `  ashlar worm describe --cluster cluster.json > new.json && mv new.json cluster.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				g, err := c.Description(ctx)
				if err != nil {
					return err
				}
				return worm.WriteGenesis(o.t.Out, g)
			})
		},
	}
	o.add(cmd, 30*time.Second)
	return cmd
}

func newRestoreCommand(t *console.Terminal) *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Write the description of a cluster that was restored from a backup",
		Long: `Restore writes a new description of the cluster, with another number. Use it when the
directories of all servers were restored from copies that were made while the cluster
was stopped:

  1. Stop all servers, and restore all directories.
  2. Write the new description, and start all servers with it.
  3. Give it to all clients.

Everything done since the copies were made is lost. The servers notify clients that
were running before, and these end: they must not mix what they have seen with the
restored state. Restore also accepts a server whose disk is older than its peers have
seen it. So do not use it for a single server that was restored: 'ashlar worm replace'
that server.`,
		Example: `  ashlar worm restore --cluster cluster.json > restored.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := access.Read(cluster)
			if err != nil {
				return err
			}
			g.Restored = append(g.Restored, g.Cluster)
			for g.Cluster == 0 || slices.Contains(g.Restored, g.Cluster) {
				g.Cluster = osenv.NewRandom().Uint64()
			}
			// What is known of later configurations may be newer than the copies; each
			// server has those of its own copy.
			g.Known = nil
			return worm.WriteGenesis(t.Out, g)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "the cluster's description, `FILE`, as it was when the copies were made")
	return cmd
}
