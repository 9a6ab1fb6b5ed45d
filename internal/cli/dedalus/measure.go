// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/file"
	"github.com/ashlar-dev/ashlar/internal/cli/page"
	"github.com/ashlar-dev/ashlar/internal/cli/version"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/deploy"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
	"github.com/ashlar-dev/ashlar/internal/dedalus/measure"
	"github.com/ashlar-dev/ashlar/internal/dedalus/rewrite"
)

// measureOptions are the flags of dedalus measure.
type measureOptions struct {
	steps
	load, clients, svg, ashlar string
	machines, commands         int
	ping, sync                 time.Duration
	bandwidth                  float64
	json                       bool
}

func newMeasureCommand(t *console.Terminal) *cobra.Command {
	var o measureOptions
	cmd := &cobra.Command{
		Use:   "measure FILE.ded",
		Short: "Measure a protocol as if each instance had a machine",
		Long: `Measure compiles a protocol, runs all instances in one thread, each with a clock of its
own that advances by the processor time that its code took, and has clients send the
commands of FILE.load, or of --load. So it measures on one core what as many machines
with one core each would do, with queues and batches, for each number of commands under
way. Links have the latency and bandwidth of the paper's network, and disks a sync time.
System calls on connections are not made, but charged with what they take on this machine.

With steps, or with --machines, it measures the program as it is written and as it is
rewritten. --machines without steps has optimize choose them for as many machines; with
steps it is how many they may use. For each component, what optimize would have
predicted is beside what its busiest node took.

Results vary by some percent from run to run, as processor times do. They leave out
collections of garbage, of which a share is told, and the kernel's other work. They need
Linux, the go command, and the sources of ` + version.Module + `.

Exit codes: 0 all commands were answered; 12 an answer is not what the load says, or a
step was refused; 13 a command was not answered in ten minutes of the nodes' time; 1
files, or the go command; 150 errors in the program or the load; 130 interrupted; 2
usage.`,
		Example: `  ashlar dedalus measure voting.ded
  ashlar dedalus measure voting.ded --script voting.steps --svg voting.svg
  ashlar dedalus measure voting.ded --machines 17 --json
  ashlar dedalus measure voting.ded --clients 100,1000 --ping 1ms --sync 50us`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			err := runMeasure(ctx, t, o, args[0])
			if err != nil && ctx.Err() != nil {
				return exit.Stopped(ctx)
			}
			return err
		},
	}
	f := cmd.Flags()
	o.steps.flags(cmd)
	f.IntVar(&o.machines, "machines", 0, "how many machines the rewritten program may use")
	f.StringVar(&o.load, "load", "", "what clients ask for, `FILE.load` (default: the one beside the program)")
	f.StringVar(&o.clients, "clients", "10,40,160,640,2560", "numbers of commands under way at once")
	f.IntVar(&o.commands, "commands", 20_000, "how many commands count, for each of them")
	f.DurationVar(&o.ping, "ping", 2*measure.Paper().Hop, "the time of a message to another machine and back")
	f.Float64Var(&o.bandwidth, "bandwidth", float64(measure.Paper().Bandwidth)/1e9, "what a machine sends, in `GBIT` a second")
	f.DurationVar(&o.sync, "sync", measure.Paper().Sync, "how long a disk takes to make something durable")
	f.StringVar(&o.svg, "svg", "", "draw latency over throughput to `FILE.svg`")
	f.StringVar(&o.ashlar, "ashlar", "", "the `DIR` of the sources of "+version.Module)
	f.BoolVar(&o.json, "json", false, "report the result as JSON")
	return cmd
}

// Limits of what is measured at once.
const (
	pointsMax          = 64
	measureCommandsMax = 10_000_000
	// The simulator takes a latency or a bandwidth of 0 for one that was not given.
	pingMin      = time.Microsecond
	bandwidthMin = 1e-6
)

// underWay reads --clients.
func (o *measureOptions) underWay() ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(o.clients, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > cost.ClientsMax {
			return nil, fmt.Errorf("--clients %q: want numbers from 1 to %d, as in 100,1000", o.clients, cost.ClientsMax)
		}
		out = append(out, n)
	}
	if len(out) > pointsMax {
		return nil, fmt.Errorf("--clients has %d numbers; want %d at most", len(out), pointsMax)
	}
	return out, nil
}

func (o *measureOptions) check() error {
	switch {
	case o.commands < 1 || o.commands > measureCommandsMax:
		return fmt.Errorf("--commands %d: want 1 to %d", o.commands, measureCommandsMax)
	case o.machines < 0 || o.machines > deploy.ProcessesMax:
		return fmt.Errorf("--machines %d: want 1 to %d", o.machines, deploy.ProcessesMax)
	case o.ping < pingMin || o.ping > time.Minute:
		return fmt.Errorf("--ping %v: want a time from %v to 1m", o.ping, pingMin)
	case o.sync < 0 || o.sync > time.Minute:
		return fmt.Errorf("--sync %v: want a time from 0 to 1m", o.sync)
	case !(o.bandwidth >= bandwidthMin && o.bandwidth <= 1e6):
		return fmt.Errorf("--bandwidth %v: want gigabits a second, from %v to 1e6", o.bandwidth, bandwidthMin)
	}
	return nil
}

// measured is the JSON result of measure.
type measured struct {
	Schema   string            `json:"schema"`
	Program  string            `json:"program"`
	Load     string            `json:"load,omitempty"`
	Machines measure.Machines  `json:"network"`
	Programs []measuredProgram `json:"programs"`
	// Gain is the highest throughput of the last program as a multiple of the first one's.
	Gain float64 `json:"gain,omitempty"`
}

type measuredProgram struct {
	Name     string          `json:"name"`
	Steps    []string        `json:"steps,omitempty"`
	Machines int             `json:"machines"`
	Other    float64         `json:"other"`
	Points   []measure.Point `json:"points"`
	// Model compares what optimize predicts with the point of the highest throughput.
	Model []modelError `json:"model"`
}

// modelError compares the busiest node of a component with its prediction, in
// microseconds of processor time for a command.
type modelError struct {
	Component string  `json:"component"`
	Node      string  `json:"node"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// best is the point of the highest throughput.
func (p *measuredProgram) best() *measure.Point {
	best := &p.Points[0]
	for i := range p.Points {
		if p.Points[i].PerSecond > best.PerSecond {
			best = &p.Points[i]
		}
	}
	return best
}

func runMeasure(ctx context.Context, t *console.Terminal, o measureOptions, path string) error {
	underWay, err := o.underWay()
	if err = errors.Join(err, o.check()); err != nil {
		return exit.With(exit.Usage, err)
	}
	written, err := load(t, path)
	if err != nil {
		return err
	}
	l, err := readLoad(t, written, path, o.load)
	if err != nil {
		return err
	}
	if len(l.Waits) == 0 {
		return exit.With(exit.Usage, errors.New("the load does not say which output answers a command: add a line 'wait OUTPUT(...)'"))
	}
	rewritten, taken, err := o.rewritten(ctx, t, written, l, path)
	if err != nil {
		return err
	}
	doc := &measured{Schema: "ashlar-dedalus-measure-1", Program: path, Load: o.load}
	m := measure.Machines{Hop: o.ping / 2, Bandwidth: int64(o.bandwidth * 1e9), Sync: o.sync}
	for i, p := range []*logic.Program{written, rewritten} {
		if p == nil {
			continue
		}
		x := measuredProgram{Name: "as written", Machines: machinesOf(p, l)}
		if i > 0 {
			x.Name, x.Steps = "rewritten", taken
		}
		task := measure.Task{Deployment: deploy.New(p), Settle: l.Warm, Outside: l.Outside, UnderWay: underWay, Commands: o.commands, Machines: m}
		task.Sends, task.Waits = loadgen.Commands(p, l)
		r, err := o.measure(ctx, t, p, &task, &x)
		if err != nil {
			return err
		}
		m = r.Machines // the second program's system calls cost what the first one's did
		x.Other = r.Other
		if err := x.model(ctx, p, l); err != nil {
			return failed(err)
		}
		doc.Programs = append(doc.Programs, x)
	}
	doc.Machines = m
	if n := len(doc.Programs); n > 1 {
		doc.Gain = doc.Programs[n-1].best().PerSecond / doc.Programs[0].best().PerSecond
	}
	return o.tell(t, doc)
}

// machinesOf is how many machines a program runs on, without what belongs to clients.
func machinesOf(p *logic.Program, l *cost.Load) int {
	n := 0
	for _, c := range p.Components {
		if !slices.Contains(l.Outside, c.Of) {
			n += c.Instances * c.Partitions
		}
	}
	return n
}

// rewritten is the program as steps make it, or nil if there are none.
func (o *measureOptions) rewritten(ctx context.Context, t *console.Terminal, p *logic.Program, l *cost.Load, path string) (*logic.Program, []string, error) {
	if len(o.apply) == 0 && o.script == "" && o.machines == 0 {
		return nil, nil, nil
	}
	var taken []string
	if len(o.apply) > 0 || o.script != "" {
		q, err := o.steps.load(t, path)
		if err != nil {
			return nil, nil, err
		}
		if n := machinesOf(q, l); o.machines > 0 && n > o.machines {
			return nil, nil, exit.With(exit.Usage, fmt.Errorf("--machines %d: the steps make a program for %d", o.machines, n))
		}
		parsed, err := (&rewriteOptions{steps: o.apply, script: o.script}).parse()
		for _, s := range parsed {
			taken = append(taken, s.String())
		}
		return q, taken, err
	}
	r, err := cost.Optimize(ctx, p, l, cost.DefaultCalibration(), cost.Options{Machines: o.machines})
	if err != nil {
		return nil, nil, failed(err)
	}
	for _, c := range r.Steps {
		s, err := rewrite.ParseStep(c.Step)
		if err != nil {
			return nil, nil, failed(err)
		}
		if p, _, err = takeStep(p, s); err != nil {
			return nil, nil, failed(err)
		}
		taken = append(taken, c.Step)
	}
	if len(taken) == 0 {
		fmt.Fprintf(t.Err, "optimize finds no steps for %d machines\n", o.machines)
		return nil, nil, nil
	}
	return p, taken, nil
}

// model compares the predictions with what was measured.
func (x *measuredProgram) model(ctx context.Context, p *logic.Program, l *cost.Load) error {
	best := x.best()
	pr, err := cost.Run(ctx, p, l)
	if err != nil {
		return err
	}
	c := cost.DefaultCalibration()
	c.UnderWay = float64(best.UnderWay)
	e, _ := cost.Measure(p, l, c, pr)
	for i := range e.Components {
		k := &e.Components[i]
		var busiest *measure.Node
		for i := range best.Nodes {
			if n := &best.Nodes[i]; n.Component == k.Name && (busiest == nil || n.CPU > busiest.CPU) {
				busiest = n
			}
		}
		if busiest != nil && !k.Outside && k.Busiest.Total() > 0 {
			x.Model = append(x.Model, modelError{k.Name, busiest.Node, busiest.CPU, k.Busiest.Total()})
		}
	}
	return nil
}

// tell reports the result.
func (o *measureOptions) tell(t *console.Terminal, d *measured) error {
	if o.svg != "" {
		var lines []page.Series
		for i := range d.Programs {
			p := &d.Programs[i]
			s := page.Series{Name: fmt.Sprintf("%s, %s", p.Name, many(p.Machines, "machine"))}
			for _, pt := range p.Points {
				s.X, s.Y = append(s.X, pt.PerSecond), append(s.Y, float64(pt.Latency.P50)/1e3)
			}
			lines = append(lines, s)
		}
		if err := file.Write(o.svg, page.Plot(d.Program, "commands a second", "median latency, ms", lines), 0o644); err != nil {
			return failed(err)
		}
	}
	if o.json {
		return t.JSON(d)
	}
	var b strings.Builder
	for i := range d.Programs {
		d.Programs[i].write(&b)
	}
	if d.Gain > 0 {
		fmt.Fprintf(&b, "rewritten, %.2f times as many commands a second\n", d.Gain)
	}
	_, err := t.Out.Write([]byte(b.String()))
	return failed(err)
}

func (x *measuredProgram) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s, %s:\n", x.Name, many(x.Machines, "machine"))
	fmt.Fprintf(b, "  %9s  %10s  %10s  %10s  %s\n", "under way", "commands/s", "median", "p99", "busiest node")
	for i := range x.Points {
		pt := &x.Points[i]
		n := pt.Node(pt.Busiest)
		fmt.Fprintf(b, "  %9d  %10.0f  %10v  %10v  %s, %.0f%% busy, %.2f us a command\n", pt.UnderWay, pt.PerSecond,
			micros(pt.Latency.P50), micros(pt.Latency.P99), pt.Busiest, 100*n.Busy, n.CPU)
	}
	model := slices.Clone(x.Model)
	slices.SortStableFunc(model, func(a, b modelError) int { return int(1e3 * (b.Measured - a.Measured)) })
	for _, m := range model[:min(len(model), 6)] {
		fmt.Fprintf(b, "  %-24s %7.2f us a command, predicted %.2f (%+.0f%%)\n", m.Node, m.Measured, m.Predicted, 100*(m.Predicted/m.Measured-1))
	}
	fmt.Fprintf(b, "  not in these: other threads, %.0f%% of the processor time of nodes\n", 100*x.Other)
}
