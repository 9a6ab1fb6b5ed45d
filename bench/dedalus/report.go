// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
)

// runner measures everything.
type runner struct {
	c       config
	ctx     context.Context
	self    func(string) *exec.Cmd
	log     io.Writer
	absent  map[string]string
	samples map[string][]*sample
	systems []*system
}

// system is something that is measured.
type system struct {
	name  string
	prog  *program // nil for a peer
	start func(dir string) (*cluster, error)
}

func (r *runner) run() (*report, error) {
	out := &report{Config: r.c, Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Machine: process.Machine(), Loads: []string{process.Load()}}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	for round := range r.c.Rounds {
		for i := range r.systems {
			s := r.systems[(i+round)%len(r.systems)]
			fmt.Fprintf(r.log, "round %d of %d: %s\n", round+1, r.c.Rounds, s.name)
			if err := r.measure(s, fmt.Sprintf("%d-%d", round, i)); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range r.systems {
		out.Figures = append(out.Figures, r.figure(s))
	}
	out.model()
	for _, n := range slices.Sorted(maps.Keys(r.absent)) {
		out.Absent = append(out.Absent, n+": "+r.absent[n])
	}
	out.Loads = append(out.Loads, process.Load())
	return out, r.keep(out)
}

// prepare builds what is measured.
func (r *runner) prepare() error {
	for _, name := range r.c.Programs {
		p := &program{}
		p.Example, p.Script, _ = strings.Cut(name, ":")
		fmt.Fprintf(r.log, "building %s\n", p.name())
		if err := p.read(examplesDir); err != nil {
			return err
		}
		if err := p.build(r.ctx, buildDir); err != nil {
			return err
		}
		r.systems = append(r.systems, &system{p.name(), p, func(dir string) (*cluster, error) { return p.start(r.c, dir) }})
	}
	if slices.Contains(r.c.Peers, hand) {
		r.systems = append(r.systems, &system{"voting by hand", nil, func(string) (*cluster, error) { return startHand(r.c, r.self) }})
	}
	if slices.Contains(r.c.Peers, hydro) {
		fmt.Fprintln(r.log, "building voting on Hydro's runtime")
		if err := buildHydro(r.ctx); err != nil {
			r.absent["voting on Hydro"] = err.Error()
		} else {
			r.systems = append(r.systems, &system{"voting on Hydro", nil, func(string) (*cluster, error) { return startHydro(r.c, r.self) }})
		}
	}
	return nil
}

func (r *runner) measure(s *system, round string) error {
	dir := filepath.Join(r.c.Dir, round)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a, err := s.start(dir)
	if err != nil {
		return err
	}
	defer a.end()
	x, err := a.measure(r.c)
	if err != nil {
		return err
	}
	r.samples[s.name] = append(r.samples[s.name], x)
	return nil
}

// report is what a run has found.
type report struct {
	Config  config
	Date    string
	Machine string
	Loads   []string // load averages before and after
	Figures []figure
	Absent  []string `json:",omitempty"`
}

// figure is what all rounds say of a system. Times are in microseconds.
type figure struct {
	System, Example string
	Processes       int
	// Mean, Median and P90 are of commands in a second: the mean of all the time, and the
	// median and 90th percentile of the whole seconds.
	Mean, Median, P90  float64
	P50, P99, Greatest float64 // latencies
	Commands, Doubled  int64
	// Nodes are the processor time of each node for a command, Hottest of the busiest
	// one, Total of all; Clients of the clients.
	Nodes                   map[string]float64
	Hottest, Total, Clients float64
	HottestNode             string
	// Modelled is a core divided by Hottest, Scale that over the example's as it is
	// written.
	Modelled, Scale float64
}

func (r *runner) figure(s *system) figure {
	f := figure{System: s.name, Nodes: map[string]float64{}}
	if s.prog != nil {
		f.Example = s.prog.Example
	}
	var micros float64
	var windows []float64
	bars := map[int64]int64{}
	for _, x := range r.samples[s.name] {
		f.Commands += x.Commands
		f.Doubled += x.Doubled
		micros += float64(x.Micros)
		for n, d := range x.CPU {
			f.Nodes[n] += float64(d.Microseconds())
		}
		f.Clients += float64(x.Client.Microseconds())
		for _, w := range x.Windows[:min(len(x.Windows), int(x.Micros/1e6))] {
			windows = append(windows, float64(w))
		}
		for _, b := range x.Latencies {
			bars[b.Micros] += b.Count
		}
	}
	n := float64(f.Commands)
	f.Mean, f.Clients, f.Processes = n/micros*1e6, f.Clients/n, len(f.Nodes)
	slices.Sort(windows)
	f.Median, f.P90 = quantile(windows, 0.5), quantile(windows, 0.9)
	f.P50, f.P99, f.Greatest = latency(bars, f.Commands, 0.5), latency(bars, f.Commands, 0.99), latency(bars, f.Commands, 1)
	for _, name := range slices.Sorted(maps.Keys(f.Nodes)) {
		f.Nodes[name] /= n
		f.Total += f.Nodes[name]
		if f.Nodes[name] > f.Hottest && (s.prog == nil || !s.prog.outside(name)) {
			f.Hottest, f.HottestNode = f.Nodes[name], name
		}
	}
	f.Modelled = 1e6 / f.Hottest
	return f
}

// outside reports whether a node belongs to the clients, as the load has it.
func (p *program) outside(node string) bool {
	component, _, _ := strings.Cut(node, "/")
	return slices.Contains(p.load.Outside, component)
}

// quantile is that of sorted numbers, 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// latency is the least time within which a share of all commands was answered.
func latency(bars map[int64]int64, all int64, share float64) float64 {
	var seen int64
	for _, m := range slices.Sorted(maps.Keys(bars)) {
		if seen += bars[m]; float64(seen) >= share*float64(all) {
			return float64(m)
		}
	}
	return 0
}

// model compares what programs would do with a machine for each node.
func (o *report) model() {
	for i := range o.Figures {
		f := &o.Figures[i]
		for _, base := range o.Figures {
			if f.Example != "" && base.System == f.Example {
				f.Scale = f.Modelled / base.Modelled
			}
		}
	}
}

// keep writes measurements for the optimizer.
func (r *runner) keep(o *report) error {
	if r.c.Measured == "" {
		return nil
	}
	for _, f := range o.Figures {
		if f.Example == "" {
			continue
		}
		text, err := json.MarshalIndent(cost.Measured{Where: o.Machine, Nodes: f.Nodes, Throughput: f.Mean}, "", "  ")
		if err != nil {
			return err
		}
		name := filepath.Join(r.c.Measured, strings.ReplaceAll(f.System, " ", "_")+".json")
		if err := os.WriteFile(name, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var columns = []string{"system", "processes", "commands/s", "median", "p90", "p50 ms", "p99 ms", "hottest node", "CPU µs/command", "all nodes", "clients", "modelled/s", "scale"}

func (f *figure) cells() []string {
	scale := ""
	if f.Scale > 0 {
		scale = fmt.Sprintf("%.2fx", f.Scale)
	}
	return []string{f.System, fmt.Sprint(f.Processes), whole(f.Mean), whole(f.Median), whole(f.P90), fmt.Sprintf("%.2f", f.P50/1e3), fmt.Sprintf("%.2f", f.P99/1e3),
		f.HottestNode, fmt.Sprintf("%.2f", f.Hottest), fmt.Sprintf("%.2f", f.Total), fmt.Sprintf("%.2f", f.Clients), whole(f.Modelled), scale}
}

func whole(x float64) string { return fmt.Sprintf("%.0f", x) }

// write writes the report as the command line asks for it.
func (o *report) write(c config) ([]byte, error) {
	if c.json {
		b, err := json.MarshalIndent(o, "", "  ")
		return append(b, '\n'), err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, load %s. %d commands under way, %d rounds of %v after %v.\n\n", o.Date, o.Machine, strings.Join(o.Loads, "; "),
		c.Clients, c.Rounds, c.Run, c.Warm)
	if c.markdown {
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
		for _, f := range o.Figures {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(f.cells(), " | "))
		}
	} else {
		w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, strings.Join(columns, "\t"))
		for _, f := range o.Figures {
			fmt.Fprintln(w, strings.Join(f.cells(), "\t"))
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	b.WriteString("\nEvery command was answered, with the answer that it must have. modelled/s is not measured: it is a core divided by what the\n" +
		"busiest node uses for a command, as if each node had a machine. scale compares it with the program as it is written.\n")
	for _, a := range o.Absent {
		fmt.Fprintf(&b, "Not measured: %s\n", a)
	}
	return []byte(b.String()), nil
}
