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
		Long: `Describe writes the cluster's description with the servers that there are now beside
those that there were in the beginning. Give it to clients and servers after servers
were replaced: who is given an older one finds the cluster as long as one of the
servers in it is left. Every server keeps such a description in its directory, as
members.json.`,
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
		Short: "Write the description of a cluster that was put back from a backup",
		Long: `Restore writes a new description of the cluster, in which it has another number. Use
it when the directories of all servers were put back from copies that were made while
the cluster was stopped:

  1. Stop all servers, and put all directories back.
  2. Write the new description, and start all servers with it.
  3. Give it to all clients.

What was done since the copies were made is lost. Clients that were there then are
told so by the servers and end: they must not mix what they have seen with what there
is now. A server that was called older than its peers have seen it is taken as it is;
so do not use this for one server that was put back: 'ashlar worm replace' it.`,
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
