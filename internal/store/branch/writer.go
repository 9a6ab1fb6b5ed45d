// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/block"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/filter"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// sampleBytes is how much is written before compression is tried again.
const sampleBytes = 1 << 20

// fenceSize is the length of what a Writer keeps of each block: page, checksum,
// span, and where its separator ends.
const fenceSize = 16

// Bits of a span: pages below, flags above.
const (
	spanPages     = 1<<14 - 1
	spanContinues = 1 << 15 // the block begins with the key that the one before ends with
	spanPacked    = 1 << 14 // the block is compressed
)

// Writer writes a branch: it collects blocks in a buffer, and writes the buffer
// to runs of pages of the same length. The fences and the hashes of the keys,
// which it keeps until Finish, are in the pool. Only one goroutine may use it;
// it ends with Finish or Abort.
type Writer struct {
	o     Options
	coder *block.Coder
	meta  Meta

	out     []byte // complete blocks, and the one that is being built
	at      int    // bytes of complete blocks
	written int    // fences of blocks that are in the file
	builder block.Builder
	flags   uint16 // of the block that is being built
	last    []byte // the key before that block
	scratch []byte // to compress in; nil when nothing is compressed

	how    block.Compression // for the blocks until the next sample
	sample int               // bytes until then

	fences, seps, hashes, tombs buffer
	unfiltered                  bool // no memory for hashes
	sorted                      bool // tombs are in order
	tombOffsets                 []uint32
	tombBlocks                  int
}

// NewWriter begins the branch of that id. ExpectRecords is a guess that saves
// copying. The error is ErrMemory.
func NewWriter(o Options, id, epoch uint64, expectRecords int) (*Writer, error) {
	w := &Writer{o: o, coder: o.coder(), meta: Meta{ID: id, Epoch: epoch}, sorted: true}
	for _, g := range []*buffer{&w.fences, &w.seps, &w.hashes, &w.tombs} {
		g.pool = o.Pool
	}
	size := o.WriteBytes
	if size == 0 || size > writeBytes {
		size = writeBytes
	}
	size = max(size, block.MaxBytes) &^ (block.MaxBytes - 1)
	for ; size >= block.MaxBytes && w.out == nil; size /= 2 {
		get := o.Pool.Try
		if size < 2*block.MaxBytes {
			get = o.Pool.Alloc
		}
		if b, ok := get(size); ok {
			w.out = b
		}
	}
	if w.out == nil {
		return nil, ErrMemory
	}
	if o.Compression == Auto {
		// Without this memory the branch is larger, and nothing else.
		w.scratch, _ = o.Pool.Try(block.ScratchBytes)
	}
	w.hashes.optional = true
	if expectRecords > 0 {
		w.hashes.b, _ = o.Pool.Try(min(8*expectRecords, 8<<20))
	}
	return w, nil
}

// Bytes is the length of the blocks so far, including those not yet in the
// file.
func (w *Writer) Bytes() int64 { return int64(w.meta.Bytes) + int64(w.builder.Bytes()) }

// Add adds a copy of a message, which must sort after all earlier ones. The
// error is ErrTooLarge, ErrMemory, or the file's; after it only Abort may be
// called.
func (w *Writer) Add(m message.Message) error {
	if len(m.Value) > block.ValueMax || len(m.Key) > message.KeyMax {
		return fmt.Errorf("key of %d and value of %d bytes: %w", len(m.Key), len(m.Value), ErrTooLarge)
	}
	fresh := true
	if w.meta.Records > 0 {
		order := bytes.Compare(w.builder.LastKey(), m.Key)
		if order > 0 || order == 0 && m.Seq >= w.builder.LastSeq() {
			invariant.Check(false, "branch: key %q at %d is added after %q", m.Key, m.Seq, w.builder.LastKey())
		}
		fresh = order < 0
	}
	if w.meta.Records == 0 {
		w.meta.Lo = append([]byte{}, m.Key...)
		if err := w.begin(m); err != nil {
			return err
		}
	} else if !w.builder.Add(m) {
		if err := w.end(); err != nil {
			return err
		}
		if err := w.begin(m); err != nil {
			return err
		}
	}
	if fresh {
		w.meta.Keys++
		w.hash(m.Key)
	}
	return w.count(m)
}

// hash keeps the hash for the filter. Without memory the branch gets no filter,
// which costs reads but is correct.
func (w *Writer) hash(key []byte) {
	if w.unfiltered {
		return
	}
	if !w.hashes.uint64(filter.Hash(key)) {
		w.unfiltered = true
		w.hashes.free()
	}
}

func (w *Writer) count(m message.Message) error {
	w.see(m.Seq)
	w.meta.Records++
	switch m.Kind {
	case message.Put:
		w.meta.Puts++
	case message.Delete:
		w.meta.Deletes++
	case message.Merge:
		w.meta.Merges++
	case message.Blob:
		w.meta.Puts++
		ref, ok := message.DecodeBlobRef(m.Value)
		invariant.Check(ok, "branch: a blob message holds a blob reference")
		w.meta.Blobs = append(w.meta.Blobs, extent.Run{
			Page:  uint32(ref.Addr / extent.PageSize),
			Pages: uint32((int64(ref.Len) + extent.PageSize - 1) / extent.PageSize),
		})
	default:
		invariant.Check(false, "branch: %v is added as a message", m.Kind)
	}
	return nil
}

func (w *Writer) see(seq message.Seq) {
	if w.meta.MinSeq == 0 || seq < w.meta.MinSeq {
		w.meta.MinSeq = seq
	}
	w.meta.MaxSeq = max(w.meta.MaxSeq, seq)
}

// place opens a block with its first message, behind the complete ones.
func (w *Writer) place(m message.Message) error {
	need := max(block.MaxBytes, block.Size(m))
	if len(w.out)-w.at < need {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.out) < need {
		b, ok := w.o.Pool.Alloc(need)
		if !ok {
			return ErrMemory
		}
		w.o.Pool.Free(w.out)
		w.out = b
	}
	w.builder.Reset(w.out[w.at:], w.how != block.None)
	w.builder.Add(m)
	return nil
}

// begin opens a block of messages, and notes its separator: the shortest key
// above all that come before.
func (w *Writer) begin(m message.Message) error {
	w.flags = 0
	sep := m.Key
	if w.meta.Records > 0 {
		switch n := block.Common(w.last, m.Key); {
		case n == len(m.Key): // the same key: keys are in order
			w.flags = spanContinues
		default:
			sep = m.Key[:n+1]
		}
	}
	b := w.seps.take(len(sep))
	if b == nil && len(sep) > 0 {
		return ErrMemory
	}
	copy(b, sep)
	return w.place(m)
}

// end completes the block that is being built.
func (w *Writer) end() error {
	w.last = append(w.last[:0], w.builder.LastKey()...)
	id := block.ID{Branch: w.meta.ID, Epoch: w.meta.Epoch, Block: uint32(w.meta.Blocks)}
	h := w.builder.Finish(id, w.how, w.coder, w.scratch)
	if w.scratch != nil {
		w.resample(h)
	}
	w.meta.Blocks++
	return w.fence(h)
}

// resample decides on the blocks to come when enough were written since the
// last decision. The sample itself is stored as it is; it is a short block,
// since where compression does not pay, short blocks are wanted.
func (w *Writer) resample(h block.Header) {
	if w.sample > 0 {
		w.sample -= h.Bytes()
		if w.sample <= 0 {
			w.how = block.None
		}
		return
	}
	if h.Raw <= block.MaxBytes-block.HeaderSize {
		w.how = w.coder.Choose(w.builder.Payload(), w.o.Last, w.scratch)
		w.sample = sampleBytes
	}
}

// fence notes the block that is complete at the end of out.
func (w *Writer) fence(h block.Header) error {
	b := w.fences.take(fenceSize)
	if b == nil {
		return ErrMemory
	}
	span := w.flags | uint16(h.Bytes()/block.PageSize)
	if h.Compression != block.None {
		span |= spanPacked
	}
	le := binary.LittleEndian
	le.PutUint32(b, uint32(w.at/block.PageSize))
	le.PutUint32(b[4:], h.CRC)
	le.PutUint32(b[8:], uint32(span))
	le.PutUint32(b[12:], uint32(w.seps.n))
	w.at += h.Bytes()
	w.meta.Bytes += uint64(h.Bytes())
	return nil
}

// flush writes the complete blocks to a run of pages of their own, or to several
// where no run is long enough for all.
func (w *Writer) flush() error {
	fences := w.fences.bytes()
	count := len(fences) / fenceSize
	page := func(block int) uint32 {
		if block == count {
			return uint32(w.at / extent.PageSize)
		}
		return binary.LittleEndian.Uint32(fences[block*fenceSize:])
	}
	for w.written < count {
		from, to := page(w.written), count
		run, err := w.o.Alloc.Alloc(page(to) - from)
		for errors.Is(err, env.ErrNoSpace) && to-w.written > 1 {
			to -= (to - w.written) / 2
			run, err = w.o.Alloc.Alloc(page(to) - from)
		}
		if err != nil {
			return fmt.Errorf("branch %d: pages for blocks: %w", w.meta.ID, err)
		}
		if n := len(w.meta.Runs); n > 0 && w.meta.Runs[n-1].End() == uint64(run.Page) {
			w.meta.Runs[n-1].Pages += run.Pages
		} else {
			w.meta.Runs = append(w.meta.Runs, run)
		}
		if err := w.write(w.out[from*extent.PageSize:page(to)*extent.PageSize], run.Addr()); err != nil {
			return err
		}
		for ; w.written < to; w.written++ {
			at := fences[w.written*fenceSize:]
			binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)-from+run.Page)
		}
	}
	w.at = 0
	return nil
}

func (w *Writer) write(b []byte, addr int64) error {
	for len(b) > 0 {
		n := min(len(b), writeBytes)
		if _, err := w.o.File.WriteAt(b[:n], addr); err != nil {
			return fmt.Errorf("write branch %d at byte %d: %w", w.meta.ID, addr, err)
		}
		b, addr = b[n:], addr+int64(n)
	}
	return nil
}

// AddTombstone adds a range tombstone, in any order; it copies. One that
// covers nothing, or a part of another with the same number, is left out. After an error only
// Abort is allowed.
func (w *Writer) AddTombstone(t message.RangeTombstone) error {
	if bytes.Compare(t.Lo, t.Hi) >= 0 {
		return nil
	}
	if len(t.Lo) > message.KeyMax || len(t.Hi) > message.KeyMax {
		return fmt.Errorf("range tombstone with bounds of %d and %d bytes: %w", len(t.Lo), len(t.Hi), ErrTooLarge)
	}
	if n := len(w.tombOffsets); n > 0 {
		before, _ := readTombstone(w.tombs.bytes()[w.tombOffsets[n-1]:])
		switch c := compareTombstones(before, t); {
		case c > 0:
			w.sorted = false
		case covered(before, t):
			return nil
		}
	}
	at := w.tombs.n
	b := w.tombs.take(tombstoneSize(t))
	if b == nil {
		return ErrMemory
	}
	putTombstone(b, t)
	w.tombOffsets = append(w.tombOffsets, uint32(at))
	w.meta.RangeDeletes++
	w.see(t.Seq)
	return nil
}

// sortTombstones brings the tombstones into order, each once.
func (w *Writer) sortTombstones() {
	if w.sorted {
		return
	}
	all := w.tombs.bytes()
	at := func(off uint32) message.RangeTombstone {
		t, _ := readTombstone(all[off:])
		return t
	}
	slices.SortFunc(w.tombOffsets, func(a, b uint32) int { return compareTombstones(at(a), at(b)) })
	w.tombOffsets = slices.CompactFunc(w.tombOffsets, func(a, b uint32) bool { return covered(at(a), at(b)) })
	w.meta.RangeDeletes = uint64(len(w.tombOffsets))
}

// writeTombstones writes the tombstones into blocks as well, which no reader needs:
// a repair that has lost the index must not bring back what was deleted.
func (w *Writer) writeTombstones() error {
	all := w.tombs.bytes()
	id := block.ID{Branch: w.meta.ID, Epoch: w.meta.Epoch, Content: block.Tombstones}
	finish := func() error {
		id.Block = uint32(w.tombBlocks)
		w.tombBlocks++
		w.flags = 0
		return w.fence(w.builder.Finish(id, block.None, nil, nil))
	}
	w.how = block.None
	for i, at := range w.tombOffsets {
		t, _ := readTombstone(all[at:])
		m := message.Message{Key: t.Lo, Value: t.Hi, Seq: t.Seq, Kind: message.RangeDelete}
		if i > 0 && w.builder.Add(m) {
			continue
		}
		if i > 0 {
			if err := finish(); err != nil {
				return err
			}
		}
		if err := w.place(m); err != nil {
			return err
		}
	}
	if len(w.tombOffsets) > 0 {
		return finish()
	}
	return nil
}

// Finish writes the remaining blocks and the index. The branch is then in the
// file, and durable after the file's next Sync. The caller must close the
// Index. After an error only Abort may be called.
func (w *Writer) Finish() (Meta, *Index, error) {
	if w.meta.Records > 0 {
		if err := w.end(); err != nil {
			return Meta{}, nil, err
		}
		w.meta.Hi = append([]byte{}, w.last...)
	}
	w.sortTombstones()
	if err := w.writeTombstones(); err != nil {
		return Meta{}, nil, err
	}
	if err := w.flush(); err != nil {
		return Meta{}, nil, err
	}
	w.bounds()
	slices.SortFunc(w.meta.Blobs, func(a, b extent.Run) int { return int(int64(a.Page) - int64(b.Page)) })
	w.meta.Blobs = slices.Compact(w.meta.Blobs)

	image, ok := w.image()
	if !ok {
		return Meta{}, nil, ErrMemory
	}
	if err := w.writeIndex(image); err != nil {
		w.o.Pool.Free(image)
		return Meta{}, nil, err
	}
	x, err := newIndex(w.o, &w.meta, image)
	invariant.Check(err == nil, "branch: the written index is valid")
	w.release()
	return w.meta, x, nil
}

// bounds extends the bounds by the tombstones'.
func (w *Writer) bounds() {
	all := w.tombs.bytes()
	for i, at := range w.tombOffsets {
		t, _ := readTombstone(all[at:])
		if w.meta.Records == 0 && i == 0 || bytes.Compare(t.Lo, w.meta.Lo) < 0 {
			w.meta.Lo = append([]byte{}, t.Lo...)
		}
		if bytes.Compare(t.Hi, w.meta.Hi) > 0 {
			w.meta.Hi = append([]byte{}, t.Hi...)
		}
	}
}

func (w *Writer) writeIndex(image []byte) error {
	run, err := w.o.Alloc.Alloc(uint32(len(image) / extent.PageSize))
	if err != nil {
		return fmt.Errorf("branch %d: pages for the index: %w", w.meta.ID, err)
	}
	w.meta.Index = Loc{Addr: run.Addr(), Len: uint32(len(image)), CRC: block.Checksum(image)}
	return w.write(image, run.Addr())
}

// Abort frees all memory and all pages of the file.
func (w *Writer) Abort() {
	w.release()
	for _, r := range w.meta.Runs {
		w.o.Alloc.Free(r)
	}
	if w.meta.Index.Len > 0 {
		w.o.Alloc.Free(w.meta.IndexRun())
	}
}

func (w *Writer) release() {
	for _, g := range []*buffer{&w.fences, &w.seps, &w.hashes, &w.tombs} {
		g.free()
	}
	if w.out != nil {
		w.o.Pool.Free(w.out)
		w.out = nil
	}
	if w.scratch != nil {
		w.o.Pool.Free(w.scratch)
		w.scratch = nil
	}
}
