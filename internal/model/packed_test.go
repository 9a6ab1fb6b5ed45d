// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

func never() bool { return false }

// packedModel is a model with packed states, whatever they are worth. The layout
// is guessed from few states, so that others have none.
func packedModel(t testing.TB, m *Model, states int) *Model {
	t.Helper()
	if ok, why := m.pack(packOptions{states: states, always: true, stop: never}); !ok && strings.Contains(why, "a fault of the lowering") {
		t.Error(why)
	}
	return m
}

// TestPackedAgreesOnTheCorpus compares packed code with the compiled evaluator.
func TestPackedAgreesOnTheCorpus(t *testing.T) {
	const states = 300
	packed, visited := 0, 0
	for _, row := range corpusModels(t) {
		if row.seconds == 0 || strings.Contains(row.cfg, "Random") || corpusLong[filepath.Base(row.cfg)] {
			continue
		}
		t.Run(filepath.Base(row.cfg), func(t *testing.T) {
			for _, sample := range []int{3, 300} {
				spec, cfg := loadFiles(t, row.module, row.cfg)
				m := packedModel(t, newModel(t, spec, cfg, Options{}), sample)
				if m.packed == nil {
					continue
				}
				packed++
				visited += compareModels(t, m, newModel(t, spec, cfg, Options{}), states)
			}
		})
	}
	t.Logf("%d models packed, %d states expanded", packed, visited)
	if packed < 50 {
		t.Errorf("%d models were packed, there are more", packed)
	}
}

// TestPackedTimes prints the CPU time of every model with and without packed
// states, and compares the counts; it is for reading.
func TestPackedTimes(t *testing.T) {
	want := os.Getenv("ASHLAR_PACKED_TIMES")
	if want == "" {
		t.Skip("it takes long and prints a report; set ASHLAR_PACKED_TIMES to the least seconds of TLC")
	}
	least := 0.0
	fmt.Sscan(want, &least)
	only := os.Getenv("ASHLAR_MODEL")
	for _, row := range corpusModels(t) {
		if row.seconds < least || row.tlcDistinct < 0 || corpusRandom[filepath.Base(row.cfg)] || !strings.Contains(row.cfg, only) {
			continue
		}
		var seconds [2]float64
		var text [2]string
		note := ""
		for i := range seconds {
			spec, cfg := loadFiles(t, row.module, row.cfg)
			m := newModel(t, spec, cfg, Options{Seed: 1})
			runtime.GC()
			begin := cpuSeconds()
			if i == 1 {
				if ok, why := m.Pack(never); !ok {
					note = why
				}
			}
			r, err := check.Run(context.Background(), m, check.Options{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			seconds[i] = cpuSeconds() - begin
			text[i] = fmt.Sprintf("%v %d/%d/%d", r.Verdict, r.Generated, r.Distinct, r.Depth)
		}
		if text[0] != text[1] {
			t.Errorf("%s: %s, packed %s", filepath.Base(row.cfg), text[0], text[1])
		}
		fmt.Printf("%-34s TLC %6.1f  plain %7.2f x%6.1f  packed %7.2f x%6.1f  %s %s\n", filepath.Base(row.cfg), row.seconds,
			seconds[0], row.seconds/seconds[0], seconds[1], row.seconds/seconds[1], text[0], note)
	}
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkPacked reports the states generated per second by one worker on packed
// states, of the clock and of the processor; BenchmarkTwoPhase is without packing.
func BenchmarkPacked(b *testing.B) {
	path := filepath.Join(corpus(b), "transaction_commit/TwoPhase.tla")
	for _, n := range []int{7, 8} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			spec := loadSpec(b, osFiles{}, path)
			var generated int64
			before := cpuSeconds()
			for b.Loop() {
				m := newModel(b, spec, twoPhaseConfig(b, n), Options{})
				if ok, why := m.Pack(never); !ok {
					b.Fatal(why)
				}
				r, err := check.Run(context.Background(), m, check.Options{})
				if err != nil || r.Verdict != check.OK {
					b.Fatalf("%v, %v", r, err)
				}
				if n == 8 && (r.Generated != 18_507_778 || r.Distinct != 1_745_408 || r.Depth != 26) {
					b.Fatalf("%d generated, %d distinct, depth %d", r.Generated, r.Distinct, r.Depth)
				}
				generated += r.Generated
			}
			b.ReportMetric(float64(generated)/b.Elapsed().Seconds(), "states/s")
			b.ReportMetric(float64(generated)/(cpuSeconds()-before), "states/CPU-s")
		})
	}
}

// TestPackedExplain tells of every model of the corpus whether it is packed, and
// what is not lowered; it is for reading.
func TestPackedExplain(t *testing.T) {
	want := os.Getenv("ASHLAR_PACKED")
	if want == "" {
		t.Skip("it prints a report; set ASHLAR_PACKED to the least seconds of TLC")
	}
	least := 0.0
	fmt.Sscan(want, &least)
	for _, row := range corpusModels(t) {
		if row.seconds < least || row.tlcDistinct < 0 {
			continue
		}
		spec, cfg := loadFiles(t, row.module, row.cfg)
		m := newModel(t, spec, cfg, Options{Seed: 1})
		ok, why := m.Pack(never)
		fmt.Println(filepath.Base(row.cfg), ok, why)
		if m.packed != nil {
			hopeless := 0
			for _, n := range m.packed.preds {
				if n < 0 {
					hopeless++
				}
			}
			fmt.Println("   words", m.packed.layout.Words(), "formulas", len(m.formulas), "not lowered", hopeless, m.packed.lowered.Why)
		}
	}
}
