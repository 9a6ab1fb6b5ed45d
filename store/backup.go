// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/stream"
	"github.com/ashlar-dev/ashlar/internal/store/table"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
)

// A copy as a stream has the pages of the tree at one moment, at their addresses in
// the data file. Its units are the branches and the large values: neither ever
// changes, so an increment leaves out the units that the previous copy has. Two
// units are the same if they have the same place and hash: the hash of the large
// value itself, or of the branch's description and index, which has the checksums
// of its blocks. Numbers of branches would not be enough: a life that ends in a
// crash may have used numbers that the next life uses again.

// ErrBase reports that a copy does not follow the previous copy: it is of
// another store, or an increment since a different copy.
var ErrBase = errors.New("copy does not follow the previous copy")

// Kinds of sections, in the order in which they appear in a copy.
const (
	copyBegin = 1 // version, store, copy before, number, time
	copyPages = 2 // first page, pages
	copyUnits = 3 // units of the copy, by page
	copyEnd   = 4 // id of the copy, superblock; a Mark has none
)

const (
	copyVersion   = 1
	copyBeginSize = 56
	copyUnitSize  = 4 + len(sum{})
	copySize      = 256 << 10 // of the pages of a section
)

// sum identifies the content of a unit, or a copy: the first half of a SHA-256.
type sum [16]byte

// Mark describes what a copy contains, so that the next copy can omit it. It
// takes about 20 bytes for each branch and for each large value.
type Mark struct {
	store  [16]byte
	id     sum
	base   sum // id of the copy before, zero: none
	number uint64
	wall   int64
	units  []unit // by page
}

// unit is a branch, at the first page of its index, or a large value.
type unit struct {
	page uint32
	sum  sum
}

// Number is the number of the last change that the copy has.
func (m *Mark) Number() uint64 { return m.number }

// Time is when the copy began, by the machine's clock.
func (m *Mark) Time() time.Time { return time.Unix(0, m.wall) }

// find returns the sum of the unit at a page.
func (m *Mark) find(page uint32) (sum, bool) {
	if m == nil {
		return sum{}, false
	}
	i, ok := slices.BinarySearchFunc(m.units, page, func(u unit, page uint32) int { return cmp.Compare(u.page, page) })
	if !ok {
		return sum{}, false
	}
	return m.units[i].sum, true
}

// name derives the id from all other content of the copy.
func (m *Mark) name() sum {
	h := sha256.New()
	h.Write(m.begin())
	for _, u := range m.units {
		h.Write(u.append(nil))
	}
	return sum(h.Sum(nil)[:len(sum{})])
}

func (m *Mark) begin() []byte {
	b := binary.LittleEndian.AppendUint32(nil, copyVersion)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = append(append(b, m.store[:]...), m.base[:]...)
	b = binary.LittleEndian.AppendUint64(b, m.number)
	return binary.LittleEndian.AppendUint64(b, uint64(m.wall))
}

func (u unit) append(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(b, u.page), u.sum[:]...)
}

// Write writes the mark as a stream of its own, which ReadMark reads.
func (m *Mark) Write(w io.Writer) error {
	out := stream.NewWriter(w)
	if err := out.Section(copyBegin, m.begin()); err != nil {
		return err
	}
	return m.end(out, nil)
}

// end writes the units and the end.
func (m *Mark) end(out *stream.Writer, super []byte) error {
	const most = stream.PayloadMax / copyUnitSize
	for units := range slices.Chunk(m.units, most) {
		var b []byte
		for _, u := range units {
			b = u.append(b)
		}
		if err := out.Section(copyUnits, b); err != nil {
			return err
		}
	}
	return out.Section(copyEnd, m.id[:], super)
}

// Copy writes the store to w, in the state when all changes before the call are
// in the tree; the store may be used meanwhile. With a Mark of an earlier copy
// of this store it omits what that copy has; Restore then needs both. It
// returns the Mark of this copy. After an error the output is not a valid copy.
//
// While it runs, the store keeps those pages of that state that are not copied yet: with a
// slow w the file grows by at most the size of the store. Memory is taken on the Go heap, and
// not from Options.Memory: about three times the table of branches, the Mark, and a buffer of
// 256 KiB. While w.Write runs, Copy holds nothing of the store, so Close need not wait for it:
// Copy then ends with ErrClosed, unless it has read all pages.
//
// Copy verifies the checksum of every block and every large value on the very
// bytes that it writes to w. Damage of the store is an ErrCorrupt. The stream has
// checksums of its own, and Restore refuses it if it is cut or damaged.
func (db *DB) Copy(ctx context.Context, w io.Writer, since *Mark) (*Mark, error) {
	if !db.opt.ReadOnly {
		if err := db.Flush(); err != nil {
			return nil, err
		}
	}
	c, err := db.newCopying(ctx, w, since)
	if err != nil {
		return nil, err
	}
	defer c.giveUp()
	mark, err := c.stream()
	if err != nil {
		return nil, fmt.Errorf("copy: %w", explain(err))
	}
	return mark, nil
}

// newCopying begins a copy of the present state, of which it keeps the branches.
func (db *DB) newCopying(ctx context.Context, w io.Writer, since *Mark) (*copying, error) {
	s := db.acquire()
	defer db.release(s)
	if err := db.open(); err != nil {
		return nil, err
	}
	if db.opt.ReadOnly && (len(s.mems) > 1 || s.mems[0].table.Len() > 0) {
		return nil, fmt.Errorf("copy: the journal has changes that are not in the tree: open the store for writing: %w", ErrReadOnly)
	}
	uuid, _ := db.identity()
	c := &copying{
		db: db, ctx: ctx, out: stream.NewWriter(w), since: since, units: map[uint32]sum{}, buf: make([]byte, copySize),
		mark: Mark{store: uuid, number: uint64(s.newest()), wall: db.clock.Wall().UnixNano()},
	}
	c.top = db.copySuper(s)
	c.table = db.copyTable(s, c.top)
	s.root.Branches(func(b *trunk.Branch) {
		c.unwritten = append(c.unwritten, b.Meta)
		db.kept.keep(b.Meta.ID)
	})
	return c, nil
}

// giveUp releases the branches that were not written.
func (c *copying) giveUp() {
	for len(c.unwritten) > 0 {
		c.written()
	}
}

// written releases the first branch.
func (c *copying) written() {
	id := c.unwritten[0].ID
	c.unwritten = c.unwritten[1:]
	if c.db.enter() != nil {
		return // the store is closed
	}
	defer c.db.work.leave()
	if meta, last := c.db.kept.done(id); last {
		c.db.retireBranch(&meta)
	}
}

// inside calls f, which may use the files and the memory of the store. The store is not
// closed meanwhile.
func (c *copying) inside(f func() error) error {
	if err := cmp.Or(c.ctx.Err(), c.db.enter()); err != nil {
		return err
	}
	defer c.db.work.leave()
	return f()
}

func (c *copying) stream() (*Mark, error) {
	if since := c.since; since != nil {
		if since.store != c.mark.store || since.number > c.mark.number {
			return nil, fmt.Errorf("%w: the previous copy is of another store, or of a later state of this one", ErrBase)
		}
		c.mark.base = since.id
	}
	if err := c.out.Section(copyBegin, c.mark.begin()); err != nil {
		return nil, err
	}
	for len(c.unwritten) > 0 {
		if err := c.branch(&c.unwritten[0]); err != nil {
			return nil, err
		}
		c.written()
	}
	if err := writeCopy(c, make([]byte, c.table.Size()+table.SuperSize), c.table, c.top); err != nil {
		return nil, err
	}
	for _, page := range slices.Sorted(maps.Keys(c.units)) {
		c.mark.units = append(c.mark.units, unit{page, c.units[page]})
	}
	c.mark.id = c.mark.name()
	return &c.mark, c.mark.end(c.out, c.super)
}

// copying is a copy that is being written. It is the target of writeCopy.
type copying struct {
	db        *DB
	ctx       context.Context
	out       *stream.Writer
	since     *Mark
	mark      Mark
	units     map[uint32]sum
	buf       []byte
	super     []byte
	unwritten []branch.Meta // branches whose pages are kept until they are written
	table     *table.Table
	top       table.Superblock
	// sums are the checksums of the pages of the branch that was last written.
	sums map[uint32]uint32
	// last is the last of its large values that was found.
	last message.Message
}

// branch writes a branch, and its large values, unless the previous copy has them.
func (c *copying) branch(b *branch.Meta) error {
	s, err := c.branchSum(b)
	if err != nil {
		return err
	}
	page := b.IndexRun().Page
	if c.keep(b, page, s) {
		return nil
	}
	c.units[page] = s
	c.sums, c.last = map[uint32]uint32{}, message.Message{}
	for _, r := range append([]extent.Run{b.IndexRun()}, b.Runs...) {
		err := c.read(r, func(piece []byte, addr int64) error {
			for at := 0; at < len(piece); at += extent.PageSize {
				c.sums[uint32((addr+int64(at))/extent.PageSize)] = crc32.Checksum(piece[at:at+extent.PageSize], c.db.crc)
			}
			return c.pages(piece, addr)
		})
		if err != nil {
			return err
		}
	}
	if err := c.inside(func() error { return c.check(b) }); err != nil {
		return err
	}
	return c.values(b)
}

// branchSum identifies a branch.
func (c *copying) branchSum(b *branch.Meta) (sum, error) {
	h := sha256.New()
	h.Write(b.Append(nil))
	err := c.read(b.IndexRun(), func(piece []byte, _ int64) error {
		_, err := h.Write(piece)
		return err
	})
	return sum(h.Sum(nil)[:len(sum{})]), err
}

// keep takes over the units of a branch that the previous copy has.
func (c *copying) keep(b *branch.Meta, page uint32, s sum) bool {
	if before, ok := c.since.find(page); !ok || before != s {
		return false
	}
	for _, r := range b.Blobs {
		if _, ok := c.since.find(r.Page); !ok {
			return false
		}
	}
	c.units[page] = s
	for _, r := range b.Blobs {
		c.units[r.Page], _ = c.since.find(r.Page)
	}
	return true
}

// index opens a branch that was written. It must read the same bytes that were written.
func (c *copying) index(b *branch.Meta) (*branch.Index, error) {
	o := c.db.branchOptions(forTable, false)
	o.Resident = 0 // it is checked without the cache, and closed
	o.File = &unchanged{o.File, c.sums, c.db.crc}
	return branch.OpenIndex(o, b)
}

// check reads a branch that was written, and finds out whether its pages were sound
// and are still the same: then those of the copy are sound.
func (c *copying) check(b *branch.Meta) error {
	index, err := c.index(b)
	if err != nil {
		return err
	}
	defer index.Close()
	var scratch branch.Scratch
	defer scratch.Close()
	for i := range index.Blocks() {
		if _, err := index.Check(i, nil, &scratch); err != nil {
			return err
		}
		if err := c.alive(); err != nil {
			return err
		}
	}
	return nil
}

// valuesBytes bounds the keys of large values that are remembered at a time (at least
// one key), and the index that is opened for them.
const valuesBytes = 64 << 10

// values writes the large values of a branch. The branch is closed while they are
// written.
func (c *copying) values(b *branch.Meta) error {
	for more := len(b.Blobs) > 0; more; {
		var some []message.Message
		err := c.inside(func() (err error) {
			some, err = c.someValues(b)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range some {
			if err := c.blob(m); err != nil {
				return err
			}
		}
		more = len(some) > 0
	}
	return nil
}

// someValues finds large values that neither were written nor are left out.
func (c *copying) someValues(b *branch.Meta) (some []message.Message, err error) {
	index, err := c.index(b)
	if err != nil {
		return nil, err
	}
	defer index.Close()
	it := index.Iter(branch.IterOptions{})
	defer it.Close()
	size, most := 0, int(max(valuesBytes, b.IndexRun().Bytes()))
	ok := c.last.Key == nil && it.First() || c.last.Key != nil && it.SeekGE(c.last.Key)
	for n := 1; ok && size < most; ok, n = it.Next(), n+1 {
		if n%256 == 0 {
			if err := c.alive(); err != nil {
				return nil, err
			}
		}
		m := it.Message()
		if m.Kind != message.Blob || c.last.Key != nil && message.Compare(m, c.last) <= 0 {
			continue
		}
		m.Key, m.Value = append([]byte{}, m.Key...), bytes.Clone(m.Value)
		some, c.last = append(some, m), m
		size += len(m.Key) + len(m.Value)
	}
	return some, it.Err()
}

// blob writes a large value, unless this copy or the one before it has it.
func (c *copying) blob(m message.Message) error {
	ref, ok := message.DecodeBlobRef(m.Value)
	if !ok {
		return badRef(m)
	}
	run := extent.RunOf(ref.Addr, int64(ref.Len))
	if _, done := c.units[run.Page]; done {
		return nil
	}
	if before, ok := c.since.find(run.Page); ok {
		s, err := c.value(ref, run, m.Key, func([]byte, int64) error { return nil })
		if err != nil {
			return err
		}
		if s == before {
			c.units[run.Page] = s
			return nil
		}
	}
	s, err := c.value(ref, run, m.Key, c.pages)
	c.units[run.Page] = s
	return err
}

// value reads a large value, and compares its checksum when visit has seen it.
func (c *copying) value(ref message.BlobRef, run extent.Run, key []byte, visit func([]byte, int64) error) (sum, error) {
	if c.db.space.end() < run.Addr()+run.Bytes() {
		return sum{}, c.db.badBlob(ref, key, "a large value within the file", fmt.Sprintf("%d bytes", ref.Len))
	}
	h, crc, left := sha256.New(), uint32(0), int(ref.Len)
	err := c.read(run, func(piece []byte, addr int64) error {
		n := min(left, len(piece))
		left -= n
		crc = crc32.Update(crc, c.db.crc, piece[:n])
		h.Write(piece)
		return visit(piece, addr)
	})
	if err == nil && crc != ref.CRC {
		err = c.db.badBlob(ref, key, fmt.Sprintf("checksum 0x%08x", ref.CRC), fmt.Sprintf("0x%08x", crc))
	}
	return sum(h.Sum(nil)[:len(sum{})]), err
}

// alive returns the error that ends an unfinished copy.
func (c *copying) alive() error { return cmp.Or(c.ctx.Err(), c.db.open()) }

// read calls visit with the pages of a run, in pieces.
func (c *copying) read(r extent.Run, visit func(piece []byte, addr int64) error) error {
	for at := int64(0); at < r.Bytes(); at += int64(len(c.buf)) {
		piece := c.buf[:min(int64(len(c.buf)), r.Bytes()-at)]
		err := c.inside(func() error { return datafile.ReadFull(c.db.files.data, piece, r.Addr()+at) })
		if err != nil {
			return err
		}
		if err := visit(piece, r.Addr()+at); err != nil {
			return err
		}
	}
	return nil
}

// pages writes pages to the stream, as many as a section takes.
func (c *copying) pages(b []byte, addr int64) error {
	page := binary.LittleEndian.AppendUint32(nil, uint32(addr/extent.PageSize))
	return c.out.Section(copyPages, page, b)
}

// WriteAt implements copyTarget: it takes the pages of the table, and then the
// superblock, which comes last in the stream.
func (c *copying) WriteAt(b []byte, addr int64) (int, error) {
	if addr == table.SuperAddr(0) {
		c.super = bytes.Clone(b)
		return len(b), nil
	}
	for piece := range slices.Chunk(b, copySize) {
		if err := c.pages(piece, addr); err != nil {
			return 0, err
		}
		addr += int64(len(piece))
	}
	return len(b), nil
}

// Sync implements copyTarget; a stream is durable when its reader makes it so.
func (c *copying) Sync() error { return nil }

// unchanged is a file in which some pages must not have changed.
type unchanged struct {
	env.File
	sums map[uint32]uint32
	crc  *crc32.Table
}

// ReadAt implements io.ReaderAt.
func (f *unchanged) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	for at := 0; at+extent.PageSize <= n; at += extent.PageSize {
		page := uint32((off + int64(at)) / extent.PageSize)
		want, ok := f.sums[page]
		if got := crc32.Checksum(b[at:at+extent.PageSize], f.crc); !ok || got != want {
			return 0, &CorruptError{File: datafile.Name, Offset: int64(page) * extent.PageSize,
				Want: fmt.Sprintf("a page with checksum %08x, as when it was copied", want), Found: fmt.Sprintf("%08x", got)}
		}
	}
	return n, err
}
