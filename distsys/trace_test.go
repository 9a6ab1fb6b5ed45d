// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

type memory struct {
	events []tracelog.Event
	fail   error
}

func (m *memory) Record(e *tracelog.Event) error {
	if m.fail != nil && len(m.events) == 2 {
		return m.fail
	}
	e.Start, e.End = 0, 0
	m.events = append(m.events, *e)
	return nil
}

// tracedArchetype reads f[1], tries an either of which the first branch is
// blocked, writes f[2] and ends.
func tracedArchetype(ref distsys.Ref) *distsys.Archetype[int32] {
	a := archetype(func(s *int32, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, ref, distsys.Int(), value.Int(1))
		if err != nil {
			return 0, err
		}
		k, err := tx.Choose(2)
		if err != nil {
			return 0, err
		}
		if k == 0 {
			return distsys.Blocked()
		}
		*s = v
		return 1, distsys.Write(tx, ref, distsys.Int(), v+1, value.Int(2))
	}, func(*int32, *distsys.Tx) (distsys.Label, error) { return distsys.Done, nil })
	a.Init = func(s *int32, _ *distsys.Tx) error { *s = 5; return nil }
	a.Vars = func(s *int32) []distsys.Var {
		return []distsys.Var{{Name: "s", Value: value.Int(*s)}, {Name: "same", Value: value.String("x")}}
	}
	return a
}

func TestTrace(t *testing.T) {
	f := local.NewShared(value.Tuple(value.Int(10), value.Int(20)))
	m := &memory{}
	in := instance(t, tracedArchetype(distsys.NewRef("f", f)), 0, distsys.Options{Recorder: m, TraceAborted: true,
		Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(2)}})
	if err := in.Run(within(t)); err != nil {
		t.Fatal(err)
	}
	clock := func(n uint64) tracelog.Clock { return tracelog.Clock{{Actor: "A(7)", N: n}} }
	read := tracelog.Element{Op: tracelog.Read, Name: "f", Indices: []string{"1"}, Value: "10"}
	want := []tracelog.Event{
		{N: 1, Next: "l0", Vars: []tracelog.Var{{Name: "s", Value: "5"}, {Name: "same", Value: `"x"`}}, Clock: clock(1)},
		{N: 2, Label: "l0", Elements: []tracelog.Element{read}, Clock: clock(1), Aborted: "blocked"},
		{N: 2, Label: "l0", Next: "l1", Vars: []tracelog.Var{{Name: "s", Value: "10"}}, Clock: clock(2),
			Elements: []tracelog.Element{read, {Op: tracelog.Write, Name: "f", Indices: []string{"2"}, Value: "11"}}},
		{N: 3, Label: "l1", Next: "Done", Clock: clock(3)},
	}
	// Whether the blocked branch comes first is for the random start to say.
	if len(m.events) == 3 {
		want = append(want[:1], want[2:]...)
	}
	if diff := cmp.Diff(want, m.events); diff != "" {
		t.Errorf("want, then got:\n%s", diff)
	}
}

// TestNoTraceNoEffect: a section that cannot be recorded does not happen.
func TestNoTraceNoEffect(t *testing.T) {
	f := local.NewShared(value.Tuple(value.Int(10), value.Int(20)))
	m := &memory{fail: errFault}
	in := instance(t, archetype(func(s *int32, tx *distsys.Tx) (distsys.Label, error) {
		*s++
		return 0, distsys.Write(tx, distsys.NewRef("f", f), distsys.Int(), *s, value.Int(1))
	}), 0, distsys.Options{Recorder: m})
	err := in.Run(within(t))
	if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "write trace") {
		t.Fatal(err)
	}
	if got := f.Value().Index(1).AsInt(); got != 1 || in.State() != 1 {
		t.Errorf("f[1] = %d, s = %d; want 1 and 1", got, in.State())
	}
}

func TestOpenTraceKeepsOldFiles(t *testing.T) {
	dir := t.TempDir()
	d, err := osenv.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		tr, err := distsys.OpenTrace(d, osenv.NewClock(), "sys", "A", value.Tuple(value.Int(1), value.String("x/../y")), nil)
		if err != nil {
			t.Fatal(err)
		}
		in := instance(t, archetype(func(*int, *distsys.Tx) (distsys.Label, error) { return distsys.Done, nil }), 0, distsys.Options{Recorder: tr})
		if err := errors.Join(in.Run(within(t)), tr.Close()); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if got, want := strings.Join(names, " "), "trace-A-1xy.2.jsonl trace-A-1xy.3.jsonl trace-A-1xy.jsonl"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	f, err := os.Open(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The actor of the header is not the instance's: they are made by hand here.
	if _, err := tracelog.Parse(f); err == nil || !strings.Contains(err.Error(), "has the clock 0") {
		t.Errorf("a trace of A(7) under the name of another: %v", err)
	}
}

type listener struct{ events []string }

func (l *listener) Trace(e env.Event) {
	l.events = append(l.events, fmt.Sprintf("%s %v", e.EventName(), e))
}

func TestTracerIsTold(t *testing.T) {
	l := &listener{}
	gate := local.NewShared(value.Bool(false))
	ref := distsys.NewRef("gate", gate)
	in := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		open, err := distsys.Read(tx, ref, distsys.Bool())
		if err == nil && !open {
			err = distsys.ErrBlocked
		}
		return distsys.Done, err
	}), 0, distsys.Options{Env: env.Env{Clock: osenv.NewClock(), Random: env.Seeded(1), Tracer: l}})
	for in.Step() == distsys.Running {
	}
	set(t, gate, value.Bool(true))
	for in.Step() == distsys.Running {
	}
	want := "committed {A(7) 1  l0}; waits {A(7) l0}; committed {A(7) 2 l0 Done}"
	if got := strings.Join(l.events, "; "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestTypedResources: resources hold the Go values of the sections, and values
// are made for the trace only.
func TestTypedResources(t *testing.T) {
	type boxed struct{ n int32 }
	for _, traced := range []bool{false, true} {
		made, read := 0, 0
		shape := distsys.Shape[boxed]{
			To:   func(x boxed) value.Value { made++; return value.Int(x.n) },
			From: func(v value.Value) boxed { read++; return boxed{v.AsInt()} },
		}
		c := local.NewShared(value.Int(1))
		ref := distsys.NewRef("c", c)
		m := &memory{}
		o := distsys.Options{}
		if traced {
			o.Recorder = m
		}
		in := instance(t, archetype(func(s *int32, tx *distsys.Tx) (distsys.Label, error) {
			x, err := distsys.Read(tx, ref, shape)
			if err != nil {
				return 0, err
			}
			if x.n == 50 {
				return distsys.Done, nil
			}
			x.n++
			return 0, distsys.Write(tx, ref, shape, x)
		}), 0, o)
		if err := in.Run(within(t)); err != nil {
			t.Fatal(err)
		}
		want := 0
		if traced {
			want = 50 + 49 // as many as elements in the trace
		}
		if made != want || read != 1 {
			t.Errorf("traced %v: %d values made, want %d; %d read, want 1", traced, made, want, read)
		}
		if n := c.Value().AsInt(); n != 50 {
			t.Errorf("c = %d, want 50", n)
		}
		if !traced {
			continue
		}
		elements := []tracelog.Element{{Op: tracelog.Read, Name: "c", Value: "1"}, {Op: tracelog.Write, Name: "c", Value: "2"}}
		if diff := cmp.Diff(elements, m.events[1].Elements); diff != "" {
			t.Errorf("want, then got:\n%s", diff)
		}
	}
}
