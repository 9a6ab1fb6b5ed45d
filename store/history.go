// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/stream"
)

// The history of a store is its changes in the order in which they were made: those
// of the memtables, which have that order anyway, and before them segments, files
// that each have the changes of one memtable. A segment is written when its
// memtable is flushed, and is durable before the superblock with which the tree has
// the same changes: so each change is in one or the other, and recovery, which puts
// the journal into memtables, does not affect that.
//
// A life that crashes between the two leaves a segment whose changes may never have
// been durable otherwise. Its last number is above the cut of the superblock; it
// does not count, and is removed before the next one is written.
//
// The journal could not be the history. It lacks changes that reached the tree
// before a sync; large values are elsewhere; and a frame takes a page however
// little was synced.

// History determines how long a store keeps its changes, for DB.Changes. The zero
// History keeps none; a store opened for writing with it discards, at its first
// flush, the history of earlier lives.
type History struct {
	// Bytes bounds the size of the history's files. The store removes the oldest
	// file when they exceed it; while one is being written they may take twice as
	// much. A file has the changes of one memtable, with their large values.
	Bytes int64
	// Must makes the store refuse to flush changes that the history cannot keep.
	// They stay in the journal until memory for memtables runs out; from then on Put
	// and all other changes return the error until an attempt succeeds, and each of
	// them makes an attempt. Without Must such changes are missing in the history,
	// which is logged and counted (DB.History), and a Feed that reaches them ends
	// with ErrTooOld.
	Must bool
}

const (
	historyNew   = "HISTORY.new"
	historyPiece = 256 << 10 // of the changes in a section

	historyVersion   = 2
	historyBeginSize = 32
	historySpaces    = 1 // flag of a segment: the store had keyspaces when it was written
	changeHeader     = 16
	moreFollow       = 1 // flag of a change: the next one is of the same batch
)

// Kinds of sections, in the order in which they appear in a segment.
const (
	historyBegin   = 16 // version, flags, store, first number, time
	historyChanges = 17 // a part of the changes
	historyEnd     = 18 // last number
)

// history is the segments.
type history struct {
	db *DB
	// mu is a leaf.
	mu       invariant.Mutex
	segments []segment // by first number
	// stale are segments that a crash has left, or that are not wanted. Only the
	// holder of checkpointer.mu uses them.
	stale []string
}

// segment is a file with the changes first to last.
type segment struct {
	name        string
	first, last message.Seq
	bytes       int64
}

func (h *history) init(db *DB) {
	h.db = db
	h.mu.SetRank(rankLeaf, "history")
}

func (h *history) on() bool { return h.db.opt.History.Bytes > 0 }

// parseSegment reads the name of a segment.
func parseSegment(name string) (store uint64, s segment, ok bool) {
	store, s.first, s.last, ok = datafile.ParseHistoryName(name)
	s.name = name
	return store, s, ok
}

// find, called by recovery, receives the cut of the superblock.
func (h *history) find(cut message.Seq) error {
	db := h.db
	names, err := db.files.disk.List(db.files.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == historyNew {
			h.stale = append(h.stale, name)
			continue
		}
		store, s, ok := parseSegment(name)
		if !ok {
			continue
		}
		if store != db.life.store || s.last > cut || !h.on() && !db.opt.ReadOnly {
			h.stale = append(h.stale, name)
			continue
		}
		f, err := db.files.disk.Open(path.Join(db.files.dir, name), false)
		if err != nil {
			return err
		}
		s.bytes, err = f.Size()
		if err = cmp.Or(err, f.Close()); err != nil {
			return err
		}
		h.segments = append(h.segments, s)
	}
	slices.SortFunc(h.segments, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	return nil
}

// save makes the changes of a memtable durable in a segment. The memtable is full,
// and the caller holds checkpointer.mu.
func (h *history) save(m *mem) error {
	if err := h.clear(); err != nil {
		return h.missing(m, err)
	}
	if !h.on() || m.table.Len() == 0 {
		return nil
	}
	h.mu.Lock()
	n := len(h.segments)
	saved := n > 0 && h.segments[n-1].last >= m.table.MaxSeq()
	h.mu.Unlock()
	if saved {
		return nil // an earlier flush of it went no further
	}
	s, err := h.write(m)
	if err != nil {
		_ = h.db.files.disk.Remove(path.Join(h.db.files.dir, historyNew)) // what is left is removed by the next life
		return h.missing(m, err)
	}
	h.mu.Lock()
	h.segments = append(h.segments, s)
	h.mu.Unlock()
	h.trim()
	return nil
}

// missing is called when the history does not get the changes of a memtable.
func (h *history) missing(m *mem, err error) error {
	if h.db.opt.History.Must && h.on() {
		return &historyError{err}
	}
	h.db.log.Error("the history lacks changes", "first", uint64(m.table.MinSeq()), "last", uint64(m.table.MaxSeq()), "error", err)
	h.db.metrics.historyMissing.Add(int64(m.table.Len()))
	return nil
}

// historyError is the reason why a flush cannot be made while the history must have all
// changes. It does not stop the store: the journal has the changes, and the flush is
// tried again.
type historyError struct{ err error }

func (e *historyError) Error() string { return "keep the history: " + e.err.Error() }
func (e *historyError) Unwrap() error { return e.err }

// mayPass reports whether an error of a flush may be gone at the next attempt: the disk
// has no room, or the history cannot be written.
func mayPass(err error) bool {
	var history *historyError
	return errors.Is(err, env.ErrNoSpace) || errors.As(err, &history)
}

// clear removes the files that a crash has left, durably: when their numbers have
// been used again, a later life would take them for history.
func (h *history) clear() error {
	if len(h.stale) == 0 {
		return nil
	}
	disk, dir := h.db.files.disk, h.db.files.dir
	for _, name := range h.stale {
		if err := disk.Remove(path.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	h.stale = nil
	return nil
}

// trim removes the oldest segments beyond the bound.
func (h *history) trim() {
	db := h.db
	sum := h.size()
	h.mu.Lock()
	var gone []segment
	for sum > db.opt.History.Bytes {
		sum -= h.segments[0].bytes
		gone = append(gone, h.segments[0])
		h.segments = h.segments[1:]
	}
	h.mu.Unlock()
	for _, s := range gone {
		if err := db.files.disk.Remove(path.Join(db.files.dir, s.name)); err != nil {
			h.stale = append(h.stale, s.name)
		}
	}
}

// HistoryMetrics are the present sizes of a history.
type HistoryMetrics struct {
	// Bytes is the length of its files.
	Bytes int64
	// Missing is the number of changes since the store was opened that could not be kept.
	Missing int64
}

// History returns the sizes of the history.
func (db *DB) History() HistoryMetrics {
	return HistoryMetrics{Bytes: db.history.size(), Missing: db.metrics.historyMissing.Load()}
}

// size is the length of all segments in bytes.
func (h *history) size() (n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.segments {
		n += s.bytes
	}
	return n
}

// write writes a segment.
func (h *history) write(m *mem) (segment, error) {
	db := h.db
	name := path.Join(db.files.dir, historyNew)
	f, err := db.files.disk.Open(name, true)
	if err != nil {
		return segment{}, err
	}
	s := segment{first: m.table.MinSeq(), last: m.table.MaxSeq()}
	s.name = datafile.HistoryName(db.life.store, s.first, s.last)
	if err = f.Truncate(0); err == nil {
		s.bytes, err = h.fill(f, m, s)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return s, err
	}
	if err := db.files.disk.Rename(name, path.Join(db.files.dir, s.name)); err != nil {
		return s, err
	}
	return s, db.files.disk.SyncDir(db.files.dir)
}

// fill writes the sections of a segment.
func (h *history) fill(f env.File, m *mem, s segment) (int64, error) {
	w, err := newChangeWriter(&sequential{file: f, max: h.db.opt.History.Bytes}, h.db.life.store, s.first, h.db.clock.Wall(), h.db.spaces.on.Load())
	if err != nil {
		return 0, err
	}
	var failed error
	for _, part := range h.db.spansOf(m) {
		m.table.Each(part.lo, part.hi, func(e message.Message, more bool, _ int) bool {
			failed = w.message(h.db, e, more)
			return failed == nil
		})
		if failed != nil {
			return 0, failed
		}
	}
	if w.last != s.last {
		return 0, fmt.Errorf("a memtable with changes up to %d was read only up to %d", s.last, w.last)
	}
	return w.end()
}

// span is a part of a memtable's arena that has changes and nothing else, from the
// change first on.
type span struct {
	lo, hi int
	first  message.Seq
}

// spansOf are the spans of a memtable so far. The last one may still grow.
func (db *DB) spansOf(m *mem) []span {
	db.mu.Lock()
	defer db.mu.Unlock()
	spans := m.spans
	if m.frameCount > 0 && !m.full {
		spans = append(spans[:len(spans):len(spans)], span{m.frame + frameHeader, m.table.Pos(), m.frameFirst})
	}
	return spans
}

// sequential writes a file from its beginning on, up to a bound.
type sequential struct {
	file    env.File
	at, max int64
}

// Write implements io.Writer.
func (s *sequential) Write(b []byte) (int, error) {
	if s.at+int64(len(b)) > s.max {
		return 0, fmt.Errorf("the changes of one memtable exceed History.Bytes, %d: raise it", s.max)
	}
	n, err := s.file.WriteAt(b, s.at)
	s.at += int64(n)
	return n, err
}

// changeWriter writes a segment.
type changeWriter struct {
	buffered *bufio.Writer
	out      *stream.Writer
	buf      []byte
	last     message.Seq
}

// newChangeWriter begins a segment of changes that were made by that time. Spaces
// reports that some of them may be of keyspaces.
func newChangeWriter(to io.Writer, store uint64, first message.Seq, wall time.Time, spaces bool) (*changeWriter, error) {
	buffered := bufio.NewWriterSize(to, historyPiece)
	w := &changeWriter{buffered: buffered, out: stream.NewWriter(buffered)}
	begin := binary.LittleEndian.AppendUint32(nil, historyVersion)
	var flags uint32
	if spaces {
		flags = historySpaces
	}
	begin = binary.LittleEndian.AppendUint32(begin, flags)
	begin = binary.LittleEndian.AppendUint64(begin, store)
	begin = binary.LittleEndian.AppendUint64(begin, uint64(first))
	begin = binary.LittleEndian.AppendUint64(begin, uint64(wall.UnixNano()))
	return w, w.out.Section(historyBegin, begin)
}

// end ends the segment, and returns its length.
func (w *changeWriter) end() (int64, error) {
	if err := w.flush(); err != nil {
		return 0, err
	}
	if err := w.out.Section(historyEnd, binary.LittleEndian.AppendUint64(nil, uint64(w.last))); err != nil {
		return 0, err
	}
	return w.out.Bytes(), w.buffered.Flush()
}

// message writes a message of a memtable, whose large value it reads.
func (w *changeWriter) message(db *DB, m message.Message, more bool) error {
	value, err := db.valueOf(m)
	if err != nil {
		return err
	}
	kind := m.Kind
	if kind == message.Blob {
		kind = message.Put
	}
	return w.change(Change{Number: uint64(m.Seq), Kind: ChangeKind(kind), Key: m.Key, Value: value, More: more})
}

func (w *changeWriter) change(c Change) error {
	var head [changeHeader]byte
	head[0] = byte(c.Kind)
	if c.More {
		head[1] = moreFollow
	}
	binary.LittleEndian.PutUint16(head[2:], uint16(len(c.Key)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(c.Value)))
	binary.LittleEndian.PutUint64(head[8:], c.Number)
	w.last = message.Seq(c.Number)
	return cmp.Or(w.write(head[:]), w.write(c.Key), w.write(c.Value))
}

// badRef is the error of a message whose reference to a large value is invalid.
func badRef(m message.Message) *CorruptError {
	key := bytes.Clone(m.Key)
	return &CorruptError{File: datafile.Name, Lo: key, Hi: key, Want: "a reference to a large value", Found: fmt.Sprintf("%d bytes that do not encode one", len(m.Value))}
}

// valueOf returns the value of a message, wherever it is stored.
func (db *DB) valueOf(m message.Message) ([]byte, error) {
	if m.Kind != message.Blob {
		return m.Value, nil
	}
	ref, ok := message.DecodeBlobRef(m.Value)
	if !ok {
		return nil, badRef(m)
	}
	return db.readBlob(ref, m.Key, nil)
}

func (w *changeWriter) write(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), historyPiece-len(w.buf))
		w.buf, b = append(w.buf, b[:n]...), b[n:]
		if len(w.buf) == historyPiece {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *changeWriter) flush() error {
	err := w.out.Section(historyChanges, w.buf)
	w.buf = w.buf[:0]
	return err
}

// segmentReader reads the changes of a segment.
type segmentReader struct {
	name string
	in   *stream.Reader
	at   int64 // of the section
	rest []byte
	key  []byte
	// store and first are what the segment says of itself, next is the number of
	// the next change, and last is set at the end.
	store       uint64
	first, next message.Seq
	last        message.Seq
	wall        time.Time // the changes were made by then
	spaces      bool      // some of them may be of keyspaces
}

func (r *segmentReader) bad(want, found string) error {
	return &CorruptError{File: r.name, Offset: r.at, Want: want, Found: found}
}

// readSegment reads the beginning of a segment.
func readSegment(name string, in io.Reader) (*segmentReader, error) {
	r := &segmentReader{name: name, in: stream.NewReader(in)}
	kind, b, err := r.section()
	if err != nil {
		return nil, err
	}
	if kind != historyBegin || len(b) != historyBeginSize {
		return nil, r.bad("the beginning of a history", fmt.Sprintf("section %d of %d bytes", kind, len(b)))
	}
	if v := binary.LittleEndian.Uint32(b); v != historyVersion {
		return nil, fmt.Errorf("%s %w %d; this program reads version %d", name, errVersion, v, historyVersion)
	}
	flags := binary.LittleEndian.Uint32(b[4:])
	if flags > historySpaces {
		return nil, r.bad("no flags except 1", fmt.Sprintf("flags %#x", flags))
	}
	r.spaces = flags == historySpaces
	r.store = binary.LittleEndian.Uint64(b[8:])
	r.first = message.Seq(binary.LittleEndian.Uint64(b[16:]))
	r.wall = time.Unix(0, int64(binary.LittleEndian.Uint64(b[24:])))
	r.next = r.first
	return r, nil
}

func (r *segmentReader) section() (kind byte, payload []byte, err error) {
	r.at = r.in.Offset()
	kind, payload, err = r.in.Next()
	var bad *stream.Corrupt
	if errors.As(err, &bad) {
		err = r.bad(bad.Want, bad.Found)
	} else if err == io.EOF {
		err = r.bad("the end of a history", "the end of the file")
	}
	return kind, payload, err
}

// change reads the next change; io.EOF is the end of a whole segment. Key and
// value are valid until the next call.
func (r *segmentReader) change() (Change, error) {
	var head [changeHeader]byte
	if err := r.read(head[:0:changeHeader], changeHeader, &r.key); err != nil {
		return Change{}, err
	}
	copy(head[:], r.key)
	c := Change{
		Number: binary.LittleEndian.Uint64(head[8:]), Kind: ChangeKind(head[0]), More: head[1] == moreFollow,
	}
	if message.Seq(c.Number) != r.next || !c.Kind.valid() || head[1] > moreFollow {
		return c, r.bad(fmt.Sprintf("change %d", r.next), fmt.Sprintf("change %d of kind %d", c.Number, c.Kind))
	}
	r.next++
	keyLen, valueLen := int(binary.LittleEndian.Uint16(head[2:])), int(binary.LittleEndian.Uint32(head[4:]))
	if valueLen > message.ValueMax {
		return c, r.bad(fmt.Sprintf("a value of at most %d bytes", message.ValueMax), fmt.Sprint(valueLen))
	}
	if err := r.read(r.key[:0], keyLen, &r.key); err != nil {
		return c, r.inside(err)
	}
	var value []byte
	if err := r.read(nil, valueLen, &value); err != nil {
		return c, r.inside(err)
	}
	c.Key, c.Value = r.key, value
	return c, nil
}

// end reads what is behind the last change.
func (r *segmentReader) end() error {
	if c, err := r.change(); err == nil {
		return r.bad("the end of the changes", fmt.Sprintf("change %d", c.Number))
	} else if err != io.EOF {
		return err
	}
	return nil
}

// inside is the error where a change is cut.
func (r *segmentReader) inside(err error) error {
	if err == io.EOF {
		return r.bad("a complete change", "the end of the changes")
	}
	return err
}

// read appends n bytes of the changes to dst, and stores the result.
func (r *segmentReader) read(dst []byte, n int, result *[]byte) error {
	for left := n; left > 0; {
		if len(r.rest) == 0 {
			if err := r.more(); err != nil {
				if err == io.EOF && left < n {
					return r.inside(err)
				}
				return err
			}
			continue
		}
		k := min(left, len(r.rest))
		dst = append(dst, r.rest[:k]...)
		r.rest, left = r.rest[k:], left-k
	}
	*result = dst
	return nil
}

// more reads the next section of changes, or those behind them.
func (r *segmentReader) more() error {
	if r.last != 0 {
		return io.EOF
	}
	kind, b, err := r.section()
	if err != nil {
		return err
	}
	if kind == historyChanges {
		r.rest = b
		return nil
	}
	if kind != historyEnd || len(b) != 8 || message.Seq(binary.LittleEndian.Uint64(b)) != r.next-1 {
		return r.bad(fmt.Sprintf("the end after change %d", r.next-1), fmt.Sprintf("section %d, %x", kind, b))
	}
	r.last = r.next - 1
	r.at = r.in.Offset()
	if _, _, err := r.in.Next(); err != io.EOF {
		return r.bad("the end of the file", "more bytes")
	}
	return io.EOF
}
