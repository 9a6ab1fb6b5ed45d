// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// TestMain fails when a goroutine of any test is still alive at the end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLevels: every worker knows the depth of the state that it expands.
func TestLevels(t *testing.T) {
	g := chain(500)
	for i := range 400 {
		g.edges[0] = append(g.edges[0], edge{to: i + 100})
	}
	want := map[int]int{}
	for i := range 500 {
		want[i] = min(i+1, 2)
		if i > 0 && i < 100 {
			want[i] = i + 1
		}
	}
	var mu sync.Mutex
	g.onLevel = func(node, level int) {
		mu.Lock()
		defer mu.Unlock()
		if level != want[node] {
			t.Errorf("node %d is expanded at level %d, want %d", node, level, want[node])
		}
	}
	mustRun(t, g, Options{Workers: 4})
}

// chain is a graph of n nodes in a row.
func chain(n int) *graph {
	g := &graph{actions: 1, inits: []int{0}, outside: make([]bool, n), bad: make([]bool, n), undef: make([]bool, n), edges: make([][]edge, n)}
	for i := range n - 1 {
		g.edges[i] = []edge{{to: i + 1}}
	}
	return g
}

func mustRun(t *testing.T, m Model, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDeepTrace(t *testing.T) {
	const n = 20000
	g := chain(n)
	g.deadlock = true
	r := mustRun(t, g, Options{Workers: 2})
	if r.Verdict != Deadlock || len(r.Trace) != n || r.Depth != n {
		t.Fatalf("%v, a trace of %d, depth %d, want a deadlock after %d", r.Verdict, len(r.Trace), r.Depth, n)
	}
	for i, s := range r.Trace {
		if s.Values[0].Value != fmt.Sprint(i) {
			t.Fatalf("state %d of the trace is %s", i, s.Values[0].Value)
		}
	}
	if r := mustRun(t, g, Options{IgnoreDeadlock: true}); r.Verdict != OK || !r.Complete {
		t.Errorf("with deadlock ignored: %v", r.Verdict)
	}
}

func TestViolatedInitialState(t *testing.T) {
	g := chain(2)
	g.bad[0] = true
	if r := mustRun(t, g, Options{}); r.Verdict != InvariantViolated || len(r.Trace) != 1 || r.Trace[0].Action != -1 {
		t.Errorf("%v with a trace of %d, want a violation by the initial state", r.Verdict, len(r.Trace))
	}
}

func TestAssumptions(t *testing.T) {
	g := chain(3)
	g.assume = []string{"N > 0"}
	r := mustRun(t, g, Options{})
	if r.Verdict != AssumptionFalse || len(r.Broken) != 1 || r.Generated != 0 || r.Complete {
		t.Errorf("%v, broken %q, %d generated", r.Verdict, r.Broken, r.Generated)
	}
}

func TestEvaluationErrorInNext(t *testing.T) {
	g := chain(40)
	g.err = fmt.Errorf("wrapped: %w", &EvalError{Message: "no answer", Places: []string{"M.tla:3:4"}})
	r := mustRun(t, g, Options{Workers: 2})
	if r.Verdict != EvalFailed || r.Err.Error() != "M.tla:3:4: no answer" || len(r.Trace) != 1 {
		t.Errorf("%v: %v with a trace of %d", r.Verdict, r.Err, len(r.Trace))
	}
}

// TestOtherErrorsEndTheRun: an error that is not an evaluation error is not a
// verdict.
func TestOtherErrorsEndTheRun(t *testing.T) {
	g := chain(40)
	g.err = errors.New("disk on fire")
	if _, err := Run(context.Background(), g, Options{}); !errors.Is(err, g.err) {
		t.Errorf("got %v, want %v", err, g.err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, o := range []Options{{Workers: -1}, {Workers: WorkersMax + 1}, {StatesMax: -1}} {
		if _, err := Run(context.Background(), chain(2), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// unchecked has a property that cannot be checked.
type unchecked struct{ *graph }

func (m unchecked) Info() Info {
	info := m.graph.Info()
	info.Unchecked = []Unchecked{{Property: "Live", Reason: "liveness"}}
	return info
}

func TestUncheckedIsNeverOK(t *testing.T) {
	m := unchecked{chain(3)}
	if r := mustRun(t, m, Options{}); r.Verdict != Incomplete || r.Complete || r.Distinct != 3 || !strings.Contains(r.Reason, "1 of the requested properties") {
		t.Errorf("%v, complete %v: %s", r.Verdict, r.Complete, r.Reason)
	}
	if r := mustRun(t, m, Options{SafetyOnly: true}); r.Verdict != OK || r.Complete {
		t.Errorf("safety only: %v, complete %v", r.Verdict, r.Complete)
	}
}

func TestNoInitialState(t *testing.T) {
	g := chain(2)
	g.inits = nil
	r := mustRun(t, g, Options{})
	if r.Verdict != OK || r.Depth != 0 || len(r.Warnings) != 1 {
		t.Errorf("%v, depth %d, warnings %q", r.Verdict, r.Depth, r.Warnings)
	}
}

func TestStatesMax(t *testing.T) {
	for _, m := range []Model{chain(1000), twoPhase{n: 5}, manyInits(1000)} {
		r := mustRun(t, m, Options{StatesMax: 100})
		if r.Verdict != Incomplete || r.Complete || r.Distinct < 100 || r.Distinct > 200 || r.Reason != limitReached {
			t.Errorf("%s: %v with %d states: %s", m.Info().Name, r.Verdict, r.Distinct, r.Reason)
		}
	}
	if r := mustRun(t, chain(100), Options{StatesMax: 100}); r.Verdict != OK {
		t.Errorf("100 states do not fit the limit of 100: %v", r.Verdict)
	}
}

func manyInits(n int) *graph {
	g := chain(n)
	for i := range n {
		g.inits = append(g.inits, i)
	}
	return g
}

// TestInterrupt ends the context in the midst of the search.
func TestInterrupt(t *testing.T) {
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		g := chain(1 << 20)
		var calls atomic.Int64
		g.onNext = func() {
			if calls.Add(1) == 1000 {
				cancel()
			}
		}
		r, err := Run(ctx, g, Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Interrupted || r.Complete || r.Distinct < 1000 || r.Distinct == 1<<20 || r.Queue != 1 {
			t.Errorf("%d workers: %v after %d states with %d left", workers, r.Verdict, r.Distinct, r.Queue)
		}
	}
}

func TestLimitFromOutside(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	g := chain(1 << 20)
	g.onNext = func() { cancel(fmt.Errorf("watchdog: %w", Limit("memory is short"))) }
	r, err := Run(ctx, g, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Incomplete || r.Complete || r.Reason != "memory is short" {
		t.Errorf("%v after %d states: %s", r.Verdict, r.Distinct, r.Reason)
	}
}

// endless is a model whose enumeration never ends.
type endless struct {
	*graph
	init bool
}

type endlessWorker struct {
	*graphWorker
	init bool
}

func (m endless) NewWorker() Worker { return endlessWorker{&graphWorker{g: m.graph}, m.init} }

func (w endlessWorker) forever(action int, visit Visit) error {
	for {
		if err := visit(action, encodeNode(0)); err != nil {
			return err
		}
	}
}

func (w endlessWorker) Init(visit Visit) error {
	if w.init {
		return w.forever(-1, visit)
	}
	return w.graphWorker.Init(visit)
}

func (w endlessWorker) Next(_ State, visit Visit) error { return w.forever(0, visit) }

func TestInterruptWithinAState(t *testing.T) {
	for _, init := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		var m Monitor
		go func() {
			for m.Stats().Generated < 10*stopPollEvery && init {
				runtime.Gosched()
			}
			cancel()
		}()
		r, err := Run(ctx, endless{chain(1), init}, Options{Monitor: &m})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Interrupted || r.Generated == 0 {
			t.Errorf("init %v: %v after %d states", init, r.Verdict, r.Generated)
		}
	}
}

// TestMonitor reads the figures of a running search: they do not shrink and
// do not pass the final ones.
func TestMonitor(t *testing.T) {
	var m Monitor
	if got := m.Stats(); got != (Stats{}) {
		t.Errorf("before the search: %+v", got)
	}
	stop, done := make(chan struct{}), make(chan []Stats)
	go func() {
		var views []Stats
		for {
			select {
			case <-stop:
				done <- views
				return
			default:
				views = append(views, m.Stats())
				runtime.Gosched()
			}
		}
	}()
	r := mustRun(t, twoPhase{n: 6}, Options{Workers: 2, Monitor: &m})
	close(stop)
	views := <-done
	for i, v := range views {
		if v.Generated > r.Generated || v.Distinct > 2*r.Distinct || v.Depth > r.Depth {
			t.Errorf("on the way %+v, at the end %+v", v, r.Stats)
		}
		if i > 0 && (v.Generated < views[i-1].Generated || v.Depth < views[i-1].Depth) {
			t.Errorf("%+v follows %+v", v, views[i-1])
		}
	}
	if got := m.Stats(); got != r.Stats {
		t.Errorf("after the search %+v, want %+v", got, r.Stats)
	}
}

// TestDifference patches differences of random states back.
func TestDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 40)
		parent, child := letters.Draw(t, "parent"), letters.Draw(t, "child")
		if rapid.Bool().Draw(t, "alike") {
			child = append([]byte(nil), parent...)
			if len(child) > 0 {
				child[rapid.IntRange(0, len(child)-1).Draw(t, "at")] = 'x'
			}
		}
		if got := patch(parent, difference(nil, parent, child)); !bytes.Equal(got, child) {
			t.Fatalf("patched %q, want %q", got, child)
		}
	})
}

// TestLineage stores random trees and checks every path.
func TestLineage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLineage(spill.NewTape(nil, "lineage"), 7)
		var states [][]byte
		var parents []int
		parent := 0
		for i := range rapid.IntRange(1, 300).Draw(t, "n") {
			size := rapid.SampledFrom([]int{0, 1, 30, 30, 30, 30, 3000}).Draw(t, "size")
			state := bytes.Repeat([]byte{byte(i)}, size)
			if i < 3 {
				l.add(1, 0, rootAction, difference(nil, nil, state), 0)
				parents = append(parents, -1)
			} else {
				parent = rapid.IntRange(parent, i-1).Draw(t, "parent")
				l.add(1, uint32(parent), i%7, difference(nil, states[parent], state), uint32(parent))
				parents = append(parents, parent)
			}
			states = append(states, state)
		}
		for i := range states {
			path, err := l.path(uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			for k, at := len(path)-1, i; k >= 0; k, at = k-1, parents[at] {
				wantAction := at % 7
				if parents[at] < 0 {
					wantAction = rootAction
				}
				if !bytes.Equal(path[k].State, states[at]) || path[k].Action != wantAction {
					t.Fatalf("path to %d: step %d is %v by %d, want state %d", i, k, path[k].State, path[k].Action, at)
				}
				if (parents[at] < 0) != (k == 0) {
					t.Fatalf("path to %d has %d steps", i, len(path))
				}
			}
		}
	})
}

// TestArena fills an arena with small and large strings, twice.
func TestArena(t *testing.T) {
	var a arena
	var sizes []int64
	for range 2 {
		a.reset()
		var refs []ref
		text := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, (i*7919)%3000+i%3/2*arenaBlockBytes) }
		for i := range 60 {
			refs = append(refs, a.put(text(i), []byte{byte(i)}))
		}
		for i, r := range refs {
			first, rest := a.get(r)
			second, _ := cut(rest)
			if !bytes.Equal(first, text(i)) || len(second) != 1 || second[0] != byte(i) {
				t.Fatalf("string %d is %d bytes long, want %d", i, len(first), len(text(i)))
			}
		}
		sizes = append(sizes, a.size())
	}
	if sizes[0] != sizes[1] {
		t.Errorf("a reset arena does not use its blocks again: %d bytes, then %d", sizes[0], sizes[1])
	}
}
