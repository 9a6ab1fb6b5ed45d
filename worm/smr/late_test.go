// SPDX-License-Identifier: Apache-2.0

package smr_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/smr"
)

// lateClock fires its timers some time after they are due, as on a busy machine. A Stop
// in between is too late.
type lateClock struct {
	env.Clock
	late time.Duration
}

type lateTimer struct {
	env.Timer
	begun bool
}

func (t *lateTimer) Stop() bool { return !t.begun && t.Timer.Stop() }

func (c lateClock) After(d time.Duration, w env.Waker) env.Timer {
	t := &lateTimer{}
	t.Timer = c.Clock.After(d, env.WakeFunc(func() {
		t.begun = true
		c.Clock.After(c.late, w)
	}))
	return t
}

// TestTimersThatCannotBeStopped: replicas enter segments while timers that they have
// stopped still fire.
func TestTimersThatCannotBeStopped(t *testing.T) {
	for _, leadership := range []smr.Leadership{smr.StickyLeader, smr.Turns, smr.Nobody} {
		for _, late := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 40 * time.Millisecond} {
			c := newCluster(t, ideal.Options{Seed: 3}, 3, func(o *smr.Options) {
				o.Clock = lateClock{o.Clock, late}
				o.Leadership, o.Size, o.Snapshots = leadership, 16, smr.Snapshots{Every: 2}
			})
			for i := range 120 {
				propose(t, c, c.nodes[i%3], fmt.Sprint(i, " set a ", i))
				c.w.RunUntil(time.Duration(i%11)*5*time.Millisecond, func() bool { return false })
			}
		}
	}
}
