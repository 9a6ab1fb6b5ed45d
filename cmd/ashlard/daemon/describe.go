// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// membersFile is the file in its directory in which a server stores the
// cluster's description with the newest configurations that it knows: through
// it the server finds the cluster when all servers in the description that it
// is started with are gone.
const membersFile = "members.json"

func newDescribeCommand() *cobra.Command {
	var o clientFlags
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Write the description of a cluster as it is now",
		Long: `Describe writes the cluster's description with the servers that there are now beside
those that there were in the beginning. Give it to clients and servers after servers
were replaced: who is given an older one finds the cluster as long as one of the
servers in it is left. Every server keeps such a description in its directory, as
members.json.`,
		Example: `  ashlard describe --cluster cluster.json > new.json && mv new.json cluster.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				g, err := c.Description(ctx)
				if err != nil {
					return err
				}
				return worm.WriteGenesis(cmd.OutOrStdout(), g)
			})
		},
	}
	o.add(cmd, 30*time.Second)
	return cmd
}

func newRestoreCommand() *cobra.Command {
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
so do not use this for one server that was put back: 'ashlard replace' it.`,
		Example: `  ashlard restore --cluster cluster.json > restored.json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := readGenesis(cluster)
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
			return worm.WriteGenesis(cmd.OutOrStdout(), g)
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "the cluster's description, `FILE`, as it was when the copies were made")
	return cmd
}

// remember adds to a description the later configurations.
func remember(g *wor.Genesis, more []wor.Config) (changed bool) {
	for _, c := range more {
		if c.Epoch == 0 || uint64(c.Partition) >= uint64(len(g.Partitions)) {
			continue
		}
		i := slices.IndexFunc(g.Known, func(k wor.Config) bool { return k.Partition == c.Partition })
		switch {
		case i < 0:
			g.Known = append(g.Known, c)
		case g.Known[i].Epoch < c.Epoch:
			g.Known[i] = c
		default:
			continue
		}
		changed = true
	}
	return changed
}

// readMembers adds to a description what the server has remembered in its directory.
// A file of another cluster, or of the cluster before a restore, says nothing.
func readMembers(dir string, g *wor.Genesis) error {
	kept, err := readGenesis(filepath.Join(dir, membersFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case kept.Cluster == g.Cluster:
		remember(g, kept.Known)
	}
	return nil
}

// writeDescription writes a description into a file, which is always whole.
func writeDescription(file string, g *wor.Genesis) error {
	var b bytes.Buffer
	err := worm.WriteGenesis(&b, g)
	if err == nil {
		err = renameio.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
