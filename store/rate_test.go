// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// still is a clock that only advances to the end of each wait.
type still struct{ now env.Instant }

func (c *still) Now() env.Instant { return c.now }

func (c *still) Wall() time.Time { return time.Unix(0, 0) }

func (c *still) After(d time.Duration, w env.Waker) env.Timer {
	c.now = c.now.Add(d)
	go w.Wake()
	return nil
}

// TestNoLimitIsNotCounted: later merges do not make up for the bytes that merges write
// without a limit while the disk is full; they do for bytes written while other limits
// change.
func TestNoLimitIsNotCounted(t *testing.T) {
	c := &still{}
	var r rate
	r.init(c)
	r.set(1000)
	spend := func(n int64, full bool) time.Duration {
		start := c.now
		r.spend(n, func() bool { return full })
		return c.now.Sub(start)
	}
	if took := spend(60_000, true); took != 0 {
		t.Errorf("on a full disk a merge waits for %v", took)
	}
	if took := spend(1000, false); took < 900*time.Millisecond || took > time.Second {
		t.Errorf("when the disk has room 1000 bytes take %v, want a second less the credit", took)
	}
	_, sets := r.take(5000)
	r.set(1000) // other limits have changed
	if !r.isNow(sets) {
		t.Error("the same bound is a new one")
	}
	if took := spend(1000, false); took < 5900*time.Millisecond {
		t.Errorf("1000 bytes behind 5000 take %v, want six seconds", took)
	}
}
