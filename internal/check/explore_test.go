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

// explored is an explicit state graph.
type explored struct {
	Nodes   []int // of the model's graph, by number of the state
	Initial int
	Levels  []int
	Whole   []bool
	Steps   []string
}

func exploredOf(g *StateGraph) explored {
	e := explored{Initial: g.Initial()}
	for n := range g.States() {
		e.Nodes = append(e.Nodes, decodeNode(g.State(n)))
		e.Levels = append(e.Levels, g.Level(n))
		e.Whole = append(e.Whole, g.Expanded(n))
		g.Next(n, func(action, to int) { e.Steps = append(e.Steps, fmt.Sprintf("%d-%d>%d", n, action, to)) })
	}
	return e
}

// plainly is the naive way to make the state graph.
func (g *graph) plainly(levelsMax int) explored {
	var e explored
	number := map[int]int{} // by key
	meet := func(node, level int) int {
		key := node
		if g.key > 0 {
			key %= g.key
		}
		n, ok := number[key]
		if !ok {
			n = len(e.Nodes)
			number[key] = n
			e.Nodes, e.Levels = append(e.Nodes, node), append(e.Levels, level)
		}
		return n
	}
	for _, n := range g.inits {
		if !g.outside[n] {
			meet(n, 1)
		}
	}
	e.Initial = len(e.Nodes)
	for n := 0; n < len(e.Nodes); n++ {
		whole := levelsMax == 0 || e.Levels[n] < levelsMax
		e.Whole = append(e.Whole, whole)
		if !whole {
			continue
		}
		seen := map[string]bool{}
		for _, x := range g.edges[e.Nodes[n]] {
			if g.outside[x.to] || x.cut {
				continue
			}
			if s := fmt.Sprintf("%d-%d>%d", n, x.action, meet(x.to, e.Levels[n]+1)); !seen[s] {
				seen[s] = true
				e.Steps = append(e.Steps, s)
			}
		}
	}
	return e
}

// TestExplore compares the graph with the naive one, for any number of workers,
// and with the counts of the search.
func TestExplore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		g.key = rapid.SampledFrom([]int{0, 0, 7, 40}).Draw(t, "key")
		levels := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "levels")
		want := g.plainly(levels)
		for _, workers := range []int{1, 3} {
			got, err := Explore(context.Background(), g, ExploreOptions{Workers: workers, LevelsMax: levels})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, exploredOf(got)); diff != "" {
				t.Fatalf("%d workers (-plain +explored):\n%s", workers, diff)
			}
			if got.Steps() != len(want.Steps) {
				t.Fatalf("%d steps, want %d", got.Steps(), len(want.Steps))
			}
		}
	})
}

// TestExploreFindsTraces: the path of a trace is a path of the graph, each
// state one level deeper than the one before.
func TestExploreFindsTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		clear(g.outside)
		r := mustRunRapid(t, g, Options{Workers: 2})
		if len(r.Trace) == 0 || r.Verdict == StepViolated {
			return
		}
		sg, err := Explore(context.Background(), g, ExploreOptions{LevelsMax: len(r.Trace)})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range sg.Path(r.Trace) {
			// A step that an action constraint excludes leads out of the graph.
			if last := i == len(r.Trace)-1; n < 0 && !last || n >= 0 && !last && sg.Level(n) != i+1 {
				t.Fatalf("state %d of the trace is number %d", i+1, n)
			}
		}
	})
}

func mustRunRapid(t *rapid.T, m Model, o Options) *Result {
	r, err := Run(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExploreLimits(t *testing.T) {
	var limit *GraphLimitError
	for _, m := range []Model{chain(1000), manyInits(1000), twoPhase{n: 5}} {
		if _, err := Explore(context.Background(), m, ExploreOptions{StatesMax: 100}); !errors.As(err, &limit) || limit.Max != 100 {
			t.Errorf("%s: got %v, want the limit of 100 states", m.Info().Name, err)
		}
	}
	if g, err := Explore(context.Background(), chain(100), ExploreOptions{StatesMax: 100}); err != nil || g.States() != 100 {
		t.Errorf("100 states do not fit the limit of 100: %v", err)
	}
	for _, o := range []ExploreOptions{{Workers: -1}, {StatesMax: -1}, {LevelsMax: -1}} {
		if _, err := Explore(context.Background(), chain(2), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Explore(ctx, chain(100), ExploreOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context has ended", err)
	}
}

// TestExploreWithoutValue: a state whose successors have no value is in the
// graph, and is not Expanded.
func TestExploreWithoutValue(t *testing.T) {
	g := chain(5)
	g.err = &EvalError{Message: "no answer"}
	sg, err := Explore(context.Background(), g, ExploreOptions{})
	if err != nil || sg.States() != 1 || sg.Expanded(0) {
		t.Errorf("%v: %d states", err, sg.States())
	}
	g.err = errors.New("disk on fire")
	if _, err := Explore(context.Background(), g, ExploreOptions{}); !errors.Is(err, g.err) {
		t.Errorf("got %v, want %v", err, g.err)
	}
}

// TestExploreLevels: a worker that asks for the depth of a state gets it.
func TestExploreLevels(t *testing.T) {
	g := chain(700)
	for i := range 400 {
		g.edges[0] = append(g.edges[0], edge{to: i + 100})
	}
	levels := make([]int, 700)
	g.onLevel = func(node, level int) { levels[node] = level }
	sg, err := Explore(context.Background(), g, ExploreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range sg.States() {
		if node := decodeNode(sg.State(n)); levels[node] != sg.Level(n) {
			t.Fatalf("node %d is expanded at level %d, want %d", node, levels[node], sg.Level(n))
		}
	}
}
