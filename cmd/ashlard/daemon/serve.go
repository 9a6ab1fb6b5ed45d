// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func newServeCommand() *cobra.Command {
	var c config
	var file *string
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Run the server of a directory",
		Long: `Serve runs the server of a directory that 'ashlard format' has made, until SIGINT or
SIGTERM: then it accepts no new work, finishes running requests, and ends. It may also
be killed at any time. With --volatile it reads its identity from the directory, and
stores nothing there.

It listens on loopback only, unless --listen says otherwise; then it requires TLS, with
which clients and servers prove their identity to each other.

Beside the registers it hosts sequencers of shared logs and its part of a
transactional key-value store, which --kv offers to clients of Redis. Without --kv,
clients in Go, and clients of the other servers, can still use the store.`,
		Example: `  ashlard serve /var/lib/ashlard --cluster cluster.json
  ashlard serve /var/lib/ashlard --config ashlard.toml --http 127.0.0.1:7421
  ashlard serve /var/lib/ashlard --cluster cluster.json --kv 127.0.0.1:6379
  ashlard serve /var/lib/ashlard --volatile --cluster cluster.json --listen 127.0.0.1:7420`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.read(cmd, *file); err != nil {
				return err
			}
			if len(args) > 0 {
				c.Dir = args[0]
			}
			return serve(cmd.Context(), c, func(s *served) {
				out := cmd.OutOrStdout()
				fmt.Fprintf(out, "listening on %s\n", s.node.Addr())
				if s.page != nil {
					fmt.Fprintf(out, "status on http://%s\n", s.page.addr)
				}
				if s.front != nil {
					fmt.Fprintf(out, "keys on %s\n", s.front.addr())
				}
			})
		},
	}
	file = c.flags(cmd)
	return cmd
}

// served is a running server. Page, apps and front may be nil.
type served struct {
	node    *node.Server
	page    *page
	apps    *apps
	front   *front
	leaving atomic.Bool // it is about to end
}

// serve runs the server until the context ends or the disk fails. It calls
// ready once the server listens.
func serve(ctx context.Context, c config, ready func(*served)) (err error) {
	if err := c.check(); err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.Dir == "" {
		return exit.With(exit.Usage, errors.New("name a directory that 'ashlard format' has made"))
	}
	genesis, err := access.Read(c.Cluster)
	if err != nil {
		return err
	}
	security, err := c.certificates().Load()
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))

	limitMemory(&c)
	world, tasks := osenv.New(), osenv.NewTasks()
	defer tasks.Close()
	network := osenv.NewNetwork(osenv.NetworkOptions{TLS: security, WriteBuffer: worm.WriteBuffer})
	defer network.Close()
	world.Network = network
	o := node.Options{
		Env: world, Tasks: tasks, Memory: c.Volatile, Listen: env.Addr(c.Listen), Genesis: genesis, Alone: c.Alone,
		ConnsMax: c.ConnsMax, MaxBytes: c.Memory.Bytes, DrainWithin: c.Grace,
	}
	if _, err := os.Stat(c.Dir); err != nil { // OpenDisk would make it
		return opening(c, err)
	}
	disk, err := osenv.OpenDisk(c.Dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	if exposed(c.Dir) {
		log.Warn("other users can enter the server's directory, and impersonate the server with the key in it: run chmod 700 on it", "dir", c.Dir)
	}
	if o.Env.Disk = disk; c.Volatile {
		if o.Key, err = node.ReadKey(o.Env, logDir); err != nil {
			return opening(c, err)
		}
	} else {
		o.Dir = logDir
	}
	if err := readMembers(c.Dir, genesis); err != nil {
		return err
	}
	o.Warn = func(text string) { log.Warn(text) }
	failed := make(chan error, 1)
	o.Fatal = func(err error) { failed <- err }
	server, err := node.OpenServer(o)
	if err != nil {
		return opening(c, err)
	}
	s := &served{node: server}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, w := range server.Status().Warnings {
		log.Warn(w)
	}
	if err := s.host(c, world, security, genesis, log); err != nil {
		return err
	}
	ending.From(ctx).Serve(c.Grace)
	log.Info("serving", "id", server.ID(), "addr", server.Addr())
	ready(s)
	select {
	case err := <-failed:
		if errors.Is(err, env.ErrNoSpace) {
			return fmt.Errorf("the disk is full and the server cannot wait for room; make room, and start it again: %w", err)
		}
		return fmt.Errorf("the disk has failed, and it is unknown what was written since: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "grace", c.Grace)
	if !s.drain(c.Grace) {
		log.Warn("some requests were not finished")
	}
	return nil
}

// limitMemory makes the garbage collector work harder before the process far exceeds the
// memory for its data and for pending bytes of connections. It does not terminate
// anything; the configured limits bound the data. GOMEMLIMIT in the environment takes
// precedence.
func limitMemory(c *config) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(c.kept() + c.kept()/4 + node.ServerInflightMaxDefault + frontBytesMax + besides)
}

// besides is the memory that a server needs in addition to its data and pending
// requests.
const besides = 128 << 20

// opening adds to an error of opening the server what the user can do about it.
func opening(c config, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no server in it (%w); 'ashlard format' makes a new one, and 'ashlar worm replace' replaces a lost server by it", c.Dir, err)
	}
	return fmt.Errorf("%s: %w", c.Dir, err)
}

// host starts everything that the server runs in addition to the registers.
func (s *served) host(c config, world env.Env, security *tls.Config, genesis *wor.Genesis, log *slog.Logger) (err error) {
	if !c.Bare {
		world.Random = osenv.NewRandom() // the server's is the server's
		if s.apps, err = startApps(world, s.node, genesis, c.Dir, c.KVMemory.Bytes, log); err != nil {
			return err
		}
	}
	if c.KV != "" {
		if !c.KVTLS {
			security = nil
		}
		if s.front, err = listenKV(c.KV, security, c.ConnsMax, s.apps); err != nil {
			return fmt.Errorf("--kv: %w", err)
		}
	}
	if c.HTTP != "" {
		if s.page, err = listenHTTP(c.HTTP, s); err != nil {
			return fmt.Errorf("--http: %w", err)
		}
	}
	return nil
}

// drain ends the server in order: first the connections of the front, then the
// applications, whose callers are sent to other servers, then the registers. It
// reports whether everything finished in time.
func (s *served) drain(grace time.Duration) bool {
	s.leaving.Store(true)
	until := time.Now().Add(grace)
	if s.front != nil {
		s.front.close(grace)
	}
	if s.apps != nil {
		s.apps.close()
	}
	drained := make(chan struct{})
	s.node.Drain(func() { close(drained) })
	select {
	case <-drained:
		return true
	case <-time.After(time.Until(until) + time.Second):
		return false
	}
}

// close ends everything at once.
func (s *served) close() error {
	if s.front != nil {
		s.front.close(0)
	}
	if s.page != nil {
		s.page.close()
	}
	if s.apps != nil {
		s.apps.close()
	}
	return s.node.Close()
}
