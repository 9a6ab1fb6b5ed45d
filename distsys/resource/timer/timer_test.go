// SPDX-License-Identifier: Apache-2.0

package timer_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/timer"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTimerWakes runs "l: while (i < 3) { await t; t := FALSE; assert ~t }".
func TestTimerWakes(t *testing.T) {
	const after = 30 * time.Millisecond
	e := osenv.New()
	tm, err := timer.New(e.Clock, after)
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
	if _, err := timer.New(osenv.NewClock(), 0); err == nil {
		t.Error("a timer of no duration was made")
	}
}
