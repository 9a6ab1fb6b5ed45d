// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// logDir is the name of the log's directory in a server's directory.
const logDir = "log"

// private is the mode of a server's directory: a process that can read the key
// in it can impersonate the server.
const private = 0o700

// exposed reports whether users other than the owner may enter a server's
// directory.
func exposed(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&^private != 0
}

func newFormatCommand() *cobra.Command {
	var name, addr string
	cmd := &cobra.Command{
		Use:   "format DIR",
		Short: "Create the directory of a new server",
		Long: `Format creates a directory for a new server, which only its owner may enter, and
generates the key with which the server proves its identity. It prints the server in the
form that 'ashlard genesis' and 'ashlar worm replace' expect. It does not change a
directory that already holds a server: a server that has lost its disk is a new server,
and must replace the old one with 'ashlar worm replace'.`,
		Example: `  ashlard format /var/lib/ashlard --name n1 --addr 10.0.0.1:7420`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "" || strings.ContainsAny(name, "=@,") || len(name) > node.NameMax {
				return exit.With(exit.Usage, fmt.Errorf("--name is %q: want a name of up to %d bytes without = @ and comma", name, node.NameMax))
			}
			if err := os.MkdirAll(args[0], private); err != nil { // OpenDisk would let others in
				return err
			}
			disk, err := osenv.OpenDisk(args[0])
			if err != nil {
				return err
			}
			defer disk.Close()
			world := osenv.New()
			world.Disk = disk
			id, err := node.Format(world, logDir, name)
			if err != nil {
				return fmt.Errorf("format %s: %w", args[0], err)
			}
			if err := os.Chmod(args[0], private); err != nil { // it may have been there before
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s=%v@%s\n", name, id, addr)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "the server's name")
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:7420", "the address at which others will reach it")
	return cmd
}

func newGenesisCommand() *cobra.Command {
	var partitions []string
	cmd := &cobra.Command{
		Use:   "genesis NAME=ID@ADDR...",
		Short: "Write the description of a new cluster",
		Long: `Genesis writes the description of a new cluster of these servers, as JSON. Give it to
every server and client. After servers were replaced, 'ashlar worm describe' writes one
with the current servers.

There is one partition, with all servers, unless --partition says otherwise: each is
a list of names. More partitions hold more registers; a register is in one of them.`,
		Example: `  ashlard genesis n1=1c6f@10.0.0.1:7420 n2=33a0@10.0.0.2:7420 n3=9b1e@10.0.0.3:7420
  ashlard genesis --partition n1,n2,n3 --partition n3,n4,n5 n1=... n2=... n3=... n4=... n5=...`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := makeGenesis(osenv.NewRandom().Uint64()|1, partitions, args)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return worm.WriteGenesis(cmd.OutOrStdout(), g)
		},
	}
	cmd.Flags().StringArrayVar(&partitions, "partition", nil, "the `NAMES` of a partition's servers; repeat for each partition")
	return cmd
}

// makeGenesis makes the description of a cluster of servers, NAME=ID@ADDR each.
func makeGenesis(cluster uint64, partitions, servers []string) (*wor.Genesis, error) {
	members := map[string]wor.Member{}
	var all []string
	for _, s := range servers {
		m, err := access.ParseMember(s)
		if err != nil {
			return nil, err
		}
		if _, twice := members[m.Name]; twice {
			return nil, fmt.Errorf("there are two servers named %q", m.Name)
		}
		members[m.Name] = m
		all = append(all, m.Name)
	}
	if len(partitions) == 0 {
		partitions = []string{strings.Join(all, ",")}
	}
	g := &wor.Genesis{Cluster: cluster}
	for i, p := range partitions {
		c := wor.Config{Partition: wor.Partition(i)}
		for _, name := range strings.Split(p, ",") {
			m, ok := members[name]
			if !ok {
				return nil, fmt.Errorf("--partition %s: there is no server %q", p, name)
			}
			c.Members = append(c.Members, m)
		}
		if err := worm.CheckMembers(c.Members); err != nil {
			return nil, fmt.Errorf("partition %d: %w", i, err)
		}
		g.Partitions = append(g.Partitions, c)
	}
	return g, nil
}
