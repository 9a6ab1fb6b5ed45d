// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is what our store has to reach.
type target struct {
	What     string
	Preset   string // that it is stated for; "": each, with SyncClients clients
	Sync     int    // clients of a run with -sync each; 0: not one of these
	Workload string // "": the worst of all
	LogFree  bool   // for our store without a written log
	// Metric is the figure, and says whether higher is better.
	Metric func(c cell) (value float64, higherIsBetter bool)
	Unit   string
	// Relative bounds are multiples of the best peer's figure.
	Relative   bool
	Must, Goal float64 // Goal 0: as Must
}

// verdict is a target with what came out.
type verdict struct {
	What, Engine string
	Found        float64
	Peer         float64  // the best peer's figure; 0: not needed, or none
	Peers        []string `json:",omitempty"` // that were there
	Must, Goal   float64  // bounds of Found
	Unit         string
	Verdict      string // "goal", "met", "missed", or why there is none
}

func perSecond(c cell) (float64, bool)   { return c.OpsPerSecond, true }
func cpuMicros(c cell) (float64, bool)   { return c.CPUMicros, false }
func writeAmp(c cell) (float64, bool)    { return c.WriteAmp, false }
func spaceAmp(c cell) (float64, bool)    { return c.SpaceAmp, false }
func openMillis(c cell) (float64, bool)  { return c.OpenMillis, false }
func coldReads(c cell) (float64, bool)   { return c.ReadsPerTouched, false }
func peakAnonMiB(c cell) (float64, bool) { return c.PeakAnon / (1 << 20), false }
func oomKills(c cell) (float64, bool)    { return float64(c.OOMKills), false }
func slowestMillis(c cell) (float64, bool) {
	most := 0.0
	for _, l := range c.Latency {
		most = max(most, l.Most/1000)
	}
	return most, false
}

// allTargets are all targets that are stated; memory is the limit in MiB.
func allTargets(memory float64) []target {
	return []target{
		{What: "load, log written", Preset: "S", Workload: "load", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.5, Goal: 2},
		{What: "load, no log written", Preset: "S", Workload: "load", LogFree: true, Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.2, Goal: 1.5},
		{What: "load, CPU of an insert", Preset: "S", Workload: "load", Metric: cpuMicros, Unit: "µs", Must: 8, Goal: 6},
		{What: "load, slowest insert", Preset: "S", Workload: "load", Metric: slowestMillis, Unit: "ms", Must: 50, Goal: 20},
		{What: "load, write amplification", Preset: "S", Workload: "load", Metric: writeAmp, Unit: "x", Must: 4.2, Goal: 3.6},
		{What: "load, write amplification below the peers'", Preset: "S", Workload: "load", Metric: writeAmp, Unit: "x", Relative: true, Must: 1},
		{What: "load, write amplification, no log written", Preset: "S", Workload: "load", LogFree: true, Metric: writeAmp, Unit: "x", Must: 3.3, Goal: 2.6},
		{What: "load, space for each byte that lives", Preset: "S", Workload: "load", Metric: spaceAmp, Unit: "x", Must: 1.30, Goal: 1.15},
		{What: "anonymous memory, at most", Preset: "S", Metric: peakAnonMiB, Unit: "MiB", Must: memory},
		{What: "killed for memory", Preset: "S", Metric: oomKills, Unit: "times", Must: 0},
		{What: "A", Preset: "S", Workload: "A", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.5, Goal: 2.5},
		{What: "C, cold", Preset: "S", Workload: "C", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.1, Goal: 1.4},
		{What: "C, steady", Preset: "S", Workload: "steady", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.7, Goal: 2.5},
		{What: "U", Preset: "S", Workload: "U", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.3, Goal: 1.7},
		{What: "U, device reads of a cold get", Preset: "S", Workload: "U", Metric: coldReads, Unit: "x 4 KiB", Must: 1.05, Goal: 1.02},
		{What: "E, not slower", Preset: "S", Workload: "E", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1},
		{What: "E", Preset: "S", Workload: "E", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.5, Goal: 3},
		{What: "N, not slower", Preset: "S", Workload: "N", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1},
		{What: "N", Preset: "S", Workload: "N", Metric: perSecond, Unit: "op/s", Must: 150_000, Goal: 250_000},
		{What: "S, against peers", Preset: "S", Workload: "S", Metric: perSecond, Unit: "records/s", Relative: true, Must: 2},
		{What: "S", Preset: "S", Workload: "S", Metric: perSecond, Unit: "records/s", Must: 600_000, Goal: 1_000_000},
		{What: "M", Preset: "S", Workload: "M", Metric: perSecond, Unit: "op/s", Must: 100_000, Goal: 150_000},
		{What: "open after a kill", Preset: "S", Workload: "R", Metric: openMillis, Unit: "ms", Must: 3000, Goal: 1000},
		{What: "two cores: load", Preset: "two", Workload: "load", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.8, Goal: 2.5},
		{What: "two cores: A", Preset: "two", Workload: "A", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.3, Goal: 2},
		{What: "two cores: C, cold", Preset: "two", Workload: "C", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.1, Goal: 1.3},
		{What: "two cores: U", Preset: "two", Workload: "U", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1.4, Goal: 1.7},
		{What: "durable inserts, 1 client", Sync: 1, Workload: "load", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1, Goal: 1.3},
		{What: "durable inserts, 16 clients", Sync: 16, Workload: "load", Metric: perSecond, Unit: "op/s", Relative: true, Must: 1, Goal: 1.5},
	}
}

const noPeer = "no peer to compare with"

// states reports whether a target is stated for a config.
func (t target) states(c config) bool {
	if t.Sync > 0 {
		return c.SyncEach && c.Clients == t.Sync
	}
	return t.Preset == c.Preset
}

// verdicts judges our store by the targets of this configuration.
func verdicts(r *report, list []engine) []verdict {
	var all []verdict
	for _, t := range allTargets(float64(r.Config.Memory) / (1 << 20)) {
		if !t.states(r.Config) || !r.has(t.Workload) {
			continue
		}
		for i, e := range list {
			if e.Ours && e.LogFree == t.LogFree {
				all = append(all, t.judge(r, list, i))
			}
		}
	}
	return all
}

// has reports whether the workload was asked for; "" stands for any.
func (r *report) has(load string) bool {
	return slices.ContainsFunc(r.Cells, func(c cell) bool { return load == "" || c.Workload == load })
}

// judge holds engine i of the list against the target.
func (t target) judge(r *report, list []engine, i int) verdict {
	v := verdict{What: t.What, Engine: list[i].Name, Must: t.Must, Goal: t.Goal, Unit: t.Unit}
	row, higher, ran := t.row(r, list)
	if !ran(row[i]) {
		v.Verdict = "not run"
		return v
	}
	v.Found, higher = t.Metric(row[i])
	if t.Relative {
		v.Peer, v.Peers = bestPeer(row, list, t.LogFree, t.Metric)
		if v.Peer == 0 {
			v.Verdict = noPeer
			return v
		}
		v.Must, v.Goal = t.Must*v.Peer, t.Goal*v.Peer
	}
	v.Verdict = "missed"
	switch reaches := func(bound float64) bool { return higher && v.Found >= bound || !higher && v.Found <= bound }; {
	case t.Goal > 0 && reaches(v.Goal):
		v.Verdict = "met, goal too"
	case reaches(v.Must):
		v.Verdict = "met"
	}
	if row[i].Cut {
		v.Verdict += " (cut short)"
	}
	if row[i].Failed > 0 {
		v.Verdict = "failed"
	}
	if t.Relative && !t.LogFree && (!slices.Contains(v.Peers, "rocksdb") || !slices.Contains(v.Peers, "pebble")) {
		v.Verdict += ", against " + strings.Join(v.Peers, " and ") + " only"
	}
	return v
}

// row is the target's workload, an engine each; for all workloads the worst.
func (t target) row(r *report, list []engine) (row []cell, higher bool, ran func(cell) bool) {
	row = make([]cell, len(list))
	for _, c := range r.Cells {
		i := slices.IndexFunc(list, func(e engine) bool { return e.Name == c.Engine })
		switch {
		case i < 0 || t.Workload != "" && t.Workload != c.Workload:
		case t.Workload != "":
			row[i] = c
		default:
			row[i].Engine, row[i].Rounds = c.Engine, row[i].Rounds+c.Rounds+c.Failed
			row[i].PeakAnon = max(row[i].PeakAnon, c.PeakAnon)
			row[i].OOMKills += c.OOMKills
		}
	}
	return row, higher, func(c cell) bool { return c.Rounds+c.Failed > 0 }
}

// targets is the table of verdicts.
func (r *report) targets() table {
	t := table{title: "Targets", head: []string{"target", "engine", "found", "best peer", "must", "goal", "unit", "verdict"}}
	number := func(v float64) string {
		switch {
		case v >= 1000:
			return thousands(v)
		case v == float64(int64(v)):
			return fmt.Sprintf("%.0f", v)
		}
		return fmt.Sprintf("%.2f", v)
	}
	for _, v := range r.Verdicts {
		peer, goal := "", ""
		if v.Verdict == "not run" || v.Verdict == noPeer {
			t.rows = append(t.rows, []string{v.What, v.Engine, "", "", "", "", v.Unit, v.Verdict})
			continue
		}
		if v.Peer > 0 {
			peer = number(v.Peer)
		}
		if v.Goal > 0 {
			goal = number(v.Goal)
		}
		t.rows = append(t.rows, []string{v.What, v.Engine, number(v.Found), peer, number(v.Must), goal, v.Unit, v.Verdict})
	}
	return t
}
