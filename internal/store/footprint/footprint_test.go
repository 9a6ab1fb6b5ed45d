// SPDX-License-Identifier: Apache-2.0

package footprint

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// The keys of the tests: all strings of up to three letters.
func universe() []string {
	all := []string{""}
	for from := 0; len(all[len(all)-1]) < 3; from++ {
		for _, c := range "abc" {
			all = append(all, all[from]+string(c))
		}
	}
	slices.Sort(all)
	return all
}

func someKey(r *rand.Rand) []byte {
	all := universe()
	return []byte(all[r.Intn(len(all))])
}

// TestSpans compares a set of spans with a map of all keys.
func TestSpans(t *testing.T) {
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		var s Spans
		in := map[string]bool{}
		for range r.Intn(80) {
			lo, hi := someKey(r), someKey(r)
			switch r.Intn(8) {
			case 0:
				hi = nil
			case 1, 2, 3:
				s.AddKey(lo)
				in[string(lo)] = true
				clear(lo)
				continue
			}
			s.Add(Span{lo, hi})
			for _, k := range universe() {
				if k >= string(lo) && (hi == nil || k < string(hi)) {
					in[k] = true
				}
			}
			clear(lo)
			clear(hi)
		}
		for i, span := range s.All() {
			if span.Empty() || i > 0 && bytes.Compare(s.All()[i-1].Hi, span.Lo) >= 0 {
				t.Fatalf("seed %d: span %d of %q", seed, i, s.All())
			}
		}
		for _, k := range universe() {
			if touched := s.TouchedBy(message.Message{Key: []byte(k), Kind: message.Put}); touched != in[k] {
				t.Fatalf("seed %d: key %q: touched %t, want %t; %q", seed, k, touched, in[k], s.All())
			}
			for _, hi := range universe() {
				if hi <= k {
					continue
				}
				want := false
				for key := range in {
					want = want || key >= k && key < hi
				}
				// A range delete may touch a span by keys that are not among
				// ours, but not the other way round.
				if got := s.TouchedBy(message.Message{Key: []byte(k), Value: []byte(hi), Kind: message.RangeDelete}); want && !got {
					t.Fatalf("seed %d: range delete of [%q, %q) does not touch %q", seed, k, hi, s.All())
				}
			}
		}
	}
	var s Spans
	s.AddKey([]byte("b"))
	for _, c := range []struct {
		lo, hi string
		want   bool
	}{{"a", "b", false}, {"a", "b\x00", true}, {"b", "c", true}, {"b\x00", "c", false}} {
		if got := s.TouchedBy(message.Message{Key: []byte(c.lo), Value: []byte(c.hi), Kind: message.RangeDelete}); got != c.want {
			t.Errorf("range delete of [%q, %q) touches b: %t, want %t", c.lo, c.hi, got, c.want)
		}
	}
}

// TestSpansTakeLittle: a span that is added again is not kept twice.
func TestSpansTakeLittle(t *testing.T) {
	var s Spans
	for i := range 1 << 16 {
		s.AddKey(fmt.Appendf(nil, "key%d", i%10))
	}
	if s.Bytes() > 100*(spanOverhead+10) {
		t.Errorf("ten keys take %d bytes", s.Bytes())
	}
	kept := s.All()
	before := fmt.Sprint(kept)
	for i := range 100 {
		s.AddKey(fmt.Appendf(nil, "kex%d", i))
		s.All()
	}
	if fmt.Sprint(kept) != before {
		t.Error("a list of spans that was handed out has changed")
	}
}

func TestSpanKey(t *testing.T) {
	for _, c := range []struct {
		span Span
		want bool
	}{
		{Span{[]byte("a"), []byte("a\x00")}, true}, {Span{nil, []byte{0}}, true},
		{Span{[]byte("a"), []byte("b\x00")}, false}, {Span{[]byte("a"), nil}, false},
		{Span{[]byte("a"), []byte("a\x01")}, false}, {Span{[]byte("a"), []byte("a\x00\x00")}, false},
	} {
		if _, is := c.span.Key(); is != c.want {
			t.Errorf("%q is one key: %t", c.span, is)
		}
	}
}

type concat struct{}

func (concat) Name() string { return "concat" }
func (concat) Combine(dst, _, older, newer []byte) []byte {
	return append(append(dst, older...), newer...)
}
func (concat) Apply(dst, _, value []byte, exists bool, operand []byte) []byte {
	if !exists {
		value = []byte("new:")
	}
	return append(append(dst, value...), operand...)
}

// TestWrites applies the resulting changes of a Writes to several maps, and
// compares them with the same maps after each change.
func TestWrites(t *testing.T) {
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		before := map[string]string{}
		for range r.Intn(30) {
			before[string(someKey(r))] = "old"
		}
		want := maps.Clone(before)
		var w Writes
		var handed []List[Entry]
		var looked []string
		for i := range r.Intn(50) {
			k, v := someKey(r), fmt.Appendf(nil, "%d.", i)
			switch r.Intn(5) {
			case 0, 1:
				w.Put(k, v)
				want[string(k)] = string(v)
			case 2:
				w.Delete(k)
				delete(want, string(k))
			case 3:
				w.Merge(k, v, concat{})
				was, exists := want[string(k)]
				want[string(k)] = string(concat{}.Apply(nil, nil, []byte(was), exists, v))
			default:
				hi := someKey(r)
				w.DeleteRange(k, hi)
				maps.DeleteFunc(want, func(key, _ string) bool { return key >= string(k) && key < string(hi) })
				clear(hi)
			}
			clear(k)
			clear(v)
			if r.Intn(6) == 0 {
				all, _ := w.All()
				handed, looked = append(handed, all), append(looked, fmt.Sprintf("%q", items(t, all)))
			}
		}
		for i, all := range handed {
			if fmt.Sprintf("%q", items(t, all)) != looked[i] {
				t.Fatalf("seed %d: entries that were handed out have changed", seed)
			}
			w.Release()
		}
		list, deleted := w.All()
		w.Release()
		entries, bytesOf := items(t, list), 0
		for _, e := range entries {
			bytesOf += e.bytes() + nodeOverhead
		}
		for i, span := range items(t, deleted) {
			if bytesOf += span.bytes() + nodeOverhead; i > 0 && bytes.Compare(deleted.At(i-1).Hi, span.Lo) >= 0 {
				t.Fatalf("seed %d: deleted spans %q", seed, items(t, deleted))
			}
		}
		if w.Bytes() != bytesOf {
			t.Fatalf("seed %d: %d bytes, want %d", seed, w.Bytes(), bytesOf)
		}
		for range 4 {
			lo, hi := someKey(r), someKey(r)
			if r.Intn(4) == 0 {
				hi = nil
			}
			within := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
				return bytes.Compare(e.Key, lo) < 0 || hi != nil && bytes.Compare(e.Key, hi) >= 0
			})
			if got := items(t, list.Within(lo, hi)); !slices.EqualFunc(got, within, func(a, b Entry) bool { return bytes.Equal(a.Key, b.Key) }) {
				t.Fatalf("seed %d: within [%q, %q) %q, want %q", seed, lo, hi, got, within)
			}
			if at, want := list.Search(lo), slices.IndexFunc(entries, func(e Entry) bool { return bytes.Compare(e.Key, lo) >= 0 }); at != want && (want >= 0 || at != len(entries)) {
				t.Fatalf("seed %d: %q is at %d, want %d", seed, lo, at, want)
			}
		}
		if !slices.IsSortedFunc(entries, func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) }) {
			t.Fatalf("seed %d: entries out of order", seed)
		}
		byList, byGet := maps.Clone(before), maps.Clone(before)
		maps.DeleteFunc(byList, func(k, _ string) bool { _, in := Around(deleted, []byte(k)); return in })
		for _, e := range entries {
			apply(byList, before, e)
		}
		for _, k := range universe() {
			if e, ok := w.Get([]byte(k)); ok {
				e.Key = []byte(k)
				apply(byGet, before, e)
			}
		}
		if !maps.Equal(byList, want) || !maps.Equal(byGet, want) {
			t.Fatalf("seed %d: by list %v, by key %v, want %v", seed, byList, byGet, want)
		}
	}
}

// apply makes the entry's change of a map that was before.
func apply(to, before map[string]string, e Entry) {
	k := string(e.Key)
	switch e.Kind {
	case message.Put:
		to[k] = string(e.Value)
	case message.Delete:
		delete(to, k)
	default:
		was, exists := before[k]
		to[k] = string(concat{}.Apply(nil, e.Key, []byte(was), exists, e.Value))
	}
}

// items reads a list, and checks that its tree is in balance.
func items[T listed](t *testing.T, l List[T]) []T {
	t.Helper()
	var walk func(n *node[T]) int
	walk = func(n *node[T]) int {
		if n == nil {
			return 0
		}
		a, b := walk(n.left), walk(n.right)
		if n.count != a+b+1 || a+b > 1 && max(a, b) > heavy*min(a, b) {
			t.Fatalf("a node of %d items has %d below it on the left and %d on the right", n.count, a, b)
		}
		return n.count
	}
	walk(l.root)
	var all []T
	for i := range l.Len() {
		all = append(all, l.At(i))
	}
	return all
}

// TestWritesInAnyRhythm: many changes with lists and reads between them take no square
// of time. A change makes as many nodes as it takes steps; the square would be 400
// million of them.
func TestWritesInAnyRhythm(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		name   string
		change func(w *Writes, i int)
	}{
		{"puts and lists", func(w *Writes, i int) {
			w.Put([]byte(strings.Repeat("k", i%7)+fmt.Sprint(i)), nil)
			w.All()
			w.Release()
		}},
		{"range deletes and gets", func(w *Writes, i int) {
			w.DeleteRange(fmt.Appendf(nil, "%06d", i*2), fmt.Appendf(nil, "%06d", i*2+1))
			w.Get([]byte("k"))
		}},
	} {
		var w Writes
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range n {
			c.change(&w, i)
		}
		runtime.ReadMemStats(&after)
		entries, deleted := w.All()
		if len(items(t, entries))+len(items(t, deleted)) != n {
			t.Errorf("%s: %d entries, %d spans", c.name, entries.Len(), deleted.Len())
		}
		if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 32<<10 {
			t.Errorf("%s: each takes %d bytes of memory on the way", c.name, each)
		}
	}
}

// TestOneKeyTakesItsPlaceOnce: a change that a later one of the same key replaces is no
// longer counted, unless a returned list has it.
func TestOneKeyTakesItsPlaceOnce(t *testing.T) {
	const n = 1000
	operand, most := []byte("0123456789"), n*10+500
	var w Writes
	for range n {
		w.Merge([]byte("k"), operand, concat{})
	}
	if w.Bytes() > most {
		t.Errorf("%d operands of 10 bytes take %d bytes, want at most %d", n, w.Bytes(), most)
	}
	w.All()
	for range n {
		w.Put([]byte("k"), make([]byte, n))
	}
	if w.Bytes() < n*n {
		t.Errorf("with %d values of %d bytes, of which a list may have each, %d bytes are counted", n, n, w.Bytes())
	}
	w.Release()
	if w.Bytes() > n+500 {
		t.Errorf("with one value of %d bytes %d are counted", n, w.Bytes())
	}
	w.DeleteRange([]byte("a"), []byte("z"))
	if w.Bytes() > 300 {
		t.Errorf("with one range delete %d bytes are counted", w.Bytes())
	}
}
