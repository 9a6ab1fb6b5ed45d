// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/child"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
)

// runOptions are the flags of dedalus run.
type runOptions struct {
	steps
	data, work, ashlar string
	port               int
	span               time.Duration
	json               bool
}

func newRunCommand(t *console.Terminal) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE.ded",
		Short: "Compile a protocol and run the whole of it on this machine",
		Long: `Run compiles a protocol, builds it, and starts each instance as a process that listens
on loopback. It prints their addresses, and ends them when it is interrupted, after --for,
or when one of them ends unexpectedly. Clients find the instances through
deployment.json, whose path it prints.

Exit codes: 0 it ran for --for, or was interrupted and all processes ended in order;
1 a process ended unexpectedly, or files, or the go command; 12 a step was refused;
150 errors in the program; 2 usage.`,
		Example: `  ashlar dedalus run voting.ded
  ashlar dedalus run voting.ded --script voting.steps
  ashlar dedalus run paxos.ded --data /var/tmp/paxos --for 30s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runRun(cmd.Context(), t, o, args[0]) },
	}
	f := cmd.Flags()
	o.steps.flags(cmd)
	f.StringVar(&o.data, "data", "", "keep durable state in `DIR` (default: removed at the end)")
	f.StringVar(&o.work, "work", "", "write and build the program in `DIR` (default: removed at the end)")
	f.StringVar(&o.ashlar, "ashlar", "", "the `DIR` of the sources of "+version.Module)
	f.IntVar(&o.port, "port", 0, "the first port (default: any that are free)")
	f.DurationVar(&o.span, "for", 0, "end after this time (default: when interrupted)")
	f.BoolVar(&o.json, "json", false, "report what runs as JSON")
	return cmd
}

func runRun(ctx context.Context, t *console.Terminal, o runOptions, path string) error {
	p, err := o.load(t, path)
	if err != nil {
		return err
	}
	return withFleet(ctx, t, o, p, func(f *fleet) error {
		if err := f.tell(); err != nil {
			return failed(err)
		}
		return failed(f.wait(ctx))
	})
}

// withFleet calls do while all processes of a program run. At the end it kills
// those that still run.
func withFleet(ctx context.Context, t *console.Terminal, o runOptions, p *logic.Program, do func(*fleet) error) (err error) {
	defer t.End.Over()
	if o.work == "" || o.data == "" {
		dir, err := os.MkdirTemp("", "ashlar-dedalus-")
		if err != nil {
			return failed(err)
		}
		defer func() { err = errors.Join(err, failed(os.RemoveAll(dir))) }()
		if o.work == "" {
			o.work = filepath.Join(dir, "program")
		}
		if o.data == "" {
			o.data = filepath.Join(dir, "data")
		}
	}
	f := &fleet{t: t, o: o}
	if err := f.build(ctx, p); err != nil {
		if ctx.Err() != nil {
			return exit.Stopped(ctx)
		}
		return err
	}
	if err := f.place(p); err != nil {
		return failed(err)
	}
	defer f.kill()
	defer t.End.InOrder() // from here on, processes and files only go
	for i := range f.d.Processes {
		if err := f.start(ctx, &f.d.Processes[i]); err != nil {
			if ctx.Err() != nil {
				return exit.Stopped(ctx)
			}
			return failed(err)
		}
	}
	return do(f)
}

// fleet is the processes of a program on this machine.
type fleet struct {
	t          *console.Terminal
	o          runOptions
	program    string // the binary
	deployment string
	d          *deploy.Description
	processes  []*child.Server
	one        chan *child.Server // that has ended
}

// progress reports the current activity if the output is a terminal.
func (f *fleet) progress(format string, args ...any) {
	if f.t.ErrTTY && !f.o.json {
		fmt.Fprintf(f.t.Err, format+"\n", args...)
	}
}

// build compiles and builds the program.
func (f *fleet) build(ctx context.Context, p *logic.Program) error {
	f.progress("compiling %s", p.Name)
	if _, err := compile(ctx, p, f.o.work, f.o.ashlar); err != nil {
		return err
	}
	f.progress("building it")
	var err error
	if f.program, err = filepath.Abs(filepath.Join(f.o.work, packageName(p.Name)+".bin")); err != nil {
		return failed(err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", f.program, ".")
	cmd.Dir = f.o.work
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return failed(fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(out.String())))
	}
	return nil
}

// place allocates ports and writes the deployment.
func (f *fleet) place(p *logic.Program) error {
	f.d = deploy.New(p)
	if f.o.port != 0 {
		if err := f.d.Place(nil, f.o.port, false); err != nil {
			return err
		}
	} else {
		addrs, err := ports.Free(len(f.d.Processes))
		if err != nil {
			return err
		}
		for i, addr := range addrs {
			f.d.Processes[i].Addr = addr
		}
	}
	text, err := f.d.Append(nil)
	if err != nil {
		return err
	}
	if f.deployment, err = filepath.Abs(filepath.Join(f.o.work, "deployment.json")); err != nil {
		return err
	}
	return os.WriteFile(f.deployment, text, 0o666)
}

// start starts a process and waits until it listens.
func (f *fleet) start(ctx context.Context, p *deploy.Process) error {
	f.progress("starting %s", p.Node)
	if f.one == nil {
		f.one = make(chan *child.Server, len(f.d.Processes))
	}
	cmd := exec.Command(f.program, "--deployment", f.deployment, "--node", p.Node,
		"--data", filepath.Join(f.o.data, strings.ReplaceAll(p.Node, "/", "-")))
	k, err := child.Start(ctx, p.Node, cmd)
	if k != nil {
		f.processes = append(f.processes, k)
		go func() {
			<-k.Ended()
			f.one <- k
		}()
	}
	return err
}

// tell prints the running processes.
func (f *fleet) tell() error {
	if f.o.json {
		type process struct {
			Node string `json:"node"`
			Addr string `json:"addr"`
			PID  int    `json:"pid"`
		}
		var list []process
		for i, k := range f.processes {
			list = append(list, process{k.Name(), f.d.Processes[i].Addr, k.PID()})
		}
		return f.t.JSON(struct {
			Schema     string    `json:"schema"`
			Deployment string    `json:"deployment"`
			Processes  []process `json:"processes"`
		}{"ashlar-dedalus-run-1", f.deployment, list})
	}
	for i, k := range f.processes {
		fmt.Fprintf(f.t.Out, "%-20s %s\n", k.Name(), f.d.Processes[i].Addr)
	}
	fmt.Fprintf(f.t.Out, "deployment %s\n", f.deployment)
	if f.o.span == 0 {
		fmt.Fprintln(f.t.Out, "interrupt to end")
	}
	return nil
}

// wait waits until ctx ends or the time span is over, and then ends the
// processes gracefully. If a process ends earlier, wait returns an error.
func (f *fleet) wait(ctx context.Context) error {
	var over <-chan time.Time
	if f.o.span > 0 {
		timer := time.NewTimer(f.o.span)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case k := <-f.one:
		return k.Early()
	case <-over:
	case <-ctx.Done():
	}
	f.t.End.InOrder()
	return f.end()
}

// end ends the processes gracefully.
func (f *fleet) end() error {
	f.progress("ending")
	for _, k := range f.processes {
		if err := k.Terminate(); err != nil {
			return err
		}
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for _, k := range f.processes {
		select {
		case <-k.Ended():
		case <-patience.C:
			return fmt.Errorf("%s does not end", k.Name()) // and is killed
		}
		if err := k.Failed(); err != nil {
			return err
		}
	}
	return nil
}

// grace is how long processes may take to end.
const grace = 15 * time.Second

// kill ends all running processes at once.
func (f *fleet) kill() {
	for _, k := range f.processes {
		k.Kill()
	}
}
