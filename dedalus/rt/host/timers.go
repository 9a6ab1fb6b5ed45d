// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// timers holds the timers of the program: those that have fired and those that are
// running. No other lock is taken while its lock is held.
type timers struct {
	mu      sync.Mutex
	fired   []bool
	running []env.Timer
	stopped bool
}

// timerMin is the shortest timeout. A shorter one would make the host tick in a
// busy loop.
const timerMin = 100 * time.Microsecond

// start starts timer i, which fires after d and then calls wake.
func (t *timers) start(clock env.Clock, i int, d time.Duration, wake func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	t.running[i] = clock.After(max(d, timerMin), env.WakeFunc(func() {
		t.mu.Lock()
		t.fired[i] = true
		t.mu.Unlock()
		wake()
	}))
}

// take appends to dst the timers that have fired since the last call.
func (t *timers) take(dst []int) []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, f := range t.fired {
		if f {
			dst = append(dst, i)
			t.fired[i] = false
		}
	}
	return dst
}

// stop stops all timers permanently.
func (t *timers) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for _, timer := range t.running {
		if timer != nil {
			timer.Stop()
		}
	}
}
