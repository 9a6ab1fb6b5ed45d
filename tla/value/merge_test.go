// SPDX-License-Identifier: Apache-2.0

package value

import "testing"

// TestMergeSets: a union too large to be listed is walked in order, each
// element once.
func TestMergeSets(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"{}", "{}"}, "{}"},
		{[]string{"1..3", "{}", "{2, 5}"}, "{1, 2, 3, 5}"},
		{[]string{"SUBSET {1, 2}", "SUBSET {2, 3}", "{{9}}"}, "{{}, {1}, {2}, {3}, {9}, {1, 2}, {2, 3}}"},
		{[]string{"{1, 2}", "{1, 2}"}, "{1, 2}"},
	} {
		var sets, got []Value
		for _, s := range c.sets {
			sets = append(sets, read(t, s))
		}
		mergeSets(sets, func(x Value) bool {
			got = append(got, x)
			return true
		})
		for i := range got {
			if i > 0 && Compare(got[i-1], got[i]) >= 0 {
				t.Errorf("%v: %s comes before %s", c.sets, got[i-1], got[i])
			}
		}
		if s := SetOf(got).String(); s != c.want || len(got) != Size(SetOf(got)) {
			t.Errorf("%v: got %s in %d elements, want %s", c.sets, s, len(got), c.want)
		}
	}
	n := 0
	for x := range read(t, "(1..1500000) \\cup (1000000..2000000)").Each {
		if n++; int(x.AsInt()) != n {
			t.Fatalf("element %d is %s", n, x)
		}
		if n == 1_999_999 {
			break
		}
	}
	if n != 1_999_999 {
		t.Errorf("%d elements", n)
	}
}
