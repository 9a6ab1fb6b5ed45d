// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/env"
)

// TestWheel: an entry of a wheel fires once, never early, at most one tick late while its
// timer is served, and not after it was removed.
func TestWheel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &handClock{now: env.Instant(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "start"))}
		var w *wheel
		w = newWheel(clock, env.WakeFunc(func() { w.turn() }))
		type item struct {
			entry
			fired, out bool
			want       env.Instant
		}
		var items []*item
		add := func(d time.Duration) {
			x := &item{want: clock.now.Add(d)}
			x.due = func() {
				if x.fired || x.out || clock.now < x.want || clock.now.Sub(max(x.want, 0)) > 2*wheelTick {
					t.Fatalf("at %v: fired before %v, taken out %v, due at %v", clock.now, x.fired, x.out, x.want)
				}
				x.fired = true
				if d%7 == 0 && len(items) < 200 { // one that adds another
					y := &item{want: clock.now.Add(d / 2)}
					y.due = func() { y.fired = true }
					items = append(items, y)
					w.add(&y.entry, y.want)
				}
			}
			items = append(items, x)
			w.add(&x.entry, x.want)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				add(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "in")))
			case 2:
				if len(items) > 0 {
					x := items[rapid.IntRange(0, len(items)-1).Draw(t, "which")]
					w.remove(&x.entry)
					w.remove(&x.entry)
					x.out = !x.fired
				}
			case 3:
				clock.advance(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "wait")))
			}
		}
		clock.advance(10 * time.Second)
		for _, x := range items {
			if x.fired == x.out {
				t.Fatalf("due at %v: fired %v, taken out %v", x.want, x.fired, x.out)
			}
		}
		if w.count != 0 || len(clock.timers) != 0 {
			t.Fatalf("%d are left, %d timers", w.count, len(clock.timers))
		}
	})
}
