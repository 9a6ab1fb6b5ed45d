// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/internal/check"
)

// judged are cells with initial states and an invariant of their own.
type judged struct {
	cells
	first  []State
	broken func(check.State) bool
}

func (j judged) Init() ([]State, error) { return slices.Clone(j.first), nil }

func (j judged) Broken(s State) (*Invariant, error) {
	if j.broken != nil && j.broken(s.(check.State)) {
		return &Invariant{Name: "Kept"}, nil
	}
	return nil, nil
}

// Hidden writes a 0 or a 1 after the cells.
func (j judged) Hidden(s State, _ []int, yield func(State) error) error {
	for b := range byte(2) {
		if err := yield(append(check.State(nil), append(s.(check.State), b)...)); err != nil {
			return err
		}
	}
	return nil
}

// section is a log with one section.
func section(self int, accesses ...tracelog.Element) *written {
	l := newWritten("P", self)
	l.events = []tracelog.Event{{N: 1, Label: "l", Next: "l", Elements: accesses, Clock: tracelog.Clock(nil).With(l.Actor(), 1)}}
	return l
}

func cell(op string, i, v int) tracelog.Element {
	return tracelog.Element{Op: op, Name: "c", Indices: []string{fmt.Sprint(i)}, Value: fmt.Sprint(v)}
}

// TestViolationsOfAllOrders: one of two orders breaks an invariant, and both lead to the same
// state. The searches that try both orders find it every time.
func TestViolationsOfAllOrders(t *testing.T) {
	spec := judged{cells{n: 2}, []State{check.State{0, 0}}, func(s check.State) bool { return s[0] == 2 && s[1] == 0 }}
	logs := []*written{section(0, cell(tracelog.Write, 0, 2), cell(tracelog.Write, 1, 1)), section(1, cell(tracelog.Write, 0, 2))}
	for range 30 {
		r, err := Check(context.Background(), spec, asLogs(t, logs), Options{AllOrders: true})
		if err != nil || r.Verdict != Violated {
			t.Fatalf("all orders: %v, %v", r, err)
		}
		levels := &byLevels{}
		r, err = Options{}.check(context.Background(), spec, asLogs(t, logs), &levels.search, false, levels.run)
		if err != nil || r.Verdict != Violated {
			t.Fatalf("by levels: %v, %v", r, err)
		}
	}
}

// TestViolationsOfInitialStates: an initial state that breaks an invariant counts if the logs can
// begin there, and only then. Without an initial state nothing is a behaviour.
func TestViolationsOfInitialStates(t *testing.T) {
	zero, one := check.State{0}, check.State{1}
	for read, want := range []Verdict{Accepted, Violated, Rejected} {
		for _, first := range [][]State{{zero, one}, {one, zero}, nil} {
			if first == nil {
				want = Rejected
			}
			spec := judged{cells{n: 1}, first, func(s check.State) bool { return s[0] == 1 }}
			for _, all := range []bool{false, true} {
				r, err := Check(context.Background(), spec, asLogs(t, []*written{section(0, cell(tracelog.Read, 0, read))}), Options{AllOrders: all})
				if err != nil || r.Verdict != want {
					t.Errorf("%v, all orders %v, reads %d: %v, %v; want %v", first, all, read, r, err, want)
				}
			}
		}
	}
}

// counting is a cell that a process without a log counts up to a limit, and then back
// to 0.
type counting struct {
	cells
	limit byte
}

func (c counting) Hidden(s State, _ []int, yield func(State) error) error {
	return yield(check.State{(s.(check.State)[0] + 1) % (c.limit + 1)})
}

// TestManyHiddenSteps: more steps of a process without a log than the first search tries
// may be between two sections. If they explain what was read, the logs are accepted, and
// rejected only if all of them were tried.
func TestManyHiddenSteps(t *testing.T) {
	logs := []*written{section(0, cell(tracelog.Read, 0, 3*hiddenDepthMax))}
	for _, c := range []struct {
		limit  byte
		width  int
		want   Verdict
		gaveUp string
	}{
		{3 * hiddenDepthMax, 0, Accepted, ""},
		{3*hiddenDepthMax - 1, 0, Rejected, ""},
		{3*hiddenDepthMax - 1, 100, Undecided, "more than 100 states; it needs their traces"},
	} {
		r, err := Check(context.Background(), counting{cells{n: 1}, c.limit}, asLogs(t, logs), Options{Hidden: true, Width: c.width})
		if err != nil || r.Verdict != c.want || !strings.Contains(r.GaveUp, c.gaveUp) {
			t.Errorf("%+v: %v, %v", c, r, err)
		}
	}
}

// TestHiddenStepsAreBounded: the steps of processes without a log between two sections are
// unbounded. The search by levels gives up at either of its limits.
func TestHiddenStepsAreBounded(t *testing.T) {
	spec := judged{cells: cells{n: 1}, first: []State{check.State{0}}}
	for _, o := range []Options{{Hidden: true, StepsMax: 1000}, {Hidden: true, Width: 1000}} {
		levels := &byLevels{}
		r, err := o.check(context.Background(), spec, asLogs(t, []*written{section(0, cell(tracelog.Read, 0, 7))}), &levels.search, false, levels.run)
		if err != nil || r.Verdict != Undecided || r.Entered > 3000 {
			t.Errorf("%+v: %v, %v", o, r, err)
		}
	}
}
