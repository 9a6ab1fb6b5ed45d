// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"errors"

	"github.com/ashlar-dev/ashlar/internal/store/block"
)

// Read opens block b from the file, bypassing any cache. The block is in s until
// s is used again. The error is ErrMemory or a *Corrupt, the latter also if the
// file cannot be read there: a repair continues without the block.
func (x *Index) Read(b int, s *Scratch) (block.Block, error) {
	f, err := x.holding(b, nil, s)
	if err != nil {
		return block.Block{}, err
	}
	blk, err := x.read(f, b, s)
	var bad *Corrupt
	if err == nil || errors.Is(err, ErrMemory) || errors.As(err, &bad) {
		return blk, err
	}
	return block.Block{}, x.corrupt(f, b, x.want(f, b).String(), err.Error())
}
