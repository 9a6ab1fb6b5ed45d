// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// failing is a model whose next-state relation has no value after the first
// successors of some nodes.
type failing struct {
	manyProperties
	after map[int]int // by node: how many successors it has before that
	batch bool
}

func (m failing) NewWorker() Worker {
	w := failingWorker{&manyWorker{graphWorker: &graphWorker{g: m.graph}, m: m.manyProperties}, m.after}
	if m.batch {
		return &batchWorker{w}
	}
	return w
}

type failingWorker struct {
	*manyWorker
	after map[int]int
}

func (w failingWorker) Next(s State, visit Visit) error {
	left, fails := w.after[decodeNode(s)]
	err := w.manyWorker.Next(s, func(action int, s State) error {
		if fails && left == 0 {
			return &EvalError{Message: "no successor"}
		}
		left--
		return visit(action, s)
	})
	if err == nil && fails && left == 0 {
		err = &EvalError{Message: "no successor"}
	}
	return err
}

// batchWorker answers questions about candidates after it has enumerated later
// ones.
type batchWorker struct{ failingWorker }

func (w *batchWorker) Capabilities() Capabilities {
	can := w.failingWorker.Capabilities()
	can.Later = w.Later
	return can
}

func (w *batchWorker) Later() (Judge, bool) {
	return &graphJudge{&manyWorker{graphWorker: &graphWorker{g: w.g}, m: w.m}}, true
}

type graphJudge struct{ *manyWorker }

func (j *graphJudge) See(s State) { j.node = decodeNode(s) }

// BrokenStepAfter has no answer: the judge does not know the step.
func (j *graphJudge) BrokenStepAfter(int) (int, error) { panic("a judge is asked of a step") }

// TestBatches: a search that looks states up in batches finds what a search with
// single lookups finds, for every kind and place of violation.
func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := failing{manyProperties: randomProperties(t)}
		if rapid.Bool().Draw(t, "copies") { // enough successors for a batch to end in the middle of one state's
			for n, edges := range m.edges {
				for len(edges) > 0 && len(m.edges[n]) < 3*batchMax/2 {
					m.edges[n] = append(m.edges[n], edges...)
				}
			}
		}
		if rapid.Bool().Draw(t, "fails") {
			m.after = map[int]int{rapid.IntRange(0, len(m.edges)-1).Draw(t, "node"): rapid.IntRange(0, 3).Draw(t, "after")}
		}
		o := Options{Continue: rapid.Bool().Draw(t, "continue")}
		want := mustRunRapid(t, m, o)
		m.batch = true
		for _, o.Workers = range []int{1, 3} {
			got := mustRunRapid(t, m, o)
			if diff := cmp.Diff(outcomeOf(want), outcomeOf(got)); diff != "" {
				t.Fatalf("%d workers (-one by one +batches):\n%s", o.Workers, diff)
			}
			if diff := cmp.Diff(foundOf(want), foundOf(got)); diff != "" {
				t.Fatalf("%d workers (-one by one +batches):\n%s", o.Workers, diff)
			}
		}
	})
}

// TestLargeStatesInBatches: a state that is too large is refused where it would
// be without batches, and large ones do not wait for a batch to be full.
func TestLargeStatesInBatches(t *testing.T) {
	for _, length := range []int{batchBytesMax, StateBytesMax + 1} {
		r := mustRun(t, largeModel{length}, Options{})
		if want := length > StateBytesMax; (r.Verdict == EvalFailed) != want || want && len(r.Trace) != 2 {
			t.Errorf("a state of %d bytes: %v, %v", length, r.Verdict, r.Err)
		}
	}
}

// largeModel has one large state after a small one.
type largeModel struct{ bytes int }

func (m largeModel) Info() Info           { return Info{Actions: []Action{{Name: "Grow"}}} }
func (m largeModel) Show(State) []Binding { return nil }
func (m largeModel) NewWorker() Worker    { return largeWorker(m) }

func (m largeModel) Capabilities() ModelCapabilities { return ModelCapabilities{} }

type largeWorker struct{ bytes int }

func (w largeWorker) Assumptions() ([]string, error)        { return nil, nil }
func (w largeWorker) Init(visit Visit) error                { return visit(rootAction, State{1}) }
func (w largeWorker) InModel() (bool, error)                { return true, nil }
func (w largeWorker) BrokenInvariant() (int, error)         { return -1, nil }
func (w largeWorker) BrokenInvariantAfter(int) (int, error) { return -1, nil }
func (w largeWorker) BrokenStep() (int, error)              { return -1, nil }
func (w largeWorker) BrokenStepAfter(int) (int, error)      { return -1, nil }
func (w largeWorker) See(State)                             {}
func (w largeWorker) Later() (Judge, bool)                  { return w, false }
func (w largeWorker) Capabilities() Capabilities            { return Capabilities{Further: w, Later: w.Later} }
func (w largeWorker) Next(s State, visit Visit) error {
	for range 3 {
		if err := visit(0, make(State, w.bytes)); err != nil {
			return err
		}
	}
	return nil
}
