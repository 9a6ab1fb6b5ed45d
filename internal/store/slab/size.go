// SPDX-License-Identifier: Apache-2.0

package slab

import "math/bits"

// Size is how many bytes a piece of n bytes occupies, as Used counts them.
func Size(n int) int {
	if n > pieceBytesMax {
		return (n + pageBytes - 1) &^ (pageBytes - 1)
	}
	return 1 << max(bits.Len(uint(max(n, 1)-1)), pieceShift)
}
