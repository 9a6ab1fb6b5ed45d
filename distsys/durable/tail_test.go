// SPDX-License-Identifier: Apache-2.0

package durable_test

import (
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// tasksByHand run when the test says so.
type tasksByHand struct{ step func() bool }

func (b *tasksByHand) Task(step func() bool) env.Waker {
	b.step = step
	return env.WakeFunc(func() {})
}

// TestTails: a sequence of which sections change the end is, after each restart,
// what they have made of it, through checkpoints and where it was written whole in
// between.
func TestTails(t *testing.T) {
	const lives, sections = 12, 40
	rng := env.Seeded(5)
	disk := sim.NewDisk()
	tasks := &tasksByHand{}
	o := durable.Options{Env: env.Env{Disk: disk, Random: rng, Clock: osenv.NewClock()}, Tasks: tasks, Dir: "journal",
		System: "s", Node: "n", CheckpointBytes: 4 << 10, Segment: 3 * 4096}
	if err := durable.Format(o); err != nil {
		t.Fatal(err)
	}
	var want []value.Value
	other, n := value.Int(0), uint64(0)
	for life := range lives {
		l, err := durable.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		k := l.Recall("A(1)")
		if life == 0 {
			if k != nil {
				t.Fatalf("a new journal has %v", k)
			}
		} else if len(k.Vars) != 2 || !value.Equal(k.Vars[0].Value, value.TupleOf(want)) || !value.Equal(k.Vars[1].Value, other) || k.N != n {
			t.Fatalf("life %d finds %v, want %v and %v", life+1, k.Vars, value.TupleOf(want), other)
		}
		for i := range sections {
			n++
			k := distsys.Kept{Life: l.Life(), N: n}
			switch {
			case life == 0 && i == 0:
				k.Vars = []distsys.Var{{Name: "log", Value: value.TupleOf(want)}, {Name: "other", Value: other}}
			case env.IntN(rng, 15) == 0:
				want = []value.Value{value.Int(int32(i))}
				k.Vars = []distsys.Var{{Name: "log", Value: value.TupleOf(want)}}
			default:
				keep := len(want)
				if env.IntN(rng, 4) == 0 {
					keep = env.IntN(rng, keep+1)
				}
				tail := distsys.Tail{Name: "log", Keep: keep}
				for j := range env.IntN(rng, 5) {
					tail.Elems = append(tail.Elems, value.Tuple(value.String("entry"), value.Int(int32(life*1000+i*10+j))))
				}
				want = append(slices.Clone(want[:keep]), tail.Elems...)
				k.Tails = []distsys.Tail{tail}
				if env.IntN(rng, 3) == 0 {
					other = value.Int(int32(n))
					k.Vars = []distsys.Var{{Name: "other", Value: other}}
				}
			}
			if _, err := l.Append("A(1)", k); err != nil {
				t.Fatal(err)
			}
			if env.IntN(rng, 4) == 0 {
				for tasks.step() {
				}
			}
		}
		for tasks.step() {
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTailOfAnother: a tail of a sequence that is shorter, or of no sequence, is an
// error, and the journal takes nothing more.
func TestTailOfAnother(t *testing.T) {
	for _, first := range []value.Value{value.Tuple(value.Int(1)), value.Int(1)} {
		o := durable.Options{Env: env.Env{Disk: sim.NewDisk(), Random: env.Seeded(1), Clock: osenv.NewClock()}, Tasks: &tasksByHand{}, Dir: "journal", System: "s", Node: "n"}
		if err := durable.Format(o); err != nil {
			t.Fatal(err)
		}
		l, err := durable.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append("A(1)", distsys.Kept{Life: 1, N: 1, Vars: []distsys.Var{{Name: "log", Value: first}}}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := l.Append("A(1)", distsys.Kept{Life: 1, N: 2, Tails: []distsys.Tail{{Name: "log", Keep: 2}}}); err == nil {
				t.Errorf("two elements of %s were kept", first)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
