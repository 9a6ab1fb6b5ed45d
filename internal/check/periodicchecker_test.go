// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/sim"
)

// blindModel has no properties of behaviours, like the compiled code of a model.
type blindModel struct{ Model }

func (m blindModel) Capabilities() ModelCapabilities {
	return ModelCapabilities{Durable: m.Model.Capabilities().Durable}
}

// TestCheckerOfAnother: a search that begins with its own checks, continues in a process
// without properties that asks for checks, and ends in the first process again, finds
// what one search finds.
func TestCheckerOfAnother(t *testing.T) {
	g := wideGraph(8_000, true)
	g.bad = make([]bool, len(g.bad))
	g.bad[7_999] = true
	m := orderModel{&enabledModel{g, []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}}
	for _, goOn := range []bool{true, false} {
		// The numbers of segments after which to leave, here and there; 0 means never.
		for _, leaveAt := range [][2]int{{1, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 0}, {3, 0}, {3, 2}} {
			whole := Options{IgnoreDeadlock: true, Continue: goOn, Periodic: true}
			want := mustRun(t, m, whole)
			o := whole
			o.Disk = newTestDisk(sim.NewDisk())
			checker := NewPeriodicChecker(context.Background(), m, o)
			o.Checker = checker
			asked := 0
			part := func(m Model, o Options, resume bool, after int) *Result {
				polls := 0
				o.Checkpoint = &Checkpoint{Resume: resume, Stay: true, Leave: func() bool { polls++; return polls == after }}
				r, err := Run(context.Background(), m, o)
				if err != nil && !errors.Is(err, ErrLeft) {
					t.Fatal(err)
				}
				return r
			}
			r := part(m, o, false, leaveAt[0])
			if r == nil {
				other := o
				other.Checker, other.Ask = nil, func(at PeriodicQuery) (PeriodicAnswer, error) { asked++; return checker.Check(at) }
				if r = part(blindModel{m}, other, true, leaveAt[1]); r == nil {
					if err := checker.Forget(); err != nil {
						t.Fatal(err)
					}
					r = part(m, o, true, 0)
				} else if err := Behaviours(context.Background(), m, o, r); err != nil {
					t.Fatal(err)
				}
			}
			if leaveAt == [2]int{1, 0} && asked != want.Live.Checks {
				t.Errorf("asked %d times, want %d", asked, want.Live.Checks)
			}
			if diff := cmp.Diff(outcomeOf(want), outcomeOf(r)); diff != "" || r.Live.Checks != want.Live.Checks {
				t.Errorf("continue %t, left after %v: %d checks, want %d (-at once +in parts):\n%s", goOn, leaveAt, r.Live.Checks, want.Live.Checks, diff)
			}
			if diff := cmp.Diff(want.Violations, r.Violations); diff != "" {
				t.Errorf("continue %t, left after %v (-at once +in parts):\n%s", goOn, leaveAt, diff)
			}
			if err := checker.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestChecksThatFail: an invalid answer ends the search with an error, and so does a
// failed check.
func TestChecksThatFail(t *testing.T) {
	m := blindModel{wideGraph(8_000, false)}
	wrong := errors.New("no answer")
	for _, c := range []struct {
		answer PeriodicAnswer
		err    error
	}{{PeriodicAnswer{}, wrong}, {PeriodicAnswer{}, nil}, {PeriodicAnswer{Kept: []byte("{")}, nil}} {
		r, err := Run(context.Background(), m, Options{IgnoreDeadlock: true, Ask: func(PeriodicQuery) (PeriodicAnswer, error) { return c.answer, c.err }})
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
}
