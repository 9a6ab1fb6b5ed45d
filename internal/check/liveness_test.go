// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/sim"
)

// liveModel is a graph whose behaviours have properties, with atoms that are
// true for some nodes and edges.
type liveModel struct {
	*graph
	asked *Live
	fail  int // the node in which the first atom has no value
}

func (m *liveModel) Capabilities() ModelCapabilities {
	return ModelCapabilities{Durable: m, Live: m.asked}
}

func (m *liveModel) NewWorker() Worker {
	return &liveModelWorker{graphWorker: &graphWorker{g: m.graph}, fail: m.fail}
}

type liveModelWorker struct {
	*graphWorker
	fail int
}

func (w *liveModelWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, Atom: w.Atom}
}

// Atom: a node whose number is divisible by 3; an edge for which the sum of the
// numbers is divisible by 4; and an edge that leads to a greater number.
func (w *liveModelWorker) Atom(i int, s, t State) (bool, error) {
	from := decodeNode(s)
	if i == 0 {
		if t != nil {
			panic("a predicate of states is asked of a step")
		}
		if from == w.fail {
			return true, &AtomError{Atom: 0, Err: &EvalError{Message: "no value"}}
		}
		return from%3 == 0, nil
	}
	to := decodeNode(t)
	if i == 1 {
		return (from+to)%4 == 0, nil
	}
	return to > from, nil
}

// liveAtoms are those of a liveModel, and some formulas of them.
var (
	liveAtoms    = []live.AtomKind{live.StateAtom, live.AngleAtom, live.BoxAtom}
	liveFormulas = []*live.Formula{
		live.LeadsTo(live.AtomOf(0), live.Negate(live.AtomOf(0))),
		live.EventuallyOf(live.AlwaysOf(live.AtomOf(0))),
		live.AlwaysOf(live.EventuallyOf(live.AtomOf(1))),
		live.Any(live.AlwaysOf(live.AtomOf(2)), live.EventuallyOf(live.AtomOf(1))),
		live.EventuallyOf(live.AlwaysOf(live.AtomOf(2))),
	}
	liveFair = live.All(live.Weak(live.AtomOf(0), live.AtomOf(1)), live.Strong(live.Negate(live.AtomOf(0)), live.AtomOf(1)))
)

func newLiveModel(g *graph) *liveModel {
	asked := &Live{Atoms: liveAtoms, Assume: liveFair}
	for i, f := range liveFormulas {
		asked.Properties = append(asked.Properties, LiveProperty{Name: fmt.Sprint("P", i), Formula: f})
	}
	return &liveModel{graph: g, asked: asked, fail: -1}
}

// liveOutcome is the part of a decision by which two are compared.
type liveOutcome struct {
	Verdict       Verdict
	States, Steps int64
	Found         []string
	Unchecked     []Unchecked
}

func liveOutcomeOf(r *Result) liveOutcome {
	o := liveOutcome{Verdict: r.Verdict, States: r.Live.States, Steps: r.Live.Steps, Unchecked: r.Info.Unchecked}
	for _, v := range r.Violations {
		text := fmt.Sprint(v.Property, " back to ", v.Loop, " by ", v.LoopAction, ":")
		for _, s := range v.Trace {
			text += fmt.Sprintf(" %d:%s", s.Action, s.Values[0].Value)
		}
		o.Found = append(o.Found, text)
	}
	return o
}

// TestBehavioursOnDisk: neither the number of workers nor a memory too small
// for the graph changes the results about behaviours, and no file remains on
// disk.
func TestBehavioursOnDisk(t *testing.T) {
	found := 0
	for seed := range seeds(2, 1) {
		g := largeGraph(4*seed, 8000)
		g.deadlock = false
		m := newLiveModel(g)
		var want liveOutcome
		for i, o := range []Options{{Workers: 1}, {Workers: 2}, {Workers: 5, MemoryBytes: 1 << 20}, {Workers: 1, MemoryBytes: 1 << 20}} {
			o.Continue = true
			disk := sim.NewDisk()
			if o.MemoryBytes > 0 {
				o.Disk = newTestDisk(disk)
			}
			r, err := Run(context.Background(), &allLive{m}, o)
			if err != nil {
				t.Fatal(err)
			}
			got := liveOutcomeOf(r)
			if i == 0 {
				want = got
				found += len(got.Found)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %d workers, %d bytes (-one worker +these):\n%s", seed, o.Workers, o.MemoryBytes, diff)
			}
			if o.MemoryBytes == 0 {
				continue
			}
			if r.Live.DiskBytes == 0 {
				t.Fatal("nothing of the graph went to disk: the test tries nothing")
			}
			if left := files(t, disk); len(left) > 0 {
				t.Fatalf("left on disk: %v", left)
			}
		}
	}
	if found == 0 {
		t.Error("no property is violated: the test tries little")
	}
}

// allLive is a liveModel whose workers name all broken properties.
type allLive struct{ *liveModel }

func (m *allLive) NewWorker() Worker {
	return &allLiveWorker{m.liveModel.NewWorker().(*liveModelWorker)}
}

type allLiveWorker struct{ *liveModelWorker }

func (w *allLiveWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, Atom: w.Atom, Further: w}
}

func (w *allLiveWorker) BrokenInvariantAfter(int) (int, error) { return -1, nil }
func (w *allLiveWorker) BrokenStepAfter(int) (int, error)      { return -1, nil }

// TestBehavioursBeyondMemory: a property that cannot be decided within the
// memory is reported as unchecked, with the reason.
func TestBehavioursBeyondMemory(t *testing.T) {
	m := newLiveModel(largeGraph(0, 100_000))
	m.graph.deadlock = false
	r, err := Run(context.Background(), m, Options{Workers: 2, MemoryBytes: 1 << 20, Disk: newTestDisk(sim.NewDisk())})
	if err != nil {
		t.Fatal(err)
	}
	const want = "properties of behaviours were not checked: the numbers of the states take more than the 1 MB of memory that are left for them"
	if r.Verdict != Incomplete || r.Complete || r.Reason != want {
		t.Errorf("%v, complete: %t, %q, want incomplete, %q", r.Verdict, r.Complete, r.Reason, want)
	}
}

// TestAtomWithoutValue: the properties that need the atom are not checked, and
// the others are.
func TestAtomWithoutValue(t *testing.T) {
	g := &graph{actions: 1, inits: []int{0}, outside: make([]bool, 3), bad: make([]bool, 3), undef: make([]bool, 3),
		edges: [][]edge{{{to: 1}}, {{to: 2}}, {{to: 0}}}}
	m := newLiveModel(g)
	m.fail = 1
	m.asked.Assume = live.All()
	m.asked.Properties = []LiveProperty{
		{Name: "Asks", Formula: live.AlwaysOf(live.EventuallyOf(live.AtomOf(0)))},
		{Name: "AsksToo", Formula: live.AlwaysOf(live.Any(live.EventuallyOf(live.AtomOf(1)), live.AtomOf(0)))},
		{Name: "Holds", Formula: live.Negate(live.EventuallyOf(live.AtomOf(1)))},
	}
	r, err := Run(context.Background(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Unchecked{{"Asks", "no value"}, {"AsksToo", "no value"}}
	if diff := cmp.Diff(want, r.Info.Unchecked); diff != "" || r.Verdict != Incomplete {
		t.Errorf("%v (-want +got):\n%s", r.Verdict, diff)
	}
}

// TestDiskFailsBehaviours: an error of the disk, whenever it happens, is an error
// and no verdict.
func TestDiskFailsBehaviours(t *testing.T) {
	m := newLiveModel(largeGraph(0, 8000))
	m.graph.deadlock = false
	failsWithItsDisk(t, m, Options{MemoryBytes: 1 << 20}, 23)
}

// failsWithItsDisk makes the disk fail at one operation after another, at the given
// interval: the search fails too, unless it was at its end.
func failsWithItsDisk(t *testing.T, m Model, o Options, step int) {
	failed := 0
	for most := 1; most < 200; most += step {
		disk := newTestDisk(sim.NewDisk())
		disk.most, disk.cause = most, errFull
		o.Disk = disk
		r, err := Run(context.Background(), m, o)
		switch {
		case err == nil && disk.ops >= most:
			t.Fatalf("%v after the disk failed at operation %d", r.Verdict, most)
		case err != nil && !errors.Is(err, errFull):
			t.Fatal(err)
		case err != nil:
			failed++
		}
	}
	if failed == 0 {
		t.Error("the disk failed never")
	}
}
