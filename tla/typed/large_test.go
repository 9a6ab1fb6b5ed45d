// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// word makes keys whose order is not that of n.
func word(n int32) string { return fmt.Sprint("k", n*7919%1000) }

type (
	wordSet  = Set[string, Strings]
	wordSets = Sets[string, Strings]
	wordFn   = Fn[string, int32, Strings, Ints]
	wordFns  = Fns[string, int32, Strings, Ints]
)

// TestLargeSets makes random sets from one another, with Go maps as the
// reference, and checks all of them again at the end: making a set does not
// change the sets it is made from.
func TestLargeSets(t *testing.T) {
	type pair struct {
		set wordSet
		has map[string]bool
	}
	k := wordSets{}
	crossed := map[bool]int{}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		pool := []pair{{wordSet{}, map[string]bool{}}}
		for range 1 + rng.IntN(12*shortMax) {
			w := word(rng.Int32N(1000))
			p := pool[0]
			pool[0] = pair{p.set.Add(w), p.has}
			p.has[w] = true
		}
		for range 200 {
			p, q := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
			made := pair{has: maps.Clone(p.has)}
			w := word(rng.Int32N(1000))
			without := func(_ string, _ bool) bool { return false }
			switch op := rng.IntN(9); {
			case op < 2:
				made.set = p.set.Add(w)
				made.has[w] = true
			case op < 4: // across the size at which the form changes, and back
				made.set = p.set
				for made.set.len() > shortMax-1 && rng.IntN(100) > 0 {
					w := made.set.Nth(rng.IntN(made.set.len()))
					made.set = made.set.Remove(w)
					delete(made.has, w)
				}
			case op == 4:
				made.set = p.set.Remove(w)
				delete(made.has, w)
			case op == 5:
				made.set = p.set.Union(q.set)
				maps.Copy(made.has, q.has)
			case op == 6:
				made.set = p.set.Minus(q.set)
				without = func(w string, _ bool) bool { return q.has[w] }
			case op == 7:
				made.set = p.set.Intersect(q.set)
				without = func(w string, _ bool) bool { return !q.has[w] }
			default:
				made.set = Filter(p.set, func(w string) bool { return w[len(w)-1] != '7' })
				without = func(w string, _ bool) bool { return w[len(w)-1] == '7' }
			}
			maps.DeleteFunc(made.has, without)
			pool = append(pool, made)
		}
		for i, p := range pool {
			want := slices.Sorted(maps.Keys(p.has))
			if got := p.set.Slice(); !slices.Equal(got, want) || int(p.set.Size()) != len(want) {
				t.Fatalf("seed %d: %v, want %v", seed, got, want)
			}
			if long := len(want) > shortMax; long != (p.set.long != nil) {
				t.Fatalf("seed %d: a set of %d has the form of another size", seed, len(want))
			}
			crossed[p.set.long != nil]++
			checkNode(t, p.set.long)
			for range 3 {
				if w := word(rng.Int32N(1000)); p.set.Has(w) != p.has[w] {
					t.Fatalf("seed %d: has %s: %v", seed, w, p.set.Has(w))
				}
			}
			// Equal values are equal however they were made.
			q := pool[(i*7+1)%len(pool)]
			same := NewSet[Strings](slices.Collect(maps.Keys(p.has))...)
			if !k.Equal(p.set, same) || k.Compare(p.set, same) != 0 || k.Equal(p.set, q.set) != maps.Equal(p.has, q.has) ||
				sign(k.Compare(p.set, q.set)) != sign(value.Compare(k.Value(p.set), k.Value(q.set))) ||
				p.set.In(q.set) != value.Subseteq(k.Value(p.set), k.Value(q.set)) {
				t.Fatalf("seed %d: sets of %d and %d compare wrongly", seed, p.set.Size(), q.set.Size())
			}
			if back := k.Of(k.Value(p.set)); !k.Equal(back, p.set) {
				t.Fatalf("seed %d: %v comes back as %v", seed, want, back.Slice())
			}
		}
	}
	if crossed[true] < 300 || crossed[false] < 300 {
		t.Errorf("of the sets %d are long and %d short", crossed[true], crossed[false])
	}
}

// TestLargeFunctions does the same with functions.
func TestLargeFunctions(t *testing.T) {
	type pair struct {
		fn wordFn
		at map[string]int32
	}
	k := wordFns{}
	longest := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 6))
		pool := []pair{{wordFn{}, map[string]int32{}}}
		for i := range rng.Int32N(10 * shortMax) {
			w := word(rng.Int32N(1000))
			pool[0] = pair{pool[0].fn.Put(w, i), pool[0].at}
			pool[0].at[w] = i
		}
		for range 200 {
			p, q := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
			made := pair{at: maps.Clone(p.at)}
			w, x := word(rng.Int32N(1000)), rng.Int32N(100)
			_, in := p.at[w]
			switch op := rng.IntN(8); {
			case op < 2:
				made.fn = p.fn.Put(w, x)
				made.at[w] = x
			case op == 2:
				made.fn = p.fn.Over(Single[Strings, Ints](w, x))
				if !in {
					made.at[w] = x
				}
			case op == 3:
				made.fn = Single[Strings, Ints](w, x).Over(p.fn)
				made.at[w] = x
			case op == 4:
				made.fn = p.fn.With(w, x)
				if in {
					made.at[w] = x
				}
			case op == 5:
				made.fn = p.fn.Update(w, func(x int32) int32 { return x + 1000 })
				if in {
					made.at[w] += 1000
				}
			case op == 6:
				made.fn = p.fn.Over(q.fn)
				maps.Copy(made.at, q.at)
				maps.Copy(made.at, p.at)
			default:
				made.fn = MakeFn[Ints](p.fn.Domain().Remove(w), p.fn.At)
				delete(made.at, w)
			}
			pool = append(pool, made)
		}
		for i, p := range pool {
			want := slices.Sorted(maps.Keys(p.at))
			if got := p.fn.Domain().Slice(); !slices.Equal(got, want) || int(p.fn.Len()) != len(want) {
				t.Fatalf("seed %d: the domain is %v, want %v", seed, got, want)
			}
			checkNode(t, p.fn.keys.long)
			checkNode(t, p.fn.vals.long)
			longest = max(longest, len(want))
			n := 0
			for x := range p.fn.Values().All() {
				if w := want[n]; x != p.at[w] || p.fn.At(w) != x {
					t.Fatalf("seed %d: [%s] is %d and %d, want %d", seed, w, x, p.fn.At(w), p.at[w])
				}
				n++
			}
			q := pool[(i*7+1)%len(pool)]
			same := MakeFn[Ints](NewSet[Strings](slices.Collect(maps.Keys(p.at))...), func(w string) int32 { return p.at[w] })
			if n != len(want) || !k.Equal(p.fn, same) || k.Compare(p.fn, same) != 0 || k.Equal(p.fn, q.fn) != maps.Equal(p.at, q.at) ||
				sign(k.Compare(p.fn, q.fn)) != sign(value.Compare(k.Value(p.fn), k.Value(q.fn))) {
				t.Fatalf("seed %d: functions on %d and %d compare wrongly", seed, p.fn.Len(), q.fn.Len())
			}
			if back := k.Of(k.Value(p.fn)); !k.Equal(back, p.fn) {
				t.Fatalf("seed %d: a function on %v comes back changed", seed, want)
			}
		}
	}
	if longest < 6*shortMax {
		t.Errorf("the largest function has %d keys", longest)
	}
}

// TestOperationsOnLargeSetsAreCheap counts the bytes that operations allocate:
// no operation copies elements that it does not change.
func TestOperationsOnLargeSetsAreCheap(t *testing.T) {
	const n = 500_000
	set := Collect[Ints](Interval(1, n), func(x int32) int32 { return 2 * x })
	fn := MakeFn[Ints](set, func(x int32) int32 { return x })
	odd := int32(-1)
	for name, c := range map[string]struct {
		limit uint64 // bytes
		step  func()
	}{
		"add":        {2500, func() { odd += 2; set = set.Add(odd) }},
		"remove":     {2500, func() { set = set.Remove(set.Nth(set.len() / 3)) }},
		"member":     {0, func() { set.Has(odd) }},
		"union":      {6000, func() { odd += 2; set = set.Union(NewSet[Ints](odd, odd+2)) }},
		"difference": {6000, func() { set = set.Minus(NewSet[Ints](set.Nth(7), set.Nth(n/2))) }},
		"put":        {5000, func() { odd += 2; fn = fn.Put(odd, 7) }},
		"update":     {2500, func() { fn = fn.With(n/2, 7) }},
		"over":       {6000, func() { odd += 2; fn = Single[Ints, Ints](odd, 1).Over(fn) }},
		"domain":     {0, func() { fn.Domain() }},
		"values":     {0, func() { fn.Values() }},
		"search":     {100, func() { Some(fn.Domain(), func(x int32) bool { return x == odd || x > 100 }) }},
		"equal":      {0, func() { Sets[int32, Ints]{}.Equal(fn.Domain(), fn.Domain()) }},
	} {
		const times = 300
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			c.step()
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / times; got > c.limit {
			t.Errorf("%s takes %d bytes, want at most %d", name, got, c.limit)
		}
	}
}
