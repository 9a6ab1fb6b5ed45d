// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"sort"

	"github.com/ashlar-dev/ashlar/env"
)

// flaws are ways to write a store that loses something. The zero flaws are the
// reference.
type flaws struct {
	NoSync          bool // Sync does nothing
	NoSyncDir       bool // the name of a new log is not synced
	NoChecksum      bool // recovery believes every frame
	NoChain         bool // a frame does not know the one before
	SplitBatch      bool // each change of a batch is a frame of its own
	AckEarly        bool // a durable commit is not synced
	ErrorIsEnd      bool // recovery takes a read error for the end of the log
	GoOn            bool // nothing happens after a failed sync
	RetrySync       bool // a failed sync is tried again, and succeeds
	WritingOpen     bool // recovery cuts off the torn end
	BlindRename     bool // a new log replaces the old one before it is synced
	WrongMerge      bool // recovery applies merges as puts
	RotIsEnd        bool // damage in the middle of the log is taken for its end
	HugeLength      bool // recovery believes a length before it is checked
	HoleOnFull      bool // a write that failed is counted as done
	ForgetOnFull    bool // a commit that failed stays in memory
	BadSnapshot     bool // snapshots see later changes
	BadSeekLT       bool // SeekLT gives the key itself
	ShortCheckpoint bool // a copy is not synced
	LeakFile        bool // Close leaves the log open
	BlindRecovery   bool // recovery does not sync what it has read
	DeleteByHalf    bool // a range delete is recovered without its last key
}

// logStore is a map with a log: the least that is crash safe.
type logStore struct {
	f       flaws
	disk    env.Disk
	dir     string
	log     env.File
	end     int64
	chain   uint32
	buffer  []byte // frames that are not written
	m       map[string][]byte
	stopped error
	synced  int64 // the length that is durable
}

type logSubject struct{ f flaws }

func (s logSubject) Name() string { return "log" }

func (s logSubject) Durable(k OpKind) bool {
	return k == Sync || k == Flush || k == Reopen
}

var errRot = errors.New("the log is damaged")
var errStopped = errors.New("stopped")

func (s logSubject) Explains(err error) bool {
	return errors.Is(err, errRot) || errors.Is(err, errStopped)
}

// A frame is: length of the payload, its checksum over chain, synced and
// payload, what was durable when it was written, payload, zeros up to a
// page: so a write never touches what is durable, and one page that is lost
// hurts one frame.
const (
	frameHeader = 4 + 4 + 8
	frameUnit   = 4096
)

func (s logSubject) Open(disk env.Disk, dir string, tracer env.Tracer) (Store, error) {
	l := &logStore{f: s.f, disk: disk, dir: dir, m: map[string][]byte{}}
	names, err := disk.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = disk.MakeDir(dir)
	}
	if err == nil && !s.f.BlindRecovery {
		err = disk.SyncDir(".")
	}
	if err != nil {
		return nil, err
	}
	there := false
	for _, n := range names {
		there = there || n == "LOG"
	}
	l.log, err = disk.Open(dir+"/LOG", true)
	if err == nil && !(there && s.f.BlindRecovery) && !s.f.NoSyncDir {
		err = disk.SyncDir(dir)
	}
	if err == nil && there && !s.f.BlindRecovery {
		err = l.log.Sync() // what a killed process has written is relied on
	}
	if err == nil {
		err = l.replay(tracer)
	}
	if err != nil {
		if l.log != nil {
			l.log.Close()
		}
		return nil, err
	}
	return l, nil
}

func (l *logStore) sum(chain uint32, b []byte) uint32 {
	if l.f.NoChain {
		chain = 0
	}
	return crc32.Update(chain^0x1234567, crc32.MakeTable(crc32.Castagnoli), b)
}

// replay reads the log up to its end. A frame that is not valid is the end,
// unless a later one says that it was durable.
func (l *logStore) replay(tracer env.Tracer) error {
	size, err := l.log.Size()
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if n, err := l.log.ReadAt(b, 0); err != nil && err != io.EOF {
		if !l.f.ErrorIsEnd {
			return err
		}
		b = b[:n]
	}
	at := int64(0)
	for {
		n, ok := l.frame(b, at)
		if !ok {
			break
		}
		at += n
	}
	l.end, l.synced = at, at
	if at < int64(len(b)) {
		tracer.Trace(env.Mark("log.torn-tail"))
	}
	if !l.f.RotIsEnd {
		for p := at + frameUnit; p+frameHeader <= int64(len(b)); p += frameUnit {
			if l.sealed(b, p) && int64(binary.LittleEndian.Uint64(b[p+8:])) > at {
				return fmt.Errorf("%w at %d: a frame at %d was written after it was synced", errRot, at, p)
			}
		}
	}
	if l.f.WritingOpen && l.end < size {
		return l.log.Truncate(l.end)
	}
	return nil
}

// sealed reports whether there may be a frame: its checksum has the chain in it,
// so that a frame is known by a second one over its header.
func (l *logStore) sealed(b []byte, at int64) bool {
	n := int64(binary.LittleEndian.Uint32(b[at:]))
	if n < 4 || at+frameHeader+n > int64(len(b)) {
		return false
	}
	body := b[at+frameHeader : at+frameHeader+n]
	return binary.LittleEndian.Uint32(body[n-4:]) == crc32.ChecksumIEEE(append(bytes.Clone(b[at+8:at+16]), body[:n-4]...))
}

func (l *logStore) frame(b []byte, at int64) (int64, bool) {
	if at+frameHeader > int64(len(b)) {
		return 0, false
	}
	n := int64(binary.LittleEndian.Uint32(b[at:]))
	sum := binary.LittleEndian.Uint32(b[at+4:])
	if l.f.HugeLength && n > 0 {
		_ = b[at+frameHeader+n-1]
	}
	if n < 4 || at+frameHeader+n > int64(len(b)) {
		return 0, false
	}
	if l.sum(l.chain, b[at+8:at+frameHeader+n]) != sum && !l.f.NoChecksum {
		return 0, false
	}
	l.chain = sum
	if !l.load(b[at+frameHeader : at+frameHeader+n-4]) {
		return 0, false
	}
	return (frameHeader + n + frameUnit - 1) / frameUnit * frameUnit, true
}

func (l *logStore) load(b []byte) bool {
	for len(b) > 0 {
		if len(b) < 9 {
			return false
		}
		k, kn, vn := OpKind(b[0]), int(binary.LittleEndian.Uint32(b[1:])), int(binary.LittleEndian.Uint32(b[5:]))
		b = b[9:]
		if kn < 0 || vn < 0 || kn+vn > len(b) {
			return false
		}
		c := Change{Kind: k, Key: b[:kn], Value: b[kn : kn+vn]}
		if l.f.WrongMerge && k == Merge {
			c.Kind = Put
		}
		if l.f.DeleteByHalf && k == DeleteRange {
			c.Value = bytes.TrimSuffix(c.Value, []byte{0})
		}
		l.apply(c)
		b = b[kn+vn:]
	}
	return true
}

func (l *logStore) apply(c Change) {
	switch c.Kind {
	case Put:
		l.m[string(c.Key)] = append([]byte{}, c.Value...)
	case Delete:
		delete(l.m, string(c.Key))
	case Merge:
		old := l.m[string(c.Key)]
		l.m[string(c.Key)] = append(old[:len(old):len(old)], c.Value...)
	case DeleteRange:
		for k := range l.m {
			if string(c.Key) <= k && k < string(c.Value) {
				delete(l.m, k)
			}
		}
	}
}

func encode(b []byte, c Change) []byte {
	b = append(b, byte(c.Kind))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Key)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Value)))
	return append(append(b, c.Key...), c.Value...)
}

func (l *logStore) Commit(changes []Change, alone, durable bool) error {
	if l.stopped != nil {
		return l.stopped
	}
	if l.f.SplitBatch && !alone {
		for _, c := range changes {
			if err := l.Commit([]Change{c}, true, false); err != nil {
				return err
			}
		}
		changes = nil
	}
	if len(changes) > 0 {
		before, chain := len(l.buffer), l.chain
		l.seal(changes)
		if len(l.buffer) > 32<<10 && changes[0].Kind != Delete { // which a full disk takes
			if err := l.write(); err != nil {
				if l.f.ForgetOnFull {
					for _, c := range changes {
						l.apply(c)
					}
					l.buffer = l.buffer[:0]
				} else {
					l.buffer, l.chain = l.buffer[:min(before, len(l.buffer))], chain
				}
				return err
			}
		}
	}
	for _, c := range changes {
		l.apply(c)
	}
	if durable && !l.f.AckEarly {
		return l.Sync()
	}
	return nil
}

func (l *logStore) seal(changes []Change) {
	head := make([]byte, frameHeader)
	b := head
	for _, c := range changes {
		b = encode(b, c)
	}
	binary.LittleEndian.PutUint64(b[8:], uint64(l.synced))
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[8:]))
	binary.LittleEndian.PutUint32(b, uint32(len(b)-frameHeader))
	l.chain = l.sum(l.chain, b[8:])
	binary.LittleEndian.PutUint32(b[4:], l.chain)
	l.buffer = append(l.buffer, b...)
	l.buffer = append(l.buffer, make([]byte, -len(b)&(frameUnit-1))...)
}

// write writes the buffer. A write that fails has changed nothing that counts:
// the same bytes are written at the same place the next time.
func (l *logStore) write() error {
	if len(l.buffer) == 0 {
		return nil
	}
	_, err := l.log.WriteAt(l.buffer, l.end)
	if err == nil || l.f.HoleOnFull {
		l.end += int64(len(l.buffer))
		l.buffer = l.buffer[:0]
	}
	return err
}

func (l *logStore) Sync() error {
	if l.stopped != nil {
		return l.stopped
	}
	if err := l.write(); err != nil {
		return err
	}
	if l.f.NoSync {
		return nil
	}
	err := l.log.Sync()
	if err != nil && l.f.RetrySync {
		err = l.log.Sync()
	}
	if err != nil {
		if !l.f.GoOn {
			l.stopped = fmt.Errorf("%w: %w", errStopped, err)
		}
		return err
	}
	l.synced = l.end
	return nil
}

// Flush writes a new log with what there is, and replaces the old one.
func (l *logStore) Flush() error {
	if l.stopped != nil {
		return l.stopped
	}
	if err := l.Sync(); err != nil {
		return err
	}
	n := &logStore{f: l.f, disk: l.disk, dir: l.dir, m: l.m}
	err := n.fill(l.dir+"/NEW", !l.f.BlindRename)
	if err == nil {
		err = l.disk.Rename(l.dir+"/NEW", l.dir+"/LOG")
	}
	if err != nil {
		if n.log != nil {
			n.log.Close()
		}
		if !l.f.GoOn && !errors.Is(err, env.ErrNoSpace) {
			l.stopped = fmt.Errorf("%w: %w", errStopped, err)
		}
		return err // the old log is still there
	}
	l.log.Close()
	l.log, l.end, l.chain, l.synced, l.buffer = n.log, n.end, n.chain, n.synced, nil
	if err = l.disk.SyncDir(l.dir); err != nil {
		l.stopped = fmt.Errorf("%w: %w", errStopped, err)
	}
	return err
}

// fill makes a log of what is in memory.
func (l *logStore) fill(name string, sync bool) (err error) {
	if l.log, err = l.disk.Open(name, true); err != nil {
		return err
	}
	if err = l.log.Truncate(0); err != nil {
		return err
	}
	var all []Change
	for _, k := range l.sorted() {
		all = append(all, Change{Kind: Put, Key: []byte(k), Value: l.m[k]})
	}
	l.seal(all)
	l.synced = int64(len(l.buffer))
	l.seal(nil) // says that the first frame was durable when there was a name for it
	if err = l.write(); err == nil && sync {
		err = l.log.Sync()
	}
	l.synced = l.end
	return err
}

func (l *logStore) sorted() []string {
	var keys []string
	for k := range l.m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (l *logStore) Wait() error { return l.stopped }

func (l *logStore) Compact(lo, hi []byte) error { return nil }

func (l *logStore) Checkpoint(dir string) error {
	if err := l.disk.MakeDir(dir); err != nil {
		return err
	}
	n := &logStore{f: l.f, disk: l.disk, dir: dir, m: l.m}
	err := n.fill(dir+"/LOG", !l.f.ShortCheckpoint)
	if n.log != nil {
		err = errors.Join(err, n.log.Close())
	}
	if err == nil {
		err = l.disk.SyncDir(dir)
	}
	if err == nil {
		err = l.disk.SyncDir(path.Dir(dir))
	}
	return err
}

func (l *logStore) Verify() error { return nil }

func (l *logStore) Close() error {
	err := l.Sync()
	if !l.f.LeakFile {
		err = errors.Join(err, l.log.Close())
	}
	return err
}

func (l *logStore) Get(key []byte) ([]byte, bool, error) {
	v, ok := l.m[string(key)]
	return v, ok, nil
}

func (l *logStore) Iter() (Cursor, error) {
	if l.f.BadSeekLT {
		return seekCursor{newMapCursor(l.m)}, nil
	}
	return newMapCursor(l.m), nil
}

func (l *logStore) Snapshot() (View, error) {
	if l.f.BadSnapshot {
		return mapView{l.m}, nil
	}
	m := map[string][]byte{}
	for k, v := range l.m {
		m[k] = v
	}
	return mapView{m}, nil
}

type mapView struct{ m map[string][]byte }

func (v mapView) Get(key []byte) ([]byte, bool, error) {
	b, ok := v.m[string(key)]
	return b, ok, nil
}
func (v mapView) Iter() (Cursor, error) { return newMapCursor(v.m), nil }
func (v mapView) Close() error          { return nil }

type mapCursor struct {
	keys []string
	m    map[string][]byte
	at   int
}

func newMapCursor(m map[string][]byte) *mapCursor {
	c := &mapCursor{m: m}
	for k := range m {
		c.keys = append(c.keys, k)
	}
	sort.Strings(c.keys)
	return c
}

func (c *mapCursor) to(i int) bool {
	c.at = i
	return i >= 0 && i < len(c.keys)
}
func (c *mapCursor) First() bool            { return c.to(0) }
func (c *mapCursor) Last() bool             { return c.to(len(c.keys) - 1) }
func (c *mapCursor) Next() bool             { return c.to(c.at + 1) }
func (c *mapCursor) Prev() bool             { return c.to(c.at - 1) }
func (c *mapCursor) SeekGE(key []byte) bool { return c.to(sort.SearchStrings(c.keys, string(key))) }
func (c *mapCursor) SeekLT(key []byte) bool { return c.to(sort.SearchStrings(c.keys, string(key)) - 1) }
func (c *mapCursor) Key() []byte            { return []byte(c.keys[c.at]) }
func (c *mapCursor) Value() []byte          { return c.m[c.keys[c.at]] }
func (c *mapCursor) Err() error             { return nil }
func (c *mapCursor) Close() error           { return nil }

// seekCursor is a cursor with the flaw BadSeekLT.
type seekCursor struct{ *mapCursor }

func (c seekCursor) SeekLT(key []byte) bool {
	return c.to(sort.SearchStrings(c.keys, string(key)+"\x00") - 1)
}
