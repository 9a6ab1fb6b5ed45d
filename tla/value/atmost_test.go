// SPDX-License-Identifier: Apache-2.0

package value

import "testing"

// TestAtMost compares AtMost with Cardinality, and asks for sets that are too
// large to be listed.
func TestAtMost(t *testing.T) {
	nums := func(n int32) Value { return Interval(1, n) }
	for _, s := range []Value{
		EmptySet(), nums(3), SetOf([]Value{Int(1), Int(5), Int(9)}), Subsets(nums(3)), FnSet(nums(2), nums(3)),
		Union(FnSet(nums(2), nums(2)), FnSet(nums(3), nums(2))), Union(FnSet(nums(2), nums(3)), FnSet(nums(2), nums(2))),
		Filter(nums(10), func(x Value) bool { return x.AsInt()%3 == 0 }), Diff(FnSet(nums(2), nums(3)), SetOf([]Value{TupleOf([]Value{Int(1), Int(1)})})),
	} {
		size := Size(s)
		for n := range size + 3 {
			if got, want := AtMost(s, n), size <= n; got != want {
				t.Errorf("AtMost(%s, %d) is %v, it has %d elements", Brief(s), n, got, size)
			}
		}
	}
	large := FnSet(nums(20), nums(20))
	if AtMost(Union(nums(2), large), 100) || AtMost(large, 1<<40) {
		t.Error("a set of 20^20 functions is small")
	}
}
