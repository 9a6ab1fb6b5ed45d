// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// manyProperties is a graph with several invariants and step properties.
type manyProperties struct {
	*graph
	inv  []map[int]bool    // by invariant: nodes that break it
	step []map[string]bool // by property: steps "from>to" that break it
}

func (m manyProperties) Info() Info {
	info := m.graph.Info()
	info.Invariants, info.Steps = nil, nil
	for i := range m.inv {
		info.Invariants = append(info.Invariants, fmt.Sprint("Inv", i))
	}
	for i := range m.step {
		info.Steps = append(info.Steps, fmt.Sprint("Step", i))
	}
	return info
}

func (m manyProperties) NewWorker() Worker {
	return &manyWorker{graphWorker: &graphWorker{g: m.graph}, m: m}
}

type manyWorker struct {
	*graphWorker
	m    manyProperties
	from int
}

func (w *manyWorker) Capabilities() Capabilities { return Capabilities{AtLevel: w.AtLevel, Further: w} }

func (w *manyWorker) Next(s State, visit Visit) error {
	w.from = decodeNode(s)
	return w.graphWorker.Next(s, visit)
}

func (w *manyWorker) BrokenInvariant() (int, error) { return w.BrokenInvariantAfter(-1) }
func (w *manyWorker) BrokenStep() (int, error)      { return w.BrokenStepAfter(-1) }

// BrokenInvariantAfter: in a node without value, the last invariant has none.
func (w *manyWorker) BrokenInvariantAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.inv); i++ {
		if i == len(w.m.inv)-1 && w.g.undef[w.node] {
			return i, &EvalError{Message: fmt.Sprint("no value in ", w.node)}
		}
		if w.m.inv[i][w.node] {
			return i, nil
		}
	}
	return -1, nil
}

func (w *manyWorker) BrokenStepAfter(last int) (int, error) {
	for i := last + 1; i < len(w.m.step); i++ {
		if w.edge != nil && w.m.step[i][fmt.Sprintf("%d>%d", w.from, w.edge.to)] {
			return i, nil
		}
	}
	return -1, nil
}

// found is one violation in the form in which two searches are compared.
func found(verdict Verdict, property string, path []string) string {
	return fmt.Sprintf("%v %s: %s", verdict, property, strings.Join(path, " "))
}

// plainly searches on after violations; generated and distinct are the counts.
func (m manyProperties) plainly() (list []string, generated, distinct int64) {
	type item struct {
		node int
		path []string
	}
	var queue []item
	seen, known := map[int]bool{}, map[string]bool{}
	note := func(verdict Verdict, property string, path []string) {
		if key := fmt.Sprint(verdict, property); !known[key] {
			known[key] = true
			list = append(list, found(verdict, property, path))
		}
	}
	// visit reports whether to continue.
	visit := func(from *item, e edge) bool {
		var path []string
		if from != nil {
			path = slices.Clone(from.path)
		}
		path = append(path, fmt.Sprintf("%d:%d", e.action, e.to))
		generated++
		inside := !m.outside[e.to] && !e.cut
		fresh := !inside || !seen[e.to]
		if inside && fresh {
			seen[e.to] = true
			distinct++
			queue = append(queue, item{e.to, path})
		}
		for i := range m.inv {
			switch {
			case !fresh:
			case i == len(m.inv)-1 && m.undef[e.to]:
				list = append(list, found(EvalFailed, fmt.Sprint("Inv", i), path))
				return false
			case m.inv[i][e.to]:
				note(InvariantViolated, fmt.Sprint("Inv", i), path)
			}
		}
		for i := range m.step {
			if from != nil && m.step[i][fmt.Sprintf("%d>%d", from.node, e.to)] {
				note(StepViolated, fmt.Sprint("Step", i), path)
			}
		}
		return true
	}
	for _, n := range m.inits {
		if !visit(nil, edge{action: rootAction, to: n}) {
			return
		}
	}
	for len(queue) > 0 {
		it := queue[0]
		queue = queue[1:]
		for _, e := range m.edges[it.node] {
			if !visit(&it, e) {
				return
			}
		}
		if m.deadlock && len(m.edges[it.node]) == 0 {
			note(Deadlock, "", it.path)
		}
	}
	return
}

func foundOf(r *Result) []string {
	var list []string
	for _, v := range r.Violations {
		var path []string
		for _, s := range v.Trace {
			path = append(path, fmt.Sprintf("%d:%s", s.Action, s.Values[0].Value))
		}
		list = append(list, found(v.Verdict, v.Property, path))
	}
	return list
}

// randomProperties draws a graph with properties.
func randomProperties(t *rapid.T) manyProperties {
	m := manyProperties{graph: randomGraph(t)}
	nodes := len(m.edges)
	for range rapid.IntRange(0, 4).Draw(t, "invariants") {
		bad := map[int]bool{}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, nodes-1), 0, 8).Draw(t, "bad") {
			bad[n] = true
		}
		m.inv = append(m.inv, bad)
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		bad := map[string]bool{}
		for range rapid.IntRange(0, 8).Draw(t, "badSteps") {
			from := rapid.IntRange(0, nodes-1).Draw(t, "from")
			if n := len(m.edges[from]); n > 0 {
				bad[fmt.Sprintf("%d>%d", from, m.edges[from][rapid.IntRange(0, n-1).Draw(t, "edge")].to)] = true
			}
		}
		m.step = append(m.step, bad)
	}
	return m
}

// TestContinue: a search that continues finds exactly what a plain search over
// the graph finds, with the same first trace of each, in the same order, for any
// number of workers, and the counts are those of a search that finds nothing.
func TestContinue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomProperties(t)
		want, generated, distinct := m.plainly()
		for _, workers := range []int{1, 2, 5} {
			r := mustRunRapid(t, m, Options{Workers: workers, Continue: true})
			compareContinued(t, r, want, generated, distinct)
		}
		// The first of them is the one found by a search that ends there.
		if r := mustRunRapid(t, m, Options{}); len(want) > 0 {
			if diff := cmp.Diff(want[:1], foundOf(r)); diff != "" {
				t.Fatalf("not going on (-plain +checker):\n%s", diff)
			}
		}
	})
}

func compareContinued(t interface{ Fatalf(string, ...any) }, r *Result, want []string, generated, distinct int64) {
	if diff := cmp.Diff(want, foundOf(r)); diff != "" {
		t.Fatalf("(-plain +checker):\n%s", diff)
	}
	if r.Generated != generated || r.Distinct != distinct {
		t.Fatalf("%d generated and %d distinct, want %d and %d", r.Generated, r.Distinct, generated, distinct)
	}
	if len(want) == 0 {
		if r.Verdict != OK {
			t.Fatalf("verdict %v without a violation", r.Verdict)
		}
		return
	}
	last := r.Violations[len(r.Violations)-1].Verdict
	if r.Verdict != r.Violations[0].Verdict || r.Complete != (last != EvalFailed) {
		t.Fatalf("verdict %v, complete %v", r.Verdict, r.Complete)
	}
}

// TestContinueOnLargeGraphs has levels that are wide enough for several
// goroutines, which meet the same states from several parents.
func TestContinueOnLargeGraphs(t *testing.T) {
	for seed := range seeds(4, 2) {
		const n = 20000
		x := uint64(seed)*0x9e3779b97f4a7c15 + 1
		next := func(m int) int {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			return int(x % uint64(m))
		}
		m := manyProperties{graph: chain(n)}
		m.deadlock = seed%2 == 0
		for i := range n {
			m.edges[i] = nil
			for range next(6) {
				m.edges[i] = append(m.edges[i], edge{to: next(n)})
			}
			m.outside[i] = next(50) == 0
		}
		for range 20 {
			m.inits = append(m.inits, next(n))
		}
		for range 5 {
			bad, steps := map[int]bool{}, map[string]bool{}
			for range 200 {
				bad[next(n)] = true
				if from := next(n); len(m.edges[from]) > 0 {
					steps[fmt.Sprintf("%d>%d", from, m.edges[from][0].to)] = true
				}
			}
			m.inv, m.step = append(m.inv, bad), append(m.step, steps)
		}
		want, generated, distinct := m.plainly()
		for _, workers := range []int{1, 4, 9} {
			r := mustRun(t, m, Options{Workers: workers, Continue: true})
			compareContinued(t, r, want, generated, distinct)
		}
	}
}

// TestContinueWantsAll: Continue is an error for a model that cannot name every
// broken property.
func TestContinueWantsAll(t *testing.T) {
	if _, err := Run(context.Background(), chain(3), Options{Continue: true}); err == nil {
		t.Error("a worker that names only the first broken property is accepted")
	}
}
