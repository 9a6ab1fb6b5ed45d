// SPDX-License-Identifier: Apache-2.0

package value

// AtMost reports whether the finite set v has at most n elements. It does not
// enumerate a set that has many more, unless the set is a filter of such a set.
func AtMost(v Value, n int) bool {
	mustSet(v, "a size")
	mustFinite(v, "a size")
	if size, ok := knownSize(v); ok {
		return size <= int64(n)
	}
	if v.sub() == setUnion {
		for _, s := range v.ref.elems {
			if !AtMost(s, n) {
				return false
			}
		}
	}
	return int(enumerated(v).n) <= n
}
