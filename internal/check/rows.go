// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// rows is a list of byte strings that is written at its end and read anywhere: the
// states of a graph, and the steps from each. The strings are in groups on a tape,
// which goes to disk if memory is short. The position of each group is kept in
// memory, half a byte per string.
type rows struct {
	tape    *spill.Tape
	at      []uint64 // where each group begins: block and offset
	pending []byte   // the group that is not on the tape yet
	n       int
	seldom  bool  // some of the tape is on disk only
	stored  int64 // bytes that had been appended when it was stored last
	bytes   int64 // appended
}

const (
	rowsGroup = 16
	// rowsBlockBytes is the approximate size of blocks on disk: smaller than
	// those of a tape that is read in order.
	rowsBlockBytes = 32 << 10
)

// add appends a string.
func (r *rows) add(b []byte) {
	r.pending = binary.AppendUvarint(r.pending, uint64(len(b)))
	r.pending = append(r.pending, b...)
	if r.n++; r.n%rowsGroup == 0 {
		block, offset := r.tape.Append(1, r.pending)
		r.bytes += int64(len(r.pending))
		r.at = append(r.at, uint64(block)<<refOffsetBits|uint64(offset))
		r.pending = r.pending[:0]
	}
}

// spill reduces the memory of the rows to room bytes, or to the minimum.
func (r *rows) spill(room int64) error {
	if !r.seldom && r.tape.Held() <= room || r.bytes-r.stored < rowsBlockBytes {
		return nil
	}
	r.seldom, r.stored = true, r.bytes
	return r.tape.Store(true, 0)
}

// held is the size of the rows in memory.
func (r *rows) held() int64 {
	return r.tape.Held() + int64(cap(r.at))*8 + int64(cap(r.pending))
}

// rowReader reads rows, for one goroutine, while none is added. It keeps blocks
// that it has read from disk.
type rowReader struct {
	r    *rows
	kept []keptBlock
}

type keptBlock struct {
	number int   // plus one
	stored int64 // that of the rows: a block that was in memory then may be gone
	data   []byte
}

// newReader returns a reader that keeps about the given number of bytes.
func (r *rows) newReader(bytes int64) *rowReader {
	return &rowReader{r: r, kept: make([]keptBlock, max(1, bytes/rowsBlockBytes))}
}

// get returns a string, which must not be changed and is valid until the next
// call of add or spill.
func (d *rowReader) get(n int) ([]byte, error) {
	group := d.r.pending
	if n/rowsGroup < len(d.r.at) {
		at := d.r.at[n/rowsGroup]
		block, err := d.block(int(at >> refOffsetBits))
		if err != nil {
			return nil, err
		}
		group = block[at&(1<<refOffsetBits-1):]
	}
	for range n % rowsGroup {
		_, group = cut(group)
	}
	row, _ := cut(group)
	return row, nil
}

func (d *rowReader) block(i int) ([]byte, error) {
	if !d.r.seldom {
		return d.r.tape.Read(i)
	}
	k := &d.kept[i%len(d.kept)]
	if k.number == i+1 && k.stored == d.r.stored && len(k.data) == d.r.tape.Block(i).Bytes {
		return k.data, nil
	}
	data, err := d.r.tape.Read(i)
	if err == nil {
		*k = keptBlock{i + 1, d.r.stored, data}
	}
	return data, err
}
