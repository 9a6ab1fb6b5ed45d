// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
)

// misplaced says which message of block b the index does not lead to, if any.
func (x *Index) misplaced(b int, blk *block.Block) string {
	var key []byte
	for i := range blk.Len() {
		key = blk.Message(i, key).Key
		if !x.May(filter.Hash(key)) {
			return fmt.Sprintf("key %s, which the filter does not know", block.Masked(key))
		}
		above := x.at(key)
		for above < b && above+1 < x.n && x.continues(above+1) && x.separates(above+1, key) {
			above++
		}
		if above != b || bytes.Compare(key, x.lo) < 0 || bytes.Compare(key, x.hi) > 0 {
			return fmt.Sprintf("key %s, which belongs to block %d", block.Masked(key), above)
		}
	}
	return ""
}
