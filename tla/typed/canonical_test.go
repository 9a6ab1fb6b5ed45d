// SPDX-License-Identifier: Apache-2.0

package typed

import (
	"testing"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestSetsStaySorted looks at what the operations leave in a set. A comparison
// of values would not show it: a value made of a set is sorted anew.
func TestSetsStaySorted(t *testing.T) {
	look := func(what string, a, b, got intSet) {
		t.Helper()
		for i := 1; i < len(got); i++ {
			if got[i-1] >= got[i] {
				t.Errorf("%v %s %v is %v", a, what, b, []int32(got))
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
	look("made of", nil, nil, NewSet[Ints](int32(3), 1, 3, 2, 1))
	look("collected from", nil, nil, Collect[Ints]([]int32{1, 2, 3, 4}, func(x int32) int32 { return x * x % 3 }))
	look("joined from", nil, nil, BigUnion(setSet{{1, 3}, {2, 3}, {1, 4}}))
}

// TestNothingBehindTheEnd asks a part of a longer sequence for what it was cut
// off from.
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
