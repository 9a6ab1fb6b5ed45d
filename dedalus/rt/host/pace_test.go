// SPDX-License-Identifier: Apache-2.0

package host

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// TestPace: ticks that take long take fewer messages; those that do not take as many as
// they may, and what a disk needs or a rest between two ticks changes nothing.
func TestPace(t *testing.T) {
	const most = 1000
	p, now := pace{}, env.Instant(0)
	step := func(d, disk time.Duration, took int, goes bool) int {
		p.disk, p.goes = disk, goes
		now = now.Add(d)
		p.next(now, took, most)
		return p.most
	}
	p.next(now, 0, most)
	for i, s := range []struct {
		d, disk time.Duration
		took    int
		goes    bool
		want    int
	}{
		{tickWithin, 0, most, true, most},
		{2 * tickWithin, 0, most, true, most / 2},
		{3 * tickWithin, 3 * tickWithin, 0, true, most / 2}, // it was the disk
		{time.Hour, 0, most, false, most / 2},               // it had nothing to do
		{2 * tickWithin, 0, most / 2, true, most / 4},
		{time.Hour, 0, most / 4, true, most / 8},
		{time.Hour, 0, most / 8, true, tickMessagesMin},
		{time.Hour, 0, tickMessagesMin, true, tickMessagesMin},
		{tickWithin / 4, 0, tickMessagesMin - 1, true, tickMessagesMin}, // it took all that there was
		{tickWithin / 4, 0, tickMessagesMin, true, 2 * tickMessagesMin},
		{tickWithin / 4, 0, 2 * tickMessagesMin, true, 4 * tickMessagesMin},
		{tickWithin / 4, 0, most, true, 8 * tickMessagesMin},
		{tickWithin / 4, 0, most, true, most},
	} {
		if got := step(s.d, s.disk, s.took, s.goes); got != s.want {
			t.Errorf("step %d: %d messages at most, want %d", i, got, s.want)
		}
	}
}
