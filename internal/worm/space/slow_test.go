// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestSlowServersAreNotFlooded makes fast servers slow, by a factor of hundreds: answers take
// longer than any request waited before. After a few operations a client has learned that,
// and sends each request about once: a client that sent it again and again would make slow
// servers slower.
func TestSlowServersAreNotFlooded(t *testing.T) {
	for _, delay := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond} {
		l := newLab(t, 1, 1, 3)
		a := l.client()
		if _, err := a.alloc(1, wor.Meta{Size: 1000}); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(100) {
			is(t, a.propose(at(1, i), "x"), nil)
		}
		l.fixed = delay
		count := func(from, past uint32) (perOp float64) {
			before := l.sent[wor.KindWrite] + l.sent[wor.KindCapture]
			for i := from; i < past; i++ {
				is(t, a.propose(at(1, i), "x"), nil)
			}
			return float64(l.sent[wor.KindWrite]+l.sent[wor.KindCapture]-before) / float64(past-from)
		}
		first, later := count(100, 120), count(120, 140)
		t.Logf("delay %v: %.1f requests for each of the first operations, %.1f for each later one", delay, first, later)
		if later > 6 { // a capture and a write at three servers
			t.Errorf("delay %v: %.1f requests for each operation, want 6", delay, later)
		}
	}
}
