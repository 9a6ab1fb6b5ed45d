// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ashlar-dev/ashlar/sim"
)

// pathModel is a graph whose workers ask for the path to the parent of every
// candidate.
type pathModel struct {
	*graph
	asked *atomic.Int64
}

func (m pathModel) NewWorker() Worker {
	return &pathWorker{graphWorker: &graphWorker{g: m.graph}, m: m}
}

type pathWorker struct {
	*graphWorker
	m    pathModel
	path func() ([]State, error)
}

func (w *pathWorker) Capabilities() Capabilities {
	return Capabilities{AtLevel: w.AtLevel, AskPath: func(path func() ([]State, error)) { w.path = path }}
}

// BrokenInvariant has no value if the path is not one of the graph.
func (w *pathWorker) BrokenInvariant() (int, error) {
	states, err := w.path()
	if err != nil {
		return -1, err
	}
	var nodes []int
	for _, s := range states {
		nodes = append(nodes, decodeNode(s))
	}
	nodes = append(nodes, w.node)
	w.m.asked.Add(1)
	for i, n := range nodes {
		if i == 0 && !slices.Contains(w.g.inits, n) ||
			i > 0 && !slices.ContainsFunc(w.g.edges[nodes[i-1]], func(e edge) bool { return e.to == n }) {
			return 0, &EvalError{Message: fmt.Sprint("no path: ", nodes)}
		}
	}
	return -1, nil
}

// TestPathToAState: workers get the path to the state that they expand, also when
// the lineage is on disk, and in walks.
func TestPathToAState(t *testing.T) {
	g := largeGraph(0, 6000)
	g.deadlock = false
	m := pathModel{g, &atomic.Int64{}}
	for _, o := range []Options{{}, {Workers: 3}, {Workers: 2, MemoryBytes: 1 << 18}} {
		if o.MemoryBytes > 0 {
			o.Disk = newTestDisk(sim.NewDisk())
		}
		r, err := Run(context.Background(), m, o)
		if err != nil || r.Verdict != OK {
			t.Fatalf("%d workers, %d bytes: %v %v %v", o.Workers, o.MemoryBytes, r.Verdict, r.Err, err)
		}
		if n := m.asked.Swap(0); n < r.Distinct {
			t.Errorf("asked %d times of %d states", n, r.Distinct)
		}
	}
	r, err := Simulate(context.Background(), m, SimulateOptions{Walks: 20, Depth: 30})
	if err != nil || r.Verdict != OK && r.Verdict != Incomplete {
		t.Fatalf("walks: %v %v %v", r.Verdict, r.Err, err)
	}
	if m.asked.Load() == 0 {
		t.Error("walks asked nothing")
	}
}
