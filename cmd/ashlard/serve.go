package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/node"
)

func newServeCommand() *cobra.Command {
	var c config
	var file *string
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Serve the registers in a directory",
		Long: `Serve runs the server of a directory that 'ashlard format' has made, until SIGINT or
SIGTERM: then it takes no new work, finishes what is under way, and ends. It may
also be killed at any time. With --memory there is no directory.

It listens on the machine itself only, unless it is told otherwise, and then it
wants TLS, by which clients and servers show each other who they are.`,
		Example: `  ashlard serve /var/lib/ashlard --cluster cluster.json
  ashlard serve /var/lib/ashlard --config ashlard.toml --http 127.0.0.1:7421
  ashlard serve --memory --cluster cluster.json --listen 127.0.0.1:7420`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.read(cmd, *file); err != nil {
				return err
			}
			if len(args) > 0 {
				c.Dir = args[0]
			}
			return serve(cmd.Context(), c, func(s *served) {
				fmt.Fprintf(cmd.OutOrStdout(), "listening on %s\n", s.node.Addr())
				if s.http != "" {
					fmt.Fprintf(cmd.OutOrStdout(), "status on http://%s\n", s.http)
				}
			})
		},
	}
	file = c.flags(cmd)
	return cmd
}

// served is a server that runs.
type served struct {
	node *node.Server
	http string
}

// serve serves until the context ends or the disk fails. It calls ready when it
// listens.
func serve(ctx context.Context, c config, ready func(*served)) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	if (c.Dir == "") != c.Memory {
		return errors.New("want a directory that 'ashlard format' has made, or --memory, and not both")
	}
	genesis, err := readGenesis(c.Cluster)
	if err != nil {
		return err
	}
	security, err := loadTLS(c.TLSCert, c.TLSKey, c.TLSCA)
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))

	world, tasks := osenv.New(), osenv.NewTasks()
	defer tasks.Close()
	network := osenv.NewNetwork(osenv.NetworkOptions{TLS: security, WriteBuffer: worm.WriteBuffer})
	defer network.Close()
	world.Network = network
	o := node.Options{
		Env: world, Tasks: tasks, Memory: c.Memory, Listen: env.Addr(c.Listen), Genesis: genesis, Alone: c.Alone,
		ConnsMax: c.ConnsMax, MaxBytes: c.MaxMB << 20, DrainWithin: c.Grace,
	}
	if c.Memory {
		// A server in memory is the one of its address: it has no disk to be known
		// by, and with its memory it loses its place.
		for _, p := range genesis.Partitions {
			for _, m := range p.Members {
				if m.Addr == c.Listen {
					o.ID = m.ID
				}
			}
		}
	} else {
		disk, err := osenv.OpenDisk(c.Dir)
		if err != nil {
			return err
		}
		defer disk.Close()
		o.Env.Disk, o.Dir = disk, logDir
	}
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	server, err := node.OpenServer(o)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Dir, err)
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	s := &served{node: server}
	for _, w := range server.Status().Warnings {
		log.Warn(w)
	}
	if c.HTTP != "" {
		page, err := listenHTTP(c.HTTP, server)
		if err != nil {
			return err
		}
		defer page.close()
		s.http = page.addr
	}
	log.Info("serving", "id", server.ID(), "addr", server.Addr())
	ready(s)
	select {
	case err := <-failed:
		return fmt.Errorf("the disk has failed, and what is on it since is not known: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "grace", c.Grace)
	drained := make(chan struct{})
	server.Drain(func() { close(drained) })
	select {
	case <-drained:
	case <-time.After(c.Grace + time.Second): // Drain ends by itself before
		log.Warn("not everything was finished")
	}
	return nil
}
