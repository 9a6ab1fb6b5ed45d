package branch

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ashlar-dev/ashlar/store/block"
	"github.com/ashlar-dev/ashlar/store/extent"
)

// A store whose table is lost is put together again from what describes
// itself: each index says of which branch it is, and leads to its blocks; and
// where an index is lost, each block says the same of itself (block.ReadHeader).

// ProbeIndex says whether an index may begin with the page b, which was read at
// addr, and of which branch: the Meta has what OpenIndex needs, which checks
// everything else. The checksum is the index's own word, so that an old index
// of the branch passes as well: the caller prefers the greatest Epoch.
func ProbeIndex(b []byte, addr int64) (Meta, bool) {
	p, found := readLengths(b)
	if found != "" || p.size() > indexBytesMax || addr < 0 || addr%extent.PageSize != 0 {
		return Meta{}, false
	}
	le := binary.LittleEndian
	return Meta{
		ID: le.Uint64(b[16:]), Epoch: le.Uint64(b[24:]),
		Index: Loc{Addr: addr, Len: uint32(p.size()), CRC: le.Uint32(b)},
	}, true
}

// Meta is the Meta of the branch as far as the index knows: all but the Blobs,
// which the messages of kind Blob refer to.
func (x *Index) Meta() Meta {
	return Meta{
		ID: x.id, Epoch: x.epoch,
		Index: Loc{Addr: x.addr, Len: uint32(len(x.image)), CRC: block.Checksum(x.image)},
		Runs:  x.runs(0, x.all),
		Lo:    slices.Clone(x.lo), Hi: slices.Clone(x.hi),
		Stats: x.stats,
	}
}

// Read opens block b from the file, whatever a cache has. The block lies in s
// until s is used again. The error is ErrMemory, or a *Corrupt, which it is also
// when the file cannot be read there: a repair goes on without the block.
func (x *Index) Read(b int, s *Scratch) (block.Block, error) {
	blk, err := x.read(b, s)
	var bad *Corrupt
	if err == nil || errors.Is(err, ErrMemory) || errors.As(err, &bad) {
		return blk, err
	}
	return block.Block{}, x.corrupt(b, x.want(b).String(), err.Error())
}
