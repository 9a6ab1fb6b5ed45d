// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"testing"
)

// TestDifferenceOfShortStrings patches every pair of short strings of two
// letters: among them are all ways in which what both begin with overlaps what
// both end with, which random strings hardly ever do.
func TestDifferenceOfShortStrings(t *testing.T) {
	const longest = 6
	all := [][]byte{nil}
	for i := 0; len(all[i]) < longest; i++ {
		for _, letter := range []byte("ab") {
			all = append(all, append(bytes.Clone(all[i]), letter))
		}
	}
	for _, parent := range all {
		for _, child := range all {
			if got := patch(parent, difference(nil, parent, child)); !bytes.Equal(got, child) {
				t.Fatalf("%q patched with its difference to %q is %q", parent, child, got)
			}
		}
	}
}
