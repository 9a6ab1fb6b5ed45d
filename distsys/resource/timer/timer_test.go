// SPDX-License-Identifier: Apache-2.0

package timer_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/timer"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpread: the time of a timer is drawn again at each start, between After and
// After + Spread, and a write of one instance restarts the timer of another.
func TestSpread(t *testing.T) {
	clock := &stillClock{}
	tm, err := timer.New(clock, env.Seeded(1), timer.Options{After: 100, Spread: 50})
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := new(distsys.Tx), new(distsys.Tx)
	due := func() bool {
		v, err := tm.Read(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.AsBool()
	}
	due() // starts it
	times := map[env.Instant]bool{}
	for range 200 {
		from := clock.now
		for !due() {
			clock.now++
		}
		times[clock.now-from] = true
		if err := tm.Write(writer, nil, value.Bool(true)); err != nil {
			t.Fatal(err)
		}
		tm.Commit(writer)
		if due() {
			t.Fatal("the timer is due right after a write")
		}
	}
	least, most := slices.Min(slices.Collect(maps.Keys(times))), slices.Max(slices.Collect(maps.Keys(times)))
	if least < 100 || most >= 150 || len(times) < 30 {
		t.Errorf("%d different times from %d to %d, want about 50 from 100 to 149", len(times), least, most)
	}
}

// stillClock is moved by hand.
type stillClock struct {
	env.Clock
	now env.Instant
}

func (c *stillClock) Now() env.Instant { return c.now }

// TestTimerWakes runs "l: while (i < 3) { await t; t := FALSE; assert ~t }".
func TestTimerWakes(t *testing.T) {
	const after = 30 * time.Millisecond
	e := osenv.New()
	tm, err := timer.New(e.Clock, nil, timer.Options{After: after})
	if err != nil {
		t.Fatal(err)
	}
	ref := distsys.NewRef("t", tm)
	arch := &distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: func(i *int, tx *distsys.Tx) (distsys.Label, error) {
		if *i == 3 {
			return distsys.Done, nil
		}
		*i++
		due, err := distsys.Read(tx, ref, distsys.Bool())
		if err != nil {
			return 0, err
		}
		if !due {
			return distsys.Blocked()
		}
		if err := tx.Write(ref, value.Bool(false)); err != nil {
			return 0, err
		}
		again, err := distsys.Read(tx, ref, distsys.Bool())
		if err != nil {
			return 0, err
		}
		return 0, tx.Assert(!again, "~t", "")
	}}}}
	in, err := distsys.New(arch, value.Int(1), 0, distsys.Options{Env: e})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	start := time.Now()
	if err := in.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 3*after {
		t.Errorf("three timeouts of %v took %v", after, took)
	}
	// Each of the three waits is one sleep; a second wake-up may come from the
	// restart of the timer.
	if m := in.Metrics(); m.Wakeups < 3 || m.Wakeups > 6 {
		t.Errorf("%d wake-ups for three timeouts", m.Wakeups)
	}
}

func TestTimerNeedsADuration(t *testing.T) {
	if _, err := timer.New(osenv.NewClock(), nil, timer.Options{}); err == nil {
		t.Error("a timer of no duration was made")
	}
}
