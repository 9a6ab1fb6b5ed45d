// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check/live"
)

// TestDeciding: while properties of behaviours are decided, the monitor reports it;
// before that, Options.Deciding is called once, with the number of states.
func TestDeciding(t *testing.T) {
	m := &enabledModel{wideGraph(5_000, false), []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}
	var w Monitor
	told := int64(0)
	r, err := Run(context.Background(), m, Options{IgnoreDeadlock: true, Monitor: &w, Deciding: func(states int64) {
		told += states
		if d, on := w.Deciding(); !on || d != (Deciding{Of: states}) {
			t.Errorf("%+v, %t", d, on)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if d, on := w.Deciding(); told != r.Distinct || r.Live.States == 0 || on {
		t.Errorf("told of %d states of %d; afterwards %+v, %t", told, r.Distinct, d, on)
	}
	_, err = Run(context.Background(), m, Options{IgnoreDeadlock: true, SafetyOnly: true, Monitor: &w, Deciding: func(int64) { t.Error("nothing is to be decided") }})
	if err != nil {
		t.Fatal(err)
	}
}
