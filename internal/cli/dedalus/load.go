// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// loadOptions are the flags of dedalus load.
type loadOptions struct {
	runOptions
	file              string
	clients, commands int
	retry, within     time.Duration
}

// commandsMax bounds the number of commands of one load.
const commandsMax = 1_000_000_000

func newLoadCommand(t *console.Terminal) *cobra.Command {
	var o loadOptions
	cmd := &cobra.Command{
		Use:   "load FILE.ded",
		Short: "Run a whole protocol on this machine, and send it commands",
		Long: `Load runs a protocol as 'ashlar dedalus run' does, and starts clients that send the
commands of FILE.load, or of --load. Each client sends its next command when it has
received the answer to the previous one. Each answer is compared with the one that the load
expects, and all commands must be answered. Load reports how many were answered and how
long they took, and then ends the processes.

All processes share the processors of this machine, so the times are not those of a
deployment on as many machines.

Exit codes: 0 all were answered; 12 an answer is not what the load says, or a step was
refused; 13 a command was not answered within --within; 1 a process ended
unexpectedly, or files, or the go command; 150 errors in the program or the load; 130
interrupted; 2 usage.`,
		Example: `  ashlar dedalus load voting.ded
  ashlar dedalus load voting.ded --script voting.steps --clients 100 --commands 100000
  ashlar dedalus load twophase.ded --load mine.load --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLoad(cmd.Context(), t, o, args[0])
		},
	}
	f := cmd.Flags()
	o.steps.flags(cmd)
	f.StringVar(&o.file, "load", "", "the load, `FILE.load` (default: the one beside the program)")
	f.IntVar(&o.clients, "clients", 0, "how many commands are under way at once (default: as the load says)")
	f.IntVar(&o.commands, "commands", 0, "how many commands there are (default: as the load says)")
	f.DurationVar(&o.retry, "retry", time.Second, "send a command again after this time, to the next instance; 0 is never")
	f.DurationVar(&o.within, "within", time.Minute, "how long all answers may take")
	f.StringVar(&o.data, "data", "", "keep durable state in `DIR` (default: removed at the end)")
	f.StringVar(&o.work, "work", "", "write and build the program in `DIR` (default: removed at the end)")
	f.StringVar(&o.ashlar, "ashlar", "", "the `DIR` of the sources of "+version.Module)
	f.IntVar(&o.port, "port", 0, "the first port (default: any that are free)")
	f.BoolVar(&o.json, "json", false, "report the result as JSON")
	return cmd
}

func runLoad(ctx context.Context, t *console.Terminal, o loadOptions, path string) error {
	switch {
	case o.clients < 0 || o.clients > cost.ClientsMax:
		return exit.With(exit.Usage, fmt.Errorf("--clients %d: want 1 to %d", o.clients, cost.ClientsMax))
	case o.commands < 0 || o.commands > commandsMax:
		return exit.With(exit.Usage, fmt.Errorf("--commands %d: want 1 to %d", o.commands, commandsMax))
	case o.retry < 0 || o.within <= 0:
		return exit.With(exit.Usage, fmt.Errorf("--retry %v, --within %v: want times that are not negative", o.retry, o.within))
	}
	written, err := load(t, path)
	if err != nil {
		return err
	}
	l, err := readLoad(t, written, path, o.file)
	if err != nil {
		return err
	}
	if len(l.Waits) == 0 {
		return exit.With(exit.Usage, errors.New("the load does not say which output answers a command: add a line 'wait OUTPUT(...)'"))
	}
	p, err := o.load(t, path)
	if err != nil {
		return err
	}
	if o.clients > 0 {
		l.Clients = o.clients
	}
	if o.commands > 0 {
		l.Commands = o.commands
	}
	return withFleet(ctx, t, o.runOptions, p, func(f *fleet) error {
		out, wrong, err := f.ask(ctx, p, l, o)
		switch {
		case ctx.Err() != nil:
			return exit.Stopped(ctx)
		case err != nil:
			return failed(err)
		}
		if err := f.tellLoad(p, out, wrong); err != nil {
			return failed(err)
		}
		switch {
		case errors.Is(wrong, loadgen.ErrUnanswered):
			return exit.With(exit.Liveness, wrong)
		case wrong != nil:
			return exit.With(exit.Safety, wrong)
		}
		return failed(f.end())
	})
}

// ask makes clients send all commands. It returns errors in the answers separately
// from other errors.
func (f *fleet) ask(ctx context.Context, p *logic.Program, l *cost.Load, o loadOptions) (out loadgen.Outcome, wrong, err error) {
	world := osenv.New()
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	defer func() { err = errors.Join(err, network.Close()) }()
	world.Network = network
	sends, waits := loadgen.Commands(p, l)
	idle := make(chan struct{})
	q := loadgen.Options{Env: world, Program: gen.Outline(p), Name: "client", Nodes: map[string]env.Addr{}, Sends: sends, Waits: waits,
		Clients: l.Clients, Commands: uint64(l.Commands), Retry: o.retry, Idle: sync.OnceFunc(func() { close(idle) })}
	for i := range f.d.Processes {
		if c := f.d.Component(f.d.Processes[i].Component); len(c.Inputs) > 0 || len(c.Outputs) > 0 {
			q.Nodes[f.d.Processes[i].Node] = env.Addr(f.d.Processes[i].Addr)
		}
	}
	c, err := loadgen.Open(q)
	if err != nil {
		return out, nil, err
	}
	defer c.Close()
	late := time.NewTimer(o.within)
	defer late.Stop()
	warm := time.NewTimer(l.Warm) // a program may have to choose a leader first
	defer warm.Stop()
	f.progress("sending %d commands", l.Commands)
	for begun := false; ; begun = true {
		select {
		case <-warm.C:
			c.Count(true)
			c.Begin()
			continue
		case k := <-f.one:
			return out, nil, k.Early()
		case <-ctx.Done():
			return out, nil, ctx.Err()
		case <-idle:
		case <-late.C:
		}
		c.Count(false)
		out, wrong = c.Outcome()
		if wrong == nil && !begun {
			wrong = fmt.Errorf("%w: the load waits %v before the first", loadgen.ErrUnanswered, l.Warm)
		}
		return out, wrong, nil
	}
}

// tellLoad reports what the clients observed.
func (f *fleet) tellLoad(p *logic.Program, out loadgen.Outcome, wrong error) error {
	perSecond := float64(out.Commands) / (float64(max(out.Micros, 1)) / 1e6)
	if f.o.json {
		said := ""
		if wrong != nil {
			said = wrong.Error()
		}
		return f.t.JSON(struct {
			Schema    string            `json:"schema"`
			Program   string            `json:"program"`
			Processes int               `json:"processes"`
			Commands  int64             `json:"commands"`
			Resent    int64             `json:"resent"`
			Doubled   int64             `json:"doubled"`
			Micros    int64             `json:"micros"`
			PerSecond float64           `json:"perSecond"`
			Latency   loadgen.Quantiles `json:"latencyMicros"`
			Wrong     string            `json:"wrong,omitempty"`
		}{"ashlar-dedalus-load-1", p.Name, len(f.processes), out.Commands, out.Resent, out.Doubled, out.Micros, perSecond, out.Quantiles, said})
	}
	q := out.Quantiles
	_, err := fmt.Fprintf(f.t.Out, "%s: %s answered by %s in %v, %.0f a second\n", p.Name, many(int(out.Commands), "command"), many(len(f.processes), "process"),
		(time.Duration(out.Micros) * time.Microsecond).Round(time.Millisecond), perSecond)
	if err == nil {
		_, err = fmt.Fprintf(f.t.Out, "a command took %v in the median, %v at p90, %v at p99, %v at most\n", micros(q.P50), micros(q.P90), micros(q.P99), micros(q.Max))
	}
	if err == nil && out.Resent+out.Doubled > 0 {
		_, err = fmt.Fprintf(f.t.Out, "sent again %d, answered more than once %d\n", out.Resent, out.Doubled)
	}
	return err
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
