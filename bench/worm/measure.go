// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// cell is something that is measured: one engine at one kind of work.
type cell struct {
	Engine  string
	Op      string
	Variant string `json:",omitempty"`
	Mode    string
	Clients int
	Procs   int // client processes
}

// name is the engine's, with the variant.
func (c cell) name() string {
	if c.Variant != "" {
		return c.Engine + " " + c.Variant
	}
	return c.Engine
}

// sample is what one round says about a cell.
type sample struct {
	PerSecond float64
	CPU       time.Duration // of an operation: clients and servers
	Client    time.Duration // the clients' part of that
	Written   float64       // bytes of an operation, by the servers
	Ops       int64
	latencies *hdrhistogram.Histogram
}

// group is cells that take turns.
type group struct{ cells []cell }

// runner measures everything.
type runner struct {
	c       config
	self    func(role string) *exec.Cmd
	ctx     context.Context
	log     io.Writer
	begun   time.Time
	phase   int
	samples map[cell][]sample
	order   []cell
	absent  map[string]string
	report  *report
}

func measure(ctx context.Context, c config, self func(role string) *exec.Cmd, log io.Writer) (*report, error) {
	r := &runner{c: c, self: self, ctx: ctx, log: log, begun: time.Now(), samples: map[cell][]sample{}, absent: map[string]string{}}
	r.report = &report{Config: c, Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Machine: process.Machine(), Loads: []string{process.Load()}}
	if etcdAbsent != "" {
		r.absent[etcd] = etcdAbsent
	}
	for round := range c.Rounds {
		for _, mode := range c.Modes {
			if err := r.round(round, mode); err != nil {
				return nil, err
			}
		}
	}
	if c.Extras {
		if err := r.extras(); err != nil {
			return nil, err
		}
	}
	r.report.finish(r)
	return r.report, nil
}

// directory makes a directory for the data of a round.
func (r *runner) directory(mode string) (string, error) {
	parent := r.c.Dir
	if mode == inMemory {
		if parent = r.c.Memory; !isDir(parent) {
			parent = "" // no file system in memory: etcd will sync
		}
	}
	return os.MkdirTemp(parent, "bench-worm-")
}

func isDir(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.IsDir()
}

// round measures all of a mode once, on servers that have nothing yet.
func (r *runner) round(round int, mode string) error {
	dir, err := r.directory(mode)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clusters, err := r.start(mode, dir)
	defer func() {
		for _, c := range clusters {
			c.end()
		}
	}()
	if err != nil {
		return err
	}
	for _, g := range r.groups(mode) {
		for i := range g.cells {
			c := g.cells[(i+round)%len(g.cells)]
			if clusters[c.Engine] == nil {
				continue
			}
			if err := r.one(c, clusters[c.Engine]); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts a cluster of each engine.
func (r *runner) start(mode, dir string) (map[string]*cluster, error) {
	clusters := map[string]*cluster{}
	for _, e := range r.c.Engines {
		if r.absent[e] != "" {
			continue
		}
		var c *cluster
		var err error
		switch e {
		case ashlar:
			ours := dir
			if mode == inMemory {
				ours = ""
			}
			if c, err = startOurs(r.self, ours, r.c.Profile); err != nil {
				return clusters, err
			}
		case etcd:
			c, err = startEtcd(dir)
		case redis:
			c, err = startRedis(dir, mode == durable)
		}
		if err != nil {
			r.absent[e] = err.Error()
			fmt.Fprintf(r.log, "%s is left out: %v\n", e, err)
			continue
		}
		clusters[e] = c
	}
	return clusters, nil
}

// groups are what is measured in a mode.
func (r *runner) groups(mode string) []group {
	var all []group
	for _, name := range r.c.Ops {
		op, _ := operationNamed(name)
		if mode == durable && !op.Writes {
			continue
		}
		for _, n := range r.c.Clients {
			all = append(all, r.group(op, mode, n, 1))
			if r.c.Procs > 1 && name == "write" && n%r.c.Procs == 0 && n >= 16*r.c.Procs {
				all = append(all, r.group(op, mode, n, r.c.Procs))
			}
		}
	}
	if r.c.Extras {
		all = append(all, chains(mode)...)
		if mode == inMemory {
			all = append(all, transactions())
		}
	}
	return all
}

func (r *runner) group(op operation, mode string, clients, procs int) (g group) {
	for _, e := range r.c.Engines {
		if op.has(e) {
			g.cells = append(g.cells, cell{Engine: e, Op: op.Name, Mode: mode, Clients: clients, Procs: procs})
		}
	}
	return g
}

// chains compares chains with a quorum, as figure 12 of the paper does.
func chains(mode string) (all []group) {
	for _, op := range []string{"write", "read"} {
		if mode == durable && op == "read" {
			continue
		}
		for _, n := range []int{1, 16} {
			var g group
			for _, v := range []string{variantQuorum3, variantChain3, variantChain2} {
				g.cells = append(g.cells, cell{Engine: ashlar, Op: op, Variant: v, Mode: mode, Clients: n, Procs: 1})
			}
			all = append(all, g)
		}
	}
	return all
}

// variants are those of transactions, slowest first.
var variants = []string{"A8", "B6", "C5", "D4", "E3", "F2"}

func transactions() (g group) {
	for _, v := range variants {
		g.cells = append(g.cells, cell{Engine: ashlar, Op: opTx, Variant: v, Mode: inMemory, Clients: 1, Procs: 1})
	}
	return g
}

// one measures a cell once.
func (r *runner) one(c cell, on *cluster) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	s, err := r.phaseOf(c, on)
	if err != nil {
		return fmt.Errorf("%s, %s, %s, %d clients: %w", c.name(), c.Op, c.Mode, c.Clients, err)
	}
	if r.samples[c] == nil {
		r.order = append(r.order, c)
	}
	r.samples[c] = append(r.samples[c], s)
	fmt.Fprintf(r.log, "%4.0fs  %-7s %-8s %-14s %4d clients in %d  %9.0f/s  p50 %7.1f µs  p99 %8.1f µs  CPU %6.1f µs\n",
		time.Since(r.begun).Seconds(), c.Mode, c.Op, c.name(), c.Clients, c.Procs, s.PerSecond,
		micros(s.latencies.ValueAtQuantile(50)), micros(s.latencies.ValueAtQuantile(99)), float64(s.CPU)/1e3)
	return nil
}

func (r *runner) phaseOf(c cell, on *cluster) (s sample, err error) {
	r.phase++
	var clients []*process.Child
	defer func() {
		for _, x := range clients {
			x.End()
		}
	}()
	each := c.Clients / c.Procs
	for i := range c.Procs {
		x, err := process.Start(fmt.Sprint("client ", i), r.self(roleClient), true)
		if err != nil {
			return s, err
		}
		clients = append(clients, x)
		job := clientJob{Where: on.where, Op: c.Op, Variant: c.Variant, First: i * each, Clients: each, Phase: r.phase,
			Value: r.c.Value, Duration: r.c.Duration, Warm: r.c.Warm}
		if r.c.Profile != "" {
			job.Profile = filepath.Join(r.c.Profile, fmt.Sprintf("client-%s-%s-%d-%d.pprof",
				strings.ReplaceAll(c.name(), " ", "-"), c.Op, c.Clients, i))
		}
		if err := x.Tell(job); err != nil {
			return s, err
		}
	}
	var said string
	for _, x := range clients {
		if err := x.Hear(&said, phaseWithin); err != nil {
			return s, err
		}
	}
	before := process.UsageOfAll(on.children)
	for _, x := range clients {
		if err := x.Tell("go"); err != nil {
			return s, err
		}
	}
	s.latencies = newHistogram()
	var cpu time.Duration
	for _, x := range clients {
		var one clientResult
		if err := x.Hear(&one, phaseWithin); err != nil {
			return s, err
		}
		s.PerSecond += float64(one.Ops) / one.Took.Seconds()
		s.Ops += one.Ops
		cpu += one.Used.CPU
		s.latencies.Merge(hdrhistogram.Import(one.Latencies))
	}
	servers := process.UsageOfAll(on.children).Minus(before)
	for _, x := range clients {
		if err := x.Hear(&said, phaseWithin); err != nil {
			return s, err
		}
	}
	ops := time.Duration(max(s.Ops, 1))
	s.CPU, s.Client = (servers.CPU+cpu)/ops, cpu/ops
	s.Written = float64(servers.Written) / float64(ops)
	return s, nil
}

// micros is a recorded latency in µs.
func micros(v int64) float64 { return float64(time.Duration(v)*latencyUnit) / 1e3 }
