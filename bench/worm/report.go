// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ashlar-dev/ashlar/bench/process"
)

// report is what a run has found.
type report struct {
	Config   config
	Date     string
	Machine  string
	Versions []string
	Loads    []string // load averages before and after
	Figures  []figure
	Targets  []verdict
	Counts   []count  `json:",omitempty"`
	Front    []front  `json:",omitempty"`
	Absent   []string `json:",omitempty"`
	Took     string
}

// figure is what all rounds together say about a cell. Times are in µs.
type figure struct {
	cell
	Rounds         []float64 // operations per second, each
	Median, Mean   float64
	P50, P99, P999 float64
	CPU, ClientCPU float64 // of an operation, mean
	Written        float64 // bytes of an operation, mean
	Ops            int64
}

// finish computes the figures.
func (p *report) finish(r *runner) {
	for _, c := range r.order {
		f, all := figure{cell: c}, newHistogram()
		n := float64(len(r.samples[c]))
		for _, s := range r.samples[c] {
			f.Rounds = append(f.Rounds, s.PerSecond)
			f.Mean += s.PerSecond / n
			f.CPU += float64(s.CPU) / 1e3 / n
			f.ClientCPU += float64(s.Client) / 1e3 / n
			f.Written += s.Written / n
			f.Ops += s.Ops
			all.Merge(s.latencies)
		}
		f.Median = median(f.Rounds)
		f.P50, f.P99, f.P999 = micros(all.ValueAtQuantile(50)), micros(all.ValueAtQuantile(99)), micros(all.ValueAtQuantile(99.9))
		p.Figures = append(p.Figures, f)
	}
	for _, e := range r.c.Engines {
		switch why := r.absent[e]; {
		case why != "":
			p.Absent = append(p.Absent, e+": "+why)
		case e == etcd:
			p.Versions = append(p.Versions, process.VersionOf("etcd", "--version"))
		case e == redis:
			p.Versions = append(p.Versions, process.VersionOf("redis-server", "--version"))
		}
	}
	if why := r.absent["redis-benchmark"]; why != "" {
		p.Absent = append(p.Absent, "redis-benchmark: "+why)
	}
	p.Targets = p.judge()
	p.Loads = append(p.Loads, process.Load())
	p.Took = time.Since(r.begun).Round(time.Second).String()
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	if n == 0 {
		return 0
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// find is the figure of a cell.
func (p *report) find(c cell) *figure {
	for i := range p.Figures {
		if p.Figures[i].cell == c {
			return &p.Figures[i]
		}
	}
	return nil
}

// format writes the report.
func (p *report) format(o output) (string, error) {
	if o.JSON {
		b, err := json.MarshalIndent(p, "", "  ")
		return string(b) + "\n", err
	}
	var b strings.Builder
	head := func(level int, text string) {
		if o.Markdown {
			text = strings.Repeat("#", level) + " " + text
		}
		b.WriteString(text + "\n\n")
	}
	item := func(text string) { b.WriteString("- " + text + "\n") }
	head(1, "WormSpace, etcd and Redis compared")
	c := p.Config
	item(fmt.Sprintf("%s; %d round(s) of %v each, after %v of warming up; values of %d bytes", p.Date, c.Rounds, c.Duration, c.Warm, c.Value))
	item("machine: " + p.Machine + "; everything on its loopback, clients and servers together")
	item("load average: " + strings.Join(p.Loads, " before, ") + " after; took " + p.Took)
	for _, v := range p.Versions {
		item("peer: " + v)
	}
	for _, a := range p.Absent {
		item("not in this run: " + a)
	}
	item("ashlar and etcd are three servers, Redis is one, which is no replication at all; clients of a process share one client of ashlar or etcd, those of Redis have a connection each")
	item("ops/s: median (mean) of the rounds; latencies: all rounds together; CPU: all processes together, the clients' part in parentheses; written: bytes that servers gave to the device")
	b.WriteString("\n")
	if len(p.Targets) > 0 {
		head(2, "Targets")
		p.targets().render(&b, o.Markdown)
		b.WriteString("\n")
	}
	for _, op := range operations() {
		for _, mode := range []string{inMemory, durable} {
			if t := p.table(op.Name, mode); len(t.rows) > 0 {
				head(2, fmt.Sprintf("%s, %s: %s", op.Name, mode, op.Title))
				t.render(&b, o.Markdown)
				b.WriteString("\n")
			}
		}
	}
	p.extras(&b, head, o.Markdown)
	return b.String(), nil
}

// table is one operation in one mode.
func (p *report) table(op, mode string) table {
	t := figuresTable()
	for i := range p.Figures {
		f := &p.Figures[i]
		if f.Op != op || f.Mode != mode || f.Variant != "" {
			continue
		}
		ours := f.cell
		ours.Engine = ashlar
		t.rows = append(t.rows, f.row(p.find(ours)))
	}
	return t
}

func figuresTable() table {
	return table{head: []string{"engine", "clients", "processes", "ops/s", "x ours", "p50 µs", "p99 µs", "p99.9 µs", "CPU µs/op", "written B/op"}}
}

// row is a figure, beside the one that it is compared with.
func (f *figure) row(with *figure) []string {
	ratio := ""
	if with != nil && with.Median > 0 {
		ratio = fmt.Sprintf("%.2f", f.Median/with.Median)
	}
	return []string{
		f.name(), fmt.Sprint(f.Clients), fmt.Sprint(f.Procs), fmt.Sprintf("%.0f (%.0f)", f.Median, f.Mean), ratio,
		fmt.Sprintf("%.0f", f.P50), fmt.Sprintf("%.0f", f.P99), fmt.Sprintf("%.0f", f.P999),
		fmt.Sprintf("%.1f (%.1f)", f.CPU, f.ClientCPU), fmt.Sprintf("%.0f", f.Written),
	}
}

// extras are the tables of what has no peer.
func (p *report) extras(b *strings.Builder, head func(int, string), markdown bool) {
	if len(p.Counts) > 0 {
		head(2, "Messages of one operation, where nothing fails")
		t := table{head: []string{"operation", "times", "requests to servers", "to the sequencer", "round trips"}}
		for _, c := range p.Counts {
			t.rows = append(t.rows, []string{c.Op, fmt.Sprint(c.Times), fmt.Sprintf("%.2f", c.Calls), fmt.Sprintf("%.2f", c.Invokes), fmt.Sprintf("%.2f", c.Trips)})
		}
		t.render(b, markdown)
		b.WriteString("\n")
	}
	for _, part := range []struct{ title, op string }{
		{"Chain and quorum (figure 12 of the paper): write", "write"}, {"Chain and quorum: read", "read"},
		{"Atomic commitment of two participants: latency until both know the outcome", opTx},
	} {
		t := figuresTable()
		t.head[2] = "mode"
		for i := range p.Figures {
			f := &p.Figures[i]
			if f.Op != part.op || f.Variant == "" {
				continue
			}
			first := f.cell
			if first.Variant = variantQuorum3; part.op == opTx {
				first.Variant = variants[len(variants)-1]
			}
			row := f.row(p.find(first))
			row[2] = f.Mode
			t.rows = append(t.rows, row)
		}
		if len(t.rows) > 0 {
			head(2, part.title)
			t.head[4] = "x first"
			if part.op == opTx {
				t.head[4] = "x " + variants[len(variants)-1]
			}
			t.render(b, markdown)
			b.WriteString("\n")
		}
	}
	if len(p.Front) > 0 {
		head(2, "redis-benchmark: ashlard's Redis front over transactions, and Redis")
		t := table{head: []string{"server", "test", "clients", "ops/s", "p50 ms", "p99 ms"}}
		for _, f := range p.Front {
			t.rows = append(t.rows, []string{f.Server, f.Test, fmt.Sprint(f.Clients), fmt.Sprintf("%.0f", f.PerSecond), fmt.Sprint(f.P50), fmt.Sprint(f.P99)})
		}
		t.render(b, markdown)
		b.WriteString("\n")
	}
}

// table is rows below a head.
type table struct {
	head []string
	rows [][]string
}

// render writes it as Markdown, or as columns in line.
func (t table) render(b *strings.Builder, markdown bool) {
	if markdown {
		line := func(fields []string) { b.WriteString("| " + strings.Join(fields, " | ") + " |\n") }
		line(t.head)
		line(append([]string{"---"}, slices.Repeat([]string{"---:"}, len(t.head)-1)...))
		for _, r := range t.rows {
			line(r)
		}
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, r := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush() // into memory
}
