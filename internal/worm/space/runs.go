// SPDX-License-Identifier: Apache-2.0

package space

import (
	"slices"
	"sort"
)

// runs are sets of numbers as half-open intervals, in ascending order, no two of
// which touch.
type runs []run

type run struct{ lo, hi uint64 }

// at is the place of the first run that ends behind n.
func (r runs) at(n uint64) int {
	return sort.Search(len(r), func(i int) bool { return r[i].hi > n })
}

func (r runs) has(n uint32) bool {
	i := r.at(uint64(n))
	return i < len(r) && r[i].lo <= uint64(n)
}

// add returns r with n. It may use the array of r.
func (r runs) add(number uint32) runs {
	n := uint64(number)
	i := r.at(n)
	if i < len(r) && r[i].lo <= n {
		return r
	}
	before, behind := i > 0 && r[i-1].hi == n, i < len(r) && r[i].lo == n+1
	switch {
	case before && behind:
		r[i-1].hi = r[i].hi
		return slices.Delete(r, i, i+1)
	case before:
		r[i-1].hi++
	case behind:
		r[i].lo--
	default:
		return slices.Insert(r, i, run{n, n + 1})
	}
	return r
}
