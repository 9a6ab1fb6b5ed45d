// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/check"
)

// corpusModel is a row of the corpus's table. Counts are -1 where the table
// has none.
type corpusModel struct {
	module, cfg, result                     string
	distinct, generated, depth              int64
	tlcDistinct, tlcGenerated, tlcDepth, rc int64
	seconds                                 float64
}

func corpusModels(t testing.TB) []corpusModel {
	dir := corpus(t)
	text, err := os.ReadFile(filepath.Join(dir, "models.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	var out []corpusModel
	for _, line := range strings.Split(string(text), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) < 13 || f[2] != "exhaustive search" {
			continue
		}
		seconds, _ := strconv.ParseFloat(f[12], 64)
		out = append(out, corpusModel{
			module: filepath.Join(dir, f[0]), cfg: filepath.Join(dir, f[1]), result: f[6],
			distinct: number(f[3]), generated: number(f[4]), depth: number(f[5]),
			tlcGenerated: number(f[8]), tlcDistinct: number(f[9]), tlcDepth: number(f[10]), rc: number(f[11]), seconds: seconds,
		})
	}
	return out
}

// corpusLong are the models that take more than two seconds or so; they run
// where ASHLAR_CORPUS is set ("make corpus").
var corpusLong = map[string]bool{
	"CoffeeCan1000Beans.cfg":          true,
	"GameOfLife.cfg":                  true,
	"MCReachabilityTestAllGraphs.cfg": true,
	"MCReachable.cfg":                 true,
	"MultiPaxos_MC_small.cfg":         true,
	"MCPaxosSmall.cfg":                true,
	"PaxosCommit.cfg":                 true,
}

// corpusRandom are the models whose states depend on RandomElement.
var corpusRandom = map[string]bool{"SpanTreeRandom.cfg": true}

// TestCorpusCounts checks every model of the corpus that has recorded counts:
// states generated, distinct states and depth must be those of a search by one
// worker of TLC, and nothing that a model asks for may be left unchecked,
// properties of behaviours included.
func TestCorpusCounts(t *testing.T) {
	long := os.Getenv("ASHLAR_CORPUS") != ""
	counted, exact := 0, 0
	var beside []besideTLC
	for _, row := range corpusModels(t) {
		if row.tlcDistinct < 0 {
			continue // TLC did not finish: there is nothing to compare with
		}
		counted++
		t.Run(filepath.Base(row.cfg), func(t *testing.T) {
			if corpusLong[filepath.Base(row.cfg)] && !long {
				t.Skip("takes long; set ASHLAR_CORPUS to run it")
			}
			spec, cfg := loadFiles(t, row.module, row.cfg)
			m := newModel(t, spec, cfg, Options{Seed: 1})
			r, err := check.Run(context.Background(), m, check.Options{Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := r.Verdict, corpusVerdict(row); got != want {
				t.Fatalf("verdict %v, want %v: %s %v", got, want, r.Reason, r.Err)
			}
			if corpusRandom[filepath.Base(row.cfg)] {
				return
			}
			got := fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
			want := fmt.Sprintf("%d generated, %d distinct, depth %d", row.tlcGenerated, row.tlcDistinct, row.tlcDepth)
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if row.distinct >= 0 && r.Distinct != row.distinct {
				t.Errorf("%d distinct, want %d as its author says", r.Distinct, row.distinct)
			}
			if long {
				beside = append(beside, packedCorpus(t, row, want))
				// Within next to no memory the figures are the same.
				disk, err := osenv.OpenDisk(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				defer disk.Close()
				again, err := check.Run(context.Background(), newModel(t, spec, cfg, Options{Seed: 1}), check.Options{Workers: 2, SafetyOnly: true, MemoryBytes: 1 << 20, Disk: disk})
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%d generated, %d distinct, depth %d", again.Generated, again.Distinct, again.Depth); got != want && r.Verdict != check.LivenessViolated {
					t.Errorf("within 1 MB: %s, want %s", got, want)
				}
			}
			exact++
		})
	}
	t.Logf("%d of %d models with counts were compared", exact, counted)
	if long {
		tellBeside(t, beside)
	}
}

// besideTLC is what a model took, in seconds of the processor.
type besideTLC struct {
	name      string
	ours, tlc float64
	note      string // why its states are not packed
}

// packedCorpus searches a model as the command does, with one worker and states
// packed where that is possible, and compares its figures.
func packedCorpus(t *testing.T, row corpusModel, want string) besideTLC {
	begin := cpuSeconds()
	spec, cfg := loadFiles(t, row.module, row.cfg)
	m := newModel(t, spec, cfg, Options{Seed: 1})
	out := besideTLC{name: filepath.Base(row.cfg), tlc: row.seconds}
	if packed, why := m.Pack(never); !packed {
		out.note = why
	}
	r, err := check.Run(context.Background(), m, check.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	out.ours = cpuSeconds() - begin
	if got := fmt.Sprintf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth); got != want || r.Verdict != corpusVerdict(row) {
		t.Errorf("packed: %v, %s, want %v, %s", r.Verdict, got, corpusVerdict(row), want)
	}
	return out
}

// tellBeside prints what models took beside what TLC took, and the median of those
// on which TLC takes more than five seconds.
func tellBeside(t *testing.T, all []besideTLC) {
	slices.SortFunc(all, func(a, b besideTLC) int { return cmp.Compare(a.tlc/a.ours, b.tlc/b.ours) })
	var long []float64
	for _, b := range all {
		t.Logf("%-36s %8.2f CPU s, TLC %7.1f, %6.1fx %s", b.name, b.ours, b.tlc, b.tlc/b.ours, b.note)
		if b.tlc > 5 {
			long = append(long, b.tlc/b.ours)
		}
	}
	if len(long) > 0 {
		t.Logf("median of %d models on which TLC takes more than 5 s: %.1fx, least %.1fx", len(long), long[len(long)/2], long[0])
	}
}

// corpusVerdict is what the checker must find.
func corpusVerdict(row corpusModel) check.Verdict {
	switch row.result {
	case "safety failure":
		return check.InvariantViolated
	case "liveness failure":
		return check.LivenessViolated
	}
	return check.OK
}
