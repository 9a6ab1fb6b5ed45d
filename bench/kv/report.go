// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// report is everything that a run came to.
type report struct {
	Config   config
	Machine  machine
	Device   [2]device // before and after
	Limit    string    // how memory was limited
	Engines  []setup
	Cells    []cell
	Verdicts []verdict
	Results  []*result
}

// machine is what the run ran on.
type machine struct {
	OS, Arch, CPU, Go string
	CPUs              int
	MemoryMiB         int64
	Load              [2]string // average of the system's load, before and after
}

// setup is how an engine was set up.
type setup struct {
	Name, Version string
	Settings      []string
}

// cell is one workload of one engine: medians over the rounds that ended well.
type cell struct {
	Workload, Engine string
	Rounds, Failed   int
	Cut              bool     // a round was stopped by its time limit
	Unsettled        bool     // a round's work in the background was not over
	Why              []string `json:",omitempty"` // of failed and of skipped rounds
	OOMKills         int64
	OpsPerSecond     float64
	Ratio            float64 // to the best peer; 0: there is none
	Latency          []latency
	CPUMicros        float64 // of an operation
	Written, Read    float64 // bytes, the settling not included
	WriteAmp         float64 // bytes written, settling included, for each byte of the user's
	SettleSeconds    float64
	SettleCPUSeconds float64
	ReadsPerTouched  float64 // 4 KiB of device reads for each record that was touched
	SpaceAmp         float64
	Space            float64
	OpenMillis       float64
	PeakRSS          float64
	PeakAnon         float64 // the most of all rounds
	PeakCharge       float64
}

// report computes medians, ratios and verdicts.
func (b *bench) report(before, after ambience) *report {
	r := &report{
		Config: b.config, Device: [2]device{before.device, after.device}, Limit: b.cages.Why, Results: b.results,
		Machine: machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Go: runtime.Version(),
			CPUs: runtime.NumCPU(), MemoryMiB: numberIn("/proc/meminfo", "MemTotal:") >> 10, Load: [2]string{before.load, after.load}},
	}
	s := b.settings()
	for _, e := range b.engines {
		r.Engines = append(r.Engines, setup{Name: e.Name, Version: versionOf(e.Name), Settings: e.Setup(s)})
	}
	r.summarise(b.workloads, b.engines)
	return r
}

// versionOf is the version of an engine's module in this build.
func versionOf(name string) string {
	module := map[string]string{"pebble": "cockroachdb/pebble", "pebble-nolog": "cockroachdb/pebble",
		"badger": "dgraph-io/badger", "bbolt": "etcd.io/bbolt"}[name]
	if strings.HasPrefix(name, "rocksdb") {
		return libraryVersion("librocksdb.so.")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || module == "" {
		return ""
	}
	for _, d := range info.Deps {
		if strings.Contains(d.Path, module) {
			return d.Version
		}
	}
	return ""
}

// summarise fills cells and verdicts from results.
func (r *report) summarise(loads []workload, list []engine) {
	for _, w := range loads {
		first := len(r.Cells)
		for _, e := range list {
			r.Cells = append(r.Cells, r.cell(w.Name, e.Name))
		}
		row := r.Cells[first:]
		for i := range row {
			if best, _ := bestPeer(row, list, list[i].LogFree, fasterThan); best > 0 {
				row[i].Ratio = row[i].OpsPerSecond / best
			}
		}
	}
	r.Verdicts = verdicts(r, list)
}

func fasterThan(c cell) (value float64, higherIsBetter bool) { return c.OpsPerSecond, true }

// bestPeer is the best figure of the peers with a log, or of those without,
// and who they are. row and list are parallel.
func bestPeer(row []cell, list []engine, logFree bool, metric func(cell) (float64, bool)) (best float64, names []string) {
	for i, e := range list {
		if !e.Peer || e.LogFree != logFree || row[i].Rounds == 0 {
			continue
		}
		v, higher := metric(row[i])
		if v <= 0 {
			continue
		}
		names = append(names, e.Name)
		if best == 0 || higher && v > best || !higher && v < best {
			best = v
		}
	}
	return best, names
}

func (r *report) cell(load, engine string) cell {
	c := cell{Workload: load, Engine: engine}
	var good []*result
	for _, x := range r.Results {
		if x.Workload != load || x.Engine != engine {
			continue
		}
		c.OOMKills += x.OOMKills
		c.PeakAnon = max(c.PeakAnon, float64(x.PeakAnon))
		if x.ok() {
			good = append(good, x)
			c.Cut = c.Cut || x.cut()
			c.Unsettled = c.Unsettled || !x.Settled
			continue
		}
		if x.Error != "" {
			c.Failed++
		}
		if why := x.Error + x.Skipped; !slices.Contains(c.Why, why) {
			c.Why = append(c.Why, why)
		}
	}
	c.Rounds = len(good)
	if c.Rounds == 0 {
		return c
	}
	med := func(of func(*result) float64) float64 {
		var v []float64
		for _, x := range good {
			v = append(v, of(x))
		}
		return median(v)
	}
	live := func(x *result) float64 { return float64(x.Records * int64(keySize+valueSize)) }
	c.OpsPerSecond = med(rate)
	c.CPUMicros = med(func(x *result) float64 { return quotient(x.CPUSeconds*1e6, float64(x.Ops)) })
	c.Written = med(func(x *result) float64 { return float64(x.Written) })
	c.Read = med(func(x *result) float64 { return float64(x.Read) })
	c.WriteAmp = med(func(x *result) float64 { return quotient(float64(x.Written+x.SettleWritten), float64(x.UserBytes)) })
	c.SettleSeconds = med(func(x *result) float64 { return x.SettleSeconds })
	c.SettleCPUSeconds = med(func(x *result) float64 { return x.SettleCPUSeconds })
	c.ReadsPerTouched = med(func(x *result) float64 { return quotient(float64(x.Read)/4096, float64(x.Touched)) })
	c.Space = med(func(x *result) float64 { return float64(x.Space) })
	c.SpaceAmp = med(func(x *result) float64 { return quotient(float64(x.Space), live(x)) })
	c.OpenMillis = med(func(x *result) float64 { return x.OpenSeconds * 1000 })
	c.PeakRSS = med(func(x *result) float64 { return float64(x.PeakRSS) })
	c.PeakCharge = med(func(x *result) float64 { return float64(x.PeakCharge) })
	for kind := range good[0].Latency {
		at := func(of func(latency) float64) float64 {
			return med(func(x *result) float64 {
				if kind >= len(x.Latency) {
					return 0
				}
				return of(x.Latency[kind])
			})
		}
		c.Latency = append(c.Latency, latency{
			Kind: good[0].Latency[kind].Kind, Count: good[0].Latency[kind].Count,
			P50: at(func(l latency) float64 { return l.P50 }), P99: at(func(l latency) float64 { return l.P99 }),
			P999: at(func(l latency) float64 { return l.P999 }), Most: at(func(l latency) float64 { return l.Most }),
		})
	}
	return c
}

// rate is a result's operations per second.
func rate(r *result) float64 { return quotient(float64(r.Ops), r.Seconds) }

// quotient is a/b, or 0 where there is nothing to divide by.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// median is the middle value, or the mean of the two in the middle.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// writeReport writes a report in the form that was asked for.
func writeReport(r *report, o output, stdout io.Writer) (err error) {
	out := stdout
	if o.File != "" {
		f, err := os.Create(o.File)
		if err != nil {
			return err
		}
		defer func() {
			if e := f.Close(); err == nil {
				err = e
			}
		}()
		out = f
	}
	var text []byte
	switch {
	case o.JSON:
		if text, err = json.MarshalIndent(r, "", "  "); err != nil {
			return err
		}
		text = append(text, '\n')
	default:
		text = []byte(r.render(o.Markdown))
	}
	_, err = out.Write(text)
	return err
}

// overview has a row of operations per second for each engine.
func (r *report) overview() table {
	t := table{title: "Operations per second (S: records; R: milliseconds of an open after a kill)", head: []string{"engine"}}
	var loads []string
	for _, c := range r.Cells {
		if !slices.Contains(loads, c.Workload) {
			loads = append(loads, c.Workload)
		}
	}
	t.head = append(t.head, loads...)
	for _, e := range r.Engines {
		row := []string{e.Name}
		for _, c := range r.Cells {
			if c.Engine == e.Name {
				row = append(row, c.headline())
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// headline is the one figure of a cell.
func (c cell) headline() string {
	switch {
	case c.Rounds == 0 && c.OOMKills > 0:
		return "killed"
	case c.Rounds == 0 && c.Failed > 0:
		return "failed"
	case c.Rounds == 0:
		return "-"
	case c.Workload == "R":
		return fmt.Sprintf("%.0f ms", c.OpenMillis)
	}
	return thousands(c.OpsPerSecond) + star(c.Cut)
}

func star(cut bool) string {
	if cut {
		return "*"
	}
	return ""
}

// detail is the table of one workload.
func (r *report) detail(w workload) table {
	t := table{
		title: fmt.Sprintf("%s: %s", w.Name, w.Title),
		head: []string{"engine", "op/s", "x best peer", "kind", "p50 µs", "p99 µs", "p99.9 µs", "max ms", "CPU µs/op",
			"written MB", "write amp", "settle s", "read MB", "read KB/op", "space MB", "RSS MB", "anon MB", "charged MB", "killed", "open ms"},
	}
	for _, c := range r.Cells {
		if c.Workload != w.Name {
			continue
		}
		if c.Rounds == 0 {
			t.rows = append(t.rows, []string{c.Engine, c.headline()})
			continue
		}
		ratio, amp := "", ""
		if c.Ratio > 0 && !w.Recover {
			ratio = fmt.Sprintf("%.2f", c.Ratio)
		}
		if c.WriteAmp > 0 {
			amp = fmt.Sprintf("%.2f", c.WriteAmp)
		}
		mb := func(n float64) string { return fmt.Sprintf("%.0f", n/1e6) }
		settled := fmt.Sprintf("%.1f", c.SettleSeconds) + star(c.Unsettled)
		row := []string{c.Engine, c.headline(), ratio, "", "", "", "", "", fmt.Sprintf("%.1f", c.CPUMicros),
			mb(c.Written), amp, settled, mb(c.Read), fmt.Sprintf("%.2f", c.Read/1000/max(1, c.ops(r))),
			mb(c.Space), mb(c.PeakRSS), mb(c.PeakAnon), mb(c.PeakCharge), fmt.Sprint(c.OOMKills), fmt.Sprintf("%.0f", c.OpenMillis)}
		for i, l := range c.Latency {
			if i > 0 {
				row = make([]string, 8)
			}
			copy(row[3:], []string{l.Kind, micros(l.P50), micros(l.P99), micros(l.P999), fmt.Sprintf("%.1f", l.Most/1000)})
			t.rows = append(t.rows, row)
		}
		if len(c.Latency) == 0 {
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// ops is the median of the operations that the rounds did.
func (c cell) ops(r *report) float64 {
	var v []float64
	for _, x := range r.Results {
		if x.Workload == c.Workload && x.Engine == c.Engine && x.ok() {
			v = append(v, float64(x.Ops))
		}
	}
	return median(v)
}

func micros(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// thousands prints a whole number with commas.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// render prints the report as text or as Markdown.
func (r *report) render(markdown bool) string {
	var b strings.Builder
	section := func(title string) {
		if markdown {
			fmt.Fprintf(&b, "\n## %s\n\n", title)
		} else {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, strings.Repeat("-", len([]rune(title))))
		}
	}
	bullet := "  "
	if markdown {
		bullet = "- "
		b.WriteString("# Key-value stores compared\n\n")
	}
	r.preamble(&b, bullet)
	tables := []table{r.overview()}
	if len(r.Verdicts) > 0 {
		tables = append(tables, r.targets())
	}
	for _, w := range workloads() {
		if slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Workload == w.Name }) {
			tables = append(tables, r.detail(w))
		}
	}
	for _, t := range tables {
		section(t.title)
		t.render(&b, markdown)
	}
	section("Remarks")
	for _, l := range r.remarks() {
		fmt.Fprintf(&b, "%s%s\n", bullet, l)
	}
	section("Settings")
	for _, e := range r.Engines {
		fmt.Fprintf(&b, "%s%s\n", bullet, strings.TrimSpace(e.Name+" "+e.Version))
		for _, l := range e.Settings {
			fmt.Fprintf(&b, "  %s%s\n", bullet, l)
		}
	}
	return b.String()
}

// preamble says what was run, and where.
func (r *report) preamble(b *strings.Builder, bullet string) {
	c := r.Config
	sync := "at the end of each phase, inside of what is measured"
	if c.SyncEach {
		sync = "with each write"
	}
	name := c.Preset
	if name == "" {
		name = "none"
	}
	for _, l := range []string{
		fmt.Sprintf("preset %s: %s records of %d + %d bytes (%.0f %% compressible) = %s, memory %s, %d CPU(s), %d client(s), %s ops, %d round(s), seed %d",
			name, thousands(float64(c.Records)), keySize, valueSize, 100*c.Compressible, mib(c.Records*(keySize+valueSize)>>20<<20),
			mib(c.Memory), c.CPUs, c.Clients, thousands(float64(c.Ops)), c.Rounds, c.Seed),
		"sync " + sync + "; a phase is cut after " + c.Limit.String(),
		fmt.Sprintf("machine: %s/%s, %s, %d CPUs, %d MiB, %s", r.Machine.OS, r.Machine.Arch, r.Machine.CPU, r.Machine.CPUs, r.Machine.MemoryMiB, r.Machine.Go),
		fmt.Sprintf("load average: %s before, %s after", r.Machine.Load[0], r.Machine.Load[1]),
		"memory limit: " + r.Limit,
		"device before: " + r.Device[0].String(),
		"device after: " + r.Device[1].String(),
	} {
		fmt.Fprintf(b, "%s%s\n", bullet, l)
	}
}

// remarks say what has to be known to read the tables.
func (r *report) remarks() []string {
	lines := []string{
		"Figures are medians over the rounds, anon the most of all. CPU, written and read are of the whole process, threads in the background included, until the final sync is done; write amp also counts what is written until the store has come to rest (settle).",
		"written and read are what the process had the block layer do, in MB of 10^6 bytes; charged is what the control group came to at most, page cache included.",
		"x best peer compares with the best of RocksDB and Pebble of this run, engines without a log with those without one.",
		"Every phase begins in a new process with cold caches. Latencies are of a closed loop: a stall delays operations that are not counted as waiting.",
	}
	if !strings.HasPrefix(r.Limit, "control groups") {
		lines = append(lines, "Without control groups the page cache is not limited: figures of engines that use it are too good.")
	}
	for _, c := range r.Cells {
		if c.Cut {
			lines = append(lines, fmt.Sprintf("* %s %s: cut by its time limit; a store with fewer records is faster.", c.Workload, c.Engine))
		}
		if c.Unsettled && c.Rounds > 0 {
			lines = append(lines, fmt.Sprintf("%s %s: had not come to rest when its time was up.", c.Workload, c.Engine))
		}
		for _, why := range c.Why {
			what := "not run"
			if c.Failed > 0 {
				what = fmt.Sprintf("%d round(s) failed", c.Failed)
			}
			lines = append(lines, fmt.Sprintf("%s %s: %s: %s", c.Workload, c.Engine, what, why))
		}
	}
	return lines
}
