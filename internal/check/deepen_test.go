// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustDeepen(t interface{ Fatal(...any) }, m Model, o DeepenOptions) *Deepening {
	d, err := Deepen(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// roundOf is the round in which a search by depth finds what Run has found: the
// successors of the last state of a deadlock are computed in the one after.
func roundOf(r *Result) int {
	if r.Verdict == Deadlock {
		return len(r.Trace) + 1
	}
	return len(r.Trace)
}

// compareDeepened compares a deepening with the breadth-first search.
func compareDeepened(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, m Model, o DeepenOptions) {
	want, err := Run(context.Background(), m, Options{SafetyOnly: o.SafetyOnly})
	if err != nil {
		t.Fatal(err)
	}
	got := mustDeepen(t, m, o)
	if got.Rounds > o.Depth {
		t.Fatalf("%d rounds to a depth of %d", got.Rounds, o.Depth)
	}
	found := len(want.Trace) > 0
	switch {
	case found && roundOf(want) <= o.Depth:
		if diff := cmp.Diff(want.Violation, got.Violation); diff != "" {
			t.Fatalf("the violation (-breadth first +deepened):\n%s", diff)
		}
		if got.Rounds != roundOf(want) || got.Complete {
			t.Fatalf("round %d of %d, complete %v", got.Rounds, roundOf(want), got.Complete)
		}
	case got.Verdict == OK:
		if found || !got.Complete || got.Queue != 0 {
			t.Fatalf("%v at depth %d, and Run: %v after %d states", got.Verdict, o.Depth, want.Verdict, len(want.Trace))
		}
		if diff := cmp.Diff(outcomeOf(want), outcomeOf(&got.Result)); diff != "" && got.Forgotten == 0 {
			t.Fatalf("figures (-breadth first +deepened):\n%s", diff)
		}
	case got.Verdict == Incomplete:
		if got.Complete || got.Queue == 0 || got.Reason == "" || got.Rounds != o.Depth {
			t.Fatalf("incomplete: %+v", got)
		}
		if !found && got.Forgotten == 0 && want.Depth < o.Depth {
			t.Fatalf("a space of depth %d was not seen to end within %d", want.Depth, o.Depth)
		}
	default:
		t.Fatalf("%v at depth %d, and Run: %v after %d states", got.Verdict, o.Depth, want.Verdict, len(want.Trace))
	}
}

// TestDeepenAgainstRun: the verdict, the trace and, if everything was visited,
// every figure are those of the breadth-first search, with a table that has
// room for all states and with one that forgets.
func TestDeepenAgainstRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		depth := rapid.SampledFrom([]int{1, 2, 3, 5, 125}).Draw(t, "depth")
		compareDeepened(t, g, DeepenOptions{Depth: depth, TableStates: 1 << 12})
		compareDeepened(t, g, DeepenOptions{Depth: min(depth, 5), TableStates: 1})
		// Nodes with one key are one, represented by the first that is met.
		g.key = rapid.IntRange(1, 40).Draw(t, "key")
		compareDeepened(t, g, DeepenOptions{Depth: depth, TableStates: 1 << 12})
	})
}

// TestDeepenEndsWithinItsTable: a deepening visits all of a graph with cycles,
// although a table without room could make it loop forever.
func TestDeepenEndsWithinItsTable(t *testing.T) {
	g := chain(300)
	g.edges[299] = []edge{{to: 0}}
	g.deadlock = true
	d := mustDeepen(t, g, DeepenOptions{Depth: DeepenDepthMax, TableStates: 1 << 10})
	if d.Verdict != OK || !d.Complete || d.Depth != 300 || d.Rounds != 301 || d.Distinct != 300 || d.Forgotten != 0 {
		t.Fatalf("%+v", d)
	}
	if d = mustDeepen(t, g, DeepenOptions{Depth: 300, TableStates: 1 << 10}); d.Verdict != Incomplete || d.Queue != 1 {
		t.Fatalf("%+v", d)
	}
}

// tree is the infinite binary tree; its state is a node's number.
type tree struct{ bad int }

func (m tree) Info() Info {
	return Info{Name: "tree", Actions: []Action{{Name: "Left"}, {Name: "Right"}}, Invariants: []string{"Good"}}
}
func (m tree) NewWorker() Worker               { return &treeWorker{bad: m.bad} }
func (m tree) Capabilities() ModelCapabilities { return ModelCapabilities{} }
func (m tree) Show(s State) []Binding {
	return []Binding{{Name: "n", Value: fmt.Sprint(decodeNode(s))}}
}

type treeWorker struct{ bad, node int }

func (w *treeWorker) Assumptions() ([]string, error) { return nil, nil }
func (w *treeWorker) Init(visit Visit) error         { w.node = 1; return visit(rootAction, encodeNode(1)) }
func (w *treeWorker) InModel() (bool, error)         { return true, nil }
func (w *treeWorker) Capabilities() Capabilities     { return Capabilities{} }
func (w *treeWorker) BrokenStep() (int, error)       { return -1, nil }
func (w *treeWorker) Next(s State, visit Visit) error {
	n := decodeNode(s)
	for a := range 2 {
		w.node = 2*n + a
		if err := visit(a, encodeNode(w.node)); err != nil {
			return err
		}
	}
	return nil
}
func (w *treeWorker) BrokenInvariant() (int, error) {
	if w.node == w.bad {
		return 0, nil
	}
	return -1, nil
}

// TestDeepenMemory: 2^17 states take no more memory than the table and one
// path, whereas a breadth-first search holds them all.
func TestDeepenMemory(t *testing.T) {
	const depth, entries = 17, 256
	d := mustDeepen(t, tree{}, DeepenOptions{Depth: depth, TableStates: entries})
	if d.Verdict != Incomplete || d.Queue != 1<<(depth-1) || d.Distinct != 1<<depth-1 || d.Depth != depth {
		t.Fatalf("%v: %d states, %d wait, depth %d", d.Verdict, d.Distinct, d.Queue, d.Depth)
	}
	// A state has at most 10 bytes, and takes two more while it waits.
	if most := int64(entries*depthsSlotBytes + depth*(10+2*12)*4); d.Bytes > most {
		t.Errorf("%d bytes, want at most %d", d.Bytes, most)
	}
	if d.Forgotten == 0 {
		t.Error("nothing was forgotten")
	}
	d = mustDeepen(t, tree{bad: 1<<14 + 77}, DeepenOptions{Depth: depth, TableStates: entries})
	if d.Verdict != InvariantViolated || len(d.Trace) != 15 || d.Trace[14].Values[0].Value != fmt.Sprint(1<<14+77) {
		t.Errorf("%v after %d states", d.Verdict, len(d.Trace))
	}
}

// TestDeepenEndings: assumptions, expressions without value, no initial state,
// and ends imposed from outside.
func TestDeepenEndings(t *testing.T) {
	g := chain(4)
	g.assume = []string{"Odd"}
	if d := mustDeepen(t, g, DeepenOptions{Depth: 3}); d.Verdict != AssumptionFalse || d.Broken[0] != "Odd" {
		t.Errorf("%v", d.Verdict)
	}
	g = chain(4)
	g.err = &EvalError{Message: "no successors"}
	d := mustDeepen(t, g, DeepenOptions{Depth: 3})
	if d.Verdict != EvalFailed || d.Err != g.err || len(d.Trace) != 1 {
		t.Errorf("%v, a trace of %d", d.Verdict, len(d.Trace))
	}
	g.err = errors.New("of the world")
	if _, err := Deepen(context.Background(), g, DeepenOptions{Depth: 3}); !errors.Is(err, g.err) {
		t.Errorf("%v", err)
	}
	g = chain(4)
	g.inits = nil
	if d := mustDeepen(t, g, DeepenOptions{Depth: 3}); d.Verdict != OK || len(d.Warnings) != 1 {
		t.Errorf("%v %v", d.Verdict, d.Warnings)
	}
	if d := mustDeepen(t, unchecked{chain(2)}, DeepenOptions{Depth: 9}); d.Verdict != Incomplete || d.Complete {
		t.Errorf("%v", d.Verdict)
	}
	for _, o := range []DeepenOptions{{}, {Depth: -1}, {Depth: DeepenDepthMax + 1}, {Depth: 1, TableStates: -1}} {
		if _, err := Deepen(context.Background(), g, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	for cause, want := range map[error]Verdict{errors.New("a signal"): Interrupted, Limit("enough"): Incomplete} {
		ctx, cancel := context.WithCancelCause(context.Background())
		g = chain(100)
		var m DeepenMonitor
		g.onNext = func() {
			if m.Stats().Depth == 50 {
				cancel(cause)
			}
		}
		d, err := Deepen(ctx, g, DeepenOptions{Depth: 90, Monitor: &m})
		if err != nil || d.Verdict != want || d.Rounds != 50 || m.Initial() != 1 {
			t.Errorf("%v: %v in round %d, %v", cause, d.Verdict, d.Rounds, err)
		}
		cancel(nil)
	}
}
