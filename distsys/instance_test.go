// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func waitFor(t testing.TB, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !cond(); {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
		time.Sleep(time.Millisecond)
	}
}

type section[S any] = func(s *S, tx *distsys.Tx) (distsys.Label, error)

// archetype has the sections l0, l1, ...
func archetype[S any](sections ...section[S]) *distsys.Archetype[S] {
	a := &distsys.Archetype[S]{Name: "A"}
	for i, f := range sections {
		name := "l" + string(rune('0'+i))
		a.Sections = append(a.Sections, distsys.Section[S]{Name: name, Place: "a.tla:" + string(rune('1'+i)) + ":1", Run: f})
	}
	return a
}

func instance[S any](t testing.TB, a *distsys.Archetype[S], s S, o distsys.Options) *distsys.Instance[S] {
	t.Helper()
	if o.Env.Clock == nil {
		o.Env = osenv.New()
	}
	in, err := distsys.New(a, value.Int(7), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

var errFault = errors.New("fault")

func TestHowRunsEnd(t *testing.T) {
	boom := func(*int, *distsys.Tx) (distsys.Label, error) { return 0, errFault }
	for _, c := range []struct {
		name string
		run  section[int]
		want string
		is   error
	}{
		{"done", func(*int, *distsys.Tx) (distsys.Label, error) { return distsys.Done, nil }, "", nil},
		{"assertion", func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
			return distsys.Done, tx.Assert(false, "x = 1", "a.tla:9:9")
		}, "a.tla:1:1: A(7) at l0: assertion failed: x = 1 (a.tla:9:9)", nil},
		{"no value", func(*int, *distsys.Tx) (distsys.Label, error) {
			value.AddInt(2147483647, 1)
			return distsys.Done, nil
		}, "a.tla:1:1: A(7) at l0: ", nil},
		{"fallthrough", func(*int, *distsys.Tx) (distsys.Label, error) { return distsys.Error, nil }, "A(7) at Error: procedure ended without return", distsys.ErrProcedureFallthrough},
		{"return without call", func(*int, *distsys.Tx) (distsys.Label, error) {
			l, _, _ := distsys.Stack[int]{}.Pop()
			return l, nil
		}, "procedure ended without return", distsys.ErrProcedureFallthrough},
		{"fault", boom, "a.tla:1:1: A(7) at l0: fault", errFault},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := instance(t, archetype(c.run), 0, distsys.Options{}).Run(within(t))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
			if se := (*distsys.SectionError)(nil); !errors.As(err, &se) || se.Archetype != "A" || se.Self != "7" {
				t.Errorf("%#v does not say where", err)
			}
		})
	}
}

// TestAbortLeavesNoTrace: what a section did to variables and resources before
// it blocks is undone.
func TestAbortLeavesNoTrace(t *testing.T) {
	x := local.NewVariable(value.Int(1))
	q := queue.New(queue.Limits{})
	gate := local.NewShared(value.Bool(false))
	rx, rq, rg := distsys.NewRef("x", x), distsys.NewRef("q", q.Out()), distsys.NewRef("gate", gate)
	tries := 0
	a := archetype(func(s *int, tx *distsys.Tx) (distsys.Label, error) {
		tries++
		*s++
		v, err := distsys.Read(tx, rx, distsys.Int())
		if err != nil {
			return 0, err
		}
		if err := tx.Write(rx, value.Int(v+1)); err != nil {
			return 0, err
		}
		if err := tx.Write(rq, value.Int(v)); err != nil {
			return 0, err
		}
		open, err := distsys.Read(tx, rg, distsys.Bool())
		if err != nil {
			return 0, err
		}
		if !open {
			return distsys.Blocked()
		}
		return distsys.Done, nil
	})
	in := instance(t, a, 0, distsys.Options{})
	done := make(chan error, 1)
	go func() { done <- in.Run(within(t)) }()
	waitFor(t, func() bool { return in.Metrics().Blocked == 2 })
	if n := q.Len(); n != 0 {
		t.Errorf("a blocked section has put %d messages into the queue", n)
	}
	set(t, gate, value.Bool(true))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if in.State() != 1 || x.Value().AsInt() != 2 || q.Len() != 1 {
		t.Errorf("after %d tries: s = %d, x = %v, %d messages; want 1, 2, 1", tries, in.State(), x.Value(), q.Len())
	}
}

// set writes a shared variable in a section of its own.
func set(t testing.TB, s *local.Shared, v value.Value) {
	t.Helper()
	ref := distsys.NewRef("v", s)
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) { return distsys.Done, tx.Write(ref, v) }), 0, distsys.Options{})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
}

// TestBlockedSleeps: while a section is blocked nothing happens; changes of
// what it did not read do not wake it; one of what it read does, once.
func TestBlockedSleeps(t *testing.T) {
	x, y := local.NewShared(value.Int(0)), local.NewShared(value.Int(0))
	rx := distsys.NewRef("x", x)
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, rx, distsys.Int())
		if err != nil {
			return 0, err
		}
		if v < 2 {
			return distsys.Blocked()
		}
		return distsys.Done, nil
	}), 0, distsys.Options{})
	done := make(chan error, 1)
	go func() { done <- in.Run(within(t)) }()
	waitFor(t, func() bool { return in.Metrics().Blocked == 2 })
	for i := range 100 {
		set(t, y, value.Int(int32(i)))
	}
	if m := in.Metrics(); m.Wakeups != 0 || m.Blocked != 2 {
		t.Errorf("woken by another variable: %+v", m)
	}
	set(t, x, value.Int(1))
	waitFor(t, func() bool { return in.Metrics().Blocked == 3 })
	set(t, x, value.Int(2))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if m := in.Metrics(); m.Wakeups != 2 || m.Blocked != 3 {
		t.Errorf("%+v; want 2 wake-ups and 3 blocked attempts", m)
	}
}

// TestNoWakeupIsLost passes a token to and fro between two instances that
// block in turn; a wake-up that got lost would end it.
func TestNoWakeupIsLost(t *testing.T) {
	const rounds = 20_000
	token := local.NewShared(value.Int(0))
	ref := distsys.NewRef("token", token)
	player := func(mine int32) *distsys.Instance[int] {
		return instance(t, archetype(func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == rounds {
				return distsys.Done, nil
			}
			v, err := distsys.Read(tx, ref, distsys.Int())
			if err != nil {
				return 0, err
			}
			if v != mine {
				return distsys.Blocked()
			}
			*n++
			return 0, distsys.Write(tx, ref, distsys.Int(), 1-mine)
		}), 0, distsys.Options{})
	}
	a, b := player(0), player(1)
	if err := distsys.Run(within(t), a, b); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*distsys.Instance[int]{a, b} {
		// Being refused the lock adds some, ten a round where both share one
		// processor; spinning would add thousands.
		if m := p.Metrics(); m.Blocked > 40*rounds {
			t.Errorf("%d blocked attempts in %d rounds", m.Blocked, rounds)
		}
	}
}

// TestEitherWaitsForBoth: a section blocked in both branches is woken by a
// change that concerns either.
func TestEitherWaitsForBoth(t *testing.T) {
	const each = 500
	q := []*queue.Queue{queue.New(queue.Limits{}), queue.New(queue.Limits{})}
	refs := []distsys.Ref{distsys.NewRef("p", q[0].In()), distsys.NewRef("q", q[1].In())}
	type state struct{ n [2]int }
	in := instance(t, archetype(func(s *state, tx *distsys.Tx) (distsys.Label, error) {
		if s.n[0]+s.n[1] == 2*each {
			return distsys.Done, nil
		}
		k, err := tx.Choose(2)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Read(refs[k]); err != nil {
			return 0, err
		}
		s.n[k]++
		return 0, nil
	}), state{}, distsys.Options{})
	done := make(chan error, 1)
	go func() { done <- in.Run(within(t)) }()
	for k := range q {
		go func() {
			for i := range each {
				if err := q[k].Send(within(t), value.Int(int32(i))); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := in.State().n; got != [2]int{each, each} {
		t.Errorf("received %v", got)
	}
}

func TestStopAndRestart(t *testing.T) {
	in := instance(t, archetype(
		func(s *int, _ *distsys.Tx) (distsys.Label, error) { *s++; return 1, nil },
		func(s *int, _ *distsys.Tx) (distsys.Label, error) { *s++; return 0, nil },
	), 0, distsys.Options{})
	for i := range 3 {
		done := make(chan error, 1)
		before := in.Metrics().Commits
		go func() { done <- in.Run(within(t)) }()
		waitFor(t, func() bool { return in.Metrics().Commits > before+10 })
		if err := in.Run(within(t)); err == nil || !strings.Contains(err.Error(), "running already") {
			t.Errorf("a second Run: %v", err)
		}
		in.Stop()
		if err := <-done; !errors.Is(err, distsys.ErrStopped) {
			t.Fatalf("run %d: %v", i, err)
		}
		// It stands at a label: l0 with an even count.
		if want := map[bool]string{true: "l0", false: "l1"}[in.State()%2 == 0]; in.At() != want {
			t.Errorf("at %s with s = %d", in.At(), in.State())
		}
	}
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	if err := in.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	in.Reset()
	if in.State() != 0 || in.At() != "" {
		t.Errorf("after Reset: s = %d at %q", in.State(), in.At())
	}
	done := make(chan error, 1)
	before := in.Metrics().Commits
	go func() { done <- in.Run(within(t)) }()
	waitFor(t, func() bool { return in.Metrics().Commits > before+10 })
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, distsys.ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
	if err := in.Run(within(t)); !errors.Is(err, distsys.ErrClosed) {
		t.Errorf("another Run: %v", err)
	}
}

// TestRunBesideClose: whichever comes first, Run tells of the Close, and never
// that something is running.
func TestRunBesideClose(t *testing.T) {
	a := archetype(func(s *int, _ *distsys.Tx) (distsys.Label, error) { *s++; return 0, nil })
	ctx := within(t)
	for range 100 {
		in := instance(t, a, 0, distsys.Options{})
		closed := make(chan error, 1)
		go func() { closed <- in.Close() }()
		if err := in.Run(ctx); !errors.Is(err, distsys.ErrClosed) {
			t.Fatalf("Run: %v", err)
		}
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
	}
}

// TestBlockedForEverStops: what can never go on can still be ended.
func TestBlockedForEverStops(t *testing.T) {
	in := instance(t, archetype(func(*int, *distsys.Tx) (distsys.Label, error) { return distsys.Blocked() }), 0, distsys.Options{})
	ctx, cancel := context.WithCancel(within(t))
	done := make(chan error, 1)
	go func() { done <- in.Run(ctx) }()
	waitFor(t, func() bool { return in.Metrics().Blocked == 2 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestInvariants(t *testing.T) {
	a := archetype(func(s *int, _ *distsys.Tx) (distsys.Label, error) { *s++; return 0, nil })
	a.Invariants = []distsys.Invariant[int]{
		{Name: "Positive", Holds: func(s *int, _ *distsys.Tx) (bool, error) { return *s >= 0, nil }},
		{Name: "Small", Place: "a.tla:5:1", Holds: func(s *int, _ *distsys.Tx) (bool, error) { return *s < 3, nil }},
	}
	a.Vars = func(s *int) []distsys.Var { return []distsys.Var{{Name: "s", Value: value.Int(int32(*s))}} }
	in := instance(t, a, 0, distsys.Options{})
	err := in.Run(within(t))
	inv := (*distsys.InvariantError)(nil)
	if !errors.As(err, &inv) || inv.Name != "Small" {
		t.Fatalf("got %v, want the invariant Small", err)
	}
	if want := "a.tla:1:1: A(7) at l0: invariant Small is false (a.tla:5:1)\n  s = 3"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if in.State() != 2 {
		t.Errorf("the section that breaks the invariant took effect: s = %d", in.State())
	}
}

// TestProcedures computes factorials by recursion: the PlusCal procedure
//
//	procedure fac(n) { f: if (n = 0) { r := 1; return } else { call fac(n-1); g: r := n * r; return } }
func TestProcedures(t *testing.T) {
	type facVars struct{ n int32 }
	type state struct {
		arg, r int32
		fac    facVars
		stack  distsys.Stack[facVars]
	}
	call := func(s *state, n int32, ret distsys.Label) (distsys.Label, error) {
		var err error
		s.stack, err = s.stack.Push(ret, s.fac)
		s.fac = facVars{n}
		return 1, err
	}
	ret := func(s *state) (l distsys.Label, err error) {
		l, s.fac, s.stack = s.stack.Pop()
		return l, nil
	}
	a := archetype(
		func(s *state, _ *distsys.Tx) (distsys.Label, error) { return call(s, s.arg, 3) },
		func(s *state, _ *distsys.Tx) (distsys.Label, error) {
			if s.fac.n == 0 {
				s.r = 1
				return ret(s)
			}
			return call(s, s.fac.n-1, 2)
		},
		func(s *state, _ *distsys.Tx) (distsys.Label, error) {
			s.r *= s.fac.n
			return ret(s)
		},
		func(s *state, _ *distsys.Tx) (distsys.Label, error) { return distsys.Done, nil },
	)
	in := instance(t, a, state{arg: 10}, distsys.Options{})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if s := in.State(); s.r != 3628800 || s.stack.Depth() != 0 || s.fac != (facVars{}) {
		t.Errorf("%+v", s)
	}
	err := instance(t, a, state{arg: distsys.StackDepthMax + 1}, distsys.Options{}).Run(within(t))
	if !errors.Is(err, distsys.ErrStackOverflow) {
		t.Errorf("got %v, want a stack overflow", err)
	}
}

// refusing is a resource that answers its PreCommits from a list.
type refusing struct {
	local.Constant
	answers []error
	log     []string
}

func (r *refusing) Write(*distsys.Tx, []value.Value, value.Value) error { return nil }

func (r *refusing) PreCommit(tx *distsys.Tx) error {
	err := r.answers[0]
	r.answers = r.answers[1:]
	if err == distsys.ErrPending {
		tx.Answered().Wake()
	}
	r.log = append(r.log, "pre-commit")
	return err
}
func (r *refusing) Commit(*distsys.Tx) { r.log = append(r.log, "commit") }
func (r *refusing) Abort(*distsys.Tx)  { r.log = append(r.log, "abort") }

func TestRefusedSectionsAreRetried(t *testing.T) {
	again := errors.Join(distsys.ErrAbort, errFault)
	r := &refusing{answers: []error{again, distsys.ErrPending, again, distsys.ErrPending, nil}}
	x := local.NewVariable(value.Int(0))
	rr, rx := distsys.NewRef("r", r), distsys.NewRef("x", x)
	in := instance(t, archetype(func(s *int, tx *distsys.Tx) (distsys.Label, error) {
		*s++
		v, err := distsys.Read(tx, rx, distsys.Int())
		if err != nil {
			return 0, err
		}
		if err := tx.Write(rx, value.Int(v+1)); err != nil {
			return 0, err
		}
		return distsys.Done, tx.Write(rr, value.Int(0))
	}), 0, distsys.Options{})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	if in.State() != 1 || x.Value().AsInt() != 1 {
		t.Errorf("s = %d, x = %v: an aborted attempt shows", in.State(), x.Value())
	}
	if got, want := strings.Join(r.log, " "), "pre-commit abort pre-commit pre-commit abort pre-commit pre-commit commit"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if m := in.Metrics(); m.Aborts != 2 || m.Pauses != 2 || m.Commits != 2 {
		t.Errorf("%+v", m)
	}
}

// TestStepNeverBlocks drives instances by Step alone, as a simulator does, and
// gets the same run from the same seed.
func TestStepNeverBlocks(t *testing.T) {
	run := func(seed uint64) (order []int) {
		rng := env.Seeded(seed)
		q := queue.New(queue.Limits{Messages: 2})
		in, out := distsys.NewRef("in", q.In()), distsys.NewRef("out", q.Out())
		const count = 50
		e := env.Env{Clock: osenv.NewClock(), Random: rng}
		var procs []interface {
			distsys.Process
			Notify(func())
		}
		for i := range 3 {
			procs = append(procs, instance(t, archetype(func(n *int, tx *distsys.Tx) (distsys.Label, error) {
				if *n == count {
					return distsys.Done, nil
				}
				*n++
				return 0, tx.Write(out, value.Int(int32(i)))
			}), 0, distsys.Options{Env: e}))
		}
		procs = append(procs, instance(t, archetype(func(n *int, tx *distsys.Tx) (distsys.Label, error) {
			if *n == 3*count {
				return distsys.Done, nil
			}
			*n++
			v, err := tx.Read(in)
			if err == nil && tx.Self().AsInt() == 7 {
				order = append(order, int(v.AsInt()))
			}
			return 0, err
		}), 0, distsys.Options{Env: e}))
		runnable := map[int]bool{}
		for i, p := range procs {
			runnable[i] = true
			p.Notify(func() { runnable[i] = true })
		}
		left := len(procs)
		for left > 0 {
			var ready []int
			for i := range procs {
				if runnable[i] {
					ready = append(ready, i)
				}
			}
			if len(ready) == 0 {
				t.Fatal("nothing can go on")
			}
			i := ready[env.IntN(rng, len(ready))]
			runnable[i] = false
			switch procs[i].Step() {
			case distsys.Running:
				runnable[i] = true
			case distsys.Finished:
				left--
			}
		}
		return order
	}
	a, b, c := run(1), run(1), run(2)
	same := func(x, y []int) bool {
		for i := range x {
			if x[i] != y[i] {
				return false
			}
		}
		return true
	}
	if !same(a, b) {
		t.Error("two runs from one seed differ")
	}
	if same(a, c) {
		t.Error("runs from different seeds are the same")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	a := archetype(func(*int, *distsys.Tx) (distsys.Label, error) { return distsys.Done, nil })
	if _, err := distsys.New(a, value.Int(1), 0, distsys.Options{}); err == nil {
		t.Error("an instance without clock was made")
	}
	if _, err := distsys.New(a, value.Int(1), 0, distsys.Options{Env: osenv.New(), RetryMin: time.Second, RetryMax: time.Millisecond}); err == nil {
		t.Error("RetryMax below RetryMin was taken")
	}
	if _, err := distsys.New(archetype[int](), value.Int(1), 0, distsys.Options{Env: osenv.New()}); err == nil {
		t.Error("an archetype without sections was taken")
	}
}
