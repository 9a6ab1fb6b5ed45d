// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
)

// misplaced returns a message of block b that the index does not lead to, if any.
func (x *Index) misplaced(b int, blk *block.Block, c Cache, s *Scratch) (found string, err error) {
	var key []byte
	for i := range blk.Len() {
		key = blk.Message(i, key).Key
		may, err := x.May(filter.Hash(key), c, s)
		if err != nil {
			return "", err
		}
		if !may {
			return fmt.Sprintf("key %s, which is missing from the filter", block.Masked(key)), nil
		}
		above, err := x.seek(key, c, s)
		if err != nil {
			return "", err
		}
		for above >= 0 && above < b && above+1 < x.n {
			f, err := x.holding(above, c, s)
			if err != nil {
				return "", err
			}
			if !f.continues(above+1) || !f.separates(above+1, key) {
				break
			}
			above++
		}
		if above != b || bytes.Compare(key, x.lo) < 0 || bytes.Compare(key, x.hi) > 0 {
			return fmt.Sprintf("key %s, which belongs to block %d", block.Masked(key), above), nil
		}
	}
	return "", nil
}
