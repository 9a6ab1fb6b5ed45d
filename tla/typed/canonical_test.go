// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestSetsStaySorted inspects the elements that the operations leave in a set.
// A comparison of values would not show their order: converting a set to a
// value sorts it again.
func TestSetsStaySorted(t *testing.T) {
	look := func(what string, a, b, got intSet) {
		t.Helper()
		elems := got.Slice()
		for i := 1; i < len(elems); i++ {
			if elems[i-1] >= elems[i] {
				t.Errorf("%v %s %v is %v", a, what, b, elems)
				return
			}
		}
	}
	for _, a := range sets() {
		for _, b := range sets() {
			look("union", a, b, a.Union(b))
			look("intersected with", a, b, a.Intersect(b))
			look("minus", a, b, a.Minus(b))
		}
	}
	var none intSet
	look("made of", none, none, NewSet[Ints](int32(3), 1, 3, 2, 1))
	look("collected from", none, none, Collect[Ints](Interval(1, 4), func(x int32) int32 { return x * x % 3 }))
	joined := NewSet[Sets[int32, Ints]](NewSet[Ints](int32(1), 3), NewSet[Ints](int32(2), 3), NewSet[Ints](int32(1), 4))
	look("joined from", none, none, BigUnion(joined))
}

// TestNothingBehindTheEnd checks that a part of a longer sequence gives no
// access to the rest of it.
func TestNothingBehindTheEnd(t *testing.T) {
	part := NewSeq[Ints](int32(1), 2, 3, 4, 5).Sub(1, 3)
	agree(t, "SubSeq", func() value.Value { return ofSeq(part.Sub(2, 4)) }, func() value.Value { return value.SubSeq(ofSeq(part), 2, 4) })
	agree(t, "index", func() value.Value { return value.Int(part.At(4)) }, func() value.Value { return ofSeq(part).Apply(value.Int(4)) })
	longer := part.Append(9)
	whole := NewSeq[Ints](int32(1), 2, 3, 9)
	if !(Seqs[int32, Ints]{}).Equal(longer, whole) {
		t.Errorf("appended to a part: %v", longer)
	}
}
