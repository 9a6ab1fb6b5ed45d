// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// goldenEngines stand for all, whatever is in the build.
func goldenEngines() []engine {
	return []engine{
		{Name: "ashlar", Ours: true}, {Name: "ashlar-lazy", Ours: true, LogFree: true},
		{Name: "rocksdb", Peer: true}, {Name: "pebble", Peer: true}, {Name: "pebble-nolog", Peer: true, LogFree: true}, {Name: "bbolt"},
	}
}

// goldenReport makes a report of lines such as
//
//	1 load pebble ops=1000 seconds=2 cpu=0.01
//
// which are a round, a workload, an engine and what is not zero.
func goldenReport(t *testing.T, d *datadriven.TestData) *report {
	t.Helper()
	r := &report{
		Config: config{Preset: "S", Records: 2_500_000, Memory: 512 << 20, Ops: 100_000, CPUs: 1, Clients: 1, Rounds: 1, Seed: 1, Limit: time.Minute},
		Machine: machine{OS: "linux", Arch: "amd64", CPU: "a processor", Go: "go1.26", CPUs: 2, MemoryMiB: 1024,
			Load: [2]string{"0.10", "1.20"}},
		Device: [2]device{{WriteMBps: 1000, ReadP50: 98, SyncP50: 178, HarnessUs: 0.5}, {Impossible: "interrupted"}},
		Limit:  "control groups of version 1 in /sys/fs/cgroup/memory",
	}
	d.MaybeScanArgs(t, "preset", &r.Config.Preset)
	d.MaybeScanArgs(t, "rounds", &r.Config.Rounds)
	if d.HasArg("clients") {
		d.ScanArgs(t, "clients", &r.Config.Clients)
		r.Config.Preset, r.Config.SyncEach = "", true
	}
	if d.HasArg("nolimit") {
		r.Limit = "none: permission denied"
	}
	seen := map[string]bool{}
	var loads []workload
	for _, l := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		x := goldenResult(t, d, l)
		r.Results = append(r.Results, x)
		if w, ok := workloadNamed(x.Workload); ok && !seen[w.Name] {
			loads = append(loads, w)
		}
		seen[x.Workload], seen[x.Engine] = true, true
	}
	var list []engine
	for _, e := range goldenEngines() {
		if seen[e.Name] {
			list = append(list, e)
			r.Engines = append(r.Engines, setup{Name: e.Name, Version: "v1", Settings: []string{"as it comes"}})
		}
	}
	r.summarise(loads, list)
	return r
}

func goldenResult(t *testing.T, d *datadriven.TestData, text string) *result {
	t.Helper()
	f := strings.Fields(text)
	if len(f) < 3 {
		d.Fatalf(t, "%q: want a round, a workload and an engine", text)
	}
	x := &result{Workload: f[1], Engine: f[2]}
	x.Settled = true
	if _, err := fmt.Sscan(f[0], &x.Round); err != nil {
		d.Fatalf(t, "%q: %v", text, err)
	}
	for _, field := range f[3:] {
		name, value, _ := strings.Cut(field, "=")
		var n float64
		_, err := fmt.Sscan(value, &n)
		switch name {
		case "error":
			x.Error, err = strings.ReplaceAll(value, "_", " "), nil
		case "skipped":
			x.Skipped, err = strings.ReplaceAll(value, "_", " "), nil
		case "ops":
			x.Ops, x.Records, x.UserBytes = int64(n), int64(n), int64(n)*536
			if x.Wanted == 0 {
				x.Wanted = x.Ops
			}
		case "wanted":
			x.Wanted = int64(n)
		case "seconds":
			x.Seconds = n
		case "cpu":
			x.CPUSeconds = n
		case "p50":
			x.Latency = append(x.Latency, latency{Kind: "read", P50: n, P99: 2 * n, P999: 3 * n, Most: 4000 * n})
		case "writtenMB":
			x.Written = int64(n * 1e6)
		case "settleMB":
			x.SettleWritten, x.SettleSeconds = int64(n*1e6), 1.5
		case "unsettled":
			x.Settled, err = false, nil
		case "readMB":
			x.Read = int64(n * 1e6)
		case "touched":
			x.Touched = int64(n)
		case "spaceMB":
			x.Space = int64(n * 1e6)
		case "anonMiB":
			x.PeakAnon, x.PeakRSS, x.PeakCharge = int64(n)<<20, int64(n+10)<<20, int64(n+20)<<20
		case "kills":
			x.OOMKills = int64(n)
		case "open":
			x.OpenSeconds = n
		default:
			d.Fatalf(t, "%q: no field is called %s", text, name)
		}
		if err != nil {
			d.Fatalf(t, "%q: %v", text, err)
		}
	}
	return x
}

func TestReport(t *testing.T) {
	datadriven.RunTest(t, "testdata/report", func(t *testing.T, d *datadriven.TestData) string {
		r := goldenReport(t, d)
		switch d.Cmd {
		case "text":
			return r.render(false)
		case "markdown":
			return r.render(true)
		case "verdicts":
			var b strings.Builder
			r.targets().render(&b, false)
			return b.String()
		case "json":
			r.Results, r.Verdicts = nil, nil
			text, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return string(text) + "\n"
		}
		d.Fatalf(t, "no command is called %s", d.Cmd)
		return ""
	})
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{5, 100, 1}, 5}, {[]float64{4, 3, 2, 1}, 2.5}} {
		if got := median(c.v); got != c.want {
			t.Errorf("median of %v: %g, want %g", c.v, got, c.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.8: "1,234,568"} {
		if got := thousands(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
