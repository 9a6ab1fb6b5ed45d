// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// byHand are Tasks whose steps the test takes.
type byHand struct{ step func() bool }

func (b *byHand) Task(step func() bool) env.Waker {
	b.step = step
	return env.WakeFunc(func() {})
}

func (b *byHand) run() {
	for b.step() {
	}
}

func options(d env.Disk, seed uint64, tasks env.Tasks) durable.Options {
	return durable.Options{Env: env.Env{Disk: d, Random: env.Seeded(seed), Clock: osenv.NewClock()}, Tasks: tasks, Dir: "journal",
		System: "s", Node: "n", CheckpointBytes: 24 << 10, Segment: 3 * 4096}
}

// oracle is what an ideal journal has: the state behind each of the changes, as
// text, in the order of the appends.
type oracle struct {
	states  []string
	durable int // states[durable] was reported durable
	now     map[string]map[string]string
	logs    map[string][]value.Value // long values, by instance
}

func (o *oracle) text() string {
	var lines []string
	for instance, vars := range o.now {
		for name, v := range vars {
			lines = append(lines, instance+"."+name+" = "+v)
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func (o *oracle) set(instance string, vars ...distsys.Var) {
	if o.now[instance] == nil {
		o.now[instance] = map[string]string{}
	}
	for _, v := range vars {
		o.now[instance][v.Name] = v.Value.String()
	}
}

var instances = []string{"A(1)", "A(2)", "B(1)"}

// found is what a journal says of the lives before, in the oracle's words.
func found(l *durable.Log) string {
	o := oracle{now: map[string]map[string]string{}}
	for _, name := range append([]string{""}, instances...) {
		k := l.Recall(name)
		if k == nil {
			continue
		}
		o.set(name, k.Vars...)
		if name != "" {
			o.now[name]["(life, n, done)"] = fmt.Sprint(k.Life, k.N, k.Done)
		}
	}
	return o.text()
}

// hook calls a function before each operation that changes a disk.
type hook struct {
	*sim.Disk
	before func(op string)
}

func (h *hook) Open(name string, create bool) (env.File, error) {
	if create {
		h.before("create " + name)
	}
	f, err := h.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &hookFile{f, h, name}, nil
}

func (h *hook) Remove(name string) error { h.before("remove " + name); return h.Disk.Remove(name) }
func (h *hook) Rename(from, to string) error {
	h.before("rename " + to)
	return h.Disk.Rename(from, to)
}
func (h *hook) SyncDir(name string) error { h.before("sync " + name); return h.Disk.SyncDir(name) }

type hookFile struct {
	env.File
	h    *hook
	name string
}

func (f *hookFile) WriteAt(b []byte, off int64) (int, error) {
	f.h.before("write " + f.name)
	return f.File.WriteAt(b, off)
}
func (f *hookFile) Truncate(n int64) error {
	f.h.before("lengthen " + f.name)
	return f.File.Truncate(n)
}
func (f *hookFile) Sync() error { f.h.before("sync " + f.name); return f.File.Sync() }

// remains calls f with what a crash may leave of a disk: of the program alone, of
// the machine after each operation that was not synced, and of some at random.
func remains(d *sim.Disk, r env.Random, f func(how string, d *sim.Disk)) {
	f("program", d.Clone())
	for n := d.Ops() - uint64(d.Unsynced()); n < d.Ops(); n++ {
		c := d.Clone()
		c.Crash(sim.KeepUpTo(n))
		f(fmt.Sprintf("machine after operation %d", n), c)
	}
	if d.Unsynced() > 0 {
		for i := range 2 {
			c := d.Clone()
			c.Crash(sim.KeepFunc(func(_ sim.Piece, ops []uint64) int { return env.IntN(r, len(ops)+1) }))
			f(fmt.Sprintf("random %d", i), c)
		}
	}
}

// TestCrashes crashes lives before each operation of their disk. What comes back
// is the state behind some change, none before one that was reported durable.
func TestCrashes(t *testing.T) {
	r := env.Seeded(7)
	images, lost, more := 0, 0, 0
	for seed := range uint64(3) {
		d := sim.NewDisk()
		if err := durable.Format(options(d, seed+1, nil)); err != nil {
			t.Fatal(err)
		}
		o := &oracle{states: []string{""}, now: map[string]map[string]string{}, logs: map[string][]value.Value{}}
		for life := range uint64(3) {
			h := &hook{Disk: d}
			checking := false
			h.before = func(op string) {
				if checking {
					return
				}
				checking = true
				defer func() { checking = false }()
				remains(d, r, func(how string, left *sim.Disk) {
					images++
					tasks := &byHand{}
					l, err := durable.Open(options(left, 100, tasks))
					if err != nil {
						t.Fatalf("life %d, before %s, %s: %v", life, op, how, err)
					}
					got, at := found(l), -1
					for i := len(o.states) - 1; i >= o.durable; i-- {
						if o.states[i] == got {
							at = i
							break
						}
					}
					switch {
					case at < 0:
						t.Fatalf("life %d, before %s, %s: after %d changes, %d of them durable, came back:\n%s\nlast durable:\n%s", life, op, how, len(o.states)-1, o.durable, got, o.states[o.durable])
					case at < len(o.states)-1:
						lost++
					case at > o.durable:
						more++
					}
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
				})
			}
			tasks := &byHand{}
			l, err := durable.Open(options(h, seed+10*life+2, tasks))
			if err != nil {
				t.Fatal(err)
			}
			if l.Life() != life+1 {
				t.Fatalf("life %d is number %d", life, l.Life())
			}
			if got := found(l); got != o.text() {
				t.Fatalf("life %d begins with\n%s\nwant\n%s", life, got, o.text())
			}
			for n := range uint64(40) {
				instance := instances[env.IntN(r, len(instances))]
				k := distsys.Kept{Life: l.Life(), N: n + 1, Done: env.IntN(r, 30) == 0}
				for _, name := range []string{"x", "y", "z"} {
					if env.IntN(r, 2) == 0 {
						k.Vars = append(k.Vars, distsys.Var{Name: name, Value: value.Tuple(value.Int(int32(n)), value.String(strings.Repeat(string(rune('a'+env.IntN(r, 26))), env.IntN(r, 900))))})
					}
				}
				if env.IntN(r, 3) == 0 {
					k.Shared = []distsys.Var{{Name: "shared", Value: value.Int(int32(n))}}
				}
				if env.IntN(r, 2) == 0 { // part of a long value: an append, the front, or an element
					long := o.logs[instance]
					switch i := env.IntN(r, len(long)+1); {
					case env.IntN(r, 3) > 0 || len(long) < 100:
						long = append(slices.Clone(long), value.Int(int32(n)), value.Int(int32(env.IntN(r, 1<<30))))
					case i%2 == 0:
						long = slices.Clone(long[i/2:])
					default:
						long = slices.Clone(long)
						long[i-1] = value.String("changed")
					}
					if len(long) < 100 {
						long = append(long, slices.Repeat([]value.Value{value.Int(7)}, 100)...)
					}
					o.logs[instance] = long
					k.Vars = append(k.Vars, distsys.Var{Name: "log", Value: value.TupleOf(long)})
				}
				number, err := l.Append(instance, k)
				if err != nil {
					t.Fatal(err)
				}
				o.set(instance, k.Vars...)
				o.now[instance]["(life, n, done)"] = fmt.Sprint(k.Life, k.N, k.Done)
				o.set("", k.Shared...)
				o.states = append(o.states, o.text())
				woken := false
				w := env.WakeFunc(func() { woken = true })
				if yes, err := l.Durable(number, &w); yes || err != nil {
					t.Fatalf("record %d is durable before anything was written: %v", number, err)
				}
				if env.IntN(r, 4) > 0 {
					continue
				}
				tasks.run()
				yes, err := l.Durable(number, &w)
				if !yes || err != nil || !woken {
					t.Fatalf("record %d after the step of the writer: durable %v, woken %v, %v", number, yes, woken, err)
				}
				o.durable = len(o.states) - 1
			}
			tasks.run()
			o.durable = len(o.states) - 1
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			h.before("the end")
		}
		names, err := d.List("journal")
		if err != nil || len(names) > 12 {
			t.Errorf("the journal is not cut: %d files, %v", len(names), err)
		}
	}
	if images < 300 || lost == 0 || more == 0 {
		t.Errorf("%d images; in %d something was lost, in %d something was there before it was reported: the test is too weak", images, lost, more)
	}
	t.Logf("%d images, %d lost something, %d had more than was reported", images, lost, more)
}

// TestRefused opens what is not the node's journal.
func TestRefused(t *testing.T) {
	d := sim.NewDisk()
	if _, err := durable.Open(options(d, 1, &byHand{})); !errors.Is(err, wal.ErrNone) {
		t.Errorf("no journal: %v", err)
	}
	if err := durable.Format(options(d, 1, nil)); err != nil {
		t.Fatal(err)
	}
	if err := durable.Format(options(d, 2, nil)); !errors.Is(err, wal.ErrExists) {
		t.Errorf("made twice: %v", err)
	}
	other := options(d, 3, &byHand{})
	other.Node = "m"
	if _, err := durable.Open(other); err == nil || !strings.Contains(err.Error(), `belongs to "distsys\ns\nn", not to "distsys\ns\nm"`) {
		t.Errorf("another node's: %v", err)
	}
	l, err := durable.Open(options(d, 4, &byHand{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Open(options(d, 5, &byHand{})); !errors.Is(err, wal.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append("A(1)", distsys.Kept{}); !errors.Is(err, wal.ErrStopped) {
		t.Errorf("closed: %v", err)
	}
}

// TestIncrements counts the bytes that are written for a long sequence that grows,
// loses its first elements and has others changed.
func TestIncrements(t *testing.T) {
	d := sim.NewDisk()
	if err := durable.Format(options(d, 1, nil)); err != nil {
		t.Fatal(err)
	}
	tasks := &byHand{}
	o := options(d, 2, tasks)
	o.CheckpointBytes = 1 << 30
	written := 0
	l, err := durable.Open(durable.Options{Env: env.Env{Disk: &counting{d, &written}, Random: o.Env.Random, Clock: o.Env.Clock}, Tasks: tasks,
		Dir: o.Dir, System: o.System, Node: o.Node, CheckpointBytes: 1 << 30, Segment: 1 << 22})
	if err != nil {
		t.Fatal(err)
	}
	var long []value.Value
	for i := range int32(10_000) {
		long = append(long, value.Int(i))
	}
	put := func(n uint64) {
		if _, err := l.Append("A(1)", distsys.Kept{Life: 1, N: n, Vars: []distsys.Var{{Name: "log", Value: value.TupleOf(slices.Clone(long))}}}); err != nil {
			t.Fatal(err)
		}
	}
	put(1)
	tasks.run()
	first := written
	const more = 300
	for n := range uint64(more) {
		long = append(long, value.Int(int32(n)*1000))
		if n%3 == 1 {
			long = slices.Clone(long[2:])
		}
		if n%3 == 2 {
			long = slices.Clone(long)
			long[n*20] = value.String("changed")
		}
		put(2 + n)
	}
	tasks.run()
	if first < 20_000 || written-first > more*60+3*4096 {
		t.Errorf("%d bytes for the sequence, and %d for %d changes to it", first, written-first, more)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = durable.Open(options(d, 3, &byHand{}))
	if err != nil {
		t.Fatal(err)
	}
	if k := l.Recall(""); k != nil {
		t.Errorf("shared variables that were never there come back: %v", k)
	}
	if got := l.Recall("A(1)").Vars[0].Value; !value.Equal(got, value.TupleOf(long)) {
		t.Errorf("it comes back as %s", value.Brief(got))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// counting is a disk that counts the bytes that are written to it.
type counting struct {
	*sim.Disk
	n *int
}

func (c *counting) Open(name string, create bool) (env.File, error) {
	f, err := c.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &countingFile{f, c.n}, nil
}

type countingFile struct {
	env.File
	n *int
}

func (f *countingFile) WriteAt(b []byte, off int64) (int, error) {
	*f.n += len(b)
	return f.File.WriteAt(b, off)
}
