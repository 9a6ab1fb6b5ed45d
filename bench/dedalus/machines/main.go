// SPDX-License-Identifier: Apache-2.0

// Command machines measures the programs of examples/dedalus, as they are written and as
// scripts rewrite them, as if each instance had a machine: it runs ashlar dedalus measure
// for each and prints a table beside the figures of the paper. With -svg it keeps the
// curves.
//
// Run it in the module bench: go -C bench run ./dedalus/machines.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// row is a program of the table, with the script that rewrites it.
type row struct {
	program, script string
	// paper is what the paper's measurements say (mean, from its published data), or "".
	paper string
}

var rows = []row{
	{"voting", "voting-26", "103k -> 229k, 2.2x on 26"},
	{"commit", "commit", "28.5k -> 158k, 5.5x on 46"},
	{"twophase", "twophase-12", "no timers in the paper"},
	{"multipaxos", "multipaxos-29", "48k -> 109k, 2.2x on 29"},
	{"paxos", "paxos-29", "48k -> 109k, 2.2x on 29"},
	{"comppaxos", "", "by hand: 95k on 20"},
}

// document is the part of the command's JSON that the table shows.
type document struct {
	Network  struct{ Write, Read, PerKB time.Duration }
	Gain     float64
	Programs []struct {
		Name     string
		Machines int
		Other    float64
		Points   []point
		Model    []struct {
			Component           string
			Measured, Predicted float64
		}
	}
}

type point struct {
	UnderWay      int
	PerSecond     float64
	LatencyMicros struct{ P50, P99 int64 }
	Busiest       string
	Nodes         []struct {
		Node      string
		CPU, Busy float64
	}
}

func main() {
	clients := flag.String("clients", "40,160,640,2560,10000", "numbers of commands under way")
	commands := flag.Int("commands", 20_000, "how many commands count")
	only := flag.String("only", "", "measure this program only")
	svg := flag.String("svg", "", "keep the curves in this directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := report(ctx, os.Stdout, *clients, *commands, *only, *svg); err != nil {
		fmt.Fprintln(os.Stderr, "machines:", err)
		os.Exit(1)
	}
}

func report(ctx context.Context, out io.Writer, clients string, commands int, only, svg string) error {
	load, _ := os.ReadFile("/proc/loadavg") // absent on other systems
	fmt.Fprintf(out, "%s UTC, %s/%s, %d CPUs, %s, load %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "))
	fmt.Fprintf(out, "| program | machines | under way | commands/s | p50 ms | p99 ms | busiest node | busy | CPU µs/command | gain | the paper |\n|%s\n", strings.Repeat("---|", 11))
	var errs []string
	for _, r := range rows {
		if only != "" && r.program != only {
			continue
		}
		d, err := r.measure(ctx, clients, commands, svg)
		if err != nil {
			return err
		}
		errs = append(errs, d.write(out, r)...)
	}
	fmt.Fprintf(out, "\n| program | component | CPU µs/command | predicted | error |\n|---|---|---|---|---|\n%s", strings.Join(errs, ""))
	return nil
}

// measure runs the command.
func (r row) measure(ctx context.Context, clients string, commands int, svg string) (*document, error) {
	dir := "examples/dedalus/"
	args := []string{"run", "./cmd/ashlar", "dedalus", "measure", dir + r.program + ".ded", "--json", "--clients", clients, "--commands", fmt.Sprint(commands)}
	if r.script != "" {
		args = append(args, "--script", dir+r.script+".steps")
	}
	if svg != "" {
		at, err := filepath.Abs(svg)
		if err != nil {
			return nil, err
		}
		args = append(args, "--svg", filepath.Join(at, r.program+".svg"))
	}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = "..", &complaint
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", r.program, err, complaint.String())
	}
	d := &document{}
	return d, json.Unmarshal(text, d)
}

// write writes a line for the best point of each program, and returns lines about what the
// cost model predicts.
func (d *document) write(out io.Writer, r row) (model []string) {
	for i, p := range d.Programs {
		best, gain, paper := p.Points[0], "", ""
		for _, pt := range p.Points {
			if pt.PerSecond > best.PerSecond {
				best = pt
			}
		}
		name := r.program
		if i > 0 {
			name, gain, paper = r.program+" "+r.script, fmt.Sprintf("%.2fx", d.Gain), r.paper
		} else if len(d.Programs) == 1 {
			paper = r.paper
		}
		busy, cpu := 0.0, 0.0
		for _, n := range best.Nodes {
			if n.Node == best.Busiest {
				busy, cpu = n.Busy, n.CPU
			}
		}
		fmt.Fprintf(out, "| %s | %d | %d | %.0f | %.2f | %.2f | %s | %.0f%% | %.2f | %s | %s |\n", name, p.Machines, best.UnderWay, best.PerSecond,
			float64(best.LatencyMicros.P50)/1e3, float64(best.LatencyMicros.P99)/1e3, best.Busiest, 100*min(busy, 1), cpu, gain, paper)
		sum := 0.0
		for _, m := range p.Model {
			off := m.Predicted/m.Measured - 1
			sum += math.Abs(off) / float64(len(p.Model))
			model = append(model, fmt.Sprintf("| %s | %s | %.2f | %.2f | %+.0f%% |\n", name, m.Component, m.Measured, m.Predicted, 100*off))
		}
		model = append(model, fmt.Sprintf("| %s | mean | | | %.0f%% |\n", name, 100*sum))
	}
	return model
}
