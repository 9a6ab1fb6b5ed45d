// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"testing"
)

// TestDifferenceOfShortStrings patches every pair of short strings of two
// letters. They include all ways in which the common start overlaps the common
// end, which is rare in random strings.
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
