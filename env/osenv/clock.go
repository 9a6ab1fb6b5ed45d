// SPDX-License-Identifier: Apache-2.0

package osenv

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// clock is the machine's clock. Instants count from its creation.
type clock struct{ start time.Time }

// NewClock returns the machine's clock, at instant 0.
func NewClock() env.Clock { return clock{time.Now()} }

func (c clock) Now() env.Instant { return env.Instant(time.Since(c.start)) }
func (c clock) Wall() time.Time  { return time.Now() }

func (c clock) After(d time.Duration, w env.Waker) env.Timer {
	return time.AfterFunc(d, w.Wake)
}
