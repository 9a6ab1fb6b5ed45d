// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestLongSequences makes random sequences from one another, with plain slices
// as the reference, and checks all of them again at the end: making a sequence
// does not change the sequences it is made from.
func TestLongSequences(t *testing.T) {
	type pair struct {
		seq   intSeq
		slice []int32
	}
	longest := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 3))
		pool := []pair{{}, {}}
		for range 40 * leafMax {
			pool[1] = pair{pool[1].seq.Append(int32(len(pool[1].slice))), append(pool[1].slice, int32(len(pool[1].slice)))}
		}
		for range 300 {
			p, q := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
			n := len(p.slice)
			x := rng.Int32N(100)
			var made pair
			switch op := rng.IntN(9); {
			case op < 1:
				made = pair{p.seq.Append(x), append(slices.Clone(p.slice), x)}
			case op == 2 && n+len(q.slice) < 5000:
				made = pair{p.seq.Concat(q.seq), slices.Concat(p.slice, q.slice)}
			case op == 3:
				more := make([]int32, rng.IntN(3*leafMax))
				for i := range more {
					more[i] = rng.Int32N(100)
				}
				made = pair{p.seq.Concat(NewSeq[Ints](slices.Clone(more)...)), slices.Concat(p.slice, more)}
			case n == 0:
				continue
			case op == 4:
				made = pair{p.seq.Tail(), p.slice[1:]}
			case op == 5:
				from := rng.IntN(n)
				to := from + rng.IntN(n-from)
				made = pair{p.seq.Sub(int32(from)+1, int32(to)+1), p.slice[from : to+1]}
			case op == 6:
				i := rng.IntN(n)
				c := slices.Clone(p.slice)
				c[i] = x
				made = pair{p.seq.With(int32(i)+1, x), c}
			case op == 7:
				even := func(x int32) bool { return x%2 == 0 }
				made = pair{p.seq.Select(even), slices.DeleteFunc(slices.Clone(p.slice), func(x int32) bool { return !even(x) })}
			default:
				i := rng.IntN(n)
				if got := p.seq.At(int32(i) + 1); got != p.slice[i] || p.seq.Head() != p.slice[0] {
					t.Fatalf("seed %d: element %d of %d is %d, want %d", seed, i, n, got, p.slice[i])
				}
				continue
			}
			pool = append(pool, made)
		}
		k := Seqs[int32, Ints]{}
		for i, p := range pool {
			if !slices.Equal(p.seq.Slice(), p.slice) || int(p.seq.Len()) != len(p.slice) {
				t.Fatalf("seed %d: %v, want %v", seed, p.seq.Slice(), p.slice)
			}
			checkNode(t, p.seq.tree)
			longest = max(longest, len(p.slice))
			q := pool[(i*7+1)%len(pool)]
			same := NewSeq[Ints](slices.Clone(q.slice)...)
			if k.Equal(p.seq, q.seq) != slices.Equal(p.slice, q.slice) || k.Compare(q.seq, same) != 0 || !k.Equal(q.seq, same) ||
				sign(k.Compare(p.seq, q.seq)) != sign(value.Compare(k.Value(p.seq), k.Value(q.seq))) {
				t.Fatalf("seed %d: %v and %v compare wrongly", seed, p.slice, q.slice)
			}
		}
	}
	if longest < 20*leafMax {
		t.Errorf("the longest sequence has %d elements", longest)
	}
}

// TestLengthIsANumber doubles a sequence, which takes hardly any memory, until
// its length is more than Len can return.
func TestLengthIsANumber(t *testing.T) {
	s := NewSeq[Ints](int32(1))
	for i := range 40 {
		err := value.Catch(func() { s = s.Concat(s) })
		if (err != nil) != (i >= 30) || s.Len() != 1<<min(i+1, 30) {
			t.Fatalf("after doubling %d times: %d elements, %v", i+1, s.Len(), err)
		}
	}
	s = s.Concat(s.Sub(2, s.Len()))
	if err := value.Catch(func() { s.Append(1) }); err == nil || s.Len() != math.MaxInt32 {
		t.Errorf("%d elements, %v", s.Len(), err)
	}
}

// checkNode checks that a tree is balanced and counts its elements.
func checkNode[T, F any](t *testing.T, n *node[T, F]) {
	t.Helper()
	if n != nil {
		checkBelow(t, n, true)
	}
}

func checkBelow[T, F any](t *testing.T, n *node[T, F], top bool) {
	t.Helper()
	switch {
	case n.small() && !top || n.len() == 0 || len(n.leaf) > leafMax || len(n.kids) > kidsMax || len(n.kids) == 1:
		t.Fatalf("a node of height %d has %d elements and %d children", n.height, len(n.leaf), len(n.kids))
	case (n.height == 0) != (n.kids == nil):
		t.Fatalf("a node of height %d has %d children", n.height, len(n.kids))
	}
	sum := 0
	for i, k := range n.kids {
		sum += k.sub.len()
		if k.sub.height != n.height-1 || int(k.end) != sum {
			t.Fatalf("child %d of a node of height %d has height %d, and ends at %d, not at %d", i, n.height, k.sub.height, k.end, sum)
		}
		if first, ok := any(k.sub.run(0)[0]).(F); ok && any(first) != any(k.first) {
			t.Fatalf("child %d begins with %v, not with %v", i, first, k.first)
		}
		checkBelow(t, k.sub, false)
	}
}

// TestOperationsOnLongSequencesAreCheap counts the bytes that operations
// allocate: an element costs little more in a sequence of a million than in one
// of a thousand, even if each append is made twice, as in a section that
// aborts.
func TestOperationsOnLongSequencesAreCheap(t *testing.T) {
	bytes := func(f func()) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	const n = 1_000_000
	long := MakeSeq[Ints](n, func(i int32) int32 { return i })
	for name, c := range map[string]struct {
		limit float64 // bytes
		step  func()
	}{
		"append":         {1000, func() { long.Append(-1); long = long.Append(1) }},
		"append to part": {3000, func() { long.Sub(1, n/2).Append(1) }},
		"tail":           {3000, func() { long = long.Tail() }},
		"update":         {3000, func() { long = long.With(n/3, 7) }},
		"concatenation":  {6000, func() { long.Concat(long) }},
		"index":          {0, func() { long.At(n / 2) }},
	} {
		const times = 3000
		got := bytes(func() {
			for range times {
				c.step()
			}
		}) / times
		if math.Floor(got) > c.limit {
			t.Errorf("%s takes %.0f bytes, want at most %.0f", name, got, c.limit)
		}
	}
}
