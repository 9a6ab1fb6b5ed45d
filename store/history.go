// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/datafile"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/stream"
)

// The history of a store is its changes in the order in which they were made:
// those of the memtables, where they stand in that order anyway, and before them
// segments, files that each have the changes of one memtable. A segment is
// written when its memtable is flushed, and is durable before the superblock
// that makes the tree have the same changes: so each change is in one or the
// other, and recovery, which puts the journal into memtables, changes nothing
// about that.
//
// A life that crashes between the two leaves a segment whose changes may never
// have been durable otherwise. Its last number is above the cut of the
// superblock; it does not count, and is removed before the next one is written.
//
// The journal would not do. It has what was synced and not what the tree took
// first; large values are elsewhere; and a frame is a page however little was
// synced.

// History says how long a store keeps its changes, for DB.Changes. The zero
// History keeps none; a store that is opened for writing with it gives up, at its
// first flush, what lives before have kept.
type History struct {
	// Bytes bounds the files of the history. The oldest is removed when they are
	// more; while one is written they may be twice that. A file has the changes
	// of one memtable, with their large values.
	Bytes int64
	// Must refuses to flush what the history cannot keep: without room on the disk
	// changes wait, and any other error stops the store. Otherwise such changes are
	// missing in the history, which is logged and counted
	// (Metrics.HistoryMissing), and a Feed that comes to them ends with ErrTooOld.
	Must bool
}

const (
	historyPrefix = "HISTORY-"
	historyNew    = "HISTORY.new"
	historyPiece  = 256 << 10 // of the changes in a section

	historyVersion   = 1
	historyBeginSize = 24
	changeHeader     = 16
	moreFollow       = 1 // flag of a change: the next one is of the same batch
)

// Kinds of sections, in the order in which they stand in a segment.
const (
	historyBegin   = 16 // version, store, first number
	historyChanges = 17 // a part of the changes
	historyTimes   = 18 // numbers, and when they were given out
	historyEnd     = 19 // last number
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
	// pending is the last change that was made, and when; under DB.mu.
	pending moment
}

// segment is a file with the changes first to last.
type segment struct {
	name        string
	first, last message.Seq
	bytes       int64
}

// moment says that a change was made at or before a time.
type moment struct {
	seq  message.Seq
	wall int64 // nanoseconds since 1970
}

func (h *history) init(db *DB) {
	h.db = db
	h.mu.SetRank(rankLeaf, "history")
}

func (h *history) on() bool { return h.db.opt.History.Bytes > 0 }

// segmentName is the name of a segment's file, in the directory of the store.
func segmentName(store uint64, first, last message.Seq) string {
	return fmt.Sprintf("%s%016x-%016x-%016x", historyPrefix, store, uint64(first), uint64(last))
}

// parseSegment reads a name.
func parseSegment(name string) (store uint64, s segment, ok bool) {
	parts := strings.Split(strings.TrimPrefix(name, historyPrefix), "-")
	if !strings.HasPrefix(name, historyPrefix) || len(parts) != 3 {
		return 0, s, false
	}
	var n [3]uint64
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseUint(p, 16, 64); err != nil || len(p) != 16 {
			return 0, s, false
		}
	}
	s = segment{name: name, first: message.Seq(n[1]), last: message.Seq(n[2])}
	return n[0], s, s.first >= 1 && s.first <= s.last
}

// find is called by recovery with the cut of the superblock.
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

// note records when a change was made. The caller holds DB.mu; m has the change.
func (h *history) note(m *mem, seq message.Seq) {
	now := moment{seq, h.db.clock.Wall().UnixNano()}
	if p := h.pending; p.seq >= m.first && (len(m.moments) == 0 || p.wall-m.moments[len(m.moments)-1].wall >= m.every) {
		if len(m.moments) == momentsMax {
			for i := range momentsMax / 2 {
				m.moments[i] = m.moments[2*i+1]
			}
			m.moments, m.every = m.moments[:momentsMax/2], 2*m.every
		}
		m.moments = append(m.moments, p)
	}
	h.pending = now
}

// A memtable has at most momentsMax moments. They are a second apart at first,
// and twice as long when that would be too many.
const momentsMax = 1024

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
		return h.missing(m, fmt.Errorf("keep the history: %w", err))
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
		return err
	}
	h.db.log.Error("the history lacks changes", "first", uint64(m.table.MinSeq()), "last", uint64(m.table.MaxSeq()), "error", err)
	h.db.metrics.historyMissing.Add(int64(m.table.Len()))
	return nil
}

// clear removes what a crash has left, durably: a later life would take it for
// history when its numbers have been given out again.
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
	s.name = segmentName(db.life.store, s.first, s.last)
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
	file := &sequential{file: f, max: h.db.opt.History.Bytes}
	buffered := bufio.NewWriterSize(file, historyPiece)
	out := stream.NewWriter(buffered)
	begin := binary.LittleEndian.AppendUint32(nil, historyVersion)
	begin = binary.LittleEndian.AppendUint32(begin, 0)
	begin = binary.LittleEndian.AppendUint64(begin, h.db.life.store)
	begin = binary.LittleEndian.AppendUint64(begin, uint64(s.first))
	if err := out.Section(historyBegin, begin); err != nil {
		return 0, err
	}
	w := changeWriter{out: out}
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
	if err := w.flush(); err != nil {
		return 0, err
	}
	if w.last != s.last {
		return 0, fmt.Errorf("a memtable with changes up to %d was read up to %d", s.last, w.last)
	}
	var times []byte
	for _, t := range h.momentsOf(m) {
		times = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(times, uint64(t.seq)), uint64(t.wall))
	}
	if err := out.Section(historyTimes, times); err != nil {
		return 0, err
	}
	if err := out.Section(historyEnd, binary.LittleEndian.AppendUint64(nil, uint64(s.last))); err != nil {
		return 0, err
	}
	return out.Bytes(), buffered.Flush()
}

// momentsOf are the moments of a full memtable.
func (h *history) momentsOf(m *mem) []moment {
	h.db.mu.Lock()
	defer h.db.mu.Unlock()
	moments := slices.Clone(m.moments)
	if p := h.pending; p.seq >= m.first && p.seq <= m.table.MaxSeq() {
		moments = append(moments, p)
	}
	return moments
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
		return 0, fmt.Errorf("the changes of a memtable take more than the %d bytes of History.Bytes", s.max)
	}
	n, err := s.file.WriteAt(b, s.at)
	s.at += int64(n)
	return n, err
}

// changeWriter writes changes, in pieces.
type changeWriter struct {
	out  *stream.Writer
	buf  []byte
	last message.Seq
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
	var head [changeHeader]byte
	head[0] = byte(kind)
	if more {
		head[1] = moreFollow
	}
	binary.LittleEndian.PutUint16(head[2:], uint16(len(m.Key)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(value)))
	binary.LittleEndian.PutUint64(head[8:], uint64(m.Seq))
	w.last = m.Seq
	return cmp.Or(w.write(head[:]), w.write(m.Key), w.write(value))
}

// valueOf is the value of a message, wherever it is.
func (db *DB) valueOf(m message.Message) ([]byte, error) {
	if m.Kind != message.Blob {
		return m.Value, nil
	}
	ref, ok := message.DecodeBlobRef(m.Value)
	if !ok {
		return nil, &CorruptError{File: datafile.Name, Lo: m.Key, Hi: m.Key, Want: "where a large value is", Found: fmt.Sprintf("%x", m.Value)}
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
	moments     []moment
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
		return nil, fmt.Errorf("%s has format version %d, this program reads %d", name, v, historyVersion)
	}
	r.store = binary.LittleEndian.Uint64(b[8:])
	r.first = message.Seq(binary.LittleEndian.Uint64(b[16:]))
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
		err = r.bad("the end of a history", "the end of the file before it")
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

// end reads what stands behind the last change.
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
		return r.bad("all of a change", "the end of the changes")
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
	if kind != historyTimes || len(b)%16 != 0 {
		return r.bad("times", fmt.Sprintf("section %d of %d bytes", kind, len(b)))
	}
	for t := range slices.Chunk(b, 16) {
		r.moments = append(r.moments, moment{message.Seq(binary.LittleEndian.Uint64(t)), int64(binary.LittleEndian.Uint64(t[8:]))})
	}
	kind, b, err = r.section()
	if err != nil {
		return err
	}
	if kind != historyEnd || len(b) != 8 || message.Seq(binary.LittleEndian.Uint64(b)) != r.next-1 {
		return r.bad(fmt.Sprintf("the end behind change %d", r.next-1), fmt.Sprintf("section %d, %x", kind, b))
	}
	r.last = r.next - 1
	r.at = r.in.Offset()
	if _, _, err := r.in.Next(); err != io.EOF {
		return r.bad("the end of the file", "more bytes")
	}
	return io.EOF
}
