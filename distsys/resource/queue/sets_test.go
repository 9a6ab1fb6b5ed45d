// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// world holds back what a network and timers would bring, and brings it in any
// order.
type world struct {
	r     env.Random
	later []func()
}

func (w *world) bring() {
	if len(w.later) == 0 {
		return
	}
	i := env.IntN(w.r, len(w.later))
	f := w.later[i]
	w.later = slices.Delete(w.later, i, i+1)
	f()
}

func (w *world) Now() env.Instant { return 0 }
func (w *world) Wall() time.Time  { return time.Time{} }
func (w *world) Stop() bool       { return true }
func (w *world) After(_ time.Duration, k env.Waker) env.Timer {
	w.later = append(w.later, k.Wake)
	return w
}

// far writes to a queue as one in another node does: the places are taken later,
// and the decision comes later still.
type far struct {
	distsys.Resource
	w   *world
	q   *queue.Queue
	now *offer
}

type offer struct {
	msgs    []queue.Message
	places  []*queue.Place
	outcome queue.Outcome
	asked   bool
	heard   bool
	over    bool
}

func (f *far) Write(_ *distsys.Tx, _ []value.Value, v value.Value) error {
	if f.now == nil {
		f.now = &offer{}
	}
	f.now.msgs = append(f.now.msgs, queue.Message{Value: v})
	return nil
}

func (f *far) Queues(*distsys.Tx) bool { return f.now != nil }

func (f *far) PreCommit(tx *distsys.Tx) error {
	o, alone, answered := f.now, tx.Alone(f), tx.Answered()
	switch {
	case o == nil:
		return nil
	case !o.asked:
		o.asked = true
		f.w.later = append(f.w.later, func() {
			if o.over {
				return
			}
			o.places, o.outcome = f.q.Stage(alone, o.msgs...)
			f.w.later = append(f.w.later, func() { o.heard = true; answered.Wake() })
		})
		return distsys.ErrPending
	case !o.heard:
		return distsys.ErrPending
	case o.outcome != queue.Staged:
		return fmt.Errorf("%w: no place", distsys.ErrAbort)
	}
	return nil
}

func (f *far) Commit(*distsys.Tx) { f.end(f.q.Ready) }
func (f *far) Abort(*distsys.Tx)  { f.end(f.q.Drop) }

func (f *far) end(decide func([]*queue.Place)) {
	if o := f.now; o != nil {
		f.now, o.over = nil, true
		if len(o.places) > 0 {
			f.w.later = append(f.w.later, func() { decide(o.places) })
		}
	}
}

// step is a part of a section: it takes a message from a set, or adds one.
type step struct {
	set  int
	adds bool
	x    int32
}

// order looks for an order of the sections in which each finds in the sets what it
// took, and after which they hold what is left. Each process does its sections one
// after the other.
func order(done [][][]step, left [2]uint8) bool {
	type state struct {
		at   [3]int
		sets [2]uint8
	}
	failed := map[state]bool{}
	var from func(s state) bool
	from = func(s state) bool {
		if failed[s] {
			return false
		}
		more := false
		for p, sections := range done {
			if s.at[p] == len(sections) {
				continue
			}
			more = true
			next, possible := s, true
			next.at[p]++
			for _, a := range sections[s.at[p]] {
				bit := uint8(1) << a.x
				if !a.adds && next.sets[a.set]&bit == 0 {
					possible = false
					break
				}
				if a.adds {
					next.sets[a.set] |= bit
				} else {
					next.sets[a.set] &^= bit
				}
			}
			if possible && from(next) {
				return true
			}
		}
		if !more && s.sets == left {
			return true
		}
		failed[s] = true
		return false
	}
	return from(state{})
}

// taker is a process of the test, with what its sections did.
type taker struct {
	in   *distsys.Instance[int]
	now  []step // of the attempt
	done [][]step
}

func newTaker(t *testing.T, w *world, self int32, sets []*queue.Queue) *taker {
	t.Helper()
	var reads, writes []distsys.Ref
	var remote []bool // the set is written to from another node
	for _, q := range sets {
		in, out := distsys.Resource(q.In()), distsys.Resource(&far{w: w, q: q})
		switch env.IntN(w.r, 6) {
		case 0:
			out = q.Out()
		case 1:
			in = q.Both()
			out = in
		}
		_, away := out.(*far)
		remote = append(remote, away)
		reads, writes = append(reads, distsys.NewRef("in", in)), append(writes, distsys.NewRef("out", out))
	}
	var script [][]step
	for range 4 {
		var section []step
		for range 1 + env.IntN(w.r, 3) {
			section = append(section, step{set: env.IntN(w.r, 2), adds: env.IntN(w.r, 5) > 1, x: int32(env.IntN(w.r, 2))})
		}
		// What a section sends to another node comes after what it reads.
		sent := func(a step) bool { return a.adds && remote[a.set] }
		slices.SortStableFunc(section, func(a, b step) int {
			switch {
			case sent(a) == sent(b):
				return 0
			case sent(b):
				return -1
			}
			return 1
		})
		script = append(script, section)
	}
	k := &taker{}
	run := func(n *int, tx *distsys.Tx) (distsys.Label, error) {
		k.now = nil
		for _, a := range script[*n] {
			if a.adds {
				if err := tx.Write(writes[a.set], value.Int(a.x)); err != nil {
					return 0, err
				}
			} else {
				v, err := tx.Read(reads[a.set])
				if err != nil {
					return 0, err
				}
				a.x = v.AsInt()
			}
			k.now = append(k.now, a)
		}
		if *n++; *n == len(script) {
			return distsys.Done, nil
		}
		return 0, nil
	}
	var err error
	k.in, err = distsys.New(&distsys.Archetype[int]{Name: "A", Sections: []distsys.Section[int]{{Name: "l", Run: run}}},
		value.Int(self), 0, distsys.Options{Env: env.Env{Clock: w, Random: w.r.Split("taker")}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *taker) step() {
	before := k.in.Metrics().Commits
	k.in.Step()
	if k.in.Metrics().Commits > before && k.now != nil {
		k.done, k.now = append(k.done, k.now), nil
	}
}

// TestSetsHaveOneOrder runs sections that take from sets and add to them, with
// offers and decisions that come late and in any order, and looks for an order of
// them that sets allow.
func TestSetsHaveOneOrder(t *testing.T) {
	sections, taken := 0, 0
	for seed := range uint64(5000) {
		w := &world{r: env.Seeded(seed)}
		sets := []*queue.Queue{queue.New(queue.Limits{Distinct: true}), queue.New(queue.Limits{Distinct: true})}
		var takers []*taker
		for self := range int32(3) {
			takers = append(takers, newTaker(t, w, self, sets))
		}
		for range 150 {
			if env.IntN(w.r, 2) == 0 {
				w.bring()
			} else {
				takers[env.IntN(w.r, 3)].step()
			}
		}
		var done [][][]step
		for _, k := range takers {
			if err := k.in.Close(); err != nil {
				t.Fatal(err)
			}
			done = append(done, k.done)
			sections += len(k.done)
			for _, s := range k.done {
				taken += len(slices.DeleteFunc(slices.Clone(s), func(a step) bool { return a.adds }))
			}
		}
		for len(w.later) > 0 {
			w.bring()
		}
		var left [2]uint8
		for i, q := range sets {
			for q.Len() > 0 {
				v, err := q.Receive(within(t))
				if err != nil {
					t.Fatal(err)
				}
				bit := uint8(1) << v.AsInt()
				if left[i]&bit != 0 {
					t.Fatalf("seed %d: set %d has %v twice", seed, i, v)
				}
				left[i] |= bit
			}
		}
		if !order(done, left) {
			t.Fatalf("seed %d: no order explains %v, which left %b", seed, done, left)
		}
	}
	if sections < 20000 || taken < 5000 {
		t.Errorf("%d sections took %d messages: the test is too weak", sections, taken)
	}
}

// TestASectionWritesToTheSetThatItReads runs one section on the set {1}. It writes
// 1 or 2, or reads, step by step, and the set then holds what these steps leave of
// a set.
func TestASectionWritesToTheSetThatItReads(t *testing.T) {
	for _, steps := range []string{"r", "wr", "rw", "rx", "xr", "wrw", "rww", "xrw", "wrx", "wxr", "ww", "wxw"} {
		want := map[int32]bool{1: true}
		for _, step := range steps {
			switch step {
			case 'r':
				delete(want, 1)
			case 'w':
				want[1] = true
			case 'x':
				want[2] = true
			}
		}
		for _, ends := range []string{"one resource", "two resources"} {
			q := queue.New(queue.Limits{Distinct: true, Messages: 4})
			if err := q.Send(within(t), value.Int(1)); err != nil {
				t.Fatal(err)
			}
			in, out := distsys.NewRef("in", q.In()), distsys.NewRef("out", q.Out())
			if ends == "one resource" {
				in = distsys.NewRef("both", q.Both())
				out = in
			}
			section := instance(t, 1, 0, func(_ *int, tx *distsys.Tx) (distsys.Label, error) {
				for _, step := range steps {
					var err error
					switch step {
					case 'r':
						var v value.Value
						if v, err = tx.Read(in); err == nil && v.AsInt() != 1 {
							t.Errorf("%s, %s: read %v, want 1", steps, ends, v)
						}
					case 'w':
						err = tx.Write(out, value.Int(1))
					case 'x':
						err = tx.Write(out, value.Int(2))
					}
					if err != nil {
						return 0, err
					}
				}
				return distsys.Done, nil
			})
			if err := section.Run(within(t)); err != nil {
				t.Fatal(err)
			}
			got := map[int32]bool{}
			for q.Len() > 0 {
				v, err := q.Receive(within(t))
				if err != nil {
					t.Fatal(err)
				}
				if got[v.AsInt()] {
					t.Errorf("%s, %s: %v is there twice", steps, ends, v)
				}
				got[v.AsInt()] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, %s: %v is left, want %v", steps, ends, got, want)
			}
		}
	}
}
