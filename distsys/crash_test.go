// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// disk is a Journal in memory of which the test says what is durable.
type disk struct {
	life    uint64
	records []distsys.Kept
	durable int
	failed  error
	waits   []env.Waker
}

func (d *disk) Life() uint64 { return d.life }

func (d *disk) Recall(instance string) *distsys.Kept {
	var k *distsys.Kept
	vars := map[string]value.Value{}
	for _, r := range d.records {
		k = &distsys.Kept{Life: r.Life, N: r.N, Done: r.Done}
		for _, v := range r.Vars {
			vars[v.Name] = v.Value
		}
	}
	for name, v := range vars {
		k.Vars = append(k.Vars, distsys.Var{Name: name, Value: v})
	}
	return k
}

func (d *disk) Append(instance string, k distsys.Kept) (uint64, error) {
	for _, v := range slices.Concat(k.Vars, k.Shared) {
		value.AppendWire(nil, v.Value)
	}
	d.records = append(d.records, k)
	return uint64(len(d.records)), nil
}

func (d *disk) Durable(n uint64, w env.Waker) (bool, error) {
	if d.failed != nil || n <= uint64(d.durable) {
		return d.failed == nil, d.failed
	}
	d.waits = append(d.waits, w)
	return false, nil
}

// sync makes everything durable.
func (d *disk) sync() {
	d.durable = len(d.records)
	for _, w := range d.waits {
		w.Wake()
	}
	d.waits = nil
}

// crash is the disk of the next life: with what was durable.
func (d *disk) crash() *disk {
	return &disk{life: d.life + 1, records: d.records[:d.durable:d.durable], durable: d.durable}
}

// lasting counts: n is durable, seen is not.
type lasting struct {
	out     distsys.Ref
	n, seen int32
	changed uint64
}

// counting goes from count to tell as often as calls says, and ends at n = 100. After
// a crash it continues at tell. A seen of 7 is a first value.
func counting(private int32) *distsys.Archetype[lasting] {
	a := archetype(
		func(s *lasting, tx *distsys.Tx) (distsys.Label, error) {
			s.n++
			s.seen++
			s.changed |= 1
			if s.n == 100 {
				return distsys.Done, nil
			}
			if s.n%private != 0 {
				return 0, nil
			}
			return 1, nil
		},
		func(s *lasting, tx *distsys.Tx) (distsys.Label, error) {
			tx.Print(value.Int(s.n))
			return 0, distsys.Write(tx, s.out, distsys.Int(), s.n)
		})
	start := func(s *lasting, _ *distsys.Tx) error {
		s.seen = 7
		return nil
	}
	a.Init = start
	a.Crash = &distsys.Crash[lasting]{
		Recover: 1,
		Durable: []distsys.Durable[lasting]{{
			Name: "n",
			Get:  func(s *lasting) value.Value { return value.Int(s.n) },
			Set:  func(s *lasting, v value.Value) { s.n = v.AsInt() },
		}},
		Changed: func(s *lasting) uint64 { c := s.changed; s.changed = 0; return c },
		Restart: start,
	}
	return a
}

// steps takes steps until the instance waits, and at most n.
func steps(in *distsys.Instance[lasting], n int) distsys.Status {
	for range n {
		if s := in.Step(); s != distsys.Running {
			return s
		}
	}
	return distsys.Running
}

// TestNothingIsSeenBeforeItIsDurable: sections that nobody sees go on, and what they
// changed is durable before the first that can be seen takes effect.
func TestNothingIsSeenBeforeItIsDurable(t *testing.T) {
	var printed bytes.Buffer
	d, out := &disk{life: 1}, local.NewShared(value.Int(0))
	in := instance(t, counting(5), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d, Print: &printed})
	seen := func() int32 {
		if text := strings.Fields(printed.String()); len(text) > 0 && text[len(text)-1] != out.Value().String() {
			t.Fatalf("printed %s, wrote %s", text[len(text)-1], out.Value())
		}
		return out.Value().AsInt()
	}
	for want := int32(5); want < 50; want += 5 {
		if s := steps(in, 1000); s != distsys.Waiting {
			t.Fatalf("status %v", s)
		}
		if seen() != want-5 {
			t.Fatalf("%d is seen although the disk has %d of %d records", seen(), d.durable, len(d.records))
		}
		if len(d.records) != int(want)+1 { // the first is that there is an instance
			t.Fatalf("%d records at %d", len(d.records), want)
		}
		if s := in.Step(); s != distsys.Waiting {
			t.Fatalf("status %v while nothing has changed", s)
		}
		d.sync()
		in.Step() // the section takes effect
		if seen() != want {
			t.Fatalf("%d is seen, want %d", seen(), want)
		}
	}
	// One that never can be seen waits, too, when very much is not durable.
	d, out = &disk{life: 1}, local.NewShared(value.Int(0))
	in = instance(t, counting(99), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d})
	if s := steps(in, 1000); s != distsys.Waiting || len(d.records) != 64 {
		t.Errorf("status %v with %d records that are not durable", s, len(d.records))
	}
	// An instance that ends waits for the record of that.
	d.sync()
	steps(in, 1000)
	d.sync()
	if s := steps(in, 1000); s != distsys.Waiting || !d.records[len(d.records)-1].Done {
		t.Errorf("status %v at the end", s)
	}
	d.sync()
	if s := steps(in, 2); s != distsys.Finished || in.Err() != nil {
		t.Errorf("status %v, %v", s, in.Err())
	}
}

// TestRestart crashes an instance behind each of its steps, with and without what
// waits for the disk.
func TestRestart(t *testing.T) {
	for crash := range 60 {
		for _, synced := range []bool{false, true} {
			d, out := &disk{life: 1}, local.NewShared(value.Int(0))
			in := instance(t, counting(3), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d})
			for range crash {
				if in.Step() == distsys.Waiting && (len(d.records)+crash)%2 == 0 {
					d.sync()
				}
			}
			if synced {
				d.sync()
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			told := out.Value().AsInt()
			next := d.crash()
			k := next.Recall("A(7)")
			events := &recorded{}
			in = instance(t, counting(3), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: next, Recorder: events})
			in.Step()
			s := in.State()
			switch {
			case s.seen != 7:
				t.Fatalf("crash at %d: the variable that is not durable is %d", crash, s.seen)
			case k == nil && (in.At() != "l0" || s.n != 0 || told != 0):
				t.Fatalf("crash at %d before anything was durable: at %s with %d, and %d was told", crash, in.At(), s.n, told)
			case k != nil && (in.At() != "l1" || s.n != k.Vars[0].Value.AsInt() || s.n < told):
				t.Fatalf("crash at %d: at %s with n = %d; the disk has %v, and %d was told", crash, in.At(), s.n, k.Vars, told)
			}
			next.sync()
			if e := (*events)[0]; e.Label != "" || e.Next != in.At() || e.Clock.Of("A(7)#2") != 1 || e.Clock.Of("A(7)") != 0 {
				t.Fatalf("the first section of the second life is in the trace as %+v", e)
			}
		}
	}
	// One that has ended stays so.
	d := &disk{life: 2, records: []distsys.Kept{{Life: 1, N: 9, Done: true, Vars: []distsys.Var{{Name: "n", Value: value.Int(100)}}}}, durable: 1}
	in := instance(t, counting(3), lasting{}, distsys.Options{Journal: d})
	if s := in.Step(); s != distsys.Finished || in.Err() != nil || in.At() != "Done" || len(d.records) != 1 {
		t.Errorf("an instance that has ended: status %v, %v, at %s, %d records", s, in.Err(), in.At(), len(d.records))
	}
}

type recorded []tracelog.Event

func (r *recorded) Record(e *tracelog.Event) error { *r = append(*r, *e); return nil }

// TestTraceSaysWhatIsKept: a section is marked in the trace exactly where the journal
// has it, so that it is known what a crash between the two has undone.
func TestTraceSaysWhatIsKept(t *testing.T) {
	for name, out := range map[string]distsys.Resource{
		"shared":  local.NewShared(value.Int(0)),
		"lasting": local.NewLasting("out", value.Int(0)),
	} {
		d := &disk{life: 1}
		for range 2 {
			before, events := len(d.records), &recorded{}
			in := instance(t, counting(3), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d, Recorder: events})
			for range 40 {
				in.Step()
				d.sync()
			}
			var marked, kept []uint64
			for _, e := range *events {
				if e.Kept {
					marked = append(marked, e.N)
				}
			}
			for _, r := range d.records[before:] {
				kept = append(kept, r.N)
			}
			if len(kept) < 15 || !slices.Equal(marked, kept) {
				t.Errorf("%s, life %d: the trace marks %v, the journal has %v", name, d.life, marked, kept)
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			d = d.crash()
		}
	}
}

// TestValuesThatNoJournalHolds end the instance with an error.
func TestValuesThatNoJournalHolds(t *testing.T) {
	deep := value.Int(0)
	for range 260 {
		deep = value.Tuple(deep)
	}
	a := counting(1)
	a.Crash.Durable[0].Get = func(*lasting) value.Value { return deep }
	in := instance(t, a, lasting{out: distsys.NewRef("out", local.NewShared(value.Int(0)))}, distsys.Options{Journal: &disk{life: 1}})
	steps(in, 10)
	if se := (*distsys.SectionError)(nil); !errors.As(in.Err(), &se) || !strings.Contains(se.Error(), "write the journal") {
		t.Errorf("the instance ended with %v", in.Err())
	}
}

// TestStopWhileTheDiskIsWaitedFor: the section goes on in the next Run; Close gives
// it up.
func TestStopWhileTheDiskIsWaitedFor(t *testing.T) {
	d, out := &disk{life: 1}, local.NewShared(value.Int(0))
	in := instance(t, counting(1), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d})
	steps(in, 1000)
	in.Stop()
	if err := in.Run(within(t)); !errors.Is(err, distsys.ErrStopped) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	cancel()
	if err := in.Run(ctx); !errors.Is(err, context.Canceled) || out.Value().AsInt() != 0 {
		t.Fatalf("%v, told %s", err, out.Value())
	}
	d.sync()
	if steps(in, 2); out.Value().AsInt() != 1 {
		t.Fatalf("after the disk was written %s was told", out.Value())
	}
	steps(in, 1000)
	if err := in.Close(); err != nil || out.Value().AsInt() != 1 {
		t.Fatalf("%v, told %s", err, out.Value())
	}
	// The lock on the variable is free.
	free := instance(t, archetype(func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
		return distsys.Done, tx.Write(distsys.NewRef("out", out), value.Int(9))
	}), 0, distsys.Options{})
	if err := free.Run(within(t)); err != nil || out.Value().AsInt() != 9 {
		t.Fatalf("%v, %s", err, out.Value())
	}
}

// TestJournalsThatDoNotFit: of another program, broken, or missing.
func TestJournalsThatDoNotFit(t *testing.T) {
	if _, err := distsys.New(counting(1), value.Int(7), lasting{}, distsys.Options{Env: osenv.New()}); err == nil || !strings.Contains(err.Error(), "Journal is needed") {
		t.Errorf("without a journal: %v", err)
	}
	kept := func(vars ...distsys.Var) *disk {
		return &disk{life: 2, records: []distsys.Kept{{Life: 1, N: 1, Vars: vars}}, durable: 1}
	}
	n := distsys.Var{Name: "n", Value: value.Int(3)}
	for want, d := range map[string]*disk{
		"no variable n":                         kept(),
		"has a variable old":                    kept(n, distsys.Var{Name: "old", Value: value.Int(3)}),
		`n = "x", which does not have the type`: kept(distsys.Var{Name: "n", Value: value.String("x")}),
		"write the journal: broken":             {life: 1, failed: errors.New("broken")},
	} {
		out := local.NewShared(value.Int(0))
		in := instance(t, counting(1), lasting{out: distsys.NewRef("out", out)}, distsys.Options{Journal: d})
		if s := steps(in, 1000); s != distsys.Finished || !strings.Contains(fmt.Sprint(in.Err()), want) || out.Value().AsInt() != 0 {
			t.Errorf("status %v, %v; want %q; told %s", s, in.Err(), want, out.Value())
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an instance that survives crashes was reset")
		}
	}()
	instance(t, counting(1), lasting{}, distsys.Options{Journal: &disk{life: 1}}).Reset()
}
