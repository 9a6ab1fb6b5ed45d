package check

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/check/live"
	"github.com/ashlar-dev/ashlar/sim"
)

// blindModel has no properties of behaviours, as the compiled code of a model.
type blindModel struct{ DurableModel }

// TestLooksOfAnother: a search that begins with its own looks, goes on where it has no
// properties and asks, and comes to its end here again, finds what one search finds.
func TestLooksOfAnother(t *testing.T) {
	g := wideGraph(8_000, true)
	g.bad = make([]bool, len(g.bad))
	g.bad[7_999] = true
	m := orderModel{&enabledModel{g, []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}}
	for _, goOn := range []bool{true, false} {
		for _, leaveAt := range []int{1, 40, 60} {
			whole := Options{IgnoreDeadlock: true, Continue: goOn, Periodic: true}
			want := mustRun(t, m, whole)
			o := whole
			o.Disk = newTestDisk(sim.NewDisk())
			looks := NewLooks(context.Background(), m, o)
			o.Looks = looks
			parts := 0
			part := func(m Model, o Options, resume bool) *Result {
				polls := 0
				o.Checkpoint = &Checkpoint{Resume: resume, Stay: true, Leave: func() bool { polls++; return polls == leaveAt }}
				r, err := Run(context.Background(), m, o)
				if err != nil && !errors.Is(err, ErrLeft) {
					t.Fatal(err)
				}
				if r == nil {
					parts++
				}
				return r
			}
			r := part(m, o, false)
			if r == nil {
				other := o
				other.Looks, other.Ask = nil, looks.At
				if r = part(blindModel{m}, other, true); r == nil {
					if err := looks.Forget(); err != nil {
						t.Fatal(err)
					}
					for r == nil {
						r = part(m, o, true)
					}
				} else if err := Behaviours(context.Background(), m, o, r); err != nil {
					t.Fatal(err)
				}
			}
			if leaveAt == 1 && parts < 2 {
				t.Errorf("left %d times", parts)
			}
			if diff := cmp.Diff(outcomeOf(want), outcomeOf(r)); diff != "" || r.Live.Looks != want.Live.Looks {
				t.Errorf("continue %t, left after %d: %d looks, want %d (-at once +in parts):\n%s", goOn, leaveAt, r.Live.Looks, want.Live.Looks, diff)
			}
			if diff := cmp.Diff(want.Violations, r.Violations); diff != "" {
				t.Errorf("continue %t, left after %d (-at once +in parts):\n%s", goOn, leaveAt, diff)
			}
			if err := looks.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLooksThatFail: an answer that is none ends the search with an error, and so does
// one that failed.
func TestLooksThatFail(t *testing.T) {
	m := blindModel{wideGraph(8_000, false)}
	wrong := errors.New("no answer")
	for _, c := range []struct {
		answer Looked
		err    error
	}{{Looked{}, wrong}, {Looked{}, nil}, {Looked{Kept: []byte("{")}, nil}} {
		r, err := Run(context.Background(), m, Options{IgnoreDeadlock: true, Ask: func(Look) (Looked, error) { return c.answer, c.err }})
		if err == nil || c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
}
