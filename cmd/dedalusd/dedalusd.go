// SPDX-License-Identifier: Apache-2.0

// Package dedalusd is the command that a compiled Dedalus program becomes: one binary
// for all components, each process one instance. The main that 'ashlar dedalus compile'
// writes calls Main.
//
// In: the program, a command line, a deployment description (package deploy). Out: an
// exit code; what is written to out and errs; the instance on the network and its disk.
//
// Exit codes: 0 ended by a signal; 1 the world failed (a file, the network, the disk);
// 2 the command line or the deployment is wrong.
package dedalusd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/dedalus/rt/host"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/internal/cli/size"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// The exit codes.
const (
	exitOK    = 0
	exitWorld = 1
	exitUsage = 2
)

// Names in the directory of a process.
const (
	logDir         = "log"
	incarnationDir = "incarnation"
)

// usageError is a wrong command line or deployment.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main runs a process; it does not return. SIGINT and SIGTERM end the instance
// gracefully; a second signal ends it at once.
func Main(p *rt.Program) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(GCPercent)
	}
	os.Exit(Run(ctx, p, os.Args[1:], os.Stdout, os.Stderr))
}

// GCPercent is the heap growth, in percent, that triggers the garbage collector
// unless GOGC is set. State is small, and most other memory holds short-lived
// messages.
const GCPercent = 400

// config is the parsed command line.
type config struct {
	deployment, node, data string
	memory, existing       bool
	listen, http           string
	key                    string
	certificates           secure.Certificates
	public, verbose        bool
	grace                  time.Duration
}

// Run runs a command line until the context ends and returns the exit code.
func Run(ctx context.Context, p *rt.Program, args []string, out, errs io.Writer) int {
	var c config
	begun := false
	cmd := &cobra.Command{
		Use:   p.Name + " --deployment FILE --node NODE",
		Short: "One instance of the program " + p.Name,
		Long: fmt.Sprintf(`%s runs one instance of the program: the one that the deployment calls NODE. The
instances and their clients find each other through the deployment, which is the same
for all. It listens on loopback only, unless --public is given, or --tls-cert,
--tls-key and --tls-ca: then both sides of a connection show a certificate that
--tls-ca has signed.

With --key instances prove to each other that they have the key in that file; clients
need no key, and cannot impersonate an instance without it.

Durable state is stored in --data, and so is how often a piece of a divided node has
started. An empty directory makes a new instance, unless --existing is given: an
instance that has lost its disk must not come back as a new one.

SIGINT or SIGTERM shuts it down: it accepts no more inputs, continues until every
connected peer and client has received everything, and ends, after --grace at the
latest. It may also be killed at any time.

Exit codes: 0 ended by a signal; 1 a file or the network failed; 2 the command line or
the deployment is wrong.`, p.Name),
		Example: fmt.Sprintf(`  %[1]s --deployment deployment.json --node %[2]s/0 --data /var/lib/%[1]s
  %[1]s --deployment deployment.json --node %[2]s/0 --volatile --http 127.0.0.1:7500`, p.Name, p.Components[0].Name),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begun = true
			return serve(cmd.Context(), p, c, out, errs)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.deployment, "deployment", "", "the deployment, `FILE`, from 'ashlar dedalus deploy' (required)")
	f.StringVar(&c.node, "node", "", "the instance to run, `NODE` (required)")
	f.StringVar(&c.data, "data", "", "the directory of durable state, `DIR`")
	f.BoolVar(&c.existing, "existing", false, "refuse an empty --data")
	f.BoolVar(&c.memory, "volatile", false, "store nothing on disk: durable state is lost when the process ends")
	size.Renamed(cmd, "memory", "--volatile")
	f.StringVar(&c.listen, "listen", "", "where to listen, `HOST:PORT` (default: where the deployment says)")
	f.StringVar(&c.http, "http", "", "where to serve /metrics, /status.json, /healthz and /readyz, `HOST:PORT` (default: where the deployment says, if it does)")
	f.StringVar(&c.key, "key", "", "the key with which instances authenticate each other, `FILE`")
	f.StringVar(&c.certificates.Cert, "tls-cert", "", "this process's certificate, `FILE` in PEM")
	f.StringVar(&c.certificates.Key, "tls-key", "", "the key of the certificate, `FILE` in PEM")
	f.StringVar(&c.certificates.CA, "tls-ca", "", "the authority that signs the other side's certificate, `FILE` in PEM")
	f.BoolVar(&c.public, "public", false, "listen where other machines can connect without TLS, so that all of them may send inputs")
	f.DurationVar(&c.grace, "grace", host.DrainWithinDefault, "how long a stop waits for running requests")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log more")
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
	var u usageError
	if !begun || errors.As(err, &u) {
		fmt.Fprintf(errs, "Run '%s --help'.\n", p.Name)
		return exitUsage
	}
	return exitWorld
}

// process is an instance with its environment.
type process struct {
	config
	program *rt.Program
	d       *deploy.Description
	self    *deploy.Process
	opt     host.Options
	keeps   bool // something on the disk
	bumps   bool // the incarnation of its logical node
	log     *slog.Logger
	page    *page
}

// serve runs the instance until the context ends or the disk fails.
func serve(ctx context.Context, p *rt.Program, c config, out, errs io.Writer) (err error) {
	level := slog.LevelInfo
	if c.verbose {
		level = slog.LevelDebug
	}
	x := &process{config: c, program: p, log: slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: level}))}
	if err := x.find(); err != nil {
		return err
	}
	world, tasks := osenv.New(), osenv.NewTasks()
	defer tasks.Close()
	security, err := x.certificates.Load()
	if err != nil {
		return err
	}
	network := osenv.NewNetwork(osenv.NetworkOptions{TLS: security})
	defer network.Close()
	world.Network = network
	if x.keeps || x.bumps {
		if x.existing {
			if _, err := os.Stat(x.data); err != nil {
				return fmt.Errorf("--existing: %w", err)
			}
		}
		disk, err := osenv.OpenDisk(x.data)
		if err != nil {
			return err
		}
		defer disk.Close()
		world.Disk = disk
	}
	x.opt.Env, x.opt.Tasks = world, tasks
	if x.http != "" {
		if x.page, err = listenHTTP(x.http); err != nil {
			return fmt.Errorf("--http: %w", err)
		}
		defer x.page.close()
	}
	if x.keeps {
		if err := x.format(); err != nil {
			return err
		}
	}
	return x.lives(ctx, out)
}

// format creates the log of a new instance.
func (x *process) format() error {
	if _, err := os.Stat(filepath.Join(x.data, logDir)); err != nil && x.existing {
		return fmt.Errorf("--existing: %s has no log: %w", x.data, err)
	}
	switch err := host.Format(x.opt.Env, logDir, x.program, x.self.Node); {
	case errors.Is(err, wal.ErrExists):
		return nil
	case err != nil:
		return err
	}
	x.log.Info("a new instance: the directory was empty", "node", x.self.Node, "data", x.data)
	return nil
}

// lives opens the instance. It opens it again whenever another piece of its logical
// node has lost its memory.
func (x *process) lives(ctx context.Context, out io.Writer) error {
	of := uint64(0)
	for {
		failed := make(chan error, 1)
		o := x.opt
		o.Fatal = func(err error) { failed <- err }
		if x.bumps {
			n, err := host.Incarnation(o.Env, incarnationDir, of)
			if err != nil {
				return err
			}
			o.Incarnation = n
		} else {
			o.Incarnation = of
		}
		h, err := host.Open(o)
		if err != nil {
			return err
		}
		if x.page != nil {
			x.page.host.Store(h)
		}
		x.log.Info("running", "node", x.self.Node, "addr", h.Addr(), "incarnation", o.Incarnation)
		if of == 0 {
			fmt.Fprintf(out, "listening on %s\n", h.Addr())
			if x.page != nil {
				fmt.Fprintf(out, "status on http://%s\n", x.page.addr)
			}
		}
		select {
		case err = <-failed:
		case <-ctx.Done():
			x.log.Info("stopping", "grace", x.grace)
			drained := make(chan struct{})
			h.Drain(func() { close(drained) })
			<-drained
			return h.Close()
		}
		var newer *host.NewerError
		if err = errors.Join(err, h.Close()); !errors.As(err, &newer) {
			if endless := (*rt.EndlessError)(nil); errors.As(err, &endless) {
				return fmt.Errorf("the program is wrong: %w", err)
			}
			return fmt.Errorf("the disk has failed, and it is unknown what was written since: %w", err)
		}
		x.log.Warn(newer.Error())
		of = newer.Incarnation
	}
}
