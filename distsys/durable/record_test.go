// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestGroups divides changes into records of any size and cuts what is on the disk
// anywhere: what comes back are the changes whose last record is there.
func TestGroups(t *testing.T) {
	list := func(names ...string) (v variables) {
		for i, name := range names {
			v.add(name, fmt.Appendf(nil, "value %d", i))
		}
		return v
	}
	changes := []change{
		{instance: "A(1)", life: 1, n: 1, own: list("x", "y")},
		{instance: "A(2)", life: 1, n: 300, done: true},
		{instance: "A(1)", life: 2, n: 1 << 40, own: list("x"), shared: list("s", "t")},
	}
	for size := 1; size < 80; size++ {
		var records [][]byte
		var ends []int
		for _, c := range changes {
			var b []byte
			for _, r := range c.records() {
				b = append(b, r[1:]...)
			}
			records = append(records, divide(b, size)...)
			ends = append(ends, len(records))
		}
		for cut := range len(records) + 1 {
			var g group
			var got []change
			for _, r := range append(append([][]byte(nil), records[:cut]...), changes[0].records()...) {
				if err := g.redo(r, func(c change) error { got = append(got, c); return nil }); err != nil {
					t.Fatalf("records of %d, cut behind %d: %v", size, cut, err)
				}
			}
			whole := 0
			for whole < len(ends) && ends[whole] <= cut {
				whole++
			}
			want := append(append([]change(nil), changes[:whole]...), changes[0])
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("records of %d, cut behind %d: got %v, want %v", size, cut, got, want)
			}
		}
	}
}

// TestHostileRecords reads damage: an error, and no panic.
func TestHostileRecords(t *testing.T) {
	good := change{instance: "A(1)", life: 1, n: 7, own: variables{[]string{"x"}, [][]byte{{1, 2, 3}}}}.records()[0]
	refused := 0
	redo := func(b []byte) {
		var g group
		if err := g.redo(b, func(change) error { return nil }); err != nil {
			refused++
		}
	}
	for n := range len(good) {
		redo(good[:n])
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		b := append([]byte(nil), good...)
		for range 1 + r.IntN(3) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		redo(b)
	}
	for _, b := range [][]byte{nil, {4}, {last}, append(append([]byte(nil), good...), 0)} {
		before := refused
		if redo(b); refused == before {
			t.Errorf("%x is taken", b)
		}
	}
	if refused < len(good) {
		t.Errorf("only %d records were refused", refused)
	}
}

// TestDeltas changes texts in many ways, makes deltas, and patches with them; a
// delta for another text is refused.
func TestDeltas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	made, refused := 0, 0
	for range 20_000 {
		was := make([]byte, r.IntN(1000))
		letters := 1 + r.IntN(4)
		for i := range was {
			was[i] = byte(r.IntN(letters))
		}
		is := slices.Clone(was)
		for range r.IntN(4) {
			from := r.IntN(len(is) + 1)
			to := min(len(is), from+r.IntN(40))
			is = slices.Concat(is[:from], make([]byte, r.IntN(40)), is[to:])
		}
		d := delta(was, is)
		if d == nil {
			continue
		}
		made++
		if got, err := patch(was, d); err != nil || !slices.Equal(got, is) || len(d) > len(is)/2 {
			t.Fatalf("was %x, is %x: %x, %v, from %x", was, is, got, err, d)
		}
		other := slices.Clone(was)
		other[r.IntN(len(other))] ^= 1 << r.IntN(8)
		d2 := slices.Clone(d)
		d2[r.IntN(len(d2))] ^= 1 << r.IntN(8)
		for _, c := range [][2][]byte{{other, d}, {was, d2}, {was, d[:r.IntN(len(d))]}} {
			// A byte that the delta skips may be any.
			if got, err := patch(c[0], c[1]); err != nil {
				refused++
			} else if !slices.Equal(got, is) {
				t.Fatalf("%x was made of %x by %x", got, c[0], c[1])
			}
		}
	}
	if made < 5000 || refused < made {
		t.Errorf("%d deltas, %d refused: the test is too weak", made, refused)
	}
}

// TestDeltasOfQueues takes elements of many sizes off the front of a sequence,
// appends one, and changes one to an equal of another: the delta has about one
// element.
func TestDeltasOfQueues(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for size := 1; size < 300; size += 7 {
		element := func() value.Value {
			var b strings.Builder
			for range size {
				b.WriteByte('a' + byte(r.IntN(26)))
			}
			return value.String(b.String())
		}
		var long []value.Value
		for range 500 {
			long = append(long, element())
		}
		was := value.AppendWire(nil, value.TupleOf(long))
		changed := slices.Clone(long)
		changed[100] = long[400]
		for name, is := range map[string][]value.Value{
			"the front off, and one appended": append(slices.Clone(long[1:]), element()),
			"three off, and one appended":     append(slices.Clone(long[3:]), element()),
			"an element becomes a later one":  changed,
			"the front off":                   long[1:],
			"one appended":                    append(slices.Clone(long), element()),
		} {
			is := value.AppendWire(nil, value.TupleOf(is))
			d := delta(was, is)
			if d == nil || len(d) > size+48 {
				t.Errorf("elements of %d bytes, %s: a delta of %d bytes for %d", size, name, len(d), len(is))
			}
			if got, err := patch(was, d); d != nil && (err != nil || !slices.Equal(got, is)) {
				t.Errorf("elements of %d bytes, %s: the delta makes another value: %v", size, name, err)
			}
		}
	}
}
