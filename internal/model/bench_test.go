// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
)

// twoPhaseConfig is the corpus's configuration of TwoPhase for n resource
// managers.
func twoPhaseConfig(t testing.TB, n int) *config.Config {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("r%d", i+1))
	}
	return parseConfig(t, "TwoPhase.cfg", "CONSTANT RM = {"+strings.Join(names, ", ")+"}\nINVARIANT TPTypeOK\nSPECIFICATION TPSpec\n")
}

// BenchmarkTwoPhase reports the states generated per second by one worker, the
// checker's bookkeeping included.
func BenchmarkTwoPhase(b *testing.B) {
	path := filepath.Join(corpus(b), "transaction_commit/TwoPhase.tla")
	for _, n := range []int{6, 7, 8} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			spec := loadSpec(b, osFiles{}, path)
			var generated, distinct, bytes int64
			for b.Loop() {
				m := newModel(b, spec, twoPhaseConfig(b, n), Options{})
				r, err := check.Run(context.Background(), m, check.Options{})
				if err != nil || r.Verdict != check.OK {
					b.Fatalf("%v, %v", r, err)
				}
				generated += r.Generated
				distinct, bytes = r.Distinct, r.Bytes
			}
			b.ReportMetric(float64(generated)/b.Elapsed().Seconds(), "states/s")
			b.ReportMetric(float64(bytes)/float64(distinct), "B/state")
		})
	}
}
