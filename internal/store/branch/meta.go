// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Meta is what a store's table records about a branch.
type Meta struct {
	ID, Epoch uint64
	// Index is the place of the index, which has pages of its own.
	Index Loc
	// Runs are the pages of the blocks, in the order of the keys.
	Runs []extent.Run
	// Blobs are the pages of the values stored outside, each once, in the order of
	// their addresses.
	Blobs []extent.Run
	// Lo and Hi are the least and the greatest key, including those of tombstones;
	// Hi may be the excluded end of a tombstone.
	Lo, Hi []byte
	Stats
}

// Stats count what is in a branch.
type Stats struct {
	// Puts counts blobs as well.
	Puts, Deletes, Merges uint64
	// RangeDeletes counts tombstones, which are not among Records.
	RangeDeletes uint64
	// Records counts messages, Keys different keys.
	Records, Keys uint64
	// Bytes is the length of all blocks in the file, Blocks their number.
	Bytes, Blocks  uint64
	MinSeq, MaxSeq message.Seq
}

func (s *Stats) fields() [10]*uint64 {
	return [10]*uint64{
		&s.Puts, &s.Deletes, &s.Merges, &s.RangeDeletes, &s.Records, &s.Keys, &s.Bytes, &s.Blocks,
		(*uint64)(&s.MinSeq), (*uint64)(&s.MaxSeq),
	}
}

// IndexRun is the pages of the index.
func (m *Meta) IndexRun() extent.Run {
	return extent.Run{Page: uint32(m.Index.Addr / extent.PageSize), Pages: m.Index.Len / extent.PageSize}
}

const metaVersion = 1

// Append appends the encoding: a version, numbers as varints, and lists
// preceded by their lengths.
func (m *Meta) Append(dst []byte) []byte {
	u := binary.AppendUvarint
	dst = append(dst, metaVersion)
	dst = u(u(dst, m.ID), m.Epoch)
	dst = u(u(u(dst, uint64(m.Index.Addr)), uint64(m.Index.Len)), uint64(m.Index.CRC))
	for _, f := range m.Stats.fields() {
		dst = u(dst, *f)
	}
	for _, runs := range [][]extent.Run{m.Runs, m.Blobs} {
		dst = u(dst, uint64(len(runs)))
		for _, r := range runs {
			dst = u(u(dst, uint64(r.Page)), uint64(r.Pages))
		}
	}
	for _, key := range [][]byte{m.Lo, m.Hi} {
		dst = append(u(dst, uint64(len(key))), key...)
	}
	return dst
}

// DecodeMeta reads what Append wrote, and nothing else. The Meta has copies.
func DecodeMeta(b []byte) (Meta, error) {
	if len(b) == 0 || b[0] != metaVersion {
		return Meta{}, fmt.Errorf("want branch version %d, found %x", metaVersion, b[:min(1, len(b))])
	}
	d := decoder{b: b[1:]}
	var m Meta
	m.ID, m.Epoch = d.number(math.MaxUint64, "id"), d.number(math.MaxUint64, "epoch")
	m.Index.Addr = int64(d.number(math.MaxInt64, "address of the index"))
	m.Index.Len = uint32(d.number(math.MaxUint32, "length of the index"))
	m.Index.CRC = uint32(d.number(math.MaxUint32, "checksum of the index"))
	for _, f := range m.Stats.fields() {
		*f = d.number(math.MaxUint64, "count")
	}
	m.Runs, m.Blobs = d.runs(), d.runs()
	m.Lo, m.Hi = d.key(), d.key()
	if d.err == nil && len(d.b) > 0 {
		d.err = fmt.Errorf("want the end of a branch's metadata, found %d more bytes", len(d.b))
	}
	if d.err != nil {
		return Meta{}, d.err
	}
	return m, nil
}

// decoder reads a Meta; after the first error everything is zero.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) number(most uint64, what string) uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.err = fmt.Errorf("want the %s of a branch, found %d bytes that do not encode a number", what, len(d.b))
		return 0
	}
	if v > most {
		d.err = fmt.Errorf("want a %s of at most %d in a branch, found %d", what, most, v)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) runs() []extent.Run {
	n := d.number(uint64(len(d.b))/2, "number of runs")
	if n == 0 || d.err != nil {
		return nil
	}
	runs := make([]extent.Run, 0, n)
	for range n {
		r := extent.Run{
			Page:  uint32(d.number(math.MaxUint32, "page")),
			Pages: uint32(d.number(math.MaxUint32, "pages")),
		}
		if d.err == nil && (r.Pages == 0 || r.End() > math.MaxUint32) {
			d.err = errors.New("want a valid run of pages in a branch, found " + r.String())
		}
		runs = append(runs, r)
	}
	return runs
}

func (d *decoder) key() []byte {
	n := d.number(message.KeyMax, "length of a key")
	if d.err == nil && n > uint64(len(d.b)) {
		d.err = fmt.Errorf("want a key of %d bytes in a branch, found %d", n, len(d.b))
	}
	if d.err != nil {
		return nil
	}
	key := append([]byte{}, d.b[:n]...)
	d.b = d.b[n:]
	return key
}
