// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ashlar-dev/ashlar/internal/check/live"
	"github.com/ashlar-dev/ashlar/sim"
)

// wideGraph is a graph of n nodes in which every node leads to three later ones, so
// that levels are wide; with a loop, node 5 leads back to node 1.
func wideGraph(n int, loop bool) *graph {
	g := &graph{actions: 1, inits: []int{0}, outside: make([]bool, n), bad: make([]bool, n), undef: make([]bool, n)}
	for i := range n {
		var edges []edge
		for k := 1; k <= 3; k++ {
			if to := 3*i + k; to < n {
				edges = append(edges, edge{to: to})
			}
		}
		if loop && i == 5 {
			edges = append(edges, edge{to: 1})
		}
		g.edges = append(g.edges, edges)
	}
	return g
}

// enabledModel is a graph under the fairness of all steps: an atom is that a node
// has an edge, another that a step is taken.
type enabledModel struct {
	*graph
	properties []LiveProperty
}

func (m *enabledModel) Capabilities() ModelCapabilities {
	return ModelCapabilities{Durable: m, Live: m.live()}
}

func (m *enabledModel) live() *Live {
	return &Live{Atoms: []live.AtomKind{live.StateAtom, live.AngleAtom, live.StateAtom},
		Assume: live.Weak(live.AtomOf(0), live.AtomOf(1)), Properties: m.properties}
}

func (m *enabledModel) NewWorker() Worker { return &enabledWorker{&graphWorker{g: m.graph}} }

type enabledWorker struct{ *graphWorker }

func (w *enabledWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, Atom: w.Atom, Further: w}
}

func (w *enabledWorker) BrokenInvariantAfter(int) (int, error) { return -1, nil }
func (w *enabledWorker) BrokenStepAfter(int) (int, error)      { return -1, nil }

// Atom: the node has an edge; a step is taken; the node has none.
func (w *enabledWorker) Atom(i int, s, _ State) (bool, error) {
	last := len(w.g.edges[decodeNode(s)]) == 0
	return i == 1 || last == (i == 2), nil
}

// TestPeriodicFindsEarly: a loop near the beginning of a large graph is found after
// little of it was searched, at the same place for any number of workers, and with
// bounded memory.
func TestPeriodicFindsEarly(t *testing.T) {
	m := &enabledModel{wideGraph(300_000, true), []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}
	var want *Result
	for i, o := range []Options{{Workers: 1}, {Workers: 3}, {Workers: 2, MemoryBytes: 8 << 20}} {
		o.Periodic = true
		disk := sim.NewDisk()
		if o.MemoryBytes > 0 {
			o.Disk = newTestDisk(disk)
		}
		r, err := Run(context.Background(), m, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != LivenessViolated || r.Property != "Ends" || r.Complete || r.Searched || r.Reason != endsAtFirst || len(r.Violations) != 1 {
			t.Fatalf("%v of %q, complete: %t, searched: %t, %q, %d violations", r.Verdict, r.Property, r.Complete, r.Searched, r.Reason, len(r.Violations))
		}
		if r.Distinct < PeriodicStatesMin || r.Distinct > 4*PeriodicStatesMin || r.Live.States != r.Distinct || r.Live.Checks != 1 {
			t.Errorf("%d states, %d in the graph, %d checks, want all at the first check", r.Distinct, r.Live.States, r.Live.Checks)
		}
		// 0 to 1 to 5 and round.
		if r.Loop != 1 || len(r.Trace) != 3 {
			t.Errorf("a trace of %d states back to %d", len(r.Trace), r.Loop)
		}
		if i == 0 {
			want = r
		} else if diff := cmp.Diff(want, r, sameFigures); diff != "" {
			t.Errorf("%d workers, %d bytes (-one worker +these):\n%s", o.Workers, o.MemoryBytes, diff)
		}
		if o.MemoryBytes > 0 {
			if left := files(t, disk); len(left) > 0 {
				t.Errorf("left on disk: %v", left)
			}
		}
	}
}

// sameFigures compares results except for their memory and periodic checks.
var sameFigures = cmpopts.IgnoreFields(Result{}, "Bytes", "DiskBytes", "StateBytes", "Live.Checks", "Live.Bytes", "Live.DiskBytes")

// TestPeriodicTakesNoStateForTheLast: a behaviour may not stop in a state with an enabled step
// just because the state is not expanded yet. If there is no violation, every figure is that of a
// search that checks at the end.
func TestPeriodicTakesNoStateForTheLast(t *testing.T) {
	m := &enabledModel{wideGraph(20_000, false), []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}
	want, err := Run(context.Background(), m, Options{IgnoreDeadlock: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2} {
		got, err := Run(context.Background(), m, Options{IgnoreDeadlock: true, Workers: workers, Periodic: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != OK || !got.Complete {
			t.Fatalf("%v of %q, %q", got.Verdict, got.Property, got.Reason)
		}
		if got.Live.Checks < 3 {
			t.Errorf("%d checks at 20,000 states: the test tries little", got.Live.Checks)
		}
		if diff := cmp.Diff(want, got, sameFigures); diff != "" {
			t.Errorf("%d workers (-at the end +during the search):\n%s", workers, diff)
		}
	}
}

// TestPeriodicAgainstFinal: on random graphs the same properties are violated, and
// all other figures are the same, if the search continues to its end. A violation
// found earlier is a path of the graph with a loop that breaks the property by
// itself.
func TestPeriodicAgainstFinal(t *testing.T) {
	early := 0
	for seed := range seeds(4, 2) {
		g := largeGraph(4*seed, 4000+1500*seed)
		g.deadlock = false
		if seed%2 == 1 {
			for i := range g.edges { // a node leads a little further, so that there are many levels
				for k := range g.edges[i] {
					g.edges[i][k].to = min(len(g.edges)-1, i+g.edges[i][k].to%37)
				}
			}
		}
		m := newLiveModel(g)
		if seed > 1 {
			m.asked.Assume = live.All()
		}
		want, err := Run(context.Background(), &allLive{m}, Options{Continue: true})
		if err != nil {
			t.Fatal(err)
		}
		var first *Result
		for _, workers := range []int{1, 3} {
			got, err := Run(context.Background(), &allLive{m}, Options{Workers: workers, Continue: true, Periodic: true})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := violated(want), violated(got); !slices.Equal(a, b) {
				t.Fatalf("seed %d: %v are violated at the end and %v during the search", seed, a, b)
			}
			if got.Live.Checks == 0 {
				t.Fatalf("seed %d: no look at %d states", seed, got.Distinct)
			}
			ignore := cmpopts.IgnoreFields(Result{}, "Violations", "Violation")
			if diff := cmp.Diff(want, got, sameFigures, ignore); diff != "" {
				t.Fatalf("seed %d (-at the end +during the search):\n%s", seed, diff)
			}
			if first == nil {
				first = got
			} else if diff := cmp.Diff(first, got, sameFigures); diff != "" {
				t.Fatalf("seed %d (-one worker +three):\n%s", seed, diff)
			}
		}
		for _, v := range first.Violations {
			checkLasso(t, m, v)
		}
		one, err := Run(context.Background(), m, Options{Periodic: true})
		if err != nil {
			t.Fatal(err)
		}
		if (one.Verdict == LivenessViolated) != (len(want.Violations) > 0) {
			t.Fatalf("seed %d: %v, and %d violations", seed, one.Verdict, len(want.Violations))
		}
		if one.Distinct < want.Distinct {
			early++
		}
	}
	if early == 0 {
		t.Error("no violation was found early: the test tries little")
	}
}

func violated(r *Result) []string {
	var names []string
	for _, v := range r.Violations {
		names = append(names, v.Property)
	}
	slices.Sort(names)
	return names
}

// checkLasso requires that the steps of a violation are steps of the graph, and
// that the graph of these steps alone violates the property.
func checkLasso(t *testing.T, m *liveModel, v Violation) {
	t.Helper()
	n := len(m.edges)
	alone := &graph{actions: m.actions, inits: []int{decodeNode(v.Trace[0].State)},
		edges: make([][]edge, n), outside: make([]bool, n), bad: make([]bool, n), undef: make([]bool, n)}
	if !slices.Contains(m.inits, alone.inits[0]) {
		t.Errorf("%s: the trace begins in node %d", v.Property, alone.inits[0])
	}
	for i, s := range v.Trace {
		next := v.Loop
		if i+1 < len(v.Trace) {
			next = i + 1
		}
		from, to := decodeNode(s.State), decodeNode(v.Trace[next].State)
		if from == to {
			continue
		}
		if !slices.ContainsFunc(m.edges[from], func(e edge) bool { return e.to == to && !m.outside[to] }) {
			t.Errorf("%s: there is no step from %d to %d", v.Property, from, to)
		}
		alone.edges[from] = append(alone.edges[from], edge{to: to})
	}
	asked := *m.asked
	asked.Properties = slices.DeleteFunc(slices.Clone(asked.Properties), func(p LiveProperty) bool { return p.Name != v.Property })
	r, err := Run(context.Background(), &liveModel{graph: alone, asked: &asked, fail: -1}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != LivenessViolated {
		t.Errorf("%s: the behaviour that was found does not break it", v.Property)
	}
}

// TestPeriodicBeyondMemory: if a check has too little memory, a warning reports it, and the check
// at the end decides.
func TestPeriodicBeyondMemory(t *testing.T) {
	m := &enabledModel{wideGraph(100_000, false), []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}
	disk := sim.NewDisk()
	r, err := Run(context.Background(), m, Options{IgnoreDeadlock: true, MemoryBytes: 8 << 20, Disk: newTestDisk(disk), Periodic: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = "properties of behaviours are not checked from 88573 states on, until the end: the numbers of the states take more than the 1 MB of memory that are left for them"
	if r.Verdict != OK || !r.Complete || r.Live.Checks == 0 || !slices.Equal(r.Warnings, []string{want}) {
		t.Errorf("%v, complete: %t, %q, %d checks, warnings %q", r.Verdict, r.Complete, r.Reason, r.Live.Checks, r.Warnings)
	}
	if left := files(t, disk); len(left) > 0 {
		t.Errorf("left on disk: %v", left)
	}
}

// TestDiskFailsPeriodicChecks: an error of the disk is one of the search, and no verdict.
func TestDiskFailsPeriodicChecks(t *testing.T) {
	m := newLiveModel(largeGraph(0, 8000))
	m.graph.deadlock = false
	step := 29 // operations from one that fails to the next
	if testing.Short() {
		step = 97
	}
	failsWithItsDisk(t, &allLive{m}, Options{MemoryBytes: 1 << 20, Periodic: true, Continue: true}, step)
}

// TestPeriodicIsBounded: a check that exceeds its bounds reports it, and the check
// at the end continues with its graph.
func TestPeriodicIsBounded(t *testing.T) {
	m := newLiveModel(largeGraph(0, 3000))
	g, err := newLiveGraph(context.Background(), m, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.build(); err != nil {
		t.Fatal(err)
	}
	find := func() error {
		_, err := g.find(context.Background(), m.asked, m.asked.Properties[0])
		return err
	}
	for _, b := range [][2]int64{{1, 1 << 30}, {1 << 30, 1}} {
		g.bound(b[0], b[1])
		if err := find(); !errors.Is(err, errSpent) {
			t.Errorf("bounds %v: %v, want %v", b, err, errSpent)
		}
	}
	g.bound(0, 0)
	if err := find(); err != nil {
		t.Errorf("without bounds: %v", err)
	}
}

// TestPeriodicOrder: with --continue violations are in the order in which they were
// found, so an invariant that is broken late comes after the violation that a check
// has found.
func TestPeriodicOrder(t *testing.T) {
	g := wideGraph(30_000, true)
	g.bad[29_999] = true
	m := &enabledModel{g, []LiveProperty{{Name: "Ends", Formula: live.EventuallyOf(live.AtomOf(2))}}}
	for _, c := range []struct {
		bad  int
		want string
	}{{29_999, "[Ends Good]"}, {7, "[Good Ends]"}} {
		g.bad = make([]bool, len(g.bad))
		g.bad[c.bad] = true
		r, err := Run(context.Background(), orderModel{m}, Options{IgnoreDeadlock: true, Continue: true, Periodic: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range r.Violations {
			got = append(got, v.Property)
		}
		if fmt.Sprint(got) != c.want || r.Property != got[0] {
			t.Errorf("a bad node %d: %v, first %s, want %s", c.bad, got, r.Property, c.want)
		}
	}
}

// orderModel is an enabledModel whose workers name the invariant.
type orderModel struct{ *enabledModel }

func (m orderModel) NewWorker() Worker {
	return &orderWorker{m.enabledModel.NewWorker().(*enabledWorker)}
}

type orderWorker struct{ *enabledWorker }

func (w *orderWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, Atom: w.Atom, Further: w}
}

func (w *orderWorker) BrokenInvariantAfter(i int) (int, error) {
	if i < 0 {
		return w.BrokenInvariant()
	}
	return -1, nil
}
